"""``spec-o3 backup``: a copy of the database while people work, or everything as plain files."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from pathlib import Path

from agent.command import DONE, Bar, CannotRun, say
from reviewer.commands.database import DATABASE, add_database, add_json, opened


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "target",
        nargs="?",
        type=Path,
        metavar="TARGET",
        help="a name ending in .db, or a folder to name it in by the time (backups beside the database); "
        "with --plain the folder to make",
    )
    parser.add_argument(
        "--plain", action="store_true", help="everything as JSON lines and pictures, readable without spec-o3"
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    return _plain(arguments) if arguments.plain else _copy(arguments)


def _copy(arguments: Namespace) -> int:
    from reviewer.keeping.backups import back_up
    from reviewer.keeping.errors import KeepingError
    from reviewer.keeping.names import folder_beside

    with opened(arguments.db, must_exist=True) as store, Bar(None, "copying pages") as bar:

        def tell(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        try:
            made = back_up(store.path, arguments.target or folder_beside(store.path), "by hand", tell)
        except KeepingError as error:
            raise CannotRun(str(error)) from error
        store.note(None, "backup made", made.path.name, bytes=made.bytes, sha256=made.sha256)
    say(
        arguments,
        {**made.to_json(), "path": str(made.path)},
        f"{made.path}: {made.bytes / 1e6:,.1f} MB, checked. Its log ends at {made.head}",
    )
    return DONE


def _plain(arguments: Namespace) -> int:
    from reviewer.keeping.archive_out import archive
    from reviewer.keeping.errors import KeepingError
    from reviewer.keeping.names import folder_beside, name_at

    database = arguments.db or DATABASE
    target = arguments.target
    with opened(arguments.db, must_exist=True) as store, Bar(None, "writing rows") as bar:
        if target is None:
            folder = folder_beside(database)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = folder / name_at(database, datetime.now(UTC))

        def tell(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        try:
            made = archive(store, target, tell)
        except KeepingError as error:
            raise CannotRun(str(error)) from error
        store.note(None, "archive made", target.name, schema=made.schema)
    rows = sum(table.rows for table in made.tables.values())
    say(
        arguments,
        {**made.to_json(), "path": str(target)},
        f"{target}: {rows:,} rows of {len(made.tables)} tables. Its log ends at {made.head}",
    )
    return DONE
