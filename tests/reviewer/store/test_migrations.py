"""The first schema, the upgrade of a database by a later release, and files that are refused."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from reviewer.store import CannotWrite, NewerSchema, NotAnnotations, OlderSchema, Store, StoreError
from reviewer.store.sqlite.database import Transaction, helpers
from reviewer.store.sqlite.migrations import migrate
from reviewer.store.sqlite.schema import MIGRATIONS
from tests.support.campaign import Desk
from tests.support.kept_campaign import add_urgency, fill, plant_migration, set_migrations, to_schema_9

PRESENT = MIGRATIONS[-1].number
SCHEMA_9 = "4c4b0e296cce6680dfa4f1244bf36352ed6b84bfc5fab72e7813d1d17f9fabda"
"""SHA-256 of the tables, indexes and triggers that every database of schema 9 has."""
Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "annotations.db"
    with Store.open(path) as store:
        fill(store)
    return path


@pytest.fixture
def database(filled: Path, tmp_path: Path) -> Path:
    """A database of the present release, with work in it."""
    return Path(shutil.copyfile(filled, tmp_path / "annotations.db"))


@pytest.fixture
def upgrade_copy(database: Path) -> Path:
    """The path of the copy that an upgrade keeps."""
    return database.with_name(f"annotations.db.schema-{PRESENT}")


def rows(path: Path) -> Rows:
    """Every row of every table, including the shadow tables of the search."""
    with closing(sqlite3.connect(path)) as reader:
        names = [name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: sorted(reader.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


def test_the_first_schema_is_never_edited() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, Path(":memory:"), migrations=MIGRATIONS[:1])
        parts = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB '*_text_*' ORDER BY name"
        found = hashlib.sha256(repr(db.execute(parts).fetchall()).encode()).hexdigest()
    # Its backups would be refused: a restore accepts no other schema.
    assert found == SCHEMA_9, "databases with this schema exist: add a migration"


def test_a_file_of_schema_9_from_before_the_first_release_stays_in_use(database: Path) -> None:
    kept = dict(rows(database)["sparklines"])
    to_schema_9(database)
    before = rows(database)
    with Store.open(database) as store:
        changed = {name for name, upgraded in rows(database).items() if upgraded != before.get(name)}
        assert changed == {"migrations", "log", "sparklines", "sky_records"}
        assert store.upkeep.verify() == []
        assert store.spectra.sparklines([*kept]) == kept, "drawn when they are asked for"
        assert dict(rows(database)["sparklines"]) == kept
        Desk(store).decide("RE", 3, "keep")


def test_an_upgrade_keeps_every_row_and_is_recorded(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows(database)
    number = plant_migration(monkeypatch)
    with Store.open(database) as store:
        assert store.upkeep.verify() == []
        entry = store.log.entries()[-1]
        assert entry.what == "database upgraded"
        assert entry.details == {"from": PRESENT, "to": number, "copy": f"annotations.db.schema-{PRESENT}"}
        upgraded = rows(database)
        Desk(store).decide("RE", 3, "keep")
    assert {row[:2] for row in upgraded["migrations"]} == {
        *((migration.number, migration.name) for migration in MIGRATIONS),
        (number, "planted"),
    }
    assert upgraded.pop("items") == [(*row, 0) for row in before.pop("items")]
    for table, kept in before.items():
        added = 1 if table in ("migrations", "log") else 0
        assert len(upgraded[table]) == len(kept) + added
        assert set(kept) <= set(upgraded[table])


def test_a_migration_is_run_once(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    plant_migration(monkeypatch, lambda db: runs.append(1))
    for _ in range(3):
        Store.open(database).close()
    assert runs == [1]


def test_the_copy_is_private_and_never_replaces_another_file(database, upgrade_copy, monkeypatch) -> None:
    before = rows(database)
    upgrade_copy.write_bytes(b"a person's only copy")
    plant_migration(monkeypatch)
    for _ in range(2):
        Store.open(database).close()
    assert upgrade_copy.read_bytes() == b"a person's only copy"
    second = upgrade_copy.with_name(f"{upgrade_copy.name}-2")
    assert sorted(database.parent.glob("annotations.db.schema-*")) == [upgrade_copy, second]
    assert rows(second) == before
    assert second.stat().st_mode & 0o777 == 0o600


def fail(db: Transaction) -> None:
    add_urgency(db)
    db.execute("DROP TRIGGER decisions_no_update")
    db.execute("UPDATE decisions SET comment = 'gone'")
    db.execute("INSERT INTO nowhere VALUES (1)")


def test_an_upgrade_that_fails_leaves_every_row_as_it_was_and_one_copy(database, upgrade_copy, monkeypatch) -> None:
    before = rows(database)
    with monkeypatch.context() as later_release:
        number = plant_migration(later_release, fail)
        for _ in range(2):
            with pytest.raises(StoreError) as refused:
                Store.open(database)
            assert str(refused.value) == (
                f"{database}: the upgrade from schema {PRESENT} to {number} failed (no such table: nowhere). "
                f"The file is unchanged, and a copy of it is {upgrade_copy}."
            )
    assert list(database.parent.glob("annotations.db.schema-*")) == [upgrade_copy]
    assert rows(database) == before == rows(upgrade_copy)
    with Store.open(database) as store:
        assert store.upkeep.verify() == []


def test_a_migration_may_not_break_a_reference(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant_migration(monkeypatch, lambda db: db.execute("DELETE FROM people WHERE initials = 'RE'"))
    before = rows(database)
    with pytest.raises(StoreError, match=r"would leave .* without its people"):
        Store.open(database)
    assert rows(database) == before


def test_without_disk_space_for_the_copy_nothing_is_changed(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = database.read_bytes()
    plant_migration(monkeypatch)
    # A test must not really fill the disk.
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(CannotWrite, match=r"1 MB are free .* The database was not upgraded and is unchanged"):
        Store.open(database)
    assert database.read_bytes() == before
    assert [path.name for path in database.parent.iterdir()] == ["annotations.db"]


OPENING = """
import sys
import pytest
from reviewer.store import Store
from tests.support.kept_campaign import plant_migration
plant_migration(pytest.MonkeyPatch())
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    print(len(store.accounts.people()))
"""


def test_two_programs_may_upgrade_one_file_at_once(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", OPENING, str(database)], stdin=PIPE, stdout=PIPE, text=True)
        for _ in range(2)
    ]
    printed = [program.communicate("now\n")[0] for program in programs]
    plant_migration(monkeypatch)
    with Store.open(database) as store:
        assert printed == [f"{len(store.accounts.people())}\n"] * 2
        assert [entry.what for entry in store.log.entries()].count("database upgraded") == 1
        assert store.upkeep.verify() == []
    assert len(list(database.parent.glob("annotations.db.schema-*"))) == 1


def test_a_file_of_a_newer_release_is_refused_untouched(database: Path) -> None:
    set_migrations(database, PRESENT, PRESENT + 1)
    before = database.read_bytes()
    message = rf"schema is number {PRESENT + 1}, this release knows {PRESENT}\. Update spec-o3"
    with pytest.raises(NewerSchema, match=message):
        Store.open(database)
    assert database.read_bytes() == before


def test_a_file_of_an_older_schema_is_refused_untouched(database: Path) -> None:
    for number in (1, 8):
        set_migrations(database, *range(1, number + 1))
        before = database.read_bytes()
        with pytest.raises(OlderSchema) as refused:
            Store.open(database)
        assert str(refused.value) == (
            f"{database}: found schema {number}, expected 9 or later: it is from before the first release. "
            "docs/backups.md says how to upgrade it. Nothing was changed."
        )
        assert database.read_bytes() == before
        assert [path.name for path in database.parent.iterdir()] == ["annotations.db"]


def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "spectrum.fits"
    path.write_bytes(b"SIMPLE  =                    T" * 200)
    with pytest.raises(NotAnnotations, match=r"spectrum\.fits: found a file that is not SQLite"):
        Store.open(path)
    assert path.read_bytes() == b"SIMPLE  =                    T" * 200


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE people (initials)")
    before = path.read_bytes()
    with pytest.raises(NotAnnotations, match="another program's database"):
        Store.open(path)
    assert path.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="nowhere"):
        Store.open(tmp_path / "nowhere" / "annotations.db")


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "annotations.db"
    path.touch()
    with Store.open(path) as store:
        assert store.upkeep.verify() == store.log.check() == []
        assert store.settings.rules().auditors == 2


def test_a_script_runs_in_the_open_transaction_and_must_be_complete() -> None:
    script = """
        CREATE TABLE a (n); CREATE TABLE b (n);
        CREATE TRIGGER both AFTER INSERT ON a
        BEGIN
            INSERT INTO b VALUES (new.n);
            INSERT INTO b VALUES (new.n + 1);
        END;
        INSERT INTO a VALUES (1);
        """
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("BEGIN")
        helpers(connection).executescript(script)
        assert connection.in_transaction
        assert connection.execute("SELECT n FROM b").fetchall() == [(1,), (2,)]
        with pytest.raises(sqlite3.OperationalError, match="incomplete input"):
            helpers(connection).executescript("CREATE TABLE x (a")
