"""The database holds password hashes: what the program makes beside it is its owner's alone, what is there
keeps its mode, and the doctor says who can read it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
from reviewer.store import Store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    """Whatever the account's mask is, the program does not count on it."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_database_and_all_that_is_beside_it_while_it_is_open(tmp_path: Path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        store.add_person("AB", "Ada", ["coordinator"], "Balmer decrement")
        store.people()
        found = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert found == {f"annotations.db{end}": 0o600 for end in ("", "-wal", "-shm")}


def test_what_backups_and_a_restore_leave(tmp_path: Path) -> None:
    db = tmp_path / "annotations.db"
    with Store.open(db) as store:
        store.add_person("AB", "Ada", ["coordinator"], "Balmer decrement")
    copy = tmp_path / "copy.db"
    assert app.main(["backup", str(copy), "--db", str(db), "--json"]) == 0
    assert app.main(["backup", "--plain", str(tmp_path / "plain"), "--db", str(db), "--json"]) == 0
    db.unlink()
    assert app.main(["restore", str(copy), "--db", str(db), "--json"]) == 0
    found = {path: mode(path) for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".json"}
    assert set(found.values()) == {0o600}, found


def test_a_file_that_is_there_keeps_its_mode_and_the_doctor_says_who_can_read_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    db = tmp_path / "annotations.db"
    with Store.open(db):
        pass

    def told() -> dict[str, object]:
        capfd.readouterr()
        app.main(["doctor", "database", "--db", str(db), "--json"])
        return next(finding for finding in findings(json.loads(capfd.readouterr().out)) if "who can" in finding["what"])

    assert told()["ok"] is True
    db.chmod(0o640)
    with Store.open(db) as store:
        store.people()
    assert mode(db) == 0o640
    said = told()
    assert said["ok"] is None
    assert "mode 0640" in str(said["found"])
    assert said["remedy"] == f"unless that is meant: chmod 600 {db}*"


def findings(said: object) -> Iterator[dict[str, str]]:
    """Every finding, wherever in the answer it stands."""
    if isinstance(said, dict):
        if "what" in said and "found" in said:
            yield said
        for one in said.values():
            yield from findings(one)
    elif isinstance(said, list):
        for one in said:
            yield from findings(one)
