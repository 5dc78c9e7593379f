"""The results of a closed session, and the material of its report."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.language import deferred, tr
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think
from reviewer.blind.plan import Plan, TextVersion
from reviewer.blind.results import Judgement, Response, Results, ShownTrace
from reviewer.store.accounts import find_person, require_coordinator
from reviewer.store.blind.candidates import in_body
from reviewer.store.blind.judging import judgement_from
from reviewer.store.blind.scoring import preference_from, score_from
from reviewer.store.blind.stored import blind_session_by_id, refuse_withheld_session
from reviewer.store.blind.texts import BY_PEOPLE, ShownText, shown_texts
from reviewer.store.blind.values import BlindSession
from reviewer.store.errors import NotAllowed, NotFound
from reviewer.store.sqlite.database import Database, Transaction, stamp

_TEXTS = """
SELECT DISTINCT v.id, v.content_hash, v.body
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) WHERE a.session = ?
"""

_LOGGED = """
SELECT json_extract(details, '$.analysis_plan_sha256') FROM log
WHERE what = 'blind session opened' AND subject = ? ORDER BY number LIMIT 1
"""

# Whom the sampling barred, as of its time, so that the report of a closed session stays the same.
_INVOLVED = """
WITH shown AS (
    SELECT DISTINCT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
    WHERE a.session = :session
), scorers AS (SELECT value AS person FROM json_each(:people))
SELECT item, author AS person FROM versions
WHERE item IN shown AND author IN scorers AND at <= :at
UNION SELECT item, person FROM decisions
WHERE item IN shown AND person IN scorers AND at <= :at AND verb NOT IN ('withdraw', 'restore')
UNION SELECT item, person FROM marks WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM verdicts WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT item, person FROM inspections WHERE item IN shown AND person IN scorers AND at <= :at
UNION SELECT v.item, a.value FROM versions v, json_each(v.body, '$.authors') a
WHERE v.item IN shown AND v.number = 1 AND a.value IN scorers
UNION SELECT i.id, p.initials FROM items i JOIN people p
WHERE i.id IN shown AND p.initials IN scorers AND i.drafter_kind = 'person'
      AND lower(i.drafter_name) IN (lower(p.initials), lower(p.name))
"""

# The first text of an item as its drafter wrote it; and the text of an approved item.
_DRAFTED = f"""
SELECT f.content_hash, f.item FROM versions f
WHERE f.number = 1 AND f.content_hash IN (SELECT value FROM json_each(:hashes)) AND NOT {BY_PEOPLE}
"""
_APPROVED = """
SELECT v.content_hash, s.item FROM standings s JOIN versions v ON v.id = s.version
WHERE s.state = 'approved' AND v.content_hash IN (SELECT value FROM json_each(:hashes))
"""
_BY_CONTENT: Mapping[TextVersion, str] = {
    "drafted": _DRAFTED,
    "approved": _APPROVED,
    "both": f"{_DRAFTED} UNION {_APPROVED}",
}


@dataclass(frozen=True)
class BlindMaterial:
    """Further facts for the report of a session.

    :param content_hashes: of each version that was shown
    :param trajectories: by version
    :param barred: scorers with an item of the session that they may not score, because they worked on it
    :param names: the scorers' names by initials, which the report replaces
    :param analysis_sha256: of the analysis plan, as it was logged when the session opened; None if it was not
    """

    content_hashes: dict[int, str]
    trajectories: dict[int, Trajectory]
    barred: frozenset[tuple[str, int]]
    names: dict[str, str]
    analysis_sha256: str | None = None


_TRACES = """
SELECT DISTINCT v.id, v.item, i.drafter_kind, i.task, a.spectrum, i.simulated, i.label, i.survey,
       i.snr, v.body
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) JOIN items i ON i.id = v.item
WHERE a.session = ? ORDER BY v.id
"""

# Items that a scorer was shown in a session that was opened before this one.
_EXPOSED = """
SELECT DISTINCT a.scorer, v.item
FROM blind_assignments a
JOIN blind_states o ON o.session = a.session AND o.state = 'open'
JOIN versions v ON v.id IN (a.version, a.on_the_right)
WHERE o.id < (SELECT id FROM blind_states WHERE session = :session AND state = 'open')
      AND a.scorer IN (SELECT value FROM json_each(:people))
