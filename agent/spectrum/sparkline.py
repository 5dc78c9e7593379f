"""A spectrum as one line of 120 × 24 units, for rows of lists: the path of an SVG element.

The database keeps what is drawn (``reviewer/store/spectra.py``): a change of the drawing takes a migration that empties
the table ``sparklines``.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from agent.spectrum.record import Spectrum

FloatArray = NDArray[np.float64]

WIDTH, HEIGHT = 120, 24
BINS = 60
_MARGIN = 1.0  # above and below the line, so that its width stays inside the box
_PER_BIN = 3  # pixels at least, on average, so that a bin without pixels is a gap and not a coarse grid
_SMOOTHED = 5  # bins, whose medians set the range: a slope counts up to its end, a cosmic ray does not
_BEYOND = 0.3  # of the range is shown above and below it: space for a narrow line, which is cut off at the edge
_NOISY = 3.0  # times the typical error: such a bin, e.g. at the blue end, does not set the range


def sparkline(spectrum: Spectrum) -> str:
    """Return the path of a spectrum's mean flux in bins of equal width; gaps break it. Empty without data."""
    seen = spectrum.ivar > 0
    if not seen.any():
        return ""
    flux, errors = _binned(spectrum.wavelength[seen], spectrum.flux[seen], spectrum.ivar[seen])
    good = np.isfinite(flux)
    if not good.any():
        return ""
    noisy = (errors > _NOISY * np.median(errors[good])) & (np.abs(flux) < _NOISY * errors)
    x = np.arange(0.5, flux.size) * (WIDTH / flux.size)
    return _path(x, _heights(flux, good & ~noisy), good)


def _binned(wavelength: FloatArray, flux: FloatArray, ivar: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted mean and error of each bin, relative to the largest flux; NaN and infinity without pixels."""
    bins = int(np.clip(flux.size // _PER_BIN, 2, BINS))
    edges = np.linspace(wavelength[0], wavelength[-1], bins + 1)
    place = np.clip(np.searchsorted(edges, wavelength, side="right") - 1, 0, bins - 1)
    # Files hold any finite number: relative values have no overflow.
    largest, best = float(np.abs(flux).max()) or 1.0, float(ivar.max())
    weight = ivar / best
    total = np.bincount(place, weight, bins)
    with np.errstate(all="ignore"):
        return np.bincount(place, weight * (flux / largest), bins) / total, 1.0 / (np.sqrt(best * total) * largest)


def _heights(flux: FloatArray, bulk: NDArray[np.bool_]) -> FloatArray:
    """Return y from the top of the box; what lies beyond the range of the bulk is cut off at its edge."""
    flux_of_bulk = flux[bulk]
    medians = np.median(sliding_window_view(flux_of_bulk, min(_SMOOTHED, flux_of_bulk.size)), axis=1)
    beyond = _BEYOND * np.ptp(medians)
    low = max(medians.min() - beyond, flux_of_bulk.min())
    high = min(medians.max() + beyond, flux_of_bulk.max())
    part = np.clip((flux - low) / (high - low), 0.0, 1.0) if high > low else np.full(flux.size, 0.5)
    return HEIGHT - _MARGIN - (HEIGHT - 2 * _MARGIN) * part


def _path(x: FloatArray, y: FloatArray, good: NDArray[np.bool_]) -> str:
    """Return the path through the good points, with relative coordinates: they are the shortest."""
    tenths = np.rint(10 * np.stack([x, np.where(good, y, 0.0)], axis=1)).astype(int)
    parts, last = [], None
    for point, is_good in zip(tenths, good, strict=True):
        if is_good:
            # h0: with round caps, a bin between two gaps is a dot.
            parts.append(f"M{_pair(point)}h0" if last is None else f"l{_pair(point - last)}")
        last = point if is_good else None
    return "".join(parts)


def _pair(tenths: NDArray[np.int_]) -> str:
    return " ".join(f"{value / 10:g}" for value in tenths).replace(" -", "-")
