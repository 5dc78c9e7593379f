"""The opening of an item in one answer, by itself and in the answer of a decision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from reviewer.web.routes import opening as opening_routes
from tests.reviewer.web.conftest import client_of
from tests.reviewer.web.test_review_api import drafted

pytestmark = pytest.mark.usefixtures("without_page")

MINE = {"mine": "true"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("RW", ["reviewer"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        for seed in (1, 2, 3):
            trajectory, spectrum = drafted(seed)
            store.items.add(trajectory, store.spectra.add(spectrum), batch="tests")
        yield store


@pytest.fixture
def app(store: Store) -> Any:
    return server.build(store, local=True)


@pytest.fixture
def client(app: Any) -> TestClient:
    return client_of(app, "RV")


def opening(client: TestClient, item: int, **query: Any) -> dict[str, Any]:
    answer = client.get(f"/api/v1/item/{item}/opening", params=query)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def keep(client: TestClient, item: int, opens: dict[str, Any] | None = None, **more: Any) -> Any:
    version = client.get(f"/api/v1/item/{item}").json()["version"]["id"]
    body = {"version": version, "verb": "keep", "key": f"keep-{item}-{id(client)}", "opens": opens, **more}
    return client.post(f"/api/v1/item/{item}/decide", json=body)


def test_an_opening_is_what_the_single_routes_answer(client: TestClient, app: Any, store: Store) -> None:
    store.comments.add(person="RW", item_id=2, text="A remark for @RV.", key="remark-one", answer_hidden=False)
    client.get("/api/v1/item/2/checks")
    shown = opening(client, 2, **MINE)
    assert shown["item"] == client.get("/api/v1/item/2").json()
    assert shown["place"] == {"next": [3], "back": [1], "before": 1}
    assert shown["place"] == client.get("/api/v1/place/2", params=MINE).json()
    assert shown["comments"] == client.get("/api/v1/item/2/comments").json()
    assert shown["others"] == client.get("/api/v1/item/2/others").json()["others"]
    assert shown["unread"] == client.get("/api/v1/comments/unread").json()
    assert shown["unread"]["total"] == 1
    assert shown["stamp"] == client.get("/api/v1/queue/stamp").json()["stamp"]
    steps = shown["item"]["trajectory"]["steps"]
    texts = client.post("/api/v1/item/2/statements", json={"steps": steps}).json()
    assert shown["checks"] == {**client.get("/api/v1/item/2/hints").json(), **texts}
    assert shown["held"] is None
    store.leases.take("RW", 1)
    held = opening(client, 1)["held"]
    assert held["message"] == "RW is working on this item."
    assert held["until"].endswith("+00:00")


def test_an_opening_does_not_wait_for_measurements(client: TestClient) -> None:
    assert opening(client, 1)["checks"] is None
    measured = client.get("/api/v1/item/1/checks").json()
    assert measured["hints"].keys() == {"s2", "s4"}
    assert opening(client, 1)["checks"] == measured
    # They are kept for each language.
    assert client.get("/api/v1/item/1/checks", headers={"Accept-Language": "zh"}).json() != measured
    assert client.get("/api/v1/item/1/checks").json() == measured


def test_the_opening_of_a_hidden_item_tells_nothing_of_its_answer(client: TestClient) -> None:
    client.get("/api/v1/item/1/checks")
    shown = opening(client, 1, verdict_first=True)
    assert shown["item"]["hidden"]
    assert (shown["checks"], shown["others"]) == (None, [])
    nothing = {"hints": {}, "spans": {}, "disagreements": []}
    assert client.get("/api/v1/item/1/checks", params={"verdict_first": True}).json() == nothing
    following = keep(client, 1, {"item": 2, "verdict_first": True}).json()["opening"]
    assert following["item"]["hidden"]
    assert "answer" not in {step["kind"] for step in following["item"]["trajectory"]["steps"]}


def test_a_decision_takes_its_lease_and_brings_the_next_item(client: TestClient, store: Store) -> None:
    answer = keep(client, 1, {"item": 2, "filter": MINE}).json()
    assert (answer["state"], answer["listed"]) == ("revision", True)
    assert answer["opening"] == opening(client, 2, **MINE)
    assert store.leases.take("RW", 1).person == "RW"
    screening = {"item": 3, "filter": {"state": ["screening"]}}
    assert keep(client, 2, screening).json()["listed"] is False


def test_a_decision_that_is_sent_again_brings_the_next_item_again(client: TestClient, store: Store) -> None:
    first, again = (keep(client, 1, {"item": 2, "filter": MINE}).json() for _ in range(2))
    assert first == again
    assert len(store.items.history(1)) == 1
    assert keep(client, 2).json().keys() == {"state", "progress", "done", "needed", "stamp"}, "without a next item"


@pytest.mark.parametrize("item", [99, 2])
def test_a_next_item_that_cannot_be_opened_does_not_refuse_the_decision(
    client: TestClient, store: Store, item: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no comments")

    if item == 2:
        monkeypatch.setattr(opening_routes.comments, "comments", broken)
    answer = keep(client, 1, {"item": item, "filter": MINE})
    assert (answer.status_code, answer.json()["state"]) == (200, "revision")
    assert "opening" not in answer.json()
    assert len(store.items.history(1)) == 1
