"""The figures of the Progress tab; each is defined in ``values.Progress``."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from reviewer.store.facts import Facts
from reviewer.store.values import Progress, Yielded
from reviewer.workflow import Round, State

_CHOSEN = "(:task IS NULL OR task = :task) AND (:batch IS NULL OR batch = :batch)"
_IN_FORCE = f"""
decisions d WHERE d.verb <> 'undo' AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id)
AND d.item IN (SELECT id FROM items WHERE {_CHOSEN})
"""


class Counting(Facts):
    """Counts over all items, or those of one task or batch."""

    def counts(self, task: str | None = None, batch: str | None = None) -> Progress:
        """Where the campaign stands."""
        chosen = {"task": task, "batch": batch}
        with self._reading() as db:

            def ask(sql: str) -> list[sqlite3.Row]:
                return db.execute(sql, chosen).fetchall()

            states: dict[str, dict[State, int]] = _table(
                ask(f"SELECT task, state, count(*) FROM standings WHERE {_CHOSEN} GROUP BY 1, 2")
            )
            by_person: dict[str, dict[Round, int]] = _table(
                ask(f"SELECT person, round, count(*) FROM {_IN_FORCE} GROUP BY 1, 2 ORDER BY 1")
            )
            per_day: dict[str, dict[Round, int]] = _table(
                ask(f"SELECT substr(at, 1, 10), round, count(*) FROM {_IN_FORCE} GROUP BY 1, 2 ORDER BY 1")
            )
            decided: dict[str, dict[State, int]] = _table(
                ask(
                    "SELECT substr(decided_at, 1, 10), state, count(*) FROM standings "
                    f"WHERE decided_at IS NOT NULL AND {_CHOSEN} GROUP BY 1, 2 ORDER BY 1"
                )
            )
            written = ask(
                "SELECT author, count(*) FROM versions WHERE author IS NOT NULL "
                f"AND item IN (SELECT id FROM items WHERE {_CHOSEN}) GROUP BY 1 ORDER BY 1"
            )
            ((disagreed, compared),) = ask(
                "SELECT coalesce(sum(disagreement), 0), coalesce(sum(compared), 0) FROM standings "
                f"WHERE {_CHOSEN}"
            )
        return Progress(
            by_task=states,
            by_person=by_person,
            versions_by={row[0]: row[1] for row in written},
            disagreed=disagreed,
            compared=compared,
            yielded=_yielded(states.values()),
            per_day=per_day,
            decided_per_day={day: _yielded([of_day]) for day, of_day in decided.items()},
        )


def _table(rows: list[sqlite3.Row]) -> dict[str, dict[Any, int]]:
    table: defaultdict[str, dict[Any, int]] = defaultdict(dict)
    for outer, inner, number in rows:
        table[outer][inner] = number
    return dict(table)


def _yielded(states: Iterable[dict[State, int]]) -> Yielded:
    tables = list(states)
    return Yielded(
        approved=sum(table.get("approved", 0) for table in tables),
        rejected=sum(table.get("rejected", 0) for table in tables),
    )
