"""The event log of a run: numbered events, written by its threads and read by pages now or later.

A piece of text is joined to the previous event until a page has read that event. An event that was read never
changes, so a page that was disconnected misses nothing.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agent.language import localized

Event = dict[str, Any]

JOIN = 0.04
"""Seconds between two messages to one reader: at most 25 pieces of text per second and sample."""
KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment is sent: proxies close idle connections."""


class Log:
    """Events numbered from 1, until ``over``; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._events: list[Event] = []
        self._read = 0  # number of events that a page has read
        self._saying: dict[int, int] = {}  # by sample: the index of its event that may still grow
        self._wakers: list[Callable[[], None]] = []

    def add(self, event: Event) -> None:
        """Append an event, or its text to the previous piece, and wake the readers."""
        with self._lock:
            if not self._joined(event):
                self._events.append(event)
            wakers = tuple(self._wakers)
        for wake in wakers:
            wake()

    def _joined(self, event: Event) -> bool:
        sample = event.get("sample", -1)
        if event["kind"] != "said":
            self._saying.pop(sample, None)
            return False
        at = self._saying.get(sample, -1)
        if at >= self._read and self._events[at]["turn"] == event["turn"]:
            self._events[at]["text"] += event["text"]
            return True
        self._saying[sample] = len(self._events)
        return False

    def __len__(self) -> int:
        return len(self._events)

    @property
    def is_over(self) -> bool:
        """Whether the log is complete."""
        with self._lock:
            return bool(self._events) and self._events[-1]["kind"] == "over"

    def after(self, number: int) -> list[tuple[int, str]]:
        """Return the events above this number as (number, JSON), in the language of the context; from now on they do
        not change.
        """
        with self._lock:
            fresh = self._events[max(number, 0) :]
            self._read = len(self._events)
            return [(at, json.dumps(localized(event))) for at, event in enumerate(fresh, start=max(number, 0) + 1)]

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """Call ``wake``, from any thread, after each event within the block."""
        with self._lock:
            self._wakers.append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._wakers.remove(wake)


async def server_sent(log: Log, after: int) -> AsyncIterator[str]:
    """Yield the log above ``after`` as server-sent events, until ``over``; no thread waits."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        if not news.is_set():
            try:
                loop.call_soon_threadsafe(news.set)
            except RuntimeError:
                # The server has stopped while a run was still ending.
                return

    with log.waking(wake):
        while True:
            news.clear()
            over, fresh = log.is_over, log.after(after)
            if fresh:
                after = fresh[-1][0]
                yield "".join(f"id: {number}\ndata: {event}\n\n" for number, event in fresh)
            if over:
                return
            if fresh:
                await asyncio.sleep(JOIN)
            try:
                await asyncio.wait_for(news.wait(), KEEP_ALIVE)
            except TimeoutError:
                yield ": nothing new\n\n"
