"""``spec-o3 draft``: let a policy inspect spectra and keep what it wrote."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from agent import tasks
from agent.command import BAD_NEWS, DONE, CannotRun, progress, say
from agent.loop import Policy, PolicyError
from agent.loop import run as inspect_whole
from agent.spectrum import SpectrumError, read_all
from agent.tasks import Task, TaskError
from reviewer.commands.database import DATABASE, add_database, add_json, opened
from reviewer.drafts import own_row
from reviewer.store import Draft


def add(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="survey files")
    parser.add_argument("--task", required=True, help="target class: a task's key or alias, such as cv")
    parser.add_argument(
        "--policy", choices=tuple(_POLICIES), default="baseline", help="who drafts (baseline)"
    )
    parser.add_argument("--label", choices=("YES", "NO"), help="the known truth of all these files")
    parser.add_argument("--batch", default="", help="a name to find these drafts by")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write JSON lines here; without --db nothing else is written"
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    task = _task(arguments.task)
    database = arguments.db or (None if arguments.out else DATABASE)
    refused: list[str] = []
    with ExitStack() as open_things:
        out = open_things.enter_context(_new_file(arguments.out)) if arguments.out else None
        store = open_things.enter_context(opened(database)) if database else None
        drafts = _drafts(arguments, task, refused, out)
        added = list(store.add_items(drafts)) if store else [None for _ in drafts]
    new = sum(1 for a in added if a is not None and a.new)
    kept = [f"{new} of them new in {database}"] if database else []
    kept += [f"written to {arguments.out}"] if arguments.out else []
    text = "\n".join(
        [f"{len(added)} drafted, {', '.join(kept)}", *(f"refused: {reason}" for reason in refused)]
    )
    say(arguments, {"drafted": len(added), "added": new, "refused": refused}, text)
    return BAD_NEWS if refused else DONE


def _baseline() -> Policy:
    from agent.policies.baseline import Baseline

    return Baseline()


# A policy is made when it is asked for: another one's needs (torch, a server) are nobody else's.
_POLICIES = {"baseline": _baseline}


def _drafts(arguments: Namespace, task: Task, refused: list[str], out: TextIO | None) -> Iterator[Draft]:
    """One draft for each spectrum of each file; why a file gave none goes to ``refused``."""
    policy = _POLICIES[arguments.policy]()
    for path in progress(arguments.files, len(arguments.files), "drafting"):
        try:
            for spectrum in read_all(path):
                trajectory = inspect_whole(spectrum, task, policy)
                if arguments.label is not None:
                    trajectory = replace(
                        trajectory, label=arguments.label, label_source="spec-o3 draft --label"
                    )
                if out is not None:
                    out.write(json.dumps(own_row(trajectory, spectrum), ensure_ascii=False) + "\n")
                yield Draft(trajectory, spectrum, batch=arguments.batch)
        except SpectrumError as error:
            refused.append(str(error))
        except PolicyError as error:
            raise CannotRun(str(error)) from error


def _task(name: str) -> Task:
    try:
        known = tasks.load()
    except TaskError as error:
        raise CannotRun(str(error)) from error
    task = tasks.find(known, name)
    if task is None:
        raise CannotRun(f"--task: found {name!r}, wanted one of {', '.join(known)}")
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
