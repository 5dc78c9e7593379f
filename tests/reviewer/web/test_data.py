"""Routes of the Data tab: batches, draft runs, imports, annotations, exports, withdrawals, backups."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agent.conversation import PolicyError
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.tasks import load
from agent.trajectory import Think
from reviewer import server
from reviewer.backup.backups import DailyBackups
from reviewer.cli.exchange import _import_summary
from reviewer.exchange.imports import Findings, import_file, own_row
from reviewer.store import ImportJob, Selection, Store
from reviewer.web.background.drafting import DraftWish, FileOutcome, draft
from reviewer.web.bodies import UPLOAD_FOLDER
from reviewer.web.reports import export_in_words, import_report
from tests.reviewer.web.conftest import client_of
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, a_spectrum, a_trajectory, an_item, people
from tests.support.drawn_traces import a_spectrum as drawn_spectrum
from tests.support.drawn_traces import a_store, a_trace, add_approved

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        yield store


def test_exports_are_described_in_words() -> None:
    counts = {"items": 1, "pictures": 1234, "simulated": 1, "by_one_person": 1}
    counts |= {"tasks": {"cv": 1}, "drafters": {"baseline": 1}}
    words = export_in_words({"counts": counts}).split(" · ")
    assert words[:3] == ["1 item", "1\u202f234 pictures", "cv 1"]
    assert words[3:] == ["drafted by baseline 1", "1 simulated", "1 reviewed by one person alone"]


def desi_coadd(path: Path) -> Path:
    """Three simulated DESI targets in one file."""
    spectra = [simulate(kind, "DESI", 25.0, seed) for seed, kind in enumerate(("cv", "wd", "a"))]
    hdus = [fits.PrimaryHDU(), fits.BinTableHDU(Table({"TARGETID": [101, 102, 103]}), name="FIBERMAP")]
    for arm, low, high in (("B", 3600, 5800), ("R", 5760, 7620), ("Z", 7520, 9824)):
        grid = np.arange(low, high, 0.8)
        flux = [np.interp(grid, s.wavelength, s.flux) for s in spectra]
        ivar = [np.interp(grid, s.wavelength, s.ivar) for s in spectra]
        hdus.append(fits.ImageHDU(grid, name=f"{arm}_WAVELENGTH"))
        hdus.append(fits.ImageHDU(np.array(flux, np.float32), name=f"{arm}_FLUX"))
        hdus.append(fits.ImageHDU(np.array(ivar, np.float32), name=f"{arm}_IVAR"))
    fits.HDUList(hdus).writeto(path)
    return path


def drafts(store: Store, *paths: Path, **other: Any) -> Iterator[tuple[FileOutcome, ...]]:
    return draft(store, DraftWish(paths, load()["cv"], Baseline, **other))


def last(store: Store, path: Path, **other: Any) -> FileOutcome:
    """The result of one file."""
    (outcome,) = list(drafts(store, path, **other))[-1]
    return outcome


def test_every_target_of_a_file_becomes_an_item_and_is_reported_at_once(store: Store, tmp_path: Path) -> None:
    path = desi_coadd(tmp_path / "coadd.fits")
    skipped = last(store, path, min_snr=1e6)
    assert (skipped.added, skipped.problems, len(skipped.skipped)) == ((), (), 3)
    assert all("expected 1e+06 or more" in reason for reason in skipped.skipped)
    drafting = drafts(store, path, batch="night 1")
    (first,) = next(drafting)[0].added
    drafting.close()
    assert store.items.get(first).standing.state == "screening", "drafts that were made before a stop stay"
    outcomes = [outcome for (outcome,) in drafts(store, path, batch="night 1")]
    assert [len(o.added) for o in outcomes] == [0, 1, 2, 2]
    assert outcomes[-1].done
    assert {store.items.get(i).row.batch for i in outcomes[-1].added} == {"night 1"}
    assert (outcomes[-1].known, outcomes[-1].problems) == ((first,), ())


def test_the_medium_can_be_stated_for_files_that_do_not(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "star.csv"
    path.write_text("wavelength,flux\n" + "\n".join(f"{w},{1 + w % 7}" for w in range(4000, 8000, 2)))
    outcome = last(store, path, medium="vacuum")
    item = store.items.get(outcome.added[0])
    spectrum = store.spectra.get(item.row.spectrum_sha256)
    assert (spectrum.medium, spectrum.meta["medium_set_by"]) == ("vacuum", "option")
    assert "medium_assumed" not in spectrum.meta
    assert (item.version.trajectory.medium, item.version.trajectory.medium_set_by) == ("vacuum", "option")
    stated = last(store, desi_coadd(tmp_path / "coadd.fits"), medium="air")
    assert store.items.get(stated.added[0]).version.trajectory.medium == "vacuum"


def test_a_draft_of_a_spectrum_that_is_here_with_another_text_is_left_out(store: Store, tmp_path: Path) -> None:
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    first = run(spectrum, load()["cv"], Baseline())
    other = first.with_steps((Think("t1", "Another text."), *first.steps[1:]))
    here = store.items.add(other, store.spectra.add(spectrum))
    path = tmp_path / "again.json"
    path.write_text(json.dumps(spectrum.to_json()))
    left = last(store, path, leave_out_others=True)
    assert (left.added, left.known, left.others) == ((), (), (here,))
    made = last(store, path)
    assert (len(made.added), made.others) == (1, (here,))


def test_a_problem_does_not_repeat_the_name_of_the_file_and_gives_the_line(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "mail.csv"
    path.write_text("wavelength,flux\n4000,1\n\n4001,please find attached\n")
    (problem,) = last(store, path).problems
    assert problem.startswith("found 'please find attached' in line 4, column 2, which is no number; expected lines")
    assert "mail.csv" not in problem


# ---- the end of an import in words


def imported(store: Store, path: Path, texts: list[str], **other: Any) -> tuple[ImportJob, Findings]:
    spectrum = a_spectrum()
    rows = [own_row(a_trajectory(spectrum, text), spectrum) if text else {} for text in texts]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    import_file(store, path, **other)
    job = store.imports.latest()
    assert job is not None
    return job, Findings.of(job)


def test_a_refused_file_is_not_said_to_have_nothing_new(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one", "two"])
    refused = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""])
    assert (refused[0].state, refused[1].known, refused[1].bad) == ("refused", 2, 1)
    assert "Nothing was imported: 1 row cannot be used." in import_report(store, [refused]).text
    added = imported(store, tmp_path / "third.jsonl", ["three", "four"])
    both = import_report(store, [refused, added]).text
    assert "2 new items in the queue. Nothing was imported from second.jsonl: 1 row cannot be used." in both
    skipped = imported(store, tmp_path / "second.jsonl", ["one", "two", "new", ""], skip_bad=True)
    assert "1 new item in the queue. " in import_report(store, [skipped]).text
    assert "1 row skipped." in import_report(store, [skipped]).text


def test_a_file_that_waits_for_a_choice_is_not_said_to_have_bad_rows(store: Store, tmp_path: Path) -> None:
    imported(store, tmp_path / "first.jsonl", ["one"])
    job, found = imported(store, tmp_path / "second.jsonl", ["another"], same_spectrum="ask")
    assert job.state == "refused"
    assert _import_summary(job, found, {}).startswith("nothing imported: 1 row of a spectrum that is here")
    assert "1 row of spectra that are here already" in import_report(store, [(job, found)]).text


# ---- the routes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which Gradio stores uploads."""
    folder = tmp_path / "uploads"
    (folder / "hash").mkdir(parents=True)
    monkeypatch.setenv(UPLOAD_FOLDER, str(folder))
    return folder / "hash"


