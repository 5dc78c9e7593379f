"""Random changes of inputs: of any bytes, and inside JSON, text, FITS, gzip, zip and SQLite files.

Changes of random bytes rarely get past a checksum or a closing bracket; these keep the container valid and
damage its content.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import sqlite3
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from reviewer.store.audit.chain import BEFORE_THE_FIRST, BOUND, canonical, digest, entry_hash, person_digest
from tests.support.inputs.app import ENDLESS, STRANGE

Mutate = Callable[[bytes, random.Random], bytes]

LONGEST = 2**20
"""Longest input in bytes; the rest is cut off."""
NASTY_TEXTS = (
    *("", " ", "\0", "\n", "\r\nforged", "\x1b[2J", "‮fdp.exe", "a" * 4000, "../" * 8 + "etc/passwd", "/etc/passwd"),
    *("C:\\con", "NUL", "=1+1", "@SUM(A1)", "<script>alert(1)</script>", "]]>", "\ud800", "\uffff", "𝕊" * 50),
    *("YES", "NO", "vacuum", "nan", "inf", "-0", "1e999", "9" * 400, "{{}}", "%s%n", "ß" * 300, "x\ty", "'; --"),
)
NASTY_NUMBERS = (
    *(0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**400),
    *(0.1, -0.0, 5e-324, 1.7976931348623157e308, float("nan"), float("inf"), float("-inf")),
)
_JSON_WORDS = (b"1e999", b"-1e999", b"NaN", b"Infinity", b"1" * 5000, b'"\\ud800"', b"[" * 3000, b'{"a":' * 1500)


def spoiled_bytes(data: bytes, chance: random.Random) -> bytes:
    """Make one to four changes of bytes: flip, overwrite, cut out, double, copy."""
    changed = bytearray(data or b"\0")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(changed) + 1)
        length = min(chance.choice((1, 2, 4, 8, 80, 512)), max(1, len(changed) - at))
        match chance.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                changed[at : at + length] = chance.randbytes(length)
            case 2:
                del changed[at : at + length]
            case 3:
                changed[at:at] = changed[at : at + length]
            case 4:
                changed[at : at + length] = chance.choice((b"\0", b"\xff", b" ", b"9", b"\n", b"[")) * length
            case _:
                there = chance.randrange(len(changed) + 1)
                changed[at:at] = changed[there : there + length]
    return bytes(changed[:LONGEST])


def spoiled_json(data: bytes, chance: random.Random) -> bytes:
    """Replace, drop, rename or double a value somewhere in JSON or in one line of JSON lines."""
    lines = data.split(b"\n")
    number = chance.randrange(len(lines))
    try:
        value = json.loads(lines[number])
    except (ValueError, RecursionError):
        try:
            value, lines, number = json.loads(data), [b""], 0
        except (ValueError, RecursionError):
            return spoiled_bytes(data, chance)
    if chance.random() < 0.1:
        text = json.dumps(value).encode()
        words = [m.span() for m in re.finditer(rb"-?\d+(?:\.\d+)?|\"[^\"]*\"", text)]
        if words:
            start, end = chance.choice(words)
            lines[number] = text[:start] + chance.choice(_JSON_WORDS) + text[end:]
            return b"\n".join(lines)[:LONGEST]
    for _ in range(chance.randint(1, 3)):
        value = _spoiled_value(value, chance)
    lines[number] = json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)[:LONGEST]


def _spoiled_value(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        match chance.randrange(12):
            case 0:
                return {k: v for k, v in value.items() if k != key}
            case 1:
                return {(chance.choice(NASTY_TEXTS) if k == key else k): v for k, v in value.items()}
            case 2:
                return value | {chance.choice(NASTY_TEXTS): value[key]}
        return value | {key: _spoiled_value(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        match chance.randrange(10):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value[:at] + [value[at]] * chance.choice((2, 3, 50)) + value[at + 1 :]
        return [*value[:at], _spoiled_value(value[at], chance), *value[at + 1 :]]
    if isinstance(value, str) and value and chance.random() < 0.4:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(NASTY_TEXTS) + value[at + chance.randrange(3) :]
    others = (None, True, False, [], {}, [value], {"": value}, [[]], *NASTY_NUMBERS, *NASTY_TEXTS)
    return chance.choice(others)


def spoiled_text(data: bytes, chance: random.Random) -> bytes:
    """Replace a word, double or drop a line, or change a separator."""
    lines = data.split(b"\n")
    at = chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines[at:at] = [lines[at]] * chance.choice((1, 2, 200))
        case 1:
            words = re.split(rb"([\s,;|=]+)", lines[at])
            words[chance.randrange(len(words))] = _nasty(chance)
            lines[at] = b"".join(words)
        case 2:
            lines = lines[:at] + lines[at + 1 :]
        case 3:
            old, new = chance.sample((b",", b";", b"\t", b"|", b" ", b"=", b'"', b"#"), 2)
            lines[at] = lines[at].replace(old, new)
        case _:
            return spoiled_bytes(data, chance)
    return b"\n".join(lines)[:LONGEST]


def _nasty(chance: random.Random) -> bytes:
    word = chance.choice((*NASTY_TEXTS, *NASTY_NUMBERS))
    text = word if isinstance(word, str) else ("9" * 5000 if word == 10**400 else repr(word))
    return text.encode("utf-8", "surrogatepass")


_CARDS = (  # noqa: SIM905  a list would take a line per word
    "NAXIS NAXIS1 NAXIS2 BITPIX PCOUNT GCOUNT TFIELDS TFORM1 TFORM2 TTYPE1 TTYPE2 CRVAL1 CDELT1 CRPIX1 "
    "CD1_1 CTYPE1 CUNIT1 BSCALE BZERO TSCAL1 TZERO1 EXTNAME ZIMAGE ZBITPIX ZNAXIS ZNAXIS1 ZCMPTYPE SPECO3 "
    "DC-FLAG WAT0_001 WAT2_001 RA DEC TELESCOP EXTEN0 XTENSION SURVEY OBJECT TUNIT1 TDIM1 APNUM1 Z COEFF0 "
    "COEFF1"
).split()
_CARD_VALUES = (
    *("0", "-1", "1", "2", "3", "8", "-64", "99", "2147483648", "9223372036854775807", "1" * 60, "T", "F", "''"),
    *(
        "NaN",
        "1E400",
        "-1E-400",
        "'4000E'",
        "'1PE(9)'",
        "'0D'",
        "'999999999J'",
        "'WAVE'",
        "'nm'",
        "'LAMOST'",
        "garbage",
    ),
    *("'IMAGE'", "'BINTABLE'", "'RICE_1'", "'GZIP_1'", "'HCOMPRESS_1'", "'\x1b[31m'", "'spec-o3/spectrum/1'"),
)


def spoiled_fits(data: bytes, chance: random.Random) -> bytes:
    """Change or blank a card of a FITS file, copy a block, or change its bytes."""
    cards = [at for at in range(0, len(data) - 79, 80) if re.match(rb"[A-Z0-9_-]{1,8} *= ", data[at : at + 80])]
    if not cards or chance.random() < 0.3:
        return spoiled_bytes(data, chance)
    at = chance.choice(cards)
    changed = bytearray(data)
    match chance.randrange(4):
        case 0:
            value = chance.choice(_CARD_VALUES)
            changed[at + 10 : at + 80] = value.rjust(20).ljust(70).encode("latin-1")[:70]
        case 1:
            key, value = chance.choice(_CARDS), chance.choice(_CARD_VALUES)
            changed[at : at + 80] = f"{key:8}= {value:>20}".ljust(80).encode("latin-1")[:80]
        case 2:
            changed[at : at + 80] = b" " * 80
        case _:
            block = chance.randrange(len(data) // 2880 + 1) * 2880
            there = chance.randrange(len(data) // 2880 + 1) * 2880
            changed[there:there] = data[block : block + 2880]
    return bytes(changed[:LONGEST])


def inside_gzip(inner: Mutate) -> Mutate:
    """Change the content of a gzip file by ``inner`` and pack it again; sometimes change the packed bytes."""

    def spoiled(data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.3:
            return spoiled_bytes(data, chance)
        try:
            plain = zlib.decompressobj(31).decompress(data, LONGEST)
        except zlib.error:
            return spoiled_bytes(data, chance)
        return gzip.compress(inner(plain, chance), 1, mtime=0)

    return spoiled


def inside_zip(inner: Mutate) -> Mutate:
    """Change, rename or double a member of a zip, or make it a link; sometimes change the packed bytes."""

    def spoiled(data: bytes, chance: random.Random) -> bytes:
        if chance.random() < 0.3:
            return spoiled_bytes(data, chance)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                members = [(m, packed.read(m)) for m in packed.infolist() if m.file_size < LONGEST]
        except Exception:
            return spoiled_bytes(data, chance)
        if not members:
            return spoiled_bytes(data, chance)
        at = chance.randrange(len(members))
        member, content = members[at]
        match chance.randrange(4):
            case 0:
                name = chance.choice([*NASTY_TEXTS, "../x.jsonl", "/x.jsonl", "a/b", "a", "images", "x" * 300])
                member.filename = name.encode("utf-8", "replace").decode() or "x"
            case 1:
                member.external_attr = 0o120777 << 16
                content = chance.choice((b"/etc/passwd", b"../..", b"."))
            case 2:
                members.append((zipfile.ZipInfo(member.filename + chance.choice(("", "/x", ".jsonl"))), content))
            case _:
                content = inner(content, chance)
        members[at] = (member, content)
        return _zipped(members)

    return spoiled


def _zipped(members: list[tuple[zipfile.ZipInfo, bytes]]) -> bytes:
    made = io.BytesIO()

    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        warnings.simplefilter("ignore")  # two members with one name are intended
        for member, content in members:
            again = zipfile.ZipInfo(member.filename)
            again.external_attr = member.external_attr
            packed.writestr(again, content)
    return made.getvalue()


PAGE = 4096


def spoiled_sqlite(data: bytes, chance: random.Random) -> bytes:
    """Change bytes, pages, cells, rows or the schema of a database; sometimes make its log consistent again."""
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
    """Open it in memory, so without a write-ahead log, and with all checks of rows off."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(data[:18] + b"\1\1" + data[20:])
    for name in ("writable_schema", "ignore_check_constraints"):
        db.execute(f"PRAGMA {name} = ON")
    db.execute("PRAGMA foreign_keys = OFF")
    return db


