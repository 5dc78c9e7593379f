"""Copies of a database: one moment while others write, never half a file, never in the place of another."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import sqlite3
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Event
from pathlib import Path
from types import SimpleNamespace

import pytest

from reviewer.store import CannotWrite, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite.files import copy

SPAWN = multiprocessing.get_context("spawn")
PAIRS = 8_000
"""Rows of two tables that are always written together: enough pages for several steps of a copy."""


def _make(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript("CREATE TABLE a (n INTEGER, t TEXT); CREATE TABLE b (n INTEGER, t TEXT);")
    for table in "ab":
        db.executemany(f"INSERT INTO {table} VALUES (?, ?)", ((n, "x" * 1500) for n in range(PAIRS)))
    db.commit()
    db.close()


def _write_pairs(path: Path, stop: Event) -> None:
    """Until told to stop: one row into each table and one change at each end, in one transaction."""
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    while not stop.is_set():
        db.execute("BEGIN IMMEDIATE")
        for table in "ab":
            db.execute(f"INSERT INTO {table} SELECT max(n) + 1, 'y' FROM {table}")
            db.execute(f"UPDATE {table} SET n = n + 1 WHERE rowid IN (1, {PAIRS})")
        db.execute("COMMIT")
    db.close()


def _sums(path: Path) -> list[tuple[int, int]]:
    db = sqlite3.connect(path)
    found = [db.execute(f"SELECT count(*), sum(n) FROM {table}").fetchone() for table in "ab"]
    db.close()
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("copies") / "made.db"
    _make(path)
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(made, tmp_path / "source.db"))


@pytest.fixture
def busy(database: Path) -> Iterator[Path]:
    """A database that another process writes to without a pause."""
    stop = SPAWN.Event()
    writer = SPAWN.Process(target=_write_pairs, args=(database, stop))
    writer.start()
    yield database
    stop.set()
    writer.join()
    assert writer.exitcode == 0


def test_a_copy_under_steady_writing_ends_and_holds_one_moment(busy: Path, tmp_path: Path) -> None:
    # However soon the copy were done, something is written between two of its steps.
    while _sums(busy)[0][0] < PAIRS + 20:
        time.sleep(0.05)
    seen = [_sums(busy)[0]]

    def wait_for_a_write(done: int, of: int) -> None:
        while (now := _sums(busy)[0]) == seen[-1]:
            time.sleep(0.02)
        seen.append(now)

    copy(busy, tmp_path / "copy.db", wait_for_a_write)
    in_a, in_b = _sums(tmp_path / "copy.db")
    assert in_a == in_b
    assert len(seen) > 2, "it was copied in one step"


def test_a_copy_is_one_file_that_only_its_owner_may_read(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "kept" / "copy.db"
    target.parent.mkdir()
    copy(database, target)
    assert [path.name for path in target.parent.iterdir()] == ["copy.db"]
    assert target.stat().st_mode & 0o777 == 0o600
    assert target.read_bytes()[18:20] == b"\x01\x01", "no write-ahead log is wanted beside it"


def test_a_copy_that_is_stopped_between_two_steps_leaves_nothing(database: Path, tmp_path: Path) -> None:
    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(database, tmp_path / "copy.db", stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.db"]


@pytest.mark.parametrize("link_fails", [False, True])
def test_a_name_that_is_taken_meanwhile_stays_who_took_it(
    database: Path, tmp_path: Path, link_fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"

    def take(done: int, of: int) -> None:
        target.write_text("another's")

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as exFAT says it

    if link_fails:
        monkeypatch.setattr(os, "link", no_links)
        copy(database, tmp_path / "without_links.db")
        assert _sums(tmp_path / "without_links.db") == _sums(database)
    with pytest.raises(StoreError, match=r"copy\.db: found a file, wanted a name that is not taken"):
        copy(database, target, take)
    assert target.read_text() == "another's"
    assert not list(tmp_path.glob("*.part"))


def test_a_damaged_database_is_not_copied(database: Path, tmp_path: Path) -> None:
    with database.open("r+b") as file:
        file.seek(4096 * 600)
        file.write(os.urandom(4096 * 5))
    with pytest.raises(StoreError, match=r"source\.db: the database is damaged"):
        copy(database, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


def test_what_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("wavelengths " * 1000)
    with pytest.raises(NotAnnotations, match=r"notes\.txt: found a file that is not SQLite"):
        copy(tmp_path / "notes.txt", tmp_path / "copy.db")
    with pytest.raises(NotFound, match=r"none\.db: found no database to copy"):
        copy(tmp_path / "none.db", tmp_path / "copy.db")
    assert not (tmp_path / "none.db").exists()


def test_too_little_room_is_said_before_anything_is_written(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=20_000_000))
    with pytest.raises(CannotWrite, match=r"copy\.db: \d+ MB are wanted and 20 MB are free on that disk"):
        copy(database, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))


def test_a_disk_that_fills_up_on_the_way_is_said_and_nothing_left(database: Path, tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, before[1]))
    try:
        with pytest.raises(CannotWrite, match=r"copy\.db: .* No copy was made"):
            copy(database, tmp_path / "copy.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.glob("copy*"))
