"""``spec-o3 blind report``: a closed session as a page, as tables, and as what it takes to run it again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.command import DONE, CannotRun, say
from reviewer.commands.blind.common import add_session
from reviewer.commands.database import opened


def add(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="a new or an empty folder for its files"
    )


def run(arguments: Namespace) -> int:
    from reviewer.blind.report import ReportError, write

    try:
        with opened(arguments.db, must_exist=True) as store:
            written = write(store, arguments.by, arguments.session, arguments.output)
    except ReportError as error:
        raise CannotRun(str(error)) from error
    names = [path.name for path in written]
    result = {"session": arguments.session, "folder": str(written[0].parent), "files": names}
    say(arguments, result, f"session {arguments.session} reported in {written[0].parent}: {', '.join(names)}")
    return DONE
