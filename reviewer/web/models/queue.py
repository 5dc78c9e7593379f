"""The person who works, the queue, its filters, and the place of an item in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from agent.trajectory.steps import DrafterKind
from reviewer.rules.workflow import State
from reviewer.web.models import Answer, Message, optional


class TaskText(Answer):
    """A task in words."""

    title: str
    question: str
    guide: str


class Rules(Answer):
    """How many people decide; ``solo``: one person may do every round."""

    auditors: int
    votes: int
    approve_at: int
    reject_at: int
    solo: bool


class Scales(Answer):
    """The values of an inspection, with their meaning."""

    qualities: Mapping[int, Message]
    issues: Mapping[str, Message]
    spectypes: tuple[str, ...]


class Person(Answer):
    """Who sent the request, the rules in force, and words that the page needs."""

    initials: str
    name: str
    roles: list[str]
    has_password: bool
    rules: Rules
    version: str
    reasons: Mapping[str, Message]
    scales: Scales
    problems: tuple[str, ...] = Field(description="task files that were left out")
    backups: str = Field(description="what is wrong with the backups, for coordinators; empty: nothing")
    demo: int = Field(description="spectra of the demo, if there are no others; else 0")
    clock: str = Field(description="a warning that the server's clock was set back; empty: it was not")
    tasks: dict[str, TaskText]


class Drafter(Answer):
    """What wrote a draft; ``withheld`` until the person has given a verdict."""

    kind: DrafterKind | Literal["withheld"]
    name: str


class QueueRow(Answer):
    """A row of the queue: ``cast`` of the ``needed`` decisions of the present round are made."""

    id: int
    name: str
    task: str
    survey: str
    snr: float | None
    drafter: Drafter
    batch: str
    simulated: bool
    spectrum: str | None = Field(description="its hash, or its alias while the answer is hidden")
    state: State
    version: int
    cast: int
    needed: int
    disagreement: bool
    held_by: tuple[str, ...]
    hidden: bool | None = optional("present and true while name, batch and drafter are hidden from the person")


class ListedRow(QueueRow):
    """A row of a list, with what people do together on the item."""

    assigned: tuple[str, ...]
    comments: int = Field(description="number of comments, those counted that the person may not see yet")
    unread: bool
    blind: bool = Field(description="the person scores it in a blind session, so the rest is left out")


class QueuePage(Answer):
    """Rows of the queue; ``stamp`` grows with every change of an item."""

    rows: list[ListedRow]
    total: int
    stamp: int


class QueueStamp(Answer):
    """A number that grows with every change of an item, and what waits for the person."""

    stamp: int
    waiting: int = Field(description="items on which the person may decide, as the queue counts them")
    sessions: int = Field(description="blind sessions in which the person has something to score")


class Facets(Answer):
    """The values by which the queue can be filtered."""

    task: tuple[str, ...]
    survey: tuple[str, ...]
    drafter: tuple[str, ...]
    batch: tuple[str, ...]
    state: tuple[State, ...]
    trial: tuple[str, ...]
    order: list[str]
    assigned: list[str]
    names: dict[str, str] = Field(description="names of people by initials, also of those who have left")


class NextItem(Answer):
    """The next item that waits; ``from_start``: the search began again at the first."""

    id: int | None
    from_start: bool


class NextByValue(Answer):
    """The next item by value of information; ``id`` null: none with P(YES) waits."""

    id: int | None
    arm: str | None
    probability: float | None


class Place(Answer):
    """The items around one: the next and the previous, nearest first, and how many come before it."""

    next: list[int]
    back: list[int]
    before: int
