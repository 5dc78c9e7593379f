"""Requests of a signed-in person, their JSON and their addresses spoiled: any 500 is a find."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reviewer.rules.campaign import Rules
from reviewer.store import Draft, Store
from tests.soak.doors.blind import plan_data
from tests.soak.doors.samples import WINDOW, a_spectrum, a_trajectory, sample_pictures
from tests.soak.mutations import spoiled_json
from tests.soak.trying import DidNotHold, Door, Try, check_sentence

LOOPBACK = "http://127.0.0.1:7860"
BETWEEN_BASES = 3000
"""Requests until the database is made anew: what came in makes the queue longer and slower."""
REQUESTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("POST", "/api/look", {"item": 1, "arguments": {"wavelength_range": WINDOW, "label": "x"}}),
    ("POST", "/api/renew", {"lease": "abc"}),
    ("POST", "/api/release", {"lease": "abc"}),
    (
        "POST",
        "/api/item/1/autosave",
        {"base": 1, "steps": [{"id": "s1", "kind": "think", "text": "a"}], "comment": "b"},
    ),
    ("POST", "/api/item/1/discard", {"base": 1, "steps": [], "comment": ""}),
    (
        "POST",
        "/api/item/1/version",
        {
            "base": 1,
            "steps": [{"id": "s1", "kind": "think", "text": "a"}],
            "reason": "r",
            "key": "k" * 10,
            "lease": "LEASE",
        },
    ),
    (
        "POST",
        "/api/item/1/decide",
        {"version": 1, "verb": "keep", "key": "k" * 11, "lease": "LEASE", "reason": "", "comment": "c"},
    ),
    ("POST", "/api/item/1/undo", {"key": "k" * 12}),
    (
        "POST",
        "/api/item/1/mark",
        {"version": 1, "step": "s1", "mark": "not supported", "note": "n", "key": "k" * 13},
    ),
    ("POST", "/api/item/1/verdict", {"version": 1, "verdict": "YES"}),
    ("POST", "/api/item/1/lease", {}),
    (
        "POST",
        "/api/blind/sheet/abc/score",
        {"coherence": 3, "consistency": None, "comment": "c", "wrong_steps": ["1"], "key": "k" * 14},
    ),
    ("POST", "/api/blind/sheet/abc/prefer", {"preference": "left", "comment": "c", "key": "k" * 15}),
    ("POST", "/api/blind/preview", {"plan": plan_data()}),
    ("POST", "/api/blind/sessions", {"plan": plan_data(), "key": "k" * 16}),
    ("POST", "/api/blind/sessions/1/open", {"key": "k" * 17}),
    ("POST", "/api/live/bench", {"item": 1}),
    (
        "POST",
        "/api/live/runs",
        {"bench": "x", "task": "cv", "policy": "baseline", "samples": 1, "max_turns": 2},
    ),
    ("POST", "/api/live/runs/x/review", {"samples": [0]}),
    (
        "GET",
        "/api/queue",
        {"after": 1, "limit": 3, "text": "a", "snr_min": 1.0, "task": "cv", "state": "screening"},
    ),
    ("GET", "/api/item/1", {"verdict_first": "true"}),
    ("GET", "/api/place/1", {"batch": "x"}),
    ("GET", "/api/item/1/hints", {"version": 1}),
    ("GET", "/api/picture/abc", {"spectrum": "x", "redshift": 0.1, "arguments": "{}"}),
    ("GET", "/api/atlas", {"survey": "LAMOST", "task": "cv"}),
    ("GET", "/api/template", {"task": "cv"}),
    ("GET", "/api/live/health", {"policy": "baseline"}),
    ("GET", "/api/live/library", {"q": "a", "limit": 3}),
    ("GET", "/api/blind/sheet/a/picture/0/1", {}),
    ("GET", "/api/progress", {}),
    ("POST", "/sign-in", {"initials": "RV", "password": "x"}),
)


def requests() -> Iterator[bytes]:
    for method, path, body in REQUESTS:
        yield json.dumps({"method": method, "path": path, "body": body}).encode()


class _Faults(logging.Handler):
    """What the program logged as its own fault."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[BaseException] = []

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            self.errors.append(error)


