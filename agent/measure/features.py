"""Measuring what a task file names."""

from __future__ import annotations

from agent.measure.bands import depth, flux_ratio, slope
from agent.measure.gaussian import fit_line
from agent.measure.profile import equivalent_width
from agent.measure.values import Measured, Undefined
from agent.spectrum import Spectrum
from agent.tasks import Feature


def measure_feature(spectrum: Spectrum, feature: Feature) -> Measured | Undefined:
    """The feature's own quantity (``Feature.quantity``) in a spectrum at rest (see ``rest``), in whichever
    medium that is."""
    feature = feature.in_medium(spectrum.medium)
    match feature.quantity:
        case "equivalent_width":
            return equivalent_width(spectrum, feature.span, feature.side_bands)
        case "fwhm":
            return _fwhm(spectrum, feature)
        case "depth":
            return depth(spectrum, feature.span, feature.side_bands)
        case "ratio":
            return flux_ratio(spectrum, feature.span, feature.side_bands)
        case "slope":
            return slope(spectrum, feature.side_bands)


def _fwhm(spectrum: Spectrum, feature: Feature) -> Measured | Undefined:
    fit = fit_line(spectrum, feature.span, feature.side_bands)
    if isinstance(fit, Undefined):
        return fit
    found = "absorption" if fit.depth.value > 0 else "emission"
    if feature.sign not in (found, "either"):
        return Undefined(f"the line is in {found}")
    return fit.fwhm
