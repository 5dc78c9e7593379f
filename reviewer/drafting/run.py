"""Spectra drafted by whoever thinks, many at a time: with their labels, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.batch.journal import Journal
from agent.batch.run import (
    MAX_CONSECUTIVE_FAILURES,
    THREADS,
    Job,
    Outcome,
    Plan,
    drained,
    inspect_one,
    readings,
    stop_when_unavailable,
)
from agent.batch.sources import Reading
from agent.conversation import Policy, Stop
from agent.policies.native import mentions_label
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory, Verdict
from agent.trajectory.steps import Answer, Think
from reviewer.drafting.budget import Budget, MeteredPolicy
from reviewer.store import Draft, Store

PolicyFor = Callable[[Verdict | None, int], Policy]
"""Who drafts sample number i (from 0) of a spectrum with this label. One that can be told the label is."""


@dataclass(frozen=True)
class KnownLabels:
    """The label of each job, None where there is none, and where labels come from."""

    label: Callable[[Job], Verdict | None] = lambda job: None
    source: str = ""


def draft_many(
    jobs: Iterable[Job],
    task: Task,
    policy_for: PolicyFor,
    known: KnownLabels | None = None,
    spending: Budget | None = None,
    concurrency: int = THREADS,
    stop: Stop | None = None,
) -> Generator[Outcome, None, None]:
    """Draft each job, yielding outcomes as they finish; their traces carry the labels. Once the budget does
    not allow another one, nothing more is begun, and ``spending.ended`` says so.

    :raises PolicyGone: the policy fails for everybody; every outcome until then has been yielded
    """
    known, spending, inner = known or KnownLabels(), spending or Budget(), Stop()
    plan = Plan(task, lambda sample: policy_for(None, sample))

    def one(job: Job, reading: Reading) -> list[Outcome]:
        with spending.one_more(inner) as tab:
            if tab is None:
                # Nothing is under way any more, else it would have waited.
                inner.set()
                return []
            label = known.label(job)
            policy = MeteredPolicy(policy_for(label, job.sample), spending, tab)
            outcome = inspect_one(job, reading, plan, policy, inner)
        if outcome.trajectory is None or label is None:
            return [outcome]
        labelled = replace(outcome.trajectory, label=label, label_source=known.source)
        return [replace(outcome, trajectory=labelled)]

    with (stop or Stop()).waking(inner.set):
        outcomes = _in_threads(one, jobs, concurrency, inner)
        try:
            yield from stop_when_unavailable(outcomes, concurrency + MAX_CONSECUTIVE_FAILURES)
        finally:
            inner.set()
            outcomes.close()


def contradicts(trajectory: Trajectory) -> bool:
    """Whether it answers the opposite of its label."""
    answer = trajectory.answer
    return answer is not None and {answer.verdict, trajectory.label} == {"YES", "NO"}


def reveals_label(trajectory: Trajectory) -> bool:
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


def contradicting_path(out: Path) -> Path:
    """Where drafts go that contradict their label, if they are to be left out of ``out``."""
    return out.with_name(f"{out.stem}.contradicting{out.suffix}")


@dataclass
class DraftCounts:
    """What came of a run. ``refused`` are sentences, ``empty`` counts targets without data."""

    drafted: int = 0
    new: int = 0
    refused: list[str] = field(default_factory=list)
    empty: int = 0
    contradicting: int = 0
    giving_away: int = 0
    unanswered: int = 0
    left_out: int = 0


@dataclass
class DraftWriter:
    """What was drafted before, and what is drafted now.

    :param out: the drafts; None: they go into the store alone, and nothing is known of earlier runs
    :param contradicting: those that contradict their label, where ``out`` is to be without them
    """

    out: Journal | None = None
    contradicting: Journal | None = None
    store: Store | None = None
    batch: str = ""
    tally: DraftCounts = field(default_factory=DraftCounts)

    def is_done(self, key: str, sample: int) -> bool:
        """Whether this sample of this spectrum was drafted before."""
        return any(journal.is_done(key, sample) for journal in self._journals())

    def knows(self, key: str) -> bool:
        """Whether any sample of this spectrum was."""
        return any(journal.knows(key) for journal in self._journals())

    def add(self, outcome: Outcome) -> None:
        """Keep a draft, or why there is none. What was stopped leaves no mark.

        :raises JournalError: it cannot be written
        :raises StoreError: it cannot be written
        """
        if outcome.reason == "no data" and outcome.job.target:
            # A fibre that was not on an object.
            self.tally.empty += 1
        elif outcome.has_failed:
            self.tally.refused.append(outcome.detail)
            if self.out is not None:
                self.out.add(outcome)
        elif outcome.is_inspected and outcome.trajectory is not None and outcome.spectrum is not None:
            self._keep(outcome, outcome.trajectory, outcome.spectrum)

    def _keep(self, outcome: Outcome, trajectory: Trajectory, spectrum: Spectrum) -> None:
        contradicting = contradicts(trajectory)
        self.tally.drafted += 1
        self.tally.contradicting += contradicting
        self.tally.giving_away += reveals_label(trajectory)
        self.tally.unanswered += trajectory.answer is None
        left_out = contradicting and self.contradicting is not None
        journal = self.contradicting if left_out else self.out
        # The file first: what is in it can be imported again, and once is enough.
        if journal is not None:
            journal.add(outcome, {"spectrum_data": spectrum.to_json()})
        if left_out:
            self.tally.left_out += 1
        elif self.store is not None:
            # One at a time: whatever stops the others, what is drafted is kept.
            (added,) = self.store.items.add_all([Draft(trajectory, spectrum, batch=self.batch)])
            self.tally.new += added.new

    def _journals(self) -> Iterator[Journal]:
        return (journal for journal in (self.out, self.contradicting) if journal is not None)
