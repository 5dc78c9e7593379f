"""Backups that the app makes by itself: one a day, the old ones thinned out, and failures told."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from reviewer.backup.backups import DailyBackups, back_up, list_backups, metadata_path
from reviewer.backup.restore import restore
from reviewer.store import Store
from reviewer.web import app as server
from reviewer.web.auth import COOKIE
from tests.support.campaign import Clock, an_item, people

SPAWN = multiprocessing.get_context("spawn")


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


def test_one_is_made_a_day_and_says_what_it_holds(daily: DailyBackups, store: Store, clock: Clock) -> None:
    head = store.log_head()
    made = daily.make_if_due()
    assert made is not None
    assert (made.path.name, made.head) == ("annotations-20261121T120000Z.db", head)
    told = json.loads(metadata_path(made.path).read_text())
    assert told["log_head"] == str(head)
    assert (made.path.stat().st_mode & 0o777, daily.folder.stat().st_mode & 0o777) == (0o600, 0o700)
    clock.turn(hours=11)
    assert daily.make_if_due() is None
    clock.turn(hours=2)
    assert daily.make_if_due() is not None
    assert [backup.at.day for backup in daily.made] == [22, 21]
    entries = store.log(what="backup made")
    assert [(entry.person, entry.subject) for entry in entries] == [
        (None, backup.path.name) for backup in reversed(daily.made)
    ]


def test_months_of_them_leave_seventeen_at_most_and_whatever_it_did_not_make(
    daily: DailyBackups, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    made = [backup.at.date() for backup in daily.made if backup.why == "daily"]
    last = clock.now.date() - timedelta(days=6)
    assert made[:7] == [last - timedelta(days=6 * n) for n in range(7)]
    assert len(made) <= 17
    assert not [path for path in daily.folder.glob("*.json") if not path.with_suffix(".db").exists()]
    assert store.log(what="backups deleted")


def test_a_clock_that_was_wrong_for_a_day_costs_no_backup(daily: DailyBackups, clock: Clock) -> None:
    clock.turn(days=4000)
    daily.make_if_due()
    clock.turn(days=-4000)
    for _ in range(9):
        made = daily.make_if_due()
        assert made is not None
        assert made.path.exists()
        clock.turn(days=1)
    assert len(daily.made) == 7 + 1 + 1  # seven days, one more end of a week, the one from the future


def make_one(path: Path, folder: Path) -> int:
    with Store.open(path, Clock()) as store:
        return DailyBackups(store, folder, Clock()).make_if_due() is not None


def test_apps_on_one_database_make_one_backup_a_day(store: Store, daily: DailyBackups) -> None:
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=SPAWN) as processes:
        apart = [processes.submit(make_one, store.path, daily.folder) for _ in range(2)]
        here = [threads.submit(daily.make_if_due) for _ in range(2)]
        assert sum(bool(one.result()) for one in apart + here) == 1
    assert len(list_backups(store.path, daily.folder)) == 1


def test_a_failure_is_told_kept_in_the_log_and_mended_by_the_next_that_works(
    daily: DailyBackups, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
        assert daily.make_if_due() is None
        assert daily.make_if_due() is None
    assert daily.problem.startswith("The daily backup could not be made: ")
    assert "1 MB are free on that disk" in daily.problem
    assert len(store.log(what="backup failed")) == 2
    assert list(daily.folder.iterdir()) == []
    assert daily.make_if_due() is not None
    assert daily.problem == ""


def test_a_folder_that_cannot_be_made_is_told(store: Store, tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "a file").write_text("in the way")
    daily = DailyBackups(store, tmp_path / "a file" / "backups", clock)
    assert daily.make_if_due() is None
    assert "a file/backups: Not a directory. No backup was made." in daily.problem


def test_what_is_made_by_hand_says_who_and_can_be_restored(daily: DailyBackups, store: Store, tmp_path: Path) -> None:
    made = daily.make_now("CO")
    assert made.why == "by hand"
    (entry,) = store.log(what="backup made")
    assert (entry.person, entry.subject) == ("CO", made.path.name)
    assert restore(made.path, tmp_path / "again.db").items == 1
    assert daily.make_if_due() is not None, "one by hand is not the day's"


def test_it_begins_after_a_while_and_ends_with_the_app(daily: DailyBackups, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewer.backup.backups.FIRST", 0.01)
    daily.start()
    while not daily.made:
        pass
    daily.close()
    assert not any(path.suffix == ".part" for path in daily.folder.iterdir())


def test_a_copy_under_way_is_given_up_when_the_app_ends(daily: DailyBackups) -> None:
    daily.close()
    assert daily.make_if_due() is None
    assert list(daily.folder.iterdir()) == []
    assert daily.problem == ""


def test_no_two_have_one_name(store: Store, tmp_path: Path) -> None:
    made = [back_up(store.path, tmp_path / "kept", "by hand").path for _ in range(2)]
    assert made[0] != made[1]
    assert isinstance(datetime.fromisoformat(json.loads(metadata_path(made[1]).read_text())["at"]), datetime)


def test_a_failure_is_told_to_coordinators_on_the_page_and_to_nobody_else(store: Store, daily: DailyBackups) -> None:
    for initials in ("CO", "RE"):
        store.set_password("CO", initials, "correct horse battery")
    app = server.build(store, local=True, backups=daily)
    daily.problem = "The daily backup could not be made: no room."
    told = {}
    for initials in ("CO", "RE"):
        token = store.sign_in(initials, "correct horse battery").token
        client = TestClient(app, base_url="http://127.0.0.1", cookies={COOKIE: token})
        told[initials] = client.get("/api/me").json()["backups"]
    assert told == {"CO": daily.problem, "RE": ""}
