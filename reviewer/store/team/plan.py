"""Plans of bulk actions: which items would change and how, and which are left out and why."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from agent.language import tr
from reviewer.rules.workflow import Decision, Standing, State, decided, incomplete, refusal, round_of, standing
from reviewer.store.accounts import find_person, require_active, require_coordinator
from reviewer.store.audit.chain import canonical
from reviewer.store.blind.scoring import hidden_items
from reviewer.store.errors import NotAllowed
from reviewer.store.history import History
from reviewer.store.leases import held, others_hold, running_leases
from reviewer.store.marks import judged
from reviewer.store.sqlite.database import Database, Transaction
from reviewer.store.team.actions import (
    FIRST_NAMED,
    LONGEST_BATCH,
    MOST_CHANGED,
    MOST_ITEMS,
    Action,
    Assign,
    Change,
    LeftOut,
    Preview,
    Reject,
    SetBatch,
)
from reviewer.store.team.assignments import assigned_to

_CHOSEN = """
SELECT item, state, version, number, "cast", batch FROM standings
WHERE item IN (SELECT value FROM json_each(?)) ORDER BY item
"""


@dataclass(frozen=True)
class Planned:
    """An item that would change.

    :param stands: state, version and number of decisions of its standing
    :param after: None: it depends on the decisions of others
    :param people: those who would be assigned, or no longer be
    :param now: the standing of an item that would be rejected
    """

    item: int
    stands: tuple[State, int, int]
    before: str
    after: str | None
    people: tuple[str, ...] = ()
    now: Standing | None = None


@dataclass
class Plan:
    """The items that would change, in order, and those that are left out, by reason.

    :param hidden: number of items that the person may not see
    :param changes: number of decisions, assignments or changes of batch
    """

    action: Action
    items: list[Planned] = field(default_factory=list)
    left_out: dict[str, list[int]] = field(default_factory=dict)
    hidden: int = 0
    changes: int = 0

    def add(self, planned: Planned) -> None:
        """Add an item that would change. :raises NotAllowed: there are too many changes for one transaction"""
        self.items.append(planned)
        self.changes += max(1, len(planned.people))
        most = MOST_CHANGED[self.action.kind]
        if self.changes > most:
            raise NotAllowed(
                tr(
                    "Found more than {most} changes. One action makes no more, because nobody can save meanwhile. "
                    "Select fewer items.",
                    most=most,
                )
            )

    def leave_out(self, item: int, why: str) -> None:
        self.left_out.setdefault(why, []).append(item)

    def preview(self) -> Preview:
        """Return the plan as it is shown. Its token tells nothing of the decisions of others."""
        rows = [[item.item, *item.stands, item.before, item.after] for item in self.items]
        token = hashlib.sha256(canonical([self.action.kind, self.action.details(), rows])).hexdigest()
        changes = Counter((item.before, item.after) for item in self.items)
        reasons = sorted(self.left_out.items(), key=lambda entry: -len(entry[1]))
        left_out = [LeftOut(why, len(items), tuple(items[:FIRST_NAMED])) for why, items in reasons]
        if self.hidden:
            left_out.append(LeftOut(tr("You score these in a blind session that is still open."), self.hidden, ()))
        shown = tuple(Change(before, after, items) for (before, after), items in changes.most_common())
        return Preview(token, len(self.items), shown, tuple(left_out))


class Planner:
    """Plans actions inside the transaction of the caller."""

    def __init__(self, database: Database, history: History) -> None:
        self._database = database
        self._history = history

    def plan(
        self, db: Transaction, by: str, items: Collection[int], action: Action, verdict_first: Collection[str]
    ) -> Plan:
        """Return what an action would do; ``Bulk.preview`` describes it."""
        numbers = sorted(set(items))
        if len(numbers) > MOST_ITEMS:
            raise NotAllowed(
                tr("Found {found} items, expected at most {most} at once.", found=len(numbers), most=MOST_ITEMS)
            )
        self._check(db, by, action)
        plan = Plan(action)
        hidden = hidden_items(db, by)
        chosen = db.execute(_CHOSEN, (json.dumps(numbers),)).fetchall()
        for item in sorted(set(numbers).difference(row["item"] for row in chosen)):
            plan.leave_out(item, tr("There is no such item."))
        plan.hidden = sum(row["item"] in hidden for row in chosen)
        shown = [row for row in chosen if row["item"] not in hidden]
        match action:
            case Reject():
                self._plan_rejections(db, by, shown, action, plan, verdict_first)
            case Assign():
                _plan_assignments(db, shown, action, plan)
            case SetBatch():
                _plan_batches(shown, action, plan)
        return plan

    def require_manager(self, db: Transaction, by: str) -> None:
        """Check that a person may assign items and set batches. :raises NotAllowed: they may not"""
        if self._history.current_rules(db)[1].solo:
            require_active(db, by)
        else:
            require_coordinator(db, by)

    def _check(self, db: Transaction, by: str, action: Action) -> None:
        """Check what does not depend on the items. :raises NotAllowed: the action is refused as a whole"""
        match action:
            case Reject():
                require_active(db, by)
                sentence = incomplete("reject", action.reason, action.comment)
                if sentence is not None:
                    raise NotAllowed(sentence)
            case Assign():
                self.require_manager(db, by)
                if not action.people:
                    raise NotAllowed(tr("Choose at least one person."))
                for person in action.people:
                    # Past assignments of a person who has left can be taken back.
                    (require_active if action.assigned else find_person)(db, person)
            case SetBatch():
                self.require_manager(db, by)
                length = len(action.batch.strip())
                if not 1 <= length <= LONGEST_BATCH:
                    raise NotAllowed(
                        tr("batch: found {found} characters, expected 1 to {most}", found=length, most=LONGEST_BATCH)
                    )

    def _plan_rejections(
        self,
        db: Transaction,
        by: str,
        shown: Sequence[sqlite3.Row],
        action: Reject,
        plan: Plan,
        verdict_first: Collection[str],
    ) -> None:
        who, rules = find_person(db, by), self._history.current_rules(db)[1]
        unsent = {item for (item,) in db.execute("SELECT item FROM autosaves WHERE person = ?", (by,))}
        leases = running_leases(db, self._database.steady())
        first = {row["item"] for row in shown if row["batch"] in verdict_first and round_of(row["state"]) is not None}
        first -= judged(db, by, first)
        for row in shown:
            item = row["item"]
            # What state and role alone refuse needs no history: a selection can have a hundred thousand such items.
            stored = Standing(row["state"], row["version"], row["number"], rules.people_needed(row["state"]))
            sentence = refusal(stored, rules, who, "reject", row["version"])
            if sentence is not None:
                plan.leave_out(item, sentence)
                continue
            now = standing((fact for fact, _ in self._history.facts(db, item)), rules)
            sentence = refusal(now, rules, who, "reject", now.version_id)
            holders = leases.get(item, [])
            if sentence is not None:
                plan.leave_out(item, sentence)
            elif item in first:
                plan.leave_out(
                    item, tr("Give your own verdict first: in this batch you judge before you see the answer.")
                )
            elif item in unsent:
                plan.leave_out(item, tr("You have unsent text on this item: send or discard it first."))
            elif others_hold([lease["person"] for lease in holders], by, now.missing):
                plan.leave_out(item, str(held(holders)))
            else:
                assert now.round is not None
                decision = Decision(0, now.version_id, by, now.round, "reject", action.reason, rules=rules)
                # What follows from the decisions of others would reveal them.
                after = None if now.cast else decided(now, decision, rules).state
                plan.add(Planned(item, (now.state, now.version_id, len(now.cast)), now.state, after, now=now))


def _plan_assignments(db: Transaction, shown: Sequence[sqlite3.Row], action: Assign, plan: Plan) -> None:
    assigned = assigned_to(db, [row["item"] for row in shown])
    for row in shown:
        now = frozenset(assigned.get(row["item"], ()))
        people = frozenset(action.people) - now if action.assigned else now.intersection(action.people)
        if row["state"] == "withdrawn" and action.assigned:
            plan.leave_out(row["item"], tr("The item is withdrawn."))
        elif people:
            before, after = (", ".join(sorted(who)) for who in (now, now ^ people))
            plan.add(Planned(row["item"], _stands(row), before, after, tuple(sorted(people))))
        elif action.assigned:
            plan.leave_out(row["item"], tr("The item is assigned to these people already."))
        else:
            plan.leave_out(row["item"], tr("The item is assigned to none of these people."))


def _plan_batches(shown: Sequence[sqlite3.Row], action: SetBatch, plan: Plan) -> None:
    batch = action.batch.strip()
    for row in shown:
        if row["batch"] == batch:
            plan.leave_out(row["item"], tr("The item is in this batch already."))
        else:
            plan.add(Planned(row["item"], _stands(row), row["batch"], batch))


def _stands(row: sqlite3.Row) -> tuple[State, int, int]:
    return row["state"], row["version"], row["cast"]
