"""Connections to annotations.db: one that writes, a pool that reads, and the clocks of the process.

Every transaction of the store is opened here. Tables, inserts and plain queries use sqlite-utils inside it.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import sqlite_utils

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.sky.records import SkyError
from agent.text import one_line
from agent.trajectory import TrajectoryError
from reviewer.store.audit.chain import Head, NewEntry, Range, append
from reviewer.store.errors import CannotWrite, Damaged, FileGone, StoreError, restore_instead
from reviewer.store.sqlite.damage import damaged_table, is_damage, wrong_value

Transaction = sqlite_utils.Database
"""An open transaction: ``execute`` for SQL, ``table(name)`` for the helpers of sqlite-utils."""

Clock = Callable[[], datetime]

ALLOWANCE = timedelta(minutes=1)
"""How far the clocks of two processes on one file may differ; a set-back this small is not reported."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """Return a time in its stored form: UTC, ISO 8601, always milliseconds, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _no_time() -> float:
    return 0.0


class Clocks:
    """The two clocks of one process: the machine's clock, and a steady one that is never set back.

    Facts are stored with the machine's time, and their order follows from their numbers. Leases, sessions and
    the pause after wrong passwords run by the steady clock, so that they end in time even if the machine's
    clock is set back. Another process cannot know an earlier, later time of this machine: whatever was started
    at a time later than its own present has ended for it.

    :param clock: the machine's clock
    :param elapsed: seconds since any moment, never set back. By default ``time.monotonic`` with the machine's
        own clock; with any other clock, one that stands still
    """

    def __init__(self, clock: Clock = utc_now, elapsed: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._elapsed = elapsed or (time.monotonic if clock is utc_now else _no_time)
        self._lock = threading.Lock()
        self._latest = self.now()
        self._seen_at = self._elapsed()

    def now(self) -> datetime:
        """Return the time of the machine's clock, UTC."""
        return self._clock().astimezone(UTC)

    def steady(self) -> datetime:
        """Return the machine's time; after a set-back, its latest earlier time plus the seconds since then."""
        with self._lock:
            now, elapsed = self.now(), self._elapsed()
            continued = self._latest + timedelta(seconds=elapsed - self._seen_at)
            self._latest, self._seen_at = max(now, continued), elapsed
            return self._latest


class FileIdentity:
    """The database file and its write-ahead log, known by device and inode.

    The log exists from the first write on, and as long as a connection is open.
    """

    def __init__(self, path: Path) -> None:
        self._files = (path, path.with_name(f"{path.name}-wal"))
        self._known: dict[Path, tuple[int, int]] = {}
        self.require()

    def require(self) -> None:
        """Check that the files are still the same ones. :raises FileGone: another file has the name now, or none"""
        for path in self._files:
            identity = _identity(path)
            if identity is not None:
                self._known.setdefault(path, identity)
            if identity != self._known.get(path):
                raise FileGone(
                    tr(
                        "{path} was moved, deleted or replaced while this program had it open. Nothing was saved. "
                        "Put the file back; or stop the program, restore a backup with `spec-o3 restore` and start "
                        "again.",
                        path=path,
                    )
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


BUSY_SECONDS = 60.0
"""How long a command waits for another program's write."""
SUBMIT_SECONDS = 5.0
"""How long a web request waits for it: a person is waiting, and the page can repeat the request."""
READER_KIB = 512
"""SQLite's page cache of each reading connection."""


def connect(path: Path, patience: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open a connection with this program's settings; only ``Database`` opens transactions on it.

    :param patience: seconds to wait for another program's write
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        # The first statement that reads the schema, and so the one that fails where that is damaged.
        with damage_as_sqlite_error():
            # FULL: an acknowledged vote is on the disk even after a power cut.
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # Without this, INSERT OR REPLACE would delete a fact without running the trigger that protects it.
        connection.execute("PRAGMA recursive_triggers = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def helpers(connection: sqlite3.Connection) -> Transaction:
    """Wrap a connection for sqlite-utils, without changing its settings or loading plugins."""
    return sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False)


def insert(db: Transaction, table: str, row: dict[str, Any]) -> int:
    """Append one row and return its key. Rows written by the thousand use plain SQL, which is ten times as fast."""
    key = db.table(table).insert(row).last_rowid
    assert key is not None
    return key


def item_flags(items: Collection[int]) -> bytes:
    """Return a set of items as one byte per number, from 0 to the highest: 1 for an item of the set.

    SQLite finds a byte of a parameter faster than a row of a query.
    """
    flags = bytearray(max(items, default=-1) + 1)
    for item in items:
        flags[item] = 1
    return bytes(flags)


def flagged(parameter: str, item: str) -> str:
    """Return the condition that an item (SQL) is in the set of a parameter, which is ``item_flags``."""
    return f"substr(:{parameter}, {item} + 1, 1) IS x'01'"


@contextmanager
def damage_as_sqlite_error() -> Iterator[None]:
    """Report damage as SQLite's error although its message quotes bytes of the file that are not UTF-8.

    :raises sqlite3.DatabaseError: in place of the ``UnicodeDecodeError`` that Python raises
    """
    try:
        yield
    except UnicodeDecodeError as error:
        damaged = sqlite3.DatabaseError("malformed database schema")
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged from error


def use_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, so that readers never wait for the writer.

    If another process switches at the same moment SQLite raises "locked" in spite of the timeout; then try again.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


_NO_PERMISSION = deferred("{path}: you have no permission to open the file or its folder. Nothing was saved.")
_MESSAGES = {
    sqlite3.SQLITE_FULL: deferred("{path}: the disk is full. Nothing was saved."),
    sqlite3.SQLITE_IOERR: deferred("{path}: the disk reported an error. Nothing was saved."),
    sqlite3.SQLITE_READONLY: deferred("{path}: the file is read-only. Nothing was saved."),
    sqlite3.SQLITE_CANTOPEN: _NO_PERMISSION,
    sqlite3.SQLITE_PERM: _NO_PERMISSION,
}
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)

_CANNOT_BE_READ = (ValueError, UnicodeDecodeError, JSONDecodeError, TrajectoryError, SkyError, zlib.error)
"""What is raised for stored text or bytes that cannot be decoded: no UTF-8, no JSON, no time, no zlib. Only these very
classes: others of ``ValueError`` are about values that people give."""
_ANOTHER_TYPE = (TypeError, LookupError, AttributeError, AssertionError)
"""What Python raises for a stored value of another type than this program writes; also what it raises for most bugs."""


class Database:
    """The open file: write transactions, read snapshots, the audit log of each transaction, the time.

    Threads may share it. One thread writes at a time; readers do not wait.
    """

    def __init__(self, path: Path, writer: sqlite3.Connection, clocks: Clocks, patience: float) -> None:
        self.path = path
        self.writer = writer
        self.patience = patience
        self._clocks = clocks
        self._transaction = helpers(writer)
        self._identity = FileIdentity(path)
        self._write_lock = threading.Lock()
        # Held to put a reader back and to close, so that none is put back after the others were closed.
        self._readers_lock = threading.Lock()
        self._idle_readers: queue.LifoQueue[Transaction] = queue.LifoQueue()
        self._closed = False

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """One write transaction: all of it is on disk when the block ends, or none of it is.

        IMMEDIATE takes the write lock before anything is read, so what was read is still true when it is
        written; a deferred BEGIN would fail on the upgrade without waiting.

        :raises CannotWrite: the disk is full, or the file read-only, locked by another program or gone
        :raises Damaged: the file is damaged
        """
        with self._one_writer(), self._errors_explained():
            self._begin()
            try:
                self._identity.require()
                with self.decoding(self._transaction):
                    yield self._transaction
                self.writer.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after a full disk or an I/O error.
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                raise

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The writing connection without a transaction, for a statement that must be outside of one.

        :raises CannotWrite: the disk is full, or the file read-only or locked by another program
        """
        with self._one_writer(), self._errors_explained():
            yield self.writer

    def _begin(self) -> None:
        """Begin; while another program opens or closes the file SQLite may answer "busy" without waiting."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                self.writer.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    @contextmanager
    def _one_writer(self) -> Iterator[None]:
        """Let one thread of this process write. :raises CannotWrite: another thread writes for too long"""
        if not self._write_lock.acquire(timeout=self.patience):
            raise CannotWrite(
                tr(
                    "{path}: this program is busy with another long write; waited {patience:.0f} seconds. Nothing was "
                    "saved; try again.",
                    path=self.path,
                    patience=self.patience,
                )
            )
        try:
            yield
        finally:
            self._write_lock.release()

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            explained = self._explained(error)
            if explained is None:
                raise
            raise explained from error

    def _explained(self, error: sqlite3.DatabaseError) -> StoreError | None:
        if is_damage(error):
            return Damaged(restore_instead(self.path, error))
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind in _LOCKED:
            return CannotWrite(
                tr(
                    "{path}: it is locked by another program; waited {patience:.0f} seconds. Nothing was saved; "
                    "try again.",
                    path=self.path,
                    patience=self.patience,
                )
            )
        return CannotWrite(tr(_MESSAGES[kind], path=self.path)) if kind in _MESSAGES else None

    @contextmanager
    def decoding(self, db: Transaction | None = None) -> Iterator[None]:
        """Report stored values that this program cannot have written as damage of the file.

        A value of another type raises what a bug raises too. Then the tables are checked, except the large ones: what
        is no damage stays a bug.

        :param db: an open transaction, for that check; None: a new one
        :raises Damaged: text or bytes cannot be decoded, or SQLite finds a fault in a table
        """
        try:
            yield
        except Exception as error:
            if type(error) in _CANNOT_BE_READ:
                reason = tr("a stored value cannot be read: {error}", error=one_line(str(error), 200))
                raise Damaged(restore_instead(self.path, reason)) from error
            if isinstance(error, Refusal) or not isinstance(error, _ANOTHER_TYPE):
                raise
            self.require_sound(db)
            raise

    def require_sound(self, db: Transaction | None = None) -> None:
        """Check the tables, except the large ones, of which only the types are looked at.

        :param db: an open transaction; None: a new one
        :raises Damaged: SQLite finds a fault in a table, or a value is not of the type of its column
        """
        with nullcontext(db) if db is not None else self.read() as checked:
            fault = damaged_table(checked) or wrong_value(checked)
        if fault is not None:
            raise Damaged(restore_instead(self.path, fault))

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """One snapshot: every query in the block reads the same state.

        :raises CannotWrite: the disk reports an error
        :raises Damaged: the file is damaged
        :raises FileGone: the file is gone, and no reader has it open
        """
        with self._errors_explained():
            reader = self._reader()
            try:
                reader.conn.execute("BEGIN")
                with self.decoding(reader):
                    yield reader
            finally:
                self._put_back(reader)

    def _reader(self) -> Transaction:
        try:
            return self._idle_readers.get_nowait()
        except queue.Empty:
            self._identity.require()  # connecting would create an empty file of that name
            connection = connect(self.path, self.patience)
            try:
                connection.execute("PRAGMA query_only = ON")
                # One per thread, forty in all. At SQLite's default of 2 MB each they kept growing while people
                # worked; the system's cache of the file serves what they do not keep.
                connection.execute(f"PRAGMA cache_size = -{READER_KIB}")
            except BaseException:
                connection.close()
                raise
            return helpers(connection)

    def _put_back(self, reader: Transaction) -> None:
        """Keep a reader for the next snapshot; close it if it is of no more use, or the database is closed."""
        try:
            if reader.conn.in_transaction:
                reader.conn.execute("ROLLBACK")
        except sqlite3.Error:
            reader.conn.close()
            raise
        with self._readers_lock:
            if not self._closed:
                self._idle_readers.put(reader)
                return
        reader.conn.close()

    def log(
        self,
        db: Transaction,
        person: str | None,
        what: str,
        subject: str = "",
        details: Mapping[str, Any] | None = None,
        facts: Mapping[str, int | Range] | None = None,
        people: tuple[str, ...] = (),
    ) -> Head:
        """Append the audit log's entry of this transaction. Every write of the store calls this once.

        :param facts: the rows it appended: by table the key of one row, or the first and last of several
        :param people: whose rows it changed
        """
        ranges = {table: (keys, keys) if isinstance(keys, int) else keys for table, keys in (facts or {}).items()}
        return append(db, stamp(self.now()), NewEntry(person, what, subject, details or {}, ranges, people))

    def now(self) -> datetime:
        """Return the time of the machine's clock, UTC: the time of facts."""
        return self._clocks.now()

    def steady(self) -> datetime:
        """Return the time that is never set back, UTC: the time of leases and sessions."""
        return self._clocks.steady()

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        with self._write_lock, self._readers_lock:
            self._closed = True
            self.writer.close()
        while not self._idle_readers.empty():
            self._idle_readers.get_nowait().conn.close()
