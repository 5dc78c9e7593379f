"""Two systems on the same questions: is one better, or is it chance?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from training.bench.outcomes import Outcome
from training.bench.scores import F1, NO_TASK, RESAMPLES, SEED, Value, counted, estimate


@dataclass(frozen=True)
class Comparison:
    """The first system against the second, on the questions that both were asked.

    :param n: questions that both were asked; ``only_first``, ``only_second``: those left out
    :param f1: mean F1 of the first minus that of the second, with its interval from the same resamples of spectra
    :param better: questions that only the first has right; ``worse``: that only the second has
    :param p: McNemar's exact test: how often a split at least as uneven comes of chance where neither is
        better. Of single questions, so right only where no spectrum is asked about twice.
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
        raise ValueError("found no question that both were asked")
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
    """The two-sided exact test (McNemar 1947, Psychometrika 12, 153): twice the binomial tail at one half, at
    most 1."""
    n, fewer = better + worse, min(better, worse)
    tail = sum(comb(n, k) for k in range(fewer + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def _difference(first: Sequence[Outcome], second: Sequence[Outcome], resamples: int, seed: int) -> Value:
    """Of the tasks in which both have an F1. Both have the same resamples of spectra: they depend on
    task and seed alone."""
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
    for one in outcomes:
        rows[one.task, one.source].append(one)
    return {
        (task, source, number): one
        for (task, source), several in rows.items()
        for number, one in enumerate(sorted(several, key=lambda one: one.key))
    }
