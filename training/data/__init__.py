"""Training data: approved exports, JSON lines, the published cold-start set, SpecVI-Bench, and labelled spectra.

``examples`` are for training, ``questions`` for the bench and GRPO. A row that cannot be used is an error that stops
(``DataError``: file, row and field), or is left out and counted (``Dropped``).
"""

from __future__ import annotations

from training.data.card import DataCard, card
from training.data.damage import without_damaged
from training.data.reading import examples, questions, tasks_with
from training.data.records import DataError, Dropped, source_of
from training.data.splits import refuse_leaks, shared_sources, split, without
from training.data.survey_files import LabelledFileError, LeaveOut

__all__ = [
    "DataCard",
    "DataError",
    "Dropped",
    "LabelledFileError",
    "LeaveOut",
    "card",
    "examples",
    "questions",
    "refuse_leaks",
    "shared_sources",
    "source_of",
    "split",
    "tasks_with",
    "without",
    "without_damaged",
]
