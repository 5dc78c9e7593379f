"""Options of a command, each declared once: the fields of a dataclass, in groups that commands inherit.

``command_parser`` declares them to argparse; ``options_of`` returns the instance that the command's ``run`` gets.
Libraries that do this import 70 ms of code before any command and cannot translate their own words.
"""

from __future__ import annotations

import argparse
import json
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from agent.cli.command import Command, note
from agent.cli.old_spellings import POSITIONALS, noted
from agent.language import deferred, tr
from agent.text import whole_number

METAVARS: dict[Any, str] = {int: "N", float: "X", Path: "FILE"}


@dataclass(frozen=True)
class Declared:
    """What ``option`` and ``argument`` declare about a field; its type and its name say the rest."""

    help: str
    flag: str | None = None
    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    choices: Callable[[], Sequence[str]] | None = None
    repeat: bool = False
    extend: bool = False
    bare: Any = None
    one_of: str = ""
    hidden: bool = False


def option(
    help: str,
    *,
    default: Any = MISSING,
    flag: str | None = "",
    metavar: str | None = None,
    read: Callable[[str], Any] | None = None,
    choices: Callable[[], Sequence[str]] | None = None,
    repeat: bool = False,
    extend: bool = False,
    bare: Any = None,
    one_of: str = "",
    hidden: bool = False,
) -> Any:
    """Declare an option.

    Of type ``bool`` it takes no value, of a ``Literal`` one of these values, of a ``list`` one or more. It is required
    if it has no default and its type neither is ``bool`` nor allows None. A default is shown in the help.

    :param flag: "": its field's name
    :param read: the function that reads its value; None: the type
    :param choices: the function that returns the allowed values, called when the options are declared
    :param repeat: of a list: given once for each value
    :param extend: of a list: given once or several times, each with one or more values
    :param bare: the value without one after it, e.g. ``--show-mask``; of a ``bool`` the value that it sets
    :param one_of: options with the same word here exclude each other
    :param hidden: not in the help
    """
    declared = Declared(help, flag, metavar, read, choices, repeat, extend, bare, one_of, hidden)
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata={"declared": declared})
    return field(default=default, metadata={"declared": declared})


def argument(
    help: str, *, default: Any = MISSING, metavar: str | None = None, read: Callable[[str], Any] | None = None
) -> Any:
    """Declare a positional argument; a type that allows None, or a default, makes it optional."""
    return option(help, default=default, flag=None, metavar=metavar, read=read)


CHANGES_NOTHING = deferred("check everything, show what would be done, and change nothing")
ONLY_TASK = deferred("only of this task")
ONLY_TASKS = deferred("only of these tasks, e.g. cv,wd (default: all)")
LABELS = deferred("the truth of each file: CSV with file and label")
PROCESSES = deferred("compute in N processes (default: one per core)")
SPECTRA = deferred("folder with spectra that the rows only name")
SEED = deferred("seed of what is random here")
HOST = deferred("address to listen on; 127.0.0.1: this machine only")
MAX_TURNS = deferred("largest number of turns per inspection")
TASK = deferred("target class: key or alias of a task, e.g. cv")


@dataclass(kw_only=True)
class JsonOutput:
    """The option of commands whose result a script may want."""

    json: bool = option("print the result as one JSON object")


@dataclass(kw_only=True)
class TaskFiles:
    """The option for tasks of one's own."""

    tasks: Path | None = option(
        "folder with your own task files", metavar="DIR", read=lambda text: existing_folder(text)
    )


@dataclass(kw_only=True)
class Overwrite:
    """The one rule of resuming: the same command continues, ``--overwrite`` begins again."""

    overwrite: bool = option(
        "delete what an earlier run wrote there, and begin again; without it the same command continues"
    )


@dataclass(kw_only=True)
class Everywhere:
    """Options of every command."""

    quiet: bool = option("print errors and the result of --json only: no summary and no progress")
    verbose: bool = option("also print log messages, and where an error arose")


def command_parser(command: Command, prog: str, **settings: Any) -> ArgumentParser:
    """Return the parser of a command, which has those of its subcommands."""
    about = tr(command.help)
    parser = ArgumentParser(prog=prog, description=about, **settings)
    declare(parser, command, prog)
    return parser


