"""Simulated spectra: reproducible, honest about what they are, and physically what they say."""

import numpy as np
import pytest
from scipy.special import gamma

from agent.lines import air_to_vacuum
from agent.simulate import CLASSES, KINDS, LOOK_ALIKES, simulate, truth
from agent.simulate.atoms import balmer_wavelength
from agent.simulate.instrument import SURVEYS
from agent.simulate.profiles import (
    C_KM_S,
    absorb_gaussian,
    absorb_stark,
    disc_profile,
    emit_disc,
    emit_gaussian,
    grid,
    planck,
    reddening,
)

HALPHA = balmer_wavelength(3)


def equivalent_width(wavelength, flux):
    return float(np.sum((1 - flux[:-1]) * np.diff(wavelength)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_that_it_is_simulated(kind):
    spectrum = simulate(kind, "LAMOST", 30, seed=42)
    assert spectrum.meta["simulated"] is True
    assert spectrum.meta["kind"] == kind
    assert spectrum.survey == "simulated LAMOST"
    assert spectrum.name == f"simulated-{kind}-0042.fits"
    assert "simulated" in spectrum.catalogue_class


def test_one_seed_gives_one_spectrum_bit_for_bit():
    assert simulate("cv", "SDSS", 20, 7).sha256 == simulate("cv", "SDSS", 20, 7).sha256
    assert simulate("cv", "SDSS", 20, 7).sha256 != simulate("cv", "SDSS", 20, 8).sha256


def test_another_signal_to_noise_is_the_same_object_again():
    noisy, clean = simulate("gm", "DESI", 5, 3), simulate("gm", "DESI", 500, 3)
    assert dict(noisy.meta) == dict(clean.meta)
    good = noisy.ivar > 0
    assert abs(np.median((noisy.flux / clean.flux)[good]) - 1) < 0.02


@pytest.mark.parametrize(
    ("survey", "first", "last", "pixels"),
    [("LAMOST", 3700, 9100, 3909), ("SDSS", 3800, 9200, 3841), ("DESI", 3600, 9824, 7781)],
)
def test_grids_are_the_surveys_own_in_vacuum(survey, first, last, pixels):
    spectrum = simulate("a", survey, 20, 1)
    assert len(spectrum) == pixels
    assert spectrum.wavelength[0] == pytest.approx(first, abs=0.5)
    assert spectrum.wavelength[-1] == pytest.approx(last, abs=1.0)
    assert (spectrum.medium, spectrum.frame) == ("vacuum", "observed")


@pytest.mark.parametrize("survey", SURVEYS)
def test_the_scatter_is_what_ivar_says(survey):
    """Two observations of one object differ only by noise, so their difference measures it."""
    noisy, clean = simulate("wd", survey, 12, 5), simulate("wd", survey, 1e6, 5)
    good = (noisy.ivar > 0) & (clean.ivar > 0) & ~noisy.mask
    pull = ((noisy.flux - clean.flux) * np.sqrt(noisy.ivar))[good]
    assert 1.4826 * np.median(np.abs(pull)) == pytest.approx(1.0, abs=0.06)


@pytest.mark.parametrize("snr", [3.0, 30.0])
def test_the_median_signal_to_noise_is_the_one_asked_for(snr):
    spectrum = simulate("fgk", "LAMOST", snr, 11)
    good = spectrum.ivar > 0
    assert np.median((spectrum.flux * np.sqrt(spectrum.ivar))[good]) == pytest.approx(snr, rel=0.1)


def test_blank_sky_holds_no_signal():
    spectrum = simulate("sky", "SDSS", 10, 2)
    assert abs(np.median(spectrum.flux * np.sqrt(spectrum.ivar))) < 0.1


def test_balmer_lines_stand_at_their_vacuum_wavelengths():
    """NIST, vacuum: Hα 6564.6, Hβ 4862.7, Hγ 4341.7, Hδ 4102.9 Å (means of the fine structure)."""
    for upper, expected in ((3, 6564.61), (4, 4862.68), (5, 4341.68), (6, 4102.89)):
        assert balmer_wavelength(upper) == pytest.approx(expected, abs=0.05)


def test_a_redshift_moves_the_source_but_not_the_sky():
    spectrum = simulate("hii", "SDSS", 200, 4, redshift=0.05)
    assert spectrum.redshift == 0.05
    near = np.abs(spectrum.wavelength - HALPHA * 1.05) < 40
    peak = spectrum.wavelength[near][np.argmax(spectrum.flux[near])]
    assert abs(peak / HALPHA - 1.05) * C_KM_S < 250


def test_a_stark_line_has_the_equivalent_width_asked_for():
    wavelength = np.arange(3000.0, 9000.0, 0.05)
    flux = np.ones_like(wavelength)
    absorb_stark(flux, wavelength, 6000.0, ew=20.0, core=0.7)
    # 30 scale lengths hold all but 0.5 % of a profile whose wings fall as the 5/2 power.
    assert equivalent_width(wavelength, flux) == pytest.approx(20.0, rel=0.01)
    assert flux.min() == pytest.approx(0.3, abs=0.001)
    area = 2 / 2.5 * gamma(1 / 2.5) * gamma(1 - 1 / 2.5) * 0.7 ** (1 - 1 / 2.5)
    assert np.interp(6000 + 20.0 / area, wavelength, flux) == pytest.approx(1 - 1 / (1 / 0.7 + 1), abs=1e-3)


def test_a_weak_gaussian_line_has_the_equivalent_width_asked_for():
    wavelength = grid(5000, 6000)
    flux = np.ones_like(wavelength)
    absorb_gaussian(flux, wavelength, 5500.0, ew=0.1, fwhm=5.0)
    assert equivalent_width(wavelength, flux) == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize("emit", [emit_gaussian, emit_disc])
def test_an_emission_line_has_the_equivalent_width_asked_for(emit):
    wavelength = grid(6000, 7200)
    flux = np.ones_like(wavelength)
    emit(flux, wavelength, HALPHA, 40.0, 500.0)
    assert equivalent_width(wavelength, flux) == pytest.approx(-40.0, rel=0.02)


def test_a_disc_line_has_two_peaks_near_the_speed_of_its_rim():
    velocity = np.arange(-3000.0, 3001.0, 30.0)
    profile = disc_profile(velocity, rim_km_s=600, inner=0.08, slope=1.7)
    assert profile.sum() * 30 == pytest.approx(1.0)
    assert profile == pytest.approx(profile[::-1], abs=2e-5)
    blue = velocity[velocity < 0][np.argmax(profile[velocity < 0])]
    assert -650 <= blue <= -480
    assert profile[np.argmin(np.abs(velocity))] < 0.9 * profile.max()


def test_a_black_body_peaks_where_wien_says():
    wavelength = grid(3500, 9500)
    assert wavelength[np.argmax(planck(wavelength, 5800))] == pytest.approx(2.897772e7 / 5800, rel=1e-3)


def test_reddening_takes_r_v_magnitudes_at_v():
    """Cardelli et al. (1989): A(V)/E(B-V) = 3.1 at 5495 Å, A(B)/A(V) = 1.32 at 4405 Å or so."""
    v, b = -2.5 * np.log10(reddening(np.array([5495.0, 4405.0]), 1.0))
    assert v == pytest.approx(3.1, abs=0.02)
    assert b / v == pytest.approx(1.32, abs=0.03)


def _depth(spectrum, line, off):
    inside = np.abs(spectrum.wavelength - line) < 8
    beside = np.abs(np.abs(spectrum.wavelength - line) - off) < 8
    return 1 - np.mean(spectrum.flux[inside]) / np.mean(spectrum.flux[beside])


def test_white_dwarf_lines_are_wider_than_those_of_an_a_star():
    """At 40 Å from Hβ the wing of a DA of 12,000 K is still deep, an A dwarf's is nearly gone."""
    from agent.simulate.compact import hydrogen_white_dwarf
    from agent.simulate.stars import hot_star

    wavelength = grid(4300, 5400)
    dwarf = hydrogen_white_dwarf(wavelength, 12000)
    star = hot_star(wavelength, np.random.default_rng(0), 9000, supergiant=False)
    at = np.argmin(np.abs(wavelength - balmer_wavelength(4) - 40))
    far = np.argmin(np.abs(wavelength - balmer_wavelength(4) - 300))
    wing = [
        (1 - f[at] / f[far] * planck(wavelength, t)[far] / planck(wavelength, t)[at])
        for f, t in ((dwarf, 12000), (star, 9000))
    ]
    assert wing[0] > 2 * wing[1]


def test_swan_bands_fade_to_the_blue_and_titanium_oxide_to_the_red():
    carbon, giant = simulate("cc", "DESI", 500, 1), simulate("gm", "DESI", 500, 0)

    def mean(spectrum, start, stop):
        inside = (spectrum.wavelength > start) & (spectrum.wavelength < stop)
        return float(np.mean(spectrum.flux[inside]))

    swan, oxide = air_to_vacuum(5165.2), air_to_vacuum(7054.0)
    assert mean(carbon, swan - 15, swan - 3) < 0.8 * mean(carbon, swan + 8, swan + 20)
    assert mean(giant, oxide + 3, oxide + 15) < 0.9 * mean(giant, oxide - 20, oxide - 8)


def test_dwarfs_have_strong_sodium_and_giants_a_strong_calcium_triplet():
    def sodium_and_calcium(kind):
        many = [simulate(kind, "DESI", 300, seed) for seed in range(8)]
        stretch = [(air_to_vacuum(8189.0), 45), (air_to_vacuum(8542.1), 30)]
        return [np.mean([_depth(s, line, off) for s in many]) for line, off in stretch]

    dwarf, giant = sodium_and_calcium("dm"), sodium_and_calcium("gm")
    assert dwarf[0] > giant[0] + 0.05
    assert giant[1] > dwarf[1] + 0.03


def test_truth_is_yes_for_the_class_itself_and_for_nothing_that_looks_like_it():
    for task in CLASSES:
        assert [kind for kind in KINDS if truth(kind, task) == "YES"] == [task] + ["be"] * (task == "b")
    assert set(KINDS) == set(CLASSES) | set(LOOK_ALIKES)


def test_an_unknown_kind_or_survey_is_refused_by_name():
    with pytest.raises(KeyError, match="no kind 'xx'"):
        simulate("xx", "SDSS", 10, 1)
    with pytest.raises(KeyError, match="no survey 'HST'"):
        simulate("cv", "HST", 10, 1)
