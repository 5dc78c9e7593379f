"""What disturbs a window: faults of the data, and sky lines, telluric bands and arm joins on its line."""

from __future__ import annotations

import numpy as np

from agent.hints.view import View
from agent.language import deferred, joined
from agent.lines import Band, Line, SkyBand, sky_bands
from agent.measure import Window
from agent.measure.faults import faults
from agent.spectrum import Spectrum

NOISIER = 1.3  # times the noise around: from there on, a sky line disturbs the window
Disturbance = tuple[str, str]
"""Kind and text of a hint."""


def faults_in(view: View, spectrum: Spectrum) -> list[Disturbance]:
    """Return the faults of the data that reach into the window."""
    stretch = view.to_observed or 1.0
    lo, hi = (edge * stretch for edge in view.window)
    return [(f.kind, f.text) for f in faults(spectrum) if f.window[0] < hi and f.window[1] > lo]


def fault_lines(spectrum: Spectrum) -> list[tuple[str, str]]:
    """Return the faults of the data as label and text, for the account of how a file was read."""
    texts = [fault.text for fault in faults(spectrum)]
    return [(deferred("check"), joined(texts))] if texts else []


def disturbed(view: View, principal: Line | Band | None) -> list[Disturbance]:
    """Return sky lines, telluric bands and arm joins on the line of the window, without one in the window (no sky
    lines): the nearest to its middle, at most two. A sky line counts where the errors rise.
    """
    spectrum = view.spectrum
    if view.to_observed is None:
        return []
    if principal is None:
        focus = view.window
    elif isinstance(principal, Band):
        focus = principal.window(spectrum.medium)
    else:
        centre = principal.at(spectrum.medium)
        focus = (centre * 0.999, centre * 1.001)
    # Sky lines beside a line are in the strip under the plot: said of each window, they train people to skip hints.
    on_line = [
        b
        for b in sky_bands(spectrum.survey)
        if (common := _common(view, b, focus))
        and (not b.is_sky_line or (principal is not None and _is_noisier(view, common)))
    ]
    middle = sum(focus) / 2 * view.to_observed
    nearest = sorted(on_line, key=lambda b: abs((b.lo + b.hi) / 2 - middle))
    return [(band.kind, _overlaps(view, band.shown())) for band in nearest[:2]]


def _common(view: View, band: SkyBand, window: Window) -> Window | None:
    """Return what a band of the sky and a window have in common, at rest as the window; None for nothing."""
    stretch = view.to_observed or 1.0
    lo, hi = (edge / stretch for edge in band.window(view.spectrum.medium))
    common = max(lo, window[0]), min(hi, window[1])
    return common if common[0] < common[1] else None


def _is_noisier(view: View, window: Window) -> bool:
    """Return whether the largest error in a window exceeds the median error of the 100 Å on both sides of it."""
    wavelength, ivar = view.spectrum.wavelength, view.spectrum.ivar
    inside = (wavelength >= window[0]) & (wavelength <= window[1]) & (ivar > 0)
    around = (wavelength > window[0] - 100.0) & (wavelength < window[1] + 100.0) & (ivar > 0) & ~inside
    if view.spectrum.errors == "estimated" or not inside.any() or not around.any():
        return False
    return bool(np.median(ivar[around]) > NOISIER**2 * ivar[inside].min())


def _overlaps(view: View, band: str) -> str:
    """Name a band of the sky; with a note if its numbers could be read on the wrong axis."""
    if view.to_axis != view.to_observed and abs((view.to_observed or 1.0) - 1.0) > 3e-4:
        return deferred("overlaps {band} observed", band=band)
    return deferred("overlaps {band}", band=band)
