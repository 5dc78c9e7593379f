"""The routes of the review aids over a real store: answers, access and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from agent.measure import rest
from agent.simulate import simulate
from agent.templates import About, Template, grid
from agent.templates.library import write
from agent.trajectory import Answer, Drafter, Think, Trajectory
from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.support.campaign import TO_VOTE, Desk, people

PASSWORD = "correct horse"


def an_item(store: Store, kind: str, task: str, seed: int) -> tuple[int, str]:
    """Add an item over a simulated spectrum; return its number and the spectrum's hash."""
    spectrum = simulate(kind, "SDSS", 40.0, seed)
    trajectory = Trajectory(
        task=task,
        prompt="Is it?",
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=(Think("s1", "Lines."), Answer("s2", "YES", "Lines.")),
        drafter=Drafter("model", "a drafter"),
        medium=spectrum.medium,
    )
    return store.items.add(trajectory, store.spectra.add(spectrum), batch="tests"), spectrum.sha256


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db")
    store.accounts.add_person("RV", "Person RV", ["reviewer"], password=PASSWORD)
    store.settings.set_rules(None, Rules())
    yield store
    store.close()


@pytest.fixture
def app(store: Store) -> Iterator[Any]:
    app = server.build(store, local=True)
    yield app
    app.state.context.similar.close()


