"""The routes of comments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer.store import Store
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import TO_AUDIT, Desk, an_item, people

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        an_item(store)
        yield store


class Browser:
    """A signed-in person's requests about one item."""

    def __init__(self, store: Store, initials: str, item: int = 1) -> None:
        self.client = client_of(store, initials)
        self.path = f"/api/v1/item/{item}"
        self.initials, self.sent = initials, 0

    def get(self, path: str = "/comments", **query: Any) -> Any:
        answer = self.client.get(self.path + path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def unread(self, **query: Any) -> Any:
        return self.client.get("/api/v1/comments/unread", params=query).json()

    def post(self, path: str = "/comments", status: int = 200, query: str = "", **body: Any) -> Any:
        self.sent += 1
        key = {} if path.endswith("read") else {"key": f"{self.initials} sends {self.sent}"}
        answer = self.client.post(f"{self.path}{path}{query}", json=key | body)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def reviser(store: Store) -> Browser:
    return Browser(store, "RE")


@pytest.fixture
def auditor(store: Store) -> Browser:
    return Browser(store, "AU")


def test_a_thread_is_begun_answered_and_resolved(store: Store, reviser: Browser, auditor: Browser) -> None:
    version = store.items.get(1).version.id
    first = reviser.post(text="Is this Hα, @AU?", step="s2", version=version)
    assert first["thread"] == first["id"]
    told = auditor.unread()
    assert (told["total"], told["newest"]) == (1, first["id"])
    (one,) = told["items"]
    assert (one["item"], one["name"], one["person"], one["text"]) == (1, "spec-0000.fits", "RE", "Is this Hα, @AU?")
    assert (one["comment"], one["mentioned"], one["hidden"]) == (first["id"], True, False)
    auditor.post(text="Yes.", thread=first["id"])
    auditor.post(f"/thread/{first['id']}", resolved=True)
    found = reviser.get()
    (thread,) = found["threads"]
    assert (thread["step"], thread["version"], thread["number"]) == ("s2", version, 1)
    assert (thread["resolved"], thread["resolved_by"]["person"]) == (True, "AU")
    assert [(c["person"], c["source"], c["text"]) for c in thread["comments"]] == [
        ("RE", "", "Is this Hα, @AU?"),
        ("AU", "", "Yes."),
    ]
    assert (found["hidden"], found["read"]) == (0, first["id"])
    assert {"initials": "AU", "name": "Dr AU"} in found["people"]
    last = thread["comments"][-1]["id"]
    assert reviser.post("/comments/read", comment=last) == {"comment": last}
    assert reviser.unread()["total"] == 0
    store.accounts.deactivate("CO", "JU")
    assert "JU" not in {person["initials"] for person in reviser.get()["people"]}


@pytest.mark.parametrize(
    ("body", "status", "kind", "message"),
    [
        ({"text": "a" * 20_001}, 422, "bad_request", "text: found 20001 characters, expected a text of 20000"),
        ({"text": "a", "key": "short"}, 422, "bad_request", "key: found 'short', expected a text of 8 characters"),
        ({"text": "a", "thread": 7}, 404, "not_found", "no thread 7"),
        ({"text": "a", "mood": "bad"}, 422, "bad_request", "mood: found 'bad', expected no such field"),
        ({}, 422, "bad_request", "text: found nothing, expected a value"),
        ({"text": "a", "thread": 2**70}, 422, "bad_request", ""),
    ],
)
def test_a_wrong_request_is_refused_with_a_reason(
    reviser: Browser, body: dict[str, Any], status: int, kind: str, message: str
) -> None:
    answer = reviser.post(status=status, **body)
    assert answer["kind"] == kind
    assert message in answer["error"]
    assert reviser.get()["threads"] == []


def test_a_judge_gets_the_number_of_hidden_comments_and_no_text(store: Store, auditor: Browser) -> None:
    Desk(store).until(1, *TO_AUDIT)
    other = Browser(store, "AX")
    other.post(text="SECRET to nobody.")
    other.post(text="SECRET to @AU.")
    found = auditor.get()
    assert (found["threads"], found["hidden"]) == ([], 2)
    listed = auditor.unread()
    assert listed["total"] == 2
    mention, plain = listed["items"]
    assert (mention["hidden"], mention["mentioned"], mention["person"], mention["text"]) == (True, True, "AX", "")
    assert (plain["hidden"], plain["mentioned"], plain["person"], plain["at"]) == (True, False, None, None)
    assert auditor.post("/comments/read", comment=99) == {"comment": 0}
    assert auditor.unread()["total"] == 2
    Desk(store).decide("AU", 1, "pass")
    assert [[c["text"] for c in t["comments"]] for t in auditor.get()["threads"]] == [
        ["SECRET to nobody."],
        ["SECRET to @AU."],
    ]
    assert auditor.unread()["items"][0]["text"] == "SECRET to @AU."


@pytest.mark.parametrize("rule", [False, True], ids=["the person's switch", "the batch's rule"])
def test_verdict_first_hides_comments_names_and_changes_nothing_else(
    store: Store, reviser: Browser, auditor: Browser, rule: bool
) -> None:
    if rule:
        store.settings.set("CO", "verdict_first", ["november"])
    query = {} if rule else {"verdict_first": "true"}
    reviser.post(text="SECRET: clearly a CV, @AU.")
    found = auditor.get(**query)
    assert (found["threads"], found["hidden"]) == ([], 1)
    (one,) = auditor.unread(**query)["items"]
    assert (one["name"], one["text"], one["hidden"]) == ("item 1", "", True)
    text = "?verdict_first=true" if query else ""
    auditor.post(query=text, text="I see nothing.")
    assert [[c["text"] for c in t["comments"]] for t in auditor.get(**query)["threads"]] == [["I see nothing."]]
    # One's own comment does not mark the hidden one as read.
    assert auditor.unread(**query)["total"] == 1
    version = store.items.get(1).version.id
    auditor.client.post(f"{auditor.path}/verdict", json={"version": version, "verdict": "NO"})
    assert auditor.get(**query)["hidden"] == 0
    assert auditor.unread(**query)["items"][0]["text"] == "SECRET: clearly a CV, @AU."


def test_the_list_of_unread_comments_has_a_limit(reviser: Browser, auditor: Browser) -> None:
    auditor.post(text="Take part.")
    for number in range(3):
        reviser.post(text=f"Number {number}.")
    found = auditor.unread(limit=2)
    assert ([one["text"] for one in found["items"]], found["total"]) == (["Number 2.", "Number 1."], 3)
    assert auditor.client.get("/api/v1/comments/unread?limit=1000").status_code == 422
