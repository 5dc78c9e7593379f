"""``spec-o3 tasks``: list the tasks with their prompts, and import the prompts that SpecVI-Bench's rows carry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result, progress
from agent.cli.options import JsonOutput, argument
from agent.language import tr, trn
from reviewer.cli.common import Database, database_of

if TYPE_CHECKING:
    from agent.tasks.trained import Imported, TrainedPrompt

SHOWN = 60
"""Characters of a prompt that are printed to tell variants apart, around the place where they differ."""


@dataclass(kw_only=True)
class Options(Database, JsonOutput):
    pass


@dataclass(kw_only=True)
class ImportOptions(Options):
    paths: list[Path] = argument("Parquet files, or the folder with them", metavar="PATH")


def run(arguments: Options) -> int:
    from agent.tasks import TaskError
    from agent.tasks.trained import HOW, load
    from reviewer.rules.campaign import known_tasks

    known, problems = known_tasks(database_of(arguments))
    where = _where(arguments)
    try:
        prompts = load(where)
    except TaskError as error:
        problems, prompts = (*problems, error), {}
    listed = [
        {"key": task.key, "title": task.title, "prompts": ["trained", "ours"] if task.key in prompts else ["ours"]}
        for task in known.values()
    ]
    width = max(len(shown["title"]) for shown in listed)
    lines = [f"{tr('task'):6}  {tr('class'):{width}}  {tr('prompts')}"]
    for row in listed:
        imported = prompts.get(str(row["key"]))
        words = tr("as trained ({source}), ours", source=_source(imported)) if imported else tr("ours")
        lines.append(f"{row['key']:6}  {row['title']:{width}}  {words}")
    if not prompts:
        lines.append(tr("No prompt of the published checkpoints has been imported; {how}.", how=HOW))
    lines += [tr("left out: {problem}", problem=problem) for problem in problems]
    result = {"tasks": listed, "prompts_file": str(where), "problems": [str(problem) for problem in problems]}
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if problems else DONE


def run_import(arguments: ImportOptions) -> int:
    from agent.database_place import make_folder
    from agent.tasks import TaskError
    from agent.tasks.trained import files_in, import_prompts, load, save
    from reviewer.rules.campaign import known_tasks

    known, _ = known_tasks(database_of(arguments))
    where = _where(arguments)
    files = [file for path in arguments.paths for file in files_in(path)]
    imported = import_prompts(progress(files, len(files), tr("reading")), known)
    if not imported.prompts:
        names = ", ".join(imported.unknown)
        raise CannotRun(
            tr(
                "{paths}: found rows of {names:.200}, expected of {names2}",
                paths=arguments.paths[0],
                names=names,
                names2=", ".join(known),
            )
        )
    try:
        before = load(where)
    except TaskError:
        before = {}  # a damaged file is replaced
    make_folder(database_of(arguments))
    save(where, before | dict(imported.prompts))
    print_result(arguments, _result(imported, where), _text(imported, where))
    return DONE


def _where(arguments: Options) -> Path:
    from agent.tasks.trained import prompts_file

    return prompts_file((database_of(arguments)).resolve().parent)


def _result(imported: Imported, where: Path) -> dict[str, Any]:
    prompts = {key: prompt.model_dump(mode="json") for key, prompt in imported.prompts.items()}
    return {
        "prompts_file": str(where),
        "tasks": prompts,
        "unknown": dict(imported.unknown),
        "systems": _systems(imported),
    }


def _systems(imported: Imported) -> dict[str, int]:
    """Return the rows whose system text is not the one that this program sends, by that text."""
    from agent.conversation import SYSTEM

    return {text: rows for text, rows in imported.systems.items() if text != SYSTEM}


def _text(imported: Imported, where: Path) -> str:
    lines = []
    for key, prompt in sorted(imported.prompts.items()):
        lines.append(tr("{key}: {n:,} characters, in {source}", key=key, n=len(prompt.prompt), source=_source(prompt)))
        if prompt.others:
            every = prompt.rows + sum(other.rows for other in prompt.others)
            lines.append(
                "  "
                + tr(
                    "{variants} variants in {every:,} rows; the most frequent one, of {rows:,} rows, was taken. "
                    "The others:",
                    variants=1 + len(prompt.others),
                    every=every,
                    rows=prompt.rows,
                )
            )
            lines += [
                "  "
                + trn(
                    "{n:,} row: …{difference}…",
                    "{n:,} rows: …{difference}…",
                    other.rows,
                    difference=_difference(other.prompt, prompt.prompt),
                )
                for other in prompt.others
            ]
    lines += [
        trn(
            "left out: {n:,} row of {name!r:.60}, no task here",
            "left out: {n:,} rows of {name!r:.60}, no task here",
            rows,
            name=name,
        )
        for name, rows in sorted(imported.unknown.items())
    ]
    lines += [
        trn(
            "{n:,} row has another system text than the one this program sends: {text!r:.80}",
            "{n:,} rows have another system text than the one this program sends: {text!r:.80}",
            rows,
            text=text,
        )
        for text, rows in sorted(_systems(imported).items())
    ]
    return "\n".join([*lines, tr("written to {where}", where=where)])


def _source(trained_prompt: TrainedPrompt) -> str:
    names = ", ".join(source.file for source in trained_prompt.files)
    return trn("{n:,} row of {names}", "{n:,} rows of {names}", trained_prompt.rows, names=names)


def _difference(text: str, other: str) -> str:
    """Return the part of ``text`` from a little before the first character that differs from ``other``."""
    same = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    start = max(0, same - SHOWN // 3)
    return " ".join(text[start : start + SHOWN].split())
