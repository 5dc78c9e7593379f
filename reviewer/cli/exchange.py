"""``spec-o3 export`` and ``spec-o3 import``: approved trajectories as training data, and drafts from files."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, at_least_one, print_result
from reviewer.cli.common import add_database, add_json, opened

if TYPE_CHECKING:
    from reviewer.exchange.exports import Exported
    from reviewer.rules.campaign import State
    from reviewer.store import Store


def add_export(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="name of the export's folder")
    parser.add_argument("--to", type=Path, metavar="DIR", help="parent folder (NAME-exports next to NAME.db)")
    parser.add_argument("--task", help="only trajectories of this task")
    parser.add_argument("--batch", help="only trajectories of this batch")
    parser.add_argument("--no-simulated", action="store_true", help="leave simulated spectra out")
    parser.add_argument("--replace", action="store_true", help="replace an export of that name")
    parser.add_argument("--processes", type=at_least_one, metavar="N", help="draw in N processes (one per core)")
    parser.add_argument("--by", metavar="INITIALS", help="who exports (the only active person)")
    add_database(parser)
    add_json(parser)


def run_export(arguments: Namespace) -> int:
    from reviewer.exchange.exports import ExportError, NothingToExport, export, folder_of

    with opened(arguments.db, must_exist=True) as store, ProgressBar(None, "items exported") as bar:
        folder = arguments.to or folder_of(store)
        try:
            made = export(
                store,
                arguments.name,
                person=arguments.by or _alone(store),
                folder=folder,
                task=arguments.task,
                batch=arguments.batch,
                include_simulated=not arguments.no_simulated,
                replace=arguments.replace,
                progress=lambda done, _: bar.at(done),
                processes=arguments.processes,
            )
        except NothingToExport as nothing:
            print_result(arguments, {"folder": None, "reason": str(nothing)}, f"nothing exported: {nothing}")
            return CHECK_FAILED
        except ExportError as error:
            raise CannotRun(str(error)) from error
        except OSError as error:
            raise CannotRun(f"{folder}: {error.strerror}; no export was made") from error
        except KeyboardInterrupt:
            print("\nno export was made", file=sys.stderr)
            raise
    result = {
        "folder": str(made.folder),
        "counts": made.summary["counts"],
        "left_out": [asdict(one) for one in made.left_out],
    }
    print_result(arguments, result, _export_summary(made))
    return CHECK_FAILED if made.left_out else DONE


def add_tables(parser: ArgumentParser) -> None:
    parser.add_argument("--to", type=Path, metavar="DIR", help="folder for the tables (NAME-tables next to NAME.db)")
    add_database(parser)
    add_json(parser)


def run_tables(arguments: Namespace) -> int:
    from reviewer.exchange.tables import write_all

    with opened(arguments.db, must_exist=True) as store:
        path = store.path.resolve()
        folder = arguments.to or path.with_name(f"{path.stem}-tables")
        try:
            made = write_all(store, folder)
        except OSError as error:
            raise CannotRun(f"{folder}: {error.strerror}; not every table was written") from error
    result = {"folder": str(folder), "tables": {file.name: rows for file, rows in made}}
    print_result(arguments, result, "\n".join(f"{rows} rows in {file}" for file, rows in made))
    return DONE


def _alone(store: Store) -> str | None:
    active = [person.initials for person in store.accounts.people() if person.active]
    return active[0] if len(active) == 1 else None


def _export_summary(made: Exported) -> str:
    counts = made.summary["counts"]
    lines = [f"{counts['items']} trajectories with {counts['pictures']} pictures in {made.folder}"]
    if made.summary["one_person"]:
        lines.append(f"{counts['by_one_person']} of them approved by one person only")
    if counts["simulated"]:
        lines.append(f"{counts['simulated']} of them of simulated spectra")
    lines += [f"left out: item {one.item_id}: {one.reason}" for one in made.left_out]
    return "\n".join(lines)


if TYPE_CHECKING:
    from reviewer.exchange.imports import Imported


def _numbers(items: list[int]) -> str:
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return ", ".join(map(str, items[:SHOWN])) + more


SHOWN = 20  # problems printed for a person; --json has them all


def add_import(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        help="Spec-o3 JSON Lines, ShareGPT rows with their pictures, or a folder of either",
    )
    parser.add_argument("--spectra", type=Path, metavar="DIR", help="folder with spectra that the rows only name")
    parser.add_argument("--batch", default="", help="name of this batch of drafts (the file's name)")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="import the good rows even if others are bad; by default none is imported then",
    )
    parser.add_argument(
        "--same-spectrum",
        choices=("import", "leave-out"),
        default="import",
        help="rows whose spectrum is in the database for the same task with another text (import)",
    )
    add_database(parser)
    add_json(parser)


def run_import(arguments: Namespace) -> int:
    from reviewer.exchange.imports import ImportFileError, import_file
    from reviewer.exchange.recognition import by_state

    with opened(arguments.db) as store, ProgressBar(None, "rows checked and written") as bar:
        try:
            imported = import_file(
                store,
                arguments.file,
                spectra=arguments.spectra,
                batch=arguments.batch,
                skip_bad=arguments.skip_bad,
                progress=bar.at,
                same_spectrum="leave out" if arguments.same_spectrum == "leave-out" else "import",
            )
        except ImportFileError as error:
            raise CannotRun(str(error)) from error
        states = by_state(store, imported.known)
    result = {
        "added": list(imported.added),
        "known": len(imported.known),
        "known_items": list(imported.known),
        "other_texts": [asdict(row) for row in imported.other_texts],
        "problems": [asdict(problem) for problem in imported.problems],
    }
    print_result(arguments, result, _import_summary(imported, arguments, states))
    return CHECK_FAILED if imported.problems else DONE


def _import_summary(imported: Imported, arguments: Namespace, states: Mapping[State, list[int]]) -> str:
    problems = imported.problems
    if problems and not arguments.skip_bad:
        lines = [f"nothing imported: {len(problems)} rows are bad (--skip-bad imports the others)"]
    else:
        lines = [f"{len(imported.added)} imported"]
        lines += [f"{len(items)} already {state} here: items {_numbers(items)}" for state, items in states.items()]
        others = len(imported.other_texts)
        done = "left out" if arguments.same_spectrum == "leave-out" else "imported all the same (--same-spectrum)"
        lines += [f"{others} rows of spectra that are here for the same task with another text: {done}"] * (others > 0)
        lines += [f"{len(problems)} rows left out"] if problems else []
    lines += [str(problem) for problem in problems[:SHOWN]]
    lines += [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
    return "\n".join(lines)
