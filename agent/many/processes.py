"""Inspections in processes of their own, for policies that compute. They are spawned, not forked: threads and
open servers of the parent do not travel."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby, islice
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from agent.conversation import Policy
from agent.many.batch import Job, Outcome, Plan, PolicyGone, drained, inspect_one, readings
from agent.stop import Stop

AT_ONCE = 8
"""Jobs of one file that a process is given together, so that it opens the file once for them."""
_LOOK = 0.5  # seconds between two looks at whether the parent wants to stop, or is gone


Unit = TypeVar("Unit")


@dataclass(frozen=True)
class _Child:
    """What a process keeps from one unit of work to the next."""

    work: Callable[[Any, Stop], list[Outcome]]
    stop: Stop


_child: _Child | None = None  # of this process, set once by ``_begin`` before any work comes


def in_processes(
    jobs: Iterable[Job], plan: Plan, processes: int, stop: Stop
) -> Generator[Outcome, None, None]:
    """As ``agent.many.batch.inspect_many``, with the policy made anew in each process.

    :raises PolicyGone: a process ended by itself; what it was doing is not done
    """
    # A mapping proxy cannot be sent to another process.
    sent = replace(plan, task=replace(plan.task, references=dict(plan.task.references)))
    yield from worked_off(_units(jobs), _Inspecting(sent), processes, stop)


def worked_off(
    units: Iterable[Unit], work: Callable[[Unit, Stop], list[Outcome]], processes: int, stop: Stop
) -> Generator[Outcome, None, None]:
    """The outcomes of every unit, in the order in which they are done.

    :param work: sent once to each process, as are the units: something that pickle can send
    :raises PolicyGone: a process ended by itself; what it was doing is not done
    """
    context = multiprocessing.get_context("spawn")
    stopping = context.Event()
    pool = ProcessPoolExecutor(processes, context, _begin, (work, stopping))
    submitted = (pool.submit(_do, unit) for unit in units)
    with stop.waking(stopping.set):
        try:
            yield from drained(pool, submitted, 2 * processes, stop)
        except BrokenProcessPool as broken:
            raise PolicyGone(
                f"a process of the run was ended from outside (no memory left?): {broken}"
            ) from broken


class _Inspecting:
    """What a process does with the jobs of a file; it keeps its policies."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @cached_property
    def _policy_for(self) -> Callable[[int], Policy]:
        return cache(self.plan.policy_for)

    def __call__(self, unit: list[Job], stop: Stop) -> list[Outcome]:
        return [
            inspect_one(job, reading, self.plan, self._policy_for(job.sample), stop)
            for job, reading in readings(unit)
        ]


def _units(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    for _, of_file in groupby(jobs, key=lambda job: job.path):
        while unit := list(islice(of_file, AT_ONCE)):
            yield unit


def _begin(work: Callable[[Any, Stop], list[Outcome]], stopping: Event) -> None:
    """Make a new process ready for work."""
    global _child
    # Ctrl C goes to every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _child = _Child(work, Stop())
    threading.Thread(target=_listen, args=(stopping, _child.stop), daemon=True).start()


def _listen(stopping: Event, stop: Stop) -> None:
    parent = multiprocessing.parent_process()
    while not stopping.wait(_LOOK):
        if parent is not None and not parent.is_alive():
            os._exit(1)  # it was killed: nobody will ask for, or read, what is done here
    stop.set()


def _do(unit: Any) -> list[Outcome]:
    assert _child is not None
    return _child.work(unit, _child.stop)
