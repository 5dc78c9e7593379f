"""Entry point: ``python app.py`` starts the web app; the same file is the ``spec-o3`` program.

``agent``, ``reviewer`` and ``training`` each add their commands; ``spec-o3 COMMAND --help`` describes them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from agent.cli import COMMANDS as AGENT_COMMANDS
from agent.cli.argparse_words import translate_argparse
from agent.cli.command import CANNOT_RUN, Command
from agent.errors import Refusal
from agent.language import of_environment, set_of_process, tr
from reviewer.cli import COMMANDS as REVIEWER_COMMANDS
from training.cli import COMMANDS as TRAINING_COMMANDS

COMMANDS: tuple[Command, ...] = (*REVIEWER_COMMANDS, *AGENT_COMMANDS, *TRAINING_COMMANDS)
DEFAULT_COMMAND = "app"


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line.

    :param only: the command whose arguments are declared; the modules of the others are not imported. None: all
    """
    program = argparse.ArgumentParser(
        prog="spec-o3",
        description=tr("Review, revise and vote on the reasoning of a spectral-vetting agent."),
        epilog=tr(
            "Exit status: 0 done; 1 completed, the check failed; 2 could not run. Without a command the web app starts."
        ),
    )
    subparsers = program.add_subparsers(metavar=tr("COMMAND"), title=tr("commands"))
    for command in COMMANDS:
        about = tr(command.help)
        subparser = subparsers.add_parser(command.name, help=about, description=about)
        if only in (None, command.name):
            command.add(subparser)
        subparser.set_defaults(run=command.run)
    return program


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    set_of_process(of_environment())
    translate_argparse()
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given = [DEFAULT_COMMAND, *given]
    arguments = parser(given[0]).parse_args(given)
    try:
        status: int = arguments.run(arguments)
    except Refusal as problem:
        print(f"spec-o3: {problem}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("\n" + tr("spec-o3: stopped"), file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    raise SystemExit(main())
