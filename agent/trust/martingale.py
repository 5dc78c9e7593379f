"""Test martingales: bets that are fair, or lose, while a null hypothesis is true, and online conformal p-values.

By Ville's inequality (1939) the capital reaches 1 / level with probability at most ``level``, at any time of an
infinite run.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from agent.language import tr
from agent.statistics import FloatArray

RESERVE = 0.5
"""Share of the capital that is kept for a change that begins later."""
HALF_SPENT = 200
"""Cases after which half of the reserve has been bet."""


class Bets:
    """Capital of several bets, for one sequence or for many sequences at once (simulations).

    All but ``RESERVE`` is bet from the first case on. The reserve is RESERVE / (1 + n / HALF_SPENT) after n cases; what
    it loses is bet, so that a late change does not have to win back all earlier losses. The capital stays a
    martingale: when money is added does not depend on the data.

    :param shape: (..., bets)
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self.reserve = RESERVE
        self.log_capital = np.full(shape, math.log((1 - RESERVE) / shape[-1]))
        self._total = np.zeros(shape)
        self._lowest = np.zeros(shape)
        self._lowest_at = np.zeros(shape, dtype=np.int64)

    def add(self, log_factors: FloatArray) -> None:
        """Multiply each bet's capital; the expectation of each factor is at most 1 under the null hypothesis."""
        self.count += 1
        self.log_capital = self.log_capital + log_factors
        self._total = self._total + log_factors
        lower = self._total <= self._lowest
        self._lowest = np.where(lower, self._total, self._lowest)
        self._lowest_at = np.where(lower, self.count, self._lowest_at)
        left = RESERVE / (1 + self.count / HALF_SPENT)
        added = math.log((self.reserve - left) / self.log_capital.shape[-1])
        self.log_capital = np.logaddexp(self.log_capital, added)
        self.reserve = left

    @property
    def log_value(self) -> FloatArray:
        """(...,): natural logarithm of the whole capital, the reserve included."""
        return cast(FloatArray, np.logaddexp(np.logaddexp.reduce(self.log_capital, axis=-1), math.log(self.reserve)))

    @property
    def since(self) -> int:
        """Number of the case with which the growth of the best bet began (one sequence only)."""
        return int(self._lowest_at[int(np.argmax(self._total - self._lowest))]) + 1

    @property
    def candidates(self) -> set[int]:
        """Cases that ``since`` can still be, and the latest case: only their times are kept."""
        return {int(case) + 1 for case in self._lowest_at.ravel()} | {self.count}

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "reserve": self.reserve,
            "log_capital": self.log_capital.tolist(),
            "total": self._total.tolist(),
            "lowest": self._lowest.tolist(),
            "lowest_at": self._lowest_at.tolist(),
        }

    @staticmethod
    def from_json(state: Mapping[str, Any], size: int) -> Bets:
        """Return the bets of a saved state.

        :raises ValueError: another number of bets
        """
        bets = Bets((size,))
        bets.count, bets.reserve = int(state["count"]), float(state["reserve"])
        arrays = [np.array(state[name], dtype=float) for name in ("log_capital", "total", "lowest", "lowest_at")]
        if any(array.shape != (size,) for array in arrays):
            raise ValueError(tr("{size} bets found, {size2} expected", size=arrays[0].size, size2=size))
        bets.log_capital, bets._total, bets._lowest = arrays[:3]
        bets._lowest_at = arrays[3].astype(np.int64)
        return bets


def _steps(edges_and_masses: Sequence[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    edges, masses = np.array(edges_and_masses).T
    return edges, masses


_SLOPES = np.array([-0.95, -0.5, -0.2, 0.2, 0.5, 0.95])
_TAILS = _steps([(0.1, 0.2), (0.1, 0.4)])
_ERRORS = _steps([(c, c + more) for c in (0.025, 0.05, 0.1, 0.2) for more in (0.08, 0.16)])
_ODDS = np.array([1.5, 2.0, 3.0, 5.0, 10.0])


def score_factors(u: FloatArray) -> FloatArray:
    """Log densities of bets on a p-value that is uniform under the null: higher or lower scores, more or less spread,
    more in one tail; each integrates to 1.

    :param u: (...,)
    :returns: (..., 16)
    """
    u = np.asarray(u, dtype=float)[..., None]
    slopes = np.log1p(_SLOPES * (2 * u - 1))
    spreads = np.log1p(_SLOPES * (4 * np.abs(u - 0.5) - 1))
    return np.concatenate([slopes, spreads, _step(u, *_TAILS), _step(1 - u, *_TAILS)], axis=-1)


def label_factors(u: FloatArray) -> FloatArray:
    """Log densities of bets that small p-values (labels far from P(YES)) are more frequent, (...,) to (..., 8)."""
    return _step(np.asarray(u, dtype=float)[..., None], *_ERRORS)


def error_factors(error: Any, limit: float) -> FloatArray:
    """Log likelihood ratios of error rates with 1.5 to 10 times the odds of the limit, (...,) to (..., 5).

    The expectation of each is at most 1 if the probability of an error given all earlier cases is at most ``limit``.
    """
    odds = _ODDS * limit / (1 - limit)
    rate = odds / (1 + odds)
    wrong = np.asarray(error, dtype=bool)[..., None]
    return cast(FloatArray, np.where(wrong, np.log(rate / limit), np.log((1 - rate) / (1 - limit))))


def _step(u: FloatArray, edge: FloatArray, mass: FloatArray) -> FloatArray:
    return cast(FloatArray, np.where(u < edge, np.log(mass / edge), np.log((1 - mass) / (1 - edge))))


class Ranks:
    """Online conformal p-values of a growing sequence (Vovk, Gammerman & Shafer 2005, chapter 2).

    The calibration begins the sequence, and each new value joins it. The p-values are then independent and uniform
    if calibration and new values together are exchangeable; against a fixed calibration set they would not be
    independent.
    """

    def __init__(self, calibration: Sequence[float]) -> None:
        self.values = sorted(calibration)

    def add(self, value: float, u: float) -> float:
        """Return the p-value of a new value, (lower + u (equal + 1)) / (n + 1), and insert it.

        :param u: random number from 0 to 1 that breaks ties
        """
        n = len(self.values)
        lower = bisect_left(self.values, value)
        equal = bisect_right(self.values, value, lower) - lower
        insort(self.values, value, lower, lower + equal)
        return (lower + u * (equal + 1)) / (n + 1)
