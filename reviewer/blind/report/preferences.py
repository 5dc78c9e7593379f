"""Every statistic of the pairs: who won, how alike scorers chose, whether the side or the length did it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from reviewer.agreement.distribution import share
from reviewer.agreement.preference import (
    Preference,
    Strengths,
    Verdict,
    Votes,
    bradley_terry,
    position_bias,
    preference_rate,
)
from reviewer.agreement.raters import length_bias
from reviewer.agreement.rounds import RoundAgreement, round_agreement
from reviewer.agreement.values import Estimate
from reviewer.blind import tables
from reviewer.blind.report.statistics import Names, sources
from reviewer.blind.results import Results, Said
from reviewer.blind.sheet import OwnPreference

_AGAIN = (
    "Self-consistency: the share of repeated pairs, shown with their sides swapped, that a scorer answered "
    "alike both times, left and right undone."
)
_SWAPPED: dict[str, str] = {"left": "right", "right": "left"}


@dataclass(frozen=True)
class OfPairs:
    """Everything about preferences. Scorers go by their names in the report."""

    votes: Votes
    rates: tuple[Preference, ...]
    strengths: Strengths
    position: Estimate
    length: Estimate
    agreement: RoundAgreement
    again: Mapping[str, Estimate]


def of_pairs(results: Results, names: Names) -> OfPairs | None:
    """What came of the pairs; None where the session had none."""
    if "pair" not in results.plan.kinds:
        return None
    votes = tables.votes(results)
    answered = [one for one in results.first("pair") if isinstance(one.answer, OwnPreference)]
    said = [names.scorers[one.scorer] for one in answered]
    return OfPairs(
        votes=votes,
        rates=rates_of(votes, sources(results)),
        strengths=bradley_terry(votes),
        position=position_bias(*tables.sides(results)),
        length=length_bias(votes.pairs, votes.verdicts, *_lengths(results, votes, [s.shown for s in answered])),
        agreement=_worded(round_agreement(votes.pairs, said, votes.verdicts)),
        again={
            called: _again(
                [both for both in results.repeats("pair") if both[0].scorer == initials],
            )
            for initials, called in names.scorers.items()
            if results.plan.repeats
        },
    )


def rates_of(votes: Votes, arms: tuple[str, ...]) -> tuple[Preference, ...]:
    """Every source against every other, also those that never met."""
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


def _again(pairs: list[tuple[Said, Said]]) -> Estimate:
    same = [_undone(first) == _undone(again) for first, again in pairs]
    none = "no pair was answered twice"
    return share(same, [1.0] * len(same), _AGAIN, none=none, n_of="pairs")


def _undone(one: Said) -> tuple[str, ...]:
    """What was chosen, whatever side it stood on: a version, or the kind of tie."""
    assert isinstance(one.answer, OwnPreference)
    chosen = one.answer.preference
    if chosen in _SWAPPED:
        return (str(one.shown[0 if chosen == "left" else 1]),)
    return ("tie", chosen)


def _worded(found: RoundAgreement) -> RoundAgreement:
    """The same numbers in the words of scorers and answers instead of reviewers and decisions."""

    def told(one: Estimate) -> Estimate:
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

    return RoundAgreement(told(found.raw), told(found.alpha))


def verdicts_by_pair(votes: Votes) -> dict[str, list[Verdict]]:
    """The answers to each pair."""
    found: dict[str, list[Verdict]] = {}
    for pair, verdict in zip(votes.pairs, votes.verdicts, strict=True):
        found.setdefault(pair, []).append(verdict)
    return found
