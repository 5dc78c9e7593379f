"""``spec-o3 spectra``: where the arrays of spectra are stored, moving them to files, and checking the files; with
``--explain``, how files of spectra are read, without a database.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CHECK_FAILED, DONE, ProgressBar, print_result, progress, refuse_ignored
from agent.cli.options import JsonOutput, at_least_one, option
from agent.cli.selection import Skipped, skipped_text
from agent.language import tr, trn
from agent.text import one_line
from reviewer.cli.common import Database, database_of, opened

if TYPE_CHECKING:
    from agent.batch.sources import OnSkip, Source
    from agent.spectrum import Spectrum

SHOWN = 20
"""Faults, and unread parts of one file, printed for a person (--json has all); spectra of one file explained."""

LONGEST_LINE = 2000
"""Characters of the names of unread parts."""


@dataclass(kw_only=True)
class Options(Database, JsonOutput):
    to_files: bool = option(
        "move the arrays in the database to files next to it; the same command resumes a move that was ended"
    )
    files_from: int | None = option(
        "store the arrays of new spectra in files once the database has N spectra (default 20000)", read=at_least_one
    )
    shrink: bool = option(
        "give the space that moved spectra leave in the database back to the disk; nobody can save meanwhile"
    )
    check: bool = option("read every file and compare it with its hash")
    explain: list[str] = option(
        "show how these files are read (FILE, FOLDER, @LIST, or FILE#TARGET for one spectrum of a file with several): "
        "from what the arrays come, and what is not used; without a database",
        default=[],
        metavar="FILE",
        extend=True,
    )


def run(arguments: Options) -> int:
    if arguments.explain:
        return _explain(arguments)
    from reviewer.store.spectra import DEFAULT_FILES_FROM, FILES_FROM
    from reviewer.store.spectrum_files import SpectrumFileError

    faults: list[str] = []
    with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("spectra")) as bar:
        if arguments.files_from is not None:
            store.settings.set(None, FILES_FROM, arguments.files_from)
        moved = store.spectra.move_to_files(bar.at) if arguments.to_files else 0
        if arguments.shrink:
            store.upkeep.shrink()
        in_files = store.spectra.in_files()
        for number, sha256 in enumerate(in_files, start=1):
            if not arguments.check:
                if not store.spectra.files.exists(sha256):
                    faults.append(tr("{path}: found no file with this spectrum", path=store.spectra.files.path(sha256)))
                continue
            try:
                store.spectra.get(sha256)
            except SpectrumFileError as error:
                faults.append(str(error))
            bar.at(number)
        result = {
            "folder": str(store.spectra.files.folder),
            "spectra": store.spectra.count(),
            "in_files": len(in_files),
            "moved": moved,
            "files_from": store.settings.get(FILES_FROM, DEFAULT_FILES_FROM),
            "database_bytes": store.path.stat().st_size,
            "faults": faults,
        }
    lines = [trn("{n} spectrum moved to files", "{n} spectra moved to files", moved)] if arguments.to_files else []
    lines += [
        trn(
            "{n} spectrum, the arrays of {in_files} of them in files in {folder}",
            "{n} spectra, the arrays of {in_files} of them in files in {folder}",
            result["spectra"],
            in_files=len(in_files),
            folder=result["folder"],
        ),
        tr(
            "new ones are in files from {files_from} spectra on; the database has {size:,.1f} MB",
            files_from=result["files_from"],
            size=store.path.stat().st_size / 1e6,
        ),
        trn("{n} file is missing or damaged:", "{n} files are missing or damaged:", len(faults))
        if faults
        else tr("all files are there and match their hashes")
        if arguments.check
        else tr("all files are there (--check compares their hashes)"),
        *faults[:SHOWN],
    ]
    lines += [tr("and {n} more", n=len(faults) - SHOWN)] if len(faults) > SHOWN else []
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if faults else DONE


def _explain(arguments: Options) -> int:
    """Print how files are read. Of a file with several spectra the first ones, and how many more it has."""
    from agent.batch.sources import SpectrumFile, key_of
    from agent.spectrum import SpectrumError

    reason = tr("--explain opens no database")
    refuse_ignored(arguments, reason, "--db", "--to-files", "--files-from", "--shrink", "--check")
    skipped: list[Skipped] = []
    spectra: list[dict[str, Any]] = []
    refused: list[dict[str, str]] = []
    more: dict[str, int] = {}
    unread: dict[str, tuple[str, ...]] = {}
    blocks = []

    def on_skip(path: Path, reason: str) -> None:
        skipped.append({"file": str(path), "reason": reason})

    sources = list(_sources(arguments.explain, on_skip))
    for source in progress(sources, len(sources), tr("reading")):
        file = SpectrumFile(source.path)
        targets = file.names(source.target) or (source.target,)
        for target in targets[:SHOWN]:
            key, spectrum = key_of(source.file, target), file.read(target)
            if isinstance(spectrum, SpectrumError):
                refused.append({"file": key, "reason": str(spectrum)})
                blocks.append(str(spectrum))
            else:
                spectra.append({"file": key, **_facts(spectrum)})
                blocks.append("\n  ".join(map(one_line, (key, *_explained(spectrum)))))
        if len(targets) > SHOWN:
            more[source.file] = len(targets) - SHOWN
            blocks.append(tr("{file}: {n} more spectra", file=one_line(source.file), n=more[source.file]))
        elif not source.target and (parts := file.unread()):
            unread[source.file] = parts
            # "column FWHM of HDU 1" may be among what was not used already.
            names = [part for part in parts if f"{part.partition(' of ')[0]};" not in f"{blocks[-1]};"]
            names[SHOWN:] = [tr("and {n} more", n=len(names) - SHOWN)] if len(names) > SHOWN else []
            line = one_line(tr("{label}: {text}", label=tr("not read"), text="; ".join(names)), LONGEST_LINE)
            if names and len(targets) == 1:
                blocks[-1] += f"\n  {line}"
            elif names:
                blocks.append(f"{one_line(source.file)}\n  {line}")
    result = {"spectra": spectra, "refused": refused, "more": more, "unread": unread, "skipped": skipped}
    print_result(arguments, result, "\n\n".join(blocks) + skipped_text(skipped))
    return CHECK_FAILED if refused else DONE


def _sources(given: list[str], on_skip: OnSkip) -> Iterator[Source]:
    from agent.batch.sources import sources_from

    for name in given:
        path, mark, target = name.rpartition("#")
        has_target = bool(mark) and not Path(name).exists() and Path(path).is_file()
        for source in sources_from([path if has_target else name], Path(), sys.stdin, on_skip):
            yield replace(source, target=target) if has_target else source


def _facts(spectrum: Spectrum) -> dict[str, Any]:
    from agent.spectrum.account import KEYS

    return {
        "pixels": len(spectrum),
        "from": float(spectrum.wavelength[0]),
        "to": float(spectrum.wavelength[-1]),
        **{key: getattr(spectrum, key) for key in ("medium", "frame", "flux_unit", "errors")},
        "meta": {key: spectrum.meta[key] for key in KEYS if key in spectrum.meta},
    }


def _explained(spectrum: Spectrum) -> Iterator[str]:
    from agent.hints.disturbances import fault_lines
    from agent.spectrum.account import account

    facts = {"n": len(spectrum), "lo": spectrum.wavelength[0], "hi": spectrum.wavelength[-1]}
    if spectrum.frame == "rest":
        yield tr("{n} pixels, {lo:.1f} to {hi:.1f} Å at rest", **facts)
    else:
        yield tr("{n} pixels, {lo:.1f} to {hi:.1f} Å observed", **facts)
    for label, text in (*account(spectrum), *fault_lines(spectrum)):
        yield tr("{label}: {text}", label=tr(label), text=tr(text))
