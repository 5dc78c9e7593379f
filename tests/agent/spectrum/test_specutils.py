"""Surveys that are read with specutils, on files made to what its readers expect of them."""

import sys

import numpy as np
import pytest
from astropy.io import fits

from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from tests.support.inputs.spectra import FLUX, WAVELENGTH, N, fits_bytes, primary, table

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
