"""The figures of the Progress tab; each is defined in ``values.Progress``."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reviewer.store.clock import Times
from reviewer.store.facts import Facts
from reviewer.store.log_chain import Head, head
from reviewer.store.values import Progress, Yielded
from reviewer.workflow import State

_DECISIONS = """
SELECT d.person, d.round, substr(d.at, 1, 10) AS day, count(*) AS decisions FROM decisions d
WHERE d.verb <> 'undo' AND d.id NOT IN (SELECT withdraws FROM decisions WHERE withdraws IS NOT NULL) {}
GROUP BY 1, 2, 3 ORDER BY 3, 1
"""
_DECIDED = """
SELECT substr(decided_at, 1, 10) AS day, state, count(*) AS items FROM standings
WHERE decided_at IS NOT NULL {} GROUP BY 1, 2 ORDER BY 1
"""
_JUDGED = "SELECT coalesce(sum(disagreement), 0), coalesce(sum(compared), 0) FROM standings WHERE true {}"
_WRITTEN = "SELECT author, count(*) FROM versions WHERE author IS NOT NULL {} GROUP BY 1 ORDER BY 1"
_STATES = "SELECT task, state, sum(items) AS items FROM tallies WHERE items > 0 {} GROUP BY 1, 2"


_CHOICES = 50  # tasks and batches of which the figures are kept


class Counting(Facts):
    """Counts over all items, or those of one task or batch."""

    def __init__(self, path: Path, writer: sqlite3.Connection, times: Times, patience: float) -> None:
        super().__init__(path, writer, times, patience)
        self._counted: dict[tuple[str | None, str | None], tuple[Head, Progress]] = {}

    def counts(self, task: str | None = None, batch: str | None = None) -> Progress:
        """Where the campaign stands. Counted again once something was done: every transaction that changes a
        figure appends to the log, but for a ``rebuild`` that mended what nobody did."""
        with self._reading() as db:
            now = head(db)
            known = self._counted.get((task, batch))
            if known is not None and known[0] == now:
                return known[1]
            found = self._count(db, task, batch)
        if len(self._counted) >= _CHOICES:
            self._counted.clear()
        self._counted[task, batch] = now, found
        return found

    def _count(self, db: sqlite3.Connection, task: str | None, batch: str | None) -> Progress:
        chosen = {name: value for name, value in (("task", task), ("batch", batch)) if value is not None}
        direct = "".join(f" AND {name} = :{name}" for name in chosen)
        of_items = f" AND item IN (SELECT id FROM items WHERE true{direct})" if chosen else ""
        states = db.execute(_STATES.format(direct), chosen).fetchall()
        decisions = db.execute(_DECISIONS.format(of_items), chosen).fetchall()
        decided = db.execute(_DECIDED.format(direct), chosen).fetchall()
        written = db.execute(_WRITTEN.format(of_items), chosen).fetchall()
        disagreed, compared = db.execute(_JUDGED.format(direct), chosen).fetchone()
        by_task = _table(states, "task", "state", "items")
        return Progress(
            by_task=by_task,
            by_person=_table(decisions, "person", "round", "decisions"),
            versions_by={row[0]: row[1] for row in written},
            disagreed=disagreed,
            compared=compared,
            yielded=_yielded(by_task.values()),
            per_day=_table(decisions, "day", "round", "decisions"),
            decided_per_day={d: _yielded([n]) for d, n in _table(decided, "day", "state", "items").items()},
        )


def _table(rows: list[sqlite3.Row], outer: str, inner: str, number: str) -> dict[str, dict[Any, int]]:
    table: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        table[row[outer]][row[inner]] += row[number]
    return {key: dict(counter) for key, counter in table.items()}


def _yielded(states: Iterable[Mapping[State, int]]) -> Yielded:
    tables = list(states)
    return Yielded(
        approved=sum(table.get("approved", 0) for table in tables),
        rejected=sum(table.get("rejected", 0) for table in tables),
    )
