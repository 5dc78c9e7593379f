"""Import drafts from a file of any size: checked, written in short transactions, cancelled and resumed.

One import of a database runs at a time, in any process; its row in ``store.imports`` says how far it is. Unless bad
rows are skipped, every row is checked before one is written. People work on meanwhile.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from agent import locks
from agent.language import joined, tr, trn
from agent.spectrum import Spectrum
from agent.text import one_line
from agent.trajectory import Trajectory
from reviewer.exchange.draft_file import NAMES, START, DraftFile, ImportFileError, ImportProblem, Place, file_at
from reviewer.exchange.pictures import PictureError
from reviewer.exchange.recognition import Recognition
from reviewer.rules.campaign import known_tasks
from reviewer.store import (
    Added,
    Draft,
    ImportJob,
    ImportProgress,
    ImportRequest,
    ImportStopped,
    SameSpectrum,
    Store,
    StoreError,
)

__all__ = [
    "NAMES",
    "Findings",
    "ImportFileError",
    "ImportProblem",
    "Imported",
    "OtherText",
    "SameSpectrum",
    "close_job",
    "continue_import",
    "delete_old_uploads",
    "import_file",
    "imports_folder",
    "is_importing",
    "one_import",
    "own_row",
    "request_of",
    "start_or_resume",
]

OnImport = Callable[[ImportJob], None]
"""Called with the import after each part of it."""
PART = 100
"""Rows per transaction, some tenths of a millisecond each: a submit of another person waits as long."""
# Another process tries again after 25 ms or less while it waits for the lock of the database.
_PAUSE = 0.03
_SAVED_EVERY = 0.5  # seconds between two records of the place while rows are checked
_QUESTION_SECONDS = 0.1  # another page may ask at the same moment, and a lock has one holder
_LOCK_SECONDS = 1.0  # a page that asks whether an import runs holds the lock for a moment
MOST_LISTED = 200
"""Bad rows, and rows with another text, that an import lists; all are counted."""
_MOST_RANGES = 1000
UPLOADS_KEPT = timedelta(days=14)
"""How long the uploaded files of an unfinished import are kept for its resumption."""


@dataclass(frozen=True)
class OtherText:
    """A row whose spectrum is in the database for the same task with another text: in these items."""

    line: int
    name: str
    items: tuple[int, ...]


@dataclass
class Findings:
    """What a step of an import found so far. Items are ranges, ``[first, last]``, in the order of the rows; at most
    1,000 ranges of each kind. ``unlisted``: rows of known items that are in no range. ``control``: rows whose texts
    have control tokens of the tokenizer, so that they are no training data; ``control_texts`` says where.
    """

    rows: int = 0
    added: int = 0
    known: int = 0
    unlisted: int = 0
    bad: int = 0
    others: int = 0
    control: int = 0
    added_items: list[list[int]] = field(default_factory=list)
    known_items: list[list[int]] = field(default_factory=list)
    problems: list[ImportProblem] = field(default_factory=list)
    other_texts: list[OtherText] = field(default_factory=list)
    control_texts: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, job: ImportJob) -> Findings:
        """Read the findings of an import as they are stored."""
        counts = dict(job.progress.counts or {})
        counts["problems"] = [ImportProblem(*values) for values in counts.get("problems", ())]
        counts["other_texts"] = [
            OtherText(line, name, tuple(items)) for line, name, items in counts.get("other_texts", ())
        ]
        return cls(**counts)

    def to_json(self) -> dict[str, Any]:
        return {
            **vars(self),
            "problems": [[p.line, p.field, p.reason] for p in self.problems],
            "other_texts": [[o.line, o.name, list(o.items)] for o in self.other_texts],
        }

    def add_problem(self, problem: ImportProblem) -> None:
        self.bad += 1
        if len(self.problems) < MOST_LISTED:
            self.problems.append(problem)

    def add_other(self, other: OtherText) -> None:
        self.others += 1
        if len(self.other_texts) < MOST_LISTED:
            self.other_texts.append(other)

    def add_control(self, line: int, problems: Sequence[str]) -> None:
        self.control += 1
        if len(self.control_texts) < MOST_LISTED:
            self.control_texts.append(one_line(tr("row {line}: {problems}", line=line, problems=joined(problems))))

    def add_known(self, item: int) -> None:
        self.known += 1
        self.unlisted += not _append(self.known_items, item)

    def add_new(self, item: int) -> None:
        self.added += 1
        _append(self.added_items, item)


def _append(ranges: list[list[int]], item: int) -> bool:
    """Add an item to the ranges, unless there are too many; return whether it is in them."""
    if ranges and ranges[-1][1] + 1 == item:
        ranges[-1][1] = item
    elif len(ranges) < _MOST_RANGES:
        ranges.append([item, item])
    else:
        return False
    return True


def items_of(ranges: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the items of ranges one by one."""
    return tuple(item for first, last in ranges for item in range(first, last + 1))


