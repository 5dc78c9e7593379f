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
        for number, (item, found) in enumerate(
            (
                (1, Inspection("AA", 0.3688123, 4, "RC", "QSO", "[O III], Hβ\nand Hγ")),
                (1, Inspection("BB", None, 2, "", "STAR")),
                (3, Inspection("CC", -0.0004, 3, "S", "STAR", "M dwarf")),
            )
        ):
            store.inspections.add(item_id=item, inspection=found, key=f"key {number}")
        yield store


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_of_decisions_has_every_decision_with_its_verdict(store: Store, tmp_path: Path) -> None:
    tables.decisions(store).write(tmp_path / "d.csv", "csv")
    found = rows(tmp_path / "d.csv")
    first = found[0]
    assert list(first) == [
        *("item", "name", "class", "round", "person", "verb", "reason", "verdict", "comment", "version", "at"),
        *("seconds", "undone"),
    ]
    assert (first["item"], first["name"], first["class"], first["round"]) == ("1", "0.fits", "cv", "screening")
    assert (first["verb"], first["verdict"], first["seconds"], first["version"]) == ("keep", "", "30.5", "1")
    verdicts = {(row["item"], row["verb"]): row["verdict"] for row in found}
    assert verdicts[("1", "submit")] == verdicts[("1", "pass")] == verdicts[("1", "approve")] == "YES"
    assert verdicts[("2", "reject")] == "cannot tell"
    (rejected,) = (row for row in found if row["item"] == "2")
    assert (rejected["reason"], rejected["comment"], rejected["seconds"]) == ("cannot_tell", "'=only, noise", "")
    assert [row["undone"] for row in found if row["item"] == "3"] == ["yes"]


def test_a_person_does_not_get_decisions_of_others_in_an_open_vote(store: Store) -> None:
    decide(store, "AA", 3, "keep")
    decide(store, "AA", 3, "submit")
    decide(store, "BB", 3, "pass")

    def audits(person: str | None) -> int:
        found = tables.decisions(store, person)
        return sum(pair == (3, "audit") for pair in zip(found.columns["item"], found.columns["round"], strict=True))

    assert [audits(person) for person in (None, "BB", "CC")] == [1, 1, 0]


@pytest.mark.parametrize("kind", tables.FORMATS)
def test_inspections_are_read_by_astropy_as_they_were_given(store: Store, tmp_path: Path, kind: tables.Format) -> None:
    raw, merged = tables.inspections(store)
    raw.write(tmp_path / f"raw.{kind}", kind)
    merged.write(tmp_path / f"merged.{kind}", kind)
    formats = {"csv": "ascii.csv", "fits": "fits", "vot": "votable"}
    one = Table.read(tmp_path / f"raw.{kind}", format=formats[kind])
    assert [str(who) for who in one["VI_scanner"]] == ["AA", "BB", "CC"]
    assert list(one["VI_quality"]) == [4, 2, 3]
    redshifts = [math.nan if z is None or z == "" else float(z) for z in one["VI_z"].tolist()]
    assert (redshifts[0], redshifts[2]) == (0.3688123, -0.0004)
    assert math.isnan(redshifts[1])
    assert [str(t) for t in one["VI_spectype"]] == ["QSO", "STAR", "STAR"]
    assert [list(one[name]) for name in ("QOP", "ZQUALITY", "CLASS_PERSON")] == [[4, 2, 6], [4, 2, -1], [3, 1, 1]]
    assert str(one["MEDIUM"][0]) == "vacuum"
    beta = "\\u03b2" if kind == "fits" else "β"
    assert f"[O III], H{beta}" in str(one["VI_comment"][0])
    two = Table.read(tmp_path / f"merged.{kind}", format=formats[kind])
    assert list(two["N_VI"]) == [2, 1]
    assert str(two["conflict"][0]) == "quality z class"
    assert list(two["best_quality"]) == [999.0, 3.0]
    assert float(two["best_z"][1]) == -0.0004
    if kind == "vot":
        assert "DESI" in one["VI_quality"].description


@pytest.mark.parametrize("kind", tables.FORMATS)
def test_a_table_without_rows_can_be_written_and_read(tmp_path: Path, kind: tables.Format) -> None:
    with a_store(tmp_path / "empty.db") as store:
        for columns in tables.inspections(store):
            columns.write(tmp_path / f"none.{kind}", kind)
            formats = {"csv": "ascii.csv", "fits": "fits", "vot": "votable"}
            assert len(Table.read(tmp_path / f"none.{kind}", format=formats[kind])) == 0


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


_READ = {"csv": "ascii.csv", "fits": "fits", "vot": "votable"}
_BARE = Inspection("CC", None, None, "S", "")


def _types(columns: tables.Columns, path: Path, kind: tables.Format) -> dict[str, str]:
    columns.write(path, kind)
    table = Table.read(path, format=_READ[kind])
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
    for missing in full.columns:
        for count in (len(full), 1, 0):
            changed = {
                column: [None if column == missing and n < count else value for n, value in enumerate(values)]
                for column, values in full.columns.items()
            }
            if full.kind(missing) is not bool:
                lacking = tables.Columns(full.name, changed, full.kinds)
                assert _types(lacking, tmp_path / f"lacking.{kind}", kind) == types, (missing, count)
    none = tables.Columns(full.name, {column: [] for column in full.columns}, full.kinds)
    assert _types(none, tmp_path / f"none.{kind}", kind) == types


@pytest.mark.parametrize("kind", tables.FORMATS)
@pytest.mark.parametrize("name", tables.TABLES)
def test_every_table_in_every_form_is_written_where_nothing_is_given(tmp_path: Path, name: str, kind: str) -> None:
    with a_store(tmp_path / "bare.db") as bare:
        spectrum = a_spectrum("a.fits", redshift=None)
        bare.items.add_all([Draft(a_trace(spectrum), spectrum)])
        decide(bare, "AA", 1, "keep", comment="odd \x01 \ufffe text")
        bare.inspections.add(item_id=1, inspection=_BARE, key="a key")
        tables.table(bare, name).write(tmp_path / f"t.{kind}", kind)
        found = Table.read(tmp_path / f"t.{kind}", format=_READ[kind])
        assert len(found) == 1
        if name == "decisions" and kind == "fits":
            assert np.ma.is_masked(found["seconds"][0]) or math.isnan(found["seconds"][0])


def test_an_export_is_next_to_its_database(store: Store) -> None:
    made = export(store, "first", "AA")
    assert made.folder == folder_of(store) / "first" == store.path.parent / "survey-exports" / "first"


def test_the_zip_of_an_export_has_its_files(store: Store) -> None:
    from reviewer.web.routes.exports import _packed

    made = export(store, "first", "AA")
    files = sorted(path for path in made.folder.rglob("*") if path.is_file())
    packed = zipfile.ZipFile(io.BytesIO(b"".join(_packed(made.folder, files))))
    assert packed.testzip() is None
    inside = {name: packed.read(name) for name in packed.namelist()}
    assert inside == {f"first/{path.relative_to(made.folder).as_posix()}": path.read_bytes() for path in files}
