"""Blind sessions once they are closed: everything that was said, and what it was said about. Judges, too."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime

from agent.steps import Answer, Think
from agent.trajectory import Trajectory
from reviewer.blind.results import Judgement, Results, Said, ShownTrace
from reviewer.blind.sheet import OwnPreference, OwnScore
from reviewer.blind.values import Gold
from reviewer.store.accounts import Accounts
from reviewer.store.blind_drawing import blind_session_by_id
from reviewer.store.blind_scoring import preference_from, score_from
from reviewer.store.blind_values import BlindSession
from reviewer.store.connection import stamp
from reviewer.store.errors import KeyReused, NotAllowed, NotFound

_TRACES = """
SELECT DISTINCT v.id, v.item, i.drafter_name, i.drafter_kind, i.task, i.spectrum, i.simulated, i.label, v.body
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) JOIN items i ON i.id = v.item
WHERE a.session = ? ORDER BY v.id
"""

_ANSWERS = """
SELECT x.* FROM {table} x JOIN blind_assignments a ON a.token = x.assignment WHERE a.session = ? ORDER BY x.id
"""


class BlindResults(Accounts):
    """What a session came to."""

    def blind_results(self, session_id: int) -> Results:
        """Everything about a closed session.

        :raises NotAllowed: the session is not closed, or was closed without having been open
        :raises NotFound: there is no such session
        """
        with self._reading() as db:
            session = blind_session_by_id(db, session_id)
            if session.state != "closed":
                raise NotAllowed(
                    f"Session {session_id} is {session.state}; results are for when it is closed."
                )
            if session.rubric is None or session.opened_at is None or session.closed_at is None:
                raise NotAllowed(f"Session {session_id} was never open, so nobody could score in it.")
            return Results(
                session=session.id,
                plan=session.plan,
                rubric=session.rubric,
                questions=session.questions,
                notes=session.notes,
                drawn_by=session.drawn_by,
                drawn_at=session.drawn_at,
                opened_at=session.opened_at,
                closed_at=session.closed_at,
                traces=_traces(db, session_id),
                said=_said(db, session),
                judgements=_judgements(db, session_id),
            )

    def record_judgement(self, by: str | None, session_id: int, judgement: Judgement, key: str) -> None:
        """Keep what a model judge said of a session's traces; the same key twice is once.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session, or nobody in it was shown these versions
        :raises KeyReused: the key was used for another judgement
        """
        with self._writing() as db:
            row = db.execute("SELECT * FROM blind_judgements WHERE key = ?", (key,)).fetchone()
            if row is not None:
                if row["session"] != session_id or _judgement_from(row) != judgement:
                    raise KeyReused(f"The key {key!r:.60} belongs to another judgement.")
                return
            self._require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            if session.rubric is None:
                raise NotAllowed(f"Session {session_id} has not been open, so it has no rubric to judge by.")
            _require_shown(db, session_id, judgement)
            shown = judgement.shown
            db.execute(
                "INSERT INTO blind_judgements "
                "(key, session, judge, version, on_the_right, answer, reasoning, settings, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    key,
                    session_id,
                    judgement.judge,
                    shown[0],
                    shown[1] if judgement.kind == "pair" else None,
                    json.dumps(asdict(judgement.answer), ensure_ascii=False),
                    judgement.reasoning,
                    json.dumps(dict(judgement.settings), ensure_ascii=False),
                    stamp(self.now()),
                ),
            )

    def judged_keys(self, session_id: int, judge: str) -> frozenset[str]:
        """The keys of what a judge has said already, so that a run can go on where it ended; no answers."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT key FROM blind_judgements WHERE session = ? AND judge = ?", (session_id, judge)
            )
            return frozenset(row[0] for row in rows)


def _traces(db: sqlite3.Connection, session_id: int) -> dict[int, ShownTrace]:
    return {row["id"]: _trace(row) for row in db.execute(_TRACES, (session_id,))}


