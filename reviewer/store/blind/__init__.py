"""Blind scoring sessions: created by a coordinator, scored by people and by model judges, and their results."""

from __future__ import annotations

from reviewer.store.blind.checks import Checks
from reviewer.store.blind.judging import Judging
from reviewer.store.blind.results import SessionResults
from reviewer.store.blind.scoring import Scoring
from reviewer.store.blind.sessions import Sessions
from reviewer.store.sqlite.database import Database


class BlindSessions:
    """The parts of blind scoring.

    The rules are checked in the transaction that writes: only a coordinator creates, opens and closes a
    session; only the scorer of an assignment answers it, while the session is open; nobody sees answers
    before it is closed.
    """

    def __init__(self, database: Database) -> None:
        self.sessions = Sessions(database)
        self.checks = Checks(database)
        self.scoring = Scoring(database)
        self.judging = Judging(database)
        self.results = SessionResults(database)
