"""Spectra as archives give them: VOTable (SSA), Gaia XP, ESO phase 3, 4MOST, bzip2; made to their published formats."""

import bz2
import warnings
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits as astropy_fits
from astropy.table import Table

from agent.spectrum import SpectrumError, read
from tests.support.inputs.spectra import FLUX, TEXT, WAVELENGTH, N, fits_bytes, primary, ssa, table, votable

GAIA = np.arange(336.0, 1021.0, 2.0)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("ucd", "medium", "assumed"),
    [("em.wl;obs.vac", "vacuum", None), ("em.wl;obs.atmos", "air", None), ("em.wl", "air", True)],
)
def test_a_spectrum_of_the_ivoa_data_model_is_found_by_utype(tmp_path, ucd, medium, assumed):
    found = read(written(tmp_path / "s.xml", ssa(ucd)))
    np.testing.assert_allclose(found.wavelength, WAVELENGTH)
    np.testing.assert_allclose(found.flux, FLUX)
    np.testing.assert_allclose(found.ivar, 4.0)
    assert (found.medium, found.meta.get("medium_assumed")) == (medium, assumed)
    assert "erg" in found.flux_unit


def test_a_votable_in_janskys_becomes_f_lambda(tmp_path):
    found = read(written(tmp_path / "s.vot", ssa(flux_unit="mJy")))
    assert (found.flux_unit, found.meta["flux_unit_in_file"]) == ("1e-17 erg s-1 cm-2 Å-1", "mJy")
    np.testing.assert_allclose(found.flux * np.sqrt(found.ivar), FLUX * 2)


@pytest.mark.parametrize("form", ["tabledata", "binary", "binary2"])
def test_named_columns_in_any_serialisation(tmp_path, form):
    columns = {"wavelength": WAVELENGTH, "flux": FLUX, "flux_error": np.full(N, 0.5)}
    there = Table(columns)
    there["wavelength"].unit = "Angstrom"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a unit that newer versions of VOTable call 0.1nm
        there.write(tmp_path / "s.vot", format="votable", tabledata_format=form)
    found = read(tmp_path / "s.vot")
    np.testing.assert_allclose(found.wavelength, WAVELENGTH)
    np.testing.assert_allclose(found.ivar, 4.0)


def test_a_row_of_vectors_is_a_spectrum(tmp_path):
    there = Table({"wavelength": [WAVELENGTH], "flux": [FLUX]})
    there.write(tmp_path / "s.vot", format="votable")
    np.testing.assert_allclose(read(tmp_path / "s.vot").flux, FLUX)


def test_the_result_of_a_query_is_refused_in_words(tmp_path):
    fields = '<FIELD name="AcRef" utype="ssa:Access.Reference" datatype="char" arraysize="*"/>'
    path = written(tmp_path / "q.vot", votable(fields, [(1.0,)]))
    with pytest.raises(SpectrumError, match="a list of spectra"):
        read(path)


def test_hostile_xml_is_refused_and_a_promised_number_of_rows_allocates_nothing(tmp_path):
    content = ssa().replace(b"<TABLE>", b'<TABLE nrows="99999999999999">')
    assert len(read(written(tmp_path / "s.vot", content))) == N
    laughs = b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>'
    content = ssa().replace(b"?>", b"?>" + laughs, 1)
    with pytest.raises(SpectrumError, match="XML with definitions of its own"):
        read(written(tmp_path / "s.vot", content))


@pytest.mark.parametrize("place", ['href="file:///etc/hostname"', "rights='>' href='http://127.0.0.1:9/x'"])
def test_data_in_another_file_are_never_fetched(tmp_path, monkeypatch, place):
    import urllib.request

    fetched: list[str] = []
    monkeypatch.setattr(urllib.request, "urlopen", lambda url, *rest, **more: fetched.append(url))
    fields = '<FIELD name="wave" datatype="double"/><FIELD name="flux" datatype="double"/>'
    content = votable(fields, []).replace(b"<TABLEDATA></TABLEDATA>", f"<BINARY><STREAM\n {place}/></BINARY>".encode())
    with pytest.raises(SpectrumError, match="data are in another file"):
        read(written(tmp_path / "s.vot", content))
    assert fetched == []


def gaia_csv() -> bytes:
    rows = "\n".join(f"{w},{1e-17 * (2 + np.sin(w / 50))},1e-18" for w in GAIA)
    return f"wavelength,flux,flux_error\n{rows}\n".encode()


