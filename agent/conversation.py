"""What the loop and a policy exchange: the conversation so far, and the turn that the policy writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from PIL import Image

from agent import tool
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.text import OneLine
from agent.trajectory import Drafter


class Stop:
    """Set once, never cleared. Whoever would not notice it while waiting asks to be woken."""

    def __init__(self) -> None:
        self._set = threading.Event()
        self._lock = threading.Lock()
        self._wakers: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        return self._set.is_set()

    def set(self) -> None:
        """Ask to stop. The wakers run in this thread, each once."""
        with self._lock:
            wakers, self._wakers = self._wakers, []
            self._set.set()
        for wake in wakers:
            wake()

    def wait(self, seconds: float) -> bool:
        """Sleep, but no longer than until it is set; whether it is."""
        return self._set.wait(seconds)

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Within the block ``wake`` is called as soon as it is set; at once if it is set already. It must be
        quick, safe from any thread, and must not mind being called as the block ends.
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


class PolicyError(OneLine, RuntimeError):
    """A policy cannot go on (no server, no memory): one sentence on what happened and what to do about it."""


@dataclass(frozen=True)
class Remark:
    """What a policy has to say about its own turn, such as that it was cut at its token limit; a fault."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Tokens and requests, as the server counted them; ``cached`` of the prompt's it had at hand."""

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


Piece = str | Remark | Usage
"""What a policy's turn is made of: text as it is written, and what there is to say about it."""


@dataclass(frozen=True)
class Exchange:
    """One assistant turn as written, and what the tool answered; None where no tool was called."""

    text: str
    observation: tool.Observation | None


@dataclass(frozen=True)
class Conversation:
    """What a policy is given to write its next turn.

    A model is to see ``system``, ``prompt``, the pictures and the texts. ``spectrum`` is for policies that
    measure. ``turns_left`` counts the turn about to be written: at 1 a look would not be run. Where
    ``with_tool`` is False the model is told of no tool. A policy that waits ends its turn once ``stop`` is
    set, wherever it is.
    """

    spectrum: Spectrum
    task: Task
    overview: Image.Image
    turns_left: int
    exchanges: tuple[Exchange, ...] = ()
    system: str = SYSTEM
    with_tool: bool = True
    stop: Stop = field(default_factory=Stop, compare=False)

    @property
    def prompt(self) -> str:
        """The user's text after the first picture."""
        return self.task.prompt


class Policy(Protocol):
    """Whoever thinks. ``drafter`` says who, with every setting that would let somebody repeat it."""

    @property
    def drafter(self) -> Drafter: ...

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next assistant turn as tagged text, in pieces as they come, with remarks and token counts.

        A generator: it may be closed before its end, and then lets go of what it holds. It is asked from
        many threads at once.

        :raises PolicyError: it cannot be written; what came before is kept
        """
        ...
