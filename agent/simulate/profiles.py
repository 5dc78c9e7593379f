"""Line profiles, and functions that add them to a spectrum.

The working grid is logarithmic (equal steps in velocity), vacuum, in the frame of the source. A profile is computed
only where it reaches, so that a star of two hundred lines costs milliseconds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

C_KM_S = 299_792.458
"""Speed of light (exact, SI)."""
STEP = 1e-4
"""Step of the working grid in ln λ: 30 km/s, two points across the sharpest line-spread function simulated.
"""
FWHM_TO_SIGMA = 1 / np.sqrt(8 * np.log(2))

_STARK_AREA = 2 * (np.pi / 2.5) / np.sin(np.pi / 2.5)


def grid(start: float, stop: float) -> FloatArray:
    """Return the working grid from ``start`` to ``stop`` in Å, equal steps ``STEP`` in ln λ."""
    grid_points: FloatArray = np.exp(np.arange(np.log(start), np.log(stop), STEP))
    return grid_points


def _reach(wavelength: FloatArray, centre: float, half_width: float) -> slice:
    low, high = np.searchsorted(wavelength, (centre - half_width, centre + half_width))
    return slice(int(low), int(high))


def absorb_gaussian(flux: FloatArray, wavelength: FloatArray, centre: float, ew: float, fwhm: float) -> None:
    """Multiply in an absorption line of equivalent width ``ew`` and width ``fwhm`` (both Å); saturates as
    exp(-τ).
    """
    sigma = fwhm * FWHM_TO_SIGMA
    at = _reach(wavelength, centre, 5 * sigma)
    tau = ew / (sigma * np.sqrt(2 * np.pi)) * np.exp(-0.5 * ((wavelength[at] - centre) / sigma) ** 2)
    flux[at] *= np.exp(-tau)


def absorb_lorentzian(flux: FloatArray, wavelength: FloatArray, centre: float, ew: float, fwhm: float) -> None:
    """Multiply in a line with damping wings: τ a Lorentzian of area ``ew`` and full width ``fwhm``, in Å."""
    at = _reach(wavelength, centre, 20 * fwhm)
    tau = ew * 2 / (np.pi * fwhm) / (1 + (2 * (wavelength[at] - centre) / fwhm) ** 2)
    flux[at] *= np.exp(-tau)


def absorb_stark(flux: FloatArray, wavelength: FloatArray, centre: float, ew: float, core: float) -> None:
    """Multiply in a pressure-broadened hydrogen line.

    Residual depth d = [1/R_c + (|Δλ|/Δ₀)^{5/2}]⁻¹: the interpolation of Minnaert (1935, Z. Astrophys. 10,
    40) between a core of depth ``core`` and the |Δλ|^{-5/2} wing of linear Stark broadening (Holtsmark 1919;
    Gray 2005, ch. 11). Its area is 2 Δ₀ R_c^{3/5} (π/2.5)/sin(π/2.5), which gives Δ₀ from the equivalent
    width wanted, in Å.
    """
    if ew <= 0:
        return
    scale = ew / (_STARK_AREA * core**0.6)
    at = _reach(wavelength, centre, 30 * scale)
    depth = 1 / (1 / core + (np.abs(wavelength[at] - centre) / scale) ** 2.5)
    flux[at] *= 1 - depth


def emit_gaussian(flux: FloatArray, wavelength: FloatArray, centre: float, ew: float, fwhm_km_s: float) -> None:
    """Add an emission line of equivalent width ``ew`` Å (a positive number) over the flux at its centre."""
    sigma = fwhm_km_s / C_KM_S * centre * FWHM_TO_SIGMA
    at = _reach(wavelength, centre, 5 * sigma)
    if at.stop <= at.start:
        return
    level = float(np.median(flux[at]))
    shape = np.exp(-0.5 * ((wavelength[at] - centre) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
    flux[at] += level * ew * shape


def disc_profile(velocity: FloatArray, rim_km_s: float, inner: float, slope: float) -> FloatArray:
    """Return the profile of an emission line from a Keplerian disc, area 1 over ``velocity`` in km/s; two peaks near
    ±``rim_km_s``.

    Rings from the outer radius 1 inwards to ``inner``, each of emissivity r^-``slope``, projected: a ring turning at v
    r^{-1/2} spreads over 1/√(1 - (u/v_r)²) (Smak 1981, Acta Astron. 31, 395; Horne & Marsh 1986, MNRAS 218, 761,
    without their saturation term).
    """
    radius = np.linspace(inner, 1.0, 40)
    speed = rim_km_s / np.sqrt(radius)
    width = max(float(np.median(np.diff(velocity))), 1.0)
    total = np.zeros_like(velocity)
    for r, v in zip(radius, speed, strict=True):
        # The ring's integral between pixel edges is an arcsine: exact, where sampling its endless edges is
        # not.
        low, high = (np.clip((velocity + side * width / 2) / v, -1, 1) for side in (-1, 1))
        total += r ** (1 - slope) * (np.arcsin(high) - np.arcsin(low))
    smoothed = broaden(total, 120.0 / width)
    profile: FloatArray = smoothed / (smoothed.sum() * width)
    return profile


def emit_disc(
    flux: FloatArray, wavelength: FloatArray, centre: float, ew: float, rim_km_s: float, inner: float = 0.08
) -> None:
    """Add a disc line of equivalent width ``ew`` Å (a positive number) over the flux at its centre."""
    fastest = rim_km_s / np.sqrt(inner) + 400
    at = _reach(wavelength, centre, fastest / C_KM_S * centre)
    if at.stop - at.start < 20:
        return
    level = float(np.median(flux[at]))
    velocity = (wavelength[at] / centre - 1) * C_KM_S
    flux[at] += level * ew * disc_profile(velocity, rim_km_s, inner, slope=1.7) * C_KM_S / centre


def broaden(values: FloatArray, fwhm_points: float) -> FloatArray:
    """Convolve with a Gaussian of ``fwhm_points`` grid points; the ends are continued by their last value."""
    sigma = fwhm_points * FWHM_TO_SIGMA
    half = max(1, int(np.ceil(4 * sigma)))
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    padded = np.concatenate([np.full(half, values[0]), values, np.full(half, values[-1])])
    smooth: FloatArray = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    return smooth


_C2 = 1.438776877e8
"""Second radiation constant hc/k in Å K (CODATA 2018)."""


def planck(wavelength: FloatArray, temperature: float) -> FloatArray:
    """Return the black body B_λ, scaled to 1 at 5500 Å. ``temperature`` in K."""
    shape = wavelength**-5.0 / np.expm1(_C2 / (wavelength * temperature))
    scaled: FloatArray = shape / (5500.0**-5 / np.expm1(_C2 / (5500.0 * temperature)))
    return scaled


def power_law(wavelength: FloatArray, index: float) -> FloatArray:
    """Return F_λ ∝ λ^``index``, 1 at 5500 Å. A steady-state optically thick disc has -7/3 (Lynden-Bell 1969, Nature
    223, 690).
    """
    law: FloatArray = (wavelength / 5500.0) ** index
    return law


def balmer_jump(wavelength: FloatArray, dex: float) -> FloatArray:
    """Return the factor of a jump by ``dex`` at the Balmer limit, smoothed over about 60 Å where the high lines
    merge.
    """
    step = 0.5 * (1 + np.tanh((wavelength - 3690.0) / 40.0))
    factor: FloatArray = 10 ** (-dex * (1 - step))
    return factor


def reddening(wavelength: FloatArray, e_bv: float) -> FloatArray:
    """Return the interstellar extinction for colour excess ``e_bv`` in mag, R_V = 3.1.

    Optical polynomial of Cardelli, Clayton & Mathis (1989, ApJ 345, 245, eq. 3). Observed frame; used
    between 3300 and 11,000 Å.
    """
    y = 1e4 / wavelength - 1.82
    a = np.polynomial.Polynomial([1, 0.17699, -0.50447, -0.02427, 0.72085, 0.01979, -0.77530, 0.32999])(y)
    b = np.polynomial.Polynomial([0, 1.41338, 2.28305, 1.07233, -5.38434, -0.62251, 5.30260, -2.09002])(y)
    factor: FloatArray = 10 ** (-0.4 * 3.1 * e_bv * (a + b / 3.1))
    return factor
