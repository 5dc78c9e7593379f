"""The inspection loop: a policy thinks, the tool shows a window, the policy thinks again, until it answers.

The loop is one whoever thinks: a served model, a local one, the measuring baseline. What they share is the
tagged text of ``agent.trajectory.tags``; a policy for an interface with tool calls of its own writes such a call as
``<tool_call>`` text, and turns the text of earlier turns back. Everything that happens is an event, at once,
so that a page can show a thought while it is being thought.

What a model does wrong is part of its trace, never an exception: a fault is listed, a wrong call is answered
by the tool as in training, a turn with neither call nor answer ends the inspection. As in the published loop
the tool call of the last allowed turn is not run: ``max_turns`` = 8 allows seven looks.

An inspection can be stopped at any moment, by ``Stop`` from another thread or by closing the iterator: the
policy is closed with it, so that a server is free for the next one. Only ``Stop`` still ends with ``Ended``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from PIL import Image

from agent import tool
from agent.conversation import Conversation, Exchange, Policy, PolicyError, Remark, Stop, Usage
from agent.plot import RENDERER, pixels_sha256
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Step, Think, Zoom
from agent.trajectory.tags import Call, parse

MAX_TURNS = 8
"""Assistant turns in the published code (``max_assistant_turns``)."""
MAX_CHARACTERS = 100_000
"""A turn longer than this is cut: about the 32,768 tokens that training allowed for a whole trajectory."""
NOT_RUN = "Not run: the last allowed turn had been taken."
"""Observation of a call beyond the limit; no model ever saw it."""

# Half a character, as a broken server may send one, could be neither stored nor sent back.
_HALF = re.compile("[\ud800-\udfff]")

Reason = Literal["answered", "turn limit", "no call and no answer", "policy failed", "stopped"]


@dataclass(frozen=True)
class Started:
    """The full spectrum has been drawn; ``picture`` is the SHA-256 of its RGBA bytes."""

    overview: Image.Image
    picture: str
    prompt: str
    max_turns: int


@dataclass(frozen=True)
class Text:
    """A piece of the text of assistant turn ``turn`` (from 1), as it came."""

    text: str
    turn: int


@dataclass(frozen=True)
class ToolCall:
    """The turn's tool call is whole; the policy may still be writing, the tool has not been asked."""

    call: Call
    turn: int


@dataclass(frozen=True)
class Thought:
    """What the turn's thinking came to, once the turn has ended."""

    think: Think
    turn: int


@dataclass(frozen=True)
class ToolResult:
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
    usage: Usage = field(default_factory=Usage)


Event = Started | Text | ToolCall | Thought | ToolResult | Answered | Ended


def inspect(
    spectrum: Spectrum,
    task: Task,
    policy: Policy,
    max_turns: int = MAX_TURNS,
    stop: Stop | None = None,
    with_tool: bool = True,
) -> Iterator[Event]:
    """Inspect one spectrum, yielding each step as it happens; ``Ended`` comes last and holds the whole
    trajectory.

    :param max_turns: assistant turns allowed, 1 or more
    :param with_tool: False tells the policy of no tool and allows one turn: what a model sees without looking
    :param stop: set from another thread, it ends the inspection with what was said until then
    :raises ValueError: ``max_turns`` is below 1
    """
    if max_turns < 1:
        raise ValueError(f"max_turns: found {max_turns}, expected 1 or more")
    inspection = _Inspection(spectrum, task, policy, max_turns if with_tool else 1, stop or Stop(), with_tool)
    yield Started(inspection.conversation.overview, inspection.overview, task.prompt, inspection.max_turns)
    while inspection.ended is None:
        yield from inspection.turn()
    reason, detail = inspection.ended
    yield Ended(reason, inspection.trajectory(), detail, inspection.usage)


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

    def __init__(
        self,
        spectrum: Spectrum,
        task: Task,
        policy: Policy,
        max_turns: int,
        stop: Stop,
        with_tool: bool,
    ) -> None:
        self.policy = policy
        self.max_turns = max_turns
        self.stop = stop
        overview = tool.overview(spectrum)
        self.conversation = Conversation(spectrum, task, overview, max_turns, with_tool=with_tool, stop=stop)
        self.overview = pixels_sha256(self.conversation.overview)
        self.number = 0
        self.steps: list[Step] = []
        self.faults: list[str] = []
        self.usage = Usage()
        self.ended: tuple[Reason, str] | None = None

    def turn(self) -> Iterator[Event]:
        """One assistant turn and, unless it is the last, the look it asked for."""
        self.number += 1
        text = yield from self._written()
        turn = parse(text)
        if self.ended:
            self._fault("cut short while it was being written" if text else "nothing was written")
        else:
            for fault in turn.faults:
                self._fault(fault)
        if turn.thought:
            think = Think(self._next_id(), turn.thought)
            self.steps.append(think)
            yield Thought(think, self.number)
        if self.ended:
            return
        if turn.call is not None:
            yield self._run_tool(turn.call, text)
        elif turn.answer is not None:
            answer = Answer(self._next_id(), turn.answer.verdict, turn.answer.explanation)
            self.steps.append(answer)
            self.ended = "answered", ""
            yield Answered(answer, self.number)
        else:
            self.ended = "no call and no answer", f"turn {self.number} neither looked nor answered"

    def _written(self) -> Generator[Event, None, str]:
        """The text of the turn, as the policy writes it; ``ended`` is set where it could not end it."""
        text = ""
        called = False
        pieces = self.policy.turn(self.conversation)
        try:
            for piece in pieces:
                if self.stop.is_set:
                    break
                if isinstance(piece, str):
                    # One piece alone may be longer than a turn.
                    piece = _HALF.sub("\ufffd", piece[: MAX_CHARACTERS + 1 - len(text)])
                    text += piece
                    yield Text(piece, self.number)
                    if not called and "</tool_call>" in text:
                        called = True
                        if (call := parse(text).call) is not None:
                            yield ToolCall(call, self.number)
                    if len(text) > MAX_CHARACTERS:
                        self._fault(f"cut after {MAX_CHARACTERS} characters")
                        break
                elif isinstance(piece, Remark):
                    self._fault(piece.text)
                else:
                    self.usage += piece
        except PolicyError as failure:
            self.ended = "policy failed", str(failure)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
        if self.stop.is_set:
            self.ended = "stopped", f"stopped in turn {self.number}"
        return text

    def _fault(self, what: str) -> None:
        self.faults.append(f"turn {self.number}: {what}")

    def _run_tool(self, call: Call, text: str) -> ToolResult:
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
        return ToolResult(zoom, observation.image if observation else None, self.number)

    def _next_id(self) -> str:
        return f"s{len(self.steps) + 1}"

    def trajectory(self) -> Trajectory:
        spectrum, task = self.conversation.spectrum, self.conversation.task
        drafter = self.policy.drafter
        settings: dict[str, Any] = {
            "prompt_sha256": hashlib.sha256(task.prompt.encode()).hexdigest(),
            "renderer": RENDERER,
            "max_turns": self.max_turns,
        }
        if not self.conversation.with_tool:
            settings["with_tool"] = False
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
