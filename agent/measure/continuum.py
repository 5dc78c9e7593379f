"""The continuum: a straight line through side bands, or a running one for displaying a whole spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from agent.language import deferred
from agent.measure.pixels import BoolArray, FloatArray, cells, coverage, shown
from agent.measure.values import Measured, Undefined, Window
from agent.spectrum import Spectrum

CLIP = 5.0  # robust σ beyond which a side-band pixel is taken for a cosmic ray or a line
ENOUGH_SIDE = 0.5  # of a side band must have data


@dataclass(frozen=True)
class Continuum:
    """A straight line F = level + tilt (λ − pivot) with the covariance (2, 2) of level and tilt."""

    pivot: float
    level: float
    tilt: float
    covariance: FloatArray

    def at(self, wavelength: FloatArray) -> FloatArray:
        """Return the continuum flux at wavelengths (n,) in Å."""
        flux: FloatArray = self.level + self.tilt * (wavelength - self.pivot)
        return flux

    def measured_at(self, wavelength: float) -> Measured:
        """Return the continuum flux at one wavelength with its error."""
        lever = np.array([1.0, wavelength - self.pivot])
        value = self.level + self.tilt * (wavelength - self.pivot)
        return Measured(float(value), float(np.sqrt(lever @ self.covariance @ lever)))


def adjacent_bands(window: Window) -> tuple[Window, Window]:
    """Return side bands for a window that has none of its own: half as wide as the window, one touching it on each
    side.
    """
    half = (window[1] - window[0]) / 2
    return (window[0] - half, window[0]), (window[1], window[1] + half)


def local_continuum(spectrum: Spectrum, side_bands: Sequence[Window]) -> Continuum | Undefined:
    """Fit a straight line through the side bands, weighted by ivar; with one band, take its mean.

    Pixels beyond ``CLIP`` robust σ are left out. If the rest scatters by more than noise (χ²/ν above 1 by three of its
    own standard deviations), the covariance is scaled by χ²/ν.
    """
    for band in side_bands:
        if coverage(spectrum, band) < ENOUGH_SIDE:
            return Undefined(deferred("too little data in the side band {band}", band=shown(band)))
    bands = [cells(spectrum, band) for band in side_bands]
    wavelength = np.concatenate([c.wavelength[c.seen] for c in bands])
    flux = np.concatenate([c.flux[c.seen] for c in bands])
    root_ivar = np.sqrt(np.concatenate([c.ivar[c.seen] for c in bands]))
    terms = 2 if len(side_bands) > 1 else 1
    if wavelength.size < terms + 2:
        return Undefined(deferred("{size} pixels in the side bands", size=wavelength.size))
    pivot = float(wavelength.mean())
    design = np.vander(wavelength - pivot, terms, increasing=True)
    kept: BoolArray = np.ones(wavelength.shape, dtype=bool)
    for _ in range(3):
        weighted = design[kept] * root_ivar[kept, None]
        solution, *_rest = np.linalg.lstsq(weighted, flux[kept] * root_ivar[kept], rcond=None)
        residual = (flux - design @ solution) * root_ivar
        spread = max(1.0, 1.4826 * float(np.median(np.abs(residual[kept] - np.median(residual[kept])))))
        new = np.abs(residual) < CLIP * spread
        if (new == kept).all() or new.sum() < terms + 2:
            break
        kept = new
    covariance = np.linalg.pinv(weighted.T @ weighted) * excess(residual[kept], int(kept.sum()) - terms)
    whole = np.zeros((2, 2))
    whole[:terms, :terms] = covariance
    return Continuum(pivot, float(solution[0]), float(solution[1]) if terms == 2 else 0.0, whole)


def excess(residual: FloatArray, freedom: int) -> float:
    """Return the factor for the variances: χ²/ν where it exceeds 1 by more than chance (3σ) would, otherwise 1.

    :param residual: (n,) residuals in units of their own σ
    """
    reduced = float((residual**2).sum()) / max(1, freedom)
    return reduced if reduced > 1.0 + 3.0 * np.sqrt(2.0 / max(1, freedom)) else 1.0


def running_continuum(spectrum: Spectrum, stretch: float = 150.0) -> FloatArray:
    """Return a pseudo-continuum (n,) for display: medians in stretches of that many Å, without absorption and emission,
    joined by straight lines.

    In a cool star it follows the tops between the bands, as every pseudo-continuum does. All zeros for a spectrum
    without data.
    """
    wavelength, flux, seen = spectrum.wavelength, spectrum.flux, spectrum.ivar > 0
    if not seen.any():
        return np.zeros(wavelength.shape)
    count = max(1, round(float(wavelength[-1] - wavelength[0]) / stretch))
    edges = np.linspace(wavelength[0], wavelength[-1], count + 1)
    centres, levels = [], []
    for lo, hi in pairwise(edges):
        inside = flux[seen & (wavelength >= lo) & (wavelength <= hi)]
        if inside.size < 3:
            continue
        for _ in range(5):
            middle = np.median(inside)
            spread = 1.4826 * np.median(np.abs(inside - middle))
            # Most lines are in absorption, so the lower side is clipped more.
            inside = inside[(inside >= middle - 1.5 * spread) & (inside <= middle + 3.0 * spread)]
        centres.append((lo + hi) / 2)
        levels.append(float(np.median(inside)))
    if not centres:
        return np.full(wavelength.shape, float(np.median(flux[seen])))
    return np.interp(wavelength, centres, levels)
