"""``spec-o3 templates``: list the template spectra, rank them against a spectrum, build a file of your own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    print_result,
    progress,
)
from agent.cli.options import JsonOutput, argument, at_least_one, existing_folder, option, output_file
from agent.language import deferred, tr, trn
from agent.templates.build import COLUMNS

if TYPE_CHECKING:
    from agent.templates import Library

MOST = 10


@dataclass(kw_only=True)
class ListOptions(JsonOutput):
    templates: Path | None = option(
        "folder with your own template files, besides the bundled ones", metavar="DIR", read=existing_folder
    )


@dataclass(kw_only=True)
class RankOptions(ListOptions):
    path: Path = argument("a spectrum")
    target: str | None = option("which spectrum of a file that has several", metavar="ID")
    number: int = option("templates to show", default=MOST, read=at_least_one)


@dataclass(kw_only=True)
class BuildOptions(JsonOutput):
    folder: Path = option("folder with spectra", flag="--from", metavar="DIR", read=existing_folder)
    manifest: Path | None = option(
        deferred(
            "CSV with one row per file, with columns from {names} (default: every file, its class the name of its "
            "folder)",
            names=", ".join(COLUMNS),
        ),
    )
    out: Path = option("template file to write, .npz", read=output_file)


def run_list(arguments: ListOptions) -> int:
    library = _library(arguments)
    entries = []
    for template in library.templates:
        lo, hi = template.coverage
        entries.append(asdict(template.about) | {"coverage": [round(lo, 1), round(hi, 1)]})
    lines = []
    for entry in sorted(entries, key=lambda entry: str(entry["kind"])):
        range_ = "{:6.0f}–{:.0f} Å".format(*entry["coverage"])
        lines.append(f"{entry['kind']:13} {entry['name']:28} {entry['subtype']:34} {range_}  {entry['source']}")
    lines.append(
        tr(
            "{n_entries} templates; wavelengths are vacuum, at rest. --json has citation and licence of each.",
            n_entries=len(entries),
        )
    )
    print_result(arguments, {"templates": entries}, "\n".join(lines))
    return DONE


def run_rank(arguments: RankOptions) -> int:
    from agent.measure import Measured
    from agent.measure.values import plus_minus
    from agent.spectrum import read
    from agent.templates import rank

    spectrum = read(arguments.path, arguments.target)
    library = _library(arguments)
    matches = []
    lines = []
    for number, match in enumerate(rank(spectrum, library)[: arguments.number], start=1):
        about = library.templates[match.place].about
        matches.append(
            {
                "rank": number,
                "id": about.id,
                "name": about.name,
                "kind": about.kind,
                "subtype": about.subtype,
                "reduced_chi2": match.reduced_chi2,
                "velocity": match.velocity,
                "velocity_error": match.error,
                "z": match.z,
                "overlap": match.overlap,
            }
        )
        velocity = (
            tr("no minimum") if match.error is None else plus_minus(Measured(match.velocity, match.error, "km/s"))
        )
        lines.append(
            f"{number:3} {about.kind:13} {about.name:28} {about.subtype:34} χ²/ν {match.reduced_chi2:8.2f}  {velocity}"
        )
    result = {"spectrum": spectrum.name, "redshift": spectrum.redshift, "matches": matches}
    print_result(
        arguments, result, "\n".join(lines) or tr("{name}: no template covers enough of it", name=spectrum.name)
    )
    return DONE if matches else CHECK_FAILED


def run_build(arguments: BuildOptions) -> int:
    from agent.templates.build import build, rows_of, rows_of_folder
    from agent.templates.library import write

    if arguments.out.suffix != ".npz":
        raise CannotRun(tr("--out: found {name}, expected a name that ends in .npz", name=arguments.out.name))
    rows = rows_of(arguments.manifest) if arguments.manifest else rows_of_folder(arguments.folder)
    built = list(progress(build(arguments.folder, rows), len(rows), tr("reading")))
    templates = [template_built.template for template_built in built if template_built.template is not None]
    left_out = {
        template_built.path: template_built.problem for template_built in built if template_built.template is None
    }
    if not templates:
        reasons = "; ".join(f"{path}: {problem}" for path, problem in list(left_out.items())[:3])
        raise CannotRun(tr("{folder}: found no usable spectrum. {reasons}", folder=arguments.folder, reasons=reasons))
    try:
        write(arguments.out, templates)
    except OSError as error:
        raise CannotRun(f"{arguments.out}: {error.strerror}") from error
    size = arguments.out.stat().st_size
    result: dict[str, Any] = {"file": str(arguments.out), "templates": len(templates), "bytes": size}
    lines = [tr("left out: {path}: {problem}", path=path, problem=problem) for path, problem in left_out.items()]
    lines.append(
        trn(
            "{out}: {n} template, {size:.0f} kB",
            "{out}: {n} templates, {size:.0f} kB",
            len(templates),
            out=arguments.out,
            size=size / 1000,
        )
    )
    print_result(arguments, result | {"left_out": left_out}, "\n".join(lines))
    return CHECK_FAILED if left_out else DONE


def _library(arguments: ListOptions) -> Library:
    from agent.templates import load_all

    folder = arguments.templates
    library, problems = load_all([] if folder is None else [folder])
    if problems:
        raise CannotRun("; ".join(map(str, problems)))
    return library
