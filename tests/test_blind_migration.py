"""A database of the first release gets its tables for blind sessions, and everything in it stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from blind_campaign import SCORERS, drawn, opened, tokens, two_drafters
from campaign import TO_VOTE, Desk, people

from reviewer.blind.values import Plan
from reviewer.store import Store
from reviewer.store.blind_schema import BLIND_FACTS
from reviewer.store.schema import MIGRATIONS

FIRST = MIGRATIONS[:1]


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table of the first schema."""
    reader = sqlite3.connect(path)
    names = [
        name
        for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if name not in ("migrations", *BLIND_FACTS)
    ]
    held = {name: sorted(reader.execute(f"SELECT * FROM {name}"), key=repr) for name in names}
    reader.close()
    return held


def test_a_database_of_the_first_release_keeps_its_rows_and_can_hold_a_session(tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    with Store.open(path, migrations=FIRST) as store:
        people(store)
        two_drafters(store, 3)
        Desk(store).until(1, *TO_VOTE)
    before = rows(path)
    assert {"items", "versions", "decisions", "standings"} <= {name for name, held in before.items() if held}

    with Store.open(path) as store:
        assert rows(path) == before
        assert store.verify() == []
        assert store.standing(1).progress == "vote 0 of 2"
        # Of the first item RE, AU and AX have seen too much.
        barred = {c.item: c.barred for c in store.blind_candidates(Plan("any", SCORERS))}
        assert barred[1] == {"RE", "AU"}
        session = opened(store, items=(3, 4), each=3)
        store.score_blind("RE", tokens(store, "RE")[0], 4, 4, "k")
        assert store.blind_progress("CO", session.id)[0].done == 1
        assert store.verify() == []


def test_the_migrations_are_recorded_and_run_once(tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    Store.open(path, migrations=FIRST).close()
    for _ in range(2):
        Store.open(path).close()
    reader = sqlite3.connect(path)
    numbers = reader.execute("SELECT number, name FROM migrations ORDER BY number").fetchall()
    reader.close()
    assert numbers[:2] == [(1, "first schema"), (2, "blind sessions")]
    assert len(numbers) == len(MIGRATIONS)


def test_a_backup_holds_the_sessions(tmp_path: Path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        two_drafters(store, 3)
        session = drawn(store)
        store.backup(tmp_path / "copy.db")
    with Store.open(tmp_path / "copy.db") as copy:
        assert copy.blind_session(session.id) == session
