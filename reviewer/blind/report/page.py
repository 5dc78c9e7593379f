"""The report as one self-contained HTML page: no scripts, picture files or fonts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from reviewer.agreement.values import Estimate
from reviewer.blind.report import figures
from reviewer.blind.report.method import ReportData, exclusions, method, rubric_text, scored_traces
from reviewer.blind.report.summary import TITLES, summary
from reviewer.blind.report.tables import ALL_TRACES, Row, Statistics

_PAGE = Path(__file__).with_name("page.html")


@dataclass(frozen=True)
class _Part:
    """A section of numbers: the rows of its tables, and the text before them."""

    title: str
    sections: tuple[str, ...]
    about: str


_PARTS = {
    "scores": _Part(
        "Scores",
        ("scores", "tasks", "differences"),
        "The scale is a rank order: means are given because they are usual, the distribution says more.",
    ),
    "agreement": _Part(
        "Agreement of the scorers",
        ("agreement", "two scorers"),
        "Over all traces agreement is also due to sources that differ; within one source it is not. Where "
        "nearly all scores are alike alpha and kappa are low however many agree: see raw agreement.",
    ),
    "scorers": _Part(
        "Each scorer",
        ("severity", "repeats", "gold"),
        "Repeats and gold items are in no other number of this report.",
    ),
    "correctness": _Part(
        "Scores against the verdict",
        ("correctness",),
        "Do traces whose verdict is right have the better reasoning? Only traces with a known label count.",
    ),
    "pairs": _Part(
        "Preferences",
        ("preference", "strength", "pair agreement", "pair repeats", "bias"),
        "Scorers chose the better reasoning, regardless of the verdict. The two kinds of tie are counted separately.",
    ),
    "judges": _Part(
        "Model judges",
        ("judges", "judge means", "judge preference", "judge bias"),
        "Models that got the same questions with the same rubric. They are in no number above. A judge that "
        "changes its choice with the order has no preference for the pair, which counts as a tie.",
    ),
}
_SHORT = {"coherence": "coherence", "consistency": "physical"}
_CAPTIONS = {
    "scores": "By source",
    "tasks": "By source and task",
    "differences": "Difference of sources",
    "agreement": "All scorers together",
    "two scorers": "Two scorers at a time",
    "severity": "Severity",
    "repeats": "Self-consistency on repeats",
    "gold": "Calibration on gold items",
    "correctness": "By correctness of the verdict",
    "preference": "Shares of the answers",
    "strength": "Strength on one scale",
    "pair agreement": "Agreement of the scorers",
    "pair repeats": "Self-consistency on repeated pairs",
    "bias": "Position and length bias",
    "judges": "Compared with people",
    "judge means": "By source",
    "judge preference": "Shares of the pairs, both orders together",
    "judge bias": "Position and length bias",
}


def page(material: ReportData, found: Statistics) -> str:
    """Return the complete page."""
    results = material.results
    title = material.names.anonymous(results.plan.name)
    about = (
        f"Blind scoring session {results.session}, closed. Created {results.drawn_at:%Y-%m-%d}, open from "
        f"{results.opened_at:%Y-%m-%d} to {results.closed_at:%Y-%m-%d} (UTC). Seed {results.plan.seed}."
    )
    rows = found.rows
    parts = {key: _numbers(key, part, found, rows) for key, part in _PARTS.items()}
    there = {key: html for key, html in parts.items() if html}
    contents = {
        "scored": ("What was scored", scored_traces(material)),
        "method": ("Method", method(material)),
        "exclusions": ("Exclusions", exclusions(material)),
        **{key: (_PARTS[key].title, html) for key, html in there.items()},
        "rubric": ("The rubric", rubric_text(results.rubric, results.questions)),
    }
    links = "".join(f'<li><a href="#{key}">{escape(name)}</a></li>' for key, (name, _) in contents.items())
    sentences = "".join(f"<li>{escape(one)}</li>" for one in summary(results, found))
    first = _section("summary", "Summary", f"<ul>{sentences}</ul><nav><ul>{links}</ul></nav>")
    sections = [first, *(_section(key, name, html) for key, (name, html) in contents.items())]
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(title), about=escape(about), sections="\n".join(sections)
    )


def _section(key: str, title: str, html: str) -> str:
    return f'<section id="{key}"><h2>{escape(title)}</h2>\n{html}</section>'


def _numbers(key: str, part: _Part, found: Statistics, rows: Sequence[Row]) -> str:
    """Return a section's figures, tables and definitions; empty where the session has no such rows."""
    own = [row for row in rows if row.section in part.sections]
    if not own:
        return ""
    html = [f"<p>{escape(part.about)}</p>", *_figures(key, found, own)]
    for section in part.sections:
        html.append('<div class="beside">')
        of_section = [row for row in own if row.section == section]
        for dimension in dict.fromkeys(row.dimension for row in of_section):
            title = TITLES.get(dimension, "")  # type: ignore[call-overload]
            caption = f"{_CAPTIONS[section]}: {title.lower()}" if title else _CAPTIONS[section]
            html.append(_table(caption, [row for row in of_section if row.dimension == dimension]))
        html.append("</div>")
    return "\n".join([*html, _definitions(own)])


