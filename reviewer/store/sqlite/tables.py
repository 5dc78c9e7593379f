"""Read every table of a database row by row, and write rows into a new database; used by archives and restores.

The search index is built again; sign-in sessions and attempts are left out. Also checks that a file has our schema.
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

from agent.language import tr
from reviewer.store.audit.chain import Head, head
from reviewer.store.errors import CannotWrite, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite import schema
from reviewer.store.sqlite.database import Transaction, connect, damage_as_sqlite_error, helpers
from reviewer.store.sqlite.migrations import applied, migrate, require_known_schema
from reviewer.store.sqlite.schema import APPLICATION_ID, Migration
from reviewer.store.sqlite.texts import fill_texts

Value = str | int | float | bytes | None

LEFT_OUT = ("sessions", "sign_ins", "tokens", "webhooks", "webhook_events", "webhook_deliveries")
"""Tables that are not archived: what would give access (sessions, tokens, secrets of webhooks), and attempts."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "REAL": (float, int),
    "TEXT": (str,),
    "BLOB": (bytes,),
}


@dataclass(frozen=True)
class Table:
    """A table: its name, columns with declared types, columns with JSON text, and the order of its rows."""

    name: str
    columns: Mapping[str, str]
    json_columns: frozenset[str]
    order: str

    def wrong(self, row: Mapping[str, Value]) -> str | None:
        """Return what is wrong with a row of this table, as part of a message; None if nothing is."""
        for column in row.keys() - self.columns.keys():
            return tr("found the column {column!r:.60}, which {table} does not have", column=column, table=self.name)
        for column, kind in self.columns.items():
            if column not in row:
                return tr("found no {column}, expected every column of {table}", column=column, table=self.name)
            value = row[column]
            if value is not None and type(value) not in _TYPES[kind]:
                return tr("{column}: found {value!r:.60}, expected {kind}", column=column, value=value, kind=kind)
        return None


class Snapshot:
    """All rows of a database as of one moment."""

    def __init__(self, db: Transaction) -> None:
        self._db = db
        self.schema = applied(db)[-1]
        self.tables = tables(db)

    @property
    def head(self) -> Head:
        """The head of the log."""
        return head(self._db)

    def count(self, table: Table) -> int:
        (rows,) = self._db.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()
        return int(rows)

    def spectra_in_files(self) -> list[str]:
        """Return the SHA-256 of the spectra whose arrays are in files beside the database."""
        rows = self._db.execute("SELECT sha256 FROM spectra WHERE length(flux) = 0 ORDER BY sha256")
        return [sha256 for (sha256,) in rows]

    def rows(self, table: Table) -> Iterator[dict[str, Value]]:
        """Yield the rows in the order in which they were written, or of their key."""
        names = _quoted(table.columns)
        for row in self._db.execute(f'SELECT {names} FROM "{table.name}" ORDER BY {table.order}'):
            yield dict(zip(table.columns, row, strict=True))


@contextmanager
def open_snapshot(path: Path) -> Iterator[Snapshot]:
    """Open a database that nobody writes to, e.g. a backup, for reading; no file is created or changed.

    :raises NotFound: there is no such file
    :raises NotAnnotations: the file belongs to another program, or is not SQLite
    :raises StoreError: it is damaged
    """
    if not path.is_file():
        raise NotFound(tr("{path}: found no database", path=path))
    # Immutable: SQLite uses neither locks nor a write-ahead log.
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
    """The schema of a database and the head of its log."""

    schema: int
    head: Head


