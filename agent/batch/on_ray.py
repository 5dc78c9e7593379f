"""Inspect on many machines with Ray (https://docs.ray.io): the plan of a results folder goes through Ray Data to
workers, which read spectra and run the loop. Their outcomes come back to this process, the only one that writes.

Ray repeats the work of a worker or machine that was lost; what it delivers a second time is dropped. The program, the
spectra and the results folder, which has the plan, have to be at the same paths on every machine; spectra can also be
behind addresses (``agent.batch.catalogue``).
"""

from __future__ import annotations

import pickle
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import Empty, Queue
from time import monotonic
from typing import TYPE_CHECKING

from agent.batch.catalogue import local_file
from agent.batch.journal import MAX_MESSAGES, PICTURES, RunSummary, failure_of, result_of, save_pictures
from agent.batch.keys import Keys, hashes_of
from agent.batch.plan import SurveyPlan
from agent.batch.ray_cluster import RECEIVER, Cluster, Problems, error_text
from agent.batch.run import MAX_CONSECUTIVE_FAILURES, Job, Outcome, Plan, inspect_one
from agent.batch.shards import Shards
from agent.batch.sources import SourceError, SpectrumFile, is_one_spectrum, key_of
from agent.conversation import Stop, Usage
from agent.json_lines import json_line
from agent.language import deferred
from agent.spectrum import Spectrum, SpectrumError

if TYPE_CHECKING:
    import pyarrow as pa

UNIT = 64
"""Spectra that a worker is given together: what is done again if it is lost."""
BLOCK_BYTES = 2**19
"""Bytes of finished work after which a worker delivers it, before the end of its unit."""
TASK_RETRIES = 3
"""How often Ray repeats a unit whose worker ended. Then it is left for the next pass, which gives each of its spectra
alone, so that one that ends its worker takes no others with it."""
MAX_GIVEN_UP = 1000
"""Spectra that may be listed as failed because their workers ended, each time that they were given alone."""
OPEN_FILES = 3
"""Files that a worker keeps open. Each Parquet file is open in a process of its own, some 70 MB."""
POLL_SECONDS = 0.2


MakeRow = Callable[[Spectrum, Sequence[Outcome]], bytes]
"""Makes the row of the table of a spectrum from all outcomes of it, as a line. It is sent to the workers by pickle."""


@dataclass(frozen=True)
class Work:
    """What the workers need to know.

    :param base: the folder that files are named from
    :param mark: gives an outcome the marks of its stage (``agent.batch.cascade.Stage.marked``)
    """

    plan: Plan
    base: Path
    mark: Callable[[Outcome], Outcome]
    make_row: MakeRow


@dataclass(frozen=True)
class _Sample:
    number: int
    reason: str
    detail: str
    line: bytes
    usage: Usage
    pictures: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Done:
    """What a worker delivers for one row of the plan: samples of a spectrum, or the spectra of a file with several."""

    file: str
    target: str
    samples: tuple[_Sample, ...] = ()
    row: bytes = b""
    targets: tuple[str, ...] | None = None


