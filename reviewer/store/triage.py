"""The next item of a person by value of information: chosen by ``agent.trust.triage``, and logged as a showing."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.language import tr
from agent.statistics import FloatArray
from reviewer.store.accounts import require_active
from reviewer.store.blind.scoring import hidden_items
from reviewer.store.credit import credited
from reviewer.store.errors import KeyReused, NotAllowed, StoreError
from reviewer.store.history import History, Verdicts
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.trust_values import Showing
from reviewer.store.values import QueueFilter
from reviewer.store.waiting import WaitingLists

if TYPE_CHECKING:
    from agent.trust.plans import Plan
    from agent.trust.sides import Labelled, Requirements

SETTING = "triage"
"""Setting ``{"random_share": 0.2, "limits": {"yes": 0.05, "no": 0.05, "delta": 0.05}}``; each part may be missing."""
RANDOM_SHARE = 0.2

_LABELLED = """
SELECT s.item, s.version, c.p_yes
FROM standings s JOIN scores c ON c.item = s.item
WHERE s.state = 'approved' AND s.task = :task AND c.reasons = '[]'
ORDER BY s.decided_at, s.item
"""

# New labels change the probabilities of the strata a little, so they are not read for every showing.
_LABELS_LAST = timedelta(seconds=30)


@dataclass(frozen=True)
class _Labels:
    """The labels of a task at a time; their plans are made again when they are read again."""

    labelled: Labelled
    at: datetime


class Triage:
    """Chooses items by value of information; each has a known probability, which its showing records."""

    def __init__(self, database: Database, history: History, verdicts: Verdicts) -> None:
        self._database = database
        self._history = history
        self._verdicts = verdicts
        self._lists = WaitingLists()
        self._labels: dict[str, _Labels] = {}
        self._plans: dict[tuple[str, QueueFilter], tuple[Labelled, Requirements, Plan]] = {}
        self._lock = threading.Lock()
        self._rng = np.random.default_rng()

    def show(
        self,
        *,
        person: str,
        filter: QueueFilter,
        key: str,
        without: Collection[int] = (),
        open_item: int | None = None,
    ) -> Showing | None:
        """Choose the next item and record its showing; the same key again returns the same one.

        It is chosen among the items of the filter on which the person may act now, that have a P(YES) and that a
        certificate can cover. The list, so the probability too, is as of this moment.

        :param without: items that are not in the list
        :param open_item: the item that the person has open, which is not in the list either. It is recorded: a second
            choice for the same open item takes the place of the first one (``reviewer.store.credit``)
        :return: None if no such item waits
        :raises NotAllowed: the filter leaves more than one task, or the person is not active
        :raises KeyReused: the key belongs to a showing of another person
        """
        with self._database.read() as db:
            known = _by_key(db, key, person)
            if known is not None:
                return known
            who = require_active(db, person)
            task = _task_of(db, filter)
            if task is None:
                return None
            rules = self._history.current_rules(db)[1]
            waiting = self._lists.get(db, filter, who, rules, stamp(self._database.steady()))
            waiting = waiting.without({*without, *hidden_items(db, person), *((open_item,) if open_item else ())})
            if not waiting.items.size:
                return None
            plan = self._plan(db, task, (person, filter), waiting.p)
        index, arm, probability = _choose(plan, waiting.p, self._rng, self._lock)
        described = {"filter": _described(filter, task), "open": open_item}
        text = json.dumps(plan.to_json() | described, ensure_ascii=False)
        row = {"item": int(waiting.items[index]), "person": person, "arm": arm, "probability": probability}
        with self._database.write() as db:
            known = _by_key(db, key, person)
            if known is not None:
                return known
            at = stamp(self._database.now())
            number = insert(db, "showings", {"key": key, **row, "plan": text, "at": at})
            self._database.log(db, person, "shown", f"item {row['item']}", facts={"showings": number})
            shown = _by_key(db, key, person)
            assert shown is not None
            return shown

    def _plan(self, db: Transaction, task: str, place: tuple[str, QueueFilter], waiting_p: FloatArray) -> Plan:
        """Return a plan that counts these waiting cases.

        A new one is made when labels are new. ``agent.trust.triage.plan`` keeps the strata of the last label; before
        the first label those of the last showing are kept, because labels are weighted by strata with equal borders.
        """
        from agent.trust.triage import plan

        share, requirements = _settings(db)
        labelled = self._labelled(db, task)
        with self._lock:
            before = self._plans.get(place)
        last = None if any(labelled.shown) else _last_plan(db, task)
        if before is not None and before[0] is labelled and before[1] == requirements:
            current = _counted(replace(before[2], random_share=share), waiting_p)
        elif last is not None:
            current = _counted(replace(last, random_share=share), waiting_p)
        else:
            current = plan(waiting_p, labelled, requirements, share)
        with self._lock:
            self._plans[place] = (labelled, requirements, current)
        return current

    def _labelled(self, db: Transaction, task: str) -> Labelled:
        from agent.trust.plans import Plan
        from agent.trust.sides import Labelled

        now = self._database.steady()
        with self._lock:
            known = self._labels.get(task)
        if known is not None and known.at <= now < known.at + _LABELS_LAST:
            return known.labelled
        rows = db.execute(_LABELLED, {"task": task}).fetchall()
        verdicts = self._verdicts.of(db, [row["version"] for row in rows])
        rows = [row for row in rows if verdicts[row["version"]] is not None]
        led = credited(db, task)
        plan_of = cache(lambda text: Plan.from_json(json.loads(text)))
        labelled = Labelled(
            p=np.array([row["p_yes"] for row in rows], dtype=float),
            yes=np.array([verdicts[row["version"]] == "YES" for row in rows], dtype=bool),
            shown=tuple(plan_of(led[row["item"]][0]) if row["item"] in led else None for row in rows),
        )
        with self._lock:
            self._labels[task] = _Labels(labelled, now)
        return labelled


def _choose(
    plan: Plan, waiting_p: FloatArray, rng: np.random.Generator, lock: threading.Lock
) -> tuple[int, str, float]:
    from agent.trust.plans import choose

    with lock:  # a generator is not safe to use from several threads
        return choose(plan, waiting_p, rng)


def _counted(plan: Plan, waiting_p: FloatArray) -> Plan:
    """Return a plan of the same strata for these waiting cases: empty strata get the probability 0."""
    counts = np.bincount(plan.stratum_of(waiting_p), minlength=len(plan.strata))
    total = sum(s.probability for s, n in zip(plan.strata, counts, strict=True) if n)
    strata = tuple(
        replace(s, waiting=int(n), probability=s.probability / total if n and total else 0.0)
        for s, n in zip(plan.strata, counts, strict=True)
    )
    return replace(plan, strata=strata)


def _last_plan(db: Transaction, task: str) -> Plan | None:
    """Return the plan of the latest showing of a task."""
    from agent.trust.plans import Plan

    row = db.execute(
        "SELECT w.plan FROM showings w JOIN items i ON i.id = w.item WHERE i.task = ? ORDER BY w.id DESC LIMIT 1",
        (task,),
    ).fetchone()
    return None if row is None else Plan.from_json(json.loads(row[0]))


def _settings(db: Transaction) -> tuple[float, Requirements]:
    """Return the random share and the limits. :raises StoreError: the setting is not as ``SETTING`` describes"""
    from agent.trust.sides import Requirements

    row = db.execute("SELECT value FROM settings WHERE name = ? ORDER BY id DESC LIMIT 1", (SETTING,)).fetchone()
    settings = {} if row is None else json.loads(row[0])
    try:
        share = float(settings.get("random_share", RANDOM_SHARE))
        if not 0 < share <= 1:
            raise ValueError(tr("found random_share = {share:g}, expected more than 0 and at most 1", share=share))
        return share, Requirements(**settings.get("limits", {}))
    except (AttributeError, TypeError, ValueError) as error:
        raise StoreError(f"setting {SETTING!r}: {error}") from None


def _task_of(db: Transaction, filter: QueueFilter) -> str | None:
    """Return the only task of a filter; None if there are no items. :raises NotAllowed: there are several"""
    if filter.task is not None:
        return filter.task
    rows = db.execute("SELECT DISTINCT task FROM tallies WHERE items > 0 AND state <> 'withdrawn'").fetchall()
    if len(rows) > 1:
        raise NotAllowed(tr("The order by value of information is for one task: choose a class in the filter."))
    return rows[0][0] if rows else None


def _described(filter: QueueFilter, task: str) -> Mapping[str, Any]:
    """Return the list from which was chosen: the fields of the filter that are set."""
    default = asdict(QueueFilter())
    given = {name: value for name, value in asdict(filter).items() if value != default[name] and name != "mine"}
    return {**given, "task": task}


def _by_key(db: Transaction, key: str, person: str) -> Showing | None:
    row = db.execute("SELECT * FROM showings WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    if row["person"] != person:
        raise KeyReused(tr("The key {key!r:.60} belongs to another showing.", key=key))
    return showing_from(row, json.loads(row["plan"]))


def showing_from(row: Mapping[str, Any], plan: Mapping[str, Any]) -> Showing:
    return Showing(
        id=row["id"],
        item=row["item"],
        person=row["person"],
        arm=row["arm"],
        probability=row["probability"],
        plan=plan,
        at=datetime.fromisoformat(row["at"]),
    )
