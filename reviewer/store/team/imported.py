"""Comments that are imported from other programs: finding their items, and adding many at once."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.spectrum.names import spellings
from reviewer.store.accounts import require_active
from reviewer.store.history import History
from reviewer.store.sqlite.database import Database, Transaction
from reviewer.store.team.comments import append_imported

_NAMED = """
SELECT id FROM items WHERE name IN (SELECT value FROM json_each(:names)) AND (:task IS NULL OR task = :task)
ORDER BY id LIMIT :limit
"""


@dataclass(frozen=True)
class ImportedComment:
    """A comment from another program.

    :param source: the program, and the author's name there
    :param at: when it was written there; None: unknown, and the time of the import counts
    :param key: the same key again adds nothing
    :param person: initials of its author; None: they are no person of this database
    """

    item_id: int
    source: str
    text: str
    at: datetime | None
    key: str
    person: str | None = None


class ImportedComments:
    """Adds comments from other programs."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def item_of_key(self, key: str) -> int | None:
        """Return the item with this key; None if there is none."""
        with self._database.read() as db:
            row = db.execute("SELECT id FROM items WHERE key = ?", (key,)).fetchone()
        return None if row is None else int(row[0])

    def has_item(self, number: int) -> bool:
        """Return whether there is an item with this number."""
        with self._database.read() as db:
            return db.execute("SELECT 1 FROM items WHERE id = ?", (number,)).fetchone() is not None

    def items_named(self, name: str, task: str | None, limit: int = 10) -> list[int]:
        """Return the first items of a spectrum's name, of one task if it is given; without any, those whose name means
        the same (``agent.spectrum.names``).
        """
        with self._database.read() as db:
            for names in ([name], spellings(name)):
                values = {"names": json.dumps(names), "task": task, "limit": limit}
                if items := [row[0] for row in db.execute(_NAMED, values)]:
                    return items
        return []

    def known(self, keys: Collection[str]) -> frozenset[str]:
        """Return those of the keys that comments have."""
        with self._database.read() as db:
            return _known(db, keys)

    def add(self, comments: Sequence[ImportedComment], by: str | None = None) -> int:
        """Add comments in one transaction, each as a thread of its own; return how many are new.

        :param by: who imports them; None: the owner of the file, on the command line
        :raises NotAllowed: ``by`` is not active, a text is empty or too long, or a source is missing
        :raises NotFound: there is no such item or person
        """
        with self._database.write() as db:
            if by is not None:
                require_active(db, by)
            known = _known(db, [comment.key for comment in comments])
            new = list({comment.key: comment for comment in comments if comment.key not in known}.values())
            if not new:
                return 0
            now = self._database.now()
            numbers = [
                append_imported(
                    db,
                    self._history,
                    imported.item_id,
                    imported.source,
                    imported.text,
                    imported.at or now,
                    imported.key,
                    imported.person,
                )
                for imported in new
            ]
            items = sorted({imported.item_id for imported in new})
            subject = f"item {items[0]}" if len(items) == 1 else f"items {items[0]} to {items[-1]}"
            details = {"count": len(new)}
            self._database.log(db, by, "comments imported", subject, details, {"comments": (numbers[0], numbers[-1])})
            return len(new)


def _known(db: Transaction, keys: Collection[str]) -> frozenset[str]:
    rows = db.execute(
        "SELECT key FROM comments WHERE key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),)
    )
    return frozenset(row[0] for row in rows)
