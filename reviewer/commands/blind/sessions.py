"""``spec-o3 blind list`` and ``status``: nothing of what was scored."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from agent.command import DONE, say
from reviewer.commands.blind.common import add_session, headline, session_json
from reviewer.commands.database import add_database, add_json, opened


def add_all(parser: ArgumentParser) -> None:
    add_database(parser)
    add_json(parser)


def run_all(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        sessions = store.blind_sessions(None)
    told = "\n".join(headline(one) for one in sessions) or "there are no blind sessions"
    say(arguments, {"sessions": [session_json(one) for one in sessions]}, told)
    return DONE


def add_one(parser: ArgumentParser) -> None:
    add_session(parser)


def run_one(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.blind_session(arguments.by, arguments.session)
        progress = store.blind_progress(arguments.by, session.id)
    lines = [headline(session), *(f"  {one.scorer}: {one.done} of {one.asked}" for one in progress)]
    result = session_json(session) | {"progress": [asdict(one) for one in progress]}
    say(arguments, result, "\n".join((*lines, *session.notes)))
    return DONE
