"""Backups: a copy of the database at one moment, with a few facts about it in a JSON file of the same name.

The copy comes first and gets its name only when it is whole; the facts follow. A copy whose facts were never
written, because the power went between the two, can be restored like any other, and is never deleted.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from agent.text import OneLine
from reviewer.store import Head, Store, StoreError
from reviewer.store.sqlite.files import PART, copy, sync
from reviewer.store.sqlite.tables import open_snapshot


class BackupError(OneLine):
    """Nothing was kept, or nothing put back; what was there is as it was."""


class BadArchive(BackupError):
    """A plain archive, or a line of it, is not what its manifest or the schema says: where, and what."""


class BadBackup(BackupError):
    """A backup that must not take the place of a database: damaged, changed, or not of one mind."""


DAILY, WEEKLY, MONTHLY = 7, 4, 6
"""How many days, weeks and months keep their last backup. Only those count that have one, so that a machine
that was off for a year still has them all."""
_TIME = "%Y%m%dT%H%M%SZ"
_CLOCK_TOLERANCE = timedelta(minutes=5)  # by which two machines' clocks may differ


def default_folder(database: Path) -> Path:
    """Where backups go unless told otherwise."""
    return database.resolve().parent / "backups"


def backup_name(database: Path, at: datetime) -> str:
    """``annotations-20261121T160839Z``: the name of a backup, without its ending."""
    return f"{database.stem}-{at.astimezone(UTC).strftime(_TIME)}"


def backup_time(database: Path, name: str) -> datetime | None:
    """When a backup of this database was made, by its name; None: it is none of its backups."""
    found = re.fullmatch(re.escape(database.stem) + r"-(\d{8}T\d{6}Z)", name)
    if found is None:
        return None
    try:
        return datetime.strptime(found[1], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def retained(times: Collection[datetime], now: datetime) -> set[datetime]:
    """Which of the backups made at these times (UTC) are kept: the last one of each of the last seven days,
    four weeks (Monday to Sunday) and six months that have one. Whatever is later than now was made by a clock
    that went wrong: it is kept, and counts for no day.
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
"""After which a part of a backup is nobody's any more: whoever wrote it was killed."""


@dataclass(frozen=True)
class Backup:
    """A backup and what is known of it. ``head``: of the audit log, None for a database from before it."""

    path: Path
    at: datetime
    bytes: int
    sha256: str
    why: Reason
    schema: int
    head: Head | None

    def to_json(self) -> dict[str, Any]:
        """What the file beside the backup holds."""
        return {
            "format": SCHEMA,
            "file": self.path.name,
            "at": self.at.isoformat(timespec="seconds"),
            "bytes": self.bytes,
            "sha256": self.sha256,
            "why": self.why,
            "schema": self.schema,
            "log_head": None if self.head is None else str(self.head),
        }


def metadata_path(path: Path) -> Path:
    """The file that tells of a backup: ``annotations-TIME.json`` of ``annotations-TIME.db``."""
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

    :param target: the file to be made; or a folder, made if need be, for one that is named by the time
    :param progress: called with the number of pages done, and of all
    :raises StoreError: the database is damaged or cannot be read, or there is a file of that name
    :raises CannotWrite: there is no such folder, or no room in it
    :raises BackupError: the folder cannot be made, or not be written to
    """
    into_folder = target.is_dir() or target.suffix == ""
    try:
        if into_folder:
            # Backups hold the hashes of passwords.
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
        at, path = _free_name(database, target, clock) if into_folder else (clock(), target)
        _refuse_existing(path)
        copy(database, path, progress)
        made = describe(path, at.replace(microsecond=0), why)
        _write_metadata(made)
    except OSError as error:
        raise BackupError(f"{target}: {error.strerror}. No backup was made.") from error
    return made


def describe(path: Path, at: datetime, why: Reason) -> Backup:
    """What there is to know of a copy that is there."""
    with open_snapshot(path) as moment:
        schema, head = moment.schema, moment.head
    return Backup(path, at, path.stat().st_size, sha256_of(path), why, schema, head)


def list_backups(database: Path, folder: Path) -> list[Backup]:
    """The backups of a database in a folder that tell of themselves, newest first."""
    found = []
    if folder.is_dir():
        for path in folder.glob("*.db"):
            known = read_metadata(path) if backup_time(database, path.stem) else None
            if known is not None:
                found.append(known)
    return sorted(found, key=lambda backup: backup.at, reverse=True)


def read_metadata(path: Path) -> Backup | None:
    """What the file beside a backup says of it; None where there is none that can be read."""
    try:
        told: Mapping[str, Any] = json.loads(metadata_path(path).read_text(encoding="utf-8"))
        if told["format"] != SCHEMA or told["file"] != path.name or told["why"] not in ("daily", "by hand"):
            return None
        head = None if told["log_head"] is None else Head.parse(told["log_head"])
        at = datetime.fromisoformat(told["at"]).astimezone(UTC)
        return Backup(path, at, int(told["bytes"]), str(told["sha256"]), told["why"], int(told["schema"]), head)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_bytes(path: Path) -> None:
    """:raises BadBackup: the file is not what was written beside it when it was made"""
    known = read_metadata(path)
    if known is None:
        return
    found = path.stat().st_size
    if found != known.bytes:
        raise BadBackup(f"{path}: found {found} bytes, wanted the {known.bytes} that it was made with")
    if sha256_of(path) != known.sha256:
        raise BadBackup(f"{path}: its SHA-256 is not the one in {metadata_path(path).name}: it was changed")


def prune(database: Path, folder: Path, now: datetime) -> list[Path]:
    """Delete the daily backups that are not to be kept any more, and parts of backups that were never
    finished; what was deleted. Anything else is left alone.

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
    beside = metadata_path(path)
    if beside == path:
        raise BackupError(f"{path}: wanted a name that ends in .db; the facts go into a .json beside it")
    if os.path.lexists(beside):
        raise BackupError(f"{beside}: found a file where the backup's facts would go; choose another name")


