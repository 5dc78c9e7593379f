"""Bodies of requests: nothing is read before its sender is known, and no body is longer than its route needs."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from agent.errors import Refusal
from agent.spectrum import SpectrumError, read
from agent.tasks import TaskError
from reviewer import reading, server
from reviewer.backup.backups import BackupError
from reviewer.errors import message
from reviewer.exchange.draft_file import ImportFileError
from reviewer.live import bench as bench_module
from reviewer.rules.campaign import RulesError
from reviewer.rules.item_numbers import ItemNumbersError
from reviewer.rules.people import PersonError
from reviewer.store import CannotWrite, Store
from reviewer.web import bodies
from reviewer.web.access import GRADIO
from reviewer.web.auth import COOKIE
from reviewer.web.context import NobodySignedIn
from tests.support.memory import peaks

HERE = "http://127.0.0.1:7860"
PASSWORD = "Balmer decrement"
CHUNK = b"{}," * 20_000
CHUNKS = 1_000
"""60 MB, which Python's JSON reader makes 1.5 GB of."""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, FastAPI]]:
    with Store.open(tmp_path_factory.mktemp("bodies") / "annotations.db") as store:
        store.accounts.add_person("CO", "Cora", ["coordinator"], PASSWORD)
        yield store, server.build(store, local=True)


