"""Percentile bootstrap, resampled by item.

Efron & Tibshirani 1993, An Introduction to the Bootstrap, chapter 13. By item and not by score, because the
scores of one item are not independent of each other. All resamples are calculated at once: a statistic gets
a matrix of drawn item numbers and gives a value for each of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from reviewer.agreement.values import Estimate, FloatArray

Picks = NDArray[np.intp]
"""(draws, n_items): which items a resample has, by their number."""

Statistic = Callable[[Picks], FloatArray]
"""(draws, n_items) -> (draws,), NaN for a resample in which there is no value."""

_ELEMENTS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Resampling:
    """How intervals are made.

    :param seed: the same seed, items and order give the same interval
    :param few: with fewer items than these no interval is given; the resamples of so few are nearly all alike
    :param undefined_at_most: no interval either if more than this share of the resamples has no value
    """

    draws: int = 2000
    seed: int = 0
    confidence: float = 0.95
    few: int = 5
    undefined_at_most: float = 0.05


DEFAULT = Resampling()


def estimate(
    definition: str,
    value: float,
    statistic: Statistic,
    sizes: tuple[int, ...],
    resampling: Resampling = DEFAULT,
    *,
    width: int = 1,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
    caution: str = "",
    of: str = "items",
) -> Estimate:
    """A value with the interval that its statistic's resamples give: ``resampled``, then ``concluded``."""
    drawn = resampled(statistic, sizes, resampling, width)
    return concluded(definition, value, drawn, sizes, resampling, n=n, n_of=n_of, detail=detail, caution=caution, of=of)


def resampled(
    statistic: Callable[[Picks], FloatArray], sizes: tuple[int, ...], resampling: Resampling, width: int = 1
) -> FloatArray:
    """(draws, ...): the statistic of every resample.

    :param sizes: numbers of items of the groups that are resampled each for itself; one number for one group.
        Items are numbered through: those of the second group follow those of the first.
    :param width: elements that the statistic needs for one resample, if more than there are items
    """
    rng = np.random.default_rng(resampling.seed)
    starts = np.cumsum((0, *sizes[:-1]))
    at_once = max(1, _ELEMENTS_AT_ONCE // max(width, sum(sizes)))
    found = []
    for done in range(0, resampling.draws, at_once):
        rows = min(at_once, resampling.draws - done)
        groups = [start + rng.integers(size, size=(rows, size)) for start, size in zip(starts, sizes, strict=True)]
        found.append(statistic(np.concatenate(groups, axis=1).astype(np.intp)))
    return np.concatenate(found)


def concluded(
    definition: str,
    value: float,
    drawn: FloatArray,
    sizes: tuple[int, ...],
    resampling: Resampling = DEFAULT,
    *,
    n: int | None = None,
    n_of: str = "items",
    detail: Mapping[str, Any] | None = None,
    caution: str = "",
    of: str = "items",
) -> Estimate:
    """A value with the percentile interval of what the resamples gave, or the reason why there is none.

    :param drawn: (draws,), NaN for a resample without a value; how many these are is told in ``detail``
    :param n: what the value rests on, if that is not the number of items
    :param caution: takes the place of any reason for having no interval
    :param of: what the items are called in a reason
    """
    ends, why = _interval(drawn, min(sizes), of, resampling)
    known = dict(detail or {})
    if undefined := int(np.isnan(drawn).sum()):
        known["resamples_without_value"] = undefined
    low, high = ends or (None, None)
    return Estimate(value, low, high, sum(sizes) if n is None else n, definition, caution or why, known, n_of)


def times_drawn(picks: Picks, n_items: int) -> FloatArray:
    """(draws, n_items): how often each item is in each resample."""
    rows = np.arange(len(picks), dtype=np.intp)[:, None] * n_items
    counts = np.bincount((picks + rows).ravel(), minlength=len(picks) * n_items)
    return cast(FloatArray, counts.reshape(len(picks), n_items).astype(float))


def once(n_items: int) -> Picks:
    """(1, n_items): every item once, which makes a statistic give its value for the data themselves."""
    return np.arange(n_items, dtype=np.intp)[None, :]


def divided(above: FloatArray, below: FloatArray, smallest: float = 0.0) -> FloatArray:
    """Elementwise; NaN where what it is divided by is not greater than ``smallest``."""
    out = np.full(np.broadcast(above, below).shape, np.nan)
    return cast(FloatArray, np.divide(above, below, out=out, where=below > smallest))


def _interval(
    drawn: FloatArray, smallest: int, of: str, resampling: Resampling
) -> tuple[tuple[float, float] | None, str]:
    if smallest < resampling.few:
        return None, f"fewer than {resampling.few} {of}"
    defined = drawn[~np.isnan(drawn)]
    undefined = len(drawn) - len(defined)
    if undefined > resampling.undefined_at_most * len(drawn):
        return None, f"{undefined} of {len(drawn)} resamples have no value, too much in them is alike"
    if np.ptp(defined) <= 1e-12 * max(1.0, float(np.abs(defined).max())):
        return None, "every resample gave the same value"
    tail = (1 - resampling.confidence) / 2
    low, high = np.quantile(defined, (tail, 1 - tail))
    return (float(low), float(high)), ""
