"""The inspection loop: a policy thinks, the tool shows a window, the policy thinks again, until it answers.

Every policy (served model, local model, baseline) exchanges the tagged text of ``agent.trajectory.tags`` with the
loop. Each step is yielded at once as an event. Depends on ``agent.tool``; no database, no web.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from PIL import Image

from agent import tool
from agent.conversation import (
    CannotTell,
    Conversation,
    ConversationTooLong,
    Exchange,
    Policy,
    PolicyError,
    Remark,
    Score,
    ServerMessage,
    Stop,
    Usage,
    sky_source,
)
from agent.hints import measuring
from agent.language import deferred, tr
from agent.plot import pixels_sha256
from agent.sky import context
from agent.sky.records import Sky
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.text import LONE_SURROGATE
from agent.trajectory import Trajectory
from agent.trajectory.from_inspection import from_inspection, task_settings
from agent.trajectory.steps import Answer, Step, Think, Zoom
from agent.trajectory.tags import Call, parse

MAX_TURNS = 8
"""Assistant turns in the published code (``max_assistant_turns``)."""
MAX_CHARACTERS = 100_000
"""A turn longer than this is cut: about the 32,768 tokens that training allowed for a whole trajectory."""
NOT_RUN = "Not run: the last allowed turn had been taken."
"""Observation of a call beyond the limit; no model ever saw it."""

Reason = Literal["answered", "turn limit", "truncated", "no call and no answer", "policy failed", "stopped"]
"""``truncated``: the conversation no longer fits the model; the turns before are kept."""


@dataclass(frozen=True)
class Started:
    """The full spectrum has been drawn; ``picture`` is the SHA-256 of its RGBA bytes."""

    overview: Image.Image
    picture: str
    prompt: str
    max_turns: int


@dataclass(frozen=True)
class Text:
    """A piece of the text of assistant turn ``turn`` (from 1), as it arrived."""

    text: str
    turn: int


@dataclass(frozen=True)
class ToolCall:
    """The tool call of the turn is complete. The policy may still be writing, and the tool has not run yet."""

    call: Call
    turn: int


@dataclass(frozen=True)
class Thought:
    """The thinking of the turn, once the turn has ended."""

    think: Think
    turn: int


@dataclass(frozen=True)
class ToolResult:
    """The result of the tool call. ``picture`` is None if the tool answered with an error or was not run."""

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
    """Last event of every inspection. ``detail`` explains ``reason`` where that is useful. ``retry`` False: another try
    would fail in the same way.
    """

    reason: Reason
    trajectory: Trajectory
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    retry: bool = True


Event = Started | Text | ToolCall | Thought | ToolResult | Answered | Ended


def inspect(
    spectrum: Spectrum,
    task: Task,
    policy: Policy,
    max_turns: int = MAX_TURNS,
    stop: Stop | None = None,
    with_tool: bool = True,
    begin: Sequence[str] = (),
    sky: Sky | None = None,
) -> Iterator[Event]:
    """Inspect one spectrum and yield each step as it happens; ``Ended`` comes last and holds the whole trajectory.

    Faults of the model are part of the trace, never an exception: a fault is listed, a wrong call is answered by the
    tool as in training, a turn with neither call nor answer ends the inspection. As in the published loop, the tool
    call of the last allowed turn is not run: ``max_turns`` = 8 allows seven zooms.

    ``stop`` (from another thread) or closing the iterator also closes the policy, so that a server is free for the
    next request. Only ``stop`` still yields ``Ended``.

    :param max_turns: assistant turns allowed, 1 or more
    :param with_tool: False: the model does not learn of the tool and has one turn
    :param stop: set from another thread, it ends the inspection; what was written until then is kept
    :param begin: texts of earlier assistant turns, each with a tool call. They are taken as they are, their calls
        are run on ``spectrum``, and the policy writes the next turn; their steps are the first of the trajectory
    :param sky: records of the object in place of those of ``policy.sky``, as for an edited spectrum; a policy without
        ``sky`` does not get them
    :raises ValueError: ``max_turns`` is below 1, ``begin`` leaves no turn, or one of its texts has no tool call
    :raises SkyError: the records of the object cannot be read
    """
    if max_turns < 1:
        raise ValueError(tr("max_turns: found {max_turns}, expected 1 or more", max_turns=max_turns))
    max_turns = max_turns if with_tool else 1
    if begin and len(begin) >= max_turns:
        raise ValueError(
            tr(
                "begin: found {n_begin} turns, expected fewer than the {max_turns} allowed",
                n_begin=len(begin),
                max_turns=max_turns,
            )
        )
    source = sky_source(policy)
    if source is None or not with_tool:
        sky = None
    elif sky is None:
        sky = source(spectrum.sha256)
    inspection = _Inspection(spectrum, task, policy, max_turns, stop or Stop(), with_tool, sky)
    yield Started(inspection.conversation.overview, inspection.overview, task.prompt, inspection.max_turns)
    for text in begin:
        yield from inspection.repeat(text)
    while inspection.ended is None:
        yield from inspection.turn()
    reason, detail = inspection.ended
    yield Ended(reason, inspection.trajectory(), detail, inspection.usage, inspection.retry)


def run(spectrum: Spectrum, task: Task, policy: Policy, max_turns: int = MAX_TURNS) -> Trajectory:
    """Run a whole inspection and return its trajectory.

    :raises PolicyError: the policy could not go on
    """
    for event in inspect(spectrum, task, policy, max_turns):
        if isinstance(event, Ended):
            if event.reason == "policy failed":
                raise PolicyError(event.detail)
            return event.trajectory
    raise AssertionError(tr("an inspection ends with Ended"))


class _Inspection:
    """The state of one inspection: the conversation that the policy sees, and the steps."""

    def __init__(
        self,
        spectrum: Spectrum,
        task: Task,
        policy: Policy,
        max_turns: int,
        stop: Stop,
        with_tool: bool,
        sky: Sky | None,
    ) -> None:
        self.policy = policy
        self.max_turns = max_turns
        self.stop = stop
        overview = tool.overview(spectrum)
        measure = with_tool and bool(getattr(policy, tool.MEASURE, False))
        self.conversation = Conversation(
            spectrum, task, overview, max_turns, with_tool=with_tool, measure=measure, sky=sky, stop=stop
        )
        self.overview = pixels_sha256(self.conversation.overview)
        self.number = 0
        self.steps: list[Step] = []
        self.faults: list[str] = []
        self.usage = Usage()
        self.score: float | None = None
        self.cannot_tell = ""
        self.message: Mapping[str, Any] | None = None
        self.ended: tuple[Reason, str] | None = None
        self.retry = True

    def repeat(self, text: str) -> Iterator[Event]:
        """Take a text as the next turn and run its tool call. :raises ValueError: it has none"""
        self.number += 1
        turn = parse(text)
        if turn.call is None:
            raise ValueError(tr("begin: found no tool call in turn {number}, expected one", number=self.number))
        for fault in turn.faults:
            self._fault(fault)
        if turn.thought:
            think = Think(self._next_id(), turn.thought)
            self.steps.append(think)
            yield Thought(think, self.number)
        yield self._run_tool(turn.call, text)

    def turn(self) -> Iterator[Event]:
        """Run one assistant turn and its tool call."""
        self.number += 1
        text = yield from self._written()
        turn = parse(text)
        if self.ended and self.ended[0] == "truncated":
            self._fault(f"truncated: {self.ended[1]}")
        elif self.ended:
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
            answer = Answer(self._next_id(), turn.answer.verdict, turn.answer.explanation, self.score)
            self.steps.append(answer)
            self.ended = "answered", ""
            yield Answered(answer, self.number)
        else:
            self.ended = "no call and no answer", deferred("turn {n} had no tool call and no answer", n=self.number)

    def _written(self) -> Generator[Event, None, str]:
        """Yield the text of the turn as the policy writes it, and return it; set ``ended`` if the turn could not be
        ended.
        """
        text = ""
        called = False
        self.message = None
        pieces = self.policy.turn(self.conversation)
        try:
            for piece in pieces:
                if self.stop.is_set:
                    break
                if isinstance(piece, str):
                    # A piece may be longer than a turn may be, and a broken server may send half a character.
                    piece = LONE_SURROGATE.sub("\ufffd", piece[: MAX_CHARACTERS + 1 - len(text)])
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
                elif isinstance(piece, Score):
                    self.score = piece.log_odds
                elif isinstance(piece, CannotTell):
                    self.cannot_tell = piece.reason
                elif isinstance(piece, ServerMessage):
                    self.message = piece.message
                else:
                    self.usage += piece
        except PolicyError as failure:
            # In the first turn there is nothing to keep, and no other inspection would fit either.
            too_long = isinstance(failure, ConversationTooLong) and self.number > 1
            self.ended = "truncated" if too_long else "policy failed", failure.sentence
            self.retry = failure.retry
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
        if self.stop.is_set:
            self.ended = "stopped", deferred("stopped in turn {n}", n=self.number)
        return text

    def _fault(self, what: str) -> None:
        self.faults.append(f"turn {self.number}: {what}")

    def _run_tool(self, call: Call, text: str) -> ToolResult:
        spectrum = self.conversation.spectrum
        observation = None
        sky = self.conversation.sky
        offered = {tool.MEASURE: self.conversation.measure, tool.SKY_CONTEXT: sky is not None}
        if offered.get(call.name) is False:
            self._fault(f"a call of {call.name!r}, which was not offered")
        name = call.name if offered.get(call.name) else tool.TOOL_NAME
        if self.number < self.max_turns:
            if sky is not None and name == tool.SKY_CONTEXT:
                observation = context.call(sky, spectrum, call.arguments)
            elif name == tool.MEASURE:
                observation = measuring.call(spectrum, call.arguments)
            else:
                observation = tool.call(spectrum, call.arguments, call.name)
        else:
            self.ended = "turn limit", deferred("no answer in {n} turns; the last call was not run", n=self.max_turns)
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
            tool=name,
        )
        self.steps.append(zoom)
        self.conversation = replace(
            self.conversation,
            turns_left=self.max_turns - self.number,
            exchanges=(*self.conversation.exchanges, Exchange(text, observation, self.message)),
        )
        return ToolResult(zoom, observation.image if observation else None, self.number)

    def _next_id(self) -> str:
        return f"s{len(self.steps) + 1}"

    def trajectory(self) -> Trajectory:
        drafter, task = self.policy.drafter, self.conversation.task
        settings = dict(drafter.settings) | task_settings(task) | {"max_turns": self.max_turns}
        if not self.conversation.with_tool:
            settings["with_tool"] = False
        return from_inspection(
            self.conversation.spectrum,
            task,
            self.steps,
            replace(drafter, settings=settings),
            system=self.conversation.system,
            overview=self.overview,
            cannot_tell=self.cannot_tell,
            faults=tuple(self.faults),
        )
