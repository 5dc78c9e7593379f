"""Many inspections at the same time, each by ``agent.loop.inspect``, with their turns generated together.

The policy of an inspection yields an empty text to suspend it. When all are suspended, a ``Generator`` samples all
turns in one batch; a ``ContinuousGenerator`` gives each turn when it has ended, and takes the next one of its
inspection at once. Sampled ids are never tokenized again: the loss needs their probabilities.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import itemgetter
from typing import Protocol, runtime_checkable

from PIL import Image

from agent.conversation import Conversation, Exchange, Piece, Remark
from agent.language import tr
from agent.loop import MAX_TURNS, NOT_RUN, Ended, Event, Reason, inspect
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Zoom
from training.data.records import Question
from training.render import END, Rendered, Renderer


@dataclass(frozen=True)
class Limits:
    """Limits that end an inspection.

    :param turns: assistant turns
    :param turn: tokens of one turn; None: as many as are left
    :param response: tokens of everything after the question, tool results included
    """

    turns: int = MAX_TURNS
    turn: int | None = None
    response: int = 32768


@dataclass(frozen=True)
class Request:
    """A conversation whose next turn is to be generated, in at most ``limit`` tokens.

    ``row`` is the number of its inspection: the same in all turns of a round, and different from those of others.
    """

    so_far: Rendered
    limit: int
    row: int = 0


@dataclass(frozen=True)
class GeneratedTurn:
    """A sampled turn with its end token, and the natural log probability of each token."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None = None


class Generator(Protocol):
    """Generates turns in lock-step; ``ends`` are the token ids that end one."""

    ends: frozenset[int]

    def any_waiting(self, waiting: int) -> bool:
        """Return whether any process waits for a turn, if all must generate together; else whether this one does."""
        ...

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        """Return the next turn of each: at least one token, at most its limit, and no picture token."""
        ...


@runtime_checkable
class ContinuousGenerator(Protocol):
    """Generates turns that begin and end at any time."""

    ends: frozenset[int]

    def submit(self, requests: Sequence[Request]) -> None:
        """Begin the next turn of each, next to those that are being generated."""
        ...

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        """Return the row and the turn of those that have ended, at least one; none only if none is generated."""
        ...


@dataclass(frozen=True)
class Rollout:
    """One inspection, as token ids for training and as a trajectory.

    :param prompt: the question, up to where the assistant's turn begins
    :param completion: everything after it; ``spoken``: a mask of the assistant's tokens
    :param logprobs: of each id in ``completion``, 0 for tokens of the tool; None if the generator gave none
    :param turns: the assistant's turns as text
    :param truncated: a token limit cut it
    """

    question: Question
    prompt: Rendered
    completion: Rendered
    logprobs: tuple[float, ...] | None
    turns: tuple[str, ...]
    trajectory: Trajectory
    reason: Reason
    truncated: bool

    @property
    def images(self) -> tuple[Image.Image, ...]:
        return self.prompt.images + self.completion.images

    @property
    def response(self) -> str:
        """All assistant turns as one text, which is scored."""
        return "\n".join(self.turns)

    @property
    def tool_calls(self) -> tuple[Zoom, ...]:
        """The tool calls that were run."""
        return tuple(zoom for zoom in self.trajectory.zooms if zoom.observation != NOT_RUN)


@dataclass(frozen=True)
class Continuation:
    """A rollout to be continued after its first ``turns`` turns, each with a tool call that was run.

    The turns keep their sampled tokens; their calls are run again on ``spectrum``, and every picture is drawn anew.
    """

    rollout: Rollout
    turns: int
    spectrum: Spectrum

    @property
    def begin(self) -> tuple[tuple[int, ...], ...]:
        """The token ids of each of these turns."""
        completion = self.rollout.completion
        pairs = zip(completion.spoken, completion.ids, strict=True)
        runs = (tuple(ids for _, ids in run) for spoken, run in groupby(pairs, itemgetter(0)) if spoken)
        return tuple(islice(runs, self.turns))


@dataclass(frozen=True)
class RolloutBatch:
    """Rollouts in the order of the questions; seconds of generation and of everything else (tool, pictures)."""

    rollouts: tuple[Rollout, ...]
    seconds_writing: float
    seconds_drawing: float


