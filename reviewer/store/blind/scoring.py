"""Blind sessions for scorers: their assignments, sheets and answers, and the items that are hidden from them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from agent.language import deferred, tr
from agent.trajectory import Trajectory
from reviewer.blind.plan import CANNOT_TELL, PREFERENCES, SCORES, Preference, Score
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import PreferenceAnswer, Question, ScoreAnswer, Sheet, trace_of
from reviewer.store.blind.texts import shown_trajectory
from reviewer.store.blind.turns import OPEN_PLACES, open_work, order_of, require_in_turn, training_items
from reviewer.store.blind.values import BlindWork, SheetSource
from reviewer.store.errors import KeyReused, NotAllowed, NotFound
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp

# An assignment, with the facts that decide whether its scorer may open it now.
_ASSIGNMENT = """
SELECT a.*, p.active, s.plan, s.questions, i.id AS item, i.task,
       (SELECT state FROM blind_states WHERE session = a.session ORDER BY id DESC LIMIT 1) AS state
FROM blind_assignments a
JOIN blind_sessions s ON s.id = a.session
JOIN versions v ON v.id = a.version
JOIN items i ON i.id = v.item
JOIN people p ON p.initials = a.scorer
WHERE a.token = ? AND a.scorer = ?
"""

_RUBRIC = """
SELECT o.rubric FROM blind_states o
WHERE o.session = :session AND o.state = 'open'
      AND EXISTS (SELECT 1 FROM blind_assignments WHERE session = :session AND scorer = :person)
      AND NOT EXISTS (SELECT 1 FROM blind_states WHERE session = :session AND state = 'closed')
"""

_SESSIONS_WAITING = f"SELECT count(DISTINCT session) FROM ({OPEN_PLACES}) WHERE NOT answered"

_HIDDEN = """
WITH mine AS (
    SELECT DISTINCT v.item, a.spectrum
    FROM blind_sessions s
    CROSS JOIN blind_assignments a ON a.session = s.id AND a.scorer = :person
    CROSS JOIN versions v ON v.id = a.version OR v.id = a.on_the_right
    WHERE NOT EXISTS (SELECT 1 FROM blind_states c WHERE c.session = s.id AND c.state = 'closed')
)
-- Another trace of the same spectrum, shown with its author, would reveal the author on the sheet by elimination.
SELECT item FROM mine UNION SELECT i.id FROM mine JOIN items i ON i.spectrum = mine.spectrum
"""

# The same condition as ``_HIDDEN``, for one item.
_WITHHELD = """
SELECT 1 FROM blind_sessions s
CROSS JOIN blind_assignments a ON a.session = s.id AND a.scorer = :person
CROSS JOIN versions v ON v.id = a.version OR v.id = a.on_the_right
WHERE NOT EXISTS (SELECT 1 FROM blind_states c WHERE c.session = s.id AND c.state = 'closed')
      AND (v.item = :item OR a.spectrum = (SELECT spectrum FROM items WHERE id = :item))
