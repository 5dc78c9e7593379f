"""Bulk actions in a process of their own, which can kill itself before an SQL statement: the campaign, and what is in
the file."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from reviewer.rules.workflow import Rules
from reviewer.store import Draft, Store
from reviewer.store.team.actions import Action, Assign, Reject, SetBatch
from tests.support.campaign import TO_AUDIT, TO_VOTE, Desk, a_trajectory, people

ACTIONS: dict[str, Action] = {
    "reject": Reject("other", "A comment for the search index."),
    "assign": Assign(("AU", "RE")),
    "batch": SetBatch("another batch"),
}
LEFT_OUT = 10
"""Items of the campaign that nobody may reject any more."""
_EARLIER = ((), (("RE", "keep"),), TO_AUDIT, TO_VOTE, (*TO_VOTE, ("VO", "approve")))


def make(path: Path, items: int) -> None:
    """Write a campaign of ``items`` open items, of which a hundred are in the later rounds, and of rejected ones."""
    with Store.open(path) as store:
        people(store)
        store.settings.set_rules("CO", Rules(auditors=2, votes=3, approve_at=2, reject_at=2))
        drafts = [Draft(a_trajectory(think=f"Draft {n}."), batch=f"batch {n % 3}") for n in range(items + LEFT_OUT)]
        numbers = [added.item_id for added in store.items.add_all(drafts)]
        desk = Desk(store)
        for n, item in enumerate(numbers[:100]):
            if _EARLIER[n % 5]:
                desk.until(item, *_EARLIER[n % 5])
        for item in numbers[-LEFT_OUT:]:
            desk.until(item, ("RE", "reject"))


def chosen(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as db:
        return [item for (item,) in db.execute("SELECT id FROM items")]


def contents(path: Path) -> dict[str, object]:
    """Return the standings, assignments and tallies, read by SQLite alone, and how many facts there are."""
    with closing(sqlite3.connect(path)) as db:
        tallies = Counter()
        for *of, items in db.execute("SELECT * FROM tallies WHERE items > 0"):
            tallies[tuple(of)] += items
        return {
            "standings": db.execute("SELECT * FROM standings ORDER BY item").fetchall(),
            "barred": db.execute("SELECT * FROM barred ORDER BY item, person").fetchall(),
            "assigned": db.execute("SELECT * FROM assigned ORDER BY item, person").fetchall(),
            "tallies": tallies,
        }


def facts(path: Path) -> tuple[int, ...]:
    """Return the numbers of bulk actions, decisions, their actions, assignments, changes of batch and log entries."""
    tables = ("bulk_actions", "decisions", "bulk_decisions", "assignments", "batch_changes", "log")
    with closing(sqlite3.connect(path)) as db:
        return tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables)


def do(path: Path, kind: str, statement: int | None) -> int:
    """Do the action; return the number of its SQL statements.

    :param statement: the one before which this process is killed; 0: none; None: they are not counted
    """
    seen = 0

    def count(sql: str) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    with Store.open(path) as store:
        items = chosen(path)
        token = "" if kind == "undo" else store.bulk.preview("CO", items, ACTIONS[kind]).token
        print("ready", flush=True)
        if statement is not None:
            store.database.writer.set_trace_callback(count)
        if kind == "undo":
            last = store.bulk.actions(1)[0]
            store.bulk.undo("CO", last.id, f"the undo of {last.id}")
        else:
            store.bulk.apply("CO", items, ACTIONS[kind], token, f"the key of {kind} {len(store.bulk.actions())}")
        store.database.writer.set_trace_callback(None)
        print("done", flush=True)
    return seen
