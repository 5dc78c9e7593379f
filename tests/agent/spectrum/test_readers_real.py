"""Real survey files: each is read over its full wavelength range, or refused for the right reason."""

import csv
import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits as astropy_fits

from agent import lines
from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from agent.spectrum.readers.fits import FitsFile

ONLY_SPECTRUM = 0.02  # Å; the manifest is written to 0.01
PRINTED_TO_1 = 3e-5  # of the wavelength: X-shooter text above 10,000 Å is printed to 1 Å

# Files that must be refused: a part of the path, and a part of the message.
REFUSED = {
    "desi/GALAXY/redrock-": "a table of redshifts without spectra (redrock); expected coadd-4-80613-",
    "desi/QSO/QSO_cat": "columns TARGETID, Z",
    "desi/odd_bad_format/missing_z_color": "expected DESI arms",
    "desi_redrock_templates/": "a library of basis vectors",
    "sdss_eigen_templates/": "a library of eigenspectra",
    "snid_templates/": "an HDF5 container",
}

# Files whose range differs from the manifest: a part of the path, the true ends in Å, and the reason.
LAMOST_DR1 = "the third row of DR1/2 files is flux over continuum, the axis is in COEFF0 and COEFF1"
MARZ_VACUUM = "the header's axis is air; the WAVELENGTH HDU holds the vacuum wavelengths"
PICKLES_FUSED = "columns run together where fluxes pass 100; the manifest leaves those rows out"
MANIFEST_ERRS = {
    "spec-55862-B6212_sp16-230.fits": (3699.985, 9097.038, LAMOST_DR1),
    "spec-55862-B6212_sp06": (3699.985, 9088.663, LAMOST_DR1),
    "emlLinearVacuumNoHelio.fits": (3754.669, 8981.651, MARZ_VACUUM),
    "emlLogVacuumHelioCMB.fits": (3754.669, 8981.651, MARZ_VACUUM),
    "med-58270": (4899.82, 6873.37, "the manifest's range includes single exposures"),
    "m8iii.dat": (1150.0, 10620.0, PICKLES_FUSED),
    "o9v.dat": (1150.0, 10620.0, PICKLES_FUSED),
}

SEVERAL = {
    "spectra-main-dark-9144": 2,
    "coadd-1-80693": 5,
    "coadd-main-dark-9144": 2,
    "coadd-sv3-dark": 5,
    "spectra-5-169": 5,
    "IZW18": 2,
}


@dataclass(frozen=True)
class Row:
    path: str
    wave_min: float
    wave_max: float
    refusal: str | None


@pytest.fixture(scope="module")
def manifest(shared: Path) -> list[Row]:
    with open(shared / "spectra/MANIFEST.csv", newline="", encoding="utf-8") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: dict[str, str]) -> Row:
    path = line["path"]
    refusal = next((why for part, why in REFUSED.items() if part in path), None)
    true = next((ends for part, (*ends, _) in MANIFEST_ERRS.items() if part in path), None)
    low, high = true or (float(line["wave_min"]), float(line["wave_max"]))
    return Row(path, low, high, refusal)


@pytest.fixture(scope="module")
def folder(shared: Path) -> Path:
    return shared / "spectra"


def any_spectrum(path: Path) -> Spectrum:
    try:
        return read(path)
    except SeveralSpectra:
        return next(read_all(path))


def test_every_file_is_read_over_its_range_or_refused_for_its_reason(manifest: list[Row], folder: Path):
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning of astropy reaches the user
        for row in manifest:
            try:
                spectrum = any_spectrum(folder / row.path)
            except SpectrumError as error:
                message = str(error)
                if row.refusal is None or row.refusal not in message or "\n" in message:
                    faults.append(f"{row.path} refused: {message}")
                elif not message.startswith(f"{Path(row.path).name}: found "):
                    faults.append(f"{row.path}: message does not name the file: {message}")
                continue
            low, high = spectrum.wavelength[[0, -1]]
            near = abs(low - row.wave_min) < ONLY_SPECTRUM
            near &= abs(high - row.wave_max) < max(ONLY_SPECTRUM, PRINTED_TO_1 * row.wave_max)
            if row.refusal is not None or not near:
                faults.append(f"{row.path} read to {low:.2f}..{high:.2f} Å, expected {row}")
    assert len(manifest) > 300
    assert faults == []


def test_the_tables_of_exceptions_name_only_files_that_exist(manifest: list[Row]):
    for part in (*REFUSED, *MANIFEST_ERRS, *SEVERAL):
        assert any(part in row.path for row in manifest), part


def test_files_of_several_spectra_list_them_and_return_them_one_by_one(manifest: list[Row], folder: Path):
    for row in manifest:
        count = next((n for part, n in SEVERAL.items() if part in row.path), None)
        if count is None or row.refusal:
            continue
        with pytest.raises(SeveralSpectra) as caught:
            read(folder / row.path)
        assert len(caught.value.targets) == count
        for spectrum in read_all(folder / row.path):
            target = spectrum.name.split("#")[1]
            assert read(folder / row.path, target) == spectrum


