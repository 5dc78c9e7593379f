"""Every statistic of the answers that people gave: scores by dimension, and preferences between pairs.
``reviewer.agreement`` calculates them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

import numpy as np

from reviewer.agreement.davidson import Strengths, davidson
from reviewer.agreement.distribution import (
    ByCorrectness,
    Distribution,
    difference,
    distribution,
    score_by_correctness,
    share,
)
from reviewer.agreement.pairs import PairAgreement, pair_agreement
from reviewer.agreement.preference import (
    Preference,
    Verdict,
    Votes,
    position_bias,
    preference_rate,
)
from reviewer.agreement.raters import Calibration, SelfConsistency, calibration, length_bias, self_consistency, severity
from reviewer.agreement.reliability import RoundAgreement, icc_a1, icc_ak, krippendorff_alpha, round_agreement
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.plan import DIMENSIONS, Dimension
from reviewer.blind.results import Response, Results
from reviewer.blind.sheet import PreferenceAnswer


@dataclass(frozen=True)
class Names:
    """The names of scorers and items in a report.

    :param scorers: S1, S2, … by initials
    :param items: number within the session by the item's own number
    :param people: the scorers' full names by initials, to be removed from texts
    """

    scorers: Mapping[str, str]
    items: Mapping[int, int]
    people: Mapping[str, str]

    def anonymous(self, text: str) -> str:
        """Return a text with the initials (whole words in capitals) and names of scorers replaced."""
        # In one pass: a new name may be the initials of another scorer.
        called = {initials: self.scorers[initials] for initials in self.scorers}
        called |= {one.casefold(): self.scorers[who] for who, one in self.people.items() if one.strip()}
        people = sorted((one for one in self.people.values() if one.strip()), key=len, reverse=True)
        either = [f"(?i:{re.escape(one)})" for one in people] + [re.escape(one) for one in self.scorers]
        pattern = rf"(?<!\w)(?:{'|'.join(either)})(?!\w)"
        return re.sub(pattern, lambda hit: called.get(hit[0]) or called[hit[0].casefold()], text)

    def note(self, text: str) -> str:
        """Return a text as ``anonymous`` does, with items by their number within the session."""

        def renumbered(hit: re.Match[str]) -> str:
            return str(self.items.get(int(hit[0]), "outside of the session"))

        return re.sub(r"(?<=\bitem )\d+", renumbered, self.anonymous(text))

    def results(self, results: Results) -> Results:
        """Return the session with a scorer's new name for each source that is a scorer."""
        called = {
            trace.source: self.anonymous(trace.source)
            for trace in results.traces.values()
            if trace.source_kind == "person"
        }
        if all(source == now for source, now in called.items()):
            return results
        traces = {
            version: replace(trace, source=called.get(trace.source, trace.source))
            for version, trace in results.traces.items()
        }
        plan = replace(results.plan, sources=tuple(called.get(one, one) for one in results.plan.sources))
        return replace(results, traces=traces, plan=plan)

    def table(self, scores: Scores) -> Scores:
        """Return the scores with scorers by their new names, in the order of these."""
        order = sorted(scores.raters, key=self._rank)
        return Scores(scores.items, tuple(self.scorers[one] for one in order), scores.only(order).values)

    def _rank(self, initials: str) -> int:
        return list(self.scorers).index(initials)


def report_names(results: Results, people: Mapping[str, str]) -> Names:
    """Name the scorers in an order that only the database gives, and the items in the order of their numbers.

    The order is sampled with the SHA-256 of the assignments' tokens. They are random and in no file of the report, so
    that nobody can compute the order from the published seed, and the same session gets the same names again.

    :param people: full names by initials
    """
    order = sorted(results.plan.scorers)
    secret = hashlib.sha256("\n".join(sorted(one.token for one in results.responses)).encode()).hexdigest()
    Random(f"{secret}: names in the report").shuffle(order)
    items = sorted({trace.item for trace in results.traces.values()})
    return Names(
        {initials: f"S{number}" for number, initials in enumerate(order, start=1)},
        {item: number for number, item in enumerate(items, start=1)},
        {initials: people.get(initials, "") for initials in order},
    )


@dataclass(frozen=True)
class Agreement:
    """Agreement of the scorers on all traces, or on those of one source."""

    alpha: Estimate
    icc_a1: Estimate
    icc_ak: Estimate


@dataclass(frozen=True)
class Difference:
    """Difference of the scores of two sources, the first less the second.

    :param paired: on the spectra that both have a scored trace of
    """

    first: str
    second: str
    unpaired: Estimate
    paired: Estimate

    @property
    def best(self) -> Estimate:
        """Return the paired difference if it has a value: it does not depend on how hard the spectra are."""
        return self.unpaired if self.paired.value is None else self.paired


