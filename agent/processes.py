"""Process pools: spawned worker processes that end with their parent, and an ordered map over them. Also a context in
which numpy uses one thread.

Processes and not threads, because drawing a picture holds Python's lock. Spawned and not forked: threads, locks and
open databases of the parent are not copied, and arguments and results must be picklable.
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
from functools import cache
from types import TracebackType
from typing import Any, TypeVar

from agent.errors import Refusal
from agent.language import tr

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4
"""Items per process that are in progress, or done and waiting for their turn; limits the memory."""


class ProcessLost(Refusal):
    """A worker process was ended from outside; its work is not done."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spawn_pool(
    processes: int, initializer: Callable[..., None] | None = None, initargs: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """Return a pool of spawned processes.

    :param initializer: called first in each process; by default the process ignores Ctrl C and ends with its parent
    """
    return ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), initializer or _start_ordered_worker, initargs
    )


def ordered_map(work: Callable[[Item], Result], items: Iterable[Item], processes: int) -> Generator[Result, None, None]:
    """Yield ``work(item)`` for each item, in the order of the items; items are taken only a few ahead of the results.

    With one process, or in a process that may have no children, the work is done in this process. However the
    iterator ends, also by Ctrl C or by being closed, no work continues afterwards.

    :param work: a function of a module; its exceptions are raised here
    :raises ProcessLost: a worker process was killed
    """
    if processes < 2 or multiprocessing.current_process().daemon:
        yield from map(work, items)
        return
    pool = spawn_pool(processes)
    pending: deque[Future[Result]] = deque()
    try:
        for item in items:
            with uninterrupted():
                pending.append(pool.submit(work, item))
            if len(pending) == AHEAD * processes:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool as broken:
        raise ProcessLost(tr("a worker process was ended from outside (no memory left?)")) from broken
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl C until the block is left. A process started inside never receives it, not even during its imports:
    a terminal sends it to every process, and the parent decides what happens."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_ordered_worker() -> None:
    """Prepare a new worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """End this process as soon as its parent has ended: nobody would read its results."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class OneThread:
    """Context in which numpy multiplies with one thread; it can be entered from many threads at once.

    For small matrices: a second thread saves a third of the time on an idle machine, but multiplies it on a busy one,
    where each multiplication waits until the other thread runs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        from threadpoolctl import ThreadpoolController

        self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._before = [library.get_num_threads() for library in self._libraries]
                for library in self._libraries:
                    library.set_num_threads(1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, number in zip(self._libraries, self._before, strict=True):
                    library.set_num_threads(number)


@cache
def one_thread() -> OneThread:
    """Return the one context of this process."""
    return OneThread()
