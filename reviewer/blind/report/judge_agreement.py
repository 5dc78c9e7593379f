"""Agreement of model judges with people, and with each other, and the agreement of people as its ceiling.

Intervals are by the jackknife over spectra: all traces of a spectrum stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from agent.statistics import DEFAULT, FloatArray, divided, times_sampled
from reviewer.agreement.pairs import NONE_IN_COMMON
from reviewer.agreement.values import MIN_CLUSTERS, Estimate, Scores, jackknife
from reviewer.blind import results as tables
from reviewer.blind.plan import CANNOT_TELL, DIMENSIONS, Dimension
from reviewer.blind.results import JudgeScore, Results

Weighted = Callable[[FloatArray], FloatArray]
"""(sets, n_items), how often each item counts -> (sets,), the value of each set, NaN for one without a value."""

BY_SPECTRUM = "The interval is by the jackknife over spectra, all traces of one together."
_SPEARMAN = f"Spearman's rank correlation, tied values at their mean rank. {BY_SPECTRUM}"
_CEILING = (
    "Ceiling: the rank correlation (Spearman) of one scorer's scores with the mean of the other scorers of the same "
    f"traces, averaged over scorers. A judge that is as good as one of them reaches about this value. {BY_SPECTRUM}"
)
_FEWEST = 3  # items: two are always perfectly correlated, one way or the other


@dataclass(frozen=True)
class JudgesAlike:
    """The rank correlation of the scores of two judges."""

    a: str
    b: str
    spearman: Estimate


@dataclass(frozen=True)
class JudgesTogether:
    """One dimension, all judges.

    :param ceiling: one scorer against the mean of the other scorers: to be shown beside each judge's correlation
    :param mean: the mean score of all judges against the people's mean score; None with one judge
    :param pairs: every judge with every other, in the order of their names
    """

    ceiling: Estimate
    mean: Estimate | None
    pairs: tuple[JudgesAlike, ...]


def judges_together(results: Results) -> dict[Dimension, JudgesTogether]:
    """Return the comparison of judges for each dimension that one of them scored."""
    together = {}
    for dimension in DIMENSIONS:
        judges, people = judge_scores(results, dimension), tables.score_table(results, dimension)
        judges = _select(judges, people.items)
        if not judges.raters:
            continue
        spectra = spectra_of(results, people.items)
        mean = None
        if len(judges.raters) > 1:
            mean = correlation_with_people(results, dimension)
        pairs = tuple(
            JudgesAlike(a, b, rank_correlation(judges.by(a), judges.by(b), spectra))
            for a, b in combinations(judges.raters, 2)
        )
        together[dimension] = JudgesTogether(human_ceiling(people, spectra), mean, pairs)
    return together


def judge_scores(results: Results, dimension: Dimension) -> Scores:
    """(n_items, n_judges): the mean over its samples of each item that a judge scored in this dimension."""
    given: dict[tuple[str, str], list[float]] = {}
    for judgement in results.judgements:
        if isinstance(judgement.answer, JudgeScore) and (score := getattr(judgement.answer, dimension)) is not None:
            samples = given.setdefault((results.traces[judgement.shown[0]].key, judgement.judge), [])
            samples += [] if score == CANNOT_TELL else [float(score)]
    return Scores.of((item, judge, fmean(own) if own else None) for (item, judge), own in given.items())


def correlation_with_people(results: Results, dimension: Dimension, judge: str | None = None) -> Estimate:
    """Return Spearman's correlation of the people's mean score of each trace with the mean score of the judges.

    :param judge: this one's scores instead of the mean of all
    """
    people, judges = tables.score_table(results, dimension), judge_scores(results, dimension)
    if judge is not None:
        judges = judges.only([judge] if judge in judges.raters else [])
    judges = _select(judges, people.items)
    return rank_correlation(people.item_means(), judges.item_means(), spectra_of(results, people.items))


def spectra_of(results: Results, items: Sequence[str]) -> tuple[str, ...]:
    """(n_items,): the spectrum of each item; an item without one is a spectrum of its own."""
    spectra = {trace.key: trace.spectrum or f"item {trace.item}" for trace in results.traces.values()}
    return tuple(spectra[trace] for trace in items)


def rank_correlation(x: FloatArray, y: FloatArray, spectra: Sequence[str]) -> Estimate:
    """Return Spearman's rank correlation of two series over the same traces; n is the traces with a value in both.

    Undefined with fewer than three, and when either series is constant.

    :param x: (n_items,), NaN where there is no value; ``y`` as well
    :param spectra: (n_items,)
    """
    both = ~(np.isnan(x) | np.isnan(y))
    n = int(both.sum())
    if n < _FEWEST:
        reason = f"{n} {'item has' if n == 1 else 'items have'} a value on both sides" if n else NONE_IN_COMMON
        return Estimate.undefined(reason, n, _SPEARMAN, n_of="traces")
    for name, given in (("first", x[both]), ("second", y[both])):
        if np.ptp(given) == 0:
            return Estimate.undefined(f"the {name} of the two is {given[0]:g} every time", n, _SPEARMAN, n_of="traces")
    kept = [spectrum for spectrum, use in zip(spectra, both, strict=True) if use]
    return by_spectrum(_SPEARMAN, _correlation(x[both], y[both]), kept, correlation=True)


def human_ceiling(people: Scores, spectra: Sequence[str]) -> Estimate:
    """Return the mean over scorers of the rank correlation of their scores with the mean of the others.

    n is the traces with two scores or more. ``detail`` has the number of scorers with a correlation, and the lowest and
    the highest of these. Undefined where nobody has one.

    :param spectra: (n_items,), of the items of ``people``
    """
    n = int((people.given.sum(axis=1) > 1).sum())
    parts: list[Weighted] = []
    for place in range(len(people.raters)):
        own, others = people.values[:, place], np.delete(people.values, place, axis=1)
        counts = (~np.isnan(others)).sum(axis=1)
        rest = np.where(counts > 0, np.nansum(others, axis=1) / np.maximum(counts, 1), np.nan)
        both = ~(np.isnan(own) | np.isnan(rest))
        if both.sum() >= _FEWEST and np.ptp(own[both]) > 0 and np.ptp(rest[both]) > 0:
            parts.append(_of_items(both, _correlation(own[both], rest[both])))
    if not parts:
        reason = "no scorer has three traces that others scored too, with scores that differ"
        return Estimate.undefined(reason, n, _CEILING, n_of="traces")

    def statistic(weights: FloatArray) -> FloatArray:
        values = np.array([part(weights) for part in parts])
        defined = ~np.isnan(values)
        return divided(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(float))

    alone = [float(part(np.ones((1, len(people.items))))[0]) for part in parts]
    detail = {"scorers": len(parts), "lowest": min(alone), "highest": max(alone)}
    return by_spectrum(_CEILING, statistic, spectra, correlation=True, n=n, detail=detail)


def weighted_mean(values: FloatArray) -> Weighted:
    """Return the mean of values, (n_items,), NaN where there is none."""
    is_known = ~np.isnan(values)
    filled = np.where(is_known, values, 0.0)
    return lambda weights: divided(weights @ filled, weights @ is_known.astype(float))


def by_spectrum(
    definition: str,
    statistic: Weighted,
    spectra: Sequence[str],
    *,
    correlation: bool = False,
    n: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> Estimate:
    """Return a statistic of traces with its ``jackknife`` interval over their spectra.

    :param statistic: with a value when each trace counts once
    :param spectra: (n_items,)
    :param correlation: whether it is one, else a mean or a difference of means; it then needs more spectra
    :param n: the traces that the value rests on, if that is not all
    """
    jackknifed = jackknife(
        definition,
        float(statistic(np.ones((1, len(spectra))))[0]),
        lambda kept: statistic(times_sampled(kept, len(spectra))),
        spectra,
        fisher=correlation,
        fewest=MIN_CLUSTERS if correlation else DEFAULT.few,
        detail={"spectra": len(set(spectra)), **(detail or {})},
    )
    return replace(jackknifed, n=len(spectra) if n is None else n, n_of="traces")


def _select(scores: Scores, items: Sequence[str]) -> Scores:
    """Return the same raters' scores of these items, in this order; raters without any are left out."""
    place = {item: row for row, item in enumerate(scores.items)}
    values = np.full((len(items), len(scores.raters)), np.nan)
    for row, item in enumerate(items):
        if item in place:
            values[row] = scores.values[place[item]]
    chosen = Scores(tuple(items), scores.raters, values)
    return chosen.only([rater for rater in scores.raters if not np.isnan(chosen.by(rater)).all()])


