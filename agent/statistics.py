"""Bootstrap resampling and intervals for the whole product.

Percentile bootstrap: Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13. All resamples are
calculated at once. (``scipy.stats.bootstrap`` takes neither groups of one item nor statistics with several values.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import cast

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

Picks = NDArray[np.intp]
"""(resamples, n_items): the numbers of the items in each resample."""

Statistic = Callable[[Picks], FloatArray]
"""(resamples, n_items) -> (resamples, ...), NaN for a resample without a value."""

_ELEMENTS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Resampling:
    """How bootstrap intervals are made.

    :param seed: the same seed, items and order give the same interval
    :param few: with fewer items no interval is given: that of a mean of five covers 84 % where it states 95
    :param undefined_at_most: no interval is given if more than this share of the resamples has no value
    """

    resamples: int = 2000
    seed: int = 0
    confidence: float = 0.95
    few: int = 10
    undefined_at_most: float = 0.05


DEFAULT = Resampling()


def resampled(
    statistic: Statistic,
    sizes: tuple[int, ...],
    resamples: int = DEFAULT.resamples,
    seed: int | Sequence[int] = DEFAULT.seed,
    width: int = 1,
) -> FloatArray:
    """Return the statistic of every resample, (resamples, ...).

    :param sizes: numbers of items of the groups; each group is resampled separately. Items are numbered through:
        those of the second group follow those of the first
    :param width: elements that the statistic needs per resample, if more than there are items; limits the memory
    """
    rng = np.random.default_rng(seed)
    starts = np.cumsum((0, *sizes[:-1]))
    at_once = max(1, _ELEMENTS_AT_ONCE // max(width, sum(sizes)))
    values = []
    for done in range(0, resamples, at_once):
        rows = min(at_once, resamples - done)
        groups = [start + rng.integers(size, size=(rows, size)) for start, size in zip(starts, sizes, strict=True)]
        values.append(statistic(np.concatenate(groups, axis=1).astype(np.intp)))
    return np.concatenate(values)


def percentile_interval(
    resamples: FloatArray,
    confidence: float = DEFAULT.confidence,
    undefined_at_most: float = DEFAULT.undefined_at_most,
) -> tuple[float, float] | None:
    """Return the percentile interval of the resamples; None if more than that share of them is NaN."""
    defined = resamples[~np.isnan(resamples)]
    if len(resamples) - len(defined) > undefined_at_most * len(resamples):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    return float(low), float(high)


def times_sampled(picks: Picks, n_items: int) -> FloatArray:
    """Return how often each item is in each resample, (resamples, n_items)."""
    rows = np.arange(len(picks), dtype=np.intp)[:, None] * n_items
    counts = np.bincount((picks + rows).ravel(), minlength=len(picks) * n_items)
    return cast(FloatArray, counts.reshape(len(picks), n_items).astype(float))


def once(n_items: int) -> Picks:
    """Return every item once, (1, n_items); a statistic of it is the value of the data themselves."""
    return np.arange(n_items, dtype=np.intp)[None, :]


def divided(above: FloatArray, below: FloatArray, smallest: float = 0.0) -> FloatArray:
    """Divide elementwise; NaN where the divisor is not greater than ``smallest``."""
    out = np.full(np.broadcast(above, below).shape, np.nan)
    return cast(FloatArray, np.divide(above, below, out=out, where=below > smallest))


def wilson(proportion: float, n: float, confidence: float = 0.95, *, z: float | None = None) -> tuple[float, float]:
    """Return the score interval of a proportion among ``n`` trials: Wilson 1927, J. Am. Stat. Assoc. 22, 209.

    Unlike p ± √(p (1 − p) / n) it stays within 0 and 1, and has a width where all trials agree. The proportion
    and ``n`` need not be whole numbers of trials, which ``scipy.stats.binomtest`` requires.

    :param z: standard deviations to each side; takes the place of ``confidence``
    """
    if z is None:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
    middle = (proportion + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # An end that is 0 or 1 misses it by a rounding error when calculated.
    low = 0.0 if proportion == 0 else max(0.0, middle - half)
    return low, 1.0 if proportion == 1 else min(1.0, middle + half)
