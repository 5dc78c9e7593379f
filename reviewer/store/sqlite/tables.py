"""Every table row by row, out of a database at one moment and into a new one: what an archive stands on.

Nothing here knows what a table means. What cannot be read back (the search index) is made anew, what is
nobody's work (sessions, sign-in attempts) is left out.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reviewer.store.audit.chain import Head, head
from reviewer.store.errors import CannotWrite, NewerSchema, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite.database import Transaction, connect, damage_as_sqlite_error, helpers, utc_now
from reviewer.store.sqlite.migrations import applied, migrate
from reviewer.store.sqlite.schema import APPLICATION_ID, MIGRATIONS

Value = str | int | float | bytes | None

LEFT_OUT = ("sessions", "sign_ins")
"""Who was signed in, and who tried: nothing of it is worth keeping, and a session opens the door."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "REAL": (float, int),
    "TEXT": (str,),
    "BLOB": (bytes,),
}


@dataclass(frozen=True)
class Table:
    """A table's name, its columns with their declared types, and those of them whose text is JSON."""

    name: str
    columns: Mapping[str, str]
    json_columns: frozenset[str]
    order: str

    def wrong(self, row: Mapping[str, Value]) -> str | None:
        """What is wrong with a row of this table, as a sentence without its end; None if nothing is."""
        for column in row.keys() - self.columns.keys():
            return f"found the column {column!r:.60}, which {self.name} does not have"
        for column, kind in self.columns.items():
            if column not in row:
                return f"found no {column}, expected every column of {self.name}"
            value = row[column]
            if value is not None and type(value) not in _TYPES[kind]:
                return f"{column}: found {value!r:.60}, expected {kind}"
        return None


class Snapshot:
    """All rows as they are at one moment, however long it takes to read them."""

    def __init__(self, db: Transaction) -> None:
        self._db = db
        self.schema = applied(db)[-1]
        self.tables = tables(db)

    @property
    def head(self) -> Head | None:
        """The head of the log; None where the schema is from before it."""
        return head(self._db) if any(table.name == "log" for table in self.tables) else None

    def count(self, table: Table) -> int:
        (rows,) = self._db.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()
        return int(rows)

    def rows(self, table: Table) -> Iterator[dict[str, Value]]:
        """In the order they were written, or of their key; one after the other, never all in memory."""
        names = _quoted(table.columns)
        for row in self._db.execute(f'SELECT {names} FROM "{table.name}" ORDER BY {table.order}'):
            yield dict(zip(table.columns, row, strict=True))


@contextmanager
def open_snapshot(path: Path) -> Iterator[Snapshot]:
    """The rows of a database that nobody writes to, such as a backup; nothing is made or changed beside it.

    :raises NotFound: there is no such file
    :raises NotAnnotations: it is another program's, or not SQLite at all
    :raises StoreError: it is damaged
    """
    if not path.is_file():
        raise NotFound(f"{path}: found no database")
    # Immutable: neither locks nor a write-ahead log are looked for.
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
            db = helpers(connection)
            connection.row_factory = sqlite3.Row
            with damage_as_sqlite_error():
                moment = _ours(db, path)
            yield moment
    except sqlite3.DatabaseError as error:
        raise unreadable_error(error, path) from error


@dataclass(frozen=True)
class Summary:
    """What a look at a database tells; ``head`` of its log, None where the schema is from before it."""

    schema: int
    head: Head | None


