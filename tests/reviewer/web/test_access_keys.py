"""A key goes into the request's header and nowhere else: a canary is used in real runs, also by servers that
repeat it, and then looked for in everything that the program says, keeps and starts."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

import app as program
from agent.conversation import PolicyError, Stop
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.stream import INSTEAD, Blackout, Delta
from agent.policies.roster import Roster
from agent.policies.sampling import Sampling
from reviewer.store import Store
from reviewer.web import app as web
from tests.reviewer.blind.test_judges import MODEL
from tests.support.asking import HASTY, MESSAGES, text, turn
from tests.support.bad_server import Asked, BadServer, Behaviour, Raw, Say, Status, answer, chunk, look
from tests.support.blind_campaign import a_store, opened

CANARY = "sk-canary-4f1b7c9e2a"
PASSWORD = "Balmer decrement"


class Echo(BadServer):
    """Says the header that it was asked with wherever there is room for words."""

    def _behaviour(self, asked: Asked) -> Behaviour:
        key = asked.headers["authorization"]
        if asked.body is None:
            models = {"data": [{"id": name, "owned_by": "vllm"} for name in ("spec-o3", MODEL, key)]}
            return Status(200, models if asked.path == "/v1/models" else {"version": key})
        if not any(message["role"] == "assistant" for message in asked.body["messages"]):
            return Say(look(6400, 6700, f"Hα {key}", f"I was asked with {key}."), pieces=40)
        return Say(answer("YES", f"Because of {key}", key), pieces=40)


@contextmanager
def key_given(how: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The field of servers.toml that tells where the canary is."""
    if how == "environment":
        monkeypatch.setenv("CANARY_KEY", CANARY)
        yield 'api_key_env = "CANARY_KEY"'
        return
    path = folder / "keys" / "server.key"
    path.parent.mkdir()
    path.write_text(CANARY + "\n")
    path.chmod(0o600)
    yield f'api_key_file = "{path}"'
    path.unlink()  # what is searched afterwards is what the program wrote


@pytest.fixture(params=["environment", "file"])
def servers(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, BadServer]]:
    """servers.toml with an echoing server "echo", asked with the canary."""
    with Echo(models=("spec-o3",)) as served, key_given(request.param, tmp_path, monkeypatch) as field:
        path = tmp_path / "servers.toml"
        model = f'url = "{served.url}"\nmodel = "spec-o3"\n{field}\n'
        path.write_text(f'[[server]]\nkey = "echo"\n{model}', encoding="utf-8")
        yield path, served
        assert served.asked
        assert all(asked.headers["authorization"] == f"Bearer {CANARY}" for asked in served.asked)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command lines of the processes that are started."""
    begun: list[str] = []
    real = subprocess.Popen.__init__

    def noted(self: Any, *given: Any, **more: Any) -> None:
        begun.append(repr(given) + repr(more.get("env")))
        real(self, *given, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return begun


def require_no_canary(folder: Path, *said: object) -> None:
    for one in said:
        assert CANARY not in str(one)
    for path in folder.rglob("*"):
        if path.is_file() and "keys" not in path.parts:
            assert CANARY.encode() not in path.read_bytes(), path


def a_spectrum(folder: Path) -> Path:
    wavelength = np.linspace(3800.0, 9000.0, 900)
    flux = 100.0 + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    path = folder / "star.csv"
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}).write(path)
    return path


def test_commands(
    servers: tuple[Path, BadServer],
    tmp_path: Path,
    children: list[str],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Inspecting, drafting, importing, exporting, the doctor: their words, files and children."""
    caplog.set_level(logging.DEBUG)
    path, _ = servers
    star, db = a_spectrum(tmp_path), tmp_path / "annotations.db"
    asked = ("--task", "cv", "--policy", "echo", "--servers", str(path))
    results, drafts = tmp_path / "r.jsonl", tmp_path / "d.jsonl"
    assert program.main(["inspect", *asked, "--out", str(results), str(star), "--json"]) == 0
    assert program.main(["draft", *asked, "--label", "YES", "--out", str(drafts), str(star), "--json"]) in (
        0,
        1,
    )
    assert INSTEAD in results.read_text()
    for each in (results, drafts):
        assert program.main(["import", str(each), "--spectra", str(tmp_path), "--db", str(db), "--json"]) == 0
    program.main(["doctor", "--json", "--servers", str(path), "--db", str(db)])
    program.main(["log", "--json", "--db", str(db)])
    said = capfd.readouterr()
    assert f"vLLM Bearer {INSTEAD} serves spec-o3" in said.out
    require_no_canary(tmp_path, said.out, said.err, caplog.text, *children)


