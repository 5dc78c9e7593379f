"""Arguments that several commands share, opening of annotations.db, and a blind session in words and as JSON."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import CannotRun, at_least_one
from agent.language import deferred, tr

if TYPE_CHECKING:
    from reviewer.store import Store

DATABASE = Path(__file__).parents[2] / "annotations.db"


def add_database(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--db", type=Path, metavar="FILE", help=tr("the reviewers' database (annotations.db next to app.py)")
    )


def add_json(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def person_or_only_one(store: Store, initials: str | None) -> str:
    """Return these initials, or those of the only active person. :raises CannotRun: there are several, or nobody"""
    active = [person.initials for person in store.accounts.people() if person.active]
    if initials is None and len(active) != 1:
        raise CannotRun(
            tr("found {n_active} active people, expected --by INITIALS to name one of them", n_active=len(active))
        )
    return initials or active[0]


@contextmanager
def opened(path: Path | None, must_exist: bool = False) -> Iterator[Store]:
    """Open the store at ``path``, or at its usual place. :raises CannotRun: it cannot be opened, or refuses"""
    from reviewer.store import Store, StoreError

    where = path or DATABASE
    if must_exist and not where.is_file():
        raise CannotRun(
            tr("{where}: found no database; name one with --db, or draft or import something first", where=where)
        )
    try:
        with Store.open(where) as store:
            yield store
    except StoreError as error:
        raise CannotRun(str(error)) from error


if TYPE_CHECKING:
    from reviewer.store import BlindProgress, BlindSession


def add_session(parser: ArgumentParser) -> None:
    """Add the session's number and the arguments of every subcommand."""
    parser.add_argument("session", type=at_least_one, metavar="SESSION", help=tr("the session's number"))
    add_common(parser)


def add_common(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        type=str.upper,
        metavar="INITIALS",
        help=tr("the coordinator (default: the owner of the file)"),
    )
    add_database(parser)
    add_json(parser)


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
    return sum(one.assigned - one.done for one in progress)