@dataclass(frozen=True)
class Imported:
    """The result of an import.

    :param added: the new items
    :param known: the items that have the text of a row already, one per row; those of the first 1,000 ranges
    :param problems: the bad rows, 200 at most
    :param other_texts: rows of spectra that were in the database for the same task, with another text; 200 at most
    """

    added: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    problems: tuple[ImportProblem, ...] = ()
    other_texts: tuple[OtherText, ...] = ()


def import_file(
    store: Store,
    path: Path,
    spectra: Path | None = None,
    batch: str = "",
    skip_bad: bool = False,
    progress: OnImport | None = None,
    by: str | None = None,
    same_spectrum: SameSpectrum = "import",
) -> Imported:
    """Import a file of drafts; a row whose text an item already has, in any version, is not added again.

    :param path: the file, or a folder that holds one of ``NAMES``
    :param spectra: a folder with spectra that the rows only name
    :param batch: name of the batch, for filters; the file's name if not given
    :param skip_bad: import the good rows if others are bad; else one bad row refuses the whole file
    :param progress: called with the import after each part
    :param by: initials of the person; None for the owner of the database file
    :param same_spectrum: what to do with rows whose spectrum is here for the same task with another text
    :raises ImportFileError: there is no such file or folder, no row in it, a picture changed meanwhile, or another
        import is running
    """
    request = request_of(path, spectra, batch, skip_bad, same_spectrum)
    with one_import(store.path):
        job = continue_import(store, start_or_resume(store, request, by).id, progress)
    findings = Findings.of(job)
    return Imported(
        items_of(findings.added_items),
        items_of(findings.known_items),
        tuple(findings.problems),
        tuple(findings.other_texts),
    )


def request_of(
    path: Path,
    spectra: Path | None = None,
    batch: str = "",
    skip_bad: bool = False,
    same_spectrum: SameSpectrum = "import",
    uploaded: bool = False,
) -> ImportRequest:
    """Return the request for a file as it is now. :raises ImportFileError: there is no such file or folder"""
    file = file_at(path).resolve()
    try:
        status = file.stat()
    except OSError as error:
        raise ImportFileError(f"{file}: {error.strerror}") from error
    folder = None if spectra is None else spectra.resolve()
    name = batch or path.resolve().name
    return ImportRequest(file, status.st_size, status.st_mtime_ns, folder, name, skip_bad, same_spectrum, uploaded)


def start_or_resume(store: Store, request: ImportRequest, by: str | None = None) -> ImportJob:
    """Return the unfinished import of the same unchanged file with the same choices, set to running, or a new one."""
    job = store.imports.unfinished(request)
    if job is None:
        return store.imports.create(request, by)
    store.imports.resume(job.id, by)
    return store.imports.get(job.id)