"""

_ITEMS = """
SELECT DISTINCT v.id, v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
WHERE a.session = ?
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
            having been open, or ``by`` scores some of its traces in another session that is not closed
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            if session.state != "closed":
                raise NotAllowed(
                    tr(
                        "Session {session_id} is {state}; its results are available once it is closed.",
                        session_id=session_id,
                        state=session.state,
                    )
                )
            if session.rubric is None or session.opened_at is None or session.closed_at is None:
                raise NotAllowed(
                    tr("Session {session_id} was never open, so nobody could score in it.", session_id=session_id)
                )
            refuse_withheld_session(db, session, by)
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
                traces=_traces(db, session),
                responses=_responses(db, session),
                judgements=_judgements(db, session_id),
            )

    def report_material(self, by: str | None, session_id: int) -> BlindMaterial:
        """Return what the report of a session needs in addition to its results.

        :raises NotAllowed: ``by`` is no coordinator, or scores some of its traces in a session that is not closed
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            refuse_withheld_session(db, session, by)
            texts = db.execute(_TEXTS, (session_id,)).fetchall()
            parameters = {
                "session": session_id,
                "people": json.dumps(session.plan.scorers),
                "at": stamp(session.drawn_at),
            }
            involved = frozenset((row["person"], row["item"]) for row in db.execute(_INVOLVED, parameters))
            logged = db.execute(_LOGGED, (f"session {session_id}",)).fetchone()
            names = {scorer: find_person(db, scorer).name for scorer in session.plan.scorers}
            return BlindMaterial(
                content_hashes={row["id"]: row["content_hash"] for row in texts},
                trajectories={row["id"]: Trajectory.from_json(json.loads(row["body"])) for row in texts},
                barred=involved,
                names=names,
                analysis_sha256=None if logged is None else logged[0],
            )

    def items_by_content(self, content_hashes: Iterable[str], version: TextVersion = "drafted") -> dict[str, int]:
        """Return the item with each text in a version, by content hash; of several items the first.

        :param version: as drafted, as approved, or either
        :raises NotFound: some are not such a text of any item; the message says how many
        """
        hashes = list(dict.fromkeys(content_hashes))
        with self._database.read() as db:
            rows = db.execute(_BY_CONTENT[version], {"hashes": json.dumps(hashes)}).fetchall()
        items: dict[str, int] = {}
        for row in rows:
            items[row["content_hash"]] = min(row["item"], items.get(row["content_hash"], row["item"]))
        if missing := [content_hash for content_hash in hashes if content_hash not in items]:
            words = {
                "drafted": deferred(
                    "{missing} of {all} traces are not the text of any item here as it was drafted, the first of them "
                    "{first:.20}…"
                ),
                "approved": deferred(
                    "{missing} of {all} traces are not the text of any approved item here, the first of them "
                    "{first:.20}…"
                ),
                "both": deferred(
                    "{missing} of {all} traces are neither a draft nor an approved text here, the first of them "
                    "{first:.20}…"
                ),
            }
            raise NotFound(tr(words[version], missing=len(missing), all=len(hashes), first=missing[0]))
        return items


def _traces(db: Transaction, session: BlindSession) -> dict[int, ShownTrace]:
    texts = shown_texts(db, session.id, session.plan)
    return {row["id"]: _trace(row, texts[row["id"]]) for row in db.execute(_TRACES, (session.id,))}


def _trace(row: sqlite3.Row, text: ShownText) -> ShownTrace:
    trajectory = Trajectory.from_json(json.loads(row["body"]))
    thoughts = [step.text for step in trajectory.steps if isinstance(step, Think)]
    answers = [step.explanation for step in trajectory.steps if isinstance(step, Answer)]
    return ShownTrace(
        item=row["item"],
        version=row["id"],
        source=text.source,
        source_kind=row["drafter_kind"],
        text=text.kind,
        drafter=text.drafter,
        task=row["task"],
        spectrum=row["spectrum"],
        simulated=bool(row["simulated"]),
        label=row["label"],
        verdict=None if trajectory.answer is None else trajectory.answer.verdict,
        characters=sum(map(len, (*thoughts, *answers))),
        survey=row["survey"],
        snr=row["snr"],
        reveals=bool(in_body(row["body"])),
    )


def _responses(db: Transaction, session: BlindSession) -> tuple[Response, ...]:
    answers: dict[str, list[sqlite3.Row]] = {}
    for table in ("blind_scores", "blind_preferences"):
        for row in db.execute(_ANSWERS.format(table=table), (session.id,)):
            answers.setdefault(row["assignment"], []).append(row)
    exposed = _exposed(db, session)
    items = {row["id"]: row["item"] for row in db.execute(_ITEMS, (session.id,))}
    rows = db.execute("SELECT * FROM blind_assignments WHERE session = ?", (session.id,)).fetchall()
    places = {scorer: place for place, scorer in enumerate(session.plan.scorers)}
    rows.sort(key=lambda row: (places[row["scorer"]], row["place"]))
    return tuple(_response(row, answers.get(row["token"], []), items, session.plan, exposed) for row in rows)


def _response(
    row: sqlite3.Row,
    answers: list[sqlite3.Row],
    items: Mapping[int, int],
    plan: Plan,
    exposed: frozenset[tuple[str, int]],
) -> Response:
    """Return one assignment with its answers, oldest first.

    :param items: by version
    :param exposed: scorers with the items that they saw in earlier sessions
    """
    pair = row["kind"] == "pair"
    read = preference_from if pair else score_from
    shown = (row["version"], row["on_the_right"]) if pair else (row["version"],)
    gold = {gold.item: gold for gold in plan.gold}
    first, last = (answers[0], answers[-1]) if answers else (None, None)
    return Response(
        token=row["token"],
        scorer=row["scorer"],
        kind=row["kind"],
        place=row["place"],
        shown=shown,
        repeat_of=row["repeat_of"],
        gold=gold[items[row["version"]]] if row["gold"] else None,
        answer=None if last is None else read(last),
        at=None if last is None else datetime.fromisoformat(last["at"]),
        changes=max(0, len(answers) - 1),
        first_answer=None if first is None else read(first),
        first_at=None if first is None else datetime.fromisoformat(first["at"]),
        training=any(items[version] in plan.training for version in shown),
        exposed=any((row["scorer"], items[version]) in exposed for version in shown),
    )


def _exposed(db: Transaction, session: BlindSession) -> frozenset[tuple[str, int]]:
    parameters = {"session": session.id, "people": json.dumps(session.plan.scorers)}
    return frozenset((row["scorer"], row["item"]) for row in db.execute(_EXPOSED, parameters))


def _judgements(db: Transaction, session_id: int) -> tuple[Judgement, ...]:
    rows: Iterable[sqlite3.Row] = db.execute(
        "SELECT * FROM blind_judgements WHERE session = ? ORDER BY id", (session_id,)
    )
    return tuple(judgement_from(row) for row in rows)
