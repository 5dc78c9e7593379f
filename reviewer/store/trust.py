"""P(YES) of items, the votes of people, the showings of the ordered queue, and trials of evidence."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from agent.language import tr
from agent.trajectory import Trajectory
from reviewer.store.accounts import require_coordinator
from reviewer.store.audit.chain import canonical, sha256_of
from reviewer.store.credit import credited
from reviewer.store.errors import NotFound, StoreError
from reviewer.store.history import OPPOSITE, Verdicts
from reviewer.store.sqlite.database import Database, Transaction, stamp
from reviewer.store.triage import showing_from
from reviewer.store.trust_values import (
    Drafts,
    Scored,
    ScoreRow,
    Showing,
    StoredCase,
    StoredTrial,
    TrialRow,
    TrialsAdded,
    Vote,
)

_CASES = """
SELECT s.item, i.spectrum, i.drafter_kind, i.drafter_name, s.survey, s.snr, s.simulated, s.batch, s.state, i.label,
       s.version, s.decided_at, c.p_yes, c.model, c.features, c.reasons, c.at AS scored_at
FROM standings s JOIN items i ON i.id = s.item
LEFT JOIN scores c ON c.item = s.item
WHERE s.task = :task AND s.state <> 'withdrawn' AND (:batch IS NULL OR s.batch = :batch)
ORDER BY s.item
"""
_DRAFTS = """
SELECT i.drafter_kind, i.drafter_name, count(*) AS items, count(c.item) AS scored
FROM standings s JOIN items i ON i.id = s.item LEFT JOIN scores c ON c.item = s.item
WHERE s.task = ? AND s.state <> 'withdrawn'
GROUP BY i.drafter_kind, i.drafter_name ORDER BY scored DESC, items DESC, i.drafter_name
"""
_MODELS = """
SELECT m.sha256, m.model, m.at, count(*) AS items
FROM scores c JOIN standings s ON s.item = c.item JOIN score_models m ON m.sha256 = c.model AND m.task = s.task
WHERE s.task = ? AND s.state <> 'withdrawn'
GROUP BY m.sha256 ORDER BY m.at DESC, m.sha256
"""

_DECISIONS = """
SELECT d.item, i.spectrum, d.person, d.verb, d.version, d.at
FROM decisions d JOIN items i ON i.id = d.item JOIN standings s ON s.item = d.item
WHERE s.task = :task AND s.state <> 'withdrawn'
    AND (d.verb IN ('approve', 'pass') OR (d.verb = 'reject' AND d.reason = 'wrong_class'))
    AND NOT EXISTS (SELECT 1 FROM decisions u WHERE u.withdraws = d.id)
    -- In an open round others decide on the same version, without knowing this decision.
    AND NOT (s.state IN ('audit', 'vote') AND d.round = s.state AND d.version = s.version)
ORDER BY d.id
"""
_OWN = """
SELECT v.item, i.spectrum, v.person, v.verdict, v.at
FROM verdicts v JOIN items i ON i.id = v.item JOIN standings s ON s.item = v.item
WHERE s.task = :task AND s.state <> 'withdrawn'
ORDER BY v.id
"""

_SCORE = """
INSERT INTO scores (item, p_yes, features, reasons, model, at)
SELECT id, :p_yes, :features, :reasons, :model, :at FROM items WHERE id = :item AND task = :task
ON CONFLICT (item) DO UPDATE SET
    p_yes = excluded.p_yes, features = excluded.features, reasons = excluded.reasons, model = excluded.model,
    at = excluded.at
