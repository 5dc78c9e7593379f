"""Numbers as astronomers print them: a true minus sign, thin no-break spaces in large numbers, digits that
the error allows."""

from __future__ import annotations

import math

from agent.measure.values import Measured

MINUS = "\N{MINUS SIGN}"
THIN = "\N{NARROW NO-BREAK SPACE}"


def number(value: float, decimals: int = 0) -> str:
    """A number with that many decimals (negative: rounded to tens, hundreds, ...); groups of three from 1000
    on."""
    rounded = round(value, decimals)
    text = f"{abs(rounded):,.{max(0, decimals)}f}".replace(",", THIN)
    return f"{MINUS}{text}" if rounded < 0 else text


def plus_minus(measured: Measured) -> str:
    """``−46.3 ± 1.2 Å``: the error to two digits if it begins with 1, else to one, the value to the same
    decimals."""
    unit = f" {measured.unit}" if measured.unit else ""
    if measured.error <= 0:
        return f"{number(measured.value, 2)}{unit}"
    exponent = math.floor(math.log10(measured.error))
    decimals = (1 if measured.error / 10.0**exponent < 1.95 else 0) - exponent
    decimals = max(-12, min(6, decimals))
    return f"{number(measured.value, decimals)} ± {number(measured.error, decimals)}{unit}"