def _trace(row: sqlite3.Row) -> ShownTrace:
    trajectory = Trajectory.from_json(json.loads(row["body"]))
    thoughts = [step.text for step in trajectory.steps if isinstance(step, Think)]
    answers = [step.explanation for step in trajectory.steps if isinstance(step, Answer)]
    return ShownTrace(
        item=row["item"],
        version=row["id"],
        source=row["drafter_name"],
        source_kind=row["drafter_kind"],
        task=row["task"],
        spectrum=row["spectrum"],
        simulated=bool(row["simulated"]),
        label=row["label"],
        verdict=None if trajectory.answer is None else trajectory.answer.verdict,
        characters=sum(map(len, (*thoughts, *answers))),
    )


def _said(db: sqlite3.Connection, session: BlindSession) -> tuple[Said, ...]:
    answers: dict[str, list[sqlite3.Row]] = {}
    for table in ("blind_scores", "blind_preferences"):
        for row in db.execute(_ANSWERS.format(table=table), (session.id,)):
            answers.setdefault(row["assignment"], []).append(row)
    gold = {gold.item: gold for gold in session.plan.gold}
    rows = db.execute(
        "SELECT a.*, v.item FROM blind_assignments a JOIN versions v ON v.id = a.version WHERE session = ?",
        (session.id,),
    ).fetchall()
    places = {scorer: place for place, scorer in enumerate(session.plan.scorers)}
    rows.sort(key=lambda row: (places[row["scorer"]], row["place"]))
    return tuple(_one_said(row, answers.get(row["token"], []), gold) for row in rows)


def _one_said(row: sqlite3.Row, answers: list[sqlite3.Row], gold: Mapping[int, Gold]) -> Said:
    pair, last = row["kind"] == "pair", answers[-1] if answers else None
    answer: OwnScore | OwnPreference | None = None
    if last is not None:
        answer = preference_from(last) if pair else score_from(last)
    return Said(
        token=row["token"],
        scorer=row["scorer"],
        kind=row["kind"],
        place=row["place"],
        shown=(row["version"], row["on_the_right"]) if pair else (row["version"],),
        repeat_of=row["repeat_of"],
        gold=gold[row["item"]] if row["gold"] else None,
        answer=answer,
        at=None if last is None else datetime.fromisoformat(last["at"]),
        changes=max(0, len(answers) - 1),
    )


def _judgements(db: sqlite3.Connection, session_id: int) -> tuple[Judgement, ...]:
    rows: Iterable[sqlite3.Row] = db.execute(
        "SELECT * FROM blind_judgements WHERE session = ? ORDER BY id", (session_id,)
    )
    return tuple(_judgement_from(row) for row in rows)


def _judgement_from(row: sqlite3.Row) -> Judgement:
    right, answer = row["on_the_right"], json.loads(row["answer"])
    return Judgement(
        judge=row["judge"],
        shown=(row["version"],) if right is None else (row["version"], right),
        answer=OwnScore(**{**answer, "wrong_steps": tuple(answer["wrong_steps"])})
        if right is None
        else OwnPreference(**answer),
        reasoning=row["reasoning"],
        settings=json.loads(row["settings"]),
    )


def _require_shown(db: sqlite3.Connection, session_id: int, judgement: Judgement) -> None:
    """Some assignment of the session showed these versions, in this or the other order."""
    pairs = db.execute(
        "SELECT version, on_the_right FROM blind_assignments WHERE session = ? AND version IN (?, ?)",
        (session_id, judgement.shown[0], judgement.shown[-1]),
    )
    shown = {frozenset(version for version in row if version is not None) for row in pairs}
    wanted = 1 if judgement.kind == "scores" else 2
    if len(judgement.shown) != wanted or frozenset(judgement.shown) not in shown:
        found = " and ".join(map(str, judgement.shown))
        raise NotFound(f"Nobody in session {session_id} was shown the version {found} for {judgement.kind}.")
