"""How well P(YES) is calibrated and ranks the questions: reliability, Brier score, ROC AUC, average precision.

P(YES) is the probability of a specialist, the logistic function of a policy's log odds, or the share of YES among the
samples of a question. Intervals are percentile bootstrap intervals by spectrum within each task. A score that is not
defined has no number but a reason.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from agent.statistics import FloatArray, Picks, divided, once, resampled, times_sampled
from agent.trust.reliability import BINS, Bin, bin_of, binned
from training.bench.outcomes import Outcome
from training.bench.scores import RESAMPLES, SEED, Value, estimate

Source = Literal["probability", "vote_share"]
"""Which field of an ``Outcome`` is P(YES)."""
Measure = Literal["brier", "ece", "auc", "ap"]
MEASURES: Mapping[Measure, str] = {
    "brier": "Brier score",
    "ece": "calibration error",
    "auc": "ROC AUC",
    "ap": "average precision",
}
NOT_GIVEN = "not defined: the answers have no probability, and each question has one sample"
_UNDEFINED: Mapping[Measure, str] = {
    "brier": "not defined",
    "ece": "not defined",
    "auc": "not defined: all questions have the same truth",
    "ap": "not defined: no positives",
}


@dataclass(frozen=True)
class TaskCalibration:
    """The scores of one task.

    :param brier: mean of (P − y)², with y 1 for YES and 0 for NO: Brier 1950, Mon. Weather Rev. 78, 1
    :param ece: expected calibration error over ``BINS`` bins: Guo et al. 2017, arXiv:1706.04599, equation 3, for the
        class YES
    :param auc: area below the ROC curve; equal probabilities count one half
    :param ap: average precision: the sum over thresholds of precision times the step in recall
    """

    task: str
    n: int
    positives: int
    brier: Value
    ece: Value
    auc: Value
    ap: Value


@dataclass(frozen=True)
class Calibration:
    """The scores of all tasks: means over the tasks in which they are defined.

    :param n: questions with P(YES); ``without`` counts those that have none and are left out
    :param bins: of the questions of all tasks
    """

    source: Source
    n: int
    without: int
    tasks: tuple[TaskCalibration, ...]
    brier: Value
    ece: Value
    auc: Value
    ap: Value
    bins: tuple[Bin, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def calibrations(outcomes: Iterable[Outcome], resamples: int = RESAMPLES, seed: int = SEED) -> list[Calibration]:
    """Return one for each kind of P(YES) that the outcomes have; [] if they have none."""
    given = list(outcomes)
    sources: tuple[Source, ...] = ("probability", "vote_share")
    return [
        _calibration(source, given, resamples, seed)
        for source in sources
        if any(getattr(outcome, source) is not None for outcome in given)
    ]


@dataclass(frozen=True)
class _Resampled:
    """The measures of one task, (4,), and of its resamples, (resamples, 4); NaN where not defined."""

    task: str
    n: int
    positives: int
    spectra: int
    totals: FloatArray
    resamples: FloatArray


def _calibration(source: Source, given: Sequence[Outcome], resamples: int, seed: int) -> Calibration:
    known = [outcome for outcome in given if getattr(outcome, source) is not None]
    by_task: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in sorted(known, key=lambda outcome: (outcome.task, outcome.source, outcome.key)):
        by_task[outcome.task].append(outcome)
    tasks = [_resampled(source, task, rows, resamples, seed) for task, rows in by_task.items()]
    means = {measure: _mean(tasks, place, _UNDEFINED[measure]) for place, measure in enumerate(MEASURES)}
    return Calibration(
        source=source,
        n=len(known),
        without=len(given) - len(known),
        tasks=tuple(
            TaskCalibration(
                task.task,
                task.n,
                task.positives,
                **{
                    measure: estimate(
                        float(task.totals[place]), task.resamples[:, place], task.spectra, _UNDEFINED[measure]
                    )
                    for place, measure in enumerate(MEASURES)
                },
            )
            for task in tasks
        ),
        **means,
        bins=binned([getattr(outcome, source) for outcome in known], [outcome.label == "YES" for outcome in known]),
    )


def _mean(tasks: Sequence[_Resampled], place: int, undefined: str) -> Value:
    defined = [task for task in tasks if not np.isnan(task.totals[place])]
    if not defined:
        return Value(None, words=undefined)
    mean = float(np.mean([task.totals[place] for task in defined]))
    between = np.mean([task.resamples[:, place] for task in defined], axis=0)
    return estimate(mean, between, sum(task.spectra for task in defined), undefined)


def _resampled(source: Source, task: str, rows: Sequence[Outcome], resamples: int, seed: int) -> _Resampled:
    p = np.array([getattr(row, source) for row in rows], dtype=float)
    y = np.array([row.label == "YES" for row in rows], dtype=float)
    names, spectrum = np.unique([row.source for row in rows], return_inverse=True)
    measure = _Measures(p, y)

    def of(picks: Picks) -> FloatArray:
        return measure(times_sampled(picks, len(names))[:, spectrum])

    stream = (seed, zlib.crc32(task.encode()))
    between = resampled(of, (len(names),), resamples, stream, width=4 * len(rows))
    return _Resampled(task, len(rows), int(y.sum()), len(names), of(once(len(names)))[0], between)


class _Measures:
    """The four measures of one task for weights of its questions, many sets of weights at a time."""

    def __init__(self, p: FloatArray, y: FloatArray) -> None:
        """:param p: P(YES), (n,); ``y``: 1 for YES, 0 for NO"""
        self._order = np.argsort(-p, kind="stable")
        self._p, self._y = p[self._order], y[self._order]
        # Questions of the same probability are above a threshold together.
        self._starts = np.flatnonzero(np.diff(self._p, prepend=np.inf))
        self._bin = np.eye(BINS)[bin_of(self._p)]

    def __call__(self, weights: FloatArray) -> FloatArray:
        """Return ``MEASURES`` of each set: (sets, n) -> (sets, 4)."""
        w = weights[:, self._order]
        total = w.sum(axis=1)
        brier = divided((w * (self._p - self._y) ** 2).sum(axis=1), total)
        ece = divided(np.abs((w * (self._y - self._p)) @ self._bin).sum(axis=1), total)
        yes = np.add.reduceat(w * self._y, self._starts, axis=1)
        no = np.add.reduceat(w * (1 - self._y), self._starts, axis=1)
        called_yes, called_no = yes.cumsum(axis=1), no.cumsum(axis=1)
        positives, negatives = called_yes[:, -1], called_no[:, -1]
        # A pair of a YES and a NO is in order if the NO comes later.
        ordered = (yes * (negatives[:, None] - called_no + no / 2)).sum(axis=1)
        auc = divided(ordered, positives * negatives)
        precision = np.nan_to_num(divided(called_yes, called_yes + called_no))
        ap = divided((yes * precision).sum(axis=1), positives)
        return np.stack([brier, ece, auc, ap], axis=1)
