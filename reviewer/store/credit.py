"""Which showing of the ordered queue led to the first decision on an item."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from reviewer.store.sqlite.database import Transaction

_SHOWINGS = """
SELECT w.id, w.item, w.person, w.at, coalesce(json_extract(w.plan, '$.open'), 0) AS open
FROM showings w JOIN items i ON i.id = w.item WHERE i.task = :task ORDER BY w.id
"""
_DECISIONS = """
SELECT d.id, d.item, d.person, d.at FROM decisions d JOIN items i ON i.id = d.item
WHERE i.task = :task AND d.verb NOT IN ('withdraw', 'restore', 'undo') ORDER BY d.id
"""
_PLANS = "SELECT id, plan, probability FROM showings WHERE id IN (SELECT value FROM json_each(?))"

# The page requests the next item when it opens one: of another item, and of the one after, at most one comes between.
_BETWEEN = 1


def credited(db: Transaction, task: str) -> dict[int, tuple[str, float]]:
    """Return plan (JSON text) and probability of the showing that led to the first decision on each item of a task.

    It is the latest showing of the item to the person who decided it first (decisions that were undone count too),
    before that decision. Between the two, this person decided at most one other item and was shown at most one other
    item: the page chooses the next item while one is open, so the decision on the open one follows the showing, and
    the next showing precedes the decision on the item. A second showing for the same open item takes the place of the
    first: the page was loaded again, or its filter was changed, so it no longer offers the first one. An item that was
    skipped, or decided by another person, has no plan: the probability with which it was decided is not known. To give
    no plan is always safe: it loses a label.
    """
    shown = db.execute(_SHOWINGS, {"task": task}).fetchall()
    if not shown:
        return {}
    # A showing comes before a decision of the same time.
    events = sorted(
        [(row["at"], 0, row["id"], row["person"], row["item"], row["open"]) for row in shown]
        + [(row["at"], 1, row["id"], row["person"], row["item"], 0) for row in db.execute(_DECISIONS, {"task": task})]
    )
    led = _led(events)
    rows = db.execute(_PLANS, (json.dumps(list(led.values())),)).fetchall()
    plans = {row["id"]: (row["plan"], row["probability"]) for row in rows}
    return {item: plans[showing] for item, showing in led.items()}


def _led(events: Iterable[tuple[Any, ...]]) -> dict[int, int]:
    """Return the showing that led to the first decision on each item: by item, its id.

    :param events: time, 0 for a showing or 1 for a decision, id, person, item, and the item that was open at a showing
        (0: none); in order of time
    """
    decided: set[int] = set()
    led: dict[int, int] = {}
    # By person and item shown: the id of the showing, the items decided since, and the number of showings since.
    waiting: defaultdict[str, dict[int, tuple[int, set[int], int]]] = defaultdict(dict)
    # By person: the item that was open at their last showing, and the item shown.
    last: dict[str, tuple[int, int]] = {}
    for _, decision, number, person, item, open_item in events:
        since = waiting[person]
        if decision and item not in decided:
            decided.add(item)
            if item in since:
                led[item] = since[item][0]
        since.pop(item, None)
        replaces = False
        if not decision:
            replaces = open_item != 0 and last.get(person, (0, 0))[0] == open_item
            if replaces:
                since.pop(last[person][1], None)
            last[person] = (open_item, item)
        for other, (showing, items, count) in list(since.items()):
            grown = (showing, items | {item}, count) if decision else (showing, items, count + (not replaces))
            if len(grown[1]) > _BETWEEN or grown[2] > _BETWEEN:
                del since[other]
            else:
                since[other] = grown
        if not decision:
            since[item] = (number, set(), 0)
    return led
