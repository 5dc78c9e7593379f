"""Full-text search of traces and remarks: what is indexed, and how a search is written for SQLite's FTS5.

The index has no copy of the text. Versions, comments, decisions and marks are facts, so rows are only added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.teamwork_tables import VERSIONS_PER_ITEM

COMMENT, DECISION, MARK = 0, 1, 2
"""Kinds of remarks: ``rowid = 4 * id + kind`` in ``remarks_text``."""

# Chinese, Japanese and Korean are written without spaces: each character is a word of its own, and a run of them a
# phrase.
IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Ranges of characters, as part of a regular expression."""
_IDEOGRAPH = re.compile(f"([{IDEOGRAPHS}])")


def spaced(text: str) -> str:
    """Return the text with spaces around each ideograph, as it is indexed and searched."""
    return _IDEOGRAPH.sub(r" \1 ", text)


def trace_text(trajectory: Mapping[str, Any]) -> str:
    """Return what is searched of a trajectory's JSON: thoughts, labels of zooms, explanation, why one cannot tell."""
    parts: list[str] = []
    for step in trajectory.get("steps", ()):
        parts.append(str(step.get("text") or step.get("explanation") or ""))
        arguments = step.get("arguments")
        if isinstance(arguments, dict) and isinstance(arguments.get("label"), str):
            parts.append(arguments["label"])
    parts.append(str(trajectory.get("cannot_tell") or ""))
    return spaced("\n".join(filter(None, parts)))


def trace_row(item_id: int, number: int) -> int:
    """Return the row of a version in ``traces_text``."""
    return item_id * VERSIONS_PER_ITEM + number


def index_trace(db: Transaction, item_id: int, number: int, body: str) -> None:
    """Add a version to the index. :param body: its stored JSON"""
    text = trace_text(json.loads(body))
    db.execute("INSERT INTO traces_text (rowid, text) VALUES (?, ?)", (trace_row(item_id, number), text))


def index_remark(db: Transaction, kind: int, number: int, text: str) -> None:
    """Add a comment, the comment of a decision, or the note of a mark to the index; an empty text is left out."""
    if text.strip():
        db.execute("INSERT INTO remarks_text (rowid, text) VALUES (?, ?)", (4 * number + kind, spaced(text)))


def fill_texts(db: Transaction) -> None:
    """Fill both indexes from the facts."""
    rows = "SELECT item, number, body FROM versions ORDER BY item, number"
    for item_id, number, body in db.execute(rows):
        index_trace(db, item_id, number, body)
    for kind, table, column in (
        (COMMENT, "comments", "text"),
        (DECISION, "decisions", "comment"),
        (MARK, "marks", "note"),
    ):
        for number, text in db.execute(f"SELECT id, {column} FROM {table} WHERE {column} <> '' ORDER BY id"):
            index_remark(db, kind, number, text)
