"""The traces that the tiny model memorises: the baseline on simulated spectra, with shortened texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from agent.loop import Ended, Event, Started, Text, ToolResult, inspect
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Step, Think
from agent.trajectory.tags import turn_text

INSPECTED = {"cv": "cv", "cc": "cc", "wd": "sd"}
"""By class, the kind of simulated spectrum whose trace is learned. One per class: so small a model
distinguishes classes by their guides and not by the pictures. It knows no other class."""


@dataclass(frozen=True)
class Trace:
    """A trajectory with its pictures: the overview, then one per zoom."""

    trajectory: Trajectory
    pictures: tuple[Image.Image, ...]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.trajectory.to_messages(self.pictures)

    @property
    def texts(self) -> list[str]:
        """All texts of all roles."""
        blocks = [block for message in self.messages for block in message["content"]]
        return [block["text"] for block in blocks if "text" in block]

    @property
    def turns(self) -> list[str]:
        """The texts of the assistant, one per turn."""
        return [turn_text(turn) for turn in self.trajectory.turns()]


def shown(key: str) -> Spectrum:
    """The spectrum of the learned trace of a class."""
    return simulate(INSPECTED[key], "LAMOST", 20.0, seed=1)


def inspected(key: str) -> Trace:
    """The baseline's trace of the spectrum of a class, with shortened texts: the model learns this."""
    pictures = []
    for event in inspect(shown(key), load()[key], Baseline()):
        if isinstance(event, Started):
            pictures.append(event.overview)
        elif isinstance(event, ToolResult) and event.picture is not None:
            pictures.append(event.picture)
        elif isinstance(event, Ended):
            steps = tuple(map(_short, event.trajectory.steps))
            return Trace(event.trajectory.with_steps(steps), tuple(pictures))
    raise AssertionError("an inspection ends with Ended")


def turn_texts(events: Sequence[Event]) -> list[str]:
    """Return the texts of the assistant in an inspection, one per turn."""
    pieces = [event for event in events if isinstance(event, Text)]
    return ["".join(piece.text for piece in pieces if piece.turn == n) for n in range(1, pieces[-1].turn + 1)]


def _short(step: Step) -> Step:
    """Keep which zoom is next or the judgement, without the window, and the first reason of an answer.

    However much the baseline writes, no text is longer than a line, so that so small a model can learn all of them.
    """
    match step:
        case Think():
            sentence = re.search(r"(?:First|Next) zoom: .*$", step.text)
            text = sentence.group() if sentence else step.text.rpartition("\n\n")[2].splitlines()[0]
            return replace(step, text=re.sub(r", \d+ to \d+ Å", "", text))
        case Answer():
            return replace(step, explanation=step.explanation.partition(" (")[0] + ".")
        case _:
            return step
