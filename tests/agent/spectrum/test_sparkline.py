"""The line of a spectrum in a row of a list: inside its box, with its gaps, and not flattened by a few bad pixels."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from agent.spectrum import Spectrum
from agent.spectrum.sparkline import BINS, HEIGHT, WIDTH, sparkline

Array = NDArray[np.float64]
WAVELENGTH = np.linspace(4000.0, 9000.0, 3000)


def of(flux: Array, ivar: Array | None = None, wavelength: Array = WAVELENGTH) -> str:
    return sparkline(Spectrum(wavelength, flux, np.full(flux.size, 100.0) if ivar is None else ivar, name="a.fits"))


def points(path: str) -> list[list[tuple[float, float]]]:
    """Return the points of each unbroken piece of a path."""
    pieces: list[list[tuple[float, float]]] = []
    assert re.fullmatch(r"(M\d[\d.]* \d[\d.]*h0(l-?[\d.]+ ?-?[\d.]+)*)*", path)
    for command, numbers in re.findall(r"([Ml])([^Mlh]+)", path):
        x, y = (float(number) for number in re.findall(r"-?[\d.]+", numbers))
        if command == "M":
            pieces.append([(x, y)])
        else:
            last = pieces[-1][-1]
            pieces[-1].append((last[0] + x, last[1] + y))
    return pieces


def heights(path: str) -> Array:
    return np.array([y for piece in points(path) for _, y in piece])


def test_a_slope_falls_through_the_whole_box() -> None:
    (line,) = points(of(np.linspace(2.0, 1.0, 3000)))
    assert len(line) == BINS
    x, y = np.array(line).T
    assert (np.diff(x) > 0).all()
    assert 0 < x[0] < 2
    assert WIDTH - 2 < x[-1] < WIDTH
    assert (np.diff(y) > 0).all(), "y counts from the top"
    assert (y[0], y[-1]) == pytest.approx((1.0, HEIGHT - 1.0), abs=0.2)


def test_an_emission_line_stands_out_upwards() -> None:
    flux = 1.0 + 0.1 * np.sin(WAVELENGTH / 500.0)
    flux[1500:1520] += 5.0
    y = heights(of(flux))
    assert np.argmin(y) == 30
    assert y[30] < np.delete(y, 30).min() - 3.0


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda flux, ivar: flux.__setitem__(slice(1500, 1503), 1e6), id="a cosmic ray"),
        pytest.param(lambda flux, ivar: flux.__setitem__(slice(1500, 1503), 1e300), id="a number beyond all range"),
        pytest.param(
            lambda flux, ivar: (
                flux.__setitem__(slice(0, 400), np.random.default_rng(1).normal(1.0, 200.0, 400)),
                ivar.__setitem__(slice(0, 400), 1 / 200.0**2),
            ),
            id="a noisy blue end",
        ),
    ],
)
def test_a_few_bad_pixels_do_not_flatten_the_rest(spoil: Callable[[Array, Array], None]) -> None:
    flux, ivar = 2.0 + np.sin(WAVELENGTH / 500.0), np.full(3000, 100.0)
    spoil(flux, ivar)
    y = heights(of(flux, ivar))
    assert y.min() >= 0.99
    assert y.max() <= HEIGHT - 0.99
    assert np.ptp(y[10:28]) > HEIGHT / 3


def test_gaps_break_the_line_and_pixels_without_data_are_left_out() -> None:
    flux, ivar = 2.0 + np.sin(WAVELENGTH / 500.0), np.full(3000, 100.0)
    broken = ivar.copy()
    broken[1000:1500] = 0.0
    flux[1000:1500] = 1e9
    first, second = points(of(flux, broken))
    assert first[-1][0] < second[0][0] - 15
    without = WAVELENGTH[[*range(1000), *range(1500, 3000)]]
    between_arms = points(of(np.delete(flux, np.s_[1000:1500]), wavelength=without))
    assert [len(piece) for piece in between_arms] == [len(first), len(second)], "a gap without pixels is one too"


def test_a_coarse_or_uneven_grid_has_no_gaps() -> None:
    coarse = np.linspace(3300.0, 10500.0, 55)
    logarithmic = np.geomspace(1500.0, 10500.0, 200)
    for wavelength in (coarse, logarithmic):
        assert len(points(of(np.linspace(1.0, 2.0, wavelength.size), wavelength=wavelength))) == 1


def test_what_has_no_shape_is_a_line_in_the_middle_or_nothing() -> None:
    assert of(np.ones(3000), np.zeros(3000)) == ""
    for flux in (np.zeros(3000), np.ones(3000), np.full(3000, 1.7e308), np.full(3000, 5e-324)):
        assert set(heights(of(flux)).round(3)) == {HEIGHT / 2}
    one_pixel = np.zeros(3000)
    one_pixel[7] = 1.0
    assert len(points(of(np.ones(3000), one_pixel))) == 1
