"""Every statistic of the scores of one dimension. Means and differences of sources are of the primary analysis, that is
without what the plan excludes; everything about the scorers is of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from agent.statistics import DEFAULT, FloatArray
from reviewer.agreement.distribution import (
    ByCorrectness,
    Distribution,
    by_item,
    distribution,
    mean,
    score_by_correctness,
    share,
)
from reviewer.agreement.mixed import OF_SCORERS, Ratings
from reviewer.agreement.pairs import PairAgreement, pair_agreement
from reviewer.agreement.raters import Calibration, SelfConsistency, calibration, self_consistency
from reviewer.agreement.reliability import icc_a1, icc_ak, krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.analysis import primary_results
from reviewer.blind.plan import DIMENSIONS, Dimension
from reviewer.blind.report.model import (
    ByPopulation,
    differences,
    fitted,
    means,
    ratings,
    spectrum_unit,
    spectrum_units,
    without_interval,
)
from reviewer.blind.report.names import Names, sources
from reviewer.blind.report.order import OrderStatistics, order_statistics
from reviewer.blind.results import Results, ShownTrace

FEWEST_REPEATS = 10
"""With fewer repeats a scorer's self-consistency has no interval."""
FEW_REPEATS = f"fewer than {FEWEST_REPEATS} repeats"

DESCRIPTION = "description only"
"""Why a number that describes the given scores has no interval."""
_ALL_SCORES = "{} of all scores of a source, each score with the same weight."
_SPREAD = (
    "Standard deviation of a random effect of the mixed model, in points of the scale: of spectra (how good all traces "
    "of a spectrum are), traces, scorers (severity), scorers by source (how much they differ about a source), and of "
    "what is left. Below 0, a variance counts as 0."
)
_SEVERITY = "Severity: a scorer's level less the mean level of all scorers."
_BY_SCORER = "One scorer's difference of two sources' mean scores, the first less the second."
_ALL = " All scorers' repeats together; the interval resamples spectra."
_AGAIN = " Here the items are repeated showings, and the two scores of each are of the same scorer."


@dataclass(frozen=True)
class Agreement:
    """Agreement of the scorers on all traces, or on those of one source."""

    alpha: Estimate
    icc_a1: Estimate
    icc_ak: Estimate


@dataclass(frozen=True)
class Difference:
    """Difference of the mean scores of two sources, the first less the second.

    :param by_scorer: each scorer's own difference, also of scorers whom the plan excludes
    """

    first: str
    second: str
    difference: ByPopulation
    by_scorer: Mapping[str, Estimate]


@dataclass(frozen=True)
class PooledRepeats:
    """Self-consistency of all scorers together: each repeated showing is an item with two scores."""

    alpha: Estimate
    difference: Estimate
    exact: Estimate
    within_1: Estimate


@dataclass(frozen=True)
class DimensionStatistics:
    """All statistics of one dimension. Scorers have their names in the report.

    :param table: every score that counts, items by their number
    :param by_task: mean scores by source and task, where there are several tasks; ``by_survey`` as well
    :param spread: standard deviations of the model's random effects
    :param agreement: by source; "" is all sources together
    """

    dimension: Dimension
    table: Scores
    distributions: Mapping[str, Distribution]
    means: Mapping[str, ByPopulation]
    by_task: Mapping[tuple[str, str], Estimate]
    by_survey: Mapping[tuple[str, str], Estimate]
    differences: tuple[Difference, ...]
    spread: Mapping[str, Estimate]
    agreement: Mapping[str, Agreement]
    pairs: tuple[PairAgreement, ...]
    severity: Mapping[str, Estimate]
    consistency: Mapping[str, SelfConsistency]
    repeats: PooledRepeats | None
    gold: Mapping[str, Calibration]
    order: OrderStatistics
    correctness: Mapping[str, ByCorrectness]


