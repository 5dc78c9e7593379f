"""SQLite files spoiled: their pages, their schema, and rows whose log is written anew to fit them."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from reviewer.store.audit.chain import BEFORE_THE_FIRST, BOUND, canonical, digest, entry_hash, person_digest
from tests.soak.mutations.values import LONGEST, NASTY_NUMBERS, NASTY_TEXTS, spoiled_bytes, spoiled_json

PAGE = 4096
_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
_STRANGE_PARTS = (
    f"CREATE VIEW strange AS {_ENDLESS} SELECT x FROM c",
    f"CREATE TRIGGER strange AFTER INSERT ON log BEGIN SELECT ({_ENDLESS} SELECT max(x) FROM c); END",
    "CREATE TRIGGER strange AFTER INSERT ON log BEGIN DELETE FROM people; END",
    "CREATE TRIGGER strange AFTER UPDATE ON sessions BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
    "CREATE INDEX strange ON log (length(hex(zeroblob(length(hash) * 500000))))",
    "CREATE TABLE strange (a, b GENERATED ALWAYS AS (hex(zeroblob(a))))",
    "CREATE VIRTUAL TABLE strange USING fts5(text)",
    "ALTER TABLE people ADD COLUMN strange CHECK (length(zeroblob(length(name) * 9000000)) > 0) DEFAULT 1",
)


def spoiled_sqlite(data: bytes, chance: random.Random) -> bytes:
    """A database with bytes, pages, cells, rows or its schema changed; now and then its log fits again."""
    if chance.random() < 0.3:
        return _spoiled_pages(data, chance)
    try:
        with closing(_opened(data)) as db:
            change = chance.choice((_cell, _cell, _cell, _row, _schema, _pragma))
            for _ in range(chance.randint(1, 3)):
                with suppress(sqlite3.Error, UnicodeError, OverflowError):
                    change(db, chance)
            if chance.random() < 0.6:
                with suppress(sqlite3.Error, ValueError, TypeError, LookupError, AttributeError):
                    _write_log_anew(db)
            return db.serialize()[:LONGEST]
    except (sqlite3.Error, MemoryError, LookupError):
        return _spoiled_pages(data, chance)


def _spoiled_pages(data: bytes, chance: random.Random) -> bytes:
    match chance.randrange(4):
        case 0:
            return spoiled_bytes(data[:100], chance)[:100].ljust(100, b"\0") + data[100:]
        case 1:
            there, here = (PAGE * chance.randrange(len(data) // PAGE + 1) for _ in range(2))
            return data[:there] + data[here : here + PAGE] + data[there + PAGE :]
        case 2:
            return data[: chance.randrange(len(data) + 1)]
    return spoiled_bytes(data, chance)


def _opened(data: bytes) -> sqlite3.Connection:
    """In memory, where there can be no write-ahead log, with nothing that guards its rows."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(data[:18] + b"\1\1" + data[20:])
    for name in ("writable_schema", "ignore_check_constraints"):
        db.execute(f"PRAGMA {name} = ON")
    db.execute("PRAGMA foreign_keys = OFF")
    return db


def _unguarded(change: Callable[[sqlite3.Connection, random.Random, str], None]) -> Any:
    """Rows are changed with the triggers gone that refuse it; they are there again afterwards."""

    def changed(db: sqlite3.Connection, chance: random.Random) -> None:
        rows = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        table = chance.choice([name for (name,) in db.execute(rows)])
        guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f'DROP TRIGGER "{name}"')
        try:
            change(db, chance, table)
        finally:
            for _, sql in guards:
                db.execute(sql)

    return changed


@_unguarded
def _cell(db: sqlite3.Connection, chance: random.Random, table: str) -> None:
    columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
    column, key = chance.choice(columns), columns[0]
    row = db.execute(f'SELECT "{key}", "{column}" FROM "{table}" ORDER BY random() LIMIT 1').fetchone()
    if row is not None:
        kind, value = _spoiled_cell(row[1], chance)
        db.execute(f'UPDATE "{table}" SET "{column}" = {kind} WHERE "{key}" IS ?', (value, row[0]))


