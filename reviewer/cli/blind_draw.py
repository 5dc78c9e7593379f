"""``spec-o3 blind draw``: plan a session and sample its traces, scorers and orders."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, print_result
from agent.cli.options import ONLY_TASKS, JsonOutput, amount, argument, at_least_one, keys, not_negative, option
from agent.language import deferred, tr, trn
from reviewer.cli.common import (
    BATCH,
    NO_SIMULATED,
    Database,
    Person,
    database_of,
    opened,
    session_json,
    version_words,
)

if TYPE_CHECKING:
    from reviewer.blind.plan import Plan
    from reviewer.store import BlindProgress, BlindSession, Store

_FIELDS = (
    *("name", "scorers", "mode", "sources", "tasks", "items", "design", "strata", "number", "each", "repeats", "seed"),
    *("training", "earlier", "version"),
)
_ANALYSIS = ("dimension", "margin", "gold_within", "repeats_within_1", "without_revealing", "stopping")
_FILTER = ("states", "survey", "snr_min", "snr_max", "batch", "simulated", "listed")


@dataclass(kw_only=True)
class AnalysisOptions:
    """What the analysis will be."""

    TITLE = deferred("the analysis plan")
    ABOUT = deferred("frozen when the session opens, and printed in the report")

    dimension: Literal["coherence", "consistency"] | None = option(
        "dimension of the primary comparison (default consistency)", flag="--primary"
    )
    compare: list[str] | None = option(
        "two sources of the primary comparison (default: the first two of --sources)", metavar="SOURCE"
    )
    margin: float | None = option("differences below it do not matter: tests equivalence", flag="--equivalence")
    gold_within: float | None = option(
        "exclude scorers with a smaller share of gold scores within the tolerance",
        flag="--exclude-gold-below",
        metavar="SHARE",
    )
    repeats_within_1: float | None = option(
        "exclude scorers with a smaller share of repeated scores at most 1 apart",
        flag="--exclude-repeats-below",
        metavar="SHARE",
    )
    without_revealing: bool | None = option(
        "exclude traces that reveal their author from the primary analysis", flag="--exclude-revealing"
    )
    stopping: str | None = option("when the session will be closed", metavar="TEXT")


@dataclass(kw_only=True)
class FilterOptions:
    """Which items may be drawn."""

    TITLE = deferred("the items")

    states: list[str] | None = option("only items in these states, e.g. approved", metavar="STATE")
    survey: str | None = option("only spectra of this survey", metavar="SURVEY")
    batch: str | None = option(BATCH, metavar="NAME")
    listed: int | None = option("only items of this list (number of a view)", metavar="VIEW")
    snr_min: float | None = option("only spectra with this S/N or more", flag="--min-snr", read=amount)
    snr_max: float | None = option("only spectra with this S/N or less", flag="--max-snr", read=amount)
    simulated: bool | None = option(NO_SIMULATED, flag="--no-simulated", bare=False)


@dataclass(kw_only=True)
class Options(AnalysisOptions, FilterOptions, Person, Database, JsonOutput):
    plan: Path | None = argument("the plan; options override its fields", metavar="PLAN.toml")
    again: Path | None = option(
        "score the same texts as an earlier session, from its report; --scorers has the new scorers",
        metavar="session.json",
    )
    name: str | None = option("the session's name; scorers do not see it", metavar="NAME")
    scorers: list[str] | None = option("who scores", metavar="INITIALS")
    mode: Literal["scores", "pairs", "both"] | None = option("the kind of questions (default scores)")
    sources: list[str] | None = option("the drafters to compare (default: all)", metavar="DRAFTER")
    version: Literal["drafted", "approved", "both"] | None = option(
        "the text of each item: as drafted; as people approved it; or both, as two sources (default drafted)",
        flag="--texts",
    )
    tasks: list[list[str]] | None = option(ONLY_TASKS, flag="--task", metavar="KEY", read=keys)
    items: list[int] | None = option("exactly these items", read=at_least_one)
    design: Literal["same spectra", "separate"] | None = option(
        "a trace of every source of the same spectra, or of each source for itself (default same spectra)"
    )
    strata: list[Literal["survey", "label"]] | None = option(
        "--number holds per task and per survey, label", metavar="WHAT"
    )
    number: int | None = option(
        "spectra per stratum; separate: traces per source and stratum (default: all)", read=at_least_one
    )
    each: int | None = option("scorers per spectrum (default 2)", read=at_least_one)
    repeats: int | None = option("items that are shown again to each scorer (default 0)", read=not_negative)
    seed: int | None = option(deferred("seed of what is random here (default {seed})", seed=0), read=not_negative)
    training: list[int] | None = option("items that everybody scores first; not counted", read=at_least_one)
    earlier: Literal["declare", "bar"] | None = option(
        "people who saw a trace in an earlier session: declared in the report, or barred from it (default declare)"
    )
    leave_out_giveaways: bool = option("leave out texts that reveal their author")


def run(arguments: Options) -> int:
    from reviewer.blind.balance import TooFew
    from reviewer.blind.plan import PlanError
    from reviewer.blind.session_file import SessionFileError

    try:
        if arguments.again and arguments.plan:
            raise CannotRun(tr("found a plan and --again, expected one of them"))
        again = arguments.again
        plan = None if again else _plan(arguments, _read(arguments.plan) if arguments.plan else {})
        with opened(database_of(arguments), must_exist=True) as store, ProgressBar(None, tr("texts searched")) as bar:
            if again is not None:
                plan = _plan(arguments, _rerun(again, store))
            assert plan is not None
            session = store.blind.sessions.create(arguments.by, plan, uuid4().hex, bar.at)
            progress = store.blind.sessions.progress(arguments.by, session.id)
            revealing = {leak.item for leak in store.blind.sessions.leaks(arguments.by, session.id)}
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
        "assigned": {scorer.scorer: scorer.assigned for scorer in progress},
        "revealing": sorted(revealing),
    }
    print_result(arguments, result, _drawn_summary(session, progress, len(revealing)))
    return DONE


def _rerun(path: Path, store: Store) -> dict[str, Any]:
    from reviewer.blind.session_file import read_session, rerun_plan, session_version

    session = read_session(path)
    version = session_version(session)
    return rerun_plan(session, lambda texts: store.blind.results.items_by_content(texts, version))


def _plan(arguments: Options, data: dict[str, Any]) -> Plan:
    """Return the plan of the file and the options. :raises PlanError: naming the field"""
    from reviewer.blind.plan import Plan

    data |= _given(arguments, _FIELDS)
    if arguments.tasks is not None:
        data["tasks"] = [key for some in arguments.tasks for key in some]
    if arguments.leave_out_giveaways:
        data["giveaways"] = "leave out"
    planned = _given(arguments, _ANALYSIS)
    if arguments.compare is not None and len(arguments.compare) != 2:
        raise CannotRun(tr("--compare: found {n} sources, expected two", n=len(arguments.compare)))
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


def _given(arguments: Options, names: tuple[str, ...]) -> dict[str, Any]:
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
        "  "
        + trn(
            "{scorer} has {n} question",
            "{scorer} has {n} questions",
            blind_progress.assigned,
            scorer=blind_progress.scorer,
        )
        for blind_progress in progress
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
