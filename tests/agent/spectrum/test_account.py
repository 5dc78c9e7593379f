"""How a file was read, in words, and ``spec-o3 spectra --explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import app
from agent.language import PSEUDO, localized, speaking
from agent.spectrum import Spectrum, readers
from agent.spectrum.account import KEYS, account, sources, warnings
from agent.spectrum.readers import own
from agent.spectrum.readers.fits import FitsFile
from agent.spectrum.readers.targets import Targets

JWST = {
    "read_as": "table EXTRACT1D",
    "axis_from": "column WAVELENGTH (um)",
    "flux_from": "column FLUX (Jy)",
    "flux_unit_in_file": "Jy",
    "errors_from": "column FLUX_ERROR (sigma)",
    "mask_from": "column DQ (bits 0)",
    "medium_from": "TELESCOP = JWST",
    "velocity_frame": "barycentric",
    "velocity_frame_from": "SPECSYS",
    "not_used": "column SURF_BRIGHT; HDU 3 CONTINUUM",
    "pixels_without_wavelength": 3,
    "pixels_repeated": 1,
    "pixels_of_overlaps": 41,
    "arms_missing": "R",
}


def spectrum(**fields: Any) -> Spectrum:
    wavelength = np.linspace(4000.0, 5000.0, 30)
    values = {"ivar": np.ones(30), "flux_unit": "1e-17 erg s-1 cm-2 Å-1", "medium": "vacuum", "name": "a.fits"}
    return Spectrum(wavelength, np.ones(30), **(values | fields))


def test_each_array_is_named_with_its_source_and_what_is_missing_is_said_without_being_asked_for() -> None:
    lines = account(spectrum(meta=JWST))
    assert lines == [
        ("layout", "table EXTRACT1D"),
        ("wavelengths from", "column WAVELENGTH (um)"),
        ("flux from", "column FLUX (Jy)"),
        ("flux unit", "1e-17 erg s-1 cm-2 Å-1 (in the file: Jy)"),
        ("errors from", "column FLUX_ERROR (sigma)"),
        ("mask from", "column DQ (bits 0)"),
        ("medium", "vacuum (TELESCOP = JWST)"),
        ("velocity frame", "barycentric (SPECSYS)"),
        ("not used", "column SURF_BRIGHT; HDU 3 CONTINUUM"),
        (
            "left out",
            "3 pixels whose wavelengths are 0, negative or NaN; 41 pixels where two orders overlap; "
            "the file has no data of arm R",
        ),
        ("changed", "1 pixel averaged with another of the same wavelength"),
    ]
    assert warnings(spectrum(meta=JWST)) == lines[-3:]
    assert set(JWST) <= set(KEYS)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ("medium", "vacuum")),
        ({"medium": "air", "meta": {"medium_assumed": True}}, ("medium", "air (assumed: the file does not say)")),
        ({"meta": {"medium_set_by": "RV"}}, ("medium", "vacuum (stated by a person: the file does not say)")),
        ({"ivar": None}, ("errors", "estimated from the scatter of the pixels")),
        ({"meta": {"read_by": "specutils 6dFGS"}}, ("layout", "specutils 6dFGS")),
        (
            {
                "meta": {
                    "velocity_frame": "heliocentric",
                    "velocity_frame_from": "HELIO_RV",
                    "velocity_correction": -1.5,
                }
            },
            ("velocity frame", "heliocentric (HELIO_RV, -1.50 km/s applied)"),
        ),
        ({"meta": {"columns_unused": 1}}, ("not used", "1 column")),
        (
            {"meta": {"wavelengths_unrounded": True}},
            ("changed", "wavelengths rounded in the file, evenly spaced again"),
        ),
    ],
)
def test_of_an_older_spectrum_only_what_is_known_is_said(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    lines = account(spectrum(**fields))
    assert expected in lines
    usual = {"flux unit", "medium"}
    assert {label for label, _ in lines} == usual | {expected[0]}


def test_values_of_another_kind_are_left_out() -> None:
    """``meta`` of our FITS table or JSON form may hold anything."""
    odd = {**dict.fromkeys(JWST, True), "pixels_repeated": "many", "pixels_of_overlaps": -1, "arms_missing": 3}
    odd |= {"pixels_without_wavelength": None, "not_used": ""}
    assert [label for label, _ in account(spectrum(meta=odd))] == ["flux unit", "medium"]


def test_labels_and_sentences_are_translated_where_they_are_shown() -> None:
    with speaking(PSEUDO):
        lines = localized([*sources(spectrum(ivar=None)), *warnings(spectrum(meta={"columns_unused": 2}))])
    assert lines[-2:] == [["⟦errors⟧", "⟦estimated from the scatter of the pixels⟧"], ["⟦not used⟧", "⟦2 columns⟧"]]


# ---- the command


def explained(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    status = app.main(["spectra", "--explain", *map(str, arguments)])
    return status, capsys.readouterr().out


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A spectrum in a file, in the current folder."""
    monkeypatch.chdir(tmp_path)
    own.write(spectrum(meta=JWST), Path("a.fits"))
    return Path("a.fits")


