"""``spec-o3 bench table``: runs, specialists and the published figures in one table."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path

from agent.cli.command import DONE, CannotRun, print_result, progress
from agent.cli.options import JsonOutput, argument, option, output_file
from agent.language import tr


def _several(text: str) -> tuple[str, list[Path]]:
    name, equals, runs = text.partition("=")
    paths = [Path(run.strip()) for run in runs.split(",") if run.strip()]
    if not (name.strip() and equals and paths):
        raise ArgumentTypeError(tr("found {text!r}, expected NAME=RUN,RUN,...", text=text))
    return name.strip(), paths


@dataclass(kw_only=True)
class Options(JsonOutput):
    runs: list[Path] = argument(
        "folders of runs of the bench, files of predictions; the others are compared with the first",
        default=[],
        metavar="RUN",
    )
    row: list[tuple[str, list[Path]]] = option(
        "one row for runs of one system with different seeds: means, with intervals over runs and spectra",
        metavar="NAME=RUN,RUN,...",
        read=_several,
        repeat=True,
    )
    csv: Path | None = option("write it as CSV too, one line per system and task", read=output_file)
    markdown: Path | None = option("write it as Markdown too", read=output_file)
    no_published: bool = option("omit the published figures")


def run(arguments: Options) -> int:
    from agent.json_lines import write_atomic
    from training.bench import table
    from training.bench.several_runs import row_of_runs
    from training.bench.table import row

    if not arguments.runs and not arguments.row:
        raise CannotRun(tr("bench table: found no run, expected RUN or --row NAME=RUN,RUN"))
    published = not arguments.no_published
    rows = [row(path) for path in progress(arguments.runs, len(arguments.runs), tr("reading"))]
    rows += [row_of_runs(name, [row(path) for path in paths]) for name, paths in arguments.row]
    for path, text_of in ((arguments.csv, table.csv_text), (arguments.markdown, table.markdown)):
        if path is not None:
            write_atomic(path, text_of(rows, published))
    print_result(arguments, table.to_json(rows, published), table.text(rows, published))
    return DONE