class _App:
    """The app over a small database of its own, and somebody who may do everything there."""

    def __init__(self, folder: Path) -> None:
        from starlette.testclient import TestClient

        from reviewer.web.app import build
        from reviewer.web.auth import ALONE, COOKIE

        path = folder / "annotations.db"
        for old in folder.glob("annotations.db*"):
            old.unlink()
        self.store = Store.open(path)
        self.store.add_person("RV", "Person", ["reviewer", "auditor", "coordinator"])
        for initials in ("AA", "BB"):
            self.store.add_person(initials, f"Person {initials}", ["reviewer"])
        self.store.set_rules(None, Rules(solo=True))
        trajectory, spectrum = a_trajectory(), a_spectrum()
        self.store.add_items([Draft(trajectory, spectrum, batch="fuzz", pictures=sample_pictures())])
        self.client = TestClient(build(self.store, local=True), base_url=LOOPBACK, raise_server_exceptions=False)
        self.client.cookies.set(COOKIE, f"{ALONE}RV")
        self.lease = ""
        self.asked = 0

    def take_lease(self) -> None:
        answer = self.client.post("/api/item/1/lease")
        self.lease = answer.json().get("lease", "") if answer.status_code == 200 else ""


def routes(folder: Path) -> Try:
    apps = [_App(folder)]
    faults = _Faults()
    log = logging.getLogger("spec_o3")
    log.addHandler(faults)
    log.propagate = False

    def attempt(data: bytes) -> None:
        app = apps[0]
        app.asked += 1
        if app.asked % BETWEEN_BASES == 0:
            app.store.close()
            app = apps[0] = _App(folder)
        asked = _read(data)
        if asked is None:
            return
        method, path, body = asked
        if app.asked % 50 == 1 or not app.lease:
            app.take_lease()
        faults.errors.clear()
        answer = _send(app, method, path, body)
        if answer is None:
            return
        if answer.status_code >= 500 and answer.status_code != 503:
            raise (faults.errors[0] if faults.errors else DidNotHold(f"{answer.status_code}: {answer.text[:200]}"))
        if answer.headers.get("content-type") == "application/json":
            said = answer.json()
            if answer.status_code >= 400 and isinstance(said, dict) and "error" in said:
                check_sentence(said["error"])

    return attempt


def _read(data: bytes) -> tuple[str, str, Any] | None:
    try:
        asked = json.loads(data)
        method, path, body = asked["method"], asked["path"], asked["body"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    if method not in ("GET", "POST") or not isinstance(path, str) or not path.startswith(("/api/", "/sign-in")):
        return None
    # A stream of events has no end for this client, and what a run asks a model is no request's business.
    return None if path.endswith("/events") else (method, path, body)


def _send(app: _App, method: str, path: str, body: Any) -> Any:
    try:
        if path.startswith("/sign-in"):
            form = {str(k): str(v) for k, v in body.items()} if isinstance(body, dict) else {"initials": str(body)}
            return app.client.request(method, path, data=form, follow_redirects=False)
        if method == "GET":
            query = {str(k): str(v) for k, v in body.items()} if isinstance(body, dict) else {}
            return app.client.get(path, params=query)
        text = json.dumps(body).replace('"LEASE"', json.dumps(app.lease))
        return app.client.post(path, content=text.encode(), headers={"content-type": "application/json"})
    except Exception as error:
        # What httpx will not send is none of the app's business; what the app raised is.
        if any("/reviewer/" in frame.filename for frame in traceback.extract_tb(error.__traceback__)):
            raise
        return None


DOORS = (Door("routes", routes, requests, spoiled_json),)
