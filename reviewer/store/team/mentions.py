"""Mentions: the people whose initials a comment names with an ``@``, derived from the texts of the comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agent.language import tr
from reviewer.store.sqlite.database import Transaction
from reviewer.store.sqlite.texts import IDEOGRAPHS

# A letter or digit that belongs to a word. Ideographs do not: Chinese is written without spaces, and "请@AB看一下"
# names AB.
_OF_A_WORD = rf"[^\W{IDEOGRAPHS}]"


def mentioned(text: str, people: Iterable[str]) -> frozenset[str]:
    """Return whom a text mentions: ``@`` and the initials as they are stored, a word of its own, in no e-mail address.

    :param people: all initials of the database
    """
    if "@" not in text:
        return frozenset()
    # Longest first: "@王明亮" names 王明亮, not 王明.
    initials = "|".join(re.escape(person) for person in sorted(people, key=lambda person: (-len(person), person)))
    if not initials:
        return frozenset()
    return frozenset(re.findall(rf"(?<!{_OF_A_WORD})(?<![.+\-@])@({initials})(?!{_OF_A_WORD})", text))


def add_mentions(db: Transaction, comment: int, item_id: int, text: str) -> None:
    """Derive the mentions of a new comment."""
    for person in sorted(mentioned(text, _initials(db))):
        db.execute("INSERT INTO mentions VALUES (?, ?, ?)", (person, comment, item_id))


def add_person_mentions(db: Transaction, initials: str) -> None:
    """Derive the mentions again of the comments that may name a person who was added now."""
    rows = db.execute("SELECT id, item, text FROM comments WHERE instr(text, ?) > 0", (f"@{initials}",)).fetchall()
    for number, item_id, text in rows:
        # Those of others too: longer initials are found before shorter ones.
        db.execute("DELETE FROM mentions WHERE comment = ?", (number,))
        add_mentions(db, number, item_id, text)


def fill_mentions(db: Transaction) -> None:
    """Derive all mentions from the texts."""
    db.execute("DELETE FROM mentions")
    db.conn.executemany("INSERT INTO mentions VALUES (?, ?, ?)", _derived(db))


def wrong_mentions(db: Transaction) -> list[str]:
    """Return a fault if the mentions do not follow from the texts."""
    kept = [tuple(row) for row in db.execute("SELECT person, comment, item FROM mentions ORDER BY 1, 2")]
    if kept == sorted(_derived(db)):
        return []
    return [tr("the mentions do not follow from the texts of the comments; rebuild")]


def _derived(db: Transaction) -> Sequence[tuple[str, int, int]]:
    people = _initials(db)
    rows = db.execute("SELECT id, item, text FROM comments WHERE instr(text, '@') > 0")
    return [(person, number, item) for number, item, text in rows for person in mentioned(text, people)]


def _initials(db: Transaction) -> list[str]:
    return [initials for (initials,) in db.execute("SELECT initials FROM people")]
