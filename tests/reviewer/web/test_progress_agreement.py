"""Agreement of reviewers in the Progress tab: the numbers of the statistics, nothing of open rounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from reviewer.agreement.rounds import gold_agreement, round_agreement
from reviewer.rules.workflow import Rules
from reviewer.store import Store
from reviewer.web import app as server
from reviewer.web.routes.progress import GOLD
from tests.support.blind_campaign import GPT, SPEC, a_store, key, opened
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, an_item, people


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Six items: voted on alike twice, split in a finished vote, split in an open one, passed once, new."""
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.set_rules("CO", Rules(votes=3, approve_at=2, reject_at=2))
        for initials in ("VB", "VC"):
            store.add_person(initials, initials, ["reviewer"])
        desk = Desk(store)
        first, second, split, going_on, passed, _ = (an_item(store, n, label="YES") for n in range(6))
        for item in (first, second):
            desk.until(item, *TO_VOTE, ("VO", "approve"), ("VB", "approve"))
        desk.until(split, *TO_VOTE, ("VO", "approve"), ("VB", "reject"), ("VC", "abstain"))
        desk.until(going_on, *TO_VOTE, ("VO", "approve"), ("VB", "reject"))
        desk.until(passed, *TO_AUDIT, ("AU", "pass"))
        yield store


def of(client: TestClient, **query: str) -> dict:
    answer = client.get("/api/progress/agreement", params=query)
    assert answer.status_code == 200
    return answer.json()


@pytest.fixture
def client(store: Store) -> Iterator[TestClient]:
    app = server.build(store, local=True)
    with TestClient(app, base_url="http://127.0.0.1", cookies={"spec_o3_session": "alone:CO"}) as client:
        yield client


def test_rounds_are_compared_once_they_are_over(store, client) -> None:
    found = {row["round"]: row for row in of(client)["rounds"]}
    # Four items were audited by two; the one that is still in audit is not counted.
    assert (found["audit"]["raw"]["value"], found["audit"]["raw"]["n"]) == (1.0, 4)
    assert found["audit"]["alpha"]["text"] == "undefined: every decision is pass"
    votes = [("1", "VO", "approve"), ("1", "VB", "approve"), ("2", "VO", "approve"), ("2", "VB", "approve")]
    votes += [("3", "VO", "approve"), ("3", "VB", "reject"), ("3", "VC", "abstain")]
    expected = round_agreement(*zip(*votes, strict=True))
    assert found["vote"]["raw"]["value"] == expected.raw.value == pytest.approx(2 / 3)
    assert found["vote"]["alpha"]["value"] == pytest.approx(expected.alpha.value)
    assert found["vote"]["title"] == found["audit"]["title"]


def test_an_undone_decision_is_in_nothing(store, client) -> None:
    before = of(client)["rounds"]
    store.undo("VC", 3, "undo-the-vote-of-VC")
    after = {row["round"]: row for row in of(client)["rounds"]}
    # The vote on item 3 is open again, so only the two unanimous ones are left.
    assert after["vote"]["raw"]["n"] == 2
    assert before[1]["raw"]["n"] == 3


def test_where_people_differ_is_told_once_the_round_is_over(store, client) -> None:
    found = of(client)["disagreements"]
    assert found["total"] == 1
    (item,) = found["items"]
    assert (item["id"], item["state"]) == (3, "adjudication")
    assert item["said"]["vote"] == {"approve": 1, "reject": 1, "abstain": 1}
    assert of(client, task="carbon")["disagreements"] == {"total": 0, "items": []}


def test_reviewers_are_held_against_labels_of_decided_items(store, client) -> None:
    assert of(client)["gold"] == []
    for item, verdict in ((1, "YES"), (2, "NO"), (4, "NO")):
        store.commit_verdict("VC", item, store.item(item).version.id, verdict)
    store.commit_verdict("VO", 1, store.item(1).version.id, "cannot tell")
    found = of(client)
    rows = {row["person"]: row for row in found["gold"]}
    # Item 4 is in an open round: what its label is stays unknown.
    expected = gold_agreement(["1", "2"], ["YES", "NO"], ["YES", "YES"])
    assert (rows["VC"]["right"]["value"], rows["VC"]["right"]["n"]) == (expected.value, 2)
    assert (rows["VO"]["right"]["text"], rows["VO"]["cannot_tell"]) == (
        "undefined: no gold item was decided on",
        1,
    )
    assert (found["gold_meaning"], found["gold_items"]) == (GOLD, 2)


def test_a_campaign_without_decisions_says_so(tmp_path) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        app = server.build(store, local=True)
        with TestClient(app, base_url="http://127.0.0.1", cookies={"spec_o3_session": "alone:CO"}) as client:
            found = of(client)
    assert [row["round"] for row in found["rounds"]] == ["audit", "vote"]
    for row in found["rounds"]:
        for name in ("raw", "alpha"):
            why = "undefined: no text was decided on by two people in a round that is over"
            assert row[name]["text"] == why


def test_items_scored_blind_are_not_listed_for_their_scorers(tmp_path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        store.add_person("VB", "Dr VB", ["reviewer"])
        story = (("RE", "keep"), ("RE", "submit"), ("AU", "pass"), ("AX", "pass"))
        desk = Desk(store)
        desk.until(1, *story, ("VO", "approve"), ("VB", "reject"))
        total, items = store.apart()
        assert (total, [one.item for one in items]) == (1, [1])
        opened(store, scorers=("ED", "JU"), sources=(GPT, SPEC))
        app = server.build(store, local=True)
        seen = {}
        for person in ("ED", "CO"):
            cookies = {"spec_o3_session": f"alone:{person}"}
            with TestClient(app, base_url="http://127.0.0.1", cookies=cookies) as client:
                seen[person] = of(client)["disagreements"]["total"]
        store.close_blind("CO", 1, key())
    assert seen == {"ED": 0, "CO": 1}
