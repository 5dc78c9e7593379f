"""``spec-o3 blind giveaways``: where a session's texts tell who wrote them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from agent.command import BAD_NEWS, DONE, say
from reviewer.commands.blind.common import add_session
from reviewer.commands.database import opened

SHOWN = 40  # finds printed for a person; --json has them all


def add(parser: ArgumentParser) -> None:
    add_session(parser)


def run(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        found = store.blind_giveaways(arguments.by, arguments.session)
    lines = [
        f"item {one.item}, step {one.step}, by {one.source}: “{one.giveaway.words}” ({one.giveaway.kind})"
        for one in found[:SHOWN]
    ]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more")
    told = "\n".join(lines) or "nothing was found; a scorer may still notice what no list of words knows"
    result = {"session": arguments.session, "giveaways": [asdict(one) for one in found]}
    say(arguments, result, told)
    return BAD_NEWS if found else DONE
