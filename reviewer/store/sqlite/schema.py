"""The schema of annotations.db: the first one, in ``schema.sql``, and a numbered migration for each later change.

Facts (versions, decisions, marks, verdicts, settings) are appended; triggers refuse every change and deletion of
them. ``standings`` and ``barred`` are derived and can be rebuilt at any time. There are no cascades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reviewer.store.audit.chain import NewEntry, append
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.figures import figure_triggers, tally_triggers

# Identifies our files in SQLite's header: "SpO3" in ASCII.
APPLICATION_ID = 0x53704F33

_FIRST_FACTS = (
    *("versions", "decisions", "marks", "verdicts", "settings", "work_times", "inspections", "showings", "trials"),
    *("comments", "bulk_actions", "assignments", "batch_changes", "bulk_decisions", "log", "exports"),
    *("blind_sessions", "blind_assignments", "blind_states", "blind_scores", "blind_preferences", "blind_judgements"),
)
FACTS = (*_FIRST_FACTS, "sky_records")
"""Tables whose rows are only added."""


@dataclass(frozen=True)
class Migration:
    """A change of the schema; ``run`` receives the transaction that also records it."""

    number: int
    name: str
    run: Callable[[Transaction], None]


def first_schema(db: Transaction) -> None:
    """Create all tables, the rules of a new campaign, and the beginning of the audit log."""
    db.executescript(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
    db.executescript(tally_triggers() + figure_triggers() + "".join(map(_refuse_changes, _FIRST_FACTS)))
    db.execute(
        "INSERT INTO settings (name, value, at) VALUES ('rules', ?, strftime('%Y-%m-%dT%H:%M:%f+00:00'))",
        ('{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',),
    )
    (at,) = db.execute("SELECT applied_at FROM migrations").fetchone()
    append(db, at, NewEntry(None, "log begun", "settings", {"count": 1}, facts={"settings": (1, 1)}))


def _refuse_changes(table: str) -> str:
    return "".join(
        f"CREATE TRIGGER {table}_no_{what} BEFORE {what} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} are facts: append, never {what}'); END;\n"
        for what in ("update", "delete")
    )


def add_sparklines(db: Transaction) -> None:
    """Create the table of sparklines: derived, and filled when a spectrum is stored or its sparkline is asked for."""
    db.execute(
        "CREATE TABLE sparklines (sha256 TEXT PRIMARY KEY REFERENCES spectra (sha256), path TEXT NOT NULL) "
        "WITHOUT ROWID"
    )


def add_sky_records(db: Transaction) -> None:
    """Create the table of what catalogues answered. Its index serves both the records of a spectrum and the check that
    one is new."""
    db.executescript(
        """CREATE TABLE sky_records (
    id INTEGER PRIMARY KEY,
    spectrum TEXT NOT NULL REFERENCES spectra (sha256),
    catalogue TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('found', 'not found', 'not asked', 'failed')),
    at TEXT NOT NULL,
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (spectrum, catalogue, sha256)
);
"""
        + _refuse_changes("sky_records")
    )


# Before the first release there were migrations 1 to 9. Files of number 9 have this very schema and stay in use, so the
# numbers do not begin again.
MIGRATIONS: tuple[Migration, ...] = (
    Migration(9, "first schema", first_schema),
    Migration(10, "sparklines", add_sparklines),
    Migration(11, "sky records", add_sky_records),
)
"""In order. One that a database has had is never edited: add the next."""
