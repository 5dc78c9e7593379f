"""The tables of a catalogue: their rows, and the same numbers in each file."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import ascii as text_tables
from astropy.io.fits import open as open_fits
from astropy.io.votable import parse, validate
from astropy.io.votable.ucd import parse_ucd
from astropy.table import Table

from agent.batch.candidates import write_table
from agent.table_files import ascii_text
from reviewer.catalogue import tables
from reviewer.catalogue.facts import Facts
from reviewer.catalogue.objects import FLAGS, SPECTRA, Rows, designation
from reviewer.catalogue.references import Bibliography
from reviewer.exchange import tables as campaign_tables
from reviewer.store import Store
from tests.reviewer.catalogue.conftest import Campaign, is_equal


@pytest.fixture(scope="module")
def rows(campaign: Campaign) -> Rows:
    return Rows.of(Facts.read(campaign.bundle))


def test_rows_are_objects_with_their_epochs_and_what_is_left_out_is_counted(rows: Rows, campaign: Campaign) -> None:
    assert [(row["Name"], row["Nspec"], row["Flags"]) for row in rows.rows] == [
        ("J004000.00+801500.0", 1, "Z"),
        ("J081349.62-023000.0", 3, "EI"),
        ("spec-05", 1, "FN"),
    ]
    of_second = [(row["Item"], row["Best"], row["Outcome"]) for row in rows.spectra if row["Seq"] == 2]
    items = campaign.items
    assert of_second == [
        (items["no epoch"], "", "decided: not of the class"),
        (items["first epoch"], "", "in the catalogue"),
        (items["second epoch"], "yes", "in the catalogue"),
    ]
    out = {row["Item"]: (row["Reason"], row["Seq"]) for row in rows.left_out}
    assert out == {
        items["no epoch"]: ("decided: not of the class", 2),
        items["rejected"]: ("trace rejected: wrong class", None),
        items["open"]: ("not decided yet: screening", None),
        items["nobody can tell"]: ("people cannot tell from these data", None),
        items["simulated"]: ("simulated spectrum", None),
    }


def test_a_row_has_what_people_policies_and_catalogues_say(rows: Rows) -> None:
    row = rows.rows[1]
    assert (row["z"], row["SpType"], row["Quality"]) == (0.0001234, "STAR", 3.0)
    assert row["cz"] == pytest.approx(0.0001234 * 299_792.458, abs=0.05)
    assert (row["Verdict"], row["Nppl"], row["Nfor"], row["Nagainst"]) == ("YES", 3, 8, 0)
    assert (row["PolVerdict"], row["PYES"], row["Certified"]) == ("YES", pytest.approx(0.9526, abs=1e-4), "YES")
    assert (row["GaiaID"], row["Gmag"], row["Plx"], row["e_Plx"]) == ("4455667788", 18.2, 2.5, 0.1)
    assert row["MG"] == pytest.approx(18.2 + 5 * np.log10((2.5 + 0.017) / 100), abs=0.01)
    assert (row["ID_obsid"], row["MJD"], row["File"]) == ("102", 59366.5, "spec-02.fits")
    assert row["EW_Halpha_emission"] < 0 < row["e_EW_Halpha_emission"]
    assert rows.rows[0]["GaiaID"] is None


@pytest.mark.parametrize(
    ("ra", "dec", "name"),
    [
        (0.0, 0.0, "J000000.00+000000.0"),
        (359.999999, -89.999999, "J235959.99-895959.9"),
        (180.0, -0.5, "J120000.00-003000.0"),
        (123.456789, -2.5, "J081349.62-023000.0"),
    ],
)
def test_designations_are_truncated(ra: float, dec: float, name: str) -> None:
    assert designation(ra, dec) == name


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def tables_of(folder: Path) -> dict[str, tuple[Any, Any]]:
    """The objects and the spectra as astropy reads them from each file; None where a file has no spectra."""
    votable = parse(folder / "catalogue.vot")
    first, second = (votable.get_table_by_index(number).to_table(use_names_over_ids=True) for number in range(2))
    readme = str(folder / "cds" / "ReadMe")
    return {
        "vot": (first, second),
        "fits": (Table.read(folder / "catalogue.fits", hdu=1), Table.read(folder / "catalogue.fits", hdu=2)),
        "cds": tuple(
            text_tables.read(folder / "cds" / name, format="cds", readme=readme)
            for name in ("catalog.dat", "spectra.dat")
        ),  # type: ignore[dict-item]
        "mrt": (text_tables.read(folder / "catalogue_mrt.txt", format="mrt"), None),
        "csv": (read_csv(folder / "catalogue.csv"), read_csv(folder / "spectra.csv")),
    }


@pytest.mark.parametrize("kind", ["vot", "fits", "cds", "mrt", "csv"])
def test_astropy_reads_each_file_back_equal(campaign: Campaign, rows: Rows, kind: str) -> None:
    objects, spectra = tables_of(campaign.bundle)[kind]
    for table, columns, values in ((objects, rows.columns, rows.rows), (spectra, SPECTRA, rows.spectra)):
        if table is None:
            continue
        assert len(table) == len(values)
        names = list(table[0]) if kind == "csv" else table.colnames
        assert names == [column.name for column in columns]
        for column in columns:
            for read, row in zip(table, values, strict=True):
                value = row[column.name]
                expected = ascii_text(value) if column.kind is str and kind not in ("vot", "csv") and value else value
                cell = read[column.name]
                if isinstance(cell, str) and column.kind is float and cell:
                    cell = float(cell)
                assert is_equal(cell, expected), (column.name, cell, expected)
    if kind in ("vot", "fits", "mrt"):
        assert {str(objects[name].unit) for name in ("RAdeg", "DEdeg")} == {"deg"}
        assert objects["EW_Halpha_emission"].unit.to("Angstrom") == pytest.approx(1.0)


def test_the_votable_is_valid_and_has_ucds_and_systems(campaign: Campaign) -> None:
    path = campaign.bundle / "catalogue.vot"
    report = validate(str(path), output=None)
    assert "found no violations" in str(report)
    text = path.read_text(encoding="utf-8")
    assert 'version="1.4"' in text
    assert '<COOSYS ID="icrs" system="ICRS"/>' in text
    assert "<TIMESYS" in text
    votable = parse(path)
    fields = [field for table in votable.iter_tables() for field in table.fields]
    assert all(parse_ucd(field.ucd, check_controlled_vocabulary=True, has_colon=True) for field in fields)
    assert {field.name: field.ref for field in fields if field.ref} == {"RAdeg": "icrs", "DEdeg": "icrs", "MJD": "mjd"}
    infos = {info.name: info.value for info in votable.resources[0].infos}
    assert (infos["creator"], infos["rights"]) == ("Ada Öther; Bo Böhm & Co", "CC-BY-4.0")


def test_no_votable_is_written_by_astropys_writer_in_c(
    rows: Rows, campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes behind its buffer (astropy 8.0.2), and the process may end at any later time."""
    from astropy.io.votable import tree

    class Damaging:
        def write_tabledata(self, *_: object) -> None:
            raise AssertionError("the writer in C was called")

    monkeypatch.setattr(tree, "tablewriter", Damaging())
    tables.write_tables(rows, tmp_path, "abstract", "description")
    assert (tmp_path / "catalogue.vot").read_bytes() == (campaign.bundle / "catalogue.vot").read_bytes()
    write_table([], tmp_path / "candidates.vot")
    with Store.open(campaign.db) as store:
        campaign_tables.table(store, "decisions").write(tmp_path / "decisions.vot", "vot")


