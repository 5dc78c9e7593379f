"""A bound for reading people's files, shared by all parts of the app: each file may take some hundred MB for a moment.

Depends on nothing of ours; the import of rows runs in a process of its own, one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, Lock

AT_ONCE = 2
"""Files that are read at the same time."""
FILES = threading.BoundedSemaphore(AT_ONCE)
"""Held by each thread that reads a file which a person sent."""

Read = TypeVar("Read")


def each_in_turn(steps: Iterator[Read]) -> Iterator[Read]:
    """Yield what an iterator over a file yields. Between two steps other files are read: the caller may take the next
    one late, or never."""
    while True:
        with FILES:
            try:
                step = next(steps)
            except StopIteration:
                return
        yield step


class Uploads:
    """Turns of uploads that wait to be read, without a thread each. A person with many of them is served one at a time,
    so another person waits for two files at most."""

    def __init__(self) -> None:
        self._all = CapacityLimiter(AT_ONCE)
        self._own: WeakValueDictionary[str, Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, initials: str) -> AsyncIterator[None]:
        """Wait for the turn of a person."""
        own = self._own.setdefault(initials, Lock())
        async with own, self._all:
            yield
