"""Values of ``store.trust``: scored cases, votes, showings of the ordered queue, trials. Times are aware, in UTC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from agent.trajectory import DrafterKind, Verdict
from reviewer.rules.workflow import State

Arm = Literal["random", "value"]


@dataclass(frozen=True)
class StoredCase:
    """An item with its P(YES), its decision, and the choice that led to the decision.

    :param label: the class that was known beforehand
    :param approved: verdict of the approved version; None if the item is not approved
    :param decided_at: when the item was approved or rejected; None while it is open
    :param p_yes: None if the item has no score; then ``model``, ``features`` and ``scored_at`` are None too
    :param model: SHA-256 of the score model
    :param features: JSON form of ``agent.trust.features.Features``
    :param reasons: why no certificate covers the item
    :param plan: JSON form of the plan of the showing that led to the first decision on the item
        (``reviewer.store.credit``), with ``filter``, the list from which was chosen; None if there was none, or open
    :param probability: the probability of that showing; None where ``plan`` is
    """

    item: int
    spectrum_sha256: str | None
    drafter_kind: DrafterKind
    drafter_name: str
    survey: str
    snr: float | None
    simulated: bool
    batch: str
    state: State
    label: Verdict | None
    approved: Verdict | None
    decided_at: datetime | None
    p_yes: float | None
    model: str | None
    features: Mapping[str, Any] | None
    reasons: tuple[str, ...]
    plan: Mapping[str, Any] | None
    probability: float | None
    scored_at: datetime | None = None


@dataclass(frozen=True)
class Drafts:
    """The items of one drafter for one task that are not withdrawn, and how many of them have a P(YES)."""

    kind: DrafterKind
    name: str
    items: int
    scored: int


@dataclass(frozen=True)
class Vote:
    """The verdict of one person on the object of one item, from a decision in force or given as their own verdict."""

    item: int
    spectrum_sha256: str | None
    person: str
    verdict: Verdict
    at: datetime
    kind: Literal["decision", "own verdict"]


@dataclass(frozen=True)
class ScoreRow:
    """P(YES) of one item to be recorded; ``features`` is the JSON form of ``agent.trust.features.Features``."""

    item: int
    p_yes: float
    features: Mapping[str, Any]
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scored:
    """A score model of a task: its SHA-256, JSON form and time, and how many items of the task have a score.

    :param items: without withdrawn ones; items with a score of any model from ``scored``, of this one from
        ``score_models``
    """

    sha256: str
    model: Mapping[str, Any]
    at: datetime
    items: int


@dataclass(frozen=True)
class Showing:
    """One item given to one person by the ordered queue.

    :param arm: chosen at random from the whole list, or by value of information
    :param probability: with which this item was chosen from the list, by either arm
    :param plan: JSON form of ``agent.trust.plans.Plan``
    """

    id: int
    item: int
    person: str
    arm: Arm
    probability: float
    plan: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True)
class TrialRow:
    """A trial to be recorded.

    :param content_hash: of the trajectory that was tried
    :param passed: None if nothing could be tested
    :param result: JSON form of ``agent.trial.report.Trial``
    :param item: the item; None: every item that has a version with this content hash
    """

    content_hash: str
    passed: bool | None
    result: Mapping[str, Any]
    item: int | None = None


@dataclass(frozen=True)
class TrialsAdded:
    """Numbers of trials that were added and that were there already; content hashes that no item has."""

    added: int
    known: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class StoredTrial:
    """A recorded trial of a version of an item."""

    id: int
    item: int
    version: int
    passed: bool | None
    result: Mapping[str, Any]
    at: datetime
