"""Line lists, air and vacuum wavelengths, and measurements on a spectrum."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import measure
from agent.lines import Band, Line, air_to_vacuum, bands, indices, lines, sky_bands, survey, vacuum_to_air
from agent.lines.names import named, species_named
from agent.measure import Measured, Undefined
from agent.measure.molecules import break_4000, is_cool
from agent.measure.pixels import cells
from agent.spectrum import Spectrum, read

LINES = {line.name: line for line in lines()}
BANDS = {band.name: band for band in bands()}

# (air, vacuum) in Å. Air: CRC Handbook and Moore's multiplet tables as quoted in textbooks. Vacuum: the SDSS
# line table (spectro.astro.princeton.edu, speclinelist), Morton 2003 ApJS 149, 205 for Ca II, Na I, Mg I, Mg
# II.
SECOND_SOURCE = {
    "Hα": (6562.80, 6564.61),
    "Hβ": (4861.33, 4862.68),
    "Hγ": (4340.46, 4341.68),
    "Hδ": (4101.73, 4102.89),
    "He I 4471": (4471.48, 4472.73),
    "He I 5876": (5875.62, 5877.25),
    "He II 4686": (4685.68, 4687.02),
    "Ca II K": (3933.66, 3934.78),
    "Ca II H": (3968.47, 3969.59),
    "Mg b1": (5183.60, 5185.05),
    "Na D2": (5889.95, 5891.58),
    "Na D1": (5895.92, 5897.56),
    "Ca II 8542": (8542.09, 8544.44),
    "Ca II 8498": (8498.02, 8500.36),
    "Ca II 8662": (8662.14, 8664.52),
    "[O II] 3726": (3726.03, 3727.09),
    "[O II] 3729": (3728.81, 3729.88),
    "[O III] 4959": (4958.91, 4960.30),
    "[O III] 5007": (5006.84, 5008.24),
    "[O III] 4363": (4363.21, 4364.44),
    "[Ne III] 3869": (3868.76, 3869.85),
    "[O I] 6300": (6300.30, 6302.05),
    "[N II] 6548": (6548.05, 6549.86),
    "[N II] 6583": (6583.45, 6585.27),
    "[S II] 6716": (6716.44, 6718.29),
    "[S II] 6731": (6730.81, 6732.67),
    "Mg II 2796": (2795.53, 2796.35),
    "Mg II 2803": (2802.70, 2803.53),
}


def test_major_lines_agree_with_a_second_source_in_air_and_in_vacuum() -> None:
    for name, wavelengths in SECOND_SOURCE.items():
        assert (LINES[name].at("air"), LINES[name].at("vacuum")) == pytest.approx(wavelengths, abs=0.06), name
    assert {line.name for line in lines() if line.major} <= set(SECOND_SOURCE)


def quantum_number(line: Line) -> tuple[int, int] | None:
    series = {"Hα": (2, 3), "Hβ": (2, 4), "Hγ": (2, 5), "Hδ": (2, 6), "Hε": (2, 7), "Paε": (3, 8)}
    if line.name in series:
        return series[line.name]
    found = re.fullmatch(r"(H|Pa)(\d+)", line.name)
    return (2 if found[1] == "H" else 3, int(found[2])) if found else None


def test_hydrogen_follows_the_rydberg_formula() -> None:
    """1/λ = R_H (1/m² − 1/n²), R_H = 109 677.58 cm⁻¹; fine structure shifts the lines by less than 0.12 Å."""
    hydrogen = {line: quantum_number(line) for line in lines() if quantum_number(line)}
    assert len(hydrogen) == 24
    for line, (m, n) in ((k, v) for k, v in hydrogen.items() if v):
        assert line.at("vacuum") == pytest.approx(1e8 / (109677.58 * (m**-2 - n**-2)), abs=0.12), line.name


def test_the_number_in_a_name_is_the_wavelength_in_the_usual_medium() -> None:
    """Air above 2000 Å, but vacuum where the entry says vacuum: a value converted twice is off by 0.8 Å or more."""
    for line in lines():
        if number := re.search(r"\d{4,}", line.name):
            assert abs(line.at(line.medium) - int(number[0])) <= 1.0, line.name
        if line.medium == "vacuum":
            assert line.at("vacuum") == line.wavelength


def test_conversion_agrees_with_specutils() -> None:
    utilities = pytest.importorskip("specutils.utils.wcs_utils")
    units = pytest.importorskip("astropy.units")
    air = np.linspace(2500.0, 11000.0, 500)
    for method, tolerance in (("Ciddor1996", 1e-4), ("Morton2000", 1e-3)):
        theirs = utilities.air_to_vac(air * units.AA, method=method).value
        assert np.abs(air_to_vacuum(air) - theirs).max() < tolerance
        theirs = utilities.vac_to_air(air * units.AA, method=method).value
        assert np.abs(vacuum_to_air(air) - theirs).max() < tolerance
    assert np.abs(air_to_vacuum(vacuum_to_air(air)) - air).max() < 1e-6
    assert vacuum_to_air(air)[0] == vacuum_to_air(float(air[0]))


@given(st.floats(100.0, 1999.9))
def test_below_2000_angstrom_air_is_vacuum(wavelength: float) -> None:
    assert vacuum_to_air(wavelength) == wavelength == air_to_vacuum(wavelength)


def test_every_entry_has_a_source_a_species_and_a_unique_name() -> None:
    entries: tuple[Line | Band, ...] = (*lines(), *bands())
    assert all(len(entry.source) > 10 and entry.species for entry in entries)
    names = [name for entry in entries for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))


def test_a_band_starts_at_its_head_and_fades_to_its_shaded_side() -> None:
    for band in bands():
        lo, hi = band.extent
        assert lo - 1 <= band.head <= hi + 1, band.name
        if band.name != "CaH 6750-7050":
            sharp = lo if band.shading == "red" else hi
            assert abs(band.head - sharp) < 35, band.name


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("miles/CARBON_STAR", ("C2 4737", "C2 5165", "C2 5636")),
        ("miles/M_GIANT", ("TiO 4955", "TiO 5167", "TiO 5448", "TiO 6159", "TiO 7054")),
        ("miles/S_STAR", ("ZrO 5551", "ZrO 6474")),
    ],
)
def test_band_heads_agree_with_real_stars(shared: Path, folder: str, names: tuple[str, ...]) -> None:
    """The steepest fall of the flux, from the sharp side into the band, lies within 8 Å of the head in most
    stars of the class."""
    paths = sorted((shared / "spectra" / folder).iterdir())
    for name in names:
        band = BANDS[name]
        near = []
        for path in paths:
            star = read(path)
            assert (star.medium, star.frame) == ("air", "rest")
            about = abs(star.wavelength - band.head) < 40
            wavelength, flux = star.wavelength[about], star.flux[about]
            ahead = np.convolve(flux, np.r_[np.full(8, 1.0), np.full(8, -1.0)] / 8, mode="valid")
            fall = -ahead if band.shading == "red" else ahead
            near.append(abs(wavelength[7 + int(np.argmax(fall))] - band.head) < 8)
        assert np.mean(near) > 0.6, (name, near)


def test_sky_bands_are_the_same_for_all_and_arm_joins_belong_to_their_survey() -> None:
    everywhere = {band.name for band in sky_bands()}
    assert {b.name for b in sky_bands("LAMOST DR10")} - everywhere == {"LAMOST arm join"}
    assert {b.name for b in sky_bands("sdss")} - everywhere == {"SDSS arm join"}
    assert len({b.name for b in sky_bands("DESI")} - everywhere) == 2
    assert {b.name for b in sky_bands("MILES")} == everywhere
    a_band = next(b for b in sky_bands() if b.name.startswith("O₂ A"))
    assert a_band.window("air") == (7590.0, 7720.0)
    assert a_band.window("vacuum")[0] == pytest.approx(7592.09, abs=0.02)
    assert survey("nothing known") is None


@pytest.mark.parametrize(
    ("name", "vacuum"),
    [
        ("TiO5", ((7127.9646, 7136.9670), (7043.9419, 7047.9430))),
        ("CaH2", ((6815.8576, 6847.8664), (7043.9419, 7047.9430))),
        ("CaH3", ((6961.9198, 6991.9279), (7043.9419, 7047.9430))),
        ("VO7434", ((7432.0465, 7472.0573), (7552.0789, 7572.0843))),
        ("VO7912", ((7902.1734, 7982.1950), (8102.2274, 8152.2409))),
        ("TiO8440", ((8442.3193, 8472.3274), (8402.3085, 8422.3139))),
    ],
)
def test_indices_agree_with_the_vacuum_windows_of_pyhammer(name, vacuum):
    """Second source: Kesseli et al. 2017 (ApJS 230, 16), whose program lists the same indices in vacuum."""
    band, continuum = indices()[name].at("vacuum")
    assert band == pytest.approx(vacuum[0], abs=0.03)
    assert continuum[0] == pytest.approx(vacuum[1], abs=0.03)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Zoom on the Hα region", ["Hα"]),
        ("H-alpha and Hbeta", ["Hβ", "Hα"]),
        ("He II λ4686 emission", ["He II 4686"]),
        ("HeII4686/Bowen blend", ["Bowen blend", "He II 4686"]),
        ("[OIII]5007", ["[O III] 5007"]),
        ("Ca II K line", ["Ca II K"]),
        ("C₂ 5165 Swan band", ["C2 5165"]),
        ("TiO 7054 bandhead", ["TiO 7054"]),
        ("HD 187216, overview", []),
        ("shade", []),
    ],
)
def test_line_names_are_found_in_free_text(text: str, expected: list[str]) -> None:
    assert [entry.name for entry in named(text)] == expected


def test_group_names_give_their_species() -> None:
    assert species_named("Balmer series") == {"H I"}
    assert species_named("C2 Swan bands") == {"C2"}
    assert species_named("TiO saw-tooth and VO") == {"TiO", "VO"}
    assert species_named("the full spectrum") == frozenset()


SIDES = ((6400.0, 6500.0), (6620.0, 6720.0))
WINDOW = (6500.0, 6620.0)
HALPHA = LINES["Hα"]
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
@settings(max_examples=50, deadline=None)
def test_the_equivalent_width_of_a_gaussian_is_its_area_on_any_sloped_continuum(depth, sigma, centre, tilt):
    found = value(measure.equivalent_width(gaussian_line(depth, centre, sigma, tilt), WINDOW, SIDES))
    assert found.value == pytest.approx(depth * sigma * ROOT_TWO_PI, rel=2e-3, abs=1e-3)


def test_a_line_to_the_red_has_a_positive_velocity() -> None:
    fit = measure.fit_line(gaussian_line(0.4, centre=6565.0), WINDOW, SIDES)
    assert isinstance(fit, measure.LineFit)
    assert fit.velocity(6562.8).value == pytest.approx(100.5, abs=1)


def test_a_line_is_measured_from_three_sigma_on() -> None:
    fits = [measure.fit_line(gaussian_line(0.03, snr=30, seed=seed), WINDOW, SIDES) for seed in range(40)]
    fits = [fit for fit in fits if isinstance(fit, measure.LineFit)]
    assert 5 < len(fits) < 40
    assert min(abs(fit.depth.significance) for fit in fits) >= 3


@cache
def measurements(depth: float, snr: float, number: int = 300) -> tuple[dict[str, Measured], ...]:
    """The measurements of one line in ``number`` noise realisations."""
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
    ("what", "truth"), [("equivalent_width", 8.0 * ROOT_TWO_PI), ("fwhm", FWHM), ("velocity", 0.0), ("depth", 1.0)]
)
@pytest.mark.parametrize(("sign", "snr"), [(-1.0, 20.0), (0.6, 20.0), (-1.0, 8.0)])
def test_errors_agree_with_the_scatter(what: str, truth: float, sign: float, snr: float) -> None:
    """Pulls of 300 realisations: mean within 0.25 of 0 (0.06 expected) and spread within 20 % of 1 (4 %
    expected)."""
    scale = sign if what in ("equivalent_width", "depth") else 1.0
    pull = pulls(what, truth * scale, sign, snr)
    assert abs(pull.mean()) < 0.25
    assert 0.8 < pull.std() < 1.2


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
@settings(max_examples=50, deadline=None)
def test_pixel_fractions_fill_a_window_exactly(lo: float, width: float) -> None:
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


def test_missing_pixels_of_the_grid_count_as_a_gap_too() -> None:
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
@settings(max_examples=50, deadline=None)
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
    measure.two_maxima(spectrum, HALPHA)


def test_a_pixel_with_a_huge_error_gives_a_huge_error_not_an_overflow() -> None:
    ivar = np.ones(GRID.size)
    ivar[np.argmin(np.abs(GRID - 6563.0))] = 5e-324
    spectrum = Spectrum(GRID, np.full(GRID.size, 100.0), ivar, medium="air", frame="rest")
    found = measure.equivalent_width(spectrum, WINDOW, SIDES)
    assert isinstance(found, Measured)
    assert 1e150 < found.error < np.inf
    measure.fwhm(spectrum, WINDOW, SIDES)
    measure.width_below(spectrum, WINDOW, SIDES)
    measure.flux_ratio(spectrum, WINDOW, SIDES)


def test_a_double_peak_is_found_with_its_separation() -> None:
    peaks = ((6550.8, 100.0, 7.0), (6574.8, 100.0, 7.0))
    fits = [measure.two_maxima(with_gaussians(*peaks, snr=15, seed=seed), HALPHA) for seed in range(30)]
    seen = [fit for fit in fits if isinstance(fit, measure.TwoMaxima)]
    assert len(seen) > 25
    separation = np.median([f.separation.value for f in seen])
    assert separation == pytest.approx(24 / 6562.8 * 299792.458, rel=0.25)


def test_a_single_gaussian_is_seldom_called_double() -> None:
    lines = (gaussian_line(-1.5, sigma=12, snr=snr, seed=seed) for snr in (5.0, 15.0, 50.0) for seed in range(50))
    assert sum(isinstance(measure.two_maxima(line, HALPHA), measure.TwoMaxima) for line in lines) <= 1


def with_gaussians(*parts: tuple[float, float, float], snr: float = 40.0, seed: int = 1) -> Spectrum:
    """A flat continuum of 100 on the grid with Gaussians (centre Å, height, σ Å)."""
    flux = 100.0 + sum(h * np.exp(-0.5 * ((GRID - c) / s) ** 2) for c, h, s in parts)
    noise = 100.0 / snr
    flux = flux + noise * np.random.default_rng(seed).standard_normal(GRID.size)
    return Spectrum(GRID, flux, np.full(GRID.shape, noise**-2), medium="air", frame="rest")


@pytest.mark.parametrize("sign", [1.0, -0.6])
@pytest.mark.parametrize("sigma", [3.0, 8.0, 20.0])
def test_a_line_is_measured_with_its_sign_velocity_width_and_equivalent_width(sign: float, sigma: float) -> None:
    centre = 6562.79 * (1 + 120 / 299_792.458)
    found = measure.measure_line(with_gaussians((centre, 100 * sign, sigma), snr=60), HALPHA)
    assert isinstance(found, measure.LineMeasurement)
    assert found.emission is (sign > 0)
    assert found.velocity.value == pytest.approx(120, abs=4 * found.velocity.error + 5)
    truth = 2.3548 * sigma / 6562.79 * 299_792.458
    assert found.fwhm.value == pytest.approx(truth, abs=4 * found.fwhm.error + 0.03 * truth)
    width = value(found.width)
    assert width.value == pytest.approx(-sign * sigma * ROOT_TWO_PI, abs=4 * width.error + 0.03 * sigma * ROOT_TWO_PI)


def test_a_blend_is_fitted_as_a_blend() -> None:
    """[N II] on both sides of Hα, three times as strong as Hα: EW and width are Hα's own."""
    nebula = with_gaussians((6548.05, 100, 3.0), (6562.79, 100, 3.0), (6583.45, 305, 3.0), snr=60)
    found = measure.measure_line(nebula, HALPHA)
    assert isinstance(found, measure.LineMeasurement)
    assert [line.name for line in found.companions] == ["[N II] 6548", "[N II] 6583"]
    assert value(found.width).value == pytest.approx(-3.0 * ROOT_TWO_PI, rel=0.1)
    assert found.fwhm.value == pytest.approx(2.3548 * 3 / 6562.79 * 299_792.458, rel=0.1)
    assert measure.two_maxima(nebula, HALPHA, found) is None


