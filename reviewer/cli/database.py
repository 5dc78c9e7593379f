"""The arguments and the opening of annotations.db that the commands share."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import CannotRun

if TYPE_CHECKING:
    from reviewer.store import Store

DATABASE = Path(__file__).parents[2] / "annotations.db"


def add_database(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--db", type=Path, metavar="FILE", help="the reviewers' database (annotations.db beside app.py)"
    )


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


@contextmanager
def opened(path: Path | None, must_exist: bool = False) -> Iterator[Store]:
    """The store at ``path``, or at its usual place. :raises CannotRun: it cannot be opened, or refuses"""
    from reviewer.store import Store, StoreError

    where = path or DATABASE
    if must_exist and not where.is_file():
        raise CannotRun(f"{where}: found no database; name one with --db, or draft or import something first")
    try:
        with Store.open(where) as store:
            yield store
    except StoreError as error:
        raise CannotRun(str(error)) from error
