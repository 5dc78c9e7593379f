"""``spec-o3 trial``: put the evidence of traces on trial, from a results file or from the database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.cli.command import (
    CHECK_FAILED,
    DONE,
    CannotRun,
    ProgressBar,
    print_result,
)
from agent.cli.options import (
    ONLY_TASK,
    PROCESSES,
    JsonOutput,
    Overwrite,
    TaskFiles,
    argument,
    at_least_one,
    not_negative,
    option,
    output_file,
)
from agent.cli.policy_options import PolicyOptions, choice_from, roster_from
from agent.cli.selection import Medium
from agent.language import deferred, tr, trn
from agent.processes import cores
from reviewer.cli.common import Database, Person, database_of, opened

if TYPE_CHECKING:
    from agent.batch.trials import Case, TrialsFile
    from agent.cli.policy_options import PolicyChoice
    from agent.conversation import Policy
    from agent.tasks import Task
    from agent.trajectory import Drafter
    from agent.trial.report import Trial
    from reviewer.store import Store

THREADS = 8
IN_PROCESSES = ("baseline", "nano")
SHOWN = 5  # problems in the printed summary; --json has all


@dataclass(kw_only=True)
class Options(PolicyOptions, Medium, Overwrite, Person, Database, TaskFiles, JsonOutput):
    results: Path | None = argument("results file of spec-o3 inspect; without it the drafts of --db", metavar="RESULTS")
    task: str | None = option(ONLY_TASK, metavar="KEY")
    out: Path | None = option("file of trials, as JSON lines", read=output_file)
    limit: int | None = option("only the first N, in the order given", read=at_least_one)
    placebos: int = option("placebos per tool call", default=1, read=at_least_one)
    edit_seed: int = option("seed of the edits' noise", default=0, read=not_negative)
    processes: int | None = option(PROCESSES, read=at_least_one)
    concurrency: int = option("traces at once, for servers", default=THREADS, read=at_least_one)


def run(arguments: Options) -> int:
    """Try the traces. Status 0: every one that could be tested passed; 1: some did not, or failed; 2: not run."""

    if (arguments.results is None) == (arguments.db is None):
        raise CannotRun(
            tr("found neither of RESULTS and --db, expected one")
            if arguments.db is None
            else tr("found both of RESULTS and --db, expected one")
        )
    if arguments.results is not None and arguments.out is None:
        raise CannotRun(tr("--out: found none, expected the file that the trials are written to"))
    if arguments.db is None and arguments.by is not None:
        raise CannotRun(tr("--by: found no --db, expected the database in which this person records the trials"))
    if arguments.db is None:
        return _run(arguments, None)
    with opened(database_of(arguments), must_exist=True) as store:
        return _run(arguments, store)


def _run(arguments: Options, store: Store | None) -> int:
    from agent.batch.trials import TrialsFile, Work, cases_in, try_all
    from agent.cli.command import stop_on_signal
    from agent.conversation import Stop

    if store is not None:
        store.accounts.require_coordinator(arguments.by)
    tasks, task = _tasks(arguments)
    choice = choice_from(arguments, roster_from(arguments, None if arguments.db is None else arguments.db.parent))
    drafter, stop = choice().drafter, Stop()
    file = None
    if arguments.out is not None:
        if arguments.overwrite:
            _delete_trials(arguments.out)
        made_by = {"kind": drafter.kind, "name": drafter.name, "settings": dict(drafter.settings)}
        of_drafter = json.loads(json.dumps(made_by))  # as the file gives it back, without tuples
        file = TrialsFile(arguments.out, of_drafter, arguments.edit_seed, arguments.placebos)
    if store is not None:
        cases = _stored(store, tasks, task)
    else:
        assert arguments.results is not None
        cases = cases_in(arguments.results, arguments.medium)
    counts: Counter[str] = Counter()
    left = list(_to_try(islice(_of_policy(cases, drafter, task, counts), arguments.limit), file, counts))
    if file is not None:
        file.create()
    work = Work(tasks, _policy_for(choice), arguments.edit_seed, arguments.placebos)
    processes = (arguments.processes or cores()) if arguments.key in IN_PROCESSES else 1
    trials: list[Trial] = [] if file is None else list(file.done.values())
    problems: list[str] = []
    tried = 0
    with (
        stop_on_signal(stop),
        ProgressBar(len(left), tr("trying")) as bar,
        closing(try_all(left, work, min(processes, len(left)), arguments.concurrency, stop)) as outcomes,
    ):
        for tried, outcome in enumerate(outcomes, start=1):
            if outcome.trial is None:
                problems.append(f"{outcome.case.name}: {outcome.problem}")
            else:
                trials.append(outcome.trial)
                # The file is last: what it holds is not tried again when the run resumes.
                if store is not None:
                    _record(store, arguments.by, outcome.trial, outcome.case.item)
                if file is not None:
                    file.add(outcome.trial)
            bar.at(tried)
    result = _result(trials, problems, counts)
    print_result(arguments, result, _text(result))
    if stop.is_set and tried < len(left):
        raise KeyboardInterrupt
    return CHECK_FAILED if problems or any(trial.passed is False for trial in trials) else DONE


def _delete_trials(file: Path) -> None:
    """Delete a file of trials. :raises CannotRun: it is something else"""
    from agent.trial.report import TrialError, read_trials

    try:
        if file.exists():
            read_trials(file)
            file.unlink()
    except (OSError, TrialError) as error:
        raise CannotRun(f"--overwrite: {error}") from error


def _tasks(arguments: Options) -> tuple[dict[str, Task], Task | None]:
    from agent.tasks import find, load
    from reviewer.rules.campaign import known_tasks

    if arguments.db is not None and arguments.tasks is None:
        tasks = known_tasks(arguments.db)[0]
    else:
        tasks = load(arguments.tasks)
    task = None if arguments.task is None else find(tasks, arguments.task)
    if arguments.task is not None and task is None:
        raise CannotRun(
            tr("--task: found {task!r}, expected one of {names}", task=arguments.task, names=", ".join(sorted(tasks)))
        )
    return tasks, task


def _policy_for(choice: PolicyChoice) -> Callable[[int], Policy]:
    """Return the policies of the run; those that compute here can be sent to other processes."""
    from agent.cli.stages import baseline

    if choice.key == "baseline":
        return partial(baseline, sky=choice.sky)
    if choice.key == "nano" and (folder := choice.roster.nano) is not None:
        from agent.policies.nano.policy import ManySpectra

        return ManySpectra(folder, choice.sampling)
    return choice


def _of_policy(cases: Iterator[Case], drafter: Drafter, task: Task | None, counts: Counter[str]) -> Iterator[Case]:
    """Yield the traces of the policy, and of the task: another policy would not continue them as they were begun."""
    has_sky = drafter.settings.get("sky") is True
    for case in cases:
        made_by = case.trajectory.drafter
        if task is not None and case.trajectory.task != task.key:
            counts[deferred("of another task")] += 1
        elif (made_by.kind, made_by.name, case.trajectory.sky) != (drafter.kind, drafter.name, has_sky):
            counts[deferred("of another policy")] += 1
        else:
            yield case


def _to_try(cases: Iterator[Case], file: TrialsFile | None, counts: Counter[str]) -> Iterator[Case]:
    for case in cases:
        if file is not None and case.trajectory.content_hash() in file.done:
            counts[deferred("done before")] += 1
        else:
            yield case


def _stored(store: Store, tasks: dict[str, Task], task: Task | None) -> Iterator[Case]:
    """Yield what the drafters wrote, with its spectrum; items without a stored spectrum are left out."""
    from agent.batch.trials import Case

    for key in sorted(tasks) if task is None else [task.key]:
        case_of = {case.item: case for case in store.trust.cases(key)}
        for item, trajectory in store.trust.trajectories(list(case_of)):
            sha256 = case_of[item].spectrum_sha256
            if sha256 is not None and store.spectra.exists(sha256):
                yield Case(tr("item {item}", item=item), trajectory, store.spectra.get(sha256), item)


def _record(store: Store, by: str | None, trial: Trial, item: int | None) -> None:
    from reviewer.store import TrialRow

    store.trust.record_trials(by, [TrialRow(trial.content_hash, trial.passed, trial.to_json(), item)])


def _result(trials: list[Trial], problems: list[str], counts: Counter[str]) -> dict[str, Any]:
    from agent.trial.report import summarise

    tested = [trial for trial in trials if trial.passed is not None]
    return {
        "traces": len(trials),
        "tested": len(tested),
        "passed": sum(bool(row.passed) for row in tested),
        "failed": problems,
        "left_out": dict(counts),
        "summary": [row.to_json() for row in summarise(trials)],
    }


def _text(result: dict[str, Any]) -> str:
    lines = [
        trn(
            "{n} trace, {tested} with evidence to test, {passed} of them passed",
            "{n} traces, {tested} with evidence to test, {passed} of them passed",
            result["traces"],
            tested=result["tested"],
            passed=result["passed"],
        )
    ]
    for row in result["summary"]:
        if row["task"]:
            names = {**_NAMES, **(_SKY_NAMES if row["sky_necessity"]["n"] else {})}
            shares = (f"{tr(words)} {_share(row[name])}" for name, words in names.items())
            lines.append(f"{row['policy']}, {row['task']}: {', '.join(shares)}")
    lines += [
        tr("left out, {reason}: {n}", reason=tr(reason), n=number) for reason, number in result["left_out"].items()
    ]
    lines += [tr("failed: {problem}", problem=problem) for problem in result["failed"][:SHOWN]]
    if len(result["failed"]) > SHOWN:
        lines.append(tr("and {n} more", n=len(result["failed"]) - SHOWN))
    return "\n".join(lines)


_NAMES = {
    "necessity": deferred("necessity"),
    "sufficiency": deferred("sufficiency"),
    "placebo": deferred("placebo"),
    "still_claims": deferred("still claims"),
}
_SKY_NAMES = {"sky_necessity": deferred("sky necessity"), "sky_placebo": deferred("sky placebo")}


def _share(share: dict[str, Any]) -> str:
    if share["interval"] is None:
        return tr("not tested")
    low, high = share["interval"]
    return tr("{k}/{n} ({low:.2f} to {high:.2f})", k=share["k"], n=share["n"], low=low, high=high)
