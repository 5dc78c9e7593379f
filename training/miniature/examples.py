"""Simulated spectra of the miniature proof, and the examples of its model: single pictures, then whole inspections.

A script replaces the expert: it measures what a zoom shows and describes it in fixed words; its answer is the truth.
Loop, tool, pictures and observations are those of live vetting.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from agent import tool
from agent.conversation import Conversation, Piece
from agent.loop import Ended, Started, ToolResult, inspect
from agent.measure import Measured, measure_feature, rest
from agent.plot import pixels_sha256
from agent.simulate import simulate
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum
from agent.tasks import Task, read
from agent.tool import TOOL_BLOCK, TOOL_NAME
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Think, Verdict
from agent.trajectory.tags import turn_text
from training.data import source_of
from training.data.records import Example, Question

DRAFTER = Drafter("baseline", "script of the miniature proof", {"version": 1})
LABEL_SOURCE = "simulation"

Shrink = Callable[[Image.Image], Image.Image]
"""A picture as small as the model will see it."""


@dataclass(frozen=True)
class ZoomTarget:
    """A window in Å and the features that are measured in it: one for strength, and for a line one for width."""

    name: str
    window: tuple[int, int]
    strength: str
    breadth: str = ""


ZOOM_TARGETS: Mapping[str, tuple[ZoomTarget, ...]] = {
    "mini_cv": (
        ZoomTarget("Hα", (6400, 6720), "Hα emission", "Hα breadth"),
        ZoomTarget("Hβ", (4700, 5020), "Hβ emission", "Hα breadth"),
    ),
    "mini_cc": (ZoomTarget("C2 5165", (4950, 5400), "C2 5165"), ZoomTarget("C2 5636", (5380, 5820), "C2 5636")),
}
EMISSION, ABSORPTION, BROAD = -4.0, 3.0, 600.0
"""Å of equivalent width, and km/s: what the script calls emission, absorption and broad."""
DEEP, SHALLOW = 0.62, 0.85
"""Flux in a band over the flux next to it: below these the script calls it deep, and shallow."""


def description(spectrum: Spectrum, task: Task, target: ZoomTarget) -> str:
    """Describe in one sentence what a zoom shows."""
    at_rest = rest(spectrum)
    strength = _value(at_rest, task, target.strength)
    if strength is None:
        return f"{target.name} is not there."
    if not target.breadth:
        how = "deep" if strength < DEEP else "shallow" if strength < SHALLOW else "absent"
        return f"{target.name} is {how}."
    if strength < EMISSION:
        broad = (_value(at_rest, task, target.breadth) or 0.0) > BROAD
        return f"{target.name} is in {'broad' if broad else 'narrow'} emission."
    return f"{target.name} is {'in absorption' if strength > ABSORPTION else 'flat'}."


@dataclass(frozen=True)
class Script:
    """A policy that knows the answer: it zooms where the task says, describes what is there, and answers."""

    label: Verdict

    @property
    def drafter(self) -> Drafter:
        return DRAFTER

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: a zoom, or a description of the last one and the answer."""
        spectrum, task = conversation.spectrum, conversation.task
        targets = ZOOM_TARGETS[task.key]
        verdict = f"So it is {'a' if self.label == 'YES' else 'no'} {task.title.lower()}."
        answer = rf"<answer>\boxed{{{self.label}}}</answer>"
        if not conversation.with_tool:
            seen = " ".join(description(spectrum, task, target) for target in targets)
            yield f"<think>{seen} {verdict}</think>{answer}"
            return
        done = len(conversation.exchanges)
        seen = description(spectrum, task, targets[done - 1]) + " " if done else ""
        if done == len(targets):
            yield f"<think>{seen}{verdict}</think>{answer}"
            return
        target = targets[done]
        call = {"name": TOOL_NAME, "arguments": {"label": target.name, "wavelength_range": list(target.window)}}
        written = json.dumps(call, ensure_ascii=False)
        yield f"<think>{seen}I look at {target.name}.</think>\n<tool_call>\n{written}\n</tool_call>"


