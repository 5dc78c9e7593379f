"""A database of the first release gets its tables for blind sessions, and everything in it stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from reviewer.store import Store
from reviewer.store.sqlite.schema import MIGRATIONS
from tests.support.blind_campaign import drawn, two_drafters
from tests.support.campaign import people

FIRST = MIGRATIONS[:1]


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
        assert copy.blind_session(None, session.id) == session
