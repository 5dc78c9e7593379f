"""``spec-o3 draft``: let a policy inspect spectra and save its traces as drafts."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from agent.cli.command import CHECK_FAILED, DONE, CannotRun, ProgressBar, delete_results, print_result
from agent.cli.options import (
    LABELS,
    TASK,
    JsonOutput,
    Overwrite,
    TaskFiles,
    amount,
    argument,
    at_least_one,
    option,
    output_file,
)
from agent.cli.policy_options import SAMPLES, PolicyOptions
from agent.cli.selection import Medium, Skipped, skipped_text
from agent.language import deferred, tr, trn
from reviewer.cli.common import Database, database_of, opened


@dataclass(kw_only=True)
class Costs:
    """Prices, and what may be spent."""

    TITLE = deferred("cost")

    budget: float | None = option("start nothing that might exceed this", metavar="AMOUNT", read=amount)
    price_in: float | None = option("price of a million input tokens", read=amount)
    price_cached: float | None = option("price of a million cached input tokens", read=amount)
    price_out: float | None = option("price of a million output tokens", read=amount)


@dataclass(kw_only=True)
class Options(PolicyOptions, Costs, Medium, Overwrite, TaskFiles, Database, JsonOutput):
    files: list[str] = argument("survey files, folders of them, or lists (@FILE)", metavar="FILE")
    task: str = option(TASK, metavar="KEY")
    label: Literal["YES", "NO"] | None = option("the known truth of all these files")
    labels: Path | None = option(LABELS)
    min_snr: float | None = option(
        "skip spectra of a lower S/N per pixel (the catalogue's r band where the file has it, else the median; the "
        "paper's drafts are of spectra above 10)",
        read=amount,
    )
    samples: int = option(SAMPLES, default=1, read=at_least_one)
    concurrency: int | None = option(
        deferred("inspections at once (default {at_a_time}; the baseline: 1)", at_a_time=8), read=at_least_one
    )
    token_budget: int | None = option("largest number of input and output tokens", read=at_least_one)
    drop_contradicting: bool = option("write drafts that contradict their label to a file next to --out")
    batch: str = option("a name to find these drafts by", default="", metavar="NAME")
    out: Path | None = option(
        "write JSON lines here, or continue this file; without --db nothing else is written", read=output_file
    )


if TYPE_CHECKING:
    from agent.batch.journal import PendingJobs
    from agent.batch.labels import Labels
    from agent.batch.sources import Source
    from agent.cli.policy_options import PolicyChoice
    from agent.tasks import Task
    from agent.trajectory import Verdict
    from reviewer.drafting.budget import Budget
    from reviewer.drafting.run import DraftCounts, DraftWriter, KnownLabels, PolicyFor
    from reviewer.rules.workflow import Round
    from reviewer.store import TimeSpent

AT_A_TIME = 8
VETTING: Round = "screening"
"""The round in which one person reads an item once and decides; a policy's time is compared with it."""


def run(arguments: Options) -> int:
    from agent.batch.sources import sources_from
    from agent.cli.policy_options import choice_from, roster_from, task_prompts_from

    _check(arguments)
    database = database_of(arguments)
    task = _task(arguments, database)
    labels = _labels(arguments, task, database)
    folder = database.resolve().parent
    choice = choice_from(arguments, roster_from(arguments, folder), arguments.samples)
    task = task_prompts_from(arguments, choice, folder)(task)
    into = arguments.out.parent if arguments.out else Path()
    skipped: list[Skipped] = []

    def on_skip(path: Path, reason: str) -> None:
        skipped.append({"file": str(path), "reason": reason})

    sources = list(sources_from(arguments.files, into, sys.stdin, on_skip))
    summary, stopped = _draft(arguments, task, choice, labels, sources)
    result = summary.to_json() | ({"skipped_files": skipped} if skipped else {})
    print_result(arguments, result, summary.text() + skipped_text(skipped))
    if stopped:
        raise KeyboardInterrupt
    return DONE if summary.is_complete else CHECK_FAILED


