"""Blind scoring: plans of sessions, and sessions of another database drawn again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewer.blind import rerun
from reviewer.blind.values import Plan, PlanError
from tests.soak.doors.samples import json_or_none
from tests.soak.mutations import spoiled_json
from tests.soak.trying import DidNotHold, Door, Try, refused_by


def plan_data() -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": "first",
        "mode": "both",
        "scorers": ["AA", "BB"],
        "each": 1,
        "repeats": 0,
        "seed": 3,
    }
    data |= {
        "sources": ["rule", "model"],
        "tasks": ["cv"],
        "number": 4,
        "filter": {"snr_min": 3, "states": ["approved"]},
    }
    return data | {"gold": [{"item": 3, "coherence": 4, "tolerance": 1}]}


def plans() -> list[bytes]:
    made = []
    for less in ((), ("filter",), ("number", "filter", "gold")):
        data = {key: value for key, value in plan_data().items() if key not in less}
        made.append(json.dumps(data).encode())
    return [*made, json.dumps(Plan.from_json(plan_data() | {"number": None}).to_json()).encode()]


def sessions() -> list[bytes]:
    item = {"item": 1, "content_hash": "sha256:ab", "source": "rule", "source_kind": "baseline"}
    data = {
        "format": "spec-o3 blind session 1",
        "plan": plan_data(),
        "items": [item, item | {"item": 3, "content_hash": "x"}],
    }
    return [json.dumps(data).encode()]


def _plan(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        value = json_or_none(data)
        with refused_by(PlanError):
            plan = Plan.from_json(value)
            if Plan.from_json(json.loads(json.dumps(plan.to_json()))) != plan:
                raise DidNotHold("a plan that its own JSON form does not give back")

    return attempt


def _session(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "session.json"
        path.write_bytes(data)
        with refused_by(rerun.NotASession, PlanError, where=folder):
            given = rerun.read(path)
            wanted = rerun.plan_data(given, lambda texts: {text: n for n, text in enumerate(texts, 1)})
            Plan.from_json(wanted | {"scorers": ["AA", "BB"]})

    return attempt


DOORS = (
    Door("plan", _plan, plans, spoiled_json),
    Door("session", _session, sessions, spoiled_json),
)