def _spoiled_cell(value: object, chance: random.Random) -> tuple[str, Any]:
    """How it is bound, and the value; text that is no UTF-8 comes in as bytes."""
    if isinstance(value, bytes) and chance.random() < 0.7:
        return "?", spoiled_bytes(value, chance)
    if isinstance(value, str) and value[:1] in ("{", "[") and chance.random() < 0.7:
        return "CAST(? AS TEXT)", spoiled_json(value.encode(), chance)
    other = chance.choice((None, value, b"\xff\xfe", *NASTY_NUMBERS, *NASTY_TEXTS))
    if isinstance(other, str):
        return "CAST(? AS TEXT)", other.encode("utf-8", "surrogatepass")
    return "?", str(other) if isinstance(other, int) and abs(other) >= 2**63 else other


@_unguarded
def _row(db: sqlite3.Connection, chance: random.Random, table: str) -> None:
    columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
    one = f'SELECT "{columns[0]}" FROM "{table}" ORDER BY random() LIMIT 1'
    if chance.random() < 0.5:
        db.execute(f'DELETE FROM "{table}" WHERE "{columns[0]}" IN ({one})')
        return
    others = ", ".join(f'"{column}"' for column in columns[1:]) or "NULL"
    again = f'SELECT {chance.choice((-1, 0, 7, 2**40))}, {others} FROM "{table}" LIMIT 1'
    db.execute(f'INSERT OR IGNORE INTO "{table}" {again}')


def _schema(db: sqlite3.Connection, chance: random.Random) -> None:
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema ORDER BY name")]
    name = chance.choice(names)
    match chance.randrange(5):
        case 0:
            db.execute(chance.choice(_STRANGE_PARTS))
        case 1:
            db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
        case 2:
            column = chance.choice(("type", "name", "tbl_name", "rootpage", "sql"))
            kind, value = _spoiled_cell(None, chance)
            db.execute(f"UPDATE sqlite_schema SET {column} = {kind} WHERE name = ?", (value, name))
        case 3:
            kind = db.execute("SELECT type FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
            db.execute(f'DROP {kind} "{name}"')
            db.execute(f'CREATE VIEW "{name}" AS {_ENDLESS} SELECT x AS number, x AS id FROM c')
        case _:
            old, new = chance.choice((("NOT NULL", ""), ("TEXT", "BLOB"), ("id", "\x1b"), (" ON ", " ON log ")))
            db.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?", (old, new, name))


def _pragma(db: sqlite3.Connection, chance: random.Random) -> None:
    number = chance.choice((0, 1, 3, 99, -1, 2**31 - 1))
    name = chance.choice(("application_id", "user_version", "schema_version", "encoding", "migrations"))
    if name == "encoding":
        db.execute("PRAGMA encoding = 'UTF-16le'")
    elif name == "migrations":
        db.execute("UPDATE migrations SET number = ? WHERE number = 1", (number,))
    else:
        db.execute(f"PRAGMA {name} = {number}")


def _write_log_anew(db: sqlite3.Connection) -> None:
    """Make every entry of the log bind the rows as they are now, as somebody does who knows the design."""
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'log' AND type = 'trigger'")
    for name, _ in (kept := guards.fetchall()):
        db.execute(f'DROP TRIGGER "{name}"')
    previous = BEFORE_THE_FIRST
    plain = "number, at, person, what, subject"
    for *said, text in db.execute(f"SELECT {plain}, details FROM log ORDER BY number").fetchall():
        details = json.loads(text)
        for table, (first, last, *_) in details.get("facts", {}).items():
            where = f"WHERE {BOUND[table].key} BETWEEN ? AND ?"
            rows = BOUND[table].rows(db, table, where, first, last)
            details["facts"][table] = [first, last, *digest(row for _, row in rows)]
        for initials in details.get("people", {}):
            details["people"][initials] = person_digest(db, initials)
        own = entry_hash(*said, details, previous)
        db.execute(
            "UPDATE log SET details = ?, previous = ?, hash = ? WHERE number = ?",
            (canonical(details).decode(), previous, own, said[0]),
        )
        previous = own
    for _, sql in kept:
        db.execute(sql)
