"""Cost of drafting with a model, and when to stop.

The cost of an inspection is known when it ends. So the first one runs alone; then each one in progress counts as the
most expensive so far, and another starts only if it fits. Only an inspection more expensive than all before exceeds it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.conversation import Conversation, Piece, Policy, PolicyAround, Stop, Usage
from agent.language import deferred

_UNCOUNTED = deferred("the server does not report its tokens, so that no budget can be kept")
_POLL_SECONDS = 0.2  # seconds between two checks whether to stop


@dataclass(frozen=True)
class Prices:
    """Prices of a million tokens, in the currency of the budget. ``cached`` None: as ``prompt``."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def cost(self, usage: Usage) -> float:
        cached = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt - usage.cached
        return (fresh * self.prompt + usage.cached * cached + usage.completion * self.completion) / 1e6


def total_tokens(usage: Usage) -> int:
    """Return input and output tokens together."""
    return usage.prompt + usage.completion


@dataclass
class Meter:
    """The tokens that one inspection has used so far."""

    usage: Usage = field(default_factory=Usage)


@dataclass
class _Limit:
    allowed: float
    measure: Callable[[Usage], float]
    largest: float = 0.0

    def holds_one_more(self, used: Usage, in_progress: Iterable[Meter]) -> bool:
        still = sum(max(self.largest - self.measure(tab.usage), 0.0) for tab in in_progress)
        return self.measure(used) + still + self.largest <= self.allowed


class Budget:
    """The tokens used by many threads, and whether one more inspection fits. ``ended`` has the reason once one was
    refused.
    """

    def __init__(
        self, prices: Prices | None = None, budget: float | None = None, token_budget: int | None = None
    ) -> None:
        self.prices = prices or Prices()
        self._limits = []
        if budget is not None:
            self._limits.append(_Limit(budget, self.prices.cost))
        if token_budget is not None:
            self._limits.append(_Limit(token_budget, total_tokens))
        self._used = Usage()
        self._in_progress: list[Meter] = []
        self._one_is_over = False
        self._uncounted = False
        self.ended = ""
        self._changed = threading.Condition()

    @property
    def used(self) -> Usage:
        """Return the usage of all inspections, those in progress included."""
        with self._changed:
            return self._used

    @property
    def cost(self) -> float:
        return self.prices.cost(self.used)

    @contextmanager
    def one_more(self, stop: Stop) -> Iterator[Meter | None]:
        """Reserve one inspection for the block; None if it does not fit. Waits while others in progress may turn out
        cheaper.
        """
        tab = Meter()
        with self._changed:
            while not self._may_begin() and self._in_progress and not stop.is_set:
                self._changed.wait(_POLL_SECONDS)
            allowed = self._may_begin() and not stop.is_set
            if allowed:
                self._in_progress.append(tab)
            elif not stop.is_set and not self.ended:
                self.ended = _UNCOUNTED if self._uncounted else deferred("one more might exceed the budget")
        try:
            yield tab if allowed else None
        finally:
            if allowed:
                self._over(tab)

    def use(self, tab: Meter, usage: Usage) -> None:
        with self._changed:
            tab.usage += usage
            self._used += usage

    def _may_begin(self) -> bool:
        if not self._limits:
            return True
        if self._uncounted:
            return False
        if not self._one_is_over:
            return not self._in_progress
        return all(limit.holds_one_more(self._used, self._in_progress) for limit in self._limits)

    def _over(self, tab: Meter) -> None:
        with self._changed:
            self._in_progress.remove(tab)
            self._one_is_over |= tab.usage.requests > 0
            self._uncounted |= tab.usage.requests > 0 and not total_tokens(tab.usage)
            for limit in self._limits:
                limit.largest = max(limit.largest, limit.measure(tab.usage))
            self._changed.notify_all()


class MeteredPolicy(PolicyAround):
    """A policy whose tokens are counted as they are used, failed attempts included."""

    def __init__(self, policy: Policy, spending: Budget, tab: Meter) -> None:
        super().__init__(policy)
        self._spending = spending
        self._tab = tab

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        pieces = self._policy.turn(conversation)
        try:
            for piece in pieces:
                if isinstance(piece, Usage):
                    self._spending.use(self._tab, piece)
                yield piece
        finally:
            # The loop closes it when it stops early; this closes the request to the server.
            if (close := getattr(pieces, "close", None)) is not None:
                close()
