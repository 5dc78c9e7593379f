"""``spec-o3 blind``: plan, open, close and report blind scoring sessions."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING
from uuid import uuid4

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, Command, output_folder, print_result
from agent.language import tr
from reviewer.cli import blind_draw, blind_judge, blind_power
from reviewer.cli.common import (
    add_database,
    add_json,
    add_session,
    database_of,
    headline,
    opened,
    session_json,
    unanswered,
)

if TYPE_CHECKING:
    from reviewer.store.blind.values import LeakFound


def add_list(parser: ArgumentParser) -> None:
    add_database(parser)
    add_json(parser)


def run_list(arguments: Namespace) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        sessions = store.blind.sessions.all(None)
    text = "\n".join(headline(one) for one in sessions) or tr("there are no blind sessions")
    print_result(arguments, {"sessions": [session_json(one) for one in sessions]}, text)
    return DONE


def add_status(parser: ArgumentParser) -> None:
    add_session(parser)


def run_status(arguments: Namespace) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        progress = store.blind.sessions.progress(arguments.by, session.id)
    lines = [
        headline(session),
        *(
            "  " + tr("{scorer}: {done} of {assigned}", scorer=one.scorer, done=one.done, assigned=one.assigned)
            for one in progress
        ),
    ]
    rows = [{"scorer": one.scorer, "done": one.done, "assigned": one.assigned} for one in progress]
    result = session_json(session) | {"progress": rows}
    print_result(arguments, result, "\n".join((*lines, *session.notes)))
    return DONE


def add_open(parser: ArgumentParser) -> None:
    add_session(parser)


def run_open(arguments: Namespace) -> int:
    with opened(database_of(arguments), must_exist=True) as store:
        session = store.blind.sessions.open(arguments.by, arguments.session, uuid4().hex)
    frozen = tr("analysis plan frozen, SHA-256 {sha256}", sha256=session.analysis_sha256)
    print_result(arguments, session_json(session), f"{headline(session)}\n{frozen}")
    return DONE


def add_close(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument("--unfinished", action="store_true", help=tr("close it although answers are missing"))


def run_close(arguments: Namespace) -> int:
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


def add_leaks(parser: ArgumentParser) -> None:
    add_session(parser)


def run_leaks(arguments: Namespace) -> int:
    from reviewer.blind.fingerprints import fingerprints  # scikit-learn takes a second to import
    from reviewer.blind.pictures import count_states

    with opened(database_of(arguments), must_exist=True) as store:
        found = store.blind.sessions.leaks(arguments.by, arguments.session)
        traces = store.blind.checks.traces(arguments.by, arguments.session)
        shown = ((one.source, one.spectrum, one.trajectory) for one in traces)
        pictures = count_states(store.spectra, shown)
    measured = fingerprints([(one.source, one.spectrum, one.trajectory) for one in traces if one.compared])
    lines = [_leak(one) for one in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(tr("and {n} more", n=len(found) - SHOWN))
    lines = lines or [tr("nothing was found; a scorer may still notice other leaks")]
    for source, states in pictures.items():
        counts = ", ".join(f"{number} {tr(state)}" for state, number in states.items())
        lines.append(tr("pictures of {source}: {counts}", source=source, counts=counts or tr("none")))
    lines.append(tr(measured.sentence))
    result = {
        "session": arguments.session,
        "giveaways": [asdict(one) for one in found],
        "fingerprints": measured.to_json(),
        "pictures": pictures,
    }
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if found else DONE


def _leak(found: LeakFound) -> str:
    where = tr("step {step}", step=found.step) if found.step else tr("first picture")
    return tr(
        "item {item}, {where}, by {source}: “{words}” ({kind})",
        item=found.item,
        where=where,
        source=found.source,
        words=found.giveaway.words,
        kind=tr(found.giveaway.kind),
    )


def add_report(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--output", type=output_folder, required=True, metavar="DIR", help=tr("a new or an empty folder for its files")
    )


def run_report(arguments: Namespace) -> int:
    from reviewer.exchange.blind_report import ReportError, write

    try:
        with opened(database_of(arguments), must_exist=True) as store:
            written = write(store, arguments.by, arguments.session, arguments.output)
    except ReportError as error:
        raise CannotRun(str(error)) from error
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


SUBCOMMANDS: tuple[Command, ...] = (
    Command("power", "Calculate the power of a planned session.", blind_power.add, blind_power.run),
    Command("draw", "Plan a session: sample its traces, scorers and orders.", blind_draw.add, blind_draw.run),
    Command("giveaways", "Show where a session's texts reveal their authors.", add_leaks, run_leaks),
    Command("open", "Open a session for its scorers.", add_open, run_open),
    Command("status", "Show a session and the progress of its scorers.", add_status, run_status),
    Command("close", "Close a session for good.", add_close, run_close),
    Command("judge", "Let a model judge the traces of a session.", blind_judge.add, blind_judge.run),
    Command("report", "Write the report of a closed session: page and tables.", add_report, run_report),
    Command("list", "List all sessions.", add_list, run_list),
)


def add(parser: ArgumentParser) -> None:
    does = parser.add_subparsers(metavar="WHAT", title=tr("what to do"), required=True, help=tr("see below"))
    for command in SUBCOMMANDS:
        one = does.add_parser(command.name, help=tr(command.help), description=tr(command.help))
        command.add(one)
        one.set_defaults(run=command.run)


def run(arguments: Namespace) -> int:
    """Refuse: argparse requires one of the subcommands."""
    raise CannotRun(
        tr("blind: found no command, expected one of {names}", names=", ".join(command.name for command in SUBCOMMANDS))
    )
