"""Rows of items that are named by number: they show what the queue shows to the same person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.store import QueueFilter, Selection, Store
from reviewer.web.visibility import VisibleItems
from tests.support.campaign import an_item, people


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        for n in range(4):
            an_item(store, n)
        yield store


def test_rows_keep_the_order_in_which_they_are_named(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    assert [row.id for row in visible.rows_of([3, 99, 1])] == [3, 1]
    assert visible.rows_of([]) == []


def test_withdrawn_items_have_rows_only_where_they_are_wanted(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    store.withdrawals.withdraw("CO", Selection(first=2, last=2))
    assert [row.id for row in visible.rows_of([1, 2, 3])] == [1, 3]
    assert [row.id for row in visible.rows_of([1, 2, 3], withdrawn=True)] == [1, 2, 3]


def test_a_named_row_is_that_of_the_queue(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    from_queue = {row.id: row for row in visible.rows(QueueFilter(), None, 10)[0]}
    assert visible.rows_of([2]) == [from_queue[2]]


def test_the_row_of_a_withheld_item_has_only_number_task_and_state(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    name = visible.rows_of([2])[0].name
    visible.items = frozenset({2})
    shown = visible.rows_of([2])[0]
    assert shown.blind
    assert name not in map(str, shown.model_dump().values())


def test_the_name_of_a_row_is_neutral_for_a_person_who_gives_their_verdict_first(store: Store) -> None:
    seen = VisibleItems(store, store.accounts.person("RE")).rows_of([2])[0]
    hidden = VisibleItems(store, store.accounts.person("RE"), True).rows_of([2])[0]
    assert hidden.hidden
    assert hidden.name != seen.name
