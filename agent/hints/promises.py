"""How often each kind of hint is right on real spectra: measured by ``tests/benchmarks/hints.py``, stored in
``promises.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.language import deferred

FILE = Path(__file__).with_name("promises.toml")
PRECISION = 0.95
"""A kind of hint is shown in green only from this share of right hints on."""
ENOUGH = 5
"""Hints of one line, or of one class of stars, from which on it is counted for itself."""
SEVERAL = 2
"""Wrong ones of these from which on their own share counts beside that of the kind: one of ten says little."""
COOL = "cool"


@dataclass(frozen=True)
class Promise:
    """Counts on real spectra that played no part in choosing the bounds.

    :param right: hints of the kind that are true
    :param wrong: hints of the kind that are false
    :param missed: cases in which the feature is there and there is no such hint
    """

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float | None:
        """Share of right hints; None if there was no hint."""
        given = self.right + self.wrong
        return self.right / given if given else None

    @property
    def recall(self) -> float | None:
        """Share of the features that the hint finds; None if there was none."""
        present = self.right + self.missed
        return self.right / present if present else None

    @property
    def kept(self) -> bool:
        """Whether the kind may be shown in green."""
        return self.precision is not None and self.precision >= PRECISION

    def shown(self) -> str:
        """Return the counts as a sentence."""
        if self.precision is None:
            return deferred("Not measured: no such hint in the labelled real spectra.")
        values = {"right": self.right, "all": self.right + self.wrong}
        if self.recall is None:
            return deferred("Right in {right} of {all} such hints on labelled real spectra (docs/hints.md).", **values)
        return deferred(
            "Right in {right} of {all} such hints on labelled real spectra; finds {recall:.0f} % of what is "
            "there (docs/hints.md).",
            recall=100 * self.recall,
            **values,
        )


def promise_of(kind: str, *parts: str) -> Promise | None:
    """Return the lowest promise that holds for a hint: that of its kind, or of a part of the kind that was counted for
    itself ("absorption: Hδ", "absorption: cool"). None: not measured.
    """
    known = promises()
    if kind not in known:
        return None
    counted = [known[key] for part in parts if (key := part_of(kind, part)) in known and known[key].wrong >= SEVERAL]
    return min([known[kind], *counted], key=lambda promise: promise.precision or 0.0)


def part_of(kind: str, part: str) -> str:
    """Return the key of a part of a kind: one line, or one class of stars."""
    return f"{kind}: {part}"


@cache
def promises() -> Mapping[str, Promise]:
    """Return the promise of each kind of hint that was measured."""
    with FILE.open("rb") as opened:
        tables = tomllib.load(opened)
    return {kind: Promise(int(t["right"]), int(t["wrong"]), int(t["missed"])) for kind, t in tables.items()}
