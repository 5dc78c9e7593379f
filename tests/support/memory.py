"""The memory of calls, measured in a process that does nothing else: no threads and no caches of other tests."""

from __future__ import annotations

import multiprocessing
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

SPAWN = multiprocessing.get_context("spawn")
Given = TypeVar("Given")


def peaks(what: Callable[[Given], object], *values: Given) -> list[int]:
    """Call ``what`` with each value, one after the other; return the peak of what Python allocates in each call, in
    bytes.

    The first call also measures imports and caches.
    """
    with ProcessPoolExecutor(1, mp_context=SPAWN) as pool:
        return [pool.submit(_peak, what, value).result() for value in values]


def _peak(what: Callable[[Given], object], value: Given) -> int:
    tracemalloc.start()
    try:
        what(value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
