"""How scores are distributed for one source and dimension, and how they relate to whether the verdict is correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent.language import deferred
from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, Statistic, divided, once, times_sampled, wilson
from reviewer.agreement.values import SCALE, Estimate, Scores, ScoresError, estimate, jackknife

_Flags = NDArray[np.bool_]
_Names = NDArray[np.str_]


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
    """Return the sum of ``sums`` over the sum of ``counts``.

    :param sums: (n_items,); the sum of each item's values
    :param counts: (n_items,); the number of each item's values; items with none are left out
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
    """Return a share of ``counts``; as ``mean``, but with an interval where the bootstrap has none.

    With few items, or when all or none is a hit, resamples say nothing; then the interval is Wilson's (1927),
    which counts every item once however many values it holds. ``detail["interval"]`` says which it is.
    """
    share_of_hits = mean(hits, counts, definition, resampling, none=none, n=n, n_of=n_of, detail=detail)
    if share_of_hits.value is None:
        return share_of_hits
    low, high, how = share_of_hits.low, share_of_hits.high, deferred("bootstrap by item")
    if low is None:
        items = len(_kept(hits, counts)[0])
        low, high = wilson(share_of_hits.value, items, resampling.confidence)
        how = deferred("Wilson, each item counted once")
    known = {**share_of_hits.detail, "interval": how}
    return Estimate(share_of_hits.value, low, high, share_of_hits.n, definition, "", known, n_of)


def ratio(sums: FloatArray, counts: FloatArray) -> Statistic:
    """Return the function from resamples to their means, NaN for a resample without a value."""

    def statistic(picks: Picks) -> FloatArray:
        times = times_sampled(picks, len(sums))
        return divided(times @ sums, times @ counts)

    return statistic


def by_item(items: Sequence[str], *values: ArrayLike) -> tuple[FloatArray, ...]:
    """Return for each array of values, (n_values,), its sums by item, (n_different_items,)."""
    _, number = np.unique(np.asarray(items, dtype=str), return_inverse=True)
    return tuple(np.bincount(number, np.asarray(value, dtype=float)).astype(float) for value in values)


