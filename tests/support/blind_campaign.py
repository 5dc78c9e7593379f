"""A campaign with two drafters' traces of the same spectra, to draw blind sessions from."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from agent.trajectory import Drafter, Trajectory
from reviewer.blind.values import Plan
from reviewer.store import BlindSession, Draft, Store
from tests.support.campaign import a_spectrum, a_trajectory, people

GPT, SPEC = "gpt-5", "Spec-o3-7B"
SCORERS = ("RE", "AU", "VO")
_keys = (f"blind-{n}" for n in count())


def key() -> str:
    return next(_keys)


def trace(source: str, number: int, task: str = "cv", **other: object) -> Trajectory:
    spectrum = a_spectrum(f"spec-55859-F5902_sp01-{number:03d}.fits")
    settings = {"temperature": 0.7, "endpoint": "http://gpu.example/v1"}
    think = f"Hα looks broad, seen {len(source)} times in spectrum {number}."
    values = {
        "task": task,
        "drafter": Drafter("model", source, settings),
        "label": "YES" if number % 2 else "NO",
        "overview": "cd" * 32,
    }
    return a_trajectory(spectrum, think, **(values | other))


def two_drafters(store: Store, spectra: int = 6, task: str = "cv") -> list[int]:
    """Both drafters' traces of each spectrum; the items' numbers."""
    drafts = [
        Draft(trace(source, number, task), a_spectrum(f"spec-55859-F5902_sp01-{number:03d}.fits"))
        for number in range(spectra)
        for source in (GPT, SPEC)
    ]
    return [added.item_id for added in store.add_items(drafts)]


def a_store(path: Path, spectra: int = 6, **other: object) -> Store:
    store = Store.open(path, **other)
    people(store)
    store.add_person("ED", "Dr ED", ["reviewer", "auditor"])
    two_drafters(store, spectra)
    return store


def drawn(store: Store, **plan: object) -> BlindSession:
    return store.draw_blind("CO", Plan(**({"name": "gpt against ours", "scorers": SCORERS} | plan)), key())


def opened(store: Store, **plan: object) -> BlindSession:
    return store.open_blind("CO", drawn(store, **plan).id, key())


def tokens(store: Store, person: str, kind: str = "scores") -> list[str]:
    return [work.token for work in store.blind_work(person) if work.kind == kind]
