"""The value of information of further labels, and the plan of the queue that follows from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict
from agent.trust.bounds import ALTERNATIVES, log_factors, mixed
from agent.trust.certify import counts, expected_errors, first_anytime, process_of, thresholds_of
from agent.trust.plans import Plan, Stratum, regions
from agent.trust.sides import Labelled, Requirements, called

VERDICTS: tuple[Verdict, Verdict] = ("YES", "NO")
PRIOR = 30.0
"""The predicted error rate counts as so many labels when the value of further labels is estimated."""


@dataclass(frozen=True)
class Progress:
    """How far the certification of a side is, with K thresholds from the strictest; arrays may have leading axes.

    :param at: numbers of the thresholds among the borders of the strata, (K,)
    :param size: cases of the list that each threshold calls, (K,)
    :param expected: measured error rates that P(YES) predict, (K,)
    :param first: number of the first threshold that is tested
    :param limit: measured limit
    :param least: error rate that is measured even without a true error
    :param n: labels of each threshold, (..., K)
    :param errors: errors among them, (..., K)
    :param logs: logarithms of the processes, (..., K, alternatives)
    :param refuted: whether each process has reached 1/δ, (..., K)
    """

    verdict: Verdict
    at: NDArray[np.intp]
    size: FloatArray
    expected: FloatArray
    first: int
    limit: float
    delta: float
    least: float
    n: FloatArray
    errors: FloatArray
    logs: FloatArray
    refuted: NDArray[np.bool_]

    def next(self) -> NDArray[np.intp]:
        """Return the number of the first threshold that is not certified yet, (...,); K if all are."""
        certified = np.logical_and.accumulate(self.refuted[..., self.first :], axis=-1).sum(axis=-1)
        return np.asarray(self.first + certified, dtype=np.intp)


def goal(side: Progress, waiting: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the threshold whose region is worth the next labels, and the value per label; each (...,).

    The value is the share of the side's cases that the threshold would add to those certified, divided by the labels
    that it takes to certify it and all stricter ones, if labels are uniform in its region. The error rate is that of
    the labels, with ``PRIOR`` more at the predicted one. The value is 0 where nothing can be certified.

    :param waiting: waiting cases of each stratum, (..., strata)
    """
    numbers = np.arange(len(side.at))
    following = side.next()[..., None]
    rate = (side.errors + PRIOR * side.expected) / (side.n + PRIOR)
    good, bad = log_factors((False, True), 1.0, side.limit, 1.0, side.least / side.limit)
    step = good + rate[..., None] * (bad - good)
    short = math.log(len(ALTERNATIVES) / side.delta) - side.logs
    labels = np.divide(short, step, out=np.full(short.shape, np.inf), where=step > 0).min(axis=-1)
    size = regions(side.verdict, waiting, np.zeros(waiting.shape), side.at)[0]
    per_case = np.maximum(labels, 1.0) / np.maximum(size, 1e-9)
    cost = np.maximum(size, 1.0) * np.maximum.accumulate(np.where(numbers >= following, per_case, 0.0), axis=-1)
    before = np.where(following > side.first, side.size[np.maximum(following - 1, 0)], 0.0)
    gain = np.where(numbers >= following, side.size - before, 0.0) / side.size[-1]
    value = np.where((size > 0) & np.isfinite(cost), gain / np.maximum(cost, 1.0), 0.0)
    best = value.argmax(axis=-1)
    return best, np.take_along_axis(value, best[..., None], axis=-1)[..., 0]


def probabilities(sides: Sequence[Progress], waiting: FloatArray) -> FloatArray:
    """Return the probability of each stratum by value of information, (..., strata).

    Each side gets a probability in proportion to its value per label, spread uniformly over the waiting cases of the
    region of its goal. Without a goal the cases outside the certified regions have it, else all.
    """
    strata = np.arange(waiting.shape[-1])
    total, open_strata = np.zeros(waiting.shape), np.ones(waiting.shape, dtype=bool)
    for side in sides:
        best, value = goal(side, waiting)
        inside = _inside(side, strata, best)
        mass = np.where(inside, waiting, 0.0)
        total += value[..., None] * mass / np.maximum(mass.sum(axis=-1, keepdims=True), 1.0)
        done = side.next()
        certified = _inside(side, strata, np.maximum(done - 1, 0)) & (done > side.first)[..., None]
        open_strata &= ~certified
    rest = np.where(open_strata, waiting, 0.0)
    rest = np.where(rest.sum(axis=-1, keepdims=True) > 0, rest, waiting)
    total = np.where(total.sum(axis=-1, keepdims=True) > 0, total, rest)
    return cast(FloatArray, total / np.maximum(total.sum(axis=-1, keepdims=True), 1e-300))


def _inside(side: Progress, strata: NDArray[np.int_], threshold: NDArray[np.intp]) -> NDArray[np.bool_]:
    border = side.at[threshold][..., None]
    return strata >= border if side.verdict == "YES" else strata < border


def plan(waiting_p: FloatArray, labelled: Labelled, requirements: Requirements, random_share: float = 0.2) -> Plan:
    """Return how the next case is chosen, by value of information for the method that is valid at any time.

    The strata are those of the last plan, if there is one, so that thresholds stay the same while labels come in.
    With "missed" the order is that for "omission"; the weights are valid for both.

    :param waiting_p: P(YES) of the cases that wait; with those of ``labelled`` they are the list
    :param random_share: share of the showings that is uniform over the list, more than 0
    """
    if not 0 < random_share <= 1:
        raise ValueError(
            tr(
                "found a random share of {random_share:g}, expected more than 0 and at most 1 (e.g. 0.2)",
                random_share=random_share,
            )
        )
    pool = np.concatenate((np.asarray(waiting_p, dtype=float), labelled.p))
    requirements = replace(requirements, method="anytime", no_risk="omission")
    cuts = {verdict: thresholds_of(labelled, pool, verdict) for verdict in VERDICTS}
    edges = np.unique(np.concatenate(([0.0, 1.0], *cuts.values())))
    waiting = np.histogram(waiting_p, edges)[0].astype(float)
    sides = [progress(labelled, pool, requirements, verdict, edges) for verdict in VERDICTS if len(cuts[verdict])]
    chances = probabilities(sides, waiting)
    strata = zip(edges[:-1].tolist(), edges[1:].tolist(), waiting.tolist(), chances.tolist(), strict=True)
    return Plan(tuple(Stratum(lo, hi, int(n), chance) for lo, hi, n, chance in strata), random_share)


def progress(
    labelled: Labelled, pool: FloatArray, requirements: Requirements, verdict: Verdict, edges: FloatArray
) -> Progress:
    """Return how far the certification of a side is.

    :param edges: borders of the strata; the thresholds of the side are among them
    """
    thresholds = thresholds_of(labelled, pool, verdict)
    noise = requirements.noise(verdict)
    n, errors = counts(labelled, thresholds, requirements, verdict, labelled.objects)
    logs = process_of(labelled, thresholds, requirements, verdict)(requirements.measured_limit(verdict))
    expected = expected_errors(pool, thresholds, requirements, verdict)
    return Progress(
        verdict,
        np.searchsorted(edges, thresholds),
        np.array([called(verdict, pool, threshold).sum() for threshold in thresholds], dtype=float),
        noise + expected * (1 - 2 * noise),
        first_anytime(pool, thresholds, requirements, verdict),
        requirements.measured_limit(verdict),
        requirements.side_delta,
        noise,
        n.astype(float),
        errors.astype(float),
        logs[-1],
        mixed(logs).max(axis=0) >= -math.log(requirements.side_delta),
    )
