"""``spec-o3 blind``: plan, open, close and report blind scoring sessions."""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, Command, ProgressBar, at_least_one, print_result
from reviewer.cli import blind_judge, blind_power
from reviewer.cli.common import (
    add_common,
    add_database,
    add_json,
    add_session,
    headline,
    opened,
    session_json,
    unanswered,
)

if TYPE_CHECKING:
    from reviewer.blind.plan import Plan
    from reviewer.store import BlindProgress, BlindSession, Store
    from reviewer.store.blind.values import LeakFound

_FIELDS = (
    *("name", "scorers", "mode", "sources", "tasks", "items", "design", "strata", "number", "each", "repeats", "seed"),
    *("training", "earlier"),
)
_ANALYSIS = ("dimension", "margin", "gold_within", "repeats_within_1", "without_revealing", "stopping")
_FILTER = ("states", "survey", "snr_min", "snr_max", "batch", "simulated")


def add_draw(parser: ArgumentParser) -> None:
    parser.add_argument("plan", nargs="?", type=Path, metavar="PLAN.toml", help="the plan; options override its fields")
    parser.add_argument(
        "--again",
        type=Path,
        metavar="session.json",
        help="score the same texts as an earlier session, from its report; --scorers has the new scorers",
    )
    _add_plan(parser)
    _add_analysis(parser)
    _add_filter(parser)
    add_common(parser)


def _add_plan(parser: ArgumentParser) -> None:
    parser.add_argument("--name", help="the session's name; scorers do not see it")
    parser.add_argument("--scorers", nargs="+", metavar="INITIALS", help="who scores")
    parser.add_argument("--mode", choices=("scores", "pairs", "both"), help="the kind of questions (scores)")
    parser.add_argument("--sources", nargs="+", metavar="DRAFTER", help="the drafters to compare (all)")
    parser.add_argument("--tasks", nargs="+", metavar="KEY", help="only these tasks (all)")
    parser.add_argument("--items", nargs="+", type=at_least_one, metavar="N", help="exactly these items")
    parser.add_argument(
        "--design",
        choices=("same spectra", "separate"),
        help="a trace of every source of the same spectra, or of each source for itself (same spectra)",
    )
    parser.add_argument(
        "--strata",
        nargs="+",
        choices=("survey", "label"),
        metavar="WHAT",
        help="--number holds per task and per survey, label",
    )
    parser.add_argument(
        "--number",
        type=at_least_one,
        metavar="N",
        help="spectra per stratum; separate: traces per source and stratum (all)",
    )
    parser.add_argument("--each", type=at_least_one, metavar="N", help="scorers per spectrum (2)")
    parser.add_argument(
        "--repeats", type=_non_negative_integer, metavar="N", help="items that are shown again to each scorer (0)"
    )
    parser.add_argument("--seed", type=_non_negative_integer, metavar="N", help="seed of the sampling (1)")
    parser.add_argument(
        "--training", nargs="+", type=at_least_one, metavar="N", help="items that everybody scores first; not counted"
    )
    parser.add_argument(
        "--earlier",
        choices=("declare", "bar"),
        help="people who saw a trace in an earlier session: declared in the report, or barred from it (declare)",
    )
    parser.add_argument("--leave-out-giveaways", action="store_true", help="leave out texts that reveal their author")