"""

_SCORES_AT_A_TIME = 5000
# Seconds between two transactions: SQLite checks ten times per second whether a lock is free.
_PAUSE = 0.12
_READ_AT_A_TIME = 200
_TRIALS_AT_A_TIME = 2000


class Trust:
    """Scores (derived), showings and trials (facts), and the verdicts of people."""

    def __init__(self, database: Database, verdicts: Verdicts) -> None:
        self._database = database
        self._verdicts = verdicts

    def cases(self, task: str, batch: str | None = None) -> list[StoredCase]:
        """Return every item of a task, or of one batch of it, that is not withdrawn, in order of item.

        A decided item has the plan of a showing only if that showing led to its first decision (``credited``).
        """
        with self._database.read() as db:
            rows = db.execute(_CASES, {"task": task, "batch": batch}).fetchall()
            verdicts = self._verdicts.of(db, [row["version"] for row in rows if row["state"] == "approved"])
            led = credited(db, task)
            shown = {row["item"]: led[row["item"]] for row in rows if row["decided_at"] and row["item"] in led}
            plan_of = cache(json.loads)
            return [
                StoredCase(
                    item=row["item"],
                    spectrum_sha256=row["spectrum"],
                    drafter_kind=row["drafter_kind"],
                    drafter_name=row["drafter_name"],
                    survey=row["survey"],
                    snr=row["snr"],
                    simulated=bool(row["simulated"]),
                    batch=row["batch"],
                    state=row["state"],
                    label=row["label"],
                    approved=verdicts.get(row["version"]) if row["state"] == "approved" else None,
                    decided_at=None if row["decided_at"] is None else datetime.fromisoformat(row["decided_at"]),
                    p_yes=row["p_yes"],
                    model=row["model"],
                    features=None if row["features"] is None else json.loads(row["features"]),
                    reasons=() if row["reasons"] in (None, "[]") else tuple(json.loads(row["reasons"])),
                    plan=plan_of(shown[row["item"]][0]) if row["item"] in shown else None,
                    probability=shown[row["item"]][1] if row["item"] in shown else None,
                    scored_at=None if row["scored_at"] is None else datetime.fromisoformat(row["scored_at"]),
                )
                for row in rows
            ]

    def trajectories(self, items: Sequence[int]) -> Iterator[tuple[int, Trajectory]]:
        """Yield each item with its first version, which is what the drafter wrote, in the given order."""
        for some in _chunks(items, _READ_AT_A_TIME):
            with self._database.read() as db:
                bodies = dict(
                    db.execute(
                        "SELECT item, body FROM versions WHERE number = 1 AND item IN (SELECT value FROM json_each(?))",
                        (json.dumps(some),),
                    ).fetchall()
                )
                read = [(item, Trajectory.from_json(json.loads(bodies[item]))) for item in some if item in bodies]
            yield from read

    def votes(self, task: str) -> list[Vote]:
        """Return what people said about the objects of a task, oldest first: the latest decision and the latest own
        verdict of each person on each item.

        To approve or pass a version is to give its verdict; to reject it for a wrong class, the opposite one. Other
        rejections and "cannot tell" say nothing about the object. Decisions of an audit or a vote count once it is
        over: skills and labels may not show them to people who still decide.
        """
        with self._database.read() as db:
            decided = db.execute(_DECISIONS, {"task": task}).fetchall()
            own = db.execute(_OWN, {"task": task}).fetchall()
            verdicts = self._verdicts.of(db, [row["version"] for row in decided])
            latest: dict[tuple[str, int, str], Vote] = {}
            for row in decided:
                of_version = verdicts.get(row["version"])
                if of_version is None:
                    continue
                wrong = row["verb"] == "reject"
                verdict = OPPOSITE[of_version] if wrong else of_version
                at = datetime.fromisoformat(row["at"])
                vote = Vote(row["item"], row["spectrum"], row["person"], verdict, at, "decision")
                latest[vote.kind, vote.item, vote.person] = vote
            for row in own:
                latest.pop(("own verdict", row["item"], row["person"]), None)
                if row["verdict"] in OPPOSITE:
                    at = datetime.fromisoformat(row["at"])
                    vote = Vote(row["item"], row["spectrum"], row["person"], row["verdict"], at, "own verdict")
                    latest[vote.kind, vote.item, vote.person] = vote
            return sorted(latest.values(), key=lambda vote: vote.at)

    def record_scores(
        self, by: str | None, task: str, model: Mapping[str, Any], rows: Iterable[ScoreRow], pause: float = _PAUSE
    ) -> int:
        """Replace the scores of these items and return their number.

        Every five thousand rows are one transaction; between two of them other people can save. If a later one fails,
        the earlier ones stay, each with the model that made it.

        :param by: a coordinator; None only for the owner of the file
        :param model: JSON form of ``agent.trust.score.ScoreModel``
        :param pause: seconds between two transactions
        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: the task has no such item
        :raises StoreError: P(YES) of a row is not from 0 to 1
        """
        text = canonical(dict(model)).decode()
        sha256 = sha256_of(text)
        count = 0
        for some in _chunks(list(rows), _SCORES_AT_A_TIME) or [[]]:
            values = [_score_values(row) | {"model": sha256, "task": task} for row in some]
            if count:
                time.sleep(pause)
            with self._database.write() as db:
                require_coordinator(db, by)
                at = stamp(self._database.now())
                db.execute(
                    "INSERT INTO score_models (sha256, task, model, at) VALUES (?, ?, ?, ?) "
                    "ON CONFLICT (sha256, task) DO UPDATE SET at = excluded.at",
                    (sha256, task, text, at),
                )
                written = db.conn.executemany(_SCORE, [row | {"at": at} for row in values]).rowcount
                if written != len(values):
                    raise NotFound(
                        tr(
                            "Found {written} of {n_values} items in the task {task!r:.60}; nothing of these was saved. "
                            "Score the items of one task at a time.",
                            written=written,
                            n_values=len(values),
                            task=task,
                        )
                    )
                details = {"count": written, "model": sha256}
                self._database.log(db, by, "scores recorded", task, details)
            count += len(values)
        return count

    def scored(self, task: str) -> Scored | None:
        """Return the latest score model of a task; None if no item of the task was ever scored."""
        with self._database.read() as db:
            row = db.execute("SELECT * FROM score_models WHERE task = ? ORDER BY at DESC LIMIT 1", (task,)).fetchone()
            if row is None:
                return None
            (items,) = db.execute(
                "SELECT count(*) FROM scores c JOIN standings s ON s.item = c.item "
                "WHERE s.task = ? AND s.state <> 'withdrawn'",
                (task,),
            ).fetchone()
            return _scored(row, items)

    def score_models(self, task: str) -> list[Scored]:
        """Return the models of the present scores of a task, the latest first; each policy may have one of its own."""
        with self._database.read() as db:
            rows = db.execute(_MODELS, (task,)).fetchall()
            return [_scored(row, row["items"]) for row in rows]

    def drafts(self, task: str) -> list[Drafts]:
        """Return the drafters of the items of a task, those with most scored items first."""
        with self._database.read() as db:
            rows = db.execute(_DRAFTS, (task,)).fetchall()
        return [Drafts(*row) for row in rows]

    def showings(self, task: str) -> list[Showing]:
        """Return every showing of the items of a task, oldest first."""
        with self._database.read() as db:
            rows = db.execute(
                "SELECT w.* FROM showings w JOIN items i ON i.id = w.item WHERE i.task = ? ORDER BY w.id", (task,)
            ).fetchall()
            plan_of = cache(json.loads)
            return [showing_from(row, plan_of(row["plan"])) for row in rows]

    def record_trials(self, by: str | None, rows: Iterable[TrialRow]) -> TrialsAdded:
        """Record trials; one that is there already adds nothing.

        :param by: a coordinator; None only for the owner of the file
        :raises NotAllowed: ``by`` is no coordinator
        """
        added = known = 0
        missing: list[str] = []
        for some in _chunks(list(rows), _TRIALS_AT_A_TIME) or [[]]:
            # Versions stay as they are, so they are found before the transaction for which others wait.
            with self._database.read() as db:
                versions = _versions_with(db, some)
            with self._database.write() as db:
                require_coordinator(db, by)
                first, last = 0, 0
                for row in some:
                    places = [pair for pair in versions.get(row.content_hash, ()) if row.item in (None, pair[0])]
                    if not places:
                        missing.append(row.content_hash)
                    for item, version in places:
                        number = _insert_trial(db, by, row, item, version, stamp(self._database.now()))
                        added, known = added + (number is not None), known + (number is None)
                        first, last = (first or number, number) if number is not None else (first, last)
                if last:
                    details = {"count": last - first + 1}
                    self._database.log(db, by, "trials recorded", "trials", details, {"trials": (first, last)})
        return TrialsAdded(added, known, tuple(dict.fromkeys(missing)))

    def trial_of(self, item_id: int, content_hash: str) -> StoredTrial | None:
        """Return the last trial of an item's text with this content hash; no other trial is read."""
        with self._database.read() as db:
            row = db.execute(
                "SELECT t.* FROM trials t JOIN versions v ON v.id = t.version "
                "WHERE t.item = ? AND v.content_hash = ? ORDER BY t.id DESC LIMIT 1",
                (item_id, content_hash),
            ).fetchone()
            return None if row is None else _stored_trial(row)

    def was_tried(self, item_id: int) -> bool:
        """Return whether any version of an item has a trial."""
        with self._database.read() as db:
            return bool(db.execute("SELECT EXISTS (SELECT 1 FROM trials WHERE item = ?)", (item_id,)).fetchone()[0])

    def any_scores(self) -> bool:
        """Return whether any item has a P(YES)."""
        with self._database.read() as db:
            return bool(db.execute("SELECT EXISTS (SELECT 1 FROM scores)").fetchone()[0])

    def any_trials(self) -> bool:
        """Return whether any trial is recorded."""
        with self._database.read() as db:
            return bool(db.execute("SELECT EXISTS (SELECT 1 FROM trials)").fetchone()[0])


