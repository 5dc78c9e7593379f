"""Search of texts, views and selections over HTTP."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError

from reviewer import server
from reviewer.blind.plan import Filter as PlanFilter
from reviewer.blind.plan import Plan
from reviewer.store import NotAllowed, NotFound, QueueFilter, Store
from reviewer.store import Selection as ItemSelection
from reviewer.store.team import views
from reviewer.web import requests, visibility
from reviewer.web.requests import Filter, Selection
from reviewer.web.visibility import VisibleItems
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import PEOPLE, Desk, a_spectrum, a_trajectory, people

pytestmark = pytest.mark.usefixtures("without_page")

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


def test_the_filter_of_a_view_has_the_parameters_of_the_queue_and_their_meaning() -> None:
    parameters = set(inspect.signature(requests.queue_filter).parameters)
    assert parameters == set(Filter.model_fields)
    assert parameters - {"state"} | {"states", *FOR_THE_PERSON} == {field.name for field in fields(QueueFilter)}
    sent = {"task": "cv", "state": ["screening"], "snr_min": 2.5, "batch": "", "words": "Hα", "listed": 3, "mine": True}
    assert Filter.model_validate(sent).query() == requests.queue_filter(**sent)  # type: ignore[arg-type]
    assert Filter().query() == requests.queue_filter() == QueueFilter()


def test_a_selection_names_items_or_is_a_filter_without_some_and_has_a_limit(
    visible: VisibleItems, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert visible.selected(Selection(items=[3, 1, 3])) == [1, 3]
    with pytest.raises(NotFound, match="no item 99"):
        visible.selected(Selection(items=[99, 1]))
    assert visible.selected(Selection(filter=Filter(batch="even"))) == [1, 3, 5]
    assert visible.selected(Selection(filter=Filter(batch="even"), without=[3, 4])) == [1, 5]
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


def test_rows_keep_the_order_in_which_they_are_named_and_are_those_of_the_queue(
    store: Store, visible: VisibleItems
) -> None:
    assert [row.id for row in visible.rows_of([3, 99, 1])] == [3, 1]
    assert visible.rows_of([]) == []
    from_queue = {row.id: row for row in visible.rows(QueueFilter(), None, 10)[0]}
    assert visible.rows_of([2]) == [from_queue[2]]
    store.withdrawals.withdraw("CO", ItemSelection(first=2, last=2))
    assert [row.id for row in visible.rows_of([1, 2, 3])] == [1, 3]
    assert [row.id for row in visible.rows_of([1, 2, 3], withdrawn=True)] == [1, 2, 3]


def test_rows_of_withheld_and_hidden_items_do_not_name_them(store: Store, visible: VisibleItems) -> None:
    name = visible.rows_of([2])[0].name
    (hidden,) = VisibleItems(store, store.accounts.person("RE"), True).rows_of([2])
    assert (hidden.hidden, hidden.name == name) == (True, False)
    visible.items = frozenset({2})
    (withheld,) = visible.rows_of([2])
    assert withheld.blind
    assert name not in map(str, withheld.model_dump().values())


# ---- over HTTP


@pytest.fixture
def several(store: Store, visible: VisibleItems) -> Store:
    """Five items; RE kept the second one with a comment."""
    Desk(store).decide("RE", 2, "keep", comment="A nebula behind it, “很宽”.")
    return store


@pytest.fixture
def of(several: Store) -> Callable[[str], TestClient]:
    """The browsers of people."""
    app = server.build(several, local=True)
    return cache(lambda initials: client_of(app, initials))


Client = Callable[[str], TestClient]


def ids(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert len(found["rows"]) == found["total"]
    return [row["id"] for row in found["rows"]]


def listed(client: TestClient, items: list[int], name: str = "a list", **other: object) -> dict[str, Any]:
    answer = client.post("/api/v1/views", json={"name": name, "selection": {"items": items}, **other})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_found_items_have_the_rows_of_the_queue_and_snippets(of: Client) -> None:
    found = of("VO").get("/api/v1/find", params={"words": '"double peaked" hα', "after": 2, "limit": 2}).json()
    queue = of("VO").get("/api/v1/queue", params={"words": '"double peaked" hα', "after": 2, "limit": 2}).json()
    assert [row.pop("snippets")[1] for row in found["rows"]] == [
        {"where": "trace", "step": "s2", "text": "Hα", "hits": [[0, 2]]}
    ] * 2
    assert found == queue
    assert (found["total"], [row["id"] for row in found["rows"]]) == (5, [3, 4])
    (row,) = of("VO").get("/api/v1/find", params={"words": "宽 nebula"}).json()["rows"]
    text = "A nebula behind it, “很宽”."
    assert row["snippets"] == [{"where": "comment", "step": "", "text": text, "hits": [[2, 8], [22, 23]]}]
    assert of("VO").get("/api/v1/find", params={"task": "cv"}).json()["rows"][0]["snippets"] == []


def test_a_search_for_nothing_is_refused_in_words(of: Client) -> None:
    for words, message in (("-nebula", "Add a word"), ("e*", "three letters"), ("?!", "no letter and no digit")):
        for path in ("/api/v1/find", "/api/v1/queue", "/api/v1/place/1", "/api/v1/first"):
            answer = of("VO").get(path, params={"words": words})
            assert (answer.status_code, answer.json()["kind"]) == (422, "bad_search"), path
            assert message in answer.json()["error"]


def test_next_and_previous_items_are_those_of_the_search(of: Client) -> None:
    assert of("VO").get("/api/v1/place/2", params={"words": "nebula"}).json() == {"next": [], "back": [], "before": 0}
    assert of("VO").get("/api/v1/place/3", params={"words": "nebula"}).json()["back"] == [2]
    assert of("VO").get("/api/v1/first", params={"words": "nebula"}).json()["id"] == 2
    assert of("VO").get("/api/v1/first", params={"words": "galaxy"}).json()["id"] is None


@pytest.mark.parametrize("way", ["the person's switch", "the batch's rule"])
def test_what_is_hidden_until_the_own_verdict_is_not_found(of: Client, several: Store, way: str) -> None:
    query = {"words": "double"}
    if way == "the batch's rule":
        several.settings.set("CO", "verdict_first", ["even", "odd"])
    else:
        query["verdict_first"] = "true"
    assert ids(of("VO").get("/api/v1/find", params=query)) == []
    assert ids(of("VO").get("/api/v1/queue", params={**query, "words": "nebula"})) == []
    assert ids(of("RE").get("/api/v1/find", params={**query, "words": "nebula"})) == [2], "one's own remark"
    version = several.items.get(3).version.id
    several.marks.commit_verdict(person="VO", item_id=3, version_id=version, verdict="NO")
    (row,) = of("VO").get("/api/v1/find", params=query).json()["rows"]
    assert (row["id"], row.get("hidden", False), len(row["snippets"])) == (3, False, 1)
    assert ids(of("RE").get("/api/v1/queue", params={**query, "words": "double -nebula"})) == []


def test_what_somebody_scores_blind_is_not_found(of: Client, several: Store) -> None:
    with several.database.write() as db:
        db.execute("INSERT INTO assigned SELECT 'RE', id FROM items")
    view = listed(of("CO"), [1, 2, 3], shared=True)
    plan = Plan("two", ("RE", "AU"), items=(3, 4), each=2)
    several.blind.sessions.open("CO", several.blind.sessions.create("CO", plan, uuid4().hex).id, uuid4().hex)
    for query in ({"words": "double"}, {"assigned": "RE"}, {"listed": view["id"]}, {"words": "double", "text": "#3"}):
        found = ids(of("CO").get("/api/v1/find", params=query))
        assert ids(of("RE").get("/api/v1/find", params=query)) == [item for item in found if item not in (3, 4)]
        assert 3 in found
        assert ids(of("RE").get("/api/v1/queue", params=query)) == [item for item in found if item not in (3, 4)]
    assert 3 not in of("RE").get("/api/v1/place/1", params={"words": "double"}).json()["next"]
    shown = {row["id"]: row for row in of("RE").get("/api/v1/queue").json()["rows"]}
    assert (shown[3]["assigned"], shown[3]["blind"], shown[1]["assigned"]) == ([], True, ["RE"])


def test_rows_say_who_is_assigned_and_what_is_said(of: Client, several: Store) -> None:
    with several.database.write() as db:
        db.execute("INSERT INTO assigned VALUES ('VO', 1), ('AU', 1), ('VO', 3)")
    first = several.comments.add(person="AU", item_id=1, text="Look here, @VO.", key=uuid4().hex)
    several.comments.add(person="VO", item_id=1, text="Why?", key=uuid4().hex, thread=first.id)
    several.comments.add(person="RE", item_id=1, text="Because.", key=uuid4().hex, thread=first.id)
    for path in ("/api/v1/queue", "/api/v1/find"):
        rows = {row["id"]: row for row in of("VO").get(path).json()["rows"]}
        assert {i: (row["assigned"], row["comments"], row["unread"]) for i, row in rows.items()} == {
            1: (["AU", "VO"], 3, True),
            2: ([], 0, False),
            3: (["VO"], 0, False),
            4: ([], 0, False),
            5: ([], 0, False),
        }
    assert of("RE").get("/api/v1/queue").json()["rows"][0]["unread"] is False
    facets = of("VO").get("/api/v1/facets").json()
    assert facets["assigned"] == list(facets["names"]) == sorted(PEOPLE)
    assert facets["names"]["VO"] == several.accounts.person("VO").name
    # Whoever has left stays among the names as long as items are assigned to them.
    for initials in ("AU", "JU"):
        several.accounts.deactivate(None, initials)
    left = of("VO").get("/api/v1/facets").json()
    assert left["assigned"] == sorted(set(PEOPLE) - {"AU", "JU"})
    assert set(left["names"]) == set(PEOPLE) - {"JU"}
    assert ids(of("VO").get("/api/v1/find", params={"assigned": "VO"})) == [1, 3]
    assert ids(of("VO").get("/api/v1/find", params={"assigned": "nobody"})) == [2, 4, 5]
    assert ids(of("VO").get("/api/v1/find", params={"words": "because"})) == [1]
    discussed = [
        ids(of("VO").get("/api/v1/find", params={"discussed": kind})) for kind in ("open", "mentioned", "unread")
    ]
    assert discussed == [[1]] * 3
    assert ids(of("CO").get("/api/v1/find", params={"discussed": "mentioned"})) == []


# ---- views


def test_a_list_is_a_filter_of_the_queue(of: Client) -> None:
    view = listed(of("VO"), [5, 1, 4])
    assert view == {"id": 1, "name": "a list", "person": "VO", "shared": False, "filter": {}, "items": 3}
    assert ids(of("VO").get("/api/v1/queue", params={"listed": 1})) == [1, 4, 5]
    assert of("VO").get("/api/v1/place/1", params={"listed": 1}).json()["next"] == [4, 5]
    assert ids(of("VO").get("/api/v1/find", params={"listed": 1, "words": "double", "batch": "odd"})) == [4]
    changed = of("VO").post("/api/v1/views/1", json={"selection": {"filter": {"listed": 1}, "without": [4]}})
    assert changed.json()["items"] == 2
    assert ids(of("VO").get("/api/v1/queue", params={"listed": 1})) == [1, 5]


def test_a_view_of_a_filter_keeps_it_as_it_was_sent(of: Client) -> None:
    sent = {"words": '"double peaked" -nova', "state": ["audit", "vote"], "snr_min": 3.5, "mine": True, "text": ""}
    made = of("VO").post("/api/v1/views", json={"name": " Double  peaks ", "filter": sent, "shared": True}).json()
    assert (made["name"], made["items"], made["shared"]) == ("Double peaks", None, True)
    assert made["filter"] == {name: value for name, value in sent.items() if value}
    assert of("RE").get("/api/v1/views/1").json() == made
    assert of("RE").get("/api/v1/views").json() == [made]
    refused = of("RE").get("/api/v1/queue", params={"listed": 1})
    assert (refused.status_code, refused.json()["error"]) == (
        403,
        "View 1 (Double peaks) is a filter, expected a list of items.",
    )


def test_other_views_are_refused(of: Client) -> None:
    for sent in (
        {"name": "x"},
        {"name": "", "filter": {}},
        {"name": "x" * 201, "filter": {}},
        {"name": "x", "filter": {"colour": "red"}},
        {"name": "x", "filter": {"state": ["nowhere"]}},
        {"name": "x", "filter": {}, "selection": {"items": [1]}},
    ):
        assert of("VO").post("/api/v1/views", json=sent).status_code == 422, sent
    assert of("VO").get("/api/v1/views").json() == []


def test_views_belong_to_people(of: Client, several: Store) -> None:
    private, shared = listed(of("VO"), [1, 2]), listed(of("VO"), [2, 3], "shared", shared=True)
    own = listed(of("RE"), [4])
    assert of("RE").get("/api/v1/views").json() == [own, shared]
    for answer in (
        of("RE").get(f"/api/v1/views/{private['id']}"),
        of("RE").get("/api/v1/queue", params={"listed": private["id"]}),
        of("RE").post(f"/api/v1/views/{private['id']}", json={"shared": True}),
        of("RE").post("/api/v1/views", json={"name": "x", "selection": {"filter": {"listed": private["id"]}}}),
        of("CO").delete(f"/api/v1/views/{private['id']}"),
    ):
        assert answer.status_code == 404, answer.text
        assert "View 1 is not shared with you" in answer.json()["error"]
    for who, status in (("RE", 403), ("CO", 200), ("VO", 200)):
        answer = of(who).post(f"/api/v1/views/{shared['id']}", json={"name": f"renamed by {who}"})
        assert answer.status_code == status, answer.text
    assert of("RE").delete(f"/api/v1/views/{shared['id']}").status_code == 403
    assert several.views.get("RE", shared["id"]).name == "renamed by VO"


def test_the_link_of_a_deleted_view_says_so(of: Client) -> None:
    view = listed(of("VO"), [1, 2], shared=True)
    assert of("VO").delete("/api/v1/views/1").json() == {}
    for answer in (of("RE").get("/api/v1/views/1"), of("VO").get("/api/v1/queue", params={"listed": 1})):
        assert answer.status_code == 404
        assert f"View 1 ({view['name']}) was deleted on 20" in answer.json()["error"]
    assert of("VO").delete("/api/v1/views/1").status_code == 404
    assert of("VO").get("/api/v1/views").json() == []
    assert listed(of("VO"), [3])["id"] == 2, "its name is free again"
    assert "There is no view 9" in of("VO").get("/api/v1/views/9").json()["error"]


def test_names_of_views_are_unique_per_person_and_a_list_has_a_limit(
    of: Client, several: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(of("VO"), [1])
    listed(of("RE"), [1])
    other = listed(of("VO"), [1], "other")
    answer = of("VO").post("/api/v1/views", json={"name": "a  list", "filter": {}})
    assert (answer.status_code, answer.json()["kind"]) == (403, "not_allowed")
    assert "VO has a view with the name a list already" in answer.json()["error"]
    assert of("VO").post(f"/api/v1/views/{other['id']}", json={"name": "a list"}).status_code == 403
    assert of("VO").post(f"/api/v1/views/{other['id']}", json={"name": "other"}).status_code == 200
    monkeypatch.setattr(views, "MOST_LISTED", 2)
    with pytest.raises(NotAllowed, match="Found 3 items, expected 2 at most"):
        several.views.create(person="AU", name="x", items=[1, 2, 3, 3])
    with pytest.raises(NotFound, match="no item 77"):
        several.views.create(person="AU", name="x", items=[1, 77])
    assert several.views.of_person("AU") == []


def test_changes_of_views_are_logged(of: Client, several: Store) -> None:
    listed(of("VO"), [1, 2], shared=True)
    of("CO").post("/api/v1/views/1", json={"name": "b", "shared": False, "filter": {"words": "nova"}})
    of("VO").post("/api/v1/views/1", json={"name": "b", "shared": False})
    of("VO").delete("/api/v1/views/1")
    entries = [entry for entry in several.log.entries(limit=100) if entry.subject == "view 1"]
    assert [(entry.person, entry.what, dict(entry.details)) for entry in entries] == [
        ("VO", "view created", {"name": "a list", "shared": True, "items": 2}),
        ("CO", "view changed", {"name": "b", "shared": False, "items": None}),
        ("VO", "view deleted", {"name": "b"}),
    ]
    assert several.upkeep.verify() == []


def test_a_blind_session_can_be_made_of_a_list(of: Client, several: Store) -> None:
    view = listed(of("CO"), [1, 3, 5])
    setup = of("CO").get("/api/v1/blind/setup").json()
    assert setup["filter"]["listed"] == [{"id": 1, "name": "a list", "person": "CO", "items": 3}]
    plan = {"name": "of a list", "scorers": ["AU", "AX"], "filter": {"listed": view["id"]}}
    assert of("CO").post("/api/v1/blind/preview", json={"plan": plan}).json()["candidates"] == 3
    sent = {"plan": plan, "key": uuid4().hex}
    made = of("CO").post("/api/v1/blind/sessions", json=sent).json()
    of("CO").post("/api/v1/views/1", json={"selection": {"items": [2]}})
    assert of("CO").post("/api/v1/blind/sessions", json=sent).json() == made, "the same key again"
    kept = several.blind.sessions.get("CO", made["id"]).plan
    assert (kept.filter.listed, kept.filter.listed_items) == (1, 3)
    of("CO").delete("/api/v1/views/1")
    assert of("CO").post("/api/v1/blind/sessions", json=sent).json() == made
    refused = of("CO").post("/api/v1/blind/preview", json={"plan": plan})
    assert (refused.status_code, "was deleted" in refused.json()["error"]) == (404, True)
    assert "listed" not in json.dumps(Plan("x", ("AU",), filter=PlanFilter(batch="b")).to_json()), "the earlier hash"
