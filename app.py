"""Entry point: ``python app.py`` starts the web app; the same file is the ``spec-o3`` program.

``agent``, ``reviewer`` and ``training`` each list their commands; ``spec-o3 COMMAND --help`` describes them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agent.cli import COMMANDS as AGENT_COMMANDS
from agent.cli.argparse_words import translate_argparse
from agent.cli.command import CANNOT_RUN, DONE, Command, be_quiet, note
from agent.cli.old_spellings import noted, respelled
from agent.cli.options import argument, command_parser, declare, options_of
from agent.errors import Refusal
from agent.language import of_environment, set_of_process, tr
from reviewer.cli import COMMANDS as REVIEWER_COMMANDS
from training.cli import COMMANDS as TRAINING_COMMANDS

COMMANDS: tuple[Command, ...] = (
    *REVIEWER_COMMANDS,
    *AGENT_COMMANDS,
    *TRAINING_COMMANDS,
    Command("completion", "Print the completion of this program for a shell.", "app"),
)
DEFAULT_COMMAND = "app"
PROGRAM = "spec-o3"


def parser(with_options: bool = True) -> argparse.ArgumentParser:
    """Return the parser of the whole program, for its help, its completion and tests.

    :param with_options: declare those of the commands, too, which imports their modules
    """
    program = argparse.ArgumentParser(
        prog=PROGRAM,
        description=tr("Review, revise and vote on the reasoning of a spectral-vetting agent."),
        epilog=tr(
            "Exit status: 0 done; 1 completed, the check failed; 2 could not run. Without a command the web app starts."
        ),
    )
    program.add_argument("--version", action="store_true", help=tr("print the version and exit"))
    subparsers = program.add_subparsers(metavar=tr("COMMAND"), title=tr("commands"))
    for command in COMMANDS:
        about = tr(command.help)
        subparser = subparsers.add_parser(command.name, help=about, description=about)
        if with_options:
            declare(subparser, command, f"{PROGRAM} {command.name}")
    return program


@dataclass(kw_only=True)
class CompletionOptions:
    """The options of ``spec-o3 completion``."""

    shell: Literal["bash", "zsh", "fish", "tcsh"] = argument(
        'the shell. bash: eval "$(spec-o3 completion bash)" in ~/.bashrc; zsh: the same in ~/.zshrc; fish: spec-o3 '
        "completion fish > ~/.config/fish/completions/spec-o3.fish"
    )


def run_completion(arguments: CompletionOptions) -> int:
    """Print the completion script."""
    from agent.cli.completion import script

    print(script(parser(), arguments.shell))
    return DONE


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    set_of_process(of_environment())
    translate_argparse()
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["--version"]:
        print(f"{PROGRAM} {_version()}")
        return DONE
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given = [DEFAULT_COMMAND, *given]
    named = {command.name: command for command in COMMANDS}
    if given[0] not in named:
        parser(with_options=False).parse_args(given)  # prints the help, or what is wrong, and ends
    command, words = named[given[0]], given[:1]
    while subcommand := _subcommand(command, given[len(words) :]):
        command, words = subcommand, [*words, subcommand.name]
    return _run(command, words, given[len(words) :])


def _subcommand(command: Command, rest: Sequence[str]) -> Command | None:
    return next((subcommand for subcommand in command.subcommands if rest[:1] == [subcommand.name]), None)


def _run(command: Command, words: Sequence[str], rest: Sequence[str]) -> int:
    name, prog = " ".join(words), " ".join((PROGRAM, *words))
    reader = command_parser(command, prog)
    rest, notes = respelled(name, rest)
    known = reader.parse_args(rest)
    subcommand: Command = known.command
    if subcommand is not command:
        word = subcommand.name
        note(noted(tr("{name}: its options now follow the word {word}", name=name, word=word)))
        rest.remove(word)
        return _run(subcommand, [*words, word], rest)
    if not command.module:
        names = ", ".join(subcommand.name for subcommand in command.subcommands)
        reader.error(tr("found no command, expected one of {names}", names=names))
    be_quiet(known.quiet)
    if known.verbose:
        import logging

        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    for text in notes:
        note(text)
    try:
        status: int = command.run(options_of(reader, command.options() or object, known, prog))
        return status
    except Refusal as problem:
        if known.verbose:
            import traceback

            traceback.print_exc()
        print(f"{PROGRAM}: {problem}", file=sys.stderr)
        return CANNOT_RUN
    except KeyboardInterrupt:
        print("\n" + tr("spec-o3: stopped"), file=sys.stderr)
        return 130


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(PROGRAM)
    except PackageNotFoundError:
        return tr("unknown: it is not installed")


if __name__ == "__main__":
    raise SystemExit(main())