LIMIT 1
"""

WITHHELD = deferred("You score this in a blind session; it is shown here again once the session is closed.")

_HIDDEN_HASHES = """
SELECT i.spectrum FROM items i WHERE i.id IN (SELECT value FROM json_each(:items))
UNION
SELECT json_extract(v.body, '$.spectrum.sha256') FROM versions v
WHERE v.item IN (SELECT value FROM json_each(:items))
UNION
SELECT json_extract(step.value, '$.picture') FROM versions v, json_each(v.body, '$.steps') step
WHERE v.item IN (SELECT value FROM json_each(:items))
UNION
SELECT json_extract(v.body, '$.overview') FROM versions v
WHERE v.item IN (SELECT value FROM json_each(:items))
"""


def refuse_withheld(db: Transaction, person: str, item_id: int) -> None:
    """Check that a person does not score this item blind: its page would show who wrote the trace.

    :raises NotAllowed: this person scores the item, or another trace of its spectrum, in a session that
        is not closed
    """
    if db.execute(_WITHHELD, {"person": person, "item": item_id}).fetchone():
        raise NotAllowed(tr(WITHHELD))


def hidden_items(db: Transaction, person: str) -> frozenset[int]:
    """Return the items that a person may see on their sheets only.

    These are the items they score in a session that is not closed, gold items and both sides of pairs included,
    and every other item of the same spectra.
    """
    return frozenset(row[0] for row in db.execute(_HIDDEN, {"person": person}))


class Scoring:
    """Assignments and answers of scorers. Another scorer's token gets the same error as one that does not exist."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def assignments(self, person: str) -> tuple[BlindWork, ...]:
        """Return the person's assignments in open sessions, in their order."""
        with self._database.read() as db:
            return open_work(db, person)

    def sessions_waiting(self, person: str) -> int:
        """Return in how many open sessions the person has something to score."""
        with self._database.read() as db:
            return int(db.execute(_SESSIONS_WAITING, {"person": person}).fetchone()[0])

    def hidden_items(self, person: str) -> frozenset[int]:
        """Return the items that this person may see on their sheets only."""
        with self._database.read() as db:
            return hidden_items(db, person)

    def hidden_hashes(self, person: str) -> frozenset[str]:
        """Return the SHA-256 of the spectra and pictures of hidden items, which are hidden too."""
        items = self.hidden_items(person)
        if not items:
            return frozenset()
        with self._database.read() as db:
            rows = db.execute(_HIDDEN_HASHES, {"items": json.dumps(sorted(items))}).fetchall()
        return frozenset(row[0] for row in rows if row[0] is not None)

    def rubric(self, person: str, session_id: int) -> Rubric:
        """Return the rubric of an open session in which this person scores.

        :raises NotFound: the person scores in no such session
        """
        with self._database.read() as db:
            row = db.execute(_RUBRIC, {"person": person, "session": session_id}).fetchone()
            if row is None:
                raise NotFound(
                    tr("You do not score in session {session_id}, or it is not open.", session_id=session_id)
                )
            return Rubric.from_json(json.loads(row["rubric"]))

    def sheet(self, token: str, person: str) -> Sheet:
        """Return what the scorer may see of an assignment.

        Places are opened in order. The present one is the first without an answer; the one after it can be fetched
        already, so that it is there when the answer is given; of the places before it, only the last few.

        :raises NotFound: this person has no such assignment
        :raises NotAllowed: the session is not open, the person is no longer active, an earlier place has no answer, or
            the answer at this place is final
        """
        with self._database.read() as db:
            row = _assignment(db, token, person)
            _require_open(row)
            order = order_of(db, row)
            require_in_turn(row, order, ahead=1)
            trajectories = _trajectories(db, row)
            mine = _own_answer(db, token)
            return Sheet(
                token=token,
                session=row["session"],
                kind=row["kind"],
                place=row["place"],
                of=order[-1]["place"],
                question=Question(**json.loads(row["questions"])[row["task"]]),
                traces=tuple(trace_of(trajectory) for trajectory in trajectories),
                mine=mine,
                training=row["item"] in training_items(row["plan"]),
            )

    def source(self, token: str, person: str) -> SheetSource:
        """Return the trajectories and the spectrum of a sheet, which must not be sent to a browser.

        :raises NotFound: this person has no such assignment
        :raises NotAllowed: as ``sheet``
        """
        with self._database.read() as db:
            row = _assignment(db, token, person)
            _require_open(row)
            require_in_turn(row, order_of(db, row), ahead=1)
            return SheetSource(_trajectories(db, row), row["spectrum"])

    def score(
        self,
        *,
        person: str,
        token: str,
        coherence: Score,
        consistency: Score,
        key: str,
        comment: str = "",
        wrong_steps: Sequence[str] = (),
    ) -> ScoreAnswer:
        """Score the trajectory of an assignment. The same key again changes nothing. The latest score counts; it can be
        changed while few later places are answered.

        :param wrong_steps: the sheet's ids of steps that claim something wrong
        :raises NotFound: this person has no such assignment, or the trajectory no such step
        :raises NotAllowed: the session is not open, the person no longer active, the assignment is a pair, an earlier
            place has no answer, the answer at this place is final, or a score is neither 0 to 5 nor "cannot tell"
        :raises KeyReused: the key was used for another answer
        """
        for name, score in ((tr("Coherence"), coherence), (tr("Physical consistency"), consistency)):
            if score != CANNOT_TELL and (isinstance(score, bool) or score not in SCORES):
                raise NotAllowed(
                    tr(
                        "{name}: found {score!r:.40}, expected 0 to {scores} or “{cannot_tell}”.",
                        name=name,
                        score=score,
                        scores=SCORES[-1],
                        cannot_tell=CANNOT_TELL,
                    )
                )
        given = ScoreAnswer(coherence, consistency, comment.strip(), tuple(dict.fromkeys(wrong_steps)))
        with self._database.write() as db:
            row = _assignment(db, token, person)
            if not _answered_first(db, row, key, given):
                _require_open(row)
                if row["kind"] != "scores":
                    raise NotAllowed(tr("This is a pair: choose the better reasoning."))
                require_in_turn(row, order_of(db, row))
                (trajectory,) = _trajectories(db, row)
                steps = {step.id for step in trace_of(trajectory).steps}
                unknown = [step for step in given.wrong_steps if step not in steps]
                if unknown:
                    raise NotFound(tr("The trace has no step {unknown!r:.20}.", unknown=unknown[0]))
                answer = {
                    "key": key,
                    "assignment": token,
                    "coherence": None if coherence == CANNOT_TELL else coherence,
                    "consistency": None if consistency == CANNOT_TELL else consistency,
                    "comment": given.comment,
                    "wrong_steps": json.dumps(given.wrong_steps),
                    "at": stamp(self._database.now()),
                }
                number = insert(db, "blind_scores", answer)
                self._log_answered(db, row, "scored blind", "blind_scores", number)
        return given

    def prefer(
        self, *, person: str, token: str, preference: Preference, key: str, comment: str = ""
    ) -> PreferenceAnswer:
        """Answer which trace of a pair is better, left and right as shown. The latest answer counts; it can be changed
        while few later places are answered.

        :raises NotFound: this person has no such assignment
        :raises NotAllowed: the session is not open, the person no longer active, the assignment is no pair, an earlier
            place has no answer, the answer at this place is final, or ``preference`` is none of ``PREFERENCES``
        :raises KeyReused: the key was used for another answer
        """
        if preference not in PREFERENCES:
            raise NotAllowed(
                tr(
                    "preference: found {preference!r:.40}, expected one of {names}.",
                    preference=preference,
                    names=", ".join(PREFERENCES),
                )
            )
        given = PreferenceAnswer(preference, comment.strip())
        with self._database.write() as db:
            row = _assignment(db, token, person)
            if not _answered_first(db, row, key, given):
                _require_open(row)
                if row["kind"] != "pair":
                    raise NotAllowed(tr("This is a single trace: score its coherence and physical consistency."))
                require_in_turn(row, order_of(db, row))
                answer = {
                    "key": key,
                    "assignment": token,
                    "preference": preference,
                    "comment": given.comment,
                    "at": stamp(self._database.now()),
                }
                number = insert(db, "blind_preferences", answer)
                self._log_answered(db, row, "preferred blind", "blind_preferences", number)
        return given

    def _log_answered(self, db: Transaction, row: sqlite3.Row, what: str, table: str, number: int) -> None:
        """Log that there is an answer, without the answer: the log can be read while a session is open."""
        place = {"place": row["place"]}
        self._database.log(db, row["scorer"], what, f"session {row['session']}", place, {table: number})


