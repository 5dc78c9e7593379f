"""The routes of the review aids over a real store: answers, access and refusals."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agent.measure import rest
from agent.simulate import simulate
from agent.templates import About, Template, grid
from agent.templates.library import write
from agent.trajectory import Answer, Drafter, Think, Trajectory
from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import TO_VOTE, Desk, people

pytestmark = pytest.mark.usefixtures("without_page")

TASKS = ("gm", "wd", "a", "b", "o", "cc", "ss", "cv")


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
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.settings.set_rules(None, Rules())
        yield store


@pytest.fixture
def app(store: Store) -> Iterator[FastAPI]:
    app = server.build(store, local=True)
    yield app
    app.state.context.similar.close()


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return client_of(app, "RE")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, dict[str, str]]]:
    """A spectrum of each task, for tests that only read; their hashes."""
    with Store.open(tmp_path_factory.mktemp("aids") / "annotations.db") as store:
        people(store)
        yield store, {task: an_item(store, task, task, 1)[1] for task in TASKS}


@pytest.fixture
def get(kept: tuple[Store, dict[str, str]]) -> Callable[..., Any]:
    """Get an answer about a spectrum."""
    client = client_of(kept[0], "RE")

    def answer(path: str, status: int = 200, **query: Any) -> Any:
        given = client.get(f"/api/v1/{path}", params=query)
        assert given.status_code == status, given.text
        return given.json()

    return answer


def test_the_line_table_has_the_lines_of_the_task(get: Callable[..., Any], kept: tuple[Store, dict[str, str]]) -> None:
    path = f"spectrum/{kept[1]['cv']}/lines"
    table = get(path, task="cv")
    assert (table["medium"], table["medium_assumed"]) == ("vacuum", False)
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
    major = get(path, task="nothing")["rows"]
    assert not any(row["of_task"] for row in major)
    assert any(row["name"] == "Hα" for row in major)
    get(f"spectrum/{'0' * 64}/lines", status=404)


def test_a_width_is_measured_by_two_points(get: Callable[..., Any], kept: tuple[Store, dict[str, str]]) -> None:
    window = {"spectrum": kept[1]["cv"], "lo": 6640, "hi": 6480, "frame": "observed", "medium": "vacuum"}
    width = get("measure", **window)
    assert width["ew"]["value"] < -5
    assert width["flux"]["value"] > 0
    assert width["flux"]["unit"].endswith("× Å")
    assert [point[0] for point in width["continuum"]] == [6480.0, 6640.0]
    outside = get("measure", **window | {"lo": 20000, "hi": 21000})
    assert outside["ew"] is None
    assert outside["reason"]
    for wrong in ({"lo": "nan"}, {"lo": -1}, {"frame": "moving"}, {"medium": "water"}, {"z": -1}):
        assert get("measure", status=422, **window | wrong)["kind"] == "bad_request", wrong


def test_templates_are_ranked_and_brought_onto_the_spectrum(
    get: Callable[..., Any], kept: tuple[Store, dict[str, str]]
) -> None:
    store, (sha256, cv) = kept[0], (kept[1]["b"], kept[1]["cv"])
    ranked = get(f"spectrum/{sha256}/templates", task="b")
    best = ranked["matches"][0]
    assert [row["rank"] for row in ranked["matches"]] == list(range(1, 11))
    assert best["class"] in ("B", "A", "O")
    chi2 = [row["reduced_chi2"] for row in ranked["matches"]]
    assert chi2 == sorted(chi2)
    classes = [row["class"] for row in ranked["best_of_class"]]
    assert len(classes) == len(set(classes)) > 5
    assert all(abs(row["velocity"]) < 1100 and 0.6 <= row["overlap"] <= 1.0 for row in ranked["matches"])
    assert "No template of the class of the question (CV)" in get(f"spectrum/{cv}/templates", task="cv")["note"]
    template = get(f"templates/{best['id']}", spectrum=sha256)
    assert (template["medium"], template["frame"]) == ("vacuum", "rest")
    assert len(template["wavelength"]) == len(template["flux"]) == len(template["multiplier"]) > 1000
    assert template["z"] == pytest.approx(best["z"], abs=1e-6)
    assert template["licence"] in ("MIT", "BSD-3-Clause")
    assert template["citation"]
    wavelength = np.array(template["wavelength"]) * (1 + template["z"])
    model = np.array(template["flux"]) * np.array(template["multiplier"])
    spectrum = store.spectra.get(sha256)
    inside = (spectrum.wavelength > 4500) & (spectrum.wavelength < 7000)
    ratio = spectrum.flux[inside] / np.interp(spectrum.wavelength[inside], wavelength, model)
    assert np.median(ratio) == pytest.approx(1.0, abs=0.02)


def test_a_template_that_was_not_ranked_is_brought_to_the_level_of_the_spectrum(
    get: Callable[..., Any], kept: tuple[Store, dict[str, str]]
) -> None:
    store, sha256 = kept[0], kept[1]["b"]
    quasar = "templates/sdss-dr2-templates-sdss-030-bal-quasar"
    template = get(quasar, spectrum=sha256)
    assert template["ranked"] is False
    assert set(template["multiplier"]) == {template["multiplier"][0]}
    # Data at rest keep their redshift as a fact only.
    at_rest = rest(replace(store.spectra.get(sha256), redshift=0.1), 0.1)
    assert (at_rest.frame, at_rest.redshift) == ("rest", 0.1)
    template = get(quasar, spectrum=store.spectra.add(at_rest))
    assert (template["ranked"], template["z"]) == (False, 0.0)
    get("templates/nothing", status=404, spectrum=sha256)
    get("templates/nothing", status=422)


@pytest.mark.parametrize("task", TASKS)
def test_the_loci_have_templates_and_the_spectrum_or_the_reason(
    get: Callable[..., Any], kept: tuple[Store, dict[str, str]], task: str
) -> None:
    plots = get(f"spectrum/{kept[1][task]}/loci", task=task)["plots"]
    assert plots
    for plot in plots:
        assert plot["title"]
        assert plot["x"]["name"]
        assert len(plot["points"]) > 10
        assert (plot["this"] is None) == bool(plot["reason"])
    placed = [plot["this"] for plot in plots if plot["this"]]
    assert placed
    assert all(place["x_error"] > 0 and place["y_error"] > 0 for place in placed)
    assert get(f"spectrum/{kept[1][task]}/loci", task="tns") == {"plots": []}


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


def similar_to(client: TestClient, app: FastAPI, item_id: int) -> Any:
    client.get(f"/api/v1/item/{item_id}/similar")
    app.state.context.similar.wait(120)
    return client.get(f"/api/v1/item/{item_id}/similar").json()


def test_the_most_similar_approved_spectra_come_first(app: FastAPI, client: TestClient, store: Store) -> None:
    known = {task: [an_item(store, task, task, seed)[0] for seed in (2, 3, 4)] for task in ("gm", "wd")}
    for items in known.values():
        for item_id in items:
            approve(store, item_id)
    open_items = {task: an_item(store, task, task, 1)[0] for task in known}
    for task, item_id in open_items.items():
        shown = similar_to(client, app, item_id)
        assert (shown["compared"], shown["note"]) == (6, "")
        assert {row["id"] for row in shown["items"][:3]} == set(known[task])
        distance = [row["distance"] for row in shown["items"]]
        hashes = [store.items.get(row["id"]).row.spectrum_sha256 for row in shown["items"]]
        assert [row["spectrum"] for row in shown["items"]] == hashes
        assert distance == sorted(distance)
        assert {(row["verdict"], row["state"]) for row in shown["items"]} == {("YES", "approved")}
    same, _ = an_item(store, "gm", "ss", 2)
    shown = similar_to(client, app, same)
    assert shown["compared"] == 6
    assert known["gm"][0] not in [row["id"] for row in shown["items"]], "another item of the same spectrum"


def test_similar_says_that_nothing_is_approved(app: FastAPI, client: TestClient, store: Store) -> None:
    item_id, _ = an_item(store, "gm", "gm", 2)
    assert similar_to(client, app, item_id) == {"items": [], "compared": 0, "note": "No item is approved yet."}
    assert client.get("/api/v1/item/999/similar").status_code == 404


def test_similar_is_refused_for_an_item_withheld_in_a_blind_session(
    app: FastAPI, client: TestClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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


# ---- sparklines


def test_sparklines_are_sent_by_hash_and_by_template(
    get: Callable[..., Any], kept: tuple[Store, dict[str, str]]
) -> None:
    one, other = kept[1]["cv"], kept[1]["gm"]
    paths = get("sparklines", of=f"{one},{other},{one},{'0' * 64}")["sparklines"]
    assert set(paths) == {one, other}
    assert all(path.startswith("M") and 150 < len(path) < 700 for path in paths.values())
    assert paths[one] != paths[other]
    templates = get("sparklines", of=f"template:calspec-vega,{one},template:none")["sparklines"]
    assert set(templates) == {"template:calspec-vega", one}
    assert get("sparklines", of=",".join([one] * 200))["sparklines"] == {one: paths[one]}
    for wrong in ("", ",", ",".join([one] * 201)):
        assert get("sparklines", status=422, of=wrong)["kind"] == "bad_request", wrong


def test_the_browser_keeps_sparklines_that_can_never_change(client: TestClient, store: Store) -> None:
    item, sha256 = an_item(store, "cv", "cv", 1)

    def kept_by_browser(of: str) -> bool:
        header = client.get("/api/v1/sparklines", params={"of": of}).headers["cache-control"]
        assert header == "no-store" or "immutable" in header
        return header != "no-store"

    assert kept_by_browser(sha256)
    assert not kept_by_browser(f"item-{item}")
    assert not kept_by_browser("template:calspec-vega")
    assert not kept_by_browser(f"{sha256},{'0' * 64}"), "it may be stored tomorrow"


def test_a_sparkline_that_cannot_be_drawn_is_left_out(client: TestClient, store: Store) -> None:
    hashes = [an_item(store, "cv", "cv", seed)[1] for seed in (1, 2)]
    store.spectra.move_to_files()
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("DELETE FROM sparklines")
        db.commit()
    store.spectra.files.path(hashes[0]).unlink()
    assert set(client.get("/api/v1/sparklines", params={"of": ",".join(hashes)}).json()["sparklines"]) == {hashes[1]}


def test_sparklines_of_the_bench_are_ones_own(app: FastAPI, client: TestClient) -> None:
    text = "".join(f"{4000 + 2 * n} {1 + n / 1000}\n" for n in range(1000))
    added = client.post("/api/v1/live/files", files={"files": ("a.txt", text.encode())}).json()["added"]
    query = {"of": added[0]["spectrum"]}
    assert client.get("/api/v1/sparklines", params=query).json()["sparklines"][query["of"]].startswith("M")
    assert client_of(app, "AU").get("/api/v1/sparklines", params=query).json()["sparklines"] == {}


def test_sparklines_are_sent_although_they_cannot_be_kept(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    kept = store.spectra.sparklines([sha256])
    with closing(sqlite3.connect(store.path)) as db:
        db.execute("DELETE FROM sparklines")
        db.commit()
    store.database.writer.execute("PRAGMA query_only = ON")
    assert client.get("/api/v1/sparklines", params={"of": sha256}).json()["sparklines"] == kept
