"""Backups: a copy of the database at one moment, with a few facts about it in a JSON file of the same name.

The copy comes first and gets its name only when it is whole; the facts follow. A copy whose facts were never
written, because the power went between the two, can be restored like any other, and is never deleted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from agent.text import OneLine
from reviewer.store import Head, StoreError
from reviewer.store.sqlite.copies import PART, copy, sync
from reviewer.store.sqlite.rows import at_rest


class KeepingError(OneLine):
    """Nothing was kept, or nothing put back; what was there is as it was."""


class BadArchive(KeepingError):
    """A plain archive, or a line of it, is not what its manifest or the schema says: where, and what."""


class BadBackup(KeepingError):
    """A backup that must not take the place of a database: damaged, changed, or not of one mind."""


DAILY, WEEKLY, MONTHLY = 7, 4, 6
"""How many days, weeks and months keep their last backup. Only those count that have one, so that a machine
that was off for a year still has them all."""
_TIME = "%Y%m%dT%H%M%SZ"
_AHEAD = timedelta(minutes=5)  # by which two machines' clocks may differ


def folder_beside(database: Path) -> Path:
    """Where backups go unless told otherwise."""
    return database.resolve().parent / "backups"


def name_at(database: Path, at: datetime) -> str:
    """``annotations-20261121T160839Z``: the name of a backup, without its ending."""
    return f"{database.stem}-{at.astimezone(UTC).strftime(_TIME)}"


def time_of(database: Path, name: str) -> datetime | None:
    """When a backup of this database was made, by its name; None: it is none of its backups."""
    found = re.fullmatch(re.escape(database.stem) + r"-(\d{8}T\d{6}Z)", name)
    if found is None:
        return None
    try:
        return datetime.strptime(found[1], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def kept(times: Collection[datetime], now: datetime) -> set[datetime]:
    """Which of the backups made at these times (UTC) are kept: the last one of each of the last seven days,
    four weeks (Monday to Sunday) and six months that have one. Whatever is later than now was made by a clock
    that went wrong: it is kept, and counts for no day.
    """
    ahead = {at for at in times if at > now + _AHEAD}
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
Why = Literal["daily", "by hand"]
_LEFT_BEHIND = timedelta(days=1)
"""After which a part of a backup is nobody's any more: whoever wrote it was killed."""


@dataclass(frozen=True)
class Backup:
    """A backup and what is known of it. ``head``: of the audit log, None for a database from before it."""

    path: Path
    at: datetime
    bytes: int
    sha256: str
    why: Why
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


def facts_beside(path: Path) -> Path:
    """The file that tells of a backup: ``annotations-TIME.json`` of ``annotations-TIME.db``."""
    return path.with_suffix(".json")


def utc_now() -> datetime:
    return datetime.now(UTC)


def back_up(
    database: Path,
    target: Path,
    why: Why,
    progress: Callable[[int, int], None] | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Backup:
    """Copy a database while people work on it.

    :param target: the file to be made; or a folder, made if need be, for one that is named by the time
    :param progress: called with the number of pages done, and of all
    :raises StoreError: the database is damaged or cannot be read, or there is a file of that name
    :raises CannotWrite: there is no such folder, or no room in it
    :raises KeepingError: the folder cannot be made, or not be written to
    """
    into_folder = target.is_dir() or target.suffix == ""
    try:
        if into_folder:
            # Backups hold the hashes of passwords.
            target.mkdir(mode=0o700, parents=True, exist_ok=True)
        at, path = _free_name(database, target, clock) if into_folder else (clock(), target)
        _refuse_to_cover(path)
        copy(database, path, progress)
        made = describe(path, at.replace(microsecond=0), why)
        _write_facts(made)
    except OSError as error:
        raise KeepingError(f"{target}: {error.strerror}. No backup was made.") from error
    return made


def describe(path: Path, at: datetime, why: Why) -> Backup:
    """What there is to know of a copy that is there."""
    with at_rest(path) as moment:
        schema, head = moment.schema, moment.head
    return Backup(path, at, path.stat().st_size, sha256_of(path), why, schema, head)


def listed(database: Path, folder: Path) -> list[Backup]:
    """The backups of a database in a folder that tell of themselves, newest first."""
    found = []
    if folder.is_dir():
        for path in folder.glob("*.db"):
            known = read_facts(path) if time_of(database, path.stem) else None
            if known is not None:
                found.append(known)
    return sorted(found, key=lambda backup: backup.at, reverse=True)


def read_facts(path: Path) -> Backup | None:
    """What the file beside a backup says of it; None where there is none that can be read."""
    try:
        told: Mapping[str, Any] = json.loads(facts_beside(path).read_text(encoding="utf-8"))
        if told["format"] != SCHEMA or told["file"] != path.name or told["why"] not in ("daily", "by hand"):
            return None
        head = None if told["log_head"] is None else Head.parse(told["log_head"])
        at = datetime.fromisoformat(told["at"]).astimezone(UTC)
        return Backup(path, at, int(told["bytes"]), str(told["sha256"]), told["why"], int(told["schema"]), head)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def check_bytes(path: Path) -> None:
    """:raises BadBackup: the file is not what was written beside it when it was made"""
    known = read_facts(path)
    if known is None:
        return
    found = path.stat().st_size
    if found != known.bytes:
        raise BadBackup(f"{path}: found {found} bytes, wanted the {known.bytes} that it was made with")
    if sha256_of(path) != known.sha256:
        raise BadBackup(f"{path}: its SHA-256 is not the one in {facts_beside(path).name}: it was changed")


def prune(database: Path, folder: Path, now: datetime) -> list[Path]:
    """Delete the daily backups that are not to be kept any more, and parts of backups that were never
    finished; what was deleted. Anything else is left alone.

    :raises OSError: one of them cannot be deleted
    """
    daily = {backup.at: backup.path for backup in listed(database, folder) if backup.why == "daily"}
    gone = [daily[at] for at in daily.keys() - kept(daily.keys(), now)]
    for path in gone:
        path.unlink()
        facts_beside(path).unlink(missing_ok=True)
    for part in folder.glob(f"*{PART}"):
        written = datetime.fromtimestamp(part.stat().st_mtime, UTC)
        if time_of(database, part.name.split(".")[0]) and now - written > _LEFT_BEHIND:
            part.unlink(missing_ok=True)
            gone.append(part)
    return sorted(gone)


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_to_cover(path: Path) -> None:
    beside = facts_beside(path)
    if beside == path:
        raise KeepingError(f"{path}: wanted a name that ends in .db; the facts go into a .json beside it")
    if os.path.lexists(beside):
        raise KeepingError(f"{beside}: found a file where the backup's facts would go; choose another name")


def _free_name(database: Path, folder: Path, clock: Callable[[], datetime]) -> tuple[datetime, Path]:
    """A name of this second, or of the next that is free where somebody has just made one too."""
    at = clock().replace(microsecond=0)
    while os.path.lexists(path := folder / f"{name_at(database, at)}.db"):
        at += timedelta(seconds=1)
    return at, path


def _write_facts(backup: Backup) -> None:
    path = facts_beside(backup.path)
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