def score_statistics(results: Results, names: Names) -> tuple[DimensionStatistics, ...]:
    """Return the statistics of each dimension; empty where the session had pairs alone."""
    if "scores" not in results.plan.kinds:
        return ()
    return tuple(_of_dimension(results, names, dimension) for dimension in DIMENSIONS)


def _of_dimension(results: Results, names: Names, dimension: Dimension) -> DimensionStatistics:
    arms = sources(results)
    every = names.table(tables.score_table(results, dimension))
    by_source = {arm: names.table(tables.score_table(results, dimension, arm)) for arm in arms}
    parts = {"": every} | (by_source if len(arms) > 1 else {})
    primary, scores = ratings(primary_results(results), names, dimension), ratings(results, names, dimension)
    return DimensionStatistics(
        dimension=dimension,
        table=every,
        distributions={
            source: _described(distribution(own, tables.count_cannot_tell(results, dimension, source)))
            for source, own in by_source.items()
        },
        means=means(primary, arms),
        by_task=_by_group(results, primary, arms, lambda trace: trace.task),
        by_survey=_by_group(results, primary, arms, lambda trace: trace.survey),
        differences=tuple(
            Difference(a, b, differences(primary, a, b), _by_scorer(scores, names, a, b))
            for a, b in combinations(arms, 2)
        ),
        spread=_spread(primary),
        agreement={part: _agreement(results, own) for part, own in parts.items()},
        pairs=pair_agreement(every, clusters=spectrum_units(results, every.items)),
        severity=_severity(scores, names),
        consistency=_consistency(results, names, dimension),
        repeats=_pooled_repeats(results, dimension) if results.plan.repeats else None,
        gold=_gold(results, names, dimension),
        order=order_statistics(results, names, dimension),
        correctness={
            part: score_by_correctness(
                own, tables.verdict_correctness(results, own), spectrum_units(results, own.items)
            )
            for part, own in parts.items()
        },
    )


def _described(distribution: Distribution) -> Distribution:
    mean, median = (without_interval(estimate, DESCRIPTION) for estimate in (distribution.mean, distribution.median))
    return replace(
        distribution,
        mean=replace(mean, definition=_ALL_SCORES.format("Mean")),
        median=replace(median, definition=_ALL_SCORES.format("Median")),
    )


def _by_group(
    results: Results, scores: Ratings, arms: tuple[str, ...], group: Callable[[ShownTrace], str]
) -> dict[tuple[str, str], Estimate]:
    """Return the mean of each source and group of traces; empty with one group."""
    groups = {trace.key: group(trace) for trace in results.traces.values()}
    present = sorted({groups[item] for item in scores.items})
    if len(present) < 2:
        return {}
    of = {name: means(scores.only([groups[item] == name for item in scores.items]), arms) for name in present}
    return {(source, name): of[name][source].new_scorers for source in arms for name in present}


def _by_scorer(scores: Ratings, names: Names, first: str, second: str) -> dict[str, Estimate]:
    kept = scores.of(first, second)
    fit = fitted(kept, these_scorers=True) if len(kept.values) else None
    own: dict[str, Estimate] = {}
    for scorer in names.scorers.values():
        n = len({spectrum for spectrum, who in zip(kept.spectra, kept.scorers, strict=True) if who == scorer})
        cells = fit.cells if fit is not None else ()
        if fit is None or not {(scorer, first), (scorer, second)} <= set(cells):
            reason = "no score of one of the sources"
            own[scorer] = Estimate.undefined(reason, n, _BY_SCORER, n_of="spectra")
        else:
            own[scorer] = replace(fit.difference_by(scorer, first, second), n=n)
    return own


def _spread(scores: Ratings) -> dict[str, Estimate]:
    if not len(scores.values):
        return {}
    fit = fitted(scores)
    of = {"rest": "scores", "trace": "traces", "spectrum": "spectra"}

    def deviation(name: str, variance: float) -> Estimate:
        value, n = max(0.0, variance) ** 0.5, _levels(scores, name)
        return Estimate(value, None, None, n, _SPREAD, DESCRIPTION, n_of=of.get(name, "scorers"))

    return {name: deviation(name, variance) for name, variance in fit.components.items()}


