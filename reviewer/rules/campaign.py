"""The words of the rounds (states, verbs, roles, reasons), a campaign's rules, and the facts of a history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from agent import tasks
from agent.tasks import Task, TaskError
from agent.text import OneLine
from reviewer.rules.people import Role

Round = Literal["screening", "revision", "audit", "vote", "adjudication"]
State = Literal["screening", "revision", "returned", "audit", "vote", "adjudication", "approved", "rejected"]
Verb = Literal["keep", "reject", "submit", "pass", "return", "approve", "abstain", "undo"]
Action = Literal["keep", "reject", "submit", "pass", "return", "approve", "abstain", "undo", "edit"]

ROUNDS: tuple[Round, ...] = get_args(Round)
STATES: tuple[State, ...] = get_args(State)

VERBS: dict[Round, tuple[Verb, ...]] = {
    "screening": ("keep", "reject"),
    "revision": ("submit", "reject"),
    "audit": ("pass", "return", "reject"),
    "vote": ("approve", "reject", "abstain"),
    "adjudication": ("approve", "reject", "return"),
}
"""What may be decided in each round. Editing is not a decision: it makes a version, in revision only."""

ROLES_OF: dict[Round, tuple[Role, ...]] = {
    "screening": ("reviewer", "coordinator"),
    "revision": ("reviewer", "coordinator"),
    "audit": ("auditor", "coordinator"),
    "vote": ("reviewer", "auditor", "coordinator"),
    "adjudication": ("auditor", "coordinator"),
}

REASONS: dict[str, str] = {
    "wrong_class": "Wrong class",
    "bad_data": "Bad data",
    "hallucinated": "Hallucinated features",
    "wrong_frame": "Wrong frame or wavelength",
    "not_enough_evidence": "Not enough evidence",
    "duplicate": "Duplicate",
    "other": "Other",
}
"""Why something is rejected: the code that is kept, and what the page shows. "other" needs a comment."""


class RulesError(OneLine, ValueError):
    """Rules under which an item could never be decided, or be decided two ways."""


@dataclass(frozen=True)
class Rules:
    """How many people it takes.

    ``approve_at + reject_at`` must exceed ``votes``: else the order in which votes arrive could decide. With
    ``solo`` one person may do every round of an item; one audit and one vote are enough, whatever else was
    given.
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
                raise RulesError(f"{number}: found {getattr(self, number)}, wanted 1 or more")
        if max(self.approve_at, self.reject_at) > self.votes:
            raise RulesError(
                f"approve_at {self.approve_at}, reject_at {self.reject_at}: wanted {self.votes} votes at most"
            )
        if self.approve_at + self.reject_at <= self.votes:
            raise RulesError(
                f"approve_at {self.approve_at} + reject_at {self.reject_at}: wanted more than {self.votes}, "
                f"or {self.votes} votes could both approve and reject"
            )

    def wanted(self, state: State) -> int:
        """How many decisions the round takes in all; 0 once decided."""
        if state in ("approved", "rejected"):
            return 0
        return {"audit": self.auditors, "vote": self.votes}.get(state, 1)


@dataclass(frozen=True)
class VersionMade:
    """A version of an item came to be. ``author`` is None where a machine or an import wrote it."""

    id: int
    number: int
    author: str | None


@dataclass(frozen=True)
class Decision:
    """Somebody decided something about one version.

    :param withdraws: id of the decision an ``undo`` takes back
    :param rules: the rules in force when it was made; a round that was closed under them stays closed
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
    """Every usable task file of the program and of the campaign of ``db``; what is wrong with the rest."""
    folder = db.resolve().parent / "tasks"
    return tasks.load_all([folder] if folder.is_dir() else [])
