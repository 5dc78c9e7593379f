"""Hypothesis strategies of damaged input: changes of bytes, of FITS cards, of text, inside JSON, gzip, zip and SQLite.

Random bytes rarely get past a checksum or a bracket; these keep the container valid and damage its content.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from reviewer.store.audit.chain import BEFORE_THE_FIRST, BOUND, canonical, digest, entry_hash, person_digest
from tests.conftest import EXAMPLES
from tests.support.inputs.app import STRANGE
from tests.support.strategies import HALF, HOSTILE, NUL

LONGEST = 2**20
"""Longest input in bytes; the rest is cut off."""
TEXTS = (*HOSTILE.values(), HALF, NUL, "", " ", "YES", "vacuum", "nan", "inf", "-0", "1e999", "9" * 400, "{{}}")
NUMBERS = (
    *(0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**400),
    *(0.1, -0.0, 5e-324, 1.7976931348623157e308, float("nan"), float("inf"), float("-inf")),
)
VALUES = st.sampled_from((None, True, False, [], {}, [[]], *NUMBERS, *TEXTS))
JSON_WORDS = (b"1e999", b"-1e999", b"NaN", b"Infinity", b"1" * 5000, b'"\\ud800"', b"[" * 3000, b'{"a":' * 1500)
"""What Python writes in another way, or never."""
CARDS = (
    *("NAXIS", "NAXIS1", "NAXIS2", "BITPIX", "PCOUNT", "GCOUNT", "TFIELDS", "TFORM1", "TTYPE1", "TUNIT1", "TDIM1"),
    *("CRVAL1", "CDELT1", "CRPIX1", "CD1_1", "CTYPE1", "CUNIT1", "BSCALE", "BZERO", "TSCAL1", "TZERO1", "EXTNAME"),
    *("XTENSION", "ZIMAGE", "ZBITPIX", "ZNAXIS1", "ZCMPTYPE", "SPECO3", "DC-FLAG", "WAT0_001", "WAT2_001", "APNUM1"),
    *("TELESCOP", "EXTEN0", "SURVEY", "OBJECT", "RA", "DEC", "Z", "COEFF0", "COEFF1", "DMODCLS", "BLANK", "TNULL1"),
    *("PC1_1", "PC1_2", "PV1_0", "PV1_1", "PS1_0", "WCSAXES", "CTYPE2", "RESTWAV", "THEAP", "TBCOL1", "TTYPE1"),
)
CARD_VALUES = (
    *("0", "-1", "1", "2", "3", "8", "-64", "99", "2147483648", "9223372036854775807", "1" * 60, "T", "F", "''"),
    *("NaN", "1E400", "-1E-400", "'4000E'", "'1PE(9)'", "'0D'", "'999999999J'", "'WAVE'", "'nm'", "'LAMOST'", "words"),
    *("'WAVE-LOG'", "'WAVE-TAB'", "'WAVE-GRI'", "'FREQ'", "'ENER-F2W'", "'keV'", "'10**400 m'", "'furlong'", "1E300"),
    *("'1PD(0)'", "'QD'", "'1PE(999999999)'", "'E25.17'", "'F999.3'", "'WAVELENGTH'", "'JWST'", "'TABLE'", "'mag'"),
    *("'IMAGE'", "'BINTABLE'", "'RICE_1'", "'GZIP_1'", "'HCOMPRESS_1'", "'\x1b[31m'", "'spec-o3/spectrum/1'"),
)


def examples(number: int) -> settings:
    """Settings of so many examples in the default profile, and proportionally more in a longer one."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(
        max_examples=max(1, number * settings().max_examples // EXAMPLES), deadline=None, suppress_health_check=slow
    )


class Contents(tuple[bytes, ...]):
    """Whole files, shown by their number: hypothesis shows the arguments of a failed test."""

    def __repr__(self) -> str:
        return f"<{len(self)} files>"


class Damaged(bytes):
    """A damaged file, shown by its beginning: hypothesis warns of a longer text."""

    def __repr__(self) -> str:
        return super().__repr__() if len(self) < 1000 else f"<{len(self)} bytes: {bytes(self[:900])!r}...>"


@st.composite
def _changed(draw: DrawFn, change: Callable[[DrawFn, Sequence[bytes]], bytes], contents: Contents) -> bytes:
    return Damaged(change(draw, contents)[:LONGEST])


