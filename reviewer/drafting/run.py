"""Draft many spectra in parallel with a policy, with their labels and within a budget; write the drafts."""

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
    as_completed_limited,
    inspect_one,
    readings,
    stop_when_unavailable,
)
from agent.batch.sources import Reading
from agent.conversation import Policy, Stop
from agent.policies.giveaways import mentions_label
from agent.spectrum import Spectrum
from agent.spectrum.record import Medium
from agent.tasks import Task
from agent.trajectory import Trajectory, Verdict
from agent.trajectory.steps import Answer, Think
from reviewer.drafting.budget import Budget, MeteredPolicy
from reviewer.store import Draft, Store

PolicyFor = Callable[[Verdict | None, int], Policy]
"""The policy for sample number i (from 0) of a spectrum with this label; it may use the label."""


@dataclass(frozen=True)
class KnownLabels:
    """The label of each job, None where there is none, and the source of the labels."""

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
    min_snr: float | None = None,
    medium: Medium | None = None,
) -> Generator[Outcome, None, None]:
    """Draft each job; yield outcomes as they finish, with the labels in their traces. When the budget does not allow
    another one, none is started, and ``spending.ended`` has the reason.

    :param min_snr: spectra of a lower ``Spectrum.snr_typical`` are skipped; None: none are
    :param medium: of spectra whose file does not state it; None: as the reader assumes it
    :raises PolicyUnavailable: the policy fails for all jobs; every outcome until then has been yielded
    """
    known, spending, inner = known or KnownLabels(), spending or Budget(), Stop()
    plan = Plan(task, lambda sample: policy_for(None, sample), min_snr=min_snr, medium=medium)

    def draft(job: Job, reading: Reading) -> list[Outcome]:
        with spending.one_more(inner) as tab:
            if tab is None:
                # Nothing is in progress any more, else it would have waited.
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
        outcomes = _in_threads(draft, readings(jobs, medium), concurrency, inner)
        try:
            yield from stop_when_unavailable(outcomes, concurrency + MAX_CONSECUTIVE_FAILURES)
        finally:
            inner.set()
            outcomes.close()


def contradicts(trajectory: Trajectory) -> bool:
    """Return whether a trace answers the opposite of its label."""
    answer = trajectory.answer
    return answer is not None and {answer.verdict, trajectory.label} == {"YES", "NO"}


def reveals_label(trajectory: Trajectory) -> bool:
    """Return whether the text of a trace reveals that its author knew the label, as far as phrases show it."""
    if not trajectory.drafter.settings.get("label_told"):
        return False
    return any(
        mentions_label(step.text if isinstance(step, Think) else step.explanation)
        for step in trajectory.steps
        if isinstance(step, Think | Answer)
    )


def _in_threads(
    draft: Callable[[Job, Reading], list[Outcome]], work: Iterable[tuple[Job, Reading]], threads: int, stop: Stop
) -> Generator[Outcome, None, None]:
    pool = ThreadPoolExecutor(threads, thread_name_prefix="draft")
    yield from as_completed_limited(pool, (pool.submit(draft, *pair) for pair in work), 2 * threads, stop)


def contradicting_path(out: Path) -> Path:
    """Return the file for drafts that contradict their label, if they are left out of ``out``."""
    return out.with_name(f"{out.stem}.contradicting{out.suffix}")


@dataclass
class DraftCounts:
    """The counts of a run. ``refused`` are messages, ``empty`` counts targets without data, ``skipped`` has the
    spectra below the S/N floor with the reason.
    """

    drafted: int = 0
    new: int = 0
    refused: list[str] = field(default_factory=list)
    empty: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    contradicting: int = 0
    giving_away: int = 0
    unanswered: int = 0
    left_out: int = 0


@dataclass
class DraftWriter:
    """Writes drafts to journals and the store, and knows those of earlier runs.

    :param out: the drafts; None: only the store is written, and earlier runs are not known
    :param contradicting: drafts that contradict their label, where ``out`` is without them
    """

    out: Journal | None = None
    contradicting: Journal | None = None
    store: Store | None = None
    batch: str = ""
    tally: DraftCounts = field(default_factory=DraftCounts)

    def is_done(self, key: str, sample: int) -> bool:
        """Return whether this sample of this spectrum was drafted before."""
        return any(journal.is_done(key, sample) for journal in self._journals())

    def knows(self, key: str) -> bool:
        """Return whether any sample of this spectrum was drafted before."""
        return any(journal.knows(key) for journal in self._journals())

    def add(self, outcome: Outcome) -> None:
        """Record a draft, or why there is none. A stopped inspection is not recorded.

        :raises JournalError: it cannot be written
        :raises StoreError: it cannot be written
        """
        if outcome.reason == "no data" and outcome.job.target:
            # A fibre without an object.
            self.tally.empty += 1
        elif outcome.reason == "low S/N":
            self.tally.skipped[outcome.job.key] = outcome.detail
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
        # The file first: it can be imported again, and a second import adds nothing.
        if journal is not None:
            journal.add(outcome, {"spectrum_data": spectrum.to_json()})
        if left_out:
            self.tally.left_out += 1
        elif self.store is not None:
            # One at a time: a failure later does not lose this draft.
            (added,) = self.store.items.add_all(
                [Draft(trajectory, spectrum, batch=self.batch, pictures=outcome.pictures)]
            )
            self.tally.new += added.new

    def _journals(self) -> Iterator[Journal]:
        return (journal for journal in (self.out, self.contradicting) if journal is not None)
