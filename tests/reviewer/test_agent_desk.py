"""Verdicts of agents as items of a real database, and ``spec-o3 mcp`` as a client starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent import tool
from agent.mcp.desk import Client, McpError
from agent.mcp.server import server
from agent.spectrum import Spectrum
from agent.spectrum.readers import own
from reviewer.cli.mcp import Options, run
from reviewer.drafting.from_agents import AgentDesk
from reviewer.store import Draft, NotAllowed, Store
from tests.support.blind_campaign import GPT, a_store, opened
from tests.support.campaign import Desk, a_spectrum
from tests.support.cli import ROOT, parsed
from tests.support.services.agent_client import agent_client, handle_in

CLIENT = Client("an-agent")


@pytest.fixture
def store(tmp_path: Path):
    """Items 1 to 12, of six spectra by two drafters each."""
    with a_store(tmp_path / "annotations.db") as store:
        yield store


@pytest.fixture
def desk(store: Store, tmp_path: Path) -> AgentDesk:
    return AgentDesk(tmp_path / "annotations.db", lambda: Store.open(tmp_path / "annotations.db"), "http://app/")


def submit(agent, handle: str, task: str = "cv", **changes) -> str:
    given = {"handle": handle, "task": task, "verdict": "NO", "explanation": "No emission."} | changes
    answered = agent.call("submit_verdict", **given)
    assert not answered.is_error
    return answered.text


def test_a_verdict_is_an_item_of_the_queue_once(desk: AgentDesk, store: Store):
    with agent_client(server(desk, desk)) as agent:
        handle = agent.open("item-3")
        agent.call(tool.TOOL_NAME, handle=handle, wavelength_range=[6500, 6600])
        assert "item 13, http://app/#item=13" in submit(agent, handle)
        assert "item 13" in submit(agent, handle)
        assert "item 14" in submit(agent, handle, explanation="Another.")
    item, seen = store.items.get(13), store.items.get(3)
    assert item.row.spectrum_sha256 == seen.row.spectrum_sha256
    assert (item.row.drafter_kind, item.row.drafter_name, item.row.state) == ("model", "an-agent", "screening")
    assert item.row.batch.startswith("mcp an-agent 20")
    assert item.label is None
    trace, spectrum = item.version.trajectory, store.spectra.get(item.row.spectrum_sha256)
    (zoom,) = trace.zooms
    assert zoom.picture == tool.call(spectrum, zoom.arguments).picture
    assert trace.answer.verdict == "NO"


def test_a_spectrum_of_a_file_comes_into_the_database_with_its_verdict(tmp_path: Path):
    database = tmp_path / "new" / "annotations.db"
    database.parent.mkdir()
    desk = AgentDesk(database, lambda: Store.open(database))
    spectrum = a_spectrum("new.fits")

    class Files:
        def find(self, path, target, client):
            return spectrum

    with agent_client(server(desk, Files())) as agent:
        assert "cv (Cataclysmic Variable (CV)): 0 wait" in agent.call("queue").text
        assert desk.find("new.fits", None, CLIENT) is None
        assert not database.exists()
        assert submit(agent, agent.open("new.fits")) == "Submitted as a draft for people to review: item 1."
    assert desk.find(spectrum.sha256, None, CLIENT) == desk.find("new.fits", None, CLIENT) == spectrum


def test_spectra_are_opened_by_name_hash_or_item(desk: AgentDesk, store: Store):
    row = store.items.get(5).row
    spectrum = store.spectra.get(row.spectrum_sha256)
    for name in (row.name, row.spectrum_sha256, "item-5"):
        assert desk.find(name, None, CLIENT) == spectrum
    for name in ("item-99", "item-0", row.name[:-5], "%", "#5", ""):
        assert desk.find(name, None, CLIENT) is None
    other = a_spectrum(row.name, redshift=0.1)
    trace = replace(store.items.get(5).version.trajectory, spectrum_sha256=other.sha256, redshift=0.1)
    store.items.add_all([Draft(trace, other)])
    with pytest.raises(McpError, match="2 spectra"):
        desk.find(row.name, None, CLIENT)


def test_the_queue_lists_what_the_client_has_not_submitted_by_number_only(desk: AgentDesk, store: Store):
    store.settings.set("CO", "verdict_first", ["november", ""])
    Desk(store).decide("RE", 1, "reject", reason="bad_data")
    with agent_client(server(desk, desk)) as agent:
        before = agent.call("queue").text
        submit(agent, agent.open("item-3"))
        submit(agent, agent.open("item-5"), task="wd")
        after = agent.call("queue", task="cv").text
    assert "cv (Cataclysmic Variable (CV)): 11 wait; not yet submitted by you: item-2, item-3, item-5, item-7" in before
    assert "12 wait; not yet submitted by you: item-2, item-5, item-7" in after
    assert desk.tasks()["cv"].prompt in after
    rows = store.queue.rows(range(1, 13))
    for row in rows:
        assert row.name not in before + after
        assert row.spectrum_sha256 not in before + after
    assert GPT not in before + after


def test_what_is_scored_in_a_blind_session_is_hidden_from_its_scorers(desk: AgentDesk, store: Store):
    opened(store)
    hidden = store.blind.scoring.hidden_items("RE")
    item = min(hidden)
    row = store.items.get(item).row
    for person, is_hidden in {"RE": True, "CO": False, None: True}.items():
        client = Client("an-agent", person=person)
        listed = {name for waiting in desk.queue(client) for name in waiting.items}
        assert (f"item-{item}" in listed) is not is_hidden
        for name in (f"item-{item}", row.name, row.spectrum_sha256):
            if is_hidden:
                with pytest.raises(NotAllowed):
                    desk.find(name, None, client)
            else:
                assert desk.find(name, None, client) is not None


@contextmanager
def started(*options: object):
    """A running ``spec-o3 mcp``, and a function that sends a line and returns the answer to a request."""
    command = [sys.executable, ROOT / "app.py", "mcp", *options]
    process = subprocess.Popen(
        [*map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )

    def send(method: str, **params: object) -> dict:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    try:
        client = {"name": "raw", "version": "1"}
        send("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        yield process, send
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_the_command_serves_stdin_and_ends_with_it(tmp_path: Path, shared_cases):
    for spectrum in shared_cases:
        own.write(spectrum, tmp_path / spectrum.name)
    with started("--root", tmp_path, "--db", tmp_path / "annotations.db") as (process, send):
        for spectrum, cases in shared_cases.items():
            arguments = {"path": spectrum.name, "reasoning": "r"}
            opened = send("tools/call", name="open_spectrum", arguments=arguments)["result"]["content"]
            handle = handle_in(opened[0]["text"])
            for case in cases:
                arguments = {"handle": handle, "reasoning": "r", **case["arguments"]}
                result = send("tools/call", name=tool.TOOL_NAME, arguments=arguments)["result"]
                assert (result["content"][0]["text"], result["isError"]) == (case["text"], not case["success"])
        process.stdin.write("no message\n")
        arguments = {"handle": handle, "reasoning": "r", "task": "cv", "verdict": "YES", "explanation": "e"}
        submitted = send("tools/call", name="submit_verdict", arguments=arguments)["result"]["content"][0]["text"]
        assert submitted == "Submitted as a draft for people to review: item 1."
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stdout.read() == ""
    with Store.open(tmp_path / "annotations.db") as store:
        assert store.items.get(1).row.drafter_name == "raw"


@pytest.fixture
def shared_cases(request: pytest.FixtureRequest) -> dict[Spectrum, list[dict]]:
    """Calls with NaN, which no client of the SDK sends: the published ones, and one that needs no files."""
    spectrum = a_spectrum("x.fits")
    arguments = {"wavelength_range": [5000, float("nan")]}
    cases = {spectrum: [{"arguments": arguments, "text": tool.call(spectrum, arguments).text, "success": False}]}
    folder = ROOT.parent / "shared" / "conformance"
    if folder.is_dir():
        lines = (folder / "tool_cases.jsonl").read_text(encoding="utf-8").splitlines()
        published = [case for case in map(json.loads, lines) if "nan" in case["text"]]
        assert len(published) == 12
        with np.load(folder / "plots" / "spectra.npz") as arrays:
            for case in published:
                name = f"{case['spectrum']} {case['redshift']}.fits"
                wavelength, flux = (arrays[f"{case['spectrum']}.{what}"] for what in ("wavelength", "flux"))
                filled = np.interp(wavelength, wavelength[np.isfinite(flux)], flux[np.isfinite(flux)])
                of = Spectrum(wavelength, filled, np.ones(flux.size), redshift=case["redshift"], name=name)
                cases.setdefault(of, []).append(case)
    return cases


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(McpError, match=r"spec-o3\[mcp\]"):
        run(parsed(Options, "--db", tmp_path / "annotations.db"))
    assert not (tmp_path / "annotations.db").exists()
