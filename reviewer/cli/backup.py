"""``spec-o3 backup`` and ``spec-o3 restore``: copies of the database, plain archives, and their return."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import DONE, ProgressBar, print_result
from agent.cli.options import JsonOutput, argument, option
from agent.language import tr
from reviewer.cli.common import Database, database_of, opened

if TYPE_CHECKING:
    from reviewer.backup.backups import Backup


@dataclass(kw_only=True)
class Options(Database, JsonOutput):
    out: Path | None = option(
        "file to write, ending in .db, or a folder, where the name has the time (default: backups next to the "
        "database); with --plain the folder to create",
        metavar="PATH",
    )
    plain: bool = option("everything as JSON lines and pictures, readable without spec-o3")


@dataclass(kw_only=True)
class RestoreOptions(Database, JsonOutput):
    source: Path = argument("a backup, or the folder of a plain archive", metavar="SOURCE")


def run(arguments: Options) -> int:
    return _plain(arguments) if arguments.plain else _copy(arguments)


def _copy(arguments: Options) -> int:
    from reviewer.backup.backups import back_up, default_folder

    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("copying")) as bar:

        def on_progress(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        backup = back_up(store.path, arguments.out or default_folder(store.path), "by hand", on_progress)
        store.log.note(None, "backup made", backup.path.name, bytes=backup.bytes, sha256=backup.sha256)
    print_result(
        arguments,
        {**backup.to_json(), "path": str(backup.path)},
        tr(
            "{path}: {size:,.1f} MB, checked. Its log ends at {head}",
            path=backup.path,
            size=backup.bytes / 1e6,
            head=backup.head,
        )
        + _spectra_line(backup),
    )
    return DONE


def _spectra_line(backup: Backup) -> str:
    """Say where the files of spectra are; nothing if all spectra are in the database."""
    from reviewer.backup.backups import spectra_of_backups

    if not backup.spectra:
        return ""
    where = spectra_of_backups(backup.path.parent)
    text = tr(
        "\nIt needs {spectra:,} files of spectra, in {where}: keep both together.", spectra=backup.spectra, where=where
    )
    if backup.spectra_missing:
        text += tr(
            "\n{spectra_missing:,} of them are missing: `spec-o3 spectra` lists them.",
            spectra_missing=backup.spectra_missing,
        )
    return text


def _plain(arguments: Options) -> int:
    from reviewer.backup.archive import write_archive
    from reviewer.backup.backups import backup_name, default_folder

    database = database_of(arguments)
    target = arguments.out
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("writing rows")) as bar:
        if target is None:
            folder = default_folder(database)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            target = folder / backup_name(database, datetime.now(UTC))

        def on_progress(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        archive = write_archive(store, target, on_progress)
        store.log.note(None, "archive made", target.name, schema=archive.schema)
    rows = sum(table.rows for table in archive.tables.values())
    print_result(
        arguments,
        {**archive.to_json(), "path": str(target)},
        tr(
            "{target}: {rows:,} rows of {tables} tables. Its log ends at {head}",
            target=target,
            rows=rows,
            tables=len(archive.tables),
            head=archive.head,
        ),
    )
    return DONE


def run_restore(arguments: RestoreOptions) -> int:
    from agent.database_place import make_folder
    from reviewer.backup.restore import restore

    with ProgressBar(None, tr("reading")) as bar:

        def on_progress(done: int, of: int) -> None:
            bar.expect(of)
            bar.at(done)

        database = database_of(arguments)
        make_folder(database)
        done = restore(arguments.source, database, on_progress)
    result = {
        "database": str(done.database),
        "kept_as": None if done.kept_as is None else str(done.kept_as),
        "items": done.items,
        "log_head": str(done.head),
        "replaced_log_head": None if done.replaced is None else str(done.replaced),
        "spectra_missing": list(done.spectra_missing),
    }
    text = tr(
        "{database}: {items:,} items, checked. Everyone must sign in again.", database=done.database, items=done.items
    )
    if done.kept_as is not None:
        text += "\n" + tr("The previous database is now {path}", path=done.kept_as)
    if done.spectra_missing:
        text += tr(
            "\n{n_spectra_missing:,} spectra have no file here or next to the backup: `spec-o3 spectra` "
            "lists them. Their texts and all work on them are here; copy the files, or import the "
            "spectra again.",
            n_spectra_missing=len(done.spectra_missing),
        )
    print_result(arguments, result, text)
    return DONE
