"""Backups: copies of the database with metadata, which of them are retained, and the daily schedule.

A copy gets its name only when it is complete; its metadata, a JSON file of the same name, follow. A copy
without metadata (after a power cut) can be restored like any other, and is never deleted.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Literal

from agent import locks
from agent.errors import Refusal
from agent.language import deferred, tr
from reviewer.store import Head, Store, StoreError
from reviewer.store.spectrum_files import SpectrumFiles, copy_new, spectra_folder
from reviewer.store.sqlite.files import PART, copy, sync
from reviewer.store.sqlite.tables import open_snapshot


class BackupError(Refusal):
    """A backup or restore failed; existing files are unchanged."""


class BadArchive(BackupError):
    """A plain archive does not match its manifest or the schema; the message says where."""


class BadBackup(BackupError):
    """A backup that cannot be restored: damaged, changed or inconsistent."""


DAILY, WEEKLY, MONTHLY = 7, 4, 6
"""How many days, weeks and months keep their last backup. Only periods with a backup count, so a machine that
was off for a year still has all of them."""
_TIME = "%Y%m%dT%H%M%SZ"
_CLOCK_TOLERANCE = timedelta(minutes=5)  # by which two machines' clocks may differ


def default_folder(database: Path) -> Path:
    """Return the default folder of backups."""
    return database.resolve().parent / "backups"


def backup_name(database: Path, at: datetime) -> str:
    """Return the name of a backup without suffix: ``annotations-20261121T160839Z``."""
    return f"{database.stem}-{at.astimezone(UTC).strftime(_TIME)}"


def backup_time(database: Path, name: str) -> datetime | None:
    """Return the time of a backup from its name; None if it is not a backup of this database."""
    match = re.fullmatch(re.escape(database.stem) + r"-(\d{8}T\d{6}Z)", name)
    if match is None:
        return None
    try:
        return datetime.strptime(match[1], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def retained(times: Collection[datetime], now: datetime) -> set[datetime]:
    """Return which of the backups made at these times (UTC) are retained.

    The last one of each of the last seven days, four weeks (Monday to Sunday) and six months that have one.
    A time in the future comes from a wrong clock: the backup is retained, and counts for no day.
    """
    ahead = {at for at in times if at > now + _CLOCK_TOLERANCE}
    past = sorted(set(times) - ahead, reverse=True)
    return ahead | {
        at
        for period, most in ((_day, DAILY), (_week, WEEKLY), (_month, MONTHLY))
        for at in _last_of_each(past, period, most)
    }


def _last_of_each(
    newest_first: Sequence[datetime], period: Callable[[datetime], Hashable], most: int
) -> list[datetime]:
    last: dict[Hashable, datetime] = {}
    for at in newest_first:
        last.setdefault(period(at), at)
    return list(last.values())[:most]


def _day(at: datetime) -> Hashable:
    return at.date()


def _week(at: datetime) -> Hashable:
    return at.isocalendar()[:2]


def _month(at: datetime) -> Hashable:
    return at.year, at.month


SCHEMA = "spec-o3/backup/1"
Reason = Literal["daily", "by hand"]
_ABANDONED_AFTER = timedelta(days=1)
"""Age at which a partial backup is deleted: its writer was killed."""


@dataclass(frozen=True)
class Backup:
    """A backup and its metadata.

    :param head: of the audit log
    :param spectra: spectra whose arrays are in files, which are copied to ``spectra/`` next to the backup
    :param spectra_missing: those of them that have no file; the backup lacks them
    """

    path: Path
    at: datetime
    bytes: int
    sha256: str
    why: Reason
    schema: int
    head: Head
    spectra: int = 0
    spectra_missing: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the content of the metadata file."""
        return {
            "format": SCHEMA,
            "file": self.path.name,
            "at": self.at.isoformat(timespec="seconds"),
            "bytes": self.bytes,
            "sha256": self.sha256,
            "why": self.why,
            "schema": self.schema,
            "log_head": str(self.head),
            **({"spectra_in_files": self.spectra, "spectra_missing": self.spectra_missing} if self.spectra else {}),
        }


def metadata_path(path: Path) -> Path:
    """Return the path of a backup's metadata: ``annotations-TIME.json`` of ``annotations-TIME.db``."""
    return path.with_suffix(".json")


def utc_now() -> datetime:
    return datetime.now(UTC)


