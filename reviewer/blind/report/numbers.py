"""Numbers as the report writes them."""

from __future__ import annotations

from reviewer.agreement.values import Estimate


def value_with_interval(estimate: Estimate) -> str:
    """Return ``3.82 (3.61 to 4.02)``; the value alone where there is no interval."""
    if estimate.value is None:
        return "undefined"
    if estimate.low is None or estimate.high is None:
        return two_decimals(estimate.value)
    return f"{two_decimals(estimate.value)} ({two_decimals(estimate.low)} to {two_decimals(estimate.high)})"


def two_decimals(number: float) -> str:
    """Return a number with two decimals, a true minus sign, and no negative zero."""
    words = f"{number:.2f}"
    return words[1:] if words == "-0.00" else words.replace("-", "\N{MINUS SIGN}")


def p_text(p: float | None) -> str:
    """Return ``p = 0.03`` or ``p < 0.001``."""
    if p is None:
        return "no p value"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f}\N{NARROW NO-BREAK SPACE}%"
