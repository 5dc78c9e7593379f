"""Bulk actions: rejections, assignments and batches of many items, their previews and their undo."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from reviewer.blind.plan import Filter, Plan
from reviewer.rules.workflow import Rules, refusal
from reviewer.store import KeyReused, NotAllowed, NotFound, QueueFilter, Selection, Store
from reviewer.store.sqlite.figures import FIGURES
from reviewer.store.team import actions, plan
from reviewer.store.team.actions import Action, Assign, BulkAction, Change, Reject, SelectionChanged, SetBatch
from tests.support.blind_campaign import drawn
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, an_item, people

BAD = Reject("bad_data", "The sky lines of this plate are not subtracted.")


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        for number in range(6):
            an_item(store, number)
        yield store


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(store: Store) -> Desk:
    return Desk(store)


def done(store: Store, by: str, items: list[int], action: Action, **more: Any) -> BulkAction:
    token = store.bulk.preview(by, items, action, **more).token
    return store.bulk.apply(by, items, action, token, uuid4().hex, **more)


def derived(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every derived row, without the zeros that triggers leave."""
    tables = {"standings": "", "barred": "", "assigned": "", "tallies": "items"}
    tables |= dict.fromkeys(FIGURES, "decisions") | {"version_figures": "versions", "standing_figures": "items"}
    with store.database.read() as db:
        return {
            table: sorted(
                (tuple(row) for row in db.execute(f"SELECT * FROM {table} WHERE {number or 1} <> 0")), key=repr
            )
            for table, number in tables.items()
        }


def states(store: Store, *items: int) -> list[str]:
    return [store.items.standing(item).state for item in items]


def left_out(store: Store, by: str, items: list[int], action: Action, **more: Any) -> dict[str, tuple[int, ...]]:
    return {one.why: one.first for one in store.bulk.preview(by, items, action, **more).left_out}


def test_a_rejection_of_many_items_is_a_decision_on_each_in_its_present_round(store: Store, desk: Desk) -> None:
    desk.decide("RE", 2, "keep")
    desk.until(3, *TO_AUDIT)
    desk.until(4, *TO_AUDIT, ("AX", "pass"), ("JU", "reject"))
    shown = store.bulk.preview("CO", [4, 3, 2, 1], BAD)
    assert shown.items == 4
    assert {(change.before, change.after, change.items) for change in shown.changes} == {
        ("screening", "rejected", 1),
        ("revision", "rejected", 1),
        ("audit", "audit", 1),
        ("adjudication", "rejected", 1),
    }
    end = store.log.head().number
    action = store.bulk.apply("CO", [1, 2, 3, 4], BAD, shown.token, "a-key-of-the-page")
    assert states(store, 1, 2, 3, 4) == ["rejected", "rejected", "audit", "rejected"]
    for item, judged in ((1, "screening"), (2, "revision"), (3, "audit"), (4, "adjudication")):
        decision = store.items.history(item)[-1].decision
        assert (decision.person, decision.round, decision.verb, decision.reason, decision.comment) == (
            *("CO", judged, "reject", "bad_data"),
            BAD.comment,
        )
    (entry,) = store.log.entries(after=end)
    assert (entry.what, entry.subject, entry.person) == ("items decided", "items 1 to 4", "CO")
    assert set(entry.details["facts"]) == {"bulk_actions", "decisions", "bulk_decisions"}
    assert entry.details["facts"]["decisions"][2] == 4
    assert "sky lines" not in repr(entry)
    assert (action.kind, action.items, action.person) == ("reject", 4, "CO")
    assert store.bulk.actions() == [action]
    assert store.statistics.counts().by_person["CO"] == {"adjudication": 1, "audit": 1, "revision": 1, "screening": 1}
    with store.database.read() as db:
        (found,) = db.execute("SELECT count(*) FROM remarks_text WHERE remarks_text MATCH 'subtracted'").fetchone()
    assert found == 4
    assert store.upkeep.verify() == []


