"""Scores of a bench: per task, and their means over tasks, with percentile bootstrap intervals (Efron 1979).

Macro-F1 of the paper is the mean over tasks of the F1 of YES. A question without YES or NO counts as wrong: a miss if
the truth is YES, no false positive if it is NO. A score that is not defined has no number but a reason.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from agent.language import tr
from agent.statistics import DEFAULT, FloatArray, percentile_interval, resampled, times_sampled
from training.bench.outcomes import Outcome

RESAMPLES = DEFAULT.resamples
SEED = DEFAULT.seed

Counts = FloatArray

N, RIGHT, TP, FP, FN, FORMED, WRITTEN, ANSWERED, YES = range(9)
"""Counted for each spectrum; WRITTEN: outcomes whose form can be judged."""


def ratio(above: Sequence[int], below: Sequence[int]) -> Callable[[Counts], Counts]:
    """Return a score that is a ratio of sums of columns; NaN if the denominator is 0.

    A column may be named twice: F1 = 2 TP / (2 TP + FP + FN).
    """

    def of(counts: Counts) -> Counts:
        top: Counts = counts[..., list(above)].sum(axis=-1)
        bottom: Counts = counts[..., list(below)].sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            share: Counts = np.where(bottom > 0, top / bottom, np.nan)
        return share

    return of


ACCURACY = ratio([RIGHT], [N])
PRECISION = ratio([TP], [TP, FP])
RECALL = ratio([TP], [TP, FN])
F1 = ratio([TP, TP], [TP, TP, FP, FN])

NONE_POSITIVE = "not defined: no positives"
NONE_CALLED = "not defined: nothing was called positive"
NOTHING = "not defined: no positives, and nothing was called positive"
NO_TASK = "not defined in any task"


@dataclass(frozen=True)
class Value:
    """A score with its 95 % interval. ``words`` says why there is no value, or no interval; else it is ""."""

    value: float | None
    lo: float | None = None
    hi: float | None = None
    words: str = ""


@dataclass(frozen=True)
class TaskScores:
    """Scores of one task. ``without`` counts the questions without a YES or NO.

    Of several runs of one system, ``tp`` to ``without`` are means over the runs.
    """

    task: str
    n: int
    spectra: int
    positives: int
    tp: float
    fp: float
    fn: float
    tn: float
    without: float
    accuracy: Value
    precision: Value
    recall: Value
    f1: Value


@dataclass(frozen=True)
class Scores:
    """Scores over all tasks; ``accuracy`` and ``f1`` are means over tasks, the rates are over questions.

    :param f1_of: the tasks whose F1 is in the mean; those in which it is not defined are not
    :param f1_by_loop: the mean F1 if what the loop read as the answer were scored
    :param seconds: from question to answer, median; None if not measured
    :param calls: tool calls per question, mean
    :param errors: share of calls that the tool answered with an error
    """

    n: int
    spectra: int
    tasks: tuple[TaskScores, ...]
    accuracy: Value
    f1: Value
    f1_of: tuple[str, ...]
    f1_by_loop: Value
    format_rate: Value
    answer_rate: Value
    yes_rate: Value
    calls: float | None
    errors: float | None
    seconds: float | None
    prompt_tokens: float
    completion_tokens: float
    cached_tokens: float = 0.0

    def task(self, key: str) -> TaskScores | None:
        return next((task for task in self.tasks if task.task == key), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


BEHAVIOUR = (
    "format_rate",
    "answer_rate",
    "calls",
    "errors",
    "seconds",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
)
"""The fields of ``Scores`` that are of single samples where the answers are majority votes."""


@dataclass(frozen=True)
class TaskCounts:
    """The counts of one task, (k,), and of its resamples, (resamples, k)."""

    task: str
    spectra: int
    totals: Counts
    sums: Counts


def scores(outcomes: Iterable[Outcome], resamples: int = RESAMPLES, seed: int = SEED) -> Scores:
    """Score outcomes, in any order. :raises ValueError: there are none"""
    given = list(outcomes)
    if not given:
        raise ValueError(tr("outcomes: found none, expected one or more"))
    tasks = counted(given, resamples, seed)
    all_spectra = len({outcome.source for outcome in given})
    f1, f1_of = mean_f1(tasks)
    by_loop, _ = mean_f1(counted([outcome.read_by("loop") for outcome in given], resamples, seed))
    total, sums = sum(task.totals for task in tasks), sum(task.sums for task in tasks)

    def rate(of: int, among: int, words: str) -> Value:
        return value(np.asarray(total), np.asarray(sums), ratio([of], [among]), all_spectra, words)

    return Scores(
        n=len(given),
        spectra=all_spectra,
        tasks=tuple(_task(task, given) for task in tasks),
        accuracy=mean_over_tasks(tasks, ACCURACY)[0],
        f1=f1,
        f1_of=f1_of,
        f1_by_loop=by_loop,
        format_rate=rate(FORMED, WRITTEN, "nothing written"),
        answer_rate=rate(ANSWERED, N, ""),
        yes_rate=rate(YES, N, ""),
        **_means(given),
    )


def counted(outcomes: Sequence[Outcome], resamples: int = RESAMPLES, seed: int = SEED) -> list[TaskCounts]:
    """Return each task's counts by spectrum, with resamples; sorted by task."""
    by_task: dict[str, dict[str, Counts]] = defaultdict(lambda: defaultdict(lambda: np.zeros(YES + 1)))
    for outcome in outcomes:
        by_task[outcome.task][outcome.source] += _row(outcome)
    of_tasks = []
    for task in sorted(by_task):
        spectra = by_task[task]
        counts = np.array([spectra[source] for source in sorted(spectra)])
        of_tasks.append(
            TaskCounts(task, len(spectra), counts.sum(axis=0), resampled_counts(counts, task, resamples, seed))
        )
    return of_tasks


