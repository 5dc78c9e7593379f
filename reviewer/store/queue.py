"""The queue: pages of items, the neighbours of one, its place among the others."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from reviewer.store.clock import stamp
from reviewer.store.facts import Facts
from reviewer.store.search import Search
from reviewer.store.values import QueueFilter, QueuePage, QueueRow
from reviewer.workflow import Rules

_FACETS = ("task", "survey", "drafter", "batch", "state")

_ROWS = """
SELECT i.id, i.name, i.drafter_kind, i.drafter_name, i.spectrum, s.task, s.survey, s.snr, s.batch,
       s.simulated, s.state, s.number, s."cast", s.disagreement
FROM items i JOIN standings s ON s.item = i.id WHERE i.id IN ({})
"""


class Queue(Facts):
    """Items by filter, in order of their number."""

    def queue(self, filter: QueueFilter, person: str, after: int | None = None, limit: int = 50) -> QueuePage:
        """The first ``limit`` items of the filter whose number is above ``after``.

        :param person: initials, for ``filter.mine``
        :raises NotFound: ``filter.mine`` of somebody unknown
        """
        now = stamp(self.steady())
        with self._reading() as db:
            search = self._search(db, filter, person, now)
            ids = search.walk(after, limit)
            return QueuePage(tuple(read_rows(db, ids, self._current_rules(db)[1], now)), search.count())

    def first_undone(self, filter: QueueFilter, person: str) -> int | None:
        """The first item of the filter on which this person may act now; None if there is none."""
        with self._reading() as db:
            mine = self._search(db, replace(filter, mine=True), person, stamp(self.steady()))
            return next(iter(mine.walk(None, 1)), None)

    def neighbours(
        self, item_id: int, filter: QueueFilter, person: str, n: int = 3, backwards: bool = False
    ) -> list[int]:
        """The ids of the next (or previous) ``n`` items of the filter, nearest first."""
        with self._reading() as db:
            return self._search(db, filter, person, stamp(self.steady())).walk(item_id, n, backwards)

    def position(self, item_id: int, filter: QueueFilter, person: str) -> int:
        """How many items of the filter come before this one: it is number ``position + 1`` of ``total``."""
        with self._reading() as db:
            return self._search(db, filter, person, stamp(self.steady())).before(item_id)

    def approved(self, task: str | None = None, batch: str | None = None) -> list[int]:
        """The approved items, of one task or batch if given, in order: what an export takes."""
        chosen = QueueFilter(task=task, batch=batch, states=("approved",))
        with self._reading() as db:
            return self._search(db, chosen, "", stamp(self.steady())).walk(None, None)

    def facets(self) -> Mapping[str, Sequence[str]]:
        """What there is to filter by: the values of task, survey, drafter, batch and state, sorted."""
        with self._reading() as db:
            return {name: _values_of(db, name) for name in _FACETS}

    def _search(self, db: sqlite3.Connection, filter: QueueFilter, person: str, now: str) -> Search:
        who = self._person(db, person) if filter.mine else None
        return Search(db, filter, who, self._current_rules(db)[1], now)


def _values_of(db: sqlite3.Connection, column: str) -> list[str]:
    rows = db.execute(f"SELECT DISTINCT {column} FROM tallies WHERE items > 0 AND {column} <> '' ORDER BY 1")
    return [row[0] for row in rows]


def read_rows(db: sqlite3.Connection, ids: Sequence[int], rules: Rules, now: str) -> list[QueueRow]:
    """The queue's lines for these items, in the order asked for."""
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
        wanted=rules.wanted(row["state"]),
        disagreement=bool(row["disagreement"]),
        held_by=held_by,
    )
