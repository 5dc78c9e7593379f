"""Statistics of model judges: their scores compared with those of people, and the effect of order and length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reviewer.agreement.distribution import Distribution, distribution, mean, share
from reviewer.agreement.pairs import spearman
from reviewer.agreement.preference import Preference, Verdict, Votes, position_bias
from reviewer.agreement.raters import flip_rate, in_both_orders, length_bias
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.plan import CANNOT_TELL, DIMENSIONS, Dimension
from reviewer.blind.plan import Preference as Answer
from reviewer.blind.report.statistics import counted_versions, preference_rates, sources, verdicts_by_pair
from reviewer.blind.results import Judgement, JudgeScore, Results
from reviewer.blind.sheet import PreferenceAnswer

_LENIENCY = (
    "Judge less people: the judge's score less the people's mean score of the same trace, averaged over "
    "traces; positive is more lenient than the people."
)
_MAJORITY = (
    "Agreement with the people's majority: of the pairs to which people have one most frequent answer, the "
    "share to which the judge, both orders taken together, gave that answer."
)


@dataclass(frozen=True)
class JudgeScores:
    """A judge's scores of one dimension compared with the mean scores of people."""

    distributions: Mapping[str, Distribution]
    correlation: Estimate
    above: Estimate


@dataclass(frozen=True)
class JudgePairs:
    """A judge's preferences. A pair judged in one order only counts for the position bias alone."""

    rates: tuple[Preference, ...]
    flips: Estimate
    position: Estimate
    length: Estimate
    majority: Estimate


@dataclass(frozen=True)
class JudgeStatistics:
    """All statistics of one judge.

    :param judgements: number of judgements, of which ``unread`` had no readable answer
    """

    judge: str
    scores: Mapping[Dimension, JudgeScores]
    pairs: JudgePairs | None
    judgements: int
    unread: int
    with_reasoning: int


def judge_statistics(results: Results) -> tuple[JudgeStatistics, ...]:
    """Return the statistics of every judge, by name; gold items are left out."""
    by_judge: dict[str, list[Judgement]] = {}
    kept = set(counted_versions(results))
    for one in results.judgements:
        if kept.issuperset(one.shown):
            by_judge.setdefault(one.judge, []).append(one)
    return tuple(_one_judge(results, judge, by_judge[judge]) for judge in sorted(by_judge))


def _one_judge(results: Results, judge: str, judgements: Sequence[Judgement]) -> JudgeStatistics:
    scored = {one.shown[0]: one.answer for one in judgements if isinstance(one.answer, JudgeScore)}
    preferred = {one.shown: one.answer for one in judgements if isinstance(one.answer, PreferenceAnswer)}
    return JudgeStatistics(
        judge=judge,
        scores={d: _judge_scores(results, d, scored) for d in DIMENSIONS} if scored else {},
        pairs=_judge_pairs(results, preferred) if preferred else None,
        judgements=len(judgements),
        unread=sum(one.answer is None for one in judgements),
        with_reasoning=sum(bool(one.reasoning) for one in judgements),
    )


def _judge_scores(results: Results, dimension: Dimension, scored: Mapping[int, JudgeScore]) -> JudgeScores:
    given: dict[str, float | None] = {}
    unable: dict[str, int] = {}
    for version, answer in scored.items():
        trace, score = results.traces[version], getattr(answer, dimension)
        given[str(trace.item)] = None if score is None or score == CANNOT_TELL else float(score)
        unable[trace.source] = unable.get(trace.source, 0) + (score == CANNOT_TELL)
    source_of = {str(trace.item): trace.source for trace in results.traces.values()}
    own = Scores.of((item, "judge", score) for item, score in given.items())
    people = tables.score_table(results, dimension)
    experts = dict(zip(people.items, people.item_means(), strict=True))
    theirs = np.array([experts.get(item, np.nan) for item in own.items])
    ours = own.by("judge")
    excess = ours - theirs
    both = ~np.isnan(excess)
    none = "no trace has a score of the judge and of a person"
    return JudgeScores(
        distributions={
            source: distribution(_scores_of_source(own, source, source_of), unable.get(source, 0))
            for source in sources(results)
        },
        correlation=spearman(theirs, ours),
        above=mean(np.where(both, excess, 0.0), both, _LENIENCY, none=none, n_of="traces"),
    )


def _scores_of_source(own: Scores, source: str, source_of: Mapping[str, str]) -> Scores:
    return Scores.of(
        (item, "judge", None if np.isnan(score) else float(score))
        for item, score in zip(own.items, own.by("judge"), strict=True)
        if source_of[item] == source
    )


def _judge_pairs(results: Results, preferred: Mapping[tuple[int, ...], PreferenceAnswer]) -> JudgePairs:
    arms = sources(results)
    both: dict[str, tuple[tuple[int, ...], Verdict, Verdict]] = {}
    for shown, answer in preferred.items():
        # The first order is the one with the source that the plan names first on the left, as in votes.
        left, right = (results.traces[version] for version in shown)
        back = preferred.get(shown[::-1])
        if back is not None and arms.index(left.source) < arms.index(right.source):
            pair = tables.pair_name(left, right)
            both[pair] = (shown, _verdict(answer.preference), _verdict(back.preference, swapped=True))
    pairs = tuple(both)
    traces = [[results.traces[version] for version in both[pair][0]] for pair in pairs]
    first, second = [both[pair][1] for pair in pairs], [both[pair][2] for pair in pairs]
    together = tuple(in_both_orders(one, other) for one, other in zip(first, second, strict=True))
    votes = Votes(pairs, tuple(one[0].source for one in traces), tuple(one[1].source for one in traces), together)
    every = [tables.pair_name(*(results.traces[v] for v in shown)) for shown in preferred]
    return JudgePairs(
        rates=preference_rates(votes, arms),
        flips=flip_rate(first, second),
        position=position_bias(every, [answer.preference for answer in preferred.values()]),
        length=length_bias(
            pairs, together, [one[0].characters for one in traces], [one[1].characters for one in traces]
        ),
        majority=_majority(results, dict(zip(pairs, together, strict=True))),
    )


def _verdict(answer: Answer, swapped: bool = False) -> Verdict:
    """Return a side as a trace: "a" is on the left where the order is not swapped."""
    sides: dict[Answer, Verdict] = {"left": "a", "right": "b", "equal": "equal", "both bad": "both bad"}
    turned: dict[Verdict, Verdict] = {"a": "b", "b": "a"}
    verdict = sides[answer]
    return turned.get(verdict, verdict) if swapped else verdict


def _majority(results: Results, judged: Mapping[str, Verdict]) -> Estimate:
    people = verdicts_by_pair(tables.pair_votes(results))
    same = []
    for pair, verdict in judged.items():
        most = _most_frequent(people.get(pair, ()))
        if most is not None:
            same.append(float(verdict == most))
    none = "no pair that the judge answered in both orders has one most frequent answer of people"
    return share(same, [1.0] * len(same), _MAJORITY, none=none, n_of="pairs")


def _most_frequent(answers: Iterable[Verdict]) -> Verdict | None:
    given = list(answers)
    counts = sorted(((given.count(one), one) for one in set(given)), reverse=True)
    if not counts or (len(counts) > 1 and counts[0][0] == counts[1][0]):
        return None
    return counts[0][1]
