"""Statistics of each model judge: its settings, its scores compared with those of people, also by source, the agreement
of its own samples, and the effect of order and length. ``judge_agreement`` compares judges with each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from agent.statistics import FloatArray
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.preference import Preference, Verdict, Votes, position_bias
from reviewer.agreement.raters import flip_rate, in_both_orders, length_bias
from reviewer.agreement.reliability import krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.plan import CANNOT_TELL, DIMENSIONS, Dimension
from reviewer.blind.plan import Preference as Answer
from reviewer.blind.report.judge_agreement import (
    BY_SPECTRUM,
    by_spectrum,
    rank_correlation,
    spectra_of,
    weighted_mean,
)
from reviewer.blind.report.names import counted_versions, sources
from reviewer.blind.report.preferences import preference_rates, verdicts_by_pair
from reviewer.blind.results import Judgement, JudgeScore, Results
from reviewer.blind.sheet import PreferenceAnswer

_LENIENCY = (
    "Judge less people: the judge's score (the mean of its samples) less the people's mean score of the same trace, "
    f"averaged over traces; positive is more lenient than the people. {BY_SPECTRUM}"
)
_CONTRAST = (
    "Self-preference: judge less people for the traces of the first source, less the same for those of the second; 0 "
    "if the judge is equally lenient with both, and above 0 if it favours the first source, e.g. as one of its own "
    f"model family. {BY_SPECTRUM}"
)
_MEAN = f"Mean over traces of a judge's score, which is the mean of its samples. {BY_SPECTRUM}"
_RETEST = " Here the scorers are the samples of one judge, so it is the agreement of the judge with itself."
_MAJORITY = (
    "Agreement with the people's majority: of the pairs to which people have one most frequent answer, the "
    "share to which the judge, both orders taken together, gave that answer."
)


_NONE_SCORED = "no trace has a score of the judge and of a person"


@dataclass(frozen=True)
class SourceContrast:
    """Whether a judge is more lenient with one source than with another, compared with people."""

    first: str
    second: str
    difference: Estimate


@dataclass(frozen=True)
class JudgeScores:
    """A judge's scores of one dimension compared with the mean scores of people. Several samples count as their mean.

    :param means: by source; ``unable`` is how often the answer was "cannot tell", by source
    :param correlation: rank correlation with the people's mean score
    :param above: judge less people, all traces
    :param above_by_source: judge less people, by source
    :param contrasts: its difference between every two sources
    :param retest: Krippendorff's alpha of the judge's samples; None with one sample
    """

    means: Mapping[str, Estimate]
    unable: Mapping[str, int]
    correlation: Estimate
    above: Estimate
    above_by_source: Mapping[str, Estimate]
    contrasts: tuple[SourceContrast, ...]
    retest: Estimate | None


@dataclass(frozen=True)
class JudgePairs:
    """A judge's preferences. A pair judged in one order only counts for the position bias alone. Each sample of a pair,
    with both its orders, is an answer of its own; intervals resample pairs.
    """

    rates: tuple[Preference, ...]
    flips: Estimate
    position: Estimate
    length: Estimate
    majority: Estimate


@dataclass(frozen=True)
class JudgeStatistics:
    """All statistics of one judge.

    :param setup: the values of each setting by its name, lists as tuples and objects as JSON; one value each, several
        where judgements differ
    :param judgements: number of judgements, of which ``unread`` had no readable answer
    """

    judge: str
    setup: Mapping[str, tuple[Any, ...]]
    scores: Mapping[Dimension, JudgeScores]
    pairs: JudgePairs | None
    judgements: int
    unread: int
    with_reasoning: int


def judge_statistics(results: Results) -> tuple[JudgeStatistics, ...]:
    """Return the statistics of every judge, by name; gold items are left out."""
    by_judge: dict[str, list[Judgement]] = {}
    kept = set(counted_versions(results))
    for judgement in results.judgements:
        if kept.issuperset(judgement.shown):
            by_judge.setdefault(judgement.judge, []).append(judgement)
    return tuple(_one_judge(results, judge, by_judge[judge]) for judge in sorted(by_judge))


def _one_judge(results: Results, judge: str, judgements: Sequence[Judgement]) -> JudgeStatistics:
    scored = [
        (judgement.shown[0], _sample(judgement), judgement.answer)
        for judgement in judgements
        if isinstance(judgement.answer, JudgeScore)
    ]
    preferred = {
        (_sample(judgement), judgement.shown): judgement.answer
        for judgement in judgements
        if isinstance(judgement.answer, PreferenceAnswer)
    }
    return JudgeStatistics(
        judge=judge,
        setup=_setup(judgements),
        scores={dimension: _judge_scores(results, dimension, scored) for dimension in DIMENSIONS} if scored else {},
        pairs=_judge_pairs(results, preferred) if preferred else None,
        judgements=len(judgements),
        unread=sum(judgement.answer is None for judgement in judgements),
        with_reasoning=sum(bool(judgement.reasoning) for judgement in judgements),
    )


def _sample(judgement: Judgement) -> int:
    """Return the number of the sample; judgements of earlier releases have none."""
    return int(judgement.settings.get("sample", 1))


def _setup(judgements: Sequence[Judgement]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each setting as the judgements recorded it, by its name: one, or several if they differ."""
    values_of: dict[str, dict[Any, None]] = {}
    for judgement in judgements:
        for name, value in judgement.settings.items():
            if value is not None:
                values_of.setdefault(name, {})[_hashable(value)] = None
    values = {name: tuple(own) for name, own in values_of.items()}
    # Earlier releases recorded whether there were pictures; without them a judge saw text alone.
    before = tuple({True: "pictures", False: "text"}[value] for value in values.get("pictures", ()))
    return ({"sees": before} if before else {}) | values


