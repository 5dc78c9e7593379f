"""Answers of the Progress tab's charts. An undefined fraction is null; a sentence beside it says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from agent.language import localized
from reviewer.rules.workflow import Round, State
from reviewer.web.models import Answer, Message, Time


class TimeSpent(Answer):
    """Number of decisions with a known time, and the median of their active seconds."""

    decisions: int
    median_seconds: float


class DisagreementShare(Answer):
    """Items on whose current version two people decided differently, among those on which two decided."""

    disagreed: int
    compared: int
    fraction: float | None


class DecidedItems(Answer):
    """Decided items by outcome; ``fraction`` is approved / (approved + rejected)."""

    approved: int
    rejected: int
    cannot_tell: int
    fraction: float | None


class OwnWork(Answer):
    """What the person did, and what waits for them, in the filter."""

    today: int = Field(description="decisions of the present UTC day")
    rounds: Mapping[Round, int] = Field(description="all their decisions in force")
    waiting: Mapping[State, int]


class Pace(Answer):
    """When the campaign will be done at the pace of the last days; null: too few decisions to say."""

    missing: int = Field(description="decisions that the open items need if each passes every round at once")
    per_day: float | None
    days: int | None = Field(description="until all of them are made")
    over: int = Field(description="the days, today included, whose decisions give the pace")


class ProgressFigures(Answer):
    """The numbers of the Progress tab; days are UTC dates."""

    mine: OwnWork
    pace: Pace
    by_task: Mapping[str, Mapping[State, int]]
    by_person: Mapping[str, Mapping[Round, int]]
    time_meaning: Message
    versions_by: Mapping[str, int]
    time_by_person: Mapping[str, Mapping[Round, TimeSpent]]
    assigned: Mapping[str, Mapping[State, int]]
    disagreement: DisagreementShare
    yielded: DecidedItems
    per_day: Mapping[str, Mapping[Round, int]]
    decided_per_day: Mapping[str, DecidedItems]
    tasks: dict[str, str]
    batches: tuple[str, ...]
    at: Time


class Estimate(Answer):
    """A statistic with its interval, or the reason why it has none; ``text`` is the form to show."""

    value: float | None
    low: float | None
    high: float | None
    n: int = Field(description="number of ``n_of`` in the calculation")
    n_of: Message
    definition: Message
    reason: Message
    detail: Annotated[dict[str, Any], BeforeValidator(localized)]
    text: Message


class RoundAgreement(Answer):
    """How well people agree in a round; ``task`` null: over all tasks."""

    round: Round
    task: str | None
    title: Message
    raw: Estimate
    alpha: Estimate


class GoldAgreement(Answer):
    """How often a person's own verdicts agree with known labels."""

    person: str
    right: Estimate
    cannot_tell: int


class ApartItem(Answer):
    """An item on which people decided differently; ``decisions``: number of them by round and verb."""

    id: int
    name: str
    title: str
    state: State
    decisions: dict[Round, dict[str, int]]


class ApartItems(Answer):
    """The number of items on which people decided differently, and the latest of them."""

    total: int
    items: list[ApartItem]


class InspectionResult(Answer):
    """What one person found in a spectrum."""

    person: str
    z: float | None
    quality: int | None
    type: str = Field(validation_alias="spectype")


class InspectionConflict(Answer):
    """An item that people inspected with different results."""

    id: int
    name: str
    title: str
    conflict: tuple[str, ...]
    inspections: list[InspectionResult]


class InspectionConflicts(Answer):
    """The number of such items, and the latest of them; ``of_last``: only so many items were compared."""

    total: int
    of_last: int | None
    items: list[InspectionConflict]


class Agreement(Answer):
    """How well people agree, and the items on which they do not."""

    rounds: list[RoundAgreement]
    rounds_of_last: int | None
    gold: list[GoldAgreement]
    gold_items: int
    gold_meaning: Message
    disagreements: ApartItems
    conflicts: InspectionConflicts