def _draft(
    arguments: Options, task: Task, choice: PolicyChoice, labels: Labels | None, sources: list[Source]
) -> tuple[Summary, bool]:
    """Draft what is not drafted yet; return the summary, and whether it was stopped."""
    from agent.batch.journal import PendingJobs
    from agent.batch.run import PolicyUnavailable
    from agent.cli.command import stop_on_signal
    from agent.conversation import Stop
    from reviewer.drafting.run import draft_many

    known, spending, stop, gone = _known_labels(arguments.label, labels), _spending(arguments), Stop(), ""
    number = 0
    database = arguments.db or (None if arguments.out else database_of(arguments))
    since, people = monotonic(), None
    with ExitStack() as open_things:
        results = _results(arguments, task, choice, database, open_things)
        work = PendingJobs(
            sources,
            arguments.samples,
            results,
            is_chosen=lambda job: not labels or known.label(job) is not None,
        )
        threads = arguments.concurrency or (1 if choice.key in ("baseline", "local", "nano") else AT_A_TIME)
        # Closed before the results: inspections in progress are stopped first.
        outcomes = open_things.enter_context(
            closing(
                draft_many(
                    work,
                    task,
                    _policy_for(choice),
                    known,
                    spending,
                    threads,
                    stop,
                    min_snr=arguments.min_snr,
                    medium=arguments.medium,
                )
            )
        )
        bar = open_things.enter_context(ProgressBar(work.expected, tr("drafting")))
        open_things.enter_context(stop_on_signal(stop))
        try:
            for number, outcome in enumerate(outcomes, start=1):
                results.add(outcome)
                bar.expect(work.expected)
                bar.at(number, tr("{cost:.2f} spent", cost=spending.cost) if arguments.price_out else "")
        except PolicyUnavailable as error:
            gone = str(error)
        seconds = monotonic() - since
        if results.store is not None:
            people = results.store.statistics.time_by_round().get(VETTING)
    left = max(work.expected - number, 0)
    summary = Summary(arguments, database, results.tally, work, labels, spending, gone, seconds, people, left)
    return summary, stop.is_set


def _policy_for(choice: PolicyChoice) -> PolicyFor:
    """Return the policies of the run; a policy that takes instructions is given the label."""
    from agent.policies.native import Guidance

    takes_label = choice.roster.entry(choice.key).dialect == "native"
    return lambda label, sample: choice(sample, Guidance(label) if label and takes_label else None)


def _known_labels(label: Verdict | None, labels: Labels | None) -> KnownLabels:
    from reviewer.drafting.run import KnownLabels

    if labels is None:
        return KnownLabels(lambda job: label, deferred("given when drafted"))
    return KnownLabels(lambda job: labels.of(job.path.name, job.target), labels.source)


def _results(
    arguments: Options, task: Task, choice: PolicyChoice, database: Path | None, open_things: ExitStack
) -> DraftWriter:
    from agent.batch.journal import Journal
    from reviewer.drafting.run import DraftWriter, contradicting_path

    drafter = _policy_for(choice)("YES" if arguments.label or arguments.labels else None, 0).drafter
    settings = {
        "task": task.key,
        "prompt": hashlib.sha256(task.prompt.encode()).hexdigest(),
        "policy": {"kind": drafter.kind, "name": drafter.name, "settings": dict(drafter.settings)},
    }
    if task.prompt_source != "ours":
        # Left out otherwise, so that drafts of earlier releases continue.
        settings["prompt_source"] = task.prompt_source
    if arguments.medium is not None:
        settings["medium"] = arguments.medium
    results = DraftWriter(batch=arguments.batch)
    if database is not None:
        results.store = open_things.enter_context(opened(database))
    if arguments.out is not None:
        results.out = open_things.enter_context(Journal(arguments.out, settings))
        if arguments.drop_contradicting:
            results.contradicting = open_things.enter_context(Journal(contradicting_path(arguments.out), settings))
    return results


def _spending(arguments: Options) -> Budget:
    from reviewer.drafting.budget import Budget, Prices

    prices = Prices(arguments.price_in or 0.0, arguments.price_out or 0.0, arguments.price_cached)
    return Budget(prices, arguments.budget, arguments.token_budget)


def _check(arguments: Options) -> None:
    """Check the arguments. :raises CannotRun: they contradict each other, or the file exists"""
    from reviewer.drafting.run import contradicting_path

    out = arguments.out
    if arguments.label and arguments.labels:
        raise CannotRun(tr("--label and --labels: found both, expected one of them"))
    if (arguments.price_in is None) != (arguments.price_out is None):
        raise CannotRun(tr("--price-in and --price-out: found one, expected both, each of a million tokens"))
    if arguments.budget is not None and arguments.price_in is None:
        raise CannotRun(tr("--budget: wants --price-in and --price-out, each of a million tokens"))
    if arguments.drop_contradicting and (out is None or not (arguments.label or arguments.labels)):
        raise CannotRun(tr("--drop-contradicting: found no --out or no labels, expected both"))
    if arguments.overwrite and out is None:
        raise CannotRun(tr("--overwrite: found no --out, which it would delete"))
    if out is not None and arguments.overwrite:
        delete_results(out, contradicting_path(out))
    if out is not None and out.exists() and not out.with_name(f"{out.name}.run.json").is_file():
        raise CannotRun(tr("{out}: found a file of that name; choose another, or remove it", out=out))


