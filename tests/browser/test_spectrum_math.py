"""The arithmetic of the interactive spectrum, run in Chromium and compared with Python."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser

from agent.lines import air_to_vacuum, vacuum_to_air
from agent.measure import Measured, running_continuum
from agent.measure.values import plus_minus
from agent.simulate import simulate
from agent.spectrum import Spectrum
from tests.browser.support.spectrum_page import served

pytestmark = pytest.mark.browser

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def javascript(chromium: Browser) -> Iterator[Call]:
    """Function that calls an export of a module: javascript("spectrum/math.js", "smooth", ...).

    numpy arrays become typed arrays; NaN comes back as None.
    """
    with served({}) as address, chromium.new_context() as context:
        page = context.new_page()
        page.goto(address)

        def call(module: str, function: str, *arguments: Any) -> Any:
            return page.evaluate(
                """async ([module, name, given]) => {
                  const typed = (value) => {
                    if (value?.typed) return Float64Array.from(value.typed, (x) => x ?? NaN)
                    if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
                    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typed(one)]))
                  }
                  const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)
                  const answer = (await import(`/ui/${module}`))[name](...given.map(typed))
                  return JSON.parse(JSON.stringify(answer, plain))
                }""",
                [module, function, [_sent(argument) for argument in arguments]],
            )

        yield call


def _sent(argument: Any) -> Any:
    if isinstance(argument, dict):
        return {name: _sent(value) for name, value in argument.items()}
    return {"typed": _json(argument)} if isinstance(argument, np.ndarray) else argument


def _json(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def math(javascript: Call, function: str, *arguments: Any) -> Any:
    return javascript("spectrum/math.js", function, *arguments)


@pytest.mark.parametrize("air", [1909.0, 2796.35, 3933.66, 4861.33, 5006.84, 6562.79, 9068.6])
def test_air_and_vacuum_agree_with_the_line_list_of_the_agent(javascript: Call, air: float) -> None:
    assert math(javascript, "airToVacuum", air) == pytest.approx(air_to_vacuum(air), abs=1e-8)
    assert math(javascript, "vacuumToAir", air) == pytest.approx(vacuum_to_air(air), abs=1e-8)


def weighted_gaussian(flux: np.ndarray, ivar: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Smooth by the definition, with matrices."""
    pixel = np.arange(flux.size)
    distance = np.abs(pixel[:, None] - pixel)
    kernel = np.exp(-0.5 * (distance / width) ** 2) * (distance <= np.ceil(4 * width))
    weight = kernel @ ivar
    return kernel @ (ivar * flux) / weight, np.sqrt(kernel**2 @ ivar) / weight


def test_smoothing_is_the_ivar_weighted_gaussian_mean_with_its_own_error(javascript: Call) -> None:
    rng = np.random.default_rng(1)
    flux, ivar = rng.normal(100, 5, 60), rng.uniform(0.1, 4, 60)
    smoothed = math(javascript, "smooth", flux, ivar, 1.5)
    mean, error = weighted_gaussian(flux, ivar, 1.5)
    np.testing.assert_allclose(smoothed["flux"], mean)
    np.testing.assert_allclose(smoothed["sigma"], error)


def test_smoothing_keeps_gaps_and_ignores_the_values_in_them(javascript: Call) -> None:
    flux, ivar = np.full(20, 10.0), np.ones(20)
    flux[8:10], ivar[8:10] = 1e6, 0
    smoothed = math(javascript, "smooth", flux, ivar, 2)["flux"]
    assert smoothed[8] is None
    assert smoothed[9] is None
    np.testing.assert_allclose(smoothed[:8] + smoothed[10:], 10)


def overview(javascript: Call, flux: np.ndarray, sigma: np.ndarray, mask: np.ndarray | None = None) -> list[float]:
    flags = np.zeros(flux.size) if mask is None else mask.astype(float)
    found: list[float] = javascript("spectrum/ranges.js", "overviewRange", {"flux": flux, "sigma": sigma}, flags)
    return found


