"""The audit log: who did what when, appended in the transaction that does it, and read and checked.

The program itself only appends. Whoever can write the file can do more; what they cannot do is change one
thing and leave the rest as it was: docs/design/store.md says what shows and what does not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from reviewer.store.audit.chain import Entry, Head, Range, Told, append, head
from reviewer.store.audit.verify import faults
from reviewer.store.sqlite.clock import ALLOWANCE, Times, stamp
from reviewer.store.sqlite.connection import Base

MOST_FAULTS = 1000
"""Sentences that ``check_log`` gives at most: a file that was rewritten would have one for every row."""


class Log(Base):
    """What has been done here."""

    def __init__(self, path: Path, writer: sqlite3.Connection, times: Times, patience: float) -> None:
        super().__init__(path, writer, times, patience)
        self._last_told = _last_told(writer) or self.now()

    def log(self, after: int = 0, limit: int = 100, person: str | None = None, what: str | None = None) -> list[Entry]:
        """The first ``limit`` entries above number ``after``, oldest first.

        :param person: only those of this person (initials)
        :param what: only those of this kind
        """
        asked = {"after": after, "limit": limit, "person": person, "what": what}
        chosen = " ".join(f"AND {name} = :{name}" for name in ("person", "what") if asked[name] is not None)
        sql = f"SELECT * FROM log WHERE number > :after {chosen} ORDER BY number LIMIT :limit"
        with self._reading() as db:
            return [_entry_from(row) for row in db.execute(sql, asked)]

    def last_entries(self, limit: int = 100, person: str | None = None, what: str | None = None) -> list[Entry]:
        """The last ``limit`` entries, oldest first; of one person or one kind only, if given."""
        asked = {"limit": limit, "person": person, "what": what}
        chosen = " AND ".join(f"{name} = :{name}" for name in ("person", "what") if asked[name] is not None)
        sql = f"SELECT * FROM log WHERE {chosen or 'true'} ORDER BY number DESC LIMIT :limit"
        with self._reading() as db:
            return [_entry_from(row) for row in db.execute(sql, asked)][::-1]

    def log_head(self) -> Head:
        """The end of the log as it is now."""
        with self._reading() as db:
            return head(db)

    def clock_behind(self) -> timedelta | None:
        """How far the machine's clock is behind what it told before; None if that is a minute or less. It was
        set back while this program ran, or before it, since the last entry of the log."""
        behind = max(self.steady(), self._last_told) - self.now()
        return behind if behind > ALLOWANCE else None

    def check_log(self, known: Head | None = None) -> list[str]:
        """What is wrong with the log and with what it binds, one sentence each; nothing if all is well.

        :param known: a head of an earlier moment, kept elsewhere: the log has to hold it
        """
        with self._reading() as db:
            found = faults(db, known)
            wrong = list(islice(found, MOST_FAULTS))
            return [*wrong, "and more"] if next(found, None) is not None else wrong

    def note(self, person: str | None, what: str, subject: str = "", **details: Any) -> Head:
        """Append an entry about something that is no fact of the database, such as a backup of it.

        :param details: anything JSON can hold; no password, token or key
        """
        with self._writing() as db:
            return self._tell(db, person, what, subject, details)

    def _tell(
        self,
        db: sqlite3.Connection,
        person: str | None,
        what: str,
        subject: str = "",
        details: Mapping[str, Any] | None = None,
        facts: Mapping[str, int | Range] | None = None,
        people: tuple[str, ...] = (),
    ) -> Head:
        """Append the entry of this transaction: every write path of the store calls this, once.

        :param facts: what it appended: by table the key of the row, or the first and the last of several
        :param people: whose rows it changed
        """
        ranges = {table: (keys, keys) if isinstance(keys, int) else keys for table, keys in (facts or {}).items()}
        return append(db, stamp(self.now()), Told(person, what, subject, details or {}, ranges, people))


def _last_told(db: sqlite3.Connection) -> datetime | None:
    """The time of the last entry; None where there is no log yet, or none that can be read."""
    try:
        last = db.execute("SELECT at FROM log ORDER BY number DESC LIMIT 1").fetchone()
        return None if last is None else datetime.fromisoformat(last[0])
    except (sqlite3.OperationalError, ValueError):
        return None


def _entry_from(row: sqlite3.Row) -> Entry:
    return Entry(
        number=row["number"],
        at=datetime.fromisoformat(row["at"]),
        person=row["person"],
        what=row["what"],
        subject=row["subject"],
        details=json.loads(row["details"]),
        previous=row["previous"],
        hash=row["hash"],
    )
