"""Restoring a backup, and the backup commands."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import app
from reviewer.backup.backups import BackupError, BadBackup, back_up, metadata_path, read_metadata, sha256_of
from reviewer.backup.restore import restore
from reviewer.store import InUse, NewerSchema, NotAnnotations, OlderSchema, Store, StoreError
from reviewer.store.sqlite.files import exclusive_access
from tests.support.campaign import PROCESSES, TO_AUDIT, Desk, an_item
from tests.support.kept_campaign import (
    PASSWORD,
    contents,
    differences,
    plant_migration,
    set_migrations,
    to_schema_9,
    unguarded,
)

# What a restore itself adds: an entry in the log.
OF_A_RESTORE = ["log"]


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    return back_up(database, tmp_path / "backups", "by hand").path


def work_on(database: Path) -> None:
    with Store.open(database) as store:
        Desk(store).until(an_item(store, 9), *TO_AUDIT)


def holding_open(database: Path, opened: Event, done: Event) -> None:
    with Store.open(database):
        opened.set()
        done.wait()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_restored_backup_is_equal_row_for_row_and_the_old_database_is_kept(database: Path, backup: Path) -> None:
    before = contents(database)
    work_on(database)
    worked_on = contents(database)
    done = restore(backup, database)
    assert differences(database, backup) == OF_A_RESTORE
    assert contents(database) | {"log": []} == before | {"log": []}
    assert done.kept_as is not None
    assert contents(done.kept_as) == worked_on
    assert done.items == 5
    with Store.open(database) as store:
        assert store.upkeep.verify() == store.log.check(done.head) == []
        (entry,) = store.log.entries(what="database restored")
        assert entry.subject == backup.name
        assert entry.details == {"log_head": str(done.head), "replaced_log_head": str(done.replaced)}
        Desk(store).decide("VO", 1, "approve")
    assert [name for name in names(database.parent) if "part" in name or "schema" in name] == []


def test_a_session_stored_in_a_backup_is_not_valid_after_a_restore(database: Path, tmp_path: Path) -> None:
    with Store.open(database) as store:
        token = store.accounts.sign_in("CO", PASSWORD, "127.0.0.1").token
        assert store.accounts.signed_in(token)
    restore(back_up(database, tmp_path / "kept", "by hand").path, database)
    with Store.open(database) as store:
        assert store.accounts.signed_in(token) is None
        assert store.accounts.sign_in("CO", PASSWORD, "127.0.0.1")


def test_a_backup_can_be_restored_where_there_is_no_database_and_through_a_link(backup: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert restore(backup, elsewhere / "annotations.db").kept_as is None
    (tmp_path / "link.db").symlink_to(elsewhere / "annotations.db")
    restore(backup, tmp_path / "link.db")
    assert (tmp_path / "link.db").is_symlink()
    assert len(list(elsewhere.glob("annotations.db.before-restore-*"))) == 1
    assert (elsewhere / "annotations.db").stat().st_mode & 0o777 == 0o600


def test_nothing_is_replaced_while_another_process_has_it_open(database: Path, backup: Path) -> None:
    before = contents(database)
    opened, done = PROCESSES.Event(), PROCESSES.Event()
    other = PROCESSES.Process(target=holding_open, args=(database, opened, done))
    other.start()
    opened.wait()
    with pytest.raises(
        InUse, match=r"annotations\.db: another program has it open\. Nothing was changed\. Stop the app"
    ):
        restore(backup, database)
    assert contents(database) == before
    assert other.pid is not None
    # A killed process no longer holds the database, even if its journal files remain.
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    assert Path(f"{database}-wal").exists()
    restore(backup, database)
    assert differences(database, backup) == OF_A_RESTORE


def test_a_database_open_in_this_process_is_not_replaced(database: Path, backup: Path) -> None:
    with Store.open(database) as store, pytest.raises(InUse):
        restore(backup, database)
    assert store.path == database


def test_a_process_that_opens_the_database_during_a_restore_gets_the_new_one(database: Path, backup: Path) -> None:
    opened = PROCESSES.Event()
    new = database.with_name("new.db")
    shutil.copyfile(backup, new)
    work_on(new)
    expected = contents(new)
    other = PROCESSES.Process(target=write_when_open, args=(database, opened))
    with exclusive_access(database):
        other.start()
        opened.wait()
        other.join(1)
        assert other.exitcode is None, "it did not wait for the lock"
        os.replace(new, database)
    other.join()
    assert other.exitcode == 0
    with Store.open(database) as store:
        assert store.settings.get("written by") == "the one that waited"
    assert contents(database)["decisions"] == expected["decisions"]


def write_when_open(database: Path, opened: Event) -> None:
    opened.set()
    with Store.open(database) as store:
        store.settings.set("CO", "written by", "the one that waited")


def test_a_damaged_database_is_replaced_and_its_journals_are_removed(database: Path, backup: Path) -> None:
    database.write_bytes(b"not a database any more" * 1000)
    Path(f"{database}-wal").write_bytes(b"its write-ahead log")
    Path(f"{database}-journal").write_bytes(b"its journal")
    done = restore(backup, database)
    assert done.replaced is None
    assert done.kept_as.read_bytes().startswith(b"not a database")
    assert not Path(f"{database}-wal").exists()
    assert not Path(f"{database}-journal").exists()
    assert differences(database, backup) == OF_A_RESTORE


def test_a_damaged_database_that_is_open_is_not_replaced(database: Path, backup: Path) -> None:
    opened, done = PROCESSES.Event(), PROCESSES.Event()
    other = PROCESSES.Process(target=holding_open, args=(database, opened, done))
    other.start()
    opened.wait()
    with database.open("r+b") as file:
        file.write(b"x" * 200)
    with pytest.raises(InUse):
        restore(backup, database)
    done.set()
    other.join()


def damaged_copy(database: Path, tmp_path: Path, flips: list[tuple[float, int]]) -> Path:
    damaged = tmp_path / "damaged.db"
    content = bytearray(database.read_bytes())
    for where, bit in flips:
        content[int(where * (len(content) - 1))] ^= 1 << bit
    damaged.write_bytes(content)
    return damaged


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 7)), min_size=1, max_size=4, unique=True), st.booleans())
def test_a_backup_with_flipped_bits_is_refused_or_holds_every_fact(made, tmp_path, flips, with_metadata) -> None:
    """With the SHA-256 in its metadata every flip is found; without it, every flip that changes a fact."""
    damaged, database = damaged_copy(made, tmp_path, flips), tmp_path / "annotations.db"
    if damaged.read_bytes() == made.read_bytes():
        return
    database.unlink(missing_ok=True)
    shutil.copyfile(made, database)
    metadata_path(damaged).unlink(missing_ok=True)
    if with_metadata:
        metadata = back_up(made, tmp_path / "facts.db", "by hand").to_json() | {"file": "damaged.db"}
        (tmp_path / "facts.db").unlink()
        metadata_path(tmp_path / "facts.db").unlink()
        metadata_path(damaged).write_text(json.dumps(metadata))
    try:
        restore(damaged, database)
    except (BadBackup, StoreError, BackupError):
        assert contents(database) == contents(made)
    else:
        assert not with_metadata
        facts = ("versions", "decisions", "marks", "verdicts", "settings", "people", "exports", "items")
        old, new = contents(made), contents(database)
        assert [name for name in facts if old[name] != new[name]] == []
    finally:
        for path in tmp_path.glob("annotations.db*"):
            path.unlink()


def test_a_backup_with_text_that_is_not_utf_8_is_refused(database: Path, backup: Path) -> None:
    """SQLite's checks and the log miss it in a table that the log does not cover."""
    metadata_path(backup).unlink()
    with unguarded(backup) as db:
        changed = db.execute("UPDATE autosaves SET at = CAST(x'3230c3' AS TEXT)").rowcount
    assert changed > 0
    before = contents(database)
    with pytest.raises(BadBackup, match="table autosaves: Could not decode to UTF-8 column 'at'"):
        restore(backup, database)
    assert contents(database) == before