def test_cannot_tell_leads_to_its_own_state(store: Store) -> None:
    done(store, "RE", [1], Reject("cannot_tell"))
    assert states(store, 1) == ["cannot tell"]


@pytest.mark.parametrize("earlier", ["approve", "reject"])
def test_a_preview_does_not_tell_how_others_decided_in_an_open_round(store: Store, desk: Desk, earlier: str) -> None:
    desk.until(1, *TO_VOTE, ("VO", earlier))
    shown = store.bulk.preview("CO", [1], BAD)
    assert [(change.before, change.after) for change in shown.changes] == [("vote", None)]
    store.bulk.apply("CO", [1], BAD, shown.token, "a-key-of-the-page")
    assert states(store, 1) == ["adjudication" if earlier == "approve" else "rejected"]


def test_the_reasons_are_those_of_the_rules_for_everybody_in_every_state(store: Store, desk: Desk) -> None:
    before = ((), TO_AUDIT[:1], TO_AUDIT, TO_VOTE, (*TO_AUDIT, ("AU", "return")), (("CO", "reject"),))
    for item, decisions in enumerate(before, start=1):
        if decisions:
            desk.until(item, *decisions)
    later = (*TO_VOTE, ("VO", "approve")), (*TO_VOTE, ("VO", "approve"), ("RE", "reject")), TO_AUDIT
    for number, decisions in enumerate(later, start=7):
        desk.until(an_item(store, number), *decisions)
    store.withdrawals.withdraw("CO", Selection(first=1, last=1))
    rules, items = store.settings.rules(), range(1, 10)
    reasons = set()
    for person in store.accounts.people():
        now = {item: store.items.standing(item) for item in items}
        expected = {item: refusal(s, rules, person, "reject", s.version_id) for item, s in now.items()}
        found = left_out(store, person.initials, list(items), BAD)
        assert {item: why for why, first in found.items() for item in first} == {
            item: why for item, why in expected.items() if why is not None
        }
        reasons |= set(found)
    assert len(reasons) > 10


def test_an_item_is_left_out_by_who_wrote_a_version(store: Store, desk: Desk) -> None:
    desk.decide("CO", 1, "keep")
    desk.edit("CO", 1, "Narrow after all.")
    desk.decide("CO", 1, "submit")
    why = "CO wrote a version of this item, so another person has to audit it."
    assert left_out(store, "CO", [1, 2], BAD) == {why: (1,)}
    with pytest.raises(NotAllowed, match="No item of the selection would change"):
        done(store, "CO", [1], BAD)
    assert done(store, "CO", [1, 2], BAD).items == 1
    assert states(store, 1, 2) == ["audit", "rejected"]


def test_an_item_is_left_out_that_is_withdrawn_or_missing_or_held_or_has_unsent_text(store, desk, clock) -> None:
    store.withdrawals.withdraw("CO", Selection(first=1, last=1))
    store.leases.take("VO", 2)
    store.leases.autosave(person="RE", item_id=3, base_version_id=3, body={"steps": [], "comment": "half a thou"})
    found = left_out(store, "RE", [1, 2, 3, 4, 77], BAD)
    assert found == {
        "There is no such item.": (77,),
        "This item is withdrawn. A coordinator can restore it in the Data tab.": (1,),
        "VO is working on this item.": (2,),
        "You have unsent text on this item: send or discard it first.": (3,),
    }
    assert done(store, "RE", [1, 2, 3, 4, 77], BAD).items == 1
    clock.turn(minutes=16)  # the lease of VO has expired
    assert 2 not in {item for items in left_out(store, "RE", [2], BAD).values() for item in items}
    # In an audit of two, one lease of another person is no obstacle, two are.
    desk.until(5, *TO_AUDIT)
    store.leases.take("AU", 5)
    assert left_out(store, "CO", [5], BAD) == {}
    store.leases.take("AX", 5)
    assert left_out(store, "CO", [5], BAD) == {"AU and AX are working on this item.": (5,)}


