"""Routes of the People tab: people and their passwords, the rules of the campaign, and batches judged verdict first.

Changes need a session: no token gives a role or a password.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from agent.language import deferred, joined, tr, trn
from reviewer.rules.campaign import ROLES_OF, ROUNDS, Rules, RulesError
from reviewer.rules.people import (
    LONGEST_PASSWORD,
    ROLES,
    SHORTEST_PASSWORD,
    Person,
    Role,
    generated_password,
)
from reviewer.store import NotAllowed
from reviewer.store.team.logins import LONGEST_LOGIN
from reviewer.web.auth import needs_passwords
from reviewer.web.context import NOT_STORED, ContextDep, PersonDep, SessionDep
from reviewer.web.models import people as answers
from reviewer.web.requests import Sent
from reviewer.web.verdict_first import RULE

router = APIRouter(prefix="/api/v1")

_COUNTS = {
    "auditors": deferred("Audits"),
    "votes": deferred("Votes"),
    "approve_at": deferred("To approve"),
    "reject_at": deferred("To reject"),
}
MOST = 20
"""The largest number in the rules."""
Name = Annotated[str, Field(max_length=100)]
Password = Annotated[str, Field(max_length=LONGEST_PASSWORD)]
Number = Annotated[int | None, Field(le=MOST, strict=True)]


def coordinator(person: SessionDep) -> Person:
    """Return the person who sent the request from a session. :raises NotAllowed: they are no coordinator"""
    if not person.is_any("coordinator"):
        raise NotAllowed(
            tr(
                "Only a {roles} can do this; {person} is {theirs}.",
                roles=tr("coordinator"),
                person=person.initials,
                theirs=_role_names(person),
            )
        )
    return person


CoordinatorDep = Annotated[Person, Depends(coordinator)]


class NewPerson(Sent):
    """A new person. ``team``: set the rules of a team, where one person could do every round."""

    initials: Annotated[str, Field(max_length=20)]
    name: Name
    roles: list[Role]
    password: Password
    team: bool = False


class NameAndRoles(Sent):
    name: Name
    roles: list[Role]


class SignInName(Sent):
    """The name by which a proxy knows a person; empty: none."""

    login: Annotated[str, Field(max_length=LONGEST_LOGIN)]


class Activity(Sent):
    active: bool


class NewPassword(Sent):
    """A new password. ``present``: the one until now, needed to change one's own."""

    password: Password
    present: Password = ""


class RulesSent(Sent):
    """Rules of the campaign. A number that is left out is that of a team; ``solo``: the numbers do not count."""

    solo: bool
    auditors: Number = Rules.auditors
    votes: Number = Rules.votes
    approve_at: Number = Rules.approve_at
    reject_at: Number = Rules.reject_at

    def checked(self) -> Rules:
        """Return the rules. :raises RulesError: a number is missing, or an item could never be decided"""
        numbers = {name: getattr(self, name) for name in _COUNTS}
        missing = next((name for name, number in numbers.items() if number is None), None)
        if missing is not None and not self.solo:
            raise RulesError(tr("{field}: found nothing, expected a number", field=tr(_COUNTS[missing])))
        try:
            return Rules(solo=self.solo, **{name: number or 0 for name, number in numbers.items()})
        except RulesError as error:
            raise RulesError(_in_labels(str(error))) from None


class Batches(Sent):
    batches: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=10_000)]


@router.get("/people")
def people(person: PersonDep, context: ContextDep) -> answers.People:
    """Everyone with their roles and number of decisions, and the rules in force."""
    everyone, rules = context.store.accounts.people(), context.store.settings.rules()
    logins = context.store.logins.of_people() if person.is_any("coordinator") else {}
    decisions = context.store.statistics.counts().by_person
    notice, to_do = _notice(person, everyone, rules)
    offered = Rules()
    team = tr(
        "Set the rules of a team: {audits} audits, {votes} votes, nobody judges their own work",
        audits=offered.auditors,
        votes=offered.votes,
    )
    return answers.People(
        people=[
            answers.PersonListed(
                initials=other.initials,
                name=other.name,
                roles=tuple(role for role in ROLES if role in other.roles),
                active=other.active,
                has_password=other.has_password,
                login=logins.get(other.initials, ""),
                decisions=sum(decisions.get(other.initials, {}).values()),
            )
            for other in everyone
        ],
        roles={role: role_in_words(role) for role in ROLES},
        rules=_shown(rules),
        shortest_password=SHORTEST_PASSWORD,
        notice=notice,
        to_do=to_do,
        team=team if rules.solo else "",
    )


