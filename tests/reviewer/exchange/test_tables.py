"""Tables of decisions and inspections, as other programs read them."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from astropy.table import Table

from reviewer.exchange import tables
from reviewer.exchange.exports import export, folder_of
from reviewer.rules.inspection import Inspection
from reviewer.store import Draft, Store, WorkTime
from tests.support.cli import run
from tests.support.drawn_traces import a_spectrum, a_store, a_trace, approve, decide

READ = {"csv": "ascii.csv", "fits": "fits", "vot": "votable"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Item 1 approved, 2 "cannot tell", 3 in its first round; people inspected 1 and 3 and do not agree on 1."""
    with a_store(tmp_path / "survey.db") as store:
        spectra = [a_spectrum(f"{n}.fits", redshift=0.01) for n in range(3)]
        store.items.add_all([Draft(a_trace(s), s) for s in spectra])
        approve(store, 1, worked=WorkTime(90.0, 30.5))
        decide(store, "AA", 2, "reject", reason="cannot_tell", comment="=only, noise")
        decide(store, "AA", 3, "keep")
        store.reviews.undo(person="AA", item_id=3, key="an undo")
        for number, (item, inspection) in enumerate(
            (
                (1, Inspection("AA", 0.3688123, 4, "RC", "QSO", "[O III], Hβ\nand Hγ")),
                (1, Inspection("BB", None, 2, "", "STAR")),
                (3, Inspection("CC", -0.0004, 3, "S", "STAR", "M dwarf")),
            )
        ):
            store.inspections.add(item_id=item, inspection=inspection, key=f"key {number}")
        yield store


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_decisions_has_every_decision_with_its_verdict(store: Store, tmp_path: Path) -> None:
    tables.decisions(store).write(tmp_path / "d.csv", "csv")
    decisions = rows(tmp_path / "d.csv")
    first = decisions[0]
    assert list(first) == [
        *("item", "name", "class", "round", "person", "verb", "reason", "verdict", "comment", "version", "at"),
        *("seconds", "undone"),
    ]
    assert (first["item"], first["name"], first["class"], first["round"]) == ("1", "0.fits", "cv", "screening")
    assert (first["verb"], first["verdict"], first["seconds"], first["version"]) == ("keep", "", "30.5", "1")
    verdicts = {(row["item"], row["verb"]): row["verdict"] for row in decisions}
    assert verdicts[("1", "submit")] == verdicts[("1", "pass")] == verdicts[("1", "approve")] == "YES"
    assert verdicts[("2", "reject")] == "cannot tell"
    (rejected,) = (row for row in decisions if row["item"] == "2")
    assert (rejected["reason"], rejected["comment"], rejected["seconds"]) == ("cannot_tell", "'=only, noise", "")
    assert [row["undone"] for row in decisions if row["item"] == "3"] == ["yes"]


def test_a_person_does_not_get_decisions_of_others_in_an_open_vote(store: Store) -> None:
    decide(store, "AA", 3, "keep")
    decide(store, "AA", 3, "submit")
    decide(store, "BB", 3, "pass")

    def audits(person: str | None) -> int:
        columns = tables.decisions(store, person).columns
        return sum(pair == (3, "audit") for pair in zip(columns["item"], columns["round"], strict=True))

    assert [audits(person) for person in (None, "BB", "CC")] == [1, 1, 0]


@pytest.mark.parametrize("kind", tables.FORMATS)
def test_inspections_are_read_by_astropy_as_they_were_given(store: Store, tmp_path: Path, kind: tables.Format) -> None:
    for name, columns in zip(("raw", "merged"), tables.inspections(store), strict=True):
        columns.write(tmp_path / f"{name}.{kind}", kind)
    raw, merged = (Table.read(tmp_path / f"{name}.{kind}", format=READ[kind]) for name in ("raw", "merged"))
    assert [str(who) for who in raw["VI_scanner"]] == ["AA", "BB", "CC"]
    assert list(raw["VI_quality"]) == [4, 2, 3]
    redshifts = [math.nan if z is None or z == "" else float(z) for z in raw["VI_z"].tolist()]
    assert redshifts == pytest.approx([0.3688123, math.nan, -0.0004], abs=0, rel=1e-15, nan_ok=True)
    assert [str(t) for t in raw["VI_spectype"]] == ["QSO", "STAR", "STAR"]
    assert [list(raw[name]) for name in ("QOP", "ZQUALITY", "CLASS_PERSON")] == [[4, 2, 6], [4, 2, -1], [3, 1, 1]]
    assert str(raw["MEDIUM"][0]) == "vacuum"
    beta = "\\u03b2" if kind == "fits" else "β"
    assert f"[O III], H{beta}" in str(raw["VI_comment"][0])
    assert list(merged["N_VI"]) == [2, 1]
    assert str(merged["conflict"][0]) == "quality z class"
    assert list(merged["best_quality"]) == [999.0, 3.0]
    assert float(merged["best_z"][1]) == -0.0004
    if kind != "csv":
        assert {raw["VI_z"].dtype.kind, merged["best_z"].dtype.kind} == {"f"}
    if kind == "vot":
        assert "DESI" in raw["VI_quality"].description


