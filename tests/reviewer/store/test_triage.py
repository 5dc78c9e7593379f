"""The ordered queue: which items it chooses, with which probability, and what is recorded of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from agent.trust.plans import Plan
from reviewer.store import (
    Draft,
    KeyReused,
    NotAllowed,
    QueueFilter,
    ScoreRow,
    Selection,
    Showing,
    Store,
    StoreError,
    TrialRow,
)
from tests.support.campaign import TO_VOTE, Clock, Desk, a_spectrum, a_trajectory, people

P = (0.02, 0.05, 0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95, 0.97)
CV = QueueFilter(task="cv")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    """Items 1 to 10 have a score; 11 has none, and 12 one that no certificate covers."""
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        spectra = [a_spectrum(f"spec-{n}.fits", redshift=0.01 * n) for n in range(12)]
        store.items.add_all([Draft(a_trajectory(s, f"Number {n}."), s, "one") for n, s in enumerate(spectra)])
        rows = [ScoreRow(n, p, {}) for n, p in enumerate(P, start=1)]
        store.trust.record_scores("CO", "cv", {}, [*rows, ScoreRow(12, 0.5, {}, ("S/N 1, expected 3",))])
        store.triage._rng = np.random.default_rng(1)  # otherwise each run chooses other items
        yield store


def shown(store: Store, person: str = "RE", filter: QueueFilter = CV, **more: object) -> int | None:
    found = store.triage.show(person=person, filter=filter, key=uuid4().hex, **more)
    return None if found is None else found.item


def waiting(store: Store, person: str = "RE", filter: QueueFilter = CV, times: int = 80) -> set[int]:
    """Return the items that the queue chooses; with the random share 1 each of n items is missed by (1 - 1/n)^80."""
    store.settings.set("CO", "triage", {"random_share": 1})
    return {item for _ in range(times) if (item := shown(store, person, filter)) is not None}


def test_a_showing_is_recorded_with_its_probability_and_its_plan(store: Store, clock: Clock) -> None:
    made = store.triage.show(person="RE", filter=CV, key="a first key")
    assert store.trust.showings("cv") == [made]
    plan = Plan.from_json(made.plan)
    assert sum(stratum.waiting for stratum in plan.strata) == 10
    assert made.probability == pytest.approx(plan.probability(P[made.item - 1]))
    assert (made.person, made.at, plan.random_share) == ("RE", clock.now, 0.2)
    assert made.plan["filter"] == {"task": "cv"}
    (entry,) = store.log.entries(what="shown")
    assert (entry.subject, entry.person, set(entry.details)) == (f"item {made.item}", "RE", {"facts"})
    assert store.upkeep.verify() == []


def test_the_probabilities_of_a_plan_sum_to_one_and_are_those_of_the_choices(store: Store) -> None:
    store.settings.set("CO", "triage", {"random_share": 0.5})
    made = [store.triage.show(person="RE", filter=CV, key=uuid4().hex) for _ in range(400)]
    probability = {one.item: one.probability for one in made}
    assert set(probability) == set(range(1, 11))
    assert sum(probability.values()) == pytest.approx(1)
    arms = Counter(one.arm for one in made)
    assert 150 < arms["random"] < 250  # 5 standard deviations around 200
    for item, count in Counter(one.item for one in made).items():
        expected = 400 * probability[item]
        assert abs(count - expected) < 5 * expected**0.5 + 3


def test_the_same_key_again_shows_the_same_item_once(store: Store) -> None:
    first = store.triage.show(person="RE", filter=CV, key="one key")
    assert store.triage.show(person="RE", filter=CV, key="one key") == first
    assert len(store.trust.showings("cv")) == 1
    with pytest.raises(KeyReused):
        store.triage.show(person="VO", filter=CV, key="one key")


def test_only_items_that_wait_for_the_person_and_can_be_certified_are_chosen(store: Store) -> None:
    assert waiting(store) == set(range(1, 11))
    desk = Desk(store)
    desk.decide("RE", 1, "reject", reason="bad_data")
    desk.until(2, *TO_VOTE[:2])  # waits for auditors
    store.leases.take("VO", 3)
    store.withdrawals.withdraw("CO", Selection(first=4, last=4))
    assert waiting(store) == {5, 6, 7, 8, 9, 10}
    assert waiting(store, "AU") == {2}
    assert shown(store, "RE", without={5, 6, 7, 8, 9, 10}) is None


def test_a_list_follows_every_change(store: Store, clock: Clock) -> None:
    assert waiting(store) == set(range(1, 11))
    desk = Desk(store)
    desk.decide("RE", 7, "reject", reason="bad_data")
    assert 7 not in waiting(store)
    store.reviews.undo(person="RE", item_id=7, key=uuid4().hex)
    assert 7 in waiting(store)
    held = store.leases.take("VO", 8)
    assert 8 not in waiting(store)
    store.leases.release(held.token)
    store.trust.record_scores("CO", "cv", {}, [ScoreRow(11, 0.4, {}), ScoreRow(9, 0.4, {}, ("no answer",))])
    assert waiting(store) == {1, 2, 3, 4, 5, 6, 7, 8, 10, 11}
    store.accounts.set_roles("CO", "RE", ["auditor"])
    assert waiting(store) == set()


def test_a_list_is_not_read_again_for_new_items_or_trials(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from reviewer.store.team.search import Search

    tried = QueueFilter(task="cv", trial="passed")
    assert (shown(store) in range(1, 11), shown(store, filter=tried)) == (True, None)
    reads: list[object] = []
    real = Search.scored
    monkeypatch.setattr(Search, "scored", lambda *given: reads.append(given[1:]) or real(*given))
    spectrum = a_spectrum("later.fits")
    store.items.add(a_trajectory(spectrum), spectrum)
    content = store.items.get(3).version.content_hash
    store.trust.record_trials("CO", [TrialRow(content, True, {}, item=3)])
    assert (shown(store) in range(1, 11), reads) == (True, [])
    assert shown(store, filter=tried) == 3


def test_the_filter_limits_the_list(store: Store) -> None:
    assert waiting(store, filter=QueueFilter(task="cv", text="#4")) == {4}
    assert waiting(store, filter=QueueFilter(task="cv", batch="none")) == set()
    made = store.triage.show(person="RE", filter=QueueFilter(batch="one", mine=True), key=uuid4().hex)
    assert made.plan["filter"] == {"task": "cv", "batch": "one"}


def test_items_that_a_person_scores_blind_are_not_chosen(store: Store) -> None:
    from reviewer.blind.plan import Plan as BlindPlan

    session = store.blind.sessions.create("CO", BlindPlan("x", ("RE", "AU"), items=(1, 2, 3), each=2), uuid4().hex)
    store.blind.sessions.open("CO", session.id, uuid4().hex)
    assert waiting(store) == {4, 5, 6, 7, 8, 9, 10}


def test_several_tasks_need_a_filter(store: Store) -> None:
    spectrum = a_spectrum("other.fits")
    store.items.add(a_trajectory(spectrum, task="agn"), spectrum)
    with pytest.raises(NotAllowed, match="choose a class in the filter"):
        shown(store, filter=QueueFilter())
    assert shown(store, filter=QueueFilter(task="agn")) is None


@pytest.mark.parametrize("value", [{"random_share": 0}, {"limits": {"yes": 2}}, {"limits": {"maybe": 0.1}}, 3])
def test_a_setting_that_makes_no_sense_is_refused(store: Store, value: object) -> None:
    store.settings.set("CO", "triage", value)
    with pytest.raises(StoreError, match="setting 'triage': "):
        shown(store)
    assert store.trust.showings("cv") == []


def only(store: Store, item: int, person: str = "RE", open_item: int | None = None) -> Showing:
    """Show this item to the person."""
    others = set(range(1, 11)) - {item}
    made = store.triage.show(person=person, filter=CV, key=uuid4().hex, without=others, open_item=open_item)
    assert made is not None
    return made


def plan_of(store: Store, item: int) -> object:
    return next(case for case in store.trust.cases("cv") if case.item == item).plan


def reject(store: Store, person: str, item: int) -> None:
    Desk(store).decide(person, item, "reject", reason="bad_data")


def test_a_case_has_the_plan_of_the_showing_that_led_to_its_decision(store: Store, clock: Clock) -> None:
    only(store, 3)
    clock.turn(minutes=1)
    led = only(store, 3)
    clock.turn(minutes=1)
    Desk(store).until(3, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
    case = next(case for case in store.trust.cases("cv") if case.item == 3)
    assert (led.item, case.plan, case.probability) == (3, led.plan, 1.0)
    assert case.plan["filter"] == {"task": "cv"}
    assert case.decided_at == clock.now
    assert all(case.plan is None for case in store.trust.cases("cv") if case.item != 3)


def test_the_page_chooses_the_next_item_while_one_is_open(store: Store, clock: Clock) -> None:
    made = {}
    for item, open_item in ((3, None), (4, 3), (5, 4)):
        made[item] = only(store, item, open_item=open_item)
        clock.turn(minutes=1)
        if open_item is not None:
            reject(store, "RE", open_item)
            clock.turn(minutes=1)
    assert (plan_of(store, 3), plan_of(store, 4)) == (made[3].plan, made[4].plan)
    assert plan_of(store, 5) is None  # shown, and not decided


def test_an_item_that_was_skipped_has_no_plan(store: Store, clock: Clock) -> None:
    for item in (3, 4, 5):
        only(store, item)
        clock.turn(minutes=1)
    for item in (4, 3):
        reject(store, "RE", item)
    assert plan_of(store, 4) is not None
    assert plan_of(store, 3) is None


def test_an_item_whose_choice_was_replaced_by_another_one_has_no_plan(store: Store, clock: Clock) -> None:
    only(store, 3)
    clock.turn(minutes=1)
    only(store, 4, open_item=3)
    clock.turn(minutes=1)
    led = only(store, 5, open_item=3)  # the page was loaded again while item 3 was open
    for item in (3, 4):
        clock.turn(minutes=1)
        reject(store, "RE", item)  # item 4 was found by its number
    assert plan_of(store, 3) is not None
    assert plan_of(store, 4) is None
    clock.turn(minutes=1)
    assert led.plan["open"] == 3
    only(store, 6, open_item=3)
    clock.turn(minutes=1)
    reject(store, "RE", 5)
    assert plan_of(store, 5) is None


def test_the_open_item_is_not_chosen(store: Store) -> None:
    assert {store.triage.show(person="RE", filter=CV, key=uuid4().hex, without=range(3, 11), open_item=1).item} == {2}


def test_an_item_that_waited_for_two_other_decisions_has_no_plan(store: Store, clock: Clock) -> None:
    only(store, 3)
    for item in (8, 9, 3):
        clock.turn(minutes=1)
        reject(store, "RE", item)
    assert plan_of(store, 3) is None


def test_an_item_that_somebody_else_decided_first_has_no_plan(store: Store, clock: Clock) -> None:
    only(store, 3)
    clock.turn(minutes=1)
    other = next(one for one in ("CO", "VO", "AX", "AU") if "reviewer" in store.accounts.person(one).roles)
    reject(store, other, 3)
    assert plan_of(store, 3) is None


def test_strata_stay_the_same_while_labels_come_in(store: Store, clock: Clock) -> None:
    borders = set()
    for _ in range(4):
        made = store.triage.show(person="RE", filter=CV, key=uuid4().hex)
        borders.add(tuple(lo for lo, *_ in made.plan["strata"]))
        clock.turn(minutes=1)
        Desk(store).until(made.item, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        clock.turn(minutes=1)
    assert len(borders) == 1
