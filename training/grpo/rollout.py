"""Many inspections side by side: each is ``agent.loop.inspect`` itself, and one call writes all their turns.

A policy here writes nothing. Asked for a turn it yields an empty text, which suspends its inspection; when
all are suspended, a ``Writer`` writes all turns in one batch, and each inspection goes on with its own. No
threads are needed, and the order is always the same.

What was sampled is kept as token ids and never tokenized again, because the loss needs the probabilities of
exactly those. What the tool says is appended as ``training.render`` renders it, unspoken.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image

from agent.conversation import Conversation, Piece, Remark
from agent.loop import MAX_TURNS, NOT_RUN, Ended, Event, Reason, inspect
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Zoom
from training.data.records import Question
from training.render import END, Rendered, Renderer


@dataclass(frozen=True)
class Limits:
    """Where an inspection ends that does not end itself.

    :param turns: assistant turns
    :param turn: tokens of one turn; None: as many as are left
    :param response: tokens of all that follows the question, what the tool says included
    """

    turns: int = MAX_TURNS
    turn: int | None = None
    response: int = 32768


@dataclass(frozen=True)
class Request:
    """A conversation whose next turn is to be written, in ``limit`` tokens at most."""

    so_far: Rendered
    limit: int


@dataclass(frozen=True)
class GeneratedTurn:
    """A turn as sampled, the token that ended it included, and how likely each token was (natural log)."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None = None


class Generator(Protocol):
    """Writes turns; ``ends`` are the ids that end one."""

    ends: frozenset[int]

    def anybody(self, waiting: int) -> bool:
        """Whether any process waits for a turn, if they must write together; else whether this one does."""
        ...

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        """The next turn of each. A turn has one token or more, no more than its limit, and no picture's."""
        ...


@dataclass(frozen=True)
class Rollout:
    """One inspection, as it is learned from and as it is looked at.

    :param prompt: the question, up to where the assistant begins
    :param said: all that followed; ``spoken`` is what the assistant wrote
    :param logprobs: of each id in ``said``, 0 where it was not spoken; None if the writer gave none
    :param turns: the assistant's turns as text
    :param truncated: a limit on tokens cut it
    """

    question: Question
    prompt: Rendered
    said: Rendered
    logprobs: tuple[float, ...] | None
    turns: tuple[str, ...]
    trajectory: Trajectory
    reason: Reason
    truncated: bool

    @property
    def images(self) -> tuple[Image.Image, ...]:
        return self.prompt.images + self.said.images

    @property
    def response(self) -> str:
        """Everything the assistant said: what is scored."""
        return "\n".join(self.turns)

    @property
    def looks(self) -> tuple[Zoom, ...]:
        """The calls that the tool answered."""
        return tuple(zoom for zoom in self.trajectory.zooms if zoom.observation != NOT_RUN)


@dataclass(frozen=True)
class RolloutBatch:
    """What was rolled, in the order asked, and how long writing and all else (tool, pictures, ids) took."""

    rolled: tuple[Rollout, ...]
    seconds_writing: float
    seconds_drawing: float


def run_rollouts(
    questions: Sequence[Question],
    renderer: Renderer,
    writer: Generator,
    limits: Limits,
    drafter: Drafter,
    with_tool: bool = True,
) -> RolloutBatch:
    """Inspect each question once; one that stands there several times is inspected several times."""
    began = time.perf_counter()
    writing = 0.0
    spectra: dict[int, Spectrum] = {}
    inspections = []
    for question in questions:
        spectrum = spectra.setdefault(id(question), question.spectrum())
        speaker = _SuspendedPolicy(renderer, writer.ends, limits, drafter)
        inspections.append(_Inspection(question, spectrum, speaker, with_tool))
    waiting = [one for one in inspections if one.goes_on()]
    while writer.anybody(len(waiting)):
        since = time.perf_counter()
        written = writer.write([one.speaker.request for one in waiting])
        writing += time.perf_counter() - since
        for one, turn in zip(waiting, written, strict=True):
            one.speaker.hear(turn)
        waiting = [one for one in waiting if one.goes_on()]
    rolled = tuple(one.rolled() for one in inspections)
    return RolloutBatch(rolled, writing, time.perf_counter() - began - writing)


