"""``spec-o3 export`` and ``spec-o3 import``: approved trajectories as training data, and drafts from files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

from agent.cli.command import (
    CANNOT_RUN,
    CHECK_FAILED,
    DONE,
    CannotRun,
    ProgressBar,
    print_result,
    refuse_ignored,
)
from agent.cli.options import (
    ONLY_TASK,
    PROCESSES,
    SPECTRA,
    JsonOutput,
    argument,
    at_least_one,
    existing_folder,
    option,
    output_folder,
)
from agent.language import tr, trn
from reviewer.cli.common import BATCH, NO_SIMULATED, SKIP_BAD, Database, Person, database_of, opened

if TYPE_CHECKING:
    from reviewer.exchange.exports import Exported
    from reviewer.exchange.imports import Findings
    from reviewer.rules.campaign import State
    from reviewer.store import ImportJob, SameSpectrum, Store


@dataclass(kw_only=True)
class ExportOptions(Person, Database, JsonOutput):
    name: str | None = argument("name of the export, a folder in NAME-exports next to NAME.db; or use --out")
    out: Path | None = option("folder to write", metavar="DIR", read=output_folder)
    to: Path | None = option("folder in which the export gets a folder", metavar="DIR", read=output_folder, hidden=True)
    task: str | None = option(ONLY_TASK, metavar="KEY")
    batch: str | None = option(BATCH, metavar="NAME")
    no_simulated: bool = option(NO_SIMULATED)
    overwrite: bool = option("replace an export of that name")
    processes: int | None = option(PROCESSES, read=at_least_one)


@dataclass(kw_only=True)
class TablesOptions(Database, JsonOutput):
    out: Path | None = option(
        "folder for the tables (default: NAME-tables next to NAME.db)", metavar="DIR", read=output_folder
    )
    excel: bool = option("begin CSV with a byte-order mark, so that Excel reads it as UTF-8")


@dataclass(kw_only=True)
class ImportOptions(Database, JsonOutput):
    file: Path | None = argument(
        "Spec-o3 JSON Lines, ShareGPT rows with their pictures, or a folder of either; the same command resumes an "
        "import that was cancelled or ended",
        metavar="FILE",
    )
    job: list[int] = option(
        "resume the import with this number, with its own choices; may be repeated",
        metavar="NUMBER",
        read=at_least_one,
        repeat=True,
    )
    spectra: Path | None = option(SPECTRA, metavar="DIR", read=existing_folder)
    batch: str = option("name of this batch of drafts (default: the file's name)", default="", metavar="NAME")
    skip_bad: bool = option(SKIP_BAD)
    same_spectrum: Literal["import", "leave-out"] = option(
        "rows whose spectrum is in the database for the same task with another text", default="import"
    )
    # The app starts imports with this: they end when the app does.
    end_with_input: bool = option("end when standard input ends", hidden=True)


def run_export(arguments: ExportOptions) -> int:
    from reviewer.exchange.exports import ExportError, NothingToExport, export, folder_of

    place = _place_of(arguments)
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("items exported")) as bar:
        folder, name = place or (folder_of(store), str(arguments.name))
        try:
            made = export(
                store,
                name,
                person=arguments.by or _alone(store),
                folder=folder,
                task=arguments.task,
                batch=arguments.batch,
                include_simulated=not arguments.no_simulated,
                replace=arguments.overwrite,
                progress=lambda done, _: bar.at(done),
                processes=arguments.processes,
            )
        except NothingToExport as nothing:
            text = tr("nothing exported: {reason}", reason=nothing)
            print_result(arguments, {"folder": None, "reason": str(nothing)}, text)
            return CHECK_FAILED
        except ExportError as error:
            raise CannotRun(str(error)) from error
        except OSError as error:
            raise CannotRun(
                tr("{folder}: {strerror}; no export was made", folder=folder, strerror=error.strerror)
            ) from error
        except KeyboardInterrupt:
            print(tr("\nno export was made"), file=sys.stderr)
            raise
    result = {
        "folder": str(made.folder),
        "counts": made.summary["counts"],
        "left_out": [asdict(one) for one in made.left_out],
    }
    print_result(arguments, result, _export_summary(made))
    return CHECK_FAILED if made.left_out else DONE


def run_tables(arguments: TablesOptions) -> int:
    from reviewer.exchange.tables import write_all

    with opened(database_of(arguments), must_exist=True) as store:
        path = store.path.resolve()
        folder = arguments.out or path.with_name(f"{path.stem}-tables")
        try:
            made = write_all(store, folder, arguments.excel)
        except OSError as error:
            raise CannotRun(
                tr("{folder}: {strerror}; not every table was written", folder=folder, strerror=error.strerror)
            ) from error
    result = {"folder": str(folder), "tables": {file.name: rows for file, rows in made}}
    text = "\n".join(trn("{n} row in {file}", "{n} rows in {file}", rows, file=file) for file, rows in made)
    print_result(arguments, result, text)
    return DONE


def _place_of(arguments: ExportOptions) -> tuple[Path, str] | None:
    """Return the parent folder and the name of the export; None: the usual place. :raises CannotRun: both or neither"""
    if (arguments.name is None) == (arguments.out is None):
        raise CannotRun(tr("found both or neither of NAME and --out, expected one"))
    if arguments.out is not None:
        return arguments.out.parent, arguments.out.name
    return None if arguments.to is None else (arguments.to, str(arguments.name))


def _alone(store: Store) -> str | None:
    active = [person.initials for person in store.accounts.people() if person.active]
    return active[0] if len(active) == 1 else None


def _export_summary(made: Exported) -> str:
    counts = made.summary["counts"]
    lines = [
        trn(
            "{n} trajectory with {pictures} pictures in {folder}",
            "{n} trajectories with {pictures} pictures in {folder}",
            counts["items"],
            pictures=counts["pictures"],
            folder=made.folder,
        )
    ]
    if made.summary["one_person"]:
        lines.append(tr("{n} of them approved by one person only", n=counts["by_one_person"]))
    if counts["simulated"]:
        lines.append(tr("{n} of them of simulated spectra", n=counts["simulated"]))
    lines += [tr("left out: item {item}: {reason}", item=one.item_id, reason=tr(one.reason)) for one in made.left_out]
    return "\n".join(lines)


def _numbers(items: list[int], count: int) -> str:
    shown = ", ".join(map(str, items))
    return tr("{names} and {n} more", names=shown, n=count - len(items)) if count > len(items) else shown


SHOWN = 20  # problems and items printed for a person


def run_import(arguments: ImportOptions) -> int:
    from reviewer.exchange.imports import Findings, ImportFileError, items_of, one_import
    from reviewer.exchange.recognition import by_state

    if bool(arguments.job) == (arguments.file is not None):
        raise CannotRun(tr("found both or neither of FILE and --job, expected one"))
    if arguments.job:
        refuse_ignored(arguments, tr("--job resumes with its own choices"), "--spectra", "--batch", "--skip-bad")
    if arguments.end_with_input:
        Thread(target=_end_with_input, daemon=True).start()
    with opened(database_of(arguments)) as store, ProgressBar(None, tr("rows")) as bar:
        try:
            with one_import(store.path):
                for number in arguments.job or [_requested(store, arguments)]:
                    if not arguments.end_with_input:
                        store.imports.resume(number)
                    job = _imported(store, number, bar)
        except ImportFileError as error:
            raise CannotRun(str(error)) from error
        found = Findings.of(job)
        states = by_state(store, found.known_items, SHOWN)
    result = {
        "import": job.id,
        "rows": found.rows,
        "added": list(items_of(found.added_items)) if arguments.json else None,
        "known": found.known,
        "known_items": list(items_of(found.known_items)) if arguments.json else None,
        "others": found.others,
        "other_texts": [asdict(row) for row in found.other_texts],
        "control": found.control,
        "control_texts": found.control_texts,
        "bad": found.bad,
        "problems": [asdict(problem) for problem in found.problems],
    }
    print_result(arguments, result, _import_summary(job, found, states))
    return CHECK_FAILED if found.bad or job.state == "refused" else DONE


def _requested(store: Store, arguments: ImportOptions) -> int:
    """Return the number of the import of this file: an unfinished one, or a new one."""
    from reviewer.exchange.imports import request_of, start_or_resume

    same: SameSpectrum = "leave out" if arguments.same_spectrum == "leave-out" else "import"
    assert arguments.file is not None
    request = request_of(arguments.file, arguments.spectra, arguments.batch, arguments.skip_bad, same)
    return start_or_resume(store, request).id


def _imported(store: Store, number: int, bar: ProgressBar) -> ImportJob:
    """Run an import from where it is."""
    from reviewer.exchange.imports import Findings, continue_import

    def on_part(job: ImportJob) -> None:
        found, at, size = Findings.of(job), job.progress.offset, job.request.size
        bar.expect(round(found.rows * size / at) if at else None)
        bar.at(found.rows, tr("checking") if job.progress.step == "check" else tr("writing"))

    job = store.imports.get(number)
    if job.progress.line:
        values = {"number": number, "rows": Findings.of(job).rows}
        text = (
            tr("import {number} resumes: {rows:,} rows are checked already", **values)
            if job.progress.step == "check"
            else tr("import {number} resumes: {rows:,} rows are written already", **values)
        )
        print(text, file=sys.stderr)
    try:
        return continue_import(store, number, on_part)
    except KeyboardInterrupt:
        added = Findings.of(store.imports.get(number)).added
        print(tr("\ncancelled: {added:,} rows are imported; the same command resumes", added=added), file=sys.stderr)
        raise


def _end_with_input() -> None:
    """End this process with its standard input: the app that started it has ended. The import can be resumed."""
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(CANNOT_RUN)


def _import_summary(job: ImportJob, found: Findings, states: Mapping[State, tuple[int, list[int]]]) -> str:
    if job.state == "refused" and not found.bad:
        lines = [
            trn(
                "nothing imported: {n} row of a spectrum that is here for the same task with another text; import the "
                "file again with the choice --same-spectrum import or leave-out",
                "nothing imported: {n} rows of spectra that are here for the same task with another text; import the "
                "file again with the choice --same-spectrum import or leave-out",
                found.others,
            )
        ]
    elif job.state == "refused":
        lines = [
            trn(
                "nothing imported: {n} row is bad (--skip-bad imports the others)",
                "nothing imported: {n} rows are bad (--skip-bad imports the others)",
                found.bad,
            )
        ]
    else:
        lines = [tr("{n} imported", n=found.added)]
        lines += [
            tr("{n} already {state} here: items {items}", n=n, state=tr(state), items=_numbers(items, n))
            for state, (n, items) in states.items()
        ]
        if found.unlisted:
            lines.append(trn("{n} more row is already here", "{n} more rows are already here", found.unlisted))
        if found.others and job.request.same_spectrum == "leave out":
            lines.append(
                trn(
                    "{n} row of a spectrum that is here for the same task with another text: left out",
                    "{n} rows of spectra that are here for the same task with another text: left out",
                    found.others,
                )
            )
        elif found.others:
            lines.append(
                trn(
                    "{n} row of a spectrum that is here for the same task with another text: imported all the same "
                    "(--same-spectrum)",
                    "{n} rows of spectra that are here for the same task with another text: imported all the same "
                    "(--same-spectrum)",
                    found.others,
                )
            )
        if found.control:
            lines.append(
                trn(
                    "{n} row has control tokens of the tokenizer in its texts and is left out of training until they "
                    "are removed:",
                    "{n} rows have control tokens of the tokenizer in their texts and are left out of training until "
                    "they are removed:",
                    found.control,
                )
            )
            lines += [f"  {text}" for text in found.control_texts[:SHOWN]]
        if found.bad:
            lines.append(trn("{n} row left out", "{n} rows left out", found.bad))
    lines += [str(problem) for problem in found.problems[:SHOWN]]
    lines += [tr("and {n} more", n=found.bad - SHOWN)] if found.bad > SHOWN else []
    return "\n".join(lines)