def _hashable(value: Any) -> Any:
    """Return a list as a tuple, and an object as JSON; "" is an empty one."""
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, sort_keys=True) if value else ""
    return tuple(value) if isinstance(value, list) else value


def _judge_scores(results: Results, dimension: Dimension, scored: Sequence[tuple[int, int, JudgeScore]]) -> JudgeScores:
    """:param scored: version, sample and answer; with dimensions asked separately, each answer has one of them"""
    given: dict[tuple[str, int], float | None] = {}
    unable = dict.fromkeys(sources(results), 0)
    for version, sample, answer in scored:
        trace, score = results.traces[version], getattr(answer, dimension)
        if score is not None:
            given[trace.key, sample] = None if score == CANNOT_TELL else float(score)
            unable[trace.source] += score == CANNOT_TELL
    own = Scores.of((item, f"sample {sample}", score) for (item, sample), score in given.items())
    people = tables.score_table(results, dimension)
    experts = dict(zip(people.items, people.item_means(), strict=True))
    theirs = np.array([experts.get(item, np.nan) for item in own.items], dtype=float)
    excess = own.item_means() - theirs
    spectra = spectra_of(results, own.items)
    source_of = {trace.key: trace.source for trace in results.traces.values()}
    by_source = {
        source: np.array([source_of[item] == source for item in own.items], dtype=bool) for source in sources(results)
    }
    return JudgeScores(
        means={
            source: _mean(_MEAN, np.where(mine, own.item_means(), np.nan), spectra, "the judge gave no score")
            for source, mine in by_source.items()
        },
        unable=unable,
        correlation=rank_correlation(theirs, own.item_means(), spectra),
        above=_mean(_LENIENCY, excess, spectra, _NONE_SCORED),
        above_by_source={
            source: _mean(_LENIENCY, np.where(mine, excess, np.nan), spectra, _NONE_SCORED)
            for source, mine in by_source.items()
        },
        contrasts=tuple(
            SourceContrast(a, b, _contrast(a, b, [np.where(by_source[arm], excess, np.nan) for arm in (a, b)], spectra))
            for a, b in combinations(by_source, 2)
        ),
        retest=_retest(own, spectra) if len(own.raters) > 1 else None,
    )


def _mean(definition: str, values: FloatArray, spectra: Sequence[str], none: str) -> Estimate:
    """Return the mean over traces.

    :param values: (n_items,), NaN for items that do not count; ``spectra`` of the same items
    :param none: the reason where no item counts
    """
    is_known = ~np.isnan(values)
    if not is_known.any():
        return Estimate.undefined(none, 0, definition, n_of="traces")
    kept = [spectrum for spectrum, use in zip(spectra, is_known, strict=True) if use]
    return by_spectrum(definition, weighted_mean(values[is_known]), kept)


def _contrast(first: str, second: str, excess: Sequence[FloatArray], spectra: Sequence[str]) -> Estimate:
    """:param excess: (n_items,) for each of the two sources, NaN for items of others or without both scores"""
    known = [~np.isnan(values_of) for values_of in excess]
    numbers = [int(values_of.sum()) for values_of in known]
    detail = {"traces_first": numbers[0], "traces_second": numbers[1]}
    if not all(numbers):
        missing = " and ".join(name for name, n in zip((first, second), numbers, strict=True) if not n)
        reason = f"no trace of {missing} has a score of the judge and of a person"
        return Estimate.undefined(reason, sum(numbers), _CONTRAST, detail, "traces")
    kept = known[0] | known[1]
    first_mean, other = (weighted_mean(values[kept]) for values in excess)
    return by_spectrum(
        _CONTRAST,
        lambda weights: first_mean(weights) - other(weights),
        [spectrum for spectrum, use in zip(spectra, kept, strict=True) if use],
        n=sum(numbers),
        detail=detail,
    )


