"""Two systems on the questions that both have: the difference of mean F1, and McNemar's exact test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from agent.language import tr
from training.bench.outcomes import Outcome
from training.bench.scores import F1, NO_TASK, RESAMPLES, SEED, Value, counted, estimate
from training.bench.seeds import difference


@dataclass(frozen=True)
class Comparison:
    """The first system against the second, on the questions that both have.

    :param n: questions that both have; ``only_first``, ``only_second``: those left out
    :param f1: mean F1 of the first minus that of the second, with its interval from the same resamples of spectra
    :param better: questions that only the first has right; ``worse``: that only the second has
    :param p: McNemar's exact test: probability of a split at least as uneven by chance if neither is
        better. Of single questions, so right only if no spectrum has two questions. None, as the two counts, if a
        system has several runs
    """

    n: int
    only_first: int
    only_second: int
    f1: Value
    better: int | None = None
    worse: int | None = None
    p: float | None = None

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
    shared = _shared(ones, others)
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


def compare_runs(
    first: Sequence[Sequence[Outcome]],
    second: Sequence[Sequence[Outcome]],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """Compare two systems of which one has several runs; all runs of a system have the same questions.

    :raises ValueError: as ``compare``
    """
    ones, others = ([_placed(run) for run in runs] for runs in (first, second))
    shared = _shared(ones[0], others[0])
    ours, theirs = ([[run[place] for place in shared] for run in runs] for runs in (ones, others))
    return Comparison(
        n=len(shared),
        only_first=len(ones[0]) - len(shared),
        only_second=len(others[0]) - len(shared),
        f1=difference(ours, theirs, resamples=resamples, seed=seed).mean,
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
    mean = float(np.mean([F1(a.totals) - F1(b.totals) for a, b in pairs]))
    between = np.mean([F1(a.sums) - F1(b.sums) for a, b in pairs], axis=0)
    return estimate(mean, between, sum(a.spectra for a, _ in pairs), NO_TASK)


_Place = tuple[str, str, int]
"""A question: task, spectrum, and number among those about the same spectrum."""


def _shared(ones: Mapping[_Place, Outcome], others: Mapping[_Place, Outcome]) -> list[_Place]:
    """Return the questions in both. :raises ValueError: there are none, or two labels of one differ"""
    shared = sorted(ones.keys() & others.keys())
    if not shared:
        raise ValueError(tr("found no question in common"))
    for place in shared:
        if ones[place].label != others[place].label:
            task, source, _ = place
            raise ValueError(
                tr(
                    "{task}, {source}: found the label {label} in one and {label2} in the other",
                    task=task,
                    source=source,
                    label=ones[place].label,
                    label2=others[place].label,
                )
            )
    return shared


def _placed(outcomes: Iterable[Outcome]) -> dict[_Place, Outcome]:
    rows: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        rows[outcome.task, outcome.source].append(outcome)
    return {
        (task, source, number): ordered
        for (task, source), several in rows.items()
        for number, ordered in enumerate(sorted(several, key=lambda ordered: ordered.key))
    }