@router.post("/people")
def add_person(person: CoordinatorDep, context: ContextDep, sent: NewPerson) -> answers.Changed:
    """Add a person. Needs a session and a password of one's own."""
    _require_password(person)
    store = context.store
    added = store.accounts.add_person(sent.initials, sent.name, sent.roles, sent.password, by=person.initials)
    text = tr("{initials} can sign in now as {roles}.", initials=added.initials, roles=_role_names(added))
    if sent.team and store.settings.rules().solo:
        store.settings.set_rules(person.initials, Rules())
        text += tr(" The rules of a team apply: {rules}", rules=in_words(Rules()))
    return answers.Changed(text=text)


@router.post("/people/password")
def generate_password(person: CoordinatorDep, response: Response) -> answers.GeneratedPassword:
    """Return a new random password for a person. Needs a session."""
    response.headers.update(NOT_STORED)
    return answers.GeneratedPassword(password=generated_password())


@router.post("/people/{initials}/account")
def change_person(person: CoordinatorDep, context: ContextDep, initials: str, sent: NameAndRoles) -> answers.Changed:
    """Change the name and the roles of a person; their earlier decisions stay. Needs a session."""
    before = context.store.accounts.person(initials)
    changed = context.store.accounts.change(person.initials, initials, sent.name, sent.roles)
    texts = [tr("{initials} is now {roles}.", initials=initials, roles=_role_names(changed))]
    if changed.name != before.name:
        texts.insert(0, tr("{initials} is shown as {name} now.", initials=initials, name=changed.name))
    return answers.Changed(text=joined(texts, " "))


@router.post("/people/{initials}/login")
def set_login(person: CoordinatorDep, context: ContextDep, initials: str, sent: SignInName) -> answers.Changed:
    """Set the name by which the proxy that signs people in knows this person. Needs a session."""
    kept = context.store.logins.set(person.initials, initials, sent.login)
    if not kept:
        return answers.Changed(text=tr("{initials} has no sign-in name now.", initials=initials))
    return answers.Changed(text=tr("The proxy signs {login} in as {initials} now.", login=kept, initials=initials))


@router.post("/people/{initials}/active")
def set_active(person: CoordinatorDep, context: ContextDep, initials: str, sent: Activity) -> answers.Changed:
    """Deactivate an account, or activate it again; everything that the person decided stays. Needs a session."""
    if sent.active:
        context.store.accounts.reactivate(person.initials, initials)
        return answers.Changed(text=tr("{initials} is active again.", initials=initials))
    context.store.accounts.deactivate(person.initials, initials)
    text = tr("{initials} is no longer active. Everything {initials} decided stays and counts.", initials=initials)
    return answers.Changed(text=text)


@router.post("/people/{initials}/password")
def set_password(
    request: Request, person: SessionDep, context: ContextDep, initials: str, sent: NewPassword
) -> answers.Changed:
    """Set one's own password, for which the present one is needed, or as a coordinator that of a person; every
    session of the person ends. Needs a session."""
    if initials != person.initials:
        _require_password(coordinator(person))
    elif person.has_password:
        origin = request.client.host if request.client else ""
        context.store.accounts.prove(initials, sent.present, origin)
    context.store.accounts.set_password(person.initials, initials, sent.password)
    if initials != person.initials:
        text = tr("{initials} has a new password and is signed out everywhere.", initials=initials)
    elif person.has_password:
        text = tr("Your password is set. You stay signed in here, and are signed out everywhere else.")
    else:
        text = tr("Your password is set. This is a team now, you are its coordinator, and everybody signs in.")
    return answers.Changed(text=text)


@router.post("/rules")
def set_rules(person: CoordinatorDep, context: ContextDep, sent: RulesSent) -> answers.Changed:
    """Put other rules in force. They apply to open rounds; rounds closed by their decisions stay closed. Needs a
    session."""
    context.store.settings.set_rules(person.initials, sent.checked())
    text = tr("Saved. The new rules apply to open rounds; rounds closed by their decisions stay closed.")
    return answers.Changed(text=text)