def test_a_bump_of_a_bumpy_continuum_does_not_stand_out() -> None:
    """The same bump on a smooth continuum does."""
    alone = with_gaussians((6562.8, 20.0, 10.0), snr=100)
    wave = 10.0 * np.cos((GRID - 6562.8) * 2 * np.pi / 45.0)
    among = Spectrum(GRID, with_gaussians(snr=100).flux + wave, alone.ivar, medium="air", frame="rest")
    found = [measure.measure_line(s, HALPHA) for s in (alone, among)]
    assert [isinstance(f, measure.LineMeasurement) and f.stands_out for f in found] == [True, False]


def test_a_line_at_the_edge_or_in_coarse_data_is_undefined_with_the_reason() -> None:
    whole = gaussian_line(-1.0)
    cut = Spectrum(GRID[GRID < 6563], whole.flux[GRID < 6563], whole.ivar[GRID < 6563], medium="air", frame="rest")
    assert isinstance(measure.measure_line(cut, HALPHA), Undefined)
    coarse = Spectrum(np.arange(3000.0, 9000.0, 40.0), np.ones(150), np.full(150, 100.0), medium="air", frame="rest")
    found = measure.measure_line(coarse, HALPHA)
    assert isinstance(found, Undefined)
    assert "too coarse" in found.reason


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


