"""Answers about items that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from agent.trajectory.steps import Verdict
from reviewer.rules.workflow import State
from reviewer.similar.grouping import Stage
from reviewer.web.models import Answer
from reviewer.web.models.queue import ListedRow

_COMPLETE = "false: items are still being indexed"


class SimilarRow(ListedRow):
    """A row of the queue with its likeness, from 0 to 1, to an item."""

    similarity: float


class SimilarItems(Answer):
    """The items that are most like one; ``indexed`` of ``items`` were compared."""

    rows: list[SimilarRow]
    indexed: int
    items: int
    complete: bool = Field(description=_COMPLETE)
    note: str = Field(description="why there are none; empty where there are")


class ApprovedItem(Answer):
    """An approved item, and how far its spectrum is from the one that is open."""

    id: int
    name: str
    task: str
    verdict: Verdict | None
    state: State
    simulated: bool
    distance: float
    spectrum: str | None


class SimilarApproved(Answer):
    """The approved items whose spectra are most like one, of ``compared``."""

    items: list[ApprovedItem]
    compared: int
    note: str


class RankedRow(ListedRow):
    """A row of the queue with its probability to be of the kind of the examples."""

    score: float


class CommonFact(Answer):
    """A fact that the examples have in common, in words; ``weight`` in log odds."""

    text: str
    weight: float


class RankedItems(Answer):
    """Items by how much they are like the examples; ``indexed`` of ``items`` were ranked."""

    rows: list[RankedRow]
    few: bool = Field(description="too few examples to show a kind; scores are likeness of text and spectrum")
    cut: int = Field(
        description="number of items above which ``purity`` of them are expected to be of the kind; 0: none can be "
        "suggested"
    )
    purity: float
    ids: list[int] = Field(description="the items above the cut")
    reasons: list[CommonFact]
    used: int = Field(description="number of examples that are indexed")
    indexed: int
    items: int
    complete: bool = Field(description=_COMPLETE)


class GroupName(Answer):
    """A group of alike items, and what defines it."""

    number: int
    facts: list[str] = Field(description="sentences")
    words: tuple[str, ...]


class ItemGroup(GroupName):
    """A group with its size, the number of items by state, and its most typical items."""

    size: int
    states: Mapping[State, int]
    typical: list[ListedRow]


class GroupMembers(GroupName):
    """A group with the numbers of all its items."""

    items: list[int]


class ItemGroups(Answer):
    """How far a grouping is, from 0 to 1, and its groups, the largest first."""

    state: Stage | Literal["none"]
    progress: float
    items: int = Field(description="number of items that are grouped")
    missing: int = Field(description="number of items that are not indexed yet")
    groups: list[ItemGroup]
