"""Connections to annotations.db: one that writes, a pool that reads; nowhere else is a transaction opened."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from reviewer.store.errors import CannotWrite

Clock = Callable[[], datetime]

# How long one process waits for another's write. Imports of a whole campaign are one transaction.
BUSY_SECONDS = 60.0


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """A time as it is stored: UTC, ISO 8601, always milliseconds, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def connect(path: Path) -> sqlite3.Connection:
    """A connection as this program wants it; transactions are opened by ``Base`` only."""
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        # FULL: an acknowledged vote is on the disk, whatever happens to the power.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # Without this, INSERT OR REPLACE would delete a fact past the trigger that guards it.
        connection.execute("PRAGMA recursive_triggers = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def use_wal(connection: sqlite3.Connection) -> None:
    """Write-ahead log: readers never wait for the writer. Switching at once with another process raises
    "locked" in spite of the timeout, so it is tried again."""
    give_up = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.05)


_SENTENCES = {
    sqlite3.SQLITE_FULL: "the disk is full.",
    sqlite3.SQLITE_IOERR: "the disk reported an error.",
    sqlite3.SQLITE_READONLY: "the file is read-only.",
    sqlite3.SQLITE_BUSY: f"another program has kept it locked for {BUSY_SECONDS:.0f} seconds.",
}


class Base:
    """What every part of the store stands on: the clock, ``_reading`` and ``_writing``."""

    def __init__(self, path: Path, writer: sqlite3.Connection, clock: Clock) -> None:
        self.path = path
        self._clock = clock
        self._writer = writer
        self._writing_now = threading.Lock()
        self._idle_readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closed = False

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: all of it is on disk when the block ends, or none of it is.

        IMMEDIATE takes the write lock before anything is read, so what was read is still true when it is
        written; a deferred BEGIN would fail on the upgrade without waiting.

        :raises CannotWrite: the disk is full, or the file read-only or kept locked
        """
        with self._writing_now, self._said_plainly():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after a full disk or an I/O error.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def _said_plainly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            # The low byte is the kind of error, what is above it the detail.
            sentence = _SENTENCES.get(error.sqlite_errorcode & 0xFF)
            if sentence is None:
                raise
            raise CannotWrite(f"{self.path}: {sentence} Nothing was saved.") from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot: every query in the block sees the same moment."""
        try:
            reader = self._idle_readers.get_nowait()
        except queue.Empty:
            reader = connect(self.path)
            reader.execute("PRAGMA query_only = ON")
        reader.execute("BEGIN")
        try:
            yield reader
        finally:
            reader.execute("ROLLBACK")
            if self._closed:
                reader.close()
            else:
                self._idle_readers.put(reader)

    def now(self) -> datetime:
        """The store's clock, UTC."""
        return self._clock().astimezone(UTC)

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        with self._writing_now:
            self._closed = True
            self._writer.close()
        while not self._idle_readers.empty():
            self._idle_readers.get_nowait().close()
