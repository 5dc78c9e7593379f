"""``spec-o3 backup``, ``restore``, ``log``, and ``doctor`` on the database: what is told, and exit status."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import app
from reviewer.store import Store
from tests.support.kept_campaign import differences, fill

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("commands") / "annotations.db"
    with Store.open(path) as store:
        fill(store)
    return path.read_bytes()


@pytest.fixture
def database(made: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "annotations.db"
    path.write_bytes(made)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], database: Path) -> Run:
    def ask(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = app.main([*map(str, arguments), "--db", str(database)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return ask


def in_json(told: tuple[int, str, str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told[1])
    return found


@pytest.mark.parametrize("plain", [False, True])
def test_what_was_backed_up_is_restored_and_both_are_in_the_log(run: Run, database: Path, plain: bool) -> None:
    made = in_json(run("backup", "--json", *["--plain"] * plain))
    kept = Path(made["path"])
    assert kept.parent == database.parent / "backups"
    with Store.open(database) as store:
        store.set_setting("CO", "greeting", "changed")
    status, out, _ = run("restore", kept)
    assert status == 0
    assert out.startswith(f"{database}: 5 items, checked. Everybody signs in again.\nWhat was there before is ")
    with Store.open(database) as store:
        assert store.setting("greeting") == "hello"
        assert store.last_entries(1)[0].what == "database restored"
        assert store.check_log() == []
    (before,) = database.parent.glob("annotations.db.before-restore-*")
    assert "settings" in differences(before, database)


def test_a_backup_goes_where_it_is_told(run: Run, database: Path, tmp_path: Path) -> None:
    assert run("backup", tmp_path / "here.db")[0] == 0
    assert (tmp_path / "here.db").is_file()
    assert (tmp_path / "here.json").is_file()
    assert run("backup", tmp_path / "folder")[0] == 0
    assert len(list((tmp_path / "folder").glob("annotations-*.db"))) == 1
    assert run("backup", "--plain", tmp_path / "archive")[0] == 0
    assert (tmp_path / "archive" / "manifest.json").is_file()


def test_what_cannot_be_done_is_said_in_one_line_with_exit_status_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.json").write_text("{}")
    for arguments in (
        ("backup", tmp_path / "nowhere" / "copy.db"),
        ("backup", tmp_path / "annotations.db"),
        ("backup", tmp_path / "thesis.db"),
        ("backup", "--plain", tmp_path),
        ("restore", tmp_path / "none.db"),
        ("restore", tmp_path),
        ("log", "--head", "3:abc"),
        ("log", "--check", "--head", "3:abc"),
    ):
        status, out, err = run(*arguments)
        assert (status, out, err.count("\n"), err[:9]) == (2, "", 1, "spec-o3: "), arguments
    assert (tmp_path / "thesis.json").read_text() == "{}"


def test_the_log_is_shown_and_chosen_from(run: Run) -> None:
    status, out, _ = run("log", "--last", 3)
    assert status == 0
    assert len(out.splitlines()) == 4
    assert "signed in CO" in out.splitlines()[2]
    told = in_json(run("log", "--json", "--person", "AU", "--what", "decided"))
    assert {(entry["person"], entry["what"]) for entry in told["entries"]} == {("AU", "decided")}
    numbers = [entry["number"] for entry in told["entries"]]
    assert numbers == sorted(numbers)


def test_an_entry_is_one_line_whatever_it_is_about(run: Run, database: Path) -> None:
    with Store.open(database) as store:
        store.note(None, "restored", "from\n  9999  2026-01-01 00:00:00  CO  decided \x1b[31m", why="\u202egnp")
    status, out, _ = run("log", "--last", 1)
    assert status == 0
    assert len(out.splitlines()) == 2
    assert "restored from 9999 2026-01-01 00:00:00 CO decided \\x1b[31m" in out
    assert "\\u202egnp" in out


def test_a_log_that_was_cut_off_shows_against_a_head_kept_elsewhere(run: Run, database: Path) -> None:
    head = in_json(run("backup", "--json"))["log_head"]
    assert run("log", "--check", "--head", head)[0] == 0
    with closing(sqlite3.connect(database)) as db:
        db.execute("DROP TRIGGER log_no_delete")
        db.execute("DELETE FROM log WHERE number >= ?", (int(head.split(":")[0]),))
        db.commit()
    status, out, _ = run("log", "--check", "--head", head, "--json")
    assert status == 1
    assert json.loads(out)["ok"] is False


def test_the_doctor_looks_into_the_database(run: Run, database: Path) -> None:
    def findings() -> dict[str, dict[str, Any]]:
        (told,) = in_json(run("doctor", "database", "--json"))["capabilities"]
        return {finding["what"]: finding for finding in told["findings"]}

    before = findings()
    assert before["integrity"]["ok"] is True
    assert before["last backup"]["remedy"] == f"spec-o3 backup --db {database}"
    made = in_json(run("backup", "--json"))
    after = findings()
    assert made["path"] in after["last backup"]["found"]
    assert after["audit log"]["found"].startswith("ends at 27:")
    content = bytearray(database.read_bytes())
    content[4096 * 3 : 4096 * 6] = bytes(4096 * 3)
    database.write_bytes(content)
    assert run("doctor", "database")[0] == 1
    assert findings()["integrity"]["ok"] is False
