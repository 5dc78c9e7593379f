"""The summary table: its order, its columns, and what other programs read of it."""

import csv
import warnings
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from astropy.io.votable import parse_single_table
from astropy.io.votable.ucd import parse_ucd
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st

from agent import tasks
from agent.batch.candidates import COLUMNS, Candidate, TableError, candidate, candidates_of, ranked, write
from agent.batch.consensus import Limits, consensus
from agent.batch.journal import Inspected, Journal
from agent.batch.run import inspect_many, jobs_of
from agent.batch.sources import files
from agent.policies.baseline.rule import Baseline
from agent.simulate import simulate
from agent.trajectory import Drafter, Trajectory
from agent.trajectory.steps import Answer, Zoom

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
    return [one.file for one in ranked(rows)]


def test_the_surest_yes_comes_first_and_what_a_person_is_asked_comes_last_without_a_rank():
    rows = [row("YN", "split"), row("NNN", "no"), row("YYN", "two"), row("YYY", "three"), row("Y", "one")]
    assert order(*rows) == ["three", "one", "two", "no", "split"]
    assert [one.rank for one in ranked(rows)] == [1, 2, 3, 4, None]


def test_more_samples_that_agree_are_surer():
    assert order(row("YYY", "three"), row("YYYYY", "five")) == ["five", "three"]


def test_a_doubtful_no_comes_before_a_sure_one():
    assert order(row("NNN", "sure"), row("NNNY", "doubtful")) == ["doubtful", "sure"]


def test_of_equals_the_better_data_come_first_then_the_name():
    assert order(row("Y", "b", snr=10.0), row("Y", "a", snr=10.0), row("Y", "c", snr=40.0)) == ["c", "a", "b"]


@given(st.lists(st.text("YN-", min_size=1, max_size=6), max_size=8), st.randoms())
def test_the_order_does_not_depend_on_how_the_rows_come(verdicts, random):
    rows = [row(v, f"{n}.fits") for n, v in enumerate(verdicts)]
    shuffled = random.sample(rows, len(rows))
    assert ranked(rows) == ranked(shuffled)
    assert [one.rank for one in ranked(rows) if one.rank] == list(
        range(1, 1 + sum(one.verdict != "ASK" for one in rows))
    )


def test_a_row_says_what_the_samples_came_to():
    traces = [
        trace("NO", "dark", looks=0),
        trace("YES", "broad\n Hα", looks=3, faults=("turn 1: no <think> tags",)),
        trace("YES", "other", looks=2),
        trace("YES", "third", looks=1),
    ]
    spectrum = replace(STAR, ra=10.5, dec=-3.25)
    made = candidate("x.fits", "7", traces, spectrum, consensus(traces, spectrum, CV))
    assert (made.verdict, made.n, made.yes, made.no, made.none) == ("YES", 4, 3, 1, 0)
    assert (made.yes_fraction, made.looks, made.faults) == (0.75, 1.5, 1)
    assert made.explanation == "broad Hα"
    assert (made.ra, made.dec, made.survey) == (10.5, -3.25, "simulated LAMOST")
    assert made.lo < 0.75 < made.hi


def test_every_column_is_a_field_and_is_described():
    assert [column.name for column in COLUMNS] == [field.name for field in fields(Candidate)]
    assert all(column.description for column in COLUMNS)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: c.name)
def test_ucds_are_of_the_ivoas_vocabulary(column):
    parse_ucd(column.ucd, check_controlled_vocabulary=True)


ROWS = ranked(
    [
        row("YYY", "=cmd|' /C calc'!A0", explanation="Hα at 6563 Å, −3 σ", ra=150.1, dec=-2.5),
        row("NNN", "b.fits", explanation='with "quotes", commas\tand \x07 a bell', reasons="", snr=12.5),
        row("YN", "c.fits", explanation="+1", snr=None),
    ]
)


def read(path: Path) -> Table:
    if path.suffix == ".fits":
        return Table.read(path)
    return parse_single_table(path).to_table()


def test_csv_keeps_numbers_as_numbers_and_no_text_is_a_formula(tmp_path):
    write(ROWS, tmp_path / "c.csv")
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as file:
        first, second, third = csv.DictReader(file)
    assert first["file"] == "'=cmd|' /C calc'!A0"
    assert third["explanation"] == "'+1"
    assert float(first["dec"]) == -2.5
    assert first["explanation"] == "Hα at 6563 Å, −3 σ"
    assert second["explanation"] == 'with "quotes", commas and   a bell'
    assert (second["ra"], third["rank"], third["snr"]) == ("", "", "")
    assert third["reasons"] == "The samples are split: 1 YES, 1 NO."