@pytest.fixture
def client(app: Any) -> TestClient:
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    answer = client.post("/sign-in", data={"initials": "RV", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return client


def test_the_aids_need_a_session_and_a_stored_spectrum(app: Any, client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    nobody = TestClient(app, base_url="http://127.0.0.1")
    assert nobody.get(f"/api/v1/spectrum/{sha256}/lines").status_code == 401
    assert nobody.get("/api/v1/measure", params={"spectrum": sha256, "lo": 6400, "hi": 6700}).status_code == 401
    assert client.get(f"/api/v1/spectrum/{'0' * 64}/lines").status_code == 404


def test_the_line_table_has_the_lines_of_the_task(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    table = client.get(f"/api/v1/spectrum/{sha256}/lines", params={"task": "cv"}).json()
    assert table["medium"] == "vacuum"
    assert table["medium_assumed"] is False
    assert table["z_known"] is (table["z"] is not None)
    row = next(row for row in table["rows"] if row["name"] == "Hα")
    assert row["of_task"]
    assert row["rest"] == pytest.approx(6564.6, abs=0.05)
    at = row["at_z"] if table["z_known"] else row["at_zero"]
    assert at["ew"]["value"] < -5
    assert at["ew"]["error"] > 0
    assert at["fwhm"]["value"] > 300
    assert set(at) == {"centroid", "velocity", "fwhm", "ew", "sky", "reason", "certain"}
    assert table["velocity"]["lines"] >= 2
    assert isinstance(table["velocity"]["agree"], bool)


def test_an_unknown_task_gives_the_major_lines(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    table = client.get(f"/api/v1/spectrum/{sha256}/lines", params={"task": "nothing"}).json()
    assert not any(row["of_task"] for row in table["rows"])
    assert any(row["name"] == "Hα" for row in table["rows"])


def test_a_width_is_measured_by_two_points(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    window = {"spectrum": sha256, "lo": 6640, "hi": 6480, "frame": "observed", "medium": "vacuum"}
    found = client.get("/api/v1/measure", params=window).json()
    assert found["ew"]["value"] < -5
    assert found["flux"]["value"] > 0
    assert found["flux"]["unit"].endswith("× Å")
    assert [point[0] for point in found["continuum"]] == [6480.0, 6640.0]
    nothing = client.get("/api/v1/measure", params={**window, "lo": 20000, "hi": 21000}).json()
    assert nothing["ew"] is None
    assert nothing["reason"]


@pytest.mark.parametrize("wrong", [{"lo": "nan"}, {"lo": -1}, {"frame": "moving"}, {"medium": "water"}, {"z": -1}])
def test_a_window_that_cannot_be_is_refused(client: TestClient, store: Store, wrong: dict[str, Any]) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    sent = {"spectrum": sha256, "lo": 6480, "hi": 6640, **wrong}
    answer = client.get("/api/v1/measure", params=sent)
    assert answer.status_code == 422
    assert answer.json()["kind"] == "bad_request"


def test_templates_are_ranked_with_class_velocity_and_fit(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "b", "b", 1)
    found = client.get(f"/api/v1/spectrum/{sha256}/templates", params={"task": "b"}).json()
    assert [row["rank"] for row in found["matches"]] == list(range(1, 11))
    assert found["matches"][0]["class"] in ("B", "A", "O")
    chi2 = [row["reduced_chi2"] for row in found["matches"]]
    assert chi2 == sorted(chi2)
    classes = [row["class"] for row in found["best_of_class"]]
    assert len(classes) == len(set(classes)) > 5
    assert all(abs(row["velocity"]) < 1100 and 0.6 <= row["overlap"] <= 1.0 for row in found["matches"])


def test_a_template_comes_with_what_brings_it_onto_the_spectrum(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "b", "b", 1)
    best = client.get(f"/api/v1/spectrum/{sha256}/templates").json()["matches"][0]
    found = client.get(f"/api/v1/templates/{best['id']}", params={"spectrum": sha256}).json()
    assert found["medium"] == "vacuum"
    assert found["frame"] == "rest"
    assert len(found["wavelength"]) == len(found["flux"]) == len(found["multiplier"]) > 1000
    assert found["z"] == pytest.approx(best["z"], abs=1e-6)
    assert found["licence"] in ("MIT", "BSD-3-Clause")
    assert found["citation"]
    wavelength = np.array(found["wavelength"]) * (1 + found["z"])
    model = np.array(found["flux"]) * np.array(found["multiplier"])
    spectrum = store.spectra.get(sha256)
    inside = (spectrum.wavelength > 4500) & (spectrum.wavelength < 7000)
    ratio = spectrum.flux[inside] / np.interp(spectrum.wavelength[inside], wavelength, model)
    assert np.median(ratio) == pytest.approx(1.0, abs=0.02)


def test_a_template_that_was_not_ranked_is_brought_to_the_level_of_the_spectrum(
    client: TestClient, store: Store
) -> None:
    _, sha256 = an_item(store, "b", "b", 1)
    found = client.get("/api/v1/templates/sdss-dr2-templates-sdss-030-bal-quasar", params={"spectrum": sha256}).json()
    assert found["ranked"] is False
    assert set(found["multiplier"]) == {found["multiplier"][0]}
    assert client.get("/api/v1/templates/nothing", params={"spectrum": sha256}).status_code == 404
    assert client.get("/api/v1/templates/nothing").status_code == 422


def test_a_template_that_was_not_ranked_lies_on_data_at_rest_without_their_redshift(
    client: TestClient, store: Store
) -> None:
    _, sha256 = an_item(store, "b", "b", 1)
    at_rest = rest(replace(store.spectra.get(sha256), redshift=0.1), 0.1)
    assert (at_rest.frame, at_rest.redshift) == ("rest", 0.1)
    store.spectra.add(at_rest)
    named = {"spectrum": at_rest.sha256}
    found = client.get("/api/v1/templates/sdss-dr2-templates-sdss-030-bal-quasar", params=named).json()
    assert (found["ranked"], found["z"]) == (False, 0.0)


def test_a_class_without_a_template_is_said(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    found = client.get(f"/api/v1/spectrum/{sha256}/templates", params={"task": "cv"}).json()
    assert "No template of the class of the question (CV)" in found["note"]


@pytest.mark.parametrize("task", ["gm", "wd", "a", "b", "o", "cc", "ss", "cv"])
def test_the_loci_have_templates_and_the_spectrum_or_the_reason(client: TestClient, store: Store, task: str) -> None:
    _, sha256 = an_item(store, task, task, 1)
    plots = client.get(f"/api/v1/spectrum/{sha256}/loci", params={"task": task}).json()["plots"]
    assert plots
    for plot in plots:
        assert plot["title"]
        assert plot["x"]["name"]
        assert len(plot["points"]) > 10
        assert (plot["this"] is None) == bool(plot["reason"])
    placed = [plot["this"] for plot in plots if plot["this"]]
    assert placed
    assert all(place["x_error"] > 0 and place["y_error"] > 0 for place in placed)


def test_a_task_without_planes_has_none(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    assert client.get(f"/api/v1/spectrum/{sha256}/loci", params={"task": "tns"}).json() == {"plots": []}


def test_own_templates_are_used_and_broken_ones_are_named(client: TestClient, store: Store, tmp_path: Path) -> None:
    _, sha256 = an_item(store, "b", "b", 1)
    spectrum = store.spectra.get(sha256)
    folder = tmp_path / "templates"
    folder.mkdir()
    first, flux, _ = grid.rebin(rest(spectrum, None, "vacuum"))
    own = Template(About(id="mine", name="my star", kind="mine"), first, flux / np.median(flux))
    write(folder / "own.npz", [own])
    (folder / "broken.npz").write_bytes(b"nothing")
    found = client.get(f"/api/v1/spectrum/{sha256}/templates").json()
    assert found["matches"][0]["id"] == "mine"
    assert found["matches"][0]["velocity"] == pytest.approx(299792.458 * (spectrum.redshift or 0.0), abs=5)
    assert "broken.npz" in found["note"]


def approve(store: Store, item_id: int) -> None:
    """Take an item through all rounds."""
    for initials, verb in (*TO_VOTE, ("RE", "approve"), ("VO", "approve"), ("AU", "approve")):
        if store.items.get(item_id).row.state != "approved":
            Desk(store).decide(initials, item_id, verb)
    assert store.items.get(item_id).row.state == "approved"


def similar_to(client: TestClient, app: Any, item_id: int) -> Any:
    client.get(f"/api/v1/item/{item_id}/similar")
    app.state.context.similar.wait(120)
    return client.get(f"/api/v1/item/{item_id}/similar").json()


def test_the_most_similar_approved_spectra_come_first(app: Any, client: TestClient, store: Store) -> None:
    people(store)
    known = {task: [an_item(store, task, task, seed)[0] for seed in (2, 3, 4)] for task in ("gm", "wd", "cv")}
    for items in known.values():
        for item_id in items:
            approve(store, item_id)
    open_items = {task: an_item(store, task, task, 1)[0] for task in known}
    for task, item_id in open_items.items():
        found = similar_to(client, app, item_id)
        assert found["compared"] == 9
        assert found["note"] == ""
        assert {row["id"] for row in found["items"][:3]} == set(known[task])
        distance = [row["distance"] for row in found["items"]]
        assert distance == sorted(distance)
        assert {(row["verdict"], row["state"]) for row in found["items"]} == {("YES", "approved")}


def test_similar_shows_neither_open_items_nor_another_item_of_the_same_spectrum(
    app: Any, client: TestClient, store: Store
) -> None:
    people(store)
    decided, _ = an_item(store, "gm", "gm", 2)
    an_item(store, "gm", "gm", 3)  # open
    approve(store, decided)
    same, _ = an_item(store, "gm", "ss", 2)
    found = similar_to(client, app, same)
    assert found["compared"] == 1
    assert found["items"] == []
    other = an_item(store, "gm", "gm", 4)[0]
    assert [row["id"] for row in similar_to(client, app, other)["items"]] == [decided]


def test_similar_says_that_nothing_is_approved(app: Any, client: TestClient, store: Store) -> None:
    item_id, _ = an_item(store, "gm", "gm", 2)
    assert similar_to(client, app, item_id) == {"items": [], "compared": 0, "note": "No item is approved yet."}
    assert client.get("/api/v1/item/999/similar").status_code == 404


def test_similar_is_refused_for_an_item_withheld_in_a_blind_session(
    app: Any, client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    people(store)
    hidden, sha256 = an_item(store, "gm", "gm", 2)
    approve(store, hidden)
    other, _ = an_item(store, "gm", "gm", 3)
    scoring = type(store.blind.scoring)
    monkeypatch.setattr(scoring, "hidden_items", lambda self, person: frozenset({hidden}))
    monkeypatch.setattr(scoring, "hidden_hashes", lambda self, person: frozenset({sha256}))
    assert similar_to(client, app, other)["items"] == []
    for path in (f"item/{hidden}/similar", f"spectrum/{sha256}/lines", f"spectrum/{sha256}/templates"):
        assert client.get(f"/api/v1/{path}").status_code == 403
    window = {"spectrum": sha256, "lo": 6480, "hi": 6640}
    assert client.get("/api/v1/measure", params=window).status_code == 403
    assert client.get("/api/v1/templates/calspec-vega", params={"spectrum": sha256}).status_code == 403
