"""Blind sessions for coordinators: candidates, creating, opening and closing, progress and leaks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace

from agent.language import deferred, tr, trn
from agent.trajectory import Trajectory
from reviewer.blind.leaks import PICTURE_LEAK, sentence_with
from reviewer.blind.pictures import revealing_pictures
from reviewer.blind.plan import Assignment, Candidate, Plan, SampledSession, analysis_sha256
from reviewer.blind.rubric import Rubric, rubric
from reviewer.blind.sampling import sample
from reviewer.blind.sheet import Question
from reviewer.rules.campaign import known_tasks
from reviewer.store.accounts import find_person, require_coordinator
from reviewer.store.blind.candidates import EXPOSED, INVOLVED, find_candidates, in_body
from reviewer.store.blind.stored import (
    SESSIONS,
    SHOWN_ITEMS,
    blind_session_by_id,
    refuse_withheld_session,
    session_from,
    why_withheld,
)
from reviewer.store.blind.texts import shown_texts
from reviewer.store.blind.values import BlindProgress, BlindSession, BlindState, LeakFound
from reviewer.store.errors import KeyReused, NotAllowed
from reviewer.store.spectra import Spectra
from reviewer.store.sqlite.database import Database, Transaction, insert, stamp
from reviewer.store.team.views import require_list


class Sessions:
    """Blind sessions, managed by coordinators. ``by`` None stands for the owner of the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def candidates(self, by: str | None, plan: Plan, progress: Callable[[int], None] | None = None) -> list[Candidate]:
        """Return the items that fit the plan, and its gold and training items, at their current versions.

        Texts are searched for leaks only if the plan leaves such texts out.

        :param progress: called with the number of texts searched so far
        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: a scorer is nobody's initials, or ``by`` cannot open the list of the plan's filter
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            if plan.filter.listed is not None:
                require_list(db, by, plan.filter.listed)
            return find_candidates(db, plan, progress)

    def create(
        self, by: str | None, plan: Plan, key: str, progress: Callable[[int], None] | None = None
    ) -> BlindSession:
        """Sample a session and store it; it never changes. The same key again returns the first one.

        :param progress: called with the number of texts searched so far, if the plan leaves some out
        :raises NotAllowed: ``by`` is no coordinator, or a scorer is no longer active
        :raises TooFew: (of ``reviewer.blind.sampling``) there are too few items
        :raises PlanError: the plan's fields contradict each other
        :raises NotFound: a scorer is nobody's initials
        :raises KeyReused: the key was used for another session
        """
        plan.check()
        with self._database.read() as db:
            first = _drawn_first(db, key, by, plan)
            if first is None and plan.filter.listed is not None:
                items = require_list(db, by, plan.filter.listed).items
                plan = replace(plan, filter=replace(plan.filter, listed_items=items))
        if first is not None:
            return self.get(by, first)
        # Everything slow comes before the write lock is taken.
        drawn = sample(plan, self.candidates(by, plan, progress))
        questions = self._questions(drawn)
        with self._database.write() as db:
            first = _drawn_first(db, key, by, plan)
            if first is None:
                require_coordinator(db, by)
                self._require_all_active(db, plan.scorers)
                first = self._keep(db, by, drawn, questions, key)
        return self.get(by, first)

    def open(self, by: str | None, session_id: int, key: str) -> BlindSession:
        """Open a session for scoring and copy the rubric into it. The same key again changes nothing.

        :raises NotAllowed: ``by`` is no coordinator, the session was opened or closed before, or a scorer has
            left or worked on one of their items since it was sampled, or saw one in another session where the plan
            bars them from those; or an approved text is no longer approved; or the session is from before versions were
            told apart and shows texts that people edited
        :raises NotFound: there is no such session
        :raises KeyReused: the key was used for another change
        """
        with self._database.write() as db:
            if not self._changed_first(db, key, by, session_id, "open"):
                require_coordinator(db, by)
                session = blind_session_by_id(db, session_id)
                if session.state != "drawn":
                    raise NotAllowed(
                        tr(
                            "Session {session_id} is {state}; only a new session can be opened.",
                            session_id=session_id,
                            state=session.state,
                        )
                    )
                self._require_all_active(db, session.plan.scorers)
                _refuse_other_texts(db, session)
                _refuse_newly_involved(db, session)
                self._append_state(db, key, session_id, "open", rubric(), by, analysis_sha256(session.plan, rubric()))
        return self.get(by, session_id)

    def close(self, by: str | None, session_id: int, key: str) -> BlindSession:
        """Close a session: scoring ends, and the results become available. A session can be closed without opening.

        :raises NotAllowed: ``by`` is no coordinator, or it is closed already
        :raises NotFound: there is no such session
        :raises KeyReused: the key was used for another change
        """
        with self._database.write() as db:
            if not self._changed_first(db, key, by, session_id, "closed"):
                require_coordinator(db, by)
                if blind_session_by_id(db, session_id).state == "closed":
                    raise NotAllowed(tr("Session {session_id} is closed already.", session_id=session_id))
                self._append_state(db, key, session_id, "closed", None, by)
        return self.get(by, session_id)

    def all(self, by: str | None) -> list[BlindSession]:
        """Return every session, oldest first. :raises NotAllowed: ``by`` is no coordinator"""
        with self._database.read() as db:
            require_coordinator(db, by)
            return [session_from(row) for row in db.execute(f"{SESSIONS} ORDER BY s.id")]

    def get(self, by: str | None, session_id: int) -> BlindSession:
        """Return a session.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            return blind_session_by_id(db, session_id)

    def progress(self, by: str | None, session_id: int) -> tuple[BlindProgress, ...]:
        """Return the progress of each scorer, in the plan's order.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            counts = {row["scorer"]: row for row in db.execute(_PROGRESS, (session_id,))}
        return tuple(
            BlindProgress(scorer, counts[scorer]["done"], counts[scorer]["asked"])
            if scorer in counts
            else BlindProgress(scorer, 0, 0)
            for scorer in session.plan.scorers
        )

    def why_withheld(self, by: str | None, session: BlindSession) -> str:
        """Return why ``by`` may not see the sources and results of a session now; "" if they may.

        :raises NotAllowed: ``by`` is no coordinator
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            return why_withheld(db, session, by)

    def leaks(self, by: str | None, session_id: int) -> tuple[LeakFound, ...]:
        """Return the leaks in the texts and pictures of a session, by item.

        :raises NotAllowed: ``by`` is no coordinator, or scores some of its traces in a session that is not closed
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            refuse_withheld_session(db, session, by)
            rows = db.execute(_SHOWN, (session_id,)).fetchall()
            texts = shown_texts(db, session_id, session.plan)
        spectra = Spectra(self._database)
        with self._database.decoding():
            return tuple(leak for row in rows for leak in _leaks_of(row, texts[row["id"]].source, spectra))

    def _questions(self, drawn: SampledSession) -> dict[str, Question]:
        """Return the question of each task; only the key if the task's file is missing."""
        known, _ = known_tasks(self._database.path)
        return {
            key: Question(known[key].title, known[key].question, known[key].guide)
            if key in known
            else Question(key, "", "")
            for key in sorted({candidate.task for candidate in drawn.candidates})
        }

    def _keep(
        self,
        db: Transaction,
        by: str | None,
        drawn: SampledSession,
        questions: Mapping[str, Question],
        key: str,
    ) -> int:
        words = {name: asdict(question) for name, question in questions.items()}
        row = {
            "key": key,
            "name": drawn.plan.name,
            "plan": _json(drawn.plan.to_json()),
            "questions": _json(words),
            "notes": _json(drawn.notes),
            "person": by,
            "at": stamp(self._database.now()),
        }
        session = insert(db, "blind_sessions", row)
        db.table("blind_assignments").insert_all(_row(session, assignment) for assignment in drawn.assignments)
        bound = {"blind_sessions": session, **({"blind_assignments": session} if drawn.assignments else {})}
        count = {"assignments": len(drawn.assignments), "scorers": list(drawn.plan.scorers)}
        self._database.log(db, by, "blind session drawn", f"session {session}", count, bound)
        return session

    def _require_all_active(self, db: Transaction, scorers: Iterable[str]) -> None:
        left = [scorer for scorer in scorers if not find_person(db, scorer).active]
        if left:
            raise NotAllowed(tr("{names}: no longer active. Create a session without them.", names=", ".join(left)))

    def _append_state(
        self,
        db: Transaction,
        key: str,
        session_id: int,
        state: BlindState,
        words: Rubric | None,
        by: str | None,
        analysis: str = "",
    ) -> None:
        at = stamp(self._database.now())
        text = None if words is None else json.dumps(words.to_json(), ensure_ascii=False)
        row = {"key": key, "session": session_id, "state": state, "rubric": text, "person": by, "at": at}
        number = insert(db, "blind_states", row)
        what = "blind session opened" if state == "open" else "blind session closed"
        details = {"analysis_plan_sha256": analysis} if analysis else {}
        self._database.log(db, by, what, f"session {session_id}", details, {"blind_states": number})

    def _changed_first(self, db: Transaction, key: str, by: str | None, session_id: int, state: BlindState) -> bool:
        """Return whether this change is stored under this key already. :raises KeyReused: another change is"""
        row = db.execute("SELECT session, state, person FROM blind_states WHERE key = ?", (key,)).fetchone()
        if row is not None and tuple(row) != (session_id, state, by):
            raise KeyReused(tr("The key {key!r:.60} belongs to another change of a session.", key=key))
        return row is not None


