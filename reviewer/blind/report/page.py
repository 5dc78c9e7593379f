"""The report as one HTML page. ``with_scripts`` makes it self-contained: figures are drawn by the scripts inside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template

from markupsafe import Markup

from agent.tables import HtmlRow, html_table
from reviewer.blind.plan import DIMENSIONS
from reviewer.blind.report.claims import TITLES
from reviewer.blind.report.exclusions import exclusions, fingerprint_tables
from reviewer.blind.report.figures import all_figures, section_figures
from reviewer.blind.report.headline import headline, summary
from reviewer.blind.report.method import ReportData, judge_settings, method, rubric_text, scored_traces
from reviewer.blind.report.model import IN_WORDS, p_value
from reviewer.blind.report.numbers import p_text, two_decimals
from reviewer.blind.report.scores import DESCRIPTION
from reviewer.blind.report.scripts import script_policy
from reviewer.blind.report.statistics import Row, Statistics

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
        ("scores", "tasks", "surveys", "differences", "by scorer", "spread"),
        "Means and differences are of the mixed model and of the primary analysis; differences by scorer are of all "
        "scorers. The scale is a rank order: means are given because they are usual, the distribution says more.",
    ),
    "agreement": _Part(
        "Agreement of the scorers",
        ("agreement", "two scorers"),
        "Over all traces agreement is also due to sources that differ; within one source it is not. Where "
        "nearly all scores are alike alpha and kappa are low however many agree: see raw agreement.",
    ),
    "scorers": _Part(
        "Each scorer",
        ("severity", "repeats", "order", "gold"),
        "Repeats and gold items are in no other number of this report.",
    ),
    "correctness": _Part(
        "Scores against the verdict",
        ("correctness",),
        "Do traces whose verdict is right have the better reasoning? Only traces with a known label count.",
    ),
    "pairs": _Part(
        "Preferences",
        ("preference", "preference by survey", "strength", "pair agreement", "pair repeats", "bias"),
        "Scorers chose the better reasoning, regardless of the verdict. The two kinds of tie are counted separately.",
    ),
    "judges": _Part(
        "Model judges",
        ("judges", "two judges", "judge means", "self-preference", "judge preference", "judge bias"),
        "Models that got the same questions with the same rubric. They are in no number above. A judge that "
        "changes its choice with the order has no preference for the pair, which counts as a tie.",
    ),
}
CAPTIONS = {
    "scores": "By source",
    "tasks": "By source and task",
    "surveys": "By source and survey",
    "differences": "Difference of sources",
    "by scorer": "Difference by scorer",
    "spread": "Variance components",
    "agreement": "All scorers together",
    "two scorers": "Two scorers at a time",
    "severity": "Severity",
    "repeats": "Self-consistency on repeats",
    "order": "Drift and order",
    "gold": "Calibration on gold items",
    "correctness": "By correctness of the verdict",
    "preference": "Shares of the answers",
    "preference by survey": "Shares of the answers by survey",
    "strength": "Strength on one scale",
    "pair agreement": "Agreement of the scorers",
    "pair repeats": "Self-consistency on repeated pairs",
    "bias": "Position and length bias",
    "judges": "Compared with people",
    "two judges": "Two judges at a time",
    "judge means": "By source",
    "self-preference": "Self-preference",
    "judge preference": "Shares of the pairs, both orders together",
    "judge bias": "Position and length bias",
}
_AT_THE_TOP = ("primary", "comparisons")
_NARROW = 6  # columns, up to which both dimensions are in one table
_ORDER = (*DIMENSIONS, "")


def page(material: ReportData, statistics: Statistics) -> str:
    """Return the complete page."""
    results = material.results
    title = material.names.anonymous(results.plan.name)
    about = (
        f"Blind scoring session {results.session}, closed. Created {results.drawn_at:%Y-%m-%d}, open from "
        f"{results.opened_at:%Y-%m-%d} to {results.closed_at:%Y-%m-%d} (UTC). Seed {results.plan.seed}."
    )
    rows = statistics.rows
    parts = {key: _numbers(key, part, statistics) for key, part in _PARTS.items()}
    written = {key: html for key, html in parts.items() if html}
    drawings = "".join(all_figures(material, statistics))
    found_prints = "" if material.fingerprints is None else fingerprint_tables(material.fingerprints)
    contents = {
        **({"figures": ("Figures", drawings)} if drawings else {}),
        "scored": ("What was scored", scored_traces(material)),
        "method": ("Method", method(material)),
        "exclusions": ("Exclusions", exclusions(material)),
        **({"fingerprints": ("Fingerprints of the sources", found_prints)} if found_prints else {}),
        **{key: (_PARTS[key].title, html) for key, html in written.items()},
        "definitions": ("Definitions", _definitions(rows)),
        "rubric": ("The rubric", rubric_text(results.rubric, results.questions)),
    }
    links = "".join(f'<li><a href="#{key}">{escape(name)}</a></li>' for key, (name, _) in contents.items())
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in summary(results, statistics))
    first = _section(
        "summary",
        "Result",
        f"{headline(statistics.claims)}<h3>Summary</h3><ul>{sentences}</ul><nav><ul>{links}</ul></nav>",
    )
    sections = [first, *(_section(key, name, html) for key, (name, html) in contents.items())]
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        policy=script_policy(), title=escape(title), about=escape(about), sections="\n".join(sections)
    )


def _section(key: str, title: str, html: str) -> str:
    return f'<section id="{key}"><h2>{escape(title)}</h2>\n{html}</section>'


def _numbers(key: str, part: _Part, statistics: Statistics) -> str:
    """Return a section's figures and tables; empty where the session has no such rows."""
    own = [row for row in statistics.rows if row.section in part.sections]
    if not own:
        return ""
    html = [f"<p>{escape(part.about)}</p>"]
    html += [judge_settings(statistics.judges)] if key == "judges" else []
    html += section_figures(key, own)
    for section in part.sections:
        of_section = [row for row in own if row.section == section]
        if not of_section:
            continue
        html += _tables(section, of_section)
    return "\n".join(html)


