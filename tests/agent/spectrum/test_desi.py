"""DESI files and SDSS plates: the redshift table in the same folder, exposures, and the selection of targets."""

import bz2
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits as astropy_fits

import app
from agent.batch.sources import Source, spectra_in
from agent.spectrum import SeveralSpectra, SpectrumError, read, read_all
from agent.spectrum.readers.targets import CatalogueEntry, Selection
from tests.support.inputs.spectra import desi, plate, redrock, zbest

IDS = (39627, 39628, 39629, 39630)


@pytest.fixture(params=["redrock", "zbest"])
def coadd(request, tmp_path) -> Path:
    path = tmp_path / "coadd-sv3-dark-7.fits"
    path.write_bytes(desi(ids=IDS))
    hdu = {"redrock": "REDSHIFTS", "zbest": "ZBEST"}[request.param]
    (tmp_path / f"{request.param}-sv3-dark-7.fits").write_bytes(redrock(IDS, hdu))
    return path


def test_redshift_class_and_warning_come_from_the_table_in_the_same_folder(coadd):
    star, galaxy = read(coadd, "39627"), read(coadd, 39628)
    assert (star.redshift, star.catalogue_class, star.meta["zwarn"]) == (0.0001, "STAR CV", 0)
    assert (galaxy.redshift, galaxy.catalogue_class, galaxy.meta["zwarn"]) == (0.4, "GALAXY", 4)
    assert star.meta["redshift_from"].endswith("-sv3-dark-7.fits")
    assert (star.meta["deltachi2"], star.meta["zerr"]) == (50.0, 1e-5)


def test_without_the_table_redshift_and_class_are_unknown(tmp_path):
    path = tmp_path / "coadd-1.fits"
    path.write_bytes(desi(ids=IDS))
    (tmp_path / "redrock-2.fits").write_bytes(redrock(IDS))
    assert {(s.redshift, s.catalogue_class) for s in read_all(path)} == {(None, "")}
    with pytest.raises(SpectrumError, match=r"found no redshift table; expected redrock-1\.fits in the same folder"):
        read(path, "spectype=STAR")


@pytest.mark.parametrize(
    ("name", "pack", "companion"),
    [
        ("spectra-5-1.fits.gz", gzip.compress, "redrock-5-1.fits"),
        ("coadd-5-1.fits", bytes, "redrock-5-1.fits.gz"),
        ("coadd-5-1.fits.bz2", bz2.compress, "zbest-5-1.fits"),
    ],
)
def test_the_two_files_may_be_compressed_or_not(tmp_path, name, pack, companion):
    (tmp_path / name).write_bytes(pack(desi(ids=IDS)))
    table = redrock(IDS)
    (tmp_path / companion).write_bytes(gzip.compress(table) if companion.endswith("gz") else table)
    assert read(tmp_path / name, "39629").redshift == 0.0001


def test_targets_that_the_table_lacks_have_no_redshift(coadd):
    for table in coadd.parent.glob("[rz]*.fits"):
        table.write_bytes(redrock(IDS[:2]))
    assert [s.redshift for s in read_all(coadd)] == [0.0001, 0.4, None, None]


@pytest.mark.parametrize("content", [b"SIMPLE  =", desi(), redrock()[:5780]], ids=["nonsense", "a coadd", "cut"])
def test_a_table_that_cannot_be_read_is_named(tmp_path, content):
    (tmp_path / "coadd-1.fits").write_bytes(desi(ids=IDS))
    (tmp_path / "redrock-1.fits").write_bytes(content)
    with pytest.raises(SpectrumError, match=r"^redrock-1\.fits: found .*; expected "):
        read(tmp_path / "coadd-1.fits", "39627")


def test_the_table_alone_is_refused_with_the_name_of_its_coadd(coadd):
    (table,) = coadd.parent.glob("[rz]*.fits")
    with pytest.raises(SpectrumError, match=f"redshifts without spectra.*expected {coadd.name}: keep both in one"):
        read(table)


def test_a_selection_reads_the_one_target_that_it_accepts(coadd):
    assert read(coadd, "targetid=39628").ids == {"targetid": "39628"}
    assert read(coadd, "spectype=galaxy,targetid=39628|39629").ids == {"targetid": "39628"}
    with pytest.raises(SeveralSpectra) as several:
        read(coadd, "spectype=STAR, zwarn=0")
    assert several.value.targets == ("39627", "39629")
    with pytest.raises(SpectrumError, match="expected a target spectype=QSO"):
        read(coadd, "spectype=QSO")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spectype=STAR,zwarn=0", Selection((), "STAR", 0)),
        ("targetid=1|2", Selection(("1", "2"))),
        ("39627", None),
        ("name=STAR", None),
        ("zwarn=none", None),
        ("spectype=STAR,spectype=QSO", None),
        ("", None),
    ],
)
def test_the_text_form_of_a_selection(text, expected):
    assert Selection.parse(text) == expected
    if expected is not None:
        assert str(expected) == text


