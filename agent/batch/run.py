"""Run many inspections at once: jobs in, outcomes out as they finish, in threads or in processes with threads. A job
whose policy failed is retried after a pause if another try may succeed; errors of the model are part of its trace and
are not retried, nor is a conversation that grew too long. Many failures in a row end the run (``PolicyUnavailable``).
"""

from __future__ import annotations

import multiprocessing
import random
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.synchronize import Event
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, Literal, Protocol, TypeVar, cast

from agent.batch.sources import Reading, Source, SpectrumFile
from agent.conversation import Policy, PolicyError, Stop, Usage
from agent.language import ENGLISH, deferred, speaking, tr
from agent.loop import MAX_TURNS, Ended, Reason, Text, ToolResult, inspect
from agent.processes import end_with_parent, spawn_pool, uninterrupted
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers.pixels import NoDataError
from agent.spectrum.record import Medium
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.messages import png_of

THREADS = 64
"""Conversations at a time for a server; vLLM batches what it can and queues the rest."""
RETRIES = 2
PAUSE = 2.0
"""Seconds before a failed job is tried again, give or take half; twice that before the next time."""
MAX_CONSECUTIVE_FAILURES = 10
"""Failures in a row, beyond those that ran at the same time, after which the run ends."""
_chance = random.Random()  # not the one of the whole process, which others may seed

OutcomeReason = Literal[Reason, "not read", "no data", "low S/N"]
PolicyFor = Callable[[int], Policy]
"""The policy of sample number i (from 0) of a spectrum: the same but for its seed. With processes it has to
be something that pickle can send, such as a module's function."""


class PolicyUnavailable(PolicyError):
    """Many inspections in a row failed: how many, and the message of the last one."""


