"""The page of a report: its order, definitions, figures and tables at every width."""

from __future__ import annotations

import html
import re
from dataclasses import replace

from reviewer.blind.report.svg import BOLD, NARROW, WIDE, text_width

from agent.language import speaking
from agent.processes import one_thread
from reviewer.blind.report.claims import ORDINAL
from reviewer.blind.report.method import ReportData
from reviewer.blind.report.names import report_names
from reviewer.blind.report.page import page
from reviewer.blind.report.statistics import Row, all_statistics
from reviewer.blind.results import Results
from tests.support.blind_results import A, B, simulated


def page_of(found: Results) -> str:
    names = report_names(found, {})
    with one_thread():
        return page(ReportData(found, names, frozenset(), {}), all_statistics(found, names))


def test_the_page_begins_with_the_primary_comparison_and_has_each_definition_once() -> None:
    found = simulated(spectra=15, scorers=3, mode="both", margin=0.3)
    text = html.unescape(page_of(found))
    order = [
        text.index(words)
        for words in ("Primary comparison. Physical", "Other comparisons", "<h2>Figures", "<h2>Method")
    ]
    assert order == sorted(order)
    assert "for spectra and scorers like these" in text
    rows = all_statistics(found, report_names(found, {})).rows
    definitions = {row.estimate.definition for row in rows}
    continued = {one for one in definitions if any(one.startswith(other) for other in definitions - {one})}
    assert continued
    for definition in definitions - continued:
        assert text.count(f"<dd>{definition} Unit: ") == 1
    assert text.count("Mean over scorers; the interval is Student's t") == 2  # of drift, and of the second trace


def test_a_report_is_in_english_whatever_the_language_of_its_writer() -> None:
    found = simulated(spectra=12, scorers=3, mode="both")
    with speaking("zh"):
        chinese = page_of(found)
    assert not re.search("[\u4e00-\u9fff]", chinese)
    assert chinese == page_of(found)


def test_long_names_are_shortened_and_given_in_full_as_titles() -> None:
    long = "a model with a name that is much longer than any label of a figure, version 2026-05-01"
    found = simulated(spectra=12, scorers=3, mode="both")
    traces = {n: replace(one, source=long if one.source == A else B) for n, one in found.traces.items()}
    found = replace(found, traces=traces, plan=replace(found.plan, sources=(long, B)))
    drawings = re.findall(r"<svg.*?</svg>", page_of(found), re.DOTALL)
    assert drawings
    for text in re.findall(r"<text[^>]*>([^<]*)", "".join(drawings)):
        assert len(text) < 130
    assert any(f"<title>{long}</title>" in one for one in drawings)


def test_every_text_of_a_figure_is_inside_it_on_wide_and_on_narrow_screens() -> None:
    long = "a model with a name that is much longer than any label of a figure, version 2026-05-01"
    found = simulated(spectra=12, scorers=3, mode="both", unable=0.1, margin=0.3)
    traces = {n: replace(one, source=long if one.source == A else B) for n, one in found.traces.items()}
    page = page_of(replace(found, traces=traces, plan=replace(found.plan, sources=(long, B))))
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(figures) > 10
    assert all(one.count('class="wide-screen"') == one.count('class="narrow-screen"') == 1 for one in figures)
    widths = set()
    for size, drawing in re.findall(r'viewBox="0 0 (\d+) \d+"(.*?)</svg>', page, re.DOTALL):
        width = float(size)
        widths.add(width)
        for kind, x, words in re.findall(r'<text(?: class="([^"]*)")? x="([-.\d]+)" y="[-.\d]+">([^<]*)', drawing):
            wide = text_width(html.unescape(words)) * (BOLD if "strong" in kind else 1)
            left = float(x) - wide * (0.5 if "middle" in kind else "end" in kind)
            assert float(x) == 0 or (left > -6 and left + wide < width + 6), (size, words)
    assert widths == {WIDE, NARROW}
    ends = re.findall(r"<text[^>]*>(?:← )([^<]*)<|<text[^>]*>([^<]*) →<", page)
    assert len(ends) > 10
    last = {words.split()[-1] for pair in ends for words in pair if words}
    assert last <= {"higher", "preferred", "severe", "lenient"}  # only the name before it is shortened


def test_every_cell_has_the_head_of_its_column_for_narrow_screens() -> None:
    page = page_of(simulated(spectra=12, scorers=3, mode="both"))
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        heads = [name.rpartition(": ")[2] for name in re.findall(r'<th scope="col">([^<]*)</th>', table)]
        for row in re.findall(r'<tr[^>]*><th scope="row">.*?</tr>', table, re.DOTALL):
            own = re.findall(r'<td data-head="([^"]*)">', row)
            assert own
            assert [name.rpartition(": ")[2] for name in own] == heads[-len(own) :]


def test_units_and_populations_of_rows() -> None:
    found = simulated(spectra=12, scorers=3, mode="both")
    rows = {(row.section, row.statistic): row for row in all_statistics(found, report_names(found, {})).rows}
    assert rows["scores", "mean"].unit == "points of the scale from 0 to 5"
    assert rows["primary", ORDINAL].unit == rows["strength", "Davidson strength"].unit == "log odds"
    assert rows["preference", "equal"].unit == "share from 0 to 1"
    assert rows["order", "drift"].unit == "points of the scale from 0 to 5, per 10 places"
    assert rows["agreement", "Krippendorff's alpha"].n_of == "traces"
    pairs = simulated(spectra=12, scorers=3, mode="both")
    pairs = replace(pairs, plan=replace(pairs.plan, mode="pairs"))
    first = all_statistics(pairs, report_names(pairs, {})).rows[0]
    assert (first.section, first.unit) == ("primary", "share from 0 to 1")


def test_a_row_names_its_section_once() -> None:
    found = simulated(spectra=12, scorers=3, mode="both")
    rows: tuple[Row, ...] = all_statistics(found, report_names(found, {})).rows
    keys = [(row.section, row.of, row.dimension, row.statistic) for row in rows]
    assert len(set(keys)) == len(keys)