def _unguarded(change: Callable[[sqlite3.Connection, random.Random, str], None]) -> Any:
    """Remove the triggers that refuse changes of rows, change a row, and restore the triggers."""

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
    """Return the SQL expression and the value; text that is not UTF-8 is bound as bytes."""
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
            db.execute(chance.choice([sql for sql, _ in STRANGE.values()]))
        case 1:
            db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
        case 2:
            column = chance.choice(("type", "name", "tbl_name", "rootpage", "sql"))
            kind, value = _spoiled_cell(None, chance)
            db.execute(f"UPDATE sqlite_schema SET {column} = {kind} WHERE name = ?", (value, name))
        case 3:
            kind = db.execute("SELECT type FROM sqlite_schema WHERE name = ?", (name,)).fetchone()[0]
            db.execute(f'DROP {kind} "{name}"')
            db.execute(f'CREATE VIEW "{name}" AS {ENDLESS} SELECT x AS number, x AS id FROM c')
        case _:
            old, new = chance.choice((("NOT NULL", ""), ("TEXT", "BLOB"), ("id", "\x1b"), (" ON ", " ON log ")))
            db.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?", (old, new, name))


def _pragma(db: sqlite3.Connection, chance: random.Random) -> None:
    number = chance.choice((0, 1, 3, 99, -1, 2**31 - 1))
    name = chance.choice(("application_id", "user_version", "schema_version", "encoding", "migrations"))
    if name == "encoding":
        db.execute("PRAGMA encoding = 'UTF-16le'")
    elif name == "migrations":
        db.execute("UPDATE migrations SET number = ? WHERE number = 9", (number,))
    else:
        db.execute(f"PRAGMA {name} = {number}")


