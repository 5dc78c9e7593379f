"""Real processes on one file: nothing is handed out twice, nothing acknowledged is lost."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from reviewer.store import HeldByAnother, NotAllowed, QueueFilter, Store, VersionMoved
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, an_item, people

ROOT = Path(__file__).resolve().parents[3]
SPAWN = multiprocessing.get_context("spawn")
ITEMS = 25


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "annotations.db"
    with Store.open(path) as store:
        people(store)
        for initials in ("PA", "PB", "PC", "PD"):
            store.add_person(initials, f"Screener {initials}", ["reviewer"])
        for number in range(ITEMS):
            an_item(store, number)
    return path


def claim_everything(path: Path, person: str) -> list[int]:
    """Take whatever is free until nothing is."""
    mine, todo = [], QueueFilter(states=("screening",))
    with Store.open(path) as store:
        while (item_id := store.first_undone(todo, person)) is not None:
            try:
                lease = store.lease(person, item_id)
            except HeldByAnother:
                continue
            if lease.round != "screening":
                continue  # somebody has kept it in between: it is offered for revision now
            version = store.item(item_id).version
            store.decide(person, item_id, version.id, "keep", f"{person} {item_id}", lease.token)
            mine.append(item_id)
    return mine


def test_processes_that_claim_at_once_get_every_item_once(path):
    with ProcessPoolExecutor(3, mp_context=SPAWN) as pool:
        claims = list(pool.map(claim_everything, [path] * 3, ["PA", "PB", "PC"]))
    claimed = sorted(item_id for mine in claims for item_id in mine)
    assert claimed == list(range(1, ITEMS + 1))
    with Store.open(path) as store:
        assert store.counts().by_task == {"cv": {"revision": ITEMS}}
        assert store.verify() == []


def lease_all(store: Store, person: str) -> set[int]:
    got = set()
    for item_id in range(1, ITEMS + 1):
        try:
            store.lease(person, item_id)
            got.add(item_id)
        except HeldByAnother:
            continue
    return got


def test_threads_of_one_server_never_hold_one_item_twice(path):
    with Store.open(path) as store, ThreadPoolExecutor(4) as pool:
        got = list(pool.map(lambda person: lease_all(store, person), ["PA", "PB", "PC", "PD"]))
        assert sorted(item_id for mine in got for item_id in mine) == list(range(1, ITEMS + 1))


def test_votes_that_arrive_together_are_all_counted_and_no_more_than_are_wanted(path):
    with Store.open(path) as store:
        Desk(store).until(1, *TO_VOTE)
        version, start = store.item(1).version, threading.Barrier(4)

        def vote(person: str) -> str:
            start.wait()
            try:
                lease = store.lease(person, 1)
                return store.decide(person, 1, version.id, "approve", person, lease.token).progress
            except NotAllowed:
                return "refused"

        with ThreadPoolExecutor(4) as pool:
            told = sorted(pool.map(vote, ["VO", "CO", "PA", "PB"]))
        assert told == ["approved", "refused", "refused", "vote 1 of 2"]
        assert len(store.standing(1).decided_by) == 2


def test_two_saves_at_once_make_one_version_and_one_refusal(path):
    with Store.open(path) as store:
        desk = Desk(store)
        desk.decide("RE", 1, "keep")
        base, lease = store.item(1).version, store.lease("RE", 1)
        start = threading.Barrier(2)

        def save(text: str) -> str:
            changed = base.trajectory.with_steps(
                base.trajectory.steps[1:] if text == "a" else base.trajectory.steps[2:]
            )
            start.wait()
            try:
                return str(store.save_version("RE", 1, base.id, changed, "", text, lease.token).number)
            except VersionMoved as moved:
                return f"refused by {moved.theirs.number}"

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(save, ["a", "b"])) == ["2", "refused by 2"]


def open_new(path: Path) -> int:
    with Store.open(path) as store:
        return len(store.people())


def test_processes_may_open_a_new_database_at_once(tmp_path):
    path = tmp_path / "new.db"
    with ProcessPoolExecutor(3, mp_context=SPAWN) as pool:
        assert list(pool.map(open_new, [path] * 6)) == [0] * 6
    with Store.open(path) as store:
        assert store.verify() == []


# Decides for ever, and says what was acknowledged only after it was.
WRITER = """
import sys
sys.path.insert(0, {tests!r})
from tests.support.campaign import Desk, an_item
from reviewer.store import Store
store = Store.open({path!r})
desk = Desk(store)
number = 1000
while True:
    item_id = an_item(store, number)
    desk.decide("RE", item_id, "keep")
    version = desk.edit("RE", item_id, "text " * 2000)
    print(item_id, version.id, flush=True)
    number += 1
"""


@pytest.mark.parametrize("after", [1, 4, 9])
def test_kill_at_any_moment_loses_nothing_that_was_acknowledged(path, after):
    code = WRITER.format(tests=str(ROOT), path=str(path))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(after)]
        os.kill(writer.pid, signal.SIGKILL)
        told += writer.stdout.read().splitlines(keepends=True)
    acknowledged = [tuple(map(int, line.split())) for line in told if line.endswith("\n")]
    assert len(acknowledged) >= after
    with Store.open(path) as store:
        assert store.verify() == []
        for item_id, version_id in acknowledged:
            item = store.item(item_id)
            assert (item.version.id, item.version.number, item.row.state) == (version_id, 2, "revision")
            assert item.version.trajectory.steps[0].text == "text " * 2000


def test_a_reader_sees_one_moment_while_others_write(path):
    with Store.open(path) as store:
        desk = Desk(store)
        stop = threading.Event()

        def write() -> None:
            for item_id in range(1, ITEMS + 1):
                desk.until(item_id, *TO_AUDIT)
            stop.set()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            seen = set()
            while not stop.is_set():
                counts = store.counts().by_task["cv"]
                seen.add(sum(counts.values()))
                page = store.queue(QueueFilter(states=("screening",)), "RE", limit=ITEMS)
                assert len(page.rows) == page.total
            writing.result()
        assert seen == {ITEMS}


def test_other_programs_may_read_the_file_meanwhile(path):
    with Store.open(path) as store:
        Desk(store).until(1, *TO_AUDIT)
        stranger = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        assert stranger.execute("SELECT count(*) FROM decisions").fetchone() == (2,)
        stranger.close()
