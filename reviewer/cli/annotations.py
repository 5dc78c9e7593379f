"""``spec-o3 annotations``: tasks for Label Studio, and the annotations that people made there."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result
from agent.cli.options import CHANGES_NOTHING, ONLY_TASK, JsonOutput, argument, option, output_file
from agent.language import tr, trn
from reviewer.cli.common import BATCH, SKIP_BAD, Database, Person, database_of, opened

SHOWN = 20  # problems printed for a person; --json has them all


def _author(text: str) -> tuple[str, str]:
    from reviewer.exchange.annotations.importing import author_of
    from reviewer.exchange.annotations.values import AnnotationsError

    try:
        return author_of(text)
    except AnnotationsError as error:
        raise ArgumentTypeError(str(error)) from error


def _states() -> tuple[str, ...]:
    from reviewer.rules.campaign import STATES

    return STATES


@dataclass(kw_only=True)
class ImportOptions(Person, Database, JsonOutput):
    files: list[Path] = argument("exports of Label Studio (JSON, JSON-MIN, CSV, TSV)", metavar="FILE")
    author: list[tuple[str, str]] = option(
        "the author is this person, e.g. ann@example.org=AB; may be repeated",
        metavar="AUTHOR=INITIALS",
        read=_author,
        repeat=True,
    )
    item_field: str | None = option(
        "field of a task that has the number, key or spectrum of its item (default: spec_o3_item, item, key or name)",
        metavar="NAME",
    )
    question: list[str] = option("only the answers to this question; may be repeated", metavar="NAME", repeat=True)
    skip_bad: bool = option(SKIP_BAD)
    dry_run: bool = option(CHANGES_NOTHING)


@dataclass(kw_only=True)
class TasksOptions(Database, JsonOutput):
    out: Path = option("JSON file to write; an existing one is not replaced", read=output_file)
    task: str | None = option(ONLY_TASK, metavar="KEY")
    batch: str | None = option(BATCH, metavar="NAME")
    states: list[Any] = option(
        "only items in this state; may be repeated", metavar="STATE", choices=_states, repeat=True
    )
    app_url: str = option("the app's address, for a link to each item", default="", metavar="URL")
    program: Literal["label-studio"] = option("the program", flag="--for", default="label-studio", hidden=True)


def run_import(arguments: ImportOptions) -> int:
    from reviewer.exchange.annotations.importing import Choices, import_annotations, in_words

    choices = Choices(
        people=dict(arguments.author),
        item_field=arguments.item_field,
        questions=tuple(arguments.question),
        skip_bad=arguments.skip_bad,
        dry_run=arguments.dry_run,
    )
    with opened(database_of(arguments), must_exist=True) as store:
        imported = import_annotations(store, arguments.files, choices, arguments.by)
    lines = in_words(imported, arguments.dry_run)
    if imported.refused:
        lines.append(tr("Correct the file, or leave such annotations out with --skip-bad."))
    lines += [str(problem) for problem in imported.problems[:SHOWN]]
    if len(imported.problems) > SHOWN:
        lines.append(tr("and {n} more", n=len(imported.problems) - SHOWN))
    result = {
        "added": imported.added,
        "known": imported.known,
        "items": imported.items,
        "left_out": dict(imported.left_out),
        "problems": [asdict(problem) for problem in imported.problems],
        "dry_run": arguments.dry_run,
    }
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if imported.problems else DONE


def run_tasks(arguments: TasksOptions) -> int:
    from agent.tasks import load_all
    from reviewer.exchange.annotations.tasks import write_tasks
    from reviewer.store import QueueFilter
    from reviewer.web.verdict_first import RULE

    chosen = QueueFilter(task=arguments.task, batch=arguments.batch, states=tuple(arguments.states))
    with opened(database_of(arguments), must_exist=True) as store:
        try:
            written = write_tasks(
                store,
                arguments.out,
                chosen,
                tasks=load_all()[0],
                verdict_first=store.settings.get(RULE, ()),
                address=arguments.app_url,
            )
        except FileExistsError as error:
            raise CannotRun(tr("{file}: the file exists; give another name", file=arguments.out)) from error
        except OSError as error:
            raise CannotRun(f"{arguments.out}: {error.strerror}") from error
    lines = [trn("{n} item in {file}", "{n} items in {file}", written.written, file=arguments.out)]
    if written.blind:
        lines.append(trn("left out: {n} in a blind session", "left out: {n} in blind sessions", written.blind))
    if written.verdict_first:
        lines.append(
            trn(
                "left out: {n} of a batch in which everyone gives a verdict first",
                "left out: {n} of batches in which everyone gives a verdict first",
                written.verdict_first,
            )
        )
    print_result(arguments, {"file": str(arguments.out), **asdict(written)}, "\n".join(lines))
    return DONE
