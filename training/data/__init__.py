"""Training data, whatever it came in: approved exports, our JSON lines, the published cold-start set,
SpecVI-Bench, and spectra of one's own with a label table.

``examples`` are learned from, ``questions`` are asked. What stands in a file but cannot be used is either an
error that stops (``DataError``: which file, row and field) or a row that is left out and counted
(``Dropped``).
"""

from __future__ import annotations

from training.data.card import DataCard, card
from training.data.reading import examples, questions
from training.data.records import DataError, Dropped, source_of
from training.data.splits import refuse_leaks, shared_sources, split, without

__all__ = [
    "DataCard",
    "DataError",
    "Dropped",
    "card",
    "examples",
    "questions",
    "refuse_leaks",
    "shared_sources",
    "source_of",
    "split",
    "without",
]