def continue_import(store: Store, job_id: int, on_part: OnImport | None = None) -> ImportJob:
    """Run an import from where it is to its end, in this process, which has the lock of ``one_import``.

    :raises ImportFileError: the file changed or cannot be read, or a picture changed; the import says why
    :raises ImportStopped: it was cancelled, also before it began
    :raises StoreError: as in every write; rows before it stay
    """
    try:
        _Run(store, job_id, on_part).run()
    except ImportStopped:
        raise
    except (ImportFileError, PictureError, StoreError, OSError) as error:
        done = Findings.of(store.imports.get(job_id)).added
        before = trn("{n:,} row was imported", "{n:,} rows were imported", done) if done else tr("Nothing was imported")
        store.imports.end(job_id, "failed", tr("{before}: {error}", before=before, error=error))
        if isinstance(error, StoreError | ImportFileError):
            raise
        if done:
            raise ImportFileError(
                tr("{before}; import the file again for the rest: {error}", before=before, error=error)
            ) from error
        raise ImportFileError(tr("{before}: {error}", before=before, error=error)) from error
    except BaseException:
        # Ctrl C: what is written stays, and the same command resumes.
        store.imports.end(job_id, "cancelled")
        raise
    job = store.imports.get(job_id)
    close_job(store, job)
    return job


def close_job(store: Store, job: ImportJob) -> None:
    """Delete the files that were uploaded for an import, once no import of them can be resumed."""
    if job.request.uploaded and job.state in ("done", "refused"):
        uploads = imports_folder(store.path)
        folder = uploads / job.request.file.relative_to(uploads).parts[0]
        if not store.imports.unfinished_in(folder):
            shutil.rmtree(folder, ignore_errors=True)


def delete_old_uploads(store: Store, now: datetime) -> list[Path]:
    """Delete uploaded files whose import was not resumed for ``UPLOADS_KEPT``; return their folders.

    So are folders that no import can use: the program was killed while it made or deleted them. While an import is
    running, nothing is deleted.
    """
    uploads = imports_folder(store.path)
    if not uploads.is_dir() or is_importing(store.path):
        return []
    gone = []
    with suppress(ImportFileError, OSError), one_import(store.path):
        for folder in sorted(path for path in uploads.iterdir() if path.is_dir()):
            changed = store.imports.unfinished_in(folder) or datetime.fromtimestamp(folder.stat().st_mtime, UTC)
            if now - changed > UPLOADS_KEPT:
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(folder)
    return gone


