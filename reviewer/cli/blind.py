"""``spec-o3 blind``: plan, open, close and report blind scoring sessions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, print_result
from agent.cli.options import JsonOutput, option, output_folder
from agent.language import tr
from reviewer.cli.common import (
    Database,
    Session,
    database_of,
    headline,
    opened,
    session_json,
    unanswered,
)

if TYPE_CHECKING:
    from reviewer.store.blind.values import LeakFound


@dataclass(kw_only=True)
class ListOptions(Database, JsonOutput):
    pass


Options = Session


@dataclass(kw_only=True)
class CloseOptions(Session):
    unfinished: bool = option("close it although answers are missing")


@dataclass(kw_only=True)
class ReportOptions(Session):
    out: Path = option("folder to write, new or empty", metavar="DIR", read=output_folder)


def run_list(arguments: ListOptions) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        sessions = store.blind.sessions.all(None)
    text = "\n".join(headline(session) for session in sessions) or tr("there are no blind sessions")
    print_result(arguments, {"sessions": [session_json(session) for session in sessions]}, text)
    return DONE


def run_status(arguments: Session) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        progress = store.blind.sessions.progress(arguments.by, session.id)
    lines = [
        headline(session),
        *(
            "  "
            + tr("{scorer}: {done} of {assigned}", scorer=scorer.scorer, done=scorer.done, assigned=scorer.assigned)
            for scorer in progress
        ),
    ]
    rows = [{"scorer": scorer.scorer, "done": scorer.done, "assigned": scorer.assigned} for scorer in progress]
    result = session_json(session) | {"progress": rows}
    print_result(arguments, result, "\n".join((*lines, *session.notes)))
    return DONE


def run_open(arguments: Session) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.open(arguments.by, arguments.session, uuid4().hex)
    frozen = tr("analysis plan frozen, SHA-256 {sha256}", sha256=session.analysis_sha256)
    print_result(arguments, session_json(session), f"{headline(session)}\n{frozen}")
    return DONE


def run_close(arguments: CloseOptions) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        missing = unanswered(store.blind.sessions.progress(arguments.by, session.id))
        if session.state == "open" and missing and not arguments.unfinished:
            raise CannotRun(
                tr(
                    "session {id}: found {missing} answers missing, and closing is final; --unfinished closes it "
                    "anyway",
                    id=session.id,
                    missing=missing,
                )
            )
        session = store.blind.sessions.close(arguments.by, session.id, uuid4().hex)
    print_result(arguments, session_json(session) | {"unanswered": missing}, headline(session))
    return DONE


SHOWN = 40  # finds printed for a person; --json has them all


def run_giveaways(arguments: Session) -> int:
    from reviewer.blind.fingerprints import fingerprints  # scikit-learn takes a second to import
    from reviewer.blind.pictures import count_states

    with opened(database_of(arguments), must_exist=True) as store:
        leaks = store.blind.sessions.leaks(arguments.by, arguments.session)
        traces = store.blind.checks.traces(arguments.by, arguments.session)
        shown = ((trace.source, trace.spectrum, trace.trajectory) for trace in traces)
        pictures = count_states(store.spectra, shown)
    measured = fingerprints([(trace.source, trace.spectrum, trace.trajectory) for trace in traces if trace.compared])
    lines = [_leak(leak) for leak in leaks[:SHOWN]]
    if len(leaks) > SHOWN:
        lines.append(tr("and {n} more", n=len(leaks) - SHOWN))
    lines = lines or [tr("nothing was found; a scorer may still notice other leaks")]
    for source, states in pictures.items():
        counts = ", ".join(f"{number} {tr(state)}" for state, number in states.items())
        lines.append(tr("pictures of {source}: {counts}", source=source, counts=counts or tr("none")))
    lines.append(tr(measured.sentence))
    result = {
        "session": arguments.session,
        "giveaways": [asdict(leak) for leak in leaks],
        "fingerprints": measured.to_json(),
        "pictures": pictures,
    }
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if leaks else DONE


def _leak(leak: LeakFound) -> str:
    where = tr("step {step}", step=leak.step) if leak.step else tr("first picture")
    return tr(
        "item {item}, {where}, by {source}: “{words}” ({kind})",
        item=leak.item,
        where=where,
        source=leak.source,
        words=leak.giveaway.words,
        kind=tr(leak.giveaway.kind),
    )


def run_report(arguments: ReportOptions) -> int:
    from reviewer.exchange.blind_report import write

    with opened(database_of(arguments), must_exist=True) as store:
        written = write(store, arguments.by, arguments.session, arguments.out)
    names = [path.name for path in written]
    result = {"session": arguments.session, "folder": str(written[0].parent), "files": names}
    text = tr(
        "session {session} reported in {folder}: {names}",
        session=arguments.session,
        folder=written[0].parent,
        names=", ".join(names),
    )
    print_result(arguments, result, text)
    return DONE
