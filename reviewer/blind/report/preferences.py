"""Every statistic of preferences between pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from agent.language import deferred
from agent.statistics import DEFAULT
from reviewer.agreement.davidson import Strengths, davidson
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.preference import Preference, Verdict, Votes, position_bias, preference_rate
from reviewer.agreement.raters import length_bias
from reviewer.agreement.reliability import RoundAgreement, Wording, round_agreement
from reviewer.agreement.values import Estimate
from reviewer.blind import results as tables
from reviewer.blind.analysis import primary_results
from reviewer.blind.report.model import without_interval
from reviewer.blind.report.names import Names, sources
from reviewer.blind.report.scores import FEW_REPEATS, FEWEST_REPEATS
from reviewer.blind.results import Response, Results
from reviewer.blind.sheet import PreferenceAnswer

_AGAIN = (
    "Self-consistency: the share of repeated pairs, shown with their sides swapped, that a scorer answered "
    "alike both times, left and right undone."
)
_NO_REPEAT = "no pair was answered twice"
_SWAPPED: dict[str, str] = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class PairStatistics:
    """All statistics of preferences. Scorers have their names in the report.

    :param rates: of the primary analysis, as are ``by_survey`` and ``strengths``
    :param by_survey: where there are several surveys
    :param again: by scorer; "" is all scorers together
    """

    rates: tuple[Preference, ...]
    by_survey: Mapping[str, tuple[Preference, ...]]
    strengths: Strengths
    position: Estimate
    length: Estimate
    agreement: RoundAgreement
    again: Mapping[str, Estimate]


def pair_statistics(results: Results, names: Names) -> PairStatistics | None:
    """Return the statistics of the pairs; None where the session had none."""
    if "pair" not in results.plan.kinds:
        return None
    votes, primary = tables.pair_votes(results), tables.pair_votes(primary_results(results))
    scorers = [names.scorers[scorer] for scorer in votes.scorers]
    shown = [response.shown for response in _answered(results)]
    arms = sources(results)
    return PairStatistics(
        rates=preference_rates(primary, arms),
        by_survey=_by_survey(primary_results(results), arms),
        strengths=davidson(primary),
        position=position_bias(*tables.shown_sides(results)),
        length=length_bias(votes.pairs, votes.verdicts, *_lengths(results, votes, shown)),
        agreement=_by_pairs(round_agreement(votes.pairs, scorers, votes.verdicts, wording=_ANSWERS)),
        again=_pair_repeats(results, names) if results.plan.repeats else {},
    )


def _answered(results: Results) -> list[Response]:
    """Return the answers to pairs in the order of ``pair_votes``."""
    return [response for response in results.first("pair") if isinstance(response.answer, PreferenceAnswer)]


def _by_survey(results: Results, arms: tuple[str, ...]) -> dict[str, tuple[Preference, ...]]:
    votes = tables.pair_votes(results)
    surveys = [results.traces[survey.shown[0]].survey for survey in _answered(results)]
    present = sorted(set(surveys))
    if len(present) < 2:
        return {}
    return {survey: preference_rates(_select(votes, [own == survey for own in surveys]), arms) for survey in present}


def _select(votes: Votes, is_kept: Sequence[bool]) -> Votes:
    kept = np.flatnonzero(is_kept)
    fields = (votes.pairs, votes.a, votes.b, votes.verdicts, votes.scorers)
    return Votes(*(tuple(field[i] for i in kept) for field in fields))  # type: ignore[arg-type]


def preference_rates(votes: Votes, arms: tuple[str, ...]) -> tuple[Preference, ...]:
    """Return every source against every other, also those that were never compared."""
    return tuple(preference_rate(votes, combination, other) for combination, other in combinations(arms, 2))


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


def _pair_repeats(results: Results, names: Names) -> dict[str, Estimate]:
    """Return by scorer how often a repeated pair had the same answer; "" is all scorers, whose interval is by pair."""
    every = results.repeats("pair")
    shares = {}
    for initials, called in names.scorers.items() if every else ():
        own = [
            float(_chosen_version(response) == _chosen_version(other))
            for response, other in every
            if response.scorer == initials
        ]
        response = share(own, np.ones(len(own)), _AGAIN, none=_NO_REPEAT, n_of="repeats")
        shares[called] = response if response.n >= FEWEST_REPEATS else without_interval(response, FEW_REPEATS)
    pairs = [tables.pair_name(*(results.traces[version] for version in response.shown)) for response, _ in every]
    same = [_chosen_version(response) == _chosen_version(other) for response, other in every]
    hits, counts = by_item(pairs, same, np.ones(len(same)))
    words = f"{_AGAIN} All scorers' repeats together; the interval resamples pairs."
    shares[""] = share(hits, counts, words, DEFAULT, none=_NO_REPEAT, n=len(same), n_of="repeats")
    return shares


def _chosen_version(response: Response) -> tuple[str, ...]:
    """Return the choice independent of the side: a version, or the kind of tie."""
    assert isinstance(response.answer, PreferenceAnswer)
    chosen = response.answer.preference
    if chosen in _SWAPPED:
        return (str(response.shown[0 if chosen == "left" else 1]),)
    return ("tie", chosen)


_ANSWERS = Wording(
    raw=deferred(
        "Raw agreement: of two people who answered the same item, the chance that they answered alike, averaged over "
        "items. Fleiss 1971, Psychological Bulletin 76, 378 (his mean P)."
    ),
    nobody=deferred("nobody answered anything"),
    alone=deferred("there is one scorer only"),
    unshared=deferred("no item was answered by two scorers"),
    single=deferred("only one item was answered by two scorers"),
    same=lambda answer: deferred("every answer is {answer}", answer=answer),
)


def _by_pairs(agreement: RoundAgreement) -> RoundAgreement:
    return RoundAgreement(replace(agreement.raw, n_of="pairs"), replace(agreement.alpha, n_of="pairs"))


def verdicts_by_pair(votes: Votes) -> dict[str, list[Verdict]]:
    """Return the answers to each pair."""
    verdicts_of: dict[str, list[Verdict]] = {}
    for pair, verdict in zip(votes.pairs, votes.verdicts, strict=True):
        verdicts_of.setdefault(pair, []).append(verdict)
    return verdicts_of