def back_up(
    database: Path,
    target: Path,
    why: Reason,
    progress: Callable[[int, int], None] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Backup:
    """Copy a database while people work on it.

    Files of spectra are copied first, so that the copy of the database has its name only when it is nearly complete.

    :param target: the new file; or a folder, created if needed, for a file named by the time
    :param progress: called with the number of files of spectra, and then of pages, that are done, and their total
    :raises StoreError: the database is damaged or cannot be read, or the file exists
    :raises CannotWrite: there is no such folder, or not enough space
    :raises BackupError: the folder cannot be created or written to
    """
    into_folder = target.is_dir() or target.suffix == ""
    try:
        if into_folder:
            # Backups hold the hashes of passwords.
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
        at, path = _free_name(database, target, clock) if into_folder else (clock(), target)
        _refuse_existing(path)
        _copy_spectra(database, path.parent, progress)
        copy(database, path, progress)
        try:
            backup = _with_spectra(describe(path, at.replace(microsecond=0), why), database)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        _write_metadata(backup)
    except OSError as error:
        raise BackupError(
            tr("{target}: {strerror}. No backup was made.", target=target, strerror=error.strerror)
        ) from error
    return backup


def spectra_of_backups(folder: Path) -> Path:
    """Return the folder with the files of spectra of all backups in a folder."""
    return folder / "spectra"


def _copy_spectra(database: Path, folder: Path, progress: Callable[[int, int], None] | None) -> None:
    """Copy the existing files of spectra that the backups in this folder do not have yet."""
    names = list(SpectrumFiles(spectra_folder(database)).names())
    done = count()

    def on_file() -> None:
        if progress is not None:
            progress(next(done), len(names))

    copy_new(spectra_folder(database), spectra_of_backups(folder), names, on_file)


def _with_spectra(backup: Backup, database: Path) -> Backup:
    """Copy the files of spectra that came meanwhile; return how many the backup needs, and how many it lacks."""
    with open_snapshot(backup.path) as moment:
        names = moment.spectra_in_files()
    if not names:
        return backup
    _, missing = copy_new(spectra_folder(database), spectra_of_backups(backup.path.parent), names)
    return replace(backup, spectra=len(names), spectra_missing=len(missing))


def describe(path: Path, at: datetime, why: Reason) -> Backup:
    """Return the metadata of an existing copy."""
    with open_snapshot(path) as moment:
        schema, head = moment.schema, moment.head
    return Backup(path, at, path.stat().st_size, sha256_of(path), why, schema, head)


def list_backups(database: Path, folder: Path) -> list[Backup]:
    """Return the backups of a database in a folder that have metadata, newest first."""
    backups = []
    if folder.is_dir():
        for path in folder.glob("*.db"):
            known = read_metadata(path) if backup_time(database, path.stem) else None
            if known is not None:
                backups.append(known)
    return sorted(backups, key=lambda backup: backup.at, reverse=True)


def read_metadata(path: Path) -> Backup | None:
    """Read the metadata of a backup; None if they are missing or unreadable."""
    try:
        metadata: Mapping[str, Any] = json.loads(metadata_path(path).read_text(encoding="utf-8"))
        if metadata["format"] != SCHEMA or metadata["file"] != path.name or metadata["why"] not in ("daily", "by hand"):
            return None
        head = Head.parse(str(metadata["log_head"]))
        at = datetime.fromisoformat(metadata["at"]).astimezone(UTC)
        known = Backup(
            path, at, int(metadata["bytes"]), str(metadata["sha256"]), metadata["why"], int(metadata["schema"]), head
        )
        in_files, missing = int(metadata.get("spectra_in_files", 0)), int(metadata.get("spectra_missing", 0))
        return replace(known, spectra=in_files, spectra_missing=missing)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_bytes(path: Path) -> None:
    """Compare a backup with its metadata. :raises BadBackup: the size or the SHA-256 differs"""
    known = read_metadata(path)
    if known is None:
        return
    size = path.stat().st_size
    if size != known.bytes:
        raise BadBackup(
            tr(
                "{path}: found {found} bytes, expected the {bytes} in its metadata",
                path=path,
                found=size,
                bytes=known.bytes,
            )
        )
    if sha256_of(path) != known.sha256:
        raise BadBackup(
            tr(
                "{path}: its SHA-256 differs from the one in {name}: the file was changed",
                path=path,
                name=metadata_path(path).name,
            )
        )


def prune(database: Path, folder: Path, now: datetime) -> list[Path]:
    """Delete daily backups that are not retained, and unfinished parts; return what was deleted.

    :raises OSError: one of them cannot be deleted
    """
    daily = {backup.at: backup.path for backup in list_backups(database, folder) if backup.why == "daily"}
    gone = [daily[at] for at in daily.keys() - retained(daily.keys(), now)]
    for path in gone:
        path.unlink()
        metadata_path(path).unlink(missing_ok=True)
    for part in folder.glob(f"*{PART}"):
        written = datetime.fromtimestamp(part.stat().st_mtime, UTC)
        if backup_time(database, part.name.split(".")[0]) and now - written > _ABANDONED_AFTER:
            part.unlink(missing_ok=True)
            gone.append(part)
    return sorted(gone)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_existing(path: Path) -> None:
    metadata = metadata_path(path)
    if metadata == path:
        raise BackupError(
            tr(
                "{path}: expected a name that ends in .db; the metadata are written to a .json file next to it",
                path=path,
            )
        )
    if os.path.lexists(metadata):
        raise BackupError(
            tr(
                "{metadata}: found a file, expected none: the backup's metadata need this name. Choose another one",
                metadata=metadata,
            )
        )


def _free_name(database: Path, folder: Path, clock: Callable[[], datetime]) -> tuple[datetime, Path]:
    """Return a name of this second, or of the next free second."""
    at = clock().replace(microsecond=0)
    while os.path.lexists(path := folder / f"{backup_name(database, at)}.db"):
        at += timedelta(seconds=1)
    return at, path


def _write_metadata(backup: Backup) -> None:
    path = metadata_path(backup.path)
    part = path.with_name(f"{path.name}.{os.getpid()}{PART}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(json.dumps(backup.to_json(), indent=1) + "\n")
        sync(part)
        part.replace(path)
        sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise StoreError(
            tr(
                "{path}: the backup was made, but its metadata {name} could not be written ({strerror}). It "
                "can be restored, and is never deleted automatically.",
                path=backup.path,
                name=path.name,
                strerror=error.strerror,
            )
        ) from error


FIRST_CHECK = 60.0
"""Seconds after the start: the first page load does not compete with a copy for the disk."""
CHECK_INTERVAL = 600.0
"""Seconds between two checks whether a backup is due."""
RETRY_INTERVAL = 3600.0
"""Seconds until a failed backup is tried again."""
_STOP_SECONDS = 3.0  # seconds to wait for a running backup when the app stops

log = logging.getLogger("spec_o3")


class _Stopped(Exception):
    """The app is being stopped."""


class DailyBackups:
    """Daily backups of an open store into one folder, which several apps on one database may share.

    ``problem``: why the last backup failed, as a sentence; "" if it succeeded.
    """

    def __init__(self, store: Store, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self.problem = ""
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def existing(self) -> list[Backup]:
        """The existing backups, newest first."""
        return list_backups(self._store.path, self.folder)

    def make_if_due(self) -> Backup | None:
        """Make the backup of this day (UTC), unless it exists or another app is making it.

        An error is stored in ``problem`` and in the audit log; nothing is raised.
        """
        try:
            with self._locked(wait=False) as is_ours:
                if not is_ours or self._has_today():
                    return None
                backup = self._make("daily", None)
                gone = prune(self._store.path, self.folder, self._clock())
                if gone:
                    self._store.log.note(None, "backups deleted", "", files=[path.name for path in gone])
        except _Stopped:
            return None
        except (BackupError, StoreError, OSError) as error:
            self._failed(str(error))
            return None
        self.problem = ""
        return backup

    def make_now(self, person: str | None) -> Backup:
        """Make one more backup at a person's request; it is kept until a person deletes it.

        :raises BackupError: the folder cannot be created or written to
        :raises StoreError: not enough space, or the database is damaged
        """
        with self._locked(wait=True):
            backup = self._make("by hand", person)
        self.problem = ""
        return backup

    def start(self) -> None:
        """Check every ten minutes whether a backup is due, in its own thread."""
        self._thread = threading.Thread(target=self._run, name="daily backups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread. A running copy is cancelled and its part is deleted."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        wait = FIRST_CHECK
        while not self._stop.wait(wait):
            try:
                self.make_if_due()
            except Exception:
                # If the thread ended, no more backups would be made, and nobody would notice.
                log.exception("the daily backup failed")
                self.problem = deferred("The daily backup failed; details are in the server log.")
            wait = RETRY_INTERVAL if self.problem else CHECK_INTERVAL

    def _has_today(self) -> bool:
        today = self._clock().astimezone(UTC).date()
        return any(backup.why == "daily" and backup.at.date() == today for backup in self.existing)

    def _make(self, why: Reason, person: str | None) -> Backup:
        backup = back_up(self._store.path, self.folder, why, self._continue, self._clock)
        self._store.log.note(person, "backup made", backup.path.name, bytes=backup.bytes, sha256=backup.sha256, why=why)
        return backup

    def _continue(self, done: int, of: int) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _failed(self, why: str) -> None:
        self.problem = deferred("The daily backup could not be made: {why}", why=why)
        log.error("%s", self.problem)
        try:
            self._store.log.note(None, "backup failed", "", why=why)
        except StoreError as error:
            # A disk that is too full for a copy may be too full for this entry.
            log.error("this could not be written into the audit log: %s", error)

    @contextmanager
    def _locked(self, wait: bool) -> Iterator[bool]:
        """Yield whether this app has the lock on the folder. A lock ends with its process."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = locks.open_folder(self.folder)
        except OSError as error:
            raise BackupError(
                tr("{folder}: {strerror}. No backup was made.", folder=self.folder, strerror=error.strerror)
            ) from error
        try:
            yield locks.take(handle, None if wait else 0.0)
        finally:
            os.close(handle)
