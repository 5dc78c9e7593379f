"""``spec-o3 import``: drafts from a file."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from agent.command import BAD_NEWS, DONE, Bar, CannotRun, say
from reviewer.commands.database import add_database, add_json, opened

if TYPE_CHECKING:
    from reviewer.drafts import Imported

SHOWN = 20  # problems printed for a person; --json has them all


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        help="JSON lines of ours, ShareGPT rows beside their pictures, or a folder of either",
    )
    parser.add_argument(
        "--spectra", type=Path, metavar="DIR", help="where to find spectra that the rows only name"
    )
    parser.add_argument("--batch", default="", help="a name to find these drafts by (the file's name)")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="write the good rows though others are bad; else none is written",
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    from reviewer.drafts import ImportFileError, import_file

    with opened(arguments.db) as store, Bar(None, "rows checked and written") as bar:
        try:
            imported = import_file(
                store,
                arguments.file,
                spectra=arguments.spectra,
                batch=arguments.batch,
                skip_bad=arguments.skip_bad,
                progress=bar.at,
            )
        except ImportFileError as error:
            raise CannotRun(str(error)) from error
    result = {
        "added": list(imported.added),
        "known": imported.known,
        "problems": [asdict(problem) for problem in imported.problems],
    }
    say(arguments, result, _told(imported, arguments.skip_bad))
    return BAD_NEWS if imported.problems else DONE


def _told(imported: Imported, skip_bad: bool) -> str:
    problems = imported.problems
    if problems and not skip_bad:
        lines = [f"nothing imported: {len(problems)} rows are bad (--skip-bad imports the others)"]
    else:
        lines = [f"{len(imported.added)} imported, {imported.known} were there already"]
        lines += [f"{len(problems)} rows left out"] if problems else []
    lines += [str(problem) for problem in problems[:SHOWN]]
    lines += [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
    return "\n".join(lines)
