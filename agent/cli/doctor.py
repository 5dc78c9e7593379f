"""``spec-o3 doctor``: check what this machine can do, what is missing, and which command installs it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result
from agent.cli.options import JsonOutput, argument, option
from agent.cli.policy_options import SERVERS
from agent.database_place import misplaced, usual_place
from agent.doctor import CAPABILITIES
from agent.language import deferred, tr

if TYPE_CHECKING:
    from agent.doctor import Check, Diagnosis, Finding

_MARK = {True: "✓", False: "✗", None: "·"}
_WIDTH = 110


@dataclass(kw_only=True)
class Options(JsonOutput):
    names: list[str] = argument(
        deferred("what to check: {names} (default: everything)", names=", ".join(CAPABILITIES)),
        default=[],
        metavar="CAPABILITY",
    )
    db: Path | None = option("the reviewers' database (default: annotations.db; docs/backups.md says where)")
    servers: Path | None = option(SERVERS)
    python: Path | None = option("Python that has vLLM (default: this one)")


def run(arguments: Options, extra_checks: Mapping[str, Check]) -> int:
    from agent.doctor import CORE, DoctorOptions, diagnose

    unknown = [name for name in arguments.names if name not in CAPABILITIES]
    if unknown:
        raise CannotRun(
            tr("found {unknown!r}, expected one of {names}", unknown=unknown[0], names=", ".join(CAPABILITIES))
        )
    options = DoctorOptions(arguments.db or _database(), arguments.servers, arguments.python)
    diagnoses = diagnose(arguments.names, options, extra_checks)
    needed = arguments.names or CORE
    ok = all(diagnosis.ok for diagnosis in diagnoses if diagnosis.capability.name in needed)
    print_result(
        arguments, {"ok": ok, "capabilities": [diagnosis.to_json() for diagnosis in diagnoses]}, _text(diagnoses)
    )
    return DONE if ok else CHECK_FAILED


def _database() -> Path:
    """Return the database of the usual place; one of an earlier release at a wrong place, if that is the only one."""
    place, wrong = usual_place(), misplaced()
    return place if wrong is None or place.is_file() else wrong


def _text(diagnoses: list[Diagnosis]) -> str:
    lines = []
    for diagnosis in diagnoses:
        lines.append(f"{_MARK[diagnosis.ok]} {tr(diagnosis.capability.title)} ({diagnosis.capability.name})")
        lines += [line for finding in diagnosis.findings for line in _lines(finding)]
    return "\n".join(lines)


def _lines(finding: Finding) -> list[str]:
    text = tr("{what}: {found}", what=tr(finding.what), found=tr(finding.actual))
    first = f"{_MARK[finding.ok]} {text}"
    lines = textwrap.wrap(first, _WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False)
    # A command stays on one line, so that it can be copied.
    return [*lines, f"      → {tr(finding.remedy)}"] if finding.remedy and finding.ok is not True else lines
