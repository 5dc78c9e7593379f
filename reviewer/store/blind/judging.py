"""Questions to model judges, and their judgements."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent.conversation import Usage
from agent.language import tr
from reviewer.blind.results import Judgement, JudgeScore
from reviewer.blind.sheet import PreferenceAnswer
from reviewer.store.accounts import require_coordinator
from reviewer.store.blind.stored import blind_session_by_id
from reviewer.store.blind.texts import shown_trajectory
from reviewer.store.blind.values import BlindSession, ToJudge
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp

# Without the scorers' sides: a judge gets every pair in both orders.
_TO_JUDGE = """
SELECT DISTINCT a.kind, min(a.version, coalesce(a.on_the_right, a.version)) AS version,
       max(a.version, coalesce(a.on_the_right, a.version)) AS other, a.spectrum, p.medium, i.task
FROM blind_assignments a JOIN versions v ON v.id = a.version JOIN items i ON i.id = v.item
LEFT JOIN spectra p ON p.sha256 = a.spectrum
WHERE a.session = ? AND NOT a.gold AND v.item NOT IN (SELECT value FROM json_each(?)) ORDER BY 1, 2, 3
"""


class Judging:
    """Questions to model judges, and their judgements. ``by`` None stands for the owner of the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def questions(self, by: str | None, session_id: int) -> tuple[ToJudge, ...]:
        """Return the scorers' questions, each once, and every pair in both orders; without gold and training items.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = _opened(db, session_id)
            rows = db.execute(_TO_JUDGE, (session_id, json.dumps(session.plan.training))).fetchall()
            versions = json.dumps([row[name] for row in rows for name in ("version", "other")])
            texts = db.execute(
                "SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (versions,)
            )
            bodies = {row["id"]: row["body"] for row in texts}
        questions = []
        for row in rows:
            version_id, other = row["version"], row["other"]
            for shown in [(version_id,)] if row["kind"] == "scores" else [(version_id, other), (other, version_id)]:
                trajectories = tuple(
                    shown_trajectory(bodies[version], row["spectrum"], row["medium"]) for version in shown
                )
                question = session.questions[row["task"]]
                questions.append(ToJudge(row["kind"], shown, question, trajectories, row["spectrum"]))
        return tuple(questions)

    def record(self, *, by: str | None, session_id: int, judgement: Judgement, key: str) -> None:
        """Store a judgement; the same key again changes nothing.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session, or nobody in it was shown these versions
        :raises KeyReused: the key was used for another judgement
        """
        with self._database.write() as db:
            row = db.execute("SELECT * FROM blind_judgements WHERE key = ?", (key,)).fetchone()
            if row is not None:
                if row["session"] != session_id or judgement_from(row) != judgement:
                    raise KeyReused(tr("The key {key!r:.60} belongs to another judgement.", key=key))
                return
            require_coordinator(db, by)
            _opened(db, session_id)
            _require_shown(db, session_id, judgement)
            at = stamp(self._database.now())
            row = {"key": key, "session": session_id, **_judgement_row(judgement), "person": by, "at": at}
            number = insert(db, "blind_judgements", row)
            what = {"judge": judgement.judge}
            self._database.log(db, by, "judged blind", f"session {session_id}", what, {"blind_judgements": number})

    def recorded_keys(self, by: str | None, session_id: int, judge: str) -> frozenset[str]:
        """Return the keys of a judge's stored judgements, with which an interrupted run resumes.

        :raises NotAllowed: ``by`` is no coordinator
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            rows = db.execute("SELECT key FROM blind_judgements WHERE session = ? AND judge = ?", (session_id, judge))
            return frozenset(row[0] for row in rows)

    def settings(self, by: str | None, session_id: int, judge: str) -> Mapping[str, Any] | None:
        """Return the settings of a judge's first judgement in a session; None if there is none.

        :raises NotAllowed: ``by`` is no coordinator
        """
        first = "SELECT settings FROM blind_judgements WHERE session = ? AND judge = ? ORDER BY id LIMIT 1"
        with self._database.read() as db:
            require_coordinator(db, by)
            row = db.execute(first, (session_id, judge)).fetchone()
            return None if row is None else dict(json.loads(row["settings"]))


def judgement_from(row: sqlite3.Row) -> Judgement:
    right = row["on_the_right"]
    return Judgement(
        judge=row["judge"],
        shown=(row["version"],) if right is None else (row["version"], right),
        answer=None if row["answer"] is None else _answer_from(json.loads(row["answer"]), right is not None),
        reasoning=row["reasoning"],
        settings=json.loads(row["settings"]),
        replies=tuple(json.loads(row["said"])),
        usage=Usage(**json.loads(row["usage"])),
        cost=row["cost"],
        by=row["person"],
    )


def _answer_from(answer: Mapping[str, Any], pair: bool) -> JudgeScore | PreferenceAnswer:
    if pair:
        return PreferenceAnswer(**answer)
    return JudgeScore(**{**answer, "wrong_steps": tuple(answer["wrong_steps"])})


def _judgement_row(judgement: Judgement) -> dict[str, object]:
    answer = judgement.answer
    return {
        "judge": judgement.judge,
        "version": judgement.shown[0],
        "on_the_right": judgement.shown[1] if judgement.kind == "pair" else None,
        "answer": None if answer is None else _json(asdict(answer)),
        "reasoning": judgement.reasoning,
        "settings": _json(dict(judgement.settings)),
        "said": _json(judgement.replies),
        "usage": _json(asdict(judgement.usage)),
        "cost": judgement.cost,
    }


def _opened(db: Transaction, session_id: int) -> BlindSession:
    session = blind_session_by_id(db, session_id)
    if session.rubric is None:
        raise NotAllowed(
            tr("Session {session_id} has not been open, so it has no rubric for a judge.", session_id=session_id)
        )
    return session


def _require_shown(db: Transaction, session_id: int, judgement: Judgement) -> None:
    """Check that an assignment of the session showed these versions, in either order. :raises NotFound: none did"""
    pairs = db.execute(
        "SELECT version, on_the_right FROM blind_assignments WHERE session = ? AND version IN (?, ?)",
        (session_id, judgement.shown[0], judgement.shown[-1]),
    )
    shown = {frozenset(version for version in row if version is not None) for row in pairs}
    fits = isinstance(judgement.answer, JudgeScore if judgement.kind == "scores" else PreferenceAnswer)
    if not (fits or judgement.answer is None) or frozenset(judgement.shown) not in shown:
        ids = " and ".join(map(str, judgement.shown))
        raise NotFound(
            tr(
                "Nobody in session {session_id} was shown the version {found} for {kind}.",
                session_id=session_id,
                found=ids,
                kind=judgement.kind,
            )
        )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
