"""``spec-o3 draft``: let a policy inspect spectra and keep what it wrote."""

from __future__ import annotations

import hashlib
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from agent.command import BAD_NEWS, DONE, Bar, CannotRun, say
from agent.policies.options import add_policy
from reviewer.commands.costs import add_costs
from reviewer.commands.database import DATABASE, add_database, add_json, opened

if TYPE_CHECKING:
    from agent.labels import Labels
    from agent.many.sources import Source
    from agent.policies.options import Choice
    from agent.tasks import Task
    from agent.trajectory import Verdict
    from reviewer.commands.draft_told import Told
    from reviewer.draft_results import Results
    from reviewer.drafting import Known, PolicyFor
    from reviewer.spending import Spending

AT_A_TIME = 8


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="survey files, folders of them, or lists (@FILE)"
    )
    parser.add_argument("--task", required=True, help="target class: a task's key or alias, such as cv")
    add_policy(parser)
    parser.add_argument("--label", choices=("YES", "NO"), help="the known truth of all these files")
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help="the known truth of each file: CSV with file and label"
    )
    parser.add_argument("--samples", type=_whole, default=1, metavar="N", help="drafts a spectrum (1)")
    parser.add_argument(
        "--concurrency",
        type=_whole,
        metavar="N",
        help=f"inspections at a time ({AT_A_TIME}; the baseline: 1)",
    )
    group = add_costs(parser)
    group.add_argument("--token-budget", type=_whole, metavar="N", help="tokens read and written, at most")
    parser.add_argument(
        "--drop-contradicting",
        action="store_true",
        help="put drafts that contradict their label into a file beside --out",
    )
    parser.add_argument("--batch", default="", help="a name to find these drafts by")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="write JSON lines here, or go on with them; without --db nothing else is written",
    )
    add_database(parser)
    add_json(parser)


def run(arguments: Namespace) -> int:
    from agent.conversation import PolicyError
    from agent.many.journal import JournalError
    from agent.many.sources import SourceError, files
    from agent.policies.options import choice_from, roster_from

    _check(arguments)
    beside = arguments.db or DATABASE
    task = _task(arguments.task, beside)
    labels = _labels(arguments, task, beside)
    choice = choice_from(arguments, roster_from(arguments, beside.resolve().parent), arguments.samples)
    into = arguments.out.parent if arguments.out else Path()
    try:
        found = list(files(arguments.files, into, sys.stdin))
        told, stopped = _draft(arguments, task, choice, labels, found)
    except (JournalError, PolicyError, SourceError) as error:
        raise CannotRun(str(error)) from error
    say(arguments, told.to_json(), told.text())
    if stopped:
        raise KeyboardInterrupt
    return BAD_NEWS if told.is_bad_news else DONE


def _draft(
    arguments: Namespace, task: Task, choice: Choice, labels: Labels | None, found: list[Source]
) -> tuple[Told, bool]:
    """Draft what is not drafted yet; what came of it, and whether it was stopped."""
    from agent.commands.inspect import stopping
    from agent.many.batch import PolicyGone
    from agent.many.inspecting import Work
    from agent.stop import Stop
    from reviewer.commands.draft_told import Told
    from reviewer.drafting import draft_many

    known, spending, stop, gone = _known(arguments.label, labels), _spending(arguments), Stop(), ""
    database = arguments.db or (None if arguments.out else DATABASE)
    with ExitStack() as open_things:
        results = _results(arguments, task, choice, database, open_things)
        work = Work(
            found,
            arguments.samples,
            results,
            is_wanted=lambda job: not labels or known.label(job) is not None,
        )
        threads = arguments.concurrency or (1 if choice.key in ("baseline", "local") else AT_A_TIME)
        # Closed before the results are: what is under way is stopped first.
        outcomes = open_things.enter_context(
            closing(draft_many(work, task, _policy_for(choice), known, spending, threads, stop))
        )
        bar = open_things.enter_context(Bar(work.expected, "drafting"))
        open_things.enter_context(stopping(stop))
        try:
            for number, outcome in enumerate(outcomes, start=1):
                results.add(outcome)
                bar.expect(work.expected)
                bar.at(number, f", {spending.cost:.2f} spent" if arguments.price_out else "")
        except PolicyGone as error:
            gone = str(error)
    return Told(arguments, database, results.tally, work, labels, spending, gone), stop.is_set


