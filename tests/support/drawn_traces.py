"""Traces with pictures that the tool draws from an artificial spectrum, and their approval."""

from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from agent import tool
from agent.plot import pixels_sha256
from agent.spectrum import Spectrum
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from agent.trial.report import EditOutcome
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store

WAVELENGTH = np.linspace(6000.0, 7000.0, 120)
PROMPT = 'Analyze the provided spectrum to determine if it is a "Cataclysmic Variables (CV)".\n\nGuide.'
_keys = (f"key-{n}" for n in count())


def a_spectrum(name: str = "a.fits", redshift: float | None = 0.01) -> Spectrum:
    flux = np.round(2.0 + np.exp(-0.5 * ((WAVELENGTH - 6628.4) / 8.0) ** 2), 3)
    ivar = np.full(WAVELENGTH.size, 25.0)
    return Spectrum(WAVELENGTH, flux, ivar, redshift=redshift, name=name, survey="LAMOST")


def a_trace(spectrum: Spectrum, verdict: str = "YES", **changes) -> Trajectory:
    """Two zooms, the second refused by the tool, then the answer; pictures as the tool draws them."""
    return replace(_trace(spectrum, verdict), **changes)


@cache
def _trace(spectrum: Spectrum, verdict: str) -> Trajectory:
    frame, z = tool.frame_of(spectrum)
    steps = [Think("s1", "Look at Hα first.")]
    for number, window in ((2, [6500, 6600]), (4, [9000, 9100])):
        arguments = {"label": "Hα", "wavelength_range": window}
        seen = tool.call(spectrum, arguments)
        steps += [
            Zoom(f"s{number}", arguments, frame, z, spectrum.medium, seen.text, seen.ok, seen.picture),
            Think(f"s{number + 1}", "Broad emission."),
        ]
    return Trajectory(
        task="cv",
        prompt=PROMPT,
        spectrum_name=spectrum.name,
        spectrum_sha256=spectrum.sha256,
        steps=(*steps, Answer("s6", verdict, "broad Hα")),
        drafter=Drafter("baseline", "baseline, no model", {"version": 1}),
        redshift=spectrum.redshift,
        medium=spectrum.medium,
        overview=pixels_sha256(tool.overview(spectrum)),
    )


def a_store(path: Path, solo: bool = False) -> Store:
    """A new database with three people who have all roles."""
    store = Store.open(path)
    for initials in ("AA", "BB", "CC"):
        store.accounts.add_person(initials, f"Person {initials}", ("reviewer", "auditor", "coordinator"))
    store.settings.set_rules("AA", Rules(solo=solo))
    return store


def decide(store: Store, person: str, item_id: int, verb: str, **given: Any) -> None:
    lease = store.leases.take(person, item_id)
    version = store.items.get(item_id).version.id
    store.reviews.decide(
        person=person, item_id=item_id, version_id=version, verb=verb, key=next(_keys), lease_token=lease.token, **given
    )


def revise(
    store: Store, person: str, item_id: int, text: str = "Begin with Hα at 6563 Å.", reason: str = "clearer"
) -> None:
    """Rewrite the first thought, as a reviewer would."""
    version = store.items.get(item_id).version
    first, *rest = version.trajectory.steps
    changed = version.trajectory.with_steps((replace(first, text=text), *rest))
    lease = store.leases.take(person, item_id)
    store.reviews.save_version(
        person=person,
        item_id=item_id,
        base_version_id=version.id,
        trajectory=changed,
        reason=reason,
        key=next(_keys),
        lease_token=lease.token,
    )
    store.leases.release(lease.token)


def approve(store: Store, item_id: int, **given: Any) -> None:
    """Approve an item through all rounds, by one person if the rules allow it, else by three."""
    decide(store, "AA", item_id, "keep", **given)
    revise(store, "AA", item_id)
    decide(store, "AA", item_id, "submit", **given)
    others = ["AA"] if store.settings.rules().solo else ["BB", "CC"]
    for person in others:
        decide(store, person, item_id, "pass", **given)
    for person in others:
        decide(store, person, item_id, "approve", **given)


def add_approved(store: Store, *traces: tuple[Trajectory, Spectrum | None], **given: Any) -> list[int]:
    """Add drafts and approve them.

    :param given: further arguments of every decision
    """
    ids = [a.item_id for a in store.items.add_all([Draft(t, s, batch="first") for t, s in traces])]
    for item_id in ids:
        approve(store, item_id, **given)
    return ids


def a_removal() -> EditOutcome:
    """The removal of Hα behind step s2, after which the line is not claimed any more."""
    return EditOutcome(
        step="s2",
        edit="remove",
        subject="Hα",
        window=(6530.0, 6596.0),
        frame="rest",
        medium="vacuum",
        energy=1234.5,
        verdict_before="YES",
        verdict_after="NO",
        score_before=2.8,
        score_after=-1.1,
        claimed_before=True,
        claimed_after=False,
        followed=True,
        text_after="Text.",
    )
