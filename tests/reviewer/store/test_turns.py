"""Waiting for one's turn to write: a submit waits seconds and then says why, and an import lets it in."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.store import CannotWrite, Draft, NotAllowed, Store
from reviewer.store import items as store_items
from tests.support.campaign import Desk, a_trajectory, an_item, people


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", patience=0.2) as store:
        people(store)
        an_item(store)
        yield store


def test_another_program_that_keeps_the_file_locked_is_named_after_some_seconds(store: Store) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    wanted = r"annotations\.db: another program keeps it locked, for 0 seconds by now\. Nothing was saved; try"
    with pytest.raises(CannotWrite, match=wanted):
        store.lease("RE", 1)
    assert store.item(1).row.state == "screening"
    other.execute("ROLLBACK")
    other.close()
    assert store.lease("RE", 1).person == "RE"


def test_a_long_write_of_the_same_program_does_not_make_a_submit_wait_for_ever(store: Store) -> None:
    with store._writing(), pytest.raises(CannotWrite, match="this program is writing something long"):
        Store.lease(store, "RE", 1)


def drafts(count: int) -> Iterator[Draft]:
    return (Draft(a_trajectory(think=f"Draft {n}."), batch="many") for n in range(count))


def test_a_submit_comes_in_between_the_parts_of_an_import(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 10)
    monkeypatch.setattr(store, "_patience", 60.0)
    written = threading.Event()
    tell = store._tell_added

    def slowly(db: sqlite3.Connection, by: str | None, items: list[int]) -> None:
        tell(db, by, items)
        written.set()
        time.sleep(0.05)

    monkeypatch.setattr(store, "_tell_added", slowly)
    bringing = threading.Thread(target=lambda: store.add_items(drafts(100), by="CO"))
    bringing.start()
    assert written.wait(60)
    Desk(store).decide("RE", 1, "keep")
    bringing.join()
    done = [entry.what for entry in store.log(limit=1000)]
    assert done.index("decided") < len(done) - 1 - done[::-1].index("items added")
    assert store.counts().by_task == {"cv": {"screening": 100, "revision": 1}}
    assert store.verify() == []


def test_an_import_that_the_disk_ran_full_under_says_how_far_it_came_and_goes_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 50)
    (pages,) = store._writer.execute("PRAGMA page_count").fetchone()
    store._writer.execute(f"PRAGMA max_page_count = {pages + 60}")
    long = [Draft(a_trajectory(think=f"{n} " + "x" * 2000)) for n in range(200)]
    with pytest.raises(CannotWrite, match=r"of 200 items were added, .*again.* rest follows\. .* disk is full"):
        store.add_items(long)
    there = store.counts().by_task["cv"]["screening"] - 1
    assert there in (50, 100, 150)
    assert store.verify() == []
    store._writer.execute("PRAGMA max_page_count = 1000000")
    added = store.add_items(long)
    assert sum(one.new for one in added) == 200 - there
    assert len({one.item_id for one in added}) == 200
    assert store.verify() == []


def test_a_draft_that_is_refused_keeps_out_those_before_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 10)

    def failing() -> Iterator[Draft]:
        yield from drafts(55)
        raise RuntimeError("row 56 cannot be read any more")

    with pytest.raises(RuntimeError):
        store.add_items(failing())
    store.deactivate("CO", "RE")
    with pytest.raises(NotAllowed, match="RE is no longer active"):
        store.add_items(drafts(55), by="RE")
    assert store.counts().by_task == {"cv": {"screening": 1}}
