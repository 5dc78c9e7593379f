"""What the proof's model learns from: pictures and what they show, then whole inspections.

A script inspects in the place of an expert. It measures what a look shows and says it in a few fixed words;
its answer is the truth. The loop, the tool, the pictures and the observations are those of live vetting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from agent import tool
from agent.conversation import Conversation, Piece
from agent.loop import Ended, Looked, Started, inspect
from agent.measure import Measured, measure_feature, rest
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.tool import TOOL_BLOCK, TOOL_NAME
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Think, Verdict
from agent.trajectory.tags import turn_text
from training.data.records import Example, Question

DRAFTER = Drafter("baseline", "script of the miniature proof", {"version": 1})
LABEL_SOURCE = "simulation"

Shrink = Callable[[Image.Image], Image.Image]
"""A picture as small as the model will see it."""


@dataclass(frozen=True)
class Look:
    """A window in Å and the features of the task file that are measured in it: one for strength, and for a
    line one for breadth.
    """

    name: str
    window: tuple[int, int]
    strength: str
    breadth: str = ""


LOOKS: Mapping[str, tuple[Look, ...]] = {
    "mini_cv": (
        Look("Hα", (6400, 6720), "Hα emission", "Hα breadth"),
        Look("Hβ", (4700, 5020), "Hβ emission", "Hα breadth"),
    ),
    "mini_cc": (Look("C2 5165", (4950, 5400), "C2 5165"), Look("C2 5636", (5380, 5820), "C2 5636")),
}
EMISSION, ABSORPTION, BROAD = -4.0, 3.0, 600.0
"""Å of equivalent width, and km/s: what the script calls emission, absorption and broad."""
DEEP, SHALLOW = 0.62, 0.85
"""Flux in a band over that beside it: below these the script calls it deep, and shallow."""


def said_of(spectrum: Spectrum, task: Task, look: Look) -> str:
    """What a look shows, in a sentence."""
    at_rest = rest(spectrum)
    strength = _value(at_rest, task, look.strength)
    if strength is None:
        return f"{look.name} is not there."
    if not look.breadth:
        how = "deep" if strength < DEEP else "shallow" if strength < SHALLOW else "absent"
        return f"{look.name} is {how}."
    if strength < EMISSION:
        broad = (_value(at_rest, task, look.breadth) or 0.0) > BROAD
        return f"{look.name} is in {'broad' if broad else 'narrow'} emission."
    return f"{look.name} is {'in absorption' if strength > ABSORPTION else 'flat'}."


@dataclass(frozen=True)
class Script:
    """A policy that knows the answer: it looks where the task says, says what is there, and answers."""

    label: Verdict

    @property
    def drafter(self) -> Drafter:
        return DRAFTER

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: a look, or what was seen in the last one and the answer."""
        spectrum, task = conversation.spectrum, conversation.task
        looks = LOOKS[task.key]
        verdict = f"So it is {'a' if self.label == 'YES' else 'no'} {task.title.lower()}."
        answer = rf"<answer>\boxed{{{self.label}}}</answer>"
        if not conversation.with_tool:
            seen = " ".join(said_of(spectrum, task, look) for look in looks)
            yield f"<think>{seen} {verdict}</think>{answer}"
            return
        done = len(conversation.exchanges)
        seen = said_of(spectrum, task, looks[done - 1]) + " " if done else ""
        if done == len(looks):
            yield f"<think>{seen}{verdict}</think>{answer}"
            return
        look = looks[done]
        call = {"name": TOOL_NAME, "arguments": {"label": look.name, "wavelength_range": list(look.window)}}
        written = json.dumps(call, ensure_ascii=False)
        yield f"<think>{seen}I look at {look.name}.</think>\n<tool_call>\n{written}\n</tool_call>"


def inspected(question: Question, shrink: Shrink, with_tool: bool) -> Example:
    """The script's inspection, as an approved trace would be."""
    pictures: list[Image.Image] = []
    for event in inspect(question.spectrum(), question.task, Script(question.label), with_tool=with_tool):
        if isinstance(event, Started):
            pictures.append(shrink(event.overview))
        elif isinstance(event, Looked) and event.picture is not None:
            pictures.append(shrink(event.picture))
        elif isinstance(event, Ended):
            labelled = replace(event.trajectory, label=question.label, label_source=LABEL_SOURCE)
            return _example(question.key, question, labelled, pictures)
    raise AssertionError("an inspection ends with Ended")


def described(question: Question, shrink: Shrink, overviews: bool) -> list[Example]:
    """Single pictures and what they show of each look: its zoom, and the overview too if that is wanted."""
    spectrum, task = question.spectrum(), question.task
    found = []
    for look in LOOKS[task.key]:
        shown = {"zoom": tool.call(spectrum, {"wavelength_range": list(look.window)}).image}
        if overviews:
            shown["overview"] = tool.overview(spectrum)
        for place, image in shown.items():
            if image is None:
                continue
            trajectory = Trajectory(
                task=task.key,
                prompt=f"What does the spectrum show at {look.name}?",
                spectrum_name=spectrum.name,
                spectrum_sha256=spectrum.sha256,
                steps=(Think("s1", said_of(spectrum, task, look)),),
                drafter=DRAFTER,
                overview=pixels_sha256(image),
                simulated=True,
            )
            key = f"{question.key} {look.name} {place}"
            found.append(_example(key, question, trajectory, [shrink(image)]))
    return found


def texts(examples: Sequence[Example]) -> list[str]:
    """All that is said in them, by whomever: what a tokenizer is to know."""
    found = []
    for example in examples:
        trajectory = example.trajectory
        found += [trajectory.system + TOOL_BLOCK, trajectory.prompt]
        found += [turn_text(turn) for turn in trajectory.turns()]
        found += [zoom.observation for zoom in trajectory.zooms]
    return found


def _example(key: str, question: Question, trajectory: Trajectory, pictures: Sequence[Image.Image]) -> Example:
    return Example(
        key=key,
        source=question.source,
        trajectory=trajectory,
        pictures=lambda: pictures,
        survey=question.survey,
        snr=question.snr,
    )


def _value(spectrum: Spectrum, task: Task, feature: str) -> float | None:
    found = measure_feature(spectrum, task.feature(feature))
    return found.value if isinstance(found, Measured) else None
