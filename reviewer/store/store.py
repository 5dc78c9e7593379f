"""The store: everything its parts offer, behind one name."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from reviewer.store.blind import Blind
from reviewer.store.errors import CannotWrite, Damaged, NotAnnotations, restore_instead
from reviewer.store.items import Items
from reviewer.store.marks import Remarks
from reviewer.store.queue import Queue
from reviewer.store.reviews import Review
from reviewer.store.settings import Settings
from reviewer.store.sqlite.database import BUSY_SECONDS, DAMAGE, Clock, Clocks, connect, use_wal, utc_now
from reviewer.store.sqlite.migrations import migrate
from reviewer.store.sqlite.schema import MIGRATIONS, Migration
from reviewer.store.statistics import Alike, Counting
from reviewer.store.upkeep import Soundness, Upkeep

_OPENING = {
    sqlite3.SQLITE_READONLY: "the file, its folder or its disk may not be written by you",
    sqlite3.SQLITE_CANTOPEN: "there is no such folder, or it, the file or its disk may not be written by you",
    sqlite3.SQLITE_BUSY: f"another program has kept it locked for {BUSY_SECONDS:.0f} seconds",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk reported an error",
}


class Store(Items, Queue, Review, Remarks, Settings, Counting, Alike, Blind, Upkeep, Soundness):
    """annotations.db. Any number of threads may use one store, any number of processes one file.

    A call that returns has its facts on the disk. A call that raises has written nothing, but for unsent text
    that is kept for its writer, and for thousands of items that the disk ran full under.
    """

    @classmethod
    def open(
        cls,
        path: Path | str,
        clock: Clock = utc_now,
        migrations: Sequence[Migration] = MIGRATIONS,
        patience: float = BUSY_SECONDS,
        elapsed: Callable[[], float] | None = None,
    ) -> Store:
        """Open the database, making it or bringing its schema up to date.

        :param clock: gives the present time, for leases, sessions and the times of facts
        :param patience: seconds that a write waits for another program's; an upgrade always waits a minute
        :param elapsed: seconds that never run backwards, by which leases and sessions go on while the clock
            is set back; if not given the machine's with the machine's clock, and none with another
        :raises NotAnnotations: the file is something else
        :raises NewerSchema: a newer release has written it
        :raises Damaged: its first pages are not what they were
        :raises CannotWrite: there is no such folder, or the file is read-only or kept busy by another program
        """
        path = Path(path)
        try:
            times = Clocks(clock, elapsed)
            writer = _ready(path, migrations, times)
            writer.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
        except sqlite3.OperationalError as error:
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            raise CannotWrite(f"{path}: {_OPENING.get(kind, error)}. Nothing was changed.") from error
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF not in DAMAGE:
                raise
            if error.sqlite_errorcode != sqlite3.SQLITE_NOTADB:
                raise Damaged(restore_instead(path, error)) from error
            found = "found a file that is not SQLite, wanted an annotations database"
            raise NotAnnotations(f"{path}: {found}; if it was one, `spec-o3 restore BACKUP`") from None
        return cls(path, writer, times, patience)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _ready(path: Path, migrations: Sequence[Migration], times: Clocks) -> sqlite3.Connection:
    """A connection to a file of the present schema."""
    while True:
        before = _which(path)
        _begin_closed(path)
        writer = connect(path)
        try:
            migrate(writer, path, migrations, times.now())
            use_wal(writer)
        except sqlite3.OperationalError:
            writer.close()
            # A restore put another file there while this waited for it; SQLite refuses to write to the old.
            if before is None or _which(path) in (None, before):
                raise
            continue
        except BaseException:
            writer.close()
            raise
        # From here on no restore can: an open connection to a write-ahead log keeps it out.
        if before is None or _which(path) in (None, before):
            return writer
        writer.close()


def _begin_closed(path: Path) -> None:
    """A new file is its owner's alone: it will hold password hashes. SQLite gives the files beside it the
    same mode, and says itself why a file cannot be made."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _which(path: Path) -> tuple[int, int] | None:
    """Which file stands under the name; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
