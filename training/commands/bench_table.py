"""``spec-o3 bench table``: runs, specialists' predictions and the paper's own figures in one table."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.command import DONE, CannotRun, Command, progress, say


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="folders of runs of the bench, files of predictions; the others are held against the first",
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write it as CSV too, a line a system and task"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write it as Markdown too")
    parser.add_argument("--no-published", action="store_true", help="leave the paper's own figures out")
    parser.add_argument("--json", action="store_true", help="print it as one JSON object")


def run(arguments: Namespace) -> int:
    from agent.many.journal_files import JournalError, put
    from training.bench import table
    from training.bench.outcomes import OutcomesError
    from training.bench.rows import row

    published = not arguments.no_published
    try:
        rows = [row(path) for path in progress(arguments.runs, len(arguments.runs), "reading")]
        for path, made in ((arguments.csv, table.csv_text), (arguments.markdown, table.markdown)):
            if path is not None:
                put(path, made(rows, published))
    except (JournalError, OutcomesError) as error:
        raise CannotRun(str(error)) from error
    say(arguments, table.to_json(rows, published), table.text(rows, published))
    return DONE


COMMAND = Command("table", "put runs, specialists and the published figures in one table", add, run)
