"""Items that a person may not see outside the Blind tab: those they score in a session that is still open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request

from agent.text import whole_number
from reviewer.rules.people import Person
from reviewer.store import WITHHELD, Item, NotAllowed, QueueFilter, Store
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.payload import row_json

_PAGE = 200
_REVEALING = ("survey", "snr_min", "snr_max", "drafter", "batch", "disagreement", "simulated", "text")
_WITHHELD_ROW: dict[str, Any] = {
    "blind": True,
    "name": "in a blind session",
    "survey": "",
    "snr": None,
    "batch": "",
    "simulated": False,
    "drafter": {"kind": "withheld", "name": ""},
    "spectrum": None,
    "version": 1,
    "cast": 0,
    "wanted": 1,
    "disagreement": False,
    "held_by": [],
}


class VisibleItems:
    """The queue and the items that one person may see."""

    def __init__(self, store: Store, person: Person) -> None:
        self._store = store
        self._person = person.initials
        self.items = store.blind.scoring.hidden_items(person.initials)

    def require(self, item_id: int) -> None:
        """Check that the item is visible. :raises NotAllowed: the item is withheld"""
        if item_id in self.items:
            raise NotAllowed(WITHHELD)

    def item(self, item_id: int) -> Item:
        """Return an item. :raises NotAllowed: the item is withheld"""
        self.require(item_id)
        return self._store.items.get(item_id)

    def rows(self, wanted: QueueFilter, after: int | None, limit: int) -> tuple[list[dict[str, Any]], int]:
        """Return the queue's rows and their total number. The row of a withheld item has only its number, task and
        state. It is left out if anything else is filtered by, because the filter would reveal it.
        """
        page = self._store.queue.page(wanted, self._person, after, limit)
        if not self.items or not _reveals(wanted):
            return [self._row(row_json(row)) for row in page.rows], page.total
        rows: list[dict[str, Any]] = []
        total = page.total
        while page.rows:
            rows += [row_json(row) for row in page.rows if row.item_id not in self.items]
            if len(rows) >= limit:
                break
            page = self._store.queue.page(wanted, self._person, page.rows[-1].item_id, _PAGE)
        return rows[:limit], total

    def neighbours(self, item_id: int, wanted: QueueFilter, n: int, backwards: bool = False) -> list[int]:
        """Return the next (or previous) items that the person can open."""
        found = self._store.queue.neighbours(item_id, wanted, self._person, n + len(self.items), backwards)
        return list(self._shown(found))[:n]

    def first_undone(self, wanted: QueueFilter) -> int | None:
        """Return the first item that waits for this person and that they can open."""
        if not self.items:
            return self._store.queue.first_undone(wanted, self._person)
        return next(iter(self.neighbours(0, replace(wanted, mine=True), 1)), None)

    def _shown(self, items: Iterable[int]) -> Iterator[int]:
        return (item for item in items if item not in self.items)

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        if row["id"] not in self.items:
            return {**row, "blind": False}
        return _WITHHELD_ROW | {name: row[name] for name in ("id", "task", "state")}


def _reveals(wanted: QueueFilter) -> bool:
    return any(getattr(wanted, name) not in (None, "") for name in _REVEALING)


def visible_items(person: PersonDep, context: ContextDep) -> VisibleItems:
    return VisibleItems(context.store, person)


VisibleDep = Annotated[VisibleItems, Depends(visible_items)]


def require_visible(request: Request, person: PersonDep, context: ContextDep, visible: VisibleDep) -> None:
    """Refuse a request that names a withheld item, or its spectrum or picture by hash.

    :raises NotAllowed: it does
    """
    if not visible.items:
        return
    named = whole_number(request.path_params.get("item_id", ""))
    if named is not None:
        visible.require(named)
    hashes = (request.path_params.get("sha256"), request.path_params.get("name"))
    if context.store.blind.scoring.hidden_hashes(person.initials).intersection(
        (*hashes, request.query_params.get("spectrum"))
    ):
        raise NotAllowed(WITHHELD)
