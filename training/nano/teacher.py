"""The script that writes the traces: it looks where its task says, states what is there, and answers by the rule.

What is true comes from the rule-based baseline, measured in the noisy spectrum that the picture shows. So it is known
of edited and of real spectra too. Loop, tools and observations are those of live vetting. Each sentence
comes again word for word in thousands of traces, so that each is a single token of the nano model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from PIL import Image

from agent import tool
from agent.conversation import Conversation, Piece
from agent.hints.evidence import Evidence, evidence
from agent.hints.measuring import name_of
from agent.loop import Ended, Started, ToolResult, inspect
from agent.measure import Measured, rest
from agent.policies.baseline.scorecard import Assessment, Finding, assess, scorecards
from agent.simulate import CLASSES
from agent.tasks import Feature, Task
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Verdict
from agent.trial.subjects import Subject, subjects_of_task
from training.data import source_of
from training.data.records import Example
from training.nano.spectra import Known, tasks

DRAFTER = Drafter("baseline", "script of the nano model", {"version": 2})

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

MOST_ODDS = 6
"""Log odds beyond this, on either side, are stated as this."""

State = Literal["there", "too much", "weak", "absent", "open", "unmeasured"]
STATES: tuple[State, ...] = get_args(State)


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
    """Return the tool calls of a task, the features first that move the rule's answer most."""
    card, features = scorecards()[task], tasks()[task].features
    local = [f for f in features if f.kind != "slope"]
    weight = {f.name: abs(card.of(f).present) + abs(card.of(f).absent) for f in local}
    groups: list[tuple[str, tuple[int, int], list[Feature]]] = []
    for feature in sorted(local, key=lambda f: (f.role != "primary", -weight[f.name])):
        name, window = name_of(feature), (round(feature.window[0]), round(feature.window[1]))
        for place, (known, around, members) in enumerate(groups):
            union = min(window[0], around[0]), max(window[1], around[1])
            same = known == name if arm == "measure" else _shares(window, around) and union[1] - union[0] <= WIDEST
            if same:
                groups[place] = known, union, [*members, feature]
                break
        else:
            groups.append((name, window, [feature]))
    most = MOST_CALLS[arm]
    best = sorted(groups, key=lambda group: -sum(weight[f.name] for f in group[2]))[:most]
    return tuple(
        PlannedCall(name, None, names) if arm == "measure" else PlannedCall(_label(members, task), window, names)
        for name, window, members in groups
        if any(members is chosen[2] for chosen in best)
        for names in (tuple(f.name for f in features if f in members),)
    )


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
        met = "met" if state == "there" else state
        return f"{feature.name}: criterion {'unmet' if met in ('too much', 'weak', 'absent') else met}."
    if subject.sense == "band":
        band = feature.name if "band" in feature.name else f"{feature.name} band"
        present, whether = f"{band} is present", f"there is a {band}"
        weak, absent = f"The {band}, if any, is weak", f"No {band}"
    else:
        present, whether = f"{subject.name} in {subject.sense}", f"{subject.name} is in {subject.sense}"
        weak, absent = f"{subject.name} {subject.sense}, if any, is weak", f"No {subject.name} {subject.sense}"
    return {
        "there": f"{present}.",
        "too much": f"{present}, very strong.",
        "weak": f"{weak}.",
        "absent": f"{absent}.",
        "open": f"Whether {whether} cannot be told.",
        "unmeasured": f"Whether {whether} cannot be measured.",
    }[state]


def state_of(finding: Finding, subject: Subject | None, data: Evidence) -> State:
    """Return what the noisy data say of a feature: what the rule counts and the hints do not contradict.

    :param subject: the line or band that the feature is; None for any other criterion
    :param data: of the spectrum at rest
    """
    measured, presence, feature = finding.measured, finding.presence, finding.feature
    if presence is None or not isinstance(measured, Measured):
        return "unmeasured"
    if subject is None:
        return "there" if presence >= SURE else "open" if presence > 1 - SURE else "absent"
    # Which way from nothing the feature lies: an absorption line is above 0, emission and the ratio of a band below.
    nothing = 1.0 if feature.quantity == "ratio" else 0.0
    way = 1 if subject.sense == "absorption" or feature.quantity == "depth" else -1
    amount = way * (measured.value - nothing)
    bounds = [way * (bound - nothing) for bound in (feature.above, feature.below) if bound is not None]
    hint = None if subject.line is None else data.line(subject.line).state
    if presence >= SURE:
        contradicted = hint not in (None, subject.sense) and (hint != "undecided" or amount < CLEAR * measured.error)
        return "open" if contradicted else "there"
    if presence > 1 - SURE:
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
        assessed = assess(conversation.spectrum, task, None)
        plan, done = planned_calls(task.key, self.arm), len(conversation.exchanges)
        whole = tuple(f.name for f in task.features if f.kind == "slope")
        names = plan[done - 1].features if done else whole
        known = {*whole, *(name for planned in plan[:done] for name in planned.features)}
        odds = log_odds(assessed, known)
        findings = {finding.feature.name: finding for finding in assessed.findings}
        of_task = subjects(task.key)
        data = evidence(rest(conversation.spectrum))
        seen = [
            sentence(task.key, findings[name].feature, state_of(findings[name], of_task.get(name), data))
            for name in names
        ]
        stated = f"<think>{' '.join([*seen, so_far(odds)])}"
        if done < len(plan):
            yield f"{stated} {plan[done].text}"
        else:
            yield f"{stated}</think>{answered(task, 'YES' if odds > 0 else 'NO')}"


def log_odds(assessed: Assessment, known: Collection[str]) -> float:
    """Return the log odds of YES by the baseline's rule, had it measured the ``known`` features alone."""
    findings = [finding for finding in assessed.findings if finding.feature.name in known]
    total = assessed.start + sum(finding.points for finding in findings)
    shown = any(finding.feature.role == "primary" and finding.certainty > 0.5 for finding in findings)
    return total if shown else min(total, 0.0)


def so_far(odds: float) -> str:
    """Return the sentence with the log odds, in halves; above 0 only if they are."""
    halves = max(-MOST_ODDS, min(MOST_ODDS, round(2 * odds) / 2 or (0.5 if odds > 0 else 0.0)))
    return f"Log odds so far: {halves:+.1f}.".replace("-", "−").replace("+0.0", "0")


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
