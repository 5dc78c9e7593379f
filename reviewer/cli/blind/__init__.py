"""``spec-o3 blind``: blind scoring sessions, one module a subcommand."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from agent.cli.command import CannotRun, Command
from reviewer.cli.blind import judge, sessions
from reviewer.cli.blind import sessions as draw
from reviewer.cli.blind import sessions as giveaways
from reviewer.cli.blind import sessions as report
from reviewer.cli.blind import sessions as states

SUBCOMMANDS: tuple[Command, ...] = (
    Command("draw", "Draw a session: which traces, who scores them, in which order.", draw.add_draw, draw.run_draw),
    Command("giveaways", "Show where a session's texts tell who wrote them.", giveaways.add_leaks, giveaways.run_leaks),
    Command("open", "Let the scorers of a drawn session score.", states.add_open, states.run_open),
    Command("status", "Show a session, and how far its scorers are.", sessions.add_one, sessions.run_one),
    Command("close", "End a session: nothing more can be scored.", states.add_close, states.run_close),
    Command("judge", "Let a model judge what the scorers of a session judge.", judge.add, judge.run),
    Command("report", "Write a closed session as page and tables.", report.add_report, report.run_report),
    Command("list", "List all sessions.", sessions.add_all, sessions.run_all),
)


def add(parser: ArgumentParser) -> None:
    does = parser.add_subparsers(metavar="WHAT", title="what to do", required=True, help="see below")
    for command in SUBCOMMANDS:
        one = does.add_parser(command.name, help=command.help, description=command.help)
        command.add(one)
        one.set_defaults(run=command.run)


def run(arguments: Namespace) -> int:
    """Never called: argparse asks for one of the subcommands."""
    raise CannotRun(f"blind: wanted one of {', '.join(command.name for command in SUBCOMMANDS)}")