def _figures(key: str, found: Statistics, rows: Sequence[Row]) -> Iterable[str]:
    """Yield the figures above a section's tables."""
    if key == "scores":
        for one in found.scores:
            title = f"{TITLES[one.dimension]}: how often each score was given, and “cannot tell” (?)"
            yield _figure(figures.distributions(one.distributions, title), title)
        yield _forest(rows, "scores", "mean", "Mean score by source", 0, 5)
        shown = [row for row in rows if row.section == "differences"]
        if shown:
            named = [
                (f"{two.first} − {two.second}, {_SHORT[one.dimension]}", two.best)
                for one in found.scores
                for two in one.differences
            ]
            title = "Difference of sources, on the same spectra where there are any"
            yield _figure(figures.intervals(named, title, -1, 1, 0, ("second higher", "first higher")), title)
    elif key == "agreement":
        yield _forest(rows, "agreement", "", "Agreement of all scorers", 0, 1, only=ALL_TRACES)
    elif key == "scorers":
        ends = ("more severe than the others", "more lenient")
        yield _forest(rows, "severity", "severity", "Severity", -1, 1, 0, ends)
    elif key == "correctness":
        ends = ("wrong verdicts scored higher", "right ones higher")
        yield _forest(rows, "correctness", "AUC", "Score against correctness: AUC", 0, 1, 0.5, ends)
    elif key == "pairs" and found.pairs is not None:
        title = "Shares of the answers to pairs"
        yield _figure(figures.preferences(found.pairs.rates, title), title)
        yield _forest(rows, "strength", "Davidson strength", "Davidson strength", -1, 1, 0)
    elif key == "judges":
        counts = "".join(
            f"<li>{escape(one.judge)}: {one.judgements} judgements; {one.unread} answers could not be read; "
            f"{one.with_reasoning} came with reasoning, which is kept separately from the verdict.</li>"
            for one in found.judges
        )
        yield f"<ul>{counts}</ul>"
        yield _forest(rows, "judges", "rank correlation with people", "Rank correlation with people", -1, 1, 0)


def _forest(
    rows: Sequence[Row],
    section: str,
    statistic: str,
    title: str,
    low: float,
    high: float,
    reference: float | None = None,
    ends: tuple[str, str] = ("", ""),
    only: str = "",
) -> str:
    """Return a figure with the section's estimates of one statistic, or of every statistic of ``only``."""
    named = []
    for row in rows:
        if row.section == section and statistic in ("", row.statistic) and only in ("", row.of):
            what = row.of if statistic else row.statistic
            short = _SHORT.get(row.dimension)
            named.append((f"{what}, {short}" if short else what, row.estimate))
    if not named:
        return ""
    return _figure(figures.intervals(named, title, low, high, reference, ends), f"{title}, 95 % intervals")


def _figure(svg: str, caption: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{svg}</figure>"


def _table(caption: str, rows: Sequence[Row]) -> str:
    statistics = list(dict.fromkeys(row.statistic for row in rows))
    cells: dict[str, dict[str, Estimate]] = {}
    for row in rows:
        cells.setdefault(row.of, {})[row.statistic] = row.estimate
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in statistics)
    body = "".join(
        f'<tr><th scope="row">{escape(of)}</th>{"".join(_cell(given.get(one)) for one in statistics)}</tr>'
        for of, given in cells.items()
    )
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(one: Estimate | None) -> str:
    if one is None:
        return "<td></td>"
    n = f"n = {one.n} {one.n_of}"
    if "p_value" in one.detail:
        n += f"; p = {one.detail['p_value']:.2g}"
    if one.value is None:
        return f"<td>undefined<small>{escape(one.reason)}; {escape(n)}</small></td>"
    value = f'<span class="value">{figures.two_decimals(one.value)}</span>'
    if one.low is None or one.high is None:
        return f"<td>{value}<small>no interval: {escape(one.reason)}; {escape(n)}</small></td>"
    more = f"; {one.reason}" if one.reason else ""
    return (
        f"<td>{value}<small>{figures.two_decimals(one.low)} to {figures.two_decimals(one.high)}; "
        f"{escape(n)}{escape(more)}</small></td>"
    )


def _definitions(rows: Sequence[Row]) -> str:
    found: dict[str, list[str]] = {}
    for row in rows:
        definitions = found.setdefault(row.statistic, [])
        if row.estimate.definition not in definitions:
            definitions.append(row.estimate.definition)
    entries = "".join(
        f"<div><dt>{escape(name)}</dt>{''.join(f'<dd>{escape(one)}</dd>' for one in definitions)}</div>"
        for name, definitions in found.items()
    )
    return f"<h4>Definitions</h4><dl>{entries}</dl>"
