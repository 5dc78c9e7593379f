"""Molecular bands and the shape of the continuum: indices, depths, slopes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agent.language import deferred
from agent.lines import Index
from agent.measure.continuum import excess
from agent.measure.gaussian import LineFit, fit_line
from agent.measure.pixels import COARSE, mean_flux, shown
from agent.measure.profile import equivalent_width
from agent.measure.roughness import roughness
from agent.measure.values import Measured, Undefined, Window, measured
from agent.spectrum import Spectrum
from agent.tasks import Feature


def flux_ratio(spectrum: Spectrum, band: Window, continuum: Sequence[Window]) -> Measured | Undefined:
    """Return mean F_λ in ``band`` over the mean of the mean F_λ in the ``continuum`` windows; about 1 without a band,
    less with one.
    """
    top = mean_flux(spectrum, band)
    if isinstance(top, Undefined):
        return top
    parts = []
    for window in continuum:
        part = mean_flux(spectrum, window)
        if isinstance(part, Undefined):
            return part
        parts.append(part)
    bottom = sum(p.value for p in parts) / len(parts)
    bottom_error = float(np.sqrt(sum(p.error**2 for p in parts))) / len(parts)
    if bottom <= 3.0 * bottom_error or bottom <= 0.0:
        return Undefined(deferred("the flux in {window} is not above zero by 3σ", window=shown(continuum[0])))
    ratio = top.value / bottom
    return measured(ratio, float(np.hypot(top.error, ratio * bottom_error)) / bottom)


def band_index(spectrum: Spectrum, index: Index) -> Measured | Undefined:
    """Measure an index of the literature (``agent.lines.indices()``), with its windows converted to the medium of the
    spectrum.

    The spectrum must be at rest: see ``rest``.
    """
    band, continuum = index.at(spectrum.medium)
    return flux_ratio(spectrum, band, continuum)


def depth(spectrum: Spectrum, span: Window, side_bands: Sequence[Window] | None = None) -> Measured | Undefined:
    """Return the mean of 1 − F/C over ``span`` against the straight line through ``side_bands``; absorption > 0."""
    width = equivalent_width(spectrum, span, side_bands)
    if isinstance(width, Undefined):
        return width
    return Measured(width.value / (span[1] - span[0]), width.error / (span[1] - span[0]))


def slope(spectrum: Spectrum, windows: Sequence[Window]) -> Measured | Undefined:
    """Return d ln F_λ / d ln λ from the mean fluxes in two or more windows; negative is blue, −4 the Rayleigh-Jeans
    tail.

    The error comes from the noise, and is scaled up if more than two windows do not lie on one power law. Errors of
    the flux calibration and reddening, usually larger, are not included.
    """
    means = [mean_flux(spectrum, window) for window in windows]
    for mean in means:
        if isinstance(mean, Undefined):
            return mean
    good = [m for m in means if isinstance(m, Measured)]
    if len(good) < 2:
        return Undefined(deferred("{n} window, and a slope needs two", n=len(good)))
    for window, mean in zip(windows, good, strict=True):
        if mean.value <= 3.0 * mean.error or mean.value <= 0.0:
            return Undefined(deferred("the flux in {window} is not above zero by 3σ", window=shown(window)))
    x = np.log([(lo + hi) / 2 for lo, hi in windows])
    y = np.log([m.value for m in good])
    sigma = np.array([max(m.error / m.value, 1e-9) for m in good])
    weight = 1.0 / sigma**2
    middle = (weight * x).sum() / weight.sum()
    spread = (weight * (x - middle) ** 2).sum()
    value = (weight * (x - middle) * y).sum() / spread
    level = (weight * y).sum() / weight.sum()
    scale = excess((y - level - value * (x - middle)) / sigma, len(good) - 2) if len(good) > 2 else 1.0
    return measured(float(value), float(np.sqrt(scale / spread)))


def measure_feature(spectrum: Spectrum, feature: Feature) -> Measured | Undefined:
    """Measure the feature's own quantity (``Feature.quantity``) in a spectrum at rest (see ``rest``), in any medium."""
    feature = feature.in_medium(spectrum.medium)
    if (coarse := _too_coarse(spectrum, feature)) is not None:
        return coarse
    match feature.quantity:
        case "equivalent_width":
            return equivalent_width(spectrum, feature.span, feature.side_bands)
        case "fwhm":
            fit = fit_feature(spectrum, feature)
            return fit if isinstance(fit, Undefined) else fit.fwhm
        case "depth":
            return depth(spectrum, feature.span, feature.side_bands)
        case "ratio":
            return flux_ratio(spectrum, feature.span, feature.side_bands)
        case "slope":
            return slope(spectrum, feature.side_bands)
        case "roughness":
            return roughness(spectrum, feature.span)


def _too_coarse(spectrum: Spectrum, feature: Feature) -> Undefined | None:
    """Return why the sampling does not show a feature: a line needs pixels of ``COARSE`` at most, a band one pixel."""
    allowed = COARSE if feature.kind == "line" else feature.span[1] - feature.span[0]
    step = spectrum.sampling
    if step <= allowed or feature.quantity == "slope":
        return None
    return Undefined(deferred("sampled every {step:.0f} Å, coarser than {allowed:.0f} Å", step=step, allowed=allowed))


def fit_feature(spectrum: Spectrum, feature: Feature) -> LineFit | Undefined:
    """Fit the line of a feature in a spectrum at rest, in any medium; undefined where it has not the feature's sign."""
    feature = feature.in_medium(spectrum.medium)
    fit = fit_line(spectrum, feature.span, feature.side_bands)
    if isinstance(fit, Undefined):
        return fit
    sign = "absorption" if fit.depth.value > 0 else "emission"
    if feature.sign not in (sign, "either"):
        in_emission = deferred("the line is in emission")
        return Undefined(in_emission if sign == "emission" else deferred("the line is in absorption"))
    return fit