CHANGES: dict[str, tuple[str, str]] = {
    "a vote": ("UPDATE decisions SET verb = 'reject' WHERE id = 3", "log"),
    "a standing": ("UPDATE standings SET state = 'approved' WHERE item = 3", "standing does not follow"),
    "a missing row": ("DELETE FROM items WHERE id = 4", "names a missing items"),
    "an entry": ("DELETE FROM log WHERE number = 7", "log 8: it follows 6"),
    "a role": ("""UPDATE people SET roles = '["coordinator"]' WHERE initials = 'VO'""", "VO"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_backup_changed_by_another_program_is_refused(database: Path, backup: Path, change: str) -> None:
    sql, message = CHANGES[change]
    metadata_path(backup).unlink()
    with unguarded(backup) as db:
        db.execute(sql)
    before = contents(database)
    with pytest.raises(BadBackup, match=message):
        restore(backup, database)
    assert contents(database) == before
    assert names(database.parent) == ["annotations.db", "backups"]


def test_a_truncated_log_is_found_by_the_head_in_the_metadata(database: Path, backup: Path) -> None:
    with unguarded(backup) as db:
        db.execute("DELETE FROM log WHERE number = (SELECT max(number) FROM log)")
    metadata = json.loads(metadata_path(backup).read_text())
    metadata |= {"bytes": backup.stat().st_size, "sha256": sha256_of(backup)}
    metadata_path(backup).write_text(json.dumps(metadata))
    with pytest.raises(
        BadBackup, match=f"found a log that ends at .*, expected {metadata['log_head']} as in its metadata"
    ):
        restore(backup, database)


def test_a_backup_of_a_newer_release_is_refused(database: Path, backup: Path) -> None:
    metadata_path(backup).unlink()
    with closing(sqlite3.connect(backup)) as db:
        db.execute("INSERT INTO migrations VALUES (999, 'from the future', '2030-01-01T00:00:00.000+00:00')")
        db.commit()
    with pytest.raises(NewerSchema, match=r"annotations-\w+\.db: its schema is number 999, this release knows"):
        restore(backup, database)


def test_a_backup_of_an_earlier_release_is_upgraded(database, backup, tmp_path, monkeypatch) -> None:
    plant_migration(monkeypatch)
    straight = Path(shutil.copyfile(backup, tmp_path / "straight.db"))
    before = backup.read_bytes()
    restore(backup, database)
    Store.open(straight).close()
    assert differences(straight, database) == ["log", "migrations"]
    assert backup.read_bytes() == before
    assert not list(tmp_path.glob("annotations.db*schema*"))


def test_of_the_backups_from_before_the_first_release_those_with_its_schema_are_restored(database, backup) -> None:
    metadata_path(backup).unlink()
    before = contents(database)
    for numbers in ((1,), (1, 2, 3, 4, 5, 6, 7, 8)):
        set_migrations(backup, *numbers)
        with pytest.raises(OlderSchema, match=rf"found schema {numbers[-1]}, expected 9 or later"):
            restore(backup, database)
        assert contents(database) == before
    to_schema_9(backup)
    restore(backup, database)
    assert differences(database, backup) == [*OF_A_RESTORE, "migrations", "sky_records", "sparklines"]


def test_a_file_that_is_no_backup_is_refused(database: Path, tmp_path: Path) -> None:
    before = contents(database)
    (tmp_path / "notes.txt").write_text("lines " * 1000)
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()
    (tmp_path / "empty.db").touch()
    for name in ("notes.txt", "other.db", "empty.db"):
        with pytest.raises(NotAnnotations):
            restore(tmp_path / name, database)
    with pytest.raises(BackupError, match="found no such file or folder"):
        restore(tmp_path / "none.db", database)
    with pytest.raises(BackupError, match="this is the database itself"):
        restore(database, database)
    assert contents(database) == before


def test_a_backup_must_match_its_metadata(database: Path, backup: Path) -> None:
    known = read_metadata(backup)
    with Store.open(database) as store:
        assert known.head == store.log.head()
    with backup.open("ab") as file:
        file.write(b"\0")
    with pytest.raises(BadBackup, match=rf"found {known.bytes + 1} bytes, expected the {known.bytes}"):
        restore(backup, database)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], database: Path) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = app.main([*map(str, arguments), "--db", str(database)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def in_json(result: tuple[int, str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result[1])
    return found


@pytest.mark.parametrize("plain", [False, True])
def test_a_backup_is_restored_by_the_command_and_both_are_logged(run: Run, database: Path, plain: bool) -> None:
    filled = in_json(run("backup", "--json", *["--plain"] * plain))
    kept = Path(filled["path"])
    assert kept.parent == database.parent / "backups"
    with Store.open(database) as store:
        store.settings.set("CO", "greeting", "changed")
    status, out, _ = run("restore", kept)
    assert status == 0
    assert out.startswith(f"{database}: 5 items, checked. Everyone must sign in again.\nThe previous database is now ")
    with Store.open(database) as store:
        assert store.settings.get("greeting") == "hello"
        assert store.log.last(1)[0].what == "database restored"
        assert store.log.check() == []
    (before,) = database.parent.glob("annotations.db.before-restore-*")
    assert "settings" in differences(before, database)


def test_a_backup_is_written_to_the_given_path(run: Run, database: Path, tmp_path: Path) -> None:
    assert run("backup", "--out", tmp_path / "here.db")[0] == 0
    assert (tmp_path / "here.db").is_file()
    assert (tmp_path / "here.json").is_file()
    assert run("backup", "--out", tmp_path / "folder")[0] == 0
    assert len(list((tmp_path / "folder").glob("annotations-*.db"))) == 1
    assert run("backup", "--plain", "--out", tmp_path / "archive")[0] == 0
    assert (tmp_path / "archive" / "manifest.json").is_file()


def test_a_failed_command_prints_one_line_with_exit_status_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.json").write_text("{}")
    for arguments in (
        ("backup", "--out", tmp_path / "nowhere" / "copy.db"),
        ("backup", "--out", tmp_path / "annotations.db"),
        ("backup", "--out", tmp_path / "thesis.db"),
        ("backup", "--plain", "--out", tmp_path),
        ("restore", tmp_path / "none.db"),
        ("restore", tmp_path),
        ("log", "--head", "3:abc"),
        ("log", "--check", "--head", "3:abc"),
    ):
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n"), err[:9]) == (2, "", 1, "spec-o3: "), arguments
    assert (tmp_path / "thesis.json").read_text() == "{}"


def test_the_log_is_printed_and_filtered(run: Run) -> None:
    status, out, _ = run("log", "--last", 3)
    assert status == 0
    assert len(out.splitlines()) == 4
    assert "signed in CO" in out.splitlines()[1]
    assert 'sky records added  {"count": 2' in out.splitlines()[2]
    printed = in_json(run("log", "--json", "--person", "AU", "--what", "decided"))
    assert {(entry["person"], entry["what"]) for entry in printed["entries"]} == {("AU", "decided")}
    numbers = [entry["number"] for entry in printed["entries"]]
    assert numbers == sorted(numbers)


def test_an_entry_is_one_line_whatever_its_text(run: Run, database: Path) -> None:
    with Store.open(database) as store:
        store.log.note(None, "restored", "from\n  9999  2026-01-01 00:00:00  CO  decided \x1b[31m", why="\u202egnp")
    status, out, _ = run("log", "--last", 1)
    assert status == 0
    assert len(out.splitlines()) == 2
    assert "restored from 9999 2026-01-01 00:00:00 CO decided \\x1b[31m" in out
    assert "\\u202egnp" in out


def test_a_truncated_log_is_found_by_a_head_kept_elsewhere(run: Run, database: Path) -> None:
    head = in_json(run("backup", "--json"))["log_head"]
    assert run("log", "--check", "--head", head)[0] == 0
    with closing(sqlite3.connect(database)) as db:
        db.execute("DROP TRIGGER log_no_delete")
        db.execute("DELETE FROM log WHERE number >= ?", (int(head.split(":")[0]),))
        db.commit()
    status, out, _ = run("log", "--check", "--head", head, "--json")
    assert status == 1
    assert json.loads(out)["ok"] is False


def test_the_doctor_checks_the_database(run: Run, database: Path) -> None:
    def findings() -> dict[str, dict[str, Any]]:
        (report,) = in_json(run("doctor", "database", "--json"))["capabilities"]
        return {finding["what"]: finding for finding in report["findings"]}

    before = findings()
    assert before["integrity"]["ok"] is True
    assert before["last backup"]["remedy"] == f"spec-o3 backup --db {database}"
    filled = in_json(run("backup", "--json"))
    after = findings()
    assert filled["path"] in after["last backup"]["found"]
    assert after["audit log"]["found"].startswith("ends at 45:")
    content = bytearray(database.read_bytes())
    content[4096 * 3 : 4096 * 6] = bytes(4096 * 3)
    database.write_bytes(content)
    assert run("doctor", "database")[0] == 1
    assert findings()["integrity"]["ok"] is False