def run_rollouts(
    questions: Sequence[Question],
    renderer: Renderer,
    writer: Generator | ContinuousGenerator,
    limits: Limits,
    drafter: Drafter,
    with_tool: bool = True,
) -> RolloutBatch:
    """Inspect each question once; a question given several times is inspected several times."""
    began = time.perf_counter()
    spectra: dict[int, Spectrum] = {}
    inspections: list[_Inspection] = []
    for question in questions:
        spectrum = spectra.setdefault(id(question), question.spectrum())
        policy = _SuspendedPolicy(renderer, writer.ends, limits, drafter, len(inspections))
        inspections.append(_Inspection(question, spectrum, policy, with_tool))
    return _run(inspections, writer, began)


def continue_rollouts(
    continuations: Sequence[Continuation],
    renderer: Renderer,
    writer: Generator | ContinuousGenerator,
    limits: Limits,
    drafter: Drafter,
    first_row: int,
) -> RolloutBatch:
    """Continue each rollout, with its later turns generated together. They have no log-probabilities.

    :param limits: those of the rollouts
    :param first_row: number of inspections that ``writer`` has generated for in this round
    """
    began = time.perf_counter()
    inspections = []
    for row, continuation in enumerate(continuations, first_row):
        policy = _SuspendedPolicy(renderer, writer.ends, limits, drafter, row, continuation.begin)
        begin = continuation.rollout.turns[: continuation.turns]
        inspections.append(_Inspection(continuation.rollout.question, continuation.spectrum, policy, True, begin))
    return _run(inspections, writer, began)


def _run(inspections: list[_Inspection], writer: Generator | ContinuousGenerator, began: float) -> RolloutBatch:
    waiting = [inspection for inspection in inspections if inspection.advance()]
    if isinstance(writer, ContinuousGenerator):
        writing = _run_continuously(waiting, writer)
    else:
        writing = _run_in_lock_step(waiting, writer)
    rollouts = tuple(inspection.result() for inspection in inspections)
    return RolloutBatch(rollouts, writing, time.perf_counter() - began - writing)


def _run_in_lock_step(waiting: list[_Inspection], writer: Generator) -> float:
    """Run the inspections to their end, one turn of all after the other; return the seconds of generation."""
    seconds = 0.0
    while writer.any_waiting(len(waiting)):
        since = time.perf_counter()
        written = writer.write([inspection.policy.request for inspection in waiting])
        seconds += time.perf_counter() - since
        for asker, turn in zip(waiting, written, strict=True):
            asker.policy.receive(turn)
        waiting = [inspection for inspection in waiting if inspection.advance()]
    return seconds


def _run_continuously(waiting: list[_Inspection], writer: ContinuousGenerator) -> float:
    """Run the inspections to their end, each at its own pace; return the seconds of generation."""
    seconds = 0.0
    running: dict[int, _Inspection] = {}
    while waiting or running:
        requests = [inspection.policy.request for inspection in waiting]
        running |= {request.row: inspection for request, inspection in zip(requests, waiting, strict=True)}
        since = time.perf_counter()
        writer.submit(requests)
        ended = writer.collect()
        seconds += time.perf_counter() - since
        if not ended:
            raise RuntimeError(tr("the generator ended none of {n_running} turns", n_running=len(running)))
        waiting = []
        for row, turn in ended:
            inspection = running.pop(row)
            inspection.policy.receive(turn)
            if inspection.advance():
                waiting.append(inspection)
    return seconds


