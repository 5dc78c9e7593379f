"""Blind scoring sessions: drawn, scored in, and what they came to."""

from __future__ import annotations

from reviewer.store.blind_drawing import BlindDrawing
from reviewer.store.blind_judging import BlindJudging
from reviewer.store.blind_report import BlindReporting
from reviewer.store.blind_results import BlindResults
from reviewer.store.blind_scoring import BlindScoring


class Blind(BlindDrawing, BlindScoring, BlindJudging, BlindResults, BlindReporting):
    """Everything about blind sessions. The rules are checked in the transaction that writes: only a
    coordinator draws, opens and closes; only the scorer of an assignment answers it, while the session is
    open; nobody is told answers before it is closed."""
