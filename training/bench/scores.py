"""Scores of a bench: per task, and their means over tasks, with percentile bootstrap intervals (Efron 1979).

Macro-F1 of the paper is the mean over tasks of the F1 of YES. A question without YES or NO counts as wrong: a miss if
the truth is YES, no false positive if it is NO. A score that is not defined has no number but a reason.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import comb
from typing import Any, Literal

import numpy as np

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
    """Scores of one task. ``without`` counts the questions without a YES or NO."""

    task: str
    n: int
    spectra: int
    positives: int
    tp: int
    fp: int
    fn: int
    tn: int
    without: int
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

    def task(self, key: str) -> TaskScores | None:
        return next((task for task in self.tasks if task.task == key), None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


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
        raise ValueError("outcomes: found none, expected one or more")
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
        accuracy=_mean(tasks, ACCURACY)[0],
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
    found = []
    for task in sorted(by_task):
        spectra = by_task[task]
        counts = np.array([spectra[source] for source in sorted(spectra)])
        found.append(
            TaskCounts(task, len(spectra), counts.sum(axis=0), resampled_counts(counts, task, resamples, seed))
        )
    return found


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
    return _mean(tasks, F1)


def _mean(tasks: Sequence[TaskCounts], of: Any) -> tuple[Value, tuple[str, ...]]:
    there = [task for task in tasks if not np.isnan(of(task.totals))]
    if not there:
        return Value(None, words=NO_TASK), ()
    found = float(np.mean([of(outcome.totals) for outcome in there]))
    resamples = np.mean([of(outcome.sums) for outcome in there], axis=0)
    return estimate(found, resamples, sum(outcome.spectra for outcome in there), NO_TASK), tuple(t.task for t in there)


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
        "completion_tokens": float(np.mean([outcome.completion_tokens for outcome in outcomes])),
    }


SNR_EDGES = (5.0, 10.0, 20.0, 50.0)
"""Median signal-to-noise per pixel at which a new group begins; the published cold-start set lies above 10."""
NOT_KNOWN = "not known"

By = Literal["survey", "S/N", "task, survey"]


@dataclass(frozen=True)
class Group:
    """A part of the questions: the criterion, the name of the part, its scores."""

    by: By
    name: str
    scores: Scores


def groups(outcomes: Iterable[Outcome]) -> list[Group]:
    """Return the scores of the parts, each criterion in its order. A criterion with a single part is left out."""
    given = list(outcomes)
    kinds: tuple[tuple[By, Callable[[Outcome], tuple[int, str]]], ...] = (
        ("survey", lambda outcome: (0, survey(outcome))),
        ("S/N", _snr),
        ("task, survey", lambda outcome: (0, f"{outcome.task}, {survey(outcome)}")),
    )
    found = []
    for by, part in kinds:
        if by == "task, survey" and len({survey(one) for one in given}) < 2:
            continue
        parts: dict[tuple[int, str], list[Outcome]] = defaultdict(list)
        for outcome in given:
            parts[part(outcome)].append(outcome)
        if len(parts) > 1:
            found += [Group(by, name, scores(parts[order, name])) for order, name in sorted(parts)]
    return found


def survey(outcome: Outcome) -> str:
    """Return the survey name for the groups."""
    return outcome.survey or NOT_KNOWN


def _snr(outcome: Outcome) -> tuple[int, str]:
    """Return the index of the bin, and its name."""
    if outcome.snr is None:
        return len(SNR_EDGES) + 1, NOT_KNOWN
    place = sum(outcome.snr >= edge for edge in SNR_EDGES)
    if place == 0:
        return place, f"below {SNR_EDGES[0]:g}"
    if place == len(SNR_EDGES):
        return place, f"{SNR_EDGES[-1]:g} and above"
    return place, f"{SNR_EDGES[place - 1]:g} to {SNR_EDGES[place]:g}"


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


@dataclass(frozen=True)
class Comparison:
    """The first system against the second, on the questions that both have.

    :param n: questions that both have; ``only_first``, ``only_second``: those left out
    :param f1: mean F1 of the first minus that of the second, with its interval from the same resamples of spectra
    :param better: questions that only the first has right; ``worse``: that only the second has
    :param p: McNemar's exact test: probability of a split at least as uneven by chance if neither is
        better. Of single questions, so right only if no spectrum has two questions.
    """

    n: int
    only_first: int
    only_second: int
    f1: Value
    better: int
    worse: int
    p: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(
    first: Iterable[Outcome], second: Iterable[Outcome], resamples: int = RESAMPLES, seed: int = SEED
) -> Comparison:
    """Compare two systems. Questions are matched by task and spectrum, several of one spectrum by their keys'
    order.

    :raises ValueError: they share no question, or disagree about the truth of one
    """
    ones, others = _placed(first), _placed(second)
    shared = sorted(ones.keys() & others.keys())
    if not shared:
        raise ValueError("found no question in common")
    for place in shared:
        if ones[place].label != others[place].label:
            task, source, _ = place
            raise ValueError(
                f"{task}, {source}: found the label {ones[place].label} in one and {others[place].label} in the other"
            )
    pairs = [(ones[place], others[place]) for place in shared]
    better = sum(a.is_right and not b.is_right for a, b in pairs)
    worse = sum(b.is_right and not a.is_right for a, b in pairs)
    return Comparison(
        n=len(pairs),
        only_first=len(ones) - len(pairs),
        only_second=len(others) - len(pairs),
        f1=_difference([a for a, _ in pairs], [b for _, b in pairs], resamples, seed),
        better=better,
        worse=worse,
        p=mcnemar(better, worse),
    )


def mcnemar(better: int, worse: int) -> float:
    """Return p of the two-sided exact test (McNemar 1947, Psychometrika 12, 153): twice the binomial tail at one half,
    at most 1.
    """
    n, fewer = better + worse, min(better, worse)
    tail = sum(comb(n, k) for k in range(fewer + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def _difference(first: Sequence[Outcome], second: Sequence[Outcome], resamples: int, seed: int) -> Value:
    """Return the difference of the mean F1 over the tasks in which both have one.

    Both have the same resamples of spectra, which depend on task and seed alone.
    """
    pairs = [
        (a, b)
        for a, b in zip(counted(first, resamples, seed), counted(second, resamples, seed), strict=True)
        if not np.isnan(F1(a.totals)) and not np.isnan(F1(b.totals))
    ]
    if not pairs:
        return Value(None, words=NO_TASK)
    found = float(np.mean([F1(a.totals) - F1(b.totals) for a, b in pairs]))
    between = np.mean([F1(a.sums) - F1(b.sums) for a, b in pairs], axis=0)
    return estimate(found, between, sum(a.spectra for a, _ in pairs), NO_TASK)


def _placed(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, int], Outcome]:
    rows: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        rows[outcome.task, outcome.source].append(outcome)
    return {
        (task, source, number): one
        for (task, source), several in rows.items()
        for number, one in enumerate(sorted(several, key=lambda one: one.key))
    }