@pytest.fixture
def app(store: Store, tmp_path: Path) -> FastAPI:
    return server.build(store, local=True, import_from=[tmp_path / "allowed"])


def a_star(path: Path, number: int = 1) -> str:
    rows = "\n".join(f"{w},{1 + (w * number) % 11}" for w in range(4000, 8000, 2))
    path.write_text(f"wavelength,flux\n{rows}\n")
    return str(path)


def ended(client: TestClient, kind: str, *imports: int) -> dict[str, Any]:
    """The last job of this kind, once it has ended."""
    for _ in range(6000):
        jobs = client.get("/api/v1/jobs", params={"import": imports}).json()["jobs"]
        (job,) = [job for job in jobs if job["kind"] == kind]
        if not job["running"]:
            return dict(job)
        time.sleep(0.01)
    raise AssertionError(job)


def test_batches_are_listed_with_their_items_by_state_and_agreement(store: Store, app: FastAPI) -> None:
    first, second = (an_item(store, number) for number in (1, 2))
    other = store.items.add(a_trajectory(a_spectrum()), store.spectra.add(a_spectrum()), batch="<b>")
    desk = Desk(store)
    desk.until(first, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    desk.until(second, *TO_AUDIT)
    store.withdrawals.withdraw("CO", Selection("<b>"))
    answer = client_of(app, "RE").get("/api/v1/batches").json()
    assert (answer["may_manage"], answer["folders"], answer["backups"]) == (False, [], None)
    newest, night = answer["batches"]
    assert (newest["name"], newest["states"], newest["last"]) == ("<b>", {"withdrawn": 1}, other)
    assert (night["items"], night["states"]) == (2, {"approved": 1, "audit": 1})
    assert (night["compared"], night["disagreed"]) == (1, 0)
    assert client_of(app, "CO").get("/api/v1/batches").json()["backups"]["tone"] == "look"


def test_spectra_are_drafted_in_the_background_and_each_refusal_is_named(
    store: Store, app: FastAPI, folder: Path
) -> None:
    bad = folder / "notes <b>.txt"
    bad.write_text("no spectrum")
    client = client_of(app, "CO")
    body = {"files": [str(bad), a_star(folder / "star.csv")], "task": "cv", "policy": "baseline", "batch": " night "}
    assert client.post("/api/v1/drafts", json=body).status_code == 200
    job = ended(client, "draft")
    assert (job["batch"], job["added"], job["fraction"]) == ("night", 1, 1.0)
    assert job["report"]["text"] == "1 new item in the queue. 1 of 2 files had a problem."
    refused, drafted = job["report"]["rows"]
    assert refused["cells"][0] == "notes <b>.txt"
    assert refused["cells"][1].startswith("refused: found")
    assert (refused["tone"], drafted["cells"]) == ("bad", ["star.csv", "drafted: 1 item #1"])
    row = store.items.get(1).row
    assert (row.task, row.batch, row.drafter_kind) == ("cv", "night", "baseline")
    again = {**body, "files": body["files"][1:], "policy": "nano", "medium": "vacuum", "same_spectrum": "import"}
    assert client.post("/api/v1/drafts", json=again).status_code == 200
    assert ended(client, "draft")["added"] == 1
    assert store.items.get(2).row.drafter_name.startswith("nano")
    assert client.post("/api/v1/drafts/stop").status_code == 200
    assert client.get("/api/v1/jobs").json() == {"jobs": []}, "the result was closed"


def test_a_draft_run_is_stopped_and_only_one_runs_at_a_time(
    app: FastAPI, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    turn = Baseline.turn

    def held(self: Baseline, conversation: Any) -> Any:
        begun.set()
        assert goes_on.wait(60)
        return turn(self, conversation)

    monkeypatch.setattr(Baseline, "turn", held)
    client = client_of(app, "CO")
    files = [a_star(folder / f"star{number}.csv", number) for number in (1, 2, 3, 4)]
    body = {"files": files, "task": "cv", "policy": "baseline"}
    assert client.post("/api/v1/drafts", json=body).json()["jobs"][0]["running"]
    assert begun.wait(60)
    refused = client.post("/api/v1/drafts", json=body)
    assert (refused.status_code, "Wait for their end" in refused.json()["error"]) == (409, True)
    client.post("/api/v1/drafts/stop")
    goes_on.set()
    job = ended(client, "draft")
    assert job["report"]["text"].startswith("Stopped. Items drafted so far are in the queue.")
    assert job["added"] < len(files)


def test_a_policy_that_always_fails_ends_the_run_with_its_message(
    app: FastAPI, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Baseline, conversation: Any) -> Any:
        raise PolicyError("the model is gone")

    monkeypatch.setattr(Baseline, "turn", fails)
    files = [a_star(folder / f"star{number}.csv", number) for number in range(1, 20)]
    client = client_of(app, "CO")
    client.post("/api/v1/drafts", json={"files": files, "task": "cv", "policy": "baseline"})
    job = ended(client, "draft")
    assert (job["added"], job["report"]["tone"]) == (0, "bad")
    assert "inspections in a row failed, the last one: PolicyError: the model is gone." in job["report"]["text"]


@pytest.mark.parametrize("route", ["drafts", "imports", "annotations"])
def test_only_uploaded_files_are_read(app: FastAPI, folder: Path, tmp_path: Path, route: str) -> None:
    secret = tmp_path / "secret.csv"
    a_star(secret)
    link = folder / "link.csv"
    link.symlink_to(secret)
    (tmp_path / "uploads-of-others").mkdir()
    beside = a_star(tmp_path / "uploads-of-others" / "star.csv")
    drafting = {"task": "cv", "policy": "baseline"} if route == "drafts" else {}
    client = client_of(app, "CO")
    outside = [str(secret), str(link), beside, f"{folder}/../../secret.csv", str(folder), "relative.csv", "a\0b", ""]
    for path in outside:
        answer = client.post(f"/api/v1/{route}", json={"files": [path], **drafting})
        assert answer.status_code == 422, path
        assert "found no uploaded file of this name" in answer.json()["error"]
    assert client.get("/api/v1/jobs").json() == {"jobs": []}


def test_files_of_the_server_are_read_in_its_folders_only(store: Store, app: FastAPI, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    a_star(allowed / "star.csv")
    a_star(tmp_path / "other.csv")
    client = client_of(app, "CO")
    drafting = {"files": [], "task": "cv", "policy": "baseline"}
    for route, body in (("drafts", drafting), ("imports", {"files": []})):
        refused = client.post(f"/api/v1/{route}", json={**body, "on_server": str(tmp_path / "other.csv")})
        assert "expected a file or folder inside" in refused.json()["error"]
        assert client.post(f"/api/v1/{route}", json=body).json()["error"] == "Add a file first."
    assert client.post("/api/v1/drafts", json={**drafting, "on_server": str(allowed)}).status_code == 200
    assert ended(client, "draft")["added"] == 1
    assert store.items.get(1).row.batch.startswith("added 20"), "each addition can be taken back"


def test_rows_are_imported_and_what_is_bad_is_listed(store: Store, app: FastAPI, folder: Path) -> None:
    spectrum = a_spectrum()
    rows = [json.dumps(own_row(a_trajectory(spectrum, "one"), spectrum)), "{}"]
    (folder / "rows.jsonl").write_text("\n".join(rows))
    client = client_of(app, "CO")
    body: dict[str, Any] = {"files": [str(folder / "rows.jsonl")], "batch": "night"}
    (job,) = client.post("/api/v1/imports", json=body).json()["jobs"]
    refused = ended(client, "import", *job["imports"])["report"]
    assert (refused["tone"], refused["rows"][0]["cells"][:2]) == ("bad", ["rows.jsonl", "2"])
    (job,) = client.post("/api/v1/imports", json={**body, "skip_bad": True}).json()["jobs"]
    done = ended(client, "import", *job["imports"])
    assert (done["added"], done["batch"], done["report"]["text"]) == (
        1,
        "night",
        "1 new item in the queue. 1 row skipped.",
    )
    assert client.get("/api/v1/jobs").json() == {"jobs": []}, "a finished import is shown to who started it"
    resumed = client.post("/api/v1/imports/resume", json={"imports": job["imports"]})
    assert resumed.status_code == 200
    assert client.post("/api/v1/imports/cancel", json={"imports": [999]}).status_code == 200


def test_a_batch_is_withdrawn_and_restored(store: Store, app: FastAPI) -> None:
    items = [an_item(store, number) for number in (1, 2, 3)]
    store.leases.take("RE", items[0])
    client = client_of(app, "CO")

    def act(**body: str) -> dict[str, Any]:
        return dict(client.post("/api/v1/withdrawals", json={"batch": "november", **body}).json())

    preview = act()
    assert (preview["free"], preview["withdrawn"]) == (2, 0)
    text = f"3 items, 1 of them touched by people. These stay: #{items[0]} (open now)."
    assert preview["report"]["text"] == text
    assert "expected one item number" in act(items="none")["error"]
    assert act(items=str(items[1]))["free"] == 1
    assert act(act="withdraw")["report"]["text"] == "2 items withdrawn."
    assert [store.items.standing(item).state for item in items] == ["screening", "withdrawn", "withdrawn"]
    assert act(act="restore")["report"]["text"] == "2 items restored: in screening again."


def test_an_export_says_where_it_is_and_what_is_in_it(tmp_path: Path) -> None:
    with a_store(tmp_path / "annotations.db") as store:
        traces = [(a_trace(spectrum), spectrum) for spectrum in (drawn_spectrum("a.fits"),)]
        add_approved(store, *traces)
        store.accounts.add_person("RE", "Rosa", ["reviewer"])
        app = server.build(store, local=True)
        client = client_of(app, "AA")
        client.post("/api/v1/exports", json={"name": "first", "batch": "first"})
        job = ended(client, "export")
        folder = tmp_path / "annotations-exports" / "first"
        assert (job["batch"], job["report"]["tone"]) == ("first", "good")
        assert job["report"]["text"].startswith("1 item · ")
        assert job["report"]["text"].endswith(f". Written to {folder}")
        (listed,) = client.get("/api/v1/exports").json()["exports"]
        assert (listed["folder"], listed["words"].split(" · ")[0]) == (str(folder), "1 item")
        assert client_of(app, "RE").get("/api/v1/exports").json()["exports"][0]["folder"] is None
        app.state.exporting.close()


def test_backups_are_made_where_the_app_makes_any(store: Store, app: FastAPI, tmp_path: Path) -> None:
    without = client_of(app, "CO").post("/api/v1/backups").json()
    assert "without backups" in without["text"]
    client = client_of(server.build(store, local=True, backups=DailyBackups(store, tmp_path / "backups")), "CO")
    assert client.post("/api/v1/backups").json()["text"].endswith("was made and checked.")
    assert client.get("/api/v1/batches").json()["backups"]["text"].startswith("The last was made today")
