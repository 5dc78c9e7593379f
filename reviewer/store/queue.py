"""The queue: pages of items, the neighbours of an item, and its position."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reviewer.rules.workflow import Rules, State
from reviewer.store.accounts import find_person
from reviewer.store.history import History
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.team.search import Search
from reviewer.store.values import LARGEST_ID, QueueFilter, QueuePage, QueueRow

_OF_SPECTRUM = """
SELECT id FROM items WHERE spectrum = :spectrum AND task = :task AND id <= :newest
UNION
SELECT id FROM items
WHERE name = :name AND task = :task AND (spectrum IS NULL OR :spectrum IS NULL) AND id <= :newest
ORDER BY 1
"""

_STATES_OF_RANGES = """
SELECT state, item, number, count FROM (
    SELECT state, item, row_number() OVER (PARTITION BY state ORDER BY item) AS number,
           count(*) OVER (PARTITION BY state) AS count
    FROM (
        SELECT DISTINCT s.item, s.state FROM json_each(:ranges) r
        JOIN standings s ON s.item BETWEEN r.value ->> 0 AND r.value ->> 1
    )
) WHERE number <= max(1, :listed) ORDER BY state, item
"""

_FACETS = ("task", "survey", "drafter", "batch", "state")

_ROWS = """
SELECT i.id, i.name, i.drafter_kind, i.drafter_name, i.spectrum, s.task, s.survey, s.snr, s.batch,
       s.simulated, s.state, s.number, s."cast", s.disagreement
