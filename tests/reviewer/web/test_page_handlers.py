"""What stands between the page's events and the store: who may, and how a refusal is told."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.rules.campaign import Rules, RulesError
from reviewer.store import NotAllowed, Store
from reviewer.ui import exports, widgets
from reviewer.ui.people import role_in_words
from reviewer.ui.rules import in_words
from reviewer.web import auth


@pytest.fixture
def store(tmp_path) -> Iterator[Store]:
    store = Store.open(tmp_path / "annotations.db")
    store.add_person("CO", "Cora", ["coordinator"], "correct horse")
    store.add_person("RE", "Rosa", ["reviewer"], "battery staple")
    yield store
    store.close()


def from_browser(cookie: str = "") -> Any:
    return SimpleNamespace(cookies={auth.COOKIE: cookie}, headers={"host": "127.0.0.1:7860"})


def signed_in(store: Store, initials: str, password: str) -> Any:
    return from_browser(store.sign_in(initials, password).token)


def test_an_event_without_a_session_is_refused(store: Store) -> None:
    for cookie in ("", "alone:CO", "made up"):
        with pytest.raises(NotAllowed, match="signed out"):
            widgets.asking(from_browser(cookie), store, True)


def test_an_event_of_somebody_without_the_role_is_refused_by_name(store: Store) -> None:
    rosa = signed_in(store, "RE", "battery staple")
    assert widgets.asking(rosa, store, True).initials == "RE"
    with pytest.raises(NotAllowed, match=r"for coordinator; RE is reviewer\."):
        widgets.asking(rosa, store, True, "coordinator")


def test_what_comes_in_and_goes_out_is_a_coordinators_unless_one_works_alone(store: Store) -> None:
    rosa, cora = signed_in(store, "RE", "battery staple"), signed_in(store, "CO", "correct horse")
    assert widgets.in_charge(cora, store, True).initials == "CO"
    with pytest.raises(NotAllowed):
        widgets.in_charge(rosa, store, True)
    store.set_rules("CO", Rules(solo=True))
    assert widgets.in_charge(rosa, store, True).initials == "RE"


def test_a_refusal_is_told_in_its_own_words_and_as_text(store: Store) -> None:
    said: Any = object()

    @widgets.spoken(said)
    def handler() -> widgets.Changes:
        raise NotAllowed("Only <b>they</b> may.")

    assert "Only &lt;b&gt;they&lt;/b&gt; may." in handler()[said]
    assert 'role="alert"' in handler()[said]


def test_what_a_long_handler_had_done_before_it_failed_stays_on_the_page() -> None:
    said: Any = object()

    @widgets.spoken(said)
    def handler() -> Iterator[widgets.Changes]:
        yield {"table": "one row"}
        raise OSError(28, "No space left on device", "annotations.db")

    first, second = handler()
    assert first == {"table": "one row"}
    assert "No space left on device" in second[said]


def test_a_fault_of_the_program_is_logged_and_told_by_its_number(caplog: pytest.LogCaptureFixture) -> None:
    said: Any = object()

    @widgets.spoken(said)
    def handler() -> widgets.Changes:
        raise ZeroDivisionError("secret detail")

    with caplog.at_level(logging.ERROR, "spec_o3"):
        told = handler()[said]
    assert "secret detail" not in told
    (record,) = caplog.records
    assert record.args is not None
    assert str(record.args[0]) in told


@given(*[st.integers(1, 6)] * 4, st.booleans())
def test_every_rule_that_can_be_set_can_be_said(
    auditors: int, votes: int, approve: int, reject: int, solo: bool
) -> None:
    try:
        rules = Rules(auditors, votes, approve, reject, solo)
    except RulesError:
        return
    words = in_words(rules)
    if solo:
        assert "One person" in words
    else:
        assert f"{rules.approve_at} to approve" in words
        assert f"{rules.reject_at} to reject" in words
        assert ("adjudication" in words) == (votes > 1)


def test_roles_are_explained_by_the_rounds_they_open() -> None:
    assert role_in_words("reviewer") == "screening, revision and vote"
    assert role_in_words("auditor") == "audit, vote and adjudication"


def test_an_export_is_described_with_what_has_to_be_said_about_it() -> None:
    counts = {
        "items": 1,
        "pictures": 1234,
        "simulated": 1,
        "by_one_person": 1,
        "tasks": {"cv": 1},
        "drafters": {"baseline": 1},
    }
    words = exports.in_words({"counts": counts}).split(" · ")
    assert words[:3] == ["1 item", "1\u202f234 pictures", "cv 1"]
    assert words[3:] == ["drafted by baseline 1", "1 simulated", "1 reviewed by one person alone"]
