"""People in the database: signing in, leaving, and who is in charge. Settings and exports too."""

import sqlite3

import pytest
from campaign import TO_AUDIT, Clock, Desk, an_item, people

from reviewer.people import PersonError
from reviewer.store import NotAllowed, NotFound, SignInRefused, Store
from reviewer.workflow import Rules

PASSWORD = "Balmer decrement"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    with Store.open(tmp_path / "annotations.db", clock=clock) as store:
        people(store)
        store.add_person("ajc", "Annie Jump Cannon", ["reviewer"], PASSWORD, by="CO")
        yield store


def test_a_session_knows_its_person_until_it_is_signed_out(store):
    session = store.sign_in(" ajc ", PASSWORD)
    assert store.signed_in(session.token) == store.person("AJC")
    store.sign_out(session.token)
    store.sign_out(session.token)
    assert store.signed_in(session.token) is None
    assert store.signed_in("guess") is None


def test_a_session_runs_out(store, clock):
    session = store.sign_in("AJC", PASSWORD)
    clock.turn(days=6.9)
    assert store.signed_in(session.token) is not None
    clock.turn(days=0.2)
    assert store.signed_in(session.token) is None


def test_neither_password_nor_token_is_in_the_file(store):
    token = store.sign_in("AJC", PASSWORD).token
    store.close()
    held = b"".join(p.read_bytes() for p in store.path.parent.iterdir())
    assert PASSWORD.encode() not in held
    assert token.encode() not in held


@pytest.mark.parametrize(("initials", "password"), [("AJC", "wrong one"), ("ZZZ", PASSWORD), ("RE", "")])
def test_a_refused_sign_in_does_not_say_what_was_wrong(store, initials, password):
    with pytest.raises(SignInRefused, match=r"^Initials and password do not match\.$"):
        store.sign_in(initials, password)


def test_five_wrong_passwords_close_the_door_for_a_while_for_that_origin_only(store, clock):
    for _ in range(5):
        with pytest.raises(SignInRefused, match="do not match"):
            store.sign_in("AJC", "wrong one", "10.0.0.7")
    with pytest.raises(SignInRefused, match="Too many attempts; wait 15 minutes"):
        store.sign_in("AJC", PASSWORD, "10.0.0.7")
    assert store.sign_in("AJC", PASSWORD, "10.0.0.8")
    clock.turn(minutes=16)
    assert store.sign_in("AJC", PASSWORD, "10.0.0.7")


def test_a_right_password_forgets_the_wrong_ones_before_it(store):
    for password in ("wrong one", "wrong two", "wrong six", "wrong ten", PASSWORD) * 2:
        if password == PASSWORD:
            assert store.sign_in("AJC", password)
        else:
            with pytest.raises(SignInRefused, match="do not match"):
                store.sign_in("AJC", password)


def test_a_new_password_or_leaving_ends_every_session(store):
    session = store.sign_in("AJC", PASSWORD)
    store.set_password("AJC", "AJC", "Pickering's harem")
    assert store.signed_in(session.token) is None
    session = store.sign_in("AJC", "Pickering's harem")
    store.deactivate("CO", "AJC")
    assert store.signed_in(session.token) is None
    with pytest.raises(SignInRefused):
        store.sign_in("AJC", "Pickering's harem")
    store.reactivate("CO", "AJC")
    assert store.sign_in("AJC", "Pickering's harem")


def test_only_a_coordinator_changes_people_and_settings(store):
    for act in (
        lambda: store.add_person("XY", "X Y", ["reviewer"], by="RE"),
        lambda: store.set_roles("RE", "RE", ["coordinator"]),
        lambda: store.set_password("RE", "AJC", "taken over"),
        lambda: store.deactivate("RE", "AJC"),
        lambda: store.reactivate("RE", "AJC"),
        lambda: store.set_rules("RE", Rules(solo=True)),
        lambda: store.set_setting("RE", "blind", True),
    ):
        with pytest.raises(NotAllowed, match="Only a coordinator can do this; RE is not one"):
            act()
    assert store.rules() == Rules()


def test_the_last_coordinator_cannot_go(store):
    with pytest.raises(NotAllowed, match="name another one first"):
        store.deactivate("CO", "CO")
    with pytest.raises(NotAllowed, match="name another one first"):
        store.set_roles("CO", "CO", ["reviewer"])
    store.set_roles("CO", "AJC", ["coordinator"])
    store.deactivate("AJC", "CO")
    assert not store.person("CO").active


def test_initials_are_given_once(store):
    store.deactivate("CO", "RE")
    with pytest.raises(PersonError, match="RE is taken"):
        store.add_person("re", "Another One", ["reviewer"])
    with pytest.raises(NotFound, match="nobody with the initials 'ZZ'"):
        store.person("ZZ")


def test_one_person_works_alone_until_somebody_has_a_password(tmp_path, store):
    with Store.open(tmp_path / "alone.db") as alone:
        me = alone.work_alone("me")
        assert (me.initials, me.roles) == ("ME", frozenset({"reviewer", "auditor", "coordinator"}))
        assert alone.work_alone("ME") == me
        assert [p.initials for p in alone.people()] == ["ME"]
    with pytest.raises(NotAllowed, match="sign in with initials and password"):
        store.work_alone("ME")


def test_new_rules_judge_open_rounds_at_once(store):
    desk, item_id = Desk(store), an_item(store)
    desk.until(item_id, *TO_AUDIT, ("AU", "pass"))
    store.set_rules("CO", Rules(auditors=1, votes=3))
    assert store.rules() == Rules(auditors=1, votes=3)
    assert store.item(item_id).row.state == "vote"
    assert store.item(item_id).row.wanted == 3
    store.set_rules("CO", Rules(auditors=3))
    assert store.standing(item_id).progress == "audit 1 of 3"
    assert store.verify() == []


def test_settings_are_appended_and_the_latest_holds(store):
    assert store.setting("my verdict first", default=False) is False
    store.set_setting("CO", "my verdict first", True)
    store.set_setting("CO", "my verdict first", {"tasks": ["cv"]})
    assert store.setting("my verdict first") == {"tasks": ["cv"]}
    reader = sqlite3.connect(store.path)
    kept = reader.execute("SELECT count(*) FROM settings WHERE name = 'my verdict first'").fetchone()
    reader.close()
    assert kept == (2,)
    with pytest.raises(ValueError, match="set_rules"):
        store.set_setting("CO", "rules", {})


def test_exports_are_remembered_with_their_manifest(store):
    made = store.record_export("CO", "november", {"items": [1, 2], "rules": {"solo": False}})
    assert store.exports() == [made]
    assert made.manifest["items"] == [1, 2]
