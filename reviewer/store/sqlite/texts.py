"""Full-text search of traces and remarks: what is indexed, how a search is written for SQLite's FTS5, what it finds.

The index has no copy of the text. Versions, comments, decisions and marks are facts, so rows are only added.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from agent.language import tr
from reviewer.store.errors import BadSearch
from reviewer.store.sqlite.database import Transaction

# As in schema.sql.
VERSIONS_PER_ITEM = 2**20
REMARKS_PER_ITEM = 2**32
_TOKENIZER = "tokenize='unicode61 remove_diacritics 2'"

COMMENT, DECISION, MARK = 0, 1, 2
"""Kinds of remarks, the last two bits of a row of ``remarks_text``."""
REMARKS = ((COMMENT, "comments", "text"), (DECISION, "decisions", "comment"), (MARK, "marks", "note"))
"""Each kind with its table and the column of the text."""

IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Ranges of characters, as part of a regular expression."""
# Chinese, Japanese and Korean are written without spaces: each character is a word of its own, and a run of them a
# phrase.
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHS}]")
_RUN = re.compile(f"[{IDEOGRAPHS}]+")

MOST_WORDS = 20
"""Words and phrases of a search."""
# There are very many words with the same one or two letters.
_SHORTEST_BEGINNING = 3
_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))(\*?)')

Spans = list[tuple[int, int]]
"""Start and end of each hit in a text, in characters."""


def spaced(text: str) -> str:
    """Return the text with spaces around each ideograph, as it is indexed and searched."""
    return text if text.isascii() else _RUN.sub(lambda run: f" {'  '.join(run[0])} ", text)