def _tables(section: str, rows: Sequence[Row]) -> Iterable[str]:
    """Yield a table of both dimensions if it is narrow, else one for each."""
    by_dimension: dict[str, list[Row]] = {}
    for row in rows:
        by_dimension.setdefault(row.dimension, []).append(row)
    columns = {(row.dimension, row.statistic) for row in rows}
    if len(by_dimension) > 1 and len(columns) <= _NARROW:
        yield _table(CAPTIONS[section], rows)
        return
    for dimension, own in by_dimension.items():
        title = TITLES.get(dimension, "")  # type: ignore[call-overload]
        yield _table(f"{CAPTIONS[section]}: {title.lower()}" if title else CAPTIONS[section], own)


def _table(caption: str, rows: Sequence[Row]) -> str:
    columns = sorted(
        dict.fromkeys((row.dimension, row.statistic) for row in rows), key=lambda key: _ORDER.index(key[0])
    )
    cells: dict[str, dict[tuple[str, str], Row]] = {}
    for row in rows:
        cells.setdefault(row.of, {})[row.dimension, row.statistic] = row
    dimensions = dict(Counter(dimension for dimension, _ in columns))
    groups = [(TITLES[dimension], n) for dimension, n in dimensions.items()] if len(dimensions) > 1 else []  # type: ignore[index]
    head = ["", *(name for _, name in columns)]
    body = (HtmlRow([_cell(given.get(column)) for column in columns], of) for of, given in cells.items())
    return html_table(head, body, caption, groups=groups)


def _cell(row: Row | None) -> Markup:
    if row is None:
        return Markup()
    estimate, n = row.estimate, f"n = {row.estimate.n} {row.n_of}"
    if (p := p_value(estimate)) is not None:
        n += f"; {p_text(p)}"
    if estimate.value is None:
        return Markup("undefined<small>{}; {}</small>").format(estimate.reason, n)
    value = Markup('<span class="value">{}</span>').format(two_decimals(estimate.value))
    if estimate.reason == DESCRIPTION:
        return value + Markup("<small>{}</small>").format(n)
    if estimate.low is None or estimate.high is None:
        return value + Markup("<small>no interval: {}; {}</small>").format(estimate.reason, n)
    more = f"; {estimate.reason}" if estimate.reason else ""
    ends = Markup('<span class="ends">({} to {})</span>').format(
        two_decimals(estimate.low), two_decimals(estimate.high)
    )
    return Markup("{} {}<small>{}{}</small>").format(value, ends, n, more)


@dataclass
class _Definition:
    """The statistics that have a definition, with their units and the populations of their intervals."""

    names: dict[str, None] = field(default_factory=dict)
    units: dict[str, None] = field(default_factory=dict)
    populations: dict[str, None] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        self.names[CAPTIONS[row.section].lower() if row.section == "by scorer" else row.statistic] = None
        self.units[row.unit] = None
        if where := row.population:
            self.populations[IN_WORDS.get(where, f"for {where}")] = None

    def facts(self, base: _Definition | None = None) -> str:
        """Return unit and population in words; the unit only if it is not that of the definition before."""
        unit = "" if base is not None and base.units == self.units else f"Unit: {' or '.join(self.units)}. "
        where = f"The interval holds {' or '.join(self.populations)}." if self.populations else ""
        return f"{unit}{where}".strip()


def _definitions(rows: Sequence[Row]) -> str:
    """Return each definition once, with every statistic that it defines, its unit and its population.

    A definition that continues another one stands below it, without the words that both have.
    """
    definitions: dict[str, _Definition] = {}
    # Most rows of the tables at the top have the definition of a row below.
    for row in sorted(rows, key=lambda row: row.section in _AT_THE_TOP):
        if row.section not in _AT_THE_TOP or row.estimate.definition not in definitions:
            definitions.setdefault(row.estimate.definition, _Definition()).add(row)
    longer = {
        text: base
        for text in definitions
        for base in [next((b for b in definitions if b != text and text.startswith(b)), None)]
        if base
    }
    entries = []
    for definition, own in definitions.items():
        if definition in longer:
            continue
        parts = [f"<dt>{escape(', '.join(own.names))}</dt><dd>{escape(f'{definition} {own.facts()}')}</dd>"]
        for other in (text for text, base in longer.items() if base == definition):
            names = "" if definitions[other].names == own.names else f"{', '.join(definitions[other].names)}: "
            more = f"{names}{other.removeprefix(definition).strip()} {definitions[other].facts(own)}".strip()
            parts.append(f"<dd>{escape(more)}</dd>")
        entries.append(f"<div>{''.join(parts)}</div>")
    return f"<dl>{''.join(entries)}</dl>"
