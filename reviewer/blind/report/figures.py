"""The figures of the page with captions and units: of the section Figures, and above the tables of other sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from reviewer.blind.plan import DIMENSIONS
from reviewer.blind.report import drawings
from reviewer.blind.report.claims import ORDINAL, THESE, TITLES, Claims
from reviewer.blind.report.judge_agreement import judge_scores
from reviewer.blind.report.markup import figure
from reviewer.blind.report.method import ReportData
from reviewer.blind.report.names import counted_versions, sources
from reviewer.blind.report.numbers import value_with_interval
from reviewer.blind.report.scores import DimensionStatistics
from reviewer.blind.report.statistics import ALL_TRACES, Row, Statistics
from reviewer.blind.results import Results

_POINTS = "95 % intervals, in points of the scale from 0 to 5"


def all_figures(material: ReportData, statistics: Statistics) -> Iterator[str]:
    """Yield the figures of the section Figures, the most important first."""
    results = material.results
    yield from _primary(statistics.claims)
    for score in statistics.scores:
        yield from _by_scorer(score)
    for score in statistics.scores:
        title = f"{TITLES[score.dimension]}: how often each score was given, and “cannot tell” (?)"
        note = "Height: share of a source's answers. Above each bar: number of answers."
        yield figure(drawings.distributions(score.distributions), title, note)
    if statistics.pairs is not None:
        rates = {f"{rate.source} and {rate.other}": rate for rate in statistics.pairs.rates}
        rates |= {
            f"{rate_of_survey.source} and {rate_of_survey.other}, {survey or 'no survey'}": rate_of_survey
            for survey, own in statistics.pairs.by_survey.items()
            for rate_of_survey in own
        }
        yield figure(drawings.preferences(rates), "Preferences: shares of the answers to pairs")
    groups = _items(results)
    for score in statistics.scores:
        title = f"{TITLES[score.dimension]}: every score, by trace and scorer"
        note = "One column per trace, sorted by its mean score; a gap is a trace that the scorer did not score."
        yield figure(drawings.score_map(score.table, groups), title, note)
    yield from _judges(results, statistics)
    for score in statistics.scores:
        if score.order.quarters:
            title = f"{TITLES[score.dimension]}: scores along the order of each scorer"
            note = (
                "Mean residual in points (score less the levels of trace and scorer) in the four quarters of a "
                "scorer's order. Without drift it is 0 throughout."
            )
            yield figure(drawings.residuals(score.order.quarters), title, note)


def section_figures(key: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the figures above a section's tables.

    :param key: of the section
    :param rows: of the section
    """
    if key == "agreement":
        yield from _forests(rows, "agreement", "", "Agreement of all scorers", (0, 1), only=ALL_TRACES)
    elif key == "scorers":
        ends = ("more severe", "more lenient")
        yield from _forests(rows, "severity", "severity", "Severity", (-1, 1), 0, ends, _POINTS)
    elif key == "correctness":
        ends = ("wrong verdicts scored higher", "right ones higher")
        yield from _forests(rows, "correctness", "AUC", "Score against correctness: AUC", (0, 1), 0.5, ends)
    elif key == "pairs":
        note = "95 % intervals, in log odds"
        yield from _forests(rows, "strength", "Davidson strength", "Davidson strength", (-1, 1), 0, note=note)
    elif key == "judges":
        name = "rank correlation with people"
        yield from _forests(rows, "judges", name, "Rank correlation with people", (-1, 1), 0)


def _forests(
    rows: Sequence[Row],
    section: str,
    statistic: str,
    title: str,
    axis: tuple[float, float],
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
    note: str = "95 % intervals",
    only: str = "",
) -> Iterator[str]:
    """Yield a figure per dimension of the section's estimates of one statistic, or of every statistic of ``only``."""
    for dimension in (*DIMENSIONS, ""):
        named = [
            (row.of if statistic else row.statistic, row.estimate)
            for row in rows
            if row.section == section
            and row.dimension == dimension
            and statistic in ("", row.statistic)
            and only in ("", row.of)
        ]
        if named:
            about = f"{TITLES[dimension]}: {title[0].lower()}{title[1:]}" if dimension else title  # type: ignore[index]
            yield figure(drawings.intervals(named, *axis, reference, ends), about, f"{note}.")


