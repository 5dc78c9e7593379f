"""The first table of the page, with the primary comparison and its sensitivity analyses; the table of every other
comparison; and the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

import numpy as np

from reviewer.agreement.preference import Preference
from reviewer.agreement.values import Estimate
from reviewer.blind.report import figures, plots
from reviewer.blind.report.claims import ORDINAL, THESE, TITLES, Analysis, Claims, Comparison
from reviewer.blind.report.figures import figure
from reviewer.blind.report.judge_agreement import judge_scores
from reviewer.blind.report.method import ReportData
from reviewer.blind.report.model import IN_WORDS, p_value, population
from reviewer.blind.report.names import counted_versions, sources
from reviewer.blind.report.scores import DimensionStatistics
from reviewer.blind.report.statistics import Statistics
from reviewer.blind.report.svg import p_text, value_with_interval
from reviewer.blind.results import Results

_HEAD = ("comparison", "estimate (95 %)", "p", "holds for", "spectra", "scorers", "answers", "claim")
_UNITS = {True: "points of the scale from 0 to 5", False: "share of decided answers; 0.5 is no preference"}


def headline(found: Claims) -> str:
    """Return the table of the primary comparison, and below it that of all others."""
    return f"{_primary(found)}{_others(found.others)}"


def _primary(found: Claims) -> str:
    one = found.primary
    if one is None:
        return "<p>The session has fewer than two sources, so there is no comparison.</p>"
    rows = [_row(analysis, number == 0) for number, analysis in enumerate(found.analyses)]
    margin = "" if found.margin is None else f" Planned margin: ±{found.margin:g} points."
    text = (
        f"In {_UNITS[one.dimension is not None]}. The primary comparison is tested at 5 %; the rows below it are the "
        f"same comparison by other analyses, which should agree with it.{margin}"
    )
    if found.unchanged:
        text += f" Not needed, as they would change nothing: {', '.join(name.lower() for name in found.unchanged)}."
    caption = f"Primary comparison. {one.subject}"
    return f"{_table(caption, _HEAD, rows)}<p class='faint'>{escape(text)}</p>"


def _row(one: Analysis, first: bool) -> str:
    about = f"<small>{escape(one.about)}</small>" if one.about else ""
    unit = " <small>log odds</small>" if one.name == ORDINAL and one.estimate.value is not None else ""
    cells = (
        f"<span>{_value(one.estimate)}{unit}</span>",
        _p(p_value(one.estimate)),
        escape(_where(one.estimate)),
        *(f"{n}" for n in (one.spectra, one.scorers, one.answers)),
        escape(_sentence(one.claim)),
    )
    return _line(one.name, about, _HEAD, cells, first)


def _line(name: str, about: str, head: Sequence[str], cells: Sequence[str], first: bool = False) -> str:
    """Return a row; on narrow screens each cell stands below the others, with the head of its column."""
    kind = ' class="first-row"' if first else ""
    tds = "".join(f'<td data-head="{escape(column)}">{cell}</td>' for column, cell in zip(head[1:], cells, strict=True))
    return f'<tr{kind}><th scope="row">{escape(name)}{about}</th>{tds}</tr>'


def _others(others: Sequence[Comparison]) -> str:
    if not others:
        return ""
    head = ("comparison", "estimate (95 %)", "p", "adjusted p", "holds for", "n", "claim")
    rows = [
        _line(
            one.subject,
            "",
            head,
            (
                f"<span>{_value(one.estimate)}</span>",
                *(_p(p_value(one.estimate)), _p(one.adjusted), escape(_where(one.estimate))),
                *(f"{one.estimate.n} {escape(one.estimate.n_of)}", escape(_sentence(one.claim))),
            ),
        )
        for one in others
    ]
    tested = sum(one.adjusted is not None for one in others)
    text = (
        "All other comparisons of the session. Their p values are adjusted together by Holm's method "
        f"({tested} {'test' if tested == 1 else 'tests'}), and claims follow from the adjusted ones; intervals are not "
        "adjusted. The primary comparison is not among them."
    )
    return f"{_table('Other comparisons', head, rows)}<p class='faint'>{escape(text)}</p>"


def _table(caption: str, head: Iterable[str], rows: Iterable[str]) -> str:
    heads = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    return (
        f'<h3>{escape(caption)}</h3><div class="wide"><table class="headline" aria-label="{escape(caption)}">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _value(one: Estimate) -> str:
    if one.value is None:
        return "undefined"
    value, _, interval = value_with_interval(one).partition(" ")
    return f'<span class="value">{value}</span> {interval}'.strip()


def _p(p: float | None) -> str:
    return "" if p is None else escape(p_text(p).removeprefix("p = ").removeprefix("p "))


def _where(one: Estimate) -> str:
    return IN_WORDS.get(population(one), population(one)).removeprefix("for ")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] if words.startswith(("no ", "cannot ")) else words


def all_figures(material: ReportData, found: Statistics) -> Iterator[str]:
    """Yield the figures of the page, the most important first."""
    results = material.results
    yield from _forest(found.claims)
    for one in found.scores:
        yield from _by_scorer(one, found.claims)
    for one in found.scores:
        title = f"{TITLES[one.dimension]}: how often each score was given, and “cannot tell” (?)"
        yield figure(figures.distributions(one.distributions, title), title, "Bars are shares of a source's answers.")
    if found.pairs is not None:
        title = "Preferences: shares of the answers to pairs"
        rates: list[Preference] = list(found.pairs.rates)
        yield figure(figures.preferences(rates, title), title)
        for survey, own in found.pairs.by_survey.items():
            title = f"Preferences, {survey or 'no survey'}"
            yield figure(figures.preferences(own, title), title)
    groups = _items(results)
    for one in found.scores:
        title = f"{TITLES[one.dimension]}: every score, by trace and scorer"
        note = "One column per trace, sorted by its mean score; a gap is a trace that the scorer did not score."
        yield figure(plots.score_map(one.table, groups, title), title, note)
    yield from _judges(results, found)
    for one in found.scores:
        if one.order.quarters:
            title = f"{TITLES[one.dimension]}: scores along the order of each scorer"
            note = (
                "Mean residual (score less the levels of trace and scorer) in the quarters of a scorer's order; 0 "
                "throughout is no drift."
            )
            yield figure(plots.residuals(one.order.quarters, title), title, note)


def _forest(found: Claims) -> Iterator[str]:
    if found.primary is None:
        return
    rows = [(one.name, one.estimate) for one in found.analyses if one.name != ORDINAL]
    title = f"Primary comparison and other analyses of it. {found.primary.subject}"
    first, second = found.primary.first, found.primary.second
    if found.primary.dimension is None:
        ends = (f"{second} preferred", f"{first} preferred")
        drawing = figures.intervals(rows, title, 0, 1, 0.5, ends, strong=[0])
    else:
        band = None if found.margin is None else (-found.margin, found.margin)
        ends = (f"{second} higher", f"{first} higher")
        drawing = figures.intervals(rows, title, -1, 1, 0, ends, strong=[0], band=band)
    shaded = "" if found.margin is None else f" Shaded: the planned margin, ±{found.margin:g} points."
    yield figure(drawing, title, f"95 % intervals; the dashed line is no difference.{shaded}")


def _by_scorer(found: DimensionStatistics, claims: Claims) -> Iterator[str]:
    for apart in found.differences:
        overall = apart.difference
        rows = [*apart.by_scorer.items(), (f"All, {THESE.lower()}", overall.these_scorers)]
        rows.append(("All, scorers like these", overall.new_scorers))
        title = f"{TITLES[found.dimension]}: difference by scorer, {apart.first} less {apart.second}"
        ends = (f"{apart.second} higher", f"{apart.first} higher")
        drawing = figures.intervals(rows, title, -1, 1, 0, ends, strong=[len(rows) - 2, len(rows) - 1])
        yield figure(drawing, title, "One dot per scorer, with 95 % intervals; diamonds are all scorers together.")


def _items(results: Results) -> dict[str, list[str]]:
    """Return the items of each source."""
    traces = [results.traces[version] for version in counted_versions(results)]
    return {one: [str(trace.item) for trace in traces if trace.source == one] for one in sources(results)}


def _judges(results: Results, found: Statistics) -> Iterator[str]:
    """Yield each judge's scores against the mean scores of people, with the human ceiling."""
    for judge in found.judges:
        panels, notes = [], []
        for one in found.scores:
            panel = _panel(results, one, judge.judge)
            if panel is None or one.dimension not in judge.scores:
                continue
            panels.append(panel)
            rank = value_with_interval(judge.scores[one.dimension].correlation)
            note = f"{TITLES[one.dimension]}: rank correlation {rank}"
            if one.dimension in found.together:
                note += f", one person with the others {value_with_interval(found.together[one.dimension].ceiling)}"
            notes.append(f"{note}.")
        if panels:
            title = f"Judge {judge.judge} against the people"
            notes.append("The judge's score is the vertical axis.")
            yield figure(plots.against_people(panels, sources(results), title), title, " ".join(notes))


def _panel(results: Results, found: DimensionStatistics, judge: str) -> plots.Panel | None:
    theirs = judge_scores(results, found.dimension)
    if judge not in theirs.raters:
        return None
    given = dict(zip(theirs.items, theirs.by(judge), strict=True))
    people, own = found.table.item_means(), np.array([given.get(item, np.nan) for item in found.table.items])
    both = ~(np.isnan(people) | np.isnan(own))
    if not both.any():
        return None
    arms = sources(results)
    source_of = {str(trace.item): trace.source for trace in results.traces.values()}
    of = [arms.index(source_of[item]) for item, keep in zip(found.table.items, both, strict=True) if keep]
    return plots.Panel(TITLES[found.dimension], people[both], own[both], of)
