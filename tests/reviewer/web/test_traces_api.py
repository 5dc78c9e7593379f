"""An earlier version of an item, and other traces of its spectrum: what is sent, and what is withheld."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent.trajectory import Answer, Drafter
from reviewer.rules.campaign import Rules
from reviewer.store import Selection, Store
from reviewer.web.verdict_first import RULE
from tests.reviewer.web.conftest import client_of
from tests.support.blind_campaign import a_store, opened
from tests.support.campaign import Desk, a_spectrum, a_trajectory

pytestmark = pytest.mark.usefixtures("without_page")

PEOPLE = (("RE", ["reviewer"]), ("AU", ["auditor"]), ("AX", ["auditor"]), ("CO", ["coordinator"]))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Items 1 to 3 of one spectrum: two drafters and another task, each in a batch of its own; item 4 of another."""
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in PEOPLE:
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        first = a_spectrum()
        store.spectra.add(first)
        trace = a_trajectory(first, label="YES")
        other = replace(trace, drafter=Drafter("model", "qwen"), steps=(*trace.steps[:-1], Answer("s4", "NO", "no")))
        for number, drafted in enumerate((trace, other, replace(trace, task="cc")), start=1):
            store.items.add(drafted, first.sha256, batch=f"batch {number}")
        second = a_spectrum("another.fits")
        store.spectra.add(second)
        store.items.add(a_trajectory(second), second.sha256)
        yield store


def numbers(client: TestClient, item: int, **query: Any) -> list[int]:
    answer = client.get(f"/api/v1/item/{item}/others", params=query)
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["others"]]


# ---- versions


def test_a_version_is_sent_with_its_own_text(store: Store) -> None:
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    desk.edit("RE", 1, "A text of the second version.")
    client = client_of(store, "CO")
    first = client.get("/api/v1/item/1/version/1").json()
    assert (first["number"], first["of"], first["author"]) == (1, 2, None)
    assert first["trajectory"]["steps"][0]["text"] == "Hα looks broad."
    second = client.get("/api/v1/item/1/version/2").json()
    assert (second["number"], second["author"]) == (2, "RE")
    assert second["trajectory"]["steps"][0]["text"] == "A text of the second version."
    # The known label would influence the reviewer.
    assert first["trajectory"]["label"] is second["trajectory"]["label"] is None
    missing = client.get("/api/v1/item/1/version/7")
    assert missing.status_code == 404
    assert missing.json()["error"] == "Item 1 has no version 7; its current version is 2."


def test_who_judges_independently_sees_no_earlier_version(store: Store) -> None:
    desk = Desk(store)
    desk.decide("RE", 1, "keep")
    desk.edit("RE", 1, "A text of the second version.")
    desk.decide("RE", 1, "submit")
    desk.decide("AX", 1, "pass")
    judge = client_of(store, "AU")
    assert judge.get("/api/v1/item/1/version/2").status_code == 200
    refused = judge.get("/api/v1/item/1/version/1")
    assert refused.status_code == 403
    assert refused.json()["error"] == "Earlier versions are shown once you have decided."
    # As in the history, which is the same person's only other way to that text.
    assert judge.get("/api/v1/item/1/history").json()["versions"] == []
    # Who wrote it, and who has decided.
    assert [client_of(store, who).get("/api/v1/item/1/version/1").status_code for who in ("RE", "AX")] == [200, 200]


def test_no_version_is_sent_before_ones_own_verdict(store: Store) -> None:
    client = client_of(store, "RE")
    assert client.get("/api/v1/item/1/version/1", params={"verdict_first": True}).status_code == 403
    store.settings.set("CO", RULE, ["batch 1"])
    for number in (1, 2):
        refused = client.get(f"/api/v1/item/1/version/{number}")
        assert (refused.status_code, "looks broad" in refused.text) == (403, False)
    client.post("/api/v1/item/1/verdict", json={"version": store.items.get(1).version.id, "verdict": "YES"})
    assert client.get("/api/v1/item/1/version/1").status_code == 200


# ---- other traces


def test_the_other_traces_of_the_spectrum_are_listed_with_drafter_task_and_answer(store: Store) -> None:
    others = client_of(store, "RE").get("/api/v1/item/1/others").json()["others"]
    shown = [(one["id"], one["drafter"]["name"], one["task"]["key"], one["state"], one["answer"]) for one in others]
    assert shown == [(2, "qwen", "cv", "screening", "NO"), (3, "rule 1", "cc", "screening", "YES")]
    assert numbers(client_of(store, "RE"), 4) == []