def _primary(claims: Claims) -> Iterator[str]:
    if claims.primary is None:
        return
    rows = [(analysis.name, analysis.estimate) for analysis in claims.analyses if analysis.name != ORDINAL]
    title = f"Primary comparison and other analyses of it. {claims.primary.subject}"
    first, second = claims.primary.first, claims.primary.second
    if claims.primary.dimension is None:
        ends = (f"{second} preferred", f"{first} preferred")
        drawing = drawings.intervals(rows, 0, 1, 0.5, ends, strong=[0])
        yield figure(drawing, title, "Share of decided answers, 95 % intervals; the dashed line is no preference.")
        return
    band = None if claims.margin is None else (-claims.margin, claims.margin)
    ends = (f"{second} higher", f"{first} higher")
    shaded = "" if claims.margin is None else f" Shaded: the planned margin, ±{claims.margin:g} points."
    drawing = drawings.intervals(rows, -1, 1, 0, ends, strong=[0], band=band)
    yield figure(drawing, title, f"{_POINTS}; the dashed line is no difference.{shaded}")


def _by_scorer(statistics: DimensionStatistics) -> Iterator[str]:
    for apart in statistics.differences:
        overall = apart.difference
        rows = [*apart.by_scorer.items(), (f"All, {THESE.lower()}", overall.these_scorers)]
        rows.append(("All, scorers like these", overall.new_scorers))
        title = f"{TITLES[statistics.dimension]}: difference by scorer, {apart.first} less {apart.second}"
        ends = (f"{apart.second} higher", f"{apart.first} higher")
        strong = [len(rows) - 2, len(rows) - 1]
        drawing = drawings.intervals(rows, -1, 1, 0, ends, strong=strong)
        yield figure(drawing, title, f"{_POINTS}. A dot is one scorer, a diamond all scorers together.")


def _items(results: Results) -> dict[str, list[str]]:
    """Return the items of each source."""
    traces = [results.traces[version] for version in counted_versions(results)]
    return {source: [trace.key for trace in traces if trace.source == source] for source in sources(results)}


def _judges(results: Results, statistics: Statistics) -> Iterator[str]:
    """Yield each judge's scores against the mean scores of people, a figure per dimension, with the human ceiling."""
    for judge in statistics.judges:
        for score in statistics.scores:
            panel = _panel(results, score, judge.judge)
            if panel is None or score.dimension not in judge.scores:
                continue
            note = f"Rank correlation {value_with_interval(judge.scores[score.dimension].correlation)}"
            if score.dimension in statistics.together:
                note += (
                    f", one person with the others {value_with_interval(statistics.together[score.dimension].ceiling)}"
                )
            note += ". One mark per trace; on the dashed line, the judge's score is that of the people."
            title = f"{TITLES[score.dimension]}: judge {judge.judge} against the people"
            yield figure(drawings.against_people(panel, sources(results)), title, note)


def _panel(results: Results, statistics: DimensionStatistics, judge: str) -> drawings.Panel | None:
    theirs = judge_scores(results, statistics.dimension)
    if judge not in theirs.raters:
        return None
    given = dict(zip(theirs.items, theirs.by(judge), strict=True))
    people, own = statistics.table.item_means(), np.array([given.get(item, np.nan) for item in statistics.table.items])
    both = ~(np.isnan(people) | np.isnan(own))
    if not both.any():
        return None
    arms = sources(results)
    source_of = {trace.key: trace.source for trace in results.traces.values()}
    items = [item for item, keep in zip(statistics.table.items, both, strict=True) if keep]
    return drawings.Panel(items, people[both], own[both], [arms.index(source_of[item]) for item in items])