class _SuspendedPolicy:
    """The policy of one inspection: holds its token ids, and waits until its turns are generated.

    :param begin: the token ids of turns that were written earlier
    """

    def __init__(
        self,
        renderer: Renderer,
        ends: frozenset[int],
        limits: Limits,
        drafter: Drafter,
        row: int,
        begin: Sequence[tuple[int, ...]] = (),
    ) -> None:
        self.drafter = drafter
        self.prompt = Rendered()
        self.completion = Rendered()
        self.logprobs: list[float] | None = []
        self.turns: list[str] = []
        self.truncated = False
        self.waits = False
        self._renderer = renderer
        self._tokenizer = renderer.processor.tokenizer
        self._ends = ends
        self._limits = limits
        self._limit = 0
        self._row = row
        self._begin = begin
        self._written = GeneratedTurn(())

    @property
    def request(self) -> Request:
        return Request(self.prompt + self.completion, self._limit, self._row)

    def receive(self, written: GeneratedTurn) -> None:
        """Take the generated turn."""
        self._written = written
        self.waits = False

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn; suspended at an empty text until ``receive`` was called."""
        if not self._fits(conversation):
            self.truncated = True
            conversation.stop.set()
            return
        self.waits = True
        yield ""
        text = self._take(self._written)
        if text:
            yield text
        if self._written.ids[-1] not in self._ends:
            self.truncated = True
            yield Remark(f"cut at its limit of {self._limit} tokens")

    def _fits(self, conversation: Conversation) -> bool:
        """Append what came since the last turn; False if it does not fit with one more token."""
        exchanges = conversation.exchanges
        if len(exchanges) == len(self._begin):
            self.prompt = self._renderer.opening(
                conversation.system, conversation.prompt, conversation.overview, conversation.with_tool
            )
            for ids, exchange in zip(self._begin, exchanges, strict=True):
                self._append(Rendered(ids, (True,) * len(ids)), None)
                self.turns.append(self._text(ids))
                if not self._append_result(exchange):
                    return False
        elif not self._append_result(exchanges[-1]):
            return False
        left = self._limits.response - len(self.completion)
        self._limit = left if self._limits.turn is None else min(left, self._limits.turn)
        return True

    def _append_result(self, exchange: Exchange) -> bool:
        """Append the tool's answer; False if it does not fit with one more token."""
        if (seen := exchange.observation) is None:
            return True
        result = self._renderer.result(seen.text, seen.image)
        if self.completion.ids[-1] != self._end:
            # A turn that was cut is shown to the model as ended, as in live vetting.
            result = Rendered((self._end,), (False,)) + result
        if len(self.completion) + len(result) >= self._limits.response:
            return False
        self._append(result, None)
        return True

    def _take(self, written: GeneratedTurn) -> str:
        ids = written.ids
        if not 0 < len(ids) <= self._limit:
            raise ValueError(
                tr("the generator gave {n_ids} tokens, expected 1 to {limit}", n_ids=len(ids), limit=self._limit)
            )
        self._append(Rendered(ids, (True,) * len(ids)), written.logprobs)
        text = self._text(ids)
        self.turns.append(text)
        return text

    def _text(self, ids: Sequence[int]) -> str:
        words = ids[:-1] if ids[-1] in self._ends else ids
        return self._renderer.form.opening + str(
            self._tokenizer.decode(list(words), clean_up_tokenization_spaces=False)
        )

    def _append(self, piece: Rendered, logprobs: tuple[float, ...] | None) -> None:
        self.completion += piece
        if logprobs is None and any(piece.spoken):
            self.logprobs = None
        if self.logprobs is not None:
            self.logprobs += logprobs or (0.0,) * len(piece)

    @property
    def _end(self) -> int:
        return int(self._tokenizer.convert_tokens_to_ids(END))


@dataclass
class _Inspection:
    """One running inspection."""

    question: Question
    spectrum: Spectrum
    policy: _SuspendedPolicy
    with_tool: bool
    begin: Sequence[str] = ()
    _events: Iterator[Event] = field(init=False)
    _ended: Ended | None = None

    def __post_init__(self) -> None:
        self._events = inspect(
            self.spectrum,
            self.question.task,
            self.policy,
            self.policy._limits.turns,
            with_tool=self.with_tool,
            begin=self.begin,
        )

    def advance(self) -> bool:
        """Run to the next suspended turn or to the end; return whether it waits."""
        for event in self._events:
            if self.policy.waits:
                return True
            if isinstance(event, Ended):
                self._ended = event
        return False

    def result(self) -> Rollout:
        policy, ended = self.policy, self._ended
        assert ended is not None, "an inspection ends with Ended"
        logprobs = None if policy.logprobs is None else tuple(policy.logprobs)
        return Rollout(
            question=self.question,
            prompt=policy.prompt,
            completion=policy.completion,
            logprobs=logprobs,
            turns=tuple(policy.turns),
            trajectory=ended.trajectory,
            reason=ended.reason,
            truncated=policy.truncated,
        )
