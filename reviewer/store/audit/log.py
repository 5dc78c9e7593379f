"""Reading the audit log, and verifying its chain and the rows it covers.

The program only appends. docs/design/store.md says which changes to the file are detected and which are not.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from agent.language import tr
from reviewer.store.audit.chain import (
    BEFORE_THE_FIRST,
    BOUND,
    PEOPLE,
    Entry,
    Head,
    canonical,
    digest,
    entry_hash,
    head,
)
from reviewer.store.errors import Damaged
from reviewer.store.sqlite.database import ALLOWANCE, Database, Transaction

# The items of an entry on many are not always a whole range; where it covers facts of single items, these tell which.
_OF_ITEMS = ("decisions", "comments", "assignments", "batch_changes")
_AMONG = " OR ".join(
    f"EXISTS (SELECT 1 FROM {table} f WHERE f.item = :item "
    f"AND f.id BETWEEN details ->> '$.facts.{table}[0]' AND details ->> '$.facts.{table}[1]')"
    for table in _OF_ITEMS
)
_FACTS_OF_ITEMS = ", ".join(f"details ->> '$.facts.{table}'" for table in _OF_ITEMS)
_ABOUT_ITEM = f"""(subject = 'item ' || :item OR subject GLOB 'items [0-9]* to [0-9]*'
AND CAST(substr(subject, 7) AS INTEGER) <= :item
AND CAST(substr(subject, instr(subject, ' to ') + 4) AS INTEGER) >= :item
AND (coalesce({_FACTS_OF_ITEMS}) IS NULL OR {_AMONG}))"""
"""Subjects are ``item 3`` and ``items 1 to 100``."""
_PLAIN = ("number", "at", "person", "what", "subject")


def faults(db: Transaction, known: Head | None) -> Iterator[str]:
    """Yield the faults of the log, one sentence each.

    Facts are appended in the order of their keys and entries in the order of the facts, so both are read once,
    in parallel, and memory does not grow with the file.
    """
    tables = {table: _FactRows(db, table) for table in BOUND}
    people: dict[str, str] = {}
    last = Head(0, BEFORE_THE_FIRST)
    for row in db.execute("SELECT * FROM log ORDER BY number"):
        yield from _chain_faults(row, last)
        last = Head(row["number"], row["hash"])
        if known is not None and last.number == known.number and last.hash != known.hash:
            yield tr(
                "log {number}: found the hash {found:.12}…, expected {expected:.12}… as stored elsewhere",
                number=known.number,
                found=last.hash,
                expected=known.hash,
            )
        details = _details(row)
        bound, named = details.get("facts", {}), details.get("people", {})
        if not isinstance(bound, dict) or not isinstance(named, dict):
            yield tr("log {number}: the rows it covers cannot be read", number=last.number)
            continue
        people |= named
        for table, covered in bound.items():
            if table not in tables or not isinstance(covered, list) or len(covered) != 4:
                yield tr("log {number}: the rows it covers cannot be read", number=last.number)
            else:
                yield from tables[table].compare(last.number, covered)
    if known is not None and known.number > last.number:
        yield tr(
            "the log ends at {last}, expected {expected} as stored elsewhere: its end was removed",
            last=last.number,
            expected=known.number,
        )
    for rows in tables.values():
        yield from rows.left_over()
    yield from _people_faults(db, people)


def _chain_faults(row: sqlite3.Row, last: Head) -> Iterator[str]:
    number = row["number"]
    if number != last.number + 1:
        yield tr("log {number}: it follows {before}, so entries are missing", number=number, before=last.number)
    if row["previous"] != last.hash:
        yield tr("log {number}: it does not follow from the entry before it", number=number)
    details = _details(row)
    own = entry_hash(*(row[name] for name in _PLAIN), details, row["previous"])
    if own != row["hash"] or canonical(details).decode("utf-8", "surrogatepass") != row["details"]:
        yield tr("log {number}: it was changed: its hash does not match its content", number=number)


def _details(row: sqlite3.Row) -> dict[str, Any]:
    try:
        details = json.loads(row["details"])
    except (TypeError, ValueError, RecursionError):
        return {}
    return details if isinstance(details, dict) else {}


class _FactRows:
    """The rows of one table of facts, read once."""

    def __init__(self, db: Transaction, table: str) -> None:
        self._table = table
        self._rows = BOUND[table].rows(db, table)
        self._ahead = next(self._rows, None)

    def compare(self, number: int, covered: list[Any]) -> Iterator[str]:
        """Compare the rows with what entry ``number`` says about them."""
        first, last, count, expected = covered
        if not isinstance(first, int) or not isinstance(last, int):
            yield tr("log {number}: the rows it covers cannot be read", number=number)
            return
        yield from self._unbound(first)
        digested, own = digest(self._until(last))
        which = self._table
        rows = f"{first}" if first == last else tr("{first} to {last}", first=first, last=last)
        if digested != count:
            yield tr(
                "log {number}: {table} {rows}: found {found} rows, expected {expected}",
                number=number,
                table=which,
                rows=rows,
                found=digested,
                expected=count,
            )
        elif own != expected:
            yield tr(
                "log {number}: {table} {rows} was changed since it was written", number=number, table=which, rows=rows
            )

    def left_over(self) -> Iterator[str]:
        """Yield the rows that no entry covers."""
        yield from self._unbound(None)

    def _unbound(self, before: int | None) -> Iterator[str]:
        while self._ahead is not None and (before is None or self._ahead[0] < before):
            yield tr("{table} {row}: no entry of the log covers it", table=self._table, row=self._ahead[0])
            self._ahead = next(self._rows, None)

    def _until(self, last: int) -> Iterator[bytes]:
        while self._ahead is not None and self._ahead[0] <= last:
            yield self._ahead[1]
            self._ahead = next(self._rows, None)


def _people_faults(db: Transaction, logged: dict[str, str]) -> Iterator[str]:
    here = set()
    for initials, row in PEOPLE.rows(db, "people"):
        here.add(initials)
        if initials not in logged:
            yield tr("{initials}: no entry of the log covers this person", initials=initials)
        elif digest([row])[1] != logged[initials]:
            yield tr(
                "{initials}: this person's roles, password or state were changed without an entry in the log",
                initials=initials,
            )
    yield from (
        tr("{initials}: this person is in the log, but not in the database", initials=initials)
        for initials in sorted(set(logged) - here)
    )


MOST_FAULTS = 1000
"""Most faults that ``check`` returns: a rewritten file would have one per row."""


class AuditLog:
    """Reading and checking the audit log, and notes about things that are no facts of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last_at_start = _last_entry_time(database.writer) or database.now()

    def entries(
        self, after: int = 0, limit: int = 100, person: str | None = None, what: str | None = None
    ) -> list[Entry]:
        """Return the first ``limit`` entries above number ``after``, oldest first.

        :param person: only those of this person (initials)
        :param what: only those of this kind
        """
        values = {"after": after, "limit": limit, "person": person, "what": what}
        chosen = " ".join(f"AND {name} = :{name}" for name in ("person", "what") if values[name] is not None)
        sql = f"SELECT * FROM log WHERE number > :after {chosen} ORDER BY number LIMIT :limit"
        with self._database.read() as db:
            return [_entry_from(row) for row in db.execute(sql, values)]

    def last(
        self,
        limit: int = 100,
        person: str | None = None,
        what: str | None = None,
        item: int | None = None,
        before: int | None = None,
    ) -> list[Entry]:
        """Return the last ``limit`` entries, oldest first; only of one person or kind, if given.

        :param item: only entries about this item, or about several items with this one among them
        :param before: only entries below this number
        """
        values = {"limit": limit, "person": person, "what": what, "item": item, "before": before}
        conditions = {
            "person": "person = :person",
            "what": "what = :what",
            "item": _ABOUT_ITEM,
            "before": "number < :before",
        }
        chosen = " AND ".join(text for name, text in conditions.items() if values[name] is not None)
        sql = f"SELECT * FROM log WHERE {chosen or 'true'} ORDER BY number DESC LIMIT :limit"
        with self._database.read() as db:
            return [_entry_from(row) for row in db.execute(sql, values)][::-1]

    def kinds(self) -> list[str]:
        """Return what the entries are about (``decided``, ``exported``, ...), in alphabetical order."""
        with self._database.read() as db:
            return [row[0] for row in db.execute("SELECT DISTINCT what FROM log ORDER BY what")]

    def head(self) -> Head:
        """Return the present end of the log."""
        with self._database.read() as db:
            return head(db)

    def clock_behind(self) -> timedelta | None:
        """Return how far the machine's clock was set back; None if it is a minute or less.

        Compared with the latest time this program has seen, and with the last entry at its start.
        """
        behind = max(self._database.steady(), self._last_at_start) - self._database.now()
        return behind if behind > ALLOWANCE else None

    def check(self, known: Head | None = None) -> list[str]:
        """Return the faults of the log and of the rows it covers, one sentence each; empty if there are none.

        :param known: an earlier head that was stored elsewhere; the log must contain it
        """
        wrong: list[str] = []
        try:
            with self._database.read() as db:
                further = faults(db, known)
                wrong.extend(islice(further, MOST_FAULTS))
                return [*wrong, tr("and more")] if next(further, None) is not None else wrong
        except Damaged as error:  # a row that cannot be read, so the rows behind it cannot be compared
            return [*wrong, str(error)]

    def note(self, person: str | None, what: str, subject: str = "", **details: Any) -> Head:
        """Append an entry about an event outside the tables of facts, e.g. a backup.

        :param details: JSON values; no password, token or key
        """
        with self._database.write() as db:
            return self._database.log(db, person, what, subject, details)


def _last_entry_time(db: sqlite3.Connection) -> datetime | None:
    """Return the time of the last entry; None if there is no log or it cannot be read."""
    try:
        last = db.execute("SELECT at FROM log ORDER BY number DESC LIMIT 1").fetchone()
        return None if last is None else datetime.fromisoformat(last[0])
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return None


def _entry_from(row: sqlite3.Row) -> Entry:
    return Entry(
        number=row["number"],
        at=datetime.fromisoformat(row["at"]),
        person=row["person"],
        what=row["what"],
        subject=row["subject"],
        details=json.loads(row["details"]),
        previous=row["previous"],
        hash=row["hash"],
    )
