"""The faults of faults.toml: a place in the product, what stands there, and what is planted instead."""

from __future__ import annotations

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Fault:
    """A small fault: `right` stands once in `file` and is replaced by `wrong`; `tests` are run to find it."""

    what: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]

    def planted(self, text: str) -> str:
        """The text of the file with the fault.

        :raises ValueError: the right text does not stand there exactly once, or the result is no Python
        """
        if text.count(self.right) != 1:
            raise ValueError(f"{self.file}: {self.right!r} stands there {text.count(self.right)} times, expected once")
        faulty = text.replace(self.right, self.wrong)
        if self.file.endswith(".py"):
            ast.parse(faulty)
        return faulty


def read_faults() -> list[Fault]:
    """All faults. Where none are named, a fault's tests are those of the folder that mirrors its own."""
    entries = tomllib.loads((Path(__file__).parent / "faults.toml").read_text(encoding="utf-8"))["faults"]
    return [Fault(**{**entry, "tests": tuple(entry.get("tests") or [_mirror(entry["file"])])}) for entry in entries]


def _mirror(file: str) -> str:
    """The nearest folder of tests for a file: tests/agent/plot for agent/plot/exact/render.py."""
    folder = Path("tests") / Path(file).parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return str(folder)
