"""All numbers of a report in one order: the rows of its tables, and of statistics.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate
from reviewer.blind.report.judges import OfJudge, of_judges
from reviewer.blind.report.preferences import OfPairs, of_pairs
from reviewer.blind.report.statistics import Names, OfDimension, of_scores
from reviewer.blind.results import Results

ALL = "all traces"


@dataclass(frozen=True)
class Row:
    """One number of a report, with what it is a number of.

    :param section: the part of the report it stands in, a key of ``report_page.SECTIONS``
    :param of: a source, two sources, a scorer, two scorers, a judge, or ``ALL``
    :param dimension: ``coherence``, ``consistency`` or empty
    """

    section: str
    of: str
    dimension: str
    statistic: str
    estimate: Estimate


@dataclass(frozen=True)
class Numbers:
    """Everything that was calculated."""

    scores: tuple[OfDimension, ...]
    pairs: OfPairs | None
    judges: tuple[OfJudge, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return (
            *(row for one in self.scores for row in _of_dimension(one)),
            *(() if self.pairs is None else _of_pairs(self.pairs)),
            *(row for one in self.judges for row in _of_judge(one)),
        )


def numbers(results: Results, names: Names) -> Numbers:
    """Calculate every statistic of a session."""
    return Numbers(of_scores(results, names), of_pairs(results, names), of_judges(results))


def _of_dimension(found: OfDimension) -> Iterator[Row]:
    of = found.dimension
    for source, one in found.distributions.items():
        yield Row("scores", source, of, "mean", one.mean)
        yield Row("scores", source, of, "median", one.median)
    for (source, task), mean in found.by_task.items():
        yield Row("tasks", f"{source}, {task}", of, "mean", mean)
    for apart in found.differences:
        both = f"{apart.first} less {apart.second}"
        yield Row("differences", both, of, "on the same spectra", apart.paired)
        yield Row("differences", both, of, "of all scores", apart.unpaired)
    for part, alike in found.agreement.items():
        yield Row("agreement", part or ALL, of, "Krippendorff's alpha", alike.alpha)
        yield Row("agreement", part or ALL, of, "ICC(A,1)", alike.icc_a1)
        yield Row("agreement", part or ALL, of, "ICC(A,k)", alike.icc_ak)
    for two in found.pairs:
        who = f"{two.a} and {two.b}"
        yield Row("two scorers", who, of, "weighted kappa", two.kappa)
        yield Row("two scorers", who, of, "raw agreement", two.raw)
        yield Row("two scorers", who, of, "Spearman", two.spearman)
    for scorer, severe in found.severity.items():
        yield Row("severity", scorer, of, "severity", severe)
    yield from _of_scorers(found)
    for part, by in found.correctness.items():
        yield Row("correctness", part or ALL, of, "mean, correct verdict", by.correct)
        yield Row("correctness", part or ALL, of, "mean, incorrect verdict", by.incorrect)
        yield Row("correctness", part or ALL, of, "difference", by.difference)
        yield Row("correctness", part or ALL, of, "AUC", by.auc)


def _of_scorers(found: OfDimension) -> Iterator[Row]:
    of = found.dimension
    for scorer, self in found.consistency.items():
        yield Row("repeats", scorer, of, "mean difference", self.difference)
        yield Row("repeats", scorer, of, "the same score", self.exact)
        yield Row("repeats", scorer, of, "within 1", self.within_1)
        yield Row("repeats", scorer, of, "weighted kappa", self.kappa)
    for scorer, gold in found.gold.items():
        yield Row("gold", scorer, of, "bias", gold.bias)
        yield Row("gold", scorer, of, "within the tolerance", gold.within)


def _of_pairs(found: OfPairs) -> Iterator[Row]:
    yield from _rates(found.rates, "preference", "")
    for source, strength in found.strengths.sources.items():
        yield Row("strength", source, "", "Bradley-Terry strength", strength)
    yield Row("pair agreement", "all pairs", "", "raw agreement", found.agreement.raw)
    yield Row("pair agreement", "all pairs", "", "Krippendorff's alpha", found.agreement.alpha)
    for scorer, same in found.again.items():
        yield Row("pair repeats", scorer, "", "the same answer", same)
    yield Row("bias", "all pairs", "", "left chosen", found.position)
    yield Row("bias", "all pairs", "", "longer chosen", found.length)


def _rates(rates: Iterable[Preference], section: str, judge: str) -> Iterator[Row]:
    for one in rates:
        of = f"{judge}: {one.source} over {one.other}" if judge else f"{one.source} over {one.other}"
        yield Row(section, of, "", "preferred, of decided", one.preferred)
        yield Row(section, of, "", "first better", one.wins)
        yield Row(section, of, "", "second better", one.losses)
        yield Row(section, of, "", "equal", one.equal)
        yield Row(section, of, "", "both bad", one.both_bad)


def _of_judge(found: OfJudge) -> Iterator[Row]:
    for dimension, one in found.scores.items():
        yield Row("judges", found.judge, dimension, "rank correlation with people", one.correlation)
        yield Row("judges", found.judge, dimension, "judge less people", one.above)
        for source, given in one.distributions.items():
            yield Row("judge means", f"{found.judge}: {source}", dimension, "mean", given.mean)
    if found.pairs is not None:
        yield from _rates(found.pairs.rates, "judge preference", found.judge)
        yield Row("judge bias", found.judge, "", "flip rate", found.pairs.flips)
        yield Row("judge bias", found.judge, "", "left chosen", found.pairs.position)
        yield Row("judge bias", found.judge, "", "longer chosen", found.pairs.length)
        yield Row("judge bias", found.judge, "", "as most people", found.pairs.majority)
