"""Accounts in the store: sign-in, roles and deactivation; settings and exports."""

import sqlite3
from dataclasses import replace

import pytest

from reviewer.rules.people import PersonError, checked_password, generated_password
from reviewer.rules.workflow import Rules
from reviewer.store import NotAllowed, NotFound, SignInRefused, Store
from reviewer.store.accounts import count_attempt, origin_of
from reviewer.store.sqlite.database import helpers
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, an_item

PASSWORD = "Balmer decrement"


@pytest.fixture
def store(store):
    store.accounts.add_person("ajc", "Annie Jump Cannon", ["reviewer"], PASSWORD, by="CO")
    return store


def test_a_session_belongs_to_its_person_until_it_is_signed_out(store):
    session = store.accounts.sign_in(" ajc ", PASSWORD)
    assert store.accounts.signed_in(session.token) == store.accounts.person("AJC")
    store.accounts.sign_out(session.token)
    store.accounts.sign_out(session.token)
    assert store.accounts.signed_in(session.token) is None
    assert store.accounts.signed_in("guess") is None


def test_a_session_ends_after_a_day_without_use(store, clock):
    session = store.accounts.sign_in("AJC", PASSWORD)
    clock.turn(days=0.9)
    assert store.accounts.signed_in(session.token) is not None
    clock.turn(days=0.9)
    assert store.accounts.signed_in(session.token) is not None
    clock.turn(days=1.1)
    assert store.accounts.signed_in(session.token) is None


def test_a_session_ends_after_a_week_of_use(store, clock):
    session = store.accounts.sign_in("AJC", PASSWORD)
    for _ in range(13):
        clock.turn(days=0.5)
        assert store.accounts.signed_in(session.token) is not None
    clock.turn(days=0.6)
    assert store.accounts.signed_in(session.token) is None


def test_using_a_session_writes_once_an_hour_at_most(store, clock):
    session = store.accounts.sign_in("AJC", PASSWORD)

    def ends():
        with sqlite3.connect(store.path) as reader:
            return reader.execute("SELECT expires_at FROM sessions").fetchone()

    first = ends()
    for _ in range(5):
        clock.turn(minutes=11)
        store.accounts.signed_in(session.token)
    assert ends() == first
    clock.turn(minutes=11)
    store.accounts.signed_in(session.token)
    assert ends() > first


def test_neither_password_nor_token_is_in_the_file(store):
    token = store.accounts.sign_in("AJC", PASSWORD).token
    store.close()
    held = b"".join(p.read_bytes() for p in store.path.parent.iterdir())
    assert PASSWORD.encode() not in held
    assert token.encode() not in held


@pytest.mark.parametrize(("initials", "password"), [("AJC", "wrong one"), ("ZZZ", PASSWORD), ("RE", "")])
def test_a_refused_sign_in_does_not_reveal_the_reason(store, initials, password):
    with pytest.raises(SignInRefused, match=r"^Initials and password do not match\.$"):
        store.accounts.sign_in(initials, password)


def test_five_wrong_passwords_block_only_their_origin_for_a_while(store, clock):
    for _ in range(5):
        with pytest.raises(SignInRefused, match="do not match"):
            store.accounts.sign_in("AJC", "wrong one", "10.0.0.7")
    with pytest.raises(SignInRefused, match="Too many attempts; wait 15 minutes"):
        store.accounts.sign_in("AJC", PASSWORD, "10.0.0.7")
    assert store.accounts.sign_in("AJC", PASSWORD, "10.0.0.8")
    clock.turn(minutes=16)
    assert store.accounts.sign_in("AJC", PASSWORD, "10.0.0.7")


@pytest.fixture
def tried(store, clock):
    """Count wrong passwords as ``sign_in`` does before it checks them; return how many it would check."""
    with sqlite3.connect(store.path) as db:

        def try_it(initials, origin, times):
            for number in range(times):
                try:
                    count_attempt(helpers(db), initials, origin_of(origin), clock())
                except SignInRefused:
                    return number
            db.commit()
            return times

        yield try_it


def test_one_machine_cannot_try_passwords_of_every_person(store, clock, tried):
    assert sum(tried(f"X{chr(65 + n)}", "10.0.0.7", 4) for n in range(20)) == 30
    assert tried("AJC", "10.0.0.7", 1) == 0
    assert tried("AJC", "10.0.0.8", 1) == 1
    clock.turn(minutes=16)
    assert tried("AJC", "10.0.0.7", 1) == 1


