"""The script that writes the traces: it looks where its task says, states what is there, and answers by the points of
what it has stated.

A statement follows from what the model can see. In the measure arm these are the words and numbers of the last answer;
in the picture arm it is what the baseline measures in the noisy spectrum of the picture. So it is known of edited and
of real spectra too. Loop, tools and observations are those of live vetting. Each sentence comes again word for word in
thousands of traces, so that each is a single token of the nano model.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args

from numpy.random import Generator
from PIL import Image

from agent import tool
from agent.conversation import Conversation, Piece
from agent.hints.evidence import Evidence, evidence
from agent.hints.measuring import name_of
from agent.lines import bands, indices, lines
from agent.loop import Ended, Started, ToolResult, inspect
from agent.measure import Undefined, rest
from agent.policies.baseline.scorecard import presence, scorecards, share_present
from agent.simulate import CLASSES
from agent.tasks import Feature, Task
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Verdict
from agent.trial.subjects import Subject, subjects_of_task
from training.data import source_of
from training.data.records import Example
from training.nano.spectra import Known, tasks

DRAFTER = Drafter("baseline", "script of the nano model", {"version": 3})

Arm = Literal["picture", "measure"]
"""What the model learns of the lines from: windows of the spectrum, or the numbers of the ``measure`` tool."""
ARMS: tuple[Arm, ...] = get_args(Arm)

Shrink = Callable[[Image.Image], Image.Image]
"""A picture as small as the model will see it."""

MOST_CALLS: Mapping[Arm, int] = {"picture": 6, "measure": 7}
WIDEST = 420
"""Å of a window that shows several features, at most."""
SURE = 0.7
"""Probability that a feature is present from which it is stated; below the rest of 1 it is denied."""
WEAK, CLEAR = 2.0, 4.0
"""Errors from which a line that the rule does not count is called weak and not absent, and from which a line that it
counts is stated although the hints leave it open."""

LIKELY = 3.0
"""Errors from which a number within the bounds makes a line likely although it is not certain."""

MOST_ODDS = 10
"""Log odds beyond this, on either side, are stated as this."""

LINE_QUANTITIES = ("equivalent_width", "fwhm")

State = Literal["there", "likely", "possible", "too much", "weak", "absent", "open", "unmeasured"]
STATES: tuple[State, ...] = get_args(State)
PRESENCE: Mapping[State, float | None] = MappingProxyType(
    {
        "there": 1.0,
        "likely": 1.0,
        "possible": 1.0,
        "too much": 0.0,
        "weak": 0.2,
        "absent": 0.0,
        "open": 0.4,
        "unmeasured": None,
    }
)
"""With which probability a feature in a state counts as present, as in the baseline's rule."""


@dataclass(frozen=True)
class PlannedCall:
    """One tool call, and the features that are stated after it.

    :param name: the label of a window, or the line, band or index that ``measure`` measures
    :param window: in Å; None for ``measure``
    """

    name: str
    window: tuple[int, int] | None
    features: tuple[str, ...]

    @property
    def text(self) -> str:
        """The call as the model writes it, with the sentence before it."""
        arguments: dict[str, Any] = {"feature": self.name}
        verb, called = "Measure", tool.MEASURE
        if self.window is not None:
            verb, called = "Zoom on", tool.TOOL_NAME
            arguments = {"label": self.name, "wavelength_range": list(self.window)}
        call = json.dumps({"name": called, "arguments": arguments}, ensure_ascii=False)
        return f"{verb} {self.name}.</think>\n<tool_call>\n{call}\n</tool_call>"


