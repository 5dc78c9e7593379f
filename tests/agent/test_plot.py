"""The pictures the model sees, against the published ones and matplotlib's own."""

import hashlib
import io
import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agent.plot import PlotError, draw, pixels_sha256, png, png_bytes, reference
from agent.plot.curve import Curve, pixels_to_draw
from agent.plot.exact import grid, render
from agent.plot.exact.layout import UnsupportedLayout

RNG = np.random.default_rng(2601)
WAVELENGTH = np.geomspace(3700.0, 9100.0, 600)
FLUX = 1.0 + 0.1 * RNG.normal(size=600) + 3.0 * np.exp(-0.5 * ((WAVELENGTH - 6563.0) / 15.0) ** 2)


@pytest.fixture(scope="session")
def published(shared: Path) -> tuple[list[dict], dict[str, np.ndarray]]:
    folder = shared / "conformance" / "plots"
    with np.load(folder / "spectra.npz") as arrays:
        return json.loads((folder / "cases.json").read_text()), dict(arrays)


def test_every_published_picture_is_drawn_pixel_for_pixel(published):
    cases, arrays = published
    wrong = []
    for case in (c for c in cases if "file" in c):
        window = tuple(case["wavelength_range"]) if case["wavelength_range"] else None
        name = case["spectrum"]
        picture = draw(arrays[f"{name}.wavelength"], arrays[f"{name}.flux"], window, case["title"])
        same = picture.mode == "RGBA" and list(picture.size) == case["size"]
        if not same or pixels_sha256(picture) != case["pixels_sha256"]:
            wrong.append(case["file"])
    assert wrong == []


def test_every_published_refusal_has_the_published_words(published):
    cases, arrays = published
    for case in (c for c in cases if "error" in c):
        name, window = case["spectrum"], tuple(case["wavelength_range"])
        with pytest.raises(PlotError) as caught:
            draw(arrays[f"{name}.wavelength"], arrays[f"{name}.flux"], window, case["title"])
        assert str(caught.value) == case["error"]


@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_the_pixels_does_not_matter(random):
    order = list(range(len(WAVELENGTH)))
    random.shuffle(order)
    assert draw(WAVELENGTH[order], FLUX[order]).tobytes() == draw(WAVELENGTH, FLUX).tobytes()


def test_pixels_that_are_not_finite_are_left_out():
    broken = FLUX.copy()
    broken[100:140] = np.nan
    kept = np.isfinite(broken)
    assert draw(WAVELENGTH, broken).tobytes() == draw(WAVELENGTH[kept], FLUX[kept]).tobytes()


def test_a_single_pixel_is_drawn_without_a_word_on_the_log(caplog):
    draw(np.array([5000.0]), np.array([1.0]))
    assert not caplog.records


@pytest.mark.parametrize(
    ("wavelength", "flux", "window", "words"),
    [
        ([5000.0, 5001.0], [1.0], None, "same length"),
        ([], [], None, "empty"),
        ([5000.0, 5001.0], [np.nan, np.inf], None, "No valid data"),
        ([5000.0, 5001.0], [1.0, 2.0], (5001.0, 5000.0), "must be less than maximum"),
        ([5000.0, 5001.0], [1.0, 2.0], (5000.0, np.nan), "must be less than maximum"),
    ],
)
def test_what_cannot_be_drawn_is_refused(wavelength, flux, window, words):
    with pytest.raises(PlotError, match=words):
        draw(wavelength, flux, window)


GRIDS = {
    "LAMOST": 10 ** np.arange(3.5682, 3.9588, 1e-4),
    "SDSS": 10 ** np.arange(3.58, 3.9645, 1e-4),
    "DESI": np.arange(3600.0, 9824.1, 0.8),
    "high resolution": np.linspace(4700.0, 7900.0, 12_000),
    "infrared": np.linspace(9000.0, 25_000.0, 3000),
    "coarse": np.linspace(3700.0, 9000.0, 40),
}
FINE_WAVELENGTH = GRIDS["LAMOST"]
FINE_FLUX = 2.0 + np.sin(FINE_WAVELENGTH / 300.0) + 0.2 * np.random.default_rng(6).normal(size=FINE_WAVELENGTH.size)
WINDOWS = [None, (6500.0, 6600.0), (4000.0, 5500.0), (8000.0, 8900.0), (6560.0, 6565.0)]