class _SuspendedPolicy:
    """The policy of one inspection: keeps its token ids, and waits for its turns to be written."""

    def __init__(self, renderer: Renderer, ends: frozenset[int], limits: Limits, drafter: Drafter) -> None:
        self.drafter = drafter
        self.prompt = Rendered()
        self.said = Rendered()
        self.logprobs: list[float] | None = []
        self.turns: list[str] = []
        self.truncated = False
        self.waits = False
        self._renderer = renderer
        self._tokenizer = renderer.processor.tokenizer
        self._ends = ends
        self._limits = limits
        self._limit = 0
        self._written = GeneratedTurn(())

    @property
    def request(self) -> Request:
        return Request(self.prompt + self.said, self._limit)

    def hear(self, written: GeneratedTurn) -> None:
        """What was written for the turn that is waited for."""
        self._written = written
        self.waits = False

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn: suspended at an empty text until ``hear`` was called."""
        if not self._room(conversation):
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

    def _room(self, conversation: Conversation) -> bool:
        """Append what came since the last turn, if it fits, and a token more."""
        if not conversation.exchanges:
            self.prompt = self._renderer.opening(
                conversation.system, conversation.prompt, conversation.overview, conversation.with_tool
            )
        elif (seen := conversation.exchanges[-1].observation) is not None:
            result = self._renderer.result(seen.text, seen.image)
            if self.said.ids[-1] != self._end:
                # A turn that was cut is shown as ended to the model, also when it is live.
                result = Rendered((self._end,), (False,)) + result
            if len(self.said) + len(result) >= self._limits.response:
                return False
            self._append(result, None)
        left = self._limits.response - len(self.said)
        self._limit = left if self._limits.turn is None else min(left, self._limits.turn)
        return True

    def _take(self, written: GeneratedTurn) -> str:
        ids = written.ids
        if not 0 < len(ids) <= self._limit:
            raise ValueError(f"the writer gave {len(ids)} tokens, wanted 1 to {self._limit}")
        self._append(Rendered(ids, (True,) * len(ids)), written.logprobs)
        words = ids[:-1] if ids[-1] in self._ends else ids
        text = str(self._tokenizer.decode(list(words), clean_up_tokenization_spaces=False))
        self.turns.append(text)
        return text

    def _append(self, piece: Rendered, logprobs: tuple[float, ...] | None) -> None:
        self.said += piece
        if logprobs is None and any(piece.spoken):
            self.logprobs = None
        if self.logprobs is not None:
            self.logprobs += logprobs or (0.0,) * len(piece)

    @property
    def _end(self) -> int:
        return int(self._tokenizer.convert_tokens_to_ids(END))


@dataclass
class _Inspection:
    """One running inspection, and where it has come to."""

    question: Question
    spectrum: Spectrum
    speaker: _SuspendedPolicy
    with_tool: bool
    _events: Iterator[Event] = field(init=False)
    _ended: Ended | None = None

    def __post_init__(self) -> None:
        self._events = inspect(
            self.spectrum,
            self.question.task,
            self.speaker,
            self.speaker._limits.turns,
            with_tool=self.with_tool,
        )

    def goes_on(self) -> bool:
        """Run it to where it waits for a turn, or to its end; whether it waits."""
        for event in self._events:
            if self.speaker.waits:
                return True
            if isinstance(event, Ended):
                self._ended = event
        return False

    def rolled(self) -> Rollout:
        speaker, ended = self.speaker, self._ended
        assert ended is not None, "an inspection ends with Ended"
        logprobs = None if speaker.logprobs is None else tuple(speaker.logprobs)
        return Rollout(
            question=self.question,
            prompt=speaker.prompt,
            said=speaker.said,
            logprobs=logprobs,
            turns=tuple(speaker.turns),
            trajectory=ended.trajectory,
            reason=ended.reason,
            truncated=speaker.truncated,
        )