def resampled_counts(counts: Counts, task: str, resamples: int = RESAMPLES, seed: int = SEED) -> Counts:
    """Return sums over spectra sampled with replacement, (resamples, k).

    Resampled by spectrum within a task, because two questions about one spectrum are not independent. A score of
    exactly 0 or 100 % has an interval without width.

    :param counts: (spectra, k); the order of spectra matters to the random numbers, so give them sorted
    :param task: names the stream of random numbers, so that a task's numbers do not depend on the other tasks
    """
    spectra = len(counts)
    stream = (seed, zlib.crc32(task.encode()))
    return resampled(lambda picks: times_sampled(picks, spectra) @ counts, (spectra,), resamples, stream)


def value(totals: Counts, sums: Counts, of: Callable[[Counts], Counts], spectra: int, undefined: str) -> Value:
    """Return a score of the totals with the interval of its resamples.

    :param totals: (k,)
    :param sums: (resamples, k)
    :param of: the score of counts (..., k), NaN where it is not defined
    :param undefined: the words where it is not defined
    """
    return estimate(float(of(totals)), of(sums), spectra, undefined)


def estimate(score: float, resamples: Counts, spectra: int, undefined: str) -> Value:
    """Return a score (NaN: not defined) with the interval of its resamples (resamples,)."""
    if np.isnan(score):
        return Value(None, words=undefined)
    if spectra < 2:
        return Value(score, words="no interval: one spectrum")
    ends = percentile_interval(resamples)
    if ends is None:
        return Value(score, words=f"no interval: not defined in {np.isnan(resamples).mean():.0%} of the resamples")
    return Value(score, *ends)


def mean_f1(tasks: Sequence[TaskCounts]) -> tuple[Value, tuple[str, ...]]:
    """Return the mean of the tasks' F1, and the tasks in which it is defined."""
    return mean_over_tasks(tasks, F1)