def test_the_fits_file_states_units_and_where_it_comes_from(campaign: Campaign) -> None:
    with open_fits(campaign.bundle / "catalogue.fits") as hdus:
        hdus.verify("exception")
        assert [hdu.name for hdu in hdus] == ["PRIMARY", "OBJECTS", "SPECTRA"]
        assert "selection: all items of the class" in str(hdus[0].header["HISTORY"])


def test_the_readme_of_cds_has_each_column_and_flag(campaign: Campaign, rows: Rows) -> None:
    text = (campaign.bundle / "cds" / "ReadMe").read_text(encoding="ascii")
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert all(f" {column.name} " in words for column in rows.columns)
    assert all(f"{flag} = {meaning}" in words for flag, meaning in FLAGS.items())
    assert "Ada Other, Bo Bohm & Co" in text


def test_the_methods_text_has_the_numbers(campaign: Campaign, numbers: dict[str, Any]) -> None:
    text = (campaign.bundle / "methods.md").read_text(encoding="utf-8")
    for sentence in (
        "9 items of the class Cataclysmic Variable (CV) were considered, all in the campaign, with 9 spectra",
        "4 items were approved as of the class. With all their spectra they are 5 spectra of 3 objects",
        "3 people made 38 decisions on the decided items",
        "AA: 8 items, screening 8, revision 6; BB: 6 items, audit 6, vote 6",
        "People revised the text of 4 of the 4 approved items.",
        "In the audit two or more people decided on 6 texts: raw agreement 1.00",
        "Of the cases called YES at most 5 % are NO",
        "Under it 1 object has the verdict YES.",
        "no completeness of the catalogue is certified",
        "Gaia DR3 [@GaiaCollaboration2023], through [@GaiaCollaboration2016].",
        "| trace rejected: wrong class | 1 |",
    ):
        assert sentence in text, sentence
    assert (numbers["selected_items"], numbers["objects"], numbers["flags"]) == (
        9,
        3,
        {"E": 1, "F": 1, "I": 1, "N": 1, "Z": 1},
    )
    cited = set(re.findall(r"@(\w+)", text))
    entries = set(re.findall(r"^@\w+\{(\w+),$", (campaign.bundle / "references.bib").read_text(encoding="utf-8"), re.M))
    assert cited == entries


def test_citations_become_entries_of_bibtex() -> None:
    books = Bibliography.of(
        [
            "Hou et al. 2020 AJ 159, 43 (CVs in LAMOST)",
            "Hou et al. 2020 AJ 160, 1",
            "Hou et al. 2020 AJ 159, 43",
            "Warner 1995, Cataclysmic Variable Stars, Cambridge University Press",
            "Chambers et al. 2016 arXiv:1612.05560",
            "A & B: 50 % of nothing_known",
        ]
    )
    assert list(books.references) == ["ABof", "Chambers2016", "Hou2020", "Hou2020b", "Warner1995"] or list(
        books.references
    )
    assert books.cite("Hou et al. 2020 AJ 159, 43", "Hou et al. 2020 AJ 159, 43 (CVs in LAMOST)") == "[@Hou2020]"
    assert (
        "  author = {Hou and others},\n  year = {2020},\n  journal = {AJ},\n  volume = {159},\n  pages = {43}"
        in books.bibtex()
    )
    assert "eprint = {1612.05560}" in books.bibtex()
    assert r"50 \% of nothing\_known" in books.bibtex()


def test_the_facts_have_neither_comments_nor_what_open_rounds_decided(campaign: Campaign) -> None:
    text = (campaign.bundle / "data" / "items.jsonl").read_text(encoding="utf-8")
    items = {item["item"]: item for item in map(json.loads, text.splitlines())}
    assert "decisions" not in items[campaign.items["open"]]
    assert all(
        set(d) == {"round", "person", "verb", "reason", "verdict", "version"}
        for i in items.values()
        for d in i.get("decisions", ())
    )
