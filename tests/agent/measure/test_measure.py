"""Measurements against what is known analytically: the value, and whether the errors mean what they say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import measure
from agent.lines import air_to_vacuum, indices
from agent.measure import Measured, Undefined
from agent.measure.pixels import cells
from agent.spectrum import Spectrum

SIDES = ((6400.0, 6500.0), (6620.0, 6720.0))
WINDOW = (6500.0, 6620.0)
GRID = np.arange(6380.0, 6740.0, 1.5)
ROOT_TWO_PI = np.sqrt(2 * np.pi)


def gaussian_line(
    depth: float = 0.0,
    centre: float = 6562.8,
    sigma: float = 8.0,
    tilt: float = 0.002,
    snr: float | None = None,
    seed: int = 0,
    wavelength: np.ndarray = GRID,
) -> Spectrum:
    """A Gaussian of known depth (emission < 0) on a sloped continuum of 100; noise only if ``snr`` is
    given."""
    continuum = 100 * (1 + tilt * (wavelength - 6560.0))
    flux = continuum * (1 - depth * np.exp(-0.5 * ((wavelength - centre) / sigma) ** 2))
    noise = np.full(wavelength.shape, 100 / (snr or 1e4))
    if snr is not None:
        flux = flux + noise * np.random.default_rng(seed).standard_normal(wavelength.size)
    return Spectrum(wavelength, flux, 1 / noise**2, medium="air", frame="rest", name="made")


def value(found: object) -> Measured:
    assert isinstance(found, Measured), found
    return found


@given(
    depth=st.floats(-5, 0.9).filter(lambda d: abs(d) > 0.01),
    sigma=st.floats(3, 12),
    centre=st.floats(6550, 6575),
    tilt=st.floats(-0.002, 0.002),
)
@settings(max_examples=60, deadline=None)
def test_the_equivalent_width_of_a_gaussian_is_its_area_on_any_sloped_continuum(
    depth: float, sigma: float, centre: float, tilt: float
) -> None:
    found = value(measure.equivalent_width(gaussian_line(depth, centre, sigma, tilt), WINDOW, SIDES))
    assert found.value == pytest.approx(depth * sigma * ROOT_TWO_PI, rel=2e-3, abs=1e-3)


def test_absorption_is_positive_and_emission_negative() -> None:
    assert value(measure.equivalent_width(gaussian_line(0.4), WINDOW, SIDES)).value > 0
    assert value(measure.equivalent_width(gaussian_line(-0.4), WINDOW, SIDES)).value < 0
    assert value(measure.depth(gaussian_line(0.4), WINDOW, SIDES)).value > 0


@cache
def measurements(depth: float, snr: float, number: int = 300) -> tuple[dict[str, Measured], ...]:
    """What is measured of one line in ``number`` noise realisations."""
    found = []
    for seed in range(number):
        spectrum = gaussian_line(depth, snr=snr, seed=seed)
        fit = measure.fit_line(spectrum, WINDOW, SIDES)
        assert isinstance(fit, measure.LineFit), fit
        width = value(measure.equivalent_width(spectrum, WINDOW, SIDES))
        velocity = fit.velocity(6562.8)
        found.append({"equivalent_width": width, "fwhm": fit.fwhm, "velocity": velocity, "depth": fit.depth})
    return tuple(found)


def pulls(what: str, truth: float, depth: float, snr: float) -> np.ndarray:
    """(measured − truth) / error for each realisation."""
    return np.array([(m[what].value - truth) / m[what].error for m in measurements(depth, snr)])


FWHM = 8.0 * np.sqrt(8 * np.log(2)) / 6562.8 * 299792.458


@pytest.mark.parametrize(
    ("what", "truth"),
    [("equivalent_width", 8.0 * ROOT_TWO_PI), ("fwhm", FWHM), ("velocity", 0.0), ("depth", 1.0)],
)
@pytest.mark.parametrize(("sign", "snr"), [(-1.0, 20.0), (0.6, 20.0), (-1.0, 8.0)])
def test_errors_mean_what_they_say(what: str, truth: float, sign: float, snr: float) -> None:
    """Pulls of 300 realisations: mean within 0.25 of 0 (0.06 expected) and spread within 20 % of 1 (4 %
    expected)."""
    scale = sign if what in ("equivalent_width", "depth") else 1.0
    found = pulls(what, truth * scale, sign, snr)
    assert abs(found.mean()) < 0.25
    assert 0.8 < found.std() < 1.2


def test_a_line_that_is_not_there_measures_zero_within_its_error() -> None:
    found = [value(measure.equivalent_width(gaussian_line(0.0, snr=15, seed=s), WINDOW, SIDES)) for s in range(200)]
    pull = np.array([f.value / f.error for f in found])
    assert abs(pull.mean()) < 0.25
    assert 0.8 < pull.std() < 1.2
    assert np.abs(pull).max() < 4.5


def test_noise_is_seldom_fitted_as_a_line() -> None:
    fits = [measure.fit_line(gaussian_line(0.0, snr=15, seed=s), WINDOW, SIDES) for s in range(200)]
    strong = [f for f in fits if isinstance(f, measure.LineFit) and f.depth.significance > 5]
    assert len(strong) <= 2


def test_a_cosmic_ray_in_a_side_band_does_not_move_the_continuum() -> None:
    clean = gaussian_line(-1.0, snr=50)
    flux = np.array(clean.flux)
    flux[np.argmin(abs(GRID - 6450))] += 5000
    hit = Spectrum(GRID, flux, clean.ivar, medium="air", frame="rest")
    before = value(measure.equivalent_width(clean, WINDOW, SIDES))
    after = value(measure.equivalent_width(hit, WINDOW, SIDES))
    assert abs(after.value - before.value) < before.error


def test_side_bands_full_of_lines_make_the_error_larger_than_noise_alone() -> None:
    quiet = gaussian_line(0.5, snr=200)
    ripple = 5 * np.sin(GRID / 3.0) * ((GRID < 6500) | (GRID > 6620))
    busy = Spectrum(GRID, quiet.flux + ripple, quiet.ivar, medium="air", frame="rest")
    errors = [value(measure.equivalent_width(s, WINDOW, SIDES)).error for s in (quiet, busy)]
    assert errors[1] > 3 * errors[0]


@given(lo=st.floats(6505, 6550), width=st.floats(0.3, 60))
@settings(max_examples=60, deadline=None)
def test_pixel_parts_fill_a_window_exactly(lo: float, width: float) -> None:
    pixels = cells(gaussian_line(), (lo, lo + width))
    assert pixels.width.sum() == pytest.approx(width, rel=1e-9)


def test_a_short_gap_is_bridged_and_a_long_one_is_refused_with_the_share() -> None:
    whole = gaussian_line(-1.0, snr=40)

    def without(lo: float, hi: float) -> Spectrum:
        gone = (lo < GRID) & (hi > GRID)
        flux = np.where(gone, -1e6, whole.flux)
        return Spectrum(GRID, flux, np.where(gone, 0.0, whole.ivar), medium="air", frame="rest")

    truth = -8.0 * ROOT_TWO_PI
    bridged = value(measure.equivalent_width(without(6567, 6573), WINDOW, SIDES))
    assert bridged.value == pytest.approx(truth, abs=4 * bridged.error)
    refused = measure.equivalent_width(without(6540, 6600), WINDOW, SIDES)
    assert isinstance(refused, Undefined)
    assert refused.reason == "only 50 % of 6500–6620 Å has data"
    assert measure.coverage(without(6540, 6600), WINDOW) == pytest.approx(0.5, abs=0.02)


def test_pixels_missing_from_the_grid_count_as_a_gap_too() -> None:
    kept = (GRID < 6540) | (GRID > 6600)
    spectrum = Spectrum(GRID[kept], np.full(kept.sum(), 10.0), np.ones(kept.sum()), medium="air")
    assert measure.coverage(spectrum, WINDOW) == pytest.approx(0.5, abs=0.03)


def made_of(flux: np.ndarray, ivar: float = 1.0) -> Spectrum:
    return Spectrum(GRID, flux, np.full(GRID.shape, ivar), medium="air", frame="rest")


@pytest.mark.parametrize("flux", [np.zeros(GRID.shape), np.full(GRID.shape, -3.0)])
def test_a_continuum_at_or_below_zero_gives_a_reason_not_a_number(flux: np.ndarray) -> None:
    found = [
        measure.equivalent_width(made_of(flux), WINDOW, SIDES),
        measure.fwhm(made_of(flux), WINDOW, SIDES),
        measure.flux_ratio(made_of(flux), WINDOW, SIDES),
        measure.slope(made_of(flux), SIDES),
        measure.width_below(made_of(flux), WINDOW, SIDES),
        measure.two_maxima(made_of(flux), WINDOW, SIDES),
    ]
    assert all(isinstance(f, Undefined) and "above zero" in f.reason for f in found)


def test_a_window_outside_the_data_gives_a_reason_not_a_number() -> None:
    for window in ((3000.0, 3100.0), (9000.0, 9100.0)):
        assert measure.equivalent_width(gaussian_line(), window) == Undefined(
            f"no data in {window[0]:.0f}–{window[1]:.0f} Å"
        )
        assert measure.coverage(gaussian_line(), window) == 0.0
        assert isinstance(measure.signal_to_noise(gaussian_line(), window), Undefined)


@given(
    flux=st.lists(st.floats(-1e30, 1e30), min_size=40, max_size=40),
    ivar=st.lists(st.floats(0, 1e10), min_size=40, max_size=40),
)
@settings(max_examples=80, deadline=None)
def test_nothing_ever_returns_nan_or_raises(flux: list[float], ivar: list[float]) -> None:
    spectrum = Spectrum(np.linspace(6400, 6720, 40), flux, ivar, medium="air", frame="rest")
    found = [
        measure.equivalent_width(spectrum, WINDOW, SIDES),
        measure.fwhm(spectrum, WINDOW, SIDES),
        measure.width_below(spectrum, WINDOW, SIDES),
        measure.flux_ratio(spectrum, WINDOW, SIDES),
        measure.slope(spectrum, (*SIDES, WINDOW)),
    ]
    assert all(np.isfinite([f.value, f.error]).all() for f in found if isinstance(f, Measured))
    assert np.isfinite(measure.running_continuum(spectrum)).all()
    measure.two_maxima(spectrum, WINDOW, SIDES)


def doubled(snr: float, seed: int, separation: float = 24.0) -> Spectrum:
    flux = np.full(GRID.shape, 100.0)
    for centre in (6562.8 - separation / 2, 6562.8 + separation / 2):
        flux = flux + 100 * np.exp(-0.5 * ((GRID - centre) / 7.0) ** 2)
    noise = 100 / snr
    flux = flux + noise * np.random.default_rng(seed).standard_normal(GRID.size)
    return Spectrum(GRID, flux, np.full(GRID.shape, noise**-2), medium="air", frame="rest")


def test_a_double_peak_is_found_where_it_is() -> None:
    found = [measure.two_maxima(doubled(15, s), WINDOW, SIDES) for s in range(60)]
    seen = [f for f in found if isinstance(f, measure.TwoMaxima)]
    assert len(seen) > 50
    separation = np.median([f.separation.value for f in seen])
    assert separation == pytest.approx(24 / 6562.8 * 299792.458, rel=0.25)


@pytest.mark.parametrize("snr", [5.0, 15.0, 50.0])
def test_a_single_gaussian_is_seldom_called_double(snr: float) -> None:
    found = [measure.two_maxima(gaussian_line(-1.5, sigma=12, snr=snr, seed=s), WINDOW, SIDES) for s in range(300)]
    assert sum(isinstance(f, measure.TwoMaxima) for f in found) <= 3


def test_width_below_finds_where_the_profile_crosses() -> None:
    """A Gaussian of depth 0.7 and σ 12 Å is 20 % deep at ±σ √(2 ln 3.5)."""
    truth = 2 * 12 * np.sqrt(2 * np.log(0.7 / 0.2))
    found = [
        value(measure.width_below(gaussian_line(0.7, sigma=12, snr=30, seed=s), WINDOW, SIDES)) for s in range(100)
    ]
    pull = np.array([(f.value - truth) / f.error for f in found])
    assert np.mean([f.value for f in found]) == pytest.approx(truth, rel=0.02)
    assert 0.6 < pull.std() < 1.6
    shallow = measure.width_below(gaussian_line(0.1), WINDOW, SIDES)
    assert isinstance(shallow, Undefined)


def test_the_slope_of_a_power_law_is_its_exponent() -> None:
    wavelength = np.arange(3800.0, 9000.0, 2.0)
    flux = (wavelength / 6000) ** -2.3
    windows = ((4200.0, 4250.0), (5300.0, 5350.0), (6900.0, 6950.0), (8700.0, 8750.0))
    found = []
    for seed in range(200):
        noisy = flux + 0.05 * np.random.default_rng(seed).standard_normal(flux.size)
        spectrum = Spectrum(wavelength, noisy, np.full(flux.shape, 400.0), frame="rest")
        found.append(value(measure.slope(spectrum, windows)))
    assert np.mean([f.value for f in found]) == pytest.approx(-2.3, abs=0.02)
    assert 0.8 < np.std([(f.value + 2.3) / f.error for f in found]) < 1.2


def test_an_index_is_the_ratio_of_mean_fluxes_in_either_medium() -> None:
    """TiO5 in a step of a known height, its windows in air, the spectrum in vacuum."""
    wavelength = np.arange(7000.0, 7200.0, 0.5)
    flux = np.where(wavelength < air_to_vacuum(7090.0), 10.0, 4.0)
    spectrum = Spectrum(wavelength, flux, np.full(flux.shape, 100.0), frame="rest")
    found = value(measure.band_index(spectrum, indices()["TiO5"]))
    assert found.value == pytest.approx(0.4)
    pixels = (18, 8)
    expected = 0.4 * np.hypot(0.1 / 4 / np.sqrt(pixels[0]), 0.1 / 10 / np.sqrt(pixels[1]))
    assert found.error == pytest.approx(expected, rel=0.1)


def test_rest_puts_a_redshifted_line_back_whatever_the_medium() -> None:
    z = 0.05
    vacuum = air_to_vacuum(6562.79)
    observed = np.arange(6800.0, 7000.0, 1.0)
    flux = 1 + 3 * np.exp(-0.5 * ((observed - vacuum * (1 + z)) / 6) ** 2)
    spectrum = Spectrum(observed, flux, np.full(flux.shape, 1e6), redshift=z)
    for medium, wanted in (("vacuum", vacuum), ("air", 6562.79)):
        there = measure.rest(spectrum, medium=medium)  # type: ignore[arg-type]
        assert (there.frame, there.medium) == ("rest", medium)
        fit = measure.fit_line(there, (wanted - 40, wanted + 40))
        assert isinstance(fit, measure.LineFit)
        assert fit.centre.value == pytest.approx(wanted, abs=0.02)
        assert measure.rest(there, medium=medium) is there  # type: ignore[arg-type]


def test_the_instrument_width_is_known_for_known_surveys_only() -> None:
    spectrum = gaussian_line(-1.0, snr=50)
    fit = measure.fit_line(spectrum, WINDOW, SIDES)
    assert isinstance(fit, measure.LineFit)
    assert fit.instrument is None
    assert isinstance(fit.intrinsic_fwhm, Undefined)
    lamost = Spectrum(GRID, spectrum.flux, spectrum.ivar, medium="air", frame="rest", survey="LAMOST")
    fit = measure.fit_line(lamost, WINDOW, SIDES)
    assert isinstance(fit, measure.LineFit)
    assert fit.instrument == pytest.approx(299792.458 / 1660, rel=0.02)
    assert value(fit.intrinsic_fwhm).value == pytest.approx(np.sqrt(fit.fwhm.value**2 - fit.instrument**2))


def test_the_running_continuum_passes_under_a_line_and_over_an_absorption() -> None:
    wavelength = np.arange(4000.0, 8000.0, 1.5)
    truth = 50 * (wavelength / 6000) ** -1.5
    line = 1 + 4 * np.exp(-0.5 * ((wavelength - 6563) / 10) ** 2)
    line = line - 0.6 * np.exp(-0.5 * ((wavelength - 4861) / 12) ** 2)
    noisy = truth * line + 0.5 * np.random.default_rng(1).standard_normal(truth.size)
    found = measure.running_continuum(Spectrum(wavelength, noisy, np.full(truth.shape, 4.0)))
    assert np.abs(found / truth - 1)[200:-200].max() < 0.05