def test_a_class_is_compared_word_by_word():
    assert Selection(spectype="star").accepts("1", CatalogueEntry("STAR CV", 0))
    assert Selection(spectype="STAR CV").accepts("1", CatalogueEntry("STAR CV", 0))
    assert not Selection(spectype="STAR C").accepts("1", CatalogueEntry("STAR CV", 0))
    assert not Selection(zwarn=0).accepts("1", CatalogueEntry("STAR CV", None))


def test_a_source_with_a_selection_becomes_one_source_per_target(coadd):
    chosen = list(spectra_in(Source(coadd, "c.fits", "spectype=STAR")))
    assert [source.key for source in chosen] == ["c.fits#39627", "c.fits#39629"]
    assert list(spectra_in(Source(coadd, "c.fits", "spectype=QSO"))) == []


def test_files_without_a_table_are_selected_by_the_class_of_each_spectrum(shared):
    star = shared / "spectra/sdss/STAR_M4/spec-1123-52882-0065.fits"
    assert [s.target for s in spectra_in(Source(star, "s.fits", "spectype=STAR,zwarn=0"))] == [""]
    assert list(spectra_in(Source(star, "s.fits", "spectype=GALAXY"))) == []


def test_inspect_takes_the_selected_targets_only(coadd, capsys):
    out = coadd.parent / "out.jsonl"
    arguments = ["inspect", str(coadd), "--task", "cv", "--out", str(out), "--concurrency", "1", "--json"]
    app.main([*arguments, "--spectype", "STAR", "--zwarn", "0"])
    assert json.loads(capsys.readouterr().out)["spectra"] == 2
    targets = {json.loads(line)["source"]["target"] for line in out.read_text().splitlines()}
    assert targets == {"39627", "39629"}


def test_exposures_of_a_target_are_kept_with_their_night_and_number(tmp_path):
    path = tmp_path / "spectra-1.fits"
    path.write_bytes(desi(ids=(5, 6, 5), NIGHT=[20210101, 20210101, 20210102], EXPID=[7, 7, 9]))
    several, one = read(path, 5), read(path, 6)
    assert [e.name for e in several.exposures] == ["night 20210101 expid 7", "night 20210102 expid 9"]
    assert [set(e.flux) for e in several.exposures] == [{1.0}, {3.0}]
    assert set(several.flux) == {2.0}
    np.testing.assert_array_equal(several.exposures[0].wavelength, several.wavelength)
    assert one.exposures == ()


def test_a_real_coadd_is_joined_with_a_table_of_its_target(tmp_path, shared):
    """No coadd of the collection has its own redrock table: the table here is made for the TARGETIDs of the file."""
    real = shared / "spectra/desi/QSO/coadd-1-80693-thru20210204.fits"
    with astropy_fits.open(real) as hdus:
        ids = [int(one) for one in hdus["FIBERMAP"].data["TARGETID"]]
    (tmp_path / real.name).write_bytes(real.read_bytes())
    (tmp_path / "redrock-1-80693-thru20210204.fits").write_bytes(redrock(ids))
    spectra = {s.ids["targetid"]: s for s in read_all(tmp_path / real.name)}
    assert {s.catalogue_class for s in spectra.values()} == {"STAR CV", "GALAXY"}
    assert spectra[str(ids[0])].sha256 != read(real, ids[0]).sha256  # the redshift is part of the hash
    np.testing.assert_array_equal(spectra[str(ids[0])].flux, read(real, ids[0]).flux)


def test_a_real_redrock_table_is_read_as_it_stands(tmp_path, shared):
    table = shared / "spectra/desi/GALAXY/redrock-4-80613-thru20210324.fits"
    (tmp_path / "coadd-4-80613-thru20210324.fits").write_bytes(desi(ids=(39633345008634465,)))
    (tmp_path / table.name).write_bytes(table.read_bytes())
    found = read(tmp_path / "coadd-4-80613-thru20210324.fits")
    assert (found.redshift, found.catalogue_class, found.meta["zwarn"]) == (pytest.approx(0.36874355), "GALAXY", 0)


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


def test_the_redshifts_alone_and_old_plates(tmp_path):
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
