"""A request to stop, made by one thread and heard by others, also by those that wait for a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