def _levels(scores: Ratings, component: str) -> int:
    of = {"rest": scores.items, "trace": set(scores.items), "spectrum": set(scores.spectra)}
    return len(set(scores.scorers) if component in OF_SCORERS else of[component])


def _agreement(results: Results, scores: Scores) -> Agreement:
    units = spectrum_units(results, scores.items)
    return Agreement(
        krippendorff_alpha(scores, clusters=units), icc_a1(scores, clusters=units), icc_ak(scores, clusters=units)
    )


def _severity(scores: Ratings, names: Names) -> dict[str, Estimate]:
    fit = fitted(scores, these_scorers=True) if len(scores.values) else None
    who = {scorer for scorer, _ in fit.cells} if fit is not None else set()
    own: dict[str, Estimate] = {}
    for scorer in names.scorers.values():
        n = scores.scorers.count(scorer)
        if fit is None or scorer not in who or len(who) < 2:
            reason = "there is one scorer only" if scorer in who else "no score"
            own[scorer] = Estimate.undefined(reason, n, _SEVERITY, n_of="scores")
        else:
            own[scorer] = replace(fit.severity(scorer), n=n, n_of="scores")
    return own


def _consistency(results: Results, names: Names, dimension: Dimension) -> dict[str, SelfConsistency]:
    if not results.plan.repeats:
        return {}
    return {
        called: _few_without(self_consistency(*tables.repeated_scores(results, dimension, initials)))
        for initials, called in names.scorers.items()
    }


def _few_without(consistency: SelfConsistency) -> SelfConsistency:
    parts = {
        name: without_interval(var, FEW_REPEATS) if var.n < FEWEST_REPEATS else var
        for name, var in vars(consistency).items()
    }
    return SelfConsistency(**parts)


def _pooled_repeats(results: Results, dimension: Dimension) -> PooledRepeats:
    first, again, units = [], [], []
    for scorer in results.plan.scorers:
        first_score, other = tables.repeated_scores(results, dimension, scorer)
        both = [pair for pair in results.repeats("scores") if pair[0].scorer == scorer]
        first.append(first_score)
        again.append(other)
        units += [spectrum_unit(results.traces[pair[0].shown[0]]) for pair in both]
    values: FloatArray = np.stack([np.concatenate(first), np.concatenate(again)], axis=1).reshape(-1, 2)
    scored = np.atleast_1d(~np.isnan(values).any(axis=1))
    values, units = values[scored], [unit for unit, keep in zip(units, scored, strict=True) if keep]
    apart = abs(values[:, 0] - values[:, 1])
    table = Scores(tuple(map(str, range(len(values)))), ("first", "again"), values)
    alpha = krippendorff_alpha(table, clusters=units)
    none = "no item was scored twice"
    alone = self_consistency(values[:, 0], values[:, 1])
    counts = by_item(units, apart, apart == 0, apart <= 1, np.ones(len(apart)))

    def pooled(number: int, of: Estimate, how: Callable[..., Estimate]) -> Estimate:
        return how(counts[number], counts[3], of.definition + _ALL, DEFAULT, none=none, n=len(apart), n_of="repeats")

    return PooledRepeats(
        alpha=replace(
            alpha, definition=alpha.definition + _AGAIN, n_of="repeats", reason=alpha.reason if units else none
        ),
        difference=pooled(0, alone.difference, mean),
        exact=pooled(1, alone.exact, share),
        within_1=pooled(2, alone.within_1, share),
    )


def _gold(results: Results, names: Names, dimension: Dimension) -> dict[str, Calibration]:
    if not any(gold.expected(dimension) is not None for gold in results.plan.gold):
        return {}
    return {
        called: calibration(*tables.gold_scores(results, dimension, initials))
        for initials, called in names.scorers.items()
    }
