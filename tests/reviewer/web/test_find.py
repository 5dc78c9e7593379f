"""Search of texts, views and selections over HTTP."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import ValidationError

from reviewer.store import NotAllowed, NotFound, QueueFilter, Store
from reviewer.web import requests, visibility
from reviewer.web.requests import Filter, Selection
from reviewer.web.visibility import VisibleItems
from tests.support.campaign import a_spectrum, a_trajectory, people

FOR_THE_PERSON = {"without_batches", "without_items", "verdict_first"}
"""Fields of the store's filter that the server sets, so that nothing is found that the person may not see."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


@pytest.fixture
def visible(store: Store) -> VisibleItems:
    for n in range(5):
        spectrum = a_spectrum(f"spec-{n}.fits", redshift=0.01 * n)
        store.spectra.add(spectrum)
        store.items.add(a_trajectory(spectrum), spectrum.sha256, batch="odd" if n % 2 else "even")
    return VisibleItems(store, store.accounts.person("RE"))


def test_the_filter_of_a_view_has_the_parameters_of_the_queue() -> None:
    parameters = set(inspect.signature(requests.queue_filter).parameters)
    assert parameters == set(Filter.model_fields)
    assert parameters - {"state"} | {"states", *FOR_THE_PERSON} == {field.name for field in fields(QueueFilter)}


def test_a_filter_and_the_parameters_of_the_queue_mean_the_same() -> None:
    sent = {"task": "cv", "state": ["screening"], "snr_min": 2.5, "batch": "", "words": "Hα", "listed": 3, "mine": True}
    assert Filter.model_validate(sent).wanted() == requests.queue_filter(**sent)  # type: ignore[arg-type]
    assert Filter().wanted() == requests.queue_filter() == QueueFilter()


def test_a_selection_of_items_is_sorted_and_each_item_is_once_in_it(visible: VisibleItems) -> None:
    assert visible.selected(Selection(items=[3, 1, 3])) == [1, 3]
    with pytest.raises(NotFound, match="no item 99"):
        visible.selected(Selection(items=[99, 1]))


def test_a_selection_by_filter_is_without_the_items_that_are_taken_out(visible: VisibleItems) -> None:
    assert visible.selected(Selection(filter=Filter(batch="even"))) == [1, 3, 5]
    assert visible.selected(Selection(filter=Filter(batch="even"), without=[3, 4])) == [1, 5]


def test_a_selection_has_a_limit(visible: VisibleItems, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visibility, "MOST_SELECTED", 3)
    assert visible.selected(Selection(filter=Filter(), without=[1, 2])) == [3, 4, 5]
    with pytest.raises(NotAllowed, match="More than 3 items"):
        visible.selected(Selection(filter=Filter()))


@pytest.mark.parametrize(
    "sent",
    [{}, {"items": [1], "filter": {}}, {"items": [1], "without": [2]}, {"items": [0]}, {"filter": {"tasks": "cv"}}],
)
def test_other_selections_are_refused(sent: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Selection.model_validate(sent)
