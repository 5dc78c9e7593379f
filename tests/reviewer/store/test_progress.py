"""The figures of the Progress tab, on a campaign small enough to count by hand."""

import pytest

from reviewer.store import Store, Yielded
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, an_item, people


@pytest.fixture
def store(tmp_path):
    clock = Clock()
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        desk = Desk(store)
        approved, split, returned, rejected, _ = (an_item(store, n) for n in range(5))
        desk.until(approved, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        clock.turn(days=1)
        desk.until(split, *TO_VOTE, ("VO", "approve"), ("AU", "reject"))
        desk.until(returned, *TO_AUDIT, ("AU", "return"))
        desk.edit("RE", returned, "corrected")
        desk.until(rejected, ("VO", "keep"))
        store.undo("VO", rejected, "undo")
        desk.until(rejected, ("VO", "reject"))
        yield store


def test_items_are_counted_by_task_and_state(store):
    states = {"approved": 1, "adjudication": 1, "returned": 1, "rejected": 1, "screening": 1}
    assert store.counts().by_task == {"cv": states}


def test_decisions_are_counted_by_person_and_round_without_undone_ones(store):
    counts = store.counts()
    assert counts.by_person["VO"] == {"vote": 2, "screening": 1}
    assert counts.by_person["AU"] == {"audit": 3, "vote": 1}
    assert counts.versions_by == {"RE": 1}


def test_disagreement_is_of_the_items_that_two_people_judged(store):
    counts = store.counts()
    assert (counts.disagreed, counts.compared) == (1, 2)


def test_yield_is_of_the_decided_items(store):
    assert store.counts().yielded == Yielded(approved=1, rejected=1)
    assert store.counts().yielded.fraction == 0.5
    assert Yielded(0, 0).fraction is None


def test_days_are_those_of_the_decisions(store):
    counts = store.counts()
    assert list(counts.per_day) == ["2026-11-21", "2026-11-22"]
    assert counts.per_day["2026-11-21"] == {"screening": 1, "revision": 1, "audit": 2, "vote": 2}
    assert counts.decided_per_day == {"2026-11-21": Yielded(1, 0), "2026-11-22": Yielded(0, 1)}


def test_a_task_or_batch_is_counted_by_itself(store):
    assert store.counts(task="cv", batch="november") == store.counts()
    elsewhere = store.counts(task="carbon")
    assert (elsewhere.by_task, elsewhere.by_person, elsewhere.versions_by) == ({}, {}, {})
    assert elsewhere.compared == 0


def test_what_was_counted_is_kept_until_something_is_done(store):
    before = store.counts("cv")
    assert store.counts("cv") is before
    assert store.counts("no such task") != before
    with Store.open(store.path) as other:
        Desk(other).until(5, ("RE", "keep"))
        assert store.counts("cv") == other.counts("cv") != before