@router.post("/rules/preview")
def preview_rules(person: CoordinatorDep, sent: RulesSent) -> answers.RulesInWords:
    """Return what rules would mean, in a sentence; nothing is changed. Needs a session."""
    return _shown(sent.checked())


@router.get("/verdict-first")
def verdict_first(person: PersonDep, context: ContextDep) -> answers.VerdictFirstBatches:
    """The batches in which everyone gives a verdict before they see the answer, and all that can be chosen."""
    chosen = [str(batch) for batch in context.store.settings.get(RULE, ())]
    batches = sorted({*context.store.queue.facets()["batch"], *chosen})
    return answers.VerdictFirstBatches(batches=batches, chosen=chosen)


@router.post("/verdict-first")
def set_verdict_first(person: CoordinatorDep, context: ContextDep, sent: Batches) -> answers.Changed:
    """Choose the batches in which everyone gives a verdict first; applies at once. Needs a session."""
    context.store.settings.set(person.initials, RULE, sorted(set(sent.batches)))
    return answers.Changed(text=tr("Saved. The rule applies at once."))


def role_in_words(role: Role) -> str:
    """Describe what a role may do, from the rules of the rounds."""
    if role == "coordinator":
        return tr("every round, people, rules, import, export")
    return _and_list([tr(judged) for judged in ROUNDS if role in ROLES_OF[judged]])


def in_words(rules: Rules) -> str:
    """Describe rules in sentences."""
    if rules.solo:
        return tr(
            "One person may screen, revise, audit and vote on the same item; one audit and one vote are enough. Every "
            "export says so."
        )
    audits = trn(
        "1 person audits each revised item, none of them its author.",
        "{n} people audit each revised item, none of them its author.",
        rules.auditors,
    )
    votes = trn(
        "If all pass, 1 person votes: {approve} to approve make it approved, {reject} to reject make it rejected.",
        "If all pass, {n} people vote: {approve} to approve make it approved, {reject} to reject make it rejected.",
        rules.votes,
        approve=rules.approve_at,
        reject=rules.reject_at,
    )
    split = tr("Any other outcome goes to adjudication by someone who has not judged the item yet.")
    return joined([audits, votes, *([split] if rules.votes > 1 else [])], " ")


def _shown(rules: Rules) -> answers.RulesInWords:
    return answers.RulesInWords(**vars(rules), words=in_words(rules))


def _in_labels(text: str) -> str:
    """What is wrong with rules, with the numbers called as they are on the page."""
    for name, label in _COUNTS.items():
        # "votes" and "auditors" are also plain words of the sentence: only the field at its beginning is meant.
        text = (
            text.replace(name, f"“{tr(label)}”") if "_" in name else re.sub(f"^{name}(?=[:：])", f"“{tr(label)}”", text)
        )
    return text


def _require_password(person: Person) -> None:
    if not person.has_password:
        raise NotAllowed(
            tr("Set your own password first: from then on everyone, including you, signs in with a password.")
        )


def _notice(person: Person, everyone: list[Person], rules: Rules) -> tuple[str, bool]:
    """Return what a person should know first, and whether a coordinator should do something."""
    if not needs_passwords(everyone):
        text = tr(
            "You work here without a password. To start a team, set your password: you become its coordinator, and "
            "from then on everyone, including you, signs in with initials and password. Then add the others."
        )
        return text, False
    if not person.is_any("coordinator"):
        return tr("Only coordinators change people and rules. You can change your own password."), False
    if not rules.solo:
        return "", False
    if sum(other.active for other in everyone) > 1:
        text = tr(
            "The rules still let one person do every round of an item. Untick that under Rules to have items judged "
            "by people other than their authors."
        )
        return text, True
    text = tr(
        "You can add the others now. The rules still let one person do every round of an item; adding the second "
        "person sets the rules of a team, unless you untick that."
    )
    return text, False


def _role_names(person: Person) -> str:
    return _and_list([tr(role) for role in sorted(person.roles)])


def _and_list(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = words
    return tr("{words} and {last}", words=tr(", ").join(most), last=last) if most else last
