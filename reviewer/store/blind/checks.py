"""What a coordinator checks before a session opens: which traces of which source it shows, and what preceded it."""

from __future__ import annotations

import json
from datetime import datetime

from reviewer.blind.history import EarlierSession, SessionHistory, UnopenedSession
from reviewer.store.accounts import require_coordinator
from reviewer.store.blind.stored import blind_session_by_id, refuse_withheld_session
from reviewer.store.blind.texts import shown_texts, shown_trajectory
from reviewer.store.blind.values import BlindSession, SessionTrace
from reviewer.store.sqlite.database import Database, Transaction, stamp

_SHOWN = """
SELECT v.id, v.item, i.task, a.spectrum, p.medium, v.body, min(a.gold) AS gold
FROM blind_assignments a
JOIN versions v ON v.id IN (a.version, a.on_the_right)
JOIN items i ON i.id = v.item
LEFT JOIN spectra p ON p.sha256 = a.spectrum
WHERE a.session = ? GROUP BY v.id ORDER BY v.item, v.id
"""

# Sessions of the same sources and tasks that were created before the moment :at and not opened by then.
_UNOPENED = """
WITH mine AS (
    SELECT DISTINCT i.drafter_name, i.task FROM blind_assignments a
    JOIN versions v ON v.id IN (a.version, a.on_the_right) JOIN items i ON i.id = v.item
    WHERE a.session = :session
)
SELECT s.id, s.plan, s.at,
       (SELECT at FROM blind_states WHERE session = s.id AND state = 'closed' AND at <= :at) AS discarded
FROM blind_sessions s
WHERE s.id <> :session AND s.at <= :at
      AND NOT EXISTS (SELECT 1 FROM blind_states WHERE session = s.id AND state = 'open' AND at <= :at)
      AND EXISTS (
          SELECT 1 FROM blind_assignments a
          JOIN versions v ON v.id IN (a.version, a.on_the_right) JOIN items i ON i.id = v.item
          JOIN mine ON mine.drafter_name = i.drafter_name AND mine.task = i.task
          WHERE a.session = s.id
      )
ORDER BY s.id
"""

# Sessions opened before the moment :at, with how many of the session's items they showed.
_EARLIER = """
WITH mine AS (
    SELECT DISTINCT v.item FROM blind_assignments a JOIN versions v ON v.id IN (a.version, a.on_the_right)
    WHERE a.session = :session
)
SELECT o.session, o.at, s.plan, count(DISTINCT v.item) AS items
FROM blind_states o
JOIN blind_sessions s ON s.id = o.session
JOIN blind_assignments a ON a.session = o.session
JOIN versions v ON v.id IN (a.version, a.on_the_right)
JOIN mine ON mine.item = v.item
WHERE o.state = 'open' AND o.at <= :at AND o.session <> :session
GROUP BY o.session ORDER BY o.session
"""


class Checks:
    """Checks of a session. ``by`` None stands for the owner of the file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def traces(self, by: str | None, session_id: int) -> tuple[SessionTrace, ...]:
        """Return every trajectory that a session shows, with its source, by item.

        :raises NotAllowed: ``by`` is no coordinator, or scores some of its traces in a session that is not closed
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            refuse_withheld_session(db, session, by)
            rows = db.execute(_SHOWN, (session_id,)).fetchall()
            texts = shown_texts(db, session_id, session.plan)
            return tuple(
                SessionTrace(
                    item=row["item"],
                    source=texts[row["id"]].source,
                    task=row["task"],
                    spectrum=row["spectrum"],
                    trajectory=shown_trajectory(row["body"], row["spectrum"], row["medium"]),
                    compared=not row["gold"] and row["item"] not in session.plan.training,
                )
                for row in rows
            )

    def history(self, by: str | None, session_id: int) -> SessionHistory:
        """Return what preceded a session: what was created and not opened, and which of its items were shown.

        :raises NotAllowed: ``by`` is no coordinator
        :raises NotFound: there is no such session
        """
        with self._database.read() as db:
            require_coordinator(db, by)
            session = blind_session_by_id(db, session_id)
            at = session.opened_at or self._database.now()
            values = {"session": session_id, "at": stamp(at)}
            return SessionHistory(_unopened(db, values), _earlier(db, values, session))


def _unopened(db: Transaction, values: dict[str, object]) -> tuple[UnopenedSession, ...]:
    return tuple(
        UnopenedSession(
            session=row["id"],
            seed=json.loads(row["plan"])["seed"],
            created=datetime.fromisoformat(row["at"]),
            discarded=None if row["discarded"] is None else datetime.fromisoformat(row["discarded"]),
        )
        for row in db.execute(_UNOPENED, values)
    )


def _earlier(db: Transaction, values: dict[str, object], session: BlindSession) -> tuple[EarlierSession, ...]:
    sessions = []
    for row in db.execute(_EARLIER, values):
        scored = set(json.loads(row["plan"])["scorers"])
        scorers = tuple(scorer for scorer in session.plan.scorers if scorer in scored)
        sessions.append(EarlierSession(row["session"], datetime.fromisoformat(row["at"]), row["items"], scorers))
    return tuple(sessions)
