"""Backup, verification, rebuild and the check at start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.language import tr
from reviewer.store.accounts import end_tokens
from reviewer.store.audit.chain import BOUND, Head
from reviewer.store.audit.log import AuditLog
from reviewer.store.errors import Damaged, restore_instead
from reviewer.store.history import History, derived
from reviewer.store.sqlite.damage import damaged_table, text_columns, unreadable_texts
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.sqlite.figures import FIGURES, TALLIED, fill_figures
from reviewer.store.sqlite.files import copy
from reviewer.store.sqlite.tables import Snapshot
from reviewer.store.sqlite.texts import fill_texts, wrong_texts
from reviewer.store.team.assignments import fill_assigned, wrong_assignments
from reviewer.store.team.mentions import fill_mentions, wrong_mentions
from reviewer.store.team.webhooks import drop_waiting

_WRONG_BATCHES = """
SELECT s.item FROM standings s JOIN items i ON i.id = s.item
WHERE s.batch <> coalesce(
    (SELECT c.batch FROM batch_changes c WHERE c.item = s.item ORDER BY c.id DESC LIMIT 1), i.batch
)
"""


class Upkeep:
    """Copies and checks of the whole file."""

    def __init__(self, database: Database, history: History, log: AuditLog) -> None:
        self._database = database
        self._history = history
        self._log = log

    def backup(self, path: Path | str, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a complete copy to one file while others keep writing; it holds the state of one moment.

        :param progress: called with the number of pages done, and of all
        :raises StoreError: the target exists already, or the database is damaged
        :raises CannotWrite: there is no such folder, or no room in it
        """
        copy(self._database.path, Path(path), progress)

    def record_restore(self, source: str, head: Head, replaced: Head | None) -> None:
        """Log the source of this restored database, and end all sessions and tokens: some in a backup were ended later.

        What webhooks were still to be told is dropped: it may have been delivered after the backup.

        :param head: the head of the log in the source
        :param replaced: the head of the log of the replaced database
        """
        heads = {"log_head": head, "replaced_log_head": replaced}
        with self._database.write() as db:
            db.execute("UPDATE sessions SET ended_at = ? WHERE ended_at IS NULL", (stamp(self._database.now()),))
            end_tokens(db, self._database.now())
            drop_waiting(db)
            details = {name: None if head is None else str(head) for name, head in heads.items()}
            self._database.log(db, None, "database restored", source, details)

    def verify(self, known: Head | None = None) -> list[str]:
        """Return the faults of the file, one sentence each; an empty list if there are none.

        Runs SQLite's integrity and foreign key checks, then compares every derived row with its facts, then
        checks the audit log and the rows it covers.

        :param known: a head of the log that was stored elsewhere
        """
        with self._database.read() as db:
            wrong = [
                tr("integrity: {fault}", fault=row[0]) for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"
            ]
            wrong += [
                tr("{table} row {row} names a missing {other}", table=row[0], row=row[1], other=row[2])
                for row in db.execute("PRAGMA foreign_key_check")
            ]
            rules = self._history.current_rules(db)[1]
            for (item_id,) in db.execute("SELECT id FROM items ORDER BY id").fetchall():
                expected = derived(self._history.facts(db, item_id), rules, item_id)
                if (expected.row, expected.barred) != _stored(db, item_id):
                    wrong.append(tr("item {item}: its standing does not follow from its facts; rebuild", item=item_id))
            wrong += [
                tr("item {item}: its batch does not follow from its facts; rebuild", item=item_id)
                for (item_id,) in db.execute(_WRONG_BATCHES)
            ]
            wrong += _wrong_tallies(db)
            wrong += wrong_assignments(db)
            wrong += wrong_mentions(db)
            wrong += wrong_texts(db)
            # The audit log compares the facts with what was written.
            others = {table: columns for table, columns in text_columns(db).items() if table not in BOUND}
            wrong += unreadable_texts(db, others)
        return wrong + self._log.check(known)

    def rebuild(self, progress: Callable[[int], None] | None = None) -> int:
        """Derive every standing again from the facts; return the number of items.

        :param progress: called with the number of items done so far
        """
        with self._database.write() as db:
            items = [row[0] for row in db.execute("SELECT id FROM items ORDER BY id")]
            # Tallies first: the triggers cannot correct wrong ones.
            db.execute("DELETE FROM tallies")
            db.execute("DELETE FROM standings")
            for number, item_id in enumerate(items, start=1):
                self._history.refresh(db, item_id)
                if progress is not None:
                    progress(number)
            fill_figures(db)
            fill_assigned(db)
            fill_mentions(db)
            fill_texts(db)
        return len(items)

    def shrink(self) -> None:
        """Give unused pages of the file back to the disk. Nobody can write meanwhile.

        :raises CannotWrite: no room for a second copy of the file, or another program has locked it
        """
        with self._database.alone() as connection:
            connection.execute("VACUUM")

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Read every table as of one moment, while others keep writing."""
        with self._database.read() as db:
            yield Snapshot(db)

    def check_at_start(self) -> None:
        """Check that the file can be written, and the pages of every table except the large ones.

        ``verify`` checks those too.

        :raises CannotWrite: it cannot be written, or another program has locked it
        :raises Damaged: SQLite finds a fault in one of the tables
        """
        with self._database.write() as db:
            # IMMEDIATE alone does not write to the file; this writes the value that is already there.
            (version,) = db.execute("PRAGMA user_version").fetchone()
            db.execute(f"PRAGMA user_version = {version}")
        with self._database.read() as db:
            fault = damaged_table(db)
        if fault is not None:
            raise Damaged(restore_instead(self._database.path, fault))


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
    wrong = [tr("the tallies do not add up to the standings; rebuild")] if differing else []
    for table, rows in FIGURES.items():
        number = "versions" if table == "version_figures" else "items" if table == "standing_figures" else "decisions"
        kept = f"SELECT * FROM {table} WHERE {number} <> 0"
        (differing,) = db.execute(
            f"SELECT (SELECT count(*) FROM ({rows} EXCEPT {kept})) + (SELECT count(*) FROM ({kept} EXCEPT {rows}))"
        ).fetchone()
        if differing:
            wrong.append(tr("the figures of the table {table} do not follow from the facts; rebuild", table=table))
    return wrong
