"""The primary comparison of a session with its sensitivity analyses, and every other comparison with p values adjusted
for their number. What may be claimed follows from interval and p value alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from reviewer.agreement.mixed import MIN_SCORERS
from reviewer.agreement.ordinal import fit_ordinal
from reviewer.agreement.preference import Votes, preference_rate
from reviewer.agreement.values import POPULATION_SPECTRA, Estimate, holm
from reviewer.blind import results as tables
from reviewer.blind.analysis import (
    of_all_scorers,
    primary_results,
    primary_sources,
    with_cannot_tell,
    without_exposed,
    without_revealing,
)
from reviewer.blind.plan import CANNOT_TELL, DIMENSIONS, SCORES, Dimension, Kind
from reviewer.blind.report.model import ByPopulation, differences, fitted, p_value, population, ratings
from reviewer.blind.report.names import Names, sources
from reviewer.blind.report.numbers import two_decimals
from reviewer.blind.results import Response, Results
from reviewer.blind.sheet import ScoreAnswer

LEVEL = 0.05
TITLES: dict[Dimension, str] = {"coherence": "Coherence", "consistency": "Physical consistency"}
PRIMARY, THESE, ORDINAL = "Primary analysis", "These scorers only", "Scores as a rank order"


@dataclass(frozen=True)
class Analysis:
    """One analysis of the primary comparison.

    :param estimate: difference in points, share of decided answers, or (``ORDINAL``) log odds
    :param spectra: number in this analysis, as are ``scorers`` and ``answers``
    :param claim: what may be claimed from it, in words
    :param about: what is different from the primary analysis
    """

    name: str
    estimate: Estimate
    spectra: int
    scorers: int
    answers: int
    claim: str
    about: str


@dataclass(frozen=True)
class Comparison:
    """Two sources in one dimension, or by preference (``dimension`` is "").

    :param adjusted: p value adjusted by Holm's method for all comparisons but the primary one; None where there is no p
        value, and for the primary one
    """

    dimension: Dimension | None
    first: str
    second: str
    estimate: Estimate
    adjusted: float | None
    claim: str

    @property
    def pair(self) -> str:
        """Return ``A less B``, or ``A over B`` for a preference."""
        return f"{self.first} {'over' if self.dimension is None else 'less'} {self.second}"

    @property
    def subject(self) -> str:
        """Return ``Coherence: A less B`` or ``Preference: A over B``."""
        return f"{'Preference' if self.dimension is None else TITLES[self.dimension]}: {self.pair}"


@dataclass(frozen=True)
class Claims:
    """Every comparison of sources in a session.

    :param primary: None with fewer than two sources
    :param analyses: of the primary comparison, the primary analysis first
    :param unchanged: sensitivity analyses that would be the same as the primary one, each with the reason
    """

    primary: Comparison | None
    margin: float | None
    analyses: tuple[Analysis, ...]
    unchanged: tuple[str, ...]
    others: tuple[Comparison, ...]


def all_claims(results: Results, names: Names) -> Claims:
    """Return the primary comparison as the plan has it, and all others."""
    of = primary_results(results)
    compared = primary_sources(results)
    primary = None
    analyses: tuple[Analysis, ...] = ()
    unchanged: tuple[str, ...] = ()
    margin = results.plan.analysis.margin if "scores" in results.plan.kinds else None
    if compared is not None:
        dimension = results.plan.analysis.dimension if "scores" in results.plan.kinds else None
        primary_claim = _Primary(results, names, dimension, *compared, margin)
        analyses, unchanged = primary_claim.analyses()
        best = primary_claim.numbers(of).widest
        primary = Comparison(dimension, *compared, best, None, primary_claim.claim(best, of))
    return Claims(primary, margin, analyses, unchanged, _others(of, names, primary))


def claimed(estimate: Estimate, p: float | None, neutral: float) -> int:
    """Return 1 where the first source is shown to be higher, -1 where the second is, 0 where neither is.

    :param p: own or adjusted p value
    :param neutral: the value of no difference
    """
    if estimate.value is None or estimate.low is None or estimate.high is None or p is None or p >= LEVEL:
        return 0
    return 1 if estimate.low > neutral else -1 if estimate.high < neutral else 0


def in_words(dimension: Dimension | None, first: str, second: str, estimate: Estimate, p: float | None) -> str:
    """Return what may be claimed of two sources; the population is not in it."""
    if estimate.value is None:
        return f"cannot be compared: {estimate.reason}"
    if estimate.low is None:
        return f"no interval, so nothing is claimed: {estimate.reason}"
    which = claimed(estimate, p, 0.0 if dimension is not None else 0.5)
    if not which:
        return "no difference shown" if dimension is not None else "no preference shown"
    above, below = (first, second) if which > 0 else (second, first)
    return f"{above} scored higher than {below}" if dimension is not None else f"{above} preferred to {below}"


def _others(results: Results, names: Names, primary: Comparison | None) -> tuple[Comparison, ...]:
    comparisons: list[Comparison] = []
    kinds, arms = results.plan.kinds, sources(results)
    for dimension in DIMENSIONS if "scores" in kinds else ():
        scores = ratings(results, names, dimension)
        for first, second in combinations(arms, 2):
            comparisons.append(
                Comparison(dimension, first, second, differences(scores, first, second).widest, None, "")
            )
    if "pair" in kinds:
        votes = tables.pair_votes(results)
        comparisons += [
            Comparison(None, a, b, _preference(votes, a, b).widest, None, "") for a, b in combinations(arms, 2)
        ]
    if primary is not None:
        same = {(primary.first, primary.second), (primary.second, primary.first)}
        comparisons = [
            comparison
            for comparison in comparisons
            if (comparison.first, comparison.second) not in same or comparison.dimension != primary.dimension
        ]
    tested = [
        comparison
        for comparison in comparisons
        if comparison.estimate.low is not None and p_value(comparison.estimate) is not None
    ]
    adjusted = dict(zip(map(id, tested), holm([p_value(with_p.estimate) or 0.0 for with_p in tested]), strict=True))
    return tuple(_adjusted(comparison, adjusted.get(id(comparison))) for comparison in comparisons)


def _adjusted(comparison: Comparison, p: float | None) -> Comparison:
    return replace(
        comparison,
        adjusted=p,
        claim=in_words(comparison.dimension, comparison.first, comparison.second, comparison.estimate, p),
    )


def _preference(votes: Votes, first: str, second: str) -> ByPopulation:
    """Return the share of decided answers for the first source; without their scorers, answers count by pair."""
    met = replace(votes, scorers=())
    both = preference_rate(votes, first, second).preferred
    these = preference_rate(met, first, second).preferred
    if both.low is not None and population(both) == POPULATION_SPECTRA:
        few = len(set(votes.between(first, second).scorers))
        reason = "the answers are too few or too much alike"
        if few < MIN_SCORERS:
            reason = f"found {few} {'scorer' if few == 1 else 'scorers'}, expected {MIN_SCORERS} or more"
        both = Estimate(both.value, None, None, both.n, both.definition, reason, both.detail, both.n_of)
    return ByPopulation(both, these)


@dataclass(frozen=True)
class _Primary:
    """The primary comparison; each method takes the results of one analysis."""

    results: Results
    names: Names
    dimension: Dimension | None
    first: str
    second: str
    margin: float | None

    @property
    def kind(self) -> Kind:
        return "pair" if self.dimension is None else "scores"

    def numbers(self, results: Results) -> ByPopulation:
        if self.dimension is None:
            return _preference(tables.pair_votes(results), self.first, self.second)
        return differences(ratings(results, self.names, self.dimension), self.first, self.second)

    def claim(self, estimate: Estimate, results: Results) -> str:
        words = in_words(self.dimension, self.first, self.second, estimate, p_value(estimate))
        if estimate.low is None or self.dimension is None or self.margin is None:
            return words
        scores = ratings(results, self.names, self.dimension).of(self.first, self.second)
        these = population(estimate) == POPULATION_SPECTRA
        equivalence = fitted(scores, these_scorers=not these).equivalence(self.first, self.second, self.margin)
        if equivalence.detail["equivalent"]:
            ends = f"{two_decimals(equivalence.low or 0.0)} to {two_decimals(equivalence.high or 0.0)}"
            return f"{words}; equivalent within ±{self.margin:g} (90 % interval {ends})"
        return f"{words}; equivalence within ±{self.margin:g} not shown"

    def analyses(self) -> tuple[tuple[Analysis, ...], tuple[str, ...]]:
        """Return the analyses, and the names of those that would be the same as the primary one."""
        variants = self._variants()
        of = primary_results(self.results)
        both = self.numbers(of)
        analyses = [
            self._analysis(PRIMARY, both.new_scorers, of, ""),
            self._analysis(THESE, both.these_scorers, of, "scorers are not taken as a sample of many"),
        ]
        analyses += [
            self._analysis(name, self.numbers(other).widest, other, about)
            for name, about, variant, differs in variants
            for other in (variant(self.results if name == _EVERYBODY else of),)
            if differs
        ]
        if self.dimension is not None:
            scores = ratings(of, self.names, self.dimension).of(self.first, self.second)
            if len(set(scores.sources)) == 2:
                rank = fit_ordinal(scores).difference(self.first, self.second)
                about = "cumulative-link mixed model; the number is a log odds, not points"
                analyses.append(self._analysis(ORDINAL, rank, of, about))
        return tuple(analyses), tuple(name for name, _, _, differs in variants if not differs)

    def _variants(self) -> list[tuple[str, str, Callable[[Results], Results], bool]]:
        """Return the name of each sensitivity analysis, what it changes, how, and whether it changes anything."""
        of = primary_results(self.results)
        rows = [response for response in of.first(self.kind) if response.answer is not None]
        low, high = SCORES[0], SCORES[-1]
        worst = [
            (
                f"Worst case for the {which}",
                f"“cannot tell” as {low} for {response} and as {high} for {other}",
                {response: low, other: high},
            )
            for which, response, other in (("first", self.first, self.second), ("second", self.second, self.first))
        ]
        everybody = of_all_scorers(self.results)
        revealing = {version for version, trace in of.traces.items() if trace.reveals}
        variants: list[tuple[str, str, Callable[[Results], Results], bool]] = [
            (
                _EVERYBODY,
                "with the scorers whom the plan excludes",
                of_all_scorers,
                len(everybody.responses) > len(of.responses),
            ),
            (
                "Without revealing traces",
                "without traces whose text may reveal the author",
                without_revealing,
                any(not revealing.isdisjoint(row.shown) for row in rows),
            ),
            (
                "Without traces seen before",
                "without answers about traces that the scorer saw in an earlier session",
                without_exposed,
                any(row.exposed for row in rows),
            ),
            (
                "First answers",
                "the first answer to each question instead of the last",
                _first_answers,
                any(row.changes > 0 for row in rows),
            ),
        ]
        if self.dimension is not None:
            unable = any(self._unable(row) for row in rows)
            for name, about, scores in worst:
                variants.append((name, about, partial(with_cannot_tell, scores=scores), unable))
        return variants

    def _unable(self, response: Response) -> bool:
        assert self.dimension is not None
        ours = self.results.traces[response.shown[0]].source in (self.first, self.second)
        return (
            ours
            and isinstance(response.answer, ScoreAnswer)
            and getattr(response.answer, self.dimension) == CANNOT_TELL
        )

    def _analysis(self, name: str, estimate: Estimate, results: Results, about: str) -> Analysis:
        if self.dimension is None:
            votes = tables.pair_votes(results).between(self.first, self.second)
            counts = (len(set(votes.pairs)), len(set(votes.scorers)), len(votes.pairs))
        else:
            scores = ratings(results, self.names, self.dimension).of(self.first, self.second)
            counts = (len(set(scores.spectra)), len(set(scores.scorers)), len(scores.values))
        ranks = name == ORDINAL
        claim = (
            in_words(self.dimension, self.first, self.second, estimate, p_value(estimate))
            if ranks
            else self.claim(estimate, results)
        )
        return Analysis(name, estimate, *counts, claim, about)


_EVERYBODY = "All scorers"


def _first_answers(results: Results) -> Results:
    return replace(
        results,
        responses=tuple(
            response if response.answer is None else replace(response, answer=response.first_answer or response.answer)
            for response in results.responses
        ),
    )
