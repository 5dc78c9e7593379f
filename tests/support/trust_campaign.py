"""A campaign with several hundred labelled spectra, scored answers and votes, filled in seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.spectrum import Spectrum
from agent.tasks import find, load_all
from agent.trajectory import Answer, Drafter, Think, Trajectory
from reviewer.store import Draft, Store

POLICY = "baseline, no model"
WAVELENGTH = np.arange(3600.0, 9100.0, 10.0)
TASK = find(load_all([])[0], "cv")
PROMPT = TASK.prompt


@dataclass(frozen=True)
class Planted:
    """An item of the campaign: its log odds of YES, its true class, and whether the label is known."""

    item: int
    log_odds: float
    yes: bool
    is_labelled: bool


def spectrum(number: int, snr: float = 20.0, survey: str = "LAMOST") -> Spectrum:
    """A flat spectrum with noise of its own; nothing in it depends on the class."""
    flux = 1.0 + np.random.default_rng(number).normal(0.0, 1.0 / snr, WAVELENGTH.size).round(4)
    ivar = np.full(WAVELENGTH.size, snr**2)
    return Spectrum(WAVELENGTH, flux, ivar, redshift=0.0, name=f"spec-{number:05d}.fits", survey=survey)


def trace(
    of: Spectrum, log_odds: float, label: str | None = None, policy: str = POLICY, **changes: object
) -> Trajectory:
    """A trace that answers with these log odds."""
    verdict = "YES" if log_odds > 0 else "NO"
    values = {
        "task": "cv",
        "prompt": PROMPT,
        "spectrum_name": of.name,
        "spectrum_sha256": of.sha256,
        "steps": (Think("s1", "Nothing to see."), Answer("s2", verdict, "No reason.", score=round(log_odds, 6))),
        "drafter": Drafter("baseline", policy, {"version": 1}),
        "redshift": 0.0,
        "label": label,
    }
    return Trajectory(**(values | changes))


def fill(store: Store, labelled: int = 400, waiting: int = 200, wrong: float = 0.0, seed: int = 0) -> list[Planted]:
    """Add items whose P(YES) is calibrated: an item with log odds x is YES with the probability of x.

    :param labelled: items with a known label, and ``waiting`` items without
    :param wrong: share of the known labels that are flipped
    """
    rng = np.random.default_rng(seed)
    count = labelled + waiting
    log_odds = np.where(rng.random(count) < 0.35, rng.normal(5.0, 2.0, count), rng.normal(-5.0, 2.0, count))
    yes = rng.random(count) < 1 / (1 + np.exp(-log_odds))
    flipped = rng.random(count) < wrong
    spectra = [spectrum(seed * 100_000 + number) for number in range(count)]
    drafts = []
    for number in range(count):
        known = ("YES" if yes[number] != flipped[number] else "NO") if number < labelled else None
        draft = trace(spectra[number], float(log_odds[number]), known)
        drafts.append(Draft(draft, spectra[number], batch="campaign"))
    added = store.items.add_all(drafts)
    return [
        Planted(one.item_id, float(log_odds[number]), bool(yes[number]), number < labelled)
        for number, one in enumerate(added)
    ]


def vote(store: Store, people: Sequence[str], planted: Sequence[Planted], right: float = 0.9, seed: int = 1) -> None:
    """Let each person commit an own verdict on each item, correct with this probability."""
    rng = np.random.default_rng(seed)
    for one in planted:
        version = store.items.get(one.item).version
        for person in people:
            says = one.yes if rng.random() < right else not one.yes
            verdict = "YES" if says else "NO"
            store.marks.commit_verdict(person=person, item_id=one.item, version_id=version.id, verdict=verdict)


def probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))
