"""Having a database to oneself, as putting another in its place needs.

Who has the file open is asked of the kernel's locks, which SQLite holds on it: a connection to a database
with a write-ahead log keeps a shared one from its first look until it is closed. Such a lock ends with its
process, however that ended, so none is ever left behind.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from reviewer.store.errors import CannotWrite, InUse
from reviewer.store.sqlite.connection import damage_told

# Where SQLite locks, whatever the file's length: https://www.sqlite.org/fileformat2.html#the_lock_byte_page
_LOCK_BYTES = (0x40000000, 512)
_PATIENCE = 2.0  # seconds for a program that looks at the file just now


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Nobody else has the database open, and until the block ends whoever opens it waits.

    What its write-ahead log held is in the file itself from then on, unless the file is too damaged for
    SQLite to read.

    :raises InUse: another process, or another connection of this one, has it open
    :raises CannotWrite: the file or its folder cannot be written
    """
    with closing(sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)) as db:
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
        with damage_told():
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