def test_the_fits_access_agrees_with_astropy_on_every_value(manifest: list[Row], folder: Path):
    compared = 0
    for row in manifest:
        path = folder / row.path
        if not path.name.endswith((".fits", ".fit")):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with open(path, "rb") as stream, astropy_fits.open(path, memmap=False) as theirs:
                ours = FitsFile(stream, path.name, path.stat().st_size)
                for mine, reference in islice(zip(ours, theirs, strict=True), 6):
                    compared += _same_data(mine, reference)
    assert compared > 500


def _same_data(mine, reference) -> int:
    if mine.is_table and mine.shape[0] == 0:
        return 0
    if mine.is_table:
        names = [c.name for c in reference.columns if c.format[-1] in "BIJKEDA" and c.format != "0A"][:60]
        for name in names:
            if mine.columns[name.upper()].repeat == 0:
                continue
            values, expected = mine.column(name), np.asarray(reference.data[name])
            if values.dtype.kind == "S":
                values = np.char.rstrip(np.char.decode(values, "latin-1"), " \0")
                expected = np.char.rstrip(np.char.asarray(expected), " \0")
            elif name.upper() not in mine.columns or values.shape != expected.shape:
                values = values.reshape(expected.shape)
            np.testing.assert_array_equal(values, expected, err_msg=name)
        return len(names)
    if reference.data is None:
        assert mine.size == 0 or len(mine.shape) == 0
        return 0
    np.testing.assert_array_equal(mine.image(), reference.data)
    return 1


def test_both_lamost_layouts_of_one_observation_agree(folder: Path):
    table = read(folder / "lamost/STAR_G0/spec-55859-F5902_sp01-005.fits.gz")
    image = read(folder / "lamost/STAR_G0/spec-55859-F5902_sp01-005__v2.fits.gz")
    np.testing.assert_allclose(table.wavelength, image.wavelength, rtol=1e-6)
    assert np.corrcoef(table.flux, image.flux)[0, 1] > 0.99
    assert (image.ids, image.ra, image.dec) == (table.ids, table.ra, table.dec)


def test_the_wavelengths_of_a_lamost_dr1_file_put_h_alpha_at_its_vacuum_wavelength(folder: Path):
    spectrum = read(folder / "lamost/STAR_A7III/spec-55862-B6212_sp06-194.fits")
    h_alpha = 6564.61 * (1 + spectrum.redshift)  # vacuum, NIST; in air it lies 1.8 Å bluer
    near = np.abs(spectrum.wavelength - h_alpha) < 25
    depth = np.clip(np.median(spectrum.flux[near]) - spectrum.flux[near], 0, None) ** 2
    centre = (spectrum.wavelength[near] * depth).sum() / depth.sum()
    assert abs(centre - h_alpha) < 0.7


def test_odd_headers_lose_only_their_own_value(folder):
    assert read(folder / "lamost/UNKNOWN/spec-58575-HD103621N361936B01_sp03-045.fits").redshift is None
    spectrum = read(folder / "sdss_dr2_templates/CARBON_STAR/spDR2-017.fit")
    assert spectrum.redshift in (None, 0.0)
    assert spectrum.survey == "SDSS"
    spectrum = read(folder / "sdss/GALAXY/spec-10000-57346-0003.fits")  # BADFLAT is set in 4593 of 4606 pixels
    assert (spectrum.ivar == 0).sum() == 11
    assert spectrum.mask.sum() == 242


def test_the_sdss_catalogue_row_is_kept_in_old_and_new_files(folder: Path):
    old = read(folder / "sdss/GALAXY/spec-0266-51602-0013.fits")
    assert old.redshift == pytest.approx(0.12131637)
    assert old.snr["r"] == pytest.approx(21.0026)
    assert old.snr["median"] == pytest.approx(16.2491)
    assert (old.ra, old.dec) == pytest.approx((146.9341, -0.670404))
    assert old.ids["plate-mjd-fiber"] == "266-51602-13"
    assert old.ids["specobjid"] == "299492975510054912"
    assert (old.catalogue_class, old.meta["zwarning"]) == ("GALAXY", 0)
    new = read(folder / "sdss/GALAXY/spec-10000-57346-0003.fits")
    assert new.ids["specobjid"] == "11259000016306413568"  # unsigned, beyond what int64 holds
    assert new.ids["thing_id"] == "342410449"
    assert new.meta["objtype"] == "GALAXY"


def test_stelib_is_air_and_rest_frame_and_its_zeroed_ranges_hold_no_data(folder: Path):
    spectrum = read(next((folder / "stelib").rglob("*HD091316.fits")))
    assert (spectrum.survey, spectrum.medium, spectrum.frame) == ("STELIB", "air", "rest")
    gap = (spectrum.wavelength > 4760) & (spectrum.wavelength < 7840)
    assert not spectrum.ivar[gap].any()
    assert (spectrum.ivar[spectrum.flux != 0] > 0).all()
    assert spectrum.errors == "estimated"
    assert "medium_assumed" not in spectrum.meta
    assert spectrum.catalogue_class == "B1Ib"


