"""Bringing a file to the present schema: each migration and its record in one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from reviewer.store.connection import stamp, utc_now
from reviewer.store.errors import NewerSchema, NotAnnotations, StoreError
from reviewer.store.schema import APPLICATION_ID, Migration


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> list[int]:
    """Run what is pending, oldest first; the numbers that were run.

    A migration that fails leaves the file as the one before it left it. Two processes may start at once:
    the second waits, then finds nothing to do.

    :raises NotAnnotations: the file is another program's
    :raises NewerSchema: the file knows migrations that this release does not
    """
    _refuse_strangers(connection, path)
    run = []
    # Rebuilding a table, as a later migration may have to, needs the foreign keys off; the setting cannot be
    # changed inside a transaction, so they are checked by hand before the commit.
    connection.execute("PRAGMA foreign_keys = OFF")
    try:
        for migration in migrations:
            if _run(connection, path, migration, migrations):
                run.append(migration.number)
    finally:
        connection.execute("PRAGMA foreign_keys = ON")
    return run


def applied(connection: sqlite3.Connection) -> list[int]:
    """The numbers of the migrations this file has had; none for an empty file."""
    known = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchone()
    if known is None:
        return []
    return [row[0] for row in connection.execute("SELECT number FROM migrations ORDER BY number")]


def _run(
    connection: sqlite3.Connection, path: Path, migration: Migration, migrations: Sequence[Migration]
) -> bool:
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = applied(connection)
        if done and done[-1] > migrations[-1].number:
            raise NewerSchema(
                f"{path}: its schema is number {done[-1]}, this release knows {migrations[-1].number}. "
                "Update spec-o3, or open a backup made by this release."
            )
        pending = migration.number not in done
        if pending:
            _apply(connection, path, migration)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return pending


def _apply(connection: sqlite3.Connection, path: Path, migration: Migration) -> None:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
    )
    migration.run(connection)
    broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise StoreError(
            f"{path}: migration {migration.number} would leave {broken[0]} without its {broken[2]}"
        )
    connection.execute(
        "INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, stamp(utc_now()))
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _refuse_strangers(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application != APPLICATION_ID and tables:
        raise NotAnnotations(f"{path}: found another program's database, wanted an annotations database")
