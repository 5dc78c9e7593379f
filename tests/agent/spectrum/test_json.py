"""JSON spectra: Open Astronomy Catalogs, plain objects with units, SPARCL records, our own form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import Table

from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from tests.support.inputs.spectra import a_spectrum, catalog_entry, sparcl_record, with_units

WAVELENGTH = np.linspace(4000.0, 7000.0, 60)


def written(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_catalog_entry_has_its_numbers_as_text_and_states_units(tmp_path):
    found = read(written(tmp_path / "AT1.json", {"AT1": catalog_entry()}))
    assert (found.medium, found.frame, found.flux_unit) == ("air", "observed", "erg/s/cm^2/Angstrom")
    assert (found.catalogue_class, found.redshift, found.survey) == ("CV", 0.001, "PESSTO")
    assert (found.ra, found.dec) == pytest.approx((302.805375, 1.041822), abs=1e-5)
    assert (found.ids, found.name) == ({"object": "AT1"}, "AT1.json")
    assert found.meta["medium_assumed"] is True
    np.testing.assert_allclose(found.ivar, 4e34)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"vacuumwavelengths": True}, ("vacuum", "observed", None)),
        ({"vacuumwavelengths": "False"}, ("air", "observed", None)),
        ({"deredshifted": True}, ("air", "rest", True)),
        ({"telescope": "LAMOST"}, ("vacuum", "observed", None)),
    ],
)
def test_medium_and_frame_of_a_catalog_entry(tmp_path, change, expected):
    entry = catalog_entry()
    entry["spectra"][0] |= change
    found = read(written(tmp_path / "a.json", {"AT1": entry}))
    assert (found.medium, found.frame, found.meta.get("medium_assumed")) == expected


def test_several_spectra_of_one_object_are_named_by_file(tmp_path):
    entry = catalog_entry()
    entry["spectra"] = [entry["spectra"][0] | {"filename": name} for name in ("a.txt", "b.txt")]
    path = written(tmp_path / "a.json", {"AT1": entry})
    assert [s.name for s in read_all(path)] == ["a.json#a.txt", "a.json#b.txt"]
    for one in entry["spectra"]:
        del one["filename"]
    with pytest.raises(SeveralSpectra) as several:
        read(written(path, {"AT1": entry}))
    assert several.value.targets == ("1", "2")


def test_arrays_with_units_are_read_in_order_of_wavelength(tmp_path):
    found = read(written(tmp_path / "a.json", with_units(fluxUnits="mJy")))
    assert (np.diff(found.wavelength) > 0).all()
    assert (found.flux_unit, found.meta["flux_unit_in_file"]) == ("1e-17 erg s-1 cm-2 Å-1", "mJy")
    np.testing.assert_allclose(found.flux * np.sqrt(found.ivar), 20.0)
    assert (found.ra, found.meta["medium_assumed"]) == (10.0, True)


@pytest.mark.parametrize(
    ("change", "medium"),
    [({"medium": "vacuum"}, "vacuum"), ({"vacuum": True}, "vacuum"), ({"vacuum": False}, "air"), ({}, "air")],
)
def test_a_stated_medium_is_not_called_assumed(tmp_path, change, medium):
    found = read(written(tmp_path / "a.json", with_units() | change))
    assert (found.medium, "medium_assumed" in found.meta) == (medium, not change)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (
            {"wavelengths": [1, 2], "flux": [1, 2]},
            "JSON arrays without a unit of wavelength or flux; expected both units",
        ),
        (with_units() | {"fluxUnits": ""}, "JSON arrays without a unit of flux"),
        (with_units(fluxUnits="parsec/Hz"), "a flux in 'parsec/Hz'"),
        (with_units(wavelengthUnits="parsnip"), "wavelengths in 'parsnip'"),
        (with_units() | {"flux": ["x"] * 60}, "a column flux that is not numbers"),
        (with_units() | {"flux": [[1]] * 60}, "arrays of shapes"),
        ({"AT1": {"spectra": [{"data": [["1", "2"]]}]}}, "without u_wavelengths or u_fluxes"),
        ({"AT1": {"spectra": []}}, "a JSON object with AT1"),
        ({}, "a JSON object with nothing in it"),
        ([1, 2], "a JSON list"),
        ({"schema": "spec-o3/spectrum/1"}, "a.json: found wavelength None"),
    ],
)
def test_json_without_a_spectrum_is_refused_in_words(tmp_path, content, found):
    with pytest.raises(SpectrumError) as refused:
        read(written(tmp_path / "a.json", content))
    assert found in str(refused.value)


@pytest.mark.parametrize("text", ['{"flux": [1,', "[" * 100_000, '{"a": NaN'])
def test_damaged_json_is_called_damaged(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(SpectrumError, match="damaged JSON"):
        read(tmp_path / "a.json")


def test_our_own_json_form_is_read_back(tmp_path):
    assert read(written(tmp_path / "a.json", a_spectrum().to_json())) == a_spectrum()


def check_sparcl(found: Spectrum, release: str = "DESI-DR1", survey: str = "DESI") -> None:
    assert (found.medium, found.frame, found.flux_unit) == ("vacuum", "observed", "1e-17 erg s-1 cm-2 Å-1")
    assert (found.survey, found.meta["data_release"], found.redshift) == (survey, release, 0.001)
    assert (found.catalogue_class, found.meta["zwarn"], found.ids["specid"]) == ("STAR CV", 0, "39627")
    assert (found.ra, found.dec) == (10.0, -5.0)
    assert found.model is not None
    assert found.mask.sum() == 1


@pytest.mark.parametrize(
    ("release", "survey"), [("DESI-DR1", "DESI"), ("BOSS-DR17", "SDSS BOSS"), ("SDSS-DR17", "SDSS")]
)
def test_sparcl_records_as_json_name_their_survey(tmp_path, release, survey):
    path = written(tmp_path / "r.json", [sparcl_record(release)])
    check_sparcl(read(path), release, survey)
    two = written(tmp_path / "two.json", {"records": [sparcl_record(release, "aa"), sparcl_record(release, "bb")]})
    check_sparcl(read(two, "bb"), release, survey)
    assert [s.name for s in read_all(two)] == ["two.json#aa", "two.json#bb"]


@pytest.mark.parametrize("count", [1, 3])
def test_sparcl_records_as_parquet_and_fits(tmp_path, count):
    rows = [sparcl_record() for _ in range(count)]
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    pq.write_table(pa.table(columns), tmp_path / "r.parquet")
    Table(columns).write(tmp_path / "r.fits")
    for name in ("r.parquet", "r.fits"):
        spectra = list(read_all(tmp_path / name))
        assert len(spectra) == count
        for spectrum in spectra:
            check_sparcl(spectrum)


def test_one_sparcl_record_may_have_one_pixel_per_row(tmp_path):
    row = sparcl_record()
    pixels = len(row["flux"])
    Table({key: value if isinstance(value, list) else [value] * pixels for key, value in row.items()}).write(
        tmp_path / "r.fits"
    )
    check_sparcl(read(tmp_path / "r.fits"))


def test_every_real_cataclysmic_variable_in_json_is_read(shared):
    """INT/IDS in mJy with descending wavelengths, and Open Astronomy Catalog entries of novalikes and dwarf novae."""
    folder = shared / "spectra"
    phases = [read(path) for path in sorted((folder / "int_ids_j1948").rglob("*.json"))]
    assert len(phases) > 5
    for phase in phases:
        assert phase.meta["flux_unit_in_file"] == "MILLIJANSKYS"
        assert 1e-17 < np.median(phase.flux) * 1e-17 < 1e-14
        # RA is in hours in these files; the name of the object is its position.
        assert (phase.ra, phase.dec) == pytest.approx((297.1156, -13.2927), abs=1e-3)
    (catalog,) = (read(path) for path in (folder / "osc_boneyard/CV_low_snr").glob("*.json"))
    assert (catalog.catalogue_class, catalog.flux_unit) == ("CV", "erg/s/cm^2/Angstrom")
    (lamost,) = (read(path) for path in (folder / "faststars").rglob("LMST_HVS7.json"))
    assert (lamost.survey, lamost.medium, lamost.flux_unit) == ("LAMOST", "vacuum", "relative")


def test_f_nu_of_a_real_file_is_converted_with_its_errors(shared):
    path = sorted((shared / "spectra/int_ids_j1948").rglob("*.json"))[0]
    content, found = json.loads(path.read_text()), read(path)
    np.testing.assert_allclose(found.wavelength, np.array(content["wavelengths"])[::-1])
    ratio = np.array(content["flux"])[::-1] / np.array(content["fluxErrors"])[::-1]
    np.testing.assert_allclose(found.flux * np.sqrt(found.ivar), ratio, rtol=1e-6)
    # 1 mJy at 5000 Å is 1.199e-15 erg/s/cm²/Å.
    at = int(np.argmin(np.abs(found.wavelength - 5000.0)))
    assert found.flux[at] == pytest.approx(content["flux"][::-1][at] * 119.9, rel=2e-3)
