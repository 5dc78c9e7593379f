"""The chain of the audit log: what an entry is, what of a fact it holds, and how one is appended.

Facts are bound by their rows: an entry names a table, the first and the last of its rows, how many they are
and the SHA-256 over them. The columns are listed here and not asked of the database: a column that a later
migration adds leaves the digests of the rows before it as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlite_utils

from agent.text import whole_number

BEFORE_THE_FIRST = "0" * 64
"""What stands in the place of the hash before the first entry's."""

# Clocks are corrected by fractions of a second all the time; that is nothing to tell.
_CORRECTION = timedelta(seconds=1)


@dataclass(frozen=True)
class Head:
    """The end of the log: the number and the hash of its last entry; 0 and zeros where there is none.

    Kept elsewhere, it shows later whether the end was cut off. Written ``NUMBER:HASH``.
    """

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """A head as ``str`` writes it. :raises ValueError: it is none"""
        told, _, digest = text.strip().partition(":")
        if (number := whole_number(told)) is None or len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise ValueError(f"found {text!r:.80}, wanted NUMBER:HASH, the hash of 64 hexadecimal digits")
        return cls(number, digest)


@dataclass(frozen=True)
class Entry:
    """Who did what when.

    :param person: initials; None for whoever holds the file itself, and for somebody who is not signed in
    :param what: ``decided``, ``items added``, ...: docs/design/store.md lists them
    :param subject: what it was done to
    :param details: what else there is to say, and in ``facts`` and ``people`` what the entry binds
    """

    number: int
    at: datetime
    person: str | None
    what: str
    subject: str
    details: Mapping[str, Any]
    previous: str
    hash: str


@dataclass(frozen=True)
class Bound:
    """How the rows of a table are told apart, put in order and hashed.

    :param key: the column an entry names rows by; several rows may share a value
    :param columns: what is hashed of a row, in this order
    :param order: makes the order of the rows of one key definite
    :param long: columns that are hashed by themselves first: a text of some kilobytes is not quoted for it
    """

    key: str
    columns: tuple[str, ...]
    order: str = ""
    long: frozenset[str] = frozenset()

    def rows(self, db: sqlite_utils.Database, table: str, where: str = "", *values: int) -> Iterator[_Row]:
        """The key of each row and the bytes that are hashed of it, in order."""
        order = ", ".join(filter(None, (self.key, self.order)))
        sql = f"SELECT {self.key}, {', '.join(self.columns)} FROM {table} {where} ORDER BY {order}"
        for key, *cells in db.execute(sql, values):
            if self.long:
                named = zip(self.columns, cells, strict=True)
                cells = [sha256_of(str(cell)) if name in self.long else cell for name, cell in named]
            yield key, canonical(cells)


_Row = tuple[Any, bytes]


def _columns(names: str) -> tuple[str, ...]:
    return tuple(names.split())


BOUND: Mapping[str, Bound] = {
    "settings": Bound("id", _columns("id name value person at")),
    "items": Bound(
        "id",
        _columns("id key spectrum name task drafter_kind drafter_name label simulated batch survey snr added_at"),
    ),
    "versions": Bound(
        "id",
        _columns("id key item number content_hash parent author reason at body"),
        long=frozenset({"body"}),
    ),
    "decisions": Bound("id", _columns("id key item version person round verb reason comment withdraws rules at")),
    "marks": Bound("id", _columns("id key item version step person mark note at")),
    "verdicts": Bound("id", _columns("id item version person verdict at")),
    "exports": Bound("id", _columns("id name person manifest at"), long=frozenset({"manifest"})),
    "blind_sessions": Bound("id", _columns("id key name plan questions notes person at")),
    "blind_assignments": Bound(
        "session",
        _columns("token session scorer kind place version on_the_right spectrum repeat_of gold"),
        order="scorer, place",
    ),
    "blind_states": Bound("id", _columns("id key session state rubric person at")),
    "blind_scores": Bound("id", _columns("id key assignment coherence consistency comment wrong_steps at")),
    "blind_preferences": Bound("id", _columns("id key assignment preference comment at")),
    "blind_judgements": Bound(
        "id",
        _columns("id key session judge version on_the_right answer reasoning settings said usage cost person at"),
    ),
}
"""Every table of facts. Spectra and pictures are not among them: their names are their own hashes."""

