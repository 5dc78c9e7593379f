"""Several runs of one system, with different training or sampling seeds, on the same questions.

Scores are means over the runs. Their bootstrap resamples runs as well as spectra: in each resample, runs and, within
each task, spectra are sampled with replacement, the same spectra for all runs (the pigeonhole bootstrap: Owen 2007,
Ann. Appl. Stat. 1, 386).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from agent.language import tr
from agent.statistics import resampled, times_sampled
from training.bench.outcomes import Outcome
from training.bench.scores import (
    F1,
    NO_TASK,
    RESAMPLES,
    SEED,
    Counts,
    TaskCounts,
    Value,
    counted,
    estimate,
)

Of = Callable[[Counts], Counts]
"""A score of counts (..., k), NaN where it is not defined."""


@dataclass(frozen=True)
class Spread:
    """A score of several runs: of each (NaN: not defined), and their mean with its interval over runs and spectra."""

    each: tuple[float, ...]
    mean: Value

    @property
    def deviation(self) -> float | None:
        """The standard deviation over runs (n - 1); None for one run, or if a score is not defined."""
        spread = float(np.std(self.each, ddof=1)) if len(self.each) > 1 else np.nan
        return None if np.isnan(spread) else spread


def refuse_other_questions(runs: Sequence[Sequence[Outcome]], names: Sequence[str]) -> None:
    """:raises ValueError: two runs have different questions, or different labels of one"""
    first, *others = ({(outcome.task, outcome.source, outcome.key): outcome.label for outcome in run} for run in runs)
    for questions, name in zip(others, names[1:], strict=True):
        if differing := first.items() ^ questions.items():
            task, source, _ = min(place for place, _ in differing)
            raise ValueError(
                tr(
                    "{names} and {name}: found {n_first} and {n_questions} questions that are not the same "
                    "({task}, {source}), expected the same in all runs of a row",
                    names=names[0],
                    name=name,
                    n_first=len(first),
                    n_questions=len(questions),
                    task=task,
                    source=source,
                )
            )


def of_task(runs: Sequence[Sequence[TaskCounts]], task: str, of: Of, undefined: str) -> Spread:
    """Return the score of one task.

    :param runs: the counts of each run, which have the same spectra
    """
    own = [next(counts for counts in run if counts.task == task) for run in runs]
    totals = np.array([of(counts.totals) for counts in own])
    sums = np.stack([of(counts.sums) for counts in own], axis=-1)
    return _spread(totals, sums, own[0].spectra, undefined)


def over_tasks(runs: Sequence[Sequence[TaskCounts]], of: Of, undefined: str = NO_TASK) -> Spread:
    """Return the mean of a score over the tasks in which it is defined in each run."""
    tasks = defined_tasks(runs, of)
    if not tasks:
        return Spread((np.nan,) * len(runs), Value(None, words=undefined))
    return _spread(*_means(runs, of, tasks), _spectra(runs[0], tasks), undefined)


def defined_tasks(runs: Sequence[Sequence[TaskCounts]], of: Of) -> tuple[str, ...]:
    """Return the tasks in which a score is defined in every run."""
    return tuple(
        same[0].task for same in zip(*runs, strict=True) if not any(np.isnan(of(counts.totals)) for counts in same)
    )


def over_questions(runs: Sequence[Sequence[TaskCounts]], of: Of, spectra: int, undefined: str) -> Spread:
    """Return a score of the counts of all tasks together."""
    totals = np.array([of(np.sum([counts.totals for counts in run], axis=0)) for run in runs])
    sums = np.stack([of(np.sum([counts.sums for counts in run], axis=0)) for run in runs], axis=-1)
    return _spread(totals, sums, spectra, undefined)


def difference(
    first: Sequence[Sequence[Outcome]],
    second: Sequence[Sequence[Outcome]],
    paired: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Spread:
    """Return the mean F1 of the first system minus that of the second, of whom all runs have the same questions.

    :param paired: run n of the first and run n of the second belong together (the same seed) and are resampled
        together; then ``each`` has the difference of each pair, otherwise the difference of the means alone
    """
    ours, theirs = ([counted(run, resamples, seed) for run in runs] for runs in (first, second))
    tasks = defined_tasks([*ours, *theirs], F1)
    if not tasks:
        return Spread((), Value(None, words=NO_TASK))
    (a, a_sums), (b, b_sums) = _means(ours, F1, tasks), _means(theirs, F1, tasks)
    spectra = _spectra(ours[0], tasks)
    if paired:
        return _spread(a - b, a_sums - b_sums, spectra, NO_TASK, seed)
    between = _chosen(a_sums, "first", seed) - _chosen(b_sums, "second", seed)
    return Spread((float(a.mean() - b.mean()),), estimate(float(a.mean() - b.mean()), between, spectra, NO_TASK))


def _means(runs: Sequence[Sequence[TaskCounts]], of: Of, tasks: Sequence[str]) -> tuple[Counts, Counts]:
    """Return the mean over tasks of each run (runs,) and of its resamples (resamples, runs)."""
    kept = [[counts for counts in run if counts.task in tasks] for run in runs]
    totals = np.array([np.mean([of(counts.totals) for counts in run]) for run in kept])
    sums = np.stack([np.mean([of(counts.sums) for counts in run], axis=0) for run in kept], axis=-1)
    return totals, sums


def _spread(totals: Counts, sums: Counts, spectra: int, undefined: str, seed: int = SEED) -> Spread:
    """Return the mean over runs, (runs,), with the interval of its resamples, (resamples, runs)."""
    return Spread(
        tuple(map(float, totals)), estimate(float(totals.mean()), _chosen(sums, "", seed), spectra, undefined)
    )


def _chosen(sums: Counts, name: str, seed: int) -> Counts:
    """Return the mean over the runs of each resample, (resamples,), of scores (resamples, runs).

    :param name: names the stream of random numbers
    """
    resamples, runs = sums.shape
    stream = (seed, zlib.crc32(f"runs {name}".encode()))
    times = resampled(lambda picks: times_sampled(picks, runs), (runs,), resamples, stream)
    # A run that is not in the resample does not matter, even if its score is not defined.
    means: Counts = np.where(times > 0, sums * times, 0.0).sum(axis=-1) / runs
    return means


def _spectra(run: Sequence[TaskCounts], tasks: Sequence[str]) -> int:
    return sum(counts.spectra for counts in run if counts.task in tasks)
