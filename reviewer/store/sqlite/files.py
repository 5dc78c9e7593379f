"""One consistent copy of a database in one file, taken while others go on writing to it.

The pages are copied by SQLite's own backup, a few megabytes at a step, inside one read transaction that was
begun before the first step. A backup without that transaction begins again each time somebody writes between
two steps, and under steady writing never ends; one single step would end, but could neither be stopped nor
say how far it is. ``VACUUM INTO`` holds one moment too, but writes every row and index anew, which takes
longer and gives another file than the one that was asked for. The price of the transaction: as long as it is
open the write-ahead log of the source grows by all that is written meanwhile.

The copy is written beside its name, checked, flushed to the disk and only then named: whatever stops this
half-way, a power cut included, leaves at most a ``.part`` file and never half a copy.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from reviewer.store.errors import CannotWrite, InUse, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite.database import connect, damage_as_sqlite_error

PART = ".part"
"""How the name of a copy ends until it is whole."""
SPARE_BYTES = 16_000_000
"""Room that is left over when a copy is begun: the source may grow before its moment is fixed, and a disk
that is full to the last byte stops the database itself."""
_STEP_PAGES = 4096


def copy(source: Path, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Copy the database at ``source``, as it is at one moment, to ``target``, which only its owner may read.

    :param progress: called with the number of pages done, and of all
    :raises NotFound: there is no such database
    :raises NotAnnotations: the file is not SQLite
    :raises CannotWrite: no such folder, no room, or the disk failed
    :raises StoreError: there is a file of the target's name, or the database or its copy is damaged
    """
    if not source.is_file():
        raise NotFound(f"{source}: found no database to copy")
    if os.path.lexists(target):
        raise StoreError(f"{target}: found a file, expected a name that is not taken")
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    try:
        # Made here, so that it is never readable by others, not even while it grows.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        _write(source, part, target, progress)
        put_in_place(part, target)
    except sqlite3.DatabaseError as error:
        raise _refused(error, source, target) from error
    except OSError as error:
        raise CannotWrite(f"{target}: {error.strerror}. No copy was made.") from error
    finally:
        part.unlink(missing_ok=True)


def put_in_place(part: Path, target: Path) -> None:
    """Name a finished file once its bytes are on the disk; the name follows them there.

    :raises StoreError: somebody took the name meanwhile
    """
    sync(part)
    try:
        # A rename would replace what another process put there a moment ago.
        os.link(part, target)
    except FileExistsError:
        raise StoreError(f"{target}: found a file, expected a name that is not taken") from None
    except OSError:
        # File systems without hard links, such as exFAT and some network shares.
        if os.path.lexists(target):
            raise StoreError(f"{target}: found a file, expected a name that is not taken") from None
        part.rename(target)
    part.unlink(missing_ok=True)
    sync(target.parent)


def sync(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def require_space(target: Path, wanted: int) -> None:
    """:raises CannotWrite: the disk of ``target`` has not so many bytes free, and something to spare"""
    free = shutil.disk_usage(target.parent).free
    if free < wanted + SPARE_BYTES:
        raise CannotWrite(
            f"{target}: {wanted / 1e6:,.0f} MB are needed and {free / 1e6:,.0f} MB are free on that disk. "
            "No copy was made. Free some room, or name another place."
        )


def _write(source: Path, part: Path, target: Path, progress: Callable[[int, int], None] | None) -> None:
    with closing(connect(source)) as db, closing(sqlite3.connect(part, isolation_level=None)) as new:
        db.execute("BEGIN")
        # A transaction has no moment until something is read in it.
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        require_space(target, pages * db.execute("PRAGMA page_size").fetchone()[0])
        # Flushed once, at the end; a journal would be one more file to leave behind.
        new.execute("PRAGMA synchronous = OFF")
        new.execute("PRAGMA journal_mode = MEMORY")
        tell = None if progress is None else lambda _status, left, of: progress(of - left, of)
        db.backup(new, pages=_STEP_PAGES, progress=tell)
        db.execute("ROLLBACK")
        # A copy is one file, whatever is done to it before it is opened as a database again.
        new.execute("PRAGMA journal_mode = DELETE")
        (found,) = new.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise StoreError(f"{source}: the database is damaged ({found:.300}). No copy was made.")


def _refused(error: sqlite3.DatabaseError, source: Path, target: Path) -> StoreError:
    # Text that is no UTF-8 is found by Python, without a code of SQLite's.
    kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if kind == sqlite3.SQLITE_NOTADB:
        return NotAnnotations(f"{source}: found a file that is not SQLite, expected an annotations database")
    if kind == sqlite3.SQLITE_CORRUPT:
        return StoreError(f"{source}: the database is damaged ({error}). No copy was made.")
    if kind == sqlite3.SQLITE_FULL:
        return CannotWrite(f"{target}: the disk is full. No copy was made.")
    if kind == sqlite3.SQLITE_BUSY:
        return CannotWrite(f"{source}: another program keeps it locked. No copy was made.")
    return CannotWrite(f"{target}: {error}. No copy was made.")


# Where SQLite locks, whatever the file's length: https://www.sqlite.org/fileformat2.html#the_lock_byte_page
_LOCK_BYTES = (0x40000000, 512)
_LOCK_SECONDS = 2.0  # seconds for a program that looks at the file just now


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
    """Nobody else has the database open, and until the block ends whoever opens it waits.

    What its write-ahead log held is in the file itself from then on, unless the file is too damaged for
    SQLite to read.

    :raises InUse: another process, or another connection of this one, has it open
    :raises CannotWrite: the file or its folder cannot be written
    """
    with closing(sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)) as db:
        try:
            damaged = not _lock(db)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise _in_use(path) from None
            raise CannotWrite(f"{path}: {error}. Nothing was changed.") from error
        if not damaged:
            if _journal(db) != "delete":
                raise _in_use(path)
            yield
            db.execute("ROLLBACK")
    if damaged:
        with _bytes_locked(path):
            yield


def _lock(db: sqlite3.Connection) -> bool:
    """Leave the write-ahead log, which works for the last connection only, and lock; False: it is damaged."""
    try:
        with damage_as_sqlite_error():
            db.execute("PRAGMA journal_mode = DELETE")
        db.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return False
    return True


def _journal(db: sqlite3.Connection) -> str:
    """Not "delete" where somebody came between leaving the write-ahead log and locking."""
    mode: str = db.execute("PRAGMA journal_mode").fetchone()[0]
    return mode


@contextmanager
def _bytes_locked(path: Path) -> Iterator[None]:
    """The same lock on a file that SQLite itself cannot read any more."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError as error:
        raise CannotWrite(f"{path}: {error.strerror}. Nothing was changed.") from error
    try:
        start, length = _LOCK_BYTES
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            raise _in_use(path) from None
        yield
    finally:
        os.close(handle)


def _in_use(path: Path) -> InUse:
    return InUse(
        f"{path}: another program has it open. Stop the app, and whatever else uses this database, "
        "then try again. Nothing was changed."
    )
