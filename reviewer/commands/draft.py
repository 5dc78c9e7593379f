"""``spec-o3 draft``: let a policy inspect spectra and keep what it wrote."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agent.command import BAD_NEWS, DONE, CannotRun, progress, say
from reviewer.commands.database import DATABASE, add_database, add_json, opened

if TYPE_CHECKING:
    from agent.tasks import Task


def add(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="survey files")
    parser.add_argument("--task", required=True, help="target class: a task's key or alias, such as cv")
    parser.add_argument("--policy", default="baseline", help="who drafts (baseline, which is no model)")
    parser.add_argument("--label", choices=("YES", "NO"), help="the known truth of all these files")
    parser.add_argument("--batch", default="", help="a name to find these drafts by")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write JSON lines here; without --db nothing else is written"
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    database = arguments.db or (None if arguments.out else DATABASE)
    drafted, new, refused = _draft_into(database, arguments)
    where = [f"{new} of them new in {database}"] if database else []
    where += [f"written to {arguments.out}"] if arguments.out else []
    lines = [f"{drafted} drafted, {', '.join(where)}", *(f"refused: {reason}" for reason in refused)]
    say(arguments, {"drafted": drafted, "added": new, "refused": refused}, "\n".join(lines))
    return BAD_NEWS if refused else DONE


def _draft_into(database: Path | None, arguments: Namespace) -> tuple[int, int, list[str]]:
    """How many were drafted, how many of them were new in the database, and why files were refused."""
    from agent.conversation import PolicyError
    from reviewer.drafting import POLICIES, Refused, draft_files
    from reviewer.drafts import own_row

    task = _task(arguments.task, arguments.db or DATABASE)
    if arguments.policy not in POLICIES:
        raise CannotRun(f"--policy: found {arguments.policy!r}, wanted one of {', '.join(POLICIES)}")
    policy = POLICIES[arguments.policy]()
    drafted = new = 0
    refused: list[str] = []
    with ExitStack() as open_things:
        out = open_things.enter_context(_new_file(arguments.out)) if arguments.out else None
        store = open_things.enter_context(opened(database)) if database else None
        files = progress(arguments.files, len(arguments.files), "drafting")
        try:
            for draft in draft_files(files, task, policy, arguments.label, arguments.batch):
                if isinstance(draft, Refused):
                    refused.append(draft.reason)
                    continue
                drafted += 1
                if out is not None:
                    row = own_row(draft.trajectory, draft.spectrum)
                    out.write(json.dumps(row, ensure_ascii=False) + "\n")
                if store is not None:
                    # One at a time: whatever stops the others, what is drafted is kept.
                    new += store.add_items([draft])[0].new
        except PolicyError as error:
            raise CannotRun(str(error)) from error
    return drafted, new, refused


def _task(name: str, database: Path) -> Task:
    from agent import tasks
    from reviewer.campaign import known_tasks

    known, problems = known_tasks(database)
    task = tasks.find(known, name)
    if task is None:
        left_out = "".join(f"; left out: {problem}" for problem in problems)
        raise CannotRun(f"--task: found {name!r}, wanted one of {', '.join(known)}{left_out}")
    return task


@contextmanager
def _new_file(path: Path) -> Iterator[TextIO]:
    """A file that has its name only once it is whole, and takes nobody else's."""
    if path.exists():
        raise CannotRun(f"{path}: found a file of that name; choose another, or remove it")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
    except OSError as error:
        raise CannotRun(f"{path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
