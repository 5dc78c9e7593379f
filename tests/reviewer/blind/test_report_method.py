"""Method and exclusions of a report in words: what they say follows from the plan and the answers."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from dataclasses import replace

from reviewer.blind.history import EarlierSession, SessionHistory, UnopenedSession
from reviewer.blind.plan import AnalysisPlan, Filter
from reviewer.blind.report.exclusions import exclusions
from reviewer.blind.report.method import ReportData, method, rubric_text
from reviewer.blind.report.names import report_names
from reviewer.blind.report.tables import session_json
from reviewer.blind.results import Results
from reviewer.blind.rubric import rubric
from tests.support.blind_results import START, A, B, gold, results, score, simulated, trace


def data(found: Results, **other: object) -> ReportData:
    values: dict[str, object] = {"barred": frozenset(), "pictures": {}} | other
    return ReportData(found, report_names(found, {}), **values)  # type: ignore[arg-type]


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def row(page: str, what: str) -> list[str]:
    """The cells of the table row that begins with these words."""
    found = re.findall(rf'<tr><th scope="row">{re.escape(html.escape(what))}</th>(.*?)</tr>', page)
    assert len(found) == 1, what
    return [html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", found[0])]


def with_plan(found: Results, **plan: object) -> Results:
    return replace(found, plan=replace(found.plan, **plan))  # type: ignore[arg-type]


def test_the_design_is_stated_as_the_plan_has_it() -> None:
    found = simulated(spectra=2, scorers=3)
    same = text_of(method(data(with_plan(found, strata=("survey", "label"), number=20, filter=Filter(snr_min=5)))))
    assert "stratified by task, survey and label, 20 per stratum" in same
    assert "compared on the same spectra. Only: S/N at least 5." in same
    assert "All traces of a spectrum were shown to the same 3 of 3 scorers" in same
    apart = text_of(method(data(with_plan(found, design="separate"))))
    assert "the sources may have different spectra" in apart
    assert "All traces of a spectrum" not in apart
    named = text_of(method(data(with_plan(found, items=(1, 2, 3)))))
    assert "The 3 items were named by the coordinator." in named
    assert "could get a trace again" in same
    assert "No scorer got a trace that they had seen" in text_of(method(data(with_plan(found, earlier="bar"))))
    assert "training item" not in same
    assert "began with the same 2 training items" in text_of(method(data(with_plan(found, training=(8, 9)))))


def test_what_scorers_saw_is_stated_with_its_numbers() -> None:
    found = results([trace(1, A, 1, reveals=True), trace(2, B, 1)], [score("RE", 1, 3, 3), score("RE", 2, 3, 3)])
    pictures = {A: Counter({"drawn anew": 4, "unchanged": 1}), B: Counter({"title removed": 2})}
    shown = data(found, pictures=pictures)
    words = text_of(method(shown))
    assert "1 of 2 traces (training and gold items included) have words that may reveal their author" in words
    assert "Of 7 pictures, 4 were drawn anew" in words
    assert "in 2 the title was replaced, and 1 were shown unchanged" in words
    assert row(exclusions(shown), "pictures: unchanged") == ["1", f"{A} 1"]
    assert row(exclusions(shown), "traces that may reveal their author")[0] == "1"


def test_the_analysis_plan_is_stated_in_full() -> None:
    plan = AnalysisPlan(
        dimension="coherence",
        first=B,
        second=A,
        margin=0.5,
        gold_within=0.6,
        without_revealing=True,
        stopping="after RE has finished",
    )
    found = with_plan(
        results([trace(1, A, 1), trace(2, B, 1)], [score("RE", 1, 3, 3), score("RE", 2, 3, 3)]), analysis=plan
    )
    page = method(data(found))
    assert "Analysis plan, frozen on 2026-01-05" in page
    assert row(page, "primary comparison") == [f"coherence: {B} less {A}"]
    assert row(page, "margin") == ["0.5 points"]
    assert "less than 60 % of their scores of gold items" in row(page, "exclusions from the primary analysis")[0]
    assert "traces that reveal their author are excluded" in row(page, "exclusions from the primary analysis")[0]
    assert row(page, "end of the session") == ["after S1 has finished"]
    default = method(data(with_plan(simulated(spectra=2, scorers=2, mode="both"), mode="pairs")))
    assert row(default, "primary comparison")[0].startswith(f"preference for {A} over {B} (the first two sources")
    assert row(default, "exclusions from the primary analysis") == ["none"]


def test_the_hash_of_the_analysis_plan_is_stated_with_what_was_logged() -> None:
    found = simulated(spectra=2, scorers=2)
    same = text_of(method(data(found, analysis_sha256="ab12", logged_sha256="ab12")))
    assert "SHA-256 ab12, logged when the session opened." in same
    other = text_of(method(data(found, analysis_sha256="ab12", logged_sha256="cd34")))
    assert "SHA-256 ab12. When the session opened, cd34 was logged" in other
    assert "none was logged" in text_of(method(data(found, analysis_sha256="ab12")))


def test_earlier_sessions_are_listed() -> None:
    found = results([trace(1, A, 1), trace(2, B, 1)], [score("RE", 1, 3, 3), score("AU", 2, 3, 3)])
    names = report_names(found, {}).scorers
    left = UnopenedSession(2, 5, START, None)
    history = SessionHistory(
        (left, replace(left, session=3, discarded=START)), (EarlierSession(1, START, 2, ("AU", "RE")),)
    )
    page = exclusions(data(found, history=history))
    assert "not opened: 2, of which 1 were closed without opening" in text_of(page)
    assert row(page, "1") == ["2026-01-05", "2", "S1, S2"]
    assert {names["RE"], names["AU"]} == {"S1", "S2"}
    alone = text_of(exclusions(data(found, history=SessionHistory((), ()))))
    assert "No earlier session showed these traces." in alone


def test_exclusions_are_counted() -> None:
    expected = gold(9, 5, 0)
    found = results(
        [trace(1, A, 1), trace(2, B, 1), trace(8, A, 2), trace(9, A, 3)],
        [
            score("RE", 8, 1, 1, training=True, exposed=True),
            score("RE", 9, 1, 5, gold=expected),
            score("RE", 1, 3, "cannot tell", exposed=True),
            score("RE", 2, 3, 3),
            score("AU", 8, 1, 1, training=True),
            score("AU", 1, 3, 3, answer=None),
        ],
        training=(8,),
        analysis=AnalysisPlan(gold_within=0.8),
    )
    page = exclusions(data(found, barred=frozenset({("AU", 2)})))
    assert row(page, "showings of training items") == ["2", "1 training item; in no result"]
    assert row(page, "showings of gold items")[0] == "1"
    assert row(page, "“cannot tell”, physical consistency")[0] == "1"
    assert row(page, "“cannot tell”, coherence")[0] == "0"
    assert row(page, "questions without an answer") == ["1", "of 3; they have no score"]
    assert row(page, "showings of traces seen in an earlier session")[0] == "1"
    assert row(page, "traces barred from a scorer")[0] == "1"
    names = report_names(found, {}).scorers
    assert row(page, names["RE"])[1] == "excluded"
    assert "1 of 2 scores of gold items within the tolerance" in row(page, names["RE"])[0]
    assert row(page, names["AU"]) == ["no scores of gold items, so not excluded by this rule", "kept"]
    # Without rules there is no table of scorers.
    assert "rules of the analysis plan" not in exclusions(data(with_plan(found, analysis=AnalysisPlan())))


def test_only_the_words_of_two_anchors_are_called_published() -> None:
    page = rubric_text(rubric(), {})
    assert page.count("published, quoted second-hand") == 4  # two of each dimension
    assert "meaning (ours)" in page


def test_the_session_file_has_the_analysis_plan_and_the_numbers_of_items_and_spectra() -> None:
    found = results(
        [trace(31, A, 5), trace(40, B, 5), trace(52, A, 4, survey="SDSS")],
        [score("RE", 52, 1, 1, training=True), score("RE", 31, 3, 3), score("RE", 40, 3, 3)],
        training=(52, 77),
        analysis=AnalysisPlan(margin=0.4, stopping="RE is done"),
    )
    file = json.loads(session_json(found, report_names(found, {}), {131: "a", 140: "b", 152: "c"}))
    assert [(one["item"], one["spectrum"], one["survey"]) for one in file["items"]] == [
        (1, 1, "LAMOST"),
        (2, 1, "LAMOST"),
        (3, 2, "SDSS"),
    ]
    assert file["plan"]["training"] == [3]  # the other one was shown to nobody
    assert file["plan"]["design"] == "same spectra"
    assert (file["plan"]["analysis"]["margin"], file["plan"]["analysis"]["stopping"]) == (0.4, "S1 is done")
    assert [one["training"] for one in file["orders"]["S1"]] == [True, False, False]
