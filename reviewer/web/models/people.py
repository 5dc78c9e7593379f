"""Answers of the People tab: people, the rules of the campaign, and the batches judged verdict first."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from reviewer.rules.people import Role
from reviewer.web.models import Answer, Message
from reviewer.web.models.queue import Rules


class PersonListed(Answer):
    """A person with their account, and the number of their decisions in force."""

    initials: str
    name: str
    roles: tuple[Role, ...]
    active: bool
    has_password: bool
    login: str = Field(description="sign-in name at the proxy, for coordinators; empty: none")
    decisions: int


class RulesInWords(Rules):
    """Rules, and what they mean in a sentence."""

    words: Message


class People(Answer):
    """Everyone, by initials, what each role may do, and the rules in force."""

    people: list[PersonListed]
    roles: Mapping[Role, str]
    rules: RulesInWords
    shortest_password: int
    notice: str = Field(description="what the person should do or know first; empty: nothing")
    to_do: bool = Field(description="the notice asks a coordinator to do something")
    team: str = Field(description="the rules that adding a person can set; empty: it is a team already")


class Changed(Answer):
    """What was changed, for the person who did it."""

    text: Message


class GeneratedPassword(Answer):
    """A new password; nobody has it yet."""

    password: str


class VerdictFirstBatches(Answer):
    """All batches, and those in which everyone gives a verdict before they see the answer."""

    batches: list[str]
    chosen: list[str]
