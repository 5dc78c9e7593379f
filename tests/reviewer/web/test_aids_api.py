"""The routes of the review aids over a real store: answers, access and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent.simulate import simulate
from agent.trajectory import Answer, Drafter, Think, Trajectory
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from reviewer.web import app as server

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
def app(store: Store) -> Any:
    return server.build(store, local=True)


@pytest.fixture
def client(app: Any) -> TestClient:
    client = TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)
    answer = client.post("/sign-in", data={"initials": "RV", "password": PASSWORD})
    assert answer.status_code == 303, answer.text
    return client


def test_the_aids_need_a_session_and_a_stored_spectrum(app: Any, client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    nobody = TestClient(app, base_url="http://127.0.0.1")
    assert nobody.get(f"/api/spectrum/{sha256}/lines").status_code == 401
    assert nobody.get("/api/measure", params={"spectrum": sha256, "lo": 6400, "hi": 6700}).status_code == 401
    assert client.get(f"/api/spectrum/{'0' * 64}/lines").status_code == 404


def test_the_line_table_has_the_lines_of_the_task(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    table = client.get(f"/api/spectrum/{sha256}/lines", params={"task": "cv"}).json()
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
    assert set(at) == {"centroid", "velocity", "fwhm", "ew", "sky", "reason"}
    assert table["velocity"]["lines"] >= 2
    assert isinstance(table["velocity"]["agree"], bool)


def test_an_unknown_task_gives_the_major_lines(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    table = client.get(f"/api/spectrum/{sha256}/lines", params={"task": "nothing"}).json()
    assert not any(row["of_task"] for row in table["rows"])
    assert any(row["name"] == "Hα" for row in table["rows"])


def test_a_width_is_measured_by_two_points(client: TestClient, store: Store) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    window = {"spectrum": sha256, "lo": 6640, "hi": 6480, "frame": "observed", "medium": "vacuum"}
    found = client.get("/api/measure", params=window).json()
    assert found["ew"]["value"] < -5
    assert found["flux"]["value"] > 0
    assert found["flux"]["unit"].endswith("× Å")
    assert [point[0] for point in found["continuum"]] == [6480.0, 6640.0]
    nothing = client.get("/api/measure", params={**window, "lo": 20000, "hi": 21000}).json()
    assert nothing["ew"] is None
    assert nothing["reason"]


@pytest.mark.parametrize("wrong", [{"lo": "nan"}, {"lo": -1}, {"frame": "moving"}, {"medium": "water"}, {"z": -1}])
def test_a_window_that_cannot_be_is_refused(client: TestClient, store: Store, wrong: dict[str, Any]) -> None:
    _, sha256 = an_item(store, "cv", "cv", 1)
    sent = {"spectrum": sha256, "lo": 6480, "hi": 6640, **wrong}
    answer = client.get("/api/measure", params=sent)
    assert answer.status_code == 422
    assert answer.json()["kind"] == "bad_request"
