"""Which errors and values mean that a database file is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import sqlite_utils

from agent.language import tr

_DAMAGE = (
    *(sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT),
    # A value of a type or length that this program never writes.
    *(sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG),
)

LARGE_TABLES = (
    *("versions", "pictures", "spectra", "sky_records"),
    *("traces_text", "traces_text_data", "traces_text_idx", "traces_text_docsize"),
)
"""Nearly all of the file. Reading all of them would make the start slow."""


def is_damage(error: BaseException) -> bool:
    """Return whether an error of SQLite, or of Python's module for it, means that the file is damaged."""
    if isinstance(error, UnicodeDecodeError):  # a name or a message of SQLite with bytes of the file
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # The only operational error of the module itself: text of a row that is not UTF-8.
        return type(error) is sqlite3.OperationalError
    # The low byte is the kind of error; the bytes above it are the detail.
    if code == sqlite3.SQLITE_ERROR:  # from the functions for JSON, which have no code of their own
        return "malformed JSON" in str(error)
    return code & 0xFF in _DAMAGE


def damaged_table(db: sqlite_utils.Database) -> str | None:
    """Return SQLite's description of the first fault in a table that is not large; None if there is none."""
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in sorted(set(tables) - set(LARGE_TABLES)):
        (fault,) = db.execute(f"PRAGMA quick_check('{table}')").fetchone()
        if fault != "ok":
            return tr("table {table}: {found}", table=table, found=fault)
    return None


def text_columns(db: sqlite_utils.Database) -> dict[str, list[str]]:
    """Return the columns of text of each table, but for those of the search's indexes; names are quoted."""
    columns: dict[str, list[str]] = {}
    for table, column in db.execute(
        "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
        "WHERE t.type = 'table' AND t.name NOT GLOB '*_text*' AND c.type = 'TEXT' ORDER BY t.name, c.cid"
    ):
        columns.setdefault(table, []).append(f'"{column}"')
    return columns


def unreadable_texts(db: sqlite_utils.Database, tables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a fault for each of these tables with text that is not UTF-8, or bytes or numbers in place of text.

    SQLite's own checks do not look at this.

    :param tables: quoted names of columns by table
    """
    for table, columns in tables.items():
        try:
            for row in db.execute(f'SELECT {", ".join(columns)} FROM "{table}"'):
                if not all(value is None or isinstance(value, str) for value in row):
                    yield tr("table {table}: found a value that is no text in a column of text", table=table)
                    break
        except sqlite3.OperationalError as error:
            if not is_damage(error):
                raise
            yield tr("table {table}: {found}", table=table, found=error)


def wrong_value(db: sqlite_utils.Database) -> str | None:
    """Return the first fault of ``unreadable_texts``; of the large tables only the types are looked at."""
    tables = text_columns(db)
    for table in LARGE_TABLES:
        kinds = " OR ".join(f"typeof({column}) NOT IN ('text', 'null')" for column in tables.pop(table, ()))
        if kinds and db.execute(f'SELECT 1 FROM "{table}" WHERE {kinds} LIMIT 1').fetchone():
            return tr("table {table}: found a value that is no text in a column of text", table=table)
    return next(unreadable_texts(db, tables), None)
