"""States, verbs, roles and reasons of the rounds; a campaign's rules; the facts of an item's history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from agent import tasks, templates
from agent.errors import Refusal
from agent.language import deferred, tr
from agent.tasks import Task, TaskError
from reviewer.rules.people import Role

Round = Literal["screening", "revision", "audit", "vote", "adjudication"]
State = Literal[
    "screening",
    "revision",
    "returned",
    "audit",
    "vote",
    "adjudication",
    "approved",
    "rejected",
    "cannot tell",
    "withdrawn",
]
Verb = Literal["keep", "reject", "submit", "pass", "return", "approve", "abstain", "undo", "withdraw", "restore"]
Action = Verb | Literal["edit"]

ROUNDS: tuple[Round, ...] = get_args(Round)
STATES: tuple[State, ...] = get_args(State)
CLOSED: tuple[State, ...] = ("approved", "rejected", "cannot tell", "withdrawn")
"""The states in which no round is open."""

VERBS: dict[Round, tuple[Verb, ...]] = {
    "screening": ("keep", "reject"),
    "revision": ("submit", "reject"),
    "audit": ("pass", "return", "reject"),
    "vote": ("approve", "reject", "abstain"),
    "adjudication": ("approve", "reject", "return"),
}
"""The decisions of each round. Editing is not a decision: it creates a version, in revision only."""

WITHDRAWALS: tuple[Verb, ...] = ("withdraw", "restore")
"""A coordinator takes an item back that nobody has worked on, and brings it back. They judge nothing: no figure of
people's work counts them."""

ROLES_OF: dict[Round, tuple[Role, ...]] = {
    "screening": ("reviewer", "coordinator"),
    "revision": ("reviewer", "coordinator"),
    "audit": ("auditor", "coordinator"),
    "vote": ("reviewer", "auditor", "coordinator"),
    "adjudication": ("auditor", "coordinator"),
}

REASONS: dict[str, str] = {
    "wrong_class": deferred("Wrong class"),
    "bad_data": deferred("Bad data"),
    "hallucinated": deferred("Hallucinated features"),
    "wrong_frame": deferred("Wrong frame or wavelength"),
    "not_enough_evidence": deferred("Not enough evidence"),
    "duplicate": deferred("Duplicate"),
    "other": deferred("Other"),
    "cannot_tell": deferred("Cannot tell from these data"),
}
"""Reasons of a rejection: the stored code and the label. "other" needs a comment."""

CANNOT_TELL = "cannot_tell"
"""The reason that is a verdict of its own: the data allow neither YES nor NO."""


class RulesError(Refusal, ValueError):
    """Rules under which an item could never be decided, or could be both approved and rejected."""


@dataclass(frozen=True)
class Rules:
    """Numbers of people who decide.

    ``approve_at + reject_at`` must exceed ``votes``: otherwise the order of the votes could decide. With
    ``solo`` one person may do every round of an item; one audit and one vote are enough, whatever the other
    numbers are.
    """

    auditors: int = 2
    votes: int = 2
    approve_at: int = 2
    reject_at: int = 2
    solo: bool = False

    def __post_init__(self) -> None:
        if self.solo:
            for number in ("auditors", "votes", "approve_at", "reject_at"):
                object.__setattr__(self, number, 1)
        for number in ("auditors", "votes", "approve_at", "reject_at"):
            if getattr(self, number) < 1:
                raise RulesError(
                    tr("{name}: found {number}, expected 1 or more", name=number, number=getattr(self, number))
                )
        for name in ("approve_at", "reject_at"):
            if getattr(self, name) > self.votes:
                raise RulesError(tr("{name} cannot exceed the number of votes ({votes}).", name=name, votes=self.votes))
        if self.approve_at + self.reject_at <= self.votes:
            raise RulesError(
                tr(
                    "approve_at {approve} + reject_at {reject}: expected more than {votes}, or {votes} votes could "
                    "both approve and reject",
                    approve=self.approve_at,
                    reject=self.reject_at,
                    votes=self.votes,
                )
            )

    def people_needed(self, state: State) -> int:
        """Return how many decisions the round needs in all; 0 once decided."""
        if state in CLOSED:
            return 0
        return {"audit": self.auditors, "vote": self.votes}.get(state, 1)


@dataclass(frozen=True)
class VersionMade:
    """A version of an item was created. ``author`` is None if a machine or an import wrote it.

    :param before_import: initials of the people here who wrote an imported text
    """

    id: int
    number: int
    author: str | None
    before_import: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    """A decision of one person on one version.

    :param withdraws: id of the decision that an ``undo`` withdraws
    :param rules: the rules in force when it was made; a round closed under them stays closed
    """

    id: int
    version_id: int
    person: str
    round: Round
    verb: Verb
    reason: str = ""
    comment: str = ""
    withdraws: int | None = None
    rules: Rules | None = None


Fact = VersionMade | Decision


def known_tasks(db: Path) -> tuple[dict[str, Task], tuple[TaskError, ...]]:
    """Return the usable tasks of the program and of the campaign of ``db``, and the errors of the others."""
    folder = db.resolve().parent / "tasks"
    return tasks.load_all([folder] if folder.is_dir() else [])


def known_templates(db: Path) -> tuple[templates.Library, tuple[templates.TemplateError, ...]]:
    """Return the templates of the program and of the campaign of ``db``, and the errors of the other files."""
    folder = db.resolve().parent / "templates"
    return templates.load_all([folder] if folder.is_dir() else [])
