"""Synthetic magnitudes of a spectrum in the bands of the catalogues, and the flux that a magnitude means.

Pass bands are photon responses in vacuum wavelengths, from speclite: Gaia DR3 (Riello et al. 2021 A&A 649, A3), 2MASS
(Cohen et al. 2003 AJ 126, 1090), WISE (Wright et al. 2010 AJ 140, 1868), SDSS (Doi et al. 2010 AJ 139, 1628),
Pan-STARRS1 (Tonry et al. 2012 ApJ 750, 99).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.lines import convert
from agent.measure.values import Measured, Undefined, measured
from agent.sky.maps import MAGNITUDES
from agent.spectrum import Spectrum
from agent.spectrum.table import flux_unit

FloatArray = NDArray[np.float64]
Survey = Literal["sdss2010", "panstarrs"]
"""Of the bands g, r, i and z, whose names two surveys share; u is always that of SDSS, y that of Pan-STARRS1."""

AB_MINUS_VEGA: Mapping[str, float] = {
    # Gaia DR3: VEGAMAG and AB zero points of Riello et al. (2021).
    "G": 0.1137, "BP": 0.0154, "RP": 0.3561,
    # 2MASS: fluxes of magnitude 0 of Cohen et al. (2003), 1594, 1024 and 666.7 Jy, against 3631 Jy.
    "J": 0.894, "H": 1.374, "Ks": 1.840,
    # WISE: Jarrett et al. (2011 ApJ 735, 112).
    "W1": 2.699, "W2": 3.339, "W3": 5.174, "W4": 6.620,
}  # fmt: skip
"""Magnitude of an object in AB minus that in the system of its catalogue; 0 for the others, which are AB."""
AB_ZERO = 3631e-23 * 2.99792458e18 * 1e17
"""F_λ λ² of AB magnitude 0 (Oke & Gunn 1983 ApJ 266, 713), in 1e-17 erg/s/cm²/Å times Å²."""
COVERED = 0.9
"""Least share of a band's response within the spectrum: LAMOST has 96 % of G and 91 % of RP."""
BEYOND = 0.5
"""1σ of the flux beyond the ends of the spectrum, as a share of the mean in the band, as which it is counted. Of
simulated spectra of 16 kinds cut to LAMOST's range, 65 % are within the error that follows (rms 0.03 mag in G, 0.05 in
RP); carbon and S stars are up to 0.17 mag off in RP."""
MISSING = 0.1
"""Largest share of a band's response on pixels that have no data or are flagged."""
_UNIT = "1e-17 erg/s/cm2/Angstrom"


@dataclass(frozen=True)
class Band:
    """A pass band: photon response (n,) at wavelengths (n,) in vacuum Å; ``offset`` is its AB_MINUS_VEGA."""

    wavelength: FloatArray
    response: FloatArray
    offset: float

    @property
    def pivot(self) -> float:
        """Wavelength in Å that turns the mean F_λ into the mean F_ν: √(∫Rλ dλ / ∫R/λ dλ)."""
        w, r = self.wavelength, self.response
        return math.sqrt(np.trapezoid(r * w, w) / np.trapezoid(r / w, w))

    def share(self, low: float, high: float) -> float:
        """Return the share of the photons of a source of constant F_ν between two wavelengths."""
        w, r = self.wavelength, self.response
        photons = np.concatenate([[0.0], np.cumsum((r[1:] / w[1:] + r[:-1] / w[:-1]) * np.diff(w))])
        return float(np.diff(np.interp((low, high), w, photons))[0] / photons[-1])


@cache
def band(name: str, survey: Survey = "sdss2010") -> Band:
    """Return the pass band of one of ``MAGNITUDES``."""
    from speclite.filters import load_filter

    groups: dict[str, str] = {"u": "sdss2010", "y": "panstarrs", **dict.fromkeys("griz", survey)}
    groups |= dict.fromkeys(("J", "H", "Ks"), "twomass") | dict.fromkeys(("W1", "W2", "W3", "W4"), "wise2010")
    curve = load_filter(f"{groups.get(name, 'gaiadr3')}-{name}")
    return Band(np.asarray(curve.wavelength), np.asarray(curve.response), AB_MINUS_VEGA.get(name, 0.0))


def pivot(name: str, survey: Survey = "sdss2010") -> float:
    """Return the pivot wavelength of a band in Å, vacuum."""
    return band(name, survey).pivot


def flux_of(name: str, magnitude: float, survey: Survey = "sdss2010") -> float:
    """Return the mean F_λ that a magnitude means, in 1e-17 erg/s/cm²/Å, to be drawn at ``pivot(name)``."""
    shape = band(name, survey)
    return float(AB_ZERO / shape.pivot**2 * 10 ** (-0.4 * (magnitude + shape.offset)))


