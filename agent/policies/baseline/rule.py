"""The baseline: a policy without a model that measures what the task file names and adds up points.

It is a floor for trained models, a drafter without key or GPU, and a check that task files name measurable things.
It reads the numbers, not the pictures, but zooms so that a reviewer sees where they come from (docs/baseline.md).
With records of catalogues it also calls ``sky_context``, once, after the last zoom.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agent.conversation import CannotTell, Conversation, Piece, Score, SkySource
from agent.measure import rest, signal_to_noise
from agent.policies.baseline.scorecard import FILE, SKY_FILE, Assessment, Finding, assess, cannot_tell
from agent.policies.baseline.sentences import (
    explanation,
    in_sentence,
    judged,
    of_catalogues,
    opening,
    snr_text,
    weighing,
    with_article,
)
from agent.sky.context import settings
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.tool import SKY_CONTEXT, TOOL_NAME
from agent.trajectory import Drafter
from agent.trajectory.tags import Call, parse

NAME = "rule-based baseline"
VERSION = "5"
MAX_WINDOWS = 4
"""Number of zooms, at most: about what the published cold-start trajectories have (3.9 in the mean)."""


@dataclass(frozen=True)
class PlannedZoom:
    """A window to draw, in whole Å of the spectrum's medium and the tool's frame, and what is in it."""

    window: tuple[int, int]
    findings: tuple[Finding, ...]

    @property
    def label(self) -> str:
        return " and ".join(f.feature.name for f in self.findings[:2])


class Baseline:
    """The policy. It has no state: each turn follows from the conversation.

    :param sky: where it gets the records of an object from; None: it reads the spectrum alone
    """

    def __init__(self, sky: SkySource | None = None) -> None:
        self.sky = sky

    @property
    def drafter(self) -> Drafter:
        of_sky = {} if self.sky is None else {**settings(self.sky), "sky_scorecards_sha256": _sha256(SKY_FILE)}
        return Drafter("baseline", NAME, {"version": VERSION, "scorecards_sha256": _sha256(FILE), **of_sky})

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the next turn, a sentence or two at a time."""
        spectrum, task, sky = conversation.spectrum, conversation.task, conversation.sky
        assessed = assess(spectrum, task, sky)
        calls = [parse(exchange.text).call for exchange in conversation.exchanges]
        zoomed = [call for call in calls if call is None or call.name != SKY_CONTEXT]
        done, seeks_sky = len(zoomed), sky is not None and len(zoomed) == len(calls)
        further = max(0, conversation.turns_left - 1 - seeks_sky)
        zooms = _after_calls(zoomed, assessed, plan_zooms(assessed))[: done + further]
        reason = cannot_tell(assessed, spectrum)
        yield "<think>"
        if not calls:
            yield _opening(spectrum, task, zooms)
        elif calls[-1] is not None and calls[-1].name == SKY_CONTEXT:
            yield of_catalogues(assessed.sky)
        else:
            yield _analysis(zooms[done - 1], spectrum)
        if done < len(zooms):
            yield f" {_next(zooms[done], first=done == 0)}</think>\n"
            yield _call(zooms[done])
        elif seeks_sky and conversation.turns_left > 1:
            yield " Next: what catalogues tell of the object.</think>\n"
            yield call_text(SKY_CONTEXT, {})
        else:
            if seeks_sky:
                yield f" {of_catalogues(assessed.sky)}"
            yield f"\n\n{_without_zoom(assessed, zooms, spectrum)}{weighing(assessed, task.title)}"
            if reason:
                yield f" These data do not allow an answer; {assessed.verdict} is a default."
            yield f"</think><answer>\\boxed{{{assessed.verdict}}} {explanation(assessed, task.title, reason)}</answer>"
            yield Score(round(assessed.score, 4))
            if reason:
                yield CannotTell(reason)


def plan_zooms(assessed: Assessment, most: int = MAX_WINDOWS) -> list[PlannedZoom]:
    """Select the windows: the primary features, those that are present first, then those that moved the sum most.

    Windows that overlap by half are one zoom.
    """
    local = [f for f in assessed.measured if f.feature.kind != "slope"]
    primary = sorted((f for f in local if f.feature.role == "primary"), key=lambda f: f.certainty <= 0.5)
    others = sorted((f for f in local if f.feature.role != "primary"), key=lambda f: -abs(f.points))
    zooms: list[PlannedZoom] = []
    for finding in primary + [f for f in others if abs(f.points) >= 0.25]:
        window = (round(finding.feature.window[0]), round(finding.feature.window[1]))
        shared = next((i for i, zoom in enumerate(zooms) if _overlap(zoom.window, window) > 0.5), None)
        if shared is not None:
            first = zooms[shared]
            union = (min(first.window[0], window[0]), max(first.window[1], window[1]))
            zooms[shared] = PlannedZoom(union, (*first.findings, finding))
        elif len(zooms) < most:
            zooms.append(PlannedZoom(window, (finding,)))
    return zooms