def test_miles_is_air_and_rest_frame(folder: Path):
    spectrum = read(next((folder / "miles").rglob("*m0720*")))
    assert (spectrum.survey, spectrum.medium, spectrum.frame, spectrum.flux_unit) == (
        "MILES",
        "air",
        "rest",
        "relative",
    )


def test_marz_medium_comes_from_the_header_and_nan_pixels_hold_no_data(folder: Path):
    air = read(folder / "marz_tests/GALAXY_emission/emlLinearSkyAirNoHelio.fits")
    vacuum = read(folder / "marz_tests/GALAXY_emission/emlLinearVacuumNoHelio.fits")
    assert (air.medium, vacuum.medium) == ("air", "vacuum")
    # One object in both: n of air shifts 3753.6 Å by 1.07 Å (Ciddor 1996).
    assert vacuum.wavelength[0] - air.wavelength[0] == pytest.approx(1.07, abs=0.01)
    assert (air.ivar == 0).sum() >= 37
    assert air.ra == pytest.approx(35.5, abs=2)


def test_text_without_a_stated_medium_is_marked_as_assumed(folder: Path):
    plain = read(next((folder / "wiserep_pessto").rglob("*.asci")))
    assert (plain.medium, plain.meta["medium_assumed"], plain.flux_unit) == ("air", True, "unknown")
    oke = read(next((folder / "ing_oke1974_text").rglob("hz29.oke")))
    assert (oke.flux_unit, oke.meta["flux_unit_in_file"]) == ("1e-17 erg s-1 cm-2 Å-1", "mjy")
    # 12.023 mJy at 3340 Å; 1 mJy is 1e-26 erg/s/cm²/Hz, and the air wavelength is 1 Å shorter than the vacuum one.
    assert oke.flux[0] == pytest.approx(12.023e-26 * 2.99792458e18 / 3340.96**2 / 1e-17, rel=1e-5)
    assert oke.sampling == 40.0


def test_a_full_sdss_file_has_its_model_and_one_exposure_per_arm(folder: Path):
    path = folder / "sdss/STAR_M6III/spec-3764-55514-0972.fits"
    spectrum = read(path)
    with astropy_fits.open(path) as hdus:
        np.testing.assert_allclose(spectrum.model, hdus[1].data["model"])
        names = [hdu.name for hdu in hdus[4:]]
        red = hdus[names[-1]].data
    assert [exposure.name for exposure in spectrum.exposures] == names
    assert len(names) == 8
    np.testing.assert_allclose(spectrum.exposures[-1].wavelength, 10.0 ** red["loglam"].astype(float))
    np.testing.assert_allclose(spectrum.exposures[-1].flux, red["flux"])
    assert read(folder / "sdss/GALAXY/spec-10000-57346-0003.fits").exposures == ()


def test_the_arms_of_a_lamost_medium_resolution_file_are_one_spectrum_with_a_gap(folder: Path):
    path = folder / "lamost/odd_medium_resolution/med-58270-HIP95119KP01_sp12-076.fits.gz"
    found = read(path)
    steps = np.diff(found.wavelength)
    assert (steps > 100).sum() == 1
    assert (found.survey, found.medium, found.snr) == ("LAMOST MRS", "vacuum", {"B": 65.28, "R": 104.81})
    assert found.ids["obsid"] == "666912076"
    assert lines.survey(found.survey).resolving_power == (7500.0, 7500.0)
    with astropy_fits.open(path) as hdus:
        names = [hdu.name for hdu in hdus[3:]]
        last = hdus[-1].data
        np.testing.assert_allclose(found.flux[: len(hdus["COADD_B"].data)], hdus["COADD_B"].data["FLUX"])
    assert [exposure.name for exposure in found.exposures] == names
    assert len(names) == 8
    np.testing.assert_allclose(found.exposures[-1].flux, last["FLUX"][::-1])
    # Hα of a star near zero velocity, in the red arm; the nearest pixels are 0.1 Å apart.
    near = np.abs(found.wavelength - 6564.61) < 6
    assert abs(found.wavelength[near][np.argmin(found.flux[near])] - 6564.61) < 3


def test_the_spectrograph_of_sdss_selects_its_arm_join(folder: Path):
    joins = {}
    for name in ("STAR_M4/spec-1123-52882-0065.fits", "STAR_M6III/spec-3764-55514-0972.fits"):
        survey = read(folder / "sdss" / name).survey
        joins[survey] = [band.name for band in lines.sky_bands(survey) if band.kind == "arm join"]
    assert joins == {"SDSS": ["SDSS arm join"], "SDSS BOSS": ["BOSS arm join"]}
    assert lines.survey("SDSS-V").key == "sdss-v"


def test_wavelengths_printed_with_too_few_digits_are_made_regular_again(folder: Path):
    spectrum = read(folder / "wiserep_xshooter/M_DWARF/GJ1286.txt")
    assert spectrum.meta["wavelengths_unrounded"] is True
    np.testing.assert_allclose(np.diff(spectrum.wavelength), 0.2, rtol=1e-6)
