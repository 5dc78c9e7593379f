"""The audit log on the page: what it shows, what it hides, and its verification."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from reviewer.store import Store
from reviewer.web import app as server
from reviewer.web.routes.audit import PAGE, Check
from tests.support.campaign import Desk, an_item, people

HERE = "http://127.0.0.1:7860"


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.accounts.set_password("CO", "CO", "correct horse")
        yield store


@pytest.fixture
def client(store: Store) -> TestClient:
    client = TestClient(server.build(store, local=True), base_url=HERE)
    client.post("/sign-in", data={"initials": "CO", "password": "correct horse"})
    return client


def test_no_decision_mark_or_verdict_of_another_person_is_in_the_answer(store: Store, client: TestClient) -> None:
    item = an_item(store)
    Desk(store).until(item, ("RE", "keep"))
    version = store.items.get(item).version
    store.marks.add(
        person="RE",
        item_id=item,
        version_id=version.id,
        step_id=version.trajectory.steps[0].id,
        mark="hallucinated feature",
        key="a key for one mark",
        note="a secret note",
    )
    answer = client.get(f"/api/v1/log?item={item}")
    assert [entry["what"] for entry in answer.json()["entries"]][:2] == ["marked", "decided"]
    decided = answer.json()["entries"][1]
    assert (decided["person"], decided["subject"], decided["details"]) == ("RE", f"item {item}", {"round": "screening"})
    for secret in ("keep", "hallucinated", "a secret note", "facts", "testclient"):
        assert secret not in answer.text


def test_entries_come_newest_first_by_page_person_kind_and_item(store: Store, client: TestClient) -> None:
    items = [an_item(store, number) for number in range(3)]
    with store.database.write() as db:
        for number in range(PAGE + 10):
            store.database.log(db, "RE", "noted", f"item {items[number % 2]}")
        store.database.log(db, "RE", "items added", f"items {items[0]} to {items[1]}", {"count": 2})
    first = client.get("/api/v1/log").json()
    numbers = [entry["number"] for entry in first["entries"]]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) == PAGE
    second = client.get(f"/api/v1/log?before={first['next']}").json()
    assert second["entries"][0]["number"] == numbers[-1] - 1
    assert second["next"] is None
    assert {entry["what"] for entry in client.get("/api/v1/log?what=noted&who=RE").json()["entries"]} == {"noted"}
    assert client.get("/api/v1/log?who=XX").json()["entries"] == []
    about = [entry["subject"] for entry in client.get(f"/api/v1/log?item={items[1]}").json()["entries"]]
    assert about[0] == f"items {items[0]} to {items[1]}"
    assert set(about[1:-1]) == {f"item {items[1]}"}
    about = [entry["subject"] for entry in client.get(f"/api/v1/log?item={items[2]}").json()["entries"]]
    assert all(str(items[2]) in subject for subject in about)


def test_verifying_finds_a_decision_that_another_program_changed(store: Store, client: TestClient) -> None:
    item = an_item(store)
    Desk(store).until(item, ("RE", "keep"))
    good = client.post("/api/v1/log/check", json={}).json()
    assert good["faults"] == []
    assert good["entries"] == store.log.head().number
    with sqlite3.connect(store.path) as other:
        for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            other.execute(f"DROP TRIGGER {name}")
        other.execute("UPDATE decisions SET verb = 'reject'")
    bad = client.post("/api/v1/log/check", json={}).json()
    assert any("decisions" in fault and "was changed" in fault for fault in bad["faults"])


def test_the_log_is_verified_once_at_a_time(store: Store, client: TestClient) -> None:
    running: Check = client.app.state.audit_check  # type: ignore[attr-defined]
    with running._running:
        answer = client.post("/api/v1/log/check", json={})
    assert (answer.status_code, answer.json()["kind"]) == (409, "busy")
    assert client.post("/api/v1/log/check", json={}).status_code == 200