def _labels(arguments: Options, task: Task, database: Path) -> Labels | None:
    from agent import tasks
    from agent.batch.labels import Labels, LabelsError

    if arguments.labels is None:
        return None
    known, _ = _known(arguments, database)

    def is_this_task(name: str) -> bool | None:
        named = tasks.find(known, name)
        return None if named is None else named.key == task.key

    try:
        return Labels.read(arguments.labels, is_this_task)
    except LabelsError as error:
        raise CannotRun(f"--labels: {error}") from error


def _known(arguments: Options, database: Path) -> tuple[Mapping[str, Task], Sequence[object]]:
    """Return the tasks of the campaign, or those of ``--tasks``, and the files that cannot be used."""
    from agent import tasks
    from reviewer.rules.campaign import known_tasks

    return known_tasks(database) if arguments.tasks is None else tasks.load_all([arguments.tasks])


def _task(arguments: Options, database: Path) -> Task:
    from agent import tasks

    name = arguments.task
    known, problems = _known(arguments, database)
    task = tasks.find(known, name)
    if task is None:
        names = ", ".join(known)
        if problems:
            left_out = "; ".join(str(problem) for problem in problems)
            raise CannotRun(
                tr(
                    "--task: found {task!r}, expected one of {names}; left out: {problems}",
                    task=name,
                    names=names,
                    problems=left_out,
                )
            )
        raise CannotRun(tr("--task: found {task!r}, expected one of {names}", task=name, names=names))
    return task


SHOWN = 20  # names and sentences printed for a person; --json has them all


