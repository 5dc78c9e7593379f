"""Scores against whether the verdict at the end was right: does good reasoning go with right answers?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.statistics import DEFAULT, FloatArray, Picks, Resampling
from reviewer.agreement.distribution import mean
from reviewer.agreement.values import Estimate, Scores, ScoresError, estimate

_MEAN = "Mean over items of an item's mean score, of the traces whose verdict is {}."
_DIFFERENCE = (
    "Difference of the items' mean scores, traces with a correct verdict less those with an incorrect "
    "one; the interval resamples each group for itself."
)
_AUC = (
    "The probability that a trace with a correct verdict has the higher mean score than one with an "
    "incorrect verdict, a tie counted as half (area under the ROC curve; Mann & Whitney's U over the "
    "number of pairs). Hanley & McNeil 1982, Radiology 143, 29."
)
_OF = "items of the rarer kind of verdict"


@dataclass(frozen=True)
class ByCorrectness:
    """Mean scores of traces with a correct and with an incorrect verdict, and how far they lie apart."""

    correct: Estimate
    incorrect: Estimate
    difference: Estimate
    auc: Estimate


def score_by_correctness(
    scores: Scores, correct: Sequence[bool | None], resampling: Resampling = DEFAULT
) -> ByCorrectness:
    """How the scores of reasoning go with the correctness of the verdict; an item's score is its mean.

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
        _mean(right, "correct", resampling),
        _mean(wrong, "incorrect", resampling),
        _difference(right, wrong, resampling),
        _auc(right, wrong, resampling),
    )


def _mean(values: FloatArray, kind: str, resampling: Resampling) -> Estimate:
    none = f"no scored trace has a verdict known to be {kind}"
    return mean(values, np.ones(len(values)), _MEAN.format(kind), resampling, none=none)


def _missing(right: FloatArray, wrong: FloatArray) -> str:
    if len(right) and len(wrong):
        return ""
    if not len(right) and not len(wrong):
        return "no scored trace has a verdict whose truth is known"
    return f"no scored trace has {'an incorrect' if len(right) else 'a correct'} verdict"


def _difference(right: FloatArray, wrong: FloatArray, resampling: Resampling) -> Estimate:
    n = len(right) + len(wrong)
    if why := _missing(right, wrong):
        return Estimate.undefined(why, n, _DIFFERENCE)
    both = np.concatenate([right, wrong])

    def statistic(picks: Picks) -> FloatArray:
        drawn = both[picks]
        return np.asarray(drawn[:, : len(right)].mean(axis=1) - drawn[:, len(right) :].mean(axis=1))

    value = float(right.mean() - wrong.mean())
    return estimate(_DIFFERENCE, value, statistic, (len(right), len(wrong)), resampling, of=_OF)


def _auc(right: FloatArray, wrong: FloatArray, resampling: Resampling) -> Estimate:
    from scipy.stats import mannwhitneyu, rankdata

    n = len(right) + len(wrong)
    detail: dict[str, float] = {"correct": len(right), "incorrect": len(wrong)}
    if why := _missing(right, wrong):
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
    return estimate(_AUC, value, statistic, sizes, resampling, detail=detail, caution=caution, of=_OF)