def trace_parts(trajectory: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what is searched of a trajectory's JSON, each text with its step: thoughts, labels of zooms, explanation,
    and why one cannot tell (without a step)."""
    parts: list[tuple[str, str]] = []
    for step in trajectory.get("steps", ()):
        name = str(step.get("id") or "")
        parts.append((name, str(step.get("text") or step.get("explanation") or "")))
        arguments = step.get("arguments")
        if isinstance(arguments, dict) and isinstance(arguments.get("label"), str):
            parts.append((name, arguments["label"]))
    parts.append(("", str(trajectory.get("cannot_tell") or "")))
    return [part for part in parts if part[1]]


def trace_text(trajectory: Mapping[str, Any]) -> str:
    """Return the text of a trajectory as it is searched, with its parts on lines of their own."""
    return "\n".join(text for _, text in trace_parts(trajectory))


def trace_row(item_id: int, number: int) -> int:
    """Return the row of a version in ``traces_text``."""
    return item_id * VERSIONS_PER_ITEM + number


def index_trace(db: Transaction, item_id: int, number: int, text: str) -> None:
    """Add a version to the index. :param text: its ``trace_text``"""
    db.execute("INSERT INTO traces_text (rowid, text) VALUES (?, ?)", (trace_row(item_id, number), spaced(text)))


_REMARK_ROWS = {
    kind: f"SELECT item * {REMARKS_PER_ITEM} + 4 * id + {kind}, {column} FROM {table} WHERE {column} <> ''"
    for kind, table, column in REMARKS
}
_TRACE_ROWS = f"SELECT item * {VERSIONS_PER_ITEM} + number, body FROM versions"


def index_remark(db: Transaction, kind: int, number: int, text: str) -> None:
    """Add a comment, the comment of a decision, or the note of a mark to the index; an empty text is left out.

    :param number: id of its row, which is there already
    """
    for row, _ in db.execute(f"{_REMARK_ROWS[kind]} AND id = ?", (number,)).fetchall():
        db.execute("INSERT INTO remarks_text (rowid, text) VALUES (?, ?)", (row, spaced(text)))


# Bytes of new words that FTS5 collects before it writes them: a large number costs memory and saves half of the time.
_COLLECTED, _COLLECTED_OTHERWISE = 64 * 2**20, 2**20
_AT_A_TIME = 100


def fill_texts(db: Transaction, progress: Callable[[int], None] | None = None) -> None:
    """Fill both indexes from the facts.

    :param progress: called with the number of versions done so far
    """
    for table in ("traces_text", "remarks_text"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", (_COLLECTED,))
    done = 0
    rows = db.execute(f"{_TRACE_ROWS} ORDER BY item, number")
    while some := list(islice(rows, _AT_A_TIME)):
        texts = [(row, spaced(trace_text(json.loads(body)))) for row, body in some]
        db.conn.executemany("INSERT INTO traces_text (rowid, text) VALUES (?, ?)", texts)
        done += len(texts)
        if progress is not None:
            progress(done)
    for sql in _REMARK_ROWS.values():
        remarks = ((row, spaced(text)) for row, text in db.execute(sql))
        db.conn.executemany("INSERT INTO remarks_text (rowid, text) VALUES (?, ?)", remarks)
    for table in ("traces_text", "remarks_text"):
        db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('hashsize', ?)", (_COLLECTED_OTHERWISE,))


def wrong_texts(db: Transaction) -> list[str]:
    """Return a fault for each index whose rows are not those of the facts."""
    wrong = []
    expected = {"traces_text": _TRACE_ROWS.replace(", body", ""), "remarks_text": _remark_numbers()}
    for table, rows in expected.items():
        kept = f"SELECT id FROM {table}_docsize"
        missing, extra = (
            db.execute(f"SELECT count(*) FROM (SELECT * FROM ({row}) EXCEPT SELECT * FROM ({other}))").fetchone()[0]
            for row, other in ((rows, kept), (kept, rows))
        )
        if missing or extra:
            wrong.append(
                tr(
                    "the index {table} lacks {missing} texts and has {extra} that are not there; rebuild",
                    table=table,
                    missing=missing,
                    extra=extra,
                )
            )
    return wrong


def _remark_numbers() -> str:
    return " UNION ALL ".join(
        f"SELECT item * {REMARKS_PER_ITEM} + 4 * id + {kind} FROM {table} WHERE {column} <> ''"
        for kind, table, column in REMARKS
    )


def search_expression(words: str) -> str:
    """Return a search as FTS5's expression: words, ``"a phrase"``, ``beginning*``, and ``-`` before what excludes.

    Nothing else has a meaning, so no text is refused by SQLite.

    :raises BadSearch: there is nothing to search for, too much of it, or the beginning of a word is too short
    """
    included: list[str] = []
    excluded: list[str] = []
    # Control characters separate words, and SQLite's expressions end at a zero byte.
    for minus, phrase, word, star in _TERM.findall(re.sub(r"[\x00-\x1f]", " ", words)):
        term = _term(phrase or word, bool(star) or word.endswith("*"))
        if term is not None:
            (excluded if minus else included).append(term)
    if len(included) + len(excluded) > MOST_WORDS:
        raise BadSearch(tr("A search has {most} words at most.", most=MOST_WORDS))
    if not included and excluded:
        raise BadSearch(tr('Add a word to search for: "-" only leaves out the texts with a word.'))
    if not included:
        raise BadSearch(tr("The search has no letter and no digit. Write a word to search for."))
    return " AND ".join(included) + (f" NOT ({' OR '.join(excluded)})" if excluded else "")


def _term(text: str, beginning: bool) -> str | None:
    """Return a word or a phrase as FTS5's string; None if it has no letter and no digit."""
    tokens = "".join(char if _in_a_word(char) else " " for char in unicodedata.normalize("NFC", spaced(text))).split()
    if not tokens:
        return None
    string = f'"{spaced(text)}"'
    # An ideograph is a whole word.
    if not beginning or _IDEOGRAPH.match(tokens[-1]):
        return string
    if len(tokens[-1]) < _SHORTEST_BEGINNING:
        raise BadSearch(
            tr('Found "{found}*": write at least three letters or digits before the asterisk.', found=tokens[-1])
        )
    return f"{string} *"


def _in_a_word(char: str) -> bool:
    """Return whether FTS5's tokenizer takes a character as part of a word: letters, digits, accents."""
    return unicodedata.category(char)[0] in "LNM" or unicodedata.category(char) == "Co"


# They separate words like any other control character; those of a text, and zero bytes, are replaced by spaces.
_BEGIN, _END = "\x02", "\x03"
_OTHER_MARKS = re.compile(f"[\x00{_BEGIN}{_END}]")


def hits(expression: str, texts: Sequence[str]) -> list[Spans]:
    """Return where each text matches a search, as SQLite itself finds it; nothing for a text that does not match.

    :param expression: of ``search_expression``
    """
    spans: list[Spans] = [[] for _ in texts]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.execute(f"CREATE VIRTUAL TABLE texts USING fts5 (text, {_TOKENIZER})")
        rows = ((number, spaced(_OTHER_MARKS.sub(" ", text))) for number, text in enumerate(texts))
        db.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
        marked = "SELECT rowid, highlight(texts, 0, ?, ?) FROM texts WHERE texts MATCH ?"
        for number, text in db.execute(marked, (_BEGIN, _END, expression)):
            spans[number] = list(_unspaced(texts[number], text))
    return spans


def _unspaced(text: str, marked: str) -> Iterator[tuple[int, int]]:
    """Yield the hits in a text, from its spaced form with marks around each hit."""
    # Of the spaced text: where a space was added before an ideograph, and where one was added after it.
    before = [match.start() + 2 * number for number, match in enumerate(_IDEOGRAPH.finditer(text))]
    after = [place + 2 for place in before]

    def place(spaced_place: int) -> int:
        return spaced_place - bisect_left(before, spaced_place) - bisect_left(after, spaced_place)

    at = 0
    for number, piece in enumerate(re.split(f"[{_BEGIN}{_END}]", marked)):
        if number % 2:
            yield place(at), place(at + len(piece))
        at += len(piece)
