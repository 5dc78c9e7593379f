"""Inspections in the store: the latest of each person counts, all are kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from reviewer.rules.inspection import Inspection
from reviewer.store import KeyReused, NotAllowed, NotFound, Store, statistics
from tests.support.campaign import an_item


@pytest.fixture
def item(store: Store) -> int:
    return an_item(store)


def test_the_latest_inspection_of_each_person_counts(store: Store, item: int) -> None:
    first = Inspection("RE", z=0.1, quality=2, comment="Hβ?")
    second = Inspection("RE", z=0.3688, quality=4, issues="RC", spectype="QSO", comment="[O III]")
    other = Inspection("AU", quality=3)
    for number, one in enumerate((first, other, second)):
        assert store.inspections.add(item_id=item, inspection=one, key=f"key {number}") == one
    found = store.inspections.of_item(item)
    assert found.inspections == (other, second)
    assert (found.pipeline_z, found.merged.z, found.merged.quality) == (None, 0.3688, 3.5)
    assert store.inspections.all() == [found]
    assert [entry.subject for entry in store.log.entries() if entry.what == "inspected"] == [f"item {item}"] * 3
    assert store.log.check() == []


def test_an_emptied_inspection_is_none(store: Store, item: int) -> None:
    store.inspections.add(item_id=item, inspection=Inspection("RE", z=0.1), key="1")
    store.inspections.add(item_id=item, inspection=Inspection("RE"), key="2")
    assert store.inspections.of_item(item) is None
    assert store.inspections.all() == []


def test_the_same_key_counts_once(store: Store, item: int) -> None:
    found = Inspection("RE", z=0.1)
    for _ in range(2):
        store.inspections.add(item_id=item, inspection=found, key="1")
    with pytest.raises(KeyReused):
        store.inspections.add(item_id=item, inspection=Inspection("RE", z=0.2), key="1")
    (kept,) = store.inspections.all()
    assert kept.inspections == (found,)


def test_who_cannot_inspect(store: Store, item: int) -> None:
    with pytest.raises(NotFound):
        store.inspections.add(item_id=item + 1, inspection=Inspection("RE", z=0.1), key="1")
    store.accounts.deactivate("CO", "RE")
    with pytest.raises(NotAllowed):
        store.inspections.add(item_id=item, inspection=Inspection("RE", z=0.1), key="2")


def test_the_last_inspections_are_searched_for_those_that_differ(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [an_item(store, number) for number in range(4)]
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE standings SET state = 'approved' WHERE item <> ?", (items[3],))
    number = 0
    for item, people in zip(items, (("RE", "AU"), ("RE", "AU"), ("RE",), ("RE", "AU")), strict=True):
        for person in people:
            number += 1
            store.inspections.add(item_id=item, inspection=Inspection(person, z=0.1), key=str(number))
    # The last item is in its first round, and only one person has inspected the one before.
    assert store.statistics.compared_inspections() == ({items[0], items[1]}, False)
    assert [of_item.item_id for of_item in store.inspections.of_items(items[1:3])] == items[1:3]
    monkeypatch.setattr(statistics, "COMPARED", 4)
    assert store.statistics.compared_inspections() == ({items[1]}, True)
