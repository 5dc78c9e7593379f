"""Checking the log: its own chain, and every row of fact against the entry that binds it.

Facts are appended in the order of their keys and entries in the order of the facts, so both are read once,
side by side: the memory this takes does not grow with the file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from reviewer.store.audit.chain import BEFORE_THE_FIRST, BOUND, PEOPLE, Head, canonical, digest, entry_hash

_PLAIN = ("number", "at", "person", "what", "subject")


def faults(db: sqlite3.Connection, known: Head | None) -> Iterator[str]:
    """What is wrong, one sentence each, as it is found."""
    tables = {table: _Rows(db, table) for table in BOUND}
    people: dict[str, str] = {}
    last = Head(0, BEFORE_THE_FIRST)
    for row in db.execute("SELECT * FROM log ORDER BY number"):
        yield from _chained(row, last)
        last = Head(row["number"], row["hash"])
        if known is not None and last.number == known.number and last.hash != known.hash:
            yield f"log {known.number}: its hash is {last.hash:.12}…, kept elsewhere is {known.hash:.12}…"
        details = _details(row)
        bound, named = details.get("facts", {}), details.get("people", {})
        if not isinstance(bound, dict) or not isinstance(named, dict):
            yield f"log {last.number}: what it binds cannot be read"
            continue
        people |= named
        for table, told in bound.items():
            if table not in tables or not isinstance(told, list) or len(told) != 4:
                yield f"log {last.number}: what it binds cannot be read"
            else:
                yield from tables[table].against(last.number, told)
    if known is not None and known.number > last.number:
        yield f"the log ends at {last.number}, the head kept elsewhere is {known.number}: its end was cut off"
    for rows in tables.values():
        yield from rows.left_over()
    yield from _people(db, people)


def _chained(row: sqlite3.Row, last: Head) -> Iterator[str]:
    number = row["number"]
    if number != last.number + 1:
        yield f"log {number}: it follows {last.number}, so entries are missing"
    if row["previous"] != last.hash:
        yield f"log {number}: it does not follow from the entry before it"
    details = _details(row)
    own = entry_hash(*(row[name] for name in _PLAIN), details, row["previous"])
    if own != row["hash"] or canonical(details).decode("utf-8", "surrogatepass") != row["details"]:
        yield f"log {number}: it was changed: its hash is not that of what it says"


def _details(row: sqlite3.Row) -> dict[str, Any]:
    try:
        found = json.loads(row["details"])
    except (TypeError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class _Rows:
    """The rows of one table of facts, gone through once."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._table = table
        self._rows = BOUND[table].rows(db, table)
        self._ahead = next(self._rows, None)

    def against(self, number: int, told: list[Any]) -> Iterator[str]:
        """The rows that entry ``number`` binds, against what it says of them."""
        first, last, count, wanted = told
        if not isinstance(first, int) or not isinstance(last, int):
            yield f"log {number}: what it binds cannot be read"
            return
        yield from self._unbound(first)
        found, own = digest(self._until(last))
        which = f"{self._table} {first}" if first == last else f"{self._table} {first} to {last}"
        if found != count:
            yield f"log {number}: it binds {count} rows, {which}; {found} are there"
        elif own != wanted:
            yield f"log {number}: {which} was changed since it was written"

    def left_over(self) -> Iterator[str]:
        """What no entry has bound."""
        yield from self._unbound(None)

    def _unbound(self, before: int | None) -> Iterator[str]:
        while self._ahead is not None and (before is None or self._ahead[0] < before):
            yield f"{self._table} {self._ahead[0]}: no entry of the log binds it"
            self._ahead = next(self._rows, None)

    def _until(self, last: int) -> Iterator[bytes]:
        while self._ahead is not None and self._ahead[0] <= last:
            yield self._ahead[1]
            self._ahead = next(self._rows, None)


def _people(db: sqlite3.Connection, told: dict[str, str]) -> Iterator[str]:
    here = set()
    for initials, row in PEOPLE.rows(db, "people"):
        here.add(initials)
        if initials not in told:
            yield f"{initials}: no entry of the log binds this person"
        elif digest([row])[1] != told[initials]:
            yield f"{initials}: this person's roles, password or state were changed behind the log"
    yield from (f"{initials}: this person is in the log and nowhere else" for initials in sorted(set(told) - here))
