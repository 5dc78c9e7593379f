"""Whether a file's tables, indexes, views and triggers are those that this program makes.

SQLite keeps programs in its files: a trigger or a view of somebody else's runs whenever what it hangs on is
used, and may run without end; a guard that is gone lets facts be changed. So a file from elsewhere is asked
for them before anything else in it is read.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from reviewer.store.errors import NewerSchema, NotAnnotations, NotFound, StoreError
from reviewer.store.sqlite.connection import connect
from reviewer.store.sqlite.migrations import migrate
from reviewer.store.sqlite.rows import unreadable
from reviewer.store.sqlite.schema import APPLICATION_ID, MIGRATIONS

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
        with closing(connect(path)) as db:
            db.execute("PRAGMA query_only = ON")
            db.execute("BEGIN")
            _require(db, path)
    except sqlite3.DatabaseError as error:
        raise unreadable(error, path) from error


def _require(db: sqlite3.Connection, path: Path) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    found = _parts(db)
    told = found.get(("table", "migrations"))
    if application != APPLICATION_ID or told is None:
        raise NotAnnotations(f"{path}: found another program's database, wanted an annotations database")
    if told != _made(1)["table", "migrations"]:
        raise _of_another_make(path, "the table 'migrations' is of another make")
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
        raise _of_another_make(path, f"it had the migrations {numbers[::-1]!r:.60}")
    strange = _strange(found, _made(len(numbers)))
    if strange is not None:
        raise _of_another_make(path, strange)


def _of_another_make(path: Path, what: str) -> StoreError:
    return StoreError(f"{path}: {what}, wanted a database as spec-o3 makes it: it was changed or is damaged")


def _strange(found: dict[Part, str], wanted: dict[Part, str]) -> str | None:
    for kind, name in sorted(wanted.keys() - found.keys()):
        return f"found no {kind} {name!r}"
    for kind, name in sorted(found.keys() - wanted.keys()):
        return f"found the {kind:.20} {name!r:.60}, which is not spec-o3's"
    for kind, name in sorted(wanted):
        if found[kind, name] != wanted[kind, name]:
            return f"the {kind} {name!r} is of another make"
    return None


def _parts(db: sqlite3.Connection) -> dict[Part, str]:
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
def _made(migrations: int) -> dict[Part, str]:
    """The same of a new file that has had so many migrations."""
    with closing(connect(Path(":memory:"))) as db:
        migrate(db, Path(":memory:"), MIGRATIONS[:migrations])
        return _parts(db)
