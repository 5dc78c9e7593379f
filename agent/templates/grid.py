"""The common wavelength grid of templates and spectra, and the rebinning onto it.

Pixels are equal in log10 λ (vacuum, rest frame), so that a velocity is a shift by the same number of pixels at any
wavelength."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum

FloatArray = NDArray[np.float64]

FIRST, STEP = 3.0, 1e-4
"""log10 of the first wavelength (1000 Å) and the step, that of SDSS: 69 km/s, two pixels per resolution element at a
resolving power of 2000."""
PIXELS = 10_200
"""Up to 10 471 Å."""
PIXEL_VELOCITY = SPEED_OF_LIGHT * np.log(10.0) * STEP
"""km/s per pixel."""
FILLED = 0.5
"""Part of a pixel that must have data for the pixel to have data."""


def wavelengths(first: int = 0, last: int = PIXELS) -> FloatArray:
    """Return the centres (last − first,) of pixels in Å, vacuum."""
    return np.asarray(10.0 ** (FIRST + STEP * np.arange(first, last)), dtype=np.float64)


def rebin(at_rest: Spectrum) -> tuple[int, FloatArray, FloatArray]:
    """Rebin a spectrum at vacuum rest wavelengths: the first pixel, then flux (n,) and ivar (n,); 0 without data.

    The flux of a pixel is the mean over its width, the ivar the information that falls into it; a spectrum of wider
    pixels than the grid's thus does not gain any.
    """
    wavelength = at_rest.wavelength
    steps = np.diff(wavelength)
    left, right = np.append(steps[:1], steps), np.append(steps, steps[-1:])
    # A pixel reaches half-way to its neighbours, but not across a gap.
    left, right = np.minimum(left, 3 * right), np.minimum(right, 3 * left)
    lower, upper = wavelength - left / 2, wavelength + right / 2
    first = max(0, int(np.ceil((np.log10(max(lower[0], 1.0)) - FIRST) / STEP - 0.5)))
    last = min(PIXELS, int(np.floor((np.log10(upper[-1]) - FIRST) / STEP + 0.5)) + 1)
    if last - first < 2:
        return 0, np.zeros(0), np.zeros(0)
    edges = 10.0 ** (FIRST + STEP * (np.arange(first, last + 1) - 0.5))
    seen = at_rest.ivar > 0
    width = upper - lower
    # Integrals from the left end to each boundary, interpolated at the edges of the grid's pixels.
    bounds = np.stack([lower, upper], axis=1).ravel()
    np.maximum.accumulate(bounds, out=bounds)

    def integral(density: FloatArray) -> FloatArray:
        pieces = np.zeros(bounds.size)
        pieces[1::2] = np.where(seen, density * width, 0.0)
        return np.diff(np.interp(edges, bounds, np.cumsum(pieces)))

    # Sums lose what is 1e-16 of them: one pixel of absurd ivar must not erase the others.
    capped = np.minimum(at_rest.ivar, 1e6 * float(np.median(at_rest.ivar[seen]))) if seen.any() else at_rest.ivar
    covered = integral(np.ones(width.size))
    flux = integral(np.where(seen, at_rest.flux, 0.0))
    ivar = integral(np.where(seen, capped / width, 0.0))
    good = covered > FILLED * np.diff(edges)
    safe = np.where(good, covered, 1.0)
    return first, np.where(good, flux / safe, 0.0), np.where(good, ivar, 0.0)
