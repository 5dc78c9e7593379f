"""Leases: nobody works on what another holds, and nothing typed is lost when one runs out."""

import pytest

from reviewer.rules.workflow import Rules
from reviewer.store import HeldByAnother, LeaseLost, NotAllowed, Store
from tests.support.campaign import TO_AUDIT, TO_VOTE, Clock, Desk, an_item, edited, people


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        yield store


@pytest.fixture
def desk(store):
    return Desk(store)


def test_one_person_at_a_time_screens(store):
    item_id = an_item(store)
    store.lease("RE", item_id)
    with pytest.raises(HeldByAnother, match="RE is working on this item, until 12:15 UTC") as held:
        store.lease("VO", item_id)
    assert held.value.holders == ("RE",)


def test_two_tabs_of_one_person_share_a_lease(store, clock):
    item_id = an_item(store)
    first = store.lease("RE", item_id)
    clock.turn(minutes=5)
    second = store.lease("RE", item_id)
    assert second.token == first.token
    assert second.expires_at > first.expires_at


def test_an_audit_takes_as_many_at_once_as_are_still_wanted(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT)
    store.lease("AU", item_id)
    store.lease("AX", item_id)
    with pytest.raises(HeldByAnother, match="AU and AX are working"):
        store.lease("JU", item_id)
    desk.decide("AU", item_id, "pass")
    with pytest.raises(HeldByAnother):
        store.lease("JU", item_id)
    store.release(store.lease("AX", item_id).token)
    assert store.lease("JU", item_id).round == "audit"


def test_nobody_gets_a_lease_for_what_they_may_not_do(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT)
    with pytest.raises(NotAllowed, match="Audit is for auditor or coordinator"):
        store.lease("VO", item_id)


def test_a_lease_that_ran_out_while_typing_is_refused_and_the_text_kept(store, desk, clock):
    item_id = an_item(store)
    desk.decide("RE", item_id, "keep")
    version, lease = store.item(item_id).version, store.lease("RE", item_id)
    clock.turn(minutes=16)
    hers = store.lease("VO", item_id)
    text = edited(version.trajectory, "an hour of thought")
    with pytest.raises(LeaseLost, match="ran out; VO has it now") as lost:
        store.save_version("RE", item_id, version.id, text, "my reason", "k", lease.token)
    assert lost.value.holder == "VO"
    assert store.autosaved("RE", item_id).body == {**text.to_json(), "comment": "my reason"}
    assert store.renew(hers.token).token == hers.token
    with pytest.raises(LeaseLost):
        store.renew(lease.token)


def test_a_lease_that_ran_out_can_be_taken_again_if_nobody_came(store, desk, clock):
    item_id = an_item(store)
    version, lease = store.item(item_id).version, store.lease("RE", item_id)
    clock.turn(minutes=16)
    with pytest.raises(LeaseLost, match="take it again") as lost:
        store.decide("RE", item_id, version.id, "keep", "k", lease.token)
    assert lost.value.holder is None
    assert desk.decide("RE", item_id, "keep").state == "revision"


def test_renewing_keeps_a_lease(store, clock):
    item_id = an_item(store)
    lease = store.lease("RE", item_id)
    for _ in range(5):
        clock.turn(minutes=14)
        lease = store.renew(lease.token)
    with pytest.raises(HeldByAnother):
        store.lease("VO", item_id)


def test_renewing_after_ones_own_vote_is_no_error(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_VOTE)
    lease = store.lease("VO", item_id)
    desk.decide("VO", item_id, "approve")
    assert store.renew(lease.token).ended


def test_a_round_that_is_over_takes_its_leases_with_it(store, desk):
    item_id = an_item(store)
    desk.until(item_id, *TO_AUDIT)
    theirs = store.lease("AX", item_id)
    desk.decide("AU", item_id, "return", comment="no Hα")
    with pytest.raises(LeaseLost, match="when the item left the round"):
        store.renew(theirs.token)
    assert store.lease("RE", item_id).round == "revision"


def test_a_lease_of_another_person_or_item_is_worth_nothing(store):
    item_id, other = an_item(store), an_item(store, 1)
    lease = store.lease("RE", item_id)
    version = store.item(item_id).version
    with pytest.raises(LeaseLost, match="RE has it now"):
        store.decide("VO", item_id, version.id, "keep", "k", lease.token)
    with pytest.raises(LeaseLost, match="do not hold this item"):
        store.decide("RE", other, store.item(other).version.id, "keep", "k", lease.token)


def test_alone_one_keeps_ones_own_lease_through_every_round(tmp_path, clock):
    with Store.open(tmp_path / "alone.db", clock=clock) as store:
        store.work_alone("ME")
        store.set_rules("ME", Rules(solo=True))
        desk, item_id = Desk(store), an_item(store)
        for verb in ("keep", "submit", "pass"):
            assert desk.decide("ME", item_id, verb).round
        assert desk.decide("ME", item_id, "approve").state == "approved"


def test_a_reviewer_who_leaves_frees_what_they_held_and_keeps_their_votes(store, desk):
    item_id, held = an_item(store), an_item(store, 1)
    desk.until(item_id, *TO_VOTE, ("VO", "approve"))
    lease = store.lease("VO", held)
    store.deactivate("CO", "VO")
    with pytest.raises(LeaseLost, match="deactivated"):
        store.renew(lease.token)
    assert store.lease("RE", held).person == "RE"
    with pytest.raises(NotAllowed, match="VO is no longer active"):
        store.decide("VO", held, store.item(held).version.id, "keep", "k", lease.token)
    assert desk.decide("AU", item_id, "approve").decided_by == ("VO", "AU")


def test_unsent_text_is_kept_by_person_and_version_until_it_is_thrown_away(store, clock):
    item_id = an_item(store)
    version = store.item(item_id).version
    store.autosave("RE", item_id, version.id, {"text": "a"})
    clock.turn(seconds=2)
    store.autosave("RE", item_id, version.id, {"text": "ab"})
    assert store.autosaved("RE", item_id).body == {"text": "ab"}
    assert store.autosaved("RE", item_id).at == clock.now
    assert store.autosaved("VO", item_id) is None
    store.discard_autosave("RE", item_id, version.id)
    assert store.autosaved("RE", item_id) is None
