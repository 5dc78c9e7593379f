"""Scores as people read them: percent with the interval in brackets, or the words that stand in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from training.bench.outcomes import Outcome
from training.bench.resampling import Value

Simulated = Literal["no", "yes", "partly"]


def percent(value: Value) -> str:
    """``81.0 [78.2, 83.6]``; ``81.0 (no interval: one spectrum)``; ``not defined: no positives``."""
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:.1f} ({value.words})"
    return f"{100 * value.value:.1f} [{100 * value.lo:.1f}, {100 * value.hi:.1f}]"


def short(value: Value) -> str:
    """As ``percent`` for a narrow column: a dash where there is no value, no interval where there is none."""
    if value.value is None:
        return "–"
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:.1f}"
    return percent(value)


def points(value: Value) -> str:
    """A difference in percentage points, with its sign and interval."""
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:+.1f} ({value.words})"
    return f"{100 * value.value:+.1f} [{100 * value.lo:+.1f}, {100 * value.hi:+.1f}]"


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def simulated(outcomes: Iterable[Outcome]) -> Simulated:
    """Whether the spectra were made by a program."""
    kinds = {one.simulated for one in outcomes}
    return "partly" if len(kinds) > 1 else "yes" if kinds == {True} else "no"
