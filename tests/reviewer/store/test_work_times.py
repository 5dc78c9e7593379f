"""The time that people work on items: stored with the decision, covered by the audit log, and its figures."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from reviewer.exchange.exports import export
from reviewer.store import Store, TimeSpent, WorkTime
from tests.support.campaign import Clock, Desk, an_item, people
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved


def rows(store: Store) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(store.path)) as reader:
        return reader.execute("SELECT decision, opened_at, elapsed, active FROM work_times ORDER BY id").fetchall()


@pytest.fixture
def store(tmp_path: Path):
    with Store.open(tmp_path / "annotations.db", clock=Clock()) as store:
        people(store)
        yield store


def test_a_decision_and_its_time_are_one_transaction_and_one_log_entry(store: Store) -> None:
    item = an_item(store)
    Desk(store).decide("RE", item, "keep", worked=WorkTime(200.0, 45.5))
    ((decision, opened_at, elapsed, active),) = rows(store)
    made = store.items.history(item)[0]
    assert (decision, elapsed, active) == (made.decision.id, 200.0, 45.5)
    assert made.at - datetime.fromisoformat(str(opened_at)) == timedelta(seconds=200)
    entry = store.log.last(1)[0]
    assert set(entry.details["facts"]) == {"decisions", "work_times"}
    assert store.log.check() == []
    assert store.upkeep.verify() == []


def test_times_are_facts_and_a_changed_one_is_found(store: Store) -> None:
    Desk(store).decide("RE", an_item(store), "keep", worked=WorkTime(10.0, 5.0))
    with closing(sqlite3.connect(store.path)) as db:
        with pytest.raises(sqlite3.IntegrityError, match="work_times are facts"):
            db.execute("UPDATE work_times SET active = 1")
        db.execute("DROP TRIGGER work_times_no_update")
        db.execute("UPDATE work_times SET active = 1")
        db.commit()
    (fault,) = store.log.check()
    assert fault.endswith("work_times 1 was changed since it was written")


def test_the_same_decision_sent_twice_has_one_time(store: Store) -> None:
    item, desk = an_item(store), Desk(store)
    given = {
        "person": "RE",
        "item_id": item,
        "version_id": store.items.get(item).version.id,
        "verb": "keep",
        "key": desk.key(),
        "lease_token": store.leases.take("RE", item).token,
    }
    for seconds in (30.0, 31.0):
        store.reviews.decide(**given, worked=WorkTime(seconds, 20.0))
    assert [(row[2], row[3]) for row in rows(store)] == [(30.0, 20.0)]


def test_active_time_is_never_longer_than_the_time_since_opening(store: Store) -> None:
    Desk(store).decide("RE", an_item(store), "keep", worked=WorkTime(10.0, 11.0))
    assert rows(store)[0][2:] == (10.0, 10.0)


def test_the_median_is_over_decisions_in_force_by_person_and_round(store: Store) -> None:
    desk = Desk(store)
    items = [an_item(store, n) for n in range(5)]
    for item, seconds in zip(items, (10.0, 20.0, 90.0, 500.0, None), strict=True):
        worked = None if seconds is None else WorkTime(1000.0, seconds)
        desk.decide("RE", item, "keep", worked=worked)
    store.reviews.undo(person="RE", item_id=items[3], key=desk.key())
    desk.decide("RE", items[0], "submit", worked=WorkTime(400.0, 300.0))
    found = store.statistics.counts().time_by_person
    assert found == {"RE": {"screening": TimeSpent(3, 20.0), "revision": TimeSpent(1, 300.0)}}
    assert store.statistics.time_by_round([items[0], items[1]]) == {
        "screening": TimeSpent(2, 15.0),
        "revision": TimeSpent(1, 300.0),
    }
    assert store.statistics.counts(task="wd").time_by_person == {}


def test_an_export_has_the_medians_of_its_items_without_names(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        spectrum = a_spectrum("one.fits")
        add_approved(store, (a_trace(spectrum, "YES"), spectrum), worked=WorkTime(60.0, 40.0))
        time = export(store, "first", folder=tmp_path).manifest["time"]
    assert time["by_round"]["vote"]["median_seconds"] == 40.0
    assert {name: one["decisions"] for name, one in time["by_round"].items()} == {
        "screening": 1,
        "revision": 1,
        "audit": 2,
        "vote": 2,
    }
    assert time["definition"].startswith("Active seconds from opening an item")


def test_a_time_that_no_clock_can_give_is_refused_by_the_file(store: Store) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        Desk(store).decide("RE", an_item(store), "keep", worked=WorkTime(-1.0, 0.0))
    assert rows(store) == []
    assert store.items.history(1) == []
