"""POST /api/v1/next: the next item by value of information, and what is sent of its choice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.blind.plan import Plan as BlindPlan
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, ScoreRow, Store
from tests.support.campaign import a_spectrum, a_trajectory

PASSWORD = "correct horse"
ITEMS = range(1, 6)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Five items of one task with P(YES), the first two in the batch ``one``."""
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("RW", ["reviewer"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles, password=PASSWORD)
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
    return sign_in(store, "RV")


def sign_in(store: Store, initials: str) -> TestClient:
    client = TestClient(server.build(store, local=True), base_url="http://127.0.0.1", follow_redirects=False)
    assert client.post("/sign-in", data={"initials": initials, "password": PASSWORD}).status_code == 303
    return client


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
    other = sign_in(store, "RW").post("/api/v1/next", json={"key": "the key no. 000001", "shown": 3})
    assert 400 <= other.status_code < 500


def test_the_open_item_is_not_chosen(client: TestClient) -> None:
    assert {following(client, key, shown=1, batch="one")["id"] for key in range(5)} == {2}


def test_without_an_item_nothing_is_recorded(client: TestClient, store: Store) -> None:
    assert following(client, 1, batch="none") == {"id": None, "arm": None, "probability": None}
    assert store.trust.showings("cv") == []


def test_items_of_several_tasks_need_a_filter(client: TestClient, store: Store) -> None:
    spectrum = a_spectrum("other.fits")
    store.items.add(a_trajectory(spectrum, task="agn"), spectrum)
    refused = client.post("/api/v1/next", json={"key": "the key no. 000001"})
    assert refused.status_code == 403
    assert "choose a class in the filter" in refused.json()["error"]
    assert following(client, 2, task="cv")["id"] in ITEMS


def test_an_item_of_an_open_blind_session_is_not_chosen(client: TestClient, store: Store) -> None:
    session = store.blind.sessions.create("CO", BlindPlan("x", ("RV", "RW"), items=(1, 2, 3), each=2), "the first key")
    store.blind.sessions.open("CO", session.id, "the second key")
    assert {following(client, key)["id"] for key in range(30)} == {4, 5}


def test_where_a_verdict_comes_first_the_probability_is_recorded_and_not_sent(client: TestClient, store: Store) -> None:
    store.settings.set("CO", "verdict_first", ["one"])
    hidden = following(client, 1, batch="one")
    assert (hidden["arm"], hidden["probability"]) == (None, None)
    assert store.trust.showings("cv")[-1].probability > 0
    assert following(client, 2, batch="two")["probability"] > 0
    by_switch = following(client, 3, batch="two", verdict_first=True)
    assert (by_switch["arm"], by_switch["probability"]) == (None, None)