def test_in_a_batch_of_verdict_first_only_items_with_a_verdict_or_version_of_the_person_are_rejected(store, desk):
    first = {"verdict_first": ("november",)}
    store.marks.commit_verdict(person="RE", item_id=1, version_id=1, verdict="NO")
    desk.decide("RE", 2, "keep")
    desk.edit("RE", 2, "Narrow.")
    done(store, "CO", [4], SetBatch("open"))
    why = "Give your own verdict first: in this batch you judge before you see the answer."
    assert left_out(store, "RE", [1, 2, 3, 4], BAD, **first) == {why: (3,)}
    assert done(store, "RE", [1, 2, 3, 4], BAD, **first).items == 3
    assert states(store, 1, 2, 3, 4) == ["rejected", "rejected", "screening", "rejected"]


def test_items_that_the_person_scores_blind_are_counted_without_their_numbers(store: Store) -> None:
    drawn(store, items=(1, 2), each=2, scorers=("CO", "AU"))
    for action in (BAD, Assign(("RE",)), SetBatch("other")):
        (one,) = store.bulk.preview("CO", [1, 2, 3], action).left_out
        assert (one.items, one.first) == (2, ())
        assert "blind session" in one.why
    assert store.bulk.preview("RE", [1, 2, 3], BAD).items == 3


def test_a_rejection_is_checked_like_any_other(store: Store) -> None:
    for action, message in (
        (Reject("nonsense"), "Rejecting needs a reason"),
        (Reject("other", " "), "needs a comment"),
    ):
        with pytest.raises(NotAllowed, match=message):
            store.bulk.preview("RE", [1], action)
    store.accounts.deactivate("CO", "RE")
    with pytest.raises(NotAllowed, match="no longer active"):
        store.bulk.preview("RE", [1], BAD)
    with pytest.raises(NotFound):
        store.bulk.preview("XX", [1], BAD)


def test_the_leases_of_finished_rounds_end(store: Store, desk: Desk) -> None:
    desk.until(1, *TO_AUDIT, ("AX", "reject"))
    desk.until(2, *TO_AUDIT)
    own, of_another, still = (store.leases.take(*who) for who in (("CO", 1), ("AU", 2), ("CO", 2)))
    done(store, "CO", [1, 2], BAD)
    assert store.leases.renew(own.token).ended
    assert store.leases.renew(still.token).ended
    assert not store.leases.renew(of_another.token).ended  # the audit of item 2 is open


def test_an_action_is_refused_if_an_item_has_moved_since_the_preview(store: Store, desk: Desk) -> None:
    for action in (BAD, Assign(("AU",)), SetBatch("december")):
        shown = store.bulk.preview("CO", [1, 2, 3], action)
        desk.decide("RE", 1, "keep")
        before, end = derived(store), store.log.head()
        with pytest.raises(SelectionChanged) as refused:
            store.bulk.apply("CO", [1, 2, 3], action, shown.token, uuid4().hex)
        assert refused.value.preview == store.bulk.preview("CO", [1, 2, 3], action)
        assert (derived(store), store.log.head()) == (before, end)
        assert store.bulk.apply("CO", [1, 2, 3], action, refused.value.preview.token, uuid4().hex).items
        store.bulk.undo("CO", store.bulk.actions()[0].id, uuid4().hex)
        store.reviews.undo(person="RE", item_id=1, key=uuid4().hex)


def test_an_action_is_refused_if_other_rules_would_lead_to_another_state(store: Store, desk: Desk) -> None:
    desk.until(1, *TO_VOTE)
    shown = store.bulk.preview("CO", [1], BAD)
    assert shown.changes == (Change("vote", "vote", 1),)
    store.settings.set_rules("CO", Rules(votes=1, approve_at=1, reject_at=1))
    with pytest.raises(SelectionChanged) as refused:
        store.bulk.apply("CO", [1], BAD, shown.token, uuid4().hex)
    assert refused.value.preview.changes == (Change("vote", "rejected", 1),)


