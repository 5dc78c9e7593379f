"""Questions to model judges and their judgements; the results of a closed session, and the material of its report."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from agent.conversation import Usage
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think
from reviewer.blind.plan import Gold
from reviewer.blind.results import Judgement, JudgeScore, Response, Results, ShownTrace
from reviewer.blind.sheet import PreferenceAnswer, ScoreAnswer
from reviewer.store.accounts import find_person, require_coordinator
from reviewer.store.blind.scoring import preference_from, score_from
from reviewer.store.blind.sessions import blind_session_by_id
from reviewer.store.blind.values import BlindSession, ToJudge
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp

# Without the scorers' sides: a judge gets every pair in both orders.
_TO_JUDGE = """
SELECT DISTINCT a.kind, min(a.version, coalesce(a.on_the_right, a.version)) AS version,
       max(a.version, coalesce(a.on_the_right, a.version)) AS other, a.spectrum, i.task
FROM blind_assignments a JOIN versions v ON v.id = a.version JOIN items i ON i.id = v.item
WHERE a.session = ? AND NOT a.gold ORDER BY 1, 2, 3
"""


class Judging:
    """Questions to model judges, and their judgements. ``by`` None stands for the owner of the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def questions(self, by: str | None, session_id: int) -> tuple[ToJudge, ...]:
        """Return the scorers' questions, each once, and every pair in both orders; without gold items.

        :raises NotAllowed: ``by`` is no coordinator, or the session has not been open
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = _opened(db, session_id)
            rows = db.execute(_TO_JUDGE, (session_id,)).fetchall()
            versions = json.dumps([row[name] for row in rows for name in ("version", "other")])
            texts = db.execute(
                "SELECT id, body FROM versions WHERE id IN (SELECT value FROM json_each(?))", (versions,)
            )
            traces = {row["id"]: Trajectory.from_json(json.loads(row["body"])) for row in texts}
        questions = []
        for row in rows:
            one, other = row["version"], row["other"]
            for shown in [(one,)] if row["kind"] == "scores" else [(one, other), (other, one)]:
                trajectories = tuple(traces[version] for version in shown)
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
                    raise KeyReused(f"The key {key!r:.60} belongs to another judgement.")
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
        raise NotAllowed(f"Session {session_id} has not been open, so it has no rubric for a judge.")
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
        found = " and ".join(map(str, judgement.shown))
        raise NotFound(f"Nobody in session {session_id} was shown the version {found} for {judgement.kind}.")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


_HASHES = """
SELECT DISTINCT v.id, v.content_hash
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) WHERE a.session = ?
"""

# As of the time of the sampling, so that the report of a closed session stays the same.
_INVOLVED = """
WITH shown AS (
    SELECT DISTINCT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
    WHERE a.session = :session
), scorers AS (SELECT value AS person FROM json_each(:people))
SELECT item, author AS person FROM versions
WHERE item IN shown AND author IN scorers AND at <= :at
UNION SELECT item, person FROM decisions WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM marks WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM verdicts WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT i.id, p.initials FROM items i JOIN people p
WHERE i.id IN shown AND p.initials IN scorers AND i.drafter_kind = 'person'
      AND lower(i.drafter_name) IN (lower(p.initials), lower(p.name))
"""

_BY_CONTENT = """
SELECT v.content_hash, min(s.item) AS item FROM standings s JOIN versions v ON v.id = s.version
WHERE v.content_hash IN (SELECT value FROM json_each(?)) GROUP BY 1
"""


@dataclass(frozen=True)
class BlindMaterial:
    """Further facts for the report of a session.

    :param content_hashes: of each version that was shown
    :param barred: scorers with an item of the session that they may not score, because they worked on it
    :param names: the scorers' names by initials, which the report replaces
    """

    content_hashes: dict[int, str]
    barred: frozenset[tuple[str, int]]
    names: dict[str, str]


_TRACES = """
SELECT DISTINCT v.id, v.item, i.drafter_name, i.drafter_kind, i.task, i.spectrum, i.simulated, i.label, v.body
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) JOIN items i ON i.id = v.item
WHERE a.session = ? ORDER BY v.id
"""

_ANSWERS = """
SELECT x.* FROM {table} x JOIN blind_assignments a ON a.token = x.assignment WHERE a.session = ? ORDER BY x.id
"""


class SessionResults:
    """The results of sessions, and the material of their reports."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_session(self, by: str | None, session_id: int) -> Results:
        """Return the results of a closed session.

        :raises NotAllowed: ``by`` is no coordinator, or the session is not closed, or was closed without
            having been open
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            if session.state != "closed":
                raise NotAllowed(
                    f"Session {session_id} is {session.state}; its results are available once it is closed."
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
                responses=_responses(db, session),
                judgements=_judgements(db, session_id),
            )

    def report_material(self, by: str | None, session_id: int) -> BlindMaterial:
        """Return what the report of a session needs in addition to its results.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            hashes = {row["id"]: row["content_hash"] for row in db.execute(_HASHES, (session_id,))}
            parameters = {
                "session": session_id,
                "people": json.dumps(session.plan.scorers),
                "at": stamp(session.drawn_at),
            }
            involved = frozenset((row["person"], row["item"]) for row in db.execute(_INVOLVED, parameters))
            names = {scorer: find_person(db, scorer).name for scorer in session.plan.scorers}
        return BlindMaterial(hashes, involved, names)

    def items_by_content(self, content_hashes: Iterable[str]) -> dict[str, int]:
        """Return the item with each text as its current version, by content hash; of several items the first.

        :raises NotFound: some texts are not current in any item; the message says how many
        """
        wanted = list(dict.fromkeys(content_hashes))
        with self._database.read() as db:
            rows: list[sqlite3.Row] = db.execute(_BY_CONTENT, (json.dumps(wanted),)).fetchall()
        found = {row["content_hash"]: int(row["item"]) for row in rows}
        if missing := [one for one in wanted if one not in found]:
            raise NotFound(
                f"{len(missing)} of {len(wanted)} traces are not the current text of any item here, "
                f"the first of them {missing[0]:.20}…"
            )
        return found


def _traces(db: Transaction, session_id: int) -> dict[int, ShownTrace]:
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


def _responses(db: Transaction, session: BlindSession) -> tuple[Response, ...]:
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
    return tuple(_response(row, answers.get(row["token"], []), gold) for row in rows)


def _response(row: sqlite3.Row, answers: list[sqlite3.Row], gold: Mapping[int, Gold]) -> Response:
    pair, last = row["kind"] == "pair", answers[-1] if answers else None
    answer: ScoreAnswer | PreferenceAnswer | None = None
    if last is not None:
        answer = preference_from(last) if pair else score_from(last)
    return Response(
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


def _judgements(db: Transaction, session_id: int) -> tuple[Judgement, ...]:
    rows: Iterable[sqlite3.Row] = db.execute(
        "SELECT * FROM blind_judgements WHERE session = ? ORDER BY id", (session_id,)
    )
    return tuple(judgement_from(row) for row in rows)