def _retest(own: Scores, spectra: Sequence[str]) -> Estimate:
    """Return the agreement of a judge's samples."""
    alpha = krippendorff_alpha(own, clusters=spectra)
    reason = alpha.reason.replace("scorers", "samples").replace("scorer", "sample")
    return replace(alpha, definition=alpha.definition + _RETEST, reason=reason)


def _judge_pairs(results: Results, preferred: Mapping[tuple[int, tuple[int, ...]], PreferenceAnswer]) -> JudgePairs:
    """:param preferred: the answer by sample and by the versions as they were shown"""
    arms = sources(results)
    both: list[tuple[tuple[int, ...], Verdict, Verdict]] = []
    for (sample, shown), answer in preferred.items():
        # The first order is the one with the source that the plan names first on the left, as in votes.
        left, right = (results.traces[version] for version in shown)
        back = preferred.get((sample, shown[::-1]))
        if back is not None and arms.index(left.source) < arms.index(right.source):
            both.append((shown, _verdict(answer.preference), _verdict(back.preference, swapped=True)))
    traces = [[results.traces[version] for version in shown] for shown, _, _ in both]
    pairs = tuple(tables.pair_name(*trace) for trace in traces)
    together = tuple(in_both_orders(in_order, other) for _, in_order, other in both)
    votes = Votes(
        pairs, tuple(trace[0].source for trace in traces), tuple(trace[1].source for trace in traces), together
    )
    every = [tables.pair_name(*(results.traces[v] for v in shown)) for _, shown in preferred]
    return JudgePairs(
        rates=preference_rates(votes, arms),
        flips=_flips(pairs, [in_order for _, in_order, _ in both], [other for _, _, other in both]),
        position=position_bias(every, [answer.preference for answer in preferred.values()]),
        length=length_bias(
            pairs, together, [trace[0].characters for trace in traces], [trace[1].characters for trace in traces]
        ),
        majority=_majority(results, pairs, together),
    )


def _flips(pairs: Sequence[str], first: Sequence[Verdict], second: Sequence[Verdict]) -> Estimate:
    """Return the flip rate; with several samples of a pair, its interval resamples pairs."""
    rate = flip_rate(first, second)
    if len(set(pairs)) == len(pairs):
        return rate
    flipped = [{verdict, other} == {"a", "b"} for verdict, other in zip(first, second, strict=True)]
    hits, counts = by_item(pairs, flipped, np.ones(len(pairs)))
    kept = {name: rate.detail[name] for name in ("flipped", "wavered")}
    return share(
        hits, counts, rate.definition, none=rate.reason, n=len(pairs), n_of="answers in both orders", detail=kept
    )


def _verdict(answer: Answer, swapped: bool = False) -> Verdict:
    """Return a side as a trace: "a" is on the left where the order is not swapped."""
    sides: dict[Answer, Verdict] = {"left": "a", "right": "b", "equal": "equal", "both bad": "both bad"}
    turned: dict[Verdict, Verdict] = {"a": "b", "b": "a"}
    verdict = sides[answer]
    return turned.get(verdict, verdict) if swapped else verdict


def _majority(results: Results, pairs: Sequence[str], judged: Sequence[Verdict]) -> Estimate:
    people = verdicts_by_pair(tables.pair_votes(results))
    most = [_most_frequent(people.get(pair, ())) for pair in pairs]
    counted = [
        (pair, float(own == verdict))
        for pair, own, verdict in zip(pairs, judged, most, strict=True)
        if verdict is not None
    ]
    none = "no pair that the judge answered in both orders has one most frequent answer of people"
    if not counted:
        return Estimate.undefined(none, 0, _MAJORITY, n_of="pairs")
    hits, counts = by_item([pair for pair, _ in counted], [same for _, same in counted], np.ones(len(counted)))
    n_of = "pairs" if len(hits) == len(counted) else "answers in both orders"
    return share(hits, counts, _MAJORITY, none=none, n=len(counted), n_of=n_of)


def _most_frequent(answers: Iterable[Verdict]) -> Verdict | None:
    given = list(answers)
    counts = sorted(((given.count(verdict), verdict) for verdict in set(given)), reverse=True)
    if not counts or (len(counts) > 1 and counts[0][0] == counts[1][0]):
        return None
    return counts[0][1]