def by_matplotlib(curve: Curve, title: str = "Spectrum") -> np.ndarray:
    return np.asarray(reference.picture(curve, title))


def differs(wavelength, flux, window=None, title="Spectrum") -> bool:
    curve = pixels_to_draw(np.asarray(wavelength, float), np.asarray(flux, float), window)
    return not np.array_equal(render.pixels(curve, title), by_matplotlib(curve, title))


def random_spectrum(rng: np.random.Generator) -> tuple[str, np.ndarray, np.ndarray]:
    """Continuum, noise, lines; then something that surveys do to spectra."""
    name = str(rng.choice(list(GRIDS)))
    wavelength = GRIDS[name]
    n = wavelength.size
    flux = 1 + 0.3 * np.sin(wavelength / rng.uniform(50, 900)) + 10 ** rng.uniform(-3, 0) * rng.normal(size=n)
    for centre in rng.uniform(wavelength[0], wavelength[-1], 3):
        flux += rng.uniform(-3, 8) * np.exp(-0.5 * ((wavelength - centre) / rng.uniform(1, 40)) ** 2)
    fate = str(rng.choice(["plain", "cgs", "scaled", "negative", "flat", "cosmic ray", "pedestal", "counts"]))
    match fate:
        case "cgs":
            flux *= 1e-17
        case "scaled":
            flux *= 10 ** rng.uniform(-30, 30)
        case "negative":
            flux = -flux
        case "flat":
            flux[:] = rng.choice([0.0, 1.0, -2.5, 1e-17, 123456.0])
        case "cosmic ray":
            flux[rng.integers(0, n, 3)] = rng.choice([1e3, 1e5, -1e4, 1e8])
        case "pedestal":
            flux += 10 ** rng.uniform(1, 7)
        case "counts":
            flux = np.round(flux * 10 ** rng.uniform(0, 6))
    if rng.random() < 0.3:
        start = rng.integers(0, n)
        flux[start : start + rng.integers(1, n // 4)] = np.nan
    if rng.random() < 0.2:
        start = rng.integers(0, n)
        kept = np.ones(n, bool)
        kept[start : start + rng.integers(1, n // 3)] = False
        wavelength, flux = wavelength[kept], flux[kept]
    return f"{name}, {fate}", wavelength, flux


def random_pictures(seed: int, spectra: int, windows: int) -> Iterator[tuple[str, Curve]]:
    """Each spectrum in full and in ``windows`` windows of 1 to 4,000 Å."""
    rng = np.random.default_rng(seed)
    for _ in range(spectra):
        name, wavelength, flux = random_spectrum(rng)
        for number in range(windows + 1):
            middle, span = rng.uniform(wavelength[0], wavelength[-1]), 10 ** rng.uniform(0, 3.6)
            ends = middle - span / 2, middle + span / 2
            if rng.random() < 0.5:
                ends = float(round(ends[0], -1)), float(round(ends[1], -1))
            window = ends if number else None
            try:
                curve = pixels_to_draw(wavelength, flux, window)
            except PlotError:
                continue
            # matplotlib needs six seconds for the 3,600 ticks of one pixel; a test below has a smaller case.
            if curve.extent:
                yield f"{name}, {window}", curve


@pytest.mark.parametrize("seed", range(6, 10))
def test_random_windows_and_full_spectra_are_drawn_as_matplotlib_draws_them(seed):
    pictures = list(random_pictures(seed, spectra=5, windows=3))
    assert len(pictures) > 10
    wrong = [n for n, curve in pictures if not np.array_equal(render.pixels(curve, "Spectrum"), by_matplotlib(curve))]
    assert wrong == []


# No wavelength twice: matplotlib needs seconds for the ticks of a picture without extent.
_POINTS = st.lists(
    st.tuples(st.floats(1000, 30_000), st.floats(-1e6, 1e6)), min_size=2, max_size=150, unique_by=lambda p: p[0]
)


@settings(max_examples=20)
@given(_POINTS, st.sampled_from([1.0, 1e-17, 1e12]), st.booleans())
def test_any_points_are_drawn_as_matplotlib_draws_them_or_left_to_it(points, scale, zoomed):
    wavelength, flux = np.array(points).T
    curve = pixels_to_draw(wavelength, flux * scale, (0.0, 1e5) if zoomed else None)
    try:
        drawn = render.pixels(curve, "Spectrum")
    except UnsupportedLayout:
        return
    assert np.array_equal(drawn, by_matplotlib(curve))


@pytest.mark.parametrize(
    "flux",
    [
        1e-17 * FINE_FLUX,
        1e9 * FINE_FLUX,
        1e7 + 1e-2 * FINE_FLUX,
        -5e5 - FINE_FLUX,
        0 * FINE_FLUX,
        0 * FINE_FLUX + 1e-17,
        1e60 * FINE_FLUX,
    ],
)
@pytest.mark.parametrize("window", [None, (6500.0, 6600.0)])
def test_powers_of_ten_and_constants_at_the_end_of_the_flux_axis(flux, window):
    assert not differs(FINE_WAVELENGTH, flux, window)


def test_a_constant_at_the_end_of_the_wavelength_axis():
    wavelength = np.linspace(23_000.0, 23_004.5, 60)
    assert not differs(wavelength, np.sin(wavelength), (23_000.0, 23_005.0))


@pytest.mark.parametrize("at", [300.0, 500.0])
def test_ticks_closer_than_pixels_are_drawn_one_by_one(at):
    assert not differs([at], [1.0])


def test_many_ticks_on_one_column_are_drawn_until_they_change_nothing(monkeypatch):
    wavelength = np.geomspace(100.0, 2e6, 500)
    curve = pixels_to_draw(wavelength, np.sin(wavelength), None)
    drawn = render.pixels(curve, "Spectrum")

    def one_by_one(places, *_):
        return [(places[at : at + 1], 1) for at in range(places.size)]

    monkeypatch.setattr(grid, "_apart", one_by_one)
    assert np.array_equal(render.pixels(curve, "Spectrum"), drawn)


def test_the_strokes_of_ticks_are_limited_by_the_columns(monkeypatch):
    strokes = 0

    class Counting(render.RendererAgg):
        def draw_markers(self, *arguments):
            nonlocal strokes
            strokes += 1
            super().draw_markers(*arguments)

    monkeypatch.setattr(render, "RendererAgg", Counting)
    wavelength = np.geomspace(100.0, 1e8, 500)
    curve = pixels_to_draw(wavelength, np.sin(wavelength), None)
    width = render.pixels(curve, "Spectrum").shape[1]
    # 550,000 ticks; the tick marks of a column are as dark as they can be after a few.
    assert strokes < 25 * width


@pytest.mark.parametrize("flux", [[1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [3.0, 2.0, 1.0]])
def test_pixels_at_one_wavelength_stand_above_each_other(flux):
    assert not differs([1500.0, 1500.0, 1501.0], flux)


@pytest.mark.parametrize(
    ("flux", "title"),
    [
        (FINE_FLUX, "for 5 \\$"),
        (FINE_FLUX, "two\nlines"),
        (FINE_FLUX, " "),
        (FINE_FLUX, "α Ori"),
        (1e200 * FINE_FLUX, "Spectrum"),
        (1e-200 * FINE_FLUX, "Spectrum"),
        (1e6 + 1e-9 * FINE_FLUX, "Spectrum"),
    ],
)
def test_what_is_not_promised_is_drawn_by_matplotlib(flux, title):
    curve = pixels_to_draw(FINE_WAVELENGTH, flux, (6500.0, 6600.0))
    with pytest.raises(UnsupportedLayout):
        render.pixels(curve, title)
    assert np.array_equal(draw(FINE_WAVELENGTH, flux, (6500.0, 6600.0), title), by_matplotlib(curve, title))


def test_a_line_too_long_for_agg_is_left_to_matplotlib(monkeypatch):
    curve = pixels_to_draw(FINE_WAVELENGTH, FINE_FLUX, None)

    def overflow(*_):
        raise OverflowError("Exceeded cell block limit")

    monkeypatch.setattr(render, "_draw_line", overflow)
    assert np.array_equal(draw(FINE_WAVELENGTH, FINE_FLUX), by_matplotlib(curve))


def test_usual_pictures_never_come_to_matplotlibs_figure(monkeypatch):
    monkeypatch.setattr(reference, "picture", lambda *_: pytest.fail("drawn by the reference"))
    for window in WINDOWS:
        draw(FINE_WAVELENGTH, FINE_FLUX, window)


def test_no_parameter_of_matplotlib_reaches_the_picture():
    plain = [draw(FINE_WAVELENGTH, -1e-17 * FINE_FLUX, window).tobytes() for window in WINDOWS]
    altered = {
        "agg.path.chunksize": 200,
        "axes.autolimit_mode": "round_numbers",
        "axes.facecolor": "black",
        "axes.formatter.limits": (-1, 1),
        "axes.formatter.offset_threshold": 1,
        "axes.formatter.use_mathtext": True,
        "axes.unicode_minus": False,
        "font.sans-serif": ["DejaVu Serif"],
        "font.size": 30,
        "lines.antialiased": False,
        "hatch.linewidth": 9.0,
        "path.simplify": False,
        "path.simplify_threshold": 1.0,
        "path.snap": False,
        "text.hinting": "none",
        "text.kerning_factor": 6,
        "xtick.major.pad": 20.0,
        "ytick.minor.ndivs": 2,
    }
    with matplotlib.rc_context(altered):
        before = dict(matplotlib.rcParams)
        assert [draw(FINE_WAVELENGTH, -1e-17 * FINE_FLUX, window).tobytes() for window in WINDOWS] == plain
        assert dict(matplotlib.rcParams) == before


def test_threads_and_processes_draw_the_same_pictures():
    windows = WINDOWS * 3
    alone = [_sha256(window) for window in windows]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(_sha256, windows)) == alone
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as processes:
        assert list(processes.map(_sha256, windows)) == alone


def test_a_picture_outlives_its_canvas_and_may_be_drawn_on():
    first = draw(FINE_WAVELENGTH, FINE_FLUX, (6500.0, 6600.0))
    before = first.tobytes()
    for window in WINDOWS:
        draw(FINE_WAVELENGTH, FINE_FLUX, window)
    assert first.tobytes() == before
    first.putpixel((0, 0), (1, 2, 3, 4))
    assert first.getpixel((0, 0)) == (1, 2, 3, 4)
    assert draw(FINE_WAVELENGTH, FINE_FLUX, (6500.0, 6600.0)).tobytes() == before


def test_a_picture_that_was_drawn_on_has_another_hash_and_another_png():
    picture = draw(np.linspace(4000.0, 9000.0, 500), np.ones(500))
    before, png_before = pixels_sha256(picture), png_bytes(picture)
    picture.putpixel((3, 3), (1, 2, 3, 255))
    assert pixels_sha256(picture) == hashlib.sha256(picture.tobytes()).hexdigest() != before
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png_bytes(picture)))), np.asarray(picture))
    assert png_bytes(picture) != png_before


@pytest.mark.parametrize("mode", ["RGBA", "RGB", "L"])
def test_png_bytes_are_read_back_as_the_same_pixels(mode):
    noise = np.random.default_rng(2).integers(0, 256, (37, 53, 4), np.uint8)
    picture = Image.fromarray(noise).convert(mode)
    stored = Image.open(io.BytesIO(png_bytes(picture)))
    assert (stored.mode, stored.size) == ("RGBA", (53, 37))
    assert stored.tobytes() == picture.convert("RGBA").tobytes()


def test_png_and_draw_give_one_picture():
    assert (
        Image.open(io.BytesIO(png(FINE_WAVELENGTH, FINE_FLUX))).tobytes() == draw(FINE_WAVELENGTH, FINE_FLUX).tobytes()
    )


def _sha256(window: tuple[float, float] | None) -> str:
    return pixels_sha256(draw(FINE_WAVELENGTH, FINE_FLUX, window))
