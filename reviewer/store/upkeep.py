"""Keeping the file itself in order: copies of it, and the derived tables checked against the facts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from reviewer.store.connection import connect
from reviewer.store.errors import CannotWrite, StoreError
from reviewer.store.facts import Facts, derived
from reviewer.store.schema import TALLIED


class Upkeep(Facts):
    """Backup, rebuild, verify."""

    def backup(self, path: Path | str) -> None:
        """A complete copy in one file, taken while others go on writing; it holds one moment of the database.

        Written beside the target, checked, then renamed: ``path`` exists only if the copy is good.

        :raises StoreError: the target exists already, or the copy failed its check
        :raises CannotWrite: there is no such folder, or no room in it
        """
        target = Path(path)
        if target.exists():
            raise StoreError(f"{target}: found a file, wanted a name that is not taken")
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            with closing(connect(self.path)) as source, closing(sqlite3.connect(part)) as copy:
                source.backup(copy)
                # A copy is one file, whatever is done to it before it is opened as a database again.
                copy.execute("PRAGMA journal_mode = DELETE")
                (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise StoreError(f"{target}: the copy is damaged ({found}); the original was not touched")
            _put_in_place(part, target)
        except sqlite3.OperationalError as error:
            raise CannotWrite(f"{target}: {error}. No backup was made.") from error
        finally:
            part.unlink(missing_ok=True)

    def verify(self) -> list[str]:
        """What is wrong with the file, one sentence each; nothing if all is well.

        SQLite's own integrity and foreign key checks, then every derived row against the facts it came from.
        """
        with self._reading() as db:
            wrong = [f"integrity: {row[0]}" for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
            wrong += [
                f"{row[0]} row {row[1]} names a missing {row[2]}"
                for row in db.execute("PRAGMA foreign_key_check")
            ]
            rules = self._current_rules(db)[1]
            for (item_id,) in db.execute("SELECT id FROM items ORDER BY id").fetchall():
                what = derived(self._facts(db, item_id), rules, item_id)
                if (what.row, what.barred) != _stored(db, item_id):
                    wrong.append(f"item {item_id}: its standing does not follow from its facts; rebuild")
            wrong += _wrong_tallies(db)
        return wrong

    def rebuild(self, progress: Callable[[int], None] | None = None) -> int:
        """Derive every standing again from the facts; the number of items.

        :param progress: called with the number of items done so far
        """
        with self._writing() as db:
            items = [row[0] for row in db.execute("SELECT id FROM items ORDER BY id")]
            # Tallies first: wrong ones would stop their own correction.
            db.execute("DELETE FROM tallies")
            db.execute("DELETE FROM standings")
            for number, item_id in enumerate(items, start=1):
                self._refresh(db, item_id)
                if progress is not None:
                    progress(number)
        return len(items)


def _stored(db: sqlite3.Connection, item_id: int) -> tuple[dict[str, object], tuple[str, ...]] | None:
    row = db.execute("SELECT * FROM standings WHERE item = ?", (item_id,)).fetchone()
    if row is None:
        return None
    people = db.execute("SELECT person FROM barred WHERE item = ? ORDER BY person", (item_id,))
    columns = ("item", "state", "version", "number", "cast", "compared", "disagreement", "decided_at")
    return {column: row[column] for column in columns}, tuple(person for (person,) in people)


def _wrong_tallies(db: sqlite3.Connection) -> list[str]:
    columns = ", ".join(TALLIED)
    counted = f"SELECT {columns}, count(*) FROM standings GROUP BY {columns}"
    kept = f"SELECT {columns}, items FROM tallies WHERE items > 0"
    (differing,) = db.execute(
        f"SELECT count(*) FROM (SELECT * FROM ({counted} EXCEPT {kept}) UNION ALL "
        f"SELECT * FROM ({kept} EXCEPT {counted}))"
    ).fetchone()
    return ["the tallies do not add up to the standings; rebuild"] if differing else []


def _put_in_place(part: Path, target: Path) -> None:
    """Rename once the bytes are on the disk; the new name follows them there."""
    _sync(part)
    os.replace(part, target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
