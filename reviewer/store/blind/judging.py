"""Blind sessions for model judges: what they are asked, and what they said. Their answers stand in a table of
their own, and nothing that counts people's reads it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from agent.conversation import Usage
from agent.trajectory import Trajectory
from reviewer.blind.results import JudgedScore, Judgement
from reviewer.blind.sheet import OwnPreference
from reviewer.store.accounts import Accounts
from reviewer.store.blind.sessions import blind_session_by_id
from reviewer.store.blind.values import BlindSession, ToJudge
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.sqlite.clock import stamp

# Sides are the scorers' matter: a judge is shown both orders of every pair.
_TO_JUDGE = """
SELECT DISTINCT a.kind, min(a.version, coalesce(a.on_the_right, a.version)) AS version,
       max(a.version, coalesce(a.on_the_right, a.version)) AS other, a.spectrum, i.task
FROM blind_assignments a JOIN versions v ON v.id = a.version JOIN items i ON i.id = v.item
WHERE a.session = ? AND NOT a.gold ORDER BY 1, 2, 3
"""

_INSERT = """
INSERT INTO blind_judgements (key, session, judge, version, on_the_right, answer, reasoning, settings,
                              said, usage, cost, person, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class BlindJudging(Accounts):
    """The coordinator's part. As elsewhere ``by`` None stands for whoever holds the file itself."""

    def blind_to_judge(self, by: str | None, session_id: int) -> tuple[ToJudge, ...]:
        """Everything that scorers are asked for, each once, and every pair in both orders. Without the gold
        items, which are in no result.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            session = _opened(db, session_id)
            rows = db.execute(_TO_JUDGE, (session_id,)).fetchall()
            versions = json.dumps([row[name] for row in rows for name in ("version", "other")])
            texts = db.execute(
                "SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (versions,)
            )
            traces = {row["id"]: Trajectory.from_json(json.loads(row["body"])) for row in texts}
        asked = []
        for row in rows:
            one, other = row["version"], row["other"]
            for shown in [(one,)] if row["kind"] == "scores" else [(one, other), (other, one)]:
                trajectories = tuple(traces[version] for version in shown)
                question = session.questions[row["task"]]
                asked.append(ToJudge(row["kind"], shown, question, trajectories, row["spectrum"]))
        return tuple(asked)

    def record_judgement(self, by: str | None, session_id: int, judgement: Judgement, key: str) -> None:
        """Keep what a model judge said of a session's traces; the same key twice is once.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session, or nobody in it was shown these versions
        :raises KeyReused: the key was used for another judgement
        """
        with self._writing() as db:
            row = db.execute("SELECT * FROM blind_judgements WHERE key = ?", (key,)).fetchone()
            if row is not None:
                if row["session"] != session_id or judgement_from(row) != judgement:
                    raise KeyReused(f"The key {key!r:.60} belongs to another judgement.")
                return
            self._require_coordinator(db, by)
            _opened(db, session_id)
            _require_shown(db, session_id, judgement)
            values = (key, session_id, *_row(judgement), by, stamp(self.now()))
            number = db.execute(_INSERT, values).lastrowid
            assert number is not None
            what = {"judge": judgement.judge}
            self._tell(db, by, "judged blind", f"session {session_id}", what, {"blind_judgements": number})

    def judged_keys(self, by: str | None, session_id: int, judge: str) -> frozenset[str]:
        """The keys of what a judge has said already, so that a run can go on where it ended; no answers.

        :raises NotAllowed: ``by`` is no coordinator
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            rows = db.execute("SELECT key FROM blind_judgements WHERE session = ? AND judge = ?", (session_id, judge))
            return frozenset(row[0] for row in rows)

    def judge_settings(self, by: str | None, session_id: int, judge: str) -> Mapping[str, Any] | None:
        """How a judge was asked the first time in a session; None before that.

        :raises NotAllowed: ``by`` is no coordinator
        """
        first = "SELECT settings FROM blind_judgements WHERE session = ? AND judge = ? ORDER BY id LIMIT 1"
        with self._reading() as db:
            self._require_coordinator(db, by)
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
        said=tuple(json.loads(row["said"])),
        usage=Usage(**json.loads(row["usage"])),
        cost=row["cost"],
        by=row["person"],
    )


def _answer_from(answer: Mapping[str, Any], pair: bool) -> JudgedScore | OwnPreference:
    if pair:
        return OwnPreference(**answer)
    return JudgedScore(**{**answer, "wrong_steps": tuple(answer["wrong_steps"])})


def _row(judgement: Judgement) -> tuple[object, ...]:
    answer = judgement.answer
    return (
        judgement.judge,
        judgement.shown[0],
        judgement.shown[1] if judgement.kind == "pair" else None,
        None if answer is None else _json(asdict(answer)),
        judgement.reasoning,
        _json(dict(judgement.settings)),
        _json(judgement.said),
        _json(asdict(judgement.usage)),
        judgement.cost,
    )


def _opened(db: sqlite3.Connection, session_id: int) -> BlindSession:
    session = blind_session_by_id(db, session_id)
    if session.rubric is None:
        raise NotAllowed(f"Session {session_id} has not been open, so it has no rubric to judge by.")
    return session


def _require_shown(db: sqlite3.Connection, session_id: int, judgement: Judgement) -> None:
    """Some assignment of the session showed these versions, in this or the other order."""
    pairs = db.execute(
        "SELECT version, on_the_right FROM blind_assignments WHERE session = ? AND version IN (?, ?)",
        (session_id, judgement.shown[0], judgement.shown[-1]),
    )
    shown = {frozenset(version for version in row if version is not None) for row in pairs}
    fits = isinstance(judgement.answer, JudgedScore if judgement.kind == "scores" else OwnPreference)
    if not (fits or judgement.answer is None) or frozenset(judgement.shown) not in shown:
        found = " and ".join(map(str, judgement.shown))
        raise NotFound(f"Nobody in session {session_id} was shown the version {found} for {judgement.kind}.")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
