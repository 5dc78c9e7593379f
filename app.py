"""The door: ``python app.py`` starts the web app; the same file is the ``spec-o3`` program.

Each room adds its commands; ``spec-o3 COMMAND --help`` says what each does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from agent.cli import COMMANDS as AGENT_COMMANDS
from agent.cli.command import CANNOT_RUN, CannotRun, Command
from agent.text import one_line
from reviewer.cli import COMMANDS as REVIEWER_COMMANDS
from training.cli import COMMANDS as TRAINING_COMMANDS

COMMANDS: tuple[Command, ...] = (*REVIEWER_COMMANDS, *AGENT_COMMANDS, *TRAINING_COMMANDS)
WITHOUT_A_COMMAND = "app"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    program = argparse.ArgumentParser(
        prog="spec-o3",
        description="Review, revise and vote on the reasoning of a spectral-vetting agent.",
        epilog="Exit status: 0 done, 1 it ran and the answer is bad news, 2 it could not run. "
        "Without a command the web app starts.",
    )
    commands = program.add_subparsers(metavar="COMMAND", title="commands")
    for command in COMMANDS:
        one = commands.add_parser(command.name, help=command.help, description=command.help)
        command.add(one)
        one.set_defaults(run=command.run)
    return program


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given = [WITHOUT_A_COMMAND, *given]
    arguments = parser().parse_args(given)
    try:
        status: int = arguments.run(arguments)
    except CannotRun as problem:
        print(f"spec-o3: {one_line(str(problem))}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("\nspec-o3: stopped", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    raise SystemExit(main())
