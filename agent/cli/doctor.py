"""``spec-o3 doctor``: what this machine can do, what is missing, and the command that installs it."""

from __future__ import annotations

import textwrap
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import BAD_NEWS, DONE, CannotRun, say

if TYPE_CHECKING:
    from agent.doctor import Diagnosis, Finding

# As the reviewers' commands have it; nothing of theirs is known here.
DATABASE = Path(__file__).parents[2] / "annotations.db"
_MARK = {True: "✓", False: "✗", None: "·"}
_WIDTH = 110


def add(parser: ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="CAPABILITY", help="what to look at (everything)")
    parser.add_argument("--db", type=Path, metavar="FILE", help="the database (annotations.db beside app.py)")
    parser.add_argument("--servers", type=Path, metavar="FILE", help="the file that names model servers")
    parser.add_argument("--python", type=Path, metavar="FILE", help="the Python that has vLLM (this one)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(arguments: Namespace) -> int:
    from agent.doctor import CAPABILITIES, CORE, diagnose
    from agent.doctor.capabilities import Where

    unknown = [name for name in arguments.names if name not in CAPABILITIES]
    if unknown:
        raise CannotRun(f"found {unknown[0]!r}, wanted one of {', '.join(CAPABILITIES)}")
    where = Where(arguments.db or DATABASE, arguments.servers, arguments.python)
    found = diagnose(arguments.names, where)
    needed = arguments.names or CORE
    well = all(one.ok for one in found if one.capability.name in needed)
    say(arguments, {"ok": well, "capabilities": [one.to_json() for one in found]}, _told(found))
    return DONE if well else BAD_NEWS


def _told(found: list[Diagnosis]) -> str:
    lines = []
    for one in found:
        lines.append(f"{_MARK[one.ok]} {one.capability.title} ({one.capability.name})")
        lines += [line for finding in one.findings for line in _lines(finding)]
    return "\n".join(lines)


def _lines(finding: Finding) -> list[str]:
    first = f"{_MARK[finding.ok]} {finding.what}: {finding.found}"
    lines = textwrap.wrap(first, _WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)
    # A command stays on one line, to be copied.
    return [*lines, f"      → {finding.remedy}"] if finding.remedy and finding.ok is not True else lines
