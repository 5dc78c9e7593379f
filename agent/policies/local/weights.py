"""Which model a process is to hold, and whether that can be: what can be said without loading it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

INSTALL = "pip install 'spec-o3[local]'"
NEEDED = ("torch", "torchvision", "transformers")


@dataclass(frozen=True)
class Weights:
    """Which model, and how it is to be held.

    :param model: a folder, or the name of a repository on the Hugging Face Hub
    :param adapter: the same of a PEFT adapter that is put on it
    :param device: as torch names it; "auto": the GPU if there is one
    :param dtype: "bfloat16", "float16", "float32"; "auto": as stored on a GPU, float32 on the CPU
    """

    model: str
    adapter: str | None = None
    device: str = "auto"
    dtype: str = "auto"

    @property
    def name(self) -> str:
        """Without the folders around it, which are nobody's business in a trace."""
        return " + ".join(_name(one) for one in (self.model, self.adapter) if one)

    def problem(self) -> str | None:
        """What keeps it from being loaded, as far as can be seen without loading it; None if nothing does."""
        found = _not_there(self.model, "config.json", "a model")
        if found is None and self.adapter:
            found = _not_there(self.adapter, "adapter_config.json", "a PEFT adapter")
        missing = [package for package in NEEDED if find_spec(package) is None]
        if found is None and missing:
            found = f"a model in this process needs {' and '.join(missing)}: {INSTALL}"
        if found is None and self.adapter and find_spec("peft") is None:
            found = "an adapter needs peft: pip install peft"
        return found


def versions() -> dict[str, str]:
    """Of the libraries that decide what a model writes."""
    found = {}
    for package in ("torch", "transformers", "peft"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def source(given: str) -> str:
    """What the libraries are to be given: a folder's path, or a name on the Hub."""
    folder = Path(given).expanduser()
    return str(folder) if folder.exists() else given


def _not_there(given: str, file: str, what: str) -> str | None:
    """Why ``given`` is neither a folder with ``file`` nor a name on the Hub; None if it may be."""
    folder = Path(given).expanduser()
    if not folder.exists():
        owner, slash, name = given.partition("/")
        if owner.strip(".~") and slash and name and "/" not in name and "\\" not in given:
            return None
        return f"{given}: no such folder; wanted {what}: a folder, or a name as Maxwell-Jia/spec-o3-3b"
    if (folder / file).is_file():
        return None
    if (folder / "adapter_config.json").is_file():
        return f"{given} holds an adapter, not a model: give it with --adapter, and its model with --model"
    return f"{given} is not {what}: found no {file} in it"


def _name(given: str) -> str:
    folder = Path(given).expanduser()
    return folder.resolve().name if folder.exists() else given
