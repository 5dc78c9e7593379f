"""Verdict first: nothing that the server sends of an item tells its answer before the person's own verdict."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.trajectory import Answer, Think
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.reviewer.web.conftest import a_trace, a_zoom, client_of

pytestmark = pytest.mark.usefixtures("without_page")

WINDOW = [6500, 6630]
TELLING = (
    *("simulated LAMOST", "quiescent", "CV J0001", "POLAR 7", "disc emission", "Hα of a CV"),
    *("SECRET DRAFTER", "all CVs", "1.2345"),
    *("P_POLAR", "WD_MODEL", "LINES_OF_CV", "E_CV", "BAD_CV", "CV-SPEC"),
)
"""Parts of the spectrum's header, the trace, the drafter and the batch that tell the answer."""
READ = {
    "read_as": "table CV-SPEC",
    "axis_from": "column LINES_OF_CV",
    "flux_from": "column FLUX of WD_MODEL",
    "errors_from": "column E_CV (sigma)",
    "mask_from": "column BAD_CV",
    "medium_from": "card P_POLAR",
    "not_used": "column P_POLAR; HDU 3 WD_MODEL",
    "flux_unit_in_file": "E_CV",
    "pixels_without_wavelength": 3,
    "pixels_repeated": 2,
    "pixels_of_overlaps": 1,
    "arms_missing": "R",
}
"""What a reader states, with names of the file that tell the class."""
ALL_CVS = "all CVs"
HIDDEN = {"verdict_first": True}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two items in the batch ``all CVs``, one in another."""
    with Store.open(tmp_path / "annotations.db") as store:
        for initials, roles in (("RV", ["reviewer"]), ("AA", ["auditor"]), ("CO", ["coordinator"])):
            store.accounts.add_person(initials, f"Person {initials}", roles)
        store.settings.set_rules(None, Rules())
        for seed, batch in ((1, ALL_CVS), (2, ALL_CVS), (3, "others")):
            _add(store, seed, batch)
        yield store


def _add(store: Store, seed: int, batch: str) -> None:
    simulated = simulate("cv", "LAMOST", 20.0, seed)
    fields = {"name": f"CV J000{seed}", "catalogue_class": "POLAR 7", "ra": 1.2345, "dec": -5.0}
    spectrum = replace(simulated, **fields, meta={**simulated.meta, **READ})
    steps = (
        Think("s1", "First the disc emission."),
        a_zoom(spectrum, "s2", {"wavelength_range": WINDOW, "label": "Hα of a CV"}),
        Think("s3", "Double-peaked disc emission."),
        Answer("s4", "YES", "disc emission", score=2.8),
    )
    store.items.add(a_trace(spectrum, *steps, drafter="SECRET DRAFTER"), store.spectra.add(spectrum), batch=batch)


@pytest.fixture
def client(store: Store) -> TestClient:
    return client_of(store, "RV")


def tells(text: str) -> list[str]:
    """Return what of ``TELLING`` is in an answer of the server."""
    return [word for word in TELLING if word.lower() in text.lower()]


def header(packed: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<I", packed[:4])
    found: dict[str, Any] = json.loads(packed[4 : 4 + length])
    return found


@pytest.fixture(params=["the person's switch", "the batch's rule"])
def query(request: pytest.FixtureRequest, store: Store) -> dict[str, bool]:
    """The two ways to hide an answer; the query that the page sends."""
    if request.param == "the person's switch":
        return HIDDEN
    store.settings.set("CO", "verdict_first", [ALL_CVS])
    return {}


def test_nothing_that_is_sent_of_an_item_tells_the_answer(client: TestClient, query: dict[str, bool]) -> None:
    answer = client.get("/api/v1/item/1", params=query)
    item = answer.json()
    assert item["hidden"]
    assert tells(answer.text) == []
    assert item["row"]["name"] == "item 1"
    assert all(verb["refusal"] for verb in item["may"]["verbs"])
    assert [step["kind"] for step in item["trajectory"]["steps"]] == ["zoom"]
    assert item["trajectory"]["steps"][0]["arguments"] == {"wavelength_range": WINDOW}
    assert client.get("/api/v1/item/1/hints", params=query).json() == {"hints": {}}
    for path in ("/api/v1/item/1/history", "/api/v1/item/1/similar", "/api/v1/queue"):
        rows = client.get(path, params={**query, "batch": ALL_CVS}).text
        assert tells(rows) == [], path


def test_the_spectrum_is_served_with_a_header_that_names_nothing(client: TestClient, query: dict[str, bool]) -> None:
    item = client.get("/api/v1/item/1", params=query).json()
    name = item["row"]["spectrum"]
    assert name == item["trajectory"]["spectrum"]["sha256"] == "item-1"
    answer = client.get(f"/api/v1/spectrum/{name}")
    about = header(answer.content)
    assert answer.headers["cache-control"] == "no-store"
    assert tells(json.dumps(about, ensure_ascii=False)) == []
    assert (about["name"], about["catalogue_class"], about["position"], about["links"]) == ("item 1", "", None, [])
    assert about["n"] > 1000
    assert set(about["meta"]) == {key for key in READ if key.startswith("pixels_")} | {"arms_missing"}
    assert [label for label, _ in about["read"]] == ["flux unit"]
    assert [label for label, _ in about["warnings"]] == ["left out", "changed"]
    assert client.get(f"/api/v1/spectrum/{name}/templates").json()["matches"] == []
    assert client.get(f"/api/v1/spectrum/{name}/model").status_code == 404
    assert "value" in client.get("/api/v1/measure", params={"spectrum": name, "lo": 6500, "hi": 6630}).json()["ew"]
    (zoom,) = item["trajectory"]["steps"]
    sent = {"spectrum": name, "arguments": json.dumps(zoom["arguments"]), "redshift": item["trajectory"]["redshift"]}
    picture = client.get(f"/api/v1/picture/{zoom['picture']}", params=sent)
    assert picture.headers["content-type"] == "image/png", "the windows of the trace are still drawn"


def test_everything_is_sent_after_the_verdict_and_stays_so_on_later_versions(
    client: TestClient, query: dict[str, bool]
) -> None:
    version = client.get("/api/v1/item/1", params=query).json()["version"]["id"]
    assert client.post("/api/v1/item/1/verdict", json={"version": version, "verdict": "NO"}).status_code == 200
    shown = client.get("/api/v1/item/1", params=query).json()
    assert (shown["hidden"], shown["my_verdict"], shown["row"]["name"]) == (False, "NO", "CV J0001")
    assert shown["trajectory"]["steps"][-1]["explanation"] == "disc emission"
    rows = client.get("/api/v1/queue", params={**query, "batch": ALL_CVS}).json()["rows"]
    assert [row["name"] for row in rows] == ["CV J0001", "item 2"]


def test_a_decision_needs_the_verdict_where_a_batch_has_the_rule(client: TestClient, store: Store) -> None:
    store.settings.set("CO", "verdict_first", [ALL_CVS])
    token = client.post("/api/v1/item/1/lease").json()["lease"]
    version = store.items.get(1).version.id
    body = {"version": version, "verb": "keep", "key": "k" * 12, "lease": token}
    refused = client.post("/api/v1/item/1/decide", json=body)
    assert refused.status_code == 403
    assert "your own verdict first" in refused.json()["error"]
    marked = {"version": version, "step": "s2", "mark": "supported", "key": "m" * 12}
    assert client.post("/api/v1/item/1/mark", json=marked).status_code == 403
    client.post("/api/v1/item/1/verdict", json={"version": version, "verdict": "YES"})
    assert client.post("/api/v1/item/1/decide", json=body).status_code == 200


def test_the_rule_of_a_batch_hides_the_spectrum_under_its_hash_too(client: TestClient, store: Store) -> None:
    sha256 = {number: store.items.get(number).row.spectrum_sha256 for number in (1, 3)}
    store.settings.set("CO", "verdict_first", [ALL_CVS])
    assert client.get(f"/api/v1/spectrum/{sha256[1]}").status_code == 403
    assert client.get("/api/v1/measure", params={"spectrum": sha256[1], "lo": 6500, "hi": 6630}).status_code == 403
    assert client.get(f"/api/v1/spectrum/{sha256[3]}").status_code == 200
    of = {"of": f"{sha256[1]},{sha256[3]},item-1"}
    assert set(client.get("/api/v1/sparklines", params=of).json()["sparklines"]) == {sha256[3], "item-1"}
    store.marks.commit_verdict(person="RV", item_id=1, version_id=store.items.get(1).version.id, verdict="cannot tell")
    assert client.get(f"/api/v1/spectrum/{sha256[1]}").status_code == 200


def test_a_search_by_name_finds_no_item_of_a_batch_with_the_rule(client: TestClient, store: Store) -> None:
    assert client.get("/api/v1/queue", params={"text": "CV J000"}).json()["total"] == 3
    store.settings.set("CO", "verdict_first", [ALL_CVS])
    found = client.get("/api/v1/queue", params={"text": "CV J000"}).json()
    assert (found["total"], [row["id"] for row in found["rows"]]) == (1, [3])
    assert client.get("/api/v1/queue", params={"simulated": True}).json()["total"] == 1
    assert client.get("/api/v1/queue", params={"text": "#1"}).json()["total"] == 1
    assert client.get("/api/v1/queue", params={"batch": ALL_CVS}).json()["total"] == 2
    assert client.get("/api/v1/live/library", params={"q": ""}).text.count("CV J000") == 1
    assert client.post("/api/v1/live/bench", json={"item": 1}).status_code == 403
