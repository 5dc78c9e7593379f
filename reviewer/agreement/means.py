"""Means and shares over items that may hold several values each, resampled by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from reviewer.agreement.bootstrap import (
    DEFAULT,
    Picks,
    Resampling,
    Statistic,
    divided,
    estimate,
    times_drawn,
)
from reviewer.agreement.values import Estimate, FloatArray


def mean(
    sums: ArrayLike,
    counts: ArrayLike,
    definition: str,
    resampling: Resampling = DEFAULT,
    *,
    none: str,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
) -> Estimate:
    """The sum of ``sums`` over the sum of ``counts``.

    :param sums: (n_items,); what an item's values add up to
    :param counts: (n_items,); how many values that are; items with none are left out
    :param none: the reason to give when there is no value at all
    """
    totals, weights = _kept(sums, counts)
    if not len(totals):
        return Estimate.undefined(none, 0, definition, detail, n_of)
    return estimate(
        definition,
        float(totals.sum() / weights.sum()),
        ratio(totals, weights),
        (len(totals),),
        resampling,
        n=n,
        n_of=n_of,
        detail=detail,
    )


def share(
    hits: ArrayLike,
    counts: ArrayLike,
    definition: str,
    resampling: Resampling = DEFAULT,
    *,
    none: str,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
) -> Estimate:
    """A share of ``counts``; as ``mean``, but with an interval where the bootstrap has none.

    With few items, or when all or none is a hit, resamples say nothing; then the interval is Wilson's (1927),
    which counts every item once however many values it holds. ``detail["interval"]`` says which it is.
    """
    found = mean(hits, counts, definition, resampling, none=none, n=n, n_of=n_of, detail=detail)
    if found.value is None:
        return found
    low, high, how = found.low, found.high, "bootstrap by item"
    if low is None:
        items = len(_kept(hits, counts)[0])
        low, high = wilson(found.value, items, resampling.confidence)
        how = "Wilson, each item counted once"
    known = {**found.detail, "interval": how}
    return Estimate(found.value, low, high, found.n, definition, "", known, n_of)


def wilson(proportion: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The score interval of a proportion among n: Wilson 1927, J. Am. Stat. Assoc. 22, 209."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (proportion + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def ratio(sums: FloatArray, counts: FloatArray) -> Statistic:
    """The mean of a resample; NaN when what was drawn holds no value."""

    def statistic(picks: Picks) -> FloatArray:
        times = times_drawn(picks, len(sums))
        return divided(times @ sums, times @ counts)

    return statistic


def by_item(items: Sequence[str], *values: ArrayLike) -> tuple[FloatArray, ...]:
    """For each array of values, (n_values,), what they add up to for each item, (n_different_items,)."""
    _, number = np.unique(np.asarray(items, dtype=str), return_inverse=True)
    return tuple(np.bincount(number, np.asarray(one, dtype=float)).astype(float) for one in values)


def _kept(sums: ArrayLike, counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    totals, weights = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    some = weights > 0
    return cast(FloatArray, totals[some]), cast(FloatArray, weights[some])
