"""Continua: black bodies, power laws, the Balmer jump, interstellar reddening. Wavelengths in Å, vacuum."""

from __future__ import annotations

import numpy as np

from agent.simulate.profiles import FloatArray

_C2 = 1.438776877e8
"""Second radiation constant hc/k in Å K (CODATA 2018)."""


def planck(wavelength: FloatArray, temperature: float) -> FloatArray:
    """Black body B_λ, scaled to 1 at 5500 Å. ``temperature`` in K."""
    shape = wavelength**-5.0 / np.expm1(_C2 / (wavelength * temperature))
    scaled: FloatArray = shape / (5500.0**-5 / np.expm1(_C2 / (5500.0 * temperature)))
    return scaled


def power_law(wavelength: FloatArray, index: float) -> FloatArray:
    """F_λ ∝ λ^``index``, 1 at 5500 Å. A steady-state optically thick disc has -7/3 (Lynden-Bell 1969, Nature
    223, 690).
    """
    law: FloatArray = (wavelength / 5500.0) ** index
    return law


def balmer_jump(wavelength: FloatArray, dex: float) -> FloatArray:
    """Factor for the jump of ``dex`` at the Balmer limit, washed out over about 60 Å where the high lines
    merge.
    """
    step = 0.5 * (1 + np.tanh((wavelength - 3690.0) / 40.0))
    factor: FloatArray = 10 ** (-dex * (1 - step))
    return factor


def reddening(wavelength: FloatArray, e_bv: float) -> FloatArray:
    """Interstellar extinction for colour excess ``e_bv`` in mag, R_V = 3.1.

    Optical polynomial of Cardelli, Clayton & Mathis (1989, ApJ 345, 245, eq. 3). Observed frame; used
    between 3300 and 11,000 Å.
    """
    y = 1e4 / wavelength - 1.82
    a = np.polynomial.Polynomial([1, 0.17699, -0.50447, -0.02427, 0.72085, 0.01979, -0.77530, 0.32999])(y)
    b = np.polynomial.Polynomial([0, 1.41338, 2.28305, 1.07233, -5.38434, -0.62251, 5.30260, -2.09002])(y)
    factor: FloatArray = 10 ** (-0.4 * 3.1 * e_bv * (a + b / 3.1))
    return factor
