"""Where ``spec-o3 certify`` takes its cases and labels from: the database, or results with a file of labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agent.cli.command import CannotRun, ProgressBar
from agent.language import tr
from agent.processes import cores
from reviewer.cli.common import database_of, opened, task_from

if TYPE_CHECKING:
    from agent.tasks import Task
    from agent.trial.report import Trial
    from reviewer.cli.certify_options import CertifyOptions
    from reviewer.store import Store
    from reviewer.trust.cases import CaseList


@contextmanager
def sources(arguments: CertifyOptions) -> Iterator[tuple[Task, Store | None]]:
    """Open what the arguments name; yield the task, and the database unless a results file is named.

    :raises CannotRun: they name neither or both, or no known task
    """
    if arguments.results is not None and (arguments.db is not None or arguments.policy is not None):
        raise CannotRun(tr("found a results file and --db or --policy, expected one or the other"))
    if arguments.results is not None and arguments.labels is None:
        raise CannotRun(tr("found a results file without labels; name them with --labels"))
    if arguments.results is None and arguments.labels is not None:
        raise CannotRun(
            tr("--labels: found no results file to which they belong; the labels of a database are its own")
        )
    if arguments.results is not None:
        yield task_from(arguments), None
        return
    with opened(database_of(arguments), must_exist=True) as store:
        yield task_from(arguments), store


def cases_from(arguments: CertifyOptions, task: Task, store: Store | None) -> CaseList:
    """Return the measured cases that the arguments name.

    :raises CasesError: there are none
    :raises JournalError: the results cannot be read
    """
    from reviewer.trust.cases import (
        CasesError,
        file_reader,
        measured,
        policies_of,
        reader_of,
        results_cases,
        stored_cases,
    )

    if store is None:
        assert arguments.results is not None
        cases = results_cases(arguments.results, labels_from(arguments, task), task, arguments.simulated)
        read = file_reader(arguments.results.parent, cases.policy.medium)
    else:
        policy = arguments.policy
        if policy is None:
            known = policies_of(store.trust.cases(task.key))
            if len(known) != 1:
                listed = ", ".join(f"{name!r}" for name in known) or "none"
                raise CasesError(
                    tr(
                        "--policy: found several policies or none with items for {key}: {listed}",
                        key=task.key,
                        listed=listed,
                    )
                )
            (policy,) = known
        cases = stored_cases(store, task, policy, arguments.batch, arguments.simulated)
        read = reader_of(store)
    # A process takes a second or two to start; a few cases are measured sooner without.
    processes = arguments.processes or min(cores(), 1 + len(cases.cases) // 50)
    with ProgressBar(len(cases.cases), tr("measuring")) as bar:
        return measured(cases, task, read, processes, bar.at)


def trials_from(arguments: CertifyOptions, store: Store | None, cases: CaseList) -> dict[str, Trial]:
    """Return the trials of the cases' traces by content hash: those of the database, and those of --trials.

    :raises CannotRun: the file cannot be read
    """
    from agent.trial.report import TrialError, read_trials
    from reviewer.trust.certificates import own_trials, stored_trials

    try:
        trials = [] if store is None else list(stored_trials(store, cases))
        if arguments.trials is not None:
            trials += read_trials(arguments.trials)
    except OSError as error:
        raise CannotRun(f"--trials: {arguments.trials}: {error.strerror}") from error
    except TrialError as error:
        raise CannotRun(f"--trials: {error}") from error
    return own_trials(cases, trials)


def labels_from(arguments: CertifyOptions, task: Task) -> Any:
    """Return the labels of a results file. :raises CannotRun: they cannot be used"""
    from agent import tasks
    from agent.batch.labels import Labels
    from reviewer.rules.campaign import known_tasks

    known, _ = known_tasks(database_of(arguments))

    def is_this_task(name: str) -> bool | None:
        named = tasks.find({**known, task.key: task}, name)
        return None if named is None else named.key == task.key

    assert arguments.labels is not None
    return Labels.read(arguments.labels, is_this_task)