def mean_over_tasks(
    tasks: Sequence[TaskCounts], of: Callable[[Counts], Counts], undefined: str = NO_TASK
) -> tuple[Value, tuple[str, ...]]:
    """Return the mean of a score over the tasks in which it is defined, and these tasks.

    :param of: the score of counts (..., k), NaN where it is not defined
    """
    defined = [task for task in tasks if not np.isnan(of(task.totals))]
    if not defined:
        return Value(None, words=undefined), ()
    mean = float(np.mean([of(outcome.totals) for outcome in defined]))
    resamples = np.mean([of(outcome.sums) for outcome in defined], axis=0)
    return estimate(mean, resamples, sum(outcome.spectra for outcome in defined), undefined), tuple(
        t.task for t in defined
    )


def _row(outcome: Outcome) -> Counts:
    is_yes, called = outcome.label == "YES", outcome.predicted == "YES"
    row = np.zeros(YES + 1)
    row[N] = 1
    row[RIGHT] = outcome.is_right
    row[TP], row[FP], row[FN] = is_yes and called, called and not is_yes, is_yes and not called
    row[FORMED], row[WRITTEN] = outcome.format_ok is True, outcome.format_ok is not None
    row[ANSWERED], row[YES] = outcome.answered is not None, called
    return row


def _task(counts: TaskCounts, outcomes: Sequence[Outcome]) -> TaskScores:
    own = [outcome for outcome in outcomes if outcome.task == counts.task]
    n, tp, fp, fn = (int(counts.totals[which]) for which in (N, TP, FP, FN))
    right = int(counts.totals[RIGHT])

    def scored(of: Any, words: str) -> Value:
        return value(counts.totals, counts.sums, of, counts.spectra, words)

    return TaskScores(
        task=counts.task,
        n=n,
        spectra=counts.spectra,
        positives=tp + fn,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=right - tp,
        without=sum(outcome.predicted is None for outcome in own),
        accuracy=scored(ACCURACY, ""),
        precision=scored(PRECISION, NONE_CALLED),
        recall=scored(RECALL, NONE_POSITIVE),
        f1=scored(F1, NOTHING),
    )


def _means(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    seconds = [outcome.seconds for outcome in outcomes if outcome.seconds is not None]
    calls = [outcome.calls for outcome in outcomes if outcome.calls is not None]
    return {
        "calls": float(np.mean(calls)) if calls else None,
        "errors": sum(outcome.errors for outcome in outcomes) / sum(calls) if sum(calls) else None,
        "seconds": float(np.median(seconds)) if seconds else None,
        "prompt_tokens": float(np.mean([outcome.prompt_tokens for outcome in outcomes])),
        "cached_tokens": float(np.mean([outcome.cached_tokens for outcome in outcomes])),
        "completion_tokens": float(np.mean([outcome.completion_tokens for outcome in outcomes])),
    }


Simulated = Literal["no", "yes", "partly"]


def percent(value: Value) -> str:
    """Format ``81.0 [78.2, 83.6]``; ``81.0 (no interval: one spectrum)``; ``not defined: no positives``."""
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:.1f} ({value.words})"
    return f"{100 * value.value:.1f} [{100 * value.lo:.1f}, {100 * value.hi:.1f}]"


def short(value: Value) -> str:
    """Format as ``percent`` for a narrow column: a dash without a value, no interval if there is none."""
    if value.value is None:
        return "–"
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:.1f}"
    return percent(value)


def plain(value: Value) -> str:
    """Format as ``percent``, but as a number from 0 to 1 with three digits."""
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{value.value:.3f} ({value.words})"
    return f"{value.value:.3f} [{value.lo:.3f}, {value.hi:.3f}]"


def points(value: Value) -> str:
    """Format a difference in percentage points, with its sign and interval."""
    if value.value is None:
        return value.words
    if value.lo is None or value.hi is None:
        return f"{100 * value.value:+.1f} ({value.words})"
    return f"{100 * value.value:+.1f} [{100 * value.lo:+.1f}, {100 * value.hi:+.1f}]"


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def simulated(outcomes: Iterable[Outcome]) -> Simulated:
    """Return whether the spectra are simulated."""
    kinds = {outcome.simulated for outcome in outcomes}
    return "partly" if len(kinds) > 1 else "yes" if kinds == {True} else "no"