@dataclass(frozen=True)
class DimensionStatistics:
    """All statistics of one dimension. Scorers have their names in the report.

    :param agreement: by source; "" is all sources together
    :param by_task: mean scores by source and task, where there are several tasks
    """

    dimension: Dimension
    distributions: Mapping[str, Distribution]
    by_task: Mapping[tuple[str, str], Estimate]
    differences: tuple[Difference, ...]
    agreement: Mapping[str, Agreement]
    pairs: tuple[PairAgreement, ...]
    severity: Mapping[str, Estimate]
    consistency: Mapping[str, SelfConsistency]
    gold: Mapping[str, Calibration]
    correctness: Mapping[str, ByCorrectness]


def sources(results: Results) -> tuple[str, ...]:
    """Return the arms of the comparison in the plan's order, else by name; gold items belong to none."""
    shown = {results.traces[version].source for version in counted_versions(results)}
    return (*(one for one in results.plan.sources if one in shown), *sorted(shown - {*results.plan.sources}))


def counted_versions(results: Results) -> tuple[int, ...]:
    """Return the versions in the results, without gold items, by item."""
    versions = {v for kind in results.plan.kinds for one in results.first(kind) for v in one.shown}
    return tuple(sorted(versions, key=lambda version: results.traces[version].item))


def score_statistics(results: Results, names: Names) -> tuple[DimensionStatistics, ...]:
    """Return the statistics of each dimension; empty where the session had pairs alone."""
    if "scores" not in results.plan.kinds:
        return ()
    return tuple(_dimension_statistics(results, names, dimension) for dimension in DIMENSIONS)


def _dimension_statistics(results: Results, names: Names, dimension: Dimension) -> DimensionStatistics:
    arms = sources(results)
    every = names.table(tables.score_table(results, dimension))
    by_source = {one: names.table(tables.score_table(results, dimension, one)) for one in arms}
    parts = {"": every} | (by_source if len(arms) > 1 else {})
    return DimensionStatistics(
        dimension=dimension,
        distributions={
            source: distribution(scores, tables.count_cannot_tell(results, dimension, source))
            for source, scores in by_source.items()
        },
        by_task=_by_task(results, by_source),
        differences=tuple(_difference(results, a, b, by_source) for a, b in combinations(arms, 2)),
        agreement={part: _agreement(scores) for part, scores in parts.items()},
        pairs=pair_agreement(every),
        severity={scorer: severity(every, scorer) for scorer in every.raters},
        consistency=_consistency(results, names, dimension),
        gold=_gold(results, names, dimension),
        correctness={
            part: score_by_correctness(scores, tables.verdict_correctness(results, scores))
            for part, scores in parts.items()
        },
    )


def _agreement(scores: Scores) -> Agreement:
    return Agreement(krippendorff_alpha(scores), icc_a1(scores), icc_ak(scores))


def _by_task(results: Results, by_source: Mapping[str, Scores]) -> dict[tuple[str, str], Estimate]:
    tasks = {str(trace.item): trace.task for trace in results.traces.values()}
    wanted = sorted({tasks[item] for scores in by_source.values() for item in scores.items})
    if len(wanted) < 2:
        return {}
    return {
        (source, task): distribution(_select_items(scores, [tasks[item] == task for item in scores.items])).mean
        for source, scores in by_source.items()
        for task in wanted
    }


def _select_items(scores: Scores, wanted: Iterable[bool]) -> Scores:
    kept = np.array(list(wanted), dtype=bool)
    items = tuple(item for item, keep in zip(scores.items, kept, strict=True) if keep)
    return Scores(items, scores.raters, scores.values[kept])


def _difference(results: Results, first: str, second: str, by_source: Mapping[str, Scores]) -> Difference:
    a, b = by_source[first], by_source[second]
    spectra = (_by_spectrum(results, a), _by_spectrum(results, b))
    return Difference(first, second, difference(a, b), difference(*spectra, paired=True))


def _by_spectrum(results: Results, scores: Scores) -> Scores:
    """(n_spectra, 1): the mean score of each spectrum and task; of several traces of it, their mean."""
    spectra = {str(t.item): (t.task, t.spectrum) for t in results.traces.values() if t.spectrum is not None}
    means: dict[str, list[float]] = {}
    for item, mean in zip(scores.items, scores.item_means(), strict=True):
        if item in spectra and not np.isnan(mean):
            means.setdefault(" ".join(map(str, spectra[item])), []).append(float(mean))
    return Scores.of((spectrum, "mean", sum(found) / len(found)) for spectrum, found in means.items())