def test_a_sampled_gaia_spectrum_needs_no_unit(tmp_path):
    found = read(written(tmp_path / "XP_SAMPLED-Gaia DR3 5853498713190525696.csv", gaia_csv()))
    assert tuple(found.wavelength[[0, -1]]) == (3360.0, 10200.0)
    assert (found.medium, found.survey, found.flux_unit) == ("vacuum", "Gaia XP", "W m-2 nm-1")
    assert found.ids == {"gaia_dr3": "5853498713190525696"}
    assert "medium_assumed" not in found.meta
    assert (len(found), found.sampling) == (343, 20.0)


def test_a_sampled_gaia_spectrum_as_votable(tmp_path):
    there = Table({"wavelength": GAIA, "flux": np.full(343, 2e-17), "flux_error": np.full(343, 1e-18)})
    there["wavelength"].unit = "nm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        there.write(tmp_path / "XP_SAMPLED-Gaia DR3 58534.vot", format="votable")
    found = read(tmp_path / "XP_SAMPLED-Gaia DR3 58534.vot")
    assert (found.medium, found.survey, found.ids) == ("vacuum", "Gaia XP", {"gaia_dr3": "58534"})


@pytest.mark.parametrize("change", [b"336.0,", b"1020.0,"])
def test_other_samples_from_336_need_a_unit(tmp_path, change):
    content = gaia_csv().replace(b"\n" + change, b"\n" + change.replace(b".0", b".5"))
    with pytest.raises(SpectrumError, match="an axis without unit"):
        read(written(tmp_path / "a.csv", content))


@pytest.mark.parametrize(
    ("ucd", "column", "cards", "medium", "assumed"),
    [
        ("em.wl;obs.vac", "WAVE", {}, "vacuum", None),
        ("em.wl;obs.atmos", "WAVE", {}, "air", None),
        ("em.wl", "WAVE", {"INSTRUME": "ESPRESSO"}, "vacuum", None),
        ("em.wl", "WAVE", {"INSTRUME": "UVES"}, "air", True),
        ("em.wl", "WAVE_AIR", {"INSTRUME": "ESPRESSO"}, "air", None),
    ],
)
def test_eso_phase_3_states_its_medium_by_ucd(tmp_path, ucd, column, cards, medium, assumed):
    hdu = table({column: [WAVELENGTH / 10], "FLUX": [FLUX], "ERR": [np.full(N, 0.5)]}, "SPECTRUM")
    hdu.header["TUCD1"], hdu.header["TUNIT1"] = ucd, "nm"
    found = read(written(tmp_path / "ADP.fits", fits_bytes(primary(OBJECT="HD 1", **cards), hdu)))
    np.testing.assert_allclose(found.wavelength, WAVELENGTH)
    np.testing.assert_allclose(found.ivar, 4.0)
    assert (found.medium, found.meta.get("medium_assumed")) == (medium, assumed)


def test_the_errors_of_4most_are_read(tmp_path):
    content = fits_bytes(primary(), table({"WAVE": WAVELENGTH, "FLUX": FLUX, "ERR_FLUX": np.full(N, 0.5)}))
    found = read(written(tmp_path / "l1.fits", content))
    assert found.errors == "measured"
    np.testing.assert_allclose(found.ivar, 4.0)


def test_bzip2_is_unpacked_or_called_damaged(tmp_path):
    packed = bz2.compress(TEXT["csv"])
    assert len(read(written(tmp_path / "a.csv.bz2", packed))) == N
    for damaged in (packed[:-20], b"BZh9 is not a compressed file at all"):
        with pytest.raises(SpectrumError, match="damaged bzip2 data"):
            read(written(tmp_path / "a.bz2", damaged))


def test_a_bzip2_bomb_is_refused(tmp_path):
    with pytest.raises(SpectrumError, match="bytes that unpacks to more than"):
        read(written(tmp_path / "a.bz2", bz2.compress(bytes(100 * 2**20))))


def test_stelib_positions_in_radians_and_of_1950_become_degrees_of_icrs(shared):
    folder = shared / "spectra/stelib"
    radians = read(folder / "B_STAR/STELIB_v3.2_HD074280.fits")  # SIMBAD: 08 43 13.48, +03 23 55.2
    assert (radians.ra, radians.dec) == pytest.approx((130.80615, 3.39866), abs=2e-3)
    sexagesimal = read(folder / "B_STAR/STELIB_v3.2_HD091316.fits")  # SIMBAD: 10 32 48.67, +09 18 23.7
    assert (sexagesimal.ra, sexagesimal.dec) == pytest.approx((158.20279, 9.30659), abs=5e-3)
    for path in folder.rglob("*.fits"):
        with warnings.catch_warnings(), astropy_fits.open(path) as hdus:
            warnings.simplefilter("ignore")
            star = hdus[0].header.get("STARIDEN")
        found = read(path)
        assert None not in (found.ra, found.dec), star
