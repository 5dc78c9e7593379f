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


def test_rows_keep_the_order_in_which_they_are_named_and_are_those_of_the_queue(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    assert [row.id for row in visible.rows_of([3, 99, 1])] == [3, 1]
    assert visible.rows_of([]) == []
    from_queue = {row.id: row for row in visible.rows(QueueFilter(), None, 10)[0]}
    assert visible.rows_of([2]) == [from_queue[2]]
    store.withdrawals.withdraw("CO", Selection(first=2, last=2))
    assert [row.id for row in visible.rows_of([1, 2, 3])] == [1, 3]
    assert [row.id for row in visible.rows_of([1, 2, 3], withdrawn=True)] == [1, 2, 3]


def test_rows_of_withheld_and_hidden_items_do_not_name_them(store: Store) -> None:
    visible = VisibleItems(store, store.accounts.person("RE"))
    name = visible.rows_of([2])[0].name
    (hidden,) = VisibleItems(store, store.accounts.person("RE"), True).rows_of([2])
    assert (hidden.hidden, hidden.name == name) == (True, False)
    visible.items = frozenset({2})
    (withheld,) = visible.rows_of([2])
    assert withheld.blind
    assert name not in map(str, withheld.model_dump().values())