@dataclass(frozen=True)
class Summary:
    """The result of a run.

    :param gone: the message of a policy that failed for all spectra, else ""
    :param seconds: of the whole run, several drafts at a time
    :param people: the active time of people per item in ``VETTING``; None: not known
    :param left: drafts that the run did not begin; a file that was not opened counts as one spectrum
    """

    arguments: Options
    database: Path | None
    tally: DraftCounts
    work: PendingJobs
    labels: Labels | None
    spending: Budget
    gone: str = ""
    seconds: float = 0.0
    people: TimeSpent | None = None
    left: int = 0

    @property
    def is_complete(self) -> bool:
        """Return whether every spectrum was drafted."""
        return not (self.tally.refused or self.work.passed_over or self.ended)

    @property
    def ended(self) -> str:
        """Return why it ended early."""
        return self.gone or self.spending.ended

    @property
    def unused(self) -> Sequence[str]:
        """Return labels without a spectrum; known once all spectra have been read."""
        return self.labels.unused if self.labels and self.work.is_complete else ()

    def to_json(self) -> dict[str, Any]:
        tally, used = self.tally, self.spending.used
        data: dict[str, Any] = {"drafted": tally.drafted, "added": tally.new, "refused": tally.refused}
        if used.requests:
            data["tokens"] = asdict(used)
        if self.arguments.price_out is not None:
            data["cost"] = round(self.spending.cost, 6)
        if self.labels is not None:
            data |= {"without_label": self.work.passed_over, "labels_unused": list(self.unused)}
        if self.labels is not None or (self.arguments.label and used.requests):
            data |= {"contradicting": tally.contradicting, "giving_away": tally.giving_away}
            data |= {"unanswered": tally.unanswered, "left_out": tally.left_out}
        if tally.empty:
            data["without_data"] = tally.empty
        if self.arguments.min_snr is not None:
            data["skipped"] = tally.skipped
        if self.ended:
            data |= {"ended": self.ended, "left": self.left}
        if self.seconds_per_draft is not None:
            data["seconds_per_draft"] = round(self.seconds_per_draft, 4)
        if self.people is not None:
            data["people"] = {"round": VETTING, **asdict(self.people)}
        if self.ratio is not None:
            data["people_to_policy"] = round(self.ratio, 3)
        return data

    @property
    def seconds_per_draft(self) -> float | None:
        """Return the time of the run divided by its drafts; None without drafts."""
        return self.seconds / self.tally.drafted if self.tally.drafted else None

    @property
    def ratio(self) -> float | None:
        """Return how many times longer people take per item than the policy per draft; None: one is not known."""
        own = self.seconds_per_draft
        return None if self.people is None or not own else self.people.median_seconds / own

    def text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        from reviewer.drafting.run import contradicting_path

        tally, out = self.tally, self.arguments.out
        values: dict[str, Any] = {"new": tally.new, "database": self.database, "out": out}
        if self.database and out:
            yield tr("{n} drafted, {new} of them new in {database}, written to {out}", n=tally.drafted, **values)
        elif self.database:
            yield tr("{n} drafted, {new} of them new in {database}", n=tally.drafted, **values)
        else:
            yield tr("{n} drafted, written to {out}", n=tally.drafted, **values)
        yield from self._time()
        yield from spent_text(self.spending, self.arguments.price_out is not None)
        if tally.contradicting and tally.left_out and out:
            yield trn(
                "{n} contradicts its label; written to {file}",
                "{n} contradict their label; written to {file}",
                tally.contradicting,
                file=contradicting_path(out),
            )
        elif tally.contradicting:
            yield trn(
                "{n} contradicts its label; keep or reject it in review",
                "{n} contradict their label; keep or reject them in review",
                tally.contradicting,
            )
        if tally.giving_away:
            yield trn(
                "{n} reveals that the label was known; its problems say where",
                "{n} reveal that the label was known; their problems say where",
                tally.giving_away,
            )
        if tally.unanswered:
            yield tr("{n} ended without an answer", n=tally.unanswered)
        if tally.empty:
            yield trn("{n} target has no data", "{n} targets have no data", tally.empty)
        yield from _skipped(tally.skipped)
        if names := self.work.passed_over:
            yield tr("{n} without a label, not drafted: {names}", n=len(names), names=_some(names))
        if unused := self.unused:
            yield tr("{n} labels of spectra that were not given: {names}", n=len(unused), names=_some(unused))
        yield from (tr("refused: {reason}", reason=reason) for reason in tally.refused[:SHOWN])
        if len(tally.refused) > SHOWN:
            yield tr("and {n} more refused", n=len(tally.refused) - SHOWN)
        if self.ended:
            yield tr("ended early: {reason}", reason=self.ended)
            yield self._how_to_go_on()

    def _how_to_go_on(self) -> str:
        # Only a file of drafts knows what earlier runs drafted.
        if self.arguments.out is not None:
            return trn(
                "{n} draft is left; run the same command again to continue",
                "{n} drafts are left; run the same command again to continue",
                self.left,
            )
        return trn(
            "{n} draft is left. Without --out the same command would draft all spectra again: give only the "
            "spectra that are left",
            "{n} drafts are left. Without --out the same command would draft all spectra again: give only the "
            "spectra that are left",
            self.left,
        )

    def _time(self) -> Iterator[str]:
        if self.seconds_per_draft is None:
            return
        line = tr("{seconds:.3g} s per draft (the whole run, divided by its drafts)", seconds=self.seconds_per_draft)
        if self.people is not None and self.ratio is not None:
            line = tr(
                "{line}; people take {people:.3g} s per item in {round} (median active time, n = {n}), {ratio:.3g} "
                "times as long",
                line=line,
                people=self.people.median_seconds,
                round=tr(VETTING),
                n=self.people.decisions,
                ratio=self.ratio,
            )
        yield line


def spent_text(spending: Budget, with_cost: bool) -> Iterator[str]:
    """Yield a sentence about the tokens of a run, and about their cost; nothing without a request."""
    used = spending.used
    values = {"read": used.prompt, "cached": used.cached, "written": used.completion, "cost": spending.cost}
    if used.requests and not used.prompt:
        yield tr("tokens: unknown, the server does not report them")
    elif used.requests and with_cost:
        yield trn(
            "{read:,} tokens read ({cached:,} of them cached), {written:,} written, in {n:,} request, "
            "{cost:.2f} in all",
            "{read:,} tokens read ({cached:,} of them cached), {written:,} written, in {n:,} requests, "
            "{cost:.2f} in all",
            used.requests,
            **values,
        )
    elif used.requests:
        yield trn(
            "{read:,} tokens read ({cached:,} of them cached), {written:,} written, in {n:,} request",
            "{read:,} tokens read ({cached:,} of them cached), {written:,} written, in {n:,} requests",
            used.requests,
            **values,
        )


def _skipped(skipped: Mapping[str, str]) -> Iterator[str]:
    if skipped:
        yield tr("{n} skipped, below the S/N floor:", n=len(skipped))
        yield from (f"  {name}: {reason}" for name, reason in list(skipped.items())[:SHOWN])
        if len(skipped) > SHOWN:
            yield "  " + tr("and {n} more", n=len(skipped) - SHOWN)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:SHOWN])
    return tr("{names} and {n} more", names=shown, n=len(names) - SHOWN) if len(names) > SHOWN else shown