class Sender:
    """A client at the level of ASGI, which counts what the app takes from it."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self.taken = 0
        self.status = 0
        self.answer = b""

    def post(self, path: str, headers: dict[str, str], length: int | None = None) -> dict[str, Any]:
        """Send a body of 60 MB; ``length``: what it says about its length, None: it is chunked."""
        said = {"transfer-encoding": "chunked"} if length is None else {"content-length": str(length)}
        given = {"host": "127.0.0.1:7860", "content-type": "application/json", **said, **headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 7860),
        }

        async def receive() -> dict[str, Any]:
            self.taken += 1
            return {"type": "http.request", "body": CHUNK, "more_body": self.taken < CHUNKS}

        async def send(message: dict[str, Any]) -> None:
            self.status = message.get("status", self.status)
            self.answer += message.get("body", b"")

        asyncio.run(self._app(scope, receive, send))  # type: ignore[arg-type]
        return json.loads(self.answer) if self.answer[:1] == b"{" else {"error": self.answer.decode()}


POSTED = ["/api/v1/zoom", "/api/v1/bulk", "/api/v1/blind/sessions", "/api/v1/no/such/route", "/api/v1/live/files"]
LENGTHS = [None, len(CHUNK) * CHUNKS, 10]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("path", POSTED)
@pytest.mark.parametrize(
    "headers",
    [{}, {"cookie": f"{COOKIE}=unknown"}, {"authorization": "Bearer so3_" + "x" * 43}],
    ids=["nothing", "a session that does not exist", "a token that does not exist"],
)
def test_nothing_of_a_stranger_is_read(
    team: tuple[Store, FastAPI], path: str, headers: dict[str, str], length: int | None
) -> None:
    sender = Sender(team[1])
    answer = sender.post(path, headers, length)
    assert (sender.status, answer["kind"]) == (401, "signed_out")
    assert sender.taken == 0


def test_broken_json_of_a_stranger_is_answered_like_all_of_a_stranger(team: tuple[Store, FastAPI]) -> None:
    client = TestClient(team[1], base_url=HERE)
    for method in ("POST", "DELETE", "PUT", "PATCH"):
        answer = client.request(method, "/api/v1/views", content=b"{", headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["kind"]) == (401, "signed_out"), method


def test_a_store_that_fails_while_a_sender_is_looked_up_is_answered_in_words(
    team: tuple[Store, FastAPI], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, app = team

    def locked(token: str) -> None:
        raise CannotWrite("annotations.db is locked by another program")

    monkeypatch.setattr(store.accounts, "signed_in", locked)
    client = TestClient(app, base_url=HERE, cookies={COOKIE: "x"}, raise_server_exceptions=False)
    for method, path in (("POST", "/api/v1/views"), ("GET", "/api/v1/views"), ("GET", "/config")):
        answer = client.request(method, path)
        assert (answer.status_code, answer.json()["kind"]) == (503, "store"), path


@pytest.mark.parametrize("length", LENGTHS[:2])
@pytest.mark.parametrize(
    "path",
    ["/api/v1/zoom", "/api/v1/no/such/route", "/sign-in", "/sign-out"]
    + [path for path, methods in GRADIO.items() if "POST" in methods and path != bodies.UPLOAD],
)
def test_a_body_that_is_too_long_is_refused_soon_and_in_words(
    team: tuple[Store, FastAPI], path: str, length: int | None
) -> None:
    store, app = team
    sender = Sender(app)
    answer = sender.post(path, {"cookie": f"{COOKIE}={store.accounts.sign_in('CO', PASSWORD).token}"}, length)
    assert sender.status == 413
    assert "expected at most" in answer["error"]
    largest = bodies.LARGEST_FORM if path.startswith("/sign-") else bodies.LARGEST
    assert sender.taken <= largest // len(CHUNK) + 1
    assert length is None or sender.taken == 0


@pytest.mark.parametrize("path", [bodies.UPLOAD, f"/zh{bodies.UPLOAD}", "/api/v1/live/files"])
def test_an_upload_says_how_long_it_is_and_has_to_fit_on_the_disk(
    team: tuple[Store, FastAPI], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, app = team
    cookie = {"cookie": f"{COOKIE}={store.accounts.sign_in('CO', PASSWORD).token}"}
    for length, status, words in (
        (None, 411, "without a length"),
        (2**40, 413, "expected at most that"),
        (30_000_000, 507, "The disk is full: found 12 MB free"),
    ):
        monkeypatch.setattr(bodies.shutil, "disk_usage", lambda folder: SimpleNamespace(free=12_000_000))
        sender = Sender(app)
        error = sender.post(path, cookie, length)["error"]
        assert error if path.startswith("/zh") else words in error
        assert (sender.status, sender.taken) == (status, 0)


def test_long_bodies_are_worked_on_two_at_a_time_and_the_others_wait() -> None:
    entered, most, answered = 0, 0, 0
    go_on = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal entered, most, answered
        entered += 1
        most = max(most, entered)
        assert len((await receive())["body"]) == bodies.LONG + 1
        await go_on.wait()
        entered -= 1
        answered += 1

    async def body() -> dict[str, Any]:
        return {"type": "http.request", "body": b" " * (bodies.LONG + 1), "more_body": False}

    async def all_together() -> None:
        limits = bodies.BodyLimits(app)
        length = (b"content-length", str(bodies.LONG + 1).encode())
        scope = {"type": "http", "method": "POST", "path": "/api/v1/zoom", "headers": [length]}

        async def send(message: Any) -> None: ...

        tasks = [asyncio.create_task(limits(dict(scope), body, send)) for _ in range(7)]
        while entered < bodies.LONG_AT_ONCE:
            await asyncio.sleep(0)
        for _ in range(100):
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_together())
    assert (most, answered) == (bodies.LONG_AT_ONCE, 7)


def test_files_of_people_are_read_two_at_a_time(team: tuple[Store, FastAPI], monkeypatch: pytest.MonkeyPatch) -> None:
    store, app = team
    for initials in ("AA", "BB", "CC", "DD"):
        store.accounts.add_person(initials, initials, ["reviewer"], PASSWORD)
    now, most, lock, go_on = 0, 0, threading.Lock(), threading.Event()
    own = bench_module.Bench._take

    def held(*arguments: Any) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        if now >= reading.AT_ONCE:
            go_on.set()
        assert go_on.wait(60)
        try:
            own(*arguments)
        finally:
            with lock:
                now -= 1

    monkeypatch.setattr(bench_module.Bench, "_take", held)
    answers: list[Any] = []

    def upload(initials: str) -> None:
        cookie = {"cookie": f"{COOKIE}={store.accounts.sign_in(initials, PASSWORD).token}"}
        file = {"files": (f"{initials}.txt", b"".join(b"%d 1\n" % n for n in range(4000, 5000)))}
        answers.append(client.post("/api/v1/live/files", files=file, headers=cookie).json())

    with TestClient(app, base_url=HERE) as client:
        threads = [threading.Thread(target=upload, args=(who,)) for who in ("AA", "AA", "BB", "CC", "DD", "CO")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert most == reading.AT_ONCE
    assert [len(answer["added"]) for answer in answers] == [1] * 6


def _padded(path: Path) -> Path:
    rows = b"".join(b"%d %d\n" % (n, n % 7 + 1) for n in range(4000, 7000))
    with gzip.open(path, "wb") as packed:
        packed.write(rows)
        for _ in range(60):
            packed.write(b"\0" * 1_000_000)
    return path


def _refused(path: Path) -> None:
    with pytest.raises(SpectrumError, match="binary file"):
        read(path)


def test_a_text_with_nul_bytes_is_refused_before_it_is_split(tmp_path: Path) -> None:
    path = _padded(tmp_path / "padded.txt.gz")
    _, used = peaks(_refused, path, path)
    assert used < 250_000_000  # the file itself is 60 MB, on its way through the spool and as bytes


def test_each_step_of_a_generator_waits_for_its_turn_and_none_keeps_it() -> None:
    steps = reading.each_in_turn(iter("ab"))
    assert next(steps) == "a"
    held = [reading.FILES.acquire(timeout=60) for _ in range(reading.AT_ONCE)]
    assert held == [True] * reading.AT_ONCE
    for _ in held:
        reading.FILES.release()
    assert list(steps) == ["b"]


def _all_below(kind: type[Exception]) -> set[type[Exception]]:
    return {kind}.union(*map(_all_below, kind.__subclasses__()))


def test_what_is_written_for_a_person_is_never_an_internal_error(team: tuple[Store, FastAPI]) -> None:
    """Wherever it comes from: a route, or the check of a sender before it."""
    kinds = [kind for kind in _all_below(Refusal) if not kind.__module__.startswith("tests.")]
    assert {PersonError, RulesError, ImportFileError, ItemNumbersError, BackupError, TaskError} <= set(kinds)
    handlers = team[1].exception_handlers
    for kind in kinds:
        if issubclass(kind, NobodySignedIn):
            continue  # its answer depends on the request
        nearest = next(handlers[parent] for parent in kind.__mro__ if parent in handlers)
        assert nearest is not handlers[Exception], kind
        if kind.__init__ is Exception.__init__:
            error = kind("found 3, expected 2")
            assert message(error) == "found 3, expected 2"
            assert nearest(None, error).status_code in (401, 403, 404, 409, 422, 429, 503), kind
