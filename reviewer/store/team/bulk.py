"""Bulk actions: rejections, assignments and batches of many items, each in one transaction with one log entry.

A preview says what would change. The action names its token, so it does what was shown or nothing. A rejection is a
decision like any other, under the same rules; an undo takes a whole action back.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from agent.language import tr
from reviewer.rules.workflow import Decision, decided, round_of, standing, undo_refusal
from reviewer.store.accounts import require_active
from reviewer.store.audit.chain import Range
from reviewer.store.blind.scoring import hidden_items
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.history import History, derived, derived_from
from reviewer.store.reviews import INSERT_DECISION
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.sqlite.texts import DECISION, index_remark
from reviewer.store.team.actions import (
    Action,
    Assign,
    BulkAction,
    Preview,
    Reject,
    SelectionChanged,
    SetBatch,
    built_on,
)
from reviewer.store.team.plan import Planned, Planner
from reviewer.store.team.webhooks import unreported

_ACTIONS = "SELECT b.*, u.id AS undone FROM bulk_actions b LEFT JOIN bulk_actions u ON u.undoes = b.id"
# Rejections by others of items that are still in the round in which they were rejected, and the undo of such an action.
_SECRET = """:person IS NOT NULL AND b.person <> :person AND EXISTS (
    SELECT 1 FROM bulk_decisions k JOIN decisions d ON d.id = k.decision JOIN standings s ON s.item = d.item
    WHERE k.bulk = coalesce(b.undoes, b.id) AND s.state IN ('audit', 'vote') AND d.round = s.state
          AND d.version = s.version
)"""
_DECISIONS = """
SELECT d.id, d.item FROM bulk_decisions b JOIN decisions d ON d.id = b.decision
WHERE b.bulk = ? AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id) ORDER BY d.item
"""
# Whether a later change of the same item, which was not undone itself, is built on this one.
_LATER = """EXISTS (
    SELECT 1 FROM {table} l JOIN bulk_actions k ON k.id = l.bulk
    WHERE l.item = c.item AND l.id > c.id AND k.kind <> 'undo' AND {same}
          AND NOT EXISTS (SELECT 1 FROM bulk_actions u WHERE u.undoes = k.id)
)"""
_ASSIGNED = f"""
SELECT c.item, c.person, c.assigned, {_LATER.format(table="assignments", same="l.person = c.person")} AS later
FROM assignments c WHERE c.bulk = ? ORDER BY c.id
"""
_REBATCHED = f"""
SELECT c.item, c.before, c.batch, {_LATER.format(table="batch_changes", same="true")} AS later
FROM batch_changes c WHERE c.bulk = ? ORDER BY c.id
"""

_LOGGED = {
    # Not how: who reads the log may still judge the items.
    "reject": "items decided",
    "assign": "items assigned",
    "unassign": "items unassigned",
    "batch": "batch set",
    "undo": "bulk action undone",
}
"""What an action is called in the audit log."""

Facts = dict[str, Range]


class Bulk:
    """Actions on many items at once.

    Rejections are for those who may decide the items. Assignments and batches are for coordinators, and for anybody
    in a database where one person works alone.
    """

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history
        self._planner = Planner(database, history)

    def preview(self, by: str, items: Collection[int], action: Action, verdict_first: Collection[str] = ()) -> Preview:
        """Return what an action would do now.

        :param by: initials of the person who would do it
        :param verdict_first: batches in which everybody gives a verdict before they see the answer
        :raises NotAllowed: the person may do this with no item, something is missing, or there are more items than
            ``MOST_ITEMS`` or more changes than ``MOST_CHANGED``
        :raises NotFound: there is nobody with the initials of an action
        """
        with self._database.read() as db:
            return self._planner.plan(db, by, items, action, verdict_first).preview()

    def apply(
        self,
        by: str,
        items: Collection[int],
        action: Action,
        token: str,
        key: str,
        verdict_first: Collection[str] = (),
    ) -> BulkAction:
        """Do what a preview has shown, in one transaction. The same key again returns the first result.

        :param token: that of the preview
        :raises SelectionChanged: the items or their standings are no longer those of the preview
        :raises NotAllowed: see ``preview``; or no item would change
        :raises NotFound: see ``preview``
        :raises KeyReused: the key was used for another action
        """
        details = {**action.details(), "token": token}
        with self._database.write() as db:
            first = _replayed(db, key, {"kind": action.kind, "person": by, "details": details})
            if first is not None:
                return first
            plan = self._planner.plan(db, by, items, action, verdict_first)
            preview = plan.preview()
            if preview.token != token:
                raise SelectionChanged(preview)
            if not plan.items:
                raise NotAllowed(tr("No item of the selection would change."))
            bulk = self._begin(db, by, key, action.kind, details, len(plan.items))
            match action:
                case Reject():
                    facts = self._reject(db, by, bulk, action, plan.items)
                case Assign():
                    rows = [(item.item, person) for item in plan.items for person in item.people]
                    facts = self._assign(db, bulk, [(*row, action.assigned) for row in rows])
                case SetBatch():
                    facts = self._rebatch(
                        db, bulk, [(item.item, item.before, action.batch.strip()) for item in plan.items]
                    )
            self._log(db, by, action.kind, bulk, [item.item for item in plan.items], action.logged(), facts)
            return _action(db, bulk)

    def undo(self, by: str, bulk_id: int, key: str) -> BulkAction:
        """Take back a whole action, in one transaction. The same key again returns the first result.

        Rejections can be undone by their person, assignments and batches by coordinators. A rejection that its person
        has undone before is left as it is.

        :raises NotAllowed: the person may not undo it; it was undone before; or another person has built on one of its
            items: decided or written a version after the rejection, or changed the same assignment or the batch
        :raises NotFound: there is no such action
        :raises KeyReused: the key was used for another action
        """
        with self._database.write() as db:
            first = _replayed(db, key, {"kind": "undo", "person": by, "undoes": bulk_id})
            if first is not None:
                return first
            done = _action(db, bulk_id)
            if done.kind == "undo":
                raise NotAllowed(tr("Action {number} is an undo, which cannot be undone.", number=bulk_id))
            if done.undone is not None:
                raise NotAllowed(tr("Action {number} was already undone.", number=bulk_id))
            if done.kind == "reject":
                facts, items = self._undo_decisions(db, by, done, key)
            else:
                self._planner.require_manager(db, by)
                facts, items = self._undo_changes(db, by, done, key)
            (bulk, _) = facts["bulk_actions"]
            self._log(db, by, "undo", bulk, items, {"undoes": bulk_id}, facts)
            return _action(db, bulk)

    def actions(self, limit: int = 50, person: str | None = None) -> list[BulkAction]:
        """Return the last actions and undos, newest first.

        :param person: only those of which this person may know (initials). Rejections by others are left out while an
            item of theirs is in the round of audit or vote in which it was rejected: people who still judge it would
            learn how others did.
        """
        with self._database.read() as db:
            sql = f"{_ACTIONS} WHERE NOT ({_SECRET}) ORDER BY b.id DESC LIMIT :limit"
            return [_action_from(row) for row in db.execute(sql, {"person": person, "limit": limit})]

    # ---- what is written

    def _begin(
        self,
        db: Transaction,
        by: str,
        key: str,
        kind: str,
        details: Mapping[str, Any],
        items: int,
        undoes: int | None = None,
    ) -> int:
        row = {"key": key, "kind": kind, "details": json.dumps(details, ensure_ascii=False), "items": items}
        return insert(db, "bulk_actions", {**row, "undoes": undoes, "person": by, "at": stamp(self._database.now())})

    def _log(
        self,
        db: Transaction,
        by: str,
        kind: str,
        bulk: int,
        items: Sequence[int],
        details: Mapping[str, Any],
        facts: Facts,
    ) -> None:
        subject = f"item {items[0]}" if len(items) == 1 else f"items {items[0]} to {items[-1]}"
        covered = {"bulk_actions": (bulk, bulk), **facts}
        self._database.log(db, by, _LOGGED[kind], subject, {"action": bulk, "count": len(items), **details}, covered)

    def _reject(self, db: Transaction, by: str, bulk: int, action: Reject, items: Sequence[Planned]) -> Facts:
        rows = [
            {
                "item": item.item,
                "version": item.stands[1],
                "round": round_of(item.stands[0]),
                "verb": "reject",
                **action.details(),
                "withdraws": None,
            }
            for item in items
        ]
        at = self._database.now()
        facts = self._decide(db, by, bulk, rows, at)
        chosen = json.dumps([item.item for item in items])
        db.execute(
            "UPDATE leases SET ended = 'decided' WHERE person = ? AND ended IS NULL "
            "AND item IN (SELECT value FROM json_each(?))",
            (by, chosen),
        )
        rules, (first, _) = self._history.current_rules(db)[1], facts["decisions"]
        for number, item in enumerate(items, start=first):
            now = item.now
            assert now is not None
            assert now.round is not None
            decision = Decision(number, now.version_id, by, now.round, "reject", action.reason, rules=rules)
            after = decided(now, decision, rules)
            self._history.keep(db, item.item, derived_from(after, rules, item.item, at if after.decided_by else None))
        return facts

    def _decide(self, db: Transaction, by: str, bulk: int, rows: Sequence[Mapping[str, Any]], at: datetime) -> Facts:
        """Append decisions, which get consecutive numbers, and name them as those of the action."""
        (last,) = db.execute("SELECT coalesce(max(id), 0) FROM decisions").fetchone()
        shared = {"person": by, "rules": self._history.current_rules(db)[0], "at": stamp(at)}
        prefix = f"bulk:{uuid4().hex}:"
        db.conn.executemany(INSERT_DECISION, ({**row, **shared, "key": f"{prefix}{row['item']}"} for row in rows))
        numbers = range(last + 1, last + 1 + len(rows))
        db.conn.executemany("INSERT INTO bulk_decisions VALUES (?, ?)", ((number, bulk) for number in numbers))
        for number, row in zip(numbers, rows, strict=True):
            index_remark(db, DECISION, number, row["comment"])
        bound = (numbers[0], numbers[-1])
        return {"decisions": bound, "bulk_decisions": bound}

    def _assign(self, db: Transaction, bulk: int, rows: Sequence[tuple[int, str, bool]]) -> Facts:
        """Append assignments (item, person, whether assigned) and derive those in force."""
        at = stamp(self._database.now())
        facts = _append(
            db,
            "assignments",
            "(item, person, assigned, bulk, at) VALUES (?, ?, ?, ?, ?)",
            [(item, person, int(assigned), bulk, at) for item, person, assigned in rows],
        )
        db.conn.executemany(
            "INSERT INTO assigned (person, item) VALUES (?, ?) ON CONFLICT DO NOTHING",
            ((person, item) for item, person, assigned in rows if assigned),
        )
        db.conn.executemany(
            "DELETE FROM assigned WHERE person = ? AND item = ?",
            ((person, item) for item, person, assigned in rows if not assigned),
        )
        return facts

    def _rebatch(self, db: Transaction, bulk: int, rows: Sequence[tuple[int, str, str]]) -> Facts:
        """Append changes of batch (item, before, after) and put the items into the new one."""
        at = stamp(self._database.now())
        facts = _append(
            db,
            "batch_changes",
            "(item, before, batch, bulk, at) VALUES (?, ?, ?, ?, ?)",
            [(item, before, after, bulk, at) for item, before, after in rows],
        )
        db.conn.executemany("UPDATE standings SET batch = ? WHERE item = ?", ((after, item) for item, _, after in rows))
        return facts

    # ---- undo

    def _undo_decisions(self, db: Transaction, by: str, done: BulkAction, key: str) -> tuple[Facts, list[int]]:
        who = require_active(db, by)
        if done.person != by:
            raise NotAllowed(
                tr(
                    "These are decisions of {person}; only {person} can undo them.",
                    person=done.person,
                )
            )
        hidden, rules, at = hidden_items(db, by), self._history.current_rules(db)[1], self._database.now()
        rows, histories, later = [], [], []
        for number, item in db.execute(_DECISIONS, (done.id,)).fetchall():
            history = self._history.facts(db, item)
            now = standing((fact for fact, _ in history), rules)
            last = now.last
            if item in hidden or last is None or last.id != number or undo_refusal(now, who) is not None:
                later.append(item)
            else:
                row = {"item": item, "version": now.version_id, "round": last.round, "withdraws": number}
                rows.append({**row, "verb": "undo", "reason": "", "comment": ""})
                histories.append(history)
        items = [row["item"] for row in rows]
        bulk = self._begin_undo(db, by, done, key, items, later, hidden)
        facts = self._decide(db, by, bulk, rows, at)
        undone = enumerate(zip(rows, histories, strict=True), start=facts["decisions"][0])
        with unreported(db):
            for number, (row, history) in undone:
                undo = Decision(
                    number, row["version"], by, row["round"], "undo", withdraws=row["withdraws"], rules=rules
                )
                self._history.keep(db, row["item"], derived([*history, (undo, at)], rules, row["item"]))
        return {"bulk_actions": (bulk, bulk), **facts}, items

    def _undo_changes(self, db: Transaction, by: str, done: BulkAction, key: str) -> tuple[Facts, list[int]]:
        rows = db.execute(_REBATCHED if done.kind == "batch" else _ASSIGNED, (done.id,)).fetchall()
        items = sorted({row["item"] for row in rows})
        later = {row["item"] for row in rows if row["later"]}
        bulk = self._begin_undo(db, by, done, key, items, later, hidden_items(db, by))
        if done.kind == "batch":
            facts = self._rebatch(db, bulk, [(row["item"], row["batch"], row["before"]) for row in rows])
        else:
            facts = self._assign(db, bulk, [(row["item"], row["person"], not row["assigned"]) for row in rows])
        return {"bulk_actions": (bulk, bulk), **facts}, items

    def _begin_undo(
        self,
        db: Transaction,
        by: str,
        done: BulkAction,
        key: str,
        items: Sequence[int],
        later: Collection[int],
        hidden: frozenset[int],
    ) -> int:
        """Append the undo of an action. :raises NotAllowed: it was built on by others, or nothing is left to undo"""
        if later:
            raise NotAllowed(built_on(later, hidden))
        if not items:
            raise NotAllowed(tr("Nothing of action {number} is left to undo.", number=done.id))
        return self._begin(db, by, key, "undo", {}, len(items), undoes=done.id)


def _append(db: Transaction, table: str, values: str, rows: Sequence[tuple[object, ...]]) -> Facts:
    """Append rows to a table of facts, and return the range of their keys, which are consecutive."""
    (last,) = db.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
    db.conn.executemany(f"INSERT INTO {table} {values}", rows)
    return {table: (last + 1, last + len(rows))}


def _replayed(db: Transaction, key: str, submitted: Mapping[str, object]) -> BulkAction | None:
    """Return the result of the first action with this key; None if there was none.

    :raises KeyReused: it was another action
    """
    row = db.execute(f"{_ACTIONS} WHERE b.key = ?", (key,)).fetchone()
    if row is None:
        return None
    stored = {**row, "details": json.loads(row["details"])}
    if any(stored[name] != value for name, value in submitted.items()):
        raise KeyReused(tr("The key {key!r:.60} belongs to another action.", key=key))
    return _action_from(row)


def _action(db: Transaction, bulk: int) -> BulkAction:
    row = db.execute(f"{_ACTIONS} WHERE b.id = ?", (bulk,)).fetchone()
    if row is None:
        raise NotFound(tr("There is no action {number}.", number=bulk))
    return _action_from(row)


def _action_from(row: sqlite3.Row) -> BulkAction:
    details = {name: value for name, value in json.loads(row["details"]).items() if name != "token"}
    return BulkAction(
        id=row["id"],
        kind=row["kind"],
        details=details,
        items=row["items"],
        person=row["person"],
        at=datetime.fromisoformat(row["at"]),
        undoes=row["undoes"],
        undone=row["undone"],
    )
