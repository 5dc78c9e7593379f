"""The picture the model sees is the published tool's, whoever draws it and wherever."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agent.plot import PlotError, draw, pixels_sha256, png

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


def test_threads_draw_the_same_pictures_as_one_alone():
    windows = [None, (6500.0, 6600.0), (4000.0, 5500.0), (8000.0, 8900.0)] * 2
    alone = [pixels_sha256(draw(WAVELENGTH, FLUX, w)) for w in windows]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda w: pixels_sha256(draw(WAVELENGTH, FLUX, w)), windows))
    assert together == alone


def test_the_style_of_the_process_neither_reaches_the_picture_nor_is_changed_by_it():
    plain = png(WAVELENGTH, FLUX)
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "black", "lines.antialiased": False}):
        before = dict(matplotlib.rcParams)
        assert png(WAVELENGTH, FLUX) == plain
        assert dict(matplotlib.rcParams) == before


def test_a_single_pixel_is_drawn_without_a_word_on_the_log(caplog):
    draw(np.array([5000.0]), np.array([1.0]))
    assert not caplog.records


def test_png_bytes_hold_the_drawn_picture():
    stored = Image.open(io.BytesIO(png(WAVELENGTH, FLUX, (6500.0, 6600.0))))
    assert pixels_sha256(stored) == pixels_sha256(draw(WAVELENGTH, FLUX, (6500.0, 6600.0)))


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
