"""Sequential tests that suspend a certificate: new scores or new labels that no longer fit the calibration.

Each test is a test martingale (capital of bets that are fair, or lose, while the null hypothesis is true). By Ville's
inequality it reaches 1 / level with probability at most ``level``, at any time of an infinite run.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args

import numpy as np

from agent.statistics import FloatArray
from agent.text import OneLine

By = Literal["scores", "labels", "errors of YES", "errors of NO"]

SHARES: Mapping[By, float] = {"scores": 0.2, "labels": 0.4, "errors of YES": 0.2, "errors of NO": 0.2}
"""Shares of delta. Tests that cannot be made leave theirs to the others in proportion."""
RESERVE = 0.25
"""Share of the capital that is kept for a change that begins later."""
EVERY = 50
"""Cases between two investments of a part of the reserve."""
FORMAT = "spec-o3 shift monitor 1"


class ShiftError(OneLine, ValueError):
    """Values or a saved state that the monitor cannot use: what was found, what was expected."""


@dataclass(frozen=True)
class Alarm:
    """The test that raised the alarm, when, and its evidence.

    :param count: cases of this test when the alarm was raised
    :param since: number of the case with which the change probably began, from 1 (Page 1954, Biometrika 41, 100: the
        case after the lowest capital of the best bet)
    :param at: time of the case that raised the alarm, None if unknown
    :param since_at: time of the case ``since``, None if unknown
    :param e_value: capital of the bets; they began with 1
    :param needed: capital that raises the alarm
    :param text: all of this as a sentence
    """

    by: By
    count: int
    since: int
    at: str | None
    since_at: str | None
    e_value: float
    needed: float
    text: str


class Bets:
    """Capital of several bets, for one sequence or for many sequences at once (simulations).

    All but ``RESERVE`` is bet from the first case on. Of the reserve, 1 / (k (k + 1)) is added to all bets after
    ``EVERY`` k cases, so that a late change does not have to win back all earlier losses. The capital stays a
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
        times, rest = divmod(self.count, EVERY)
        if times and not rest:
            left = RESERVE / (times + 1)
            each = (self.reserve - left) / self.log_capital.shape[-1]
            self.log_capital = np.logaddexp(self.log_capital, math.log(each))
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
        bets = Bets((size,))
        bets.count, bets.reserve = int(state["count"]), float(state["reserve"])
        arrays = [np.array(state[name], dtype=float) for name in ("log_capital", "total", "lowest", "lowest_at")]
        if any(array.shape != (size,) for array in arrays):
            raise ShiftError(f"shift monitor: {arrays[0].size} bets found, {size} expected; start a new monitor")
        bets.log_capital, bets._total, bets._lowest = arrays[:3]
        bets._lowest_at = arrays[3].astype(np.int64)
        return bets


def _steps(edges_and_masses: Sequence[tuple[float, float]]) -> tuple[FloatArray, FloatArray]:
    edges, masses = np.array(edges_and_masses).T
    return edges, masses


_SLOPES = np.array([-0.95, -0.5, 0.5, 0.95])
_TAILS = _steps([(0.1, 0.2), (0.1, 0.4)])
_ERRORS = _steps([(c, c + more) for c in (0.02, 0.05, 0.1, 0.2) for more in (0.06, 0.12, 0.25)])
_ODDS = np.array([1.5, 2.0, 3.0, 5.0, 10.0])


def score_factors(u: FloatArray) -> FloatArray:
    """Log densities of bets on a p-value that is uniform under the null: higher or lower scores, more or less spread,
    more in one tail; each integrates to 1.

    :param u: (...,)
    :returns: (..., 12)
    """
    u = np.asarray(u, dtype=float)[..., None]
    slopes = np.log1p(_SLOPES * (2 * u - 1))
    spreads = np.log1p(_SLOPES * (4 * np.abs(u - 0.5) - 1))
    return np.concatenate([slopes, spreads, _step(u, *_TAILS), _step(1 - u, *_TAILS)], axis=-1)


def label_factors(u: FloatArray) -> FloatArray:
    """Log densities of bets that small p-values (labels far from P(YES)) are more frequent, (...,) to (..., 12)."""
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

    def __init__(self, calibration: Sequence[float], seed: str) -> None:
        self.values = sorted(calibration)
        self._seed = seed

    def add(self, value: float) -> float:
        """Return the p-value of a new value, (lower + U (equal + 1)) / (n + 1), and insert it.

        U breaks ties at random and depends on the seed and the number of values alone.
        """
        n = len(self.values)
        lower = bisect_left(self.values, value)
        equal = bisect_right(self.values, value, lower) - lower
        insort(self.values, value, lower, lower + equal)
        return (lower + random.Random(f"{self._seed}/{n}").random() * (equal + 1)) / (n + 1)


