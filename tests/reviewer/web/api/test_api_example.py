"""The example of docs/team/api.md as a program against the real app, and the routes of exports and catalogues."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from agent.tasks import load
from reviewer import server
from reviewer.catalogue import bundle
from reviewer.catalogue.facts import Wish
from reviewer.exchange.exports import ExportError
from reviewer.store import Store
from reviewer.web.background.exporting import CatalogueWish, Exporting, ExportWish
from tests.browser.support.review_app import serving
from tests.support import campaign
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, add_approved

ROOT = Path(__file__).resolve().parents[4]
EXAMPLE = ROOT / "docs" / "team" / "example.py"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two approved items, and two that wait: one noisy, one not."""
    with a_store(tmp_path / "campaign.db") as store:
        traces = [(a_trace(s), s) for s in (a_spectrum(f"{name}.fits") for name in "ab")]
        add_approved(store, *traces)
        for name, snr in (("noisy", 4.0), ("good", 40.0)):
            spectrum = campaign.a_spectrum(f"{name}.fits", snr={"r": snr})
            store.spectra.add(spectrum)
            store.items.add(campaign.a_trajectory(spectrum), spectrum.sha256, batch="second")
        yield store


def run(address: str, token: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SPEC_O3_TOKEN": token}
    command = [sys.executable, str(EXAMPLE), address]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_example_comments_and_exports(store: Store, tmp_path: Path) -> None:
    token = store.tokens.make("AA", "example", True, 30)[1]
    with serving(store.path) as address:
        for attempt in range(2):
            folder = tmp_path / f"run-{attempt}"
            folder.mkdir()
            done = run(address, token, folder)
            assert done.returncode == 0, done.stderr
            assert done.stdout.startswith("commented on item 3\nwrote approved-")
            (written,) = folder.glob("approved-*.zip")
            names = zipfile.ZipFile(io.BytesIO(written.read_bytes())).namelist()
            assert f"{written.stem}/manifest.json" in names
            time.sleep(1)  # the name of the next export
        found = store.comments.of_item(3, "AA", False)
        texts = [comment.text for thread in found.threads for comment in thread.comments]
        assert texts == ["S/N below 10: check the continuum."]  # of two runs
        assert store.comments.of_item(4, "AA", False).threads == ()
        refused = run(address, store.tokens.make("AA", "reader", False, 30)[1], tmp_path)
        assert refused.returncode == 1
        assert "may only read" in refused.stderr
        unknown = run(address, "so3_" + "x" * 43, tmp_path)
        assert "no such token" in unknown.stderr


def test_the_example_is_short_and_is_the_one_in_the_document() -> None:
    program = EXAMPLE.read_text(encoding="utf-8")
    assert len(program.splitlines()) <= 40
    document = (EXAMPLE.parent / "api.md").read_text(encoding="utf-8")
    assert f"```python\n{program}```" in document


def test_an_export_of_a_script_is_made_in_the_background(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    token = store.tokens.make("AA", "exports", True, 30)[1]
    script = TestClient(
        server.build(store, local=True), base_url="http://127.0.0.1:7860", headers={"Authorization": f"Bearer {token}"}
    )
    assert script.get("/api/v1/exports/status").json() == {"state": "none"}

    def ended(answer: Any) -> Any:
        status = answer.json()
        while status["state"] == "running":
            time.sleep(0.05)
            status = script.get("/api/v1/exports/status").json()
        return status

    made = ended(script.post("/api/v1/exports", json={"name": "first"}))
    folder = made.pop("folder")
    assert folder.endswith("campaign-exports/first")
    expected = {"name": "first", "state": "done", "done": 1, "total": 2, "export": 1, "error": ""}
    assert made == {**expected, "left_out": [], "batch": None}
    (listed,) = script.get("/api/v1/exports").json()["exports"]
    assert (listed["id"], listed["name"], listed["person"], listed["counts"]["items"]) == (1, "first", "AA", 2)
    again = ended(script.post("/api/v1/exports", json={"name": "first"}))
    assert again["state"] == "failed"
    assert "found an export of that name" in again["error"]
    assert ended(script.post("/api/v1/exports", json={"name": "first", "replace": True}))["export"] == 2
    nothing = ended(script.post("/api/v1/exports", json={"name": "none", "batch": "no such batch"}))
    assert "found no approved item" in nothing["error"]
    for name in ("../up", "", "x" * 81):
        answer = script.post("/api/v1/exports", json={"name": name})
        assert answer.status_code == 422 or ended(answer)["state"] == "failed"
    assert json.loads(script.get("/api/v1/exports/2/manifest").text)["counts"]["items"] == 2


def test_a_second_export_waits_and_a_stopped_one_leaves_no_files(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from reviewer.web.background import exporting as module

    exporting, real = Exporting(store), module.export

    def slow(*given: Any, progress: Any, **more: Any) -> Any:
        def on_progress(done: int, total: int) -> None:
            exporting._stop.wait(20)
            progress(done, total)

        return real(*given, progress=on_progress, **more)

    monkeypatch.setattr(module, "export", slow)
    assert exporting.start("AA", ExportWish("slow"), wait=0.1).state == "running"
    with pytest.raises(module.ExportError, match="The export slow is running"):
        exporting.start("AA", ExportWish("other"), wait=0.1)
    exporting.close()
    # It waits for three seconds only.
    assert exporting._thread is not None
    exporting._thread.join(60)
    assert exporting.status is not None
    assert exporting.status.state == "failed"
    folder = store.path.with_name(f"{store.path.stem}-exports")
    assert list(folder.iterdir()) == []
    assert store.settings.exports() == []


def test_a_catalogue_is_made_in_the_background_and_downloaded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    token = store.tokens.make("AA", "catalogues", True, 30)[1]
    script = TestClient(
        server.build(store, local=True), base_url="http://127.0.0.1:7860", headers={"Authorization": f"Bearer {token}"}
    )
    assert script.get("/api/v1/catalogues").json() == {"last": None, "catalogues": []}

    def made(**wish: Any) -> Any:
        status = script.post("/api/v1/catalogues", json={"name": "first", "task": "cv", **wish}).json()
        while status.get("state") == "running":
            time.sleep(0.05)
            status = script.get("/api/v1/catalogues").json()["last"]
        return status

    status = made(title="Stars", authors=["Ada", "Bo"], licence="CC-BY-4.0")
    folder = store.path.with_name("campaign-catalogues") / "first"
    assert (status["state"], status["error"], status["folder"]) == ("done", "", str(folder))
    assert (status["done"], status["total"]) == (3, 3)
    assert status["numbers"]["left_out"] == {"not decided yet: screening": 2}
    assert script.get("/api/v1/catalogues").json()["catalogues"] == ["first"]
    (job,) = script.get("/api/v1/jobs").json()["jobs"]
    assert (job["kind"], job["catalogue"]) == ("catalogue", "first")
    assert job["report"]["text"] == f"2 objects with 2 spectra in {folder}"
    assert [row["cells"] for row in job["report"]["rows"]] == [["2 items left out", "not decided yet: screening"]]
    packed = script.get("/api/v1/catalogues/first/zip")
    assert packed.headers["content-disposition"] == 'attachment; filename="first.zip"'
    inside = zipfile.ZipFile(io.BytesIO(packed.content))
    files = {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(inside.namelist()) == files
    campaign_facts = json.loads(inside.read("first/data/campaign.json"))
    assert (campaign_facts["title"], campaign_facts["authors"]) == ("Stars", ["Ada", "Bo"])

    assert "expected a new name" in made()["error"]
    assert "expected one of" in made(task="comets")["error"]
    assert "no view" in made(name="other", view=9)["error"]
    assert "expected letters, digits" in made(name="../up")["error"]
    for wrong in ({"title": "x" * 301}, {"view": 10**30}, {"authors": ["A"] * 501}):
        sent = {"name": "a", "task": "cv", **wrong}
        assert script.post("/api/v1/catalogues", json=sent).status_code == 422
    assert made(replace=True)["state"] == "done"
    for name, code in (("none", 404), ("..", 404), ("%2e%2e%2fcampaign", 404), (".a", 409)):
        assert script.get(f"/api/v1/catalogues/{name}/zip").status_code == code, name
    # Of an item that a blind scorer may not know, a catalogue tells even why it is left out.
    for hidden in (1, 3):
        monkeypatch.setattr(type(store.blind.scoring), "hidden_items", lambda self, person, of=hidden: frozenset({of}))
        assert script.get("/api/v1/catalogues/first/zip").status_code == 403
    monkeypatch.setattr(type(store.blind.scoring), "hidden_items", lambda self, person: frozenset({1}))
    assert made(replace=True)["numbers"]["objects"] == 1
    assert script.get("/api/v1/catalogues/first/zip").status_code == 200, "they made it, without that item"


def test_a_stopped_catalogue_leaves_no_files_and_no_export_runs_meanwhile(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporting, real = Exporting(store), bundle.build

    def slow(*given: Any) -> Any:
        *others, progress = given
        exporting._stop.wait(20)
        return real(*others, progress)

    monkeypatch.setattr(bundle, "build", slow)
    wish = CatalogueWish("slow", Wish(load()["cv"]))
    assert exporting.start_catalogue("AA", wish, wait=0.1).state == "running"
    with pytest.raises(ExportError, match="slow is running"):
        exporting.start("AA", ExportWish("other"), wait=0.1)
    exporting.close()
    assert exporting._thread is not None
    exporting._thread.join(60)
    assert exporting.catalogue is not None
    assert (exporting.catalogue.state, exporting.catalogue.error) == ("failed", "The app was stopped.")
    assert list(bundle.folder_of(store).iterdir()) == []
