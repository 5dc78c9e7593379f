"""The inspection loop: a policy thinks, the tool shows a window, the policy thinks again, until it answers.

The loop is one whoever thinks: a served model, a local one, the measuring baseline. What they share is the
tagged text of ``agent.wire``; a policy for an interface with tool calls of its own writes such a call as
``<tool_call>`` text, and turns the text of earlier turns back. Everything that happens is an event, at once,
so that a page can show a thought while it is being thought.

What a model does wrong is part of its trace, never an exception: a fault is listed, a wrong call is answered
by the tool as in training, a turn with neither call nor answer ends the inspection. As in the published loop
the tool call of the last allowed turn is not run: ``max_turns`` = 8 allows seven looks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from PIL import Image

from agent import tool
from agent.plot import RENDERER, pixels_sha256
from agent.spectrum import Spectrum
from agent.steps import Answer, Step, Think, Zoom
from agent.tasks import Task
from agent.trajectory import Drafter, Trajectory
from agent.wire import Call, parse

MAX_TURNS = 8
"""Assistant turns in the published code (``max_assistant_turns``)."""
NOT_RUN = "Not run: the last allowed turn had been taken."
"""Observation of a call beyond the limit; no model ever saw it."""
SYSTEM = "You are a helpful assistant."

Reason = Literal["answered", "turn limit", "no call and no answer", "policy failed"]


class PolicyError(RuntimeError):
    """A policy cannot go on (no server, no memory): one sentence on what happened and what to do about it."""


@dataclass(frozen=True)
class Exchange:
    """One assistant turn as written, and what the tool answered; None where no tool was called."""

    text: str
    observation: tool.Observation | None


@dataclass(frozen=True)
class Conversation:
    """What a policy is given to write its next turn.

    A model is to see ``system``, ``prompt``, the pictures and the texts. ``spectrum`` is for policies that
    measure. ``turns_left`` counts the turn about to be written: at 1 a look would not be run.
    """

    spectrum: Spectrum
    task: Task
    overview: Image.Image
    turns_left: int
    exchanges: tuple[Exchange, ...] = ()
    system: str = SYSTEM

    @property
    def prompt(self) -> str:
        """The user's text after the first picture."""
        return self.task.prompt


class Policy(Protocol):
    """Whoever thinks. ``drafter`` says who, with every setting that would let somebody repeat it."""

    @property
    def drafter(self) -> Drafter: ...

    def turn(self, conversation: Conversation) -> Iterator[str]:
        """The next assistant turn as tagged text, in pieces as they come.

        :raises PolicyError: it cannot be written; what came before is kept
        """
        ...


@dataclass(frozen=True)
class Started:
    """The full spectrum has been drawn; ``picture`` is the SHA-256 of its RGBA bytes."""

    overview: Image.Image
    picture: str
    prompt: str
    max_turns: int


@dataclass(frozen=True)
class Said:
    """A piece of the text of assistant turn ``turn`` (from 1), as it came."""

    text: str
    turn: int


@dataclass(frozen=True)
class Looked:
    """The tool was called. ``picture`` is None where it answered with an error or was not run."""

    zoom: Zoom
    picture: Image.Image | None
    turn: int


@dataclass(frozen=True)
class Answered:
    """The policy answered."""

    answer: Answer
    turn: int


@dataclass(frozen=True)
class Ended:
    """Always the last event. ``detail`` says more than ``reason`` where there is more to say."""

    reason: Reason
    trajectory: Trajectory
    detail: str = ""


Event = Started | Said | Looked | Answered | Ended


def inspect(spectrum: Spectrum, task: Task, policy: Policy, max_turns: int = MAX_TURNS) -> Iterator[Event]:
    """Inspect one spectrum, yielding each step as it happens; ``Ended`` comes last and holds the whole
    trajectory.

    :param max_turns: assistant turns allowed, 1 or more
    :raises ValueError: ``max_turns`` is below 1
    """
    if max_turns < 1:
        raise ValueError(f"max_turns: found {max_turns}, wanted 1 or more")
    inspection = _Inspection(spectrum, task, policy, max_turns)
    yield Started(inspection.conversation.overview, inspection.overview, task.prompt, max_turns)
    while inspection.ended is None:
        yield from inspection.turn()
    reason, detail = inspection.ended
    yield Ended(reason, inspection.trajectory(), detail)


