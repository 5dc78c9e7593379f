"""The queue: filter, pages and counts agree with each other and with a slow look at every item."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.trajectory import Drafter
from reviewer.rules.workflow import STATES, work_refusal
from reviewer.store import Draft, QueueFilter, Store
from tests.support.campaign import PEOPLE, TO_AUDIT, TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, people

STORIES = (
    (),
    (("RE", "keep"),),
    (("VO", "keep"),),
    (("RE", "reject"),),
    TO_AUDIT,
    (*TO_AUDIT, ("AU", "pass")),
    (*TO_AUDIT, ("AU", "pass"), ("AX", "reject")),
    (*TO_AUDIT, ("AU", "return")),
    TO_VOTE,
    (*TO_VOTE, ("VO", "approve")),
    (*TO_VOTE, ("VO", "approve"), ("CO", "approve")),
    (*TO_VOTE, ("VO", "approve"), ("AU", "reject")),
)

# Who is working on the items of a story: one of two, both, and nobody's business.
HOLDERS = {0: ("RE",), 4: ("CO",), 5: ("AX",), 6: ("JU",), 8: ("VO", "CO")}
ITEMS = 60


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("queue") / "annotations.db"
    with Store.open(path, clock=Clock()) as store:
        people(store)
        ids = [added.item_id for added in store.add_items(drafts())]
        desk = Desk(store)
        for item_id in ids:
            story = STORIES[item_id % len(STORIES)]
            if story:
                desk.until(item_id, *story)
            for holder in HOLDERS.get(item_id % len(STORIES), ()):
                store.lease(holder, item_id)
        yield store


@pytest.fixture(scope="module")
def looked_at(store):
    """Every item, looked at by itself: (row, standing, everything that a text may match)."""
    seen = []
    for item_id in range(1, ITEMS + 1):
        item = store.item(item_id)
        sha256 = item.row.spectrum_sha256
        ids = tuple(store.spectrum(sha256).ids.values()) if sha256 else ()
        seen.append((item.row, item.standing, ids))
    return seen


def drafts():
    for n in range(ITEMS):
        spectrum = a_spectrum(
            f"{'spec' if n % 2 else 'coadd'}-{n:03d}.fits",
            survey=("LAMOST", "SDSS", "DESI")[n % 3],
            ids={"obsid": str(7000 + n), "designation": f"J{n:06d}+12"},
            snr={"r": float(n)},
        )
        trajectory = replace(
            a_trajectory(spectrum, think=str(n)),
            task=("cv", "carbon")[n % 2],
            drafter=Drafter("baseline", ("rule 1", "rule 2")[n % 5 == 0]),
            simulated=n % 7 == 0,
        )
        no_spectrum = replace(trajectory, spectrum_sha256=None)
        yield Draft(no_spectrum if n == 59 else trajectory, None if n == 59 else spectrum, batch=f"b{n % 2}")


def lets_through(filter, person, rules, row, standing, ids):
    """The filter's definition, an item at a time."""
    wanted = {
        "task": filter.task in (None, row.task),
        "states": not filter.states or row.state in filter.states,
        "survey": filter.survey in (None, row.survey),
        "snr_min": filter.snr_min is None or (row.snr is not None and row.snr >= filter.snr_min),
        "snr_max": filter.snr_max is None or (row.snr is not None and row.snr <= filter.snr_max),
        "drafter": filter.drafter in (None, row.drafter_name),
        "batch": filter.batch in (None, row.batch),
        "disagreement": filter.disagreement in (None, standing.disagreement),
        "simulated": filter.simulated in (None, row.simulated),
        "text": matches(row, ids, filter.text),
        "mine": not filter.mine or mine(person, rules, row, standing),
    }
    return all(wanted.values())


def matches(row, ids, text):
    if text.startswith("#"):
        return row.item_id == int(text[1:])
    searched = (row.name, *ids) if len(text) > 2 else (row.name,)
    return any(text.lower() in value.lower() for value in searched)


def mine(person, rules, row, standing):
    if work_refusal(standing, rules, person):
        return False
    others = [holder for holder in row.held_by if holder != person.initials]
    return len(others) < max(1, standing.missing)


filters = st.builds(
    QueueFilter,
    task=st.sampled_from([None, None, "cv", "nothing"]),
    states=st.lists(st.sampled_from(STATES), max_size=3, unique=True).map(tuple),
    survey=st.sampled_from([None, None, "SDSS"]),
    snr_min=st.sampled_from([None, None, 10.0]),
    snr_max=st.sampled_from([None, None, 40.0]),
    drafter=st.sampled_from([None, None, "rule 2"]),
    batch=st.sampled_from([None, None, "b1"]),
    disagreement=st.sampled_from([None, None, True, False]),
    simulated=st.sampled_from([None, None, True]),
    text=st.sampled_from(["", "", "", "SPEC-0", "fits", "pe", "7012", "J000013+", "#12", "nowhere", '"', "% OR"]),
    mine=st.booleans(),
)


@settings(deadline=None, max_examples=150)
@given(filters, st.sampled_from(sorted(PEOPLE)), st.integers(1, 7), st.integers(0, 62))
def test_pages_neighbours_and_counts_agree_with_a_look_at_every_item(store, looked_at, filter, person, limit, at):
    rules, who = store.rules(), store.person(person)
    slow = [item[0].item_id for item in looked_at if lets_through(filter, who, rules, *item)]
    walked, after = [], None
    while (page := store.queue(filter, person, after, limit)).rows:
        assert page.total == len(slow)
        walked += [row.item_id for row in page.rows]
        after = walked[-1]
    assert walked == slow
    assert page.total == len(slow)
    assert store.neighbours(at, filter, person, limit) == [n for n in slow if n > at][:limit]
    assert store.neighbours(at, filter, person, limit, backwards=True) == [n for n in slow if n < at][::-1][:limit]
    assert store.position(at, filter, person) == sum(n < at for n in slow)
    undone = [n for n in slow if mine(who, rules, *looked_at[n - 1][:2])]
    assert store.first_undone(filter, person) == (undone[0] if undone else None)


def test_a_row_tells_how_far_the_item_is_and_who_holds_it(store):
    row = next(r for r in store.queue(QueueFilter(states=("audit",)), "CO", limit=60).rows if r.cast == 1)
    assert (row.state, row.cast, row.wanted, row.version) == ("audit", 1, 2, 1)
    held = [r for r in store.queue(QueueFilter(), "CO", limit=60).rows if r.held_by]
    assert {holder for r in held for holder in r.held_by} == {"RE", "CO", "AX", "JU", "VO"}


def test_facets_are_the_values_that_occur(store):
    assert store.facets()["survey"] == ["DESI", "LAMOST", "SDSS"]
    assert store.facets()["task"] == ["carbon", "cv"]
    assert store.facets()["drafter"] == ["rule 1", "rule 2"]
    assert "approved" in store.facets()["state"]


def test_somebody_inactive_has_nothing_to_do(tmp_path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.add_items(drafts())
        everything = QueueFilter(mine=True)
        assert store.queue(everything, "RE").total == 60
        store.deactivate("CO", "RE")
        assert store.queue(everything, "RE").rows == ()
        assert store.first_undone(everything, "RE") is None