_Row = TypeVar("_Row")


def _chunks(rows: Sequence[_Row], size: int) -> list[Sequence[_Row]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _scored(row: sqlite3.Row, items: int) -> Scored:
    return Scored(row["sha256"], json.loads(row["model"]), datetime.fromisoformat(row["at"]), items)


def _stored_trial(row: sqlite3.Row) -> StoredTrial:
    return StoredTrial(
        id=row["id"],
        item=row["item"],
        version=row["version"],
        passed=None if row["passed"] is None else bool(row["passed"]),
        result=json.loads(row["result"]),
        at=datetime.fromisoformat(row["at"]),
    )


def _score_values(row: ScoreRow) -> dict[str, object]:
    if not 0 <= row.p_yes <= 1:
        raise StoreError(
            tr("item {item}: found P(YES) = {p_yes}, expected a number from 0 to 1", item=row.item, p_yes=row.p_yes)
        )
    return {
        "item": row.item,
        "p_yes": float(row.p_yes),
        "features": json.dumps(dict(row.features), allow_nan=False),
        "reasons": json.dumps(list(row.reasons), ensure_ascii=False),
    }


_VERSIONS_OF_ITEMS = """
SELECT content_hash, item, id FROM versions WHERE item IN (SELECT value FROM json_each(:items))
    AND content_hash IN (SELECT value FROM json_each(:hashes))
ORDER BY id
"""
# There is no index of content hashes: this reads every version.
_VERSIONS = """
SELECT content_hash, item, id FROM versions WHERE content_hash IN (SELECT value FROM json_each(:hashes)) ORDER BY id
"""


def _versions_with(db: Transaction, rows: Sequence[TrialRow]) -> dict[str, list[tuple[int, int]]]:
    """Return item and id of the versions with the content hash of each row; of two such versions of an item, the
    first. Where every row names its item, only the versions of these items are read.
    """
    items_of: dict[str, dict[int, int]] = {}
    sql = _VERSIONS if any(row.item is None for row in rows) else _VERSIONS_OF_ITEMS
    values = {"items": [row.item for row in rows], "hashes": [row.content_hash for row in rows]}
    for content_hash, item, version in db.execute(sql, {name: json.dumps(value) for name, value in values.items()}):
        items_of.setdefault(content_hash, {}).setdefault(item, version)
    return {content_hash: list(items.items()) for content_hash, items in items_of.items()}


def _insert_trial(db: Transaction, by: str | None, row: TrialRow, item: int, version: int, at: str) -> int | None:
    """Insert a trial and return its id; None if the same one is there already."""
    text = canonical(dict(row.result)).decode()
    passed = None if row.passed is None else int(row.passed)
    key = sha256_of(f"{item} {version} {passed} {text}")
    inserted = db.execute(
        "INSERT INTO trials (key, item, version, passed, person, at, result) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (key) DO NOTHING",
        (key, item, version, passed, by, at, text),
    )
    return inserted.lastrowid if inserted.rowcount else None
