"""The turns of a scorer: their places in order, and which of them may be opened or answered now.

The rule is the same with and without hidden repeats. In any order, a scorer could look up the first showing.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence

from agent.language import tr, trn
from reviewer.blind.plan import KINDS, Kind
from reviewer.blind.sheet import count_changeable
from reviewer.store.blind.values import BlindWork
from reviewer.store.errors import NotAllowed
from reviewer.store.sqlite.database import Transaction

_PLACES = """
SELECT a.session, a.token, a.kind, a.place, a.gold, v.item,
       EXISTS (SELECT 1 FROM blind_scores WHERE assignment = a.token)
       OR EXISTS (SELECT 1 FROM blind_preferences WHERE assignment = a.token) AS answered
FROM blind_assignments a JOIN versions v ON v.id = a.version
"""

OPEN_PLACES = f"""{_PLACES}
WHERE a.scorer = :person AND a.session IN (
    SELECT session FROM blind_states WHERE state = 'open'
    EXCEPT SELECT session FROM blind_states WHERE state = 'closed'
)
ORDER BY a.session, a.place
"""

ORDER = f"{_PLACES} WHERE a.session = :session AND a.scorer = :person ORDER BY a.place"

_PLANS = "SELECT id, plan FROM blind_sessions WHERE id IN (SELECT value FROM json_each(?))"


def open_work(db: Transaction, person: str) -> tuple[BlindWork, ...]:
    """Return a person's assignments in open sessions, in their order."""
    orders: dict[int, list[sqlite3.Row]] = {}
    for row in db.execute(OPEN_PLACES, {"person": person}):
        orders.setdefault(row["session"], []).append(row)
    plans = {row["id"]: row["plan"] for row in db.execute(_PLANS, (json.dumps(list(orders)),))}
    changeable = {session: _changeable(order, plans[session]) for session, order in orders.items()}
    return tuple(
        BlindWork(
            session=session,
            token=row["token"],
            kind=row["kind"],
            place=row["place"],
            answered=bool(row["answered"]),
            changeable=changeable[session][row["kind"]],
        )
        for session, order in orders.items()
        for row in order
    )


def order_of(db: Transaction, assignment: sqlite3.Row) -> list[sqlite3.Row]:
    """Return all assignments of the scorer of one, in the same session, in their order."""
    return db.execute(ORDER, {"session": assignment["session"], "person": assignment["scorer"]}).fetchall()


def training_items(plan: str) -> frozenset[int]:
    """Return the items of a stored plan that are for practice; plans of earlier releases have none."""
    return frozenset(json.loads(plan).get("training", ()))


def require_in_turn(assignment: sqlite3.Row, order: Sequence[sqlite3.Row], ahead: int = 0) -> None:
    """Check that the scorer may open or answer an assignment now.

    :param assignment: with the session's ``plan``
    :param ahead: how many places after the first without an answer are allowed too
    :raises NotAllowed: an earlier place has no answer, or the answer at this place is final
    """
    place = assignment["place"]
    present = next((row for row in order if not row["answered"]), None)
    first = order[-1]["place"] + 1 if present is None else present["place"]
    if place > first + ahead:
        raise NotAllowed(tr("Place {first} has no answer yet: places are answered in order.", first=first))
    changeable = _changeable(order, assignment["plan"])[(present or order[-1])["kind"]]
    if place < first - changeable:
        raise NotAllowed(
            trn(
                "The answer at place {place} is final: only the last answer can be changed.",
                "The answer at place {place} is final: only the last {n} answers can be changed.",
                changeable,
                place=place,
            )
        )


def _changeable(order: Sequence[sqlite3.Row], plan: str) -> dict[Kind, int]:
    """Return by kind how many answers before a place can be changed."""
    training = training_items(plan)
    counted = Counter(row["kind"] for row in order if not row["gold"] and row["item"] not in training)
    return {kind: count_changeable(counted[kind]) for kind in KINDS}
