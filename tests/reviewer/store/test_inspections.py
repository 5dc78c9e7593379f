"""Inspections in the store: the latest of each person counts, all are kept."""

from __future__ import annotations

import sqlite3

import pytest

from reviewer.rules.inspection import Inspection
from reviewer.store import KeyReused, NotAllowed, NotFound, Store
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
    assert found is not None
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


@pytest.mark.parametrize("change", ["UPDATE inspections SET z = 0.2", "DELETE FROM inspections"])
def test_an_inspection_is_a_fact(store: Store, item: int, change: str) -> None:
    store.inspections.add(item_id=item, inspection=Inspection("RE", z=0.1), key="1")
    with sqlite3.connect(store.path) as db, pytest.raises(sqlite3.IntegrityError, match="inspections are facts"):
        db.execute(change)
