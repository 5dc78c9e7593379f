"""SDSS plates with their redshifts, on files made to the published data models of spPlate and spZbest."""

import gzip

import numpy as np
import pytest

from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from tests.support.inputs.spectra import plate, zbest

NAME, FITS = "spPlate-3586-55181.fits", "spZbest-3586-55181.fits"


@pytest.mark.parametrize(("name", "pack"), [(FITS, bytes), (f"{FITS}.gz", gzip.compress)])
def test_a_plate_is_joined_with_its_redshifts_and_models(tmp_path, name, pack):
    (tmp_path / NAME).write_bytes(plate())
    (tmp_path / name).write_bytes(pack(zbest()))
    star, galaxy = read_all(tmp_path / NAME)
    assert (star.redshift, star.catalogue_class, star.meta["zwarn"]) == (pytest.approx(0.0001), "STAR CV", 0)
    assert (galaxy.redshift, galaxy.catalogue_class, galaxy.meta["zwarn"]) == (pytest.approx(0.4), "GALAXY", 4)
    assert (star.medium, star.survey, star.flux_unit) == ("vacuum", "SDSS BOSS", "1e-17 erg s-1 cm-2 Å-1")
    assert (star.name, star.ids) == (f"{NAME}#1", {"plate-mjd-fiber": "3586-55181-1"})
    assert star.wavelength[0] == pytest.approx(10**3.6)
    np.testing.assert_allclose(galaxy.model, 0.9 * galaxy.flux, rtol=1e-6)
    assert read(tmp_path / NAME, "3").meta["objtype"] == "SKY"
    assert read(tmp_path / NAME, "spectype=GALAXY").name == f"{NAME}#2"


def test_a_plate_alone_has_no_redshifts(tmp_path):
    (tmp_path / NAME).write_bytes(plate())
    with pytest.raises(SeveralSpectra):
        read(tmp_path / NAME)
    assert {(s.redshift, s.catalogue_class, s.model) for s in read_all(tmp_path / NAME)} == {(None, "", None)}
    with pytest.raises(SpectrumError, match=f"expected {FITS} in the same folder"):
        read(tmp_path / NAME, "zwarn=0")


def test_the_redshifts_alone_are_refused_with_the_name_of_the_plate(tmp_path):
    (tmp_path / FITS).write_bytes(zbest())
    with pytest.raises(SpectrumError, match=f"expected {NAME}: keep both in one folder"):
        read(tmp_path / FITS)


def test_a_plate_of_the_first_survey_is_called_sdss(tmp_path):
    (tmp_path / NAME).write_bytes(plate(RUN2D="26"))
    assert next(read_all(tmp_path / NAME)).survey == "SDSS"


def test_images_that_do_not_fit_are_refused(tmp_path):
    (tmp_path / NAME).write_bytes(plate())
    (tmp_path / FITS).write_bytes(zbest(2))
    assert [s.redshift for s in read_all(tmp_path / NAME)] == pytest.approx([0.0001, 0.4])
    (tmp_path / FITS).write_bytes(plate())
    with pytest.raises(SpectrumError, match=f"^{FITS}: found .*expected CLASS, Z, ZWARNING and FIBERID"):
        read(tmp_path / NAME, "1")
