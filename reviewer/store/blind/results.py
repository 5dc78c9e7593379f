"""What a session's report needs besides its results: what the texts are called by, who was kept from what."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Think
from reviewer.blind.results import Judgement, Results, Said, ShownTrace
from reviewer.blind.sheet import OwnPreference, OwnScore
from reviewer.blind.values import Gold
from reviewer.store.accounts import Accounts
from reviewer.store.blind.judging import judgement_from
from reviewer.store.blind.scoring import preference_from, score_from
from reviewer.store.blind.sessions import blind_session_by_id
from reviewer.store.blind.values import BlindSession
from reviewer.store.errors import NotAllowed, NotFound
from reviewer.store.sqlite.clock import stamp

_HASHES = """
SELECT DISTINCT v.id, v.content_hash
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right) WHERE a.session = ?
"""

# As it was on the day of the drawing, so that a report of a closed session stays the same.
_HANDS_THEN = """
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
    """What stands behind the numbers of a session.

    :param content_hashes: of each version that was shown
    :param barred: scorer and item of the session that were kept apart, as the scorer had a hand in the item
    :param names: initials and names of the scorers, so that they can be taken out of what is published
    """

    content_hashes: dict[int, str]
    barred: frozenset[tuple[str, int]]
    names: dict[str, str]


class BlindReporting(Accounts):
    """Reading only."""

    def blind_material(self, by: str | None, session_id: int) -> BlindMaterial:
        """What the report of a session needs besides its results.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            hashes = {row["id"]: row["content_hash"] for row in db.execute(_HASHES, (session_id,))}
            asked = {
                "session": session_id,
                "people": json.dumps(session.plan.scorers),
                "at": stamp(session.drawn_at),
            }
            hands = frozenset((row["person"], row["item"]) for row in db.execute(_HANDS_THEN, asked))
            names = {scorer: self._person(db, scorer).name for scorer in session.plan.scorers}
        return BlindMaterial(hashes, hands, names)

    def items_by_content(self, content_hashes: Iterable[str]) -> dict[str, int]:
        """The item whose current text this is, the first of several.

        :raises NotFound: some of them are nobody's current text; the sentence says how many
        """
        wanted = list(dict.fromkeys(content_hashes))
        with self._reading() as db:
            rows: list[sqlite3.Row] = db.execute(_BY_CONTENT, (json.dumps(wanted),)).fetchall()
        found = {row["content_hash"]: int(row["item"]) for row in rows}
        if missing := [one for one in wanted if one not in found]:
            raise NotFound(
                f"{len(missing)} of {len(wanted)} traces are no item's current text here, "
                f"the first of them {missing[0]:.20}…"
            )
        return found


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

    def blind_results(self, by: str | None, session_id: int) -> Results:
        """Everything about a closed session.

        :raises NotAllowed: ``by`` is no coordinator, or the session is not closed, or was closed without
            having been open
        :raises NotFound: there is no such session
        """
        with self._reading() as db:
            self._require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            if session.state != "closed":
                raise NotAllowed(f"Session {session_id} is {session.state}; results are for when it is closed.")
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
    return tuple(judgement_from(row) for row in rows)
