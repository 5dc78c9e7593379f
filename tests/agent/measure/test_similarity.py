"""Shape vectors: insensitive to calibration, noise and missing ends; different classes are far apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.similarity import SIZE, distances, shape_vector
from agent.simulate import simulate
from agent.spectrum import Spectrum


def test_two_stars_of_one_class_are_nearer_than_two_of_two() -> None:
    seeds = {kind: [simulate(kind, "SDSS", 30.0, seed) for seed in (1, 2)] for kind in ("gm", "wd", "cv", "cc")}
    vectors = {kind: [shape_vector(s) for s in pair] for kind, pair in seeds.items()}
    for kind, (vector, other) in vectors.items():
        others = np.stack([other, *(v for k, pair in vectors.items() if k != kind for v in pair)])
        apart = distances(vector, others)
        assert np.argmin(apart) == 0, kind


def test_flux_calibration_does_not_count() -> None:
    spectrum = simulate("gm", "SDSS", 50.0, 1)
    tilt = 1e-15 * (spectrum.wavelength / 6000.0) ** 1.5
    tilted = replace(spectrum, flux=spectrum.flux * tilt, ivar=spectrum.ivar / tilt**2)
    assert distances(shape_vector(spectrum), shape_vector(tilted)[None])[0] < 0.06


def test_missing_ends_are_left_out_and_too_little_is_no_vector() -> None:
    spectrum = simulate("gm", "SDSS", 50.0, 1)

    def cut(lo: float, hi: float) -> Spectrum:
        return replace(
            spectrum, ivar=np.where((spectrum.wavelength > lo) & (spectrum.wavelength < hi), spectrum.ivar, 0.0)
        )

    part = shape_vector(cut(4200.0, 8800.0))
    assert part.shape == (SIZE,)
    assert np.isnan(part).any()
    assert distances(shape_vector(spectrum), part[None])[0] < 0.1
    assert shape_vector(cut(6400.0, 6700.0)) is None
    assert shape_vector(cut(1.0, 2.0)) is None


def test_nothing_in_common_is_infinitely_far() -> None:
    one, other = np.full(SIZE, np.nan, dtype=np.float32), np.ones(SIZE, dtype=np.float32)
    one[:10] = 1.0
    other[:10] = np.nan
    assert distances(one, other[None])[0] == np.inf
    assert distances(other, other[None])[0] == pytest.approx(0.0, abs=1e-5)
