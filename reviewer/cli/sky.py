"""``spec-o3 sky import``: what catalogues answered about spectra that are in the database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import DONE, ProgressBar, print_result
from agent.cli.options import JsonOutput, argument
from agent.language import tr, trn
from reviewer.cli.common import Database, database_of, opened

if TYPE_CHECKING:
    from agent.sky.table import SkyTable

SHOWN = 20
"""Spectra that are not in the database, named for a person; --json has all."""
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(kw_only=True)
class ImportOptions(Database, JsonOutput):
    file: Path = argument(
        "table of `spec-o3 sky fetch` (sky.parquet); the same command continues an import that was ended",
        metavar="FILE",
    )


def run_import(arguments: ImportOptions) -> int:
    from agent.sky.table import SkyTable

    table = SkyTable(arguments.file)
    _check(table)
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(len(table), tr("records")) as bar:
        done = store.sky.add(table.rows(), arguments.file.name, bar.at)
    records: dict[str, dict[str, int]] = {}
    for (catalogue, status), n in sorted(done.added.items()):
        records.setdefault(catalogue, {})[status] = n
    added, others = sum(done.added.values()), done.without_spectrum
    failed = sum(n for (_, status), n in done.added.items() if status == "failed")
    lines = [
        trn("{n} record added", "{n} records added", added),
        *(f"{catalogue}: {sum(of.values())}" for catalogue, of in records.items()),
        trn("{n} of them says that its catalogue failed", "{n} of them say that their catalogues failed", failed),
        trn("{n} was in the database already", "{n} were in the database already", done.known),
        trn("left out: {n} spectrum not in the database", "left out: {n} spectra not in the database", len(others)),
        *others[:SHOWN],
        *([tr("and {n} more", n=len(others) - SHOWN)] if len(others) > SHOWN else ()),
    ]
    result = {"added": added, "records": records, "known": done.known, "without_spectrum": [*others]}
    print_result(arguments, result, "\n".join(lines))
    return DONE


def _check(table: SkyTable) -> None:
    """Read the whole table, so that one that is damaged adds nothing. :raises SkyError: with the row"""
    from agent.sky.records import SkyError

    with ProgressBar(len(table), tr("checking")) as bar:
        for number, (sha256, _) in enumerate(table.rows(), start=1):
            if not _SHA256.fullmatch(f"{sha256}"):
                raise SkyError(
                    tr(
                        "{path}, row {number}: spectrum: found {found!r:.80}, expected a SHA-256 of 64 hexadecimal "
                        "digits. Nothing was imported.",
                        path=table.path,
                        number=number,
                        found=sha256,
                    )
                )
            bar.at(number)
