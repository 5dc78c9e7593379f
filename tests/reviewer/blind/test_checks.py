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
from reviewer.blind.plan import Gold, Plan
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
    for read in (store.blind.checks.traces, store.blind.sessions.leaks):
        with pytest.raises(NotAllowed, match="You score in this session, so the sources of its traces are hidden"):
            read("RE", session.id)
    assert store.blind.checks.history("RE", session.id).unopened == ()
    store.blind.sessions.close("CO", session.id, key())
    assert len(store.blind.checks.traces("RE", session.id)) == 12


def test_a_coordinator_who_scores_the_same_spectra_elsewhere_sees_no_sources(store: Store) -> None:
    """Otherwise they could create a second session of the same traces, in which they do not score."""
    store.accounts.set_roles("CO", "RE", ["reviewer", "coordinator"])
    earlier = opened(store, items=(1, 2), scorers=("AU", "VO"))
    store.blind.sessions.close("CO", earlier.id, key())
    mine = drawn(store, items=(1,), design="separate", scorers=("RE",), each=1)
    copy = store.blind.sessions.create("RE", Plan("a copy", ("AU", "VO"), items=(1, 2)), key())
    other = drawn(store, items=(3, 4), scorers=("AU", "VO"))
    blind = store.blind
    for session in (copy, earlier):
        for read in (blind.checks.traces, blind.sessions.leaks):
            with pytest.raises(NotAllowed, match=f"Session {session.id} has traces that you score in another session"):
                read("RE", session.id)
            read("CO", session.id)
        assert "until that session is closed" in blind.sessions.why_withheld("RE", session)
    for read in (blind.results.of_session, blind.results.report_material):
        with pytest.raises(NotAllowed, match="Their sources are hidden from you"):
            read("RE", earlier.id)
        read("CO", earlier.id)
    assert blind.sessions.why_withheld("RE", other) == ""
    assert len(blind.checks.traces("RE", other.id)) == 2
    blind.sessions.close("CO", mine.id, key())
    assert len(blind.checks.traces("RE", copy.id)) == 2
    assert len(blind.results.of_session("RE", earlier.id).traces) == 2


def test_the_text_of_the_tool_is_searched_for_leaks_too(store: Store) -> None:
    """It is on the sheet, and an imported trace has it from another program."""
    made = trace(SPEC, 0)
    steps = [
        replace(step, observation="Plotted spec-55859-F5902_sp01-000.fits.") if isinstance(step, Zoom) else step
        for step in made.steps
    ]
    zoom = next(number for number, step in enumerate(steps, start=1) if isinstance(step, Zoom))
    (added,) = store.items.add_all([Draft(made.with_steps(tuple(steps)), key="imported")])
    session = drawn(store, items=(added.item_id,), design="separate", each=1)
    found = store.blind.sessions.leaks("CO", session.id)
    about = [(one.step, one.giveaway.words, one.giveaway.kind) for one in found]
    assert (zoom, "spec-55859-F5902_sp01-000.fits", "file") in about


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
    counts = count_states(store.spectra, ((trace.source, trace.spectrum, trace.trajectory) for trace in traces))
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
