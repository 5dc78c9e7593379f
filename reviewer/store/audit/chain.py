"""The hash chain of the audit log: entries, the digests of the rows they cover, and appending.

An entry covers rows of fact: table, first and last key, number of rows and the SHA-256 over them. The columns
are listed here, so that a column added by a later migration does not change earlier digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlite_utils

from agent.language import tr
from agent.text import whole_number

BEFORE_THE_FIRST = "0" * 64
"""The previous hash of the first entry."""

# Clocks are often corrected by fractions of a second; such corrections are not logged.
_CORRECTION = timedelta(seconds=1)


@dataclass(frozen=True)
class Head:
    """The end of the log: number and hash of its last entry; 0 and zeros if it is empty.

    Stored elsewhere, it shows later whether entries at the end were removed. Written ``NUMBER:HASH``.
    """

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read a head as ``str`` writes it. :raises ValueError: the text is not one"""
        number_text, _, digest = text.strip().partition(":")
        if (
            (number := whole_number(number_text)) is None
            or len(digest) != 64
            or not set(digest) <= set("0123456789abcdef")
        ):
            raise ValueError(
                tr("found {text!r:.80}, expected NUMBER:HASH, the hash of 64 hexadecimal digits", text=text)
            )
        return cls(number, digest)


@dataclass(frozen=True)
class Entry:
    """Who did what, and when.

    :param person: initials; None for the owner of the file, and for a visitor who is not signed in
    :param what: ``decided``, ``items added``, ...: docs/design/store.md lists them
    :param subject: the object of the action
    :param details: further values; ``facts`` and ``people`` hold the digests of the covered rows
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
    """How the rows of a table are identified, ordered and hashed.

    :param key: the column by which an entry names rows; several rows may share a value
    :param columns: the columns that are hashed, in this order
    :param order: the order of rows that share a key
    :param long: columns of long text, which are hashed on their own first
    """

    key: str
    columns: tuple[str, ...]
    order: str = ""
    long: frozenset[str] = frozenset()

    def rows(self, db: sqlite_utils.Database, table: str, where: str = "", *values: int) -> Iterator[_Row]:
        """Yield the key of each row and its bytes to hash, in order."""
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
    "work_times": Bound("id", _columns("id decision opened_at elapsed active")),
    "marks": Bound("id", _columns("id key item version step person mark note at")),
    "verdicts": Bound("id", _columns("id item version person verdict at")),
    "inspections": Bound("id", _columns("id key item person z quality issues spectype comment at")),
    "showings": Bound("id", _columns("id key item person arm probability plan at"), long=frozenset({"plan"})),
    "trials": Bound("id", _columns("id key item version passed person at result"), long=frozenset({"result"})),
    "sky_records": Bound("id", _columns("id spectrum catalogue sha256 status at body"), long=frozenset({"body"})),
    "comments": Bound("id", _columns("id key item version step thread kind round person source text at")),
    "bulk_actions": Bound("id", _columns("id key kind details items undoes person at")),
    "bulk_decisions": Bound("decision", _columns("decision bulk")),
    "assignments": Bound("id", _columns("id item person assigned bulk at")),
    "batch_changes": Bound("id", _columns("id item before batch bulk at")),
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
"""Every table of facts. Spectra and pictures are missing, because their keys are their hashes."""

PEOPLE = Bound("initials", _columns("initials name roles password active added_at"))
"""Rows of people change: the last entry about a person covers their present row."""

Range = tuple[int, int]


@dataclass(frozen=True)
class NewEntry:
    """An entry before it is appended.

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
    """Return JSON with sorted keys and no spaces, in UTF-8. Bytes, found only in tampered rows, become text."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=lambda cell: repr(cell))
    return text.encode("utf-8", "surrogatepass")


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest(rows: Iterable[bytes]) -> tuple[int, str]:
    """Return the number of rows and the SHA-256 over them, one line per row."""
    whole = hashlib.sha256()
    count = 0
    for count, row in enumerate(rows, start=1):
        whole.update(b"\n" + row if count > 1 else row)
    return count, whole.hexdigest()


def entry_hash(*fields: object) -> str:
    """Return the hash of an entry: number, at, person, what, subject, details, hash of the previous entry."""
    return hashlib.sha256(canonical(fields)).hexdigest()


def head(db: sqlite_utils.Database) -> Head:
    last = db.execute("SELECT number, hash FROM log ORDER BY number DESC LIMIT 1").fetchone()
    return Head(0, BEFORE_THE_FIRST) if last is None else Head(last[0], last[1])


def append(db: sqlite_utils.Database, at: str, entry: NewEntry) -> Head:
    """Append the entry of a transaction, inside it.

    :param at: the time of the machine's clock in stored form. If it is earlier than the last entry, an entry
        "clock set back" is appended first
    """
    last = db.execute("SELECT at FROM log ORDER BY number DESC LIMIT 1").fetchone()
    if last is not None and at < last[0]:
        back = datetime.fromisoformat(last[0]) - datetime.fromisoformat(at)
        if back >= _CORRECTION:
            by = {"seconds": round(back.total_seconds(), 3)}
            _insert(db, at, None, "clock set back", "", by)
    details = dict(entry.details)
    if entry.facts:
        details["facts"] = {table: _bind(db, table, *entry.facts[table]) for table in sorted(entry.facts)}
    if entry.people:
        details["people"] = {initials: person_digest(db, initials) for initials in entry.people}
    return _insert(db, at, entry.person, entry.what, entry.subject, details)


def person_digest(db: sqlite_utils.Database, initials: str) -> str:
    """Return the digest of a person's row, which includes the hash of the password."""
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
