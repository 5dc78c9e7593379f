"""Processes of the error rates at all candidate thresholds of a side, valid at any time and for the ordered queue.

A label chosen by a plan is weighted by (uniform within the region) / (its probability given the region). Cases leave a
finite list one by one, so the hypothesis "the error rate of the region is at least the limit" says of the cases that
still wait: their error rate is at least (limit × cases of the region − errors so far) / waiting cases (Waudby-Smith &
Ramdas 2020, arXiv:2006.04347; with weights: Waudby-Smith, Stark & Ramdas 2021, arXiv:2107.11323). A case that
joins the list later must be like those of the list. A label without a plan is of a random case of a population, with
weight 1 and the limit itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict
from agent.trust.bounds import ALTERNATIVES, log_factors, mixed
from agent.trust.plans import Plan, weights

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Weighted:
    """Labels with what is known of their choice, for the regions of K thresholds: each (n, K).

    :param inside: whether the label counts in the region
    :param error: whether it contradicts the verdict
    :param weight: uniform within the region / probability given the region
    :param largest: the largest weight that any case of the region could have had
    :param before: labels in the region before this one, and the errors among them
    :param waiting: cases of the region that waited when this one was chosen; infinite without a plan
    """

    inside: BoolArray
    error: BoolArray
    weight: FloatArray
    largest: FloatArray
    before: FloatArray
    errors_before: FloatArray
    waiting: FloatArray


def once(inside: BoolArray, error: BoolArray, objects: NDArray[np.intp] | None) -> tuple[BoolArray, BoolArray]:
    """Return which labels count if each object counts once, at its first label that is inside, and whether it is wrong:
    any of its labels inside is. Each (n, K).

    A later label can only turn an object wrong, so a process is never above that of first labels alone.

    :param objects: the number of the object of each label, (n,); None: each label is of another one
    """
    if objects is None or not len(objects):
        return inside, inside & error
    order = np.argsort(objects, kind="stable")
    starts = np.flatnonzero(np.diff(objects[order], prepend=objects.min() - 1))
    sizes = np.diff(starts, append=len(order))
    ordered = inside[order]
    before: NDArray[np.intp] = np.cumsum(ordered, axis=0) - ordered
    first = ordered & (before == np.repeat(before[starts], sizes, axis=0))
    wrong = np.repeat(np.logical_or.reduceat(ordered & error[order], starts, axis=0), sizes, axis=0)
    back = np.argsort(order)
    return first[back], wrong[back]


def weighted(
    p: FloatArray,
    yes: BoolArray,
    shown: tuple[Plan | None, ...],
    thresholds: FloatArray,
    verdict: Verdict,
    objects: NDArray[np.intp] | None = None,
) -> Weighted:
    """Return the labels with their weights in the regions of the thresholds, from the strictest.

    :param p: P(YES) of the cases in the order of their labels, (n,)
    :param objects: as for ``once``
    """
    inside = p[:, None] >= thresholds if verdict == "YES" else p[:, None] <= thresholds
    error = np.broadcast_to((yes if verdict == "NO" else ~yes)[:, None], inside.shape)
    region = weights(shown, verdict, thresholds, p)
    # A threshold inside a stratum of a plan has no known weight there: the label does not count.
    inside = inside & ~np.isnan(region.waiting)
    before: NDArray[np.intp] = np.cumsum(inside, axis=0) - inside
    errors_before: NDArray[np.intp] = np.cumsum(inside & error, axis=0) - (inside & error)
    counts = before.astype(float), errors_before.astype(float)
    inside, error = once(inside, error, objects)
    return Weighted(inside, error, region.weight, region.largest, *counts, region.waiting)


def remaining_limit(limit: ArrayLike, before: FloatArray, errors_before: FloatArray, waiting: FloatArray) -> FloatArray:
    """Return the least error rate of the waiting cases under the hypothesis, as the module says."""
    finite = np.where(np.isfinite(waiting) & (waiting > 0), waiting, 1.0)
    left = (np.asarray(limit, dtype=float) * (before + finite) - errors_before) / finite
    return cast(FloatArray, np.where(np.isfinite(waiting) & (waiting > 0), left, limit))


def logarithms(labels: Weighted, limit: float, least: float = 0.0) -> FloatArray:
    """Return the logarithms of the processes after each label, (n + 1, K, alternatives).

    Wrong labels raise the limit of a population only: those of a finite list are a sample, and where most of the list
    is labelled their share can be far from the expected one. Labels with a plan are taken as they are.

    :param limit: of the measured error rate, ``least`` + true limit (1 - 2 ``least``)
    :param least: error rate that is measured even without a true error (wrong labels)
    """
    finite = np.isfinite(labels.waiting)
    limits = remaining_limit(
        np.where(finite, (limit - least) / (1 - 2 * least), limit), labels.before, labels.errors_before, labels.waiting
    )
    # A weight of 0 leaves a process as it is.
    factors = log_factors(
        labels.error, labels.weight * labels.inside, limits, labels.largest, np.where(finite, 0.0, least / limit)
    )
    start = np.zeros((1, *factors.shape[1:]))
    return cast(FloatArray, np.concatenate((start, np.cumsum(factors, axis=0))))


def upper_limit(highest_at: Callable[[float], float], delta: float, least: float = 0.0) -> float:
    """Return an upper bound of an error rate that is valid at any time, 1 if there is none.

    It is the smallest limit that the labels refute at ``delta``.

    :param highest_at: logarithm of the highest value of the process of a limit
    """
    low, high = max(least, 1e-6), 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if highest_at(middle) >= -math.log(delta) else (middle, high)
    return high


def labels_to_go(logs: FloatArray, limit: float, delta: float, error_rate: float = 0.0, least: float = 0.0) -> float:
    """Return how many more labels of weight 1 bring a process to 1/``delta``, at this error rate among them.

    With an error rate above 0 it is the number at which the mean growth gets there; infinite if it never does.

    :param logs: logarithms of the process, (alternatives,)
    """
    good, bad = log_factors((False, True), 1.0, limit, 1.0, least / limit)
    step = (1 - error_rate) * good + error_rate * bad
    short = -math.log(delta) + math.log(len(ALTERNATIVES)) - logs
    several = np.where(step > 0, short / np.where(step > 0, step, 1.0), np.inf)
    if not math.isfinite(float(several.min())):
        return math.inf
    low, high = 0.0, max(0.0, float(several.min()))
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if mixed(logs + middle * step) >= -math.log(delta) else (middle, high)
    return high


def missed_logarithms(
    p: FloatArray,
    yes: BoolArray,
    shown: tuple[Plan | None, ...],
    thresholds: FloatArray,
    limit: float,
    objects: NDArray[np.intp] | None = None,
) -> FloatArray:
    """Return the logarithms of "at least this share of the YES objects is called NO", (n + 1, K, alternatives).

    Only YES labels change a process. With a plan the weight of a case is that within the whole list; the labels so far
    count against the process where their share is above the limit, because they left the list.
    """
    counted, inside = once(np.repeat(yes[:, None], len(thresholds), axis=1), p[:, None] <= thresholds, objects)
    whole = weights(shown, "YES", [0.0], p)
    balance = np.cumsum(np.where(counted, limit - inside, 0.0), axis=0)
    balance = np.concatenate((np.zeros((1, len(thresholds))), balance[:-1]))[: len(p)]
    lost = np.maximum(0.0, -balance) / (whole.waiting * whole.largest)
    payoff = np.where(counted, whole.weight / whole.largest, 0.0) * (limit - inside) - lost
    # The largest loss is known before the label, so that no factor has to be cut off at 0.
    factors = np.log1p((1 - ALTERNATIVES) * (payoff / (1 - limit + lost))[..., None])
    start = np.zeros((1, *factors.shape[1:]))
    return cast(FloatArray, np.concatenate((start, np.cumsum(factors, axis=0))))
