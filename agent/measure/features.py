"""Measuring what a task file names."""

from __future__ import annotations

from agent.measure.bands import depth, flux_ratio, slope
from agent.measure.gaussian import fwhm
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
            return fwhm(spectrum, feature.span, feature.side_bands)
        case "depth":
            return depth(spectrum, feature.span, feature.side_bands)
        case "ratio":
            return flux_ratio(spectrum, feature.span, feature.side_bands)
        case "slope":
            return slope(spectrum, feature.side_bands)
