"""Arguments that several commands share, opening of annotations.db, and a blind session in words and as JSON."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agent import database_place
from agent.cli.command import CannotRun
from agent.cli.options import JsonOutput, argument, at_least_one, option, upper
from agent.language import deferred, tr

if TYPE_CHECKING:
    from agent.tasks import Task
    from reviewer.store import Store


@dataclass(kw_only=True)
class Database:
    """The database."""

    db: Path | None = option("the reviewers' database (default: annotations.db; docs/backups.md says where)")


@dataclass(kw_only=True)
class Person:
    """The person on whose behalf a command works."""

    by: str | None = option(
        "who does this, of those who may (default: the only active person; without accounts the owner of the file)",
        metavar="INITIALS",
        read=upper,
    )


@dataclass(kw_only=True)
class Session(Person, Database, JsonOutput):
    """A session of blind scoring."""

    session: int = argument("the session's number", metavar="SESSION", read=at_least_one)


BATCH = deferred("only of this batch")
NO_SIMULATED = deferred("leave simulated spectra out")
SKIP_BAD = deferred("import the rest if some cannot be used; by default none is imported then")


def database_of(arguments: Database | OfTask) -> Path:
    """Return the database that ``--db`` names, else its usual place. :raises CannotRun: it is at a wrong place"""
    return database_place.database(arguments.db)


class OfTask(Protocol):
    """Arguments that name a task."""

    task: str | None
    tasks: Path | None
    db: Path | None


def task_from(arguments: OfTask) -> Task:
    """Return the task. :raises CannotRun: none is named, or it is not known"""
    from agent import tasks
    from reviewer.rules.campaign import known_tasks

    known, _ = known_tasks(database_of(arguments))
    if arguments.tasks is not None:
        known = tasks.load_all([arguments.tasks])[0]
    task = None if arguments.task is None else tasks.find(known, arguments.task)
    if task is None:
        raise CannotRun(
            tr("--task: found {task!r}, expected one of {names}", task=arguments.task, names=", ".join(known))
        )
    return task


def only_person(store: Store) -> str | None:
    """Return the only active person; None: there are several, or nobody."""
    active = [person.initials for person in store.accounts.people() if person.active]
    return active[0] if len(active) == 1 else None


def person_or_only_one(store: Store, initials: str | None) -> str:
    """Return these initials, or those of the only active person. :raises CannotRun: there are several, or nobody"""
    active = [person.initials for person in store.accounts.people() if person.active]
    if initials is None and len(active) != 1:
        raise CannotRun(
            tr("found {n_active} active people, expected --by INITIALS to name one of them", n_active=len(active))
        )
    return initials or active[0]


@contextmanager
def opened(where: Path, must_exist: bool = False) -> Iterator[Store]:
    """Open the store. :raises CannotRun: it cannot be opened, or refuses"""
    from reviewer.store import Store, StoreError

    if must_exist and not where.is_file():
        raise CannotRun(
            tr("{where}: found no database; name one with --db, or draft or import something first", where=where)
        )
    new, empty, interrupted = not where.exists(), False, False
    try:
        database_place.make_folder(where)
        with Store.open(where) as store:
            try:
                yield store
            except KeyboardInterrupt:
                interrupted = True  # an import resumes from what it has checked
                raise
            finally:
                empty = new and not interrupted and not store.withdrawals.batches()
    except (StoreError, database_place.PlaceError) as error:
        raise CannotRun(str(error)) from error
    finally:
        if empty:
            _delete_new(where)


def _delete_new(where: Path) -> None:
    """Delete a database that this command has created and added nothing to, unless another program has opened it."""
    from reviewer.exchange.imports import imports_folder
    from reviewer.store import StoreError
    from reviewer.store.sqlite.files import exclusive_access

    with suppress(OSError, StoreError):
        with exclusive_access(where):
            where.unlink()
        shutil.rmtree(imports_folder(where), ignore_errors=True)


if TYPE_CHECKING:
    from reviewer.store import BlindProgress, BlindSession


def session_json(session: BlindSession) -> dict[str, Any]:
    """Return a session without its rubric and its questions, which are long."""
    times = {name: getattr(session, name) for name in ("drawn_at", "opened_at", "closed_at")}
    return {
        "session": session.id,
        "name": session.name,
        "state": session.state,
        "plan": session.plan.to_json(),
        "version": None if session.plan.version == "current" else session.plan.version,
        "notes": list(session.notes),
        "drawn_by": session.drawn_by,
        "analysis_sha256": session.analysis_sha256,
        **{name: None if at is None else at.isoformat() for name, at in times.items()},
    }


def headline(session: BlindSession) -> str:
    """Return a session in one line."""
    at = session.closed_at or session.opened_at or session.drawn_at
    return tr(
        "{id}: {name}, {state} since {at:%Y-%m-%d %H:%M} UTC; {version}",
        id=session.id,
        name=session.name,
        state=tr(session.state),
        at=at,
        version=version_words(session),
    )


def version_words(session: BlindSession) -> str:
    """Return which version of the texts a session shows."""
    return tr(_VERSIONS[session.plan.version])


_VERSIONS = {
    "drafted": deferred("texts as drafted"),
    "approved": deferred("texts as approved"),
    "both": deferred("texts as drafted and as approved, two sources"),
    "current": deferred("made before drafted and edited texts were told apart"),
}


def unanswered(progress: tuple[BlindProgress, ...]) -> int:
    """Return the number of assignments without an answer."""
    return sum(blind_progress.assigned - blind_progress.done for blind_progress in progress)