@dataclass
class _Test:
    """One sequence of cases, its bets and the times of the cases."""

    bets: Bets
    factors: Callable[[Any], FloatArray]
    level: float
    ranks: Ranks | None = None
    times: dict[int, str] = field(default_factory=dict)
    errors: int = 0

    def add(self, value: Any, at: str | None) -> None:
        self.bets.add(self.factors(self.ranks.add(float(value)) if self.ranks else value))
        if at is not None:
            self.times[self.bets.count] = at
            self.times = {case: self.times[case] for case in self.bets.candidates if case in self.times}

    @property
    def e_value(self) -> float:
        return math.exp(min(700.0, float(self.bets.log_value)))


class ShiftMonitor:
    """Tests of one certificate over new cases; the probability of any false alarm in an infinite run is at most delta.

    Null hypotheses, each tested at its share of delta (``SHARES``):

    - ``scores``: P(YES) of the calibration cases and of the new cases together are exchangeable.
    - ``labels``: so are the distances \\|label - P(YES)\\| of the calibration cases and of the newly decided cases.
    - ``errors of YES`` and ``errors of NO``: given all earlier ones, the probability that a newly decided case of the
      side has the other label is at most the certified limit.

    A list must be watched as it comes: new scores in order of arrival, newly decided cases only if they were chosen at
    random (the random share of the queue, an audit), not those that the queue chose for their value.

    :param calibration: P(YES) of the calibration cases
    :param yes: threshold and limit of YES (P(YES) at or above it), None if YES is not certified
    :param no: threshold and limit of NO (P(YES) at or below it), None if NO is not certified
    :param delta: probability of any false alarm
    :param calibration_yes: labels of the calibration cases; without them there is no test ``labels``
    :param seed: of the random numbers that break ties
    :raises ShiftError: values outside their range
    """

    def __init__(
        self,
        calibration: Sequence[float],
        yes: tuple[float, float] | None,
        no: tuple[float, float] | None,
        delta: float = 0.05,
        *,
        calibration_yes: Sequence[bool] | None = None,
        seed: int = 0,
    ) -> None:
        known = [_probability(p, "a calibration score") for p in calibration]
        if not 0 < delta < 1:
            raise ShiftError(f"shift monitor: delta is {delta}; expected a number between 0 and 1")
        if calibration_yes is not None and len(calibration_yes) != len(known):
            raise ShiftError(
                f"shift monitor: {len(calibration_yes)} labels for {len(known)} calibration scores; expected as many"
            )
        for name, side in (("YES", yes), ("NO", no)):
            if side is not None and not 0 < side[1] < 1:
                raise ShiftError(f"shift monitor: the limit of {name} is {side[1]}; expected a number between 0 and 1")
        self.delta, self.seed, self.yes, self.no = delta, seed, yes, no
        self.alarm: Alarm | None = None
        made: dict[By, _Test] = {}
        if known:
            made["scores"] = _Test(Bets((12,)), score_factors, 0.0, Ranks(known, f"{seed}/scores"))
        if known and calibration_yes is not None:
            near = [-abs(bool(label) - p) for label, p in zip(calibration_yes, known, strict=True)]
            made["labels"] = _Test(Bets((12,)), label_factors, 0.0, Ranks(near, f"{seed}/labels"))
        if yes is not None:
            made["errors of YES"] = _against(yes[1])
        if no is not None:
            made["errors of NO"] = _against(no[1])
        if not made:
            raise ShiftError("shift monitor: no calibration score and no certified side; expected one or the other")
        total = sum(SHARES[by] for by in made)
        for by, test in made.items():
            test.level = delta * SHARES[by] / total
        self._tests = made

    def add_score(self, p: float, at: str | None = None) -> None:
        """Add P(YES) of a new case, decided or not, in the order of arrival.

        :param at: time as text (ISO 8601), used in the alarm only
        """
        self._add("scores", _probability(p, "a score"), at)

    def add_label(self, p: float, yes: bool, at: str | None = None) -> None:
        """Add a newly decided case that was chosen at random: its P(YES) and its label."""
        p = _probability(p, "a score")
        self._add("labels", -abs(bool(yes) - p), at)
        if self.yes is not None and p >= self.yes[0]:
            self._add("errors of YES", not yes, at)
        elif self.no is not None and p <= self.no[0]:
            self._add("errors of NO", bool(yes), at)

    def evidence(self) -> dict[By, tuple[int, float, float]]:
        """Return for each test the number of cases, the e-value and the e-value that raises the alarm."""
        return {by: (test.bets.count, test.e_value, 1 / test.level) for by, test in self._tests.items()}

    def _add(self, by: By, value: Any, at: str | None) -> None:
        test = self._tests.get(by)
        if test is None:
            return
        test.add(value, at)
        test.errors += int(value is True)
        if self.alarm is None and test.e_value >= 1 / test.level:
            self.alarm = _alarm(by, test, self.yes if by == "errors of YES" else self.no)

    def to_json(self) -> dict[str, Any]:
        """Return the whole state, with which a later run continues the same tests."""
        return {
            "format": FORMAT,
            "delta": self.delta,
            "seed": self.seed,
            "yes": self.yes,
            "no": self.no,
            "alarm": None if self.alarm is None else asdict(self.alarm),
            "tests": {
                by: {
                    "bets": test.bets.to_json(),
                    "values": test.ranks.values if test.ranks else None,
                    "times": {str(count): at for count, at in test.times.items()},
                    "errors": test.errors,
                }
                for by, test in self._tests.items()
            },
        }

    @staticmethod
    def from_json(state: Mapping[str, Any]) -> ShiftMonitor:
        """Return the monitor of a saved state.

        :raises ShiftError: not such a state
        """
        if state.get("format") != FORMAT:
            raise ShiftError(f"shift monitor: format {state.get('format')!r} found, {FORMAT!r} expected")
        try:
            return _restored(state)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ShiftError(f"shift monitor: the saved state is incomplete ({error!r}); start a new monitor") from None


