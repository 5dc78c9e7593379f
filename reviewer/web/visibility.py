"""What is kept from somebody on every route but the Blind tab's: items they score in a session that is not
closed yet. Here alone; the store knows which items those are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Request

from agent.text import whole_number
from reviewer.rules.people import Person
from reviewer.store import WITHHELD, Item, NotAllowed, QueueFilter, Store
from reviewer.web.context import At, Who
from reviewer.web.payload import row_json

_PAGE = 200
_TELLING = ("survey", "snr_min", "snr_max", "drafter", "batch", "disagreement", "simulated", "text")
_NOTHING_TOLD: dict[str, Any] = {
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


class Withheld:
    """The queue and the items as one person may see them."""

    def __init__(self, store: Store, person: Person) -> None:
        self._store = store
        self._person = person.initials
        self.items = store.blind.scoring.hidden_items(person.initials)

    def require(self, item_id: int) -> None:
        """:raises NotAllowed: the item is withheld"""
        if item_id in self.items:
            raise NotAllowed(WITHHELD)

    def item(self, item_id: int) -> Item:
        """:raises NotAllowed: the item is withheld"""
        self.require(item_id)
        return self._store.items.get(item_id)

    def rows(self, wanted: QueueFilter, after: int | None, limit: int) -> tuple[list[dict[str, Any]], int]:
        """The queue's rows and how many there are in all. A withheld item's row says its number, its class
        and its state. Under a filter by anything else it is left out, or the filter would tell.
        """
        page = self._store.queue.page(wanted, self._person, after, limit)
        if not self.items or not _tells(wanted):
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
        """The next (or previous) items that can be opened."""
        found = self._store.queue.neighbours(item_id, wanted, self._person, n + len(self.items), backwards)
        return list(self._shown(found))[:n]

    def first_undone(self, wanted: QueueFilter) -> int | None:
        """The first item that waits for this person and can be opened."""
        if not self.items:
            return self._store.queue.first_undone(wanted, self._person)
        return next(iter(self.neighbours(0, replace(wanted, mine=True), 1)), None)

    def _shown(self, items: Iterable[int]) -> Iterator[int]:
        return (item for item in items if item not in self.items)

    def _row(self, row: dict[str, Any]) -> dict[str, Any]:
        if row["id"] not in self.items:
            return {**row, "blind": False}
        return _NOTHING_TOLD | {name: row[name] for name in ("id", "task", "state")}


def _tells(wanted: QueueFilter) -> bool:
    return any(getattr(wanted, name) not in (None, "") for name in _TELLING)


def withheld(person: Who, at: At) -> Withheld:
    return Withheld(at.store, person)


Kept = Annotated[Withheld, Depends(withheld)]


def refuse_withheld(request: Request, person: Who, at: At, kept: Kept) -> None:
    """Refuse a request whose address names a withheld item, or its spectrum or picture by their hashes.

    :raises NotAllowed: it does
    """
    if not kept.items:
        return
    named = whole_number(request.path_params.get("item_id", ""))
    if named is not None:
        kept.require(named)
    hashes = (request.path_params.get("sha256"), request.path_params.get("name"))
    if at.store.blind.scoring.hidden_hashes(person.initials).intersection(
        (*hashes, request.query_params.get("spectrum"))
    ):
        raise NotAllowed(WITHHELD)