def test_a_person_gets_inspections_of_others_once_the_round_is_over(store: Store) -> None:
    def scanners(person: str | None) -> list[str]:
        return list(tables.inspections(store, person)[0].columns["VI_scanner"])

    assert scanners(None) == ["AA", "BB", "CC"]
    assert scanners("AA") == ["AA", "BB"], "item 3 is in its first round"
    assert scanners("CC") == ["AA", "BB", "CC"]


def test_the_command_writes_every_table(store: Store) -> None:
    done = run("tables", "--db", store.path, "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    folder = store.path.with_name("survey-tables")
    assert answer["folder"] == str(folder)
    assert answer["tables"]["inspections.fits"] == 3
    assert {path.name for path in folder.iterdir()} == set(answer["tables"])
    assert len(answer["tables"]) == 9


def test_csv_for_excel_begins_with_a_byte_order_mark_and_is_read_again(store: Store, tmp_path: Path) -> None:
    begins = {}
    for options in ((), ("--excel",)):
        assert run("tables", "--db", store.path, "--out", tmp_path / "t", *options).returncode == 0
        files = {path.name: path.read_bytes() for path in (tmp_path / "t").glob("*.csv")}
        begins[options] = {text.startswith(b"\xef\xbb\xbf") for text in files.values()}
        assert all(text.removeprefix(b"\xef\xbb\xbf").decode().count("\ufeff") == 0 for text in files.values())
    assert begins == {(): {False}, ("--excel",): {True}}


def _types(columns: tables.Columns, path: Path, kind: tables.Format) -> dict[str, str]:
    columns.write(path, kind)
    table = Table.read(path, format=READ[kind])
    assert len(table) == len(columns)
    assert table.colnames == list(columns.columns)
    return {name: "text" if table[name].dtype.kind in "OSU" else table[name].dtype.kind for name in table.colnames}


@pytest.mark.parametrize("kind", ["fits", "vot"])
@pytest.mark.parametrize("name", tables.TABLES)
def test_the_types_of_a_table_do_not_depend_on_its_values(
    store: Store, tmp_path: Path, name: str, kind: tables.Format
) -> None:
    full = tables.table(store, name)
    types = _types(full, tmp_path / f"full.{kind}", kind)
    assert {types[column] for column in types if full.kind(column) is not str} <= set("ifb")
    assert {types[column] for column in types if full.kind(column) is str} == {"text"}
    for count in (len(full), 1):  # without a value in all rows, or in the first
        columns = {
            column: values if full.kind(column) is bool else [None] * count + values[count:]
            for column, values in full.columns.items()
        }
        lacking = tables.Columns(full.name, columns, full.kinds)
        assert _types(lacking, tmp_path / f"lacking.{kind}", kind) == types, count
    none = tables.Columns(full.name, {column: [] for column in full.columns}, full.kinds)
    assert _types(none, tmp_path / f"none.{kind}", kind) == types


@pytest.mark.parametrize("name", tables.TABLES)
def test_every_table_in_every_form_is_written_where_nothing_is_given(tmp_path: Path, name: str) -> None:
    with a_store(tmp_path / "bare.db") as bare:
        for columns in tables.inspections(bare):
            columns.write(tmp_path / "none.csv", "csv")
            assert len(Table.read(tmp_path / "none.csv", format="ascii.csv")) == 0
        spectrum = a_spectrum("a.fits", redshift=None)
        bare.items.add_all([Draft(a_trace(spectrum), spectrum)])
        decide(bare, "AA", 1, "keep", comment="odd \x01 \ufffe text")
        bare.inspections.add(item_id=1, inspection=Inspection("CC", None, None, "S", ""), key="a key")
        for kind in tables.FORMATS:
            tables.table(bare, name).write(tmp_path / f"t.{kind}", kind)
            table = Table.read(tmp_path / f"t.{kind}", format=READ[kind])
            assert len(table) == 1
            if name == "decisions" and kind == "fits":
                assert np.ma.is_masked(table["seconds"][0]) or math.isnan(table["seconds"][0])


def test_an_export_is_next_to_its_database_and_its_zip_has_its_files(store: Store) -> None:
    from reviewer.web.routes.exports import _packed

    folder = export(store, "first", "AA").folder
    assert folder == folder_of(store) / "first" == store.path.parent / "survey-exports" / "first"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    packed = zipfile.ZipFile(io.BytesIO(b"".join(_packed(folder, files))))
    assert packed.testzip() is None
    inside = {name: packed.read(name) for name in packed.namelist()}
    assert inside == {f"first/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in files}
