"""A number that was measured, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

Window = tuple[float, float]


@dataclass(frozen=True)
class Measured:
    """A value with its 1σ error, both in ``unit`` ("" = a pure number)."""

    value: float
    error: float
    unit: str = ""

    @property
    def significance(self) -> float:
        """|value| / error; 0.0 where the error is 0, because nothing was then known about it."""
        return abs(self.value) / self.error if self.error > 0 else 0.0


@dataclass(frozen=True)
class Undefined:
    """There is no such number in these data, and why: one clause to be shown after "undefined: "."""

    reason: str


def measured(value: float, error: float, unit: str = "") -> Measured | Undefined:
    """The value, unless it or its error left the range of numbers (absurd fluxes or ivar do that)."""
    if math.isfinite(value) and math.isfinite(error):
        return Measured(float(value), float(error), unit)
    return Undefined("flux or ivar is beyond the range of numbers")
