"""Synthetic magnitudes against known fluxes, and the loci of the colour-magnitude plane."""

from __future__ import annotations

import numpy as np
import pytest

from agent.lines import vacuum_to_air
from agent.measure import Measured, Undefined
from agent.sky.maps import MAGNITUDES
from agent.sky.photometry import AB_MINUS_VEGA, AB_ZERO, BEYOND, flux_of, is_absolute, pivot, synthetic
from agent.sky.plane import line, loci, magnitude_on, main_sequence
from agent.spectrum import Spectrum, read

WIDE = np.geomspace(2500, 300_000, 20_000)
UNIT = "1e-17 erg/s/cm2/Angstrom"


def source(wavelength=WIDE, magnitude=18.0, **fields):
    """A source of one AB magnitude in every band, S/N 20 per pixel."""
    flux = AB_ZERO / wavelength**2 * 10 ** (-0.4 * magnitude)
    return Spectrum(wavelength, flux, ivar=(20 / flux) ** 2, flux_unit=UNIT, **fields)


def test_a_constant_f_nu_has_one_ab_magnitude_in_all_bands():
    magnitudes = synthetic(source())
    assert set(magnitudes) == set(MAGNITUDES)
    for name, value in magnitudes.items():
        assert value.value + AB_MINUS_VEGA.get(name, 0.0) == pytest.approx(18.0, abs=2e-3), name
        # The flux that the magnitude means is that of the source at the pivot wavelength.
        assert flux_of(name, value.value) == pytest.approx(AB_ZERO / pivot(name) ** 2 * 10 ** (-0.4 * 18), rel=2e-3)


def test_errors_are_those_of_repeated_noise():
    rng, clean = np.random.default_rng(3), source(np.arange(3000.0, 11_500.0, 1.0))
    sigma = clean.ivar**-0.5
    repeated = [
        synthetic(Spectrum(clean.wavelength, clean.flux + rng.normal(0, sigma), clean.ivar, flux_unit=UNIT), ["G", "r"])
        for _ in range(60)
    ]
    for name in ("G", "r"):
        scatter = np.std([one[name].value for one in repeated])
        assert 0.7 < scatter / repeated[0][name].error < 1.35


def test_medium_frame_and_unit_are_those_of_the_spectrum():
    wavelength = np.arange(3000.0, 11_500.0, 1.0)
    reference = synthetic(source(wavelength), ["G", "i"])
    in_air = Spectrum(
        vacuum_to_air(wavelength), source(wavelength).flux, source(wavelength).ivar, medium="air", flux_unit=UNIT
    )
    at_rest = Spectrum(
        wavelength / 1.2, source(wavelength).flux, source(wavelength).ivar, frame="rest", redshift=0.2, flux_unit=UNIT
    )
    in_watts = Spectrum(
        wavelength, source(wavelength).flux * 1e-17 * 10, source(wavelength).ivar * 1e32, flux_unit="W/m2/um"
    )
    for other in (in_air, at_rest, in_watts):
        again = synthetic(other, ["G", "i"])
        for name, value in reference.items():
            assert again[name].value == pytest.approx(value.value, abs=1e-3)
    assert is_absolute(in_watts)
    assert not is_absolute(Spectrum(wavelength, np.ones(wavelength.size), flux_unit="relative"))
    no_redshift = Spectrum(wavelength, np.ones(wavelength.size), frame="rest")
    assert "redshift" in synthetic(no_redshift, ["G"])["G"].reason


