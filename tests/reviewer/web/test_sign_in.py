"""Signing in, secrecy of API keys, and permissions of Gradio events."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from httpx import Response
from hypothesis import given
from hypothesis import strategies as st

import app as program
from agent.conversation import PolicyError, Stop
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.stream import REDACTED, Delta, Redactor
from agent.policies.roster import Roster
from reviewer import server
from reviewer import server as web
from reviewer.pictures import Gallery
from reviewer.rules.workflow import Rules
from reviewer.similar.background import Similar
from reviewer.store import Store
from reviewer.web import auth
from reviewer.web.context import Context
from reviewer.web.routes import sign_in
from tests.reviewer.blind.test_judges import MODEL
from tests.support.blind_campaign import a_store, opened
from tests.support.campaign import Clock
from tests.support.model_server import (
    HASTY,
    MESSAGES,
    Asked,
    BadServer,
    Behaviour,
    Raw,
    Say,
    Status,
    answer,
    chunk,
    look,
    text,
    turn,
)

HERE = "http://127.0.0.1:7860"
SIGN_IN_PASSWORD = "Hα in emission"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    # Long ago, so that a date in a cookie would end it in a browser of today.
    store = Store.open(tmp_path / "annotations.db", Clock(datetime(2025, 11, 21, 12, tzinfo=UTC)))
    yield store
    store.close()


def client(store: Store, local: bool = True, base_url: str = HERE) -> TestClient:
    app = FastAPI()
    app.state.context = Context(store, Gallery(store), tasks={}, local=local, similar=Similar(store))
    app.include_router(sign_in.router)

    @app.get("/who")
    def who(request: Request) -> str | None:
        person = auth.person_of(request, store, local)
        return person.initials if person else None

    return TestClient(app, base_url=base_url, follow_redirects=False)


def team(store: Store) -> None:
    store.accounts.add_person("AB", "Ada Byron", ["coordinator", "reviewer"], SIGN_IN_PASSWORD)
    store.accounts.add_person("CD", "Cyril Dune", ["reviewer"], "second password")


def enter(browser: TestClient, initials: str, password: str = "", **headers: str) -> Response:
    return browser.post("/sign-in", data={"initials": initials, "password": password}, headers=headers)


def test_initials_are_enough_while_nobody_has_a_password(store: Store) -> None:
    browser = client(store)
    assert browser.get("/who").json() is None
    assert "Who is reviewing?" in browser.get("/sign-in").text
    assert 'type="password"' not in browser.get("/sign-in").text
    response = enter(browser, "ab")
    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert browser.get("/who").json() == "AB"
    assert store.settings.rules().solo, "the rules become those of one person"
    assert client(store).get("/who").json() == "AB", "the only person on a machine signs in once"
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"):
        assert client(store).get("/who", headers={header: "203.0.113.9"}).json() is None
    cyril = client(store)
    enter(cyril, "ÅÖ")
    assert (browser.get("/who").json(), cyril.get("/who").json()) == ("AB", "ÅÖ")
    assert client(store).get("/who").json() is None
    store.accounts.set_password("AB", "AB", SIGN_IN_PASSWORD)
    assert browser.get("/who").json() is None
    assert 'type="password"' in browser.get("/sign-in").text
    assert enter(browser, "AB").status_code == 401
    assert enter(browser, "AB", SIGN_IN_PASSWORD).status_code == 303


def test_rules_that_were_set_are_unchanged(store: Store) -> None:
    store.settings.set_rules(None, Rules(auditors=3, votes=3))
    enter(client(store), "AB")
    assert store.settings.rules() == Rules(auditors=3, votes=3)
    store.settings.set_rules("AB", Rules())
    enter(client(store), "CD")
    assert store.settings.rules() == Rules()


@pytest.mark.parametrize("initials", ["", "A", "ABCDE", "A1", '"><script>'])
def test_invalid_initials_are_refused_with_a_message(store: Store, initials: str) -> None:
    response = enter(client(store), initials)
    assert response.status_code == 422
    assert "Initials need two to four letters" in response.text
    assert '"><script>' not in response.text
    assert auth.COOKIE not in response.cookies
    assert store.accounts.people() == []


def test_a_password_opens_a_session_that_only_the_browser_can_read(store: Store) -> None:
    team(store)
    browser = client(store)
    response = enter(browser, "ab", SIGN_IN_PASSWORD)
    cookie = response.headers["set-cookie"]
    assert response.status_code == 303
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "Secure" not in cookie
    assert browser.get("/who").json() == "AB"
    https = enter(client(store, local=False, base_url="https://spec-o3.example"), "AB", SIGN_IN_PASSWORD)
    assert "Secure" in https.headers["set-cookie"]


def test_a_wrong_password_and_unknown_initials_get_the_same_answer(store: Store) -> None:
    team(store)
    wrong, unknown = enter(client(store), "AB", "wrong"), enter(client(store), "AX", "wrong")
    assert wrong.status_code == unknown.status_code == 401
    assert "Initials and password do not match." in wrong.text
    assert "Initials and password do not match." in unknown.text
    assert auth.COOKIE not in wrong.cookies
    for _ in range(4):
        enter(client(store), "AB", "wrong")
    assert "Too many attempts" in enter(client(store), "AB", SIGN_IN_PASSWORD).text


def test_a_new_session_ends_the_last_one_of_the_browser_and_signing_out_every_copy(store: Store) -> None:
    team(store)
    browser = client(store)
    first, token = (enter(browser, "AB", SIGN_IN_PASSWORD).cookies[auth.COOKIE] for _ in range(2))
    assert store.accounts.signed_in(first) is None
    assert store.accounts.signed_in(token) is not None
    response = browser.post("/sign-out")
    assert (response.status_code, response.headers["location"]) == (303, "/sign-in")
    assert auth.COOKIE not in browser.cookies
    thief = client(store)
    thief.cookies.set(auth.COOKIE, token)
    assert thief.get("/who").json() is None


def test_a_post_from_another_site_is_refused_and_one_from_our_own_page_accepted(store: Store) -> None:
    for path in ("/sign-in", "/sign-out"):
        for origin in ("http://elsewhere.example", "http://127.0.0.1:9999", "null"):
            response = client(store).post(path, data={"initials": "AB"}, headers={"Origin": origin})
            assert response.status_code == 403, (path, origin)
    assert store.accounts.people() == []
    assert enter(client(store), "AB", Origin=HERE).status_code == 303


def test_a_form_too_large_to_be_a_sign_in_is_not_read(store: Store) -> None:
    assert enter(client(store), "AB", "x" * 5000).status_code == 413
    chunked = client(store).post("/sign-in", content=iter([b"initials=AB"]))
    assert chunked.status_code == 411
    for length in ("²", "9" * 5000, "x", ""):
        headers = {b"content-length": length.encode("latin-1"), b"origin": HERE.encode()}
        answer = client(store).post("/sign-in", content=b"initials=AB", headers=headers)  # type: ignore[arg-type]
        assert answer.status_code == 411
    assert store.accounts.people() == []


def test_from_another_machine_a_password_is_needed(store: Store) -> None:
    store.accounts.work_alone("AB")
    browser = client(store, local=False, base_url="http://spec-o3.example")
    assert browser.get("/who").json() is None
    assert "<form" not in browser.get("/sign-in").text
    assert enter(browser, "AB").status_code == 403
    browser.cookies.set(auth.COOKIE, "alone:AB")
    assert browser.get("/who").json() is None


def test_a_foreign_host_name_that_points_here_is_refused(store: Store) -> None:
    store.accounts.work_alone("AB")
    rebound = client(store, base_url="http://rebound.example:7860")
    rebound.cookies.set(auth.COOKIE, "alone:AB")
    assert rebound.get("/who").json() is None
    assert enter(rebound, "AB").status_code == 403
    assert client(store, base_url="http://localhost:7860").get("/who").json() == "AB"
    assert client(store, base_url="http://[::1]:7860").get("/who").json() == "AB"


def test_the_page_loads_nothing_from_the_network_and_is_not_cached(store: Store) -> None:
    page = client(store).get("/sign-in")
    policy = page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http://" not in page.text
    assert "https://" not in page.text


CANARY = "sk-canary-4f1b7c9e2a"
PASSWORD = "Balmer decrement"


class Echo(BadServer):
    """A server that repeats the key of a request in every text of its response."""

    def _behaviour(self, asked: Asked) -> Behaviour:
        key = asked.headers["authorization"]
        if asked.body is None:
            models = {"data": [{"id": name, "owned_by": "vllm"} for name in ("spec-o3", MODEL, key)]}
            return Status(200, models if asked.path == "/v1/models" else {"version": key})
        if not any(message["role"] == "assistant" for message in asked.body["messages"]):
            return Say(look(6400, 6700, f"Hα {key}", f"I was asked with {key}."), pieces=40)
        return Say(answer("YES", f"Because of {key}", key), pieces=40)


@pytest.fixture(params=["environment", "file"])
def servers(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Path, BadServer]]:
    """servers.toml with an echoing server "echo" that gets the canary from a file or the environment."""
    file = tmp_path / "keys" / "server.key"
    file.parent.mkdir()
    file.write_text(CANARY + "\n")
    file.chmod(0o600)
    monkeypatch.setenv("CANARY_KEY", CANARY)
    field = f'api_key_file = "{file}"' if request.param == "file" else 'api_key_env = "CANARY_KEY"'
    with Echo(models=("spec-o3",)) as served:
        path = tmp_path / "servers.toml"
        model = f'url = "{served.url}"\nmodel = "spec-o3"\n{field}\n'
        path.write_text(f'[[server]]\nkey = "echo"\n{model}', encoding="utf-8")
        yield path, served
        assert served.asked
        assert all(asked.headers["authorization"] == f"Bearer {CANARY}" for asked in served.asked)


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command lines of the processes that are started."""
    command_lines: list[str] = []
    real = subprocess.Popen.__init__

    def noted(self: Any, *given: Any, **more: Any) -> None:
        command_lines.append(repr(given) + repr(more.get("env")))
        real(self, *given, **more)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    return command_lines


