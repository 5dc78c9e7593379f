"""What the queue's search takes from texts and from what people do together: words, assignments, lists, discussions.

A person's search reads no text that is hidden from them: see ``Seen``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from reviewer.rules.people import Person
from reviewer.rules.workflow import ROLES_OF, STATES, State, round_of
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.texts import COMMENT, DECISION, MARK, REMARKS_PER_ITEM, VERSIONS_PER_ITEM
from reviewer.store.team.unread import ALL_UNREAD, items_of_part
from reviewer.store.values import NOBODY, Discussed, QueueFilter

# The threads whose last change is "resolved". SQLite takes ``kind`` from the row with the highest id.
_RESOLVED = """
SELECT thread FROM (
    SELECT thread, kind, max(id) FROM comments NOT INDEXED WHERE kind <> 'comment' GROUP BY thread
) WHERE kind = 'resolved'
"""
# Each reads the comments through once: most items of a campaign can have some.
_DISCUSSED: Mapping[Discussed, str] = {
    "open": f"SELECT item FROM comments NOT INDEXED WHERE thread IS NULL AND id NOT IN ({_RESOLVED})",
    "unread": f"SELECT c.item FROM {ALL_UNREAD}",
    "mentioned": "SELECT c.item FROM mentions m JOIN comments c ON c.id = m.comment "
    f"WHERE m.person = :person AND coalesce(c.thread, c.id) NOT IN ({_RESOLVED})",
}
ASSIGNED_TO_NOBODY = "s.item NOT IN (SELECT item FROM assigned)"


def item_sets(filter: QueueFilter) -> list[str]:
    """Return the queries of the items of a filter's assignment and list; an item must be in each."""
    sets = []
    if filter.assigned is not None and filter.assigned != NOBODY:
        sets.append("SELECT item FROM assigned WHERE person = :assigned")
    if filter.listed is not None:
        sets.append("SELECT item FROM view_items WHERE view = :listed")
    return sets


def discussed_items(db: Transaction, discussed: Discussed, person: str) -> set[int]:
    """Return the items of ``QueueFilter.discussed``, of any state."""
    values = {"person": person, "part": items_of_part(db, person) if discussed == "unread" else None}
    sql = f"SELECT json_group_array(item) FROM ({_DISCUSSED[discussed]})"
    return set(json.loads(db.execute(sql, values).fetchone()[0]))


@dataclass(frozen=True)
class Stream:
    """Rows of a text index that match, in the order of their items.

    :param table: of the index; its row is ``t``, that of its item in ``standings`` is ``s``
    :param rows_per_item: row numbers of an item begin at its number times this
    :param conditions: the match, and which rows count
    """

    table: str
    rows_per_item: int
    conditions: tuple[str, ...]

    @property
    def query(self) -> str:
        """The items of all rows that match."""
        return f"SELECT {self.item} FROM {self.table} t WHERE {' AND '.join(self.conditions)}"

    @property
    def item(self) -> str:
        """The item of a row, as SQL."""
        return "t.rowid" if self.rows_per_item == 1 else f"(t.rowid / {self.rows_per_item})"


class Seen:
    """The texts that one person may see, as SQL conditions on a row ``s`` of ``standings``; the values are in
    ``values``.

    :param verdict_first: as in ``QueueFilter``
    """

    def __init__(self, person: Person, verdict_first: tuple[str, ...] | None) -> None:
        self.values: dict[str, object] = {"person": person.initials}
        judged = "SELECT 1 FROM verdicts j WHERE j.item = s.item AND j.person = :person"
        wrote = "SELECT 1 FROM versions j WHERE j.item = s.item AND j.author = :person"
        hidden = f"{_any_of(_ROUNDS)} "
        # The first version has no author here; most items have no other.
        hidden += f"AND NOT EXISTS ({judged}) AND NOT (s.number > 1 AND EXISTS ({wrote}))"
        if verdict_first is None:
            self._answer = f"NOT ({hidden})"
        elif verdict_first:
            self.values["verdict_first"] = json.dumps(verdict_first)
            self._answer = f"NOT (s.batch IN (SELECT value FROM json_each(:verdict_first)) AND {hidden})"
        else:
            self._answer = "TRUE"
        # As reviewer.rules.workflow.refusal decides: who may still audit or vote is shown nothing that others say.
        judging = [in_round for in_round in _in_rounds("audit", "vote") if _may_act(person, in_round)]
        self._independent = (
            f"{_any_of(judging)} AND s.item NOT IN (SELECT item FROM barred WHERE person = :person)"
            if judging
            else "FALSE"
        )

    @property
    def trace(self) -> str:
        """Condition: the person may see the trace."""
        return self._answer

    def remark(self, kind: str, author: str) -> str:
        """Return the condition: the person may see a remark.

        :param kind: its kind (``COMMENT``, ...), as SQL
        :param author: initials, or NULL, as SQL; what the person wrote they see
        """
        # Marks of others are shown once everybody has judged.
        marks = _any_of(_in_rounds("screening", "audit", "vote"))
        others = f"{self._answer} AND NOT ({self._independent}) AND NOT ({kind} = {MARK} AND {marks})"
        return f"(({others}) OR {author} IS :person)"


def word_streams(seen: Seen) -> tuple[Stream, ...]:
    """Return where words are searched; the value ``words`` is their ``search_expression``."""
    kind, number = "(t.rowid & 3)", f"(t.rowid % {REMARKS_PER_ITEM} >> 2)"
    author = (
        f"CASE {kind} WHEN {COMMENT} THEN (SELECT iif(r.source = '', r.person, NULL) FROM comments r "
        f"WHERE r.id = {number}) WHEN {DECISION} THEN (SELECT r.person FROM decisions r WHERE r.id = {number}) "
        f"ELSE (SELECT r.person FROM marks r WHERE r.id = {number}) END"
    )
    current = f"s.number = t.rowid % {VERSIONS_PER_ITEM}"
    return (
        Stream("traces_text", VERSIONS_PER_ITEM, ("t.traces_text MATCH :words", current, seen.trace)),
        Stream("remarks_text", REMARKS_PER_ITEM, ("t.remarks_text MATCH :words", seen.remark(kind, author))),
    )


def readable_items(db: Transaction, person: str) -> set[int]:
    """Return the items of which the person may see any text where every trace is hidden before the own verdict."""
    return set(json.loads(db.execute(_READABLE, {"person": person}).fetchone()[0]))


def _in_rounds(*rounds: str) -> tuple[State, ...]:
    return tuple(state for state in STATES if round_of(state) in rounds)


def _may_act(person: Person, state: State) -> bool:
    round = round_of(state)
    return person.active and round is not None and person.is_any(*ROLES_OF[round])


def _any_of(states: tuple[State, ...] | list[State]) -> str:
    # From a fixed set of words, so they can be part of the SQL text.
    return f"s.state IN ({', '.join(repr(state) for state in states)})"


_ROUNDS = _in_rounds("screening", "revision", "audit", "vote", "adjudication")
# What is decided, and that of which the person gave the verdict or wrote something.
_READABLE = f"""
SELECT json_group_array(item) FROM (
    SELECT s.item FROM standings s INDEXED BY standings_walk WHERE {_any_of([s for s in STATES if s not in _ROUNDS])}
    UNION ALL SELECT item FROM verdicts WHERE person = :person
    UNION ALL SELECT item FROM versions WHERE author = :person
    UNION ALL SELECT item FROM comments WHERE person = :person
    UNION ALL SELECT item FROM decisions NOT INDEXED WHERE person = :person
    UNION ALL SELECT item FROM marks NOT INDEXED WHERE person = :person
)
"""
