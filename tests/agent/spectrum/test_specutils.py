"""Surveys that are read with specutils, and SDSS-V mwmStar and mwmVisit, on files made to their data models."""

import sys
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

from agent.lines import sky_bands
from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from tests.support.inputs.spectra import FLUX, WAVELENGTH, N, fits_bytes, mwm, primary, table

pytest.importorskip("specutils")
AXIS = {"CRVAL1": 4000.0, "CDELT1": 2.0, "CRPIX1": 1.0, "CUNIT1": "Angstroms"}
FITTED = {"OBSRA": 1.0, "OBSDEC": 2.0, "Z": 0.05, "Z_HELIO": 0.051, "QUALITY": 4}
IMAGE = np.float32([FLUX, np.full(N, 4.0), 0 * FLUX])


def check(found, survey: str) -> None:
    np.testing.assert_allclose(found.wavelength, WAVELENGTH, rtol=1e-9)
    np.testing.assert_allclose(found.flux, FLUX)
    assert (found.survey, found.medium, found.meta["medium_assumed"]) == (survey, "air", True)


def test_a_6dfgs_image_has_its_redshift_and_variance(tmp_path):
    path = tmp_path / "6dfgs.fits"
    path.write_bytes(fits_bytes(primary(IMAGE, **AXIS, **FITTED)))
    found = read(path)
    check(found, "6dFGS")
    np.testing.assert_allclose(found.ivar, 0.25)
    assert found.redshift == 0.051
    path.write_bytes(fits_bytes(primary(IMAGE, **AXIS, **FITTED | {"QUALITY": 2})))
    assert read(path).redshift is None


def test_a_6dfgs_table(tmp_path):
    hdu = table({"WAVE": WAVELENGTH, "FLUX": FLUX})
    hdu.header["TUNIT1"], hdu.header["TUNIT2"] = "Angstrom", "counts/s"
    (tmp_path / "6dfgs.fits").write_bytes(fits_bytes(primary(**FITTED), hdu))
    check(read(tmp_path / "6dfgs.fits"), "6dFGS")


def twodf() -> bytes:
    hdus = [fits.ImageHDU(IMAGE) for _ in range(2)]
    for hdu in hdus:
        hdu.header.update(AXIS | {"IMAGE": "SPECTRUM", "Z_HELIO": 0.2, "QUALITY": 3})
    return fits_bytes(primary(np.zeros((4, 4)), IMAGE="SKYCHART"), *hdus)


def test_the_spectra_of_a_2dfgrs_file_are_targets(tmp_path):
    path = tmp_path / "000001.fits"
    path.write_bytes(twodf())
    with pytest.raises(SeveralSpectra) as several:
        read(path)
    assert several.value.targets == ("1", "2")
    for found in read_all(path):
        check(found, "2dFGRS")
        assert found.redshift == 0.2


def test_without_specutils_the_message_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "000001.fits").write_bytes(twodf())
    monkeypatch.setitem(sys.modules, "specutils", None)
    with pytest.raises(SpectrumError, match=r"found a 2dFGRS file; expected specutils .*spec-o3\[surveys\]"):
        read(tmp_path / "000001.fits")


def test_a_damaged_file_of_such_a_survey_is_refused(tmp_path):
    (tmp_path / "a.fits").write_bytes(fits_bytes(primary(IMAGE[:2], **AXIS, **FITTED)))
    with pytest.raises(SpectrumError, match="a 6dFGS file that specutils cannot read"):
        read(tmp_path / "a.fits")
    (tmp_path / "a.fits").write_bytes(fits_bytes(primary(IMAGE, **AXIS, **FITTED)) + b"x" * 2880)
    with pytest.raises(SpectrumError, match="a 6dFGS file with data after its last HDU"):
        read(tmp_path / "a.fits")


