"""Draft runs that people start on the page: one at a time, in a thread, file by file.

Each item is stored at once. A run goes on when its page is left, and ends with the server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agent.batch.run import (
    MAX_CONSECUTIVE_FAILURES,
    RETRIES,
    Job,
    Outcome,
    Plan,
    as_completed_limited,
    inspect_one,
    stop_when_unavailable,
)
from agent.batch.sources import SET_BY_OPTION
from agent.conversation import Policy, PolicyError, Stop
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError, read_all
from agent.spectrum.record import Medium, with_medium
from agent.tasks import Task
from reviewer.errors import message
from reviewer.exchange.recognition import Recognition
from reviewer.reading import each_in_turn
from reviewer.store import Draft, Store

_STOP_SECONDS = 3.0


@dataclass(frozen=True)
class DraftWish:
    """What is to be drafted.

    :param policy: makes the policy of one spectrum
    :param threads: inspections at the same time
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    :param min_snr: spectra of a lower ``Spectrum.snr_typical`` are skipped; None: none are
    :param leave_out_others: add no draft of a spectrum that is here for the same task with another text
    """

    files: tuple[Path, ...]
    task: Task
    policy: Callable[[], Policy]
    batch: str = ""
    threads: int = 1
    medium: Medium | None = None
    min_snr: float | None = None
    leave_out_others: bool = False


@dataclass(frozen=True)
class FileOutcome:
    """The result of one file: its new items, those that were already there, those of the same spectra and task with
    another text, spectra below the S/N floor, and messages about problems. ``waiting``: spectra that are being
    drafted; ``read``: all of its spectra were read.
    """

    file: str
    added: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    others: tuple[int, ...] = ()
    skipped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    waiting: int = 0
    read: bool = False

    @property
    def done(self) -> bool:
        return self.read and not self.waiting


@dataclass(frozen=True)
class DraftStatus:
    """How far a run is: the files that were begun, of ``total``. ``error``: why it failed."""

    batch: str
    total: int
    state: Literal["running", "done", "stopped", "failed"] = "running"
    files: tuple[FileOutcome, ...] = ()
    error: str = ""


def draft(
    store: Store, wish: DraftWish, by: str | None = None, stop: Stop | None = None
) -> Generator[tuple[FileOutcome, ...], None, None]:
    """Draft every spectrum of the files, and yield the results of the files after each; problems with a file or a
    spectrum are among them.

    :param by: initials of the person; None for the owner of the database file
    :raises PolicyError: the policy fails for all spectra
    """
    files: list[FileOutcome] = []
    recognition, inner = Recognition(store), Stop()
    # The baseline would fail again in the same way.
    plan = Plan(
        wish.task, lambda sample: wish.policy(), retries=RETRIES if wish.threads > 1 else 0, min_snr=wish.min_snr
    )
    pool = ThreadPoolExecutor(wish.threads, thread_name_prefix="draft")

    def inspected(job: Job, spectrum: Spectrum) -> list[Outcome]:
        try:
            return [inspect_one(job, _Read(spectrum), plan, plan.policy_for(0), inner)]
        except PolicyError as error:
            return [Outcome(job, "policy failed", str(error), spectrum)]

    def submitted() -> Iterator[Future[list[Outcome]]]:
        for number, path in enumerate(wish.files):
            files.append(FileOutcome(path.name))
            try:
                for spectrum in each_in_turn(read_all(path)):
                    stated = spectrum if wish.medium is None else with_medium(spectrum, wish.medium, SET_BY_OPTION)
                    files[number] = replace(files[number], waiting=files[number].waiting + 1)
                    yield pool.submit(inspected, Job(str(number), path), stated)
            except SpectrumError as error:
                problem = tr("found {found}; expected {expected}", found=error.actual, expected=error.expected)
                files[number] = replace(files[number], problems=(*files[number].problems, problem))
            files[number] = replace(files[number], read=True)

    results = as_completed_limited(pool, submitted(), 2 * wish.threads, inner)
    with (stop or Stop()).waking(inner.set), closing(results):
        for outcome in stop_when_unavailable(results, wish.threads + MAX_CONSECUTIVE_FAILURES):
            number = int(outcome.job.key)
            file = replace(files[number], waiting=files[number].waiting - 1)
            files[number] = _with(file, outcome, store, recognition, wish, by)
            yield tuple(files)
    yield tuple(files)


@dataclass(frozen=True)
class _Read:
    """A spectrum that was read already."""

    read: Spectrum

    def spectrum(self) -> Spectrum:
        return self.read


def _with(
    file: FileOutcome, outcome: Outcome, store: Store, recognition: Recognition, wish: DraftWish, by: str | None
) -> FileOutcome:
    """Return a file's result with that of one more spectrum, whose draft is added. A stopped one is not recorded."""
    if outcome.reason == "stopped":
        return file
    if outcome.trajectory is None or outcome.spectrum is None or not outcome.is_inspected:
        name = "" if outcome.spectrum is None or outcome.spectrum.name == file.file else f"{outcome.spectrum.name}: "
        detail = name + tr(outcome.detail)
        if outcome.reason == "low S/N":
            return replace(file, skipped=(*file.skipped, detail))
        return replace(file, problems=(*file.problems, detail))
    new = Draft(outcome.trajectory, outcome.spectrum, wish.batch, pictures=outcome.pictures)
    here = recognition.find(new)
    if here.same is not None:
        return replace(file, known=(*file.known, here.same))
    if here.others:
        file = replace(file, others=(*file.others, *here.others))
        if wish.leave_out_others:
            return file
    (added,) = store.items.add_all([new], by=by)
    if added.new:
        return replace(file, added=(*file.added, added.item_id))
    return replace(file, known=(*file.known, added.item_id))


class Drafting:
    """The draft runs that people start on one server."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._stop = Stop()
        self._thread: threading.Thread | None = None
        self.status: DraftStatus | None = None

    def start(self, person: str, wish: DraftWish) -> None:
        """Start a run in a person's name. :raises PolicyError: another one is running"""
        with self._lock:
            if self.status is not None and self.status.state == "running":
                raise PolicyError(tr("Other spectra are being drafted. Wait for their end, or stop it."))
            self._stop = Stop()
            self.status = DraftStatus(wish.batch, len(wish.files))
            # In the language of the person who asked for it.
            self._thread = threading.Thread(
                target=copy_context().run, args=(self._run, person, wish, self._stop), daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Stop a run, or forget the result of one that has ended."""
        with self._lock:
            if self.status is not None and self.status.state == "running":
                self._stop.set()
            else:
                self.status = None

    def close(self) -> None:
        """Stop a run; what was drafted stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self, person: str, wish: DraftWish, stop: Stop) -> None:
        begun = status = DraftStatus(wish.batch, len(wish.files))
        try:
            for files in draft(self._store, wish, person, stop):
                self.status = status = replace(begun, files=files)
            self.status = replace(status, state="stopped" if stop.is_set else "done")
        except Exception as error:
            self.status = replace(status, state="failed", error=message(error))
