"""Items that a person may not see outside the Blind tab: those they score in a session that is still open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import Depends, Request

from agent.language import tr
from agent.text import whole_number
from reviewer.rules.item_numbers import item_of_alias
from reviewer.rules.people import Person
from reviewer.store import LARGEST_ID, WITHHELD, Item, NotAllowed, NotFound, QueueFilter, QueueRow, Store
from reviewer.store.team.finding import Shared
from reviewer.web.context import ContextDep, PersonDep
from reviewer.web.models.find import FoundRow
from reviewer.web.models.queue import Drafter, ListedRow, NextByValue
from reviewer.web.payload import listed_row
from reviewer.web.requests import MOST_SELECTED, Selection
from reviewer.web.verdict_first import VerdictFirst, neutral_row

_REVEALING = (
    *("survey", "snr_min", "snr_max", "drafter", "batch", "disagreement", "simulated", "trial", "text"),
    *("words", "assigned", "listed", "discussed"),
)


class VisibleItems:
    """The queue and the items that one person may see."""

    def __init__(self, store: Store, person: Person, verdict_first: bool = False) -> None:
        self._store = store
        self._person = person.initials
        self.items = store.blind.scoring.hidden_items(person.initials)
        self.verdict_first = VerdictFirst(store, person, verdict_first)

    def require(self, item_id: int) -> None:
        """Check that the item is visible. :raises NotAllowed: the item is withheld"""
        if item_id in self.items:
            raise NotAllowed(tr(WITHHELD))

    def item(self, item_id: int) -> Item:
        """Return an item. :raises NotAllowed: the item is withheld, or its answer is hidden by the rule of its batch"""
        self.require(item_id)
        item = self._store.items.get(item_id)
        if item.row.batch in self.verdict_first.batches:
            self.verdict_first.require_verdict(item.row)
        return item

    def spectra(self, names: Iterable[str]) -> dict[str, str]:
        """Return the hashes of those spectra, named by hash or alias, that the person may see."""
        aliases = {name: item for name in names if (item := item_of_alias(name)) is not None}
        rows = {row.item_id: row.spectrum_sha256 for row in self._store.queue.rows([*aliases.values()])}
        hashes = {name: rows.get(aliases[name]) if name in aliases else name for name in names}
        withheld = self._store.blind.scoring.hidden_hashes(self._person)
        return {
            name: sha256
            for name, sha256 in hashes.items()
            if sha256 is not None
            and sha256 not in withheld
            and (name in aliases or not self.verdict_first.hides_spectrum(sha256))
        }

    def unreadable(self) -> frozenset[int]:
        """Return the items whose texts this person may not see: what is like them would tell something of these."""
        return frozenset(self.items) | self.verdict_first.hidden_items()

    def rows_of(self, items: Sequence[int], withdrawn: bool = False) -> list[ListedRow]:
        """Return the rows of these items in the given order; items that do not exist are left out.

        :param withdrawn: False: withdrawn items are left out too, as in the queue
        """
        rows = self._store.queue.rows(items)
        return self._rows(row for row in rows if withdrawn or row.state != "withdrawn")

    def rows(self, query: QueueFilter, after: int | None, limit: int) -> tuple[list[ListedRow], int]:
        """Return the queue's rows and their total number. The row of a withheld item has only its number, task and
        state. It is left out if anything else is filtered by, because the filter would reveal it.
        """
        page = self._store.queue.page(self._searched(query), self._person, after, limit)
        return self._rows(page.rows), page.total

    def matching_rows(self, query: QueueFilter, after: int | None, limit: int) -> tuple[list[FoundRow], int]:
        """Return rows and total as ``rows`` does, each with ``snippets`` of the texts that match the filter's words."""
        rows, total = self.rows(query, after, limit)
        ids = [row.id for row in rows if query.words.strip()]
        snippets = self._store.finding.snippets(self._searched(query), self._person, ids) if ids else {}
        return [FoundRow.model_validate({**dict(row), "snippets": snippets.get(row.id, ())}) for row in rows], total

    def selected(self, selection: Selection) -> list[int]:
        """Return the items of a selection in order. Of a filter, withheld items and those which it may not find for
        the person are left out; items that are named are all kept.

        :raises NotFound: an item is named that does not exist
        :raises NotAllowed: more than ``MOST_SELECTED`` items match
        """
        if selection.filter is None:
            named = sorted(set(selection.items or ()))
            missing = self._store.queue.missing(named)
            if missing:
                raise NotFound(tr("There is no item {number}.", number=missing[0]))
            return named
        without = {*selection.without, *self.items}
        query = self._searched(selection.filter.query())
        most = MOST_SELECTED + len(without) + 1
        numbers = self._store.queue.neighbours(0, query, self._person, most)
        items = [item for item in numbers if item not in without]
        if len(items) > MOST_SELECTED:
            raise NotAllowed(
                tr("More than {number} items match the filter. Select fewer of them.", number=MOST_SELECTED)
            )
        return items

    def matching(self, query: QueueFilter) -> frozenset[int]:
        """Return all items of a filter that the person may find."""
        numbers = self._store.queue.neighbours(0, self._searched(query), self._person, LARGEST_ID)
        return frozenset(numbers).difference(self.items)

    def neighbours(self, item_id: int, query: QueueFilter, n: int, backwards: bool = False) -> list[int]:
        """Return the next (or previous) items that the person can open."""
        query = self._searched(query)
        numbers = self._store.queue.neighbours(item_id, query, self._person, n + len(self.items), backwards)
        return list(self._shown(numbers))[:n]

    def first_undone(self, query: QueueFilter) -> int | None:
        """Return the first item that waits for this person and that they can open."""
        if not self.items:
            return self._store.queue.first_undone(self._searched(query), self._person)
        return self.next_undone(0, query)

    def next_undone(self, after: int, query: QueueFilter) -> int | None:
        """Return the first item after this one that waits for this person and that they can open."""
        return next(iter(self.neighbours(after, replace(query, mine=True), 1)), None)

    def next_by_value(self, shown: int | None, query: QueueFilter, key: str) -> NextByValue:
        """Choose the next item by value of information, record the showing, and return its number and probability.

        The probability is left out of an item whose answer is hidden, because it tells something of P(YES).
        """
        chosen = self._store.triage.show(
            person=self._person,
            # The store leaves withheld items out itself, and records the filter.
            filter=replace(self._searched(query), without_items=()),
            key=key,
            open_item=shown,
        )
        if chosen is None:
            return NextByValue(id=None, arm=None, probability=None)
        if self.verdict_first.hides(self._store.items.get(chosen.item).row):
            return NextByValue(id=chosen.item, arm=None, probability=None)
        return NextByValue(id=chosen.item, arm=chosen.arm, probability=chosen.probability)

    def _shown(self, items: Iterable[int]) -> Iterator[int]:
        return (item for item in items if item not in self.items)

    def position(self, item_id: int, query: QueueFilter) -> int:
        """Return how many items of the filter come before this one."""
        return self._store.queue.position(item_id, self._searched(query), self._person)

    def _searched(self, query: QueueFilter) -> QueueFilter:
        """Return the filter with which the store searches for the person: it finds nothing that they may not see.

        :raises NotFound: the person cannot open the list of the filter, or it was deleted
        :raises NotAllowed: the view of the filter is no list
        """
        if query.listed is not None:
            self._store.views.require_list(self._person, query.listed)
        query = self.verdict_first.searched(query)
        if not self.items or not _reveals(query):
            return query
        return replace(query, without_items=tuple(sorted(self.items)))

    def _rows(self, rows: Iterable[QueueRow]) -> list[ListedRow]:
        rows = tuple(rows)
        hidden = self.verdict_first.hidden(rows)
        shared = self._store.finding.shared(self._person, [row.item_id for row in rows])
        return [self._row(row, shared[row.item_id], row.item_id in hidden) for row in rows]

    def _row(self, row: QueueRow, shared: Shared, hidden: bool) -> ListedRow:
        if row.item_id in self.items:
            return _withheld_row(row)
        return neutral_row(listed_row(row, shared)) if hidden else listed_row(row, shared)


