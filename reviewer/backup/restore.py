"""Restore the database from a backup or a plain archive.

The new database is built and checked in a file next to the old one. Then, with exclusive access to the old one, that
gets a second name, and one rename replaces it.
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

from agent.language import tr
from reviewer.backup.archive import read_archive
from reviewer.backup.backups import BackupError, BadBackup, check_bytes, read_metadata, spectra_of_backups
from reviewer.store import CannotWrite, Head, Store, StoreError
from reviewer.store.spectrum_files import copy_new, spectra_folder
from reviewer.store.sqlite.files import PART, copy, exclusive_access, put_in_place, sync
from reviewer.store.sqlite.tables import open_snapshot, require_own_schema

_SHOWN_FAULTS = 3


def require_consistent(store: Store, named: Path, known: Head) -> None:
    """Check a database with SQLite's own checks, its standings against its facts, and its facts against the log.

    :param named: the name of the database in the message
    :param known: the head of its log, as it was stored elsewhere
    :raises BadBackup: the checks found faults; the message has the first ones
    """
    try:
        wrong = store.upkeep.verify(known)
    except CannotWrite:
        raise
    except Exception as error:
        # The content is untrusted: rows that no reader expects can raise anything.
        raise BadBackup(tr("{named}: it cannot be read: {error}", named=named, error=error)) from error
    if wrong:
        more = f", and {len(wrong) - _SHOWN_FAULTS} more" if len(wrong) > _SHOWN_FAULTS else ""
        raise BadBackup(f"{named}: {'; '.join(wrong[:_SHOWN_FAULTS])}{more}")


_SIDE_FILES = ("-wal", "-shm", "-journal")
"""Endings of SQLite's side files: of an open database, or of one whose program was killed."""


@dataclass(frozen=True)
class Restored:
    """The result of a restore.

    :param kept_as: the new path of the replaced database; None if there was none
    :param head: the head of the log in the source
    :param replaced: the head of the log of the replaced database; None if it could not be read
    :param spectra_missing: spectra whose files are neither next to the database nor next to the backup
    """

    database: Path
    kept_as: Path | None
    head: Head
    replaced: Head | None
    items: int
    spectra_missing: tuple[str, ...] = ()


def restore(source: Path, database: Path, progress: Callable[[int, int], None] | None = None) -> Restored:
    """Replace ``database`` by the content of ``source``.

    :param source: a backup, or the folder of a plain archive
    :param progress: called with the amount of the source that has been read, and the total
    :raises InUse: another program has the database open
    :raises BadBackup: the backup was changed, is damaged or inconsistent
    :raises BadArchive: the archive was changed, or is no archive
    :raises NewerSchema: a newer release wrote it
    :raises OlderSchema: it is from before the first release
    :raises StoreError: the source is no database
    :raises CannotWrite: not enough space, or a folder that cannot be written
    """
    if not source.exists():
        raise BackupError(
            tr(
                "{source}: found no such file or folder, expected a backup or the folder of a plain archive",
                source=source,
            )
        )
    # The file itself is replaced, not a link to it.
    database = database.resolve()
    if database.exists():
        if os.path.samefile(source, database):
            raise BackupError(tr("{source}: this is the database itself; name a backup of it", source=source))
        # Tried now as well, so that nobody waits for the checks and then gets this refusal.
        with exclusive_access(database):
            pass
    try:
        with _part_file(database) as part:
            head = _build_part(source, part, progress)
            replaced = _head_of(database)
            items = _finish(part, source, head, replaced)
            # Before the database has its name, so that it never names files that were not copied yet.
            missing = _copy_spectra(part, source, database)
            kept_as = _replace(part, database)
    except OSError as error:
        raise CannotWrite(
            tr(
                "{database}: {strerror}. Nothing was restored; the database is unchanged.",
                database=database,
                strerror=error.strerror,
            )
        ) from error
    return Restored(database, kept_as, head, replaced, items, missing)


@contextmanager
def _part_file(database: Path) -> Iterator[Path]:
    """Yield the path of the file that is being built, next to the database; delete it at the end."""
    part = database.with_name(f"{database.name}.{os.getpid()}.restore{PART}")
    try:
        yield part
    finally:
        for left in part.parent.glob(f"{glob.escape(part.name)}*"):
            with suppress(OSError):
                left.unlink()


def _build_part(source: Path, part: Path, progress: Callable[[int, int], None] | None) -> Head:
    """Copy the source to the file ``part`` with its own schema; return the head of its log."""
    if source.is_dir():
        return read_archive(source, part, progress)
    check_bytes(source)
    require_own_schema(source)
    copy(source, part, progress)
    with open_snapshot(part) as moment:
        head = moment.head
    known = read_metadata(source)
    if known is not None and head != known.head:
        raise BadBackup(
            tr(
                "{source}: found a log that ends at {head}, expected {head2} as in its metadata",
                source=source,
                head=head,
                head2=known.head,
            )
        )
    return head


def _finish(part: Path, source: Path, head: Head, replaced: Head | None) -> int:
    """Upgrade the new file to the present schema, check it, and log its source; return its number of items."""
    try:
        opened = Store.open(part)
    except CannotWrite:
        raise
    except StoreError as error:
        # The message names the part file, which is deleted.
        raise BadBackup(
            tr("{source}: it cannot be upgraded to this schema: {value}", source=source, value=error.__cause__ or error)
        ) from error
    with opened as store:
        require_consistent(store, source, head)
        store.upkeep.record_restore(source.name, head, replaced)
        return sum(sum(states.values()) for states in store.statistics.counts().by_task.values())


def _copy_spectra(part: Path, source: Path, database: Path) -> tuple[str, ...]:
    """Copy the files of spectra that the database lacks; return the spectra that have no file anywhere."""
    with open_snapshot(part) as moment:
        names = moment.spectra_in_files()
    if not names:
        return ()
    _, missing = copy_new(spectra_of_backups(source.parent), spectra_folder(database), names)
    return tuple(missing)


def _head_of(database: Path) -> Head | None:
    """Return the head of the log of the old database; None if it cannot be read: damage is a reason to restore."""
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
        # If the old file is too damaged to be read, its write-ahead log or journal is still there, and SQLite would
        # apply it to the new file.
        for ending in _SIDE_FILES:
            with suppress(FileNotFoundError):
                os.replace(f"{database}{ending}", f"{kept_as}{ending}")
        sync(part)
        os.replace(part, database)
    sync(database.parent)
    return kept_as


def _second_name(database: Path) -> Path:
    """Give the present file a second name, so that the first name always has a database; return the second."""
    time = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for number in range(1, 100):
        name = f"{database.name}.before-restore-{time}" + (f"-{number}" if number > 1 else "")
        kept_as = database.with_name(name)
        try:
            os.link(database, kept_as)
        except FileExistsError:
            continue
        except OSError:
            # File systems without hard links. Closing the copied file ends this process's lock on it, so another
            # program could open it between the copy and the rename.
            shutil.copyfile(database, kept_as)
            sync(kept_as)
        return kept_as
    raise BackupError(
        tr("{database}: found 99 copies of it from earlier restores; move some of them away", database=database)
    )
