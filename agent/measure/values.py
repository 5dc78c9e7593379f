"""A measured number, or the reason why there is none."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agent.language import deferred

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
    return Undefined(deferred("flux or ivar is beyond the range of numbers"))


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


_SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")


def power_of(base: str, exponent: float) -> str:
    """Format a power with one decimal in the exponent: λ⁻¹·³."""
    return f"{base}{f'{round(exponent, 1) + 0.0:.1f}'.translate(_SUPERSCRIPTS)}"


def redshift_text(z: float) -> str:
    """Format a redshift as the page does: at least five decimals (1e-5 is 3 km/s), at most seven."""
    text = number(z, 7)
    return re.sub(r"0{1,2}$", "", text)


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
