"""``spec-o3 blind draw``: plan a session and sample its traces, scorers and orders."""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, at_least_one, print_result
from agent.language import tr, trn
from reviewer.cli.common import add_common, database_of, opened, session_json, version_words

if TYPE_CHECKING:
    from reviewer.blind.plan import Plan
    from reviewer.store import BlindProgress, BlindSession, Store

_FIELDS = (
    *("name", "scorers", "mode", "sources", "tasks", "items", "design", "strata", "number", "each", "repeats", "seed"),
    *("training", "earlier", "version"),
)
_ANALYSIS = ("dimension", "margin", "gold_within", "repeats_within_1", "without_revealing", "stopping")
_FILTER = ("states", "survey", "snr_min", "snr_max", "batch", "simulated", "listed")


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "plan", nargs="?", type=Path, metavar="PLAN.toml", help=tr("the plan; options override its fields")
    )
    parser.add_argument(
        "--again",
        type=Path,
        metavar="session.json",
        help=tr("score the same texts as an earlier session, from its report; --scorers has the new scorers"),
    )
    _add_plan(parser)
    _add_analysis(parser)
    _add_filter(parser)
    add_common(parser)


def _add_plan(parser: ArgumentParser) -> None:
    parser.add_argument("--name", help=tr("the session's name; scorers do not see it"))
    parser.add_argument("--scorers", nargs="+", metavar="INITIALS", help=tr("who scores"))
    parser.add_argument("--mode", choices=("scores", "pairs", "both"), help=tr("the kind of questions (scores)"))
    parser.add_argument("--sources", nargs="+", metavar="DRAFTER", help=tr("the drafters to compare (all)"))
    parser.add_argument(
        "--version",
        choices=("drafted", "approved", "both"),
        help=tr("the text of each item: as drafted; as people approved it; or both, as two sources (drafted)"),
    )
    parser.add_argument("--tasks", nargs="+", metavar="KEY", help=tr("only these tasks (all)"))
    parser.add_argument("--items", nargs="+", type=at_least_one, metavar="N", help=tr("exactly these items"))
    parser.add_argument(
        "--design",
        choices=("same spectra", "separate"),
        help=tr("a trace of every source of the same spectra, or of each source for itself (same spectra)"),
    )
    parser.add_argument(
        "--strata",
        nargs="+",
        choices=("survey", "label"),
        metavar="WHAT",
        help=tr("--number holds per task and per survey, label"),
    )
    parser.add_argument(
        "--number",
        type=at_least_one,
        metavar="N",
        help=tr("spectra per stratum; separate: traces per source and stratum (all)"),
    )
    parser.add_argument("--each", type=at_least_one, metavar="N", help=tr("scorers per spectrum (2)"))
    parser.add_argument(
        "--repeats", type=_non_negative_integer, metavar="N", help=tr("items that are shown again to each scorer (0)")
    )
    parser.add_argument("--seed", type=_non_negative_integer, metavar="N", help=tr("seed of the sampling (1)"))
    parser.add_argument(
        "--training",
        nargs="+",
        type=at_least_one,
        metavar="N",
        help=tr("items that everybody scores first; not counted"),
    )
    parser.add_argument(
        "--earlier",
        choices=("declare", "bar"),
        help=tr("people who saw a trace in an earlier session: declared in the report, or barred from it (declare)"),
    )
    parser.add_argument(
        "--leave-out-giveaways", action="store_true", help=tr("leave out texts that reveal their author")
    )