def _policy_for(choice: Choice) -> PolicyFor:
    """Who drafts; told the label, if it takes instructions."""
    from agent.policies.native_prompts import Guidance

    can_be_told = choice.roster.entry(choice.key).dialect == "native"
    return lambda label, sample: choice(sample, Guidance(label) if label and can_be_told else None)


def _known(label: Verdict | None, labels: Labels | None) -> Known:
    from reviewer.drafting import Known

    if labels is None:
        return Known(lambda job: label, "given when drafted")
    return Known(lambda job: labels.of(job.path.name, job.target), labels.source)


def _results(
    arguments: Namespace, task: Task, choice: Choice, database: Path | None, open_things: ExitStack
) -> Results:
    from agent.many.journal import Journal
    from reviewer.draft_results import Results, aside

    drafter = _policy_for(choice)("YES" if arguments.label or arguments.labels else None, 0).drafter
    settings = {
        "task": task.key,
        "prompt": hashlib.sha256(task.prompt.encode()).hexdigest(),
        "policy": {"kind": drafter.kind, "name": drafter.name, "settings": dict(drafter.settings)},
    }
    results = Results(batch=arguments.batch)
    if database is not None:
        results.store = open_things.enter_context(opened(database))
    if arguments.out is not None:
        results.out = open_things.enter_context(Journal(arguments.out, settings))
    if arguments.drop_contradicting:
        results.contradicting = open_things.enter_context(Journal(aside(arguments.out), settings))
    return results


def _spending(arguments: Namespace) -> Spending:
    from reviewer.spending import Prices, Spending

    prices = Prices(arguments.price_in or 0.0, arguments.price_out or 0.0, arguments.price_cached)
    return Spending(prices, arguments.budget, arguments.token_budget)


def _check(arguments: Namespace) -> None:
    """:raises CannotRun: arguments that do not go together, or a file in the way"""
    out = arguments.out
    if arguments.label and arguments.labels:
        raise CannotRun("--label and --labels: found both, wanted one of them")
    if (arguments.price_in is None) != (arguments.price_out is None):
        raise CannotRun("--price-in and --price-out: found one, wanted both, each of a million tokens")
    if arguments.budget is not None and arguments.price_in is None:
        raise CannotRun("--budget: wants --price-in and --price-out, each of a million tokens")
    if arguments.drop_contradicting and (out is None or not (arguments.label or arguments.labels)):
        raise CannotRun("--drop-contradicting: wants --out, beside which they are put, and labels")
    if out is not None and out.exists() and not out.with_name(f"{out.name}.run.json").is_file():
        raise CannotRun(f"{out}: found a file of that name; choose another, or remove it")


def _labels(arguments: Namespace, task: Task, database: Path) -> Labels | None:
    from agent import tasks
    from agent.labels import Labels, LabelsError
    from reviewer.campaign import known_tasks

    if arguments.labels is None:
        return None
    known, _ = known_tasks(database)

    def is_this_task(name: str) -> bool | None:
        found = tasks.find(known, name)
        return None if found is None else found.key == task.key

    try:
        return Labels.read(arguments.labels, is_this_task)
    except LabelsError as error:
        raise CannotRun(f"--labels: {error}") from error


def _task(name: str, database: Path) -> Task:
    from agent import tasks
    from reviewer.campaign import known_tasks

    known, problems = known_tasks(database)
    task = tasks.find(known, name)
    if task is None:
        left_out = "".join(f"; left out: {problem}" for problem in problems)
        raise CannotRun(f"--task: found {name!r}, wanted one of {', '.join(known)}{left_out}")
    return task


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found {text!r}, wanted a whole number, 1 or more")
    return int(text)
