"""The pseudo-continuum of a cool star: what its molecular bands leave, as a template of such a star shows it.

A line is measured above this curve (``agent.measure.measure_line``), because between two bands the flux itself rises
and falls like a broad line."""

from __future__ import annotations

from functools import cache

import numpy as np

from agent.lines import lines
from agent.measure.pixels import BoolArray, FloatArray, rest
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum
from agent.templates import grid
from agent.templates.library import Template, bundled

KINDS = ("M dwarf", "M giant", "carbon", "S", "L")
BIN = 20  # pixels of the grid: 1400 km/s, wider than a narrow line and narrower than a band
ORDER = 4  # of the polynomial that a template is multiplied with
FLOOR = 0.02  # error of a bin as a fraction of the flux: no star is its template
POOR = 0.25  # scatter of the bins about the model, as a fraction of the median flux, above which it says nothing
OPTICAL = (4000.0, 9200.0)  # Å in vacuum: where the templates have data, and cool stars flux
LEAST_OVERLAP = 0.8
MASKED = 1000.0  # km/s on either side of a hydrogen line


def pseudo_continuum(at_rest: Spectrum) -> FloatArray | None:
    """Return the flux (n,) that the best template of a cool star gives at each pixel of a spectrum at rest.

    The model is T P + Q: a template times a polynomial, which takes out reddening and calibration, and a straight line
    for a hot companion or a disc, which dilutes the bands. Its own lines are left in: ``measure_line``
    replaces the curve at its line. None where no template covers the spectrum or fits it.
    """
    vacuum = rest(at_rest, 0.0, "vacuum")
    first, flux, ivar = grid.rebin(vacuum)
    count = flux.size // BIN
    if count < 4 * (ORDER + 3):
        return None
    wavelength = grid.wavelengths(first, first + flux.size)
    seen = (ivar > 0) & (wavelength > OPTICAL[0]) & (wavelength < OPTICAL[1]) & ~_hydrogen(wavelength)
    weight = _binned(seen.astype(np.float64), count)
    good = weight > BIN / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(good, _binned(np.where(seen, flux, 0.0), count) / weight, 0.0)
        noise = np.where(good, 1.0 / np.sqrt(_binned(np.where(seen, ivar, 0.0), count)), np.inf)
    typical = float(np.median(np.abs(mean[good]))) if good.any() else 0.0
    if typical <= 0.0:
        return None
    error = np.hypot(noise, FLOOR * np.maximum(np.abs(mean), typical / 10))
    x = np.linspace(-1.0, 1.0, flux.size)
    best: tuple[float, FloatArray] | None = None
    for template in _cool():
        shape = _on_grid(template, first, flux.size)
        known = np.isfinite(shape)
        covered = good & (_binned((known & seen).astype(np.float64), count) >= 0.9 * weight)
        if covered.sum() < LEAST_OVERLAP * good.sum():
            continue
        terms = np.stack([*(np.where(known, shape, 0.0) * x**k for k in range(ORDER + 1)), np.ones_like(x), x], axis=1)
        columns = np.stack([_binned(np.where(seen, term, 0.0), count) for term in terms.T], axis=1)
        columns = columns[covered] / weight[covered, None]
        solved = np.linalg.lstsq(columns / error[covered, None], mean[covered] / error[covered], rcond=None)[0]
        residual = mean[covered] - columns @ solved
        chi2 = float(np.mean((residual / error[covered]) ** 2))
        if float(np.std(residual)) < POOR * typical and (best is None or chi2 < best[0]):
            best = chi2, np.where(known, terms @ solved, np.nan)
    if best is None:
        return None
    if vacuum.sampling > 2.0:
        size = max(1, round(vacuum.sampling / float(np.median(np.diff(wavelength)))))
        best = best[0], np.convolve(best[1], np.full(size, 1.0 / size), mode="same")
    return np.asarray(np.interp(vacuum.wavelength, wavelength, best[1], left=np.nan, right=np.nan), dtype=np.float64)


def _binned(values: FloatArray, count: int) -> FloatArray:
    sums: FloatArray = values[: count * BIN].reshape(count, BIN).sum(axis=1)
    return sums


@cache
def _cool() -> tuple[Template, ...]:
    return tuple(template for template in bundled().templates if template.about.kind in KINDS)


def _on_grid(template: Template, first: int, size: int) -> FloatArray:
    row = np.full(size, np.nan)
    lo, hi = max(first, template.first), min(first + size, template.first + template.flux.size)
    if lo < hi:
        row[lo - first : hi - first] = template.flux[lo - template.first : hi - template.first]
    return row


def _hydrogen(wavelength: FloatArray) -> BoolArray:
    near: BoolArray = np.zeros(wavelength.shape, dtype=bool)
    for line in lines():
        if line.species == "H I" and line.major:
            near |= np.abs(wavelength / line.at("vacuum") - 1.0) * SPEED_OF_LIGHT < MASKED
    return near