def _write_log_anew(db: sqlite3.Connection) -> None:
    """Make every entry of the log fit the present rows, as an attacker who knows the design can."""
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'log' AND type = 'trigger'")
    for name, _ in (kept := guards.fetchall()):
        db.execute(f'DROP TRIGGER "{name}"')
    previous = BEFORE_THE_FIRST
    plain = "number, at, person, what, subject"
    for *fields, text in db.execute(f"SELECT {plain}, details FROM log ORDER BY number").fetchall():
        details = json.loads(text)
        for table, (first, last, *_) in details.get("facts", {}).items():
            where = f"WHERE {BOUND[table].key} BETWEEN ? AND ?"
            rows = BOUND[table].rows(db, table, where, first, last)
            details["facts"][table] = [first, last, *digest(row for _, row in rows)]
        for initials in details.get("people", {}):
            details["people"][initials] = person_digest(db, initials)
        own = entry_hash(*fields, details, previous)
        db.execute(
            "UPDATE log SET details = ?, previous = ?, hash = ? WHERE number = ?",
            (canonical(details).decode(), previous, own, fields[0]),
        )
        previous = own
    for _, sql in kept:
        db.execute(sql)


__all__ = [
    "Mutate",
    "inside_gzip",
    "inside_zip",
    "spoiled_bytes",
    "spoiled_fits",
    "spoiled_json",
    "spoiled_sqlite",
    "spoiled_text",
]