def _of_items(kept: NDArray[np.bool_], statistic: Weighted) -> Weighted:
    """Return a statistic of some of the items as one of all. :param kept: (n_items,), true for these"""
    return lambda weights: statistic(weights[:, kept])


def _correlation(x: FloatArray, y: FloatArray) -> Weighted:
    """Return Spearman's correlation of (n_items,) values where items count several times or not at all.

    It is Pearson's of the mean ranks in the set, as if each item were there as often as it counts.
    """
    ranks_of = [_ranks(values) for values in (x, y)]

    def statistic(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=1, keepdims=True)
        own, other = (ranks(weights) for ranks in ranks_of)
        own = own - divided((weights * own).sum(axis=1, keepdims=True), total)
        other = other - divided((weights * other).sum(axis=1, keepdims=True), total)
        squares = (weights * own**2).sum(axis=1) * (weights * other**2).sum(axis=1)
        return divided((weights * own * other).sum(axis=1), np.sqrt(squares), 1e-9)

    return statistic


def _ranks(values: FloatArray) -> Weighted:
    """Return the function from weights to mean ranks, (sets, n_items), up to a constant."""
    different, place = np.unique(values, return_inverse=True)
    belongs = np.equal.outer(place, np.arange(len(different))).astype(float)

    def ranks(weights: FloatArray) -> FloatArray:
        counts = weights @ belongs
        return cast(FloatArray, (np.cumsum(counts, axis=1) - counts / 2)[:, place])

    return ranks
