"""Putting a backup or a plain archive in the place of the database, after everything in it was checked.

What is put there is built and checked beside the database. Only then is it asked for alone, which fails while
anybody has it open; the present file gets a second name, and one rename puts the new one in its place.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reviewer.backup.archive import read_archive
from reviewer.backup.backups import BackupError, BadBackup, check_bytes, read_metadata
from reviewer.store import CannotWrite, Head, Store, StoreError
from reviewer.store.sqlite.files import PART, copy, exclusive_access, put_in_place, sync
from reviewer.store.sqlite.tables import open_snapshot, require_own_schema

_SHOWN_FAULTS = 3


def require_consistent(store: Store, named: Path, known: Head | None) -> None:
    """SQLite's own checks, the standings against the facts they come from, and the facts against the log.

    :param named: what the sentence calls the database
    :param known: the head of its log, where that was written down elsewhere
    :raises BadBackup: the first of what is wrong
    """
    try:
        wrong = store.upkeep.verify(known)
    except CannotWrite:
        raise
    except Exception as error:
        # What is read in the check is not to be trusted: rows that no reader expects are what it may find.
        raise BadBackup(f"{named}: it cannot be read through: {error}") from error
    if wrong:
        more = f", and {len(wrong) - _SHOWN_FAULTS} more" if len(wrong) > _SHOWN_FAULTS else ""
        raise BadBackup(f"{named}: {'; '.join(wrong[:_SHOWN_FAULTS])}{more}")


_SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file that is open, or was when its program was killed."""


@dataclass(frozen=True)
class Restored:
    """What was put in place.

    :param kept_as: where the database that was there before is now; None if there was none
    :param head: of the log, as the source had it
    :param replaced: the head of the log that was there before; None where that could not be read
    """

    database: Path
    kept_as: Path | None
    head: Head | None
    replaced: Head | None
    items: int


def restore(source: Path, database: Path, progress: Callable[[int, int], None] | None = None) -> Restored:
    """Make ``database`` what ``source`` holds.

    :param source: a backup, or the folder of a plain archive
    :param progress: called with how much of the source has been read, and of how much
    :raises InUse: another program has the database open
    :raises BadBackup: the backup was changed or is damaged, or does not follow from itself
    :raises BadArchive: the archive was changed, or is of another kind
    :raises NewerSchema: a newer release wrote it
    :raises StoreError: the source is no database
    :raises CannotWrite: no room, or a folder that cannot be written
    """
    if not source.exists():
        raise BackupError(f"{source}: found nothing there, expected a backup or the folder of a plain archive")
    # The file itself is replaced, not a link to it.
    database = database.resolve()
    if database.exists():
        if os.path.samefile(source, database):
            raise BackupError(f"{source}: this is the database itself; name a backup of it")
        # Asked now as well, so that nobody waits for a check only to be told then.
        with exclusive_access(database):
            pass
    try:
        with _part_file(database) as part:
            head = _build_part(source, part, progress)
            replaced = _head_of(database)
            items = _finish(part, source, head, replaced)
            kept_as = _replace(part, database)
    except OSError as error:
        raise CannotWrite(f"{database}: {error.strerror}. Nothing was put back; it is as it was.") from error
    return Restored(database, kept_as, head, replaced, items)


@contextmanager
def _part_file(database: Path) -> Iterator[Path]:
    """A name beside the database for what is being built; nothing of it stays."""
    part = database.with_name(f"{database.name}.{os.getpid()}.restore{PART}")
    try:
        yield part
    finally:
        for left in part.parent.glob(f"{glob.escape(part.name)}*"):
            with suppress(OSError):
                left.unlink()


def _build_part(source: Path, part: Path, progress: Callable[[int, int], None] | None) -> Head | None:
    """Build at ``part`` what the source holds, of whatever schema; the head of its log as it came."""
    if source.is_dir():
        return read_archive(source, part, progress)
    check_bytes(source)
    require_own_schema(source)
    copy(source, part, progress)
    with open_snapshot(part) as moment:
        head = moment.head
    known = read_metadata(source)
    if known is not None and head != known.head:
        raise BadBackup(f"{source}: its log ends at {head}, the file beside it says {known.head}")
    return head


def _finish(part: Path, source: Path, head: Head | None, replaced: Head | None) -> int:
    """Bring it to the present schema, check it, and say in its log where it comes from."""
    try:
        opened = Store.open(part)
    except CannotWrite:
        raise
    except StoreError as error:
        # What it says is about the part, of which nothing stays.
        raise BadBackup(f"{source}: it cannot be brought to this schema: {error.__cause__ or error}") from error
    with opened as store:
        require_consistent(store, source, head)
        store.upkeep.record_restore(source.name, head, replaced)
        return sum(sum(states.values()) for states in store.statistics.counts().by_task.values())


def _head_of(database: Path) -> Head | None:
    """Of the database that is to be replaced; whatever is wrong with it is why it is replaced."""
    if not database.is_file():
        return None
    try:
        with open_snapshot(database) as moment:
            return moment.head
    except StoreError:
        return None


def _replace(part: Path, database: Path) -> Path | None:
    if not database.exists():
        put_in_place(part, database)
        return None
    with exclusive_access(database):
        kept_as = _second_name(database)
        # A write-ahead log or journal that stayed, because the file is too damaged to be read, belongs to the
        # old file: SQLite would play it into the new one.
        for ending in _SIDE_FILES:
            with suppress(FileNotFoundError):
                os.replace(f"{database}{ending}", f"{kept_as}{ending}")
        sync(part)
        os.replace(part, database)
    sync(database.parent)
    return kept_as


def _second_name(database: Path) -> Path:
    """Give the present file another name as well: there is a database under its own at every moment."""
    time = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for number in range(1, 100):
        name = f"{database.name}.before-restore-{time}" + (f"-{number}" if number > 1 else "")
        kept_as = database.with_name(name)
        try:
            os.link(database, kept_as)
        except FileExistsError:
            continue
        except OSError:
            # File systems without hard links. Closing the file again ends this process's lock on it, so that
            # there somebody could come between the copy and the rename.
            shutil.copyfile(database, kept_as)
            sync(kept_as)
        return kept_as
    raise BackupError(f"{database}: there are too many of its copies from before a restore; move some away")