BOSS = 10 ** (3.5523 + 1e-4 * np.arange(N))


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_a_star_seen_from_lco_only_is_read_past_the_empty_hdu_of_apo(tmp_path):
    found = read(written(tmp_path / "mwmStar-0.6.0-42.fits", mwm({"BOSS/LCO": 1})))
    np.testing.assert_allclose(found.wavelength, BOSS, rtol=1e-6)
    assert (found.medium, found.frame, found.survey) == ("vacuum", "rest", "SDSS-V")
    assert found.redshift == pytest.approx(30.0 / 299792.458)
    assert found.ids == {"sdss_id": "42", "gaia_dr3": "23423"}
    assert (found.ra, found.dec, found.meta["carton"]) == (198.4, 67.1, "mwm_wd_core")
    assert (found.meta["hdu"], found.name) == ("BOSS/LCO", "mwmStar-0.6.0-42.fits")
    np.testing.assert_allclose(found.model, 0.9, rtol=1e-6)
    assert [band.name for band in sky_bands(found.survey) if band.kind == "arm join"] == ["BOSS arm join"]


def test_a_stack_without_a_velocity_is_at_rest_and_its_redshift_is_unknown(tmp_path):
    found = read(written(tmp_path / "mwmStar.fits", mwm({"BOSS/APO": 1}, v_rad=[np.nan])))
    assert (found.frame, found.redshift) == ("rest", None)


def test_two_observatories_are_two_targets_and_apogee_is_read_by_name(tmp_path):
    rows = {"BOSS/APO": 1, "BOSS/LCO": 1, "APOGEE/APO": 1}
    path = written(tmp_path / "mwmStar.fits", mwm(rows))
    with pytest.raises(SeveralSpectra) as several:
        read(path)
    assert several.value.targets == ("BOSS-APO", "BOSS-LCO", "APOGEE-APO")
    assert [s.name for s in read_all(path)] == ["mwmStar.fits#BOSS-APO", "mwmStar.fits#BOSS-LCO"]
    infrared = read(path, "APOGEE-APO")
    assert (infrared.survey, infrared.wavelength[0]) == ("SDSS-V APOGEE", pytest.approx(10**4.179))


def test_boss_is_read_where_only_apogee_is_there_too(tmp_path):
    path = written(tmp_path / "mwmStar.fits", mwm({"BOSS/APO": 1, "APOGEE/APO": 1}))
    assert read(path).survey == "SDSS-V"
    assert read(written(path, mwm({"APOGEE/LCO": 1}))).survey == "SDSS-V APOGEE"


def test_stacked_visits_are_averaged_and_kept_as_exposures(tmp_path):
    rows = {"BOSS/APO": 3}
    content = mwm(rows, visits=True, in_stack=[True, False, True], v_rad=[20.0, np.nan, 40.0])
    path = written(tmp_path / "mwmVisit.fits", content)
    found = read(path)
    assert (found.frame, found.redshift) == ("rest", pytest.approx(30.0 / 299792.458))
    assert set(found.flux) == {2.0}  # of 1 and 3; the second visit is not at rest
    assert set(found.ivar) == {2.0}
    assert [exposure.name for exposure in found.exposures] == ["BOSS-APO 59800", "BOSS-APO 59802"]
    visit = read(path, "BOSS-APO-59801")
    assert (visit.frame, visit.redshift, set(visit.flux)) == ("observed", None, {2.0})
    assert (visit.name, visit.exposures) == ("mwmVisit.fits#BOSS-APO-59801", ())


def test_visits_that_were_not_stacked_are_as_observed(tmp_path):
    content = mwm({"BOSS/APO": 2}, visits=True, in_stack=[False, False], xcsao_rxc=[9.0, 2.0])
    found = read(written(tmp_path / "mwmVisit.fits", content))
    assert (found.frame, found.redshift) == ("observed", pytest.approx(30.0 / 299792.458))
    assert len(found.exposures) == 2
    assert read(tmp_path / "mwmVisit.fits", "BOSS-APO-59801").redshift is None  # its correlation is poor