def test_attempts_from_many_machines_are_limited_and_do_not_block_the_usual_one(store, tried):
    store.accounts.sign_in("AJC", PASSWORD, "10.0.0.7")
    assert sum(tried("AJC", f"10.9.{n}.1", 4) for n in range(20)) == 20
    assert tried("AJC", "10.0.0.8", 1) == 0
    assert store.accounts.sign_in("AJC", PASSWORD, "10.0.0.7")


def test_a_machine_with_a_network_of_addresses_is_one_origin(tried):
    assert sum(tried("AJC", f"2001:db8:0:7::{n:x}", 1) for n in range(9)) == 5
    assert tried("AJC", "2001:db8:0:8::1", 1) == 1
    assert origin_of("::ffff:10.0.0.7") == origin_of("10.0.0.7")


def test_a_common_or_personal_password_is_refused():
    message = r"^This password is (too common|the person's name or initials)\. Choose another\.$"
    for password in ("Password1!", "12345678", "aaaaaaaa", "ababababab", "Annie Jump Cannon1", "AJCAJC12"):
        with pytest.raises(PersonError, match=message):
            checked_password(password, "AJC", "Annie Jump Cannon")


@pytest.mark.parametrize("length", [7, 201])
def test_a_password_of_few_or_many_characters_is_refused(store, length):
    with pytest.raises(PersonError, match=f"found {length} characters, expected 8 to 200"):
        store.accounts.set_password("AJC", "AJC", ("Balmer " * 30)[:length])


def test_the_last_coordinator_with_a_password_cannot_be_removed(store):
    store.accounts.set_password("CO", "CO", "Pickering's harem")
    store.accounts.add_person("NP", "No Password", ["coordinator"], by="CO")
    for act in (
        lambda: store.accounts.deactivate("CO", "CO"),
        lambda: store.accounts.set_roles("CO", "CO", ["reviewer"]),
    ):
        with pytest.raises(NotAllowed, match="set a password for NP first"):
            act()
    store.accounts.set_password("CO", "NP", "a first secret")
    store.accounts.deactivate("NP", "CO")


def test_a_right_password_resets_the_count_of_wrong_ones(store):
    for password in ("wrong one", "wrong two", "wrong six", "wrong ten", PASSWORD) * 2:
        if password == PASSWORD:
            assert store.accounts.sign_in("AJC", password)
        else:
            with pytest.raises(SignInRefused, match="do not match"):
                store.accounts.sign_in("AJC", password)


def test_a_new_password_or_deactivation_ends_every_session(store):
    session = store.accounts.sign_in("AJC", PASSWORD)
    store.accounts.set_password("AJC", "AJC", "Pickering's harem")
    assert store.accounts.signed_in(session.token) is None
    session = store.accounts.sign_in("AJC", "Pickering's harem")
    store.accounts.deactivate("CO", "AJC")
    assert store.accounts.signed_in(session.token) is None
    with pytest.raises(SignInRefused):
        store.accounts.sign_in("AJC", "Pickering's harem")
    store.accounts.reactivate("CO", "AJC")
    assert store.accounts.sign_in("AJC", "Pickering's harem")


def test_the_last_coordinator_cannot_be_removed(store):
    with pytest.raises(NotAllowed, match="make another person coordinator first"):
        store.accounts.deactivate("CO", "CO")
    with pytest.raises(NotAllowed, match="make another person coordinator first"):
        store.accounts.set_roles("CO", "CO", ["reviewer"])
    store.accounts.set_roles("CO", "AJC", ["coordinator"])
    store.accounts.deactivate("AJC", "CO")
    assert not store.accounts.person("CO").active


def test_initials_are_unique(store):
    store.accounts.deactivate("CO", "RE")
    with pytest.raises(PersonError, match="RE is taken"):
        store.accounts.add_person("re", "Another One", ["reviewer"])
    with pytest.raises(NotFound, match="nobody with the initials 'ZZ'"):
        store.accounts.person("ZZ")


def test_a_person_works_alone_only_while_no_password_is_set(tmp_path, store):
    with Store.open(tmp_path / "alone.db") as alone:
        me = alone.accounts.work_alone("me")
        assert (me.initials, me.roles) == ("ME", frozenset({"reviewer", "auditor", "coordinator"}))
        assert alone.accounts.work_alone("ME") == me
        assert [p.initials for p in alone.accounts.people()] == ["ME"]
    with pytest.raises(NotAllowed, match="sign in with initials and password"):
        store.accounts.work_alone("ME")


