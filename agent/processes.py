"""The same work on one thing after the other, on several cores, the results in the order of the things.

Processes, because drawing a picture keeps Python's lock. They are spawned, not forked: threads, locks and
open databases of the parent do not travel, and what is worked on has to be something that pickle can send.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

Given = TypeVar("Given")
Done = TypeVar("Done")

AHEAD = 4
"""Things under way, or done and waiting for their turn, for each process: what bounds the memory."""


class ProcessLost(Exception):
    """A process was ended from outside; what it was doing is not done."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[Given], Done], given: Iterable[Given], processes: int) -> Generator[Done, None, None]:
    """``work`` of each thing given, in their order; things are taken a few ahead of the results, no more.

    With one process, or in a process that may have no children, the work is done here. However the iterator
    ends, also by Ctrl C or by being closed, no work is going on afterwards.

    :param work: a function of a module; what it raises is raised here
    :raises ProcessLost: a process was killed
    """
    if processes < 2 or multiprocessing.current_process().daemon:
        yield from map(work, given)
        return
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _start_ordered_worker)
    under_way: deque[Future[Done]] = deque()
    try:
        for one in given:
            with _uninterrupted():
                under_way.append(pool.submit(work, one))
            if len(under_way) == AHEAD * processes:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    except BrokenProcessPool as broken:
        raise ProcessLost("a process that worked on it was ended from outside (no memory left?)") from broken
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl C waits until the block is left. A process started in it never hears Ctrl C, not even while it
    imports: a terminal sends it to every process, and the parent decides what it means."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_ordered_worker() -> None:
    """Make a new process ready for work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # it was killed: nobody will read what is done here