def summary(path: Path) -> Summary:
    """Look at a database that others may have open, without changing or upgrading it; every page is checked.

    :raises NotAnnotations: it is another program's, or not SQLite at all
    :raises StoreError: it is damaged, or cannot be read
    """
    try:
        with closing(connect(path)) as connection:
            db = helpers(connection)
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            moment = _ours(db, path)
            (found,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if found != "ok":
                raise StoreError(f"{path}: the file is damaged ({found:.300})")
            return Summary(moment.schema, moment.head)
    except sqlite3.DatabaseError as error:
        raise unreadable_error(error, path) from error


def _ours(db: Transaction, path: Path) -> Snapshot:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID or not applied(db):
        raise NotAnnotations(f"{path}: found another program's database, expected an annotations database")
    return Snapshot(db)


def unreadable_error(error: sqlite3.DatabaseError, path: Path) -> StoreError:
    """What to say of a file that SQLite, or Python, could not read."""
    # Text that is no UTF-8 is found by Python, without a code of SQLite's.
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return NotAnnotations(f"{path}: found a file that is not SQLite, expected an annotations database")
    return StoreError(f"{path}: the file is damaged or cannot be read ({error})")


class NewDatabase:
    """A new database that takes rows as they are; made by ``filling``."""

    def __init__(self, db: Transaction) -> None:
        self._db = db
        self.tables = {table.name: table for table in tables(db)}

    def insert(self, table: Table, row: Mapping[str, Value]) -> None:
        """:raises StoreError: the table refuses the row; the message is a sentence without its place"""
        wrong = table.wrong(row)
        if wrong is not None:
            raise StoreError(wrong)
        marks = ", ".join("?" * len(table.columns))
        try:
            self._db.execute(
                f'INSERT INTO "{table.name}" ({_quoted(table.columns)}) VALUES ({marks})',
                [row[column] for column in table.columns],
            )
        except (sqlite3.IntegrityError, sqlite3.DataError, OverflowError, UnicodeError) as error:
            raise StoreError(f"{table.name} refuses it: {error}") from None


@contextmanager
def new_database(path: Path, schema: int) -> Iterator[NewDatabase]:
    """Make a database of an earlier schema or of this release's, empty but for what comes in the block.

    The triggers that refuse changes, and those that count, are away meanwhile: every row comes as it was,
    the counted ones too. Nothing is flushed and there is no journal: a file whose block has failed is to be
    thrown away.

    :raises StoreError: this release does not know that schema
    :raises CannotWrite: the disk is full, or failed
    """
    known = [migration for migration in MIGRATIONS if migration.number <= schema]
    if not known or known[-1].number != schema:
        raise StoreError(f"found the schema {schema}, this release knows 1 to {MIGRATIONS[-1].number}")
    try:
        with closing(connect(path)) as connection:
            db = helpers(connection)
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA journal_mode = OFF")
            migrate(connection, path, known, utc_now())
            db.execute("PRAGMA foreign_keys = OFF")
            db.execute("BEGIN EXCLUSIVE")
            triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
            for name, _ in triggers:
                db.execute(f'DROP TRIGGER "{name}"')
            new = NewDatabase(db)
            for table in new.tables.values():
                db.execute(f'DELETE FROM "{table.name}"')
            yield new
            _fill_text_index(db)
            for _, sql in triggers:
                db.execute(sql)
            db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise CannotWrite(f"{path}: {error}. No database was made.") from error


def tables(db: Transaction) -> tuple[Table, ...]:
    """The tables of an archive, in the order they were made."""
    made = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    found = db.execute(made).fetchall()
    virtual = [name for name, sql in found if sql.startswith("CREATE VIRTUAL")]
    others = (*(f"{name}_" for name in virtual), "sqlite_")
    return tuple(
        _table(db, name, sql)
        for name, sql in found
        # A virtual table keeps what it has in ordinary ones that begin with its name.
        if name not in (*virtual, *LEFT_OUT) and not name.startswith(others)
    )


def _table(db: Transaction, name: str, sql: str) -> Table:
    info = db.execute(f'PRAGMA table_info("{name}")').fetchall()
    key = [column["name"] for column in sorted(info, key=lambda column: column["pk"]) if column["pk"]]
    return Table(
        name=name,
        columns={column["name"]: column["type"].upper() for column in info},
        json_columns=frozenset(re.findall(r"json_valid\((\w+)\)", sql)),
        order=_quoted(key) if re.search(r"WITHOUT ROWID\s*$", sql) else "rowid",
    )


def _quoted(columns: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _fill_text_index(db: Transaction) -> None:
    """What the search looks through, which the index itself does not keep: the name and the identifiers."""
    rows = "SELECT i.id, i.name, s.details FROM items i LEFT JOIN spectra s ON s.sha256 = i.spectrum"
    for item_id, name, details in db.execute(f"{rows} ORDER BY i.id"):
        ids = json.loads(details)["ids"].values() if details else ()
        text = "\n".join((name, *map(str, ids)))
        db.execute("INSERT INTO items_text (rowid, text) VALUES (?, ?)", (item_id, text))


Part = tuple[str, str]
"""What kind it is, and its name."""
_OF_THE_PLANNER = ("sqlite_stat1", "sqlite_stat4")
"""What ANALYZE leaves: numbers that it counted."""


def require_own_schema(path: Path) -> None:
    """Every table, index, view and trigger is as one of this program's releases made it, and none is missing.

    :raises NotFound: there is no such file
    :raises NotAnnotations: it is another program's, or not SQLite at all
    :raises NewerSchema: a newer release wrote it
    :raises StoreError: something in it is of another make; or it is damaged
    """
    if not path.is_file():
        raise NotFound(f"{path}: found no database")
    try:
        with closing(connect(path)) as connection:
            db = helpers(connection)
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            _require_schema(db, path)
    except sqlite3.DatabaseError as error:
        raise unreadable_error(error, path) from error


def _require_schema(db: Transaction, path: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    found = _schema_of(db)
    told = found.get(("table", "migrations"))
    if application != APPLICATION_ID or told is None:
        raise NotAnnotations(f"{path}: found another program's database, expected an annotations database")
    if told != _expected_schema(1)["table", "migrations"]:
        raise _foreign(path, "the table 'migrations' is of another make")
    # As many as there can be, and one more: the list itself may be anything.
    query = "SELECT number FROM migrations ORDER BY number DESC LIMIT ?"
    numbers = [row[0] for row in db.execute(query, (len(MIGRATIONS) + 1,))]
    known = [migration.number for migration in MIGRATIONS]
    if numbers and isinstance(numbers[0], int) and numbers[0] > known[-1]:
        raise NewerSchema(
            f"{path}: its schema is number {numbers[0]}, this release knows {known[-1]}. "
            "Update spec-o3, then restore it."
        )
    if not numbers or numbers[::-1] != known[: len(numbers)]:
        raise _foreign(path, f"it had the migrations {numbers[::-1]!r:.60}")
    strange = _difference(found, _expected_schema(len(numbers)))
    if strange is not None:
        raise _foreign(path, strange)


def _foreign(path: Path, what: str) -> StoreError:
    return StoreError(f"{path}: {what}, expected a database as spec-o3 makes it: it was changed or is damaged")


def _difference(found: dict[Part, str], wanted: dict[Part, str]) -> str | None:
    for kind, name in sorted(wanted.keys() - found.keys()):
        return f"found no {kind} {name!r}"
    for kind, name in sorted(found.keys() - wanted.keys()):
        return f"found the {kind:.20} {name!r:.60}, which is not spec-o3's"
    for kind, name in sorted(wanted):
        if found[kind, name] != wanted[kind, name]:
            return f"the {kind} {name!r} is of another make"
    return None


def _schema_of(db: Transaction) -> dict[Part, str]:
    """The SQL of everything that somebody asked SQLite for."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    virtual = tuple(f"{row[1]}_" for row in rows if str(row[3]).startswith("CREATE VIRTUAL"))
    parts = {}
    for kind, name, table, sql in rows:
        if (kind == "index" and sql is None) or (kind == "table" and name in _OF_THE_PLANNER):
            continue
        # In these a virtual table keeps what it has; SQLite's releases may write them differently.
        inside = kind == "table" and str(name).startswith(virtual)
        parts[str(kind), str(name)] = "" if inside else f"{table}: {sql}"
    return parts


@cache
def _expected_schema(migrations: int) -> dict[Part, str]:
    """The same of a new file that has had so many migrations."""
    with closing(connect(Path(":memory:"))) as connection:
        db = helpers(connection)
        migrate(connection, Path(":memory:"), MIGRATIONS[:migrations])
        return _schema_of(db)
