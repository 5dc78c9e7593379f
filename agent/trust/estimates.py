"""Prevalence, and YES objects among the cases that are not called YES: estimates that are valid at any time.

Each label gives an unbiased value of the share of YES in a region: labels so far, P(YES) of the cases that wait, and
the difference between label and P(YES) of the chosen case, divided by its probability (prediction-powered difference
estimator: Angelopoulos and others 2023, Science 382, 669; Horvitz & Thompson 1952). The intervals are confidence
sequences by betting: Waudby-Smith & Ramdas 2024, Journal of the Royal Statistical Society B 86, 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from agent.statistics import FloatArray
from agent.trust.sides import Labelled

BETS = 0.9 * 2.0 ** -np.arange(12)
"""Bets as shares of the largest that keeps a process positive; each has the same weight."""
GRID = 400
"""Shares for which the hypothesis is tested: the squares of equal steps from 0 to 1."""


@dataclass(frozen=True)
class Share:
    """A share with an interval that is valid at any time.

    :param value: estimate; None where it is not defined
    """

    value: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Estimates:
    """Shares of the list that the labels are of; without plans the labels are assumed a random sample of it.

    :param prevalence: share of YES among all cases of the list
    :param unflagged: share of YES among the cases that are not called YES
    :param recall: share of the YES objects that are called YES
    """

    prevalence: Share
    unflagged: Share
    recall: Share


def estimates(labelled: Labelled, pool_p: FloatArray, threshold: float, delta: float = 0.05) -> Estimates:
    """Return prevalence, YES objects among the unflagged, and recall, each with confidence 1 − ``delta``.

    :param pool_p: P(YES) of all cases of the list, decided or not
    :param threshold: cases with P(YES) of at least it are called YES (flagged)
    """
    pool = np.asarray(pool_p, dtype=float)
    flagged = int((pool >= threshold).sum())
    below = _share(labelled, pool, (-math.inf, threshold), delta)
    halves = [_share(labelled, pool, region, delta / 2) for region in ((threshold, math.inf), (-math.inf, threshold))]
    return Estimates(
        _share(labelled, pool, (-math.inf, math.inf), delta),
        below,
        _recall(halves[0], halves[1], flagged, len(pool) - flagged),
    )


def _recall(above: Share, below: Share, flagged: int, unflagged: int) -> Share:
    """Return the share of the YES objects that are flagged, from both shares of YES."""

    def share(above_share: float, missed: float) -> float | None:
        return above_share * flagged / total if (total := above_share * flagged + missed * unflagged) else None

    low, high = share(above.low, below.high), share(above.high, below.low)
    # A side without cases has no share of YES, and counts nothing.
    above_share = above.value if flagged else 0.0
    missed = below.value if unflagged else 0.0
    value = None if above_share is None or missed is None else share(above_share, missed)
    return Share(value, 0.0 if low is None else low, 1.0 if high is None else high)


def _share(labelled: Labelled, pool: FloatArray, region: tuple[float, float], delta: float) -> Share:
    """Return the share of YES among the cases with P(YES) of at least the first and less than the second number."""
    low, high = region
    of = int(((pool >= low) & (pool < high)).sum())
    if not of:
        return Share(None, 0.0, 1.0)
    values, least, most = _values(labelled, pool, low, high, of)
    if not len(values):
        return Share(None, 0.0, 1.0)
    # The labels themselves are known: the share is at least that of the YES among them, at most that of no NO left.
    inside = (labelled.p >= low) & (labelled.p < high)
    known = int((labelled.yes & inside).sum()), int((~labelled.yes & inside).sum())
    certain = known[0] / of, max(known[0] / of, 1 - known[1] / of)
    lower, upper = _interval(values, least, most, delta)
    lower, upper = max(lower, certain[0]), min(upper, certain[1])
    return Share(float(np.clip(values.mean(), certain[0], certain[1])), min(lower, upper), max(lower, upper))


def _values(
    labelled: Labelled, pool: FloatArray, low: float, high: float, of: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the unbiased value of each label, and the smallest and largest that it could have had, each (n,)."""
    p, yes = labelled.p, labelled.yes
    inside = (p >= low) & (p < high)
    before = np.concatenate(([0.0], np.cumsum(np.where(inside, yes - p, 0.0))[:-1])) if len(p) else np.zeros(0)
    base = before + pool[(pool >= low) & (pool < high)].sum()
    inverse, down, up = np.zeros(len(p)), np.zeros(len(p)), np.zeros(len(p))
    for number, plan in enumerate(labelled.shown):
        if plan is None:
            inverse[number] = down[number] = up[number] = max(1, len(pool) - number)
            down[number] *= min(1.0, high)
            up[number] *= 1 - max(0.0, low)
            continue
        inverse[number] = 1 / plan.probability(float(p[number]))
        edges = plan.edges
        used = (plan.waiting > 0) & (edges[1:] > low) & (edges[:-1] < high)
        if used.any():
            chances = plan.chances[used]
            down[number] = (np.minimum(edges[1:], high)[used] / chances).max()
            up[number] = ((1 - np.maximum(edges[:-1], low)[used]) / chances).max()
    change = np.where(inside, (yes - p) * inverse, 0.0)
    return (base + change) / of, (base - down) / of, (base + up) / of


def _interval(values: FloatArray, least: FloatArray, most: FloatArray, delta: float) -> tuple[float, float]:
    """Return the shares that no process has refuted at ``delta`` / 2 after any of the labels."""
    shares = np.linspace(0, 1, GRID) ** 2
    target = math.log(2 / delta)
    low, high = 0.0, 1.0
    for number, share in enumerate(shares):
        if _refuted(values - share, share - least, target):
            low = float(shares[max(0, number)])
        else:
            break
    for number in range(GRID - 1, -1, -1):
        share = shares[number]
        if share > low and _refuted(share - values, most - share, target):
            high = float(share)
        else:
            break
    return low, high


def _refuted(gains: FloatArray, largest_loss: FloatArray, target: float) -> bool:
    """Return whether the process that bets on gains has reached the target; no gain is below −``largest_loss``."""
    ratio = np.divide(gains, largest_loss, out=np.zeros(len(gains)), where=largest_loss > 1e-12)
    logs = np.cumsum(np.log1p(BETS[:, None] * np.maximum(ratio, -1.0)), axis=1)
    mixture = np.log(np.exp(np.clip(logs, -690, 690)).mean(axis=0))
    return bool(mixture.max() >= target)
