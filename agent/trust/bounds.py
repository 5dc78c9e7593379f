"""Exact bounds of an error rate: binomial tests, numbers of labels needed, and processes that are valid at any time.

A process of one hypothesis ("the error rate is at least the limit") grows when labels show few errors, and exceeds
1/δ at any time with probability at most δ while the hypothesis is true (Ville's inequality). Reference: Waudby-Smith &
Ramdas 2024, Journal of the Royal Statistical Society B 86, 1. Needs numpy; scipy is imported where it is used.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from agent.language import tr
from agent.statistics import FloatArray

ALTERNATIVES = np.array((2e-5, 0.1, 0.2, 0.4, 0.6))
"""Error rates that the bets of a process are made for, as shares of the limit; each has the same weight."""
MIXTURE = np.full(len(ALTERNATIVES), 1 / len(ALTERNATIVES))


def binomial_p_value(errors: int, n: int, limit: float) -> float:
    """Return P(X ≤ errors) for X binomial of ``n`` trials and probability ``limit``.

    It is the p-value of the hypothesis that the error rate is at least ``limit``; 1 without labels.
    """
    from scipy.stats import binom

    return float(binom.cdf(errors, n, limit)) if n else 1.0


def upper_bound(errors: int, n: int, delta: float) -> float:
    """Return the one-sided upper bound of an error rate at confidence 1 − ``delta``; 1 without labels.

    Clopper & Pearson 1934, Biometrika 26, 404.
    """
    from scipy.stats import beta

    return float(beta.ppf(1 - delta, errors + 1, n - errors)) if errors < n else 1.0


def labels_needed(limit: float, delta: float, errors: int = 0) -> int:
    """Return the smallest number of labels that certifies ``limit`` at confidence 1 − ``delta`` with so many errors.

    59, 93, 124 and 153 for 5 % at 95 % with 0, 1, 2 and 3 errors.
    """
    if not (0 < limit < 1 and 0 < delta < 1):
        raise ValueError(
            tr(
                "found limit {limit:g} and delta {delta:g}, expected numbers between 0 and 1 (e.g. 0.05)",
                limit=limit,
                delta=delta,
            )
        )
    below, enough = errors, max(errors + 1, 16)
    while binomial_p_value(errors, enough, limit) > delta:
        below, enough = enough, 2 * enough
    while enough - below > 1:
        middle = (below + enough) // 2
        if binomial_p_value(errors, middle, limit) > delta:
            below = middle
        else:
            enough = middle
    return enough


def log_factors(
    error: ArrayLike, weight: ArrayLike, limit: ArrayLike, largest: ArrayLike, least: ArrayLike = 0.0
) -> FloatArray:
    """Return the logarithms of the factors by which one label changes a process, (..., len(ALTERNATIVES)).

    A factor is 1 + λ w (limit − error) with λ = (1 − a) / ((1 − limit) w_max) for an alternative of a times the limit:
    it is positive, and its mean is at most 1 if the weighted error rate is at least the limit. With weights of 1 it is
    the likelihood ratio of the alternative.

    :param limit: error rate of the hypothesis at this label; 0 or less: no label can refute the hypothesis
    :param least: no alternative is below this share of the limit (errors that come from wrong labels)
    """
    shares = np.asarray(weight, dtype=float) / np.asarray(largest, dtype=float)
    mean = np.minimum(np.asarray(limit, dtype=float), 1 - 1e-9)
    payoff = np.where(mean > 0, shares * (mean - np.asarray(error, dtype=float)) / (1 - mean), 0.0)
    bets = (1 - ALTERNATIVES) * (1 - np.asarray(least, dtype=float))[..., None]
    return cast(FloatArray, np.log1p(bets * payoff[..., None]))


def mixed(logarithms: FloatArray) -> FloatArray:
    """Return the logarithm of the mean over the alternatives, the last axis; values beyond e^±690 are cut off there."""
    return cast(FloatArray, np.log(np.exp(np.clip(logarithms, -690.0, 690.0)) @ MIXTURE))


class RiskProcess:
    """E-process of the hypothesis that an error rate is at least a limit.

    :param limit: the error rate
    :param largest_weight: no weight is larger
    """

    def __init__(self, limit: float, largest_weight: float = 1.0) -> None:
        self.limit = limit
        self.largest_weight = largest_weight
        self.highest = 1.0
        """The highest value so far; the hypothesis is refuted at δ once it reaches 1/δ."""
        self._logarithms = np.zeros(len(ALTERNATIVES))

    @property
    def value(self) -> float:
        """The value after the labels so far; 1 without labels."""
        return math.exp(min(700.0, float(mixed(self._logarithms))))

    def add(self, error: bool, weight: float = 1.0) -> None:
        """Add a label.

        :param error: whether the label contradicts the verdict
        :param weight: probability of the case under uniform sampling / its probability when it was chosen
        :raises ValueError: if the weight is larger than the largest weight
        """
        if not 0 <= weight <= self.largest_weight * (1 + 1e-9):
            raise ValueError(
                tr(
                    "found a weight of {weight:g}, expected 0 to the largest weight, {largest_weight:g}",
                    weight=weight,
                    largest_weight=self.largest_weight,
                )
            )
        self._logarithms += log_factors(error, min(weight, self.largest_weight), self.limit, self.largest_weight)
        self.highest = max(self.highest, self.value)
