"""A small review campaign for tests: people, drafted trajectories, a clock that tests set."""

import multiprocessing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import numpy as np

from agent.spectrum import Spectrum
from agent.trajectory import Answer, Drafter, Think, Trajectory, Zoom
from reviewer.rules.workflow import Standing
from reviewer.store import Store
from reviewer.store.team.webhooks import PAUSES, STOPS_AFTER

PROCESSES = multiprocessing.get_context("forkserver")
"""Starts processes from one that has imported the store and has no threads."""
PROCESSES.set_forkserver_preload(["tests.support.campaign"])

PEOPLE = {
    "RE": ["reviewer"],
    "AU": ["auditor"],
    "AX": ["auditor"],
    "VO": ["reviewer"],
    "CO": ["coordinator"],
    "JU": ["auditor"],
}


@dataclass
class Clock:
    """A clock that stands still until ``turn`` is called."""

    now: datetime = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


def a_spectrum(name: str = "spec-55859-F5902_sp01-004.fits", **other) -> Spectrum:
    wavelength = 10 ** np.linspace(np.log10(3700.0), np.log10(9000.0), 300)
    flux = np.random.default_rng(len(name)).normal(1.0, 0.1, 300).astype("f4").astype(float)
    values = {"survey": "LAMOST", "ids": {"obsid": "14812345"}, "snr": {"r": 20.0}} | other
    return Spectrum(wavelength, flux, np.full(300, 100.0), name=name, **values)


def a_trajectory(spectrum: Spectrum | None = None, think: str = "Hα looks broad.", **other) -> Trajectory:
    steps = (
        Think("s1", think),
        Zoom("s2", {"wavelength_range": [6500, 6600], "label": "Hα"}, picture="ab" * 32),
        Think("s3", "Double peaked, so a disk."),
        Answer("s4", "YES", "Broad Balmer emission."),
    )
    values = {
        "task": "cv",
        "prompt": "Is this a cataclysmic variable?",
        "spectrum_name": spectrum.name if spectrum else "gone.fits",
        "spectrum_sha256": spectrum.sha256 if spectrum else None,
        "steps": steps,
        "drafter": Drafter("baseline", "rule 1"),
    }
    return Trajectory(**(values | other))


def edited(trajectory: Trajectory, text: str) -> Trajectory:
    return trajectory.with_steps((Think("s1", text), *trajectory.steps[1:]))


@dataclass
class Desk:
    """Does what the page does: takes a lease, names the current version, makes a key."""

    store: Store
    last_key: str = ""

    def key(self) -> str:
        self.last_key = uuid4().hex
        return self.last_key

    def decide(self, person: str, item_id: int, verb: str, **fields: object) -> Standing:
        given = {"version_id": self._current(item_id).id, "key": self.key()} | fields
        given |= {} if "lease_token" in given else {"lease_token": self.store.leases.take(person, item_id).token}
        return self.store.reviews.decide(person=person, item_id=item_id, verb=verb, **given)

    def save(self, person: str, item_id: int, trajectory: Trajectory, **fields: object):
        given = {"base_version_id": self._current(item_id).id, "reason": "clearer", "key": self.key()} | fields
        given |= {} if "lease_token" in given else {"lease_token": self.store.leases.take(person, item_id).token}
        return self.store.reviews.save_version(person=person, item_id=item_id, trajectory=trajectory, **given)

    def edit(self, person: str, item_id: int, text: str):
        return self.save(person, item_id, edited(self._current(item_id).trajectory, text))

    def mark(self, person: str, item_id: int, step: str = "s1", mark: str = "supported", **fields: object):
        given = {"version_id": self._current(item_id).id, "key": self.key()} | fields
        return self.store.marks.add(person=person, item_id=item_id, step_id=step, mark=mark, **given)

    def _current(self, item_id: int):
        return self.store.items.get(item_id).version

    def until(self, item_id: int, *decisions: tuple[str, str]) -> Standing:
        """Make several decisions, given as (person, verb)."""
        for person, verb in decisions:
            more = {"reason": "bad_data"} if verb == "reject" else {}
            more |= {"comment": "look again"} if verb == "return" else {}
            standing = self.decide(person, item_id, verb, **more)
        return standing


TO_AUDIT = (("RE", "keep"), ("RE", "submit"))
TO_VOTE = (*TO_AUDIT, ("AU", "pass"), ("AX", "pass"))


def people(store: Store) -> None:
    for initials, roles in PEOPLE.items():
        store.accounts.add_person(initials, f"Dr {initials}", roles)


def an_item(store: Store, number: int = 0, **other) -> int:
    """Add a drafted item with its own spectrum; return its number."""
    spectrum = a_spectrum(f"spec-{number:04d}.fits")
    store.spectra.add(spectrum)
    return store.items.add(a_trajectory(spectrum, **other), spectrum.sha256, batch="november")


def stopped_webhook(store: Store, url: str = "https://example.org/a") -> int:
    """Add a webhook that was stopped, because ten events were given up; an eleventh one waited. Return its number."""
    webhook, _ = store.webhooks.add("CO", url, ["exported"])
    for number in range(STOPS_AFTER + 1):
        store.settings.record_export("CO", f"export {number}", {"items": []})
    for delivery in store.webhooks.deliveries("CO", webhook.id)[:0:-1]:
        for _ in range(len(PAUSES) + 1):
            store.webhooks.record(webhook.id, delivery.event.id, False, "no answer")
    return webhook.id
