"""Two maxima of an emission line, as an inclined disc makes: two Gaussians against one with its blend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from agent.language import deferred
from agent.lines import Line
from agent.measure.blends import (
    CLIP,
    NARROWEST,
    LineMeasurement,
    Region,
    bell,
    companions_of,
    measure_line,
    region_around,
    solve,
    with_continuum,
)
from agent.measure.pixels import FloatArray
from agent.measure.values import Measured, Undefined
from agent.spectrum import Spectrum

WIDEST = 1800.0  # km/s between the maxima; a disc around a white dwarf does not reach more (Horne & Marsh 1986)
OFF_CENTRE = 300.0  # km/s of the mid-point from the line; two lines of different elements are not centred on it
SMALLER = 1 / 3  # of the higher maximum
BETTER = 25.0  # Δχ² in units of the better model's reduced χ²
DIP = 3.0  # σ, of the data
DEEP = 0.1  # of the lower maximum
ON_LINE = 250.0  # km/s within which a maximum is the forbidden line itself


@dataclass(frozen=True)
class TwoMaxima:
    """Two maxima of an emission line with a dip between them.

    :param separation: in km/s
    :param dip: depth of the dip below the lower maximum, as a fraction of that maximum
    :param significance: of the dip in the data, in σ
    """

    separation: Measured
    dip: float
    significance: float


@np.errstate(all="ignore")
def two_maxima(
    spectrum: Spectrum,
    line: Line,
    measurement: LineMeasurement | None = None,
    continuum: FloatArray | None = None,
) -> TwoMaxima | Undefined | None:
    """Find two maxima of an emission line; None if the data show one.

    Two Gaussians of one width have to fit clearly better than one Gaussian with its blend; the mid-point has to be
    within 300 km/s of the line, the separation below 1800 km/s, the lower maximum at least a third of the higher one,
    and the dip 3σ and a tenth of the lower maximum deep.

    :param spectrum: at rest
    :param measurement: the line as ``measure_line`` measured it; None: measured here
    :param continuum: (n,) that it was measured with
    """
    measured = measure_line(spectrum, line, continuum=continuum) if measurement is None else measurement
    if isinstance(measured, Undefined):
        return measured
    if not measured.emission:
        return None
    reach = max(3.0 * measured.fwhm.value, 2.0 * WIDEST)
    region = region_around(spectrum, line.at(spectrum.medium), reach, continuum)
    if region is None:
        return Undefined(deferred("too little data around {name}", name=line.name))
    pixel = float(np.median(np.diff(region.velocity)))
    narrowest = max(NARROWEST, 2.0 * pixel, measured.instrument or 0.0)
    region = _cleaned(region, measured)
    single = _chi2_of_one(region, measured)
    best = _two(region, measured, narrowest)
    if best is None:
        return None
    (middle, half, fwhm), chi2, amplitudes, half_error = best
    freedom = max(1, region.velocity.size - 7)
    scale = max(1.0, chi2 / freedom)
    lower, higher = sorted(amplitudes[:2])
    blue, red = middle - half, middle + half
    if (
        (single - chi2) / scale < BETTER
        or abs(middle) > OFF_CENTRE
        or not narrowest < 2 * half < WIDEST
        or higher <= 0
        or lower < SMALLER * higher
        or _on_companions(spectrum, line, blue, red)
    ):
        return None
    dip, significance = _dip(region, (blue, middle, red), fwhm, amplitudes, scale)
    if dip < DEEP or significance < DIP:
        return None
    return TwoMaxima(Measured(2 * half, 2 * half_error * float(np.sqrt(scale)), "km/s"), dip, significance)


def _on_companions(spectrum: Spectrum, line: Line, blue: float, red: float) -> bool:
    """Return whether both maxima lie on forbidden lines of the blend, as [N II] on either side of an absorbed Hα."""
    offsets = [
        offset
        for companion in companions_of(line.name, spectrum.medium)
        if companion.forbidden
        for offset, _ in companion.parts
    ]
    return all(any(abs(peak - offset) < ON_LINE for offset in offsets) for peak in (blue, red))


def _cleaned(region: Region, measurement: LineMeasurement) -> Region:
    """Return the region without the pixels beyond the wings that stand out: other lines, cosmic rays."""
    away = np.abs(region.velocity - measurement.velocity.value) > max(1.2 * measurement.fwhm.value, WIDEST)
    if away.sum() < 6:
        return region
    outside = region.select(away)
    level, _ = solve(with_continuum(outside, []) * outside.weight[:, None], outside.flux * outside.weight)
    residual = region.flux - with_continuum(region, []) @ level
    spread = 1.4826 * float(np.median(np.abs(residual[away] - np.median(residual[away]))))
    return region.select(~(away & (np.abs(residual) > CLIP * spread))) if spread > 0 else region


def _chi2_of_one(region: Region, measurement: LineMeasurement) -> float:
    """Return χ² of one Gaussian and of its detected companions, the amplitudes fitted again."""
    line = bell(region.velocity, measurement.velocity.value, measurement.fwhm.value)
    _, residual = _solved(region, [line, *measurement.companion_shapes(region.velocity)])
    return float((residual**2).sum())


def _two(
    region: Region, measurement: LineMeasurement, narrowest: float
) -> tuple[tuple[float, float, float], float, FloatArray, float] | None:
    """Fit middle, half separation and FWHM of two Gaussians; return them, χ², amplitudes and the error of the half."""
    from scipy.optimize import least_squares

    def columns_of(values: FloatArray) -> list[FloatArray]:
        middle, half, fwhm = float(values[0]), float(values[1]), float(np.exp(values[2]))
        return [bell(region.velocity, middle - half, fwhm), bell(region.velocity, middle + half, fwhm)]

    def residual_of(values: FloatArray) -> FloatArray:
        return _solved(region, columns_of(values))[1]

    low = (-2 * OFF_CENTRE, 0.3 * narrowest, np.log(0.8 * narrowest))
    high = (2 * OFF_CENTRE, WIDEST, np.log(max(2 * narrowest, 3000.0)))
    centre = float(np.clip(measurement.velocity.value, -OFF_CENTRE, OFF_CENTRE))
    tried = []
    for half in (0.25, 0.4):
        start = (
            centre,
            max(narrowest, half * measurement.fwhm.value),
            np.log(max(narrowest, half * measurement.fwhm.value)),
        )
        inside = [float(np.clip(s, a + 1e-6, b - 1e-6)) for s, a, b in zip(start, low, high, strict=True)]
        tried.append(least_squares(residual_of, inside, bounds=(low, high), max_nfev=40, xtol=1e-5, ftol=1e-6))
    solved = min(tried, key=lambda s: float(s.cost))
    values = solved.x
    amplitudes, residual = _solved(region, columns_of(values))
    if not np.isfinite(amplitudes).all():
        return None
    covariance = np.linalg.pinv(solved.jac.T @ solved.jac)
    error = float(np.sqrt(max(0.0, covariance[1, 1])))
    middle_half_fwhm = float(values[0]), float(values[1]), float(np.exp(values[2]))
    return middle_half_fwhm, float((residual**2).sum()), amplitudes, error


def _solved(region: Region, columns: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the amplitudes of the columns and of a straight continuum, and the residuals (n,) in units of σ."""
    design = with_continuum(region, columns)
    amplitudes, _ = solve(design * region.weight[:, None], region.flux * region.weight)
    return amplitudes, (region.flux - design @ amplitudes) * region.weight


def _dip(
    region: Region, places: tuple[float, float, float], fwhm: float, amplitudes: FloatArray, scale: float
) -> tuple[float, float]:
    """Return the depth of the dip below the lower maximum, as its fraction, and its significance, both of the data.

    The means of the flux above the continuum over a fifth of the separation, or at least three pixels, at the three
    places.
    """
    above = region.flux - with_continuum(region, []) @ amplitudes[2:]
    half = max((places[2] - places[0]) / 10, 1.5 * float(np.median(np.diff(region.velocity))))
    means = []
    for place in places:
        near = np.abs(region.velocity - place) <= half
        if not near.any():
            return 0.0, 0.0
        weight = region.weight[near] ** 2
        means.append((float((above[near] * weight).sum() / weight.sum()), float(np.sqrt(scale / weight.sum()))))
    blue, middle, red = means
    lower = min(blue, red)
    if lower[0] <= 0:
        return 0.0, 0.0
    depth = lower[0] - middle[0]
    return depth / lower[0], depth / float(np.hypot(lower[1], middle[1]))
