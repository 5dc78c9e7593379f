"""``/mcp``: who gets in, and what an agent may see and do in the name of its person."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.store import Store
from reviewer.web.auth import ALONE, COOKIE
from reviewer.web.bodies import LARGEST
from reviewer.web.verdict_first import RULE
from tests.support.blind_campaign import a_store, opened
from tests.support.campaign import Clock

HERE = "http://127.0.0.1:7860"
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "an-agent", "version": "1"}}

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """Items 1 to 12, of six spectra by two drafters each."""
    with a_store(tmp_path / "annotations.db", clock=clock) as store:
        yield store


@pytest.fixture
def app(store: Store) -> FastAPI:
    return server.build(store, local=True)


@pytest.fixture
def running(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url=HERE) as client:
        yield client


class Agent:
    """The agent of a person, in a session of the protocol."""

    def __init__(self, client: TestClient, token: str | None, path: str = "/mcp", **headers: str) -> None:
        self._client, self._path = client, path
        self.headers = {"Accept": "application/json, text/event-stream", **headers}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"

    def send(self, method: str, **params: Any) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._client.post(self._path, json=message, headers=self.headers)

    def hello(self) -> Agent:
        answer = self.send("initialize", **HELLO)
        assert answer.status_code == 200, answer.text
        self.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
        return self

    def call(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Call a tool; return whether it was refused, and its text."""
        answer = self.send("tools/call", name=tool, arguments={"reasoning": "because", **arguments})
        result = answer.json()["result"]
        return result["isError"], result["content"][0]["text"]

    def open(self, path: str) -> str:
        """Open a spectrum; return its handle."""
        refused, text = self.call("open_spectrum", path=path)
        assert not refused, text
        return text.split("\n")[0].removeprefix("handle: ")


def secret_of(store: Store, person: str = "RE", may_write: bool = True, days: int | None = None) -> str:
    return store.tokens.make(person, "an agent", may_write, days)[1]


def verdict(handle: str) -> dict[str, str]:
    return {"handle": handle, "task": "cv", "verdict": "NO", "explanation": "No emission."}


async def _status(app: FastAPI, method: str, headers: dict[str, str]) -> tuple[int, bytes | None]:
    """Return the status of an answer and what it says about signing in. The body is never there to be read."""
    sent: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("the body was read")

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "127.0.0.1:7860", "content-type": "application/json", "content-length": "100", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 7860),
    }
    await app(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]).get(b"www-authenticate")


def test_without_a_token_in_force_a_request_is_refused_before_its_body_is_read(
    app: FastAPI, store: Store, clock: Clock
) -> None:
    withdrawn, ended, gone = secret_of(store, "AX"), secret_of(store, days=30), secret_of(store, "AU")
    store.tokens.revoke("AX", store.tokens.listed("AX")[0].id)
    store.accounts.deactivate("CO", "AU")
    clock.turn(days=31)
    for secret in (None, "so3_wrong", "wrong", withdrawn, ended, gone):
        # The cookie of a session opens the page, never this.
        headers = {"cookie": f"{COOKIE}={ALONE}RE"}
        headers |= {} if secret is None else {"authorization": f"Bearer {secret}"}
        for method in ("POST", "GET", "DELETE"):
            assert asyncio.run(_status(app, method, headers)) == (401, b"Bearer"), (secret, method)


def test_other_sites_and_names_are_refused_with_a_token_too(running: TestClient, store: Store) -> None:
    token = secret_of(store)
    assert Agent(running, token, Origin="http://evil.example").send("initialize", **HELLO).status_code == 403
    rebound = Agent(running, token, Host="evil.example", Origin="http://evil.example")
    assert rebound.send("initialize", **HELLO).status_code == 403
    assert Agent(running, token, Origin=HERE).send("initialize", **HELLO).status_code == 200


def test_bodies_have_the_limit_of_the_other_routes_and_there_is_no_stream(running: TestClient, store: Store) -> None:
    agent = Agent(running, secret_of(store)).hello()
    assert running.post("/mcp", content=b" " * (LARGEST + 1), headers=agent.headers).status_code == 413
    assert running.get("/mcp", headers=agent.headers).status_code == 405


