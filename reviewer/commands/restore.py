"""``spec-o3 restore``: a backup or a plain archive in the place of the database, once it is checked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.command import DONE, Bar, CannotRun, say
from reviewer.commands.database import DATABASE, add_database, add_json


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "source", type=Path, metavar="SOURCE", help="a backup, or the folder of a plain archive"
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    from reviewer.keeping.errors import KeepingError
    from reviewer.keeping.restoring import restore
    from reviewer.store import StoreError

    with Bar(None, "reading") as bar:

        def tell(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        try:
            done = restore(arguments.source, arguments.db or DATABASE, tell)
        except (KeepingError, StoreError) as error:
            raise CannotRun(str(error)) from error
    result = {
        "database": str(done.database),
        "kept_as": None if done.kept_as is None else str(done.kept_as),
        "items": done.items,
        "log_head": None if done.head is None else str(done.head),
        "replaced_log_head": None if done.replaced is None else str(done.replaced),
    }
    text = f"{done.database}: {done.items:,} items, checked. Everybody signs in again."
    if done.kept_as is not None:
        text += f"\nWhat was there before is {done.kept_as}"
    say(arguments, result, text)
    return DONE