def test_flux_range_ignores_a_cosmic_ray_and_a_noisy_end_but_keeps_an_emission_line(javascript: Call) -> None:
    rng = np.random.default_rng(2)
    sigma = np.where(np.arange(4000) < 300, 80.0, 2.0)
    flux = 100 + rng.normal(0, sigma)
    flux[2000] = 5e4
    low, high = overview(javascript, flux, sigma)
    assert 80 < low < 95
    assert 105 < high < 120
    flux += 300 * np.exp(-0.5 * ((np.arange(4000) - 3000) / 1.02) ** 2)
    assert overview(javascript, flux, sigma)[1] > 395
    photon_noise = np.where(flux > 150, 20.0, sigma)
    assert overview(javascript, flux, photon_noise)[1] > 395


def test_a_feature_of_many_times_the_continuum_does_not_flatten_the_rest(javascript: Call) -> None:
    flux = 100 + np.sin(np.arange(4000.0))
    flux[2000:2010] = 1e5
    assert overview(javascript, flux, np.ones(4000))[1] < 600
    flux[2000:2010] = 450  # below five times the median
    assert overview(javascript, flux, np.ones(4000))[1] > 450


def test_flagged_pixels_do_not_set_the_flux_range_unless_nearly_all_are(javascript: Call) -> None:
    flux = np.where(np.arange(1000) < 200, -500.0, 100.0 + np.arange(1000) % 7)
    mask = np.arange(1000) < 200
    assert overview(javascript, flux, np.ones(1000), mask)[0] > 80
    assert overview(javascript, flux, np.ones(1000), np.ones(1000))[0] < -500


def test_flux_that_begins_near_zero_is_shown_against_zero(javascript: Call) -> None:
    ramp = np.linspace(10.0, 100.0, 2000)
    assert overview(javascript, ramp, np.ones(2000))[0] == 0
    assert overview(javascript, ramp + 100, np.ones(2000))[0] > 50
    assert overview(javascript, ramp - 30, np.ones(2000))[0] < -10


def test_a_window_shows_each_of_its_pixels(javascript: Call) -> None:
    flux = np.array([1.0, 2.0, np.nan, 90.0, 2.0, 1.0, -40.0])
    low, high = javascript("spectrum/ranges.js", "wholeRange", flux, 0, 6)
    assert low < 1 < 90 < high < 100
    assert javascript("spectrum/ranges.js", "wholeRange", flux, 0, 7)[0] < -40


def test_flux_range_without_data_is_still_a_range(javascript: Call) -> None:
    for flux in (np.full(5, np.nan), np.zeros(5)):
        low, high = overview(javascript, flux, np.ones(5))
        assert low < high
        low, high = javascript("spectrum/ranges.js", "wholeRange", flux)
        assert low < high


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1141.0, 300111.0, [3700, 9300]),
        (900.0, 10239.0, [3700, 9300]),
        (3573.0, 10359.0, None),
        (3700.0, 9100.0, None),
        (9000.0, 24800.0, None),
        (4200.0, 24800.0, [4200, 9300]),
    ],
)
def test_a_spectrum_that_far_exceeds_the_optical_begins_with_the_range_of_the_task(
    javascript: Call, first: float, last: float, expected: list[float] | None
) -> None:
    item = {
        "spectrum": {"wavelength": np.linspace(first, last, 500), "frame": "observed", "medium": "vacuum"},
        "redshift": None,
        "windows": [],
        "range": {"lo": 3800, "hi": 9000, "medium": "vacuum"},
    }
    assert javascript("spectrum/ranges.js", "taskRange", item) == expected
    if expected:
        window = {"lo": 3000, "hi": 3400, "frame": "observed", "z": None}
        assert javascript("spectrum/ranges.js", "taskRange", item | {"windows": [window]})[0] == max(3000, first)


