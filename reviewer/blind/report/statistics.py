"""Every statistic of what people said in a session, by name; ``reviewer.agreement`` calculates them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

import numpy as np

from reviewer.agreement.correctness import ByCorrectness, score_by_correctness
from reviewer.agreement.distribution import Distribution, difference, distribution
from reviewer.agreement.pairs import PairAgreement, pair_agreement
from reviewer.agreement.raters import Calibration, SelfConsistency, calibration, self_consistency, severity
from reviewer.agreement.reliability import icc_a1, icc_ak, krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import tables
from reviewer.blind.results import Results
from reviewer.blind.values import DIMENSIONS, Dimension


@dataclass(frozen=True)
class Names:
    """What scorers and items are called in a report.

    :param scorers: S1, S2, … by initials
    :param items: number within the session by the item's own number
    :param people: the scorers' full names by initials, to be taken out of what was written
    """

    scorers: Mapping[str, str]
    items: Mapping[int, int]
    people: Mapping[str, str]

    def anonymous(self, text: str) -> str:
        """The text with the initials (as whole words, in capitals) and the names of scorers replaced."""
        # In one pass: what somebody is called now may be somebody else's initials.
        called = {initials: self.scorers[initials] for initials in self.scorers}
        called |= {one.casefold(): self.scorers[who] for who, one in self.people.items() if one.strip()}
        people = sorted((one for one in self.people.values() if one.strip()), key=len, reverse=True)
        either = [f"(?i:{re.escape(one)})" for one in people] + [re.escape(one) for one in self.scorers]
        pattern = rf"(?<!\w)(?:{'|'.join(either)})(?!\w)"
        return re.sub(pattern, lambda hit: called.get(hit[0]) or called[hit[0].casefold()], text)

    def note(self, text: str) -> str:
        """As ``anonymous``, with items by their number within the session as well."""

        def renumbered(hit: re.Match[str]) -> str:
            return str(self.items.get(int(hit[0]), "outside of the session"))

        return re.sub(r"(?<=\bitem )\d+", renumbered, self.anonymous(text))

    def results(self, results: Results) -> Results:
        """The same session where a source that is a scorer goes by the scorer's new name."""
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
        """The same scores with scorers by their new names, in the order of these."""
        order = sorted(scores.raters, key=self._rank)
        return Scores(scores.items, tuple(self.scorers[one] for one in order), scores.only(order).values)

    def _rank(self, initials: str) -> int:
        return list(self.scorers).index(initials)


def names(results: Results, people: Mapping[str, str]) -> Names:
    """The scorers in an order drawn by the session's seed, the items in the order of their numbers.

    :param people: full names by initials
    """
    order = sorted(results.plan.scorers)
    Random(f"{results.plan.seed}: names in the report").shuffle(order)
    items = sorted({trace.item for trace in results.traces.values()})
    return Names(
        {initials: f"S{number}" for number, initials in enumerate(order, start=1)},
        {item: number for number, item in enumerate(items, start=1)},
        {initials: people.get(initials, "") for initials in order},
    )


@dataclass(frozen=True)
class Agreement:
    """How the scorers agree on some traces: all of them, or one source's."""

    alpha: Estimate
    icc_a1: Estimate
    icc_ak: Estimate


@dataclass(frozen=True)
class Difference:
    """How the scores of two sources differ, the first less the second.

    :param paired: on the spectra that both have a scored trace of
    """

    first: str
    second: str
    unpaired: Estimate
    paired: Estimate

    @property
    def best(self) -> Estimate:
        """The paired one where it has a value: it is free of what makes one spectrum harder than another."""
        return self.unpaired if self.paired.value is None else self.paired


@dataclass(frozen=True)
class OfDimension:
    """Everything about one dimension. Scorers go by their names in the report.

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
    """The arms of the comparison: the plan's order, else by name. Gold items are of none."""
    shown = {results.traces[version].source for version in counted(results)}
    return (*(one for one in results.plan.sources if one in shown), *sorted(shown - {*results.plan.sources}))


def counted(results: Results) -> tuple[int, ...]:
    """The versions that results are about, gold items aside, by item."""
    versions = {v for kind in results.plan.kinds for one in results.first(kind) for v in one.shown}
    return tuple(sorted(versions, key=lambda version: results.traces[version].item))


def of_scores(results: Results, names: Names) -> tuple[OfDimension, ...]:
    """What was scored, by dimension; nothing where the session had pairs alone."""
    if "scores" not in results.plan.kinds:
        return ()
    return tuple(_of_dimension(results, names, dimension) for dimension in DIMENSIONS)


def _of_dimension(results: Results, names: Names, dimension: Dimension) -> OfDimension:
    arms = sources(results)
    every = names.table(tables.scores(results, dimension))
    by_source = {one: names.table(tables.scores(results, dimension, one)) for one in arms}
    parts = {"": every} | (by_source if len(arms) > 1 else {})
    return OfDimension(
        dimension=dimension,
        distributions={
            source: distribution(scores, tables.cannot_tell(results, dimension, source))
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
            part: score_by_correctness(scores, tables.correctness(results, scores)) for part, scores in parts.items()
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
        (source, task): distribution(_rows(scores, [tasks[item] == task for item in scores.items])).mean
        for source, scores in by_source.items()
        for task in wanted
    }


def _rows(scores: Scores, wanted: Iterable[bool]) -> Scores:
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
        called: self_consistency(*tables.repeated(results, dimension, initials))
        for initials, called in names.scorers.items()
    }


def _gold(results: Results, names: Names, dimension: Dimension) -> dict[str, Calibration]:
    if not any(gold.expected(dimension) is not None for gold in results.plan.gold):
        return {}
    return {
        called: calibration(*tables.on_gold(results, dimension, initials)) for initials, called in names.scorers.items()
    }
