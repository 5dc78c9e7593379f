"""A filter as SQL: which items it lets through, in order, and how many.

Everything is answered from ``standings``, one narrow row an item, through indexes that cover every filter.
A page is found by walking each state's part of that index in order of item and merging what comes first. A
total is a sum over ``tallies``, unless a range of S/N is asked for. Nothing here reads a text.
"""

from __future__ import annotations

import sqlite3
from itertools import islice

from agent.digits import whole_number
from reviewer.people import Person
from reviewer.store.values import QueueFilter
from reviewer.workflow import ROLES_OF, STATES, Rules, State, round_of

# Trigrams find nothing shorter.
_SHORTEST_INDEXED = 3

# Items on which others already hold every lease that the round has room for.
_HELD = """
SELECT l.item FROM leases l JOIN standings h ON h.item = l.item
WHERE l.ended IS NULL AND l.expires_at > :now AND l.person <> :person
GROUP BY l.item
HAVING count(*) >= max(
    1, CASE h.state WHEN 'audit' THEN :auditors WHEN 'vote' THEN :votes ELSE 1 END - h."cast"
)
"""
_NOT_MINE = f"(SELECT item FROM barred WHERE person = :person UNION {_HELD})"

_CONDITIONS = {
    "task": "s.task = :task",
    "survey": "s.survey = :survey",
    "snr_min": "s.snr >= :snr_min",
    "snr_max": "s.snr <= :snr_max",
    "drafter": "s.drafter = :drafter",
    "batch": "s.batch = :batch",
    "disagreement": "s.disagreement = :disagreement",
    "simulated": "s.simulated = :simulated",
}


class Search:
    """One filter, for one person, at one moment.

    :param person: needed for ``filter.mine`` only
    :param now: the stored form of the present time, which decides which leases still hold
    """

    def __init__(
        self, db: sqlite3.Connection, filter: QueueFilter, person: Person | None, rules: Rules, now: str
    ) -> None:
        self._db = db
        self._mine = filter.mine
        asked = [name for name in _CONDITIONS if getattr(filter, name) is not None]
        self._asked = {name.split("_")[0] for name in asked}
        self._conditions = [_CONDITIONS[name] for name in asked]
        self._values: dict[str, object] = {
            **{name: getattr(filter, name) for name in _CONDITIONS},
            "now": now,
            "person": person.initials if person else "",
            "auditors": rules.auditors,
            "votes": rules.votes,
        }
        self._states = _states(filter, person)
        self._named = self._find(filter.text.strip())

    def walk(self, start: int | None, limit: int | None, backwards: bool = False) -> list[int]:
        """The first ``limit`` items beyond ``start`` (None: from the end it begins at), nearest first."""
        if self._named is not None:
            nearest = self._named[::-1] if backwards else self._named
            ahead = (i for i in nearest if start is None or (i < start if backwards else i > start))
            return list(islice(ahead, limit))
        if not self._states:
            return []
        beyond, order = ("<", "DESC") if backwards else (">", "ASC")
        conditions = self._where() + ([f"s.item {beyond} :start"] if start is not None else [])
        parts = [
            f"SELECT * FROM (SELECT s.item FROM standings s INDEXED BY standings_walk "
            f"WHERE {' AND '.join([_state_in((state,)), *conditions])} ORDER BY s.item {order} LIMIT :limit)"
            for state in self._states
        ]
        sql = f"{' UNION ALL '.join(parts)} ORDER BY 1 {order} LIMIT :limit"
        values = {**self._values, "start": start, "limit": -1 if limit is None else limit}
        return [row[0] for row in self._db.execute(sql, values)]

    def count(self) -> int:
        """How many items it lets through."""
        if self._named is not None:
            return len(self._named)
        if not self._states:
            return 0
        conditions = [_state_in(self._states), *self._conditions]
        if "snr" in self._asked:
            total = self._ask("count(*) FROM standings s INDEXED BY standings_snr", conditions)
        else:
            total = self._ask("coalesce(sum(items), 0) FROM tallies s", conditions)
        if self._mine:
            # Those kept out are few beside those let in: cheaper to subtract than to probe each.
            total -= self._ask("count(*) FROM standings s", [*conditions, f"s.item IN {_NOT_MINE}"])
        return total

    def before(self, item_id: int) -> int:
        """How many of the items it lets through have a lower number than ``item_id``."""
        if self._named is not None:
            return sum(i < item_id for i in self._named)
        if not self._states:
            return 0
        self._values["before"] = item_id
        conditions = [_state_in(self._states), *self._conditions, "s.item < :before"]
        total = self._ask("count(*) FROM standings s INDEXED BY standings_walk", conditions)
        if self._mine:
            total -= self._ask("count(*) FROM standings s", [*conditions, f"s.item IN {_NOT_MINE}"])
        return total

    def _where(self) -> list[str]:
        return self._conditions + ([f"s.item NOT IN {_NOT_MINE}"] if self._mine else [])

    def _ask(self, what: str, conditions: list[str]) -> int:
        sql = f"SELECT {what} WHERE {' AND '.join(conditions)}"
        return int(self._db.execute(sql, self._values).fetchone()[0])

    def _find(self, text: str) -> list[int] | None:
        """The items that a text names and the filter lets through, in order; None where no text is given."""
        if not text or not self._states:
            return None
        if text[0] == "#" and (number := whole_number(text[1:])) is not None:
            named, self._values["text"] = "s.item = :text", number
        elif len(text) >= _SHORTEST_INDEXED:
            named = "s.item IN (SELECT rowid FROM items_text WHERE items_text MATCH :text)"
            quoted = text.replace('"', '""')
            self._values["text"] = f'"{quoted}"'
        else:
            named = "s.item IN (SELECT id FROM items WHERE instr(lower(name), lower(:text)))"
            self._values["text"] = text
        conditions = [named, _state_in(self._states), *self._where()]
        sql = f"SELECT s.item FROM standings s NOT INDEXED WHERE {' AND '.join(conditions)} ORDER BY s.item"
        return [row[0] for row in self._db.execute(sql, self._values)]


def _states(filter: QueueFilter, person: Person | None) -> tuple[State, ...]:
    asked = tuple(state for state in STATES if not filter.states or state in filter.states)
    if not filter.mine:
        return asked
    if person is None or not person.active:
        return ()
    return tuple(state for state in asked if (r := round_of(state)) and person.is_any(*ROLES_OF[r]))


def _state_in(states: tuple[State, ...]) -> str:
    # From a closed set of words, so they may stand in the SQL itself.
    return f"s.state IN ({', '.join(repr(state) for state in states)})"
