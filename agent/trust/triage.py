"""The order of the queue by value of information, with known probabilities: strata of P(YES), plans, weights.

A plan gives each stratum a probability; a case is chosen uniformly within its stratum, and a share of all showings is
uniform over the list. So each case has a known probability that is never 0, and labels can be weighted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

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
        """Probability of one waiting case of each stratum; 0 for an empty stratum."""
        values = np.array([stratum.probability for stratum in self.strata])
        total = self.waiting.sum()
        within = np.divide(values, self.waiting, out=np.zeros(len(values)), where=self.waiting > 0)
        return np.where(self.waiting > 0, self.random_share / max(total, 1.0) + (1 - self.random_share) * within, 0.0)

    def stratum_of(self, p: ArrayLike) -> np.ndarray[Any, np.dtype[np.intp]]:
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
    def from_json(found: Mapping[str, Any]) -> Plan:
        """Return the plan of :meth:`to_json`."""
        strata = tuple(Stratum(float(lo), float(hi), int(n), float(p)) for lo, hi, n, p in found["strata"])
        return Plan(strata, float(found["random_share"]))


@dataclass(frozen=True)
class Region:
    """Weights of one showing in the region of each threshold, all (n_thresholds,).

    :param waiting: waiting cases in the region; NaN if the threshold is not a border of the plan's strata
    :param weight: uniform within the region / probability given the region, of the chosen case
    :param largest: the largest weight of any case in the region
    """

    waiting: FloatArray
    weight: FloatArray
    largest: FloatArray


def weight(plan: Plan, verdict: Verdict, thresholds: ArrayLike, p: float) -> Region:
    """Return the weight of a case chosen by a plan, in the region of a verdict at each threshold."""
    cuts = np.asarray(thresholds, dtype=float)
    edges, size, chances = plan.edges, plan.waiting, plan.chances
    at = np.searchsorted(edges, cuts)
    known = edges[np.minimum(at, len(edges) - 1)] == cuts
    smallest = np.where(chances > 0, chances, np.inf)
    if verdict == "YES":
        below = np.concatenate((np.cumsum(size[::-1])[::-1], [0.0]))
        mass = np.concatenate((np.cumsum((size * chances)[::-1])[::-1], [0.0]))
        least = np.concatenate((np.minimum.accumulate(smallest[::-1])[::-1], [np.inf]))
    else:
        below = np.concatenate(([0.0], np.cumsum(size)))
        mass = np.concatenate(([0.0], np.cumsum(size * chances)))
        least = np.concatenate(([np.inf], np.minimum.accumulate(smallest)))
    waiting = np.where(known, below[at], np.nan)
    mean = np.divide(mass[at], below[at], out=np.zeros(len(cuts)), where=below[at] > 0)
    largest = np.where(np.isfinite(least[at]), mean / least[at], 1.0)
    return Region(waiting, mean / plan.probability(p), largest)


def choose(plan: Plan, waiting_p: FloatArray, rng: Generator) -> tuple[int, Arm, float]:
    """Choose one waiting case; return its index, how it was chosen and its probability.

    :param waiting_p: P(YES) of the waiting cases, those that the plan counts
    :raises ValueError: if nothing waits, or other numbers of cases than the plan counts
    """
    strata = plan.stratum_of(waiting_p)
    counts = np.bincount(strata, minlength=len(plan.strata))
    if not len(waiting_p) or (counts != plan.waiting).any():
        raise ValueError(f"found {len(waiting_p)} waiting cases, expected those of the plan, {plan.waiting.sum():.0f}")
    values = np.array([stratum.probability for stratum in plan.strata])
    arm: Arm = "random" if rng.random() < plan.random_share or not values.sum() else "value"
    if arm == "random":
        index = int(rng.integers(len(waiting_p)))
    else:
        stratum = rng.choice(len(values), p=values / values.sum())
        index = int(rng.choice(np.flatnonzero(strata == stratum)))
    return index, arm, plan.probability(float(waiting_p[index]))
