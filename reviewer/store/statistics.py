"""Figures of the Progress tab, defined in ``values.Progress``, and the rows that agreement is computed from."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import Any, NamedTuple

from reviewer.rules.workflow import Round, State
from reviewer.store.audit.chain import Head, head
from reviewer.store.sqlite.database import Database, Transaction
from reviewer.store.team.assignments import assigned_by_state
from reviewer.store.values import Progress, TimeSpent, Yielded

_DECISIONS = """
SELECT person, round, day, sum(decisions) AS decisions FROM decision_figures WHERE decisions > 0 {} GROUP BY 1, 2, 3
ORDER BY 3, 1
"""
_DECIDED = """
SELECT day, state, sum(items) AS items FROM standing_figures WHERE day <> '' AND items > 0 {} GROUP BY 1, 2 ORDER BY 1
"""
_JUDGED = """
SELECT coalesce(sum(disagreement * items), 0), coalesce(sum(compared * items), 0) FROM standing_figures
WHERE items > 0 {}
"""
_WRITTEN = "SELECT author, sum(versions) FROM version_figures WHERE true {} GROUP BY 1 ORDER BY 1"
_STATES = """
SELECT task, state, sum(items) AS items FROM tallies WHERE items > 0 AND state <> 'withdrawn' {} GROUP BY 1, 2
"""
_TIMES = """
SELECT person, round, active, sum(decisions) AS decisions FROM time_figures WHERE decisions > 0 {} GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
"""
_WORKED = """
SELECT d.person, d.round, w.active FROM work_times w JOIN decisions d ON d.id = w.decision
WHERE d.id NOT IN (SELECT withdraws FROM decisions WHERE withdraws IS NOT NULL) {} ORDER BY d.person, d.round
"""


COMPARED = 20_000
"""The last decisions, and the last inspections, in which those are searched that can be compared with another
person's."""
_CACHED = 50  # tasks and batches of which the figures are kept