def score_from(row: sqlite3.Row) -> ScoreAnswer:
    return ScoreAnswer(
        coherence=CANNOT_TELL if row["coherence"] is None else row["coherence"],
        consistency=CANNOT_TELL if row["consistency"] is None else row["consistency"],
        comment=row["comment"],
        wrong_steps=tuple(json.loads(row["wrong_steps"])),
    )


def preference_from(row: sqlite3.Row) -> PreferenceAnswer:
    return PreferenceAnswer(row["preference"], row["comment"])


def _assignment(db: Transaction, token: str, person: str) -> sqlite3.Row:
    row: sqlite3.Row | None = db.execute(_ASSIGNMENT, (token, person)).fetchone()
    if row is None:
        raise NotFound(tr("You have no such assignment."))
    return row


def _require_open(row: sqlite3.Row) -> None:
    if not row["active"]:
        raise NotAllowed(tr("{row} is no longer active here.", row=row["scorer"]))
    if row["state"] != "open":
        if row["state"] == "closed":
            raise NotAllowed(tr("Session {session} is closed; nothing can be scored in it.", session=row["session"]))
        raise NotAllowed(
            tr("Session {session} has not been opened yet; nothing can be scored in it.", session=row["session"])
        )


def _trajectories(db: Transaction, row: sqlite3.Row) -> tuple[Trajectory, ...]:
    """Return the trajectory to score; or left and right."""
    shown = [row["version"]] + ([row["on_the_right"]] if row["kind"] == "pair" else [])
    texts = db.execute("SELECT id, body FROM versions WHERE id IN (?, ?)", (shown[0], shown[-1]))
    bodies = {row["id"]: row["body"] for row in texts}
    stated = db.execute("SELECT medium FROM spectra WHERE sha256 = ?", (row["spectrum"],)).fetchone()
    medium = None if stated is None else stated[0]
    return tuple(shown_trajectory(bodies[version], row["spectrum"], medium) for version in shown)


def _own_answer(db: Transaction, token: str) -> ScoreAnswer | PreferenceAnswer | None:
    score = "SELECT * FROM blind_scores WHERE assignment = ? ORDER BY id DESC LIMIT 1"
    preference = "SELECT * FROM blind_preferences WHERE assignment = ? ORDER BY id DESC LIMIT 1"
    if (row := db.execute(score, (token,)).fetchone()) is not None:
        return score_from(row)
    if (row := db.execute(preference, (token,)).fetchone()) is not None:
        return preference_from(row)
    return None


def _answered_first(db: Transaction, assignment: sqlite3.Row, key: str, given: ScoreAnswer | PreferenceAnswer) -> bool:
    """Return whether this answer is stored under this key already. :raises KeyReused: another answer is"""
    first: ScoreAnswer | PreferenceAnswer | None = None
    of = None
    for table in ("blind_scores", "blind_preferences"):
        row = db.execute(f"SELECT * FROM {table} WHERE key = ?", (key,)).fetchone()
        if row is not None:
            of = row["assignment"]
            first = score_from(row) if table == "blind_scores" else preference_from(row)
    if first is not None and (of, first) != (assignment["token"], given):
        raise KeyReused(tr("The key {key!r:.60} belongs to another answer.", key=key))
    return first is not None