@cache
def planned_calls(task: str, arm: Arm) -> tuple[PlannedCall, ...]:
    """Return the tool calls of a task: the features that move the answer most, each after what it requires."""
    card, features = scorecards()[task], [f for f in tasks()[task].features if f.kind != "slope"]
    weight = {f.name: abs(card.of(f).present) + abs(card.of(f).absent) for f in features}
    groups: list[tuple[str, tuple[int, int], list[Feature]]] = []
    for feature in sorted(features, key=lambda f: -weight[f.name]):
        if arm == "measure" and not is_measurable(feature):
            continue
        name, window = name_of(feature), (round(feature.window[0]), round(feature.window[1]))
        for place, (known, around, members) in enumerate(groups):
            union = min(window[0], around[0]), max(window[1], around[1])
            same = known == name if arm == "measure" else _shares(window, around) and union[1] - union[0] <= WIDEST
            if same:
                groups[place] = known, union, [*members, feature]
                break
        else:
            groups.append((name, window, [feature]))
    place_of = {feature.name: place for place, group in enumerate(groups) for feature in group[2]}

    def with_required(place: int) -> list[int]:
        """A call after those of what its features require."""
        required = [place_of[f.requires] for f in groups[place][2] if f.requires in place_of]
        before = [earlier for other in required if other != place for earlier in with_required(other)]
        return list(dict.fromkeys([*before, place]))

    total = [sum(weight[f.name] for f in group[2]) for group in groups]
    best: set[int] = set()
    for place in sorted(range(len(groups)), key=lambda place: -total[place]):
        if len(more := best.union(with_required(place))) <= MOST_CALLS[arm]:
            best = more
    primary = [any(f.role == "primary" for f in group[2]) for group in groups]
    order = sorted(best, key=lambda place: (not primary[place], -total[place]))
    calls = []
    for place in dict.fromkeys(earlier for last in order for earlier in with_required(last)):
        name, window, members = groups[place]
        names = tuple(f.name for f in sorted(members, key=lambda f: f.requires in {m.name for m in members}))
        calls.append(
            PlannedCall(name, None, names) if arm == "measure" else PlannedCall(_label(members, task), window, names)
        )
    return tuple(calls)


def is_measurable(feature: Feature) -> bool:
    """Whether an answer of ``measure`` tells what a feature is about."""
    known = {"ratio": {*indices(), *(band.name for band in bands())}}
    of_lines = {line.name for line in lines()}
    return name_of(feature) in known.get(feature.quantity, of_lines if feature.quantity in LINE_QUANTITIES else ())


def _shares(first: tuple[int, int], second: tuple[int, int]) -> bool:
    shared = min(first[1], second[1]) - max(first[0], second[0])
    return shared > 0.5 * min(first[1] - first[0], second[1] - second[0])


def _label(features: Sequence[Feature], task: str) -> str:
    """Return the label of a window: the lines and bands in it by names that a trial of the trace recognises."""
    names = [f.name for f in features]
    known = [name for name in names if name in subjects(task)]
    return " and ".join((known or names)[:2])


@cache
def subjects(task: str) -> dict[str, Subject]:
    """Return what of a task a trial can edit, by the name of its feature: the first feature of each line and sense."""
    named: dict[tuple[str, str], tuple[str, Subject]] = {}
    for subject in subjects_of_task(tasks()[task], "vacuum"):
        assert subject.feature is not None
        named.setdefault((subject.name, subject.sense), (subject.feature.name, subject))
    return dict(named.values())


def sentence(task: str, feature: Feature, state: State) -> str:
    """Return what is stated of a feature. The words are those that ``agent.hints.claims`` reads as what they mean; what
    no claim should be read from is called a criterion.
    """
    subject = subjects(task).get(feature.name)
    if subject is None:
        words = {
            "there": "met",
            "likely": "probably met",
            "possible": "open, though the number fits",
            "open": "open",
            "unmeasured": "unmeasured",
        }
        return f"{feature.name}: criterion {words.get(state, 'unmet')}."
    if subject.sense == "band":
        name = subject.species if "bands" in feature.name else feature.name
        band = name if name.endswith("band") else f"{name} band"
        present, whether = f"{band} is present", f"there is a {band}"
        weak, absent = f"The {band}, if any, is weak", f"No {band}"
    else:
        present, whether = f"{subject.name} in {subject.sense}", f"{subject.name} is in {subject.sense}"
        weak, absent = f"{subject.name} {subject.sense}, if any, is weak", f"No {subject.name} {subject.sense}"
    return {
        "there": f"{present}.",
        "likely": f"Probably {present}.",
        "possible": f"Whether {whether} cannot be told, though the number fits.",
        "too much": f"{present}, very strong.",
        "weak": f"{weak}.",
        "absent": f"{absent}.",
        "open": f"Whether {whether} cannot be told.",
        "unmeasured": f"Whether {whether} cannot be measured.",
    }[state]


