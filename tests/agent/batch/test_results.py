"""The results of a batch: candidate table, consensus, report and labels."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from astropy.io import fits
from astropy.io.votable import parse_single_table
from astropy.io.votable.ucd import parse_ucd
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent import plot, table_files, tasks, tool
from agent.batch.candidates import (
    COLUMNS,
    Candidate,
    TableError,
    candidate,
    candidates_from,
    columns_for,
    ranked,
    write_table,
)
from agent.batch.journal import Journal
from agent.batch.labels import Labels, LabelsError
from agent.batch.report import bundle, escaped, markdown, picture_names, picture_sheet, pictures, quoted, sheet_pictures
from agent.batch.run import inspect_many, jobs_for
from agent.batch.sources import sources_from
from agent.consensus import DEFINITION, Consensus, Limits, consensus, to_json, typical_snr
from agent.hints import hints
from agent.loop import run
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.statistics import wilson
from agent.tasks import load
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Think, Zoom
from reviewer.exchange.imports import import_file, own_row
from reviewer.store import Store
from tests.support.strategies import trajectories as any_trajectory

CV = tasks.load()["cv"]
STAR = simulate("cv", "LAMOST", 30, 3)


def trace(verdict: str | None, explanation: str = "so", looks: int = 1, **other) -> Trajectory:
    zooms = [Zoom(f"z{n}", {"wavelength_range": [6500, 6600]}) for n in range(looks)]
    steps = (*zooms, Answer("s", verdict, explanation))
    return replace(Trajectory("cv", "?", STAR.name, STAR.sha256, steps, Drafter("model", "x")), **other)


def row(verdicts: str, file: str = "a.fits", spectrum=STAR, **other) -> Candidate:
    traces = [trace({"Y": "YES", "N": "NO", "-": None}[v]) for v in verdicts]
    found = consensus(traces, spectrum, CV)
    return replace(candidate(file, "", traces, spectrum, found), **other)


def order(*rows: Candidate) -> list[str]:
    return [candidate.file for candidate in ranked(rows)]


def test_the_surest_yes_comes_first_and_rows_for_a_person_last_without_a_rank():
    rows = [row("YN", "split"), row("NNN", "no"), row("YYN", "two"), row("YYY", "three"), row("Y", "one")]
    assert order(*rows) == ["three", "one", "two", "no", "split"]
    assert [candidate.rank for candidate in ranked(rows)] == [1, 2, 3, 4, None]
    assert order(row("YYY", "three"), row("YYYYY", "five")) == ["five", "three"]
    assert order(row("NNN", "sure"), row("NNNY", "doubtful")) == ["doubtful", "sure"]
    assert order(row("Y", "b", snr=10.0), row("Y", "a", snr=10.0), row("Y", "c", snr=40.0)) == ["c", "a", "b"]


@given(st.lists(st.text("YN-", min_size=1, max_size=6), max_size=8), st.randoms())
def test_the_order_does_not_depend_on_how_the_rows_come(verdicts, random):
    rows = [row(v, f"{n}.fits") for n, v in enumerate(verdicts)]
    shuffled = random.sample(rows, len(rows))
    assert ranked(rows) == ranked(shuffled)
    assert [found.rank for found in ranked(rows) if found.rank] == list(
        range(1, 1 + sum(found.verdict != "ASK" for found in rows))
    )


def test_a_row_summarises_its_samples():
    traces = [
        trace("NO", "dark", looks=0),
        trace("YES", "broad\n Hα", looks=3, faults=("turn 1: no <think> tags",)),
        trace("YES", "other", looks=2),
        trace("YES", "third", looks=1),
    ]
    spectrum = replace(STAR, ra=10.5, dec=-3.25)
    made = candidate("x.fits", "7", traces, spectrum, consensus(traces, spectrum, CV), seconds=(1.0, 2.0, 3.0, 5.0))
    assert (made.verdict, made.n, made.yes, made.no, made.none) == ("YES", 4, 3, 1, 0)
    assert (made.yes_fraction, made.zooms, made.faults, made.seconds) == (0.75, 1.5, 1, 2.75)
    assert made.explanation == "broad Hα"
    assert (made.ra, made.dec, made.survey) == (10.5, -3.25, "simulated LAMOST")
    assert made.lo < 0.75 < made.hi


def test_every_column_is_a_field_and_is_described():
    columns = columns_for(certified=True, cascade=True)
    assert [column.name for column in columns] == [field.name for field in fields(Candidate)][:-1]
    for column in columns:
        assert column.description
        parse_ucd(column.ucd, check_controlled_vocabulary=True)


ROWS = ranked(
    [
        row("YYY", "=cmd|' /C calc'!A0", explanation="Hα at 6563 Å, −3 σ", ra=150.1, dec=-2.5),
        row("NNN", "b.fits", explanation='with "quotes", commas\tand \x07 a bell', reasons="", snr=12.5),
        row("YN", "c.fits", explanation=" +1", snr=None),
    ]
)


def read(path: Path) -> Table:
    if path.suffix == ".fits":
        return Table.read(path)
    return parse_single_table(path).to_table()


def test_csv_keeps_numbers_as_numbers_and_no_text_is_a_formula(tmp_path):
    write_table(ROWS, tmp_path / "c.csv")
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        first, second, third = csv.DictReader(file)
    assert first["file"] == "'=cmd|' /C calc'!A0"
    assert third["explanation"] == "' +1"
    assert float(first["dec"]) == -2.5
    assert first["explanation"] == "Hα at 6563 Å, −3 σ"
    assert second["explanation"] == 'with "quotes", commas and   a bell'
    assert (second["ra"], third["rank"], third["snr"]) == ("", "", "")
    assert third["reasons"] == "The samples are split: 1 YES, 1 NO."


@pytest.mark.parametrize("name", ["c.vot", "c.xml", "c.fits"])
def test_tables_read_back_with_their_units_and_missing_values(tmp_path, name):
    write_table(ROWS, tmp_path / name)
    table = read(tmp_path / name)
    assert table.colnames == [column.name for column in COLUMNS]
    assert str(table["ra"].unit) == "deg"
    assert list(table["yes"]) == [3, 0, 1]
    assert [bool(np.ma.is_masked(rank)) for rank in table["rank"]] == [False, False, True]
    assert np.ma.is_masked(table["snr"][2]) or np.isnan(table["snr"][2])
    assert table["dec"][0] == -2.5
    assert str(table["verdict"][2]) == "ASK"


def test_a_parquet_table_has_types_nulls_and_descriptions(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "_ROWS", 2)
    write_table(ROWS, tmp_path / "c.parquet")
    table = pq.read_table(tmp_path / "c.parquet")
    assert table.column_names == [column.name for column in COLUMNS]
    assert table["rank"].to_pylist() == [1, 2, None]
    assert table["snr"].to_pylist()[1:] == [12.5, None]
    assert table["file"].to_pylist()[0] == "=cmd|' /C calc'!A0"
    about = table.schema.field("ra").metadata
    assert (about[b"unit"], about[b"ucd"]) == (b"deg", b"pos.eq.ra;meta.main")


def test_a_votable_describes_its_columns(tmp_path):
    write_table(ROWS, tmp_path / "c.vot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = parse_single_table(tmp_path / "c.vot", verify="exception")
    by_name = {field.name: field for field in table.fields}
    assert by_name["ra"].ucd == "pos.eq.ra;meta.main"
    assert by_name["lo"].description == "Lower end of its 68 % Wilson interval"
    assert "Wilson 1927" in table.description
    assert table.array["explanation"][0] == "Hα at 6563 Å, −3 σ"


def test_fits_describes_its_columns_in_ascii(tmp_path):
    write_table(ROWS, tmp_path / "c.fits")
    with fits.open(tmp_path / "c.fits") as file:
        file.verify("exception")
        header = file["CANDIDATES"].header
        number = next(n for n in range(1, 99) if header.get(f"TTYPE{n}") == "ra")
        assert (header[f"TUNIT{number}"], header[f"TUCD{number}"]) == ("deg", "pos.eq.ra;meta.main")
        assert file["CANDIDATES"].data["explanation"][0] == "Halpha at 6563 A, -3 sigma"


@pytest.mark.parametrize("name", ["c.csv", "c.parquet", "c.vot", "c.fits"])
def test_no_rows_make_an_empty_table(tmp_path, name):
    write_table([], tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "words"), [("c.docx", "ends in '.docx', expected .csv, .parquet, .vot"), ("no/c.csv", "no such folder")]
)
def test_a_table_that_cannot_be_written_is_refused(tmp_path, name, words):
    with pytest.raises(TableError, match=words):
        write_table(ROWS, tmp_path / name)


def test_results_are_counted_and_missing_or_changed_spectra_need_a_person(tmp_path):
    wavelength = np.linspace(3800.0, 9000.0, 800)
    for name in ("a", "b", "c"):
        lines = sum(80.0 * np.exp(-0.5 * ((wavelength - line) / 12.0) ** 2) for line in (6564.6, 4862.7))
        flux = 100.0 * (wavelength / 6000.0) ** -2 + lines
        Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(800, 0.04)}).write(tmp_path / f"{name}.csv")
    found = list(sources_from([str(tmp_path / f"{name}.csv") for name in "abc"], tmp_path))
    with Journal(tmp_path / "r.jsonl", {}) as journal:
        for outcome in inspect_many(jobs_for(found, 2), CV, lambda _: Baseline(), concurrency=2):
            journal.add(outcome)
        (tmp_path / "b.csv").unlink()
        Table.read(tmp_path / "c.csv")[:700].write(tmp_path / "c.csv", overwrite=True)
        rows = {row.file: row for row in candidates_from(journal.inspected(), tmp_path, CV, Limits())}
    assert rows["a.csv"].verdict in ("YES", "NO")
    assert rows["a.csv"].n == 2
    assert (rows["b.csv"].verdict, rows["c.csv"].verdict) == ("ASK", "ASK")
    assert rows["b.csv"].reasons.startswith("The spectrum can no longer be read: b.csv: found no file")
    assert rows["c.csv"].reasons == "The file differs from the one that was inspected."
    assert rows["b.csv"].yes + rows["b.csv"].no == 2
    assert all(row.seconds is not None and 0 < row.seconds < 60 for row in rows.values())


def trace_of_actions(*actions: object, spectrum: Spectrum = STAR) -> Trajectory:
    """A trace with a zoom for each window and an answer for each verdict, in the given order."""
    steps: list = []
    for action in actions:
        if isinstance(action, tuple):
            frame, z = ("rest", spectrum.redshift) if spectrum.redshift else ("observed", 0.0)
            arguments = {"wavelength_range": list(action), "label": f"around {sum(action) / 2:.0f}"}
            steps.append(Zoom(f"s{len(steps)}", arguments, frame, z, spectrum.medium))
        else:
            steps.append(Answer(f"s{len(steps)}", action))
    return Trajectory("cv", "?", spectrum.name, spectrum.sha256, tuple(steps), Drafter("model", "x"))


def vote(verdicts: str, spectrum: Spectrum = STAR, **limits: float) -> Consensus:
    """Y and N are answers, - a trace without one."""
    traces = {
        "Y": trace_of_actions((6500, 6600), "YES"),
        "N": trace_of_actions((6500, 6600), "NO"),
        "-": trace_of_actions((6500, 6600)),
    }
    return consensus([traces[v] for v in verdicts], spectrum, CV, Limits(**limits))


def test_samples_share_a_branch_while_their_windows_overlap_by_more_than_half():
    windows = [(6500, 6600), (6520, 6620), (6560, 6660), (6600, 6500), (6550, 6550), (6550, 6550)]
    branches = consensus([trace_of_actions(window, "YES") for window in windows], STAR, CV).paths
    assert [(branch.samples, branch.window) for branch in branches] == [
        ((3, 4, 5), None),  # windows that contain nothing
        ((0, 1), (6500, 6620)),
        ((2,), (6560, 6660)),
    ]
    assert [node.samples for node in branches[0].next] == [(3, 4, 5)]


def without_data(lo: float, hi: float) -> Spectrum:
    inside = (STAR.wavelength > lo) & (STAR.wavelength < hi)
    return replace(STAR, ivar=np.where(inside, 0.0, STAR.ivar))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("Y", "YES"),
        ("N", "NO"),
        ("YYN", "YES"),
        ("NNNNY", "NO"),
        ("YN", None),
        ("Y-", None),
        ("YYYNN", None),
        ("YYY--", None),
        ("-", None),
        ("", None),
    ],
)
def test_two_thirds_of_all_samples_decide_and_less_needs_a_person(verdicts, expected):
    found = vote(verdicts)
    assert found.verdict == expected
    assert found.needs_person == (expected is None) == bool(found.reasons)
    assert (found.yes, found.no, found.none) == tuple(verdicts.count(v) for v in "YN-")


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        ("-", "No answer from 1 sample."),
        ("", "There are no samples."),
        ("YNYN-", "The samples are split: 2 YES, 2 NO, 1 without an answer."),
        (
            "YYYN-",
            "The majority is too small: 60 % of 5 samples say YES (3 YES, 1 NO, 1 without an answer); expected 67 %.",
        ),
    ],
)
def test_a_thin_majority_is_reported_with_its_numbers(verdicts, sentence):
    assert vote(verdicts).reasons == (sentence,)


def test_the_required_majority_is_a_setting():
    assert vote("YYYYN", majority=0.9).needs_person
    assert vote("YYN-", majority=0.5).verdict == "YES"
    assert vote("YN", majority=0.5).needs_person


@pytest.mark.parametrize(
    "wrong", [{"majority": 0.0}, {"majority": 1.1}, {"snr": math.nan}, {"coverage": 2}, {"margin": -1}]
)
def test_limits_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))}: found .* expected"):
        Limits(**wrong)


def scored(*scores: float | None) -> list[Trajectory]:
    traces = [trace("YES" if score and score > 0 else "NO") for score in scores]
    answers = [replace(t.steps[-1], score=score) for t, score in zip(traces, scores, strict=True)]
    return [replace(t, steps=(*t.steps[:-1], answer)) for t, answer in zip(traces, answers, strict=True)]


def test_scores_within_the_margin_need_a_person_and_are_in_the_table():
    found = consensus(scored(-0.4), STAR, CV)
    assert (found.verdict, found.leaning, found.score) == (None, "NO", -0.4)
    assert found.reasons == ("A narrow NO: the log odds of YES are −0.4; expected ±1 or beyond.",)
    assert all(consensus(scored(-0.4), STAR, CV, Limits(margin=at)).verdict == "NO" for at in (0.3, 0.4))
    assert consensus(scored(1.5, 2.5), STAR, CV).verdict == "YES"
    assert consensus(scored(1.5, 2.5), STAR, CV).score == 2.0
    found = consensus(scored(None), STAR, CV)
    assert (found.score, found.verdict) == (None, "NO")
    assert to_json(found)["score"] is None
    rows = [candidate(f"{s}", "", t, STAR, consensus(t, STAR, CV)) for s in (1.2, 3.4, -5.0) for t in [scored(s)]]
    assert [row.score for row in rows] == [1.2, 3.4, -5.0]
    assert order(*rows) == ["3.4", "1.2", "-5.0"]
    assert row("Y").score is None


def test_data_that_allow_no_judgement_need_a_person():
    noisy = simulate("cv", "LAMOST", 1.5, 3)
    found = vote("YYYYY", noisy)
    assert (found.verdict, found.leaning) == (None, "YES")
    assert found.reasons == (f"S/N {typical_snr(noisy):.1f} per pixel (median of the spectrum); expected 3 or more.",)
    assert vote("YYYYY", noisy, snr=0.5).verdict == "YES"
    wavelength = np.arange(3600.0, 9300.0, 80.0)
    found = vote("Y", Spectrum(wavelength, np.ones_like(wavelength), np.full_like(wavelength, 1e4)))
    assert "Sampled every 80 Å, so lines cannot be judged; expected 15 Å or less." in found.reasons
    assert vote("Y", replace(STAR, snr={"r": 0.1})).verdict == "YES"
    assert vote("Y", replace(STAR, ivar=STAR.ivar / 1e4, snr={"r": 100.0})).needs_person
    found = vote("Y", replace(STAR, ivar=np.zeros(len(STAR))))
    assert found.snr is None
    assert "S/N undefined: no data in 3700–9099 Å." in found.reasons


def test_a_draft_marked_cannot_tell_needs_a_person_and_says_why():
    marked = trace("NO", cannot_tell="no primary feature can be measured: Hα (no data)")
    found = consensus([marked, trace("NO"), trace("NO")], STAR, CV)
    assert found.verdict is None
    assert "The policy cannot tell: no primary feature can be measured: Hα (no data)." in found.reasons
    # A mark on a sample of the minority changes nothing.
    assert consensus([replace(marked, steps=trace("YES").steps), *[trace("NO")] * 3], STAR, CV).verdict == "NO"


def test_a_primary_feature_without_valid_pixels_needs_a_person_and_is_named():
    found = vote("YYYYY", without_data(6500, 6630))
    assert found.reasons == (
        "Hα emission and Hα breadth: 0 % of 6517–6612 Å (rest frame, vacuum) has data; expected 50 %.",
    )
    assert vote("YYYYY", without_data(5850, 5900)).verdict == "YES"  # He I is secondary
    assert vote("YYYYY", without_data(6500, 6540)).verdict == "YES"
    red = STAR.wavelength > 5500
    cut = Spectrum(STAR.wavelength[red], STAR.flux[red], STAR.ivar[red])
    (reason,) = vote("YYYYY", cut).reasons
    assert reason.startswith("Hβ emission and Hβ absorption: 0 % of 4821–4904 Å")
    far = replace(STAR, redshift=0.8)
    names = [reason.partition(":")[0] for reason in vote("NNN", far).reasons]
    assert names == ["Hα emission and Hα breadth"]


def test_answers_after_a_zoom_without_data_do_not_count():
    blind, valid = (
        trace_of_actions((6500, 6600), (9500, 9600), "YES"),
        trace_of_actions((9500, 9600), (6500, 6600), "YES"),
    )
    assert consensus([valid], STAR, CV).verdict == "YES"
    assert consensus([blind], STAR, CV).reasons == (
        "1 of 1 YES answers followed a zoom where the spectrum has no data (9500–9600 Å observed).",
    )
    assert consensus([valid, valid, blind], STAR, CV).verdict == "YES"
    assert consensus([valid, blind, blind], STAR, CV).needs_person


def test_a_zoom_on_dead_pixels_counts_as_no_data_in_the_rest_frame_too():
    dead = replace(without_data(7000, 7300), redshift=0.05)
    assert consensus([trace_of_actions((6700, 6900), "NO", spectrum=dead)], dead, CV).needs_person
    assert consensus([trace_of_actions((7000, 7300), "NO", spectrum=dead)], dead, CV).verdict == "NO"


def test_the_interval_is_the_wilson_interval_of_the_samples_with_an_answer():
    # Values of the closed form solved by hand: |p - x| = sqrt(x (1 - x) / n) at both ends.
    assert vote("--").interval is None
    for yes, n in ((0, 1), (1, 1), (3, 4), (5, 8), (40, 64)):
        for end in wilson(yes / n, n, z=1.0):
            assert abs(yes / n - end) == pytest.approx(math.sqrt(end * (1 - end) / n), abs=1e-12)
    assert wilson(1.0, 5, z=1.0) == (pytest.approx(5 / 6), 1.0)
    found = vote("YYYN-")
    assert found.yes_fraction == 0.75
    assert found.interval == wilson(3 / 4, 4, z=1.0)
    assert vote("--").yes_fraction is None


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_interval_holds_the_fraction_and_stays_within_0_and_1(yes, no):
    if yes + no:
        interval = wilson(yes / (yes + no), yes + no, z=1.0)
        assert 0 <= interval[0] <= yes / (yes + no) <= interval[1] <= 1
        assert interval[0] < interval[1]


def test_identical_samples_are_one_path():
    found = consensus([trace_of_actions((6500, 6600), (4800, 4900), "YES")] * 3, STAR, CV)
    assert found.parts_at is None
    (first,) = found.paths
    (second,) = first.next
    (answer,) = second.next
    assert [n.samples for n in (first, second, answer)] == [(0, 1, 2)] * 3
    assert (answer.what, answer.verdict, answer.turn, answer.next) == ("answer", "YES", 3, ())


def test_traces_split_where_their_windows_or_answers_differ():
    alike, other = trace_of_actions((6510, 6610), "YES"), trace_of_actions((6575, 6675), "YES")
    found = consensus([trace_of_actions((6500, 6600), "YES"), alike, other], STAR, CV)
    assert found.parts_at == 1
    assert [(n.samples, n.window) for n in found.paths] == [((0, 1), (6500, 6610)), ((2,), (6575, 6675))]
    assert vote("YYN").parts_at == 2


def test_traces_split_at_the_turn_where_one_answers_and_another_zooms_or_stops():
    first = (6500, 6600)
    found = consensus(
        [trace_of_actions(first, "YES"), trace_of_actions(first, (4800, 4900), "YES"), trace_of_actions(first)],
        STAR,
        CV,
    )
    assert found.parts_at == 2
    assert [n.what for n in found.paths[0].next] == ["answer", "look", "nothing"]


def test_windows_of_the_rest_frame_are_shown_as_observed():
    moved = replace(STAR, redshift=0.1)
    (node,) = consensus([trace_of_actions((6500, 6600), "YES", spectrum=moved)], moved, CV).paths
    assert node.window == pytest.approx((7150, 7260))


@given(st.lists(any_trajectory(), max_size=4))
def test_any_traces_give_one_path_each_and_valid_json(traces):
    form = json.loads(json.dumps(to_json(consensus(traces, STAR, CV)), allow_nan=False))
    for sample, trajectory in enumerate(traces):
        path = [n for n in nodes(form["paths"]) if sample in n["samples"]]
        assert [n["turn"] for n in path] == list(range(1, len(path) + 1))
        assert [n["what"] for n in path] == ["look"] * len(trajectory.zooms) + ["answer"]
        assert path[-1]["verdict"] == trajectory.answer.verdict
        assert path[-1]["next"] == [] or len(path[-1]["samples"]) > 1


def nodes(tree: list) -> Iterator[dict]:
    for node in tree:
        yield node
        yield from nodes(node["next"])


def test_the_json_form_names_its_numbers():
    form = to_json(vote("YYYN-"))
    assert {k: form[k] for k in ("samples", "yes", "no", "none", "verdict", "ask", "leaning")} == {
        "samples": 5,
        "yes": 3,
        "no": 1,
        "none": 1,
        "verdict": None,
        "ask": True,
        "leaning": "YES",
    }
    assert form["definition"] == DEFINITION
    assert set(form["paths"][0]) == {"turn", "samples", "what", "window", "label", "verdict", "next"}


def test_a_thought_without_an_action_is_no_answer():
    thinking = replace(trace_of_actions(), steps=(Think("s1", "Hm."),))
    assert consensus([thinking], STAR, CV).paths[0].what == "nothing"


SPECTRUM = simulate("cv", "LAMOST", 25.0, 1)
TASK = load()["cv"]
TRACE = run(SPECTRUM, TASK, Baseline())

NASTY = (
    "<script>alert(1)</script>",
    "![a](http://evil.example/p.png)",
    "[a](javascript:alert(1))",
    "<http://evil.example>",
    "http://evil.example and www.evil.example and a@evil.example",
    "12. list",
    "```\ncode",
    "---",
    "a | b\n--- | ---",
    "&lt;b&gt; &#60;",
    "*a* _b_ ~~c~~ `d` $e$",
    "\\<b>",
    "a\x00b\x1b[31mc\u202ed",
)


def trace_with_words(words: str, **more: str) -> Trajectory:
    """The trace with these words in every field that can hold text of other people or of a model."""
    steps = []
    for step in TRACE.steps:
        if isinstance(step, Think):
            steps.append(replace(step, text=words))
        elif isinstance(step, Zoom):
            steps.append(replace(step, arguments={**step.arguments, "label": words}))
        else:
            steps.append(replace(step, explanation=words))
    drafter = Drafter("model", words, {"note": words, "many": [words]})
    return replace(
        TRACE, steps=tuple(steps), drafter=drafter, prompt=words, task=words, faults=(words,), spectrum_name=words
    )


def tokens(text: str) -> list[object]:
    """Every token that a Markdown parser finds in the text, including inline tokens."""
    markdown_it = pytest.importorskip("markdown_it")
    reader = markdown_it.MarkdownIt("gfm-like", {"linkify": False})
    found = []
    for token in reader.parse(text):
        found += [token, *(token.children or ())]
    return found


def visible_text(text: str) -> str:
    """The text that a reader sees."""
    return "".join(t.content if t.type == "text" else "\n" if "break" in t.type else "" for t in tokens(text))


def test_the_overview_is_on_the_sheet_pixel_for_pixel():
    sheet = picture_sheet(TRACE, SPECTRUM)
    drawn = tool.overview(SPECTRUM).convert("RGB")
    top = next(y for y in range(sheet.height) if sheet.crop((24, y, 24 + drawn.width, y + drawn.height)) == drawn)
    assert top > 0
    assert sheet.getpixel((0, 0)) == (255, 255, 255)
    assert sheet.width <= 2480


def test_the_sheet_from_given_pictures_equals_the_one_drawn_again():
    drawn = pictures(TRACE, SPECTRUM)
    packed = {}
    for sha256, image in drawn.items():
        buffer = io.BytesIO()
        image.save(buffer, format="PNG")
        packed[sha256] = buffer.getvalue()
    assert picture_sheet(TRACE, SPECTRUM, packed).tobytes() == picture_sheet(TRACE, SPECTRUM).tobytes()


def test_a_picture_with_a_different_hash_is_left_out():
    other = replace(TRACE, overview="0" * 64)
    assert set(pictures(other, SPECTRUM)) == set(pictures(TRACE, SPECTRUM)) - {TRACE.overview}
    assert picture_sheet(other, SPECTRUM).height <= picture_sheet(TRACE, SPECTRUM).height


def test_pictures_are_numbered_in_reading_order_and_a_repeated_one_has_one_name():
    assert [picture.number for picture in sheet_pictures(TRACE)] == list(range(1, len(TRACE.zooms) + 2))
    twice = TRACE.with_steps((*TRACE.steps[:2], *TRACE.steps))
    names = picture_names(twice)
    assert names[TRACE.overview] == "pictures/01-full.png"
    assert len(names) == len(picture_names(TRACE))


def test_the_report_names_the_policy_and_the_object():
    found = {zoom.id: hints(SPECTRUM, zoom, TASK) for zoom in TRACE.zooms}
    text = markdown(TRACE, SPECTRUM, found, picture_names(TRACE))
    words = visible_text(text)
    assert "Simulated spectrum" in words
    assert "no model" in words
    assert f"{SPECTRUM.wavelength[0]:.1f}" in words
    assert SPECTRUM.sha256 in words
    assert plot.RENDERER in words
    for step in TRACE.steps:
        if isinstance(step, Think):
            assert all(line.strip() in words for line in step.text.split("\n"))
    for several in found.values():
        for hint in several:
            assert hint.text in words
    assert [t.attrs["src"] for t in tokens(text) if t.type == "image"] == list(picture_names(TRACE).values())


def test_a_trace_without_an_answer_or_a_picture_is_reported_too():
    bare = replace(TRACE, steps=(), overview=None, faults=("turn 1: nothing was written",), simulated=False)
    text = markdown(bare, replace(SPECTRUM, ra=None, dec=None, redshift=None))
    assert "none was given" in text
    assert "nothing was written" in text
    assert "Simulated" not in text
    assert picture_sheet(bare, SPECTRUM).size[0] == 800


def test_a_tool_that_refused_is_quoted():
    zoom = Zoom("s1", {"wavelength_range": [1, 2]}, observation="Error: <outside>", ok=False)
    text = visible_text(markdown(TRACE.with_steps((zoom, Answer("s2", None, "x"))), SPECTRUM))
    assert "The tool answered: Error: <outside>" in text
    assert "neither YES nor NO" in text


def test_foreign_text_is_only_text_in_the_report():
    harmless = {token.type for token in tokens(markdown(trace_with_words("plain words"), SPECTRUM))}
    harmless |= {"softbreak", "hardbreak"}
    for words in NASTY:
        foreign = replace(SPECTRUM, name=words, survey=words, ids={words: words})
        assert {token.type for token in tokens(markdown(trace_with_words(words), foreign))} <= harmless


VISIBLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))


@given(VISIBLE)
def test_an_escaped_line_is_rendered_as_it_was_written(words):
    assert visible_text(escaped(words)) == re.sub(" +", " ", words).strip()


@given(st.lists(VISIBLE.map(str.strip).filter(bool), min_size=1))
def test_quoted_lines_are_rendered_as_they_were_written(lines):
    assert visible_text(quoted("\n".join(lines))) == "\n".join(lines)


def test_a_lone_surrogate_is_replaced():
    assert quoted("half \ud800") == "> half ?"


@given(st.text())
def test_no_text_makes_markup(words):
    for text in (escaped(words), quoted(words)):
        types = {token.type for token in tokens(text)}
        assert types <= {
            *("inline", "text", "text_special", "softbreak", "hardbreak"),
            *("paragraph_open", "paragraph_close", "blockquote_open", "blockquote_close"),
        }
        text.encode()


def test_a_long_label_fits_on_the_sheet():
    words = "a\x00b\x1b[31mc\u202ed | e\n" * 50
    assert picture_sheet(trace_with_words(words), replace(SPECTRUM, name=words)).width <= 2480


def test_the_zip_holds_everything_and_its_trace_can_be_imported(tmp_path):
    found = {zoom.id: hints(SPECTRUM, zoom, TASK) for zoom in TRACE.zooms}
    content = bundle(TRACE, SPECTRUM, own_row(TRACE, SPECTRUM), found)
    packed = zipfile.ZipFile(io.BytesIO(content))
    assert packed.testzip() is None
    names = picture_names(TRACE)
    assert set(packed.namelist()) == {"report.md", "trace.json", *names.values()}
    for sha256, name in names.items():
        assert plot.pixels_sha256(Image.open(io.BytesIO(packed.read(name)))) == sha256
    assert Trajectory.from_json(json.loads(packed.read("trace.json"))) == TRACE
    packed.extract("trace.json", tmp_path)
    with Store.open(tmp_path / "annotations.db") as store:
        imported = import_file(store, tmp_path / "trace.json")
        assert (len(imported.added), imported.problems) == (1, ())
        assert store.items.get(imported.added[0]).version.trajectory == TRACE


TASKS = {"cv": True, "Cataclysmic": True, "wd": False}


def labels(folder: Path, text: str) -> Labels:
    path = folder / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return Labels.read(path, TASKS.get)


def test_a_label_may_be_written_in_several_ways(tmp_path):
    words = {"YES": "YES", "no": "NO", "1": "YES", "0": "NO", "True": "YES", "false": "NO", " Yes ": "YES"}
    answers = labels(tmp_path, "file,label\n" + "".join(f"{n}.fits,{word}\n" for n, word in enumerate(words)))
    assert [answers.of(f"{n}.fits") for n in range(7)] == list(words.values())


@pytest.mark.parametrize(("column", "separator"), [("file", ","), ("name", ";"), (" PATH ", "\t")])
def test_the_file_is_named_in_any_of_three_columns_and_matched_by_its_base_name(tmp_path, column, separator):
    found = labels(tmp_path, f"\ufeff{column}{separator}label\nplates/56414/a.fits{separator}YES\n")
    assert found.of("a.fits") == "YES"
    assert found.of("A.fits") is None
    assert found.source == "labels.csv"


def test_a_label_belongs_to_a_target_or_to_its_file(tmp_path):
    found = labels(tmp_path, "file,target,label\nb.fits,39628,YES\nb.fits,,NO\nc.fits,7,YES\n")
    assert (found.of("b.fits", "39628"), found.of("b.fits", "1")) == ("YES", "NO")
    assert (found.of("c.fits", "8"), found.of("c.fits")) == (None, None)
    assert found.unused == ["c.fits#7"]
    assert labels(tmp_path, "path,label\nC:\\plates\\a.fits,NO\n").of("a.fits") == "NO"
    assert len(labels(tmp_path, "file,label\na.fits,1\nother/a.fits,yes\n")) == 1


def test_rows_of_other_classes_are_skipped_and_unused_ones_listed_in_order(tmp_path):
    found = labels(tmp_path, "file,label,task\na.fits,1,cv\nb.fits,1,wd\na.fits,0,wd\nc.fits,0,Cataclysmic\n")
    assert [found.of(name) for name in ("a.fits", "b.fits", "c.fits")] == ["YES", None, "NO"]
    assert len(found) == 2
    found = labels(tmp_path, "file,label\nc.fits,1\na.fits,0\n\nb.fits,1\n")
    found.of("a.fits")
    assert found.unused == ["c.fits", "b.fits"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file,label\na.fits,maybe\n", "labels.csv: row 2: label: found 'maybe', expected YES or NO"),
        ("file,label\na.fits\n", "labels.csv: row 2: label: found '', expected YES or NO"),
        ("file,label\na.fits,1\n,1\n", "labels.csv: row 3: file: found nothing, expected a file's name"),
        ("name,label,task\na.fits,1,quasar\n", "row 2: task: found 'quasar', expected a class that is known"),
        ("star,label\na,1\n", "row 1: found the columns star, label; expected file (or name, path) and label"),
        ("file\na.fits\n", "row 1: found the columns file; expected"),
        ("", "row 1: found the columns none; expected"),
        ("file,label\na.fits,1\nx/a.fits,0\n", "row 3: label: found NO for a.fits, which row 2 calls YES"),
    ],
)
def test_a_problem_is_reported_with_its_row_and_column(tmp_path, text, words):
    with pytest.raises(LabelsError) as refused:
        labels(tmp_path, text)
    assert words in str(refused.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(LabelsError, match=r"none\.csv"):
        Labels.read(tmp_path / "none.csv", TASKS.get)
    (tmp_path / "bytes.csv").write_bytes(b"file,label\n\xff\xfe,1\n")
    with pytest.raises(LabelsError, match=r"bytes\.csv: found no text"):
        Labels.read(tmp_path / "bytes.csv", TASKS.get)


@given(st.text(max_size=200))
def test_any_file_gives_labels_or_a_refusal(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(("file,label\n" + text).encode(errors="replace"))
    try:
        found = Labels.read(path, TASKS.get)
    except LabelsError:
        return
    assert all(found.of(name) in ("YES", "NO") for name in found.unused)
