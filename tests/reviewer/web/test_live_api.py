"""The Live tab's HTTP routes: bench, runs, event streams, downloads, review and access."""

from __future__ import annotations

import io
import itertools
import json
import re
import struct
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from astropy.io import fits
from astropy.table import Table
from fastapi import FastAPI
from PIL import Image

from agent.plot import pixels_sha256
from agent.policies.roster import Roster
from agent.policies.servers import Server
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks.trained import import_prompts, save
from agent.trajectory import Trajectory
from reviewer import server
from reviewer.exchange.imports import import_file
from reviewer.live import bench as live_bench
from reviewer.live import runs as live_runs
from reviewer.store import QueueFilter, Store
from reviewer.web.auth import ALONE, COOKIE
from reviewer.web.live import Live
from tests.reviewer.web.conftest import client_of, serving
from tests.support.model_server import BadServer, Endless, Say, Stall, answer, look, talking
from tests.support.training_data import specvi_file, specvi_row

pytestmark = pytest.mark.usefixtures("without_page")


def as_text(spectrum: Spectrum) -> bytes:
    """A spectrum as the text file that a person might drop."""
    rows = zip(spectrum.wavelength, spectrum.flux, strict=True)
    return b"# wavelength flux\n" + "".join(f"{w:.4f} {f:.6g}\n" for w, f in rows).encode()


CV = as_text(simulate("cv", "LAMOST", 25.0, 1))
_NUMBER = itertools.count(1)


def fresh() -> bytes:
    """A file with a new spectrum."""
    return CV + f"{9200 + next(_NUMBER)}.0 80.0\n".encode()


def several(count: int) -> bytes:
    """A Marz file of several objects."""
    wave = np.linspace(4000.0, 9000.0, 400)
    noise = np.random.default_rng(1).normal(10, 1, (count, 400))
    fibres = Table({"NAME": [f"object {n}" for n in range(count)], "TYPE": ["P"] * count})
    hdus = [
        fits.PrimaryHDU(noise),
        fits.ImageHDU(np.ones((count, 400)), name="VARIANCE"),
        fits.ImageHDU(np.tile(wave, (count, 1)), name="WAVELENGTH"),
        fits.BinTableHDU(fibres, name="FIBRES"),
    ]
    packed = io.BytesIO()
    fits.HDUList(hdus).writeto(packed)
    return packed.getvalue()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store.open(tmp_path_factory.mktemp("live") / "annotations.db")
    for initials in ("AB", "CD"):
        store.accounts.add_person(initials, f"Person {initials}", ["reviewer"])
    yield store
    store.close()


@pytest.fixture(scope="module")
def built(store: Store) -> FastAPI:
    return server.build(store, local=True, roster=Roster(()))


@pytest.fixture
def app(built: FastAPI) -> Iterator[FastAPI]:
    """The app with empty benches and no runs."""
    built.state.live.close()
    built.state.live = Live(built.state.context, Roster(()))
    yield built
    built.state.live.close()


@contextmanager
def model_server(app: FastAPI, *answers: Any, **more: Any) -> Iterator[BadServer]:
    """A model server with these answers, as "m" in the roster."""
    with BadServer(answers[0] if len(answers) == 1 and callable(answers[0]) else answers) as model:
        app.state.live.roster = Roster([Server(key="m", url=model.url, **more)])
        yield model


@contextmanager
def browser(app: FastAPI, url: str | None = None) -> Iterator[httpx.Client]:
    """A client with AB's session of the served app; ``url``: where it is served already."""
    cookies = {COOKIE: f"{ALONE}AB"}
    with (
        serving(app) if url is None else nullcontext((url, None)) as (where, _),
        httpx.Client(base_url=where, timeout=60, cookies=cookies) as client,
    ):
        yield client