FROM items i JOIN standings s ON s.item = i.id WHERE i.id IN ({})
"""


class Queue:
    """Items by filter, in order of their number."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def page(self, filter: QueueFilter, person: str, after: int | None = None, limit: int = 50) -> QueuePage:
        """Return the first ``limit`` items of the filter whose number is above ``after``.

        :param person: initials, for ``filter.mine``, ``words`` and ``discussed``
        :raises NotFound: unknown initials where they are needed
        :raises BadSearch: nothing can be searched for with ``filter.words``
        """
        now = stamp(self._database.steady())
        with self._database.read() as db:
            search = self._search(db, filter, person, now)
            total = search.count()
            ids = search.walk(after, limit)
            return QueuePage(tuple(read_rows(db, ids, self._history.current_rules(db)[1], now)), total)

    def waiting(self, person: str, task: str | None = None, batch: str | None = None) -> dict[State, int]:
        """Return how many items wait for a person in each state. Every open page asks for it every few seconds."""
        mine = QueueFilter(task=task, batch=batch, mine=True)
        with self._database.read() as db:
            return self._search(db, mine, person, stamp(self._database.steady())).count_by_state()

    def rows(self, items: Sequence[int]) -> list[QueueRow]:
        """Return the rows of these items in the given order; items that do not exist are left out."""
        now = stamp(self._database.steady())
        with self._database.read() as db:
            known = db.execute(
                "SELECT item FROM standings WHERE item IN (SELECT value FROM json_each(?))", (json.dumps(list(items)),)
            )
            existing = {item for (item,) in known}
            return read_rows(db, [item for item in items if item in existing], self._history.current_rules(db)[1], now)

    def first_undone(self, filter: QueueFilter, person: str) -> int | None:
        """Return the first item of the filter on which this person may act now; None if there is none. An item of
        this person's own that was returned comes before all others."""
        mine, now = replace(filter, mine=True), stamp(self._database.steady())
        with self._database.read() as db:
            rules, who = self._history.current_rules(db)[1], find_person(db, person)
            search = Search(db, mine, who, rules, now)
            returned = search.own_returned()
            return returned if returned is not None else next(iter(search.walk(None, 1)), None)

    def neighbours(
        self, item_id: int, filter: QueueFilter, person: str, n: int = 3, backwards: bool = False
    ) -> list[int]:
        """Return the ids of the next (or previous) ``n`` items of the filter, nearest first."""
        with self._database.read() as db:
            return self._search(db, filter, person, stamp(self._database.steady())).walk(item_id, n, backwards)

    def position(self, item_id: int, filter: QueueFilter, person: str) -> int:
        """Return how many items of the filter come before this one: it is number ``position + 1`` of ``total``."""
        with self._database.read() as db:
            return self._search(db, filter, person, stamp(self._database.steady())).before(item_id)

    def approved(self, task: str | None = None, batch: str | None = None) -> list[int]:
        """Return the approved items in order, of one task or batch if given: the items of an export."""
        chosen = QueueFilter(task=task, batch=batch, states=("approved",))
        with self._database.read() as db:
            return self._search(db, chosen, "", stamp(self._database.steady())).walk(None, None)

    def of_spectrum(self, spectrum: str | None, name: str, task: str, newest: int = LARGEST_ID) -> list[int]:
        """Return the items of a spectrum under one task, in order.

        :param spectrum: SHA-256; items without a spectrum, and all items if it is None, are compared by ``name``
        :param newest: items with a higher number are left out
        """
        values = {"spectrum": spectrum, "name": name, "task": task, "newest": newest}
        with self._database.read() as db:
            return [item for (item,) in db.execute(_OF_SPECTRUM, values)]

    def states(self, ranges: Sequence[Sequence[int]], listed: int) -> dict[State, tuple[int, list[int]]]:
        """Return the states of the items of ranges: how many are in each, and the first ``listed`` of them."""
        values = {"ranges": json.dumps([list(pair) for pair in ranges]), "listed": listed}
        listing: dict[State, tuple[int, list[int]]] = {}
        with self._database.read() as db:
            for state, item, number, count in db.execute(_STATES_OF_RANGES, values):
                _, items = listing.setdefault(state, (count, []))
                if number <= listed:
                    items.append(item)
        return listing

    def missing(self, items: Sequence[int]) -> list[int]:
        """Return those of the numbers, in order, that are of no item."""
        sql = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM items) ORDER BY 1"
        with self._database.read() as db:
            return [item for (item,) in db.execute(sql, (json.dumps(list(items)),))]

    def rows_of_spectrum(self, *hashes: str) -> list[QueueRow]:
        """Return the rows of all items of a spectrum, or of several."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT id FROM items WHERE spectrum IN (SELECT value FROM json_each(?))", (json.dumps(hashes),)
            )
            ids = [item_id for (item_id,) in rows]
            return read_rows(db, ids, self._history.current_rules(db)[1], stamp(self._database.steady()))

    def facets(self) -> Mapping[str, Sequence[str]]:
        """Return the values of task, survey, drafter, batch and state that occur, sorted. Withdrawn items count only
        for the state."""
        with self._database.read() as db:
            return {name: _values_of(db, name) for name in _FACETS}

    def _search(self, db: Transaction, filter: QueueFilter, person: str, now: str) -> Search:
        personal = filter.mine or filter.words.strip() or filter.discussed
        who = find_person(db, person) if personal else None
        return Search(db, filter, who, self._history.current_rules(db)[1], now)


def _values_of(db: Transaction, column: str) -> list[str]:
    shown = "items > 0" if column == "state" else "items > 0 AND state <> 'withdrawn'"
    rows = db.execute(f"SELECT DISTINCT {column} FROM tallies WHERE {shown} AND {column} <> '' ORDER BY 1")
    return [row[0] for row in rows]


def read_rows(db: Transaction, ids: Sequence[int], rules: Rules, now: str) -> list[QueueRow]:
    """Return the queue's rows of these items, in the given order."""
    if not ids:
        return []
    marks = ", ".join("?" * len(ids))
    rows = {row["id"]: row for row in db.execute(_ROWS.format(marks), ids)}
    held: dict[int, list[str]] = {}
    running = f"SELECT item, person FROM leases WHERE ended IS NULL AND expires_at > ? AND item IN ({marks})"
    for item_id, person in db.execute(running, (now, *ids)):
        held.setdefault(item_id, []).append(person)
    return [_row(rows[i], rules, tuple(sorted(held.get(i, ())))) for i in ids]


def _row(row: sqlite3.Row, rules: Rules, held_by: tuple[str, ...]) -> QueueRow:
    return QueueRow(
        item_id=row["id"],
        name=row["name"],
        task=row["task"],
        survey=row["survey"],
        snr=row["snr"],
        drafter_kind=row["drafter_kind"],
        drafter_name=row["drafter_name"],
        batch=row["batch"],
        simulated=bool(row["simulated"]),
        spectrum_sha256=row["spectrum"],
        state=row["state"],
        version=row["number"],
        cast=row["cast"],
        needed=rules.people_needed(row["state"]),
        disagreement=bool(row["disagreement"]),
        held_by=held_by,
    )
