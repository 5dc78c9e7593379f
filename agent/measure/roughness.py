"""How far a continuum departs from a smooth curve: large where there are lines or bands, 0 where there are none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from agent.language import deferred
from agent.measure.pixels import mean_flux, shown
from agent.measure.values import Measured, Undefined, Window, measured
from agent.spectrum import Spectrum

BIN, DEGREE = 20.0, 5  # width of a bin in Å, degree of the polynomial
HIDDEN = 0.01  # roughness that noise may hide; more, and it is undefined


def roughness(spectrum: Spectrum, span: Window) -> Measured | Undefined:
    """Return the rms deviation of a span from a smooth curve, as a fraction of the flux, without what noise explains.

    The curve is a polynomial of fifth degree through means in bins of 20 Å. About 0 for a spectrum without lines;
    undefined if noise could hide more than 1 %.
    """
    edges = np.arange(span[0], span[1] + 1e-6, BIN)
    means = [mean_flux(spectrum, (float(lo), float(hi))) for lo, hi in pairwise(edges)]
    bins = [(i, m.value, m.error) for i, m in enumerate(means) if isinstance(m, Measured)]
    if len(bins) < 0.8 * len(means) or len(bins) < 3 * (DEGREE + 1):
        return Undefined(deferred("too little of {span} has data", span=shown(span)))
    at, flux, error = (np.array(column, dtype=np.float64) for column in zip(*bins, strict=True))
    if (flux <= 3.0 * error).any():
        return Undefined(deferred("the flux in {span} is not above zero by 3σ everywhere", span=shown(span)))
    curve = np.polynomial.Polynomial.fit(at, flux, DEGREE, w=1 / error)(at)
    deviation, noise = flux / curve - 1, error / curve
    freedom = len(bins) - DEGREE - 1
    variance = float((deviation**2).sum() - (noise**2).sum()) / freedom
    # The scatter of a sum of squares: 2σ⁴ each, and the cross term with a real deviation.
    spread = float(np.sqrt((2 * noise**4 + 4 * noise**2 * deviation**2).sum())) / freedom
    if spread > HIDDEN**2:
        return Undefined(deferred("the noise hides lines below {spread:.0f} %", spread=100 * np.sqrt(spread)))
    value = np.sqrt(max(variance, 0.0))
    return measured(float(value), float(spread / (2 * value) if value**2 > spread else np.sqrt(spread)))
