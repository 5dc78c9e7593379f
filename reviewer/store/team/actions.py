"""Bulk actions: what can be done to many items at once, what it would change, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from agent.language import tr, trn
from reviewer.store.errors import StoreError

BulkKind = Literal["reject", "assign", "unassign", "batch", "undo"]

MOST_ITEMS = 100_000
"""Items of one selection."""
MOST_CHANGED: Mapping[BulkKind, int] = {"reject": 10_000, "batch": 25_000, "assign": 100_000, "unassign": 100_000}
"""Decisions, changes of batch or assignments of one action. They take two to three seconds, and nobody else can save
anything meanwhile."""
FIRST_NAMED = 10
"""Items that are named of those that are left out for one reason."""
LONGEST_BATCH = 200
"""Characters of a batch's name."""


@dataclass(frozen=True)
class Reject:
    """Reject the items in their present rounds.

    :param reason: a code of ``REASONS``
    :param comment: needed for the reason "other"
    """

    reason: str
    comment: str = ""

    @property
    def kind(self) -> BulkKind:
        return "reject"

    def details(self) -> dict[str, Any]:
        return {"reason": self.reason, "comment": self.comment.strip()}

    def logged(self) -> dict[str, Any]:
        return {"reason": self.reason}


@dataclass(frozen=True)
class Assign:
    """Assign items to people (initials), or take that back with ``assigned`` False."""

    people: tuple[str, ...]
    assigned: bool = True

    @property
    def kind(self) -> BulkKind:
        return "assign" if self.assigned else "unassign"

    def details(self) -> dict[str, Any]:
        return {"people": sorted(set(self.people))}

    def logged(self) -> dict[str, Any]:
        # "people" names the people whose rows an entry covers.
        return {"initials": sorted(set(self.people))}


@dataclass(frozen=True)
class SetBatch:
    """Put items into a batch; it need not exist yet."""

    batch: str

    @property
    def kind(self) -> BulkKind:
        return "batch"

    def details(self) -> dict[str, Any]:
        return {"batch": self.batch.strip()}

    def logged(self) -> dict[str, Any]:
        return self.details()


Action = Reject | Assign | SetBatch


@dataclass(frozen=True)
class Change:
    """How many items go from one state, batch or assignment (initials, in order) to another.

    :param after: None for a state that depends on decisions of others that the person may not know yet
    """

    before: str
    after: str | None
    items: int


@dataclass(frozen=True)
class LeftOut:
    """Items that an action leaves out, and why.

    :param first: the first of them; none of those that the person may not see
    """

    why: str
    items: int
    first: tuple[int, ...]


@dataclass(frozen=True)
class Preview:
    """What an action would do.

    :param token: digest of the items that would change and of their standings; it names the preview in ``apply``
    :param items: number of items that would change
    """

    token: str
    items: int
    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class BulkAction:
    """An action that was done, or the undo of one.

    :param details: reason and comment, people, or batch
    :param undoes: the action that this one has undone
    :param undone: the action that has undone this one
    """

    id: int
    kind: BulkKind
    details: Mapping[str, Any]
    items: int
    person: str
    at: datetime
    undoes: int | None = None
    undone: int | None = None


class SelectionChanged(StoreError):
    """The items that would change are no longer those of the preview; nothing was done. ``preview``: the present one"""

    kind = "selection_changed"
    status = 409

    def __init__(self, preview: Preview) -> None:
        super().__init__(tr("The selection has changed since the preview. Nothing was done; check the new preview."))
        self.preview = preview


def built_on(items: Iterable[int], hidden: frozenset[int]) -> str:
    """Return why an action cannot be undone. :param hidden: items that are counted, but not named"""
    ordered = sorted(items)
    named = ", ".join(map(str, [item for item in ordered if item not in hidden][:FIRST_NAMED]))
    if not named:
        return trn(
            "{n} item was changed after this action, so nothing was undone.",
            "{n} items were changed after this action, so nothing was undone.",
            len(ordered),
        )
    return trn(
        "{n} item was changed after this action, so nothing was undone: item {items}.",
        "{n} items were changed after this action, so nothing was undone. The first are {items}.",
        len(ordered),
        items=named,
    )
