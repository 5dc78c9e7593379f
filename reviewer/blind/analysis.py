"""The primary analysis of a session: what it compares, what the plan excludes from it, and variants for sensitivity.
Pure functions, so that every statistic can be calculated of each variant. Gold items and repeats decide who is
excluded: take variants of ``primary_results``, not the primary results of a variant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from reviewer.blind.plan import CANNOT_TELL, DIMENSIONS
from reviewer.blind.results import FloatArray, Response, Results, gold_scores, repeated_scores, source_rank
from reviewer.blind.sheet import ScoreAnswer


def primary_sources(results: Results) -> tuple[str, str] | None:
    """Return the two sources of the primary comparison: those of the plan, else the first two; None if there is one."""
    plan = results.plan.analysis
    if plan.first is not None and plan.second is not None:
        return plan.first, plan.second
    shown = {results.traces[version].source for version in _counted(results)}
    first, second, *_ = [*sorted(shown, key=lambda source: source_rank(results, source)), None, None]
    return None if first is None or second is None else (first, second)


Rule = Literal["gold_within", "repeats_within_1"]

_SCORES: dict[Rule, str] = {"gold_within": "scores of gold items", "repeats_within_1": "repeated scores"}
_GOOD: dict[Rule, str] = {"gold_within": "within the tolerance", "repeats_within_1": "at most 1 from the first"}


@dataclass(frozen=True)
class ScorerCheck:
    """A scorer's share of good scores by one rule of the analysis plan, over both dimensions.

    :param n: scores that the share rests on; "cannot tell" is no score
    :param required: the least share that the plan accepts
    """

    rule: Rule
    good: int
    n: int
    required: float

    @property
    def failed(self) -> bool:
        """Whether the scorer is excluded by this rule; never without a score."""
        return self.n > 0 and self.good / self.n < self.required

    def __str__(self) -> str:
        """Return ``2 of 8 scores of gold items within the tolerance (25 %, 60 % required)``."""
        if not self.n:
            return f"no {_SCORES[self.rule]}, so not excluded by this rule"
        share = f"{100 * self.good / self.n:.0f} %, {100 * self.required:.0f} % required"
        return f"{self.good} of {self.n} {_SCORES[self.rule]} {_GOOD[self.rule]} ({share})"


def scorer_checks(results: Results) -> dict[str, tuple[ScorerCheck, ...]]:
    """Return each scorer's checks by the rules that the plan has, by initials; of pairs there is no rule."""
    plan = results.plan
    rules: dict[Rule, float | None] = {
        "gold_within": plan.analysis.gold_within,
        "repeats_within_1": plan.analysis.repeats_within_1,
    }
    return {
        scorer: tuple(
            ScorerCheck(rule, int(good.sum()), len(good), required)
            for rule, required in rules.items()
            if required is not None
            for good in (_good_scores(results, rule, scorer),)
        )
        for scorer in plan.scorers
    }


def excluded_scorers(results: Results) -> dict[str, str]:
    """Return the scorers (initials) that the plan's rules exclude, each with the reason in words."""
    failed = {
        scorer: "; ".join(str(check) for check in checks if check.failed)
        for scorer, checks in scorer_checks(results).items()
    }
    return {scorer: reason for scorer, reason in failed.items() if reason}


def excluded_traces(results: Results) -> frozenset[int]:
    """Return the versions that the plan excludes because they reveal their author; gold and training items are in no
    analysis.
    """
    return _counted(results) & _revealing(results) if results.plan.analysis.without_revealing else frozenset()


def primary_results(results: Results) -> Results:
    """Return the results of the primary analysis: without excluded scorers and traces."""
    scorers = excluded_scorers(results)
    return _only(of_all_scorers(results), lambda scorer: scorer.scorer not in scorers)


def of_all_scorers(results: Results) -> Results:
    """Return the results of the primary analysis with those of excluded scorers."""
    traces = excluded_traces(results)
    return _only(results, lambda result: traces.isdisjoint(result.shown))


def without_revealing(results: Results) -> Results:
    """Return the results without the answers about traces that reveal their author."""
    revealing = _revealing(results)
    return _only(results, lambda result: revealing.isdisjoint(result.shown))


def without_exposed(results: Results) -> Results:
    """Return the results without the answers of scorers who saw the trace in an earlier session."""
    return _only(results, lambda result: not result.exposed)


def with_cannot_tell(results: Results, scores: Mapping[str, int]) -> Results:
    """Return the results with a score in place of each "cannot tell" about a trace of these sources.

    For example, the worst case for the first source: ``{first: 0, second: 5}``. Gold items, repeats and training items
    keep their answers.

    :param scores: by source, 0 to 5
    """
    counted = {counted_response.token for counted_response in results.first("scores")}

    def scored(response: Response) -> Response:
        score = scores.get(results.traces[response.shown[0]].source)
        answer = response.answer
        if response.token not in counted or score is None or not isinstance(answer, ScoreAnswer):
            return response
        coherence = score if answer.coherence == CANNOT_TELL else answer.coherence
        consistency = score if answer.consistency == CANNOT_TELL else answer.consistency
        return replace(response, answer=replace(answer, coherence=coherence, consistency=consistency))

    return replace(results, responses=tuple(map(scored, results.responses)))


def _good_scores(results: Results, rule: Rule, scorer: str) -> FloatArray:
    """(n_scores,): 1 for a good score, else 0, of both dimensions."""
    goods: list[FloatArray] = []
    for dimension in DIMENSIONS:
        if rule == "gold_within":
            given, expected, limit = gold_scores(results, dimension, scorer)
        else:
            given, expected = repeated_scores(results, dimension, scorer)
            limit = np.ones(len(given))
        apart = abs(given - expected)
        scored = ~np.isnan(apart)
        goods.append((apart <= limit)[scored].astype(float))
    return np.concatenate(goods)


def _counted(results: Results) -> frozenset[int]:
    return _versions(response for kind in results.plan.kinds for response in results.first(kind))


def _revealing(results: Results) -> frozenset[int]:
    return frozenset(version for version, trace in results.traces.items() if trace.reveals)


def _only(results: Results, keep: Callable[[Response], bool]) -> Results:
    """Return the results with some of the responses, without repeats of others, and with the traces that they are
    about.
    """
    kept = {response.token for response in results.responses if keep(response)}
    responses = tuple(
        response
        for response in results.responses
        if response.token in kept and (response.repeat_of is None or response.repeat_of in kept)
    )
    shown = _versions(responses)
    return replace(
        results,
        responses=responses,
        traces={version: trace for version, trace in results.traces.items() if version in shown},
        judgements=tuple(judgement for judgement in results.judgements if shown.issuperset(judgement.shown)),
    )


def _versions(responses: Iterable[Response]) -> frozenset[int]:
    return frozenset(version for response in responses for version in response.shown)