def add_to_bench(client: httpx.Client, content: bytes | None = None, name: str = "cv.txt") -> dict[str, Any]:
    files = {"files": (name, fresh() if content is None else content)}
    answered = client.post("/api/v1/live/files", files=files).json()
    assert answered["problems"] == []
    row: dict[str, Any] = answered["added"][0]
    return row


def start(client: httpx.Client, **fields: Any) -> str:
    body = {"task": "cv", "policy": "baseline", **fields}
    if "bench" not in body:
        body["bench"] = add_to_bench(client)["id"]
    started = client.post("/api/v1/live/runs", json=body)
    assert started.status_code == 200, started.text
    run: str = started.json()["run"]
    return run


def numbered_events(client: httpx.Client, run: str, **headers: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The numbered events of a run, as they arrive."""
    with client.stream("GET", f"/api/v1/live/runs/{run}/events", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        number = 0
        for line in stream.iter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                yield number, json.loads(line[6:])


def all_events(client: httpx.Client, run: str) -> list[dict[str, Any]]:
    return [event for _, event in numbered_events(client, run)]


# ---- a whole run


def test_a_dropped_file_is_run_watched_and_sent_to_review(app, store):
    client = client_of(app, "AB")
    row = add_to_bench(client)
    run = start(client, bench=row["id"])
    events = all_events(client, run)
    assert [events[0]["kind"], events[-1]] == ["started", {"kind": "over", "state": "done"}]
    about = client.get(f"/api/v1/live/runs/{run}").json()
    trace = Trajectory.from_json(about["traces"][0])
    assert (trace.drafter.kind, trace.answer.verdict) == ("baseline", "YES")
    assert about["consensus"]["verdict"] == "YES"
    assert set(about["hints"][0]) == {zoom.id for zoom in trace.zooms}
    (shown,) = client.get("/api/v1/live/bench").json()
    assert (shown["runs"], shown["verdict"]) == ([run], "YES")
    sent = client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]}).json()
    again = client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]}).json()
    (item,) = sent["items"]
    assert (item["new"], again["items"]) == (True, [{"item": item["item"], "new": False}])
    queued = store.queue.page(QueueFilter(batch="live", text=f"#{item['item']}"), "AB").rows[0]
    assert (queued.item_id, queued.state) == (item["item"], "screening")
    assert store.items.get(queued.item_id).version.trajectory == trace


def test_the_spectrum_and_the_pictures_of_a_run_are_those_that_the_model_saw(app):
    client = client_of(app, "AB")
    row = add_to_bench(client)
    raw = client.get(f"/api/v1/live/spectrum/{row['spectrum']}").content
    length = struct.unpack("<I", raw[:4])[0]
    assert json.loads(raw[4 : 4 + length])["name"] == "cv.txt"
    run = start(client, bench=row["id"])
    zooms = [e for e in all_events(client, run) if e["kind"] == "looked"]
    for event in zooms:
        png = client.get(f"/api/v1/live/runs/{run}/picture/{event['picture']}").content
        assert pixels_sha256(Image.open(io.BytesIO(png))) == event["picture"]
    assert client.get(f"/api/v1/live/runs/{run}/picture/{'0' * 64}").status_code == 404


def test_downloads_can_be_opened_and_imported(app, store, tmp_path):
    client = client_of(app, "AB")
    run = start(client)
    all_events(client, run)
    sheet = client.get(f"/api/v1/live/runs/{run}/strip.png")
    assert Image.open(io.BytesIO(sheet.content)).size[0] > 800
    assert sheet.headers["content-disposition"] == 'attachment; filename="cv.txt_cv_strip.png"'
    trace = client.get(f"/api/v1/live/runs/{run}/trace.json")
    file = tmp_path / "trace.json"
    file.write_bytes(trace.content)
    assert len(import_file(store, file).added) == 1
    packed = zipfile.ZipFile(io.BytesIO(client.get(f"/api/v1/live/runs/{run}/report.zip").content))
    assert packed.testzip() is None
    assert packed.read("trace.json") == trace.content
    report = packed.read("report.md").decode()
    for name in packed.namelist():
        if name.startswith("pictures/"):
            assert f"]({name})" in report
            Image.open(io.BytesIO(packed.read(name))).verify()


def test_a_library_spectrum_is_found_added_and_its_trace_replayed(app, store):
    client = client_of(app, "AB")
    run = start(client, bench=add_to_bench(client, name="for the library.txt")["id"])
    all_events(client, run)
    client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]})
    (found,) = client.get("/api/v1/live/library", params={"q": "for the library"}).json()
    assert client.get("/api/v1/live/library", params={"q": "nothing like it"}).json() == []
    row = client.post("/api/v1/live/bench", json={"item": found["item"]}).json()
    assert row["item"] == found["item"]
    assert len(client.get("/api/v1/live/bench").json()) == 1
    assert client.post("/api/v1/live/bench", json={"item": 9999}).status_code == 404
    again = start(client, bench=row["id"], policy="replay")
    all_events(client, again)
    first, second = (client.get(f"/api/v1/live/runs/{r}").json()["traces"][0] for r in (run, again))
    assert second["steps"] == first["steps"]
    assert second["drafter"]["settings"]["replayed"] is True


# ---- the stream


def test_events_come_while_the_server_writes_and_a_stop_ends_the_request_and_keeps_the_text(app):
    with model_server(app, Say(look(6400, 6700)), Stall("<think>Still")) as model, browser(app) as client:
        run = start(client, policy="m")
        refused = client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]})
        assert (refused.status_code, "still running" in refused.json()["error"]) == (422, True)
        assert client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [1]}).status_code == 404
        assert client.get(f"/api/v1/live/runs/{run}/trace.json?sample=-1").status_code == 404
        kinds = []
        for _, event in numbered_events(client, run, **{"Accept-Encoding": "gzip"}):
            kinds.append(event["kind"])
            if event["kind"] == "said" and event["turn"] == 2:
                assert client.get(f"/api/v1/live/runs/{run}").json()["state"] == "running"
                assert client.post(f"/api/v1/live/runs/{run}/stop", json={}).status_code == 200
        assert kinds[0] == "started"
        assert "looked" in kinds
        assert kinds[-2:] == ["ended", "over"]
        assert model.wait(lambda: model.left == 1 and model.open == 0)
        about = client.get(f"/api/v1/live/runs/{run}").json()
        assert (about["state"], about["consensus"]) == ("stopped", None)
        assert [s["kind"] for s in about["traces"][0]["steps"]] == ["think", "zoom", "think"]
        assert about["traces"][0]["steps"][-1]["text"] == "Still"
        sent = client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]})
        assert sent.json()["items"][0]["new"]


def test_a_stream_resumes_by_number_or_by_the_header_of_the_browser(app):
    with browser(app) as client:
        run = start(client)
        whole = []
        for numbered in numbered_events(client, run):
            whole.append(numbered)
            if len(whole) == 4:
                break
        whole += numbered_events(client, run, **{"Last-Event-ID": "4"})
        assert [number for number, _ in whole] == list(range(1, len(whole) + 1))
        assert [event for _, event in whole][-1]["kind"] == "over"
        with client.stream("GET", f"/api/v1/live/runs/{run}/events?after={len(whole) - 1}") as last:
            assert last.read().decode().count("data: ") == 1
        # With this status a browser does not reconnect.
        assert client.get(f"/api/v1/live/runs/{run}/events?after={len(whole)}").status_code == 204


def test_a_server_that_shuts_down_stops_its_runs_even_if_pages_watch(app):
    live = app.state.live
    with model_server(app, Endless(obedient=False, delay=0.01)) as model:
        with serving(app) as (url, running), browser(app, url) as client:
            run = live.runs.of("AB", start(client, policy="m"))
            with suppress(httpx.RemoteProtocolError):
                for _ in numbered_events(client, run.id):
                    running.should_exit = True
        assert model.wait(lambda: run.state == "stopped" and model.open == 0)
    assert live.benches._benches == {}


# ---- model servers


def test_several_samples_are_requested_each_with_its_own_seed(app):
    with model_server(app, talking()) as model:
        client = client_of(app, "AB")
        assert client.get("/api/v1/live/health", params={"policy": "m"}).json()["ok"]
        run = start(client, policy="m", samples=3, seed=7)
        events = all_events(client, run)
        about = client.get(f"/api/v1/live/runs/{run}").json()
    assert {chat.body["seed"] for chat in model.chats} == {7, 8, 9}
    assert {chat.body["temperature"] for chat in model.chats} == {1.0}
    assert (about["consensus"]["yes"], about["consensus"]["samples"]) == (3, 3)
    assert about["traces"][2]["drafter"]["settings"]["seed"] == 9
    assert [e["usage"]["requests"] for e in events if e["kind"] == "ended"] == [3, 3, 3]


def test_one_sample_is_requested_with_the_settings_of_the_server_unless_given(app):
    with model_server(app, talking(), temperature=0.3) as model:
        client = client_of(app, "AB")
        bench = add_to_bench(client)["id"]
        for more in ({}, {"temperature": 0.0, "max_tokens": 99}):
            all_events(client, start(client, bench=bench, policy="m", **more))
    requested = [(chat.body["temperature"], chat.body["max_tokens"]) for chat in model.chats]
    assert requested == [(0.3, 2048)] * 3 + [(0.0, 99)] * 3


def test_effort_and_further_fields_of_a_run_reach_the_server_and_the_trace(app):
    chosen = {"reasoning_effort": "low", "extra_body": {"service_tier": "flex"}}
    with model_server(app, talking(), extra_body={"verbosity": "low"}) as model:
        client = client_of(app, "AB")
        bench = add_to_bench(client)["id"]
        all_events(client, start(client, bench=bench, policy="m"))
        run = start(client, bench=bench, policy="m", **chosen)
        all_events(client, run)
        settings = client.get(f"/api/v1/live/runs/{run}").json()["traces"][0]["drafter"]["settings"]
    sent = [(chat.body.get("reasoning_effort"), chat.body.get("service_tier")) for chat in model.chats]
    assert sent == [(None, None)] * 3 + [("low", "flex")] * 3
    assert [chat.body.get("verbosity") for chat in model.chats] == ["low"] * 3 + [None] * 3
    assert {name: settings[name] for name in chosen} == chosen


def test_an_unreachable_server_fails_the_run_with_a_message_and_not_the_request(app):
    with model_server(app):
        pass
    client = client_of(app, "AB")
    health = client.get("/api/v1/live/health", params={"policy": "m"}).json()
    assert not health["ok"]
    assert client.get("/api/v1/live/health?policy=nobody").status_code == 409
    run = start(client, policy="m")
    *_, ended, last = all_events(client, run)
    assert (ended["reason"], last["state"]) == ("policy failed", "failed")
    assert "No server at" in ended["detail"]
    refused = client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]})
    assert refused.status_code == 422
    assert "nothing to review" in refused.json()["error"]


def test_a_checkpoint_gets_the_prompt_as_trained_where_it_is_imported(app, tmp_path, monkeypatch):
    path = tmp_path / "trained_prompts.json"
    monkeypatch.setenv("SPEC_O3_PROMPTS", str(path))
    client = client_of(app, "AB")
    assert client.get("/api/v1/live/prompts").json() == {"trained": {}, "problem": ""}
    rows = [specvi_row(0, prompt=[{"role": "user", "content": "<image>\nIs it a **CV**? Emission."}])]
    found = import_prompts([specvi_file(tmp_path / "train_cv.parquet", rows)], app.state.context.tasks)
    with model_server(app, talking((answer("YES"),))) as model:
        trained = {"bench": add_to_bench(client)["id"], "task": "cv", "policy": "m", "prompt": "trained"}
        refused = client.post("/api/v1/live/runs", json=trained)
        assert refused.status_code == 409
        assert "no imported prompt of cv" in refused.json()["error"]
        save(path, found.prompts)
        assert client.get("/api/v1/live/prompts").json()["trained"] == {"cv": "Is it a **CV**? Emission."}
        assert {p["key"]: p["checkpoint"] for p in client.get("/api/v1/live/policies").json()}["m"]
        for prompt in (None, "ours"):
            events = all_events(client, start(client, policy="m", **({"prompt": prompt} if prompt else {})))
            ended = next(event for event in events if event["kind"] == "ended")
            source = ended["drafter"]["settings"].get("prompt_source", "ours")
            started = next(event for event in events if event["kind"] == "started")
            assert (source, started["prompt"].startswith("Is it a")) == (prompt or "trained", prompt is None)
        texts = [r.body["messages"][1]["content"][-1]["text"] for r in model.asked if r.body]
    assert texts[0] == "\nIs it a **CV**? Emission."
    assert texts[1].startswith("\nAnalyze the provided spectrum")
    path.write_text("{")
    assert "expected JSON" in client.get("/api/v1/live/prompts").json()["problem"]


def test_hostile_text_of_a_model_stays_text(app):
    thought = "<img src=x onerror=alert(1)> [click](http://evil.example) \x00 ![p](http://evil.example/p)"
    label = "Hα\n# <script>alert(1)</script>" + "x" * 5000
    turns = (look(6400, 6700, label, thought), answer("YES", "</script><script>alert(1)</script>\ud800"))
    with model_server(app, talking(turns)):
        client = client_of(app, "AB")
        run = start(client, policy="m")
        events = all_events(client, run)
        assert events[-1]["state"] == "done"
        packed = zipfile.ZipFile(io.BytesIO(client.get(f"/api/v1/live/runs/{run}/report.zip").content))
        report = packed.read("report.md").decode()
        assert "<script>" not in report
        assert "<img" not in report
        assert not re.search(r"(?<!\\)\]\(http", report)
        assert client.get(f"/api/v1/live/runs/{run}/strip.png").status_code == 200
        assert client.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]}).status_code == 200


# ---- refusals


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"task": "nonsense"}, 404, "nonsense"),
        ({"policy": "nobody"}, 409, "nobody"),
        ({"policy": "replay"}, 409, "from the library"),
        ({"bench": "nothing"}, 404, "not on your bench"),
        ({"samples": 3}, 409, "one sample is enough"),
        ({"samples": 10**9}, 422, "samples"),
        ({"temperature": 3}, 422, "temperature"),
        ({"seed": -1}, 422, "seed"),
        ({"reasoning_effort": "Very much"}, 422, "reasoning_effort"),
        ({"extra_body": {"model": "another"}}, 409, "extra_body: found model"),
        ({"max_turns": 0}, 422, "max_turns"),
    ],
)
def test_an_impossible_run_is_refused_with_a_message(app, changes, status, message):
    client = client_of(app, "AB")
    body = {"bench": add_to_bench(client)["id"], "task": "cv", "policy": "baseline", **changes}
    refused = client.post("/api/v1/live/runs", json=body)
    assert refused.status_code == status
    assert message in refused.json()["error"]


# ---- the bench


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.txt", "passwd.txt"),
        ("C:\\spectra\\a.fits", "a.fits"),
        (".hidden", "hidden"),
        ("..", "spectrum"),
        ("", "spectrum"),
        ("a\x00b\nc.txt", "abc.txt"),
        ("é" * 300 + ".fits", "é" * 97 + ".fits"),
        ("half \ud800.txt", "half ?.txt"),
    ],
)
def test_a_file_name_of_a_browser_is_reduced_to_a_plain_name(given, kept):
    assert live_bench.name_of(given) == kept


def test_a_file_with_a_hostile_name_stays_in_its_folder_and_is_deleted_with_its_row(app):
    client = client_of(app, "AB")
    row = add_to_bench(client, name="../../../escape.txt")
    folder = Path(app.state.live.benches.of("AB")._folder.name)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["escape.txt"]
    assert client.delete(f"/api/v1/live/bench/{row['id']}").status_code == 200
    assert list(folder.iterdir()) == []
    assert client.get("/api/v1/live/bench").json() == []
    assert client.delete(f"/api/v1/live/bench/{row['id']}").status_code == 404


@pytest.mark.parametrize("content", [b"", b"no spectrum at all\n", b"\x89PNG\r\n\x1a\n", b"SIMPLE  =" + b" " * 99])
def test_a_file_that_is_no_spectrum_is_refused_by_name_and_others_are_added(app, content):
    client = client_of(app, "AB")
    files = [("files", ("bad.fits", content)), ("files", ("cv.txt", CV))]
    answered = client.post("/api/v1/live/files", files=files).json()
    assert [row["name"] for row in answered["added"]] == ["cv.txt"]
    (problem,) = answered["problems"]
    assert problem.startswith("bad.fits: ")
    assert len(list(Path(app.state.live.benches.of("AB")._folder.name).iterdir())) == 1


def test_the_same_spectrum_twice_is_one_row(app):
    client = client_of(app, "AB")
    assert add_to_bench(client, CV)["id"] == add_to_bench(client, CV)["id"]
    assert len(client.get("/api/v1/live/bench").json()) == 1
    folder = Path(app.state.live.benches.of("AB")._folder.name)
    assert len(list(folder.iterdir())) == 1


def test_a_file_of_several_spectra_gives_one_row_each_and_reports_the_rest(app, monkeypatch):
    monkeypatch.setattr(live_bench, "MOST_TARGETS", 3)
    client = client_of(app, "AB")
    answered = client.post("/api/v1/live/files", files={"files": ("field.fits", several(5))}).json()
    names = [row["name"] for row in answered["added"]]
    assert names == [f"field.fits#object {number}" for number in range(3)]
    assert "found 5 spectra; the first 3 were added, 2 were not" in answered["problems"][0]
    third = answered["added"][2]
    raw = client.get(f"/api/v1/live/spectrum/{third['spectrum']}").content
    length = struct.unpack("<I", raw[:4])[0]
    assert json.loads(raw[4 : 4 + length])["name"] == names[2]
    all_events(client, start(client, bench=third["id"]))
    for row in answered["added"]:
        client.delete(f"/api/v1/live/bench/{row['id']}")
    assert list(Path(app.state.live.benches.of("AB")._folder.name).iterdir()) == []


def test_spectra_without_data_are_counted_and_damaged_ones_named(app, shared):
    client = client_of(app, "AB")
    content = (shared / "spectra/desi/UNLABELLED/coadd-sv3-dark-26065.fits").read_bytes()
    answered = client.post("/api/v1/live/files", files={"files": ("coadd.fits", content)}).json()
    assert len(answered["added"]) == 2
    assert {row["survey"] for row in answered["added"]} == {"DESI"}
    (problem,) = answered["problems"]
    assert problem.startswith("coadd.fits: ")
    assert problem.endswith("of its spectra hold no data and were left out.")


def test_a_full_bench_and_a_file_that_is_too_large_are_reported(app, monkeypatch):
    monkeypatch.setattr(live_bench, "MOST_ROWS", 2)
    client = client_of(app, "AB")
    answered = client.post("/api/v1/live/files", files={"files": ("field.fits", several(5))}).json()
    assert len(answered["added"]) == 2
    assert "Remove some" in answered["problems"][0]
    monkeypatch.setattr(live_bench, "LARGEST_FILE", 1000)
    answered = client.post("/api/v1/live/files", files={"files": ("cv.txt", CV)}).json()
    assert "a file that is too large" in answered["problems"][0]


def test_a_file_is_parsed_once_although_its_spectrum_is_drawn_and_run(app, monkeypatch):
    opened = live_bench.opened
    parsed: list[str] = []

    def counted(path: Path) -> Any:
        parsed.append(path.name)
        return opened(path)

    monkeypatch.setattr(live_bench, "opened", counted)
    monkeypatch.setattr(live_bench, "read", lambda path, target: pytest.fail(f"{path.name} is read again"))
    client = client_of(app, "AB")
    for files in (fresh(), several(3)):
        for row in client.post("/api/v1/live/files", files={"files": ("a.fits", files)}).json()["added"]:
            assert client.get(f"/api/v1/live/spectrum/{row['spectrum']}").status_code == 200
    all_events(client, start(client, bench=row["id"]))
    assert parsed == ["a.fits"] * 2
    # A file of many spectra leaves those of other files in memory.
    first = add_to_bench(client, fresh())
    client.post("/api/v1/live/files", files={"files": ("field.fits", several(90))})
    assert client.get(f"/api/v1/live/spectrum/{first['spectrum']}").status_code == 200


class Meeting(io.BytesIO):
    """An upload of which nothing is read before another one has begun, too."""

    def __init__(self, content: bytes, barrier: threading.Barrier) -> None:
        super().__init__(content)
        self._barrier = barrier

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() == 0:
            self._barrier.wait(60)
        return super().read(size)


def test_uploads_at_once_share_the_limit_of_a_bench(app, monkeypatch):
    files = [fresh() for _ in range(3)]
    monkeypatch.setattr(live_bench, "LARGEST_FOLDER", len(files[0]) * 3 // 2)
    bench = app.state.live.benches.of("AB")
    barrier = threading.Barrier(2)
    with ThreadPoolExecutor() as pool:
        uploads = [pool.submit(bench.add_file, f"{n}.txt", Meeting(file, barrier)) for n, file in enumerate(files[:2])]
        problems = [upload.result()[1] for upload in uploads]
    kept = sum(path.stat().st_size for path in Path(bench._folder.name).rglob("*") if path.is_file())
    assert kept <= live_bench.LARGEST_FOLDER
    assert any("too large" in message for messages in problems for message in messages)
    # What was refused takes no room.
    bench.clear()
    rows, messages = bench.add_file("2.txt", io.BytesIO(files[2]))
    assert (len(rows), messages) == (1, [])


def test_the_bench_names_all_runs_of_a_spectrum_and_the_newest_answer(app):
    with model_server(app, Say(answer("NO"))):
        client = client_of(app, "AB")
        row = add_to_bench(client)
        runs = [start(client, bench=row["id"]), start(client, bench=row["id"], policy="m")]
        for run in runs:
            all_events(client, run)
        app.state.live.roster = Roster([Server(key="m", url="http://127.0.0.1:9/v1")])
        runs.append(start(client, bench=row["id"], policy="m"))
        all_events(client, runs[-1])
        (found,) = client.get("/api/v1/live/bench").json()
    assert found["runs"] == [result["run"] for result in found["results"]] == runs
    states = [(result["policy"], result["state"]) for result in found["results"]]
    assert states == [("baseline", "done"), ("m", "done"), ("m", "failed")]
    assert [result["verdicts"] for result in found["results"][1:]] == [["NO"], [None]]
    assert (found["verdict"], found["verdict_run"]) == (found["results"][1]["outcome"], runs[1])


def test_a_run_is_removed_by_its_owner_alone(app):
    client = client_of(app, "AB")
    row = add_to_bench(client)
    run, kept = (start(client, bench=row["id"]) for _ in range(2))
    assert client_of(app, "CD").delete(f"/api/v1/live/runs/{run}").status_code == 404
    assert client.delete(f"/api/v1/live/runs/{run}").status_code == 200
    assert client.get(f"/api/v1/live/runs/{run}").status_code == 404
    assert client.delete(f"/api/v1/live/runs/{run}").status_code == 404
    assert client.get("/api/v1/live/bench").json()[0]["runs"] == [kept]


def test_a_start_names_the_runs_that_were_dropped_for_it(app, monkeypatch):
    monkeypatch.setattr(live_runs, "MOST_PER_SPECTRUM", 1)
    client = client_of(app, "AB")
    row = add_to_bench(client)
    body = {"bench": row["id"], "task": "cv", "policy": "baseline"}
    answers = []
    for _ in range(3):
        answers.append(client.post("/api/v1/live/runs", json=body).json())
        all_events(client, answers[-1]["run"])
    assert [given["dropped"] for given in answers] == [[], [], [answers[0]["run"]]]


def test_the_bench_is_cleared_with_its_files_and_a_spectrum_that_returns_has_its_runs(app):
    with model_server(app, Stall("<think>Still")):
        client, other = client_of(app, "AB"), client_of(app, "CD")
        add_to_bench(other, fresh())
        row = add_to_bench(client, CV)
        removed = add_to_bench(client, fresh())
        runs = [start(client, bench=spectrum["id"], policy="m") for spectrum in (row, removed)]
        assert client.delete(f"/api/v1/live/bench/{removed['id']}").status_code == 200
        assert all_events(client, runs[1])[-1]["state"] == "stopped"
        assert client.delete("/api/v1/live/bench").status_code == 200
        assert all_events(client, runs[0])[-1]["state"] == "stopped"
    assert client.get("/api/v1/live/bench").json() == []
    assert list(Path(app.state.live.benches.of("AB")._folder.name).iterdir()) == []
    assert len(other.get("/api/v1/live/bench").json()) == 1
    back = add_to_bench(client, CV)
    assert back["id"] != row["id"]
    assert back["runs"] == runs[:1]


# ---- who may see what


def test_two_people_do_not_see_each_others_runs(app, store):
    mine, theirs = client_of(app, "AB"), client_of(app, "CD")
    row = add_to_bench(mine)
    run = start(mine, bench=row["id"])
    picture = next(e for e in all_events(mine, run) if e["kind"] == "started")["overview"]
    assert theirs.get("/api/v1/live/bench").json() == []
    of_run = ("", "/events", f"/picture/{picture}", "/trace.json", "/strip.png", "/report.zip")
    for path in (f"/spectrum/{row['spectrum']}", *(f"/runs/{run}{part}" for part in of_run)):
        assert mine.get(f"/api/v1/live{path}").status_code in (200, 204)
        assert theirs.get(f"/api/v1/live{path}").status_code == 404
    assert theirs.post(f"/api/v1/live/runs/{run}/stop", json={}).status_code == 404
    assert theirs.post(f"/api/v1/live/runs/{run}/review", json={"samples": [0]}).status_code == 404
    assert theirs.delete(f"/api/v1/live/bench/{row['id']}").status_code == 404
    body = {"bench": row["id"], "task": "cv", "policy": "baseline"}
    assert theirs.post("/api/v1/live/runs", json=body).status_code == 404
    add_to_bench(theirs)
    assert len(mine.get("/api/v1/live/bench").json()) == 1


def test_the_servers_file_next_to_the_database_is_read(store):
    (store.path.parent / "servers.toml").write_text('[[server]]\nkey = "mine"\nurl = "http://127.0.0.1:9"\n')
    live = server.build(store, local=True).state.live
    live.close()
    # The nano model is listed where its weights are packaged.
    listed = [entry.key for entry in live.roster.entries() if entry.key != "nano"]
    assert listed == ["baseline", "spec-o3", "mine", "replay"]
