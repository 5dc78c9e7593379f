"""The rounds as pure rules: what may happen next to an item, who may do it, when it is decided.

``standing(history, rules)`` folds what happened to one item into where it stands; ``refusal`` gives the sentence why
somebody may not do a thing. No clock and no database: the store calls both in the transaction that writes, the page
calls them to show what is possible, the tests call them with thousands of invented histories.

    screening ── keep ──> revision ── submit ──> audit ── all pass ──> vote ──> approved | rejected
                             ^                     │ return              │ undecided
                          returned <───────────────┴──── adjudication <──┘
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, get_args

from reviewer.people import Person, Role

Round = Literal["screening", "revision", "audit", "vote", "adjudication"]
State = Literal["screening", "revision", "returned", "audit", "vote", "adjudication", "approved", "rejected"]
Verb = Literal["keep", "reject", "submit", "pass", "return", "approve", "abstain", "undo"]
Action = Literal["keep", "reject", "submit", "pass", "return", "approve", "abstain", "edit"]

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
"""Why something is rejected: the code kept in the database, and what the page shows. "other" needs a comment."""


class RulesError(ValueError):
    """Rules under which an item could never be decided, or be decided two ways."""


@dataclass(frozen=True)
class Rules:
    """How many people it takes.

    ``approve_at + reject_at`` must exceed ``votes``: else the order in which votes arrive could decide. With ``solo``
    one person may do every round of an item, and one audit and one vote are enough whatever else was given.
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
                f"approve_at {self.approve_at}, reject_at {self.reject_at}: wanted no more than the {self.votes} votes"
            )
        if self.approve_at + self.reject_at <= self.votes:
            raise RulesError(
                f"approve_at {self.approve_at} + reject_at {self.reject_at}: wanted more than the {self.votes} votes, "
                "or the same votes could both approve and reject"
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


@dataclass(frozen=True)
class Standing:
    """Where an item stands.

    :param version_id: the current version, which a decision must name
    :param wanted: decisions the present round takes in all, 0 once decided
    :param cast: those already in, by people, on the current version
    :param decisions: every decision in force on the current version, all rounds, in order
    :param stale: audits and votes on earlier versions: still shown, no longer counted
    :param surplus: decisions that could not count when they came; nothing depends on them
    :param disagreement: two people in one round on the current version pulled in different directions
    :param decided_by: whose decisions approved or rejected it
    :param authors: everybody who wrote a version
    :param last: the latest decision in force, the one its maker may undo; None once a new version by
        somebody else followed it
    """

    state: State
    version_id: int
    version: int
    wanted: int
    cast: tuple[Decision, ...] = ()
    decisions: tuple[Decision, ...] = ()
    stale: tuple[Decision, ...] = ()
    surplus: tuple[Decision, ...] = ()
    disagreement: bool = False
    decided_by: tuple[str, ...] = ()
    authors: frozenset[str] = frozenset()
    last: Decision | None = None

    @property
    def round(self) -> Round | None:
        """The round it is in; None once approved or rejected."""
        return round_of(self.state)

    @property
    def missing(self) -> int:
        """How many decisions the present round still wants."""
        return max(0, self.wanted - len(self.cast))

    @property
    def progress(self) -> str:
        """"audit 1 of 2"; just the state's name where one person decides."""
        return f"{self.state} {len(self.cast)} of {self.wanted}" if self.wanted > 1 else self.state
