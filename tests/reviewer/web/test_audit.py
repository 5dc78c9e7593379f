"""The audit log on the page: what it shows, what it hides, and its verification."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from reviewer.store import Store
from reviewer.store.team.actions import Assign, Reject, SetBatch
from reviewer.store.team.imported import ImportedComment
from reviewer.web.routes.audit import PAGE, Check
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import Desk, an_item, people, stopped_webhook

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


@pytest.fixture
def client(store: Store) -> TestClient:
    return client_of(store, "CO")


def test_no_decision_mark_or_verdict_of_another_person_is_in_the_answer(store: Store, client: TestClient) -> None:
    item = an_item(store)
    Desk(store).until(item, ("RE", "keep"))
    Desk(store).mark("RE", item, mark="hallucinated feature", note="a secret note")
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


def test_verifying_finds_a_decision_that_another_program_changed_and_runs_once_at_a_time(
    store: Store, client: TestClient
) -> None:
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
    running: Check = client.app.state.audit_check  # type: ignore[attr-defined]
    with running._running:
        answer = client.post("/api/v1/log/check", json={})
    assert (answer.status_code, answer.json()["kind"]) == (409, "busy")
    assert client.post("/api/v1/log/check", json={}).status_code == 200


def test_what_people_do_together_is_said_in_one_line_that_tells_no_judgement(store: Store, client: TestClient) -> None:
    for number in range(4):
        an_item(store, number)
    begin = store.log.head().number
    thread = store.comments.add(person="RE", item_id=2, text="A sky line?", key="a new comment", step="s2").id
    store.comments.add(person="AU", item_id=2, text="Yes.", key="a reply to it", thread=thread)
    store.comments.set_resolved(person="AU", item_id=2, thread=thread, resolved=True, key="it is resolved")
    store.comments.add(person="RE", item_id=3, text="Noisy.", key="another comment")
    store.imported_comments.add([ImportedComment(n, "Argilla", "NO", None, f"import {n}") for n in (1, 3)], "CO")
    for action in (Assign(("RE", "VO")), Assign(("VO",), False), SetBatch("December"), Reject("bad_data", "Sky.")):
        token = store.bulk.preview("CO", [1, 3], action).token
        done = store.bulk.apply("CO", [1, 3], action, token, f"key {action.kind}")
    store.bulk.undo("CO", done.id, "key of the undo")
    token, _ = store.tokens.make("RE", "my laptop", True, None)
    store.tokens.revoke("CO", token.id)
    store.webhooks.add("CO", "https://example.org/a/secret/path", ["approved", "exported"])
    store.webhooks.delete("CO", 1)
    store.webhooks.start("CO", stopped_webhook(store))
    store.views.create(person="RE", name="mine", items=[1, 2])
    answer = client.get("/api/v1/log")
    entries = [
        (entry["person"], entry["what"], entry["subject"], entry["text"])
        for entry in answer.json()["entries"][::-1]
        if entry["number"] > begin and entry["what"] != "exported"
    ]
    assert entries == [
        ("RE", "commented", "item 2", "on step s2"),
        ("AU", "commented", "item 2", f"a reply in thread {thread}"),
        ("AU", "thread resolved", "item 2", f"thread {thread}"),
        ("RE", "commented", "item 3", "on the whole item"),
        ("CO", "comments imported", "items 1 to 3", "2 comments"),
        ("CO", "items assigned", "items 1 to 3", "action 1: 2 items, to RE, VO"),
        ("CO", "items unassigned", "items 1 to 3", "action 2: 2 items, from VO"),
        ("CO", "batch set", "items 1 to 3", "action 3: 2 items, into the batch December"),
        ("CO", "items decided", "items 1 to 3", "action 4: 2 items"),
        ("CO", "bulk action undone", "items 1 to 3", "action 5: 2 items of action 4"),
        ("RE", "token made", "RE", "“my laptop”, reads and writes, without an end"),
        ("CO", "token revoked", "RE", "“my laptop”"),
        ("CO", "webhook added", "webhook 1", "to example.org: approved, exported"),
        ("CO", "webhook deleted", "webhook 1", "to example.org"),
        ("CO", "webhook added", "webhook 2", "to example.org: exported"),
        (None, "webhook stopped", "webhook 2", "to example.org, with 1 event that still waited"),
        ("CO", "webhook started", "webhook 2", "to example.org"),
        ("RE", "view created", "view 1", "a list of 2 items"),
    ]
    for secret in ("reject", "bad_data", "Sky", "secret", "Noisy", "mine"):
        assert secret not in answer.text