def test_a_live_run_and_all_that_the_page_is_told(
    servers: tuple[Path, BadServer], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Store.open(tmp_path / "annotations.db") as store:
        store.add_person("AB", "Ada", ["coordinator"], PASSWORD)
        built = web.build(store, local=True, roster=Roster.load(servers[0], None, beside=tmp_path))
        with TestClient(built, base_url="http://127.0.0.1") as client:
            client.cookies.set("spec_o3_session", store.sign_in("AB", PASSWORD).token)
            heard = [client.get(f"/api/live/{path}").text for path in ("policies", "health?policy=echo")]
            with a_spectrum(tmp_path).open("rb") as file:
                row = client.post("/api/live/files", files={"files": ("star.csv", file)}).json()["added"][0]
            wanted = {"task": "cv", "policy": "echo", "bench": row["id"]}
            run = client.post("/api/live/runs", json=wanted).json()["run"]
            heard.append(client.get(f"/api/live/runs/{run}/events").text)
            heard.append(client.get(f"/api/live/runs/{run}").text)
            assert INSTEAD in heard[-1]
            sent = client.post(f"/api/live/runs/{run}/review", json={"sample": 0})
            heard += [sent.text, client.get("/api/queue").text, client.get("/api/item/1").text]
        require_no_canary(tmp_path, *heard, caplog.text, store.log())


def test_judging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """By a model that answers no question, only with what it was asked."""
    monkeypatch.setenv("CANARY_KEY", CANARY)
    with a_store(tmp_path / "annotations.db", 3) as store:
        opened(store, items=(1,))
        with Echo(models=(MODEL,)) as served:
            where = ("--server", served.url, "--model", MODEL, "--api-key-env", "CANARY_KEY")
            assert program.main(["blind", "judge", "1", *where, "--db", str(store.path)]) == 1
            assert CANARY in str(served.asked[0].headers)
    said = capfd.readouterr()
    require_no_canary(tmp_path, said.out, said.err)


REFUSED: dict[str, Behaviour] = {
    "an error object": Status(400, {"error": {"message": f"Bearer {CANARY}", "code": CANARY}}),
    "text": Status(500, f"Authorization: Bearer {CANARY}", kind="text/plain"),
    "a list of fields": Status(422, {"detail": [{"loc": [CANARY], "msg": f"not {CANARY}"}]}),
    "an error in the stream": Raw([json.dumps({"error": {"message": CANARY, "code": 500}})]),
    "no JSON": Raw([f"Bearer {CANARY}"]),
    "no object": Raw([json.dumps([CANARY])]),
    "escaped": Raw([json.dumps({"error": {"message": CANARY}}).replace("-", "\\u002d")]),
}


@pytest.mark.parametrize("how", REFUSED)
def test_no_error_repeats_the_key(how: str) -> None:
    with BadServer([REFUSED[how]]) as served, pytest.raises(PolicyError) as failed:
        turn(Endpoint(served.url, "spec-o3", CANARY, HASTY))
    assert CANARY not in str(failed.value)


def test_a_reason_for_ending_reasoning_and_calls_do_not_repeat_it() -> None:
    call = {"index": 0, "id": CANARY, "function": {"name": CANARY, "arguments": ""}}
    more = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"a": "', CANARY[:7], CANARY[7:], '"}')]
    deltas = [{"tool_calls": [one]} for one in (call, *more)]
    with BadServer([Say("ends in sk-c", reasoning=CANARY, deltas=deltas, finish=CANARY)]) as served:
        said = list(Endpoint(served.url, "spec-o3", CANARY).stream(MESSAGES, Sampling(), Stop()))
    assert CANARY not in repr(said)
    assert "".join(piece.arguments for one in said for piece in one.calls) == f'{{"a": "{INSTEAD}"}}'
    assert text(said) == "ends in sk-c"


@given(st.text("sk-ab", max_size=40), st.integers(1, 8))
def test_however_a_text_is_cut_it_is_the_same_less_the_secret(said: str, size: int) -> None:
    secret = "sk-abs"
    blackout = Blackout(secret)
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    heard = [blackout.delta(Delta(text=piece)).text for piece in pieces]
    assert "".join(heard) + blackout.rest().text == said.replace(secret, INSTEAD)


def test_a_redirect_to_another_server_does_not_take_the_key_along() -> None:
    headers: list[dict[str, str]] = []

    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for event in (chunk({"content": "Yes."}), chunk({}, "stop"), "[DONE]"):
                self.wfile.write(f"data: {event}\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    class Here(Elsewhere):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(307)
            self.send_header("Location", f"http://localhost:{elsewhere.server_port}/v1/chat/completions")
            self.send_header("Content-Length", "0")
            self.end_headers()

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as elsewhere,
        ThreadingHTTPServer(("127.0.0.1", 0), Here) as here,
    ):
        for one in (elsewhere, here):
            threading.Thread(target=one.serve_forever, daemon=True).start()
        try:
            turn(Endpoint(f"http://127.0.0.1:{here.server_port}/v1", "spec-o3", CANARY, HASTY))
        finally:
            here.shutdown()
            elsewhere.shutdown()
    assert len(headers) == 1
    assert CANARY not in repr(headers)


def test_a_file_that_others_can_read_is_refused_with_what_mends_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "the.key"
    path.write_text(CANARY)
    path.chmod(0o644)
    given = ["--task", "cv", "--policy", "spec-o3", "--server", "http://127.0.0.1:9/v1"]
    out = ["--out", str(tmp_path / "r.jsonl"), str(a_spectrum(tmp_path))]
    assert program.main(["inspect", *given, "--api-key-file", str(path), *out]) == 2
    said = capfd.readouterr()
    assert (
        f"mode 0644, which lets others read or change it, wanted a file of its owner alone: chmod 600 {path}"
        in said.err
    )
    assert CANARY not in said.out + said.err
