"""Consistent copies of a database in use, durable file operations, and exclusive access to a database file.

A copy is written to a ``.part`` file, checked, flushed to the disk and renamed: an interruption at any moment, a power
cut included, leaves no partial copy under the final name.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.language import tr
from reviewer.store.errors import CannotWrite, InUse, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite.database import connect, damage_as_sqlite_error

PART = ".part"
"""Ending of the name of an incomplete copy."""
SPARE_BYTES = 16_000_000
"""Bytes that must stay free: the source may grow before the read transaction begins, and a full disk stops the
database itself."""
_STEP_PAGES = 4096


def copy(source: Path, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Copy the state of the database ``source`` at one moment to the new private file ``target``.

    :param progress: called with the number of pages done, and the total
    :raises NotFound: there is no such database
    :raises NotAnnotations: the file is not SQLite
    :raises CannotWrite: no such folder, not enough space, or a disk error
    :raises StoreError: ``target`` exists, or the database or its copy is damaged
    """
    if not source.is_file():
        raise NotFound(tr("{source}: found no database to copy", source=source))
    if os.path.lexists(target):
        raise StoreError(tr("{target}: found an existing file, expected a new name", target=target))
    part = target.with_name(f"{target.name}.{os.getpid()}{PART}")
    try:
        # Created here, so that others can never read it, not even while it is written.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        _write(source, part, target, progress)
        put_in_place(part, target)
    except sqlite3.DatabaseError as error:
        raise _refused(error, source, target) from error
    except OSError as error:
        raise CannotWrite(
            tr("{target}: {strerror}. No copy was made.", target=target, strerror=error.strerror)
        ) from error
    finally:
        part.unlink(missing_ok=True)


def put_in_place(part: Path, target: Path) -> None:
    """Flush a complete file to the disk, then give it its final name, durably.

    :raises StoreError: another process has created ``target`` meanwhile
    """
    sync(part)
    try:
        # A rename would replace a file that another process has just created.
        os.link(part, target)
    except FileExistsError:
        raise StoreError(tr("{target}: found an existing file, expected a new name", target=target)) from None
    except OSError:
        # File systems without hard links, such as exFAT and some network shares.
        if os.path.lexists(target):
            raise StoreError(tr("{target}: found an existing file, expected a new name", target=target)) from None
        part.rename(target)
    part.unlink(missing_ok=True)
    sync(target.parent)


def sync(path: Path) -> None:
    """Flush a file, or the directory entries of a folder, to the disk.

    Windows flushes only files that are open for writing, and opens no folders: their entries it writes itself.
    """
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def require_space(target: Path, needed: int) -> None:
    """Check the free space for ``target``. :raises CannotWrite: less than ``needed`` and the spare bytes are free"""
    free = shutil.disk_usage(target.parent).free
    if free < needed + SPARE_BYTES:
        raise CannotWrite(
            tr(
                "{target}: {wanted:,.0f} MB are needed and {free:,.0f} MB are free on that disk. No copy was "
                "made. Free some space, or choose another folder.",
                target=target,
                wanted=needed / 1000000.0,
                free=free / 1000000.0,
            )
        )


def _write(source: Path, part: Path, target: Path, progress: Callable[[int, int], None] | None) -> None:
    with closing(connect(source)) as db, closing(sqlite3.connect(part, isolation_level=None)) as new:
        db.execute("BEGIN")
        # SQLite's backup API, a few megabytes per step, inside one read transaction: without it the backup would start
        # again after each write of another connection. A transaction sees the state of its first read. VACUUM INTO
        # would write every row and index again, which is slower. The source's write-ahead log grows until the end.
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        require_space(target, pages * db.execute("PRAGMA page_size").fetchone()[0])
        # Flushed once at the end; an interruption must not leave a journal file.
        new.execute("PRAGMA synchronous = OFF")
        new.execute("PRAGMA journal_mode = MEMORY")
        on_pages = None if progress is None else lambda _status, left, of: progress(of - left, of)
        db.backup(new, pages=_STEP_PAGES, progress=on_pages)
        db.execute("ROLLBACK")
        # Without a write-ahead log, the copy is one file that can be moved.
        new.execute("PRAGMA journal_mode = DELETE")
        (check,) = new.execute("PRAGMA integrity_check(1)").fetchone()
    if check != "ok":
        raise StoreError(
            tr("{source}: the database is damaged ({found:.300}). No copy was made.", source=source, found=check)
        )


def _refused(error: sqlite3.DatabaseError, source: Path, target: Path) -> StoreError:
    # Python reports text that is not UTF-8, without SQLite's error code.
    kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if kind == sqlite3.SQLITE_NOTADB:
        return NotAnnotations(
            tr("{path}: found a file that is not SQLite, expected an annotations database", path=source)
        )
    if kind == sqlite3.SQLITE_CORRUPT:
        return StoreError(
            tr("{source}: the database is damaged ({error}). No copy was made.", source=source, error=error)
        )
    if kind == sqlite3.SQLITE_FULL:
        return CannotWrite(tr("{target}: the disk is full. No copy was made.", target=target))
    if kind == sqlite3.SQLITE_BUSY:
        return CannotWrite(tr("{source}: it is locked by another program. No copy was made.", source=source))
    return CannotWrite(tr("{target}: {error}. No copy was made.", target=target, error=error))


# The bytes that SQLite locks, whatever the file's length: https://www.sqlite.org/fileformat2.html#the_lock_byte_page
_LOCK_BYTES = (0x40000000, 512)
_LOCK_SECONDS = 2.0  # another program may have the file open for a moment


@contextmanager
def exclusive_access(path: Path) -> Iterator[None]:
    """Exclusive access to a database file until the block ends.

    The write-ahead log is merged into the file, unless SQLite cannot read the file.

    :raises InUse: another process, or another connection of this one, has it open
    :raises CannotWrite: the file or its folder cannot be written
    """
    with closing(sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None)) as db:
        try:
            damaged = not _lock(db)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise _in_use(path) from None
            raise CannotWrite(tr("{path}: {error}. Nothing was changed.", path=path, error=error)) from error
        if not damaged:
            if _journal(db) != "delete":
                raise _in_use(path)
            yield
            db.execute("ROLLBACK")
    if damaged:
        with _bytes_locked(path):
            yield


def _lock(db: sqlite3.Connection) -> bool:
    """Leave the write-ahead log mode, which only a single connection can, and lock. False: the file is damaged."""
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
    """Return the journal mode. It is not "delete" if another program opened the file before it was locked."""
    mode: str = db.execute("PRAGMA journal_mode").fetchone()[0]
    return mode


@contextmanager
def _bytes_locked(path: Path) -> Iterator[None]:
    """Take SQLite's lock on a file that SQLite cannot read."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError as error:
        raise CannotWrite(tr("{path}: {strerror}. Nothing was changed.", path=path, strerror=error.strerror)) from error
    try:
        try:
            _lock_bytes(handle, *_LOCK_BYTES)
        except OSError:
            raise _in_use(path) from None
        yield
    finally:
        os.close(handle)


def _lock_bytes(handle: int, start: int, length: int) -> None:
    """Lock bytes of a file, as SQLite does it on this system. :raises OSError: another program has locked some"""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        os.lseek(handle, start, os.SEEK_SET)
        locking = vars(msvcrt)["locking"]
        locking(handle, vars(msvcrt)["LK_NBLCK"], length)
    else:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)


def _in_use(path: Path) -> InUse:
    return InUse(
        tr(
            "{path}: another program has it open. Nothing was changed. Stop the app and every other "
            "program that uses this database, then try again.",
            path=path,
        )
    )