class RayRun:
    """The passes of one run over its plans.

    :param results: the folder, open for writing
    :param progress: called with the number of finished samples
    """

    def __init__(
        self, results: Shards, work: Work, cluster: Cluster, stop: Stop, progress: Callable[[int], None]
    ) -> None:
        self.summary = RunSummary()
        self._results = results
        self._work = work
        self._cluster = cluster
        self._stop = stop
        self._progress = progress
        self._finished = 0
        self._in_a_row = 0
        self._problems = Problems()
        self._failed: set[tuple[str, int]] = set()  # in this run, without a success since
        self.tried = Keys()
        """Spectra of which this run has an outcome that gave no trace: the next run tries them again."""

    def run(self, make_plan: Callable[[], SurveyPlan]) -> RunSummary:
        """Inspect what the plan has, and plan again until nothing is left to do in this run.

        A pass leaves the spectra of files that it found to hold several, and units whose workers ended.

        :param make_plan: makes the plan of what the results lack, without the spectra in ``tried``
        :raises JournalError: the results cannot be written
        """
        since = monotonic()
        with self._problems.listening():
            self._run(make_plan)
        self.summary.seconds = monotonic() - since
        return self.summary

    def _run(self, make_plan: Callable[[], SurveyPlan]) -> None:
        lost = 0
        while not (self._stop.is_set or self.summary.gone) and (plan := make_plan()).rows:
            # More than was lost: spectra of files that the last pass found to hold several.
            alone = plan.rows <= lost
            delivered = self._pass(plan, alone)
            lost = plan.rows - delivered
            if not delivered and alone and not (self._stop.is_set or self.summary.gone):
                self._give_up(plan)
                break

    def _pass(self, plan: SurveyPlan, alone: bool) -> int:
        """Inspect one plan; return how many of its rows were delivered.

        :param alone: give a worker one spectrum at a time
        """
        delivered = 0
        # So that every worker gets several units, also of a small plan.
        unit = 1 if alone else min(UNIT, max(1, plan.rows // (4 * self._cluster.workers)))
        at_once = 1 if alone else 2
        for done in _delivered(plan.folder, self._work, self._cluster, unit, at_once, self._stop, self.summary):
            delivered += self._take(done)
            if self._in_a_row >= self._cluster.workers * self._cluster.threads + MAX_CONSECUTIVE_FAILURES:
                last = self.summary.failures[-1] if self.summary.failures else ""
                self.summary.gone = deferred(
                    "{in_a_row} inspections in a row failed, the last one: {detail}",
                    in_a_row=self._in_a_row,
                    detail=last,
                )
                break
        return delivered

    def _take(self, done: _Done) -> bool:
        """Record what was delivered; return False if it was delivered before."""
        key, summary, results = key_of(done.file, done.target), self.summary, self._results
        if done.targets is not None:
            is_new = results.targets_of(done.file, done.target) is None
            if is_new:
                results.add_targets(done.file, done.target, done.targets)
            return is_new
        new = known = 0
        for sample in done.samples:
            summary.usage += sample.usage
            self._finished += 1
            if results.is_done(key, sample.number):
                known += 1  # delivered before: the first answer counts, not this one
            elif sample.reason == "no data" and done.target:
                summary.empty += 1
            elif sample.reason in ("policy failed", "not read", "no data"):
                results.add_failure(key, sample.number, sample.line)
                self._failed.add((key, sample.number))
                summary.failures = [*summary.failures, f"{key}: {sample.detail}"][-MAX_MESSAGES:]
                self._in_a_row += sample.reason == "policy failed"
            elif sample.line:
                save_pictures(results.folder / "traces" / PICTURES, sample.pictures)
                results.add(key, sample.number, sample.line)
                new += 1
                summary.inspected += 1
                summary.truncated += sample.reason == "truncated"
                self._failed.discard((key, sample.number))
                self._in_a_row = 0
        if done.row and new and not known:
            # After the traces: the table must not have the row of an answer that was not kept.
            results.add_row(done.row)
        summary.spectra += bool(new)
        summary.failed = len(self._failed)
        self._progress(self._finished)
        return bool(new) if new or known else bool(self.tried.add_many(hashes_of([key]))[0])

    def _give_up(self, plan: SurveyPlan) -> None:
        """List the spectra of a plan as failed. If there are many, no spectrum is the reason: the run ends."""
        import pyarrow.parquet as pq

        last = self._problems.last or deferred("no memory left?")
        if plan.rows > MAX_GIVEN_UP:
            self.summary.gone = deferred(
                "the workers ended at each of the {n:,} spectra that are left: {last}", n=plan.rows, last=last
            )
            return
        why = deferred("the worker ended each time that it was given this spectrum: {last}", last=last)
        for path in sorted(plan.folder.glob("*.parquet")):
            for row in pq.read_table(path).to_pylist():
                key = key_of(row["file"], row["target"])
                for sample in row["samples"]:
                    job = Job(key, Path(), row["target"], sample)
                    line = json_line(failure_of(Outcome(job, "policy failed", why))).encode()
                    self._results.add_failure(key, sample, line)
                    self._failed.add((key, sample))
                self.summary.failures = [*self.summary.failures, f"{key}: {why}"][-MAX_MESSAGES:]
        self.summary.failed = len(self._failed)


def _delivered(
    plan: Path, work: Work, cluster: Cluster, unit: int, at_once: int, stop: Stop, summary: RunSummary
) -> Iterator[_Done]:
    """Yield what the workers deliver for a plan. If Ray ends the run, ``summary.gone`` says why.

    :param unit: rows that a worker is given together
    :param at_once: units that a worker has at a time: all are lost if one of them ends it
    """
    import ray.data
    from ray.exceptions import RayError as RayFailure

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.target_max_block_size = BLOCK_BYTES
    # A unit whose worker ended more often than TASK_RETRIES is left out of this pass.
    context.max_errored_blocks = -1
    warnings.filterwarnings("ignore", "`ray_remote_args` is deprecated", DeprecationWarning)
    warnings.filterwarnings("ignore", "The minimum number of concurrent actors", UserWarning)
    rows = ray.data.read_parquet(str(plan.resolve())).repartition(target_num_rows_per_block=unit)
    several = cluster.threads > 1 and at_once > 1
    outcomes = rows.map_batches(
        _Worker,
        fn_constructor_args=(work, cluster.threads),
        batch_size=None,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(
            size=cluster.workers,
            # The end of one unit overlaps with the beginning of the next, so that the threads always have work.
            max_concurrent_calls_per_actor=at_once if several else 1,
            enable_true_multi_threading=several,
            max_tasks_in_flight_per_actor=at_once,
        ),
        num_cpus=cluster.cpus,
        max_task_retries=TASK_RETRIES,
    )
    received: Queue[_Done | BaseException | None] = Queue(1024)
    closed = threading.Event()

    def receive() -> None:
        try:
            for batch in outcomes.iter_batches(batch_size=None, batch_format="pyarrow"):
                for packed in batch["done"]:
                    if closed.is_set():
                        return
                    received.put(pickle.loads(packed.as_py()))
            received.put(None)
        except BaseException as error:
            received.put(error)

    threading.Thread(target=receive, daemon=True, name=RECEIVER).start()
    try:
        while not stop.is_set:
            try:
                message = received.get(timeout=POLL_SECONDS)
            except Empty:
                continue
            if message is None:
                return
            if isinstance(message, RayFailure | OSError):
                summary.gone = deferred("Ray ended the run: {found}", found=error_text(message))
                return
            if isinstance(message, BaseException):
                raise message
            yield message
    finally:
        closed.set()
        while not received.empty():
            received.get_nowait()


class _Worker:
    """Runs in an actor: rows of a plan in, what they gave out, one spectrum after the other as they finish."""

    def __init__(self, work: Work, threads: int) -> None:
        self._work = work
        self._policy_for = cache(work.plan.policy_for)
        self._files = _Files(work)
        self._pool = ThreadPoolExecutor(threads)
        self._stop = Stop()

    def __call__(self, rows: pa.Table) -> Iterator[pa.Table]:
        import pyarrow as pa

        for done in self._done(rows):
            yield pa.table({"done": pa.array([pickle.dumps(done)], pa.large_binary())})

    def _done(self, rows: pa.Table) -> Iterator[_Done]:
        of_future: dict[Future[Outcome], _Spectrum] = {}
        for row in rows.to_pylist():
            file, target = row["file"], row["target"]
            reading = self._files.reading(file, target)
            if isinstance(reading, tuple):
                yield _Done(file, target, targets=reading)
                continue
            spectrum = _Spectrum(file, target, reading, len(row["samples"]))
            for sample in row["samples"]:
                of_future[self._pool.submit(self._inspect, spectrum, sample)] = spectrum
        for future in as_completed(of_future):
            spectrum = of_future.pop(future)
            spectrum.outcomes.append(future.result())
            if len(spectrum.outcomes) == spectrum.samples:
                yield self._delivery(spectrum)

    def _inspect(self, spectrum: _Spectrum, sample: int) -> Outcome:
        job = Job(key_of(spectrum.file, spectrum.target), Path(), spectrum.target, sample)
        return inspect_one(job, spectrum, self._work.plan, self._policy_for(sample), self._stop)

    def _delivery(self, spectrum: _Spectrum) -> _Done:
        outcomes = sorted(map(self._work.mark, spectrum.outcomes), key=lambda outcome: outcome.job.sample)
        samples = []
        for outcome in outcomes:
            if outcome.is_inspected and outcome.trajectory is not None:
                line = json_line(result_of(outcome)).encode()
            else:
                line = json_line(failure_of(outcome)).encode() if outcome.has_failed else b""
            facts = outcome.job.sample, outcome.reason, outcome.detail, line, outcome.usage, outcome.pictures
            samples.append(_Sample(*facts))
        row, inspected = b"", [outcome for outcome in outcomes if outcome.is_inspected and outcome.trajectory]
        if isinstance(spectrum.reading, Spectrum) and inspected:
            row = self._work.make_row(spectrum.reading, inspected)
        return _Done(spectrum.file, spectrum.target, tuple(samples), row)


@dataclass
class _Spectrum:
    """A row of the plan in a worker: its spectrum, or the reason why there is none, and the outcomes so far."""

    file: str
    target: str
    reading: Spectrum | SpectrumError
    samples: int
    outcomes: list[Outcome] = field(default_factory=list)

    def spectrum(self) -> Spectrum | SpectrumError:
        return self.reading


@dataclass
class _Files:
    """The files that a worker has open, the last few of them. Safe in many threads."""

    work: Work
    _open: OrderedDict[str, tuple[SpectrumFile, ExitStack]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reading(self, file: str, target: str) -> Spectrum | SpectrumError | tuple[str, ...]:
        """Return the spectrum of a row, why there is none, or the targets of a file that holds several."""
        with self._lock:
            try:
                spectra = self._file(file)
            except SourceError as error:
                return SpectrumError(file, str(error), deferred("a file that can be copied"))
            if not is_one_spectrum(target) and (names := spectra.names(target)) != (target,):
                return names
            return spectra.read(target)

    def _file(self, file: str) -> SpectrumFile:
        if file in self._open:
            self._open.move_to_end(file)
            return self._open[file][0]
        while len(self._open) >= OPEN_FILES:
            _, (_, copies) = self._open.popitem(last=False)
            copies.close()
        with ExitStack() as stack:
            path = stack.enter_context(local_file(file, self.work.base))
            self._open[file] = SpectrumFile(path, self.work.plan.medium), stack.pop_all()
        return self._open[file][0]


__all__ = ["RayRun", "Work"]