def _add_analysis(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("the analysis plan", "frozen when the session opens, and printed in the report")
    group.add_argument(
        "--primary",
        dest="dimension",
        choices=("coherence", "consistency"),
        help="dimension of the primary comparison (consistency)",
    )
    group.add_argument(
        "--compare", nargs=2, metavar="SOURCE", help="sources of the primary comparison (the first two of --sources)"
    )
    group.add_argument(
        "--margin", type=float, metavar="X", help="differences below it do not matter: tests equivalence"
    )
    group.add_argument(
        "--exclude-gold-below",
        dest="gold_within",
        type=float,
        metavar="SHARE",
        help="exclude scorers with a smaller share of gold scores within the tolerance",
    )
    group.add_argument(
        "--exclude-repeats-below",
        dest="repeats_within_1",
        type=float,
        metavar="SHARE",
        help="exclude scorers with a smaller share of repeated scores at most 1 apart",
    )
    group.add_argument(
        "--exclude-revealing",
        dest="without_revealing",
        action="store_const",
        const=True,
        help="exclude traces that reveal their author from the primary analysis",
    )
    group.add_argument("--stopping", metavar="TEXT", help="when the session will be closed")


def _add_filter(parser: ArgumentParser) -> None:
    parser.add_argument("--states", nargs="+", metavar="STATE", help="only items in these states, e.g. approved")
    parser.add_argument("--survey", help="only spectra of this survey")
    parser.add_argument("--batch", help="only items of this batch")
    parser.add_argument("--snr-min", type=float, metavar="S/N", help="only spectra with this S/N or more")
    parser.add_argument("--snr-max", type=float, metavar="S/N", help="only spectra with this S/N or less")
    parser.add_argument(
        "--no-simulated",
        dest="simulated",
        action="store_const",
        const=False,
        help="leave simulated spectra out",
    )


def run_draw(arguments: Namespace) -> int:
    from reviewer.blind.balance import TooFew
    from reviewer.blind.plan import PlanError, SessionFileError

    try:
        if arguments.again and arguments.plan:
            raise CannotRun("found a plan and --again, expected one of them")
        plan = None if arguments.again else _plan(arguments, _read(arguments.plan) if arguments.plan else {})
        with opened(arguments.db, must_exist=True) as store, ProgressBar(None, "texts searched") as bar:
            plan = plan or _plan(arguments, _rerun(arguments.again, store))
            session = store.blind.sessions.create(arguments.by, plan, uuid4().hex, bar.at)
            progress = store.blind.sessions.progress(arguments.by, session.id)
            revealing = {found.item for found in store.blind.sessions.leaks(arguments.by, session.id)}
    except PlanError as error:
        file = arguments.plan or arguments.again
        where = f"{file}: " if file else ""
        raise CannotRun(f"{where}{error}") from error
    except SessionFileError as error:
        raise CannotRun(str(error)) from error
    except TooFew as few:
        print_result(arguments, {"session": None, "reason": str(few)}, f"nothing drawn: {few}")
        return CHECK_FAILED
    result = session_json(session) | {
        "asked": {one.scorer: one.assigned for one in progress},
        "giving_away": sorted(revealing),
    }
    print_result(arguments, result, _drawn_summary(session, progress, len(revealing)))
    return DONE


def _rerun(path: Path, store: Store) -> dict[str, Any]:
    from reviewer.blind.plan import read_session, rerun_plan

    return rerun_plan(read_session(path), store.blind.results.items_by_content)


def _plan(arguments: Namespace, data: dict[str, Any]) -> Plan:
    """Return the plan of the file and the options. :raises PlanError: naming the field"""
    from reviewer.blind.plan import Plan

    data |= _given(arguments, _FIELDS)
    if arguments.leave_out_giveaways:
        data["giveaways"] = "leave out"
    planned = _given(arguments, _ANALYSIS)
    if arguments.compare:
        planned |= dict(zip(("first", "second"), arguments.compare, strict=True))
    analysis_there = data.get("analysis", {})
    if planned and isinstance(analysis_there, dict):
        data["analysis"] = analysis_there | planned
    chosen = _given(arguments, _FILTER)
    filter_there = data.get("filter", {})
    if chosen and isinstance(filter_there, dict):
        data["filter"] = filter_there | chosen
    return Plan.from_json(data)


def _given(arguments: Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(arguments, name)) is not None}


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as opened_file:
            return tomllib.load(opened_file)
    except OSError as error:
        raise CannotRun(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CannotRun(f"{path}: found no TOML ({error}), expected a plan") from error


def _drawn_summary(session: BlindSession, progress: tuple[BlindProgress, ...], revealing: int) -> str:
    lines = [f"session {session.id} drawn: {session.name}"]
    lines += [f"  {one.scorer} has {one.assigned} questions" for one in progress]
    lines += list(session.notes)
    if revealing:
        lines.append(f"{revealing} texts reveal their authors: spec-o3 blind giveaways {session.id}")
    lines.append(f"to let its scorers begin: spec-o3 blind open {session.id}")
    return "\n".join(lines)


def _non_negative_integer(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"found {text!r}, expected a whole number, 0 or more")
    return int(text)


def add_list(parser: ArgumentParser) -> None:
    add_database(parser)
    add_json(parser)


def run_list(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        sessions = store.blind.sessions.all(None)
    text = "\n".join(headline(one) for one in sessions) or "there are no blind sessions"
    print_result(arguments, {"sessions": [session_json(one) for one in sessions]}, text)
    return DONE


def add_status(parser: ArgumentParser) -> None:
    add_session(parser)


def run_status(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        progress = store.blind.sessions.progress(arguments.by, session.id)
    lines = [headline(session), *(f"  {one.scorer}: {one.done} of {one.assigned}" for one in progress)]
    rows = [{"scorer": one.scorer, "done": one.done, "asked": one.assigned} for one in progress]
    result = session_json(session) | {"progress": rows}
    print_result(arguments, result, "\n".join((*lines, *session.notes)))
    return DONE


def add_open(parser: ArgumentParser) -> None:
    add_session(parser)


def run_open(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.blind.sessions.open(arguments.by, arguments.session, uuid4().hex)
    frozen = f"analysis plan frozen, SHA-256 {session.analysis_sha256}"
    print_result(arguments, session_json(session), f"{headline(session)}\n{frozen}")
    return DONE


def add_close(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument("--unfinished", action="store_true", help="close it although answers are missing")


def run_close(arguments: Namespace) -> int:
    with opened(arguments.db, must_exist=True) as store:
        session = store.blind.sessions.get(arguments.by, arguments.session)
        missing = unanswered(store.blind.sessions.progress(arguments.by, session.id))
        if session.state == "open" and missing and not arguments.unfinished:
            raise CannotRun(
                f"session {session.id}: found {missing} answers missing, and closing is final; "
                "--unfinished closes it anyway"
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

    with opened(arguments.db, must_exist=True) as store:
        found = store.blind.sessions.leaks(arguments.by, arguments.session)
        traces = store.blind.checks.traces(arguments.by, arguments.session)
        shown = ((one.source, one.spectrum, one.trajectory) for one in traces)
        pictures = count_states(store.spectra, shown)
    measured = fingerprints([(one.source, one.spectrum, one.trajectory) for one in traces if one.compared])
    lines = [_leak(one) for one in found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"and {len(found) - SHOWN} more")
    lines = lines or ["nothing was found; a scorer may still notice other leaks"]
    for source, states in pictures.items():
        counts = ", ".join(f"{number} {state}" for state, number in states.items())
        lines.append(f"pictures of {source}: {counts or 'none'}")
    lines.append(measured.sentence)
    result = {
        "session": arguments.session,
        "giveaways": [asdict(one) for one in found],
        "fingerprints": measured.to_json(),
        "pictures": pictures,
    }
    print_result(arguments, result, "\n".join(lines))
    return CHECK_FAILED if found else DONE


def _leak(found: LeakFound) -> str:
    where = f"step {found.step}" if found.step else "first picture"
    return f"item {found.item}, {where}, by {found.source}: “{found.giveaway.words}” ({found.giveaway.kind})"


def add_report(parser: ArgumentParser) -> None:
    add_session(parser)
    parser.add_argument(
        "--output", type=Path, required=True, metavar="DIR", help="a new or an empty folder for its files"
    )


def run_report(arguments: Namespace) -> int:
    from reviewer.blind.report import ReportError, write

    try:
        with opened(arguments.db, must_exist=True) as store:
            written = write(store, arguments.by, arguments.session, arguments.output)
    except ReportError as error:
        raise CannotRun(str(error)) from error
    names = [path.name for path in written]
    result = {"session": arguments.session, "folder": str(written[0].parent), "files": names}
    print_result(arguments, result, f"session {arguments.session} reported in {written[0].parent}: {', '.join(names)}")
    return DONE


SUBCOMMANDS: tuple[Command, ...] = (
    Command("power", "Calculate the power of a planned session.", blind_power.add, blind_power.run),
    Command("draw", "Plan a session: sample its traces, scorers and orders.", add_draw, run_draw),
    Command("giveaways", "Show where a session's texts reveal their authors.", add_leaks, run_leaks),
    Command("open", "Open a session for its scorers.", add_open, run_open),
    Command("status", "Show a session and the progress of its scorers.", add_status, run_status),
    Command("close", "Close a session for good.", add_close, run_close),
    Command("judge", "Let a model judge the traces of a session.", blind_judge.add, blind_judge.run),
    Command("report", "Write the report of a closed session: page and tables.", add_report, run_report),
    Command("list", "List all sessions.", add_list, run_list),
)


def add(parser: ArgumentParser) -> None:
    does = parser.add_subparsers(metavar="WHAT", title="what to do", required=True, help="see below")
    for command in SUBCOMMANDS:
        one = does.add_parser(command.name, help=command.help, description=command.help)
        command.add(one)
        one.set_defaults(run=command.run)


def run(arguments: Namespace) -> int:
    """Refuse: argparse requires one of the subcommands."""
    raise CannotRun(f"blind: found no command, expected one of {', '.join(command.name for command in SUBCOMMANDS)}")
