"""Measure a spectrum: every number has its error from the inverse variance; where there is none, ``Undefined`` has the
reason.
"""

from __future__ import annotations

# Conventions of this package:
# - Windows are (lo, hi) in Å, in the medium and frame of the spectrum. Call ``rest`` once and measure its result.
# - Equivalent width and depth are positive for absorption, negative for emission.
# - A pixel counts if its ivar is above 0, also if the survey's mask flags it: surveys flag strong emission lines too,
#   so leaving flagged pixels out would hide what is searched for. ``flagged`` gives their share of a window.
# - Errors are 1σ from ivar, with independent pixels. Where side bands scatter by more than their noise (real lines,
#   wrong errors), the error of the continuum is scaled up to the scatter.
# - Nothing returns NaN.
from agent.measure.bands import band_index, depth, flux_ratio, measure_feature, slope
from agent.measure.blends import LineMeasurement, measure_line
from agent.measure.continuum import Continuum, adjacent_bands, local_continuum, running_continuum
from agent.measure.gaussian import LineFit, fit_line, fwhm, instrument_fwhm
from agent.measure.molecules import MoleculeEvidence, break_4000, has_bands, head_ratio, is_cool, molecule
from agent.measure.peaks import TwoMaxima, two_maxima
from agent.measure.pixels import COARSE, coverage, flagged, mean_flux, rest, signal_to_noise
from agent.measure.profile import Profile, equivalent_width, line_profile, width_below
from agent.measure.values import Measured, Undefined, Window

__all__ = [
    "COARSE",
    "Continuum",
    "LineFit",
    "LineMeasurement",
    "Measured",
    "MoleculeEvidence",
    "Profile",
    "TwoMaxima",
    "Undefined",
    "Window",
    "adjacent_bands",
    "band_index",
    "break_4000",
    "coverage",
    "depth",
    "equivalent_width",
    "fit_line",
    "flagged",
    "flux_ratio",
    "fwhm",
    "has_bands",
    "head_ratio",
    "instrument_fwhm",
    "is_cool",
    "line_profile",
    "local_continuum",
    "mean_flux",
    "measure_feature",
    "measure_line",
    "molecule",
    "rest",
    "running_continuum",
    "signal_to_noise",
    "slope",
    "two_maxima",
    "width_below",
]
