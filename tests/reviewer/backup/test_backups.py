"""Making backups: copies, the daily schedule and retention."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from reviewer.backup.backups import (
    DailyBackups,
    back_up,
    backup_name,
    backup_time,
    list_backups,
    metadata_path,
    retained,
)
from reviewer.backup.restore import restore
from reviewer.store import CannotWrite, NotAnnotations, NotFound, Store, StoreError
from reviewer.store.sqlite.files import copy
from reviewer.web.auth import COOKIE
from tests.support.campaign import PROCESSES, Clock, an_item, people

PAIRS = 400
"""Rows of two tables that are always written together."""


@pytest.fixture(autouse=True)
def _steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy takes several steps."""
    monkeypatch.setattr("reviewer.store.sqlite.files._STEP_PAGES", 100)


def _make(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript("CREATE TABLE a (n INTEGER, t TEXT); CREATE TABLE b (n INTEGER, t TEXT);")
    for table in "ab":
        db.executemany(f"INSERT INTO {table} VALUES (?, ?)", ((n, "x" * 1500) for n in range(PAIRS)))
    db.commit()
    db.close()


def _write_pairs(path: Path, stop: Event) -> None:
    """Until stopped: add one row to each table and change one at each end, in one transaction."""
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
    stop = PROCESSES.Event()
    writer = PROCESSES.Process(target=_write_pairs, args=(database, stop))
    writer.start()
    yield database
    stop.set()
    writer.join()
    assert writer.exitcode == 0


def test_a_copy_under_steady_writing_ends_and_holds_one_moment(busy: Path, tmp_path: Path) -> None:
    # However fast the copy is, something is written between two of its steps.
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
    assert target.read_bytes()[18:20] == b"\x01\x01", "a copy has no write-ahead log"


def test_a_copy_that_is_stopped_between_two_steps_leaves_nothing(database: Path, tmp_path: Path) -> None:
    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(database, tmp_path / "copy.db", stop)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source.db"]


@pytest.mark.parametrize("link_fails", [False, True])
def test_a_file_that_takes_the_name_during_a_copy_is_not_replaced(database, tmp_path, link_fails, monkeypatch) -> None:
    target = tmp_path / "copy.db"

    def take(done: int, of: int) -> None:
        target.write_text("another's")

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as on exFAT

    if link_fails:
        monkeypatch.setattr(os, "link", no_links)
        copy(database, tmp_path / "without_links.db")
        assert _sums(tmp_path / "without_links.db") == _sums(database)
    with pytest.raises(StoreError, match=r"copy\.db: found an existing file, expected a new name"):
        copy(database, target, take)
    assert target.read_text() == "another's"
    assert not list(tmp_path.glob("*.part"))


def test_a_damaged_database_is_not_copied(database: Path, tmp_path: Path) -> None:
    with database.open("r+b") as file:
        file.seek(4096 * 100)
        file.write(os.urandom(4096 * 5))
    with pytest.raises(StoreError, match=r"source\.db: the database is damaged"):
        copy(database, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


def test_a_file_that_is_no_database_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("wavelengths " * 1000)
    with pytest.raises(NotAnnotations, match=r"notes\.txt: found a file that is not SQLite"):
        copy(tmp_path / "notes.txt", tmp_path / "copy.db")
    with pytest.raises(NotFound, match=r"none\.db: found no database to copy"):
        copy(tmp_path / "none.db", tmp_path / "copy.db")
    assert not (tmp_path / "none.db").exists()


def test_too_little_disk_space_is_reported_before_anything_is_written(database, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=16_500_000))
    with pytest.raises(CannotWrite, match=r"copy\.db: \d+ MB are needed and 16 MB are free on that disk"):
        copy(database, tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", clock) as store:
        people(store)
        an_item(store)
        yield store


@pytest.fixture
def daily(store: Store, tmp_path: Path, clock: Clock) -> DailyBackups:
    return DailyBackups(store, tmp_path / "backups", clock)


def test_one_backup_per_day_is_made_with_its_metadata(daily: DailyBackups, store: Store, clock: Clock) -> None:
    head = store.log.head()
    made = daily.make_if_due()
    assert (made.path.name, made.head) == ("annotations-20261121T120000Z.db", head)
    metadata = json.loads(metadata_path(made.path).read_text())
    assert metadata["log_head"] == str(head)
    assert (made.path.stat().st_mode & 0o777, daily.folder.stat().st_mode & 0o777) == (0o600, 0o700)
    clock.turn(hours=11)
    assert daily.make_if_due() is None
    clock.turn(hours=2)
    assert daily.make_if_due() is not None
    assert [backup.at.day for backup in daily.existing] == [22, 21]
    entries = store.log.entries(what="backup made")
    assert [(entry.person, entry.subject) for entry in entries] == [
        (None, backup.path.name) for backup in reversed(daily.existing)
    ]


def test_after_months_at_most_seventeen_backups_and_all_other_files_are_left(daily, store, clock, monkeypatch) -> None:
    daily.folder.mkdir()
    by_hand = back_up(store.path, daily.folder, "by hand", clock=clock).path
    others = [daily.folder / name for name in ("annotations-20250101T000000Z.db", "thesis.db", "notes.txt")]
    for path in others:
        path.write_text("somebody's")
    old_part = daily.folder / "annotations-20250101T000000Z.db.77.part"
    old_part.write_text("half a copy")
    clock.turn(seconds=1)
    for _ in range(40):
        assert daily.make_if_due() is not None
        clock.turn(days=6)
    assert by_hand.exists()
    assert [path.read_text() for path in others] == ["somebody's"] * 3
    assert not old_part.exists()
    made = [backup.at.date() for backup in daily.existing if backup.why == "daily"]
    last = clock.now.date() - timedelta(days=6)
    assert made[:7] == [last - timedelta(days=6 * n) for n in range(7)]
    assert len(made) <= 17
    assert not [path for path in daily.folder.glob("*.json") if not path.with_suffix(".db").exists()]
    assert store.log.entries(what="backups deleted")
    being_written = daily.folder / "annotations-20260101T000000Z.db.78.part"
    being_written.write_text("half a copy")
    os.utime(being_written, (clock.now.timestamp() - 60,) * 2)
    assert daily.make_if_due() is not None
    assert being_written.exists()


def test_a_clock_that_was_wrong_for_a_day_deletes_no_backup(daily: DailyBackups, clock: Clock) -> None:
    clock.turn(days=4000)
    daily.make_if_due()
    clock.turn(days=-4000)
    for _ in range(9):
        made = daily.make_if_due()
        assert made.path.exists()
        clock.turn(days=1)
    assert len(daily.existing) == 7 + 1 + 1  # seven days, one more end of a week, the one from the future


def make_one(path: Path, folder: Path) -> int:
    with Store.open(path, Clock()) as store:
        return DailyBackups(store, folder, Clock()).make_if_due() is not None


def test_several_apps_on_one_database_make_one_backup_per_day(store: Store, daily: DailyBackups) -> None:
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, mp_context=PROCESSES) as processes:
        apart = [processes.submit(make_one, store.path, daily.folder)]
        here = [threads.submit(daily.make_if_due) for _ in range(2)]
        assert sum(bool(future.result()) for future in apart + here) == 1
    assert len(list_backups(store.path, daily.folder)) == 1


def test_a_failure_is_reported_and_logged_and_cleared_by_the_next_success(daily, store, clock, monkeypatch) -> None:
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
        assert daily.make_if_due() is None
        assert daily.make_if_due() is None
    assert daily.problem.startswith("The daily backup could not be made: ")
    assert "1 MB are free on that disk" in daily.problem
    assert len(store.log.entries(what="backup failed")) == 2
    assert list(daily.folder.iterdir()) == []
    assert daily.make_if_due() is not None
    assert daily.problem == ""


def test_a_folder_that_cannot_be_made_is_reported(store: Store, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "a file").write_text("in the way")
    daily = DailyBackups(store, tmp_path / "a file" / "backups", clock)
    assert daily.make_if_due() is None
    assert "a file/backups: Not a directory. No backup was made." in daily.problem


def test_a_backup_made_by_hand_names_its_person_and_can_be_restored(daily, store, tmp_path) -> None:
    made = daily.make_now("CO")
    assert made.why == "by hand"
    (entry,) = store.log.entries(what="backup made")
    assert (entry.person, entry.subject) == ("CO", made.path.name)
    assert restore(made.path, tmp_path / "again.db").items == 1
    assert daily.make_if_due() is not None, "one by hand is not the day's"


def test_daily_backups_start_and_end_with_the_app(daily: DailyBackups, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.backup.backups.FIRST_CHECK", 0.01)
    daily.start()
    while not daily.existing:
        pass
    daily.close()
    assert not any(path.suffix == ".part" for path in daily.folder.iterdir())


def test_a_copy_is_abandoned_when_the_app_ends(daily: DailyBackups) -> None:
    daily.close()
    assert daily.make_if_due() is None
    assert list(daily.folder.iterdir()) == []
    assert daily.problem == ""


def test_two_backups_have_different_names(store: Store, tmp_path: Path) -> None:
    made = [back_up(store.path, tmp_path / "kept", "by hand").path for _ in range(2)]
    assert made[0] != made[1]
    assert isinstance(datetime.fromisoformat(json.loads(metadata_path(made[1]).read_text())["at"]), datetime)


def test_only_coordinators_are_shown_a_failed_backup(store: Store, daily: DailyBackups) -> None:
    # Not for the processes that import this module: it takes seconds.
    from reviewer import server

    for initials in ("CO", "RE"):
        store.accounts.set_password("CO", initials, "correct horse battery")
    app = server.build(store, local=True, backups=daily)
    daily.problem = "The daily backup could not be made: no room."
    shown = {}
    for initials in ("CO", "RE"):
        token = store.accounts.sign_in(initials, "correct horse battery").token
        client = TestClient(app, base_url="http://127.0.0.1", cookies={COOKIE: token})
        shown[initials] = client.get("/api/v1/me").json()["backups"]
    assert shown == {"CO": daily.problem, "RE": ""}


NOW = datetime(2026, 11, 21, 16, 8, 39, tzinfo=UTC)
DATABASE = Path("annotations.db")
past = st.datetimes(datetime(2020, 1, 1), NOW.replace(tzinfo=None), timezones=st.just(UTC))
anywhen = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


@given(st.sets(past, max_size=80))
def test_the_last_of_each_of_seven_days_is_kept_and_never_more_than_seventeen(times: set[datetime]) -> None:
    stay = retained(times, NOW)
    days = sorted({at.date() for at in times}, reverse=True)[:7]
    assert {max(at for at in times if at.date() == day) for day in days} <= stay <= times
    assert len(stay) <= 7 + 4 + 6
    assert retained(stay, NOW) == stay


@given(st.sets(anywhen, min_size=1, max_size=40))
def test_a_backup_from_a_wrong_clock_does_not_displace_another(times: set[datetime]) -> None:
    earlier = {at for at in times if at <= NOW + timedelta(minutes=5)}
    stay = retained(times, NOW)
    assert stay == retained(earlier, NOW) | (times - earlier)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=60),
    st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)),
)
def test_pruning_after_each_backup_ends_as_pruning_once_would(gaps: list[int], first: datetime) -> None:
    at, every, remaining = first, set(), set()
    for gap in gaps:
        at += timedelta(days=gap)
        every.add(at)
        remaining = retained(remaining | {at}, at)
    assert remaining == retained(every, at)


def test_after_two_years_the_last_week_four_weeks_and_six_months_are_left() -> None:
    remaining: set[datetime] = set()
    for day in range(731):
        at = datetime(2024, 11, 21, 6, 30, tzinfo=UTC) + timedelta(days=day)
        remaining = retained(remaining | {at}, at)
    assert [f"{at:%Y-%m-%d}" for at in sorted(remaining)] == [
        # the ends of months, of weeks, and the last seven days
        *("2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31"),
        *("2026-11-01", "2026-11-08"),
        *(f"2026-11-{day}" for day in range(15, 22)),
    ]


@given(anywhen)
def test_a_name_holds_its_time_to_the_second(at: datetime) -> None:
    assert backup_time(DATABASE, backup_name(DATABASE, at)) == at.replace(microsecond=0)


def test_other_files_are_not_backups() -> None:
    for name in ("annotations", "annotations-", "annotations-20261321T160839Z", "thesis-20261121T160839Z"):
        assert backup_time(DATABASE, name) is None
    assert backup_time(DATABASE, "annotations-20261121T160839Z.db") is None
    assert backup_time(Path("a.b.db"), "a.b-20261121T160839Z") == NOW
    assert backup_time(Path("a+b.db"), "a+b-20261121T160839Z") == NOW