def _strategy(change: Callable[[DrawFn, Sequence[bytes]], bytes]) -> Callable[[Sequence[bytes]], SearchStrategy[bytes]]:
    """Make a function that draws damaged content a function of the contents that returns a strategy."""

    def damaged(contents: Sequence[bytes]) -> SearchStrategy[bytes]:
        return _changed(change, Contents(contents))

    return damaged


@_strategy
def damaged_bytes(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """One of the contents with up to four changes: flip, overwrite, cut, end, repeat, or splice with another."""
    data = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        part = data[start : start + draw(st.sampled_from((1, 4, 8, 80, 512, 2880)))]
        change = draw(st.sampled_from(("flip", "overwrite", "fill", "cut", "end", "repeat", "splice")))
        if change == "flip" and part:
            data[start] ^= 1 << draw(st.integers(0, 7))
        elif change == "overwrite":
            data[start : start + len(part)] = draw(st.binary(max_size=12))
        elif change == "fill":
            data[start : start + len(part)] = draw(st.sampled_from((b"\0", b"\xff", b" ", b"9", b"\n"))) * len(part)
        elif change == "cut":
            del data[start : start + len(part)]
        elif change == "end":
            del data[start:]
        elif change == "repeat":
            data[start:start] = part * draw(st.sampled_from((1, 2, 50)))
        elif change == "splice":
            other = draw(st.sampled_from(contents))
            data[start:] = other[draw(st.integers(0, len(other))) :]
    return bytes(data)


@_strategy
def damaged_fits(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """A FITS file with up to three cards changed, replaced or blanked, or with a block in another place."""
    data = bytearray(draw(st.sampled_from(contents)))
    cards = [at for at in range(0, len(data) - 79, 80) if re.match(rb"[A-Z0-9_-]{1,8} *= ", data[at : at + 80])]
    if not cards:
        return bytes(data)
    for _ in range(draw(st.integers(1, 3))):
        at, key, value = draw(st.sampled_from(cards)), draw(st.sampled_from(CARDS)), draw(st.sampled_from(CARD_VALUES))
        change = draw(st.sampled_from(("value", "card", "blank", "block")))
        if change == "value":
            data[at + 10 : at + 80] = value.rjust(20).ljust(70).encode("latin-1")[:70]
        elif change == "card":
            data[at : at + 80] = f"{key:8}= {value:>20}".ljust(80).encode("latin-1")[:80]
        elif change == "blank":
            data[at : at + 80] = b" " * 80
        else:
            source, target = (2880 * draw(st.integers(0, len(data) // 2880)) for _ in range(2))
            data[target:target] = data[source : source + 2880]
    return bytes(data)


@_strategy
def damaged_text(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """Text with a word replaced, a line repeated or dropped, or a separator changed."""
    lines = draw(st.sampled_from(contents)).split(b"\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        change = draw(st.sampled_from(("word", "word", "repeat", "drop", "separator")))
        if change == "word":
            words = re.split(rb"([\s,;|=]+)", lines[at])
            value = draw(st.sampled_from((*TEXTS, "9" * 5000, *map(repr, NUMBERS[:8]))))
            words[draw(st.integers(0, len(words) - 1))] = value.encode("utf-8", "surrogatepass")
            lines[at] = b"".join(words)
        elif change == "repeat":
            lines[at:at] = [lines[at]] * draw(st.sampled_from((1, 2, 200)))
        elif change == "drop" and len(lines) > 1:
            del lines[at]
        elif change == "separator":
            separators = st.sampled_from((b",", b";", b"\t", b"|", b" ", b"=", b'"', b"#"))
            lines[at] = lines[at].replace(draw(separators), draw(separators))
    return b"\n".join(lines)


@_strategy
def damaged_json(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """JSON, or one line of JSON lines, in which up to three values are replaced, dropped, renamed or repeated."""
    data = draw(st.sampled_from(contents))
    for lines in ([line for line in data.split(b"\n") if line] or [data], [data]):
        at = draw(st.integers(0, len(lines) - 1))
        with suppress(ValueError):
            value = json.loads(lines[at])
            break
    else:
        return draw(damaged_bytes([data]))
    for _ in range(draw(st.integers(1, 3))):
        value = _damaged_value(draw, value)
    text = json.dumps(value, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    words = [found.span() for found in re.finditer(rb"-?\d+(?:\.\d+)?|\"[^\"]*\"", text)]
    if words and draw(st.integers(0, 9)) == 0:
        start, end = draw(st.sampled_from(words))
        text = text[:start] + draw(st.sampled_from(JSON_WORDS)) + text[end:]
    lines[at] = text
    return b"\n".join(lines)


def _damaged_value(draw: DrawFn, value: Any) -> Any:
    """Return the value with one change at any depth."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        change = draw(st.sampled_from((*["inside"] * 9, "drop", "rename", "add")))
        if change == "inside":
            return value | {key: _damaged_value(draw, value[key])}
        others = {name: other for name, other in value.items() if name != key or change == "add"}
        return others if change == "drop" else others | {draw(st.sampled_from(TEXTS)): value[key]}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        at = draw(st.integers(0, len(value) - 1))
        times = draw(st.sampled_from((*[None] * 8, 0, 3)))
        changed = [_damaged_value(draw, value[at])] if times is None else [value[at]] * times
        return [*value[:at], *changed, *value[at + 1 :]]
    if isinstance(value, str) and value and draw(st.booleans()):
        at = draw(st.integers(0, len(value)))
        return value[:at] + draw(st.sampled_from(TEXTS)) + value[at:]
    return draw(VALUES | st.just([value]) | st.just({"": value}))


def damaged_gzip(contents: Sequence[bytes], inner: SearchStrategy[bytes]) -> SearchStrategy[bytes]:
    """A gzip file of ``inner``, or one of the gzip ``contents`` with changed bytes."""
    return inner.map(lambda data: Damaged(gzip.compress(data, 1, mtime=0))) | damaged_bytes(contents)


@_strategy
def damaged_zip(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """A zip with a member changed, renamed or repeated, or made a link; or with changed bytes."""
    data = draw(st.sampled_from(contents))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = [(member.filename, member.external_attr, packed.read(member)) for member in packed.infolist()]
    except (zipfile.BadZipFile, ValueError):
        return data  # an example of a damaged zip
    at = draw(st.integers(0, len(members) - 1))
    name, mode, content = members[at]
    change = draw(st.sampled_from(("bytes", "name", "link", "repeat", "content")))
    if change == "bytes":
        return draw(damaged_bytes(contents))
    if change == "name":
        names = (*TEXTS, "../x.jsonl", "/x.jsonl", "a/b", "a", "images", "x" * 300)
        name = draw(st.sampled_from(names)).encode("utf-8", "replace").decode() or "x"
    elif change == "link":
        mode, content = 0o120777 << 16, draw(st.sampled_from((b"/etc/passwd", b"../..", b".")))
    elif change == "repeat":
        members.append((name + draw(st.sampled_from(("", "/x", ".jsonl"))), mode, content))
    elif name.endswith((".json", ".jsonl")):
        content = draw(damaged_json([content]))
    else:
        content = draw(damaged_bytes([content]))
    members[at] = name, mode, content
    written = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as packed:
        warnings.simplefilter("ignore")  # two members with one name are intended
        for name, mode, content in members:
            member = zipfile.ZipInfo(name)
            member.external_attr = mode
            packed.writestr(member, content)
    return written.getvalue()


@_strategy
def damaged_database(draw: DrawFn, contents: Sequence[bytes]) -> bytes:
    """A database with changed bytes or pages, or with up to three changes of cells, rows, schema or PRAGMAs."""
    data = draw(st.sampled_from(contents))
    change = draw(st.sampled_from(("bytes", "page", "cell", "cell", "row", "schema", "pragma")))
    if change == "bytes":
        return draw(damaged_bytes([data]))
    if change == "page":
        source, target = (4096 * draw(st.integers(0, len(data) // 4096)) for _ in range(2))
        return data[:target] + data[source : source + 4096] + data[target + 4096 :]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        db.deserialize(data[:18] + b"\1\1" + data[20:])  # a database in memory has no write-ahead log
        for pragma in ("writable_schema = ON", "ignore_check_constraints = ON", "foreign_keys = OFF"):
            db.execute(f"PRAGMA {pragma}")
        for _ in range(draw(st.integers(1, 3))):
            with suppress(sqlite3.Error):
                {"cell": _cell, "row": _row, "schema": _schema, "pragma": _pragma}[change](draw, db)
        if change in ("cell", "row") and draw(st.booleans()):
            with suppress(sqlite3.Error, ValueError, TypeError, LookupError, AttributeError):
                _rewrite_log(db)
        return db.serialize()


def _unguarded(db: sqlite3.Connection, statement: str, *values: Any) -> None:
    """Change rows without the triggers that refuse changes."""
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        db.execute(f'DROP TRIGGER "{name}"')
    with suppress(sqlite3.Error):
        db.execute(statement, values)
    for _, sql in guards:
        db.execute(sql)


def _table(draw: DrawFn, db: sqlite3.Connection) -> tuple[str, list[str]]:
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    table = draw(st.sampled_from([name for (name,) in db.execute(query)]))
    return table, [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]


def _cell(draw: DrawFn, db: sqlite3.Connection) -> None:
    table, columns = _table(draw, db)
    column = draw(st.sampled_from(columns))
    old = db.execute(f'SELECT rowid, "{column}" FROM "{table}" LIMIT 1 OFFSET ?', (draw(st.integers(0, 2)),)).fetchone()
    if old is None:
        return
    key, value = old
    if isinstance(value, str) and value[:1] in ("{", "[") and draw(st.booleans()):
        new = draw(damaged_json([value.encode()]))
        _unguarded(db, f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE rowid = ?', new, key)
        return
    other = draw(st.sampled_from((None, b"\xff\xfe", *NUMBERS, *TEXTS)))
    if isinstance(other, str):
        other = other.encode("utf-8", "surrogatepass")
        _unguarded(db, f'UPDATE "{table}" SET "{column}" = CAST(? AS TEXT) WHERE rowid = ?', other, key)
    else:
        other = str(other) if isinstance(other, int) and abs(other) >= 2**63 else other
        _unguarded(db, f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', other, key)


def _row(draw: DrawFn, db: sqlite3.Connection) -> None:
    table, columns = _table(draw, db)
    if draw(st.booleans()):
        _unguarded(db, f'DELETE FROM "{table}" WHERE rowid = (SELECT max(rowid) FROM "{table}")')
    else:
        others = ", ".join(f'"{column}"' for column in columns[1:]) or "NULL"
        key = draw(st.sampled_from((-1, 0, 7, 2**40)))
        _unguarded(db, f'INSERT OR IGNORE INTO "{table}" SELECT {key}, {others} FROM "{table}" LIMIT 1')


def _schema(draw: DrawFn, db: sqlite3.Connection) -> None:
    name = draw(st.sampled_from([name for (name,) in db.execute("SELECT name FROM sqlite_schema ORDER BY name")]))
    change = draw(st.sampled_from(("strange", "forget", "column", "sql")))
    if change == "strange":
        db.executescript(draw(st.sampled_from([sql for sql, _ in STRANGE.values()])))
    elif change == "forget":
        db.execute("DELETE FROM sqlite_schema WHERE name = ?", (name,))
    elif change == "column":
        column = draw(st.sampled_from(("type", "name", "tbl_name", "rootpage", "sql")))
        value = draw(st.sampled_from((None, 0, -1, 2**40, "", "\x1b[2J", "table", "CREATE TABLE x (a)")))
        db.execute(f"UPDATE sqlite_schema SET {column} = ? WHERE name = ?", (value, name))
    else:
        old, new = draw(st.sampled_from((("NOT NULL", ""), ("TEXT", "BLOB"), ("id", "\x1b"), (" ON ", " ON log "))))
        db.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?", (old, new, name))


def _pragma(draw: DrawFn, db: sqlite3.Connection) -> None:
    name = draw(st.sampled_from(("application_id", "user_version", "schema_version")))
    db.execute(f"PRAGMA {name} = {draw(st.sampled_from((0, 1, 3, 99, -1, 2**31 - 1)))}")


def _rewrite_log(db: sqlite3.Connection) -> None:
    """Make every entry of the log fit the present rows, as an attacker who knows the design can."""
    guards = db.execute("SELECT name, sql FROM sqlite_schema WHERE tbl_name = 'log' AND type = 'trigger'").fetchall()
    for name, _ in guards:
        db.execute(f'DROP TRIGGER "{name}"')
    previous = BEFORE_THE_FIRST
    entries = db.execute("SELECT number, at, person, what, subject, details FROM log ORDER BY number").fetchall()
    for *fields, text in entries:
        details = json.loads(text)
        for table, (first, last, *_) in details.get("facts", {}).items():
            rows = BOUND[table].rows(db, table, f"WHERE {BOUND[table].key} BETWEEN ? AND ?", first, last)
            details["facts"][table] = [first, last, *digest(row for _, row in rows)]
        for initials in details.get("people", {}):
            details["people"][initials] = person_digest(db, initials)
        entry = entry_hash(*fields, details, previous)
        values = (canonical(details).decode(), previous, entry, fields[0])
        db.execute("UPDATE log SET details = ?, previous = ?, hash = ? WHERE number = ?", values)
        previous = entry
    for _, sql in guards:
        db.execute(sql)