def _leaks_of(row: sqlite3.Row, source: str, spectra: Spectra) -> Iterator[LeakFound]:
    """Yield the leaks of a trajectory: of its texts, then of its pictures."""
    item = row["item"]
    for step, giveaway, text in in_body(row["body"]):
        yield LeakFound(item, source, step, giveaway, sentence_with(giveaway, text))
    trajectory = Trajectory.from_json(json.loads(row["body"]))
    for picture in revealing_pictures(spectra, row["spectrum"], trajectory):
        yield LeakFound(item, source, picture.step, PICTURE_LEAK, PICTURE_LEAK.words)


_PROGRESS = """
SELECT a.scorer, count(*) AS asked,
       sum(EXISTS (SELECT 1 FROM blind_scores WHERE assignment = a.token)
           OR EXISTS (SELECT 1 FROM blind_preferences WHERE assignment = a.token)) AS done
FROM blind_assignments a WHERE a.session = ? GROUP BY a.scorer
"""

_SHOWN = """
SELECT DISTINCT v.id, v.item, a.spectrum, v.body
FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
WHERE a.session = ? ORDER BY v.item, v.id
"""

# Items of a session that are not approved in the text that it shows, where that is not their draft.
_NOT_APPROVED = """
SELECT DISTINCT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
JOIN standings s ON s.item = v.item
WHERE a.session = ? AND v.id IN (SELECT value FROM json_each(?)) AND (s.state <> 'approved' OR s.version <> v.id)
"""


