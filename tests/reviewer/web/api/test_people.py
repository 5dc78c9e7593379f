"""The routes of the People tab: people, passwords, rules, and batches judged verdict first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from reviewer import server
from reviewer.rules.campaign import Rules
from reviewer.store import Store
from reviewer.web.auth import ALONE, COOKIE
from tests.support.campaign import Desk, an_item

HERE = "http://127.0.0.1:7860/api/v1/"
PASSWORD = "Balmer decrement"
Browser = Callable[[str], TestClient]

pytestmark = pytest.mark.usefixtures("without_page")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "annotations.db") as store:
        yield store


@pytest.fixture
def team(store: Store) -> Store:
    for initials, role in (("CO", "coordinator"), ("RE", "reviewer"), ("AU", "auditor")):
        store.accounts.add_person(initials, f"Person {initials}", [role], PASSWORD)
    return store


@pytest.fixture
def browser(store: Store) -> Browser:
    app = server.build(store, local=True)

    def of(initials: str) -> TestClient:
        signs_in = any(person.has_password for person in store.accounts.people())
        cookie = store.accounts.sign_in(initials, PASSWORD).token if signs_in else f"{ALONE}{initials}"
        return TestClient(app, base_url=HERE, cookies={COOKIE: cookie})

    return of


def text(answer: Any) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["text"])


def refused(answer: Any, status: int = 403) -> str:
    assert answer.status_code == status, answer.text
    return str(answer.json()["error"])


def test_everybody_sees_people_and_rules_and_only_coordinators_sign_in_names(team: Store, browser: Browser) -> None:
    team.logins.set("CO", "RE", "rosa@example.org")
    team.accounts.deactivate("CO", "AU")
    Desk(team).until(an_item(team), ("RE", "keep"), ("RE", "submit"))
    for who, login in (("CO", "rosa@example.org"), ("RE", "")):
        answer = browser(who).get("people").json()
        rows = {person["initials"]: person for person in answer["people"]}
        assert (rows["RE"]["login"], rows["RE"]["decisions"], rows["RE"]["roles"]) == (login, 2, ["reviewer"])
        assert (rows["AU"]["active"], rows["AU"]["has_password"], rows["CO"]["decisions"]) == (False, True, 0)
        assert answer["roles"]["reviewer"] == "screening, revision and vote"
        assert answer["rules"] == {**vars(Rules()), "words": answer["rules"]["words"]}
        assert answer["rules"]["words"].startswith("2 people audit each revised item")
        assert answer["notice"].startswith("Only coordinators") == (who == "RE")
        assert answer["team"] == ""


def test_a_team_starts_with_the_own_password_and_gets_its_rules_with_the_second_person(
    store: Store, browser: Browser
) -> None:
    store.accounts.work_alone("AB")
    store.settings.set_rules("AB", Rules(solo=True))
    alone = browser("AB")
    assert alone.get("people").json()["notice"].startswith("You work here without a password.")
    new = {"initials": "cd", "name": "Cyril Dune", "roles": ["auditor", "reviewer"], "password": PASSWORD, "team": True}
    assert refused(alone.post("people", json=new)).startswith("Set your own password first")
    assert "This is a team now" in text(alone.post("people/AB/password", json={"password": PASSWORD}))
    assert alone.get("people").status_code == 401, "a new password ends every session"
    lead = browser("AB")
    assert lead.get("people").json()["notice"].startswith("You can add the others now.")
    done = text(lead.post("people", json={**new, "team": False}))
    assert done == "CD can sign in now as auditor and reviewer."
    answer = lead.get("people").json()
    assert (answer["to_do"], answer["notice"][:21]) == (True, "The rules still let o")
    done = text(lead.post("people", json={**new, "initials": "EF"}))
    assert done.startswith("EF can sign in now as auditor and reviewer. The rules of a team apply: 2 people audit")
    assert store.settings.rules() == Rules()
    assert store.accounts.sign_in("EF", PASSWORD).person == "EF"
    assert "is taken" in refused(lead.post("people", json=new), 422)


def test_a_coordinator_changes_names_roles_and_sign_in_names(team: Store, browser: Browser) -> None:
    lead = browser("CO")
    account = {"name": " Rosa  Eder ", "roles": ["auditor", "reviewer"]}
    done = text(lead.post("people/RE/account", json=account))
    assert done == "RE is shown as Rosa Eder now. RE is now auditor and reviewer."
    assert text(lead.post("people/RE/account", json=account)) == "RE is now auditor and reviewer."
    assert [entry.what for entry in team.log.entries()][-2:] == ["name changed", "roles changed"]
    # Neither is changed where one of both is refused.
    last = {"name": "Another", "roles": ["auditor"]}
    assert "At least one coordinator" in refused(lead.post("people/CO/account", json=last))
    refused(lead.post("people/RE/account", json={"name": " ", "roles": ["auditor"]}), 422)
    refused(lead.post("people/RE/account", json={"name": "Rosa", "roles": []}), 422)
    kept = {person.initials: (person.name, sorted(person.roles)) for person in team.accounts.people()}
    assert (kept["CO"], kept["RE"]) == (("Person CO", ["coordinator"]), ("Rosa Eder", ["auditor", "reviewer"]))
    done = text(lead.post("people/RE/login", json={"login": "Rosa@Example.org"}))
    assert done == "The proxy signs rosa@example.org in as RE now."
    assert text(lead.post("people/RE/login", json={"login": " "})) == "RE has no sign-in name now."
    assert "is no longer active" in text(lead.post("people/RE/active", json={"active": False}))
    assert text(lead.post("people/RE/active", json={"active": True})) == "RE is active again."
    refused(lead.post("people/ZZ/account", json=account), 404)


def test_everybody_sets_their_own_password_and_coordinators_those_of_others(team: Store, browser: Browser) -> None:
    lead, reviewer = browser("CO"), browser("RE")
    assert "is reviewer" in refused(reviewer.post("people/AU/password", json={"password": "Paschen break"}))
    own = {"password": "Paschen break", "present": PASSWORD}
    assert "8" in refused(reviewer.post("people/RE/password", json=own | {"password": "short"}), 422)
    # A person who finds a page open cannot take the account over.
    for wrong in ({"password": "Paschen break"}, own | {"present": "another password"}):
        assert "The present password does not match" in refused(reviewer.post("people/RE/password", json=wrong))
    assert team.accounts.sign_in("RE", PASSWORD).person == "RE"
    assert "You stay signed in here" in text(reviewer.post("people/RE/password", json=own))
    assert reviewer.get("people").status_code == 401
    made = lead.post("people/password")
    assert made.headers["cache-control"] == "no-store"
    generated = made.json()["password"]
    done = text(lead.post("people/AU/password", json={"password": generated}))
    assert done == "AU has a new password and is signed out everywhere."
    assert team.accounts.sign_in("AU", generated).person == "AU"


def test_rules_are_described_before_they_are_saved_and_refused_in_the_words_of_the_page(
    team: Store, browser: Browser
) -> None:
    lead = browser("CO")
    rules = {"solo": False, "auditors": 1, "votes": 3, "approve_at": 3, "reject_at": 1}
    assert "3 people vote: 3 to approve" in lead.post("rules/preview", json=rules).json()["words"]
    alone = lead.post("rules/preview", json={"solo": True}).json()
    assert (alone["votes"], alone["words"][:10]) == (1, "One person")
    back = lead.post("rules/preview", json={"solo": False}).json()
    assert back["votes"] == Rules().votes, "not the numbers of one person"
    for wrong, message in (
        ({"approve_at": 4}, "“To approve” cannot exceed the number of votes (3)."),
        ({"votes": 0}, "“Votes”: found 0, expected 1 or more"),
        ({"votes": None}, "Votes: found nothing, expected a number"),
    ):
        assert refused(lead.post("rules", json=rules | wrong), 422) == message
        assert refused(lead.post("rules/preview", json=rules | wrong), 422) == message
    refused(lead.post("rules", json=rules | {"votes": 21}), 422)
    assert team.settings.rules() == Rules()
    assert text(lead.post("rules", json=rules)).startswith("Saved.")
    assert team.settings.rules() == Rules(1, 3, 3, 1)


def test_a_coordinator_chooses_the_batches_judged_verdict_first(team: Store, browser: Browser) -> None:
    an_item(team)
    lead = browser("CO")
    before = lead.get("verdict-first").json()
    assert before["chosen"] == []
    assert text(lead.post("verdict-first", json={"batches": ["b", "a", "b"]})).startswith("Saved.")
    for who in ("CO", "RE"):
        answer = browser(who).get("verdict-first").json()
        assert answer == {"batches": sorted({*before["batches"], "a", "b"}), "chosen": ["a", "b"]}


def test_no_token_changes_people_or_rules(team: Store, browser: Browser) -> None:
    _, secret = team.tokens.make("CO", "a script", True, 30)
    script = TestClient(browser("CO").app, base_url=HERE, headers={"Authorization": f"Bearer {secret}"})
    assert script.get("people").status_code == 200
    for path, body in (("people/CO/password", {"password": "Paschen break"}), ("rules", {"solo": True})):
        assert "A token cannot do this" in refused(script.post(path, json=body))
    assert team.settings.rules() == Rules()
    team.accounts.sign_in("CO", PASSWORD)


CHANGES = {
    "people": {"initials": "NN", "name": "N. N.", "roles": ["reviewer"], "password": PASSWORD},
    "people/AU/account": {"name": "Another Name", "roles": ["reviewer"]},
    "people/AU/login": {"login": "augusta@example.org"},
    "people/AU/active": {"active": False},
    "people/AU/password": {"password": "Paschen break"},
    "rules": {"solo": False, "auditors": 1, "votes": 3, "approve_at": 2, "reject_at": 2},
    "verdict-first": {"batches": []},
}


@pytest.mark.parametrize("path", CHANGES)
def test_only_coordinators_change_anything_of_others(team: Store, browser: Browser, path: str) -> None:
    lead, reviewer = browser("CO"), browser("RE")
    before = team.log.head()
    assert TestClient(lead.app, base_url=HERE).post(path, json=CHANGES[path]).status_code == 401
    assert "Only a coordinator can do this; RE is reviewer." in refused(reviewer.post(path, json=CHANGES[path]))
    assert team.log.head() == before
    assert text(lead.post(path, json=CHANGES[path]))
    assert team.log.head() != before
