"""Spectra drafted by whoever thinks, many at a time: with their labels, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from agent.conversation import Policy
from agent.many.batch import IN_A_ROW, THREADS, Job, Outcome, Plan, drained, inspect_one, readings, until_gone
from agent.many.reading import Reading
from agent.policies.native_prompts import mentions_label
from agent.steps import Answer, Think
from agent.stop import Stop
from agent.tasks import Task
from agent.trajectory import Trajectory, Verdict
from reviewer.spending import Metered, Spending

PolicyFor = Callable[[Verdict | None, int], Policy]
"""Who drafts sample number i (from 0) of a spectrum with this label. One that can be told the label is."""


@dataclass(frozen=True)
class Known:
    """The label of each job, None where there is none, and where labels come from."""

    label: Callable[[Job], Verdict | None] = lambda job: None
    source: str = ""


def draft_many(
    jobs: Iterable[Job],
    task: Task,
    policy_for: PolicyFor,
    known: Known | None = None,
    spending: Spending | None = None,
    concurrency: int = THREADS,
    stop: Stop | None = None,
) -> Generator[Outcome, None, None]:
    """Draft each job, yielding outcomes as they finish; their traces carry the labels. Once the budget does
    not allow another one, nothing more is begun, and ``spending.ended`` says so.

    :raises PolicyGone: the policy fails for everybody; every outcome until then has been yielded
    """
    known, spending, inner = known or Known(), spending or Spending(), Stop()
    plan = Plan(task, lambda sample: policy_for(None, sample))

    def one(job: Job, reading: Reading) -> list[Outcome]:
        with spending.one_more(inner) as tab:
            if tab is None:
                # Nothing is under way any more, else it would have waited.
                inner.set()
                return []
            label = known.label(job)
            policy = Metered(policy_for(label, job.sample), spending, tab)
            outcome = inspect_one(job, reading, plan, policy, inner)
        if outcome.trajectory is None or label is None:
            return [outcome]
        labelled = replace(outcome.trajectory, label=label, label_source=known.source)
        return [replace(outcome, trajectory=labelled)]

    with (stop or Stop()).waking(inner.set):
        outcomes = _in_threads(one, jobs, concurrency, inner)
        try:
            yield from until_gone(outcomes, concurrency + IN_A_ROW)
        finally:
            inner.set()
            outcomes.close()


def contradicts(trajectory: Trajectory) -> bool:
    """Whether it answers the opposite of its label."""
    answer = trajectory.answer
    return answer is not None and {answer.verdict, trajectory.label} == {"YES", "NO"}


def gives_away(trajectory: Trajectory) -> bool:
    """Whether its words let slip that whoever wrote it had been told the answer, as far as phrases tell."""
    if not trajectory.drafter.settings.get("label_told"):
        return False
    return any(
        mentions_label(step.text if isinstance(step, Think) else step.explanation)
        for step in trajectory.steps
        if isinstance(step, Think | Answer)
    )


def _in_threads(
    one: Callable[[Job, Reading], list[Outcome]], jobs: Iterable[Job], threads: int, stop: Stop
) -> Generator[Outcome, None, None]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="draft")
    yield from drained(pool, (pool.submit(one, *work) for work in readings(jobs)), 2 * threads, stop)
