"""Databases of earlier schemas."""

from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from reviewer.store import CannotWrite, NewerSchema, NotAnnotations, QueueFilter, Store, StoreError
from reviewer.store.sqlite.database import helpers
from reviewer.store.sqlite.schema import MIGRATIONS, Migration
from tests.schemas import make
from tests.support.campaign import TO_AUDIT, Clock, Desk, an_item, people


def add_hurry(db):
    db.executescript(
        """
        ALTER TABLE items ADD COLUMN hurry INTEGER NOT NULL DEFAULT 0;
        UPDATE items SET hurry = 1 WHERE task = 'cv';
        """
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


def test_a_migration_keeps_the_rows_and_is_recorded(old):
    with Store.open(old, migrations=NEXT) as store:
        assert store.items.standing(1).progress == "audit 0 of 2"
        assert store.upkeep.verify() == []
        Desk(store).decide("AU", 1, "pass")
    reader = sqlite3.connect(old)
    assert reader.execute("SELECT hurry FROM items").fetchall() == [(1,)]
    assert reader.execute("SELECT number, name FROM migrations").fetchall() == [
        *((released.number, released.name) for released in MIGRATIONS),
        (NEXT[-1].number, "hurry"),
    ]
    reader.close()


def test_an_upgrade_says_before_it_begins_that_it_takes_long(old, caplog):
    with sqlite3.connect(old) as other:
        (versions,) = other.execute("SELECT count(*) FROM versions").fetchone()
    run = lambda _: logging.getLogger("spec_o3").warning("it runs")  # noqa: E731
    slow = Migration(NEXT[-1].number, "hurry", run, per_version=20.0)
    Store.open(old, migrations=(*MIGRATIONS, slow)).close()
    said = [
        f"{old}: upgrading from schema {MIGRATIONS[-1].number} to {slow.number}, after a copy of the file. This takes "
        f"about {20 * versions} seconds, once; what is there is kept if you stop it.",
        "it runs",
    ]
    assert caplog.messages == said
    Store.open(old, migrations=(*MIGRATIONS, slow)).close()
    assert caplog.messages == said
    Store.open(old.with_name("new.db"), migrations=(*MIGRATIONS, slow)).close()
    assert caplog.messages == [*said, "it runs"]


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
        assert store.items.standing(1).progress == "audit 0 of 2"


def test_a_migration_may_not_break_a_reference(old):
    def orphan(connection):
        connection.execute("DROP TRIGGER decisions_no_delete")
        connection.execute("PRAGMA defer_foreign_keys = ON")
        connection.execute("DELETE FROM people WHERE initials = 'RE'")

    with pytest.raises(Exception, match=r"would leave .* without its people"):
        Store.open(old, migrations=(*MIGRATIONS, Migration(NEXT[-1].number, "careless", orphan)))
    with Store.open(old) as store:
        assert store.accounts.person("RE").active


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


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(CannotWrite, match="nowhere"):
        Store.open(tmp_path / "nowhere" / "annotations.db")


def test_an_empty_file_becomes_a_database(tmp_path):
    path = tmp_path / "annotations.db"
    path.touch()
    with Store.open(path) as store:
        assert store.upkeep.verify() == []
        assert store.settings.rules().auditors == 2


def test_a_statement_that_is_not_finished_is_an_error():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("BEGIN")
    with pytest.raises(sqlite3.OperationalError, match="incomplete input"):
        helpers(connection).executescript("CREATE TABLE x (a")
    connection.close()


def test_triggers_with_several_statements_are_one_statement():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("BEGIN")
    helpers(connection).executescript(
        """
        CREATE TABLE a (n); CREATE TABLE b (n);
        CREATE TRIGGER both AFTER INSERT ON a
        BEGIN
            INSERT INTO b VALUES (new.n);
            INSERT INTO b VALUES (new.n + 1);
        END;
        INSERT INTO a VALUES (1);
        """
    )
    assert connection.in_transaction
    assert connection.execute("SELECT n FROM b").fetchall() == [(1,), (2,)]
    connection.close()


SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
EARLIER = sorted(SCHEMAS.glob("*.sql"), key=lambda dump: int(dump.stem))
Rows = dict[str, list[tuple[object, ...]]]

# The time of the clock when the last dump was written.
THEN = Clock()
THEN.turn(days=2)


def as_file(dump: Path, path: Path) -> Path:
    """Write the database of a dump to a file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))
    return path


def rows(path: Path) -> Rows:
    """Every row of every table, including the shadow tables of the search."""
    with closing(sqlite3.connect(path)) as reader:
        names = [name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: sorted(reader.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


@pytest.fixture(params=EARLIER, ids=lambda dump: f"schema {dump.stem}")
def earlier(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return as_file(request.param, tmp_path / "annotations.db")


def test_every_earlier_schema_has_a_dump() -> None:
    assert [int(dump.stem) for dump in EARLIER] == [migration.number for migration in MIGRATIONS[:-1]], (
        "before a migration is added: PYTHONPATH=. python tests/schemas/make.py tests/schemas/N.sql"
    )


def test_the_present_schema_can_be_dumped(tmp_path: Path) -> None:
    make.main(tmp_path / "now.sql")
    with Store.open(as_file(tmp_path / "now.sql", tmp_path / "annotations.db")) as store:
        assert store.upkeep.verify() == []
        assert store.queue.page(QueueFilter(words="宽吗"), "ZO").total == 1


def test_every_table_of_a_dump_has_rows(earlier: Path) -> None:
    assert all(rows(earlier).values())


def test_an_upgrade_keeps_every_row(earlier: Path) -> None:
    before = rows(earlier)
    with Store.open(earlier, clock=THEN) as store:
        assert store.upkeep.verify() == []
        assert store.log.check() == []
    after = rows(earlier)
    for table, held in before.items():
        # An upgrade appends its migrations and, where there is a log, one entry.
        grows = table in ("migrations", "log")
        assert set(held) <= set(after[table]) if grows else after[table] == held
    if "log" in before:
        assert len(after["log"]) == len(before["log"]) + 1
    assert [row[0] for row in after["migrations"]] == [migration.number for migration in MIGRATIONS]


def test_an_upgrade_keeps_a_copy_of_the_old_file(earlier: Path) -> None:
    before = rows(earlier)
    schema = len(before["migrations"])
    Store.open(earlier).close()
    copy = earlier.with_name(f"annotations.db.schema-{schema}")
    assert rows(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    Store.open(earlier).close()
    assert sorted(path.name for path in earlier.parent.iterdir() if ".schema-" in path.name) == [copy.name]


def test_the_log_binds_the_rows_of_an_upgraded_file(earlier: Path) -> None:
    had_log = "log" in rows(earlier)
    with Store.open(earlier, clock=THEN) as store:
        entries = store.log.entries()
        begun = {e.subject: e.details["count"] for e in entries if e.what == "log begun"}
        if not had_log:
            assert {"people", "items", "versions", "decisions", "marks", "verdicts", "exports"} <= set(begun)
            assert begun["items"] == 9
        assert entries[-1].what == "database upgraded"
        assert entries[-1].details["copy"] == f"annotations.db.schema-{entries[-1].details['from']}"


def test_work_continues_after_an_upgrade(earlier: Path) -> None:
    with Store.open(earlier, clock=THEN) as store:
        desk = Desk(store)
        assert store.items.standing(1).state == "approved"
        assert (store.items.standing(7).state, len(store.items.standing(7).cast)) == ("audit", 1)
        assert store.leases.autosaved("RE", 4).body == {"steps": ["half a sent"]}
        assert store.accounts.sign_in("ZO", "a long password").person == "ZO"
        assert not store.accounts.person("JU").active
        desk.decide("AX", 7, "pass")
        desk.edit("RE", 2, "A third look.")
        desk.decide("VO", 7, "approve")
        assert store.items.get(2).version.number == 3
        assert store.queue.page(QueueFilter(text="spec-0002"), "RE").total == 2
        assert store.upkeep.verify() == []


def test_blind_sessions_continue_after_an_upgrade(tmp_path: Path) -> None:
    earlier = as_file(SCHEMAS / "2.sql", tmp_path / "annotations.db")
    with Store.open(earlier, clock=THEN) as store:
        assert [session.state for session in store.blind.sessions.all(None)] == ["closed", "open", "drawn"]
        results = store.blind.results.of_session(None, 1)
        assert {response.scorer for response in results.responses if response.answer is not None} == {"RE"}
        assert [judgement.judge for judgement in results.judgements] == ["judge-70b"]
        mine = [work for work in store.blind.scoring.assignments("AU") if work.kind == "scores"]
        store.blind.scoring.score(person="AU", token=mine[0].token, coherence=5, consistency=5, key="next")
        assert store.upkeep.verify() == []


def failing(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (done)")
    connection.execute("DROP TRIGGER decisions_no_update")
    connection.execute("UPDATE decisions SET comment = 'gone'")
    connection.execute("DELETE FROM autosaves")
    connection.execute("INSERT INTO nowhere VALUES (1)")


BROKEN = (*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, "broken", failing))


def test_an_upgrade_that_fails_leaves_every_row_as_it_was(earlier: Path) -> None:
    before = rows(earlier)
    schema, new_schema = len(before["migrations"]), BROKEN[-1].number
    with pytest.raises(StoreError) as refused:
        Store.open(earlier, migrations=BROKEN)
    copy = f"{earlier}.schema-{schema}"
    assert str(refused.value) == (
        f"{earlier}: the upgrade from schema {schema} to {new_schema} failed (no such table: nowhere). "
        f"The file is unchanged, and a copy of it is {copy}."
    )
    # The migrations that succeeded are undone too.
    assert rows(earlier) == before == rows(Path(copy))
    with Store.open(earlier) as store:
        assert store.upkeep.verify() == []


def test_the_copy_never_replaces_another_file(earlier: Path) -> None:
    schema = len(rows(earlier)["migrations"])
    taken = earlier.with_name(f"annotations.db.schema-{schema}")
    taken.write_bytes(b"somebody's only copy")
    Store.open(earlier).close()
    assert taken.read_bytes() == b"somebody's only copy"
    assert rows(earlier.with_name(f"annotations.db.schema-{schema}-2"))["items"] == rows(earlier)["items"]


def test_a_second_attempt_makes_no_second_copy(earlier: Path) -> None:
    for _ in range(2):
        with pytest.raises(StoreError):
            Store.open(earlier, migrations=BROKEN)
    assert len(list(earlier.parent.glob("annotations.db.schema-*"))) == 1


def test_without_disk_space_for_the_copy_nothing_is_changed(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = earlier.read_bytes()
    # A test must not really fill the disk.
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(CannotWrite, match=r"1 MB are free .* The database was not upgraded and is unchanged"):
        Store.open(earlier)
    assert earlier.read_bytes() == before
    assert [path.name for path in earlier.parent.iterdir()] == ["annotations.db"]


OPENING = """
import sys
from reviewer.store import Store
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    print(len(store.accounts.people()))
"""


def test_two_programs_may_upgrade_one_file_at_once(earlier: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", OPENING, str(earlier)], stdin=PIPE, stdout=PIPE, text=True)
        for _ in range(2)
    ]
    printed = [program.communicate("now\n", timeout=60)[0] for program in programs]
    assert printed == ["7\n", "7\n"]
    with Store.open(earlier) as store:
        assert [entry.what for entry in store.log.entries()].count("database upgraded") == 1
        assert store.upkeep.verify() == []
    assert len(list(earlier.parent.glob("annotations.db.schema-*"))) == 1