@dataclass(frozen=True)
class Reading:
    """What an answer of ``measure`` says.

    :param level: its first word, as "Certain" or "Absent"; "" outside the data
    :param sense: "emission" or "absorption" of a line that was found, else ""
    :param numbers: equivalent width in Å, FWHM in km/s and ratio, those that it gives, each with its error
    """

    level: str
    sense: str
    numbers: Mapping[str, tuple[float, float]]


_NUMBER = r"(−?\d[\d\u202f]*(?:\.\d+)?)"
_LEVEL = re.compile(r"\)\. (Certain|Seen|Not certain|Absent|Not measured|Measured)\b")
_SENSE = re.compile(r" in (emission|absorption),")
_NUMBERS = {
    "equivalent_width": re.compile(rf"EW {_NUMBER} ± {_NUMBER}"),
    "fwhm": re.compile(rf"FWHM {_NUMBER} ± {_NUMBER}"),
    "ratio": re.compile(rf"Measured: {_NUMBER} ± {_NUMBER}"),
}


def read(answer: str) -> Reading:
    """Read an answer of ``measure``."""
    level, sense = _LEVEL.search(answer), _SENSE.search(answer)
    numbers = {
        quantity: (_value(match[1]), _value(match[2]))
        for quantity, pattern in _NUMBERS.items()
        if (match := pattern.search(answer))
    }
    return Reading(level[1] if level else "", sense[1] if sense else "", numbers)


def _value(number: str) -> float:
    return float(number.replace("−", "-").replace("\u202f", ""))


def state_read(feature: Feature, reading: Reading) -> State:
    """Return what an answer of ``measure`` says of a feature."""
    level, (value, error) = reading.level, reading.numbers.get(feature.quantity, (None, 0.0))
    if level in ("", "Not measured"):
        return "unmeasured"
    if feature.quantity == "ratio" and level != "Measured":
        # A band: the state of its molecule.
        return "there" if level == "Certain" else "absent" if level == "Absent" else "open"
    if feature.quantity == "fwhm":
        if value is None or feature.sign not in ("either", reading.sense):
            return "unmeasured"
        return "there" if feature.is_present(value) else "absent"
    if feature.quantity == "equivalent_width" and level == "Absent":
        value = 0.0
    if value is None:
        return "open"
    certain = level != "Not certain"
    if feature.is_present(value):
        return "there" if certain else "likely" if abs(value) >= LIKELY * error else "possible"
    if feature.quantity == "ratio":
        bound = feature.below if feature.below is not None else 1.0
        return "weak" if bound <= value < (1 + bound) / 2 else "absent"
    if not certain:
        return "weak"
    way = -1 if feature.above is None or feature.above < 0 else 1
    bounds = [way * bound for bound in (feature.above, feature.below) if bound is not None]
    if len(bounds) == 2 and way * value > max(bounds):
        return "too much"
    return "weak" if way * value > 0 else "absent"


def state_of(feature: Feature, subject: Subject | None, data: Evidence) -> State:
    """Return what the noisy data say of a feature: what the rule counts and the hints do not contradict.

    :param subject: the line or band that the feature is; None for any other criterion
    :param data: of the spectrum at rest
    """
    measured = data.feature(feature)
    if isinstance(measured, Undefined):
        return "unmeasured"
    share = presence(feature, measured)
    if subject is None:
        return "there" if share >= SURE else "open" if share > 1 - SURE else "absent"
    # Which way from nothing the feature lies: an absorption line is above 0, emission and the ratio of a band below.
    nothing = 1.0 if feature.quantity == "ratio" else 0.0
    way = 1 if subject.sense == "absorption" or feature.quantity == "depth" else -1
    amount = way * (measured.value - nothing)
    bounds = [way * (bound - nothing) for bound in (feature.above, feature.below) if bound is not None]
    hint = None if subject.line is None else data.line(subject.line).state
    if share >= SURE:
        contradicted = hint not in (None, subject.sense) and (hint != "undecided" or amount < CLEAR * measured.error)
        return "open" if contradicted else "there"
    if share > 1 - SURE:
        return "open"
    if amount > max(bounds, default=0.0) and len(bounds) == 2:
        return "too much"
    return "weak" if amount > WEAK * measured.error or hint == subject.sense else "absent"


