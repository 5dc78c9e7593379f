"""The shape of a spectrum as a vector, so that similar spectra are found by one matrix product."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from agent.measure.pixels import rest
from agent.spectrum import Spectrum
from agent.templates import grid
from agent.templates.rank import TRIMMED

FloatArray = NDArray[np.float64]
Vector = NDArray[np.float32]

FIRST_PIXEL, LAST_PIXEL = 5750, 9590
"""Of the template grid: 3758 to 9099 Å, vacuum, at rest."""
BINNED = 4
"""Pixels per element: 276 km/s, wider than a resolution element, so that noise counts less."""
SIZE = (LAST_PIXEL - FIRST_PIXEL) // BINNED
ORDER = 4
"""Of the continuum, as in the ranking of templates: it takes out calibration and reddening, not molecular bands."""
LEAST_COMMON = 0.5
"""Part of the elements that two spectra must share to be compared."""
_BLOCK = 12  # elements, 3 300 km/s, whose median is one point of the continuum


def shape_vector(spectrum: Spectrum) -> Vector | None:
    """Return sign(y) ln(1 + |y|) with y = F/C − 1 on ``SIZE`` elements, NaN without data; None if less than
    ``LEAST_COMMON`` has data.

    At the redshift of the file, 0 without one. The logarithm keeps one strong emission line from deciding alone.
    """
    first, flux, ivar = grid.rebin(rest(spectrum, None, "vacuum"))
    seen = np.flatnonzero(ivar > 0)
    if seen.size <= 2 * TRIMMED:
        return None
    ivar[: seen[0] + TRIMMED] = 0.0
    ivar[seen[-1] + 1 - TRIMMED :] = 0.0
    total, count = np.zeros(LAST_PIXEL - FIRST_PIXEL), np.zeros(LAST_PIXEL - FIRST_PIXEL)
    low, high = max(first, FIRST_PIXEL), min(first + flux.size, LAST_PIXEL)
    if high <= low:
        return None
    in_total, in_spectrum = slice(low - FIRST_PIXEL, high - FIRST_PIXEL), slice(low - first, high - first)
    total[in_total] = np.where(ivar[in_spectrum] > 0, flux[in_spectrum], 0.0)
    count[in_total] = ivar[in_spectrum] > 0
    total, count = (array.reshape(SIZE, BINNED).sum(axis=1) for array in (total, count))
    good = count >= BINNED / 2
    if good.sum() < LEAST_COMMON * SIZE:
        return None
    mean = np.where(good, total / np.maximum(count, 1.0), np.nan)
    continuum = _continuum(mean)
    ratio = np.clip(mean / continuum - 1.0, -2.0, 50.0)
    return np.asarray(np.sign(ratio) * np.log1p(np.abs(ratio)), dtype=np.float32)


def distances(vector: Vector, others: NDArray[np.float32]) -> FloatArray:
    """Return 1 − cosine (n,) between a vector and others (n, ``SIZE``) over the elements that both have: 0 the same
    shape, 1 nothing in common, 2 opposite. Infinite where too little is common.
    """
    own = np.isfinite(vector)
    theirs = np.isfinite(others)
    filled, mine = np.where(theirs, others, 0.0), np.where(own, vector, 0.0)
    product = filled @ mine
    norm = np.sqrt((filled**2 @ own.astype(np.float32)) * (theirs.astype(np.float32) @ mine**2))
    common = theirs.astype(np.float32) @ own.astype(np.float32) >= LEAST_COMMON * own.sum()
    usable = common & (norm > 0)
    return np.where(usable, 1.0 - product / np.where(usable, norm, 1.0), np.inf)


def _continuum(mean: FloatArray) -> FloatArray:
    """Return the exponential of a polynomial (SIZE,) through the logarithms of the medians of blocks of a spectrum
    (SIZE,): always positive, and a smooth error of the flux calibration divides out. Medians below a thousandth of the
    spectrum's median count as that.
    """
    x = np.linspace(-1.0, 1.0, SIZE)
    blocks = SIZE // _BLOCK
    values, places = mean[: blocks * _BLOCK].reshape(blocks, _BLOCK), x[: blocks * _BLOCK].reshape(blocks, _BLOCK)
    full = np.isfinite(values).sum(axis=1) >= _BLOCK / 2
    medians = np.nanmedian(values[full], axis=1)
    level = abs(float(np.nanmedian(mean))) or 1.0
    logarithms = np.log(np.maximum(medians, 1e-3 * level) / level)
    fitted = chebyshev.chebval(x, chebyshev.chebfit(places[full].mean(axis=1), logarithms, ORDER))
    return np.asarray(level * np.exp(fitted), dtype=np.float64)
