"""POST /api/v1/next: the next item by value of information, and what is sent of its choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from reviewer.rules.campaign import Rules
from reviewer.store import Draft, ScoreRow, Store
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import a_spectrum, a_trajectory

pytestmark = pytest.mark.usefixtures("without_page")

ITEMS = range(1, 6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Five items of one task with P(YES), the first two in the batch ``one``."""
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("RW", ["reviewer"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        spectra = [a_spectrum(f"spec-{n}.fits", redshift=0.01 * n) for n in ITEMS]
        store.items.add_all(
            [
                Draft(a_trajectory(s, f"Number {n}."), s, "one" if n < 3 else "two")
                for n, s in zip(ITEMS, spectra, strict=True)
            ]
        )
        store.trust.record_scores(None, "cv", {}, [ScoreRow(n, n / 6, {}) for n in ITEMS])
        yield store


@pytest.fixture
def client(store: Store) -> TestClient:
    return client_of(store, "RV")


def following(client: TestClient, key: int, shown: int | None = None, **query: Any) -> Any:
    answer = client.post("/api/v1/next", params=query, json={"key": f"the key no. {key:06d}", "shown": shown})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_same_key_again_gives_the_same_item_and_one_showing(client: TestClient, store: Store) -> None:
    first = following(client, 1, shown=3)
    assert following(client, 1, shown=3) == first
    (showing,) = store.trust.showings("cv")
    assert first == {"id": showing.item, "arm": showing.arm, "probability": showing.probability}
    assert showing.person == "RV"
    other = client_of(store, "RW").post("/api/v1/next", json={"key": "the key no. 000001", "shown": 3})
    assert 400 <= other.status_code < 500


def test_the_open_item_is_not_chosen(client: TestClient) -> None:
    assert {following(client, key, shown=1, batch="one")["id"] for key in range(5)} == {2}


def test_without_an_item_nothing_is_recorded(client: TestClient, store: Store) -> None:
    assert following(client, 1, batch="none") == {"id": None, "arm": None, "probability": None}
    assert store.trust.showings("cv") == []


def test_where_a_verdict_comes_first_the_probability_is_recorded_and_not_sent(client: TestClient, store: Store) -> None:
    store.settings.set("CO", "verdict_first", ["one"])
    hidden = following(client, 1, batch="one")
    assert (hidden["arm"], hidden["probability"]) == (None, None)
    assert store.trust.showings("cv")[-1].probability > 0
    assert following(client, 2, batch="two")["probability"] > 0
    by_switch = following(client, 3, batch="two", verdict_first=True)
    assert (by_switch["arm"], by_switch["probability"]) == (None, None)