@dataclass(frozen=True)
class Job:
    """One sample of one spectrum; ``key`` names the spectrum in the results (``agent.batch.sources``)."""

    key: str
    path: Path
    target: str = ""
    sample: int = 0

    @property
    def file(self) -> str:
        """The same as ``Source.file``."""
        return self.key.removesuffix(f"#{self.target}") if self.target else self.key


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    ``reason`` is the loop's, or "not read", "no data" or "low S/N" if there is no spectrum to inspect; ``detail`` is
    a sentence with more. ``spectrum`` and ``trajectory`` are None if the job ended before. ``seconds`` is the time of
    the last of ``tries``. ``texts``: raw text of the policy, one per turn. ``retry`` False: another try would fail in
    the same way. ``pictures``: PNG bytes by SHA-256 of the RGBA bytes, where the spectrum does not give them.
    """

    job: Job
    reason: OutcomeReason
    detail: str = ""
    spectrum: Spectrum | None = None
    trajectory: Trajectory | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    tries: int = 1
    texts: tuple[str, ...] = ()
    retry: bool = True
    pictures: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def is_inspected(self) -> bool:
        """Whether there is a trace that counts, also without an answer."""
        return self.reason in ("answered", "turn limit", "truncated", "no call and no answer")

    @property
    def has_failed(self) -> bool:
        """Whether there is no trace that counts, though nobody stopped it."""
        return self.reason in ("policy failed", "not read", "no data")


@dataclass(frozen=True)
class Plan:
    """What all jobs of a run have in common.

    :param min_snr: spectra of a lower ``Spectrum.snr_typical`` are skipped; None: none are
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    """

    task: Task
    policy_for: PolicyFor
    max_turns: int = MAX_TURNS
    retries: int = RETRIES
    with_tool: bool = True
    min_snr: float | None = None
    medium: Medium | None = None


class Readable(Protocol):
    """Gives a spectrum, or the reason why there is none."""

    def spectrum(self) -> Spectrum | SpectrumError: ...


def jobs_for(sources: Iterable[Source], samples: int = 1) -> Iterator[Job]:
    """Yield a job for each sample of each spectrum, those of one spectrum together."""
    for source in sources:
        for sample in range(samples):
            yield Job(source.key, source.path, source.target, sample)


def inspect_many(
    jobs: Iterable[Job],
    task: Task,
    policy_for: PolicyFor,
    *,
    concurrency: int = THREADS,
    processes: int = 0,
    max_turns: int = MAX_TURNS,
    retries: int = RETRIES,
    medium: Medium | None = None,
    stop: Stop | None = None,
) -> Generator[Outcome, None, None]:
    """Inspect every spectrum, yielding outcomes in the order in which they finish.

    Jobs are taken when needed, a few times ``concurrency`` ahead. Consecutive jobs of one spectrum share one reading
    of it; consecutive jobs of one file share one opening. Closing the iterator stops the running jobs.

    :param concurrency: inspections at a time, of all processes together
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    :param processes: each reads, draws and measures by itself, with its share of ``concurrency`` in threads; for
        policies that compute, and for a server that one core cannot keep busy. 0: threads of this process
    :param stop: set from another thread, it ends the run; running jobs end as "stopped"
    :raises PolicyUnavailable: the policy fails for every job; all outcomes until then have been yielded
    :raises ValueError: ``concurrency`` or ``max_turns`` is below 1
    """
    for name, value in (("concurrency", concurrency), ("max_turns", max_turns)):
        if value < 1:
            raise ValueError(tr("{name}: found {value}, expected 1 or more", name=name, value=value))
    if processes < 0:
        raise ValueError(tr("processes: found {processes}, expected 0 or more", processes=processes))
    plan = Plan(task, policy_for, max_turns, retries, medium=medium)
    # Our own stop: closing the iterator must not set the caller's.
    inner = Stop()
    with (stop or Stop()).waking(inner.set):
        if processes:
            outcomes = in_processes(jobs, plan, processes, concurrency, inner)
        else:
            outcomes = _in_threads(jobs, plan, concurrency, inner)
        try:
            yield from stop_when_unavailable(outcomes, concurrency + MAX_CONSECUTIVE_FAILURES)
        finally:
            inner.set()
            outcomes.close()


@speaking(ENGLISH)
def inspect_one(job: Job, reading: Readable, plan: Plan, policy: Policy, stop: Stop) -> Outcome:
    """Run one job; repeat it up to ``plan.retries`` times if the policy fails and another try may succeed. Its texts
    are English: they are stored.
    """
    if stop.is_set:
        return Outcome(job, "stopped", deferred("stopped before it began"), tries=0)
    spectrum = reading.spectrum()
    if isinstance(spectrum, NoDataError):
        return Outcome(job, "no data", str(spectrum))
    if not isinstance(spectrum, Spectrum):
        return Outcome(job, "not read", str(spectrum))
    if plan.min_snr is not None and (low := low_snr(spectrum, plan.min_snr)):
        return Outcome(job, "low S/N", low)
    tries = 1
    outcome = _inspect_once(job, spectrum, plan, policy, stop, tries)
    while outcome.reason == "policy failed" and outcome.retry and tries <= plan.retries:
        if stop.wait(PAUSE * 2 ** (tries - 1) * _chance.uniform(0.5, 1.5)):
            break
        tries += 1
        outcome = _inspect_once(job, spectrum, plan, policy, stop, tries)
    return outcome


def low_snr(spectrum: Spectrum, least: float) -> str:
    """Return why a spectrum is below the S/N floor; "" if it is not."""
    snr = spectrum.snr_typical
    if snr >= least:
        return ""
    if spectrum.errors == "estimated":
        return deferred(
            "S/N {snr:.3g} per pixel, estimated because the file states no errors, expected {least:g} or more",
            snr=snr,
            least=least,
        )
    return deferred("S/N {snr:.3g} per pixel, expected {least:g} or more", snr=snr, least=least)


def as_completed_limited(
    pool: Executor, submitted: Iterator[Future[list[Outcome]]], most: int, stop: Stop
) -> Generator[Outcome, None, None]:
    """Yield the results of the futures as they finish, with at most ``most`` of them submitted.

    Nothing is submitted once ``stop`` is set; running futures are waited for.
    """
    finished: SimpleQueue[Future[list[Outcome]]] = SimpleQueue()
    under_way = 0
    try:
        while True:
            while under_way < most and not stop.is_set:
                future = next(submitted, None)
                if future is None:
                    break
                under_way += 1
                future.add_done_callback(finished.put)
            if not under_way:
                return
            yield from finished.get().result()
            under_way -= 1
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def stop_when_unavailable(outcomes: Iterator[Outcome], most: int) -> Iterator[Outcome]:
    """Pass the outcomes on. :raises PolicyUnavailable: ``most`` in a row failed"""
    in_a_row = 0
    for outcome in outcomes:
        yield outcome
        if outcome.reason == "policy failed":
            in_a_row += 1
        elif outcome.is_inspected:
            in_a_row = 0
        if in_a_row >= most:
            raise PolicyUnavailable(
                deferred(
                    "{in_a_row} inspections in a row failed, the last one: {detail}",
                    in_a_row=in_a_row,
                    detail=outcome.detail,
                )
            )


def readings(jobs: Iterable[Job], medium: Medium | None = None) -> Iterator[tuple[Job, Reading]]:
    """Yield each job with the reading of its spectrum.

    Consecutive jobs of one spectrum share a reading; consecutive readings of one file share its opening.

    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    """
    file: SpectrumFile | None = None
    before: tuple[Job, Reading] | None = None
    for job in jobs:
        if file is None or file.path != job.path:
            file = SpectrumFile(job.path, medium)
            before = None
        same = before is not None and before[0].target == job.target
        reading = before[1] if before is not None and same else Reading(file, job.target)
        before = job, reading
        yield before


def _in_threads(jobs: Iterable[Job], plan: Plan, threads: int, stop: Stop) -> Generator[Outcome, None, None]:
    policy_for = cache(plan.policy_for)
    pool = ThreadPoolExecutor(threads, thread_name_prefix="inspect")

    def inspected(job: Job, reading: Reading) -> list[Outcome]:
        return [inspect_one(job, reading, plan, policy_for(job.sample), stop)]

    yield from as_completed_limited(
        pool, (pool.submit(inspected, *work) for work in readings(jobs, plan.medium)), 2 * threads, stop
    )


def _inspect_once(job: Job, spectrum: Spectrum, plan: Plan, policy: Policy, stop: Stop, tries: int) -> Outcome:
    since = monotonic()
    texts: dict[int, str] = {}
    pictures: dict[str, bytes] = {}
    try:
        for event in inspect(spectrum, plan.task, policy, plan.max_turns, stop, plan.with_tool):
            if isinstance(event, Text):
                texts[event.turn] = texts.get(event.turn, "") + event.text
            elif isinstance(event, ToolResult) and event.picture is not None and event.zoom.shows_sky:
                pictures[str(event.zoom.picture)] = png_of(event.picture)
            ended = event
    except Exception as error:
        # A bug in one inspection must not end ten thousand others; the type's name shows that it is no server error.
        detail = f"{type(error).__name__}: {error}"
        return Outcome(job, "policy failed", detail, spectrum, seconds=monotonic() - since, tries=tries)
    assert isinstance(ended, Ended)
    return Outcome(
        job,
        ended.reason,
        ended.detail,
        spectrum,
        ended.trajectory,
        ended.usage,
        monotonic() - since,
        tries,
        tuple(texts.values()),
        ended.retry,
        pictures,
    )


Unit = TypeVar("Unit")


@dataclass(frozen=True)
class _Child:
    """What a process keeps between units of work."""

    work: Callable[[Any, Stop], list[Outcome]]
    stop: Stop


_child: _Child | None = None  # of this process, set once by ``_begin`` before any work


def in_processes(
    jobs: Iterable[Job], plan: Plan, processes: int, concurrency: int, stop: Stop
) -> Generator[Outcome, None, None]:
    """Inspect as ``inspect_many`` does, in processes with threads, each process with its own policies. Consecutive
    jobs of one spectrum run in the same process.

    :param processes: at most ``concurrency`` are started
    :param concurrency: inspections at a time, shared evenly among the processes
    :raises PolicyUnavailable: a process ended by itself; its work is not done
    """
    # A mapping proxy cannot be sent to another process.
    sent = replace(plan, task=replace(plan.task, references=dict(plan.task.references)))
    processes = min(processes, concurrency)
    waiting = iter(jobs)
    children: list[_Process] = []
    chosen: _Process | None = None
    last: Job | None = None

    def stop_children() -> None:
        for child in tuple(children):
            child.send(_STOP)

    with stop.waking(stop_children):
        try:
            for number in range(processes):
                children.append(_Process(sent, concurrency // processes + (number < concurrency % processes)))
            while True:
                while not stop.is_set and any(child.free for child in children):
                    job = next(waiting, None)
                    if job is None:
                        for child in children:
                            child.send(_END)
                        waiting = iter(())
                        break
                    if chosen is None or last is None or (last.path, last.target) != (job.path, job.target):
                        chosen = max(children, key=lambda child: child.free)
                    chosen.send(job)
                    last = job
                busy = {child.connection: child for child in children if child.under_way}
                if not busy:
                    return
                for ready in wait(list(busy)):
                    yield busy[cast("Connection", ready)].outcome()
        finally:
            stop.set()
            for child in children:
                child.end()


_END, _STOP = "no more jobs", "stop"


class _Process:
    """A process that inspects in threads: jobs go in, outcomes come back as they finish."""

    def __init__(self, plan: Plan, threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, far_end = context.Pipe()
        self._process = context.Process(target=_inspect_received, args=(far_end, plan, threads))
        with uninterrupted():
            self._process.start()
        far_end.close()
        self._most = 2 * threads
        self._sending = threading.Lock()
        self.under_way = 0

    @property
    def free(self) -> int:
        """How many more jobs it takes now, so that no thread waits for a job and no more are taken than needed."""
        return max(self._most - self.under_way, 0)

    def send(self, job: Job | str) -> None:
        """Give it a job, or ``_END`` or ``_STOP``. A process that was ended is noticed by ``outcome``."""
        self.under_way += isinstance(job, Job)
        with self._sending, suppress(OSError):
            self.connection.send(job)

    def outcome(self) -> Outcome:
        """Return the next outcome. :raises PolicyUnavailable: the process was ended; other errors: its own"""
        try:
            message = self.connection.recv()
        except (EOFError, OSError) as broken:
            raise PolicyUnavailable(
                deferred("a process of the run was ended from outside (no memory left?)")
            ) from broken
        self.under_way -= 1
        if isinstance(message, BaseException):
            raise message
        assert isinstance(message, Outcome)
        return message

    def end(self) -> None:
        """End the process; its running jobs are stopped."""
        with self._sending:
            self.connection.close()
        self._process.join()


def _inspect_received(connection: Connection, plan: Plan, threads: int) -> None:
    """Inspect the jobs that arrive, in threads; send each outcome back."""
    stop = _prepared()
    jobs: SimpleQueue[Job | None] = SimpleQueue()

    def receive() -> None:
        with suppress(EOFError, OSError):
            while (message := connection.recv()) != _STOP:
                jobs.put(message if isinstance(message, Job) else None)
        stop.set()
        jobs.put(None)

    threading.Thread(target=receive, daemon=True).start()
    try:
        with closing(_in_threads(iter(jobs.get, None), plan, threads, stop)) as outcomes:
            for outcome in outcomes:
                connection.send(outcome)
    except OSError:
        pass  # the parent has closed the connection: it needs no more outcomes
    except Exception as error:
        connection.send(error)


def run_units(
    units: Iterable[Unit], work: Callable[[Unit, Stop], list[Outcome]], processes: int, stop: Stop
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of every unit, in the order in which they finish.

    :param work: sent once to each process, as are the units: must be picklable
    :raises PolicyUnavailable: a process ended by itself; its work is not done
    """
    stopping = multiprocessing.get_context("spawn").Event()
    pool = spawn_pool(processes, _begin, (work, stopping))
    submitted = (pool.submit(_do, unit) for unit in units)
    with stop.waking(stopping.set):
        try:
            yield from as_completed_limited(pool, submitted, 2 * processes, stop)
        except BrokenProcessPool as broken:
            raise PolicyUnavailable(
                deferred("a process of the run was ended from outside (no memory left?): {broken}", broken=broken)
            ) from broken


def _begin(work: Callable[[Any, Stop], list[Outcome]], stopping: Event) -> None:
    """Prepare a new process for work."""
    global _child
    _child = _Child(work, _prepared())
    threading.Thread(target=_listen, args=(stopping, _child.stop), daemon=True).start()


def _prepared() -> Stop:
    # Ctrl C goes to every process of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    return Stop()


def _listen(stopping: Event, stop: Stop) -> None:
    stopping.wait()
    stop.set()


def _do(unit: Any) -> list[Outcome]:
    assert _child is not None
    return _child.work(unit, _child.stop)
