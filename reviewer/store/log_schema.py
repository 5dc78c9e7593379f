"""The table of the audit log, which migration 3 makes, and its first entries: what the file held before."""

from __future__ import annotations

import sqlite3

from reviewer.store.log_chain import BOUND, Told, append

LOG_TABLE = """
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
"""


def begin(db: sqlite3.Connection) -> None:
    """Bind what the file held before it had a log, one entry a table, at the time of the migration."""
    (at,) = db.execute("SELECT applied_at FROM migrations ORDER BY number DESC LIMIT 1").fetchone()
    people = tuple(row[0] for row in db.execute("SELECT initials FROM people ORDER BY initials"))
    if people:
        append(db, at, Told(None, "log begun", "people", {"count": len(people)}, people=people))
    for table, bound in BOUND.items():
        first, last, count = db.execute(
            f"SELECT min({bound.key}), max({bound.key}), count(*) FROM {table}"
        ).fetchone()
        if count:
            told = Told(None, "log begun", table, {"count": count}, facts={table: (first, last)})
            append(db, at, told)