@settings(max_examples=40, deadline=None)
@given(
    flux=st.lists(st.one_of(st.just(float("nan")), st.floats(-1e6, 1e6)), min_size=2, max_size=300),
    pixels_per_column=st.floats(0.2, 60),
)
def test_no_spike_is_lost_if_many_pixels_share_a_screen_column(
    javascript: Call, flux: list[float], pixels_per_column: float
) -> None:
    values = np.array(flux)
    wavelength = 4000 + 2.0 * np.arange(values.size)
    options = {
        "from": 0,
        "to": values.size,
        "columnWidth": 2.0 * pixels_per_column,
        "factor": 1,
        "scale": 1,
        "withBand": True,
    }
    drawn = javascript("spectrum/scene.js", "paths", wavelength, values, np.ones(values.size), options)
    line = [y for y in drawn["line"]["y"] if y is not None]
    seen = values[np.isfinite(values)]
    assert bool(line) == bool(seen.size)
    if seen.size:
        assert (min(line), max(line)) == (seen.min(), seen.max())
        band = [y for y in drawn["band"]["y"] if y is not None]
        assert max(band) == pytest.approx(seen.max() + 1)
    assert set(line) <= set(seen)


@settings(max_examples=60, deadline=None)
@given(positions=st.lists(st.floats(0, 700), min_size=1, max_size=40).map(sorted), seed=st.integers(0, 1000))
def test_names_never_overlap_stay_near_their_lines_and_important_ones_are_kept(
    javascript: Call, positions: list[float], seed: int
) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, len(positions))
    places = javascript("spectrum/labels.js", "placeNames", positions, weights.tolist(), 12, 20)
    kept = [place for place in places if place is not None]
    assert all(b - a >= 12 - 1e-9 for a, b in pairwise(kept))
    assert all(abs(p - x) <= 20 for p, x in zip(places, positions, strict=True) if p is not None)
    assert places[int(np.argmax(weights))] is not None


@settings(max_examples=60, deadline=None)
@given(
    flags=st.lists(st.tuples(st.floats(0, 700), st.floats(10, 90)), min_size=1, max_size=25).map(sorted),
    seed=st.integers(0, 1000),
)
def test_flags_of_one_row_never_overlap_and_no_pole_crosses_a_name(
    javascript: Call, flags: list[tuple[float, float]], seed: int
) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, len(flags))
    positions, widths = [x for x, _ in flags], [width for _, width in flags]
    rows = javascript("spectrum/labels.js", "placeFlags", positions, widths, weights.tolist(), 2)
    flown = [(x, x + width, row) for (x, width), row in zip(flags, rows, strict=True) if row is not None]
    assert {row for _, _, row in flown} <= {0, 1}
    assert rows[int(np.argmax(weights))] is not None
    for i, (left, right, row) in enumerate(flown):
        for pole, _, other in flown[i + 1 :]:
            assert right <= pole or row > other
            assert left <= pole


@pytest.mark.parametrize(
    ("rows", "spans", "expected"),
    [
        ([0, 0], [[10, 40, 10], [60, 100, 100]], 0),
        ([0, 0], [[10, 70, 10], [60, 100, 100]], 1),  # the other name is in the lowest row
        ([1, 0], [[10, 70, 10], [60, 100, 100]], 0),  # above it, with its leader to the left
        ([1, 0], [[80, 120, 80], [60, 100, 100]], None),  # its leader would cross the name
        ([None, 0], [[80, 120, 80], [60, 100, 100]], 0),
    ],
)
def test_a_name_that_ends_at_its_line_meets_no_other_name(
    javascript: Call, rows: list[int | None], spans: list[list[float]], expected: int | None
) -> None:
    assert javascript("spectrum/labels.js", "freeRow", rows, spans, 1, 2) == expected


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0, 10, [0, 2, 4, 6, 8, 10]), (4999, 5051, [5000, 5010, 5020, 5030, 5040, 5050]), (-0.3, 0.3, [-0.2, 0, 0.2])],
)
def test_ticks_are_round_numbers(javascript: Call, low: float, high: float, expected: list[float]) -> None:
    count = len(expected) if len(expected) > 3 else 3
    np.testing.assert_allclose(math(javascript, "niceTicks", low, high, count)["values"], expected, atol=1e-12)


