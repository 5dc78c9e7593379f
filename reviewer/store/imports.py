"""Imports of files: what was asked, how far each is, and its items, added in the transaction that records the place.

A file of any size is added in short transactions. The place up to which its rows are in the database is written with
them, so an import that was cancelled or killed resumes there, and no row is added twice.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from agent.language import tr
from reviewer.store.accounts import require_active
from reviewer.store.errors import NotFound, StoreError
from reviewer.store.items import Items
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.values import Added, Draft

SameSpectrum = Literal["import", "leave out", "ask"]
"""What to do with rows whose spectrum is in the database for the same task with another text; "ask": import nothing."""
ImportStep = Literal["check", "write"]
ImportState = Literal["running", "cancelled", "failed", "refused", "done"]
"""``refused``: nothing was added, because rows are bad or wait for a choice. ``running`` without a process that has the
lock of imports: the process was ended."""
UNFINISHED: tuple[ImportState, ...] = ("running", "cancelled", "failed")


class ImportStopped(StoreError):
    """The import was cancelled, also from another process; what it was writing was not kept."""


@dataclass(frozen=True)
class ImportRequest:
    """A file to import.

    :param size: bytes of the file
    :param modified: time of its last change, ns
    :param spectra: folder of the spectra that rows only name
    :param uploaded: whether file and folder were uploaded for this import, and are deleted at its end
    """

    file: Path
    size: int
    modified: int
    spectra: Path | None = None
    batch: str = ""
    skip_bad: bool = False
    same_spectrum: SameSpectrum = "import"
    uploaded: bool = False


@dataclass(frozen=True)
class ImportProgress:
    """How far an import is.

    :param offset: bytes of the file read in this step
    :param line: the last line, or element of a JSON list, that was read in this step
    :param counts: what was found in this step so far; the importer's own JSON
    :param seconds: time worked on this step
    """

    step: ImportStep
    offset: int = 0
    line: int = 0
    counts: Mapping[str, Any] | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class ImportJob:
    """An import as it is stored.

    :param newest: the last item before the import
    :param message: why it failed; empty otherwise
    """

    id: int
    request: ImportRequest
    by: str | None
    newest: int
    state: ImportState
    progress: ImportProgress
    message: str
    started_at: datetime
    changed_at: datetime


_SAVE = """
UPDATE imports SET step = ?, "offset" = ?, line = ?, counts = ?, seconds = ?, changed_at = ?
WHERE id = ? AND state = 'running'
"""


class Imports:
    """The imports of a database."""

    def __init__(self, database: Database, items: Items) -> None:
        self._database = database
        self._items = items

    def create(self, request: ImportRequest, by: str | None = None) -> ImportJob:
        """Record a new import. It begins with a check, unless nothing that a check finds keeps the good rows out.

        :raises NotAllowed: ``by`` is no longer active
        """
        step: ImportStep = "write" if request.skip_bad and request.same_spectrum != "ask" else "check"
        at = stamp(self._database.now())
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            (newest,) = db.execute("SELECT coalesce(max(id), 0) FROM items").fetchone()
            row = {
                "file": str(request.file),
                "size": request.size,
                "modified": request.modified,
                "spectra": None if request.spectra is None else str(request.spectra),
                "batch": request.batch,
                "skip_bad": int(request.skip_bad),
                "same_spectrum": request.same_spectrum,
                "uploaded": int(request.uploaded),
                "person": by,
                "newest": newest,
                "step": step,
                "state": "running",
                "offset": 0,
                "line": 0,
                "counts": "null",
                "message": "",
                "seconds": 0.0,
                "started_at": at,
                "changed_at": at,
            }
            number = insert(db, "imports", row)
        return self.get(number)

    def get(self, job: int) -> ImportJob:
        """Return an import. :raises NotFound: there is none with this number"""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM imports WHERE id = ?", (job,)).fetchone()
            if row is None:
                raise NotFound(tr("There is no import {job}.", job=job))
            return _job(row)

    def latest(self) -> ImportJob | None:
        """Return the import that was started last; None if there was none."""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM imports ORDER BY id DESC LIMIT 1").fetchone()
            return None if row is None else _job(row)

    def unfinished(self, request: ImportRequest) -> ImportJob | None:
        """Return the last import of this unchanged file with these choices, if it can be resumed."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT * FROM imports WHERE file = ? ORDER BY id DESC LIMIT 1", (str(request.file),)
            ).fetchone()
            job = None if row is None else _job(row)
            return job if job is not None and job.state in UNFINISHED and job.request == request else None

    def unfinished_in(self, folder: Path) -> datetime | None:
        """Return the time of the last change of an import of a file in this folder that can be resumed; None if there
        is no such import."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT file, changed_at FROM imports WHERE state IN ('running', 'cancelled', 'failed')"
            ).fetchall()
            times = [datetime.fromisoformat(at) for file, at in rows if Path(file).is_relative_to(folder)]
            return max(times, default=None)

    def resume(self, job: int, by: str | None = None) -> None:
        """Set an import that was cancelled, failed or ended with its process back to running; its further items are
        added by this person.

        :raises NotAllowed: ``by`` is no longer active
        :raises StoreError: it is done, or was refused
        """
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            changed = db.execute(
                "UPDATE imports SET state = 'running', message = '', person = ?, changed_at = ? "
                "WHERE id = ? AND state IN ('running', 'cancelled', 'failed')",
                (by, stamp(self._database.now()), job),
            ).rowcount
            if not changed:
                raise StoreError(tr("Import {job} cannot be resumed: it is finished. Import the file again.", job=job))

    def save(self, job: int, progress: ImportProgress) -> None:
        """Record how far an import is. :raises ImportStopped: it was cancelled"""
        with self._database.write() as db:
            self._save(db, job, progress)

    def add(
        self, job: ImportJob, drafts: Sequence[Draft], progress: Callable[[Sequence[Added]], ImportProgress]
    ) -> None:
        """Add a part of a file and record its end as the place of the import, in one transaction.

        :param progress: returns what to record, given the result of each draft
        :raises ImportStopped: the import was cancelled; nothing of this part was added
        :raises WrongSpectrum: a spectrum is not the trajectory's; nothing of this part was added
        :raises NotAllowed: the person of the import is no longer active
        """
        self._items.add_part(drafts, job.by, lambda db, added: self._save(db, job.id, progress(added)))

    def end(self, job: int, state: Literal["cancelled", "failed", "refused", "done"], message: str = "") -> None:
        """Record the end of a running import; one that was cancelled meanwhile stays so."""
        at = stamp(self._database.now())
        with self._database.write() as db:
            db.execute(
                "UPDATE imports SET state = ?, message = ?, changed_at = ? WHERE id = ? AND state = 'running'",
                (state, message, at, job),
            )

    def _save(self, db: Transaction, job: int, progress: ImportProgress) -> None:
        counts = json.dumps(progress.counts, ensure_ascii=False, separators=(",", ":"))
        values = (progress.step, progress.offset, progress.line, counts, progress.seconds)
        if not db.execute(_SAVE, (*values, stamp(self._database.now()), job)).rowcount:
            raise ImportStopped(tr("Import {job} was cancelled. Rows before this moment are in the database.", job=job))


def _job(row: sqlite3.Row) -> ImportJob:
    request = ImportRequest(
        file=Path(row["file"]),
        size=row["size"],
        modified=row["modified"],
        spectra=None if row["spectra"] is None else Path(row["spectra"]),
        batch=row["batch"],
        skip_bad=bool(row["skip_bad"]),
        same_spectrum=row["same_spectrum"],
        uploaded=bool(row["uploaded"]),
    )
    return ImportJob(
        id=row["id"],
        request=request,
        by=row["person"],
        newest=row["newest"],
        state=row["state"],
        progress=ImportProgress(
            row["step"], row["offset"], row["line"], json.loads(row["counts"]), seconds=row["seconds"]
        ),
        message=row["message"],
        started_at=datetime.fromisoformat(row["started_at"]),
        changed_at=datetime.fromisoformat(row["changed_at"]),
    )