def test_sessions_and_handles_are_of_one_person(running: TestClient, store: Store) -> None:
    rosa, cora = Agent(running, secret_of(store)).hello(), Agent(running, secret_of(store, "CO")).hello()
    handle = rosa.open("item-1")
    assert "expected one that open_spectrum gave" in cora.call("measure", handle=handle, feature="Hα")[1]
    own = cora.headers["Mcp-Session-Id"]
    cora.headers["Mcp-Session-Id"] = rosa.headers["Mcp-Session-Id"]
    assert cora.send("tools/list").status_code == 404
    assert running.delete("/mcp", headers=cora.headers).status_code == 404
    cora.headers["Mcp-Session-Id"] = own
    second = Agent(running, secret_of(store))
    second.headers["Mcp-Session-Id"] = rosa.headers["Mcp-Session-Id"]
    assert second.send("tools/list").status_code == 200
    assert rosa.send("tools/list").status_code == 200


def test_a_withdrawn_token_ends_an_open_session(running: TestClient, store: Store) -> None:
    agent = Agent(running, secret_of(store)).hello()
    store.tokens.revoke("RE", store.tokens.listed("RE")[0].id)
    assert agent.send("tools/list").status_code == 401


def test_a_verdict_is_a_draft_that_the_person_brought(running: TestClient, store: Store) -> None:
    agent = Agent(running, secret_of(store)).hello()
    refused, text = agent.call("submit_verdict", **verdict(agent.open("item-1")))
    assert (refused, "item 13" in text) == (False, True)
    row = store.items.get(13).row
    assert (row.drafter_kind, row.drafter_name, row.state) == ("model", "an-agent", "screening")
    (entry,) = [entry for entry in store.log.entries(what="items added") if "13" in entry.subject]
    assert entry.person == "RE"


def test_a_token_that_may_only_read_submits_nothing(running: TestClient, store: Store) -> None:
    agent = Agent(running, secret_of(store, may_write=False)).hello()
    handle, head = agent.open("item-1"), store.log.head()
    refused, text = agent.call("submit_verdict", **verdict(handle))
    assert (refused, "may only read" in text) == (True, True)
    assert store.log.head() == head


def test_no_file_of_the_machine_is_opened(running: TestClient, store: Store) -> None:
    agent = Agent(running, secret_of(store)).hello()
    for path in ("pyproject.toml", str(Path(__file__)), "../annotations.db", str(store.path)):
        refused, text = agent.call("open_spectrum", path=path)
        assert (refused, "neither a file below a folder of this server nor" in text) == (True, True)


def test_what_the_person_scores_blind_is_hidden_from_their_agent(running: TestClient, store: Store) -> None:
    opened(store)
    item = min(store.blind.scoring.hidden_items("RE"))
    row = store.items.get(item).row
    rosa, cora = Agent(running, secret_of(store)).hello(), Agent(running, secret_of(store, "CO")).hello()
    for name in (f"item-{item}", row.name, row.spectrum_sha256):
        assert rosa.call("open_spectrum", path=name)[0]
        assert not cora.call("open_spectrum", path=name)[0]
    assert f"item-{item}" not in rosa.call("queue")[1]


def test_verdict_first_hides_a_spectrum_until_the_persons_own_verdict(running: TestClient, store: Store) -> None:
    row = store.items.get(1).row
    store.settings.set("CO", RULE, [row.batch])
    agent = Agent(running, secret_of(store)).hello()
    for name in ("item-1", row.name, row.spectrum_sha256):
        refused, text = agent.call("open_spectrum", path=name)
        assert (refused, "Give your own verdict first" in text) == (True, True)
    assert "item-" not in agent.call("queue")[1].replace("an item", "")
    version = store.items.get(1).version.id
    store.marks.commit_verdict(person="RE", item_id=1, version_id=version, verdict="NO")
    assert not agent.call("open_spectrum", path="item-1")[0]


def test_answers_are_english_whatever_the_client_reads(running: TestClient, store: Store) -> None:
    opened(store)
    item = min(store.blind.scoring.hidden_items("RE"))
    agents = [Agent(running, secret_of(store), **{"Accept-Language": tag}).hello() for tag in ("zh", "en")]
    chinese, english = (agent.call("open_spectrum", path=f"item-{item}") for agent in agents)
    assert chinese == english


@pytest.mark.parametrize("path", ["/mcp", "/review/mcp"])
def test_it_is_below_the_path_of_a_proxy(store: Store, path: str) -> None:
    app = server.build(store, local=False, public="https://team.example/review/")
    with TestClient(app, base_url="https://team.example") as client:
        agent = Agent(client, secret_of(store), path).hello()
        assert (
            "https://team.example/review/#item=13" in agent.call("submit_verdict", **verdict(agent.open("item-1")))[1]
        )


def test_without_the_extra_the_address_says_so(app: FastAPI, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with TestClient(app, base_url=HERE) as client:
        answer = Agent(client, secret_of(store)).send("initialize", **HELLO)
    assert (answer.status_code, "spec-o3[mcp]" in answer.json()["error"]) == (501, True)
