"""The page of a report: its order, definitions, figures and tables at every width."""

from __future__ import annotations

import html
import itertools
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from agent.language import speaking
from agent.processes import one_thread
from reviewer.blind.report.claims import ORDINAL
from reviewer.blind.report.method import ReportData
from reviewer.blind.report.names import report_names
from reviewer.blind.report.page import page
from reviewer.blind.report.statistics import all_statistics
from reviewer.blind.results import Results
from tests.support.blind_results import A, B, simulated


def page_of(found: Results) -> str:
    names = report_names(found, {})
    with one_thread():
        return page(ReportData(found, names, frozenset(), {}), all_statistics(found, names))


@pytest.fixture(scope="module")
def session() -> Results:
    return simulated(spectra=12, scorers=3, mode="both", margin=0.3)


@pytest.fixture(scope="module")
def session_page(session: Results) -> str:
    return page_of(session)


def test_the_page_begins_with_the_primary_comparison_and_has_each_definition_once(session, session_page) -> None:
    text = html.unescape(session_page)
    order = [
        text.index(words)
        for words in ("Primary comparison. Physical", "Other comparisons", "<h2>Figures", "<h2>Method")
    ]
    assert order == sorted(order)
    assert "for spectra and scorers like these" in text
    rows = all_statistics(session, report_names(session, {})).rows
    definitions = {row.estimate.definition for row in rows}
    continued = {one for one in definitions if any(one.startswith(other) for other in definitions - {one})}
    assert continued
    for definition in definitions - continued:
        assert text.count(f"<dd>{definition} Unit: ") == 1
    assert text.count("Mean over scorers; the interval is Student's t") == 2  # of drift, and of the second trace


def test_a_report_is_in_english_whatever_the_language_of_its_writer(session, session_page) -> None:
    with speaking("zh"):
        chinese = page_of(session)
    assert not re.search("[\u4e00-\u9fff]", chinese)
    assert chinese == session_page


LONG = "a model with a name that is much longer than any label of a figure, <b>version</b> 2026-05-01"


def named(found: Results, first: str, second: str) -> Results:
    """The same results with other names of the sources."""
    names = {A: first, B: second}
    traces = {n: replace(trace, source=names[trace.source]) for n, trace in found.traces.items()}
    return replace(found, traces=traces, plan=replace(found.plan, sources=tuple(names.values())))


def figures_of(page: str) -> list[dict[str, Any]]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def texts_of(figure: dict[str, Any]) -> list[str]:
    """Every text of a figure that has names in it, as plotly gets it: with line breaks and bold parts."""
    notes = [note["text"] for note in figure["layout"].get("annotations", [])]
    return notes + [data["name"] for data in figure["data"] if "name" in data]


def test_names_are_whole_in_lines_that_fit_and_are_no_markup() -> None:
    chinese = "兴隆观测站的视觉语言模型，第二版，经过人工修订的训练，二〇二六年五月一日发布"
    found = simulated(spectra=12, scorers=3, mode="both", unable=0.1, margin=0.3)
    page = page_of(named(found, LONG, chinese))
    figures = figures_of(page)
    assert len(figures) > 10
    with_name = {LONG: 0, chinese: 0}
    for text in itertools.chain.from_iterable(map(texts_of, figures)):
        lines = [html.unescape(line) for line in re.sub("</?b>", "", text).split("<br>")]
        assert all(len(line) <= (25 if max(line) > "\u2e7f" else 50) for line in lines), lines
        for name in with_name:
            with_name[name] += name.replace(" ", "") in "".join(lines).replace(" ", "")
    assert min(with_name.values()) > 8
    assert "\\u003cb>version" not in page


def test_the_figures_have_the_numbers_of_the_tables(session_page) -> None:
    words = "\n".join(itertools.chain.from_iterable(map(texts_of, figures_of(session_page)))).replace("<br>", " ")
    primary = re.search(r"Primary analysis: ([\u2212.\d]+) \(([\u2212.\d]+) to ([\u2212.\d]+)\)", words)
    value, low, high = primary.groups()
    assert f'<span class="value">{value}</span> ({low} to {high})' in session_page


def test_every_cell_has_the_head_of_its_column_for_narrow_screens(session_page) -> None:
    for table in re.findall(r"<table.*?</table>", session_page, re.DOTALL):
        heads = [name.rpartition(": ")[2] for name in re.findall(r'<th scope="col">([^<]*)</th>', table)]
        for row in re.findall(r'<tr[^>]*><th scope="row">.*?</tr>', table, re.DOTALL):
            own = re.findall(r'<td data-head="([^"]*)">', row)
            assert own
            assert [name.rpartition(": ")[2] for name in own] == heads[-len(own) :]


def test_units_and_populations_of_rows(session) -> None:
    all_rows = all_statistics(session, report_names(session, {})).rows
    keys = [(row.section, row.of, row.dimension, row.statistic) for row in all_rows]
    assert len(set(keys)) == len(keys)
    rows = {(row.section, row.statistic): row for row in all_rows}
    assert rows["scores", "mean"].unit == "points of the scale from 0 to 5"
    assert rows["primary", ORDINAL].unit == rows["strength", "Davidson strength"].unit == "log odds"
    assert rows["preference", "equal"].unit == "share from 0 to 1"
    assert rows["order", "drift"].unit == "points of the scale from 0 to 5, per 10 places"
    assert rows["agreement", "Krippendorff's alpha"].n_of == "traces"
    pairs = replace(session, plan=replace(session.plan, mode="pairs"))
    first = all_statistics(pairs, report_names(pairs, {})).rows[0]
    assert (first.section, first.unit) == ("primary", "share from 0 to 1")
