"""The baseline: a policy without a model. It measures what the task file names and adds up points.

It is a floor for trained models to beat, a drafter where there is no key and no GPU, and a check that the
task files say something that can be measured. It reads the spectrum's numbers, not the pictures: it looks at
windows because a reviewer, and a model trained on its traces, wants to see where the numbers come from. The
rule is in ``agent.policies.baseline.scorecard``; ``docs/baseline.md`` says how good it is and what it cannot do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agent.conversation import Conversation, Piece
from agent.measure import rest, signal_to_noise
from agent.policies.baseline import phrases
from agent.policies.baseline.scorecard import FILE, Assessment, Finding, assess
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.tool import TOOL_NAME
from agent.trajectory import Drafter

NAME = "baseline, no model"
VERSION = "1"
LOOKS = 4
"""Windows it looks at, at most: about what the published cold-start trajectories have (3.9 in the mean)."""


@dataclass(frozen=True)
class Look:
    """A window to draw, in whole Å of the spectrum's medium and the tool's frame, and what is in it."""

    window: tuple[int, int]
    findings: tuple[Finding, ...]

    @property
    def label(self) -> str:
        return " and ".join(f.feature.name for f in self.findings[:2])


class Baseline:
    """The policy. It has no state: each turn follows from the conversation."""

    @property
    def drafter(self) -> Drafter:
        return Drafter("baseline", NAME, {"version": VERSION, "scorecards_sha256": _rule_sha256()})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn, a sentence or two at a time."""
        spectrum, task = conversation.spectrum, conversation.task
        found = assess(spectrum, task)
        looks = plan(found)[: len(conversation.exchanges) + conversation.turns_left - 1]
        done = len(conversation.exchanges)
        yield "<think>"
        if done == 0:
            yield _opening(spectrum, task, looks)
        else:
            yield _analysis(looks[done - 1], spectrum)
        if done < len(looks):
            yield f" {_next(looks[done], first=done == 0)}</think>\n"
            yield _call(looks[done])
        else:
            yield f"\n\n{_unlooked(found, looks, spectrum)}{phrases.weighing(found)}</think>"
            yield rf"<answer>\boxed{{{found.verdict}}} {phrases.explanation(found)}</answer>"


def plan(found: Assessment, most: int = LOOKS) -> list[Look]:
    """Where to look: what the task calls primary, in its order; then what moved the sum most. Windows that
    overlap by half are one look.
    """
    local = [f for f in found.measured if f.feature.kind != "slope"]
    primary = [f for f in local if f.feature.role == "primary"]
    others = sorted((f for f in local if f.feature.role != "primary"), key=lambda f: -abs(f.points))
    looks: list[Look] = []
    for finding in primary + [f for f in others if abs(f.points) >= 0.25]:
        window = (round(finding.feature.window[0]), round(finding.feature.window[1]))
        shared = next((i for i, look in enumerate(looks) if _overlap(look.window, window) > 0.5), None)
        if shared is not None:
            first = looks[shared]
            union = (min(first.window[0], window[0]), max(first.window[1], window[1]))
            looks[shared] = Look(union, (*first.findings, finding))
        elif len(looks) < most:
            looks.append(Look(window, (finding,)))
    return looks


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    """The shared part of two windows, as a fraction of the narrower."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return max(shared, 0) / min(one[1] - one[0], other[1] - other[0])


def _opening(spectrum: Spectrum, task: Task, looks: list[Look]) -> str:
    wanted = [f.name for f in task.features if f.role == "primary"]
    text = f"{phrases.opening(spectrum, rest(spectrum))} The question is whether this is a {task.title}."
    if wanted:
        text += f" What decides first: {', '.join(wanted)}."
    if not looks:
        text += " None of what the guide names can be measured in these data."
    return text


def _analysis(look: Look, spectrum: Spectrum) -> str:
    at_rest = rest(spectrum)
    window = f"{look.window[0]} to {look.window[1]} Å"
    snr = signal_to_noise(at_rest, (float(look.window[0]), float(look.window[1])))
    noise = f", S/N {phrases.number(snr, 1)} a pixel" if isinstance(snr, float) else ""
    # A look at the width of a line says it once, as the finding that it is.
    shape = all(f.feature.quantity != "fwhm" for f in look.findings)
    said = " ".join(phrases.judged(f, at_rest, shape) for f in look.findings)
    return f"In the window {window}{noise}: {said}"


def _next(look: Look, first: bool) -> str:
    return f"{'First' if first else 'Next'} I look at {look.label}, {look.window[0]} to {look.window[1]} Å."


def _unlooked(found: Assessment, looks: list[Look], spectrum: Spectrum) -> str:
    """What was measured without a look and still counts."""
    seen = {f.feature.name for look in looks for f in look.findings}
    others = [f for f in found.measured if f.feature.name not in seen and abs(f.points) >= 0.25]
    if not others:
        return ""
    at_rest = rest(spectrum)
    said = " ".join(phrases.judged(f, at_rest, shape=False) for f in others)
    return f"Measured without a closer look: {said}\n\n"


def _call(look: Look) -> str:
    arguments = {"label": look.label, "wavelength_range": list(look.window)}
    call = json.dumps({"name": TOOL_NAME, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


@cache
def _rule_sha256() -> str:
    return hashlib.sha256(FILE.read_bytes()).hexdigest()