def declare(parser: ArgumentParser, command: Command, prog: str) -> None:
    """Declare the options and subcommands of a command."""
    options = command.options()
    if options is not None:
        add_options(parser, options, prog)
        add_options(parser, Everywhere, prog)
    parser.set_defaults(command=command)
    if command.subcommands:
        title = tr("other commands") if options is not None else tr("what to do")
        subparsers = parser.add_subparsers(metavar=tr("COMMAND"), title=title)
        for subcommand in command.subcommands:
            about = tr(subcommand.help)
            subparser = subparsers.add_parser(subcommand.name, help=about, description=about)
            declare(subparser, subcommand, f"{prog} {subcommand.name}")


def add_options(parser: ArgumentParser, options: type, prog: str = "") -> None:
    """Declare the fields of a class: its own first, then those of its groups."""
    hints, known = get_type_hints(options), {each.name: each for each in fields(options)}
    old = POSITIONALS.get(prog.partition(" ")[2])
    for group in options.__mro__:
        names = [name for name in vars(group).get("__annotations__", {}) if name in known]
        title = vars(group).get("TITLE")
        about = vars(group).get("ABOUT")
        target: Any = parser.add_argument_group(tr(title), about and tr(about)) if title and names else parser
        exclusive: dict[str, Any] = {}
        for name in names:
            declared: Declared = known[name].metadata["declared"]
            place = target
            if declared.one_of:
                place = exclusive.setdefault(declared.one_of, None) or target.add_mutually_exclusive_group()
                exclusive[declared.one_of] = place
            words = _words(known[name], hints[name])
            if name == old:
                words.pop("required", None)
                parser.add_argument("positional", nargs="?", type=words["type"], default=None, help=SUPPRESS)
            place.add_argument(*_flags(name, declared), **words)


def _flags(name: str, declared: Declared) -> tuple[str, ...]:
    if declared.flag is None:
        return (name,)
    return (declared.flag or f"--{name.replace('_', '-')}",)


def _words(each: Field[Any], hint: Any) -> dict[str, Any]:
    """Return the arguments of ``add_argument``."""
    declared: Declared = each.metadata["declared"]
    hint, optional = _without_none(hint)
    is_positional = declared.flag is None
    default = each.default_factory() if each.default_factory is not MISSING else each.default
    is_list = declared.repeat or declared.extend
    is_required = default is MISSING and not optional and hint is not bool and not is_list
    if default is MISSING:
        default = [] if is_list and not optional else False if hint is bool and not optional else None
    words: dict[str, Any] = {"default": default, "help": SUPPRESS if declared.hidden else _help(declared, default)}
    if not is_positional:
        words["dest"] = each.name
    if hint is bool:
        value = True if declared.bare is None else declared.bare
        return words | {"action": "store_const", "const": value}
    several = get_origin(hint) is list
    inner = get_args(hint)[0] if several else hint
    choices = get_args(inner) if get_origin(inner) is Literal else None
    if declared.choices is not None:
        choices = tuple(declared.choices())
    if choices:
        words["choices"] = choices
    reader = declared.read or (None if choices or inner is str else inner)
    if reader is not None:
        words["type"] = reader
    if declared.metavar or (not choices and inner in METAVARS):
        words["metavar"] = declared.metavar or METAVARS[inner]
    if several and declared.repeat:
        words["action"] = "append"
    elif several and declared.extend:
        words |= {"action": "extend", "nargs": "+"}
    elif several:
        words["nargs"] = "*" if is_positional and not is_required else "+"
    elif declared.bare is not None:
        words |= {"nargs": "?", "const": declared.bare}
    elif is_positional and not is_required:
        words["nargs"] = "?"
    if is_required and not is_positional:
        words["required"] = True
    return words


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, UnionType):
        inner = [each for each in get_args(hint) if each is not NoneType]
        return inner[0], len(inner) < len(get_args(hint))
    return hint, False


def _help(declared: Declared, default: Any) -> str:
    text = tr(declared.help)
    if default is not None and default is not False and default not in ("", [], ()):
        text = tr("{help} (default {default})", help=text, default=shown_default(default))
    return text.replace("%", "%%")


