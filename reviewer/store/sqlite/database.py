"""Connections to annotations.db: one that writes, a pool that reads; nowhere else is a transaction opened."""

from __future__ import annotations

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reviewer.store.errors import CannotWrite, Damaged, FileGone, restore_instead

Clock = Callable[[], datetime]

ALLOWANCE = timedelta(minutes=1)
"""How far apart the clocks of two processes on one file may be, and what set-back is told to nobody."""


def utc_now() -> datetime:
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """A time as it is stored: UTC, ISO 8601, always milliseconds, so that text order is time order."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def _no_time() -> float:
    return 0.0


class Clocks:
    """The two clocks of one process.

    :param clock: what the machine tells
    :param elapsed: seconds since any moment, never set back; the machine's own with the machine's own clock,
        and one that stands still beside any other, which is then the only one that moves
    """

    def __init__(self, clock: Clock = utc_now, elapsed: Callable[[], float] | None = None) -> None:
        self._clock = clock
        self._elapsed = elapsed or (time.monotonic if clock is utc_now else _no_time)
        self._lock = threading.Lock()
        self._latest = self.now()
        self._seen_at = self._elapsed()

    def now(self) -> datetime:
        """What the machine's clock tells, UTC."""
        return self._clock().astimezone(UTC)

    def steady(self) -> datetime:
        """What the machine's clock tells; once it was set back, what it told before and the seconds since."""
        with self._lock:
            told, elapsed = self.now(), self._elapsed()
            went_on = self._latest + timedelta(seconds=elapsed - self._seen_at)
            self._latest, self._seen_at = max(told, went_on), elapsed
            return self._latest


class FileIdentity:
    """The database and its write-ahead log, known by device and inode. The log is there from the first write
    on, and stays as long as a connection is open."""

    def __init__(self, path: Path) -> None:
        self._files = (path, path.with_name(f"{path.name}-wal"))
        self._known: dict[Path, tuple[int, int]] = {}
        self.require()

    def require(self) -> None:
        """:raises FileGone: another file has the name now, or none"""
        for path in self._files:
            found = _identity(path)
            if found is not None:
                self._known.setdefault(path, found)
            if found != self._known.get(path):
                raise FileGone(
                    f"{path} was moved, deleted or replaced while this program had it open. Nothing was "
                    "saved. Put the file back, or stop the program, bring a backup back with "
                    "`spec-o3 restore` and start again."
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


BUSY_SECONDS = 60.0
"""How long a command waits for another's write."""
SUBMIT_SECONDS = 5.0
"""How long a page waits for it: somebody is sitting there, and the page can ask again."""
READER_KIB = 512
"""Of the file that each connection that reads keeps in memory."""


def connect(path: Path, patience: float = BUSY_SECONDS) -> sqlite3.Connection:
    """A connection as this program wants it; transactions are opened by ``Base`` only.

    :param patience: seconds to wait for another's write
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    try:
        # The first to read the schema, and so the one that fails where that is damaged.
        with damage_as_sqlite_error():
            # FULL: an acknowledged vote is on the disk, whatever happens to the power.
            connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # Without this, INSERT OR REPLACE would delete a fact past the trigger that guards it.
        connection.execute("PRAGMA recursive_triggers = ON")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def damage_as_sqlite_error() -> Iterator[None]:
    """SQLite quotes the file when it says what is damaged, and Python cannot read that where it is no UTF-8.

    :raises sqlite3.DatabaseError: instead of the error about its own message
    """
    try:
        yield
    except UnicodeDecodeError as error:
        damaged = sqlite3.DatabaseError("malformed database schema")
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged from error


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
}

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""What SQLite says of a file whose pages are not what they were."""


class Database:
    """What every part of the store stands on: the clock, ``_reading`` and ``_writing``."""

    def __init__(self, path: Path, writer: sqlite3.Connection, times: Clocks, patience: float) -> None:
        self.path = path
        self._times = times
        self._patience = patience
        self._writer = writer
        self._place = FileIdentity(path)
        self._writing_now = threading.Lock()
        self._idle_readers: queue.LifoQueue[sqlite3.Connection] = queue.LifoQueue()
        self._closed = False

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: all of it is on disk when the block ends, or none of it is.

        IMMEDIATE takes the write lock before anything is read, so what was read is still true when it is
        written; a deferred BEGIN would fail on the upgrade without waiting.

        :raises CannotWrite: the disk is full, or the file read-only, kept locked or no longer there
        :raises Damaged: what it reads is no database
        """
        with self._my_turn(), self._said_plainly():
            self._begin()
            try:
                self._place.require()
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                # SQLite has already rolled back after a full disk or an I/O error.
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    def _begin(self) -> None:
        """SQLite waits by itself, but not for everything: while another program opens or closes the file it
        may answer "busy" at once."""
        give_up = time.monotonic() + self._patience
        while True:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)

    @contextmanager
    def _my_turn(self) -> Iterator[None]:
        """One thread of this process writes at a time. :raises CannotWrite: another goes on for too long"""
        if not self._writing_now.acquire(timeout=self._patience):
            raise CannotWrite(self._busy("this program is writing something long"))
        try:
            yield
        finally:
            self._writing_now.release()

    @contextmanager
    def _said_plainly(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # The low byte is the kind of error, what is above it the detail.
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if kind in DAMAGE:
                raise Damaged(restore_instead(self.path, error)) from error
            if kind == sqlite3.SQLITE_BUSY:
                raise CannotWrite(self._busy("another program keeps it locked")) from error
            if kind not in _SENTENCES:
                raise
            raise CannotWrite(f"{self.path}: {_SENTENCES[kind]} Nothing was saved.") from error

    def _busy(self, why: str) -> str:
        return f"{self.path}: {why}, for {self._patience:.0f} seconds by now. Nothing was saved; try again."

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """One snapshot: every query in the block sees the same moment.

        :raises CannotWrite: the disk reports an error
        :raises Damaged: what it reads is no database
        :raises FileGone: the file is no longer there, and no reader has it open
        """
        with self._said_plainly():
            reader = self._reader()
            try:
                reader.execute("BEGIN")
                yield reader
            finally:
                if reader.in_transaction:
                    reader.execute("ROLLBACK")
                if self._closed:
                    reader.close()
                else:
                    self._idle_readers.put(reader)

    def _reader(self) -> sqlite3.Connection:
        try:
            return self._idle_readers.get_nowait()
        except queue.Empty:
            self._place.require()  # connecting would make an empty file of that name
            reader = connect(self.path, self._patience)
            reader.execute("PRAGMA query_only = ON")
            # There is one a thread, forty in all. At SQLite's usual 2 MB each they went on growing for as
            # long as people worked; what they do not hold, the system's own cache of the file does.
            reader.execute(f"PRAGMA cache_size = -{READER_KIB}")
            return reader

    def now(self) -> datetime:
        """What the machine's clock tells, UTC: the time of what happens."""
        return self._times.now()

    def steady(self) -> datetime:
        """The same without setting back, UTC: the time that leases and sessions run by."""
        return self._times.steady()

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        with self._writing_now:
            self._closed = True
            self._writer.close()
        while not self._idle_readers.empty():
            self._idle_readers.get_nowait().close()
