"""What the loop and a policy exchange: the conversation so far, and the turn that the policy writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from PIL import Image

from agent import tool
from agent.errors import Refusal
from agent.sky.records import Sky
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Drafter


class Stop:
    """A stop request that is set once and never cleared. Code that waits registers a function to be called then."""

    def __init__(self) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        return self._set.is_set()

    def set(self) -> None:
        """Request the stop. The registered functions are called in this thread, each once."""
        with self._lock:
            wakers, self._wakers = self._wakers, []
            self._set.set()
        for wake in wakers:
            wake()

    def wait(self, seconds: float) -> bool:
        """Sleep until it is set, at most so many seconds; return whether it is set."""
        return self._set.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Within the block, call ``wake`` as soon as it is set; at once if it is set already.

        ``wake`` must be quick and safe in any thread. It may still be called while the block ends.
        """
        with self._lock:
            already = self._set.is_set()
            if not already:
                self._wakers.append(wake)
        if already:
            wake()
        try:
            yield
        finally:
            with self._lock:
                if wake in self._wakers:
                    self._wakers.remove(wake)


SYSTEM = "You are a helpful assistant."


class PolicyError(Refusal, RuntimeError):
    """A policy cannot continue (no server, no memory): one sentence on what happened and what to do. ``retry`` False:
    another try would fail in the same way.
    """

    kind = "policy"
    status = 409

    retry: bool = True


class ConversationTooLong(PolicyError):
    """The conversation no longer fits the model's context. The turns before remain valid."""

    retry = False


@dataclass(frozen=True)
class Remark:
    """A fault that a policy reports about its own turn, e.g. that it was cut at its token limit."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Tokens and requests, as counted by the server, which may count none. ``cached``: prompt tokens that were in its
    cache.
    """

    requests: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
        )


@dataclass(frozen=True)
class Score:
    """The log odds of YES that a policy gives with its answer; a served model gives it only on request."""

    log_odds: float


@dataclass(frozen=True)
class ServerMessage:
    """The turn as the model server sent it, which gets it back with the next one. No part of the trace."""

    message: Mapping[str, Any]


@dataclass(frozen=True)
class CannotTell:
    """The policy answered because the format needs YES or NO, but the data allow no answer: why, as one clause."""

    reason: str


SkySource = Callable[[str], Sky]
"""Returns the records of the object of a spectrum, by the spectrum's SHA-256."""

Piece = str | Remark | Usage | Score | CannotTell | ServerMessage
"""A piece of a policy's turn: text, a remark about it, token counts, the score of the answer, why it is none, or the
turn in its server's own form."""


@dataclass(frozen=True)
class Exchange:
    """One assistant turn as written, and the answer of the tool; None if no tool was called. ``message``: the turn as
    its server sent it, if this server wrote it.
    """

    text: str
    observation: tool.Observation | None
    message: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Conversation:
    """What a policy receives to write its next turn.

    A model sees ``system``, ``prompt``, the pictures and the texts. ``spectrum`` is for policies that measure.
    ``turns_left`` includes the turn to be written: at 1 a tool call would not be run. If ``with_tool`` is False the
    tool is not described to the model; ``measure``: that tool is offered too. ``sky``: what catalogues know of the
    object, for the tool ``sky_context``; None: the tool is not offered. A policy that waits must end its turn once
    ``stop`` is set.
    """

    spectrum: Spectrum
    task: Task
    overview: Image.Image
    turns_left: int
    exchanges: tuple[Exchange, ...] = ()
    system: str = SYSTEM
    with_tool: bool = True
    measure: bool = False
    sky: Sky | None = None
    stop: Stop = field(default_factory=Stop, compare=False)

    @property
    def tools(self) -> tuple[bool, bool, bool]:
        """Whether it is offered the tool that shows a window, ``measure`` and ``sky_context``."""
        return self.with_tool, self.measure, self.sky is not None

    @property
    def prompt(self) -> str:
        """The user's text after the first picture."""
        return self.task.prompt


class Policy(Protocol):
    """Writer of the assistant turns. ``drafter`` identifies it, with every setting needed to repeat its work.

    A policy with an attribute ``measure`` that is True is offered that tool too, and its settings say so. So is one
    with an attribute ``sky`` that is not None: a function from the SHA-256 of a spectrum to its ``Sky``.
    """

    @property
    def drafter(self) -> Drafter: ...

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the next assistant turn as tagged text, piece by piece, with remarks, token counts and the score.

        If it is a generator, it may be closed before its end and must then release its resources. It is called from
        many threads at once.

        :raises PolicyError: it cannot be written; the pieces before are kept
        """
        ...


def sky_source(policy: Policy) -> SkySource | None:
    """Return where a policy gets the records of an object from; None if it is not offered ``sky_context``."""
    source: SkySource | None = getattr(policy, "sky", None)
    return source


class PolicyAround:
    """Base of a policy that passes on the turns of another one, and is like it in everything else."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    @property
    def drafter(self) -> Drafter:
        """That of the other policy."""
        return self._policy.drafter

    @property
    def measure(self) -> bool:
        """Whether the other policy is offered that tool."""
        return bool(getattr(self._policy, tool.MEASURE, False))

    @property
    def sky(self) -> SkySource | None:
        """Where the other policy gets the records of an object from."""
        return sky_source(self._policy)