def require_no_canary(folder: Path, *texts: object) -> None:
    for content in texts:
        assert CANARY not in str(content)
    for path in folder.rglob("*"):
        if path.is_file() and "keys" not in path.parts:
            assert CANARY.encode() not in path.read_bytes(), path


def a_spectrum(folder: Path) -> Path:
    wavelength = np.linspace(3800.0, 9000.0, 900)
    flux = 100.0 + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    path = folder / "star.csv"
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}).write(path)
    return path


def test_no_command_reveals_the_key(
    servers: tuple[Path, BadServer],
    tmp_path: Path,
    children: list[str],
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Output, files and child processes of inspect, draft, import, doctor and log."""
    caplog.set_level(logging.DEBUG)
    path, _ = servers
    star, db = a_spectrum(tmp_path), tmp_path / "annotations.db"
    arguments = ("--task", "cv", "--policy", "echo", "--servers", str(path))
    results, drafts = tmp_path / "r.jsonl", tmp_path / "d.jsonl"
    assert program.main(["inspect", *arguments, "--out", str(results), str(star), "--json"]) == 0
    assert program.main(["draft", *arguments, "--label", "YES", "--out", str(drafts), str(star), "--json"]) in (0, 1)
    assert REDACTED in results.read_text()
    for rows in (results, drafts):
        assert program.main(["import", str(rows), "--spectra", str(tmp_path), "--db", str(db), "--json"]) == 0
    program.main(["doctor", "--json", "--servers", str(path), "--db", str(db)])
    program.main(["log", "--json", "--db", str(db)])
    captured = capfd.readouterr()
    assert f"vLLM Bearer {REDACTED} serves spec-o3" in captured.out
    require_no_canary(tmp_path, captured.out, captured.err, caplog.text, *children)


@pytest.mark.parametrize("servers", ["file"], indirect=True)
def test_a_live_run_does_not_reveal_the_key_to_the_page(
    servers: tuple[Path, BadServer], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with Store.open(tmp_path / "annotations.db") as store:
        store.accounts.add_person("AB", "Ada", ["coordinator"], PASSWORD)
        built = web.build(store, local=True, roster=Roster.load(servers[0], None, database_folder=tmp_path))
        with TestClient(built, base_url="http://127.0.0.1") as client:
            client.cookies.set("spec_o3_session", store.accounts.sign_in("AB", PASSWORD).token)
            answers = [client.get(f"/api/v1/live/{path}").text for path in ("policies", "health?policy=echo")]
            with a_spectrum(tmp_path).open("rb") as file:
                row = client.post("/api/v1/live/files", files={"files": ("star.csv", file)}).json()["added"][0]
            body = {"task": "cv", "policy": "echo", "bench": row["id"]}
            run = client.post("/api/v1/live/runs", json=body).json()["run"]
            answers.append(client.get(f"/api/v1/live/runs/{run}/events").text)
            answers.append(client.get(f"/api/v1/live/runs/{run}").text)
            assert REDACTED in answers[-1]
            sent = client.post(f"/api/v1/live/runs/{run}/review", json={"sample": 0})
            answers += [sent.text, client.get("/api/v1/queue").text, client.get("/api/v1/item/1").text]
        require_no_canary(tmp_path, *answers, caplog.text, store.log.entries())


def test_judging_does_not_reveal_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The model answers no question and only repeats the key."""
    monkeypatch.setenv("CANARY_KEY", CANARY)
    with a_store(tmp_path / "annotations.db", 3) as store:
        opened(store, items=(1,))
        with Echo(models=(MODEL,)) as served:
            where = ("--server", served.url, "--model", MODEL, "--api-key-env", "CANARY_KEY")
            assert program.main(["blind", "judge", "1", *where, "--db", str(store.path)]) == 1
            assert CANARY in str(served.asked[0].headers)
    captured = capfd.readouterr()
    require_no_canary(tmp_path, captured.out, captured.err)


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


def test_finish_reason_reasoning_and_calls_do_not_repeat_the_key() -> None:
    call = {"index": 0, "id": CANARY, "function": {"name": CANARY, "arguments": ""}}
    more = [{"index": 0, "function": {"arguments": piece}} for piece in ('{"a": "', CANARY[:7], CANARY[7:], '"}')]
    deltas = [{"tool_calls": [part]} for part in (call, *more)]
    with BadServer([Say("ends in sk-c", reasoning=CANARY, deltas=deltas, finish=CANARY)]) as served:
        deltas_read = list(Endpoint(served.url, "spec-o3", CANARY).stream(MESSAGES, Sampling(), Stop()))
    assert CANARY not in repr(deltas_read)
    assert "".join(piece.arguments for delta in deltas_read for piece in delta.calls) == f'{{"a": "{REDACTED}"}}'
    assert text(deltas_read) == "ends in sk-c"


@given(st.text("sk-ab", max_size=40), st.integers(1, 8))
def test_the_secret_is_redacted_however_the_text_is_split(written: str, size: int) -> None:
    secret = "sk-abs"
    blackout = Redactor(secret)
    pieces = [written[at : at + size] for at in range(0, len(written), size)]
    passed = [blackout.delta(Delta(text=piece)).text for piece in pieces]
    assert "".join(passed) + blackout.rest().text == written.replace(secret, REDACTED)


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
        for http_server in (elsewhere, here):
            threading.Thread(target=http_server.serve_forever, daemon=True).start()
        try:
            turn(Endpoint(f"http://127.0.0.1:{here.server_port}/v1", "spec-o3", CANARY, HASTY))
        finally:
            here.shutdown()
            elsewhere.shutdown()
    assert len(headers) == 1
    assert CANARY not in repr(headers)


def test_the_page_has_no_gradio_events_and_their_routes_are_closed(store: Store) -> None:
    store.accounts.add_person("CO", "Person CO", ["coordinator"], PASSWORD)
    with TestClient(server.build(store, local=True), base_url=HERE) as browser:
        enter(browser, "CO", PASSWORD)
        assert browser.get("/config").json()["dependencies"] == []
        for path in ("queue/join", "run/predict", "cancel", "reset", "call/anything"):
            assert browser.post(f"/gradio_api/{path}", json={}).status_code == 404, path
