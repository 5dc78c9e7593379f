"""Damaged requests: each is answered or refused in a sentence, never by an internal error."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Response
from hypothesis import given
from starlette.testclient import TestClient

from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from reviewer.web.auth import ALONE, COOKIE
from tests.conftest import ROOT
from tests.support.inputs.app import REFUSED_REQUESTS, REQUESTS
from tests.support.inputs.damage import damaged_json, examples
from tests.support.inputs.refusals import check_sentence
from tests.support.inputs.rows import a_trajectory, sample_pictures
from tests.support.inputs.spectra import a_spectrum

WHOLE = [json.dumps(request).encode() for request in (*REQUESTS, *REFUSED_REQUESTS)]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The app over a small database; the client is a person with all roles."""
    with Store.open(tmp_path_factory.mktemp("requests") / "annotations.db") as store:
        store.accounts.add_person("RV", "Person", ["reviewer", "auditor", "coordinator"])
        for initials in ("AA", "BB"):
            store.accounts.add_person(initials, f"Person {initials}", ["reviewer"])
        store.settings.set_rules(None, Rules(solo=True))
        store.items.add_all([Draft(a_trajectory(), a_spectrum(), batch="damaged", pictures=sample_pictures())])
        app = server.build(store, local=True)
        client = TestClient(app, base_url="http://127.0.0.1:7860", raise_server_exceptions=False)
        client.cookies.set(COOKIE, f"{ALONE}RV")
        yield client


def send(client: TestClient, method: str, path: str, body: Any) -> Response | None:
    """Send a request; return None if the client refused to send it."""
    texts = {str(key): str(value) for key, value in body.items()} if isinstance(body, dict) else {}
    try:
        if path.startswith("/sign-in"):
            return client.request(method, path, data=texts, follow_redirects=False)
        if method == "GET":
            return client.get(path, params=texts)
        lease = client.post("/api/v1/item/1/lease").json().get("lease", "") if '"LEASE"' in json.dumps(body) else ""
        content = json.dumps(body).replace('"LEASE"', json.dumps(lease)).encode()
        return client.post(path, content=content, headers={"content-type": "application/json"})
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        if any(frame.filename.startswith(f"{ROOT}/reviewer/") for frame in frames):
            raise
        return None


def check(client: TestClient, request: object, caplog: pytest.LogCaptureFixture) -> None:
    match request:
        case [("GET" | "POST") as method, str(path), body] if path.startswith(("/api/v1/", "/sign-in")):
            pass
        case _:
            return
    if path.endswith("/events"):  # for this client a stream of events has no end
        return
    caplog.clear()
    answer = send(client, method, path, body)
    if answer is None:
        return
    assert answer.status_code < 500 or answer.status_code == 503, caplog.text
    if answer.status_code >= 400 and answer.headers.get("content-type") == "application/json":
        refusal = answer.json()
        if isinstance(refusal, dict) and "error" in refusal:
            check_sentence(refusal["error"])


def test_every_undamaged_request_is_answered_or_refused(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    for request in WHOLE:
        check(client, json.loads(request), caplog)


@examples(100)
@given(text=damaged_json(WHOLE))
def test_any_damaged_request_is_answered_or_refused_in_a_sentence(
    client: TestClient, text: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    try:
        request = json.loads(text)
    except (ValueError, RecursionError):
        return
    check(client, request, caplog)
