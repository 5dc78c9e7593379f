"""A campaign of any number of items in one database, made by copying the rows of a small one with SQL.

The small campaign is made through the store: trajectories of usual length, decisions of four people in every round.
Its copies have other numbers, keys and names. The audit log covers the first campaign only, so ``verify`` finds the
other rows uncovered; nothing that is measured here reads it.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from reviewer.store import Store
from reviewer.store.sqlite.database import connect, helpers
from reviewer.store.sqlite.figures import fill_figures
from tests.benchmarks.store import add_items, decide_all, kept_database

FIRST = 2000
"""Items of the campaign that is copied."""
PEOPLE = ("AB", "CD", "EF", "GH")
_COPIED = {
    "items": (
        "SELECT id + :items, key || ':' || :copy, spectrum, printf('%07d', id + :items) || substr(name, 7), task, "
        "drafter_kind, drafter_name, label, simulated, batch, survey, snr, added_at FROM items WHERE id <= :first"
    ),
    "versions": (
        "SELECT id + :versions, key || ':' || :copy, item + :items, number, content_hash, parent + :versions, author, "
        "reason, at, body FROM versions WHERE id <= :last_version"
    ),
    "decisions": (
        "SELECT id + :decisions, key || ':' || :copy, item + :items, version + :versions, person, round, verb, reason, "
        "comment, withdraws + :decisions, rules, at FROM decisions WHERE id <= :last_decision"
    ),
    "work_times": (
        "SELECT id + :decisions, decision + :decisions, opened_at, elapsed, active FROM work_times "
        "WHERE id <= :last_decision"
    ),
    "verdicts": (
        "SELECT id + :verdicts, item + :items, version + :versions, person, verdict, at FROM verdicts "
        "WHERE id <= :last_verdict"
    ),
    "standings": (
        'SELECT item + :items, state, version + :versions, number, "cast", compared, disagreement, decided_at, task, '
        "survey, snr, drafter, batch, simulated FROM standings WHERE item <= :first"
    ),
    "barred": "SELECT person, item + :items FROM barred WHERE item <= :first",
}
_TEXT = """
INSERT INTO items_text (rowid, text)
SELECT i.id, i.name || char(10) || json_extract(s.details, '$.ids.obsid')
FROM items i JOIN spectra s ON s.sha256 = i.spectrum WHERE i.id BETWEEN ? AND ?
"""


def campaign(items: int, folder: Path) -> Path:
    """Return a database of ``items`` items (a multiple of ``FIRST``) in ``folder``; make it if it does not exist."""

    def fill(path: Path) -> None:
        _make_first(path)
        if items > FIRST:
            with closing(connect(path)) as db:
                _copy(db, items // FIRST)

    return kept_database(folder / f"campaign-{items}.db", fill)


def _make_first(path: Path) -> None:
    rng = random.Random(1)
    with Store.open(path) as store:
        ids = add_items(store, FIRST, rng)
        decide_all(store, ids, rng)
        with store.database.write() as db:
            db.execute("UPDATE items SET label = iif(id % 3, 'YES', 'NO') WHERE id % 20 = 0")
            db.execute(
                "INSERT INTO work_times SELECT id, id, at, 60.0 + id % 300, 20.0 + id % 40 FROM decisions ORDER BY id"
            )
            db.execute(
                "INSERT INTO verdicts (item, version, person, verdict, at) "
                "SELECT item, version, person, iif(item % 7, 'YES', 'NO'), at FROM decisions "
                "WHERE item % 20 = 0 AND round = 'audit' ORDER BY id"
            )


def _copy(db: sqlite3.Connection, copies: int) -> None:
    triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA cache_size = -1000000")
    last = {name: db.execute(f"SELECT max(id) FROM {name}").fetchone()[0] for name in ("versions", "decisions")}
    (last_verdict,) = db.execute("SELECT max(id) FROM verdicts").fetchone()
    for copy in range(1, copies):
        values = {
            "copy": copy,
            "first": FIRST,
            "items": FIRST * copy,
            "versions": last["versions"] * copy,
            "decisions": last["decisions"] * copy,
            "verdicts": last_verdict * copy,
            "last_version": last["versions"],
            "last_decision": last["decisions"],
            "last_verdict": last_verdict,
        }
        db.execute("BEGIN")
        for table, rows in _COPIED.items():
            db.execute(f"INSERT INTO {table} {rows}", values)
        db.execute(_TEXT, (FIRST * copy + 1, FIRST * (copy + 1)))
        db.execute("COMMIT")
    db.execute("UPDATE tallies SET items = items * ?", (copies,))
    fill_figures(helpers(db))
    for _, sql in triggers:
        db.execute(sql)
    db.execute("PRAGMA journal_mode = DELETE")