def run(spectrum: Spectrum, task: Task, policy: Policy, max_turns: int = MAX_TURNS) -> Trajectory:
    """The trajectory of a whole inspection.

    :raises PolicyError: the policy could not go on
    """
    for event in inspect(spectrum, task, policy, max_turns):
        if isinstance(event, Ended):
            if event.reason == "policy failed":
                raise PolicyError(event.detail)
            return event.trajectory
    raise AssertionError("an inspection ends with Ended")


class _Inspection:
    """The state of one inspection: the conversation as the policy sees it, the steps as they are kept."""

    def __init__(self, spectrum: Spectrum, task: Task, policy: Policy, max_turns: int) -> None:
        self.policy = policy
        self.max_turns = max_turns
        self.conversation = Conversation(spectrum, task, tool.overview(spectrum), max_turns)
        self.overview = pixels_sha256(self.conversation.overview)
        self.number = 0
        self.steps: list[Step] = []
        self.faults: list[str] = []
        self.ended: tuple[Reason, str] | None = None

    def turn(self) -> Iterator[Event]:
        """One assistant turn and, unless it is the last, the look it asked for."""
        self.number += 1
        text = ""
        try:
            for piece in self.policy.turn(self.conversation):
                text += piece
                yield Said(piece, self.number)
        except PolicyError as failure:
            self.ended = "policy failed", str(failure)
        turn = parse(text)
        self.faults += [f"turn {self.number}: {fault}" for fault in turn.faults]
        if turn.thought:
            self.steps.append(Think(self._next_id(), turn.thought))
        if self.ended:
            return
        if turn.call is not None:
            yield self._look(turn.call, text)
        elif turn.answer is not None:
            answer = Answer(self._next_id(), turn.answer.verdict, turn.answer.explanation)
            self.steps.append(answer)
            self.ended = "answered", ""
            yield Answered(answer, self.number)
        else:
            self.ended = "no call and no answer", f"turn {self.number} neither looked nor answered"

    def _look(self, call: Call, text: str) -> Looked:
        spectrum = self.conversation.spectrum
        observation = None
        if self.number < self.max_turns:
            observation = tool.call(spectrum, call.arguments, call.name)
        else:
            self.ended = "turn limit", f"no answer in {self.max_turns} turns; the last call was not run"
        frame, z = tool.frame_of(spectrum)
        zoom = Zoom(
            id=self._next_id(),
            arguments=call.arguments,
            frame=frame,
            z=z,
            medium=spectrum.medium,
            observation=observation.text if observation else NOT_RUN,
            ok=observation is not None and observation.ok,
            picture=observation.picture if observation else None,
        )
        self.steps.append(zoom)
        self.conversation = replace(
            self.conversation,
            turns_left=self.max_turns - self.number,
            exchanges=(*self.conversation.exchanges, Exchange(text, observation)),
        )
        return Looked(zoom, observation.image if observation else None, self.number)

    def _next_id(self) -> str:
        return f"s{len(self.steps) + 1}"

    def trajectory(self) -> Trajectory:
        spectrum, task = self.conversation.spectrum, self.conversation.task
        drafter = self.policy.drafter
        settings = {
            "prompt_sha256": hashlib.sha256(task.prompt.encode()).hexdigest(),
            "renderer": RENDERER,
            "max_turns": self.max_turns,
        }
        return Trajectory(
            task=task.key,
            prompt=task.prompt,
            spectrum_name=spectrum.name,
            spectrum_sha256=spectrum.sha256,
            steps=tuple(self.steps),
            drafter=replace(drafter, settings=dict(drafter.settings) | settings),
            system=self.conversation.system,
            redshift=spectrum.redshift,
            medium=spectrum.medium,
            overview=self.overview,
            simulated=bool(spectrum.meta.get("simulated", False)),
            faults=tuple(self.faults),
        )