@pytest.mark.parametrize("case", ["cool star", "holes", "short", "no data", "one pixel of data"])
def test_the_pseudo_continuum_is_that_of_the_agent(javascript: Call, case: str) -> None:
    spectrum = {
        "cool star": simulate("gm", "SDSS", snr=30, seed=4),
        "holes": holed(simulate("cv", "LAMOST", snr=12, seed=2), lambda i: (i % 700) > 350),
        "short": Spectrum(wavelength=np.linspace(6500, 6625, 41), flux=np.linspace(1, 3, 41) ** 2, ivar=np.ones(41)),
        "no data": holed(simulate("cv", "LAMOST", snr=12, seed=2), lambda i: i >= 0),
        "one pixel of data": holed(simulate("cv", "LAMOST", snr=12, seed=2), lambda i: i != 5),
    }[case]
    arrays = (spectrum.wavelength, spectrum.flux, spectrum.ivar)
    served = javascript("spectrum/continuum.js", "runningContinuum", dict(zip(PARTS, arrays, strict=True)))
    np.testing.assert_allclose(served, running_continuum(spectrum), rtol=1e-12)


PARTS = ("wavelength", "flux", "ivar")


def holed(spectrum: Spectrum, missing: Callable[[np.ndarray], np.ndarray]) -> Spectrum:
    """The same spectrum without data where ``missing`` of the pixel's index holds."""
    return replace(spectrum, ivar=np.where(missing(np.arange(len(spectrum))), 0.0, spectrum.ivar))


@given(
    st.floats(-1e7, 1e7, allow_subnormal=False), st.one_of(st.just(0.0), st.floats(1e-4, 1e5, allow_subnormal=False))
)
@settings(max_examples=60, deadline=None)
def test_a_value_with_its_error_is_printed_as_the_agent_prints_it(javascript: Call, value: float, error: float) -> None:
    printed = javascript("common/format.js", "plusMinus", {"value": value, "error": error, "unit": "Å"})
    # Python rounds an exact half to the even digit, JavaScript away from zero: nudged off it.
    values, errors = ((x, x * (1 + 1e-12)) for x in (value, error))
    expected = {plus_minus(Measured(v, e, "Å")).replace(" Å", "\u202fÅ") for v in values for e in errors}
    assert printed in expected


@pytest.mark.parametrize(
    ("unit", "exponent", "title"),
    [
        ("relative", 0, "Flux (relative)"),
        ("relative", 6, "Flux (relative, × 10⁶)"),
        ("unknown", 0, "Flux (unit unknown)"),
        ("1e-17 erg s-1 cm-2 Å-1", 0, "Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)"),
        ("1e-17 erg/s/cm2/Angstrom", 0, "Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)"),
        ("erg / (Angstrom s cm2)", -16, "Fλ (10⁻¹⁶ erg s⁻¹ cm⁻² Å⁻¹)"),
        ("10**(-17) ergs/(cm**2*s*A)", 0, "Fλ (10⁻¹⁷ erg s⁻¹ cm⁻² Å⁻¹)"),
        ("mJy", 0, "Fν (mJy)"),
        ("counts", 0, "Flux (counts)"),
    ],
)
def test_flux_units_are_printed_as_astronomers_print_them(
    javascript: Call, unit: str, exponent: int, title: str
) -> None:
    assert javascript("common/format.js", "fluxTitle", unit, exponent)["text"] == title


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        ("number", [-1240.4], "−1\u202f240"),
        ("number", [-0.001, 2], "0.00"),
        ("number", [None, 2], "–"),
        ("angstrom", [6562.8], "6562.80\u202fÅ"),
        ("windowText", [6500, 6630.25], "6500 – 6630.3\u202fÅ"),
        ("redshift", [-0.0000892], "−0.0000892"),
        ("redshift", [0.12], "0.12000"),
        ("velocity", [-17988.2], "−17\u202f988\u202fkm/s"),
        ("significant", [0.0001234], "1.23 × 10⁻⁴"),
        ("significant", [812.3], "812"),
    ],
)
def test_numbers_are_typeset(javascript: Call, function: str, arguments: list[Any], text: str) -> None:
    assert javascript("common/format.js", function, *arguments) == text


@pytest.mark.parametrize(
    ("text", "value"), [("−1 240.5", -1240.5), ("+0.1", 0.1), (".5", 0.5), ("1e-3", 0.001), ("12 km", None), ("", None)]
)
def test_typed_numbers_are_parsed_or_refused(javascript: Call, text: str, value: float | None) -> None:
    assert javascript("common/format.js", "parseNumber", text) == value
