"""Intraclass correlation, two-way random effects, absolute agreement: of one scorer, and of their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reviewer.agreement.bootstrap import DEFAULT, Picks, Resampling, divided, estimate, once, times_drawn
from reviewer.agreement.values import Estimate, FloatArray, Scores, unshared

_DEFINITIONS = {
    "A,1": "ICC(A,1): the share of the variance of single scores that is due to the items, scorers "
    "taken as drawn from many and their severity counted as error (two-way random effects, "
    "absolute agreement). McGraw & Wong 1996, Psychological Methods 1, 30; Shrout & Fleiss's "
    "ICC(2,1).",
    "A,k": "ICC(A,k): the same share for the mean of all k scorers (two-way random effects, absolute "
    "agreement). McGraw & Wong 1996, Psychological Methods 1, 30; Shrout & Fleiss's ICC(2,k).",
}


@dataclass(frozen=True)
class _Squares:
    """Mean squares of the two-way analysis of variance: of items, scorers and the rest; (draws,) each."""

    items: FloatArray
    raters: FloatArray
    rest: FloatArray


def icc_a1(scores: Scores, resampling: Resampling = DEFAULT) -> Estimate:
    """How far one scorer's score may be trusted. Table 4 of McGraw & Wong 1996, case 2A.

    It needs complete rows: scorers without any score and then items without a score of everybody left are
    left out and counted in ``detail``; n is the items that remain. The interval is the bootstrap's;
    ``detail["f_interval"]`` is the one that McGraw & Wong (table 7) derive for normal errors, None where it
    has no value. Undefined with one scorer, fewer than two complete items, or constant scores.
    """
    return _icc(scores, "A,1", resampling)


def icc_ak(scores: Scores, resampling: Resampling = DEFAULT) -> Estimate:
    """How far the mean of all scorers may be trusted; as ``icc_a1``, and undefined also when no item's mean
    differs from another's, or hardly: it then has no bound.
    """
    return _icc(scores, "A,k", resampling)


def _icc(scores: Scores, kind: Literal["A,1", "A,k"], resampling: Resampling) -> Estimate:
    definition = _DEFINITIONS[kind]
    values = scores.values[:, scores.given.any(axis=0)]
    complete = values[~np.isnan(values).any(axis=1)]
    n, k = complete.shape if values.shape[1] else (0, 0)
    left_out = int(scores.given.any(axis=1).sum()) - n
    detail: dict[str, Any] = {"scorers": k, "items_left_out": left_out}
    if why := unshared(scores) or _too_few(n, k):
        return Estimate.undefined(why, n, definition, detail)
    if np.ptp(complete) == 0:
        return Estimate.undefined(f"every score is {complete[0, 0]:g}", n, definition, detail)
    smallest = 1e-12 * float(np.ptp(complete)) ** 2

    def statistic(picks: Picks) -> FloatArray:
        return _ratio(_squares(complete, times_drawn(picks, n)), n, k, kind, smallest)

    value = float(statistic(once(n))[0])
    if np.isnan(value):
        return Estimate.undefined("the items' means do not differ", n, definition, detail)
    squares = _squares(complete, np.ones((1, n)))
    detail["mean_squares"] = {name: float(getattr(squares, name)[0]) for name in ("items", "raters", "rest")}
    detail["f_interval"] = _f_interval(squares, n, k, kind, resampling.confidence)
    return estimate(definition, value, statistic, (n,), resampling, detail=detail)


def _too_few(n: int, k: int) -> str:
    if n > 1:
        return ""
    found = "no item was" if n == 0 else "only one item was"
    return f"{found} scored by all {k} scorers; two are wanted"


def _squares(values: FloatArray, times: FloatArray) -> _Squares:
    """(n_items, n_raters) and (draws, n_items), how often each item counts."""
    n, k = values.shape
    values = values - values.mean()
    rows = values.mean(axis=1)
    grand = times @ rows / n
    columns = times @ values / n
    total = times @ (values**2).sum(axis=1) - n * k * grand**2
    of_items = k * (times @ rows**2 - n * grand**2)
    of_raters = n * ((columns - grand[:, None]) ** 2).sum(axis=1)
    rest = total - of_items - of_raters
    # What is left of a subtraction of equals is noise of either sign.
    noise = 1e-12 * n * k * float(np.ptp(values)) ** 2
    of_items, of_raters, rest = (np.where(one > noise, one, 0.0) for one in (of_items, of_raters, rest))
    return _Squares(of_items / (n - 1), of_raters / (k - 1), rest / ((n - 1) * (k - 1)))


def _ratio(squares: _Squares, n: int, k: int, kind: Literal["A,1", "A,k"], smallest: float) -> FloatArray:
    between = squares.items - squares.rest
    if kind == "A,1":
        error = (k - 1) * squares.rest + k / n * (squares.raters - squares.rest)
        return divided(between, squares.items + error, smallest)
    return divided(between, squares.items + (squares.raters - squares.rest) / n, smallest)


def _f_interval(
    squares: _Squares, n: int, k: int, kind: Literal["A,1", "A,k"], confidence: float
) -> list[float] | None:
    """McGraw & Wong 1996, table 7; the degrees of freedom are Satterthwaite's."""
    from scipy.stats import f

    single = _ratio(squares, n, k, "A,1", 0.0)[0]
    if squares.rest[0] == 0 or single >= 1:
        return None
    items, raters, rest = squares.items[0], squares.raters[0], squares.rest[0]
    # Estimates far below 0 make the degrees of freedom and the ends meaningless: then there is no interval.
    with np.errstate(all="ignore"):
        a = k * single / (n * (1 - single))
        b = 1 + k * single * (n - 1) / (n * (1 - single))
        freedom = (a * raters + b * rest) ** 2 / (
            (a * raters) ** 2 / (k - 1) + (b * rest) ** 2 / ((n - 1) * (k - 1))
        )
        tail = (1 + confidence) / 2
        lower, upper = f.ppf(tail, n - 1, freedom), f.ppf(tail, freedom, n - 1)
        error = k * raters + (k * n - k - n) * rest
        low = n * (items - lower * rest) / (lower * error + n * items)
        high = n * (upper * items - rest) / (error + n * upper * items)
        if not low <= single <= high:
            return None
        if kind == "A,k":  # stepped up by Spearman and Brown's formula
            low, high = (k * one / (1 + (k - 1) * one) for one in (low, high))
    return [float(low), float(high)] if np.isfinite([low, high]).all() and low <= high else None
