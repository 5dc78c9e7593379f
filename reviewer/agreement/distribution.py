"""How scores are distributed for one source and dimension, and how they relate to whether the verdict is correct."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from agent.statistics import DEFAULT, FloatArray, Picks, Resampling, Statistic, divided, once, times_sampled, wilson
from reviewer.agreement.values import SCALE, Estimate, Scores, ScoresError, estimate


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


def ratio(sums: FloatArray, counts: FloatArray) -> Statistic:
    """The mean of a resample; NaN when what was drawn holds no value."""

    def statistic(picks: Picks) -> FloatArray:
        times = times_sampled(picks, len(sums))
        return divided(times @ sums, times @ counts)

    return statistic


def by_item(items: Sequence[str], *values: ArrayLike) -> tuple[FloatArray, ...]:
    """Return for each array of values, (n_values,), its sums by item, (n_different_items,)."""
    _, number = np.unique(np.asarray(items, dtype=str), return_inverse=True)
    return tuple(np.bincount(number, np.asarray(one, dtype=float)).astype(float) for one in values)


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
        off = next(one for one in scores.values[scores.given] if one not in scale)
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
    totals = tuple(int(one) for one in counts.sum(axis=0))
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


_GROUP_MEAN = "Mean over items of an item's mean score, of the traces whose verdict is {}."
_GROUP_DIFFERENCE = (
    "Difference of the items' mean scores, traces with a correct verdict less those with an incorrect "
    "one; the interval resamples each group for itself."
)
_AUC = (
    "The probability that a trace with a correct verdict has the higher mean score than one with an "
    "incorrect verdict, a tie counted as half (area under the ROC curve; Mann & Whitney's U over the "
    "number of pairs). Hanley & McNeil 1982, Radiology 143, 29."
)
_RARER_GROUP = "items of the rarer kind of verdict"


@dataclass(frozen=True)
class ByCorrectness:
    """Mean scores of traces with a correct and with an incorrect verdict, and their difference."""

    correct: Estimate
    incorrect: Estimate
    difference: Estimate
    auc: Estimate


def score_by_correctness(
    scores: Scores, correct: Sequence[bool | None], resampling: Resampling = DEFAULT
) -> ByCorrectness:
    """Relate the scores of reasoning to the correctness of the verdict; an item's score is its mean.

    n is the items with a score and a known truth. ``auc.detail["rank_biserial"]`` is 2 AUC - 1 (Kerby 2014),
    0 for no relation. Difference and AUC are undefined without an item of either kind, a mean without one of
    its own. Equal scores throughout give 0.5, which ``reason`` says is no finding.

    :param correct: for each item of ``scores``; None where the truth is not known
    :raises ScoresError: not as many as there are items
    """
    if len(correct) != len(scores.items):
        raise ScoresError(f"correctness of {len(correct)} verdicts for {len(scores.items)} items")
    means = scores.item_means()
    right, wrong = (
        means[np.array([one is kind for one in correct], dtype=bool) & ~np.isnan(means)] for kind in (True, False)
    )
    return ByCorrectness(
        _group_mean(right, "correct", resampling),
        _group_mean(wrong, "incorrect", resampling),
        _group_difference(right, wrong, resampling),
        _auc(right, wrong, resampling),
    )


def _group_mean(values: FloatArray, kind: str, resampling: Resampling) -> Estimate:
    none = f"no scored trace has a verdict known to be {kind}"
    return mean(values, np.ones(len(values)), _GROUP_MEAN.format(kind), resampling, none=none)


def _missing_group(right: FloatArray, wrong: FloatArray) -> str:
    if len(right) and len(wrong):
        return ""
    if not len(right) and not len(wrong):
        return "no scored trace has a verdict whose truth is known"
    return f"no scored trace has {'an incorrect' if len(right) else 'a correct'} verdict"


def _group_difference(right: FloatArray, wrong: FloatArray, resampling: Resampling) -> Estimate:
    n = len(right) + len(wrong)
    if why := _missing_group(right, wrong):
        return Estimate.undefined(why, n, _GROUP_DIFFERENCE)
    both = np.concatenate([right, wrong])

    def statistic(picks: Picks) -> FloatArray:
        drawn = both[picks]
        return np.asarray(drawn[:, : len(right)].mean(axis=1) - drawn[:, len(right) :].mean(axis=1))

    value = float(right.mean() - wrong.mean())
    return estimate(_GROUP_DIFFERENCE, value, statistic, (len(right), len(wrong)), resampling, of=_RARER_GROUP)


def _auc(right: FloatArray, wrong: FloatArray, resampling: Resampling) -> Estimate:
    from scipy.stats import mannwhitneyu, rankdata

    n = len(right) + len(wrong)
    detail: dict[str, float] = {"correct": len(right), "incorrect": len(wrong)}
    if why := _missing_group(right, wrong):
        return Estimate.undefined(why, n, _AUC, detail)
    both = np.concatenate([right, wrong])
    pairs = len(right) * len(wrong)
    # The test's p value takes the items' means to be independent, which the question here does not need.
    value = float(mannwhitneyu(right, wrong, method="asymptotic").statistic) / pairs

    def statistic(picks: Picks) -> FloatArray:
        ranks = rankdata(both[picks], axis=1)[:, : len(right)].sum(axis=1)
        return np.asarray((ranks - len(right) * (len(right) + 1) / 2) / pairs)

    caution = f"every item's mean score is {both[0]:g}" if np.ptp(both) == 0 else ""
    detail["rank_biserial"] = 2 * value - 1
    sizes = (len(right), len(wrong))
    return estimate(_AUC, value, statistic, sizes, resampling, detail=detail, caution=caution, of=_RARER_GROUP)
