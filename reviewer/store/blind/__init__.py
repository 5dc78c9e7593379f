"""Blind scoring sessions: drawn, scored in, and what they came to."""

from __future__ import annotations

from reviewer.store.blind.results import BlindJudging, BlindReporting, BlindResults
from reviewer.store.blind.scoring import BlindScoring
from reviewer.store.blind.sessions import BlindDrawing


class Blind(BlindDrawing, BlindScoring, BlindJudging, BlindResults, BlindReporting):
    """Everything about blind sessions. The rules are checked in the transaction that writes: only a
    coordinator draws, opens and closes; only the scorer of an assignment answers it, while the session is
    open; nobody is told answers before it is closed."""