def is_absolute(spectrum: Spectrum) -> bool:
    """Whether the flux is in physical units. Where it is not, magnitudes have an unknown constant in common, and only
    their differences mean something.
    """
    return flux_unit(spectrum.flux_unit) is not None


def synthetic(
    spectrum: Spectrum, names: Iterable[str] = MAGNITUDES, survey: Survey = "sdss2010"
) -> dict[str, Measured | Undefined]:
    """Return the magnitudes of a spectrum as it was observed, each in the system of its catalogue.

    Errors are those of the pixels, taken as independent, and of what the spectrum does not cover of a band; that of the
    flux calibration is not part of them. See ``is_absolute``. Pixels without data or with a flag are bridged by
    straight lines.
    """
    wavelength, why_not = _observed(spectrum)
    factor = _factor(spectrum.flux_unit)
    good = (spectrum.ivar > 0) & ~spectrum.mask
    if wavelength is None or good.sum() < 2:
        return dict.fromkeys(names, Undefined(why_not or deferred("no pixel has data")))
    return {name: _magnitude(band(name, survey), wavelength, spectrum, good, factor) for name in names}


def _observed(spectrum: Spectrum) -> tuple[FloatArray | None, str]:
    """Return the observed wavelengths in vacuum, or the reason why they are not known."""
    wavelength = convert(spectrum.wavelength, spectrum.medium, "vacuum")
    if spectrum.frame == "observed":
        return wavelength, ""
    if spectrum.redshift is None:
        return None, deferred("the spectrum is at rest wavelengths and its redshift is not known")
    return wavelength * (1 + spectrum.redshift), ""


@cache
def _factor(text: str) -> float:
    """Return what turns a flux unit into that of ``AB_ZERO``; 1 where it is not a physical one."""
    unit, internal = flux_unit(text), flux_unit(_UNIT)
    return 1.0 if unit is None or internal is None else float(unit.to(internal))


def _magnitude(
    shape: Band, wavelength: FloatArray, spectrum: Spectrum, good: NDArray[np.bool_], factor: float
) -> Measured | Undefined:
    inside = slice(*np.searchsorted(wavelength, (shape.wavelength[0], shape.wavelength[-1])))
    pixels, usable = wavelength[inside], good[inside]
    seen = pixels[usable]
    covered = shape.share(seen[0], seen[-1]) if seen.size > 1 else 0.0
    if covered < COVERED:
        return Undefined(
            deferred(
                "the spectrum covers {share:.0%} of the band; {least:.0%} are needed", share=covered, least=COVERED
            )
        )
    light = np.interp(pixels, shape.wavelength, shape.response) / pixels * np.gradient(pixels)
    missing = float(light[~usable].sum() / light.sum())
    if missing > MISSING:
        return Undefined(deferred("{share:.0%} of the band fall on pixels without data or with a flag", share=missing))
    weights = _weights(shape, seen)
    # No "@": waking the threads of BLAS takes longer than these sums.
    flux = float((weights * spectrum.flux[inside][usable]).sum()) * factor
    error = math.sqrt((weights**2 / spectrum.ivar[inside][usable]).sum()) * factor
    if flux <= 0:
        return Undefined(deferred("the mean flux in the band is not above zero"))
    relative = math.hypot(error / flux, BEYOND * (1 - covered))
    return measured(-2.5 * math.log10(flux) - shape.offset, 2.5 / math.log(10) * relative, "mag")


def _weights(shape: Band, pixels: FloatArray) -> FloatArray:
    """Return the weights (n,) with which fluxes at ``pixels`` (n,), joined by straight lines, sum up to 10^(-0.4 AB).

    Flux and response are both sampled where either has a point, so that neither may be the coarser one.
    """
    low, high = np.searchsorted(shape.wavelength, (pixels[0], pixels[-1]))
    w = np.union1d(pixels, shape.wavelength[low:high])
    step = np.diff(w)
    photons = np.interp(w, shape.wavelength, shape.response) * w * 0.5 * np.append(step, 0.0)
    photons += np.interp(w, shape.wavelength, shape.response) * w * 0.5 * np.insert(step, 0, 0.0)
    left = np.clip(np.searchsorted(pixels, w, side="right") - 1, 0, pixels.size - 2)
    share = (w - pixels[left]) / (pixels[left + 1] - pixels[left])
    weights = np.bincount(left, photons * (1 - share), pixels.size)
    weights += np.bincount(left + 1, photons * share, pixels.size)
    scaled: FloatArray = weights / float((photons * AB_ZERO / w**2).sum())
    return scaled