def shown_default(default: Any) -> str:
    """Return a default as it would be typed."""
    if isinstance(default, tuple):
        return ":".join(map(shown_default, default))
    if isinstance(default, list):
        return " ".join(map(shown_default, default))
    return f"{default:g}" if isinstance(default, float) else str(default)


def options_of(parser: ArgumentParser, options: type, given: Namespace, prog: str) -> Any:
    """Return the options that were given, as an instance of their class."""
    values = {each.name: getattr(given, each.name) for each in fields(options)}
    old = POSITIONALS.get(prog.partition(" ")[2])
    if old is not None and given.positional is not None:
        if values[old] is not None:
            parser.error(tr("unrecognized arguments: %s") % given.positional)
        note(noted(tr("{old} is now {new}", old=given.positional, new=f"--{old} {given.positional}")))
        values[old] = given.positional
    if old is not None and values[old] is None and not _without_none(get_type_hints(options)[old])[1]:
        parser.error(tr("the following arguments are required: %s") % f"--{old}")
    return options(**values)


def at_least_one(text: str) -> int:
    """Read an argument that is a whole number of 1 or more. :raises ArgumentTypeError: it is not"""
    return whole(1)(text)


def json_object(text: str) -> dict[str, Any]:
    """Read an argument that is a JSON object. :raises ArgumentTypeError: it is not"""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(tr("found {text!r:.80}, expected a JSON object", text=text))
    return value


def not_negative(text: str) -> int:
    """Read an argument that is a whole number of 0 or more. :raises ArgumentTypeError: it is not"""
    return whole(0)(text)


def whole(least: int) -> Callable[[str], int]:
    """Return a function that reads a whole number of ``least`` or more."""

    def read(text: str) -> int:
        number = whole_number(text)
        if number is None or number < least:
            raise argparse.ArgumentTypeError(
                tr("found {text!r}, expected a whole number, {least} or more", text=text, least=least)
            )
        return number

    return read


def number_where(is_allowed: Callable[[float], bool], expected: str) -> Callable[[str], float]:
    """Return a function that reads a finite number.

    :param is_allowed: whether a number may be given
    :param expected: what may be given, in words
    """

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not (abs(number) < float("inf") and is_allowed(number)):
            raise argparse.ArgumentTypeError(
                tr("found {text!r}, expected {expected}", text=text, expected=tr(expected))
            )
        return number

    return read


share = number_where(lambda number: 0 < number < 1, deferred("a number above 0 and below 1, e.g. 0.05"))
amount = number_where(lambda number: number >= 0, deferred("an amount, 0 or more"))
positive = number_where(lambda number: number > 0, deferred("a number above 0"))


def port_number(text: str) -> int:
    """Read an argument that is a TCP port. :raises ArgumentTypeError: it is not from 1 to 65535"""
    number = whole_number(text)
    if number is None or not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(
            tr("found {text!r}, expected a port: a whole number from 1 to 65535", text=text)
        )
    return number


def existing_folder(text: str) -> Path:
    """Read an argument that names a folder to read. :raises ArgumentTypeError: there is no such folder"""
    path = Path(text)
    if not path.is_dir():
        kind = tr("a file") if path.exists() else tr("nothing")
        raise argparse.ArgumentTypeError(tr("{path}: found {found}, expected a folder", path=path, found=kind))
    return path


def output_file(text: str) -> Path:
    """Read an argument that names a file to write. :raises ArgumentTypeError: it is a folder, or ends in none"""
    path = Path(text)
    if path.name in ("", "..") or path.is_dir():
        raise argparse.ArgumentTypeError(tr("{path}: found a folder, expected the name of a file", path=path))
    return path


def output_folder(text: str) -> Path:
    """Read an argument that names a folder to write, which gets a name of its own, so that others can be made next to
    it. :raises ArgumentTypeError: it is the root of a disk"""
    path = Path(text)
    if path.name in ("", ".."):
        path = path.resolve()
    if not path.name:
        raise argparse.ArgumentTypeError(tr("{path}: found the root of a disk, expected a folder on it", path=path))
    return path


def upper(text: str) -> str:
    """Read initials."""
    return text.upper()


def keys(text: str) -> list[str]:
    """Read keys with commas between."""
    return [key.strip() for key in text.split(",") if key.strip()]