@pytest.mark.parametrize("name", ["c.vot", "c.xml", "c.fits"])
def test_tables_come_back_with_their_units_and_what_is_missing_is_missing(tmp_path, name):
    write(ROWS, tmp_path / name)
    table = read(tmp_path / name)
    assert table.colnames == [column.name for column in COLUMNS]
    assert str(table["ra"].unit) == "deg"
    assert list(table["yes"]) == [3, 0, 1]
    assert [bool(np.ma.is_masked(one)) for one in table["rank"]] == [False, False, True]
    assert np.ma.is_masked(table["snr"][2]) or np.isnan(table["snr"][2])
    assert table["dec"][0] == -2.5
    assert str(table["verdict"][2]) == "ASK"


def test_a_votable_says_what_its_columns_are(tmp_path):
    write(ROWS, tmp_path / "c.vot")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = parse_single_table(tmp_path / "c.vot", verify="exception")
    by_name = {field.name: field for field in table.fields}
    assert by_name["ra"].ucd == "pos.eq.ra;meta.main"
    assert by_name["lo"].description == "Lower end of its 68 % Wilson interval"
    assert "Wilson 1927" in table.description
    assert table.array["explanation"][0] == "Hα at 6563 Å, −3 σ"


def test_fits_says_it_too_in_plain_letters(tmp_path):
    write(ROWS, tmp_path / "c.fits")
    with fits.open(tmp_path / "c.fits") as file:
        file.verify("exception")
        header = file["CANDIDATES"].header
        number = next(n for n in range(1, 99) if header.get(f"TTYPE{n}") == "ra")
        assert (header[f"TUNIT{number}"], header[f"TUCD{number}"]) == ("deg", "pos.eq.ra;meta.main")
        assert file["CANDIDATES"].data["explanation"][0] == "Halpha at 6563 A, -3 sigma"


@pytest.mark.parametrize("name", ["c.csv", "c.vot", "c.fits"])
def test_no_rows_are_a_table_without_rows(tmp_path, name):
    write([], tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


def test_the_table_is_replaced_in_one_step_or_left_alone(tmp_path):
    write(ROWS, tmp_path / "c.csv")
    before = (tmp_path / "c.csv").read_bytes()
    write(ROWS[:1], tmp_path / "c.csv")
    assert len((tmp_path / "c.csv").read_bytes()) < len(before)
    assert [p.name for p in tmp_path.iterdir()] == ["c.csv"]


@pytest.mark.parametrize(
    ("name", "words"), [("c.docx", "ends in '.docx', wanted .csv, .vot"), ("no/c.csv", "no such folder")]
)
def test_a_table_that_cannot_be_written_is_refused(tmp_path, name, words):
    with pytest.raises(TableError, match=words):
        write(ROWS, tmp_path / name)


def test_results_are_counted_with_their_spectra_and_what_has_changed_since_asks_a_person(tmp_path):
    wavelength = np.linspace(3800.0, 9000.0, 800)
    for name in ("a", "b", "c"):
        flux = 100.0 + 80.0 * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
        Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(800, 0.04)}).write(tmp_path / f"{name}.csv")
    found = list(files([str(tmp_path / f"{name}.csv") for name in "abc"], tmp_path))
    with Journal(tmp_path / "r.jsonl", {}) as journal:
        for outcome in inspect_many(jobs_of(found, 2), CV, lambda _: Baseline(), concurrency=2):
            journal.add(outcome)
        (tmp_path / "b.csv").unlink()
        Table.read(tmp_path / "c.csv")[:700].write(tmp_path / "c.csv", overwrite=True)
        rows = {one.file: one for one in candidates_of(journal.inspected(), tmp_path, CV, Limits())}
    assert rows["a.csv"].verdict in ("YES", "NO")
    assert rows["a.csv"].n == 2
    assert (rows["b.csv"].verdict, rows["c.csv"].verdict) == ("ASK", "ASK")
    assert rows["b.csv"].reasons.startswith("The spectrum cannot be read any more: b.csv: found no file")
    assert rows["c.csv"].reasons == "The file is another than the one that was inspected."
    assert rows["b.csv"].yes + rows["b.csv"].no == 2


def test_a_spectrum_in_the_results_needs_its_file_only_for_the_verdict(tmp_path):
    one = Inspected("gone.fits", "", (trace("YES"),))
    (made,) = candidates_of([one], tmp_path, CV, Limits())
    assert (made.verdict, made.yes, made.name) == ("ASK", 1, STAR.name)