def test_traces_stay_together_where_a_person_stated_the_medium_of_one(store: Store) -> None:
    spectrum = a_spectrum("assumed.fits", meta={"medium_assumed": True})
    store.spectra.add(spectrum)
    trace = a_trajectory(spectrum, medium=spectrum.medium)
    a, b = (store.items.add(replace(trace, task=task), spectrum.sha256) for task in ("cv", "cc"))
    Desk(store).decide("RE", a, "keep")
    lease = store.leases.take("RE", a)
    base = store.items.get(a).version.id
    medium = "air" if spectrum.medium == "vacuum" else "vacuum"
    store.reviews.set_medium(
        person="RE", item_id=a, base_version_id=base, medium=medium, key="k", lease_token=lease.token
    )
    assert store.items.get(a).row.spectrum_sha256 != spectrum.sha256
    client = client_of(store, "RE")
    assert (numbers(client, a), numbers(client, b)) == ([b], [a])


def test_no_other_trace_is_named_before_ones_own_verdict(store: Store) -> None:
    client = client_of(store, "RE")
    assert numbers(client, 1, verdict_first=True) == []
    store.settings.set("CO", RULE, ["batch 1"])
    # Neither from the item whose answer is hidden, nor to it.
    assert (numbers(client, 1), numbers(client, 2)) == ([], [3])
    client.post("/api/v1/item/1/verdict", json={"version": store.items.get(1).version.id, "verdict": "YES"})
    assert (numbers(client, 1), numbers(client, 2)) == ([2, 3], [1, 3])


def test_withdrawn_items_and_those_that_one_scores_blind_are_not_named(store: Store, tmp_path: Path) -> None:
    store.withdrawals.withdraw("CO", Selection("batch 3"))
    assert numbers(client_of(store, "RE"), 1) == [2]
    with a_store(tmp_path / "blind.db") as blind:
        opened(blind, items=(6, 7), each=3)
        scorer = client_of(blind, "RE")
        # Item 5 is the other trace of the spectrum of item 6.
        assert scorer.get("/api/v1/item/5/others").status_code == 403
        assert scorer.get("/api/v1/item/6/version/1").status_code == 403
        assert numbers(client_of(blind, "CO"), 5) == [6]


# ---- other epochs


def epoch(store: Store, night: int, batch: str = "", **other: Any) -> int:
    spectrum = a_spectrum(f"night {night}.fits", ra=10.0, dec=20.0, meta={"mjd": 58000.5 + night}, **other)
    store.spectra.add(spectrum)
    return store.items.add(a_trajectory(spectrum), spectrum.sha256, batch=batch)


def epochs(client: TestClient, item: int, **query: Any) -> list[tuple[int, str]]:
    answer = client.get(f"/api/v1/item/{item}/epochs", params=query).json()
    assert answer["complete"]
    assert answer["number"] == len(answer["others"]) + 1
    assert answer == client.get(f"/api/v1/item/{item}/opening", params=query).json()["epochs"]
    return [(one["item"], one["date"]) for one in answer["others"]]


def test_the_other_epochs_of_an_object_are_listed_by_date_and_drawn_at_its_level(store: Store) -> None:
    client = client_of(store, "RE")
    late, early = epoch(store, 2, batch="late"), epoch(store, 1)
    assert epochs(client, late) == [(early, "2017-09-05 12:00")]
    assert epochs(client, 1) == []
    middle = epoch(store, 3, frame="rest", redshift=0.1, medium="air")
    assert epochs(client, early) == [(late, "2017-09-06 12:00"), (middle, "2017-09-07 12:00")]
    answer = client.get(f"/api/v1/item/{early}/epochs", params={"curves": True}).json()
    same, moved = (one["curve"] for one in answer["others"])
    assert same["wavelength"][0] == 3700.0
    assert moved["wavelength"][0] == pytest.approx(3701.06 * 1.1, abs=0.1)
    store.withdrawals.withdraw("CO", Selection("late"))
    assert epochs(client, early) == [(middle, "2017-09-07 12:00")]


def test_no_epoch_is_named_of_or_to_an_item_whose_answer_is_hidden(store: Store) -> None:
    client = client_of(store, "RE")
    hidden, other = epoch(store, 1, batch="ruled"), epoch(store, 2)
    assert epochs(client, other, verdict_first=True) == []
    store.settings.set("CO", RULE, ["ruled"])
    assert (epochs(client, hidden), epochs(client, other)) == ([], [])
    client.post(f"/api/v1/item/{hidden}/verdict", json={"version": store.items.get(hidden).version.id, "verdict": "NO"})
    assert (len(epochs(client, hidden)), len(epochs(client, other))) == (1, 1)
