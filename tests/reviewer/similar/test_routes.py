"""The routes of similar items over a real store: answers, and what they leave out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer import server
from reviewer.rules.workflow import Rules
from reviewer.similar.shapes import Shapes
from reviewer.store import Draft, Store
from tests.support.campaign import a_spectrum, a_trajectory, people

PASSWORD = "Balmer decrement"
ITEMS = 396
SOUND = "Hα is in emission and the line is broad."
AGAIN = ("Another view is needed.", "I open it again.", "Once more the same.", "Let me see that again.")


def trace(number: int, faulty: bool, **other: Any) -> Trajectory:
    """A trace; a faulty one opens its window three times."""
    window = [6500 + number % 7, 6620 + number % 5]
    zooms = [Zoom("z0", {"wavelength_range": window, "label": "Hα"}, picture="ab" * 32)]
    if faulty:
        zooms += [Zoom(f"z{n}", {"wavelength_range": window, "label": "Hα"}, picture="ab" * 32) for n in (1, 2)]
    said = AGAIN[number % 4] if faulty else "One look is enough."
    steps = (Think("s1", f"{SOUND} {said}"), *zooms, Think("s3", SOUND), Answer("s4", "YES", SOUND))
    values: dict[str, Any] = {
        "task": "cv" if number % 2 else "wd",
        "prompt": "Is it?",
        "spectrum_name": f"object-{number}.fits",
        "spectrum_sha256": None,
        "steps": steps,
        "drafter": Drafter("model", "a drafter", {"number": number}),
    }
    return Trajectory(**(values | other))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(tmp_path_factory.mktemp("similar") / "annotations.db") as store:
        people(store)
        store.settings.set_rules(None, Rules())
        for who in ("RE", "AU", "CO"):
            store.accounts.set_password(None, who, PASSWORD)
        store.items.add_all(
            Draft(trace(number, faulty=number % 33 == 0), batch="open" if number % 3 else "hidden")
            for number in range(ITEMS)
        )
        yield store


@pytest.fixture(scope="module")
def app(store: Store) -> Iterator[Any]:
    app = server.build(store, local=True)
    yield app
    app.state.grouping.close()
    app.state.context.similar.close()


@pytest.fixture
def client(app: Any) -> TestClient:
    return signed_in(app, "RE")


def signed_in(app: Any, who: str) -> TestClient:
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    assert client.post("/sign-in", data={"initials": who, "password": PASSWORD}).status_code == 303
    client.get("/api/v1/item/1/similar", params={"by": "text"})
    app.state.context.similar.wait(60)
    return client


FAULTY = [1 + number for number in range(ITEMS) if number % 33 == 0]
HIDDEN = [1 + number for number in range(ITEMS) if number % 3 == 0]


def ids(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [row["id"] for row in answer.json()["rows"]]


def test_items_with_the_same_fault_are_similar(client: TestClient) -> None:
    answer = client.get("/api/v1/item/1/similar", params={"by": "text", "limit": 11})
    assert set(ids(answer)) == set(FAULTY[1:])
    body = answer.json()
    assert (body["indexed"], body["items"], body["complete"], body["note"]) == (ITEMS, ITEMS, True, "")
    likeness = [row["similarity"] for row in body["rows"]]
    assert likeness == sorted(likeness, reverse=True)
    assert {"name", "task", "state", "batch"} <= set(body["rows"][0])


def test_more_like_these_ranks_the_same_fault_first_and_suggests_a_cut(client: TestClient) -> None:
    answer = client.post("/api/v1/similar", json={"examples": FAULTY[:5], "limit": 20})
    found = ids(answer)
    assert set(found[:7]) == set(FAULTY[5:])
    body = answer.json()
    assert body["cut"] == 7
    assert set(body["ids"]) == set(FAULTY[5:])
    assert body["reasons"][0]["text"] == "A window is opened three times or more."
    assert body["used"] == 5
    scores = [row["score"] for row in body["rows"]]
    assert scores == sorted(scores, reverse=True)
    assert not set(found) & set(FAULTY[:5])


def test_counterexamples_are_not_among_the_rows(client: TestClient) -> None:
    sent = {"examples": FAULTY[:3], "counterexamples": [FAULTY[3]], "limit": 500}
    found = ids(client.post("/api/v1/similar", json=sent))
    assert len(found) == ITEMS - 4
    assert FAULTY[3] not in found


def test_wrong_examples_are_refused(client: TestClient) -> None:
    wrong = ({"examples": []}, {"examples": [1], "limit": 0}, {"examples": [1], "other": 1}, {"examples": ["one"]})
    assert [client.post("/api/v1/similar", json=sent).status_code for sent in wrong] == [422] * 4
    assert client.post("/api/v1/similar", json={"examples": [9999]}).status_code == 404


def grouped(client: TestClient, **sent: Any) -> Any:
    assert client.post("/api/v1/groups", json=sent).status_code == 200
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        body = client.get("/api/v1/groups", params=sent.get("query")).json()
        if body["state"] not in ("waiting", "running"):
            return body
        time.sleep(0.05)
    raise AssertionError(body)


def test_groups_are_named_by_the_fault_that_defines_them(client: TestClient) -> None:
    body = grouped(client, groups=4)
    assert (body["state"], body["progress"], body["items"], body["missing"]) == ("done", 1.0, ITEMS, 0)
    sizes = [group["size"] for group in body["groups"]]
    assert sum(sizes) == ITEMS
    assert sizes == sorted(sizes, reverse=True)
    (again,) = [g for g in body["groups"] if "A window is opened three times or more." in g["facts"]]
    assert again["size"] == 12
    assert again["states"] == {"screening": 12}
    assert {row["id"] for row in again["typical"]} < set(FAULTY)
    assert len(again["typical"]) == 3
    answer = client.get(f"/api/v1/groups/{again['number']}").json()
    assert answer["items"] == FAULTY
    assert answer["facts"] == again["facts"]


def test_a_selection_can_be_grouped_and_the_number_is_chosen(client: TestClient) -> None:
    body = grouped(client, selection={"items": [*FAULTY[:6], 2, 3, 4, 5]})
    assert body["items"] == 10
    assert sum(group["size"] for group in body["groups"]) == 10
    assert client.get("/api/v1/groups/99").status_code == 404
    assert client.get("/api/v1/groups/0").status_code == 404


def test_a_person_sees_only_their_own_groups(app: Any, client: TestClient) -> None:
    grouped(client, groups=2)
    other = signed_in(app, "CO")
    assert other.get("/api/v1/groups").json()["state"] == "none"
    assert other.get("/api/v1/groups/1").status_code == 404


@pytest.fixture
def verdict_first(store: Store) -> Iterator[None]:
    store.settings.set("CO", "verdict_first", ["hidden"])
    yield
    store.settings.set("CO", "verdict_first", [])


@pytest.mark.usefixtures("verdict_first")
def test_items_whose_verdict_comes_first_are_left_out(client: TestClient) -> None:
    """Item 1 is hidden, item 11 is not."""
    readable = ITEMS - len(HIDDEN)
    hidden = client.get("/api/v1/item/1/similar", params={"by": "text"}).json()
    assert hidden["rows"] == []
    assert hidden["note"]
    found = ids(client.get("/api/v1/item/11/similar", params={"by": "text", "limit": 500}))
    assert len(found) == readable - 1
    assert not set(found) & set(HIDDEN)
    refused = client.post("/api/v1/similar", json={"examples": [1, 11]})
    assert refused.status_code == 403
    body = client.post("/api/v1/similar", json={"examples": [11, 21, 41], "limit": 500}).json()
    assert not {row["id"] for row in body["rows"]} & set(HIDDEN)
    assert not set(body["ids"]) & set(HIDDEN)
    groups = grouped(client, groups=3)
    assert sum(group["size"] for group in groups["groups"]) == readable
    for group in groups["groups"]:
        assert not set(client.get(f"/api/v1/groups/{group['number']}").json()["items"]) & set(HIDDEN)


def test_items_that_are_hidden_later_disappear_from_finished_groups(client: TestClient, store: Store) -> None:
    grouped(client, groups=3)
    store.settings.set("CO", "verdict_first", ["hidden"])
    try:
        body = client.get("/api/v1/groups").json()
        assert sum(group["size"] for group in body["groups"]) == ITEMS - len(HIDDEN)
        assert not {row["id"] for group in body["groups"] for row in group["typical"]} & set(HIDDEN)
    finally:
        store.settings.set("CO", "verdict_first", [])


def test_the_persons_own_switch_hides_open_items_too(client: TestClient) -> None:
    query = {"by": "text", "verdict_first": True}
    assert client.get("/api/v1/item/1/similar", params=query).json()["rows"] == []
    refused = client.post("/api/v1/similar", json={"examples": [1]}, params={"verdict_first": True})
    assert refused.status_code == 403


def test_items_of_an_open_blind_session_are_left_out(client, store, monkeypatch) -> None:
    scoring = type(store.blind.scoring)
    monkeypatch.setattr(
        scoring, "hidden_items", lambda self, person: frozenset({11, 21}) if person == "RE" else frozenset()
    )
    assert client.get("/api/v1/item/11/similar", params={"by": "text"}).status_code == 403
    assert not set(ids(client.get("/api/v1/item/1/similar", params={"by": "text", "limit": 500}))) & {11, 21}
    assert client.post("/api/v1/similar", json={"examples": [11]}).status_code == 403
    found = client.post("/api/v1/similar", json={"examples": [1, 31, 41], "limit": 500}).json()
    assert not {row["id"] for row in found["rows"]} & {11, 21}


def test_similar_spectra_of_all_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.accounts.set_password(None, "RE", PASSWORD)
        items: dict[str, list[int]] = {"gm": [], "wd": []}
        for kind, found in items.items():
            for seed in range(4):
                spectrum = simulate(kind, "SDSS", 40.0, seed)
                sha256 = store.spectra.add(spectrum)
                made = trace(seed, False, spectrum_sha256=sha256, task=kind, drafter=Drafter("model", f"{kind} {seed}"))
                found.append(store.items.add(made, sha256))
        app = server.build(store, local=True)
        client = signed_in(app, "RE")
        for found in items.values():
            answer = client.get(f"/api/v1/item/{found[0]}/similar", params={"by": "spectrum", "limit": 3})
            assert set(ids(answer)) == set(found[1:])
        assert client.get("/api/v1/item/1/similar", params={"by": "nothing"}).status_code == 422
        # Without those that have the spectrum of an item which the person scores blind.
        scored, *shown = items["gm"][1:]
        sha256 = store.items.get(scored).row.spectrum_sha256
        monkeypatch.setattr(type(store.blind.scoring), "hidden_hashes", lambda self, person: frozenset({sha256}))
        answer = client.get(f"/api/v1/item/{items['gm'][0]}/similar", params={"by": "spectrum", "limit": 2})
        assert set(ids(answer)) == set(shown)
        app.state.context.similar.close()


def test_a_list_by_spectrum_says_how_many_spectra_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.accounts.set_password(None, "RE", PASSWORD)
        for number in range(3):
            spectrum = a_spectrum(f"spec-{number}.fits", snr={"r": 5.0 + number})
            store.items.add(a_trajectory(spectrum), spectrum)
        store.items.add(trace(3, faulty=False))
        app = server.build(store, local=True)
        similar = app.state.context.similar

        def indexed(by: str) -> int:
            return int(client.get("/api/v1/item/1/similar", params={"by": by}).json()["indexed"])

        with monkeypatch.context() as patched:
            patched.setattr(Shapes, "update", lambda *_: None)
            client = signed_in(app, "RE")
            assert (indexed("text"), indexed("spectrum")) == (4, 1), "the one without a spectrum"
        similar.refresh()
        indexed("text")
        similar.wait(60)
        assert (indexed("text"), indexed("spectrum")) == (4, 4)
        app.state.grouping.close()
        similar.close()


@pytest.mark.parametrize("examples", [FAULTY[:1], FAULTY[:5]], ids=["few", "enough"])
def test_a_filter_holds_for_everything_that_is_similar(client: TestClient, examples: list[int]) -> None:
    sent = {"examples": examples, "filter": {"task": "cv", "batch": "open"}, "limit": 500}
    body = client.post("/api/v1/similar", json=sent).json()
    assert body["few"] == (len(examples) < 3)
    assert {(row["task"], row["batch"]) for row in body["rows"]} == {("cv", "open")}
    assert set(body["ids"]) <= {row["id"] for row in body["rows"]}
    everything = ids(client.post("/api/v1/similar", json={**sent, "filter": None}))
    assert [row["id"] for row in body["rows"]] == [item for item in everything if item % 2 == 0 and item not in HIDDEN]
    query = {"by": "text", "limit": 500, "task": "cv", "batch": "open"}
    of_one = client.get("/api/v1/item/1/similar", params=query).json()["rows"]
    assert {(row["task"], row["batch"]) for row in of_one} == {("cv", "open")}