def _withheld_row(row: QueueRow) -> ListedRow:
    """Return the row of an item that the person scores in a blind session: only its number, task and state."""
    return ListedRow(
        id=row.item_id,
        task=row.task,
        state=row.state,
        name=tr("in a blind session"),
        survey="",
        snr=None,
        drafter=Drafter(kind="withheld", name=""),
        batch="",
        simulated=False,
        spectrum=None,
        version=1,
        cast=0,
        needed=1,
        disagreement=False,
        held_by=(),
        assigned=(),
        comments=0,
        unread=False,
        blind=True,
    )


def _reveals(query: QueueFilter) -> bool:
    return any(getattr(query, name) not in (None, "") for name in _REVEALING)


def visible_items(person: PersonDep, context: ContextDep, verdict_first: bool = False) -> VisibleItems:
    return VisibleItems(context.store, person, verdict_first)


VisibleDep = Annotated[VisibleItems, Depends(visible_items)]


def require_visible(request: Request, person: PersonDep, context: ContextDep, visible: VisibleDep) -> None:
    """Refuse a request that names a withheld item, or its spectrum or picture by hash.

    :raises NotAllowed: it does
    """
    hashes = (request.path_params.get("sha256"), request.path_params.get("name"), request.query_params.get("spectrum"))
    for sha256 in filter(None, hashes[::2]):
        visible.verdict_first.require_spectrum(sha256)
    if not visible.items:
        return
    named = whole_number(request.path_params.get("item_id", ""))
    if named is not None:
        visible.require(named)
    for name in filter(None, hashes):
        if (item_id := item_of_alias(name)) is not None:
            visible.require(item_id)
    if context.store.blind.scoring.hidden_hashes(person.initials).intersection(hashes):
        raise NotAllowed(tr(WITHHELD))
