"""Taking back items that came in by mistake, while nobody has worked on them."""

import json

import pytest

import app
from agent.trajectory import Trajectory
from reviewer.blind.plan import Plan
from reviewer.exchange.item import read_approved
from reviewer.rules.workflow import Rules
from reviewer.store import Draft, LeaseLost, NotAllowed, QueueFilter, Selection, Store
from tests.support.blind_campaign import drawn, two_drafters
from tests.support.campaign import TO_AUDIT, Desk, a_spectrum, a_trajectory, an_item

MISTAKE = Selection(batch="mistake")


def a_batch(store: Store, number: int = 3, batch: str = "mistake") -> list[int]:
    spectrum = a_spectrum()
    drafts = [Draft(a_trajectory(spectrum, f"Draft {n} of {batch}."), spectrum, batch) for n in range(number)]
    return [added.item_id for added in store.items.add_all(drafts)]


def test_a_withdrawn_batch_is_in_no_queue_and_no_count_and_can_be_found_by_its_state(store: Store) -> None:
    kept = an_item(store)
    items = a_batch(store)
    found = store.withdrawals.preview(MISTAKE)
    assert (list(found.items), found.worked_on, found.withdrawn) == (items, {}, ())
    assert list(store.withdrawals.withdraw("CO", MISTAKE).items) == items
    everything = store.queue.page(QueueFilter(), "CO")
    assert [row.item_id for row in everything.rows] == [kept]
    assert everything.total == 1
    assert store.queue.page(QueueFilter(mine=True), "RE").total == 1
    assert store.queue.page(QueueFilter(text=f"#{items[0]}"), "CO").total == 0
    assert store.queue.page(QueueFilter(states=("withdrawn",)), "CO").total == len(items)
    counts = store.statistics.counts()
    assert sum(sum(states.values()) for states in counts.by_task.values()) == 1
    assert counts.by_person == {}
    assert counts.per_day == {}
    assert "mistake" not in store.queue.facets()["batch"]
    assert "withdrawn" in store.queue.facets()["state"]
    assert {c.item for c in store.blind.sessions.candidates(None, Plan("all", ("VO", "AU")))} == {kept}
    with pytest.raises(NotAllowed, match="withdrawn"):
        store.leases.take("RE", items[0])


def test_a_restored_batch_is_in_screening_again_and_leaves_no_trace_in_the_work_of_people(store, desk) -> None:
    (item,) = a_batch(store, 1)
    store.withdrawals.withdraw("CO", MISTAKE)
    assert store.withdrawals.restore("CO", MISTAKE) == (item,)
    assert store.items.standing(item).state == "screening"
    assert store.withdrawals.preview(MISTAKE).items == (item,)
    store.withdrawals.withdraw("CO", MISTAKE)
    store.withdrawals.restore("CO", MISTAKE)
    store.settings.set_rules("CO", Rules(auditors=1, votes=1, approve_at=1, reject_at=1))
    desk.until(item, *TO_AUDIT, ("AU", "pass"), ("VO", "approve"))
    approved = read_approved(store, item)
    assert {d["verb"] for d in approved.provenance["decisions"]} == {"keep", "submit", "pass", "approve"}
    assert store.upkeep.verify() == []


def test_undo_by_its_author_restores_one_item(store: Store) -> None:
    first, second = a_batch(store, 2)
    store.withdrawals.withdraw("CO", MISTAKE)
    store.reviews.undo(person="CO", item_id=first, key="one")
    assert store.items.standing(first).state == "screening"
    assert store.items.standing(second).state == "withdrawn"
    assert store.withdrawals.preview(MISTAKE).items == (first,)


def test_items_that_people_have_worked_on_stay(store: Store, desk: Desk) -> None:
    decided, undone, marked, judged, written, held, revised, other = items = a_batch(store, 8)
    version = {item: store.items.get(item).version.id for item in items}
    for item in (decided, undone, revised):
        desk.decide("RE", item, "keep")
    store.reviews.undo(person="RE", item_id=undone, key="undo")
    desk.mark("RE", marked)
    store.marks.commit_verdict(person="RE", item_id=judged, version_id=version[judged], verdict="YES")
    store.leases.autosave(person="RE", item_id=written, base_version_id=version[written], body={"comment": "hm"})
    store.leases.take("RE", held)
    desk.edit("RE", revised, "Another text.")
    withdrawal = store.withdrawals.withdraw("CO", MISTAKE)
    assert withdrawal.items == (other,)
    assert set(withdrawal.worked_on) == set(items) - {other}
    states = [store.items.standing(item).state for item in items]
    assert states == ["revision", *["screening"] * 5, "revision", "withdrawn"]


