"""A campaign to try: a team with passwords, items in every number, a blind session that is open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.trajectory import Think, Trajectory, Zoom
from reviewer.blind.plan import Plan
from reviewer.drafting import demo
from reviewer.store import Draft, Store

PASSWORD = "correct horse battery"
COORDINATOR = "CO"
TYPIST = "TY"
"""Who types in a real page."""
BLIND = 4
"""Items of the blind session; nobody meets them elsewhere."""


def initials_of(number: int) -> str:
    """RAA, RAB, ..."""
    return f"R{chr(65 + number // 26)}{chr(65 + number % 26)}"


def made(db: Path, reviewers: int, items: int, scorers: int) -> int:
    """Make the database; the number of the item that is left to the typist, in revision already.

    :param scorers: how many of the reviewers score in the blind session as well
    """
    with closing(Store.open(db)) as store:
        names = tuple(initials_of(number) for number in range(reviewers))
        for initials in names:
            store.accounts.add_person(initials, f"Reviewer {initials}", ["reviewer", "auditor"], PASSWORD)
        store.accounts.add_person(TYPIST, "Typist", ["reviewer"], PASSWORD)
        store.accounts.add_person(COORDINATOR, "Coordinator", ["coordinator"], PASSWORD)
        ids = [added.item_id for added in store.items.add_all(islice(_drafts(), items))]
        _open_blind(store, names[:scorers])
        lease = store.leases.take(TYPIST, ids[0])
        store.reviews.decide(
            person=TYPIST,
            item_id=ids[0],
            version_id=store.items.get(ids[0]).version.id,
            verb="keep",
            key="left to the typist",
            lease_token=lease.token,
        )
    return ids[0]


def rows_to_import() -> list[dict[str, object]]:
    """More drafts on spectra that are here already."""
    return [trajectory.to_json() for _, trajectory in islice(demo.demo_items(), 8)]


def _drafts() -> Iterator[Draft]:
    """The demo's drafts again and again, each a little different."""
    pairs = list(demo.demo_items())
    number = 0
    while True:
        spectrum, trajectory = pairs[number % len(pairs)]
        yield Draft(_told_apart(trajectory, number), spectrum, batch="trial", key=f"trial-{number}")
        number += 1


def _told_apart(trajectory: Trajectory, number: int) -> Trajectory:
    first, *others = trajectory.steps
    assert isinstance(first, Think)
    return trajectory.with_steps((replace(first, text=f"{number}. {first.text}"), *others))


def _open_blind(store: Store, scorers: tuple[str, ...]) -> None:
    """A session on spectra of its own: whatever shows a spectrum that somebody scores is hidden from them."""
    pairs = list(islice(demo.demo_items(), BLIND))
    apart = [simulate("cv", "LAMOST", 20.0, 9000 + number) for number in range(BLIND)]
    drafts = [
        Draft(_on(trace, spectrum), spectrum, batch="blind") for spectrum, (_, trace) in zip(apart, pairs, strict=True)
    ]
    items = tuple(added.item_id for added in store.items.add_all(drafts))
    plan = Plan("trial", scorers, items=items, each=len(scorers))
    session = store.blind.sessions.create(COORDINATOR, plan, "drawn for the trial")
    store.blind.sessions.open(COORDINATOR, session.id, "opened for the trial")


def _on(trace: Trajectory, spectrum: Spectrum) -> Trajectory:
    """The words without the looks, whose pictures are of another spectrum."""
    words = tuple(step for step in trace.steps if not isinstance(step, Zoom))
    about = {"spectrum_name": spectrum.name, "spectrum_sha256": spectrum.sha256, "overview": None}
    return replace(trace, steps=words, **about)
