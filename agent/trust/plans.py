"""Plans of the ordered queue: strata of P(YES) with known probabilities, how a case is chosen, and its weight.

A plan gives each stratum a probability; a case is chosen uniformly within its stratum, and a share of all showings is
uniform over the list. So each case has a known probability that is never 0, and labels can be weighted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from agent.language import tr
from agent.statistics import FloatArray
from agent.trajectory.steps import Verdict

Arm = Literal["random", "value"]


@dataclass(frozen=True)
class Stratum:
    """Waiting cases with P(YES) of at least ``lo`` and less than ``hi`` (the last stratum includes 1).

    :param waiting: number of cases of it that wait
    :param probability: of choosing this stratum by value
    """

    lo: float
    hi: float
    waiting: int
    probability: float


@dataclass(frozen=True)
class Plan:
    """How one case is chosen among those that wait.

    :param strata: by P(YES), from 0 to 1 without gaps; their probabilities sum to 1, those of empty strata are 0
    :param random_share: probability of choosing uniformly among all waiting cases
    """

    strata: tuple[Stratum, ...]
    random_share: float

    @cached_property
    def edges(self) -> FloatArray:
        """The borders of the strata, from 0 to 1."""
        return np.array([stratum.lo for stratum in self.strata] + [self.strata[-1].hi])

    @cached_property
    def waiting(self) -> FloatArray:
        """Waiting cases of each stratum."""
        return np.array([stratum.waiting for stratum in self.strata], dtype=float)

    @cached_property
    def chances(self) -> FloatArray:
        """Probability of one waiting case of each stratum; 0 for an empty stratum.

        All cases have the same one if no stratum has a probability by value, as :func:`choose` then chooses uniformly.
        """
        values = np.array([stratum.probability for stratum in self.strata])
        total = self.waiting.sum()
        if not values.sum():
            return np.where(self.waiting > 0, 1 / max(total, 1.0), 0.0)
        within = np.divide(values, self.waiting, out=np.zeros(len(values)), where=self.waiting > 0)
        return np.where(self.waiting > 0, self.random_share / max(total, 1.0) + (1 - self.random_share) * within, 0.0)

    def stratum_of(self, p: ArrayLike) -> NDArray[np.intp]:
        """Return the index of the stratum of each P(YES)."""
        return np.clip(np.searchsorted(self.edges, p, side="right") - 1, 0, len(self.strata) - 1)

    def probability(self, p: float) -> float:
        """Return the probability of one waiting case with this P(YES)."""
        return float(self.chances[self.stratum_of(p)])

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        strata = [[s.lo, s.hi, s.waiting, s.probability] for s in self.strata]
        return {"strata": strata, "random_share": self.random_share}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Plan:
        """Return the plan of :meth:`to_json`."""
        strata = tuple(Stratum(float(lo), float(hi), int(n), float(p)) for lo, hi, n, p in data["strata"])
        return Plan(strata, float(data["random_share"]))


@dataclass(frozen=True)
class Region:
    """Weights of n labels in the regions of K thresholds, each (n, K).

    :param waiting: cases of the region that waited when the case was chosen; infinite without a plan, NaN if the
        threshold is not a border of the plan's strata, or if a case called NO lies on it (its stratum begins there)
    :param weight: uniform within the region / probability given the region, of the chosen case
    :param largest: the largest weight of any case in the region
    """

    waiting: FloatArray
    weight: FloatArray
    largest: FloatArray


def weights(shown: Sequence[Plan | None], verdict: Verdict, thresholds: ArrayLike, p: FloatArray) -> Region:
    """Return the weights of labels in the region of a verdict at each threshold; 1 for labels without a plan."""
    cuts = np.asarray(thresholds, dtype=float)
    shape = len(shown), len(cuts)
    region = Region(np.full(shape, np.inf), np.ones(shape), np.ones(shape))
    groups: dict[bytes, list[int]] = {}
    for number, plan in enumerate(shown):
        if plan is not None:
            groups.setdefault(plan.edges.tobytes(), []).append(number)
    for rows in groups.values():
        plans = [cast(Plan, shown[row]) for row in rows]
        edges, chances = plans[0].edges, np.array([plan.chances for plan in plans])
        at = np.minimum(np.searchsorted(edges, cuts), len(edges) - 1)
        waiting, mean, largest = regions(verdict, np.array([plan.waiting for plan in plans]), chances, at)
        own = np.take_along_axis(chances, plans[0].stratum_of(p[rows])[:, None], axis=1)
        known = (edges[at] == cuts) & ((verdict == "YES") | (p[rows][:, None] != cuts))
        region.waiting[rows] = np.where(known, waiting, np.nan)
        region.weight[rows], region.largest[rows] = mean / own, largest
    return region


def regions(
    verdict: Verdict, waiting: FloatArray, chances: FloatArray, at: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return of the region of each border: waiting cases, mean probability of a case, largest weight, each (..., K).

    :param waiting: waiting cases of each stratum, (..., strata)
    :param chances: probability of one waiting case of each stratum
    :param at: numbers of the borders, (K,): the strata from it on (YES) or those before it (NO) are the region
    """
    turn = -1 if verdict == "YES" else 1
    sizes, masses = np.cumsum(waiting[..., ::turn], axis=-1), np.cumsum((waiting * chances)[..., ::turn], axis=-1)
    least = np.minimum.accumulate(np.where(waiting > 0, chances, np.inf)[..., ::turn], axis=-1)
    strata = waiting.shape[-1]
    count = strata - at if verdict == "YES" else at
    index = np.maximum(count - 1, 0)
    size, mass = np.where(count > 0, sizes[..., index], 0.0), np.where(count > 0, masses[..., index], 0.0)
    mean = np.divide(mass, size, out=np.zeros(size.shape), where=size > 0)
    smallest = least[..., index]
    return size, mean, np.divide(mean, smallest, out=np.ones(size.shape), where=(size > 0) & (smallest > 0))


def choose(plan: Plan, waiting_p: FloatArray, rng: Generator) -> tuple[int, Arm, float]:
    """Choose one waiting case; return its index, how it was chosen and its probability.

    :param waiting_p: P(YES) of the waiting cases, those that the plan counts
    :raises ValueError: if nothing waits, or other numbers of cases than the plan counts
    """
    strata = plan.stratum_of(waiting_p)
    counts = np.bincount(strata, minlength=len(plan.strata))
    if not len(waiting_p) or (counts != plan.waiting).any():
        raise ValueError(
            tr(
                "found {n_waiting_p} waiting cases, expected those of the plan, {sum:.0f}",
                n_waiting_p=len(waiting_p),
                sum=plan.waiting.sum(),
            )
        )
    values = np.array([stratum.probability for stratum in plan.strata])
    arm: Arm = "random" if rng.random() < plan.random_share or not values.sum() else "value"
    if arm == "random":
        index = int(rng.integers(len(waiting_p)))
    else:
        stratum = rng.choice(len(values), p=values / values.sum())
        index = int(rng.choice(np.flatnonzero(strata == stratum)))
    return index, arm, plan.probability(float(waiting_p[index]))


# ---- value of information
