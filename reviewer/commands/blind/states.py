"""``spec-o3 blind open`` and ``close``."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from uuid import uuid4

from agent.command import DONE, CannotRun, say
from reviewer.commands.blind.common import add_session, headline, left, session_json
from reviewer.commands.database import opened


def add_open(parser: ArgumentParser) -> None:
    add_session(parser)


def run_open(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.open_blind(arguments.by, arguments.session, uuid4().hex)
    say(arguments, session_json(session), headline(session))
    return DONE


def add_close(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--unfinished", action="store_true", help="close it though not everything has been answered"
    )


def run_close(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.blind_session(arguments.by, arguments.session)
        unanswered = left(store.blind_progress(arguments.by, session.id))
        if session.state == "open" and unanswered and not arguments.unfinished:
            raise CannotRun(
                f"session {session.id}: found {unanswered} answers missing, and closing is for ever; "
                "--unfinished closes it all the same"
            )
        session = store.close_blind(arguments.by, session.id, uuid4().hex)
    say(arguments, session_json(session) | {"unanswered": unanswered}, headline(session))
    return DONE
