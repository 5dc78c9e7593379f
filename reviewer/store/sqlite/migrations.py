"""Upgrade a database to the present schema: all pending migrations in one transaction, after a copy of the file."""

from __future__ import annotations

import filecmp
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path

from agent.language import tr
from reviewer.store.audit.chain import NewEntry, append
from reviewer.store.errors import CannotWrite, NewerSchema, NotAnnotations, OlderSchema, StoreError
from reviewer.store.sqlite import schema
from reviewer.store.sqlite.database import Transaction, helpers, stamp, utc_now
from reviewer.store.sqlite.files import copy
from reviewer.store.sqlite.schema import APPLICATION_ID, Migration


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    now: datetime | None = None,
    migrations: Sequence[Migration] | None = None,
) -> list[int]:
    """Run the pending migrations, oldest first, all or none of them; return their numbers.

    An existing database is first copied to ``annotations.db.schema-N`` next to it. If two processes start at once,
    the second one waits and then finds nothing to do.

    :param now: the time to record; by default the machine's
    :param migrations: those of an earlier release, for a database of its schema; by default all
    :raises NotAnnotations: the file belongs to another program
    :raises NewerSchema: the file has migrations that this release does not know
    :raises OlderSchema: the file is from before the first release
    :raises CannotWrite: not enough space for the copy, or another program has locked the file
    :raises StoreError: a migration failed; the file is unchanged, and its copy stays
    """
    migrations = schema.MIGRATIONS if migrations is None else migrations
    db = helpers(connection)
    refuse_foreign_file(db, path)
    if not _pending(db, path, migrations):
        return []
    # A migration that rebuilds a table needs the foreign keys off. The setting cannot be changed inside a
    # transaction, so the keys are checked before the commit.
    db.execute("PRAGMA foreign_keys = OFF")
    try:
        # Another process may have run them before this one got the lock.
        with _all_or_nothing(db):
            pending = _pending(db, path, migrations)
            if pending:
                _upgrade(db, path, pending, stamp(now or utc_now()))
    finally:
        db.execute("PRAGMA foreign_keys = ON")
    return [migration.number for migration in pending]


def applied(db: Transaction) -> list[int]:
    """Return the numbers of the migrations that this file has had; none for an empty file."""
    if "migrations" not in db.table_names():
        return []
    return [row["number"] for row in db.table("migrations").rows_where(select="number", order_by="number")]


def _pending(db: Transaction, path: Path, migrations: Sequence[Migration]) -> list[Migration]:
    done = applied(db)
    if done:
        require_known_schema(path, done[-1])
    return [migration for migration in migrations if migration.number not in done]


def require_known_schema(path: Path, number: int) -> None:
    """Check the number of a file's last migration.

    :raises NewerSchema: it is of a later release
    :raises OlderSchema: it is from before the first release
    """
    first, last = schema.MIGRATIONS[0].number, schema.MIGRATIONS[-1].number
    if number > last:
        raise NewerSchema(
            tr(
                "{path}: its schema is number {done}, this release knows {number}. Update spec-o3, or open a "
                "backup made by this release.",
                path=path,
                done=number,
                number=last,
            )
        )
    if number < first:
        raise OlderSchema(
            tr(
                "{path}: found schema {found}, expected {first} or later: it is from before the first release. "
                "docs/backups.md says how to upgrade it. Nothing was changed.",
                path=path,
                found=number,
                first=first,
            )
        )


@contextmanager
def _all_or_nothing(db: Transaction) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.conn.in_transaction:
            db.execute("ROLLBACK")
        raise


def _upgrade(db: Transaction, path: Path, pending: Sequence[Migration], at: str) -> None:
    done = applied(db)
    kept = _copied(path, done[-1]) if done else None
    try:
        for migration in pending:
            _apply(db, migration, at)
        _refuse_broken(db, pending)
    except (sqlite3.Error, StoreError) as error:
        if kept is None:
            raise
        raise StoreError(
            tr(
                "{path}: the upgrade from schema {done} to {number} failed ({error}). The file is unchanged, "
                "and a copy of it is {kept}.",
                path=path,
                done=done[-1],
                number=pending[-1].number,
                error=error,
                kept=kept,
            )
        ) from error
    if kept is not None:
        numbers = {"from": done[-1], "to": pending[-1].number, "copy": kept.name}
        append(db, at, NewEntry(None, "database upgraded", "", numbers))


def _apply(db: Transaction, migration: Migration, at: str) -> None:
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
    )
    # Before the migration runs, because it may read this time.
    db.table("migrations").insert({"number": migration.number, "name": migration.name, "applied_at": at})
    migration.run(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _refuse_broken(db: Transaction, pending: Sequence[Migration]) -> None:
    broken = db.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        names = " and ".join(str(migration.number) for migration in pending)
        raise StoreError(
            tr(
                "migration {names} would leave {broken} without its {broken2}",
                names=names,
                broken=broken[0],
                broken2=broken[2],
            )
        )


def _copied(path: Path, number: int) -> Path:
    """Copy the file and return the path of the copy; an identical copy of an earlier failed upgrade is used again.

    :raises CannotWrite: not enough space
    """
    earlier = []
    for copies in count(1):
        target = path.with_name(f"{path.name}.schema-{number}" + (f"-{copies}" if copies > 1 else ""))
        if not target.exists():
            break
        earlier.append(target)
    try:
        copy(path, target)
    except CannotWrite as error:
        raise CannotWrite(tr("{error} The database was not upgraded and is unchanged.", error=error)) from error
    for before in earlier:
        if filecmp.cmp(before, target, shallow=False):
            target.unlink()
            return before
    return target


def refuse_foreign_file(db: Transaction, path: Path) -> None:
    """Check the file's application id. :raises NotAnnotations: the file belongs to another program"""
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != APPLICATION_ID and tables:
        raise NotAnnotations(
            tr("{path}: found another program's database, expected an annotations database", path=path)
        )