def test_a_token_belongs_to_one_action_and_selection(store: Store) -> None:
    token = store.bulk.preview("CO", [1, 2], BAD).token
    for items, action in (([1, 2, 3], BAD), ([1], BAD), ([1, 2], Reject("bad_data")), ([1, 2], SetBatch("x"))):
        with pytest.raises(SelectionChanged):
            store.bulk.apply("CO", items, action, token, uuid4().hex)
    assert store.bulk.actions() == []


def test_the_same_key_returns_the_first_result_and_another_action_with_it_is_refused(store: Store) -> None:
    token = store.bulk.preview("CO", [1, 2], BAD).token
    first = store.bulk.apply("CO", [1, 2], BAD, token, "once-and-once")
    end = store.log.head()
    assert store.bulk.apply("CO", [1, 2], BAD, token, "once-and-once") == first
    other = store.bulk.preview("CO", [3], BAD).token
    for by, items, action, given in (
        ("CO", [3], BAD, other),
        ("VO", [1, 2], BAD, token),
        ("CO", [1, 2], Reject("bad_data"), token),
    ):
        with pytest.raises(KeyReused):
            store.bulk.apply(by, items, action, given, "once-and-once")
    with pytest.raises(KeyReused):
        store.bulk.undo("CO", first.id, "once-and-once")
    undone = store.bulk.undo("CO", first.id, "twice-and-twice")
    assert store.bulk.undo("CO", first.id, "twice-and-twice") == undone
    assert store.log.head().number == end.number + 1
    assert states(store, 1, 2) == ["screening", "screening"]


def test_too_many_items_or_changes_are_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "MOST_ITEMS", 3)
    with pytest.raises(NotAllowed, match="Found 4 items, expected at most 3 at once"):
        store.bulk.preview("CO", [1, 2, 3, 4], BAD)
    monkeypatch.setattr(plan, "MOST_CHANGED", dict.fromkeys(actions.MOST_CHANGED, 2))
    for action in (BAD, SetBatch("x"), Assign(("RE",))):
        assert store.bulk.preview("CO", [1, 2], action).items == 2
        with pytest.raises(NotAllowed, match="Found more than 2 changes"):
            store.bulk.preview("CO", [1, 2, 3], action)
    with pytest.raises(NotAllowed, match="Found more than 2 changes"):
        store.bulk.preview("CO", [1, 2], Assign(("RE", "VO")))


def test_one_undo_brings_every_rejected_item_back(store: Store, desk: Desk) -> None:
    desk.decide("RE", 2, "keep")
    desk.until(3, *TO_AUDIT)
    desk.until(4, *TO_VOTE, ("VO", "reject"))
    before = derived(store)
    action = done(store, "CO", [1, 2, 3, 4], BAD)
    assert derived(store) != before
    end = store.log.head().number
    undone = store.bulk.undo("CO", action.id, "undo-undo")
    assert derived(store) == before
    assert (undone.kind, undone.undoes, undone.items) == ("undo", action.id, 4)
    assert [action.undone for action in store.bulk.actions()] == [None, undone.id]
    assert store.items.history(1)[-1].decision.verb == "undo"
    (entry,) = store.log.entries(after=end)
    assert (entry.what, entry.subject) == ("bulk action undone", "items 1 to 4")
    assert store.upkeep.verify() == []
    store.upkeep.rebuild()
    assert derived(store) == before


