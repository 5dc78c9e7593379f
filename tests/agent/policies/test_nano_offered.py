"""The nano model where it is offered: the command line, and the Live tab."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from astropy.table import Table
from fastapi.testclient import TestClient

from agent.policies.nano.policy import NAME
from agent.policies.roster import Roster
from agent.simulate import simulate
from reviewer.server import build
from reviewer.store import Store
from reviewer.web.auth import COOKIE
from tests.support.cli import run
from tests.support.nano_model import write

pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("nano") / "model")


def table(path: Path, seed: int) -> Path:
    spectrum = simulate("cv", "LAMOST", 20.0, seed=seed)
    Table({name: getattr(spectrum, name) for name in ("wavelength", "flux", "ivar")}).write(path)
    return path


def test_spectra_are_inspected_from_the_command_line_in_processes(folder, tmp_path):
    for seed in (1, 2):
        table(tmp_path / f"{seed}.csv", seed)
    options = ("--task", "cv", "--policy", "nano", "--model", folder, "--max-tokens", 8, "--json", "--processes", 2)
    done = run("inspect", *options, "--out", "results.jsonl", "1.csv", "2.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["spectra"], summary["this_run"]["inspected"]) == (2, 2)
    assert summary["this_run"]["tokens"]["completion"] == 16
    lines = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    drafters = [line["drafter"] for line in lines]
    assert [drafter["name"] for drafter in drafters] == [NAME] * 2
    assert len(drafters[0]["settings"]["weights_sha256"]) == 64


def test_the_live_tab_lists_it_and_runs_it(folder, tmp_path):
    store = Store.open(tmp_path / "annotations.db")
    app = build(store, local=True, roster=Roster((), nano=folder))
    try:
        store.accounts.add_person("AB", "Person AB", ["reviewer"], password=PASSWORD)
        client = TestClient(app, base_url="http://127.0.0.1")
        client.cookies.set(COOKIE, store.accounts.sign_in("AB", PASSWORD).token)
        listed = {one["key"]: one for one in client.get("/api/v1/live/policies").json()}
        assert listed["nano"]["title"] == NAME
        assert listed["nano"]["samples_ok"]
        assert client.get("/api/v1/live/health", params={"policy": "nano"}).json()["ok"]
        file = ("one.csv", table(tmp_path / "one.csv", 1).read_bytes())
        (row,) = client.post("/api/v1/live/files", files={"files": file}).json()["added"]
        sent = {"task": "cv", "policy": "nano", "bench": row["id"], "max_tokens": 8}
        begun = client.post("/api/v1/live/runs", json=sent).json()["run"]
        with client.stream("GET", f"/api/v1/live/runs/{begun}/events") as stream:
            events = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
        assert events[-1] == {"kind": "over", "state": "done"}
        (trace,) = client.get(f"/api/v1/live/runs/{begun}").json()["traces"]
        assert trace["drafter"]["name"] == NAME
        assert any("cut at its limit of 8 tokens" in fault for fault in trace["faults"])
    finally:
        app.state.live.close()
        store.close()