def _restored(state: Mapping[str, Any]) -> ShiftMonitor:
    tests = cast(Mapping[By, Mapping[str, Any]], state["tests"])
    scores = tests["scores"]["values"] if "scores" in tests else []
    labels = [True] * len(scores) if "labels" in tests else None  # the values are replaced below
    yes, no = (
        None if state[side] is None else (float(state[side][0]), float(state[side][1])) for side in ("yes", "no")
    )
    monitor = ShiftMonitor(scores, yes, no, float(state["delta"]), calibration_yes=labels, seed=int(state["seed"]))
    if set(monitor._tests) != set(tests):
        raise ShiftError(f"shift monitor: tests {sorted(tests)} found, {sorted(monitor._tests)} expected")
    for by, test in monitor._tests.items():
        saved = tests[by]
        test.bets = Bets.from_json(saved["bets"], test.bets.log_capital.size)
        test.times = {int(count): str(at) for count, at in saved["times"].items()}
        test.errors = int(saved["errors"])
        if test.ranks is not None:
            test.ranks.values = sorted(float(value) for value in saved["values"])
    if (alarm := state["alarm"]) is not None:
        if alarm["by"] not in get_args(By):
            raise ShiftError(f"shift monitor: alarm by {alarm['by']!r} found, one of {get_args(By)} expected")
        monitor.alarm = Alarm(**alarm)
    return monitor


def _against(limit: float) -> _Test:
    return _Test(Bets((len(_ODDS),)), lambda error: error_factors(error, limit), 0.0)


def _alarm(by: By, test: _Test, side: tuple[float, float] | None) -> Alarm:
    count, since = test.bets.count, test.bets.since
    at, since_at = test.times.get(count), test.times.get(since)
    if by == "scores":
        what = f"P(YES) of the {count} new cases is distributed differently from the calibration cases"
    elif by == "labels":
        what = f"the labels of the {count} newly decided cases fit P(YES) less well than those of the calibration cases"
    else:
        assert side is not None
        called = by.removeprefix("errors of ")
        what = (
            f"{test.errors} of {count} newly decided cases called {called} are wrong, more than the certified "
            f"{100 * side[1]:g} %"
        )
    when = f"since about case {since}" + (f" ({since_at})" if since_at else "")
    e_value, needed = test.e_value, 1 / test.level
    text = f"{what[0].upper()}{what[1:]}, {when}; e-value {e_value:.3g}, alarm at {needed:.3g}."
    return Alarm(by, count, since, at, since_at, e_value, needed, text)


def _probability(p: float, what: str) -> float:
    value = float(p)
    if not 0 <= value <= 1:  # also NaN
        raise ShiftError(f"shift monitor: {what} is {value}; expected a probability from 0 to 1")
    return value
