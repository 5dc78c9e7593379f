"""Store: annotations.db, opened, with one attribute per part."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from agent.language import deferred, tr
from reviewer.store.accounts import Accounts
from reviewer.store.audit.log import AuditLog
from reviewer.store.blind import BlindSessions
from reviewer.store.errors import CannotWrite, Damaged, NotAnnotations, restore_instead
from reviewer.store.history import History, Verdicts
from reviewer.store.imports import Imports
from reviewer.store.inspections import Inspections
from reviewer.store.items import Items
from reviewer.store.leases import Leases
from reviewer.store.marks import Marks
from reviewer.store.queue import Queue
from reviewer.store.reviews import Reviews
from reviewer.store.settings import Settings
from reviewer.store.sky import SkyRecords
from reviewer.store.spectra import Spectra
from reviewer.store.sqlite.damage import is_damage
from reviewer.store.sqlite.database import BUSY_SECONDS, Clock, Clocks, Database, connect, use_wal, utc_now
from reviewer.store.sqlite.migrations import migrate
from reviewer.store.sqlite.objects import Objects
from reviewer.store.statistics import Statistics
from reviewer.store.team.assignments import Assignments
from reviewer.store.team.bulk import Bulk
from reviewer.store.team.comments import Comments
from reviewer.store.team.finding import Finding
from reviewer.store.team.imported import ImportedComments
from reviewer.store.team.logins import Logins
from reviewer.store.team.tokens import Tokens
from reviewer.store.team.traces import Traces
from reviewer.store.team.views import Views
from reviewer.store.team.webhooks import Webhooks
from reviewer.store.triage import Triage
from reviewer.store.trust import Trust
from reviewer.store.upkeep import Upkeep
from reviewer.store.withdrawals import Withdrawals

_REASONS = {
    sqlite3.SQLITE_READONLY: deferred("you have no write permission for the file, its folder or its disk"),
    sqlite3.SQLITE_CANTOPEN: deferred(
        "there is no such folder, or you have no write permission for it, the file or its disk"
    ),
    sqlite3.SQLITE_BUSY: deferred("another program has kept it locked for {seconds:.0f} seconds", seconds=BUSY_SECONDS),
    sqlite3.SQLITE_FULL: deferred("the disk is full"),
    sqlite3.SQLITE_IOERR: deferred("the disk reported an error"),
}


class Store:
    """annotations.db. Any number of threads may use one store, any number of processes one file.

    A call that returns has its facts on the disk. A call that raises has written nothing, except for two cases:
    unsent text is kept for its writer, and the first items of an import that was ended or filled the disk stay.
    """

    def __init__(self, path: Path, writer: sqlite3.Connection, clocks: Clocks, patience: float) -> None:
        self.path = path
        self.database = Database(path, writer, clocks, patience)
        history = self.history = History()
        self.log = AuditLog(self.database)
        self.accounts = Accounts(self.database, history)
        self.settings = Settings(self.database, history)
        self.tokens = Tokens(self.database)
        self.logins = Logins(self.database)
        self.webhooks = Webhooks(self.database)
        self.spectra = Spectra(self.database)
        self.objects = Objects(self.database)
        self.sky = SkyRecords(self.database)
        self.items = Items(self.database, history, self.spectra)
        self.imports = Imports(self.database, self.items)
        self.queue = Queue(self.database, history)
        self.finding = Finding(self.database)
        self.views = Views(self.database)
        self.traces = Traces(self.database)
        self.leases = Leases(self.database, history)
        self.reviews = Reviews(self.database, history, self.leases, self.items, self.spectra)
        self.withdrawals = Withdrawals(self.database, history)
        self.bulk = Bulk(self.database, history)
        self.assignments = Assignments(self.database)
        self.marks = Marks(self.database)
        self.comments = Comments(self.database, history)
        self.imported_comments = ImportedComments(self.database, history)
        self.inspections = Inspections(self.database)
        self.statistics = Statistics(self.database)
        verdicts = Verdicts()
        self.trust = Trust(self.database, verdicts)
        self.triage = Triage(self.database, history, verdicts)
        self.blind = BlindSessions(self.database)
        self.upkeep = Upkeep(self.database, history, self.log)

    @classmethod
    def open(
        cls,
        path: Path | str,
        clock: Clock = utc_now,
        patience: float = BUSY_SECONDS,
        elapsed: Callable[[], float] | None = None,
    ) -> Store:
        """Open the database; create it, or bring its schema up to date.

        :param clock: the present time, for leases, sessions and the times of facts
        :param patience: seconds that a write waits for another program's; an upgrade always waits a minute
        :param elapsed: seconds that never run backwards, by which leases and sessions continue while the clock
            is set back. By default the machine's, if ``clock`` is the machine's; none with another clock
        :raises NotAnnotations: the file is something else
        :raises NewerSchema: a newer release wrote it
        :raises OlderSchema: it is from before the first release
        :raises Damaged: its first pages are damaged
        :raises CannotWrite: there is no such folder, or the file is read-only or locked by another program
        """
        path = Path(path)
        try:
            clocks = Clocks(clock, elapsed)
            writer = _open_writer(path, clocks)
            writer.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if kind != sqlite3.SQLITE_NOTADB:
                if is_damage(error):
                    raise Damaged(restore_instead(path, error)) from error
                if not isinstance(error, sqlite3.OperationalError):
                    raise
                raise CannotWrite(
                    tr("{path}: {get}. Nothing was changed.", path=path, get=_REASONS.get(kind, error))
                ) from error
            raise NotAnnotations(
                tr(
                    "{path}: found a file that is not SQLite, expected an annotations database; if it was one, run "
                    "`spec-o3 restore BACKUP`",
                    path=path,
                )
            ) from None
        return cls(path, writer, clocks, patience)

    def close(self) -> None:
        """Close every connection; a second call does nothing."""
        self.database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _open_writer(path: Path, clocks: Clocks) -> sqlite3.Connection:
    """Return a connection to a file of the present schema."""
    while True:
        before = _identity(path)
        _create_private(path)
        writer = connect(path)
        try:
            migrate(writer, path, clocks.now())
            use_wal(writer)
        except sqlite3.OperationalError:
            writer.close()
            # A restore put another file there while this one waited for it; SQLite refuses to write to the old file.
            if before is None or _identity(path) in (None, before):
                raise
            continue
        except BaseException:
            writer.close()
            raise
        # From here on no restore is possible: an open connection to a write-ahead log prevents it.
        if before is None or _identity(path) in (None, before):
            return writer
        writer.close()


def _create_private(path: Path) -> None:
    """Create a new file that only its owner may read: it will hold password hashes.

    SQLite gives its side files the same mode, and reports itself why a file cannot be created.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file of that name; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