def test_items_in_a_blind_session_stay(store: Store) -> None:
    two_drafters(store, 2)
    drawn(store, items=(1, 2), each=1, scorers=("VO", "AU"))
    assert set(store.withdrawals.preview(Selection()).worked_on.values()) == {"in a blind session"}


def test_a_part_of_a_batch_is_chosen_by_item_numbers(store: Store) -> None:
    items = a_batch(store, 5)
    store.withdrawals.withdraw("CO", Selection("mistake", items[1], items[2]))
    assert [store.items.standing(item).state for item in items].count("withdrawn") == 2
    (batch,) = store.withdrawals.batches()
    assert (batch.name, batch.items, batch.withdrawn, batch.first, batch.last) == ("mistake", 5, 2, items[0], items[-1])


def test_the_log_covers_a_withdrawal_and_a_changed_row_is_detected(store: Store) -> None:
    items = a_batch(store)
    store.withdrawals.withdraw("CO", MISTAKE)
    store.withdrawals.restore("CO", MISTAKE)
    withdrawn, restored = list(store.log.entries())[-2:]
    assert (withdrawn.what, restored.what) == ("items withdrawn", "items restored")
    assert withdrawn.subject == f"items {items[0]} to {items[-1]}"
    assert (withdrawn.details["count"], withdrawn.details["batch"]) == (3, "mistake")
    assert withdrawn.details["facts"]["decisions"][2] == 3
    assert store.upkeep.verify() == []


def test_many_items_are_withdrawn_in_one_transaction(store: Store) -> None:
    spectrum = a_spectrum()
    first: Trajectory = a_trajectory(spectrum)
    drafts = [Draft(first, spectrum, "mistake", key=f"k{n}") for n in range(1500)]
    store.items.add_all(drafts)
    entries = len(list(store.log.entries()))
    assert len(store.withdrawals.withdraw("CO", MISTAKE).items) == 1500
    assert len(list(store.log.entries())) == entries + 1
    assert store.queue.page(QueueFilter(), "CO").total == 0


def test_the_command_withdraws_and_restores_a_batch(store, desk, capsys) -> None:
    items = a_batch(store)
    desk.decide("RE", items[0], "keep")
    named = [str(store.path), "--json"]
    assert app.main(["withdraw", "--db", *named]) == 0
    assert json.loads(capsys.readouterr().out)["batches"][0]["items"] == 3
    assert app.main(["withdraw", "mistake", "--by", "co", "--dry-run", "--db", *named]) == 1
    assert json.loads(capsys.readouterr().out)["items"] == items[1:]
    assert store.items.standing(items[1]).state == "screening"
    assert app.main(["withdraw", "mistake", "--by", "co", "--items", f"{items[2]}", "--db", *named]) == 0
    assert [store.items.standing(item).state for item in items[1:]] == ["screening", "withdrawn"]
    assert app.main(["withdraw", "mistake", "--by", "co", "--restore", "--db", *named]) == 0
    assert store.items.standing(items[2]).state == "screening"
    assert app.main(["withdraw", "mistake", "--db", *named]) == 2
    assert app.main(["withdraw", "nothing", "--by", "co", "--db", *named]) == 2
    assert app.main(["withdraw", "mistake", "--by", "co", "--items", "12 and 14", "--db", *named]) == 2


def test_an_item_that_only_the_coordinator_has_open_is_withdrawn(store: Store) -> None:
    items = a_batch(store)
    lease = store.leases.take("CO", items[0])
    assert list(store.withdrawals.withdraw("CO", MISTAKE).items) == items
    with pytest.raises(LeaseLost):
        store.leases.renew(lease.token)
