"""Flux densities per frequency (F_ν) converted to per wavelength (F_λ), which everything downstream measures."""

from __future__ import annotations

import re

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.units import parsed
from agent.spectrum.record import FloatArray, SpectrumError

F_LAMBDA = "1e-17 erg s-1 cm-2 Å-1"
"""The unit of every converted flux."""
LIGHT = 2.99792458e18
"""Speed of light, Å/s (exact, SI)."""

_PER_FREQUENCY = re.compile(r"jy\b|jansk|hz|maggie", re.IGNORECASE)
_LOGARITHMIC = re.compile(r"\b(ab)?mag(nitude)?s?\b|\bdex\b|^log", re.IGNORECASE)
_JANSKY = {"": 1.0, "milli": 1e-3, "m": 1e-3, "micro": 1e-6, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "nano": 1e-9, "n": 1e-9}
_JANSKYS = re.compile(r"(milli|micro|nano|m|u|µ|μ|n)?[\s-]?(?:jy|janskys?|janskies)", re.IGNORECASE)
_IN_JANSKYS = 1e23  # Jy in 1 erg s⁻¹ cm⁻² Hz⁻¹


def per_wavelength(name: str, unit: str) -> float | None:
    """Return the factor k of F_λ = k F_ν / λ² for ``unit``, with λ in vacuum Å and F_λ in ``F_LAMBDA``; None if the
    unit is not a flux density per frequency.

    F_λ = F_ν c / λ² (definition of both).

    :raises SpectrumError: the unit is one of magnitudes or logarithms, or one of frequency that cannot be parsed
    """
    if _LOGARITHMIC.search(unit):
        raise SpectrumError(
            name,
            deferred("a flux in {unit!r:.40}", unit=unit),
            deferred("a linear flux density, e.g. erg/s/cm2/Å or mJy"),
        )
    if not _PER_FREQUENCY.search(unit):
        return None
    return _erg(name, unit) * LIGHT * 1e17


def converted(wavelength: FloatArray, flux: FloatArray, factor: float) -> FloatArray:
    """Return F_λ (n,) in ``F_LAMBDA`` for F_ν ``flux`` (n,) at vacuum ``wavelength`` (n,), Å."""
    with np.errstate(all="ignore"):
        result: FloatArray = flux * (factor / wavelength**2)
    return result


def _erg(name: str, unit: str) -> float:
    """Return how many erg s⁻¹ cm⁻² Hz⁻¹ a unit is."""
    plain = _JANSKYS.fullmatch(unit.strip())
    if plain:
        # Programs write mJy in any case (mjy, MILLIJANSKYS); only "MJy" is the megajansky.
        size = 1e6 if unit.strip() == "MJy" else _JANSKY[(plain[1] or "").lower()]
        return size / _IN_JANSKYS
    try:
        from astropy import units

        return float(parsed(unit).to(units.erg / units.s / units.cm**2 / units.Hz))
    except (AttributeError, ValueError, TypeError, ArithmeticError):
        raise SpectrumError(
            name, deferred("a flux in {unit!r:.40}", unit=unit), deferred("a unit such as mJy or erg/s/cm2/Hz")
        ) from None
