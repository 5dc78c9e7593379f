"""One event loop on a thread of its own, for every server that this process asks.

A thread that waits inside a blocking read cannot be told to stop; a task can, at any moment, and then closes
its connection, which is how a server learns that nobody listens any more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from queue import SimpleQueue
from typing import Any, TypeVar

from agent.conversation import Stop

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


class _End:
    """Nothing more comes; ``error`` says why, if it should have."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error


def loop() -> asyncio.AbstractEventLoop:
    """The loop, started by whoever asks first. Its thread ends with the process."""
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="model servers", daemon=True).start()
        return _loop


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Do ``work`` on the loop and wait for what it gives; not to be called on the loop itself."""
    return asyncio.run_coroutine_threadsafe(work, loop()).result()


def drawn(work: Callable[[Callable[[Item], None]], Awaitable[None]], stop: Stop) -> Generator[Item, None, None]:
    """What ``work`` puts, as it puts it. ``work`` runs on the loop and is given the function that puts.

    It begins with the first item asked for. Closing the generator or setting ``stop`` cancels it at once; the
    generator of a set ``stop`` ends without an error. An exception of ``work`` is raised here.
    """
    items: SimpleQueue[Item | _End] = SimpleQueue()

    async def whole() -> None:
        try:
            await work(items.put)
        except Exception as error:
            items.put(_End(error))
        else:
            items.put(_End())

    future = asyncio.run_coroutine_threadsafe(whole(), loop())

    def let_go() -> None:
        future.cancel()
        items.put(_End())

    with stop.waking(let_go):
        try:
            while not isinstance(item := items.get(), _End):
                yield item
            if item.error is not None and not stop.is_set:
                raise item.error
        finally:
            future.cancel()