def _add_analysis(parser: ArgumentParser) -> None:
    group = parser.add_argument_group(
        tr("the analysis plan"), tr("frozen when the session opens, and printed in the report")
    )
    group.add_argument(
        "--primary",
        dest="dimension",
        choices=("coherence", "consistency"),
        help=tr("dimension of the primary comparison (consistency)"),
    )
    group.add_argument(
        "--compare",
        nargs=2,
        metavar="SOURCE",
        help=tr("sources of the primary comparison (the first two of --sources)"),
    )
    group.add_argument(
        "--margin", type=float, metavar="X", help=tr("differences below it do not matter: tests equivalence")
    )
    group.add_argument(
        "--exclude-gold-below",
        dest="gold_within",
        type=float,
        metavar="SHARE",
        help=tr("exclude scorers with a smaller share of gold scores within the tolerance"),
    )
    group.add_argument(
        "--exclude-repeats-below",
        dest="repeats_within_1",
        type=float,
        metavar="SHARE",
        help=tr("exclude scorers with a smaller share of repeated scores at most 1 apart"),
    )
    group.add_argument(
        "--exclude-revealing",
        dest="without_revealing",
        action="store_const",
        const=True,
        help=tr("exclude traces that reveal their author from the primary analysis"),
    )
    group.add_argument("--stopping", metavar="TEXT", help=tr("when the session will be closed"))


def _add_filter(parser: ArgumentParser) -> None:
    parser.add_argument("--states", nargs="+", metavar="STATE", help=tr("only items in these states, e.g. approved"))
    parser.add_argument("--survey", help=tr("only spectra of this survey"))
    parser.add_argument("--batch", help=tr("only items of this batch"))
    parser.add_argument("--listed", type=int, metavar="VIEW", help=tr("only items of this list (number of a view)"))
    parser.add_argument("--snr-min", type=float, metavar="S/N", help=tr("only spectra with this S/N or more"))
    parser.add_argument("--snr-max", type=float, metavar="S/N", help=tr("only spectra with this S/N or less"))
    parser.add_argument(
        "--no-simulated",
        dest="simulated",
        action="store_const",
        const=False,
        help=tr("leave simulated spectra out"),
    )


def run(arguments: Namespace) -> int:
    from reviewer.blind.balance import TooFew
    from reviewer.blind.plan import PlanError, SessionFileError

    try:
        if arguments.again and arguments.plan:
            raise CannotRun(tr("found a plan and --again, expected one of them"))
        plan = None if arguments.again else _plan(arguments, _read(arguments.plan) if arguments.plan else {})
        with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("texts searched")) as bar:
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
        nothing = tr("nothing drawn: {reason}", reason=few)
        print_result(arguments, {"session": None, "reason": str(few)}, nothing)
        return CHECK_FAILED
    result = session_json(session) | {
        "assigned": {one.scorer: one.assigned for one in progress},
        "revealing": sorted(revealing),
    }
    print_result(arguments, result, _drawn_summary(session, progress, len(revealing)))
    return DONE


def _rerun(path: Path, store: Store) -> dict[str, Any]:
    from reviewer.blind.plan import read_session, rerun_plan, session_version

    session = read_session(path)
    version = session_version(session)
    return rerun_plan(session, lambda texts: store.blind.results.items_by_content(texts, version))


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
        raise CannotRun(tr("{path}: found no TOML ({error}), expected a plan", path=path, error=error)) from error


def _drawn_summary(session: BlindSession, progress: tuple[BlindProgress, ...], revealing: int) -> str:
    lines = [tr("session {id} drawn: {name}", id=session.id, name=session.name), "  " + version_words(session)]
    lines += [
        "  " + trn("{scorer} has {n} question", "{scorer} has {n} questions", one.assigned, scorer=one.scorer)
        for one in progress
    ]
    lines += list(session.notes)
    if revealing:
        lines.append(
            trn(
                "{n} text reveals its author: spec-o3 blind giveaways {id}",
                "{n} texts reveal their authors: spec-o3 blind giveaways {id}",
                revealing,
                id=session.id,
            )
        )
    lines.append(tr("to let its scorers begin: spec-o3 blind open {id}", id=session.id))
    return "\n".join(lines)


def _non_negative_integer(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(tr("found {text!r}, expected a whole number, 0 or more", text=text))
    return int(text)