@pytest.mark.parametrize("built", ["decision", "version"])
def test_a_rejection_is_not_undone_after_somebody_has_built_on_one_of_its_items(store, desk, built) -> None:
    desk.until(2, *TO_AUDIT)
    desk.until(3, *TO_AUDIT)
    action = done(store, "CO", [1, 2, 3], BAD)
    desk.decide(
        "AU",
        2,
        "reject" if built == "decision" else "return",
        reason="" if built == "version" else "bad_data",
        comment="look again",
    )
    if built == "version":
        desk.edit("RE", 2, "Another text.")
    before, end = derived(store), store.log.head()
    with pytest.raises(NotAllowed, match=r"^1 item was changed after this action, so nothing was undone: item 2\.$"):
        store.bulk.undo("CO", action.id, "undo-undo")
    assert (derived(store), store.log.head()) == (before, end)
    desk.decide("AU", 3, "reject", reason="duplicate")
    with pytest.raises(NotAllowed, match=r"^2 items were changed .* The first are 2, 3\.$"):
        store.bulk.undo("CO", action.id, "undo-undo")


def test_an_undo_leaves_out_what_its_person_has_undone_one_by_one(store: Store, desk: Desk) -> None:
    action = done(store, "RE", [1, 2], BAD)
    store.reviews.undo(person="RE", item_id=1, key="one-of-them")
    desk.decide("VO", 1, "keep")
    assert store.bulk.undo("RE", action.id, "all-of-them").items == 1
    assert states(store, 1, 2) == ["revision", "screening"]
    second = done(store, "RE", [3], BAD)
    store.reviews.undo(person="RE", item_id=3, key="the-only-one")
    with pytest.raises(NotAllowed, match=r"Nothing of action .* is left to undo"):
        store.bulk.undo("RE", second.id, "nothing-left")


def test_an_undo_is_refused_to_others_and_of_an_undo_and_a_second_time(store: Store) -> None:
    action = done(store, "RE", [1], BAD)
    with pytest.raises(NotAllowed, match="These are decisions of RE; only RE can undo them"):
        store.bulk.undo("CO", action.id, "undo-undo")
    undone = store.bulk.undo("RE", action.id, "undo-undo")
    with pytest.raises(NotAllowed, match="already undone"):
        store.bulk.undo("RE", action.id, "undo-again")
    with pytest.raises(NotAllowed, match="is an undo"):
        store.bulk.undo("RE", undone.id, "undo-the-undo")
    with pytest.raises(NotFound, match="There is no action 99"):
        store.bulk.undo("RE", 99, "undo-nothing")
    change = done(store, "CO", [1], SetBatch("other"))
    with pytest.raises(NotAllowed, match="Only a coordinator"):
        store.bulk.undo("RE", change.id, "undo-of-batch")
    second = done(store, "RE", [1, 2], BAD)
    same_spectrum = an_item(store, 1, think="Another trace.")
    drawn(store, items=(same_spectrum,), each=2, scorers=("RE", "AU"))
    with pytest.raises(NotAllowed, match=r"^1 item was changed after this action, so nothing was undone\.$"):
        store.bulk.undo("RE", second.id, "undo-withheld")


def test_assignments_are_changed_by_person_and_undone_as_a_whole(store: Store) -> None:
    first = done(store, "CO", [1, 2], Assign(("AU", "RE")))
    assert store.assignments.of_items([1, 2, 3]) == {1: ("AU", "RE"), 2: ("AU", "RE")}
    shown = store.bulk.preview("CO", [1, 2, 3], Assign(("RE", "VO")))
    assert {(change.before, change.after, change.items) for change in shown.changes} == {
        ("AU, RE", "AU, RE, VO", 2),
        ("", "RE, VO", 1),
    }
    assert left_out(store, "CO", [1, 3], Assign(("RE",))) == {"The item is assigned to these people already.": (1,)}
    assert left_out(store, "CO", [1, 3], Assign(("AU",), False)) == {
        "The item is assigned to none of these people.": (3,)
    }
    taken = done(store, "CO", [1, 2, 3], Assign(("AU",), False))
    assert (taken.kind, taken.items, taken.details) == ("unassign", 2, {"people": ["AU"]})
    assert store.assignments.of_items([1, 2]) == {1: ("RE",), 2: ("RE",)}
    with pytest.raises(NotAllowed, match=r"^2 items were changed after this action.* 1, 2\.$"):
        store.bulk.undo("CO", first.id, "too-early")
    store.bulk.undo("CO", taken.id, "undo-the-second")
    assert store.assignments.of_items([1, 2]) == {1: ("AU", "RE"), 2: ("AU", "RE")}
    store.bulk.undo("CO", first.id, "undo-the-first")
    assert store.assignments.of_items([1, 2, 3]) == {}
    assert store.upkeep.verify() == []


