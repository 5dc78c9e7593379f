"""What a coordinator checks before a session opens: traces by source, leaks in pictures, and what preceded it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from agent import plot
from agent.trajectory import Zoom
from reviewer.blind.pictures import count_states
from reviewer.blind.plan import Gold
from reviewer.store import Draft, NotAllowed, Store
from tests.support.blind_campaign import GPT, SPEC, a_store, drawn, key, opened, trace, two_drafters
from tests.support.campaign import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with a_store(tmp_path / "annotations.db", clock=clock) as store:
        yield store


def test_traces_of_a_session_with_their_sources(store: Store) -> None:
    session = drawn(store, items=(1, 2, 3, 4), mode="both", each=3, gold=(Gold(9, 5, 5),))
    found = store.blind.checks.traces("CO", session.id)
    assert [(one.item, one.source, one.compared) for one in found] == [
        (1, GPT, True),
        (2, SPEC, True),
        (3, GPT, True),
        (4, SPEC, True),
        (9, GPT, False),
    ]
    assert all(one.trajectory == store.items.get(one.item).version.trajectory for one in found)
    assert found[0].spectrum == found[1].spectrum != found[2].spectrum


def test_a_coordinator_who_scores_sees_no_sources(store: Store) -> None:
    store.accounts.set_roles("CO", "RE", ["reviewer", "coordinator"])
    session = opened(store)
    with pytest.raises(NotAllowed, match="You score in this session"):
        store.blind.checks.traces("RE", session.id)
    assert store.blind.checks.history("RE", session.id).unopened == ()
    store.blind.sessions.close("CO", session.id, key())
    assert len(store.blind.checks.traces("RE", session.id)) == 12


def test_a_picture_with_a_title_that_cannot_be_found_is_a_leak(store: Store) -> None:
    """It has another geometry than the published one, and there is no spectrum to draw it from."""
    image = Image.new("RGBA", (90, 60), "blue")
    file = io.BytesIO()
    image.save(file, "PNG")
    name = plot.pixels_sha256(image)
    made = trace(GPT, 77)
    steps = [replace(step, picture=name) if isinstance(step, Zoom) else step for step in made.steps]
    made = replace(made.with_steps(steps), overview=None, spectrum_sha256=None)
    (added,) = store.items.add_all([Draft(made, pictures={name: file.getvalue()})])
    session = drawn(store, items=(1, added.item_id), each=1)
    (found,) = store.blind.sessions.leaks("CO", session.id)
    assert (found.item, found.step, found.giveaway.kind) == (added.item_id, 2, "picture")
    traces = store.blind.checks.traces("CO", session.id)
    counts = count_states(store.spectra, ((one.source, one.spectrum, one.trajectory) for one in traces))
    assert counts == {GPT: {"drawn anew": 2, "unchanged": 1}}


def test_sessions_that_were_not_opened_count_until_the_opening(store: Store, clock: Clock) -> None:
    two_drafters(store, 2, task="cc")
    given_up, left = drawn(store, seed=5), drawn(store, seed=6)
    store.blind.sessions.close("CO", given_up.id, key())
    drawn(store, seed=7, tasks=("cc",))  # another task
    clock.turn(minutes=1)
    session = drawn(store, tasks=("cv",), seed=8)
    after = drawn(store, seed=9)
    (first, second, third) = store.blind.checks.history(None, session.id).unopened
    assert [(one.session, one.seed) for one in (first, second, third)] == [
        (given_up.id, 5),
        (left.id, 6),
        (after.id, 9),
    ]
    assert first.created == given_up.drawn_at
    assert first.discarded is not None
    assert second.discarded is None
    store.blind.sessions.open("CO", session.id, key())
    seen = store.blind.checks.history(None, session.id)
    # Nothing that happens later changes it: a report stays the same.
    clock.turn(minutes=1)
    store.blind.sessions.open("CO", left.id, key())
    drawn(store, seed=10)
    assert store.blind.checks.history(None, session.id) == seen


def test_earlier_sessions_that_showed_the_same_items(store: Store, clock: Clock) -> None:
    before = opened(store, items=(1, 2, 3, 4), each=2, scorers=("AU", "RE"), mode="both")
    drawn(store, items=(1, 2), each=1, scorers=("VO",))  # never opened: nobody saw it
    clock.turn(minutes=1)
    session = opened(store, items=(3, 4, 5, 6), each=2, scorers=("RE", "VO"))
    clock.turn(minutes=1)
    opened(store, items=(5, 6), each=1, scorers=("VO",))
    (found,) = store.blind.checks.history("CO", session.id).earlier
    assert (found.session, found.opened, found.items, found.scorers) == (before.id, before.opened_at, 2, ("RE",))
    assert store.blind.checks.history("CO", before.id).earlier == ()
