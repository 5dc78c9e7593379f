"""Noise estimated from the scatter of a spectrum's pixels, for files that state no errors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# Turns the median of |2 f(i) - f(i-2) - f(i+2)| into σ for Gaussian noise: 1.482602 / √6.
DER_SNR_FACTOR = 1.482602 / np.sqrt(6.0)
STRETCH = 200  # pixels over which the noise is taken as constant: many for a median, few compared with a survey's arm


def der_snr_noise(flux: FloatArray) -> float:
    """Return the noise σ of ``flux`` (same unit) from third-order pixel differences.

    DER_SNR (Stoehr et al. 2008, ASP Conf. 394, 505), without exact zeros. It is right if noise is uncorrelated from
    pixel to pixel and the spectrum is smooth over five pixels, and too low for resampled spectra. 0.0 with fewer than
    five pixels.
    """
    flux = flux[flux != 0]
    if flux.size < 5:
        return 0.0
    return float(DER_SNR_FACTOR * np.median(np.abs(2.0 * flux[2:-2] - flux[:-4] - flux[4:])))


def ivar_from_scatter(flux: FloatArray) -> FloatArray:
    """Estimate an inverse variance (n,) for ``flux`` (n,): DER_SNR in stretches of about ``STRETCH`` pixels, σ joined
    by straight lines.

    Noise is never taken as less than a millionth of the largest flux; a flux of zeros only gives ivar 0.
    """
    floor = 1e-6 * float(np.max(np.abs(flux), initial=0.0))
    if floor == 0.0:
        return np.zeros(flux.shape)
    pieces = np.array_split(np.arange(flux.size), max(1, flux.size // STRETCH))
    overall = der_snr_noise(flux)
    sigmas = [der_snr_noise(flux[p]) or overall for p in pieces]
    centres = [float(p.mean()) for p in pieces]
    sigma = np.interp(np.arange(flux.size), centres, np.maximum(sigmas, floor))
    with np.errstate(over="ignore", divide="ignore"):
        ivar: FloatArray = 1.0 / sigma**2
    return ivar
