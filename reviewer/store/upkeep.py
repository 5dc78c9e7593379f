"""Keeping the file itself in order: copies of it, and the derived tables checked against the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from reviewer.store.audit.chain import Head
from reviewer.store.audit.log import AuditLog
from reviewer.store.errors import Damaged, restore_instead
from reviewer.store.history import History, derived
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.sqlite.files import copy
from reviewer.store.sqlite.schema import TALLIED
from reviewer.store.sqlite.tables import Snapshot

# Spectra, pictures and the texts of versions are nearly all of the file, and each is checked against its
# hash when it is read; reading them all would make a start take as long as the disk does.
_LARGE = ("versions", "pictures", "spectra")


class Upkeep:
    """Backup, rebuild, verify."""

    def __init__(self, database: Database, history: History, log: AuditLog) -> None:
        self._database = database
        self._history = history
        self._log = log

    def backup(self, path: Path | str, progress: Callable[[int, int], None] | None = None) -> None:
        """A complete copy in one file, taken while others go on writing; it holds one moment of the database.

        :param progress: called with the number of pages done, and of all
        :raises StoreError: the target exists already, or the database is damaged
        :raises CannotWrite: there is no such folder, or no room in it
        """
        copy(self._database.path, Path(path), progress)

    def record_restore(self, source: str, head: Head | None, replaced: Head | None) -> None:
        """Write into the log where this database comes from, and let everybody sign in again: of the sessions
        in a backup some were ended later.

        :param head: of the log as the source had it
        :param replaced: of the log of the database that was here before
        """
        heads = {"log_head": head, "replaced_log_head": replaced}
        with self._database.write() as db:
            db.execute("UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL", (stamp(self._database.now()),))
            told = {name: None if one is None else str(one) for name, one in heads.items()}
            self._database.log(db, None, "database restored", source, told)

    def verify(self, known: Head | None = None) -> list[str]:
        """What is wrong with the file, one sentence each; nothing if all is well.

        SQLite's own integrity and foreign key checks, then every derived row against the facts it came from,
        then the log and what it binds.

        :param known: a head of the log that was kept elsewhere
        """
        with self._database.read() as db:
            wrong = [f"integrity: {row[0]}" for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            wrong += [
                f"{row[0]} row {row[1]} names a missing {row[2]}" for row in db.execute("PRAGMA foreign_key_check")
            ]
            rules = self._history.current_rules(db)[1]
            for (item_id,) in db.execute("SELECT id FROM items ORDER BY id").fetchall():
                what = derived(self._history.facts(db, item_id), rules, item_id)
                if (what.row, what.barred) != _stored(db, item_id):
                    wrong.append(f"item {item_id}: its standing does not follow from its facts; rebuild")
            wrong += _wrong_tallies(db)
        return wrong + self._log.check(known)

    def rebuild(self, progress: Callable[[int], None] | None = None) -> int:
        """Derive every standing again from the facts; the number of items.

        :param progress: called with the number of items done so far
        """
        with self._database.write() as db:
            items = [row[0] for row in db.execute("SELECT id FROM items ORDER BY id")]
            # Tallies first: wrong ones would stop their own correction.
            db.execute("DELETE FROM tallies")
            db.execute("DELETE FROM standings")
            for number, item_id in enumerate(items, start=1):
                self._history.refresh(db, item_id)
                if progress is not None:
                    progress(number)
        return len(items)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read every row of the archive's tables as of one moment, while others go on writing."""
        with self._database.read() as db:
            yield Snapshot(db)

    def check_at_start(self) -> None:
        """Check that the file may be written, and the pages of every table of facts but the large ones, which
        `verify` checks as well.

        :raises CannotWrite: it may not, or another program holds it
        :raises Damaged: SQLite finds a fault in one of the tables
        """
        with self._database.write() as db:
            # IMMEDIATE alone does not touch the file; what is written here is what is there.
            (version,) = db.execute("PRAGMA user_version").fetchone()
            db.execute(f"PRAGMA user_version = {version}")
        with self._database.read() as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            for table in sorted(set(tables) - set(_LARGE)):
                (found,) = db.execute(f"PRAGMA quick_check('{table}')").fetchone()
                if found != "ok":
                    raise Damaged(restore_instead(self._database.path, f"table {table}: {found}"))


def _stored(db: Transaction, item_id: int) -> tuple[dict[str, object], tuple[str, ...]] | None:
    row = db.execute("SELECT * FROM standings WHERE item = ?", (item_id,)).fetchone()
    if row is None:
        return None
    people = db.execute("SELECT person FROM barred WHERE item = ? ORDER BY person", (item_id,))
    columns = ("item", "state", "version", "number", "cast", "compared", "disagreement", "decided_at")
    return {column: row[column] for column in columns}, tuple(person for (person,) in people)


def _wrong_tallies(db: Transaction) -> list[str]:
    columns = ", ".join(TALLIED)
    counted = f"SELECT {columns}, count(*) FROM standings GROUP BY {columns}"
    kept = f"SELECT {columns}, items FROM tallies WHERE items > 0"
    (differing,) = db.execute(
        f"SELECT count(*) FROM (SELECT * FROM ({counted} EXCEPT {kept}) UNION ALL "
        f"SELECT * FROM ({kept} EXCEPT {counted}))"
    ).fetchone()
    return ["the tallies do not add up to the standings; rebuild"] if differing else []