def test_the_break_and_mg_b_are_measured_in_one_stretch_in_either_medium() -> None:
    """A rise and a trough at the red ends of windows that are defined in air."""
    air = np.arange(3800.0, 5300.0, 0.2)
    flux = np.where((air >= 4099.0) & (air <= 4100.0), 30.0, 1.0)
    flux[(air >= 5190.0) & (air <= 5192.0)] = 0.0
    ivar = np.full(flux.shape, 1e6)
    here = Spectrum(air, flux, ivar, frame="rest", medium="air")
    there = Spectrum(air_to_vacuum(air), flux, ivar, frame="rest", medium="vacuum")
    assert value(break_4000(there)).value == pytest.approx(value(break_4000(here)).value, rel=1e-3)
    assert is_cool(here)
    assert is_cool(there)


def test_rest_shifts_a_redshifted_line_back_in_either_medium() -> None:
    z = 0.05
    vacuum = air_to_vacuum(6562.79)
    observed = np.arange(6800.0, 7000.0, 1.0)
    flux = 1 + 3 * np.exp(-0.5 * ((observed - vacuum * (1 + z)) / 6) ** 2)
    spectrum = Spectrum(observed, flux, np.full(flux.shape, 1e6), redshift=z)
    for medium, expected in (("vacuum", vacuum), ("air", 6562.79)):
        there = measure.rest(spectrum, medium=medium)  # type: ignore[arg-type]
        assert (there.frame, there.medium) == ("rest", medium)
        fit = measure.fit_line(there, (expected - 40, expected + 40))
        assert isinstance(fit, measure.LineFit)
        assert fit.centre.value == pytest.approx(expected, abs=0.02)
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


def test_the_running_continuum_ignores_emission_and_absorption_lines() -> None:
    wavelength = np.arange(4000.0, 8000.0, 1.5)
    truth = 50 * (wavelength / 6000) ** -1.5
    line = 1 + 4 * np.exp(-0.5 * ((wavelength - 6563) / 10) ** 2)
    line = line - 0.6 * np.exp(-0.5 * ((wavelength - 4861) / 12) ** 2)
    noisy = truth * line + 0.5 * np.random.default_rng(1).standard_normal(truth.size)
    found = measure.running_continuum(Spectrum(wavelength, noisy, np.full(truth.shape, 4.0)))
    assert np.abs(found / truth - 1)[200:-200].max() < 0.05
