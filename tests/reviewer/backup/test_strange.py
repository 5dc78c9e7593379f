"""Backups into which somebody has put what runs: refused before any of it does, and nothing is replaced."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from reviewer.backup.backups import BadBackup
from reviewer.backup.restore import restore
from reviewer.store import Damaged, Store, StoreError
from reviewer.store.sqlite.tables import summary
from tests.support.kept_campaign import fill, of_an_earlier_schema, unguarded

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
STRANGE = {
    "a trigger without end": (
        f"CREATE TRIGGER odd AFTER INSERT ON log BEGIN SELECT ({ENDLESS} SELECT max(x) FROM c); END",
        "found the trigger 'odd', which is not spec-o3's",
    ),
    "a trigger that undoes": (
        "CREATE TRIGGER odd AFTER INSERT ON log BEGIN DELETE FROM people; END",
        "found the trigger 'odd'",
    ),
    "a view without end": (
        f"DROP TABLE migrations; CREATE VIEW migrations AS {ENDLESS} SELECT x AS number FROM c",
        "found another program's database",
    ),
    "an index of gigabytes": (
        "CREATE INDEX odd ON log (length(hex(zeroblob(length(what) * length(hash)))))",
        "found the index 'odd'",
    ),
    "a guard that is gone": ("DROP TRIGGER decisions_no_update", "found no trigger 'decisions_no_update'"),
    "a column of its own": ("ALTER TABLE people ADD COLUMN odd", "the table 'people' is of another make"),
    "another list of releases": (
        "UPDATE migrations SET number = -1 WHERE number = 1",
        r"it had the migrations \[-1, 2, 3\]",
    ),
    "a name with an escape": ('CREATE TABLE "\x1b[2J\n" (a)', r"found the table '\\x1b\[2J\\n'"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_a_backup_with_strange_parts_is_refused_and_nothing_is_replaced(kind: str, tmp_path: Path) -> None:
    database, given = tmp_path / "annotations.db", tmp_path / "given.db"
    with Store.open(database) as store:
        fill(store)
        store.backup(given)
    sql, said = STRANGE[kind]
    with closing(sqlite3.connect(given)) as db:
        db.executescript(sql)
    before = given.read_bytes()
    with pytest.raises(StoreError, match=said):
        restore(given, database)
    assert given.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["annotations.db", "given.db"]
    with Store.open(database) as store:
        assert store.verify() == store.log(what="database restored") == []


def test_what_analyze_counted_is_no_strange_part(tmp_path: Path) -> None:
    given = tmp_path / "given.db"
    Store.open(given).close()
    with closing(sqlite3.connect(given)) as db:
        db.execute("ANALYZE")
    assert restore(given, tmp_path / "annotations.db").items == 0


def test_nothing_is_left_of_a_refused_restore_whatever_the_database_is_called(tmp_path: Path) -> None:
    given = tmp_path / "given.db"
    Store.open(given).close()
    with closing(sqlite3.connect(given)) as db:
        db.execute("INSERT INTO tallies VALUES ('screening', 'cv', 'x', 'x', 'x', 0, 0, 1)")
        db.commit()
    with pytest.raises(BadBackup, match="the tallies do not add up"):
        restore(given, tmp_path / "round [1].db")
    assert [path.name for path in tmp_path.iterdir()] == ["given.db"]


def with_a_name_nobody_can_read(path: Path) -> None:
    """SQLite quotes it when it says that the schema is malformed, and Python cannot read what it says."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET name = CAST(x'ff' AS TEXT), sql = 'no SQL' WHERE name = 'people'")
        db.commit()


def test_a_malformed_schema_in_no_alphabet_is_told_and_a_backup_takes_its_place(tmp_path: Path) -> None:
    broken, good = tmp_path / "annotations.db", tmp_path / "good.db"
    with Store.open(broken) as store:
        store.backup(good)
    with_a_name_nobody_can_read(broken)
    with pytest.raises(Damaged, match="malformed database schema"):
        Store.open(broken)
    with pytest.raises(StoreError, match="malformed database schema"):
        restore(broken, good)
    with pytest.raises(StoreError, match="malformed database schema"):
        summary(broken)
    done = restore(good, broken)
    assert (done.items, done.replaced) == (0, None)


def test_a_refusal_names_the_backup_and_not_what_was_being_made_of_it(tmp_path: Path) -> None:
    old, headless = tmp_path / "old.db", tmp_path / "headless.db"
    of_an_earlier_schema(old, 1)
    with unguarded(old) as db:
        db.execute("INSERT INTO barred VALUES ('RE', 99)")
    with Store.open(headless) as store:
        fill(store)
    with unguarded(headless) as db:
        db.execute("DELETE FROM versions WHERE item = 4")
    with pytest.raises(BadBackup, match=r"old\.db: it cannot be brought to this schema: .*barred") as refused:
        restore(old, tmp_path / "annotations.db")
    assert "part" not in str(refused.value)
    with pytest.raises(BadBackup, match=r"headless\.db: it cannot be read through: There is no item 4"):
        restore(headless, tmp_path / "annotations.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["headless.db", "old.db"]
