"""``spec-o3 bench table``: runs, specialists and the published figures in one table."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from agent.cli.command import DONE, CannotRun, Command, output_file, print_result, progress
from agent.language import tr


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="*",
        type=Path,
        metavar="RUN",
        help=tr("folders of runs of the bench, files of predictions; the others are compared with the first"),
    )
    parser.add_argument(
        "--row",
        action="append",
        type=_several,
        default=[],
        metavar="NAME=RUN,RUN,...",
        help=tr("one row for runs of one system with different seeds: means, with intervals over runs and spectra"),
    )
    parser.add_argument(
        "--csv", type=output_file, metavar="FILE", help=tr("write it as CSV too, one line per system and task")
    )
    parser.add_argument("--markdown", type=output_file, metavar="FILE", help=tr("write it as Markdown too"))
    parser.add_argument("--no-published", action="store_true", help=tr("omit the published figures"))
    parser.add_argument("--json", action="store_true", help=tr("print it as one JSON object"))


def _several(text: str) -> tuple[str, list[Path]]:
    name, equals, runs = text.partition("=")
    paths = [Path(run.strip()) for run in runs.split(",") if run.strip()]
    if not (name.strip() and equals and paths):
        raise ArgumentTypeError(tr("found {text!r}, expected NAME=RUN,RUN,...", text=text))
    return name.strip(), paths


def run(arguments: Namespace) -> int:
    from agent.json_lines import JournalError, write_atomic
    from training.bench import table
    from training.bench.outcomes import OutcomesError
    from training.bench.several_runs import row_of_runs
    from training.bench.table import row

    if not arguments.runs and not arguments.row:
        raise CannotRun(tr("bench table: found no run, expected RUN or --row NAME=RUN,RUN"))
    published = not arguments.no_published
    try:
        rows = [row(path) for path in progress(arguments.runs, len(arguments.runs), tr("reading"))]
        rows += [row_of_runs(name, [row(path) for path in paths]) for name, paths in arguments.row]
        for path, made in ((arguments.csv, table.csv_text), (arguments.markdown, table.markdown)):
            if path is not None:
                write_atomic(path, made(rows, published))
    except (JournalError, OutcomesError) as error:
        raise CannotRun(str(error)) from error
    print_result(arguments, table.to_json(rows, published), table.text(rows, published))
    return DONE


COMMAND = Command("table", "put runs, specialists and the published figures in one table", add, run)
