"""``spec-o3 export`` and ``spec-o3 import``: approved trajectories as training data, and drafts from files."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

from agent import tasks
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
    output_file,
    output_folder,
)
from agent.language import tr, trn
from reviewer.cli.common import BATCH, NO_SIMULATED, SKIP_BAD, Database, Person, database_of, only_person, opened

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
    log_format: Literal["training", "atif", "inspect"] = option(
        "what to write: training data, or logs of agents with their reviews (ATIF files, a log of Inspect)",
        default="training",
        flag="--as",
    )
    overwrite: bool = option("replace an export of that name")
    licence: str = option(
        "licence of the data set, as Hugging Face names it, e.g. cc-by-4.0 (default: unknown)",
        default="",
        metavar="NAME",
    )
    processes: int | None = option(PROCESSES, read=at_least_one)


@dataclass(kw_only=True)
class VerdictsOptions(Person, Database, JsonOutput):
    log: Path = argument("the log that was imported: of Inspect (.eval, .json) or in ATIF", metavar="LOG")
    out: Path = option("copy of the log to write; an existing file is not replaced", read=output_file)


@dataclass(kw_only=True)
class TablesOptions(Database, JsonOutput):
    out: Path | None = option(
        "folder for the tables (default: NAME-tables next to NAME.db)", metavar="DIR", read=output_folder
    )
    excel: bool = option("begin CSV with a byte-order mark, so that Excel reads it as UTF-8")


@dataclass(kw_only=True)
class ImportOptions(Database, JsonOutput):
    file: Path | None = argument(
        "Spec-o3 JSON Lines, ShareGPT rows with their pictures, logs of other agents, or a folder of one of these; the "
        "same command resumes an import that was cancelled or ended",
        metavar="FILE",
    )
    format: Literal["auto", "spec-o3", "atif", "inspect", "otel", "openinference", "claude-code"] = option(
        "format of the file: Spec-o3 (and ShareGPT), or the logs of an agent", default="auto"
    )
    task: str | None = option("task of the logs of agents that do not name theirs", metavar="KEY")
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
    from reviewer.exchange.dataset import UNKNOWN
    from reviewer.exchange.exports import ExportError, NothingToExport, export, folder_of
    from reviewer.exchange.logs_out import layout_of_logs

    if arguments.log_format != "training":
        refuse_ignored(arguments, f"--as {arguments.log_format}", "--processes", "--licence")
    place = _place_of(arguments)
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("items exported")) as bar:
        folder, name = place or (folder_of(store), str(arguments.name))
        try:
            exported = export(
                store,
                name,
                person=arguments.by or only_person(store),
                folder=folder,
                task=arguments.task,
                batch=arguments.batch,
                include_simulated=not arguments.no_simulated,
                replace=arguments.overwrite,
                progress=lambda done, _: bar.at(done),
                processes=arguments.processes,
                licence=arguments.licence or UNKNOWN,
                layout=None if arguments.log_format == "training" else layout_of_logs(arguments.log_format),
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
        "folder": str(exported.folder),
        "counts": exported.summary["counts"],
        "left_out": [asdict(row) for row in exported.left_out],
    }
    print_result(arguments, result, _export_summary(exported))
    return CHECK_FAILED if exported.left_out else DONE


def run_verdicts(arguments: VerdictsOptions) -> int:
    from reviewer.exchange.verdicts_home import write_verdicts

    with opened(database_of(arguments), must_exist=True) as store:
        try:
            written = write_verdicts(store, arguments.log, arguments.out, arguments.by or only_person(store))
        except OSError as error:
            raise CannotRun(f"{error.filename or arguments.out}: {error.strerror}") from error
    n = len(written.items)
    lines = [trn("{n} item in {file}", "{n} items in {file}", n, file=arguments.out)]
    lines += [tr("no item has the trace {name}", name=name) for name in written.unmatched[:SHOWN]]
    if len(written.unmatched) > SHOWN:
        lines.append(tr("and {n} more", n=len(written.unmatched) - SHOWN))
    if written.blind:
        lines.append(trn("left out: {n} in a blind session", "left out: {n} in blind sessions", written.blind))
    print_result(arguments, {"file": str(arguments.out), **asdict(written)}, "\n".join(lines))
    return CHECK_FAILED if written.unmatched or written.blind else DONE


def run_tables(arguments: TablesOptions) -> int:
    from reviewer.exchange.tables import write_all

    with opened(database_of(arguments), must_exist=True) as store:
        path = store.path.resolve()
        folder = arguments.out or path.with_name(f"{path.stem}-tables")
        try:
            tables = write_all(store, folder, arguments.excel)
        except OSError as error:
            raise CannotRun(
                tr("{folder}: {strerror}; not every table was written", folder=folder, strerror=error.strerror)
            ) from error
    result = {"folder": str(folder), "tables": {file.name: rows for file, rows in tables}}
    text = "\n".join(trn("{n} row in {file}", "{n} rows in {file}", rows, file=file) for file, rows in tables)
    print_result(arguments, result, text)
    return DONE


def _place_of(arguments: ExportOptions) -> tuple[Path, str] | None:
    """Return the parent folder and the name of the export; None: the usual place. :raises CannotRun: both or neither"""
    if (arguments.name is None) == (arguments.out is None):
        raise CannotRun(tr("found both or neither of NAME and --out, expected one"))
    if arguments.out is not None:
        return arguments.out.parent, arguments.out.name
    return None if arguments.to is None else (arguments.to, str(arguments.name))


def _export_summary(exported: Exported) -> str:
    counts = exported.summary["counts"]
    lines = [
        trn(
            "{n} trajectory with {pictures} pictures in {folder}",
            "{n} trajectories with {pictures} pictures in {folder}",
            counts["items"],
            pictures=counts["pictures"],
            folder=exported.folder,
        )
    ]
    if exported.summary["one_person"]:
        lines.append(tr("{n} of them approved by one person only", n=counts["by_one_person"]))
    if counts["simulated"]:
        lines.append(tr("{n} of them of simulated spectra", n=counts["simulated"]))
    lines += [
        tr("left out: item {item}: {reason}", item=row.item_id, reason=tr(row.reason)) for row in exported.left_out
    ]
    return "\n".join(lines)


def _numbers(items: list[int], count: int) -> str:
    shown = ", ".join(map(str, items))
    return tr("{names} and {n} more", names=shown, n=count - len(items)) if count > len(items) else shown


SHOWN = 20  # problems and items printed for a person


def run_import(arguments: ImportOptions) -> int:
    from reviewer.exchange.imports import Findings, items_of, one_import
    from reviewer.exchange.recognition import by_state

    if bool(arguments.job) == (arguments.file is not None):
        raise CannotRun(tr("found both or neither of FILE and --job, expected one"))
    if arguments.job:
        choices = ("--spectra", "--batch", "--skip-bad", "--task")
        refuse_ignored(arguments, tr("--job resumes with its own choices"), *choices)
    if arguments.end_with_input:
        Thread(target=_end_with_input, daemon=True).start()
    with opened(database_of(arguments)) as store, ProgressBar(None, tr("rows")) as bar:
        with one_import(store.path):
            for number in arguments.job or [_requested(store, arguments)]:
                if not arguments.end_with_input:
                    store.imports.resume(number)
                job = _imported(store, number, bar)
        findings = Findings.of(job)
        states = by_state(store, findings.known_items, SHOWN)
    result = {
        "import": job.id,
        "rows": findings.rows,
        "added": list(items_of(findings.added_items)) if arguments.json else None,
        "known": findings.known,
        "known_items": list(items_of(findings.known_items)) if arguments.json else None,
        "others": findings.others,
        "other_texts": [asdict(row) for row in findings.other_texts],
        "control": findings.control,
        "control_texts": findings.control_texts,
        "bad": findings.bad,
        "problems": [asdict(problem) for problem in findings.problems],
    }
    print_result(arguments, result, _import_summary(job, findings, states))
    return CHECK_FAILED if findings.bad or job.state == "refused" else DONE


def _requested(store: Store, arguments: ImportOptions) -> int:
    """Return the number of the import of this file: an unfinished one, or a new one."""
    from reviewer.exchange.foreign import Logs, logs_at, request_of_logs
    from reviewer.exchange.imports import request_of, start_or_resume
    from reviewer.rules.campaign import known_tasks

    same: SameSpectrum = "leave out" if arguments.same_spectrum == "leave-out" else "import"
    assert arguments.file is not None
    if files := logs_at(arguments.file, arguments.format):
        known, _ = known_tasks(store.path)
        if arguments.task is not None and tasks.find(known, arguments.task) is None:
            expected = tr("expected one of {names}", names=", ".join(known))
            raise CannotRun(tr("--task: found {task!r:.60}, {expected}", task=arguments.task, expected=expected))
        name = None if arguments.format == "auto" else arguments.format
        logs = Logs(files, name, arguments.task, arguments.spectra)
        batch = arguments.batch or arguments.file.resolve().name
        with ProgressBar(len(files), tr("logs read")) as bar:
            request = request_of_logs(store, logs, batch, arguments.skip_bad, same, bar.at)
    else:
        refuse_ignored(arguments, tr("the rows of {file} name their task", file=arguments.file), "--task")
        request = request_of(arguments.file, arguments.spectra, arguments.batch, arguments.skip_bad, same)
    return start_or_resume(store, request).id


def _imported(store: Store, number: int, bar: ProgressBar) -> ImportJob:
    """Run an import from where it is."""
    from reviewer.exchange.imports import Findings, continue_import

    def on_part(job: ImportJob) -> None:
        findings, at, size = Findings.of(job), job.progress.offset, job.request.size
        bar.expect(round(findings.rows * size / at) if at else None)
        bar.at(findings.rows, tr("checking") if job.progress.step == "check" else tr("writing"))

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


def _import_summary(job: ImportJob, findings: Findings, states: Mapping[State, tuple[int, list[int]]]) -> str:
    if job.state == "refused" and not findings.bad:
        lines = [
            trn(
                "nothing imported: {n} row of a spectrum that is here for the same task with another text; import the "
                "file again with the choice --same-spectrum import or leave-out",
                "nothing imported: {n} rows of spectra that are here for the same task with another text; import the "
                "file again with the choice --same-spectrum import or leave-out",
                findings.others,
            )
        ]
    elif job.state == "refused":
        lines = [
            trn(
                "nothing imported: {n} row is bad (--skip-bad imports the others)",
                "nothing imported: {n} rows are bad (--skip-bad imports the others)",
                findings.bad,
            )
        ]
    else:
        lines = [tr("{n} imported", n=findings.added)]
        lines += [
            tr("{n} already {state} here: items {items}", n=n, state=tr(state), items=_numbers(items, n))
            for state, (n, items) in states.items()
        ]
        if findings.unlisted:
            lines.append(trn("{n} more row is already here", "{n} more rows are already here", findings.unlisted))
        if findings.others and job.request.same_spectrum == "leave out":
            lines.append(
                trn(
                    "{n} row of a spectrum that is here for the same task with another text: left out",
                    "{n} rows of spectra that are here for the same task with another text: left out",
                    findings.others,
                )
            )
        elif findings.others:
            lines.append(
                trn(
                    "{n} row of a spectrum that is here for the same task with another text: imported all the same "
                    "(--same-spectrum)",
                    "{n} rows of spectra that are here for the same task with another text: imported all the same "
                    "(--same-spectrum)",
                    findings.others,
                )
            )
        if findings.control:
            lines.append(
                trn(
                    "{n} row has control tokens of the tokenizer in its texts and is left out of training until they "
                    "are removed:",
                    "{n} rows have control tokens of the tokenizer in their texts and are left out of training until "
                    "they are removed:",
                    findings.control,
                )
            )
            lines += [f"  {text}" for text in findings.control_texts[:SHOWN]]
        if findings.bad:
            lines.append(trn("{n} row left out", "{n} rows left out", findings.bad))
    lines += [str(problem) for problem in findings.problems[:SHOWN]]
    lines += [tr("and {n} more", n=findings.bad - SHOWN)] if findings.bad > SHOWN else []
    return "\n".join(lines)