def _free_name(database: Path, folder: Path, clock: Callable[[], datetime]) -> tuple[datetime, Path]:
    """A name of this second, or of the next that is free where somebody has just made one too."""
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
            f"{backup.path}: the backup is made, but {path.name} beside it could not be written "
            f"({error.strerror}). It can be restored, and is not deleted by itself."
        ) from error


FIRST_CHECK = 60.0
"""Seconds after the start: whoever opens the page first does not wait for a disk that copies."""
CHECK_INTERVAL = 600.0
"""Seconds between two looks whether a backup is due."""
RETRY_INTERVAL = 3600.0
"""Seconds until one that failed is tried again."""
_STOP_SECONDS = 3.0  # seconds that stopping the app waits for a backup to be given up

log = logging.getLogger("spec_o3")


class _Stopped(Exception):
    """The app is being stopped."""


class DailyBackups:
    """Backups of an open store into one folder, which several apps on one database may share.

    ``problem``: why the last one could not be made, as a sentence; "" where it could.
    """

    def __init__(self, store: Store, folder: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self.folder = folder
        self.problem = ""
        self._store = store
        self._clock = clock
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def made(self) -> list[Backup]:
        """What there is, newest first."""
        return list_backups(self._store.path, self.folder)

    def make_if_due(self) -> Backup | None:
        """The backup of this day (UTC), unless there is one already or another app is making it.

        What goes wrong is kept as ``problem`` and written into the audit log; nothing is raised.
        """
        try:
            with self._alone(wait=False) as is_ours:
                if not is_ours or self._has_today():
                    return None
                made = self._make("daily", None)
                gone = prune(self._store.path, self.folder, self._clock())
                if gone:
                    self._store.log.note(None, "backups deleted", "", files=[path.name for path in gone])
        except _Stopped:
            return None
        except (BackupError, StoreError, OSError) as error:
            self._failed(str(error))
            return None
        self.problem = ""
        return made

    def make_now(self, person: str | None) -> Backup:
        """One more, whoever asks for it; it is kept until somebody deletes it.

        :raises BackupError: the folder cannot be made or written to
        :raises StoreError: no room, or the database is damaged
        """
        with self._alone(wait=True):
            made = self._make("by hand", person)
        self.problem = ""
        return made

    def start(self) -> None:
        """Look every ten minutes whether one is due, in a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="daily backups", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop looking. A copy that is under way is given up; nothing of it stays."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        wait = FIRST_CHECK
        while not self._stop.wait(wait):
            try:
                self.make_if_due()
            except Exception:
                # A thread that has ended would make no more backups, and nobody would know.
                log.exception("the daily backup failed")
                self.problem = "The daily backup failed; the server's output says why."
            wait = RETRY_INTERVAL if self.problem else CHECK_INTERVAL

    def _has_today(self) -> bool:
        today = self._clock().astimezone(UTC).date()
        return any(backup.why == "daily" and backup.at.date() == today for backup in self.made)

    def _make(self, why: Reason, person: str | None) -> Backup:
        made = back_up(self._store.path, self.folder, why, self._go_on, self._clock)
        self._store.log.note(person, "backup made", made.path.name, bytes=made.bytes, sha256=made.sha256, why=why)
        return made

    def _go_on(self, done: int, of: int) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _failed(self, why: str) -> None:
        self.problem = f"The daily backup could not be made: {why}"
        log.error("%s", self.problem)
        try:
            self._store.log.note(None, "backup failed", "", why=why)
        except StoreError as error:
            # The disk that is too full for a copy may be too full for this.
            log.error("this could not be written into the audit log: %s", error)

    @contextmanager
    def _alone(self, wait: bool) -> Iterator[bool]:
        """Whether no other app is making a backup here. The lock on the folder ends with whoever holds it."""
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY)
        except OSError as error:
            raise BackupError(f"{self.folder}: {error.strerror}. No backup was made.") from error
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(handle)
