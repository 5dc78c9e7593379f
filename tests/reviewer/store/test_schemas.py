"""Files of every earlier schema, written by the release that had it: each opens here with all it holds."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace

import pytest

from reviewer.store import CannotWrite, QueueFilter, Store, StoreError
from reviewer.store.sqlite.schema import MIGRATIONS, Migration
from tests.support.campaign import Clock, Desk

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
EARLIER = sorted(SCHEMAS.glob("*.sql"), key=lambda dump: int(dump.stem))
Rows = dict[str, list[tuple[object, ...]]]

# Where the dumps' own clock stood when the last of them was written.
THEN = Clock()
THEN.turn(days=2)


def as_file(dump: Path, path: Path) -> Path:
    """The database that a dump is of."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))
    return path


def rows(path: Path) -> Rows:
    """Every row of every table, those of the search's own tables included."""
    with closing(sqlite3.connect(path)) as reader:
        names = [name for (name,) in reader.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {name: sorted(reader.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


@pytest.fixture(params=EARLIER, ids=lambda dump: f"schema {dump.stem}")
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return as_file(request.param, tmp_path / "annotations.db")


def test_there_is_a_file_of_every_schema_before_this_one() -> None:
    assert [int(dump.stem) for dump in EARLIER] == [migration.number for migration in MIGRATIONS[:-1]], (
        "before a migration is added: PYTHONPATH=tests python tests/schemas/make.py tests/schemas/N.sql"
    )


def test_every_table_of_the_file_has_rows(old: Path) -> None:
    assert all(rows(old).values())


def test_every_row_is_there_after_the_upgrade(old: Path) -> None:
    before = rows(old)
    with Store.open(old, clock=THEN) as store:
        assert store.verify() == []
        assert store.check_log() == []
    after = rows(old)
    for table, held in before.items():
        assert after[table][: len(held)] == held if table == "migrations" else after[table] == held
    assert [row[0] for row in after["migrations"]] == [migration.number for migration in MIGRATIONS]


def test_the_copy_beside_it_is_the_file_as_it_was(old: Path) -> None:
    before = rows(old)
    schema = len(before["migrations"])
    Store.open(old).close()
    copy = old.with_name(f"annotations.db.schema-{schema}")
    assert rows(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    Store.open(old).close()
    assert sorted(path.name for path in old.parent.iterdir() if ".schema-" in path.name) == [copy.name]


def test_the_log_binds_what_was_there_before_it(old: Path) -> None:
    with Store.open(old, clock=THEN) as store:
        entries = store.log()
        begun = {e.subject: e.details["count"] for e in entries if e.what == "log begun"}
        assert {"people", "items", "versions", "decisions", "marks", "verdicts", "exports"} <= set(begun)
        assert begun["items"] == 9
        assert entries[-1].what == "database upgraded"
        assert entries[-1].details["copy"] == f"annotations.db.schema-{entries[-1].details['from']}"


def test_work_goes_on_where_it_ended(old: Path) -> None:
    with Store.open(old, clock=THEN) as store:
        desk = Desk(store)
        assert store.standing(1).state == "approved"
        assert (store.standing(7).state, len(store.standing(7).cast)) == ("audit", 1)
        assert store.autosaved("RE", 4).body == {"steps": ["half a sent"]}
        assert store.sign_in("ZO", "a long password").person == "ZO"
        assert not store.person("JU").active
        desk.decide("AX", 7, "pass")
        desk.edit("RE", 2, "A third look.")
        desk.decide("VO", 7, "approve")
        assert store.item(2).version.number == 3
        assert store.queue(QueueFilter(text="spec-0002"), "RE").total == 2
        assert store.verify() == []


def test_blind_sessions_go_on_too(tmp_path: Path) -> None:
    old = as_file(SCHEMAS / "2.sql", tmp_path / "annotations.db")
    with Store.open(old, clock=THEN) as store:
        assert [session.state for session in store.blind_sessions(None)] == ["closed", "open", "drawn"]
        results = store.blind_results(None, 1)
        assert {said.scorer for said in results.said if said.answer is not None} == {"RE"}
        assert [judgement.judge for judgement in results.judgements] == ["judge-70b"]
        mine = [work for work in store.blind_work("AU") if work.kind == "scores"]
        store.score_blind("AU", mine[0].token, 5, 5, "next")
        assert store.verify() == []


def failing(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (done)")
    connection.execute("DROP TRIGGER decisions_no_update")
    connection.execute("UPDATE decisions SET comment = 'gone'")
    connection.execute("DELETE FROM autosaves")
    connection.execute("INSERT INTO nowhere VALUES (1)")


BROKEN = (*MIGRATIONS, Migration(MIGRATIONS[-1].number + 1, "broken", failing))


def test_an_upgrade_that_fails_leaves_every_row_as_it_was(old: Path) -> None:
    before = rows(old)
    schema, wanted = len(before["migrations"]), BROKEN[-1].number
    with pytest.raises(StoreError) as refused:
        Store.open(old, migrations=BROKEN)
    copy = f"{old}.schema-{schema}"
    assert str(refused.value) == (
        f"{old}: it could not be brought from schema {schema} to {wanted} (no such table: nowhere). "
        f"The file is as it was, and a copy of it is {copy}."
    )
    # Not even the migrations that went well are kept.
    assert rows(old) == before == rows(Path(copy))
    with Store.open(old) as store:
        assert store.verify() == []


def test_a_copy_of_something_else_is_never_written_over(old: Path) -> None:
    schema = len(rows(old)["migrations"])
    taken = old.with_name(f"annotations.db.schema-{schema}")
    taken.write_bytes(b"somebody's only copy")
    Store.open(old).close()
    assert taken.read_bytes() == b"somebody's only copy"
    assert rows(old.with_name(f"annotations.db.schema-{schema}-2"))["items"] == rows(old)["items"]


def test_trying_again_makes_no_second_copy(old: Path) -> None:
    for _ in range(2):
        with pytest.raises(StoreError):
            Store.open(old, migrations=BROKEN)
    assert len(list(old.parent.glob("annotations.db.schema-*"))) == 1


def test_without_room_for_the_copy_nothing_is_touched(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = old.read_bytes()
    # No test fills the disk that others work on.
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(CannotWrite, match=r"1 MB are free .* The database was not upgraded; it is as it was"):
        Store.open(old)
    assert old.read_bytes() == before
    assert [path.name for path in old.parent.iterdir()] == ["annotations.db"]


OPENING = """
import sys
from reviewer.store import Store
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    print(len(store.people()))
"""


def test_two_programs_may_find_it_at_once(old: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", OPENING, str(old)], stdin=PIPE, stdout=PIPE, text=True)
        for _ in range(2)
    ]
    said = [program.communicate("now\n", timeout=60)[0] for program in programs]
    assert said == ["7\n", "7\n"]
    with Store.open(old) as store:
        assert [entry.what for entry in store.log()].count("database upgraded") == 1
        assert store.verify() == []
    assert len(list(old.parent.glob("annotations.db.schema-*"))) == 1