def _after_calls(calls: Sequence[Call | None], assessed: Assessment, plan: list[PlannedZoom]) -> list[PlannedZoom]:
    """Return the plan that follows the zooms made so far: the plan itself, unless the inspection began from turns that
    this spectrum does not lead to (``agent.loop.inspect``, ``begin``).
    """
    windows = [call.arguments.get("wavelength_range") if call else None for call in calls]
    if windows == [list(zoom.window) for zoom in plan[: len(calls)]]:
        return plan
    before = [_zoom_of(call, assessed) for call in calls]
    left = [z for z in plan if all(_overlap(z.window, m.window) <= 0.5 for m in before)]
    return [*before, *left[: max(0, MAX_WINDOWS - len(before))]]


def _zoom_of(call: Call | None, assessed: Assessment) -> PlannedZoom:
    """Return the zoom of a call, with what was measured of the features that its label names, else of those whose
    principal wavelength lies in its window.
    """
    arguments = {} if call is None else call.arguments
    requested = arguments.get("wavelength_range")
    lo, hi = 0, 1
    if isinstance(requested, list) and len(requested) == 2 and all(isinstance(x, int | float) for x in requested):
        lo, hi = (round(x) for x in requested)
    label = str(arguments.get("label") or "")
    inside = [f for f in assessed.findings if f.feature.wavelengths and lo <= f.feature.wavelengths[0] <= hi]
    named = [f for f in inside if f.feature.name in label]
    same = {f.feature.wavelengths[0] for f in named}
    return PlannedZoom((lo, max(hi, lo + 1)), tuple(f for f in inside if not same or f.feature.wavelengths[0] in same))


def _overlap(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the shared part of two windows, as a fraction of the narrower."""
    shared = min(first[1], second[1]) - max(first[0], second[0])
    return max(shared, 0) / min(first[1] - first[0], second[1] - second[0])


def _opening(spectrum: Spectrum, task: Task, zooms: list[PlannedZoom]) -> str:
    criteria = [f.name for f in task.features if f.role == "primary"]
    text = f"{opening(spectrum, rest(spectrum))} The question is whether this is {with_article(task.title)}."
    if criteria:
        text += f" The primary criteria are: {', '.join(map(in_sentence, criteria))}."
    if not zooms:
        text += " None of what the guide names can be measured in these data."
    return text


def _analysis(zoom: PlannedZoom, spectrum: Spectrum) -> str:
    at_rest = rest(spectrum)
    window = f"{zoom.window[0]} to {zoom.window[1]} Å"
    snr = signal_to_noise(at_rest, (float(zoom.window[0]), float(zoom.window[1])))
    noise = f", S/N {snr_text(snr)} per pixel" if isinstance(snr, float) else ""
    # If the width of the line is itself a finding, it is not described twice.
    shape = all(f.feature.quantity != "fwhm" for f in zoom.findings)
    described = [f.feature.wavelengths[:1] for f in zoom.findings]
    text = " ".join(
        judged(f, at_rest, shape and f.feature.wavelengths[:1] not in described[:at])
        for at, f in enumerate(zoom.findings)
    )
    return f"In the window {window}{noise}: {text}"


def _next(zoom: PlannedZoom, first: bool) -> str:
    return f"{'First' if first else 'Next'} zoom: {zoom.label}, {zoom.window[0]} to {zoom.window[1]} Å."


def _without_zoom(assessed: Assessment, zooms: list[PlannedZoom], spectrum: Spectrum) -> str:
    """Describe what was measured without a zoom and still counts."""
    seen = {f.feature.name for zoom in zooms for f in zoom.findings}
    others = [f for f in assessed.measured if f.feature.name not in seen and abs(f.points) >= 0.25]
    if not others:
        return ""
    at_rest = rest(spectrum)
    text = " ".join(judged(f, at_rest, shape=False) for f in others)
    return f"Measured without a zoom: {text}\n\n"


def _call(zoom: PlannedZoom) -> str:
    return call_text(TOOL_NAME, {"label": zoom.label, "wavelength_range": list(zoom.window)})


def call_text(name: str, arguments: Mapping[str, object]) -> str:
    """Return a tool call as a model writes it."""
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


@cache
def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
