"""Options that select spectra of the given files, and the report of files of folders that were skipped."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agent.cli.command import CannotRun
from agent.cli.options import option
from agent.language import tr
from agent.text import one_line

if TYPE_CHECKING:
    from agent.batch.sources import Source

Skipped = dict[str, str]
"""``{"file", "reason"}`` of a file of a folder."""
SHOWN = 50


@dataclass(kw_only=True)
class Medium:
    """The medium of files that do not state it."""

    medium: Literal["air", "vacuum"] | None = option(
        "medium of the wavelengths of files that do not state it (default: air, marked as assumed)"
    )


@dataclass(kw_only=True)
class Selection(Medium):
    """Which targets of files with several."""

    target: list[str] = option(
        "only this target of files with several, e.g. a TARGETID of a DESI coadd; may be repeated",
        metavar="ID",
        repeat=True,
    )
    spectype: str = option(
        "only targets of this class in the survey's catalogue, e.g. STAR or 'STAR CV' (DESI: of redrock-*.fits)",
        default="",
        metavar="CLASS",
    )
    zwarn: int | None = option("only targets with this redshift warning, e.g. 0")


def selected_sources(arguments: Selection, given: Sequence[str], results: Path) -> tuple[list[Source], list[Skipped]]:
    """Return the sources of ``given`` (files, folders, lists), restricted by the options, and the skipped files.

    A source of a list that names its target stays as it is.

    :param results: the folder that files are named from
    :raises CannotRun: no file holds a spectrum
    :raises SourceError: a file or folder is missing, or a list cannot be read
    """
    from agent.batch.sources import sources_from
    from agent.spectrum.readers import targets

    skipped: list[Skipped] = []

    def on_skip(path: Path, reason: str) -> None:
        skipped.append({"file": str(path), "reason": reason})

    selection = str(targets.Selection(tuple(arguments.target), arguments.spectype, arguments.zwarn))
    sources = sources_from(given, results, sys.stdin, on_skip)
    chosen = [source if source.target else replace(source, target=selection) for source in sources]
    if not chosen:
        first = "".join(
            tr("; skipped {file}: {reason}", file=file["file"], reason=file["reason"]) for file in skipped[:3]
        )
        raise CannotRun(
            tr("{names:.200}: found no file that looks like a spectrum{first}", names=" ".join(given), first=first)
        )
    return chosen, skipped


def skipped_text(skipped: Sequence[Skipped]) -> str:
    """Return one line per skipped file with the reason, beginning with a line break; "" without any."""
    if not skipped:
        return ""
    lines = [one_line(f"  {file['file']}: {tr(file['reason'])}") for file in skipped[:SHOWN]]
    if len(skipped) > SHOWN:
        lines.append("  " + tr("and {n} more: --json lists all", n=len(skipped) - SHOWN))
    return "\n".join(["", tr("files skipped because they hold no spectrum: {n}", n=len(skipped)), *lines])