def test_another_persons_assignment_is_no_obstacle_to_an_undo(store: Store) -> None:
    first = done(store, "CO", [1], Assign(("AU",)))
    done(store, "CO", [1], Assign(("RE",)))
    store.bulk.undo("CO", first.id, "undo-undo")
    assert store.assignments.of_items([1]) == {1: ("RE",)}


def test_people_who_have_left_keep_assignments_and_get_no_new_ones(store: Store) -> None:
    done(store, "CO", [1], Assign(("RE",)))
    store.accounts.deactivate("CO", "RE")
    assert store.assignments.of_items([1]) == {1: ("RE",)}
    with pytest.raises(NotAllowed, match="RE is no longer active here"):
        store.bulk.preview("CO", [2], Assign(("RE",)))
    with pytest.raises(NotFound):
        store.bulk.preview("CO", [2], Assign(("XX",)))
    with pytest.raises(NotAllowed, match="at least one person"):
        store.bulk.preview("CO", [2], Assign(()))
    assert done(store, "CO", [1], Assign(("RE",), False)).items == 1


def test_coordinators_assign_and_set_batches_and_whoever_works_alone(store: Store) -> None:
    for action in (Assign(("RE",)), Assign(("RE",), False), SetBatch("x")):
        with pytest.raises(NotAllowed, match="Only a coordinator can do this; RE is not one"):
            store.bulk.preview("RE", [1], action)
    store.settings.set_rules("CO", Rules(solo=True))
    assert done(store, "RE", [1], Assign(("RE",))).items == 1
    assert done(store, "RE", [1], SetBatch("x")).items == 1


def test_progress_counts_assigned_items_by_person_and_state(store: Store, desk: Desk) -> None:
    done(store, "CO", [1, 2, 3], Assign(("AU", "RE")))
    desk.decide("RE", 1, "keep")
    desk.decide("RE", 2, "reject", reason="bad_data")
    store.withdrawals.withdraw("CO", Selection(first=3, last=3))
    done(store, "CO", [1], SetBatch("december"))
    expected = {"revision": 1, "rejected": 1}
    assert store.statistics.counts().assigned == {"AU": expected, "RE": expected}
    assert store.statistics.counts(batch="december").assigned == {"AU": {"revision": 1}, "RE": {"revision": 1}}
    assert store.statistics.counts(task="no such").assigned == {}
    assert left_out(store, "CO", [3], Assign(("VO",))) == {"The item is withdrawn.": (3,)}


