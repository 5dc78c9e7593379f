"""Trials of many traces, in processes or threads, appended to a file of JSON lines so that a run can resume."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from agent.batch.sources import SpectrumFile
from agent.conversation import Policy, PolicyError, Stop
from agent.errors import Refusal
from agent.json_lines import JournalError, append_line, json_line, json_lines
from agent.language import ENGLISH, deferred, speaking
from agent.lines import Medium
from agent.processes import ordered_map
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory, TrajectoryError
from agent.trial.report import Trial, TrialError, read_trials
from agent.trial.run import TrialStopped, trial


@dataclass(frozen=True)
class SpectrumIn:
    """A spectrum in a survey file, read where the trial runs. ``target`` "" is the only one."""

    path: Path
    target: str
    medium: Medium | None = None

    def read(self) -> Spectrum:
        """:raises SpectrumError: it cannot be read"""
        spectrum = SpectrumFile(self.path, self.medium).read(self.target)
        if isinstance(spectrum, Exception):
            raise spectrum
        return spectrum


@dataclass(frozen=True)
class Case:
    """A trace and its spectrum. ``name`` is for messages; ``item`` is the item of a database, if it has one."""

    name: str
    trajectory: Trajectory
    spectrum: Spectrum | SpectrumIn
    item: int | None = None


@dataclass(frozen=True)
class Tried:
    """The trial of a case, or why there is none."""

    case: Case
    trial: Trial | None
    problem: str = ""


@dataclass(frozen=True)
class Work:
    """How every trace is tried; can be sent to other processes if ``policy_for`` can.

    :param policy_for: makes the policy of a sample (from 0)
    """

    tasks: Mapping[str, Task]
    policy_for: Callable[[int], Policy]
    seed: int = 0
    placebos: int = 1

    @speaking(ENGLISH)
    def __call__(self, case: Case, stop: Stop | None = None) -> Tried:
        """Try one trace; what prevents it is the ``problem``, and nothing is raised but ``TrialStopped``."""
        task = self.tasks.get(case.trajectory.task)
        if task is None:
            return Tried(case, None, deferred("no task {task!r:.40}", task=case.trajectory.task))
        try:
            spectrum = case.spectrum.read() if isinstance(case.spectrum, SpectrumIn) else case.spectrum
            policy = self.policy_for(0)
            finished = trial(
                case.trajectory, None, spectrum, task, policy, seed=self.seed, placebos=self.placebos, stop=stop
            )
        except (PolicyError, ValueError, OSError) as problem:
            return Tried(case, None, problem.sentence if isinstance(problem, Refusal) else str(problem))
        return Tried(case, finished)


def try_all(
    cases: Iterable[Case], work: Work, processes: int, threads: int, stop: Stop
) -> Generator[Tried, None, None]:
    """Yield the trial of each case as it is done.

    :param processes: 2 or more: in so many processes; otherwise in ``threads`` of this one
    """
    if processes > 1:
        # A mapping proxy cannot be sent to another process.
        tasks = {key: replace(task, references=dict(task.references)) for key, task in work.tasks.items()}
        for done in ordered_map(replace(work, tasks=tasks), cases, processes):
            yield done
            if stop.is_set:
                return
        return
    yield from _in_threads(cases, work, threads, stop)


def _in_threads(cases: Iterable[Case], work: Work, threads: int, stop: Stop) -> Generator[Tried, None, None]:
    left = iter(cases)
    pending: set[Future[Tried]] = set()
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                if not stop.is_set:
                    pending |= {pool.submit(work, case, stop) for case in islice(left, threads - len(pending))}
                if not pending:
                    return
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    try:
                        yield future.result()
                    except TrialStopped:
                        continue
        finally:
            stop.set()


def cases_in(results: Path, medium: Medium | None = None) -> Iterator[Case]:
    """Yield the traces of a results file of ``spec-o3 inspect``; their files are named from its folder.

    :raises JournalError: a line is not a trace
    """
    for line in json_lines(results):
        source = line.row.get("source")
        if not isinstance(source, Mapping) or not isinstance(source.get("file"), str):
            raise JournalError(
                deferred(
                    "{results}: line {number}: found no source, expected a line of spec-o3 inspect",
                    results=results,
                    number=line.number,
                )
            )
        try:
            trajectory = Trajectory.from_json(line.row)
        except TrajectoryError as error:
            raise JournalError(f"{results}: line {line.number}: {error}") from error
        file, target = source["file"], str(source.get("target") or "")
        name = f"{file}#{target}" if target else file
        yield Case(name, trajectory, SpectrumIn(results.parent / file, target, medium))


class TrialsFile:
    """A file of trials that a run appends to. ``done`` has its trials by the content hash of the trace; of two trials
    of one trace the last counts. ``added`` is the number of those of this run.
    """

    def __init__(self, path: Path, policy: Mapping[str, object], seed: int, placebos: int | None = None) -> None:
        """Read the file if it exists; nothing is written yet.

        :param policy: drafter of the run: kind and name, and its settings if these must be equal too
        :param placebos: of the run; None: trials with another number may be in the file
        :raises JournalError: the file cannot be read, or has trials made in another way
        """
        self.path = path
        self.added = 0
        try:
            rows = list(read_trials(path)) if path.exists() else []
        except (OSError, TrialError) as error:
            raise JournalError(deferred("{path}: {error}; choose another file", path=path, error=error)) from error
        for row in rows:
            used = {**{name: row.drafter.get(name) for name in policy}, "seed": row.seed}
            expected = {**policy, "seed": seed}
            # A trace of which nothing could be tested has no placebos to compare.
            if placebos is not None and row.placebos_per_call is not None:
                used["placebos"], expected["placebos"] = row.placebos_per_call, placebos
            if used != expected:
                raise JournalError(
                    deferred(
                        "{path}: found trials of {made}; choose another file",
                        path=path,
                        made=_differing(used, expected),
                    )
                )
        self.done = {trial.content_hash: trial for trial in rows}

    def create(self) -> None:
        """Create the file if there is none. :raises JournalError: it cannot be written"""
        try:
            self.path.open("ab").close()
        except OSError as error:
            raise JournalError(
                deferred("{path}: {strerror}; choose another file", path=self.path, strerror=error.strerror)
            ) from error

    def add(self, finished: Trial) -> None:
        """Append a trial. :raises JournalError: it cannot be written"""
        append_line(self.path, json_line(finished.to_json()))
        self.done[finished.content_hash] = finished
        self.added += 1


def _differing(used: Mapping[str, object], expected: Mapping[str, object]) -> str:
    """Return in words what differs between the trials of a file and the run."""
    names = [name for name in used if used[name] != expected[name]]
    return "; ".join(f"{name} {used[name]!r:.200}, expected {expected[name]!r:.200}" for name in names)
