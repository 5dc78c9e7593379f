"""What drafting with a model costs, and where to stop.

What an inspection costs is known when it is over. So under a budget the first one runs alone; from then on
each one under way is reckoned as the dearest yet, and a new one begins only if, reckoned so, it still fits.
The budget is overdrawn only by inspections that turn out dearer than all before them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.conversation import Conversation, Piece, Policy, Stop, Usage
from agent.trajectory import Drafter

_UNCOUNTED = "the server does not say how many tokens it used, so that no budget can be kept"
_POLL_SECONDS = 0.2  # seconds between two looks at whether somebody asked to stop


@dataclass(frozen=True)
class Prices:
    """Of a million tokens, in whatever currency the budget is in. ``cached`` None: as ``prompt``."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def cost(self, usage: Usage) -> float:
        cached = self.prompt if self.cached is None else self.cached
        fresh = usage.prompt - usage.cached
        return (fresh * self.prompt + usage.cached * cached + usage.completion * self.completion) / 1e6


def total_tokens(usage: Usage) -> int:
    """Read and written together."""
    return usage.prompt + usage.completion


@dataclass
class Meter:
    """What one inspection has used so far."""

    usage: Usage = field(default_factory=Usage)


@dataclass
class _Limit:
    allowed: float
    measure: Callable[[Usage], float]
    dearest: float = 0.0

    def holds_one_more(self, used: Usage, under_way: Iterable[Meter]) -> bool:
        still = sum(max(self.dearest - self.measure(tab.usage), 0.0) for tab in under_way)
        return self.measure(used) + still + self.dearest <= self.allowed


class Budget:
    """What has been used up, by many threads, and whether there is enough for one more. ``ended`` says why
    there is not, once somebody was told so.
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
        self._under_way: list[Meter] = []
        self._one_is_over = False
        self._uncounted = False
        self.ended = ""
        self._changed = threading.Condition()

    @property
    def used(self) -> Usage:
        """Of all inspections, those under way included."""
        with self._changed:
            return self._used

    @property
    def cost(self) -> float:
        return self.prices.cost(self.used)

    @contextmanager
    def one_more(self, stop: Stop) -> Iterator[Meter | None]:
        """Within the block one inspection is under way; None if there is not enough for it. While others are
        under way that may turn out cheaper, it waits.
        """
        tab = Meter()
        with self._changed:
            while not self._may_begin() and self._under_way and not stop.is_set:
                self._changed.wait(_POLL_SECONDS)
            allowed = self._may_begin() and not stop.is_set
            if allowed:
                self._under_way.append(tab)
            elif not stop.is_set and not self.ended:
                self.ended = _UNCOUNTED if self._uncounted else "one more might exceed the budget"
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
            return not self._under_way
        return all(limit.holds_one_more(self._used, self._under_way) for limit in self._limits)

    def _over(self, tab: Meter) -> None:
        with self._changed:
            self._under_way.remove(tab)
            self._one_is_over |= tab.usage.requests > 0
            self._uncounted |= tab.usage.requests > 0 and not total_tokens(tab.usage)
            for limit in self._limits:
                limit.dearest = max(limit.dearest, limit.measure(tab.usage))
            self._changed.notify_all()


class MeteredPolicy:
    """A policy whose tokens are counted as they are used, those of tries that fail included."""

    def __init__(self, policy: Policy, spending: Budget, tab: Meter) -> None:
        self._policy = policy
        self._spending = spending
        self._tab = tab

    @property
    def drafter(self) -> Drafter:
        return self._policy.drafter

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        pieces = self._policy.turn(conversation)
        try:
            for piece in pieces:
                if isinstance(piece, Usage):
                    self._spending.use(self._tab, piece)
                yield piece
        finally:
            # Closed by the loop where it stops early, and then lets go of the server.
            if (close := getattr(pieces, "close", None)) is not None:
                close()