@dataclass(frozen=True)
class Script:
    """A policy that measures: it looks where the task says, states what is there, and answers by the rule."""

    arm: Arm

    @property
    def measure(self) -> bool:
        return self.arm == "measure"

    @property
    def drafter(self) -> Drafter:
        return DRAFTER

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: what the last call shows, then a further call or the answer."""
        task = conversation.task
        of_task, data = subjects(task.key), evidence(rest(conversation.spectrum))
        features = {f.name: f for f in task.features}
        states = [{f.name: state_of(f, None, data) for f in task.features if f.kind == "slope"}]
        for planned, exchange in zip(planned_calls(task.key, self.arm), conversation.exchanges, strict=False):
            if self.measure:
                states.append(states_read(task, planned, exchange.observation.text if exchange.observation else ""))
            else:
                states.append({name: state_of(features[name], of_task.get(name), data) for name in planned.features})
        yield turn_text(task, self.arm, states)


def states_read(task: Task, planned: PlannedCall, answer: str) -> dict[str, State]:
    """Return what an answer of ``measure`` says of the features of its call."""
    reading, features = read(answer), {f.name: f for f in task.features}
    return {name: state_read(features[name], reading) for name in planned.features}


def varied(answer: str, features: Sequence[Feature], rng: Generator) -> str:
    """Return an answer of ``measure`` with other numbers, each near a bound of a feature that it decides."""
    for quantity, pattern in _NUMBERS.items():
        bounds = [b for f in features if f.quantity == quantity for b in (f.above, f.below) if b is not None]
        match = pattern.search(answer)
        if match is None or not bounds or rng.random() < 0.5:
            continue
        bound, value = bounds[int(rng.integers(len(bounds)))], _value(match[1])
        if quantity == "ratio":
            value = abs(bound + rng.normal(0, 0.1))
        else:
            # The sign stays: it is that of the words before it.
            near = abs(bound) if rng.random() < 0.7 else LIKELY * _value(match[2])
            value = math.copysign(near * math.exp(rng.normal(0, 0.5)), value)
        digits = len(match[1].partition(".")[2])
        shown = f"{value:,.{digits}f}".replace(",", "\u202f").replace("-", "−")
        answer = answer[: match.start(1)] + shown + answer[match.end(1) :]
    return answer


def turn_text(task: Task, arm: Arm, states: Sequence[Mapping[str, State]]) -> str:
    """Return the turn of the script: what the last call shows, the log odds, and a further call or the answer.

    :param states: what the overview shows, then what each call showed
    """
    plan, features = planned_calls(task.key, arm), {f.name: f for f in task.features}
    odds = log_odds(task, {name: state for shown in states for name, state in shown.items()})
    seen = [sentence(task.key, features[name], state) for name, state in states[-1].items()]
    stated = f"<think>{' '.join([*seen, so_far(odds)])}"
    if len(states) <= len(plan):
        return f"{stated} {plan[len(states) - 1].text}"
    return f"{stated}</think>{answered(task, 'YES' if odds > 0 else 'NO')}"


def log_odds(task: Task, states: Mapping[str, State]) -> float:
    """Return the log odds of YES by the points of the baseline, in halves.

    They are added in turn, and are above 0 from the first primary feature on that is at least possible: so each step
    follows from the step before it and from what is stated.

    :param states: of the features in the order in which they are stated, each after the feature that it requires
    """
    card, features = scorecards()[task.key], {f.name: f for f in task.features}
    total, most = _halves(card.start), 0.0
    counted: dict[str, float] = {}
    for name, state in states.items():
        feature, share = features[name], PRESENCE[state]
        if feature.role == "confuser" and state in ("likely", "possible"):
            share = 0.5
        required = 1.0 if feature.requires is None else counted.get(feature.requires, 0.0)
        counted[name] = required * (share or 0.0)
        if share is None:
            continue
        if feature.role == "primary" and counted[name] >= 0.5:
            most = MOST_ODDS
        points, present = card.of(feature), share_present(feature, share)
        total += _halves(required * (points.present * present + points.absent * (1 - present)))
        total = max(-MOST_ODDS, min(most, total))
    return total


def _halves(value: float) -> float:
    return round(2 * value) / 2 + 0.0  # never −0


def so_far(odds: float) -> str:
    """Return the sentence with the log odds."""
    return f"Log odds so far: {odds:+.1f}.".replace("-", "−").replace("+0.0", "0")


def answered(task: Task, verdict: Verdict) -> str:
    """Return the answer to a task."""
    return rf"<answer>\boxed{{{verdict}}} {'This is' if verdict == 'YES' else 'This is not'}: {task.title}.</answer>"


def phrases() -> list[str]:
    """Return the fixed texts that become one token each: what comes again in every inspection, word for word."""
    observation = "Generated spectral visualization focused on wavelength range"
    plans = [planned for task in CLASSES for arm in ARMS for planned in planned_calls(task, arm)]
    stated = [sentence(key, f, s) for key in CLASSES for f in tasks()[key].features for s in STATES]
    return [
        *(tool.tool_block(measure=measure) for measure in (False, True)),
        *(tasks()[key].prompt for key in CLASSES),
        *("system\nYou are a helpful assistant.", "user\n", "assistant\n"),
        *("<think>", "</think>", "</answer>", "<tool_response>\n", "\n</tool_response>"),
        *(rf"<answer>\boxed{{{verdict}}} " for verdict in ("YES", "NO")),
        *(f"{begun}: {tasks()[key].title}." for key in CLASSES for begun in ("This is", "This is not")),
        *dict.fromkeys(planned.text for planned in plans),
        *dict.fromkeys(f"{observation} {planned.window} Å for {planned.name}." for planned in plans if planned.window),
        *dict.fromkeys(stated),
        *(so_far(halves / 2) for halves in range(-2 * MOST_ODDS, 2 * MOST_ODDS + 1)),
    ]


def repeated(answers: Sequence[str], least: int) -> list[str]:
    """Return the texts that come again in at least so many answers of ``measure``: whole clauses, and in the other ones
    what stands between their numbers.
    """
    clauses = [clause for text in answers for clause in re.split(r"(?<=[.;:])(?= )", text)]
    counted = Counter(clauses)
    rest_of = [clause for clause in clauses if counted[clause] < least]
    counted.update(part for clause in rest_of for part in re.split(r"[−+]?\d[\d.\u202f]*", clause) if len(part) > 9)
    return sorted(text for text, count in counted.items() if count >= least and len(text) > 3)


def taught(known: Known, arm: Arm, shrink: Shrink) -> Example:
    """Return the inspection of a spectrum by the script, like an approved trace."""
    pictures: list[Image.Image] = []
    for event in inspect(known.spectrum, tasks()[known.task], Script(arm)):
        if isinstance(event, Started):
            pictures.append(shrink(event.overview))
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(shrink(event.picture))
        elif isinstance(event, Ended):
            return _example(known, event.trajectory, pictures)
    raise AssertionError("an inspection ends with Ended")


def _example(known: Known, trajectory: Trajectory, pictures: Sequence[Image.Image]) -> Example:
    return Example(
        key=known.spectrum.name,
        source=source_of(known.spectrum.name),
        trajectory=trajectory,
        pictures=lambda: pictures,
        survey=known.spectrum.survey,
        snr=known.spectrum.snr["median"],
    )