def inspected(question: Question, shrink: Shrink, with_tool: bool) -> Example:
    """Return the script's inspection, like an approved trace."""
    pictures: list[Image.Image] = []
    for event in inspect(question.spectrum(), question.task, Script(question.label), with_tool=with_tool):
        if isinstance(event, Started):
            pictures.append(shrink(event.overview))
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(shrink(event.picture))
        elif isinstance(event, Ended):
            labelled = replace(event.trajectory, label=question.label, label_source=LABEL_SOURCE)
            return _example(question.key, question, labelled, pictures)
    raise AssertionError("an inspection ends with Ended")


def described(question: Question, shrink: Shrink, overviews: bool) -> list[Example]:
    """Return single pictures with descriptions: each zoom target, and optionally the overview."""
    spectrum, task = question.spectrum(), question.task
    found = []
    for target in ZOOM_TARGETS[task.key]:
        shown = {"zoom": tool.call(spectrum, {"wavelength_range": list(target.window)}).image}
        if overviews:
            shown["overview"] = tool.overview(spectrum)
        for place, image in shown.items():
            if image is None:
                continue
            trajectory = Trajectory(
                task=task.key,
                prompt=f"What does the spectrum show at {target.name}?",
                spectrum_name=spectrum.name,
                spectrum_sha256=spectrum.sha256,
                steps=(Think("s1", description(spectrum, task, target)),),
                drafter=DRAFTER,
                overview=pixels_sha256(image),
                simulated=True,
            )
            key = f"{question.key} {target.name} {place}"
            found.append(_example(key, question, trajectory, [shrink(image)]))
    return found


def texts(examples: Sequence[Example]) -> list[str]:
    """Return all texts in the examples, for the tokenizer."""
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


TASKS = Path(__file__).with_name("tasks")
Part = Literal["pictures", "sft", "grpo", "bench"]

_SEEDS: Mapping[Part, int] = {"pictures": 1, "sft": 2, "grpo": 3, "bench": 4}
_ROOM = 10_000_000
"""Seeds of simulated spectra that a part has to itself: no spectrum is in two parts."""
_STEP = 100_000
"""From a seed to the next that is tried for a state; more than a part has questions."""
SNR = (10.0, 40.0)


@dataclass(frozen=True)
class Mix:
    """The spectra of a task.

    :param kind: the simulator's name of the class, and ``states``: the simulated ones; none: all
    :param others: the look-alikes
    """

    task: str
    kind: str
    others: tuple[str, ...]
    states: tuple[str, ...] = ()


MIXES = (
    # In outburst and in the low state a cataclysmic variable hides the features of this task.
    Mix("mini_cv", "cv", ("be", "hii", "sd", "dme", "tts", "a"), ("quiescent",)),
    Mix("mini_cc", "cc", ("gba", "gm", "dm", "ss", "fgk")),
)


def questions(part: Part, count: int) -> list[Question]:
    """Return the first ``count`` questions of a part; equal arguments give equal questions.

    Of four in a row each task has two, one of them of its own class. The tasks are in ``TASKS``: those of the program
    with a guide of one line, because this small model uses no more.
    """
    known = {mix.task: read(TASKS / f"{mix.task}.toml") for mix in MIXES}
    return [_question(part, number, known) for number in range(count)]


def _question(part: Part, number: int, known: Mapping[str, Task]) -> Question:
    mix = MIXES[number % len(MIXES)]
    is_one = number // len(MIXES) % 2 == 0
    first = _SEEDS[part] * _ROOM + number
    rng = np.random.default_rng([first])
    kind = mix.kind if is_one else str(rng.choice(mix.others))
    survey = str(rng.choice(sorted(SURVEYS)))
    snr = round(float(rng.uniform(*SNR)), 1)
    seed = _seed(mix, kind, survey, first) if is_one else first
    name = f"simulated-{kind}-{seed:04d}.fits"
    return Question(
        key=f"{part} {number}",
        source=source_of(name),
        task=known[mix.task],
        label="YES" if is_one else "NO",
        survey=f"simulated {survey}",
        snr=snr,
        simulated=True,
        spectrum=partial(simulate, kind, survey, snr, seed),
    )


def _seed(mix: Mix, kind: str, survey: str, first: int) -> int:
    """Return the first seed from there on that samples the class in one of the wanted states."""
    for seed in range(first, first + _ROOM, _STEP):
        if not mix.states or simulate(kind, survey, SNR[0], seed).meta["state"] in mix.states:
            return seed
    raise AssertionError("a state that is sampled one time in three is found within a hundred times")
