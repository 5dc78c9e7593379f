"""Bulk actions over HTTP: previews, actions, refusals, and undo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import Store
from tests.reviewer.web.conftest import client_of
from tests.support.blind_campaign import drawn
from tests.support.campaign import TO_VOTE, Desk, an_item, people

pytestmark = pytest.mark.usefixtures("without_page")

REJECT = {"kind": "reject", "reason": "bad_data", "comment": "Sky lines."}
ALL = {"filter": {"batch": "november"}}
Browsers = dict[str, TestClient]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        for number in range(4):
            an_item(store, number)
        yield store


@pytest.fixture
def browsers(store: Store) -> Browsers:
    app = server.build(store, local=True)
    return {who: client_of(app, who) for who in ("CO", "RE", "VO")}


def preview(browser: TestClient, selection: dict[str, Any], action: dict[str, Any]) -> Any:
    answer = browser.post("/api/v1/bulk/preview", json={"selection": selection, "action": action})
    assert answer.status_code == 200, answer.text
    return answer.json()


def apply(browser: TestClient, selection: dict[str, Any], action: dict[str, Any], token: str, key: str) -> Any:
    sent = {"selection": selection, "action": action, "token": token, "key": key}
    return browser.post("/api/v1/bulk", json=sent)


def test_a_selection_is_rejected_and_brought_back(store: Store, browsers: Browsers) -> None:
    selection = {**ALL, "without": [2]}
    shown = preview(browsers["RE"], selection, REJECT)
    token = shown.pop("token")
    assert shown == {"items": 3, "changes": [{"from": "screening", "to": "rejected", "items": 3}], "left_out": []}
    done = apply(browsers["RE"], selection, REJECT, token, "first-key")
    assert done.status_code == 200
    assert done.json()["items"] == 3
    assert [store.items.standing(item).state for item in (1, 2, 3, 4)] == ["rejected", "screening"] + 2 * ["rejected"]
    assert apply(browsers["RE"], selection, REJECT, token, "first-key").json() == done.json()
    number = done.json()["id"]
    listed = {who: browsers[who].get("/api/v1/bulk").json()["actions"] for who in browsers}
    assert listed["RE"] == [done.json()]
    assert (listed["RE"][0]["details"], listed["RE"][0]["may_undo"]) == (
        {"reason": "bad_data", "comment": "Sky lines."},
        True,
    )
    # Others may still judge the items.
    assert (listed["CO"][0]["details"], listed["CO"][0]["may_undo"]) == ({}, False)
    refused = browsers["CO"].post(f"/api/v1/bulk/{number}/undo", json={"key": "undo-key"})
    assert (refused.status_code, refused.json()["kind"]) == (403, "not_allowed")
    undone = browsers["RE"].post(f"/api/v1/bulk/{number}/undo", json={"key": "undo-key"})
    assert (undone.status_code, undone.json()["undoes"]) == (200, number)
    assert {store.items.standing(item).state for item in (1, 2, 3, 4)} == {"screening"}
    assert [action["undone"] for action in browsers["CO"].get("/api/v1/bulk").json()["actions"]] == [None, number + 1]


def test_a_rejection_by_another_person_is_listed_once_its_round_is_over(store: Store, browsers: Browsers) -> None:
    def listed(who: str) -> list[str]:
        return [action["kind"] for action in browsers[who].get("/api/v1/bulk").json()["actions"]]

    desk = Desk(store)
    for item in (1, 2):
        desk.until(item, *TO_VOTE)
    token = preview(browsers["CO"], {"items": [1, 2]}, REJECT)["token"]
    done = apply(browsers["CO"], {"items": [1, 2]}, REJECT, token, "first-key").json()
    # VO votes on the items too.
    assert (listed("CO"), listed("VO"), listed("RE")) == (["reject"], [], [])
    browsers["CO"].post(f"/api/v1/bulk/{done['id']}/undo", json={"key": "undo-key"})
    assert (listed("CO"), listed("VO")) == (["undo", "reject"], [])
    token = preview(browsers["CO"], {"items": [1, 2]}, REJECT)["token"]
    apply(browsers["CO"], {"items": [1, 2]}, REJECT, token, "second-key")
    desk.decide("VO", 1, "reject", reason="bad_data")
    assert listed("VO") == []
    desk.decide("VO", 2, "reject", reason="bad_data")
    assert store.items.standing(2).state == "rejected"
    assert listed("VO") == ["reject", "undo", "reject"]


def test_a_selection_that_has_changed_is_refused_with_the_new_preview(store: Store, browsers: Browsers) -> None:
    token = preview(browsers["RE"], ALL, REJECT)["token"]
    Desk(store).decide("VO", 1, "keep")
    answer = apply(browsers["RE"], ALL, REJECT, token, "first-key")
    assert (answer.status_code, answer.json()["kind"]) == (409, "selection_changed")
    now = answer.json()["detail"]["preview"]
    assert now == preview(browsers["RE"], ALL, REJECT)
    assert now["token"] != token
    assert store.bulk.actions() == []
    assert apply(browsers["RE"], ALL, REJECT, now["token"], "first-key").json()["items"] == 4
    other = apply(browsers["RE"], ALL, {**REJECT, "comment": ""}, now["token"], "first-key")
    assert (other.status_code, other.json()["kind"]) == (409, "key_reused")


def test_coordinators_assign_items_and_set_batches(store: Store, browsers: Browsers) -> None:
    assign, batch = {"kind": "assign", "people": ["RE", "VO"]}, {"kind": "batch", "batch": "december"}
    for action in (assign, {**assign, "kind": "unassign"}, batch):
        answer = browsers["RE"].post("/api/v1/bulk/preview", json={"selection": {"items": [1]}, "action": action})
        assert (answer.status_code, answer.json()["kind"]) == (403, "not_allowed")
    shown = preview(browsers["CO"], {"items": [1, 2]}, assign)
    assert shown["changes"] == [{"from": "", "to": "RE, VO", "items": 2}]
    done = apply(browsers["CO"], {"items": [1, 2]}, assign, shown["token"], "assign-key").json()
    assert done["may_undo"]
    assert browsers["RE"].get("/api/v1/item/1").json()["assigned"] == ["RE", "VO"]
    assert browsers["RE"].get("/api/v1/item/3").json()["assigned"] == []
    assert browsers["RE"].get("/api/v1/progress").json()["assigned"] == {"RE": {"screening": 2}, "VO": {"screening": 2}}
    shown = preview(browsers["CO"], {"items": [1]}, batch)
    apply(browsers["CO"], {"items": [1]}, batch, shown["token"], "batch-key")
    assert browsers["RE"].get("/api/v1/item/1").json()["row"]["batch"] == "december"


def test_items_of_a_blind_session_are_left_out(store: Store, browsers: Browsers) -> None:
    drawn(store, items=(1, 2), each=2, scorers=("RE", "AU"))
    by_filter = preview(browsers["RE"], ALL, REJECT)
    assert (by_filter["items"], by_filter["left_out"]) == (2, [])
    named = preview(browsers["RE"], {"items": [1, 2, 3]}, REJECT)
    (left_out,) = named["left_out"]
    assert (named["items"], left_out["items"], left_out["first"]) == (1, 2, [])
    assert "blind session" in left_out["why"]


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"selection": ALL, "action": {"kind": "approve"}}, "action"),
        ({"selection": ALL, "action": {"kind": "batch", "batch": "x" * 201}}, "action.batch.batch"),
        ({"selection": ALL, "action": {"kind": "assign", "people": ["RE"], "reason": "x"}}, "action.assign.reason"),
        ({"selection": {}, "action": REJECT}, "selection"),
        ({"action": REJECT}, "selection"),
    ],
)
def test_other_requests_are_refused_by_field(browsers: Browsers, sent: dict[str, Any], field: str) -> None:
    answer = browsers["CO"].post("/api/v1/bulk/preview", json=sent)
    assert (answer.status_code, answer.json()["kind"]) == (422, "bad_request")
    assert answer.json()["error"].startswith(f"{field}: ")


def test_what_is_wrong_with_an_action_is_said(browsers: Browsers) -> None:
    for action, status, message in (
        ({"kind": "reject", "reason": "other"}, 403, "needs a comment"),
        ({"kind": "assign", "people": ["XX"]}, 404, "nobody with the initials"),
    ):
        answer = browsers["CO"].post("/api/v1/bulk/preview", json={"selection": ALL, "action": action})
        assert answer.status_code == status
        assert message in answer.json()["error"]
    assert browsers["CO"].get("/api/v1/bulk?limit=0").status_code == 422
    assert browsers["CO"].post("/api/v1/bulk/9/undo", json={"key": "undo-key"}).status_code == 404