class Statistics:
    """Figures over all items, or those of one task or batch."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counted: dict[tuple[str | None, str | None], tuple[Head, Progress]] = {}

    def counts(self, task: str | None = None, batch: str | None = None) -> Progress:
        """Return the figures of the campaign, counted again after each entry of the audit log.

        Every transaction that changes a figure appends an entry, except a ``rebuild`` that repairs derived rows.
        """
        with self._database.read() as db:
            now = head(db)
            known = self._counted.get((task, batch))
            if known is not None and known[0] == now:
                return known[1]
            progress = self._count(db, task, batch)
        if len(self._counted) >= _CACHED:
            self._counted.clear()
        self._counted[task, batch] = now, progress
        return progress

    def _count(self, db: Transaction, task: str | None, batch: str | None) -> Progress:
        chosen = {name: value for name, value in (("task", task), ("batch", batch)) if value is not None}
        direct = "".join(f" AND {name} = :{name}" for name in chosen)
        states = db.execute(_STATES.format(direct), chosen).fetchall()
        decisions = db.execute(_DECISIONS.format(direct), chosen).fetchall()
        decided = db.execute(_DECIDED.format(direct), chosen).fetchall()
        written = db.execute(_WRITTEN.format(direct), chosen).fetchall()
        worked = db.execute(_TIMES.format(direct), chosen).fetchall()
        disagreed, compared = db.execute(_JUDGED.format(direct), chosen).fetchone()
        by_task = _table(states, "task", "state", "items")
        return Progress(
            by_task=by_task,
            by_person=_table(decisions, "person", "round", "decisions"),
            days_of=_table(decisions, "person", "day", "decisions"),
            versions_by={row[0]: row[1] for row in written},
            disagreed=disagreed,
            compared=compared,
            yielded=_yielded(by_task.values()),
            per_day=_table(decisions, "day", "round", "decisions"),
            time_by_person=_times_by_person(worked),
            assigned=assigned_by_state(db, task, batch),
            decided_per_day={d: _yielded([n]) for d, n in _table(decided, "day", "state", "items").items()},
        )

    def time_by_round(self, items: Collection[int] | None = None) -> dict[Round, TimeSpent]:
        """Return the active time before a decision in force by round, of all people together.

        :param items: only decisions on these; None: on all
        """
        chosen = {} if items is None else {"items": json.dumps(sorted(items))}
        of_items = " AND d.item IN (SELECT value FROM json_each(:items))" if chosen else ""
        with self._database.read() as db:
            return _times_by_round(db.execute(_WORKED.format(of_items), chosen).fetchall())

    def shared_decisions(self, task: str | None = None, batch: str | None = None) -> tuple[SharedDecision, ...]:
        """Return those of the last decisions, on finished audits and votes, that can be compared with another person's.

        ``COMPARED`` decisions of all kinds are searched, so that a large campaign is answered as fast as a small one.
        """
        sql = _SHARED.format(_chosen(task, batch))
        with self._database.read() as db:
            rows = db.execute(sql, {"task": task, "batch": batch, "latest": COMPARED}).fetchall()
        return tuple(
            SharedDecision(row["round"], row["task"], str(row["version"]), row["person"], row["verb"]) for row in rows
        )

    def disagreements(
        self,
        task: str | None = None,
        batch: str | None = None,
        hidden: Collection[int] = (),
        most: int = 50,
    ) -> tuple[int, tuple[Disagreement, ...]]:
        """Return how many items people disagree on, and the latest of them.

        :param hidden: items to leave out, e.g. those that the present person scores blind
        """
        of = _DISAGREEMENTS.format(_chosen(task, batch))
        parameters: dict[str, Any] = {"task": task, "batch": batch, "most": most}
        parameters["hidden"] = json.dumps(sorted(hidden))
        with self._database.read() as db:
            (total,) = db.execute(f"SELECT count(*) {of}", parameters).fetchone()
            rows = db.execute(_DISAGREEMENT_ITEMS.format(of), parameters).fetchall()
        decisions: dict[int, dict[Round, Counter[str]]] = {}
        first: dict[int, sqlite3.Row] = {}
        for row in rows:
            first.setdefault(row["item"], row)
            decisions.setdefault(row["item"], {}).setdefault(row["round"], Counter())[row["verb"]] = row["people"]
        return total, tuple(
            Disagreement(item, row["name"], row["task"], row["state"], decisions[item]) for item, row in first.items()
        )

    def compared_inspections(self, task: str | None = None, batch: str | None = None) -> tuple[frozenset[int], bool]:
        """Return the items of the last inspections that two people inspected and that are open to everybody: not in
        screening, audit or vote. Also whether there are more than ``COMPARED`` inspections, of which the last are
        searched.
        """
        with self._database.read() as db:
            values = {"task": task, "batch": batch, "latest": COMPARED}
            rows = db.execute(_INSPECTED.format(_chosen(task, batch)), values)
            compared = frozenset(item for (item,) in rows)
            (number,) = db.execute("SELECT coalesce(max(id), 0) FROM inspections").fetchone()
            return compared, number > COMPARED

    def gold_verdicts(self, task: str | None = None, batch: str | None = None) -> tuple[GoldVerdict, ...]:
        """Return committed verdicts on items with a known label, once the item is decided."""
        with self._database.read() as db:
            rows = db.execute(_GOLD_VERDICTS.format(_chosen(task, batch)), {"task": task, "batch": batch})
            return tuple(GoldVerdict(row["person"], str(row["item"]), row["verdict"], row["label"]) for row in rows)

    def decisions(self, person: str | None = None) -> list[dict[str, Any]]:
        """Return every decision but undos, oldest first, as rows of a table.

        Columns: item, name, class (the task's key), round, person, verb, reason, verdict (the answer that a submit,
        pass or approve stands for, or "cannot tell"), comment, version, at, seconds (active; None: not known), undone.

        :param person: leave out the decisions of other people in a round of audit or vote that is still open
        """
        with self._database.read() as db:
            return list(db.query(_EVERY_DECISION, {"person": person}))

    def last_facts(self) -> tuple[int | None, ...]:
        """Return the latest ids of the facts behind these figures; equal ids mean equal figures."""
        with self._database.read() as db:
            return tuple(db.execute(_LAST_FACTS).fetchone())


def _table(rows: list[sqlite3.Row], outer: str, inner: str, number: str) -> dict[str, dict[Any, int]]:
    table: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        table[row[outer]][row[inner]] += row[number]
    return {key: dict(counter) for key, counter in table.items()}


def _times_by_person(rows: Iterable[sqlite3.Row]) -> dict[str, dict[Round, TimeSpent]]:
    """Return the medians of binned times: the rows of a person and round are in order of time."""
    times: defaultdict[str, dict[Round, TimeSpent]] = defaultdict(dict)
    for (person, name), group in groupby(rows, key=lambda row: (str(row["person"]), row["round"])):
        bins = [(row["active"], row["decisions"]) for row in group]
        count = sum(number for _, number in bins)
        middle = _at(bins, (count - 1) // 2), _at(bins, count // 2)
        times[person][name] = TimeSpent(count, sum(middle) / 2)
    return dict(times)


def _at(bins: Sequence[tuple[float, int]], place: int) -> float:
    """Return the value at a place, from 0, of values that are given as pairs of value and number."""
    for value, number in bins:
        if place < number:
            return value
        place -= number
    raise IndexError(place)


def _times_by_round(rows: Iterable[sqlite3.Row]) -> dict[Round, TimeSpent]:
    seconds: defaultdict[Round, list[float]] = defaultdict(list)
    for row in rows:
        seconds[row["round"]].append(row["active"])
    return {name: TimeSpent(len(durations), median(durations)) for name, durations in seconds.items()}


def _yielded(states: Iterable[Mapping[State, int]]) -> Yielded:
    tables = list(states)
    return Yielded(
        approved=sum(table.get("approved", 0) for table in tables),
        rejected=sum(table.get("rejected", 0) for table in tables),
        cannot_tell=sum(table.get("cannot tell", 0) for table in tables),
    )


# Decisions of a version and round in which two or more people decided.
_SHARED = """
SELECT * FROM (
    SELECT s.task, d.round, d.version, d.person, d.verb,
           count(*) OVER (PARTITION BY d.version, d.round) AS deciders
    FROM decisions d JOIN standings s ON s.item = d.item
    WHERE d.round IN ('audit', 'vote') AND d.verb <> 'undo'
          AND d.id > (SELECT max(id) FROM decisions) - :latest
          AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id)
          AND NOT (s.state = d.round AND s.version = d.version) {}
) WHERE deciders > 1 ORDER BY round, task, version, person
"""

# While an audit or a vote is open, its decisions are shown only to those who have decided.
_DISAGREEMENTS = """
FROM standings s
WHERE s.disagreement = 1 AND s.state NOT IN ('audit', 'vote')
      AND s.item NOT IN (SELECT value FROM json_each(:hidden)) {}
