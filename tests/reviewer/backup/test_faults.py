"""Backups on faulty disks, and files that are no backup."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from reviewer.backup.archive import write_archive
from reviewer.backup.backups import BackupError, BadBackup, back_up, list_backups
from reviewer.backup.restore import restore
from reviewer.store import CannotWrite, Damaged, Store, StoreError
from reviewer.store.sqlite.tables import summary
from tests.support.campaign import PROCESSES
from tests.support.inputs.app import ENDLESS, STRANGE
from tests.support.kept_campaign import contents, plant_migration, unguarded

ROOT = Path(__file__).resolve().parents[3]
WRITERS = 2


def write_numbers(path: Path, who: int, done: Synchronized[int], stop: Event) -> None:
    """Write 1, 2, 3, ... and count each number once the store has acknowledged it."""
    with Store.open(path) as store:
        while not stop.is_set():
            store.settings.set("CO", f"writer {who}", done.value + 1)
            done.value += 1
            time.sleep(0.002)  # the checks below read everything that was written


@pytest.fixture
def busy(database: Path) -> Iterator[tuple[Path, list[Synchronized[int]]]]:
    """A database that two processes write to, and how many writes of each were acknowledged."""
    stop, done = PROCESSES.Event(), [PROCESSES.Value("i", 0) for _ in range(WRITERS)]
    writers = [PROCESSES.Process(target=write_numbers, args=(database, who, done[who], stop)) for who in range(WRITERS)]
    for writer in writers:
        writer.start()
    while not all(count.value for count in done):
        assert all(writer.is_alive() for writer in writers)
        time.sleep(0.05)
    yield database, done
    stop.set()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0


def numbers_in(store: Store, who: int) -> list[int]:
    with store.upkeep.snapshot() as moment:
        (table,) = (table for table in moment.tables if table.name == "settings")
        return [int(str(row["value"])) for row in moment.rows(table) if row["name"] == f"writer {who}"]


def test_a_backup_during_writes_holds_every_acknowledged_action_up_to_one_moment(busy, tmp_path) -> None:
    path, done = busy
    for number, plain in enumerate((False, True)):
        before = [count.value for count in done]
        kept = tmp_path / f"{number}.db"
        if plain:
            with Store.open(path) as store:
                write_archive(store, kept)
        else:
            back_up(path, kept, "by hand")
        after = [count.value for count in done]
        restore(kept, tmp_path / f"{number}-again.db")
        with Store.open(tmp_path / f"{number}-again.db") as store:
            assert store.upkeep.verify() == []
            for who in range(WRITERS):
                found = numbers_in(store, who)
                assert found == list(range(1, len(found) + 1))
                # One more may have been written than was counted.
                assert before[who] <= len(found) <= after[who] + 1


WAITING = """
import os, sys, time
from pathlib import Path
source, target = Path(sys.argv[2]), Path(sys.argv[3])

def wait(*_):
    print("there", flush=True)
    time.sleep(600)

def wait_at_row(done, of):
    if done > of // 2:
        wait()

if sys.argv[1] == "backup":
    from reviewer.backup.backups import back_up
    back_up(source, target, "daily", wait)
elif sys.argv[1] == "archive":
    from reviewer.backup.archive import write_archive
    from reviewer.store import Store
    write_archive(Store.open(source), target, wait_at_row)
elif sys.argv[1] == "restore":
    from reviewer.backup.restore import restore
    restore(source, target, wait)
else:
    from reviewer.backup import restore as restoring
    restoring.sync = wait  # the last thing before the rename
    restoring.restore(source, target)
"""


def killed_in_the_middle_of(what: str, source: Path, target: Path) -> None:
    command = [sys.executable, "-c", WAITING, what, str(source), str(target)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout.readline() == b"there\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def test_a_backup_that_is_killed_leaves_no_half_file_of_its_name(database: Path, tmp_path: Path) -> None:
    before, folder = contents(database), tmp_path / "backups"
    killed_in_the_middle_of("backup", database, folder)
    assert [path.suffix for path in folder.iterdir()] == [".part"]
    assert contents(database) == before
    assert back_up(database, folder, "daily").path.is_file()
    assert len(list_backups(database, folder)) == 1


def test_an_archive_that_is_killed_leaves_no_half_folder_of_its_name(database: Path, tmp_path: Path) -> None:
    before, folder = contents(database), tmp_path / "plain"
    killed_in_the_middle_of("archive", database, folder)
    assert not folder.exists()
    assert contents(database) == before
    with Store.open(database) as store:
        write_archive(store, folder)
    restore(folder, tmp_path / "again.db")


@pytest.mark.parametrize("when", ["restore", "restore, at its end"])
def test_a_restore_that_is_killed_leaves_the_old_database(database: Path, tmp_path: Path, when: str) -> None:
    kept = back_up(database, tmp_path / "kept.db", "by hand").path
    with Store.open(database) as store:
        store.settings.set("CO", "after the backup", True)
    before = contents(database)
    killed_in_the_middle_of(when, kept, database)
    assert contents(database) == before
    with Store.open(database) as store:
        assert store.upkeep.verify() == []
        assert store.settings.get("after the backup") is True
    restore(kept, database)
    with Store.open(database) as store:
        assert store.settings.get("after the backup") is None


@contextmanager
def limited_file_size() -> Iterator[None]:
    """No file may grow beyond 100 kB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def do(what: str, source: Path, target: Path) -> None:
    if what == "archive":
        with Store.open(source) as store:
            write_archive(store, target)
    elif what == "backup":
        back_up(source, target, "by hand")
    else:
        restore(source, target)