def test_new_rules_apply_to_open_rounds_at_once(store):
    desk, item_id = Desk(store), an_item(store)
    desk.until(item_id, *TO_AUDIT, ("AU", "pass"))
    store.settings.set_rules("CO", Rules(auditors=1, votes=3))
    assert store.settings.rules() == Rules(auditors=1, votes=3)
    assert store.items.get(item_id).row.state == "vote"
    assert store.items.get(item_id).row.needed == 3
    store.settings.set_rules("CO", Rules(auditors=3))
    assert store.items.standing(item_id).progress == "audit 1 of 3"
    assert store.upkeep.verify() == []


def test_a_round_that_new_rules_closed_opens_again_under_other_rules(store):
    desk, by_rules, by_votes = Desk(store), an_item(store, 1), an_item(store, 2)
    store.settings.set_rules("CO", Rules(votes=3))
    desk.until(by_rules, *TO_VOTE, ("VO", "reject"))
    store.settings.set_rules("CO", Rules(reject_at=1))
    desk.until(by_votes, *TO_VOTE, ("VO", "reject"))
    assert [store.items.get(item).row.state for item in (by_rules, by_votes)] == ["rejected", "rejected"]
    store.settings.set_rules("CO", Rules(votes=3))
    assert store.items.standing(by_rules).progress == "vote 1 of 3"
    assert store.items.standing(by_votes).state == "rejected"
    assert [store.items.get(item).row.state for item in (by_rules, by_votes)] == ["vote", "rejected"]
    assert store.upkeep.verify() == []


def test_an_audit_that_new_rules_closed_opens_again_under_other_rules(store):
    desk, item = Desk(store), an_item(store)
    desk.until(item, *TO_AUDIT, ("AU", "reject"))
    store.settings.set_rules("CO", Rules(auditors=1))
    assert store.items.get(item).row.state == "rejected"
    store.settings.set_rules("CO", Rules())
    assert store.items.standing(item).progress == "audit 1 of 2"
    assert store.upkeep.verify() == []


def test_settings_are_appended_and_the_latest_is_valid(store):
    assert store.settings.get("my verdict first", default=False) is False
    store.settings.set("CO", "my verdict first", True)
    store.settings.set("CO", "my verdict first", {"tasks": ["cv"]})
    assert store.settings.get("my verdict first") == {"tasks": ["cv"]}
    reader = sqlite3.connect(store.path)
    kept = reader.execute("SELECT count(*) FROM settings WHERE name = 'my verdict first'").fetchone()
    reader.close()
    assert kept == (2,)
    with pytest.raises(ValueError, match="set_rules"):
        store.settings.set("CO", "rules", {})


def test_exports_are_recorded_with_their_manifest(store):
    manifest = {"counts": {"items": 2}, "rules": {"solo": False}, "files": {"train.jsonl": "sha256:1"}, "items": [1, 2]}
    made = store.settings.record_export("CO", "november", manifest)
    assert store.settings.export(made.id) == made
    assert made.manifest == manifest
    with pytest.raises(NotFound):
        store.settings.export(made.id + 1)


def test_the_list_of_exports_has_no_long_lists_and_reads_each_manifest_once(store, monkeypatch):
    manifest = {"counts": {"items": 2}, "rules": {"solo": False}, "files": {"train.jsonl": "sha256:1"}, "items": [1, 2]}
    first = store.settings.record_export("CO", "november", manifest)
    short = [replace(first, manifest={"counts": {"items": 2}, "rules": {"solo": False}})]
    assert store.settings.exports() == short
    read = []
    monkeypatch.setattr("reviewer.store.settings._export_from", lambda row: read.append(row["id"]))
    assert store.settings.exports() == short
    assert read == []
    store.settings.record_export("CO", "december", manifest)
    store.settings.exports()
    assert read == [first.id + 1]


def test_a_coordinator_changes_the_name_of_a_person(store):
    assert store.accounts.change("CO", "RE", "  Rosa   Eder ").name == "Rosa Eder"
    assert store.log.entries()[-1].what == "name changed"
    assert store.upkeep.verify() == []


def test_a_generated_password_is_strong_and_can_be_used():
    made = {generated_password() for _ in range(50)}
    assert len(made) == 50
    assert all(checked_password(password, "RE", "Rosa Eder") == password for password in made)
    assert all(len(password) == 19 for password in made)
