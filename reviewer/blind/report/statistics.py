"""Every number of a report, in one order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.processes import one_thread
from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate
from reviewer.blind.plan import Dimension
from reviewer.blind.report.claims import ORDINAL, Claims, all_claims
from reviewer.blind.report.judge_agreement import JudgesTogether, judges_together
from reviewer.blind.report.judges import JudgeStatistics, judge_statistics
from reviewer.blind.report.model import POPULATION_JUDGES, population
from reviewer.blind.report.names import Names
from reviewer.blind.report.order import PLACES
from reviewer.blind.report.preferences import PairStatistics, pair_statistics
from reviewer.blind.report.scores import DimensionStatistics, score_statistics
from reviewer.blind.results import Results

ALL_TRACES, ALL_SCORERS = "all traces", "all scorers"
PERSON, MEAN_JUDGE = "one person, with the others", "mean of the judges"

POINTS = "points of the scale from 0 to 5"
_SHARE, _CORRELATION = "share from 0 to 1", "correlation from −1 to 1"
_AGREEMENT = "coefficient, 1 at most"
_UNITS = {
    "drift": f"{POINTS}, per {PLACES} places",
    **dict.fromkeys(("Spearman", "rank correlation with people"), _CORRELATION),
    **dict.fromkeys(
        ("Krippendorff's alpha", "Krippendorff's alpha, intra-rater", "alpha of its samples", "weighted kappa"),
        _AGREEMENT,
    ),
    **dict.fromkeys(("ICC(A,1)", "ICC(A,k)"), "share of the variance, 1 at most"),
    **dict.fromkeys(("raw agreement", "the same score", "within 1", "within the tolerance"), _SHARE),
    **dict.fromkeys(("preferred, of decided", "first better", "second better", "equal", "both bad"), _SHARE),
    **dict.fromkeys(("the same answer", "left chosen", "longer chosen", "flip rate", "as most people"), _SHARE),
    "AUC": "probability from 0 to 1",
    **dict.fromkeys(("Davidson strength", ORDINAL), "log odds"),
}
"""Units of the statistics that are not in points."""

_JUDGES_ALONE = {
    *(("judges", "alpha of its samples"), ("judge means", "mean")),
    *(("judge bias", name) for name in ("flip rate", "left chosen", "longer chosen")),
}


@dataclass(frozen=True)
class Row:
    """One number of a report, with its subject.

    :param section: the part of the report it stands in, a key of ``page.CAPTIONS``
    :param of: a source, two sources, a scorer, two scorers, a judge, ``ALL_TRACES`` or ``ALL_SCORERS``
    :param dimension: ``coherence``, ``consistency`` or empty
    :param adjusted: p value adjusted for the number of comparisons
    :param claim: what may be claimed from it
    """

    section: str
    of: str
    dimension: str
    statistic: str
    estimate: Estimate
    adjusted: float | None = None
    claim: str = ""

    @property
    def unit(self) -> str:
        if self.section == "primary" and not self.dimension:
            return _SHARE
        return _UNITS.get(self.statistic, POINTS)

    @property
    def population(self) -> str:
        """Return what the interval holds for; empty where there is none. Some numbers are of judges alone."""
        people = population(self.estimate)
        alone = (self.section, self.statistic) in _JUDGES_ALONE or self.section in ("two judges", "judge preference")
        return POPULATION_JUDGES if people and alone else people

    @property
    def n_of(self) -> str:
        """Return what n counts; an item of the agreement statistics is a trace here, or a repeat."""
        if self.estimate.n_of != "items":
            return self.estimate.n_of
        return "repeats" if self.section == "repeats" else "traces"


@dataclass(frozen=True)
class Statistics:
    """All statistics of a session."""

    claims: Claims
    scores: tuple[DimensionStatistics, ...]
    pairs: PairStatistics | None
    judges: tuple[JudgeStatistics, ...]
    together: Mapping[Dimension, JudgesTogether]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return (
            *_claim_rows(self.claims),
            *(row for score in self.scores for row in _dimension_rows(score)),
            *(() if self.pairs is None else _pair_rows(self.pairs)),
            *(row for judge in self.judges for row in _judge_rows(judge)),
            *(row for dimension, judges in self.together.items() for row in _together_rows(dimension, judges)),
        )


def all_statistics(results: Results, names: Names) -> Statistics:
    """Calculate every statistic of a session."""
    # The matrices are small: on a busy machine, several threads per multiplication take twenty times as long.
    with one_thread():
        return Statistics(
            all_claims(results, names),
            score_statistics(results, names),
            pair_statistics(results, names),
            judge_statistics(results),
            judges_together(results),
        )


def _claim_rows(claims: Claims) -> Iterator[Row]:
    primary = claims.primary
    if primary is not None:
        for analysis in claims.analyses:
            yield Row(
                "primary", primary.pair, primary.dimension or "", analysis.name, analysis.estimate, None, analysis.claim
            )
    for other in claims.others:
        statistic = "preferred, of decided" if other.dimension is None else "difference"
        dimension = other.dimension or ""
        yield Row("comparisons", other.pair, dimension, statistic, other.estimate, other.adjusted, other.claim)


def _dimension_rows(statistics: DimensionStatistics) -> Iterator[Row]:
    of = statistics.dimension
    for source, distribution in statistics.distributions.items():
        yield Row("scores", source, of, "mean", statistics.means[source].new_scorers)
        yield Row("scores", source, of, "mean, these scorers", statistics.means[source].these_scorers)
        yield Row("scores", source, of, "mean of all scores", distribution.mean)
        yield Row("scores", source, of, "median", distribution.median)
    for (source, task), mean in statistics.by_task.items():
        yield Row("tasks", f"{source}, {task}", of, "mean", mean)
    for (source, survey), mean in statistics.by_survey.items():
        yield Row("surveys", f"{source}, {survey or 'no survey'}", of, "mean", mean)
    for apart in statistics.differences:
        both = f"{apart.first} less {apart.second}"
        yield Row("differences", both, of, "difference", apart.difference.new_scorers)
        yield Row("differences", both, of, "difference, these scorers", apart.difference.these_scorers)
        for scorer, own in apart.by_scorer.items():
            yield Row("by scorer", scorer, of, both, own)
    for name, spread in statistics.spread.items():
        yield Row("spread", name, of, "standard deviation", spread)
    for part, alike in statistics.agreement.items():
        yield Row("agreement", part or ALL_TRACES, of, "Krippendorff's alpha", alike.alpha)
        yield Row("agreement", part or ALL_TRACES, of, "ICC(A,1)", alike.icc_a1)
        yield Row("agreement", part or ALL_TRACES, of, "ICC(A,k)", alike.icc_ak)
    for two in statistics.pairs:
        who = f"{two.a} and {two.b}"
        yield Row("two scorers", who, of, "weighted kappa", two.kappa)
        yield Row("two scorers", who, of, "raw agreement", two.raw)
        yield Row("two scorers", who, of, "Spearman", two.spearman)
    yield from _scorer_rows(statistics)
    for part, by in statistics.correctness.items():
        yield Row("correctness", part or ALL_TRACES, of, "mean, correct verdict", by.correct)
        yield Row("correctness", part or ALL_TRACES, of, "mean, incorrect verdict", by.incorrect)
        yield Row("correctness", part or ALL_TRACES, of, "difference", by.difference)
        yield Row("correctness", part or ALL_TRACES, of, "AUC", by.auc)


def _scorer_rows(statistics: DimensionStatistics) -> Iterator[Row]:
    of = statistics.dimension
    for scorer, severe in statistics.severity.items():
        yield Row("severity", scorer, of, "severity", severe)
    for what, effects in (("drift", statistics.order.slopes), ("second trace", statistics.order.second)):
        for scorer, effect in effects.items():
            yield Row("order", scorer or ALL_SCORERS, of, what, effect)
    if statistics.repeats is not None:
        yield Row("repeats", ALL_SCORERS, of, "Krippendorff's alpha, intra-rater", statistics.repeats.alpha)
        yield Row("repeats", ALL_SCORERS, of, "mean difference", statistics.repeats.difference)
        yield Row("repeats", ALL_SCORERS, of, "the same score", statistics.repeats.exact)
        yield Row("repeats", ALL_SCORERS, of, "within 1", statistics.repeats.within_1)
    for scorer, self in statistics.consistency.items():
        yield Row("repeats", scorer, of, "mean difference", self.difference)
        yield Row("repeats", scorer, of, "the same score", self.exact)
        yield Row("repeats", scorer, of, "within 1", self.within_1)
        yield Row("repeats", scorer, of, "weighted kappa", self.kappa)
    for scorer, gold in statistics.gold.items():
        yield Row("gold", scorer, of, "bias", gold.bias)
        yield Row("gold", scorer, of, "within the tolerance", gold.within)


def _pair_rows(statistics: PairStatistics) -> Iterator[Row]:
    yield from _rate_rows(statistics.rates, "preference", "")
    for survey, rates in statistics.by_survey.items():
        yield from _rate_rows(rates, "preference by survey", survey or "no survey")
    for source, strength in statistics.strengths.sources.items():
        yield Row("strength", source, "", "Davidson strength", strength)
    yield Row("pair agreement", "all pairs", "", "raw agreement", statistics.agreement.raw)
    yield Row("pair agreement", "all pairs", "", "Krippendorff's alpha", statistics.agreement.alpha)
    for scorer, same in statistics.again.items():
        yield Row("pair repeats", scorer or ALL_SCORERS, "", "the same answer", same)
    yield Row("bias", "all pairs", "", "left chosen", statistics.position)
    yield Row("bias", "all pairs", "", "longer chosen", statistics.length)


def _rate_rows(rates: Iterable[Preference], section: str, of_what: str) -> Iterator[Row]:
    for rate in rates:
        of = f"{of_what}: {rate.source} over {rate.other}" if of_what else f"{rate.source} over {rate.other}"
        yield Row(section, of, "", "preferred, of decided", rate.preferred)
        yield Row(section, of, "", "first better", rate.wins)
        yield Row(section, of, "", "second better", rate.losses)
        yield Row(section, of, "", "equal", rate.equal)
        yield Row(section, of, "", "both bad", rate.both_bad)


def _judge_rows(statistics: JudgeStatistics) -> Iterator[Row]:
    for dimension, score in statistics.scores.items():
        yield Row("judges", statistics.judge, dimension, "rank correlation with people", score.correlation)
        yield Row("judges", statistics.judge, dimension, "judge less people", score.above)
        if score.retest is not None:
            yield Row("judges", statistics.judge, dimension, "alpha of its samples", score.retest)
        for source, mean in score.means.items():
            yield Row("judge means", f"{statistics.judge}: {source}", dimension, "mean", mean)
            yield Row(
                "judge means",
                f"{statistics.judge}: {source}",
                dimension,
                "judge less people",
                score.above_by_source[source],
            )
        for two in score.contrasts:
            of = f"{statistics.judge}: {two.first} less {two.second}"
            yield Row("self-preference", of, dimension, "difference of judge less people", two.difference)
    if statistics.pairs is not None:
        yield from _rate_rows(statistics.pairs.rates, "judge preference", statistics.judge)
        yield Row("judge bias", statistics.judge, "", "flip rate", statistics.pairs.flips)
        yield Row("judge bias", statistics.judge, "", "left chosen", statistics.pairs.position)
        yield Row("judge bias", statistics.judge, "", "longer chosen", statistics.pairs.length)
        yield Row("judge bias", statistics.judge, "", "as most people", statistics.pairs.majority)


def _together_rows(dimension: Dimension, judges: JudgesTogether) -> Iterator[Row]:
    yield Row("judges", PERSON, dimension, "rank correlation with people", judges.ceiling)
    if judges.mean is not None:
        yield Row("judges", MEAN_JUDGE, dimension, "rank correlation with people", judges.mean)
    for two in judges.pairs:
        yield Row("two judges", f"{two.a} and {two.b}", dimension, "Spearman", two.spearman)