"""
_DISAGREEMENT_ITEMS = """
SELECT s.item, i.name, s.task, s.state, d.round, d.verb, count(*) AS people
FROM (SELECT s.* {} ORDER BY s.item DESC LIMIT :most) s
JOIN items i ON i.id = s.item
JOIN decisions d ON d.item = s.item AND d.version = s.version
WHERE d.round IN ('audit', 'vote') AND d.verb <> 'undo'
      AND d.id NOT IN (SELECT withdraws FROM decisions WHERE withdraws IS NOT NULL)
GROUP BY s.item, d.round, d.verb ORDER BY s.item DESC, d.round, d.verb
"""

# Only the first verdict on an item: later ones were given with knowledge of the outcome.
_GOLD_VERDICTS = """
SELECT v.person, v.item, v.verdict, i.label
FROM verdicts v JOIN items i ON i.id = v.item JOIN standings s ON s.item = v.item
WHERE i.label IS NOT NULL AND s.state IN ('approved', 'rejected', 'cannot tell')
      AND v.id IN (SELECT min(id) FROM verdicts GROUP BY item, person) {}
ORDER BY v.person, v.item
"""

_EVERY_DECISION = """
SELECT d.item, i.name, i.task AS class, d.round, d.person, d.verb, d.reason,
       CASE
           WHEN d.reason = 'cannot_tell' THEN 'cannot tell'
           WHEN d.verb IN ('submit', 'pass', 'approve') THEN coalesce((
               SELECT json_extract(step.value, '$.verdict') FROM json_each(v.body, '$.steps') step
               WHERE json_extract(step.value, '$.kind') = 'answer' ORDER BY step.id DESC LIMIT 1
           ), '')
           ELSE ''
       END AS verdict,
       d.comment, v.number AS version, d.at, w.active AS seconds,
       iif(EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id), 'yes', 'no') AS undone
FROM decisions d
JOIN items i ON i.id = d.item
JOIN versions v ON v.id = d.version
JOIN standings s ON s.item = d.item
LEFT JOIN work_times w ON w.decision = d.id
WHERE d.verb <> 'undo'
      AND NOT (:person IS NOT NULL AND d.person <> :person AND s.state IN ('audit', 'vote')
               AND d.round = s.state AND d.version = s.version)
ORDER BY d.id
"""

_INSPECTED = """
SELECT s.item
FROM (SELECT DISTINCT item FROM inspections WHERE id > (SELECT max(id) FROM inspections) - :latest) latest
CROSS JOIN standings s ON s.item = latest.item
WHERE s.state NOT IN ('screening', 'audit', 'vote', 'withdrawn')
    AND (SELECT count(DISTINCT person) FROM inspections WHERE item = s.item) > 1 {}
"""

_LAST_FACTS = """
SELECT (SELECT max(id) FROM decisions), (SELECT max(id) FROM verdicts), (SELECT max(id) FROM versions),
       (SELECT max(id) FROM settings), (SELECT max(id) FROM batch_changes)
"""


class SharedDecision(NamedTuple):
    """A decision in force on a version that another person decided on in the same round."""

    round: Round
    task: str
    version: str
    person: str
    verb: str


class GoldVerdict(NamedTuple):
    """A person's first committed verdict on a decided item whose label is known."""

    person: str
    item: str
    verdict: str
    label: str


@dataclass(frozen=True)
class Disagreement:
    """An item on whose current version people decided differently, in a finished round.

    :param decisions: how many people made each decision, by round
    """

    item: int
    name: str
    task: str
    state: State
    decisions: Mapping[Round, Mapping[str, int]]


def _chosen(task: str | None, batch: str | None) -> str:
    named = {"task": task, "batch": batch}
    return "".join(f" AND s.{name} = :{name}" for name, value in named.items() if value is not None)
