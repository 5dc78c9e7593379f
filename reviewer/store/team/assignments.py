"""Who is assigned to which items: the table ``assigned``, which is derived from the facts in ``assignments``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from agent.language import tr
from reviewer.rules.workflow import State
from reviewer.store.sqlite.database import Database, Transaction

# The latest fact of each person and item counts.
_IN_FORCE = """
SELECT person, item FROM (SELECT item, person, assigned, max(id) FROM assignments GROUP BY item, person)
WHERE assigned = 1
"""
_OF_ITEMS = """
SELECT item, person FROM assigned WHERE item IN (SELECT value FROM json_each(?)) ORDER BY item, person
"""
_BY_STATE = """
SELECT a.person, s.state, count(*) FROM assigned a CROSS JOIN standings s ON s.item = a.item
WHERE s.state <> 'withdrawn' {} GROUP BY 1, 2 ORDER BY 1
"""


class Assignments:
    """The assignments in force. ``Bulk`` changes them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def people(self) -> frozenset[str]:
        """Return the initials of everybody to whom any item is assigned."""
        some = "SELECT 1 FROM assigned a WHERE a.person = p.initials"
        with self._database.read() as db:
            return frozenset(who for (who,) in db.execute(f"SELECT initials FROM people p WHERE EXISTS ({some})"))

    def of_items(self, items: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Return the people assigned to each of these items that has any, by initials."""
        with self._database.read() as db:
            return assigned_to(db, items)


def assigned_to(db: Transaction, items: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return the people assigned to each of these items that has any, by initials."""
    assigned: dict[int, list[str]] = {}
    for item, person in db.execute(_OF_ITEMS, (json.dumps(list(items)),)):
        assigned.setdefault(item, []).append(person)
    return {item: tuple(people) for item, people in assigned.items()}


def assigned_by_state(db: Transaction, task: str | None, batch: str | None) -> dict[str, dict[State, int]]:
    """Return the number of assigned items by person and state, without withdrawn items."""
    chosen = {name: value for name, value in (("task", task), ("batch", batch)) if value is not None}
    sql = _BY_STATE.format("".join(f" AND s.{name} = :{name}" for name in chosen))
    assigned: dict[str, dict[State, int]] = {}
    for person, state, items in db.execute(sql, chosen):
        assigned.setdefault(person, {})[state] = items
    return assigned


def fill_assigned(db: Transaction) -> None:
    """Derive ``assigned`` from the facts."""
    db.execute("DELETE FROM assigned")
    db.execute(f"INSERT INTO assigned (person, item) {_IN_FORCE}")


def wrong_assignments(db: Transaction) -> list[str]:
    """Return a sentence if ``assigned`` does not follow from the facts."""
    kept = "SELECT person, item FROM assigned"
    wrong = f"SELECT * FROM ({_IN_FORCE} EXCEPT {kept}) UNION ALL SELECT * FROM ({kept} EXCEPT {_IN_FORCE})"
    (differing,) = db.execute(f"SELECT count(*) FROM ({wrong})").fetchone()
    return [tr("the assignments in force do not follow from the facts; rebuild")] if differing else []