class _Run:
    """One run of an import."""

    def __init__(self, store: Store, job_id: int, on_part: OnImport | None) -> None:
        self._store = store
        self._id = job_id
        self._on_part = on_part
        job = store.imports.get(job_id)
        self._job, self._request, self._step = job, job.request, job.progress.step
        self._findings = Findings.of(job)
        self._before = job.progress.seconds
        self._since = time.monotonic()
        self._place = Place(job.progress.offset, job.progress.line)

    def run(self) -> None:
        _require_unchanged(self._request)
        known, _ = known_tasks(self._store.path)
        self._drafts = DraftFile(
            self._request.file, self._request.spectra, self._request.batch, known, self._store.spectra.exists
        )
        self._recognition = Recognition(self._store, self._job.newest)
        if self._step == "check" and not self._check():
            self._store.imports.end(self._id, "refused")
            return
        self._write()
        self._store.imports.end(self._id, "done")

    def _check(self) -> bool:
        """Check every row; return whether the rows may be written, and begin that step."""
        saved = time.monotonic()
        for place, draft in self._drafts.rows(self._place):
            self._judge(place, draft)
            self._place = place
            if time.monotonic() - saved > _SAVED_EVERY:
                self._save()
                saved = time.monotonic()
        self._require_rows()
        waits = self._findings.others and self._request.same_spectrum == "ask"
        if waits or (self._findings.bad and not self._request.skip_bad):
            self._save()
            return False
        # What is written must be what was checked.
        _require_unchanged(self._request)
        self._step, self._place, self._findings = "write", START, Findings()
        self._before, self._since = 0.0, time.monotonic()
        self._save()
        return True

    def _write(self) -> None:
        rows = self._drafts.rows(self._place)
        written = 0.0
        while some := list(islice(rows, PART)):
            good = [draft for place, read_draft in some if (draft := self._judge(place, read_draft)) is not None]
            self._place = some[-1][0]
            time.sleep(max(0.0, written + _PAUSE - time.monotonic()))
            self._store.imports.add(self._job, good, self._added)
            written = time.monotonic()
            self._report()
        self._require_rows()

    def _judge(self, place: Place, draft: Draft | ImportProblem) -> Draft | None:
        """Count a row; return the draft if it is to be written."""
        self._findings.rows += 1
        if isinstance(draft, ImportProblem):
            self._findings.add_problem(draft)
            return None
        recognised = self._recognition.find(draft)
        if recognised.same is not None:
            self._findings.add_known(recognised.same)
            return None
        if recognised.others:
            self._findings.add_other(OtherText(place.line, draft.trajectory.spectrum_name, recognised.others))
            if self._request.same_spectrum == "leave out":
                return None
        if problems := draft.trajectory.control_problems():
            self._findings.add_control(place.line, problems)
        return draft

    def _added(self, added: Sequence[Added]) -> ImportProgress:
        for added_item in added:
            if added_item.new:
                self._findings.add_new(added_item.item_id)
            else:
                self._findings.add_known(added_item.item_id)
        return self._progress()

    def _progress(self) -> ImportProgress:
        seconds = self._before + time.monotonic() - self._since
        return ImportProgress(self._step, self._place.offset, self._place.line, self._findings.to_json(), seconds)

    def _save(self) -> None:
        self._store.imports.save(self._id, self._progress())
        self._report()

    def _report(self) -> None:
        if self._on_part is not None:
            self._on_part(replace(self._job, progress=self._progress()))

    def _require_rows(self) -> None:
        if not self._findings.rows:
            raise ImportFileError(tr("{path}: found no rows, expected trajectories", path=self._drafts.path))


def _require_unchanged(request: ImportRequest) -> None:
    try:
        status = request.file.stat()
    except OSError as error:
        raise ImportFileError(f"{request.file}: {error.strerror}") from error
    if (status.st_size, status.st_mtime_ns) != (request.size, request.modified):
        raise ImportFileError(
            tr(
                "{file}: the file was changed since its import began. Import it again: rows that are here "
                "already are not added twice",
                file=request.file,
            )
        )


def imports_folder(database: Path) -> Path:
    """Return the folder of uploaded files that are being imported; it also carries the lock of imports."""
    return database.with_name(f"{database.name}.imports").resolve()


@contextmanager
def one_import(database: Path) -> Iterator[None]:
    """The lock of the only running import of a database; it ends with its process.

    :raises ImportFileError: another import is running, or the folder cannot be made
    """
    folder = imports_folder(database)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        handle = locks.open_folder(folder)
    except OSError as error:
        raise ImportFileError(
            tr("{folder}: {strerror}. Nothing was imported.", folder=folder, strerror=error.strerror)
        ) from error
    try:
        if not locks.take(handle, _LOCK_SECONDS):
            raise ImportFileError(
                tr(
                    "{database}: another import into this database is running. Wait for its end, or cancel it in "
                    "the Data tab. Nothing was imported.",
                    database=database,
                )
            )
        yield
    finally:
        os.close(handle)


def is_importing(database: Path) -> bool:
    """Return whether an import into this database is running, in any process."""
    try:
        handle = locks.open_folder(imports_folder(database))
    except OSError:
        return False
    try:
        return not locks.take(handle, _QUESTION_SECONDS)
    finally:
        os.close(handle)


def own_row(
    trajectory: Trajectory, spectrum: Spectrum | str | None, pictures: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a line of ours; ``pictures`` are paths by SHA-256, of pictures that cannot be drawn from the spectrum."""
    row = trajectory.to_json()
    if isinstance(spectrum, Spectrum):
        row["spectrum_data"] = spectrum.to_json()
    if pictures:
        row["pictures"] = dict(pictures)
    return row
