"""The schema: made once, brought forward with everything in it, refused where it is not ours."""

import sqlite3

import pytest

from reviewer.store import CannotWrite, NewerSchema, NotAnnotations, Store, StoreError
from reviewer.store.sqlite.schema import MIGRATIONS, Migration, statements
from tests.support.campaign import TO_AUDIT, Desk, an_item, people


def add_hurry(connection):
    statements(
        connection,
        """
        ALTER TABLE items ADD COLUMN hurry INTEGER NOT NULL DEFAULT 0;
        UPDATE items SET hurry = 1 WHERE task = 'cv';
        """,
    )


NEXT = (*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, "hurry", add_hurry))


@pytest.fixture
def old(tmp_path):
    """A database of the present release, with work in it."""
    path = tmp_path / "annotations.db"
    with Store.open(path) as store:
        people(store)
        Desk(store).until(an_item(store), *TO_AUDIT)
    return path


def columns(path):
    reader = sqlite3.connect(path)
    names = [row[1] for row in reader.execute("PRAGMA table_info(items)")]
    reader.close()
    return names


def test_a_migration_brings_the_rows_along_and_is_recorded(old):
    with Store.open(old, migrations=NEXT) as store:
        assert store.standing(1).progress == "audit 0 of 2"
        assert store.verify() == []
        Desk(store).decide("AU", 1, "pass")
    reader = sqlite3.connect(old)
    assert reader.execute("SELECT hurry FROM items").fetchall() == [(1,)]
    assert reader.execute("SELECT number, name FROM migrations").fetchall() == [
        *((released.number, released.name) for released in MIGRATIONS),
        (NEXT[-1].number, "hurry"),
    ]
    reader.close()


def test_a_migration_is_run_once(old):
    ran = []
    counting = (*MIGRATIONS, Migration(NEXT[-1].number, "counted", lambda connection: ran.append(1)))
    for _ in range(3):
        Store.open(old, migrations=counting).close()
    assert ran == [1]


def test_a_migration_that_fails_leaves_the_file_as_it_was(old):
    def fail(connection):
        add_hurry(connection)
        connection.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StoreError, match="nowhere"):
        Store.open(old, migrations=(*MIGRATIONS, Migration(NEXT[-1].number, "broken", fail)))
    assert "hurry" not in columns(old)
    with Store.open(old) as store:
        assert store.standing(1).progress == "audit 0 of 2"


def test_a_migration_may_not_break_a_reference(old):
    def orphan(connection):
        connection.execute("DROP TRIGGER decisions_no_delete")
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("DELETE FROM people WHERE initials = 'RE'")

    with pytest.raises(Exception, match=r"would leave .* without its people"):
        Store.open(old, migrations=(*MIGRATIONS, Migration(NEXT[-1].number, "careless", orphan)))
    with Store.open(old) as store:
        assert store.person("RE").active


def test_a_file_of_a_newer_release_is_refused_untouched(old):
    Store.open(old, migrations=NEXT).close()
    before = old.read_bytes()
    newer, known = NEXT[-1].number, MIGRATIONS[-1].number
    with pytest.raises(NewerSchema, match=rf"schema is number {newer}, this release knows {known}\. Update spec-o3"):
        Store.open(old)
    assert old.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_untouched(tmp_path):
    path = tmp_path / "spectrum.fits"
    path.write_bytes(b"SIMPLE  =                    T" * 200)
    with pytest.raises(NotAnnotations, match=r"spectrum\.fits: found a file that is not SQLite"):
        Store.open(path)
    assert path.read_bytes() == b"SIMPLE  =                    T" * 200


def test_another_programs_database_is_refused_untouched(tmp_path):
    path = tmp_path / "places.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE people (initials)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(NotAnnotations, match="another program's database"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CannotWrite, match="nowhere"):
        Store.open(tmp_path / "nowhere" / "annotations.db")


def test_an_empty_file_becomes_a_database(tmp_path):
    path = tmp_path / "annotations.db"
    path.touch()
    with Store.open(path) as store:
        assert store.verify() == []
        assert store.rules().auditors == 2


def test_a_statement_that_is_not_finished_is_an_error():
    with pytest.raises(ValueError, match="not finished: CREATE TABLE x"):
        statements(sqlite3.connect(":memory:"), "CREATE TABLE x (a")


def test_triggers_with_several_statements_are_one_statement():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("BEGIN")
    statements(
        connection,
        """
        CREATE TABLE a (n); CREATE TABLE b (n);
        CREATE TRIGGER both AFTER INSERT ON a
        BEGIN
            INSERT INTO b VALUES (new.n);
            INSERT INTO b VALUES (new.n + 1);
        END;
        INSERT INTO a VALUES (1);
        """,
    )
    assert connection.in_transaction
    assert connection.execute("SELECT n FROM b").fetchall() == [(1,), (2,)]
    connection.close()
