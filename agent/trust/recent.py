"""Comparison of the latest labels with all earlier ones, by exact tests at fixed numbers of labels.

A test with a fixed number of labels finds a moderate change with fewer labels than bets that may end at any time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from agent.language import tr

WINDOW = 200
"""Labels that are compared with all earlier ones; also the number of labels of the first test."""
STEP = 50
"""Labels between two tests."""
FIRST = 0.5
"""Share of the level of the first test."""
SLOW = 10
"""Tests after which half of the rest of the level is used."""


def share(number: int) -> float:
    """Return the share of the level of a test, number 0, 1, ...; all shares of the infinite run add up to 1."""
    if number == 0:
        return FIRST
    return (1 - FIRST) * SLOW / ((number + SLOW - 1) * (number + SLOW))


def number_of_test(count: int) -> int | None:
    """Return the number of the test that is made after ``count`` new labels, None if there is none."""
    number, rest = divmod(count - WINDOW, STEP)
    return number if number >= 0 and rest == 0 else None


class Recent:
    """Whether the share of errors in the last ``WINDOW`` labels is larger than before (Fisher's exact test, one-sided).

    If all labels are exchangeable, the errors of the window are hypergeometric given all errors. Test k rejects at
    ``level`` times its share, so the probability that any test of an infinite run rejects is at most ``level`` (union
    bound). ``capital`` states the result in the form of ``martingale.Bets``: each test stakes its share of the first
    capital, which is 1, and one that rejects raises it to 1 / level or more.

    :param n: labels of the calibration
    :param errors: errors among them
    :param level: probability of any rejection without a change
    """

    def __init__(self, n: int, errors: int, level: float) -> None:
        self.level = level
        self.count = 0
        self.n_before, self.errors_before = n, errors
        self.window: list[bool] = []
        self.capital = 1.0
        self.p_value, self.needed = 1.0, 0.0

    def add(self, error: bool, u: float = 1.0) -> None:
        """Add a new label.

        :param error: whether it is one
        :param u: random number from 0 to 1 that breaks ties: tables as extreme as this one count with this share, so
            that the p-value is uniform without a change (1: Fisher's p-value)
        """
        self.count += 1
        self.window.append(bool(error))
        if len(self.window) > WINDOW:
            self.n_before += 1
            self.errors_before += self.window.pop(0)
        number = number_of_test(self.count)
        if number is None:
            return
        self.p_value, self.needed = self._p_value(u), self.level * share(number)
        self.capital += (1 / self.level if self.p_value <= self.needed else 0.0) - share(number)

    def _p_value(self, u: float) -> float:
        from scipy.stats import hypergeom

        n, errors = len(self.window), sum(self.window)
        table = (self.n_before + n, self.errors_before + errors, n)
        return float(hypergeom.sf(errors, *table) + u * hypergeom.pmf(errors, *table))

    @property
    def log_value(self) -> float:
        """Natural logarithm of the capital."""
        return math.log(self.capital)

    @property
    def since(self) -> int:
        """Number of the label with which the change in the window probably began (Page 1954)."""
        n, errors = len(self.window), sum(self.window)
        middle = (errors / max(n, 1) + self.errors_before / max(self.n_before, 1)) / 2
        total = highest = 0.0
        first = n
        for place in range(n - 1, -1, -1):
            total += self.window[place] - middle
            if total >= highest:
                highest, first = total, place
        return self.count - n + min(first, max(n - 1, 0)) + 1

    @property
    def candidates(self) -> set[int]:
        """Labels that ``since`` can still be: only their times are kept."""
        return set(range(self.count - len(self.window) + 1, self.count + 1))

    def to_json(self) -> dict[str, Any]:
        return {
            "count": self.count,
            "n_before": self.n_before,
            "errors_before": self.errors_before,
            "window": "".join("1" if error else "0" for error in self.window),
            "capital": self.capital,
            "p_value": self.p_value,
            "needed": self.needed,
        }

    @staticmethod
    def from_json(state: Mapping[str, Any], level: float) -> Recent:
        """Return the tests of a saved state.

        :raises ValueError: the window does not fit the number of labels
        """
        recent = Recent(int(state["n_before"]), int(state["errors_before"]), level)
        recent.count = int(state["count"])
        recent.window = [mark == "1" for mark in state["window"]]
        if len(recent.window) != min(recent.count, WINDOW):
            raise ValueError(
                tr(
                    "{n_window} labels in the window, {count} expected",
                    n_window=len(recent.window),
                    count=min(recent.count, WINDOW),
                )
            )
        recent.capital = float(state["capital"])
        recent.p_value, recent.needed = float(state["p_value"]), float(state["needed"])
        return recent
