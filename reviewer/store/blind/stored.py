"""Stored sessions, and which of them a coordinator may see while they score the same traces themselves."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime

from agent.language import tr
from reviewer.blind.plan import Plan
from reviewer.blind.rubric import Rubric
from reviewer.blind.sheet import Question
from reviewer.store.blind.scoring import hidden_items
from reviewer.store.blind.values import BlindSession
from reviewer.store.errors import NotAllowed, NotFound
from reviewer.store.sqlite.database import Transaction

SESSIONS = """
SELECT s.*, o.rubric, o.at AS opened_at, c.at AS closed_at
FROM blind_sessions s
LEFT JOIN blind_states o ON o.session = s.id AND o.state = 'open'
LEFT JOIN blind_states c ON c.session = s.id AND c.state = 'closed'
"""

SHOWN_ITEMS = """
SELECT DISTINCT v.item, a.scorer FROM blind_assignments a
JOIN versions v ON v.id IN (a.version, a.on_the_right) WHERE a.session = ?
"""


def blind_session_by_id(db: Transaction, session_id: int) -> BlindSession:
    """Return a session. :raises NotFound: there is no such session"""
    row = db.execute(f"{SESSIONS} WHERE s.id = ?", (session_id,)).fetchone()
    if row is None:
        raise NotFound(tr("There is no blind session {session_id}.", session_id=session_id))
    return session_from(row)


def session_from(row: sqlite3.Row) -> BlindSession:
    opened, closed = row["opened_at"], row["closed_at"]
    return BlindSession(
        id=row["id"],
        name=row["name"],
        plan=Plan.from_stored(json.loads(row["plan"])),
        state="closed" if closed else "open" if opened else "drawn",
        questions={key: Question(**words) for key, words in json.loads(row["questions"]).items()},
        notes=tuple(json.loads(row["notes"])),
        drawn_by=row["person"],
        drawn_at=datetime.fromisoformat(row["at"]),
        rubric=None if row["rubric"] is None else Rubric.from_json(json.loads(row["rubric"])),
        opened_at=None if opened is None else datetime.fromisoformat(opened),
        closed_at=None if closed is None else datetime.fromisoformat(closed),
    )


def why_withheld(db: Transaction, session: BlindSession, by: str | None) -> str:
    """Return why a coordinator may not see the sources and results of a session now; "" if they may."""
    who = tr("Ask a coordinator who does not score in it, or the owner of the database file.")
    if session.state != "closed" and by in session.plan.scorers:
        return tr("You score in this session, so the sources of its traces are hidden from you. ")
    if by is not None and not hidden_items(db, by).isdisjoint(_items_of(db, session.id)):
        return tr(
            "Session {session} has traces that you score in another session, or traces of the same spectra. Their "
            "sources are hidden from you until that session is closed. {who}",
            session=session.id,
            who=who,
        )
    return ""


def refuse_withheld_session(db: Transaction, session: BlindSession, by: str | None) -> None:
    """Check that a coordinator may see the sources.

    :raises NotAllowed: ``by`` scores traces of the session, in it or in another one, that is not closed
    """
    if why := why_withheld(db, session, by):
        raise NotAllowed(why)


def _items_of(db: Transaction, session_id: int) -> frozenset[int]:
    return frozenset(row["item"] for row in db.execute(SHOWN_ITEMS, (session_id,)))
