"""``spec-o3 spectra``: where the arrays of spectra are stored, moving them to files, and checking the files."""

from __future__ import annotations

from dataclasses import dataclass

from agent.cli.command import CHECK_FAILED, DONE, ProgressBar, print_result
from agent.cli.options import JsonOutput, at_least_one, option
from agent.language import tr, trn
from reviewer.cli.common import Database, database_of, opened

SHOWN = 20  # faults printed for a person; --json has all of them


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


def run(arguments: Options) -> int:
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