def test_the_command_explains_each_file_without_a_database(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("b.csv").write_text(
        "# wavelengths: vacuum\nwavelength,flux\n" + "".join(f"{w},1\n" for w in range(4000, 4030))
    )
    status, out = explained(capsys, table, "b.csv")
    assert status == 0
    first, second = out.split("\n\n")
    assert first.splitlines()[:3] == ["a.fits", "  30 pixels, 4000.0 to 5000.0 Å observed", "  layout: table EXTRACT1D"]
    assert "  not used: column SURF_BRIGHT; HDU 3 CONTINUUM" in first
    assert second.splitlines()[0] == "b.csv"
    assert "  errors: estimated from the scatter of the pixels" in second
    assert "  medium: vacuum" in second
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.fits", "b.csv"]


def test_a_refused_file_gives_its_sentence_and_the_status_of_a_failed_check(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("picture.fits").write_bytes(b"\x89PNG\r\n")
    status, out = explained(capsys, "picture.fits", table)
    assert status == 1
    assert out.startswith("picture.fits: found a PNG picture; expected ")
    assert "a.fits\n  30 pixels" in out
    status, out = explained(capsys, "picture.fits", table, "--json")
    result = json.loads(out)
    assert status == 1
    assert [refused["file"] for refused in result["refused"]] == ["picture.fits"]
    (shown,) = result["spectra"]
    assert (shown["file"], shown["pixels"], shown["from"], shown["to"]) == ("a.fits", 30, 4000.0, 5000.0)
    assert shown["meta"] == JWST


def test_of_a_file_with_several_spectra_the_first_twenty_or_a_named_one_are_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wavelength = list(range(4000, 4030))
    record = {"wavelength": wavelength, "flux": [1.0] * 30, "ivar": [1.0] * 30}
    Path("many.json").write_text(json.dumps([{**record, "sparcl_id": f"id-{n}"} for n in range(23)]))
    status, out = explained(capsys, "many.json")
    assert status == 0
    blocks = out.strip().split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:20]] == [f"many.json#id-{n}" for n in range(20)]
    assert blocks[20:] == ["many.json: 3 more spectra"]
    _, out = explained(capsys, "many.json#id-22", "--json")
    assert [shown["file"] for shown in json.loads(out)["spectra"]] == ["many.json#id-22"]
    status, out = explained(capsys, "many.json#id-99")
    assert (status, "a target id-99" in out) == (1, True)


def test_what_of_a_file_was_not_read_at_all_is_listed_after_its_spectra(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = readers._fits_targets

    def with_unread(where: Path, fits: FitsFile) -> Targets:
        targets = read(where, fits)
        targets.unread = lambda: [f"HDU {n} SKY" for n in range(2, 24)]
        return targets

    monkeypatch.setattr(readers, "_fits_targets", with_unread)
    _, out = explained(capsys, table)
    last = out.splitlines()[-1]
    assert last.startswith("  not read: HDU 2 SKY; HDU 3 SKY; ")
    assert last.endswith("HDU 21 SKY; and 2 more")
    _, out = explained(capsys, table, "--json")
    assert len(json.loads(out)["unread"]["a.fits"]) == 22


def test_options_that_need_a_database_are_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in (["--check"], ["--db", "a.db"]):
        assert app.main(["spectra", "--explain", str(table), *option]) == 2
        assert f"{option[0]} would be ignored" in capsys.readouterr().err