@pytest.mark.parametrize("what", ["backup", "archive", "restore a backup", "restore an archive"])
def test_a_full_disk_is_reported_and_leaves_nothing(database: Path, tmp_path: Path, what: str) -> None:
    source, target = database, tmp_path / "new"
    if what.startswith("archive"):
        with Store.open(database) as store:
            # One file of the archive must be larger than the limit.
            for number in range(40):
                store.settings.set("CO", f"long {number}", "x" * 5000)
    elif what == "restore a backup":
        source, target = back_up(database, tmp_path / "kept.db", "by hand").path, database
    elif what == "restore an archive":
        source, target = tmp_path / "plain", database
        with Store.open(database) as store:
            write_archive(store, source)
    before = contents(database)
    message = r"No (copy|archive|database) was made"
    with pytest.raises((BackupError, CannotWrite), match=message), limited_file_size():
        do(what, source, target)
    assert contents(database) == before
    assert not list(tmp_path.glob("new*")) or what == "backup"
    assert not list(tmp_path.glob("**/*.part*"))


PARTS = STRANGE | {
    "a view without end for a table": (
        f"DROP TABLE migrations; CREATE VIEW migrations AS {ENDLESS} SELECT x AS number FROM c",
        "found another program's database",
    )
}


@pytest.mark.parametrize("kind", PARTS)
def test_a_backup_with_strange_parts_is_refused_and_nothing_is_replaced(kind, database, tmp_path) -> None:
    given = Path(shutil.copyfile(database, tmp_path / "given.db"))
    sql, message = PARTS[kind]
    with closing(sqlite3.connect(given)) as db:
        db.executescript(sql)
    before = given.read_bytes()
    with pytest.raises(StoreError, match=message):
        restore(given, database)
    assert given.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["annotations.db", "given.db"]
    with Store.open(database) as store:
        assert store.log.entries(what="database restored") == []


def test_the_tables_of_analyze_are_accepted(tmp_path: Path) -> None:
    given = tmp_path / "given.db"
    Store.open(given).close()
    with closing(sqlite3.connect(given)) as db:
        db.execute("ANALYZE")
    assert restore(given, tmp_path / "annotations.db").items == 0


def test_a_refused_restore_leaves_nothing_whatever_the_name_of_the_database(tmp_path: Path) -> None:
    given = tmp_path / "given.db"
    Store.open(given).close()
    with closing(sqlite3.connect(given)) as db:
        db.execute("INSERT INTO tallies VALUES ('screening', 'cv', 'x', 'x', 'x', 0, 0, 1)")
        db.commit()
    with pytest.raises(BadBackup, match="the tallies do not add up"):
        restore(given, tmp_path / "round [1].db")
    assert [path.name for path in tmp_path.iterdir()] == ["given.db"]


def give_a_table_an_unreadable_name(path: Path) -> None:
    """Rename a table to bytes that are not UTF-8: Python cannot decode the SQLite message that quotes them."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET name = CAST(x'ff' AS TEXT), sql = 'no SQL' WHERE name = 'people'")
        db.commit()


def test_a_malformed_schema_with_an_unreadable_name_is_reported_and_can_be_replaced(tmp_path: Path) -> None:
    broken, good = tmp_path / "annotations.db", tmp_path / "good.db"
    with Store.open(broken) as store:
        store.upkeep.backup(good)
    give_a_table_an_unreadable_name(broken)
    with pytest.raises(Damaged, match="malformed database schema"):
        Store.open(broken)
    with pytest.raises(StoreError, match="malformed database schema"):
        restore(broken, good)
    with pytest.raises(StoreError, match="malformed database schema"):
        summary(broken)
    done = restore(good, broken)
    assert (done.items, done.replaced) == (0, None)


def test_an_error_names_the_backup_and_not_its_temporary_copy(made, tmp_path, monkeypatch) -> None:
    old, headless = (Path(shutil.copyfile(made, tmp_path / name)) for name in ("old.db", "headless.db"))
    with unguarded(headless) as db:
        db.execute("DELETE FROM versions WHERE item = 4")
    with pytest.raises(BadBackup, match=r"headless\.db: it cannot be read: There is no item 4"):
        restore(headless, tmp_path / "annotations.db")
    with unguarded(old) as db:
        db.execute("INSERT INTO barred VALUES ('RE', 99)")
    plant_migration(monkeypatch)
    with pytest.raises(BadBackup, match=r"old\.db: it cannot be upgraded to this schema: .*barred") as refused:
        restore(old, tmp_path / "annotations.db")
    assert "part" not in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["headless.db", "old.db"]