def summary(path: Path) -> Summary:
    """Check every page of a database that others may have open, without changing it, and return its summary.

    :raises NotAnnotations: the file belongs to another program, or is not SQLite
    :raises StoreError: it is damaged, or cannot be read
    """
    try:
        with closing(connect(path)) as connection:
            db = helpers(connection)
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            moment = _ours(db, path)
            (check,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if check != "ok":
                raise StoreError(tr("{path}: the file is damaged ({found:.300})", path=path, found=check))
            return Summary(moment.schema, moment.head)
    except sqlite3.DatabaseError as error:
        raise unreadable_error(error, path) from error


def _ours(db: Transaction, path: Path) -> Snapshot:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID or not applied(db):
        raise NotAnnotations(
            tr("{path}: found another program's database, expected an annotations database", path=path)
        )
    moment = Snapshot(db)
    require_known_schema(path, moment.schema)
    return moment


def unreadable_error(error: sqlite3.DatabaseError, path: Path) -> StoreError:
    """Return the exception for a file that SQLite or Python could not read."""
    # Python reports text that is not UTF-8, without SQLite's error code.
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return NotAnnotations(
            tr("{path}: found a file that is not SQLite, expected an annotations database", path=path)
        )
    return StoreError(tr("{path}: the file is damaged or cannot be read ({error})", path=path, error=error))


class NewDatabase:
    """A new database into which rows are copied; made by ``new_database``."""

    def __init__(self, db: Transaction) -> None:
        self._db = db
        self.tables = {table.name: table for table in tables(db)}

    def insert(self, table: Table, row: Mapping[str, Value]) -> None:
        """Insert a row. :raises StoreError: the table refuses it; the caller adds file and line to the message"""
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
            raise StoreError(tr("{name} refuses this row: {error}", name=table.name, error=error)) from None


@contextmanager
def new_database(path: Path, number: int) -> Iterator[NewDatabase]:
    """Create a database of this or an earlier release's schema; the block fills it.

    Triggers are created again at the end, so that every row is stored unchanged, tallies included. There is no flush
    and no journal: if the block fails, the caller deletes the file.

    :param number: of a schema that this release knows
    :raises CannotWrite: the disk is full, or reports an error
    """
    known = [migration for migration in schema.MIGRATIONS if migration.number <= number]
    try:
        with closing(connect(path)) as connection:
            db = helpers(connection)
            db.execute("PRAGMA synchronous = OFF")
            db.execute("PRAGMA journal_mode = OFF")
            migrate(connection, path, migrations=known)
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
            fill_texts(db)
            for _, sql in triggers:
                db.execute(sql)
            db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        raise CannotWrite(tr("{path}: {error}. No database was made.", path=path, error=error)) from error


def tables(db: Transaction) -> tuple[Table, ...]:
    """Return the tables of an archive, in the order in which they were created."""
    query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    created = db.execute(query).fetchall()
    virtual = [name for name, sql in created if sql.startswith("CREATE VIRTUAL")]
    others = (*(f"{name}_" for name in virtual), "sqlite_")
    return tuple(
        _table(db, name, sql)
        for name, sql in created
        # A virtual table stores its data in ordinary tables whose names begin with its own.
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
    """Fill the search index, which does not store its text: names and identifiers."""
    rows = "SELECT i.id, i.name, s.details FROM items i LEFT JOIN spectra s ON s.sha256 = i.spectrum"
    for item_id, name, details in db.execute(f"{rows} ORDER BY i.id"):
        ids = json.loads(details)["ids"].values() if details else ()
        text = "\n".join((name, *map(str, ids)))
        db.execute("INSERT INTO items_text (rowid, text) VALUES (?, ?)", (item_id, text))


Part = tuple[str, str]
"""Kind and name of a part of the schema."""
_OF_THE_PLANNER = ("sqlite_stat1", "sqlite_stat4")
"""Tables created by ANALYZE."""


def require_own_schema(path: Path) -> None:
    """Check that the tables, indexes, views and triggers are exactly those of one of this program's releases.

    :raises NotFound: there is no such file
    :raises NotAnnotations: the file belongs to another program, or is not SQLite
    :raises NewerSchema: a newer release wrote it
    :raises OlderSchema: it is from before the first release
    :raises StoreError: a part differs or is missing, or the file is damaged
    """
    if not path.is_file():
        raise NotFound(tr("{path}: found no database", path=path))
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
    actual = _schema_of(db)
    migrations = actual.get(("table", "migrations"))
    if application != APPLICATION_ID or migrations is None:
        raise NotAnnotations(
            tr("{path}: found another program's database, expected an annotations database", path=path)
        )
    if migrations != _expected_schema(schema.MIGRATIONS[:1])["table", "migrations"]:
        raise _foreign(path, tr("found a different table 'migrations'"))
    known = [migration.number for migration in schema.MIGRATIONS]
    # At most one more than there can be: the file is untrusted.
    query = "SELECT number FROM migrations ORDER BY number DESC LIMIT ?"
    numbers = [row[0] for row in db.execute(query, (known[-1] + 1,))][::-1]
    if numbers and isinstance(numbers[-1], int) and numbers[-1] > 0:
        require_known_schema(path, numbers[-1])
    released = [number for number in numbers if number in known]
    if not released or numbers not in (released, [*range(1, known[0]), *released]):
        raise _foreign(path, tr("found the migrations {numbers!r:.60}", numbers=numbers))
    strange = _difference(actual, _expected_schema(schema.MIGRATIONS[: len(released)]))
    if strange is not None:
        raise _foreign(path, strange)


def _foreign(path: Path, what: str) -> StoreError:
    return StoreError(
        tr("{path}: {what}, expected the schema of spec-o3: the file was changed or is damaged", path=path, what=what)
    )


def _difference(actual: dict[Part, str], expected: dict[Part, str]) -> str | None:
    for kind, name in sorted(expected.keys() - actual.keys()):
        return tr("found no {kind} {name!r}", kind=kind, name=name)
    for kind, name in sorted(actual.keys() - expected.keys()):
        return tr("found the {kind:.20} {name!r:.60}, which is not spec-o3's", kind=kind, name=name)
    for kind, name in sorted(expected):
        if actual[kind, name] != expected[kind, name]:
            return tr("found a different {kind} {name!r}", kind=kind, name=name)
    return None


def _schema_of(db: Transaction) -> dict[Part, str]:
    """Return the SQL of every part of the schema, without those that SQLite created itself."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    virtual = tuple(f"{row[1]}_" for row in rows if str(row[3]).startswith("CREATE VIRTUAL"))
    parts = {}
    for kind, name, table, sql in rows:
        if (kind == "index" and sql is None) or (kind == "table" and name in _OF_THE_PLANNER):
            continue
        # The data tables of a virtual table; SQLite's releases may define them differently.
        inside = kind == "table" and str(name).startswith(virtual)
        parts[str(kind), str(name)] = "" if inside else f"{table}: {sql}"
    return parts


@cache
def _expected_schema(migrations: tuple[Migration, ...]) -> dict[Part, str]:
    """Return the schema of a new database after these migrations."""
    with closing(connect(Path(":memory:"))) as connection:
        db = helpers(connection)
        migrate(connection, Path(":memory:"), migrations=migrations)
        return _schema_of(db)
