"""Sequential tests that suspend a certificate: new scores or new labels that no longer fit the calibration.

The tests are those of ``martingale`` and ``recent``; their state is plain JSON, so that several runs continue one test.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args

from agent.errors import Refusal
from agent.language import tr
from agent.statistics import FloatArray
from agent.trust.martingale import Bets, Ranks, error_factors, label_factors, score_factors
from agent.trust.recent import Recent

By = Literal["scores", "labels", "recent labels", "errors of YES", "errors of NO"]

SHARES: Mapping[By, float] = {
    "scores": 0.1,
    "labels": 0.15,
    "recent labels": 0.65,
    "errors of YES": 0.05,
    "errors of NO": 0.05,
}
"""Shares of delta. Tests that cannot be made leave theirs to the others in proportion."""
FORMAT = "spec-o3 shift monitor 1"


class ShiftError(Refusal, ValueError):
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


@dataclass
class _Test:
    """One sequence of cases, its bets and the times of the cases."""

    bets: Bets | Recent
    factors: Callable[[Any], FloatArray] | None = None
    level: float = 0.0
    ranks: Ranks | None = None
    seed: str = ""
    times: dict[int, str] = field(default_factory=dict)
    errors: int = 0

    def add(self, value: Any, at: str | None) -> None:
        # Depends on the seed and the number of cases alone, so that a saved state needs no generator.
        u = random.Random(f"{self.seed}/{self.bets.count}").random()
        if self.ranks is not None:
            value = self.ranks.add(float(value), u)
        if isinstance(self.bets, Recent):
            self.bets.add(bool(value), u)
        elif self.factors is not None:
            self.bets.add(self.factors(value))
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
    - ``recent labels``: the same, for whether the distance is above 1/2 (an error); no threshold of the certificate is
      used, because the thresholds were chosen by the errors of the calibration cases.
    - ``errors of YES`` and ``errors of NO``: given all earlier ones, the probability that a newly decided case of the
      side has the other label is at most the certified limit.

    A list must be watched as it comes: new scores in order of arrival, newly decided cases only if they were chosen at
    random (the random share of the queue, an audit), not those that the queue chose for their value.

    :param calibration: P(YES) of the calibration cases
    :param yes: threshold and limit of YES (P(YES) at or above it), None if YES is not certified
    :param no: threshold and limit of NO (P(YES) at or below it), None if NO is not certified
    :param delta: probability of any false alarm
    :param calibration_yes: labels of the calibration cases; None or empty: no tests ``labels`` and ``recent labels``
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
        known = [_probability(p, tr("a calibration score")) for p in calibration]
        if not 0 < delta < 1:
            raise ShiftError(tr("shift monitor: delta is {delta}; expected a number between 0 and 1", delta=delta))
        labels = None if calibration_yes is None or not len(calibration_yes) else calibration_yes
        if labels is not None and len(labels) != len(known):
            raise ShiftError(
                tr(
                    "shift monitor: {n_labels} labels for {n_known} calibration scores; expected as many",
                    n_labels=len(labels),
                    n_known=len(known),
                )
            )
        for name, side in (("YES", yes), ("NO", no)):
            if side is not None and not 0 < side[1] < 1:
                raise ShiftError(
                    tr(
                        "shift monitor: the limit of {name} is {side}; expected a number between 0 and 1",
                        name=name,
                        side=side[1],
                    )
                )
        self.delta, self.seed, self.yes, self.no = delta, seed, yes, no
        self.alarm: Alarm | None = None
        tests: dict[By, _Test] = {}
        if known:
            tests["scores"] = _Test(Bets((16,)), score_factors, ranks=Ranks(known), seed=f"{seed}/scores")
        if labels is not None:
            near = [-abs(bool(label) - p) for label, p in zip(labels, known, strict=True)]
            tests["labels"] = _Test(Bets((8,)), label_factors, ranks=Ranks(near), seed=f"{seed}/labels")
            errors = sum(_is_error(p, bool(label)) for label, p in zip(labels, known, strict=True))
            tests["recent labels"] = _Test(Recent(len(known), errors, delta), seed=f"{seed}/recent labels")
        if yes is not None:
            tests["errors of YES"] = _against(yes[1])
        if no is not None:
            tests["errors of NO"] = _against(no[1])
        if not tests:
            raise ShiftError(tr("shift monitor: no calibration score and no certified side; expected one or the other"))
        total = sum(SHARES[by] for by in tests)
        for by, test in tests.items():
            test.level = delta * SHARES[by] / total
            if isinstance(test.bets, Recent):
                test.bets.level = test.level
        self._tests = tests

    def add_score(self, p: float, at: str | None = None) -> None:
        """Add P(YES) of a new case, decided or not, in the order of arrival.

        :param at: time as text (ISO 8601), used in the alarm only
        """
        self._add("scores", _probability(p, tr("a score")), at)

    def add_label(self, p: float, yes: bool, at: str | None = None, is_called: bool = True) -> None:
        """Add a newly decided case that was chosen at random: its P(YES) and its label.

        :param is_called: whether it gets the verdict beyond whose threshold it is; False where the certificate needs a
            trial that it did not pass
        """
        p = _probability(p, tr("a score"))
        self._add("labels", -abs(bool(yes) - p), at)
        self._add("recent labels", _is_error(p, bool(yes)), at)
        if not is_called:
            return
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
            raise ShiftError(
                tr("shift monitor: format {get!r} found, {format!r} expected", get=state.get("format"), format=FORMAT)
            )
        try:
            return _restored(state)
        except ShiftError:
            raise
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise ShiftError(
                tr("shift monitor: the saved state is damaged ({error!r}); start a new monitor", error=error)
            ) from None


def _restored(state: Mapping[str, Any]) -> ShiftMonitor:
    tests = cast(Mapping[By, Mapping[str, Any]], state["tests"])
    scores = tests["scores"]["values"] if "scores" in tests else []
    labels = [True] * len(scores) if "labels" in tests else None  # the values are replaced below
    yes, no = (
        None if state[side] is None else (float(state[side][0]), float(state[side][1])) for side in ("yes", "no")
    )
    monitor = ShiftMonitor(scores, yes, no, float(state["delta"]), calibration_yes=labels, seed=int(state["seed"]))
    if "recent labels" not in tests:  # a state that was saved before this test existed
        monitor._tests.pop("recent labels", None)  # the other levels stay: another command may make this test
    if set(monitor._tests) != set(tests):
        raise ShiftError(
            tr(
                "shift monitor: tests {tests} found, {tests2} expected",
                tests=sorted(tests),
                tests2=sorted(monitor._tests),
            )
        )
    for by, test in monitor._tests.items():
        saved = tests[by]
        if isinstance(test.bets, Recent):
            test.bets = Recent.from_json(saved["bets"], test.level)
        else:
            test.bets = Bets.from_json(saved["bets"], test.bets.log_capital.size)
        test.times = {int(count): str(at) for count, at in saved["times"].items()}
        test.errors = int(saved["errors"])
        if test.ranks is not None:
            test.ranks.values = sorted(float(value) for value in saved["values"])
    if (alarm := state["alarm"]) is not None:
        if alarm["by"] not in get_args(By):
            raise ShiftError(
                tr("shift monitor: alarm by {alarm!r} found, one of {by} expected", alarm=alarm["by"], by=get_args(By))
            )
        monitor.alarm = Alarm(**alarm)
    return monitor


def _is_error(p: float, yes: bool) -> bool:
    return abs(yes - p) > 0.5


def _against(limit: float) -> _Test:
    return _Test(Bets((5,)), lambda error: error_factors(error, limit))


def _alarm(by: By, test: _Test, side: tuple[float, float] | None) -> Alarm:
    count, since = test.bets.count, test.bets.since
    at, since_at = test.times.get(count), test.times.get(since)
    if by == "scores":
        what = f"P(YES) of the {count} new cases is distributed differently from the calibration cases"
    elif by == "labels":
        what = f"the labels of the {count} newly decided cases fit P(YES) less well than those of the calibration cases"
    elif isinstance(test.bets, Recent):
        recent = test.bets
        what = (
            f"{sum(recent.window)} of the last {len(recent.window)} newly decided cases have the label that P(YES) "
            f"calls less probable, against {recent.errors_before} of the {recent.n_before} cases before them"
        )
    else:
        assert side is not None
        called = by.removeprefix("errors of ")
        what = (
            f"{test.errors} of {count} newly decided cases called {called} are wrong, more than the certified "
            f"{100 * side[1]:g} %"
        )
    when = f"since about case {since}" + (f" ({since_at})" if since_at else "")
    e_value, needed = test.e_value, 1 / test.level
    value_text = f"e-value {e_value:.3g}, alarm at {needed:.3g}"
    if isinstance(test.bets, Recent):
        value_text = f"p-value {test.bets.p_value:.2g}, alarm at {test.bets.needed:.2g}"
    text = f"{what[0].upper()}{what[1:]}, {when}; {value_text}."
    return Alarm(by, count, since, at, since_at, e_value, needed, text)


def _probability(p: float, what: str) -> float:
    value = float(p)
    if not 0 <= value <= 1:  # also NaN
        raise ShiftError(
            tr("shift monitor: {what} is {value}; expected a probability from 0 to 1", what=what, value=value)
        )
    return value
