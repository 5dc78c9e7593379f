"""A spectrum on the specialist's grid, for any survey: flux, error and coverage.

3,000 pixels, equal in ln λ, from 3700 to 9000 Å in vacuum, at rest by the catalogue's redshift: 89 km/s per pixel
(LAMOST: 69). Flux is averaged over each pixel, so a finer spectrum loses noise and not lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agent.measure import rest
from agent.spectrum import Spectrum

PIXELS = 3000
FIRST, LAST = 3700.0, 9000.0
CHANNELS = 3

Float32 = NDArray[np.float32]
FloatArray = NDArray[np.float64]

_EDGES = np.geomspace(FIRST, LAST, PIXELS + 1)
_SMOOTH = 151  # pixels, 13,400 km/s: wider than a disc line, narrower than a molecular system


@dataclass(frozen=True)
class Sampled:
    """Spectra on the grid; all arrays are (spectra, PIXELS), float32.

    :param flux: over the spectrum's own median, 0 without data
    :param sigma: the error of ``flux``, 0 without data
    :param seen: the fraction of the pixel that has data
    """

    flux: Float32
    sigma: Float32
    seen: Float32

    def __len__(self) -> int:
        return len(self.flux)

    def __getitem__(self, which: slice | NDArray[np.intp]) -> Sampled:
        return Sampled(self.flux[which], self.sigma[which], self.seen[which])

    @classmethod
    def stack(cls, parts: list[Sampled]) -> Sampled:
        """Join several into one. :raises ValueError: of none"""
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in ("flux", "sigma", "seen")))


def sample(spectrum: Spectrum) -> Sampled:
    """Resample one spectrum to the grid. One without data in the range is zeros throughout."""
    at_rest = rest(spectrum, medium="vacuum")
    good = at_rest.ivar > 0
    if good.sum() < 2:
        return _nothing()
    wavelength = at_rest.wavelength
    flux = np.interp(wavelength, wavelength[good], at_rest.flux[good])
    variance = np.interp(wavelength, wavelength[good], 1 / at_rest.ivar[good])
    seen = _mean(wavelength, good.astype(np.float64))
    covered = (_EDGES[1:] > wavelength[0]) & (_EDGES[:-1] < wavelength[-1])
    seen = np.where(covered, np.clip(seen, 0, 1), 0.0)
    inside = seen > 0.5
    if not inside.any():
        return _nothing()
    level, noise = _mean(wavelength, flux), np.sqrt(_mean(wavelength, variance) / _pixels_each(wavelength))
    # The median of a sky fibre is near 0, of either sign: its noise is then the scale.
    scale = max(abs(float(np.median(level[inside]))), float(np.median(noise[inside])), 1e-30)
    rows = [np.where(inside, row, 0.0) for row in (level / scale, noise / scale, seen)]
    return Sampled(*(np.clip(row, -1e6, 1e6).astype(np.float32)[None] for row in rows))


def channels(sampled: Sampled) -> Float32:
    """Return the input of the network: (spectra, CHANNELS, PIXELS).

    Flux over its median, less 1; flux over its running mean, less 1; and a confidence (0 without data, near 1 at a
    high signal-to-noise). The first two as arsinh, so that a very strong line does not dominate.
    """
    seen = (sampled.seen > 0).astype(np.float32)
    width = _running(seen)
    level = np.divide(_running(sampled.flux * seen), width, out=np.ones_like(width), where=width > 0.01)
    # A running level at or below the noise is no continuum to divide by.
    floor = np.maximum(np.abs(level), 0.02)
    shape = (sampled.flux - 1) * seen
    lines = (sampled.flux - level) / floor * seen
    worth = seen * floor / (floor + 5 * sampled.sigma)
    stacked: Float32 = np.stack([np.arcsinh(shape), np.arcsinh(lines), worth], axis=1).astype(np.float32)
    return stacked


def _nothing() -> Sampled:
    return Sampled(*(np.zeros((1, PIXELS), np.float32) for _ in range(3)))


def _mean(wavelength: FloatArray, values: FloatArray) -> FloatArray:
    """Return the mean over each pixel of the grid of the straight lines through ``values``; constant beyond the
    ends.
    """
    total = np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(wavelength))])
    at = np.interp(_EDGES, wavelength, total)
    width = np.clip(_EDGES, wavelength[0], wavelength[-1])
    mean: FloatArray = np.diff(at) / np.maximum(np.diff(width), 1e-9)
    return mean


def _pixels_each(wavelength: FloatArray) -> FloatArray:
    """Return how many of the spectrum's pixels are averaged in one of the grid's; at least 1."""
    position = np.interp(_EDGES, wavelength, np.arange(wavelength.size, dtype=np.float64))
    each: FloatArray = np.maximum(np.diff(position), 1.0)
    return each


def _running(values: Float32) -> Float32:
    """Return the running mean over ``_SMOOTH`` pixels along the last axis, with zeros beyond the ends."""
    half = _SMOOTH // 2
    padded = np.pad(values.astype(np.float64), ((0, 0), (half + 1, half)))
    summed = np.cumsum(padded, axis=1)
    running: Float32 = ((summed[:, _SMOOTH:] - summed[:, :-_SMOOTH]) / _SMOOTH).astype(np.float32)
    return running