def _consistency(results: Results, names: Names, dimension: Dimension) -> dict[str, SelfConsistency]:
    if not results.plan.repeats:
        return {}
    return {
        called: self_consistency(*tables.repeated_scores(results, dimension, initials))
        for initials, called in names.scorers.items()
    }


def _gold(results: Results, names: Names, dimension: Dimension) -> dict[str, Calibration]:
    if not any(gold.expected(dimension) is not None for gold in results.plan.gold):
        return {}
    return {
        called: calibration(*tables.gold_scores(results, dimension, initials))
        for initials, called in names.scorers.items()
    }


_AGAIN = (
    "Self-consistency: the share of repeated pairs, shown with their sides swapped, that a scorer answered "
    "alike both times, left and right undone."
)
_SWAPPED: dict[str, str] = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class PairStatistics:
    """All statistics of preferences. Scorers have their names in the report."""

    votes: Votes
    rates: tuple[Preference, ...]
    strengths: Strengths
    position: Estimate
    length: Estimate
    agreement: RoundAgreement
    again: Mapping[str, Estimate]


def pair_statistics(results: Results, names: Names) -> PairStatistics | None:
    """Return the statistics of the pairs; None where the session had none."""
    if "pair" not in results.plan.kinds:
        return None
    votes = tables.pair_votes(results)
    answered = [one for one in results.first("pair") if isinstance(one.answer, PreferenceAnswer)]
    scorers = [names.scorers[one.scorer] for one in answered]
    return PairStatistics(
        votes=votes,
        rates=preference_rates(votes, sources(results)),
        strengths=davidson(votes),
        position=position_bias(*tables.shown_sides(results)),
        length=length_bias(votes.pairs, votes.verdicts, *_lengths(results, votes, [s.shown for s in answered])),
        agreement=_in_scorer_terms(round_agreement(votes.pairs, scorers, votes.verdicts)),
        again={
            called: _pair_consistency(
                [both for both in results.repeats("pair") if both[0].scorer == initials],
            )
            for initials, called in names.scorers.items()
            if results.plan.repeats
        },
    )


def preference_rates(votes: Votes, arms: tuple[str, ...]) -> tuple[Preference, ...]:
    """Return every source against every other, also those that were never compared."""
    return tuple(preference_rate(votes, one, other) for one, other in combinations(arms, 2))


def _lengths(results: Results, votes: Votes, shown: list[tuple[int, ...]]) -> tuple[list[float], list[float]]:
    """(n_answers,) twice, in characters: of the trace by a, of the one by b."""
    a, b = [], []
    for first, versions in zip(votes.a, shown, strict=True):
        left, right = (results.traces[version] for version in versions)
        if left.source != first:
            left, right = right, left
        a.append(float(left.characters))
        b.append(float(right.characters))
    return a, b


def _pair_consistency(pairs: list[tuple[Response, Response]]) -> Estimate:
    same = [_chosen_version(first) == _chosen_version(again) for first, again in pairs]
    none = "no pair was answered twice"
    return share(same, [1.0] * len(same), _AGAIN, none=none, n_of="pairs")


def _chosen_version(one: Response) -> tuple[str, ...]:
    """Return the choice independent of the side: a version, or the kind of tie."""
    assert isinstance(one.answer, PreferenceAnswer)
    chosen = one.answer.preference
    if chosen in _SWAPPED:
        return (str(one.shown[0 if chosen == "left" else 1]),)
    return ("tie", chosen)


def _in_scorer_terms(found: RoundAgreement) -> RoundAgreement:
    """Reword the numbers for scorers and answers instead of reviewers and decisions."""

    def reworded(one: Estimate) -> Estimate:
        words = {
            "decided on by": "answered by",
            "reviewer": "scorer",
            "decided on": "answered",
            "decided": "answered",
        }
        reason, definition = one.reason, one.definition
        for word, ours in words.items():
            reason, definition = reason.replace(word, ours), definition.replace(word, ours)
        reason = reason.replace("every decision is", "every answer is")
        return Estimate(one.value, one.low, one.high, one.n, definition, reason, one.detail, "pairs")

    return RoundAgreement(reworded(found.raw), reworded(found.alpha))


def verdicts_by_pair(votes: Votes) -> dict[str, list[Verdict]]:
    """The answers to each pair."""
    found: dict[str, list[Verdict]] = {}
    for pair, verdict in zip(votes.pairs, votes.verdicts, strict=True):
        found.setdefault(pair, []).append(verdict)
    return found
