"""The summary of a session in a few sentences that claim no more than intervals and p values allow."""

from __future__ import annotations

from collections.abc import Iterator

from reviewer.agreement.values import Estimate
from reviewer.blind.analysis import excluded_scorers, excluded_traces
from reviewer.blind.report.claims import TITLES, Claims, Comparison, claimed
from reviewer.blind.report.judges import JudgeStatistics
from reviewer.blind.report.model import IN_WORDS, p_value, population
from reviewer.blind.report.preferences import PairStatistics
from reviewer.blind.report.statistics import Statistics
from reviewer.blind.report.svg import p_text, two_decimals, value_with_interval
from reviewer.blind.results import Results

TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff 2004, Content Analysis, 2nd edition, page 241: below the first no conclusions from such data,
between the two tentative ones.
"""


def summary(results: Results, found: Statistics) -> tuple[str, ...]:
    """Return the sentences, the most important first."""
    return (
        _size(results),
        *_of_claims(found.claims),
        *(f"{TITLES[one.dimension]}: {_alpha(one.agreement[''].alpha)}" for one in found.scores),
        *(() if found.pairs is None else _position(found.pairs)),
        *(sentence for one in found.judges for sentence in _of_judge(one, found)),
    )


def _size(results: Results) -> str:
    questions = [one for kind in results.plan.kinds for one in results.first(kind)]
    answered = [one for one in questions if one.answer is not None]
    scorers = {one.scorer for one in answered}
    if not answered:
        return f"No result: found no answer to any of {_many(len(questions), 'question')}."
    traces = {version for one in answered for version in one.shown}
    left_out = _many(len(excluded_scorers(results)), "scorer"), _many(len(excluded_traces(results)), "trace")
    excluded = "" if left_out == ("0 scorers", "0 traces") else f" The plan excludes {' and '.join(left_out)}."
    return (
        f"{_many(len(scorers), 'person', 'people')} gave {len(answered)} of {len(questions)} answers about "
        f"{_many(len(traces), 'trace')}; training, repeats and gold items are not counted here.{excluded}"
    )


def _of_claims(found: Claims) -> Iterator[str]:
    if found.primary is None:
        yield "There is no primary comparison: the session has fewer than two sources."
    else:
        yield f"Primary comparison. {_primary(found)}"
    shown = [one for one in found.others if claimed(one.estimate, one.adjusted, _neutral(one))]
    for one in shown:
        yield (
            f"{one.subject}: {one.claim}, {_where(one.estimate)}: {value_with_interval(one.estimate)}, "
            f"{p_text(one.adjusted)} after Holm's correction."
        )
    rest = [one for one in found.others if one not in shown]
    untested = sum(one.adjusted is None for one in rest)
    if len(rest) > untested:
        count = len(rest) - untested
        show = "shows" if count == 1 else "show"
        yield f"{_many(count, 'other comparison')} {show} no difference. This does not show that the sources are alike."
    if untested:
        has = "has" if untested == 1 else "have"
        yield f"{_many(untested, 'other comparison')} {has} no interval, so nothing is claimed."


def _primary(found: Claims) -> str:
    assert found.primary is not None
    one, best = found.primary, found.primary.estimate
    whole = found.analyses[0].estimate
    if whole.value is None:
        return f"{one.subject}: {one.claim}."
    if best.low is None:
        return f"{one.subject} is {two_decimals(whole.value)}; {one.claim}."
    before = (
        "" if whole.low is not None else f"for spectra and scorers like these nothing is claimed ({whole.reason}); "
    )
    end = "" if claimed(best, p_value(best), _neutral(one)) else ". This does not show that they are alike"
    if "; equivalent within" in one.claim:
        end = ""
    value = f"{value_with_interval(best)}, {p_text(p_value(best))}"
    return f"{one.subject}: {before}{_where(best)}, {one.claim}: {value}{end}."


def _where(one: Estimate) -> str:
    return IN_WORDS.get(population(one), population(one))


def _neutral(one: Comparison) -> float:
    return 0.5 if one.dimension is None else 0.0


def _alpha(alpha: Estimate) -> str:
    if alpha.value is None:
        return f"how far scorers agree is undefined: {alpha.reason}."
    if alpha.low is None or alpha.high is None:
        return f"Krippendorff's alpha is {two_decimals(alpha.value)}, without an interval ({alpha.reason})."
    start = f"scorers agree with Krippendorff's alpha {value_with_interval(alpha)}; "
    if alpha.high < TENTATIVE:
        return f"{start}all of the interval is below {TENTATIVE}, too little for conclusions by his rule."
    if alpha.low >= RELIABLE:
        return f"{start}all of the interval is at {RELIABLE} or above, reliable by his rule."
    if alpha.low >= TENTATIVE:
        return f"{start}by his rule conclusions are tentative ({TENTATIVE} or above, not surely {RELIABLE})."
    return f"{start}the interval reaches below {TENTATIVE}, the least that his rule allows tentative conclusions."


def _position(found: PairStatistics) -> Iterator[str]:
    ties = [one.wins.detail["equal"] + one.wins.detail["both_bad"] for one in found.rates]
    if any(one.wins.n for one in found.rates):
        yield f"Preferences: {_many(sum(ties), 'tie')} of {_many(sum(one.wins.n for one in found.rates), 'answer')}."
    bias = found.position
    if bias.value is not None:
        yield f"Preferences: {_percent(bias)} of {_many(bias.n, 'decided answer')} chose the left trace."


def _of_judge(found: JudgeStatistics, every: Statistics) -> Iterator[str]:
    for dimension, one in found.scores.items():
        title = TITLES[dimension]
        rank, ceiling = one.correlation, every.together[dimension].ceiling if dimension in every.together else None
        if rank.value is None or rank.low is None:
            yield f"Judge {found.judge}, {title.lower()}: rank correlation with people: {rank}."
            continue
        person = ""
        if ceiling is not None and ceiling.value is not None:
            person = f"; that of one person with the others is {value_with_interval(ceiling)}"
        yield f"Judge {found.judge}, {title.lower()}: rank correlation with people {value_with_interval(rank)}{person}."
    if found.pairs is not None and found.pairs.flips.value is not None:
        yield (
            f"Judge {found.judge} changed its choice with the order in {_percent(found.pairs.flips)} of "
            f"{_many(found.pairs.flips.n, 'pair')}; these count as ties."
        )


def _percent(one: Estimate) -> str:
    """``63 % (51 to 74)``."""
    if one.value is None:
        return str(one)
    ends = "" if one.low is None or one.high is None else f" ({100 * one.low:.0f} to {100 * one.high:.0f})"
    return f"{100 * one.value:.0f} %{ends}"


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"
