"""Measuring a spectrum: every number with its error from the inverse variance, or the reason why there is
none.

Conventions, everywhere in this package
- Windows are (lo, hi) in Å in the medium and the frame the spectrum is in. ``rest`` brings a spectrum to rest
  wavelengths in a wanted medium, once; measure what it returns.
- Equivalent width and depth are positive for absorption, negative for emission.
- A pixel counts if its ivar is above 0. What the survey's mask flags is measured all the same: surveys flag
  strong emission lines too, so leaving flagged pixels out would hide what is looked for. ``flagged`` tells
  how much of a window that is.
- Errors are 1σ from ivar, pixels taken as independent. Where side bands scatter by more than their noise
  (real lines, bad errors), the continuum's error is scaled up to the scatter.
- Nothing returns NaN: where there is no number there is an ``Undefined`` with its reason.
"""

from __future__ import annotations

from agent.measure.bands import band_index, depth, flux_ratio, measure_feature, slope
from agent.measure.continuum import Continuum, adjacent_bands, local_continuum, running_continuum
from agent.measure.gaussian import LineFit, fit_line, fwhm, instrument_fwhm
from agent.measure.pixels import coverage, flagged, mean_flux, rest, signal_to_noise
from agent.measure.profile import (
    Profile,
    TwoMaxima,
    equivalent_width,
    line_profile,
    two_maxima,
    width_below,
)
from agent.measure.values import Measured, Undefined, Window

__all__ = [
    "Continuum",
    "LineFit",
    "Measured",
    "Profile",
    "TwoMaxima",
    "Undefined",
    "Window",
    "adjacent_bands",
    "band_index",
    "coverage",
    "depth",
    "equivalent_width",
    "fit_line",
    "flagged",
    "flux_ratio",
    "fwhm",
    "instrument_fwhm",
    "line_profile",
    "local_continuum",
    "mean_flux",
    "measure_feature",
    "rest",
    "running_continuum",
    "signal_to_noise",
    "slope",
    "two_maxima",
    "width_below",
]