def _kept(sums: ArrayLike, counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    totals, weights = np.asarray(sums, dtype=float), np.asarray(counts, dtype=float)
    some = weights > 0
    return cast(FloatArray, totals[some]), cast(FloatArray, weights[some])


_MEAN = "Mean of all scores; the interval resamples items."
_MEDIAN = "Median of all scores; the interval resamples items."
_NO_SCORE = "nobody gave a score"


@dataclass(frozen=True)
class Distribution:
    """How often each score was given, with mean and median.

    :param counts: as many as the scale has scores, in its order
    :param cannot_tell: answers "cannot tell from these data"; they are in no other number here
    """

    scale: tuple[int, ...]
    counts: tuple[int, ...]
    cannot_tell: int
    mean: Estimate
    median: Estimate


def distribution(
    scores: Scores, cannot_tell: int = 0, scale: Sequence[int] = SCALE, resampling: Resampling = DEFAULT
) -> Distribution:
    """Return counts, mean and median of the scores of one source and dimension.

    n of mean and median is the scores; ``detail`` has the items and the scorers. Undefined without a score.

    :param cannot_tell: how many answers were "cannot tell from these data"
    :raises ScoresError: a score that is not on the scale
    """
    counts = (scores.values[:, :, None] == np.array(scale)).sum(axis=1).astype(float)
    given = int(scores.given.sum())
    if counts.sum() != given:
        off = next(value for value in scores.values[scores.given] if value not in scale)
        raise ScoresError(f"scores: {off:g} is not on the scale {', '.join(map(str, scale))}")
    scored = counts[counts.sum(axis=1) > 0]
    detail = {"items": len(scored), "scorers": int(scores.given.any(axis=0).sum())}
    middle = mean(
        counts @ np.array(scale),
        counts.sum(axis=1),
        _MEAN,
        resampling,
        none=_NO_SCORE,
        n=given,
        n_of="scores",
        detail=detail,
    )
    totals = tuple(int(total) for total in counts.sum(axis=0))
    median = _median(scored, np.array(scale, dtype=float), given, detail, resampling)
    return Distribution(tuple(scale), totals, cannot_tell, middle, median)


def _median(counts: FloatArray, scale: FloatArray, n: int, detail: dict[str, int], resampling: Resampling) -> Estimate:
    """Of (n_items, n_scores of the scale) counts."""
    if not n:
        return Estimate.undefined(_NO_SCORE, 0, _MEDIAN, detail, "scores")

    def statistic(picks: Picks) -> FloatArray:
        below = np.cumsum(times_sampled(picks, len(counts)) @ counts, axis=1)
        half = below[:, -1:] / 2
        # The two middle ones of an even number may differ: where exactly half lies below, take both.
        lower, upper = scale[(below < half).sum(axis=1)], scale[(below <= half).sum(axis=1)]
        return cast(FloatArray, (lower + upper) / 2)

    value = float(statistic(once(len(counts)))[0])
    return estimate(_MEDIAN, value, statistic, (len(counts),), resampling, n=n, n_of="scores", detail=detail)


_BY_SPECTRUM = " The interval is Student's t by the jackknife over spectra, for spectra like these and these scorers."
_GROUP_MEAN = "Mean over items of an item's mean score, of the traces whose verdict is {}." + _BY_SPECTRUM
_GROUP_DIFFERENCE = (
    "Difference of the items' mean scores, traces with a correct verdict less those with an incorrect one."
    + _BY_SPECTRUM
)
_AUC = (
    "The probability that a trace with a correct verdict has the higher mean score than one with an "
    "incorrect verdict, a tie counted as half (area under the ROC curve; Mann & Whitney's U over the "
    "number of pairs). Hanley & McNeil 1982, Radiology 143, 29." + _BY_SPECTRUM
)
FEWEST_OF_A_KIND = 10
"""Spectra with a correct verdict, and with an incorrect one, below which there is no interval."""


@dataclass(frozen=True)
class ByCorrectness:
    """Mean scores of traces with a correct and with an incorrect verdict, and their difference."""

    correct: Estimate
    incorrect: Estimate
    difference: Estimate
    auc: Estimate


def score_by_correctness(scores: Scores, correct: Sequence[bool | None], spectra: Sequence[str]) -> ByCorrectness:
    """Relate the scores of reasoning to the correctness of the verdict; an item's score is its mean.

    n is the items with a score and a known truth. ``auc.detail["rank_biserial"]`` is 2 AUC - 1 (Kerby 2014),
    0 for no relation. Difference and AUC are undefined without an item of either kind, a mean without one of
    its own. Equal scores throughout give 0.5, which ``reason`` says is no finding.

    Intervals are by ``jackknife`` over spectra; that of the difference has the degrees of freedom of the rarer kind.

    :param correct: for each item of ``scores``; None where the truth is not known
    :param spectra: (n_items,), the spectrum of each item
    :raises ScoresError: not as many as there are items
    """
    for what, given in (("correctness", correct), ("spectra", spectra)):
        if len(given) != len(scores.items):
            raise ScoresError(f"{what}: found {len(given)}, expected {len(scores.items)}, one per item")
    means = scores.item_means()
    known = ~np.isnan(means) & np.array([is_correct is not None for is_correct in correct], dtype=bool)
    means, of = means[known], np.asarray(spectra, dtype=str)[known]
    right = np.array([is_correct is True for is_correct in correct], dtype=bool)[known]
    return ByCorrectness(
        _group_mean(means[right], of[right], "correct"),
        _group_mean(means[~right], of[~right], "incorrect"),
        _group_difference(means, right, of),
        _auc(means, right, of),
    )


def _group_mean(values: FloatArray, spectra: _Names, kind: str) -> Estimate:
    definition = _GROUP_MEAN.format(kind)
    if not len(values):
        return Estimate.undefined(f"no scored trace has a verdict known to be {kind}", 0, definition)
    value = float(values.mean())
    return jackknife(
        definition,
        value,
        lambda picks: values[picks].mean(axis=1),
        spectra.tolist(),
        fisher=False,
        fewest=FEWEST_OF_A_KIND,
    )


def _missing_kind(right: _Flags) -> str:
    if not len(right):
        return "no scored trace has a verdict whose truth is known"
    if right.all():
        return "no scored trace has an incorrect verdict"
    return "" if right.any() else "no scored trace has a correct verdict"


def _rarer(right: _Flags, spectra: _Names) -> int:
    """Return the number of spectra with the rarer kind of verdict."""
    return min(len(set(spectra[kind])) for kind in (right, ~right))


def _without_interval(estimate: Estimate) -> Estimate:
    why = f"fewer than {FEWEST_OF_A_KIND} spectra with the rarer kind of verdict"
    return replace(estimate, low=None, high=None, reason=estimate.reason or why)


def _group_difference(means: FloatArray, right: _Flags, spectra: _Names) -> Estimate:
    if why := _missing_kind(right):
        return Estimate.undefined(why, len(means), _GROUP_DIFFERENCE)

    def statistic(picks: Picks) -> FloatArray:
        values, first = means[picks], right[picks]
        of_right, of_wrong = (divided((values * group).sum(axis=1), group.sum(axis=1)) for group in (first, ~first))
        return of_right - of_wrong

    value, rarer = float(statistic(once(len(means)))[0]), _rarer(right, spectra)
    difference = jackknife(
        _GROUP_DIFFERENCE,
        value,
        statistic,
        spectra.tolist(),
        fisher=False,
        fewest=FEWEST_OF_A_KIND,
        freedom=max(1, rarer - 1),
    )
    return difference if rarer >= FEWEST_OF_A_KIND else _without_interval(difference)


def _auc(means: FloatArray, right: _Flags, spectra: _Names) -> Estimate:
    from scipy.stats import rankdata

    detail: dict[str, float] = {"correct": int(right.sum()), "incorrect": int((~right).sum())}
    if why := _missing_kind(right):
        return Estimate.undefined(why, len(means), _AUC, detail)

    def rank_biserial(picks: Picks) -> FloatArray:
        first = right[picks]
        n = first.sum(axis=1)
        above = (rankdata(means[picks], axis=1) * first).sum(axis=1) - n * (n + 1) / 2
        return 2 * divided(above, (n * (picks.shape[1] - n)).astype(float)) - 1

    value = float(rank_biserial(once(len(means)))[0])
    detail["rank_biserial"] = value
    caution = f"every item's mean score is {means[0]:g}" if np.ptp(means) == 0 else ""
    area = jackknife(_AUC, value, rank_biserial, spectra.tolist(), detail=detail, caution=caution)
    low, high = (None if end is None else (1 + end) / 2 for end in (area.low, area.high))
    area = replace(area, value=(1 + value) / 2, low=low, high=high)
    return area if _rarer(right, spectra) >= FEWEST_OF_A_KIND else _without_interval(area)