def _drawn_first(db: Transaction, key: str, by: str | None, plan: Plan) -> int | None:
    """Return the session that is stored under this key; None if there is none. :raises KeyReused: it differs"""
    row = db.execute("SELECT id, person, plan FROM blind_sessions WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    # The number of items of the list is of the moment when the session was made.
    items = Plan.from_stored(json.loads(row["plan"])).filter.listed_items
    same = replace(plan, filter=replace(plan.filter, listed_items=items))
    if row["person"] != by or row["plan"] != _json(same.to_json()):
        raise KeyReused(tr("The key {key!r:.60} belongs to another session.", key=key))
    return int(row["id"])


def _refuse_other_texts(db: Transaction, session: BlindSession) -> None:
    """Check that every text still is what its source says. :raises NotAllowed: one is not"""
    texts = shown_texts(db, session.id, session.plan)
    if by_people := sum(text.kind == "current, edited" for text in texts.values()):
        raise NotAllowed(
            trn(
                "Session {id} was created before drafted and edited texts were told apart, and a person edited {n} of "
                "its traces. Close this session and create another one.",
                "Session {id} was created before drafted and edited texts were told apart, and people edited {n} of "
                "its traces. Close this session and create another one.",
                by_people,
                id=session.id,
            )
        )
    approved = json.dumps([version for version, text in texts.items() if text.kind in ("revised", "unchanged")])
    if items := [row["item"] for row in db.execute(_NOT_APPROVED, (session.id, approved))]:
        raise NotAllowed(
            tr(
                "Item {item} was approved when session {id} was created, and is not now. Close this session and create "
                "another one.",
                item=min(items),
                id=session.id,
            )
        )


def _refuse_newly_involved(db: Transaction, session: BlindSession) -> None:
    people = {"people": json.dumps(session.plan.scorers)}
    mine = {tuple(row) for row in db.execute(SHOWN_ITEMS, (session.id,))}
    _refuse_any(
        session,
        deferred(
            "{scorer} has worked on item {item} since session {id} was created. Close this session and create another "
            "one."
        ),
        mine.intersection(tuple(row) for row in db.execute(INVOLVED, people)),
    )
    if session.plan.earlier == "bar":
        compared = {(item, scorer) for item, scorer in mine if item not in session.plan.training}
        # This session is not open, so these are of others.
        exposed = compared.intersection(tuple(row) for row in db.execute(EXPOSED, people))
        shown = deferred(
            "{scorer} has been shown, in another session, item {item} since session {id} was created. Close this "
            "session and create another one."
        )
        _refuse_any(session, shown, exposed)


def _refuse_any(session: BlindSession, why: str, refused: Collection[tuple[int, str]]) -> None:
    """Check that no item of a session is known to its scorer.

    :param why: the message for the first one
    :raises NotAllowed: one is
    """
    if refused:
        item, scorer = min(refused)
        text = tr(why, scorer=scorer, item=item, id=session.id)
        if len(refused) > 1:
            text = trn(
                "{text} There is {n} more item like it.",
                "{text} There are {n} more items like it.",
                len(refused) - 1,
                text=text,
            )
        raise NotAllowed(text)


def _row(session: int, assignment: Assignment) -> dict[str, object]:
    left, right = assignment.shown[0], assignment.shown[1] if assignment.kind == "pair" else None
    return {
        "token": assignment.token,
        "session": session,
        "scorer": assignment.scorer,
        "kind": assignment.kind,
        "place": assignment.place,
        "version": left.version,
        "on_the_right": None if right is None else right.version,
        "spectrum": left.spectrum,
        "repeat_of": assignment.repeat_of,
        "gold": int(assignment.gold),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