PEOPLE = Bound("initials", _columns("initials name roles password active added_at"))
"""People are the one table that is bound and changes: the last entry about somebody binds their row."""

Range = tuple[int, int]


@dataclass(frozen=True)
class NewEntry:
    """What a transaction has to say of itself.

    :param facts: by table the first and the last key of the rows that it appended
    :param people: whose rows it changed
    """

    person: str | None
    what: str
    subject: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Range] = field(default_factory=dict)
    people: tuple[str, ...] = ()


def canonical(value: object) -> bytes:
    """JSON with sorted keys and without spaces, in UTF-8. Bytes, which only a tampered row holds, as text."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=lambda cell: repr(cell))
    return text.encode("utf-8", "surrogatepass")


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(rows: Iterable[bytes]) -> tuple[int, str]:
    """How many rows there are, and the SHA-256 over them, a line each; of one row it is that row's own."""
    whole = hashlib.sha256()
    count = 0
    for count, row in enumerate(rows, start=1):
        whole.update(b"\n" + row if count > 1 else row)
    return count, whole.hexdigest()


def entry_hash(*said: object) -> str:
    """The hash of an entry: number, at, person, what, subject, details, and the hash of the entry before."""
    return hashlib.sha256(canonical(said)).hexdigest()


def head(db: sqlite_utils.Database) -> Head:
    last = db.execute("SELECT number, hash FROM log ORDER BY number DESC LIMIT 1").fetchone()
    return Head(0, BEFORE_THE_FIRST) if last is None else Head(last[0], last[1])


def append(db: sqlite_utils.Database, at: str, told: NewEntry) -> Head:
    """Append the entry of a transaction, inside it.

    :param at: the time of the machine's clock, as it is stored. Where it is before the last entry's, an entry
        that says so goes before
    """
    last = db.execute("SELECT at FROM log ORDER BY number DESC LIMIT 1").fetchone()
    if last is not None and at < last[0]:
        back = datetime.fromisoformat(last[0]) - datetime.fromisoformat(at)
        if back >= _CORRECTION:
            by = {"seconds": round(back.total_seconds(), 3)}
            _insert(db, at, None, "clock set back", "", by)
    details = dict(told.details)
    if told.facts:
        details["facts"] = {table: _bind(db, table, *told.facts[table]) for table in sorted(told.facts)}
    if told.people:
        details["people"] = {initials: person_digest(db, initials) for initials in told.people}
    return _insert(db, at, told.person, told.what, told.subject, details)


def person_digest(db: sqlite_utils.Database, initials: str) -> str:
    """The digest of somebody's row, the hash of their password in it."""
    sql = f"SELECT {', '.join(PEOPLE.columns)} FROM people WHERE initials = ?"
    return digest([canonical(list(db.execute(sql, (initials,)).fetchone()))])[1]


def _bind(db: sqlite_utils.Database, table: str, first: int, last: int) -> list[object]:
    bound = BOUND[table]
    rows = bound.rows(db, table, f"WHERE {bound.key} BETWEEN ? AND ?", first, last)
    return [first, last, *digest(row for _, row in rows)]


def _insert(
    db: sqlite_utils.Database, at: str, person: str | None, what: str, subject: str, details: Mapping[str, Any]
) -> Head:
    before = head(db)
    number = before.number + 1
    own = entry_hash(number, at, person, what, subject, details, before.hash)
    db.execute(
        "INSERT INTO log (number, at, person, what, subject, details, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (number, at, person, what, subject, canonical(details).decode(), before.hash, own),
    )
    return Head(number, own)
