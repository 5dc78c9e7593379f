"""The names of scorers and items in a report, its sources, and every statistic of preferences between pairs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

import numpy as np

from agent.statistics import DEFAULT
from reviewer.agreement.davidson import Strengths, davidson
from reviewer.agreement.distribution import by_item, share
from reviewer.agreement.preference import Preference, Verdict, Votes, position_bias, preference_rate
from reviewer.agreement.raters import length_bias
from reviewer.agreement.reliability import RoundAgreement, round_agreement
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.analysis import primary_results
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


def sources(results: Results) -> tuple[str, ...]:
    """Return the arms of the comparison in the plan's order, else by name; gold items belong to none."""
    shown = {results.traces[version].source for version in counted_versions(results)}
    return (*(one for one in results.plan.sources if one in shown), *sorted(shown - {*results.plan.sources}))


def counted_versions(results: Results) -> tuple[int, ...]:
    """Return the versions in the results, without gold items, by item."""
    versions = {v for kind in results.plan.kinds for one in results.first(kind) for v in one.shown}
    return tuple(sorted(versions, key=lambda version: results.traces[version].item))


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
    scorers = [names.scorers[one] for one in votes.scorers]
    shown = [one.shown for one in _answered(results)]
    arms = sources(results)
    return PairStatistics(
        rates=preference_rates(primary, arms),
        by_survey=_by_survey(primary_results(results), arms),
        strengths=davidson(primary),
        position=position_bias(*tables.shown_sides(results)),
        length=length_bias(votes.pairs, votes.verdicts, *_lengths(results, votes, shown)),
        agreement=_in_scorer_terms(round_agreement(votes.pairs, scorers, votes.verdicts)),
        again=_pair_repeats(results, names) if results.plan.repeats else {},
    )


def _answered(results: Results) -> list[Response]:
    """Return the answers to pairs in the order of ``pair_votes``."""
    return [one for one in results.first("pair") if isinstance(one.answer, PreferenceAnswer)]


def _by_survey(results: Results, arms: tuple[str, ...]) -> dict[str, tuple[Preference, ...]]:
    votes = tables.pair_votes(results)
    surveys = [results.traces[one.shown[0]].survey for one in _answered(results)]
    there = sorted(set(surveys))
    if len(there) < 2:
        return {}
    return {one: preference_rates(_select(votes, [own == one for own in surveys]), arms) for one in there}


def _select(votes: Votes, wanted: Sequence[bool]) -> Votes:
    kept = np.flatnonzero(wanted)
    fields = (votes.pairs, votes.a, votes.b, votes.verdicts, votes.scorers)
    return Votes(*(tuple(one[i] for i in kept) for one in fields))  # type: ignore[arg-type]


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


def _pair_repeats(results: Results, names: Names) -> dict[str, Estimate]:
    """Return by scorer how often a repeated pair had the same answer; "" is all scorers, whose interval is by pair."""
    every = results.repeats("pair")
    found = {}
    for initials, called in names.scorers.items() if every else ():
        own = [float(_chosen_version(one) == _chosen_version(other)) for one, other in every if one.scorer == initials]
        found[called] = share(own, np.ones(len(own)), _AGAIN, none=_NO_REPEAT, n_of="pairs")
    pairs = [tables.pair_name(*(results.traces[version] for version in one.shown)) for one, _ in every]
    same = [_chosen_version(one) == _chosen_version(other) for one, other in every]
    hits, counts = by_item(pairs, same, np.ones(len(same)))
    words = f"{_AGAIN} All scorers' repeats together; the interval resamples pairs."
    found[""] = share(hits, counts, words, DEFAULT, none=_NO_REPEAT, n=len(same), n_of="repeats")
    return found


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
