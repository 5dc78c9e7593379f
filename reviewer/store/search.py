"""A filter as SQL: which items it lets through, in order, and how many.

Everything is answered from ``standings``, one narrow row an item, through one index that covers every filter.
A page is found by walking each state's part of that index in order of item and merging what comes first; a
count is one pass over the index. Nothing here reads a text.
"""

from __future__ import annotations

import sqlite3

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
        self._conditions = [sql for name, sql in _CONDITIONS.items() if getattr(filter, name) is not None]
        self._values: dict[str, object] = {
            **{name: getattr(filter, name) for name in _CONDITIONS},
            "now": now,
            "person": person.initials if person else "",
            "auditors": rules.auditors,
            "votes": rules.votes,
        }
        self._text = filter.text.strip()
        if self._text:
            self._conditions.append(self._text_condition())
        self._states = _states(filter, person)

    def walk(self, start: int | None, limit: int, backwards: bool = False) -> list[int]:
        """The first ``limit`` items beyond ``start`` (None: from the end it begins at), nearest first."""
        if not self._states:
            return []
        beyond, order = ("<", "DESC") if backwards else (">", "ASC")
        conditions = list(self._conditions)
        if start is not None:
            conditions.append(f"s.item {beyond} :start")
        if self._mine:
            conditions.append(f"s.item NOT IN {_NOT_MINE}")
        # A text names its items already; they are few, and are looked up by number.
        walks = [self._states] if self._text else [(state,) for state in self._states]
        index = "" if self._text else "INDEXED BY standings_walk"
        parts = [
            f"SELECT * FROM (SELECT s.item FROM standings s {index} WHERE "
            f"{' AND '.join([_state_in(states), *conditions])} ORDER BY s.item {order} LIMIT :limit)"
            for states in walks
        ]
        sql = f"{' UNION ALL '.join(parts)} ORDER BY 1 {order} LIMIT :limit"
        return [row[0] for row in self._db.execute(sql, {**self._values, "start": start, "limit": limit})]

    def count(self, before: int | None = None) -> int:
        """How many items it lets through, or how many of them come before an item."""
        if not self._states:
            return 0
        conditions = list(self._conditions)
        if len(self._states) < len(STATES):
            conditions.append(_state_in(self._states))
        if before is not None:
            conditions.append("s.item < :before")
        total = self._count(conditions, before)
        if self._mine:
            # Those kept out are few beside those let in: cheaper to subtract than to probe each.
            total -= self._count([*conditions, f"s.item IN {_NOT_MINE}"], before)
        return total

    def _count(self, conditions: list[str], before: int | None) -> int:
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        values = {**self._values, "before": before}
        (total,) = self._db.execute(f"SELECT count(*) FROM standings s {where}", values).fetchone()
        return int(total)

    def _text_condition(self) -> str:
        if self._text[0] == "#" and self._text[1:].isdecimal():
            self._values["text"] = int(self._text[1:])
            return "s.item = :text"
        if len(self._text) >= _SHORTEST_INDEXED:
            quoted = self._text.replace('"', '""')
            self._values["text"] = f'"{quoted}"'
            return "s.item IN (SELECT rowid FROM items_text WHERE items_text MATCH :text)"
        self._values["text"] = self._text
        return "s.item IN (SELECT id FROM items WHERE instr(lower(name), lower(:text)))"


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
