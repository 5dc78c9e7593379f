"""``spec-o3 annotations``: tasks for Label Studio, and the annotations that people made there."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from pathlib import Path

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, Command, print_result
from agent.language import tr, trn
from reviewer.cli.common import add_database, add_json, database_of, opened

SHOWN = 20  # problems printed for a person; --json has them all


def add_import(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help=tr("exports of Label Studio (JSON, JSON-MIN, CSV, TSV)"),
    )
    parser.add_argument(
        "--person",
        type=_author,
        action="append",
        default=[],
        metavar="AUTHOR=INITIALS",
        help=tr("the author is this person, e.g. ann@example.org=AB; may be repeated"),
    )
    parser.add_argument(
        "--item-field",
        metavar="NAME",
        help=tr("field of a task that has the number, key or spectrum of its item (spec_o3_item, item, key or name)"),
    )
    parser.add_argument(
        "--question",
        action="append",
        default=[],
        metavar="NAME",
        help=tr("only the answers to this question; may be repeated"),
    )
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help=tr("import the rest if some annotations cannot be used; by default none is imported then"),
    )
    parser.add_argument("--dry-run", action="store_true", help=tr("check everything, and change nothing"))
    parser.add_argument("--by", type=str.upper, metavar="INITIALS", help=tr("who imports them (the owner of the file)"))
    add_database(parser)
    add_json(parser)


def _author(text: str) -> tuple[str, str]:
    from reviewer.exchange.annotations.importing import author_of
    from reviewer.exchange.annotations.values import AnnotationsError

    try:
        return author_of(text)
    except AnnotationsError as error:
        raise ArgumentTypeError(str(error)) from error


def run_import(arguments: Namespace) -> int:
    from reviewer.exchange.annotations.importing import Choices, import_annotations, in_words
    from reviewer.exchange.annotations.values import AnnotationsError

    choices = Choices(
        people=dict(arguments.person),
        item_field=arguments.item_field,
        questions=tuple(arguments.question),
        skip_bad=arguments.skip_bad,
        dry_run=arguments.dry_run,
    )
    with opened(database_of(arguments), must_exist=True) as store:
        try:
            found = import_annotations(store, arguments.files, choices, arguments.by)
        except AnnotationsError as error:
            raise CannotRun(str(error)) from error
    lines = in_words(found, arguments.dry_run)
    if found.refused:
        lines.append(tr("Correct the file, or leave such annotations out with --skip-bad."))
    lines += [str(problem) for problem in found.problems[:SHOWN]]
    if len(found.problems) > SHOWN:
        lines.append(tr("and {n} more", n=len(found.problems) - SHOWN))
    result = {
        "added": found.added,
        "known": found.known,
        "items": found.items,
        "left_out": dict(found.left_out),
        "problems": [asdict(problem) for problem in found.problems],
        "dry_run": arguments.dry_run,
    }
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if found.problems else DONE


def add_tasks(parser: ArgumentParser) -> None:
    from reviewer.exchange.annotations.tasks import FORMS
    from reviewer.rules.campaign import STATES

    parser.add_argument("file", type=Path, help=tr("the JSON file to write; an existing one is not replaced"))
    parser.add_argument("--for", dest="form", choices=FORMS, default=FORMS[0], help=tr("the program (label-studio)"))
    parser.add_argument("--task", help=tr("only items of this task"))
    parser.add_argument("--batch", help=tr("only items of this batch"))
    parser.add_argument(
        "--state", choices=STATES, action="append", default=[], help=tr("only items in this state; may be repeated")
    )
    parser.add_argument("--address", default="", metavar="URL", help=tr("the app's address, for a link to each item"))
    add_database(parser)
    add_json(parser)


def run_tasks(arguments: Namespace) -> int:
    from agent.tasks import load_all
    from reviewer.exchange.annotations.tasks import write_tasks
    from reviewer.store import QueueFilter
    from reviewer.web.verdict_first import RULE

    chosen = QueueFilter(task=arguments.task, batch=arguments.batch, states=tuple(arguments.state))
    with opened(database_of(arguments), must_exist=True) as store:
        try:
            made = write_tasks(
                store,
                arguments.file,
                chosen,
                tasks=load_all()[0],
                verdict_first=store.settings.get(RULE, ()),
                address=arguments.address,
            )
        except FileExistsError as error:
            raise CannotRun(tr("{file}: the file exists; give another name", file=arguments.file)) from error
        except OSError as error:
            raise CannotRun(f"{arguments.file}: {error.strerror}") from error
    lines = [trn("{n} item in {file}", "{n} items in {file}", made.written, file=arguments.file)]
    if made.blind:
        lines.append(trn("left out: {n} in a blind session", "left out: {n} in blind sessions", made.blind))
    if made.verdict_first:
        lines.append(
            trn(
                "left out: {n} of a batch in which everyone gives a verdict first",
                "left out: {n} of batches in which everyone gives a verdict first",
                made.verdict_first,
            )
        )
    print_result(arguments, {"file": str(arguments.file), **asdict(made)}, "\n".join(lines))
    return DONE


SUBCOMMANDS: tuple[Command, ...] = (
    Command("import", "Import annotations of Label Studio as comments.", add_import, run_import),
    Command("tasks", "Write items as tasks for Label Studio.", add_tasks, run_tasks),
)


def add(parser: ArgumentParser) -> None:
    does = parser.add_subparsers(metavar="WHAT", title=tr("what to do"), required=True, help=tr("see below"))
    for command in SUBCOMMANDS:
        one = does.add_parser(command.name, help=tr(command.help), description=tr(command.help))
        command.add(one)
        one.set_defaults(run=command.run)


def run(arguments: Namespace) -> int:
    """Refuse: argparse requires one of the subcommands."""
    names = ", ".join(command.name for command in SUBCOMMANDS)
    raise CannotRun(tr("annotations: found no command, expected one of {names}", names=names))