def test_a_batch_is_followed_by_every_figure_filter_and_list(store: Store, desk: Desk) -> None:
    store.settings.set_rules("CO", Rules(auditors=1, votes=1, approve_at=1, reject_at=1))
    desk.until(1, *TO_AUDIT, ("AU", "pass"), ("VO", "approve"))
    desk.decide("RE", 2, "keep")
    desk.edit("RE", 2, "Narrow.")
    before = derived(store)
    (change,) = store.bulk.preview("CO", [1, 2], SetBatch(" december ")).changes
    assert (change.before, change.after, change.items) == ("november", "december", 2)
    action = done(store, "CO", [1, 2], SetBatch(" december "))
    assert store.upkeep.verify() == []
    moved = derived(store)
    store.upkeep.rebuild()
    assert derived(store) == moved
    december = QueueFilter(batch="december")
    assert [row.item_id for row in store.queue.page(december, "RE").rows] == [1, 2]
    assert store.queue.page(december, "RE").total == 2
    assert store.queue.page(QueueFilter(batch="november"), "RE").total == 4
    assert store.queue.facets()["batch"] == ["december", "november"]
    assert store.items.get(1).row.batch == "december"
    assert store.queue.approved(batch="december") == [1]
    assert store.queue.approved(batch="november") == []
    counts = store.statistics.counts(batch="december")
    assert counts.by_task == {"cv": {"approved": 1, "revision": 1}}
    assert counts.by_person["RE"] == {"screening": 2, "revision": 1}
    assert counts.versions_by == {"RE": 1}
    assert store.statistics.counts(batch="november").by_person == {}
    chosen = Plan("all", ("VO", "AU"), filter=Filter(batch="december"))
    assert {candidate.item for candidate in store.blind.sessions.candidates(None, chosen)} == {1, 2}
    assert {batch.name: batch.items for batch in store.withdrawals.batches()} == {"december": 2, "november": 4}
    desk.decide("VO", 3, "keep")  # figures of later work follow too
    done(store, "CO", [3], SetBatch("december"))
    desk.decide("VO", 3, "submit")
    assert store.statistics.counts(batch="december").by_person["VO"] == {"vote": 1, "screening": 1, "revision": 1}
    assert store.upkeep.verify() == []
    store.bulk.undo("CO", store.bulk.actions()[0].id, "undo-the-last")
    store.reviews.undo(person="VO", item_id=3, key="one-undo")
    store.reviews.undo(person="VO", item_id=3, key="two-undo") if store.items.standing(3).last else None
    store.bulk.undo("CO", action.id, "undo-undo")
    assert store.upkeep.verify() == []
    assert derived(store)["tallies"] == before["tallies"]


def test_a_batch_is_not_undone_after_it_was_changed_again_and_figures_come_back(store: Store, desk: Desk) -> None:
    desk.decide("RE", 1, "keep")
    before = derived(store)
    first = done(store, "CO", [1, 2], SetBatch("december"))
    second = done(store, "CO", [2, 3], SetBatch("january"))
    assert left_out(store, "CO", [2], SetBatch("january")) == {"The item is in this batch already.": (2,)}
    with pytest.raises(NotAllowed, match=r"so nothing was undone: item 2\.$"):
        store.bulk.undo("CO", first.id, "too-early")
    store.bulk.undo("CO", second.id, "undo-the-second")
    assert [store.items.get(item).row.batch for item in (1, 2, 3)] == ["december", "december", "november"]
    store.bulk.undo("CO", first.id, "undo-the-first")
    assert derived(store) == before
    assert store.upkeep.verify() == []


def test_a_batch_needs_a_name_of_at_most_200_characters(store: Store) -> None:
    for name in (" ", "x" * 201):
        with pytest.raises(NotAllowed, match=r"batch: found \d+ characters, expected 1 to 200"):
            store.bulk.preview("CO", [1], SetBatch(name))


def test_the_figures_of_agreement_are_counted_again_after_a_change_of_batch(store: Store) -> None:
    before = store.statistics.last_facts()
    done(store, "CO", [1], SetBatch("december"))
    assert store.statistics.last_facts() != before


def test_verify_finds_wrong_assignments_and_batches_and_rebuild_repairs_them(store: Store) -> None:
    done(store, "CO", [1], Assign(("AU",)))
    done(store, "CO", [1], SetBatch("december"))
    good = derived(store)
    assignments = "the assignments in force do not follow from the facts"
    for damage, message in (
        ("DELETE FROM assigned WHERE item = 1", assignments),
        ("INSERT INTO assigned VALUES ('VO', 2)", assignments),
        ("UPDATE standings SET batch = 'november' WHERE item = 1", "item 1: its batch does not follow from its facts"),
        ("UPDATE standings SET batch = 'x' WHERE item = 2", "item 2: its batch does not follow from its facts"),
    ):
        with store.database.write() as db:
            db.execute(damage)
        assert store.upkeep.verify() == [f"{message}; rebuild"]
        store.upkeep.rebuild()
        assert store.upkeep.verify() == []
        assert derived(store) == good
