"""``spec-o3 catalogue``: the decided objects of a class as a bundle for a paper, and the check of such a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, print_result
from agent.cli.options import TASK, JsonOutput, TaskFiles, argument, existing_folder, option, output_folder
from agent.language import tr, trn
from reviewer.cli.common import Database, Person, database_of, only_person, opened, task_from

if TYPE_CHECKING:
    from reviewer.catalogue.bundle import Built, Difference
    from reviewer.store import Store

SHOWN = 50
"""Differences that are printed; --json has all."""


@dataclass(kw_only=True)
class Options(TaskFiles, Person, Database, JsonOutput):
    task: str | None = option(TASK, metavar="KEY")
    out: Path | None = option("folder to write", metavar="DIR", read=output_folder)
    view: str | None = option("only the items of this saved view: its number or its name", metavar="VIEW")
    with_simulated: bool = option("let simulated spectra be rows, marked")
    title: str = option("title (default: Catalogue of CLASS)", default="", metavar="TEXT")
    creator: list[str] | None = option("an author of the paper, in their order", metavar="NAME", repeat=True)
    licence: str = option(
        "licence of the data set, as Hugging Face names it, e.g. cc-by-4.0 (default: unknown)",
        default="",
        metavar="NAME",
    )
    overwrite: bool = option("replace a catalogue in that folder")


@dataclass(kw_only=True)
class VerifyOptions(TaskFiles, Database, JsonOutput):
    folder: Path = argument("the catalogue", metavar="DIR", read=existing_folder)
    facts: bool = option("also compare its data with the present state of the database (--db)")


def run(arguments: Options) -> int:
    """Make a catalogue. Status 0: written; 2: not."""
    from reviewer.catalogue.bundle import build, folder_of
    from reviewer.catalogue.facts import Wish

    task = task_from(arguments)
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("pictures drawn")) as bar:
        view = None if arguments.view is None else _view(store, arguments.view)
        target = arguments.out or folder_of(store) / task.key
        authors = tuple(arguments.creator or ())
        wish = Wish(task, view, arguments.with_simulated, arguments.title, authors, arguments.licence)
        try:
            person = arguments.by or only_person(store)
            built = build(store, wish, target, person, arguments.overwrite, lambda done, _: bar.at(done))
        except OSError as error:
            raise CannotRun(
                tr("{folder}: {strerror}; no catalogue was made", folder=target, strerror=error.strerror)
            ) from error
    print_result(arguments, {"folder": str(built.folder), **built.numbers}, _summary(built))
    return DONE


def run_verify(arguments: VerifyOptions) -> int:
    """Verify a catalogue. Status 0: nothing differs; 1: something does; 2: it cannot be read."""
    from agent import tasks
    from reviewer.catalogue.bundle import compare, verify
    from reviewer.rules.campaign import known_tasks

    with ProgressBar(None, tr("pictures drawn")) as bar:
        differences = verify(arguments.folder, lambda done, _: bar.at(done))
    if arguments.facts:
        where = database_of(arguments)
        known = known_tasks(where)[0] if arguments.tasks is None else tasks.load_all([arguments.tasks])[0]
        with opened(where, must_exist=True) as store:
            differences += compare(store, arguments.folder, known)
    result = {"folder": str(arguments.folder), "differences": [asdict(difference) for difference in differences]}
    print_result(arguments, result, _report(differences))
    return CHECK_FAILED if differences else DONE


def _view(store: Store, text: str) -> int:
    """Return the number of a view. :raises CannotRun: no view has this name, or several have"""
    if text.isascii() and text.isdigit():
        return int(text)
    views = store.views.named(text)
    if len(views) != 1:
        numbers = ", ".join(str(view.id) for view in views) or tr("none")
        raise CannotRun(
            tr("--view: found the views {numbers} of the name {name!r}, expected one", numbers=numbers, name=text)
        )
    return views[0].id


def _summary(built: Built) -> str:
    numbers = built.numbers
    objects = trn("{n} object", "{n} objects", numbers["objects"])
    spectra = trn("{n} spectrum", "{n} spectra", numbers["spectra_of_objects"])
    lines = [
        tr("{objects} with {spectra} in {folder}", objects=objects, spectra=spectra, folder=built.folder),
        *(tr("left out: {n}, {reason}", n=n, reason=reason) for reason, n in numbers["left_out"].items()),
        tr("to check it: spec-o3 catalogue verify {folder}", folder=built.folder),
    ]
    return "\n".join(lines)


def _report(differences: Sequence[Difference]) -> str:
    if not differences:
        return tr("every number and picture is as the data give it")
    lines = [str(difference) for difference in differences[:SHOWN]]
    more = len(differences) - SHOWN
    return "\n".join([*lines, *([tr("and {n} more", n=more)] if more > 0 else ())])