def test_a_magnitude_without_enough_of_its_band_is_undefined_with_the_reason():
    optical = source(np.arange(3800.0, 9200.0, 1.0))
    magnitudes = synthetic(optical)
    assert {name for name, value in magnitudes.items() if isinstance(value, Measured)} == {
        "G",
        "BP",
        "RP",
        "g",
        "r",
        "i",
    }
    assert "covers 0%" in magnitudes["J"].reason
    masked = Spectrum(
        optical.wavelength,
        optical.flux,
        optical.ivar,
        mask=(optical.wavelength > 6000) & (optical.wavelength < 6300),
        flux_unit=UNIT,
    )
    assert isinstance(synthetic(masked, ["r"])["r"], Undefined)
    assert synthetic(masked, ["g"])["g"] == magnitudes["g"]
    dark = Spectrum(optical.wavelength, -optical.flux, optical.ivar, flux_unit=UNIT)
    assert "above zero" in synthetic(dark, ["r"])["r"].reason
    empty = Spectrum(optical.wavelength, optical.flux, np.zeros(len(optical)), flux_unit=UNIT)
    assert isinstance(synthetic(empty, ["r"])["r"], Undefined)


def test_the_loci_lie_in_the_order_of_the_plane():
    keys = [locus.key for locus in loci()]
    assert len(set(keys)) == len(keys) == 8
    for locus in loci():
        assert len(locus.bp_rp) == len(locus.absolute_magnitude)
        assert locus.citation
    for key in ("main_sequence", "giant_branch", "white_dwarfs", "horizontal_branch"):
        assert np.all(np.diff(line(key).bp_rp) > 0)
    for colour in (0.1, 0.5, 1.0, 1.4):
        assert magnitude_on("white_dwarfs", colour) - main_sequence(colour) > 4
    for colour in (1.9, 2.5, 3.5, 4.5):
        assert main_sequence(colour) - magnitude_on("giant_branch", colour) > 4
    # The Sun: BP-RP 0.82, M_G 4.67 (Casagrande & VandenBerg 2018).
    assert main_sequence(0.82) == pytest.approx(4.67, abs=0.15)
    assert main_sequence(-0.5) is None


def test_hubble_standards_have_their_published_magnitudes(shared):
    """2MASS of G191-B2B (as CALSPEC's own models use it); Vega, by which Gaia's zero points are defined (Riello et al.
    2021); BP-RP of white dwarfs of known temperature from the tables of Bédard et al. (2020 ApJ 901, 93).
    """
    folder = shared / "spectra/calspec_hst"
    if not folder.is_dir():
        pytest.skip("no CALSPEC spectra beside the checkout")
    hot, warm, helium, vega = (
        synthetic(read(folder / name))
        for name in (
            "WD_DA/g191b2b_stiswfcnic_004.fits.gz",
            "WD_DA/grw_70d5824_stiswfcnic_003.fits.gz",
            "WD_DBQ/lds749b_stisnic_008.fits.gz",
            "STAR_A0V/alpha_lyr_stis_011.fits.gz",
        )
    )
    for name, magnitude in {"J": 12.543, "H": 12.669, "Ks": 12.764}.items():
        assert hot[name].value == pytest.approx(magnitude, abs=0.03)
    for name in ("G", "BP", "RP"):
        assert vega[name].value == pytest.approx(0.0, abs=0.03)
    # 60,920 K, 20,540 K (Bohlin et al. 2020 AJ 160, 21) and, of helium, 13,575 K (Bohlin & Koester 2008 AJ 135, 1092).
    for star, colour in ((hot, -0.53), (warm, -0.29), (helium, -0.11)):
        assert star["BP"].value - star["RP"].value == pytest.approx(colour, abs=0.02)


def test_a_band_that_the_spectrum_nearly_covers_has_a_magnitude_with_a_larger_error():
    whole, lamost = source(np.arange(3200.0, 10600.0, 2.0)), source(np.arange(3700.0, 9100.0, 2.0))
    for name, missing in (("G", 0.04), ("RP", 0.09)):
        magnitude, shorter = synthetic(whole, [name])[name], synthetic(lamost, [name])[name]
        assert shorter.value == pytest.approx(magnitude.value, abs=2e-3)
        assert shorter.error == pytest.approx(BEYOND * missing * 1.086, rel=0.2)
        assert magnitude.error < 0.002
