"""A measured number, or the reason why there is none."""

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
        """|value| / error; 0.0 if the error is 0, because nothing is known about it then."""
        return abs(self.value) / self.error if self.error > 0 else 0.0


@dataclass(frozen=True)
class Undefined:
    """A number that does not exist in these data, and why: one clause to show after "undefined: "."""

    reason: str


def measured(value: float, error: float, unit: str = "") -> Measured | Undefined:
    """Return the value, unless it or its error is not a finite number (absurd fluxes or ivar cause that)."""
    if math.isfinite(value) and math.isfinite(error):
        return Measured(float(value), float(error), unit)
    return Undefined("flux or ivar is beyond the range of numbers")


MINUS = "\N{MINUS SIGN}"
THIN = "\N{NARROW NO-BREAK SPACE}"


def number(value: float, decimals: int = 0) -> str:
    """Format a number with that many decimals (negative: rounded to tens, hundreds, ...); groups of three from 1000
    on.
    """
    rounded = round(value, decimals)
    text = f"{abs(rounded):,.{max(0, decimals)}f}".replace(",", THIN)
    return f"{MINUS}{text}" if rounded < 0 else text


def signed(value: float) -> str:
    """Format points or log odds: one decimal, always with a sign."""
    return f"{value:+.1f}".replace("-", MINUS)


def plus_minus(measured: Measured) -> str:
    """Format ``−46.3 ± 1.2 Å``: the error to two digits if it begins with 1, otherwise one; the value to the same
    decimals.
    """
    unit = f" {measured.unit}" if measured.unit else ""
    if measured.error <= 0:
        return f"{number(measured.value, 2)}{unit}"
    exponent = math.floor(math.log10(measured.error))
    decimals = (1 if measured.error / 10.0**exponent < 1.95 else 0) - exponent
    decimals = max(-12, min(6, decimals))
    return f"{number(measured.value, decimals)} ± {number(measured.error, decimals)}{unit}"
