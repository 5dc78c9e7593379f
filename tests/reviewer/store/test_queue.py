"""The queue, leases, turns and progress."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.trajectory import Drafter
from reviewer.rules.workflow import STATES, Rules, work_refusal
from reviewer.store import CannotWrite, Draft, HeldByAnother, LeaseLost, NotAllowed, QueueFilter, Store, Yielded
from reviewer.store import items as store_items
from tests.support.campaign import (
    PEOPLE,
    TO_AUDIT,
    TO_VOTE,
    Clock,
    Desk,
    a_spectrum,
    a_trajectory,
    an_item,
    edited,
    people,
)

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

# Who holds leases on the items of a story: one of two people, both, or a person not needed.
HOLDERS = {0: ("RE",), 4: ("CO",), 5: ("AX",), 6: ("JU",), 8: ("VO", "CO")}
ITEMS = 60


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("queue") / "annotations.db"
    with Store.open(path, clock=Clock()) as store:
        people(store)
        ids = [added.item_id for added in store.items.add_all(drafts())]
        desk = Desk(store)
        for item_id in ids:
            story = STORIES[item_id % len(STORIES)]
            if story:
                desk.until(item_id, *story)
            for holder in HOLDERS.get(item_id % len(STORIES), ()):
                store.leases.take(holder, item_id)
        yield store


@pytest.fixture(scope="module")
def every_item(store):
    """For each item: its row, its standing and the ids that a text may match."""
    seen = []
    for item_id in range(1, ITEMS + 1):
        item = store.items.get(item_id)
        sha256 = item.row.spectrum_sha256
        ids = tuple(store.spectra.get(sha256).ids.values()) if sha256 else ()
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


def passes(filter, person, rules, row, standing, ids):
    """Whether an item passes a filter, by the definition of the filter."""
    conditions = {
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
    return all(conditions.values())


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


def own(store, item_id, person):
    """Whether a person wrote or submitted a version of an item."""
    submitted = (r.decision for r in store.items.history(item_id) if r.decision.verb == "submit")
    return person in {v.author for v in store.items.versions(item_id)} | {d.person for d in submitted}


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


@settings(deadline=None, max_examples=60)
@given(filters, st.sampled_from(sorted(PEOPLE)), st.integers(1, 7), st.integers(0, 62))
@example(QueueFilter(), "RE", 1, 0)
def test_pages_neighbours_and_counts_agree_with_a_check_of_every_item(store, every_item, filter, person, limit, at):
    rules, who = store.settings.rules(), store.accounts.person(person)
    slow = [item[0].item_id for item in every_item if passes(filter, who, rules, *item)]
    walked, after = [], None
    while (page := store.queue.page(filter, person, after, limit)).rows:
        assert page.total == len(slow)
        walked += [row.item_id for row in page.rows]
        after = walked[-1]
    assert walked == slow
    assert page.total == len(slow)
    assert store.queue.neighbours(at, filter, person, limit) == [n for n in slow if n > at][:limit]
    assert (
        store.queue.neighbours(at, filter, person, limit, backwards=True) == [n for n in slow if n < at][::-1][:limit]
    )
    assert store.queue.position(at, filter, person) == sum(n < at for n in slow)
    undone = [n for n in slow if mine(who, rules, *every_item[n - 1][:2])]
    # An item of one's own that was returned comes first.
    undone.sort(key=lambda n: not (every_item[n - 1][0].state == "returned" and own(store, n, person)))
    assert store.queue.first_undone(filter, person) == (undone[0] if undone else None)


def test_a_row_has_the_progress_and_the_holders_of_its_item(store):
    row = next(r for r in store.queue.page(QueueFilter(states=("audit",)), "CO", limit=60).rows if r.cast == 1)
    assert (row.state, row.cast, row.needed, row.version) == ("audit", 1, 2, 1)
    held = [r for r in store.queue.page(QueueFilter(), "CO", limit=60).rows if r.held_by]
    assert {holder for r in held for holder in r.held_by} == {"RE", "CO", "AX", "JU", "VO"}


def test_facets_are_the_values_that_occur(store):
    assert store.queue.facets()["survey"] == ["DESI", "LAMOST", "SDSS"]
    assert store.queue.facets()["task"] == ["carbon", "cv"]
    assert store.queue.facets()["drafter"] == ["rule 1", "rule 2"]
    assert "approved" in store.queue.facets()["state"]


def test_an_inactive_person_has_an_empty_queue(tmp_path):
    with Store.open(tmp_path / "annotations.db") as store:
        people(store)
        store.items.add_all(drafts())
        everything = QueueFilter(mine=True)
        assert store.queue.page(everything, "RE").total == 60
        store.accounts.deactivate("CO", "RE")
        assert store.queue.page(everything, "RE").rows == ()
        assert store.queue.first_undone(everything, "RE") is None


@pytest.fixture
def leased(tmp_path, clock):
    with Store.open(tmp_path / "annotations.db", clock=clock) as leased:
        people(leased)
        yield leased


@pytest.fixture
def desk(leased):
    return Desk(leased)


def test_two_tabs_of_one_person_share_a_lease(leased, clock):
    item_id = an_item(leased)
    first = leased.leases.take("RE", item_id)
    clock.turn(minutes=5)
    second = leased.leases.take("RE", item_id)
    assert second.token == first.token
    assert second.expires_at > first.expires_at


def test_a_decision_without_a_lease_takes_it_and_ends_it(leased, desk):
    item_id = an_item(leased)
    hers = leased.leases.take("VO", item_id)
    with pytest.raises(HeldByAnother, match="VO is working on this item") as held:
        desk.decide("RE", item_id, "keep", lease_token=None)
    assert held.value.holders == ("VO",)
    leased.leases.release(hers.token)
    assert desk.decide("RE", item_id, "keep", lease_token=None).state == "revision"
    assert leased.leases.held_by_others("VO", item_id) is None


def test_an_audit_has_as_many_leases_as_audits_are_missing(leased, desk):
    item_id = an_item(leased)
    desk.until(item_id, *TO_AUDIT)
    leased.leases.take("AU", item_id)
    leased.leases.take("AX", item_id)
    with pytest.raises(HeldByAnother, match="AU and AX are working"):
        leased.leases.take("JU", item_id)
    desk.decide("AU", item_id, "pass")
    with pytest.raises(HeldByAnother):
        leased.leases.take("JU", item_id)
    leased.leases.release(leased.leases.take("AX", item_id).token)
    assert leased.leases.take("JU", item_id).round == "audit"


def test_a_lease_is_refused_to_people_without_the_role(leased, desk):
    item_id = an_item(leased)
    desk.until(item_id, *TO_AUDIT)
    with pytest.raises(NotAllowed, match="Audit is for auditor or coordinator"):
        leased.leases.take("VO", item_id)


def test_a_lease_that_ran_out_while_typing_is_refused_and_the_text_kept(leased, desk, clock):
    item_id = an_item(leased)
    desk.decide("RE", item_id, "keep")
    version, lease = leased.items.get(item_id).version, leased.leases.take("RE", item_id)
    clock.turn(minutes=16)
    hers = leased.leases.take("VO", item_id)
    text = edited(version.trajectory, "an hour of thought")
    with pytest.raises(LeaseLost, match="ran out; VO has it now") as lost:
        desk.save("RE", item_id, text, reason="my reason", lease_token=lease.token)
    assert lost.value.holder == "VO"
    assert leased.leases.autosaved("RE", item_id).body == {**text.to_json(), "comment": "my reason"}
    assert leased.leases.renew(hers.token).token == hers.token
    with pytest.raises(LeaseLost):
        leased.leases.renew(lease.token)


def test_a_lease_that_ran_out_can_be_taken_again_if_the_item_is_free(leased, desk, clock):
    item_id = an_item(leased)
    lease = leased.leases.take("RE", item_id)
    clock.turn(minutes=16)
    with pytest.raises(LeaseLost, match="open it again") as lost:
        desk.decide("RE", item_id, "keep", lease_token=lease.token)
    assert lost.value.holder is None
    assert desk.decide("RE", item_id, "keep").state == "revision"


def test_renewing_keeps_a_lease(leased, clock):
    item_id = an_item(leased)
    lease = leased.leases.take("RE", item_id)
    for _ in range(5):
        clock.turn(minutes=14)
        lease = leased.leases.renew(lease.token)
    with pytest.raises(HeldByAnother):
        leased.leases.take("VO", item_id)


def test_a_lease_has_ended_at_the_moment_that_it_names(leased, clock):
    item_id = an_item(leased)
    lease = leased.leases.take("RE", item_id)
    for ended in (False, True):
        assert leased.items.get(item_id).row.held_by == (() if ended else ("RE",))
        assert leased.queue.first_undone(QueueFilter(), "VO") == (item_id if ended else None)
        assert (leased.leases.held_by_others("VO", item_id) is None) == ended
        clock.now = lease.expires_at
    assert leased.leases.take("VO", item_id).person == "VO"


def test_renewing_after_voting_is_no_error(leased, desk):
    item_id = an_item(leased)
    desk.until(item_id, *TO_VOTE)
    lease = leased.leases.take("VO", item_id)
    desk.decide("VO", item_id, "approve")
    assert leased.leases.renew(lease.token).ended


def test_leases_end_with_their_round(leased, desk):
    item_id = an_item(leased)
    desk.until(item_id, *TO_AUDIT)
    theirs = leased.leases.take("AX", item_id)
    desk.decide("AU", item_id, "return", comment="no Hα")
    with pytest.raises(LeaseLost, match="when the item left the round"):
        leased.leases.renew(theirs.token)
    assert leased.leases.take("RE", item_id).round == "revision"


def test_a_lease_of_another_person_or_item_is_not_accepted(leased, desk):
    item_id, other = an_item(leased), an_item(leased, 1)
    token = leased.leases.take("RE", item_id).token
    with pytest.raises(LeaseLost, match="RE has it now"):
        desk.decide("VO", item_id, "keep", lease_token=token)
    with pytest.raises(LeaseLost, match="do not hold this item"):
        desk.decide("RE", other, "keep", lease_token=token)


def test_a_person_working_alone_decides_every_round(tmp_path, clock):
    with Store.open(tmp_path / "alone.db", clock=clock) as leased:
        leased.accounts.work_alone("ME")
        leased.settings.set_rules("ME", Rules(solo=True))
        desk, item_id = Desk(leased), an_item(leased)
        for verb in ("keep", "submit", "pass"):
            assert desk.decide("ME", item_id, verb).round
        assert desk.decide("ME", item_id, "approve").state == "approved"


def test_deactivation_ends_the_leases_of_a_person_and_keeps_their_votes(leased, desk):
    item_id, held = an_item(leased), an_item(leased, 1)
    desk.until(item_id, *TO_VOTE, ("VO", "approve"))
    lease = leased.leases.take("VO", held)
    leased.accounts.deactivate("CO", "VO")
    with pytest.raises(LeaseLost, match="deactivated"):
        leased.leases.renew(lease.token)
    assert leased.leases.take("RE", held).person == "RE"
    with pytest.raises(NotAllowed, match="VO is no longer active"):
        desk.decide("VO", held, "keep", lease_token=lease.token)
    assert desk.decide("AU", item_id, "approve").decided_by == ("VO", "AU")


def test_unsent_text_is_kept_per_person_and_version_until_it_is_discarded(leased, clock):
    item_id = an_item(leased)
    version = leased.items.get(item_id).version
    leased.leases.autosave(person="RE", item_id=item_id, base_version_id=version.id, body={"text": "a"})
    clock.turn(seconds=2)
    leased.leases.autosave(person="RE", item_id=item_id, base_version_id=version.id, body={"text": "ab"})
    assert leased.leases.autosaved("RE", item_id).body == {"text": "ab"}
    assert leased.leases.autosaved("RE", item_id).at == clock.now
    assert leased.leases.autosaved("VO", item_id) is None
    leased.leases.discard_autosave(person="RE", item_id=item_id, base_version_id=version.id)
    assert leased.leases.autosaved("RE", item_id) is None


@pytest.fixture
def one_item_store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db", patience=0.2) as one_item_store:
        people(one_item_store)
        an_item(one_item_store)
        yield one_item_store


def test_a_lock_of_another_program_is_reported_after_a_while(one_item_store: Store) -> None:
    other = sqlite3.connect(one_item_store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    message = r"annotations\.db: it is locked by another program; waited 0 seconds\. Nothing was saved; try"
    with pytest.raises(CannotWrite, match=message):
        one_item_store.leases.take("RE", 1)
    assert one_item_store.items.get(1).row.state == "screening"
    other.execute("ROLLBACK")
    other.close()
    assert one_item_store.leases.take("RE", 1).person == "RE"


def test_a_submit_does_not_wait_without_end_for_a_long_write(one_item_store: Store) -> None:
    with one_item_store.database.write(), pytest.raises(CannotWrite, match="busy with another long write"):
        one_item_store.leases.take("RE", 1)


def many_drafts(count: int) -> Iterator[Draft]:
    return (Draft(a_trajectory(think=f"Draft {n}."), batch="many") for n in range(count))


def test_a_submit_is_written_between_the_parts_of_an_import(one_item_store, monkeypatch) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 10)
    monkeypatch.setattr(one_item_store.database, "patience", 60.0)
    written = threading.Event()
    log_added = one_item_store.items._log_added

    def slowly(db: sqlite3.Connection, by: str | None, items: list[int]) -> None:
        log_added(db, by, items)
        written.set()
        time.sleep(0.05)

    monkeypatch.setattr(one_item_store.items, "_log_added", slowly)
    importing = threading.Thread(target=lambda: one_item_store.items.add_all(many_drafts(100), by="CO"))
    importing.start()
    assert written.wait(60)
    Desk(one_item_store).decide("RE", 1, "keep")
    importing.join()
    done = [entry.what for entry in one_item_store.log.entries(limit=1000)]
    assert done.index("decided") < len(done) - 1 - done[::-1].index("items added")
    assert one_item_store.statistics.counts().by_task == {"cv": {"screening": 100, "revision": 1}}
    assert one_item_store.upkeep.verify() == []


def test_an_import_stopped_by_a_full_disk_reports_its_progress_and_resumes(one_item_store, monkeypatch) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 50)
    (pages,) = one_item_store.database.writer.execute("PRAGMA page_count").fetchone()
    one_item_store.database.writer.execute(f"PRAGMA max_page_count = {pages + 110}")
    long = [Draft(a_trajectory(think=f"{n} " + "x" * 2000)) for n in range(200)]
    with pytest.raises(CannotWrite, match=r"of 200 items were added, .*again to add the rest\. .* disk is full"):
        one_item_store.items.add_all(long)
    present = one_item_store.statistics.counts().by_task["cv"]["screening"] - 1
    assert present in (50, 100, 150)
    assert one_item_store.upkeep.verify() == []
    one_item_store.database.writer.execute("PRAGMA max_page_count = 1000000")
    added = one_item_store.items.add_all(long)
    assert sum(item.new for item in added) == 200 - present
    assert len({item.item_id for item in added}) == 200
    assert one_item_store.upkeep.verify() == []


def test_a_refused_draft_keeps_the_drafts_before_it_out(one_item_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_items, "AT_A_TIME", 10)

    def failing() -> Iterator[Draft]:
        yield from many_drafts(55)
        raise RuntimeError("row 56 cannot be read any more")

    with pytest.raises(RuntimeError):
        one_item_store.items.add_all(failing())
    one_item_store.accounts.deactivate("CO", "RE")
    with pytest.raises(NotAllowed, match="RE is no longer active"):
        one_item_store.items.add_all(many_drafts(55), by="RE")
    assert one_item_store.statistics.counts().by_task == {"cv": {"screening": 1}}


@pytest.fixture
def decided_store(tmp_path):
    clock = Clock()
    with Store.open(tmp_path / "annotations.db", clock=clock) as decided_store:
        people(decided_store)
        desk = Desk(decided_store)
        approved, split, returned, rejected, _ = (an_item(decided_store, n) for n in range(5))
        desk.until(approved, *TO_VOTE, ("VO", "approve"), ("CO", "approve"))
        clock.turn(days=1)
        desk.until(split, *TO_VOTE, ("VO", "approve"), ("AU", "reject"))
        desk.until(returned, *TO_AUDIT, ("AU", "return"))
        desk.edit("RE", returned, "corrected")
        desk.until(rejected, ("VO", "keep"))
        decided_store.reviews.undo(person="VO", item_id=rejected, key="undo")
        desk.until(rejected, ("VO", "reject"))
        yield decided_store


def test_items_decisions_and_disagreement_are_counted(decided_store):
    counts = decided_store.statistics.counts()
    states = {"approved": 1, "adjudication": 1, "returned": 1, "rejected": 1, "screening": 1}
    assert counts.by_task == {"cv": states}
    # Without the undone decision.
    assert counts.by_person["VO"] == {"vote": 2, "screening": 1}
    assert counts.by_person["AU"] == {"audit": 3, "vote": 1}
    assert counts.versions_by == {"RE": 1}
    # Of the items that two people judged.
    assert (counts.disagreed, counts.compared) == (1, 2)
    assert (counts.yielded, counts.yielded.fraction) == (Yielded(approved=1, rejected=1), 0.5)
    assert Yielded(0, 0).fraction is None
    assert list(counts.per_day) == ["2026-11-21", "2026-11-22"]
    assert counts.per_day["2026-11-21"] == {"screening": 1, "revision": 1, "audit": 2, "vote": 2}
    assert counts.decided_per_day == {"2026-11-21": Yielded(1, 0), "2026-11-22": Yielded(0, 1)}


def test_a_task_or_batch_is_counted_separately(decided_store):
    assert decided_store.statistics.counts(task="cv", batch="november") == decided_store.statistics.counts()
    elsewhere = decided_store.statistics.counts(task="carbon")
    assert (elsewhere.by_task, elsewhere.by_person, elsewhere.versions_by) == ({}, {}, {})
    assert elsewhere.compared == 0


def test_counts_are_cached_until_the_database_changes(decided_store):
    before = decided_store.statistics.counts("cv")
    assert decided_store.statistics.counts("cv") is before
    assert decided_store.statistics.counts("no such task") != before
    with Store.open(decided_store.path) as other:
        Desk(other).until(5, ("RE", "keep"))
        assert decided_store.statistics.counts("cv") == other.statistics.counts("cv") != before
