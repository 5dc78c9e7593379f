"""The pixels in a window (their widths and quality), and the conversion to rest wavelengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.lines import Medium, convert
from agent.measure.values import Measured, Undefined, Window, measured
from agent.spectrum import Spectrum

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

COARSE = 15.0  # Å; a spectrum sampled more coarsely than this shows bands and the colour, but no lines

ENOUGH = 0.9  # of a window must have data before anything is integrated over it


@dataclass(frozen=True)
class Cells:
    """The pixels that reach into a window. ``width`` is the part of each pixel inside it, in Å; all arrays (n,)."""

    wavelength: FloatArray
    flux: FloatArray
    ivar: FloatArray
    width: FloatArray

    @property
    def seen(self) -> BoolArray:
        """Pixels that have data, as a mask."""
        return self.ivar > 0


def rest(spectrum: Spectrum, redshift: float | None = None, medium: Medium | None = None) -> Spectrum:
    """Return the spectrum at rest wavelengths in the wanted medium; flux and ivar unchanged, without exposures.

    The telescope stands in air, so an observed air wavelength is converted to vacuum first, then divided by
    1 + z, then converted to the wanted medium.

    :param redshift: None: the spectrum's own, 0 if it has none. Not used where the spectrum is at rest
        already.
    :param medium: None: as it is
    """
    target = medium or spectrum.medium
    z = 0.0 if spectrum.frame == "rest" else (spectrum.redshift or 0.0) if redshift is None else redshift
    if spectrum.frame == "rest" and target == spectrum.medium:
        return spectrum
    wavelength = spectrum.wavelength
    if z != 0.0 or target != spectrum.medium:
        wavelength = convert(convert(wavelength, spectrum.medium, "vacuum") / (1.0 + z), "vacuum", target)
    return replace(spectrum, wavelength=wavelength, frame="rest", medium=target, exposures=())


def cells(spectrum: Spectrum, window: Window) -> Cells:
    """Return the pixels that reach into ``window``, with or without data.

    A pixel reaches half-way to each neighbour, but not across a gap: a step of more than three times the one
    on its other side.
    """
    wavelength = spectrum.wavelength
    first = max(0, int(np.searchsorted(wavelength, window[0])) - 2)
    last = min(wavelength.size, int(np.searchsorted(wavelength, window[1])) + 2)
    if last - first < 2:
        first, last = max(0, last - 2), min(wavelength.size, max(0, last - 2) + 2)
    centre = wavelength[first:last]
    step = np.diff(centre)
    left, right = np.append(step[:1], step), np.append(step, step[-1:])
    left, right = np.where(left > 3 * right, right, left), np.where(right > 3 * left, left, right)
    inside = np.minimum(centre + right / 2, window[1]) - np.maximum(centre - left / 2, window[0])
    kept = inside > 0
    return Cells(centre[kept], spectrum.flux[first:last][kept], spectrum.ivar[first:last][kept], inside[kept])


def coverage(spectrum: Spectrum, window: Window) -> float:
    """Return the fraction of a window (0 to 1) that has pixels with data."""
    pixels = cells(spectrum, window)
    return min(1.0, float(pixels.width[pixels.seen].sum()) / (window[1] - window[0]))


def flagged(spectrum: Spectrum, window: Window) -> float:
    """Return the fraction (0 to 1) of a window's pixels with data that the survey's mask flags; 0.0 if there are
    none.
    """
    inside = (spectrum.wavelength >= window[0]) & (spectrum.wavelength <= window[1]) & (spectrum.ivar > 0)
    return float(spectrum.mask[inside].mean()) if inside.any() else 0.0


def signal_to_noise(spectrum: Spectrum, window: Window) -> float | Undefined:
    """Return the median of flux √ivar, per pixel, over the pixels of a window that have data."""
    pixels = cells(spectrum, window)
    if not pixels.seen.any():
        return Undefined(deferred("no data in {window}", window=shown(window)))
    return float(np.median(pixels.flux[pixels.seen] * np.sqrt(pixels.ivar[pixels.seen])))


def mean_flux(spectrum: Spectrum, window: Window) -> Measured | Undefined:
    """Return the mean F_λ over a window, each pixel weighted by its width inside, not by its ivar, as band indices are
    defined.
    """
    lacking = too_little_data(spectrum, window)
    if lacking is not None:
        return lacking
    pixels = cells(spectrum, window)
    width, ivar = pixels.width[pixels.seen], pixels.ivar[pixels.seen]
    value = float((width * pixels.flux[pixels.seen]).sum() / width.sum())
    with np.errstate(over="ignore", divide="ignore"):
        error = float(np.sqrt((width**2 / ivar).sum()) / width.sum())
    return measured(value, error, spectrum.flux_unit)


def too_little_data(spectrum: Spectrum, window: Window) -> Undefined | None:
    """Return why nothing can be integrated over a window; None if it can."""
    covered = coverage(spectrum, window)
    if covered == 0.0:
        return Undefined(deferred("no data in {window}", window=shown(window)))
    if covered < ENOUGH:
        return Undefined(
            deferred("only {covered:.0f} % of {window} has data", covered=100 * covered, window=shown(window))
        )
    return None


def shown(window: Window) -> str:
    """Format a window as text: 6500–6600 Å."""
    return f"{window[0]:.0f}–{window[1]:.0f} Å"
