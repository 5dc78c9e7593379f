"""The result of a session: the table of the primary comparison with its sensitivity analyses, the table of all other
comparisons, and a summary in sentences that claim no more than intervals and p values allow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from markupsafe import Markup

from agent.tables import HtmlRow, html_table
from reviewer.agreement.values import Estimate
from reviewer.blind.analysis import excluded_scorers, excluded_traces
from reviewer.blind.report.claims import ORDINAL, TITLES, Analysis, Claims, Comparison, claimed
from reviewer.blind.report.judges import JudgeStatistics
from reviewer.blind.report.markup import many
from reviewer.blind.report.method import version_sentence
from reviewer.blind.report.model import IN_WORDS, p_value, population
from reviewer.blind.report.numbers import p_text, two_decimals, value_with_interval
from reviewer.blind.report.preferences import PairStatistics
from reviewer.blind.report.statistics import Statistics
from reviewer.blind.results import Results

TENTATIVE, RELIABLE = 0.667, 0.8
"""Krippendorff 2004, Content Analysis, 2nd edition, page 241: below the first no conclusions from such data,
between the two tentative ones.
"""

_HEAD = ("comparison", "estimate (95 %)", "p", "holds for", "spectra", "scorers", "answers", "claim")
_HEAD_OTHERS = ("comparison", "estimate (95 %)", "p", "adjusted p", "holds for", "n", "claim")
_UNITS = {True: "points of the scale from 0 to 5", False: "share of decided answers; 0.5 is no preference"}


def headline(claims: Claims) -> str:
    """Return the table of the primary comparison, and below it that of all others."""
    return f"{_primary_table(claims)}{_others(claims.others)}"


def _primary_table(claims: Claims) -> str:
    comparison = claims.primary
    if comparison is None:
        return "<p>The session has fewer than two sources, so there is no comparison.</p>"
    rows = [_row(analysis, number == 0) for number, analysis in enumerate(claims.analyses)]
    margin = "" if claims.margin is None else f" Planned margin: ±{claims.margin:g} points."
    text = (
        f"Unit: {_UNITS[comparison.dimension is not None]}. The primary comparison is tested at 5 %; the rows below it "
        f"are the same comparison by other analyses, which should agree with it.{margin}"
    )
    if claims.unchanged:
        text += f" Not needed, as they would change nothing: {', '.join(name.lower() for name in claims.unchanged)}."
    caption = f"Primary comparison. {comparison.subject}"
    return f"{html_table(_HEAD, rows, caption, 'headline')}<p class='faint'>{escape(text)}</p>"


def _row(analysis: Analysis, first: bool) -> HtmlRow:
    about = Markup("<small>{}</small>").format(analysis.about) if analysis.about else ""
    unit = (
        Markup(" <small>log odds</small>") if analysis.name == ORDINAL and analysis.estimate.value is not None else ""
    )
    cells = (
        _value(analysis.estimate, unit),
        _p(p_value(analysis.estimate)),
        _where(analysis.estimate).removeprefix("for "),
        *(f"{n}" for n in (analysis.spectra, analysis.scorers, analysis.answers)),
        _sentence(analysis.claim),
    )
    return HtmlRow(cells, Markup("{}{}").format(analysis.name, about), "first-row" if first else "")


def _others(others: Sequence[Comparison]) -> str:
    if not others:
        return ""
    rows = [
        HtmlRow(
            (
                _value(comparison.estimate),
                *(_p(p_value(comparison.estimate)), _p(comparison.adjusted)),
                _where(comparison.estimate).removeprefix("for "),
                *(f"{comparison.estimate.n} {comparison.estimate.n_of}", _sentence(comparison.claim)),
            ),
            comparison.subject,
        )
        for comparison in others
    ]
    tested = sum(comparison.adjusted is not None for comparison in others)
    text = (
        "All other comparisons of the session: differences of scores in points of the scale from 0 to 5, preferences "
        "as the share of decided answers (0.5 is no preference). Their p values are adjusted together by Holm's "
        f"method ({many(tested, 'test')}), and claims follow from the adjusted ones; intervals are not adjusted. The "
        "primary comparison is not among them."
    )
    return f"{html_table(_HEAD_OTHERS, rows, 'Other comparisons', 'headline')}<p class='faint'>{escape(text)}</p>"


def _value(estimate: Estimate, unit: str = "") -> Markup:
    """Return the value with its interval; ``unit`` is markup behind it."""
    if estimate.value is None:
        return Markup("<span>undefined</span>")
    value, _, interval = value_with_interval(estimate).partition(" ")
    return Markup('<span><span class="value">{}</span> {}{}</span>').format(value, interval, unit)


def _p(p: float | None) -> str:
    return "" if p is None else p_text(p).removeprefix("p = ").removeprefix("p ")


def _where(estimate: Estimate) -> str:
    return IN_WORDS.get(population(estimate), population(estimate))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] if words.startswith(("no ", "cannot ")) else words


def summary(results: Results, statistics: Statistics) -> tuple[str, ...]:
    """Return the sentences, the most important first."""
    return (
        _size(results),
        version_sentence(results),
        *_of_claims(statistics.claims),
        *(f"{TITLES[score.dimension]}: {_alpha(score.agreement[''].alpha)}" for score in statistics.scores),
        *(() if statistics.pairs is None else _of_pairs(statistics.pairs)),
        *_ceiling(statistics),
        *(_of_judge(judge) for judge in statistics.judges),
    )


def _size(results: Results) -> str:
    questions = [response for kind in results.plan.kinds for response in results.first(kind)]
    answered = [question for question in questions if question.answer is not None]
    scorers = {response.scorer for response in answered}
    if not answered:
        return f"No result: found no answer to any of {many(len(questions), 'question')}."
    traces = {version for response in answered for version in response.shown}
    left_out = many(len(excluded_scorers(results)), "scorer"), many(len(excluded_traces(results)), "trace")
    excluded = "" if left_out == ("0 scorers", "0 traces") else f" The plan excludes {' and '.join(left_out)}."
    return (
        f"{many(len(scorers), 'person', 'people')} gave {len(answered)} of {len(questions)} answers about "
        f"{many(len(traces), 'trace')}; training items, repeats and gold items are not counted here.{excluded}"
    )


def _of_claims(claims: Claims) -> Iterator[str]:
    if claims.primary is None:
        yield "There is no primary comparison: the session has fewer than two sources."
    else:
        yield f"Primary comparison. {_primary(claims)}"
    shown = [
        comparison
        for comparison in claims.others
        if claimed(comparison.estimate, comparison.adjusted, _neutral(comparison))
    ]
    for comparison in shown:
        yield (
            f"{comparison.subject}: {comparison.claim}, {_where(comparison.estimate)}: "
            f"{value_with_interval(comparison.estimate)}, "
            f"{p_text(comparison.adjusted)} after Holm's correction."
        )
    rest = [comparison for comparison in claims.others if comparison not in shown]
    untested = sum(comparison.adjusted is None for comparison in rest)
    if len(rest) > untested:
        count = len(rest) - untested
        show = "shows" if count == 1 else "show"
        yield f"{many(count, 'other comparison')} {show} no difference. This does not show that the sources are alike."
    if untested:
        has = "has" if untested == 1 else "have"
        yield f"{many(untested, 'other comparison')} {has} no interval, so nothing is claimed."


def _primary(claims: Claims) -> str:
    assert claims.primary is not None
    comparison, best = claims.primary, claims.primary.estimate
    whole = claims.analyses[0].estimate
    if whole.value is None:
        return f"{comparison.subject}: {comparison.claim}."
    if best.low is None:
        return f"{comparison.subject} is {two_decimals(whole.value)}; {comparison.claim}."
    before = (
        "" if whole.low is not None else f"for spectra and scorers like these nothing is claimed ({whole.reason}); "
    )
    end = "" if claimed(best, p_value(best), _neutral(comparison)) else ". This does not show that they are alike"
    if "; equivalent within" in comparison.claim:
        end = ""
    value = f"{value_with_interval(best)}, {p_text(p_value(best))}"
    return f"{comparison.subject}: {before}{_where(best)}, {comparison.claim}: {value}{end}."


def _neutral(comparison: Comparison) -> float:
    return 0.5 if comparison.dimension is None else 0.0


def _alpha(alpha: Estimate) -> str:
    if alpha.value is None:
        return f"agreement of the scorers is undefined: {alpha.reason}."
    if alpha.low is None or alpha.high is None:
        return f"Krippendorff's alpha of the scorers is {two_decimals(alpha.value)}, without interval ({alpha.reason})."
    start = f"Krippendorff's alpha of the scorers is {value_with_interval(alpha)}."
    if alpha.high < TENTATIVE:
        return f"{start} The whole interval is below {TENTATIVE}: too little for conclusions by Krippendorff's rule."
    if alpha.low >= RELIABLE:
        return f"{start} The whole interval is at least {RELIABLE}: reliable by Krippendorff's rule."
    if alpha.low >= TENTATIVE:
        return f"{start} The whole interval is at least {TENTATIVE}: tentative conclusions by Krippendorff's rule."
    return f"{start} By Krippendorff's rule, at least {TENTATIVE} is needed; the interval begins below it."


def _of_pairs(statistics: PairStatistics) -> Iterator[str]:
    ties = [rate.wins.detail["equal"] + rate.wins.detail["both_bad"] for rate in statistics.rates]
    if any(rate.wins.n for rate in statistics.rates):
        answers = sum(rate.wins.n for rate in statistics.rates)
        yield f"Preferences: {many(sum(ties), 'tie')} in {many(answers, 'answer')}."
    bias = statistics.position
    if bias.value is not None:
        yield f"Preferences: {_percent(bias)} of {many(bias.n, 'decided answer')} chose the left trace."


def _ceiling(statistics: Statistics) -> Iterator[str]:
    """Yield what the judges' correlations are to be compared with."""
    values = [
        f"{value_with_interval(judges.ceiling)} in {TITLES[dimension].lower()}"
        for dimension, judges in statistics.together.items()
        if judges.ceiling.value is not None
    ]
    if values:
        yield f"Rank correlation of one person with the mean of the other people: {' and '.join(values)}."


def _of_judge(statistics: JudgeStatistics) -> str:
    """Return the rank correlations of a judge with people, and its flips, as one sentence."""
    ranks = {TITLES[dimension].lower(): score.correlation for dimension, score in statistics.scores.items()}
    words = [
        f"{rank if rank.value is None or rank.low is None else value_with_interval(rank)} in {name}"
        for name, rank in ranks.items()
    ]
    parts = [f"rank correlation with the people {' and '.join(words)}"] if words else []
    if statistics.pairs is not None and statistics.pairs.flips.value is not None:
        flips = statistics.pairs.flips
        parts.append(
            f"choice changed with the order of the pair in {_percent(flips)} of {flips.n} {flips.n_of}, which "
            "count as ties"
        )
    return f"Judge {statistics.judge}: {'; '.join(parts) or 'no readable answer'}."


def _percent(estimate: Estimate) -> str:
    """Return ``63 % (51 to 74)``."""
    if estimate.value is None:
        return str(estimate)
    ends = (
        ""
        if estimate.low is None or estimate.high is None
        else f" ({100 * estimate.low:.0f} to {100 * estimate.high:.0f})"
    )
    return f"{100 * estimate.value:.0f} %{ends}"
