"""Equivalent width, flux and Gaussian of a line between two continuum points, as ``e`` of IRAF's splot measures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from agent.language import deferred
from agent.lines import Medium, convert
from agent.measure.continuum import local_continuum
from agent.measure.gaussian import LineFit, fit_line
from agent.measure.pixels import cells, rest, shown, too_little_data
from agent.measure.profile import equivalent_width, widths_with_gaps_shared
from agent.measure.values import Measured, Undefined, Window, measured
from agent.spectrum import Spectrum

EDGE_PIXELS = 3
"""Pixels about each edge whose fluxes give the continuum there."""


@dataclass(frozen=True)
class BetweenPoints:
    """What lies between two continuum points, in the frame and medium of the window.

    :param ew: Å, absorption > 0
    :param flux: ∫ (F − C) dλ in the spectrum's flux unit times Å; emission > 0
    :param fit: one Gaussian on that continuum
    :param continuum: ((λ, F), (λ, F)) at the two edges
    :param reason: why a number is missing; "" if none is
    """

    ew: Measured | None
    flux: Measured | None
    fit: LineFit | None
    continuum: tuple[tuple[float, float], tuple[float, float]] | None
    reason: str = ""


def in_frame(spectrum: Spectrum, frame: Literal["observed", "rest"], medium: Medium, z: float) -> Spectrum:
    """Return the spectrum with its wavelengths in a frame and medium; flux and ivar unchanged.

    :param z: of the object; used where the frame changes
    """
    if frame == "rest":
        return rest(spectrum, z, medium)
    stretch = 1.0 + z if spectrum.frame == "rest" else 1.0
    wavelength = convert(convert(spectrum.wavelength, spectrum.medium, "vacuum") * stretch, "vacuum", medium)
    return replace(spectrum, wavelength=wavelength, frame="observed", medium=medium)


def between_points(spectrum: Spectrum, window: Window) -> BetweenPoints:
    """Measure between the edges of ``window`` (Å, in the frame and medium of ``spectrum``).

    The continuum is the straight line through the ``EDGE_PIXELS`` pixels about each edge. The Gaussian is fitted to
    the pixels between them.
    """
    inside = spectrum.wavelength[(spectrum.wavelength >= window[0]) & (spectrum.wavelength <= window[1])]
    if inside.size < 3 * EDGE_PIXELS:
        reason = deferred(
            "{size} pixels in {window}; at least {least} are needed",
            size=inside.size,
            window=shown(window),
            least=3 * EDGE_PIXELS,
        )
        return BetweenPoints(None, None, None, None, reason)
    half = float(np.median(np.diff(inside))) * EDGE_PIXELS / 2
    bands = tuple((edge - half, edge + half) for edge in window)
    continuum = local_continuum(spectrum, bands)
    if isinstance(continuum, Undefined):
        return BetweenPoints(None, None, None, None, continuum.reason)
    low, high = (float(continuum.level + continuum.tilt * (edge - continuum.pivot)) for edge in window)
    points = ((window[0], low), (window[1], high))
    lacking = too_little_data(spectrum, window)
    if lacking is not None:
        return BetweenPoints(None, None, None, points, lacking.reason)
    pixels = cells(spectrum, window)
    seen, wavelength = pixels.seen, pixels.wavelength[pixels.seen]
    # As for the equivalent width, a short gap is bridged by a straight line.
    share = widths_with_gaps_shared(pixels.wavelength, pixels.width, seen)
    area = float((share * (pixels.flux[seen] - continuum.at(wavelength))).sum())
    lever = np.array([share.sum(), (share * (wavelength - continuum.pivot)).sum()])
    variance = (share**2 / pixels.ivar[seen]).sum() + lever @ continuum.covariance @ lever
    flux = measured(area, float(np.sqrt(variance)), f"{spectrum.flux_unit} × Å")
    width = equivalent_width(spectrum, window, bands)
    fit = fit_line(spectrum, (window[0] + half, window[1] - half), bands)
    missing = [value.reason for value in (width, flux, fit) if isinstance(value, Undefined)]
    return BetweenPoints(
        None if isinstance(width, Undefined) else width,
        None if isinstance(flux, Undefined) else flux,
        None if isinstance(fit, Undefined) else fit,
        points,
        "; ".join(dict.fromkeys(missing)),
    )
