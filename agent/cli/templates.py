"""``spec-o3 templates``: list the template spectra, rank them against a spectrum, build a file of your own."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    Command,
    at_least_one,
    existing_folder,
    output_file,
    print_result,
    progress,
)
from agent.language import tr, trn

if TYPE_CHECKING:
    from agent.templates import Library

MOST = 10


def add(parser: ArgumentParser) -> None:
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.name, help=tr(command.help), description=tr(command.help))
        command.add(subparser)
        subparser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))
        subparser.set_defaults(run_templates=command.run)


def run(arguments: Namespace) -> int:
    done: int = arguments.run_templates(arguments)
    return done


def add_list(parser: ArgumentParser) -> None:
    _add_folder(parser)


def run_list(arguments: Namespace) -> int:
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


def add_rank(parser: ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help=tr("a spectrum"))
    parser.add_argument("--target", metavar="NAME", help=tr("which spectrum of a file that has several"))
    parser.add_argument(
        "--number",
        type=at_least_one,
        default=MOST,
        metavar="N",
        help=tr("templates to show (default {most})", most=MOST),
    )
    _add_folder(parser)


def run_rank(arguments: Namespace) -> int:
    from agent.measure import Measured
    from agent.measure.values import plus_minus
    from agent.spectrum import SpectrumError, read
    from agent.templates import rank

    try:
        spectrum = read(arguments.path, arguments.target)
    except SpectrumError as error:
        raise CannotRun(str(error)) from error
    library = _library(arguments)
    found = []
    lines = []
    for number, match in enumerate(rank(spectrum, library)[: arguments.number], start=1):
        about = library.templates[match.place].about
        found.append(
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
    result = {"spectrum": spectrum.name, "redshift": spectrum.redshift, "matches": found}
    print_result(
        arguments, result, "\n".join(lines) or tr("{name}: no template covers enough of it", name=spectrum.name)
    )
    return DONE if found else CHECK_FAILED


def add_build(parser: ArgumentParser) -> None:
    from agent.templates.build import COLUMNS

    parser.add_argument(
        "--from", type=existing_folder, required=True, metavar="FOLDER", dest="folder", help=tr("folder with spectra")
    )
    parser.add_argument(
        "--manifest",
        type=Path,
        metavar="CSV",
        help=tr(
            "one row per file, with columns from {names} (default: every file, its class the name of its folder)",
            names=", ".join(COLUMNS),
        ),
    )
    parser.add_argument(
        "--out", type=output_file, required=True, metavar="FILE", help=tr("template file to write, .npz")
    )


def run_build(arguments: Namespace) -> int:
    from agent.templates.build import BuildError, build, rows_of, rows_of_folder
    from agent.templates.library import write

    if not arguments.folder.is_dir():
        raise CannotRun(tr("{folder}: no such folder; expected a folder of spectra", folder=arguments.folder))
    if arguments.out.suffix != ".npz":
        raise CannotRun(tr("--out: found {name}, expected a name that ends in .npz", name=arguments.out.name))
    try:
        rows = rows_of(arguments.manifest) if arguments.manifest else rows_of_folder(arguments.folder)
    except BuildError as error:
        raise CannotRun(str(error)) from error
    built = list(progress(build(arguments.folder, rows), len(rows), tr("reading")))
    templates = [one.template for one in built if one.template is not None]
    left_out = {one.path: one.problem for one in built if one.template is None}
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


def _add_folder(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--templates",
        type=existing_folder,
        metavar="DIR",
        help=tr("folder with your own template files, besides the bundled ones"),
    )


def _library(arguments: Namespace) -> Library:
    from agent.templates import load_all

    folder: Path | None = arguments.templates
    if folder is not None and not folder.is_dir():
        raise CannotRun(tr("{folder}: no such folder; expected a folder of template files", folder=folder))
    library, problems = load_all([] if folder is None else [folder])
    if problems:
        raise CannotRun("; ".join(map(str, problems)))
    return library


COMMANDS = (
    Command("list", "List the templates: class, name, coverage and source.", add_list, run_list),
    Command("rank", "Rank the templates by χ² against a spectrum, each with its radial velocity.", add_rank, run_rank),
    Command("build", "Build a template file from a folder of spectra.", add_build, run_build),
)
