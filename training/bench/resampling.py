"""How far a score would move with another draw of spectra: the bootstrap (Efron 1979, Ann. Stat. 7, 1), by
spectrum and within each task.

A test set holds some spectra twice, and a question about a spectrum is not independent of another about the
same one; so spectra are drawn with replacement, not rows. Each task is drawn for itself: the set was made
with so many of each. The interval is that of the percentiles. Its known weakness: a score of exactly 0 or
100 % has an interval without width, however few the spectra.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 2000
LEVEL = 0.95
SEED = 0
_AT_ONCE = 2**22  # numbers drawn at a time: 32 MiB
_DEFINED = 0.95
"""The least share of draws in which a score must be defined for its interval to be given."""

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Value:
    """A score with its 95 % interval. ``words`` says why there is no value, or no interval; else it is ""."""

    value: float | None
    lo: float | None = None
    hi: float | None = None
    words: str = ""


def drawn(counts: Counts, task: str, draws: int = DRAWS, seed: int = SEED) -> Counts:
    """Sums over spectra drawn with replacement, as many as there are.

    :param counts: (spectra, k); the order of spectra matters to the numbers drawn, so give them sorted
    :param task: names the stream of random numbers: a task's do not change with the others that are there
    :returns: (draws, k)
    """
    rng = np.random.default_rng([seed, zlib.crc32(task.encode())])
    spectra = len(counts)
    sums = np.empty((draws, counts.shape[1]))
    step = max(1, _AT_ONCE // spectra)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        chosen = rng.integers(0, spectra, (rows, spectra)) + spectra * np.arange(rows)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=rows * spectra).reshape(rows, spectra)
        sums[start : start + rows] = weights @ counts
    return sums


def value(totals: Counts, sums: Counts, of: Callable[[Counts], Counts], spectra: int, undefined: str) -> Value:
    """A score of the totals, and its interval from the draws.

    :param totals: (k,)
    :param sums: (draws, k)
    :param of: the score of counts (..., k), NaN where it is not defined
    :param undefined: the words where it is not defined
    """
    return estimate(float(of(totals)), of(sums), spectra, undefined)


def estimate(found: float, draws: Counts, spectra: int, undefined: str) -> Value:
    """As ``value``, of a score found (NaN: not defined) and of its draws (draws,)."""
    if np.isnan(found):
        return Value(None, words=undefined)
    if spectra < 2:
        return Value(found, words="no interval: one spectrum")
    there = draws[~np.isnan(draws)]
    if len(there) < _DEFINED * len(draws):
        share = 1 - len(there) / len(draws)
        return Value(found, words=f"no interval: not defined in {share:.0%} of the draws")
    lo, hi = np.percentile(there, (50 * (1 - LEVEL), 50 * (1 + LEVEL)))
    return Value(found, float(lo), float(hi))


def ratio(above: Sequence[int], below: Sequence[int]) -> Callable[[Counts], Counts]:
    """The score that is a ratio of sums of columns; NaN where nothing stands below. A column may be named
    twice: F1 = 2 TP / (2 TP + FP + FN)."""

    def of(counts: Counts) -> Counts:
        top: Counts = counts[..., list(above)].sum(axis=-1)
        bottom: Counts = counts[..., list(below)].sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share: Counts = np.where(bottom > 0, top / bottom, np.nan)
        return share

    return of
