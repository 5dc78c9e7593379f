"""Units of the axis of a spectrum, in the spellings that files have, and those of its errors."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.producers import UNITS, ErrorKind
from agent.spectrum.record import FloatArray, Medium, SpectrumError

LONGEST = 60
"""Characters of a unit; a longer text is no unit."""
_FACTORS = {"angstrom": 1.0, "nm": 10.0, "um": 1e4, "m": 1e10, "": 1.0}
"""Å in each unit that needs no parser."""
_MEDIUM = re.compile(r"[\s,;()\[\]]*\b(?:in\s+)?(vac(?:uum)?|air)\b[\s,;()\[\]]*", re.IGNORECASE)
_LOG = re.compile(r"(?:log(?:10)?|ln|dex)[\s_]*\(?\s*([^()]*)\)?", re.IGNORECASE)

# An axis without unit is taken as Å only if it could be: optical spectra end well beyond 2500 Å, those in
# nanometres before 2500 nm and those in microns before 2500 µm.
PLAUSIBLE_END = 2500.0
PLAUSIBLE_START = 10.0


def to_angstrom(name: str, values: FloatArray, unit: str, axis: str = "wavelength") -> tuple[FloatArray, Medium | None]:
    """Return an axis (n,) in Å, and the medium that its unit states or that follows from it.

    A frequency, an energy or a wavenumber is that of light in vacuum: λ = c/ν = hc/E = 1/k.

    :param unit: as the file states it, "" if it does not
    :param axis: "wavelength", "log10" or "ln" (of a wavelength), "frequency", "energy", "wavenumber"
    :raises SpectrumError: a unit that is not known, or none, and the values cannot be Å
    """
    text = unit[: LONGEST + 1].strip().strip("'\"\\").strip()
    if axis in ("log10", "ln"):
        values = 10.0**values if axis == "log10" else np.exp(values)
        match = _LOG.fullmatch(text)
        text = match[1] if match else "" if text.lower() in ("dex", "log", "none") else text
    words = _MEDIUM.search(text)
    medium: Medium | None = None
    if words and words.end() - words.start() < len(text):
        medium = "vacuum" if words[1].lower().startswith("vac") else "air"
        text = (text[: words.start()] + " " + text[words.end() :]).strip()
    key = known(text)
    factor = _FACTORS.get(key.lower())
    if not key:
        if axis in ("frequency", "energy", "wavenumber"):
            raise SpectrumError(
                name, deferred("an axis of {axis} without a unit", axis=axis), deferred("a unit, e.g. Hz, eV or 1/cm")
            )
        _check_plausible(name, values)
        return values, medium
    if factor is not None:
        return values * factor, medium
    unit_object = parsed(key)
    from astropy import units

    try:
        with np.errstate(all="ignore"):
            converted = unit_object.to(units.AA, values, equivalencies=units.spectral())
        result = np.asarray(converted, np.float64)
        is_length = unit_object.is_equivalent(units.AA)
    except (AttributeError, ValueError, TypeError, ArithmeticError):
        raise SpectrumError(
            name, deferred("wavelengths in {unit!r:.40}", unit=unit), deferred("Å, nm, µm or m; Hz, eV or 1/cm")
        ) from None
    return result, medium if is_length else "vacuum"


def _check_plausible(name: str, values: FloatArray) -> None:
    finite = values[np.isfinite(values) & (values > 0)]
    if finite.size == 0 or finite.max() < PLAUSIBLE_END or finite.min() < PLAUSIBLE_START:
        span = f"{finite.min():.6g} to {finite.max():.6g}" if finite.size else "nothing"
        raise SpectrumError(
            name, deferred("an axis without unit from {span}", span=span), deferred("wavelengths in Å, or a unit")
        )


def known(unit: str) -> str:
    """Return a unit of the axis in astropy's spelling, if files spell it otherwise; "" for no unit."""
    text = unit.strip().replace("μ", "µ").replace("\u212b", "Å")
    key = re.sub(r"\s+", " ", text.lower())
    if key in ("none", "unknown", "pixel", "dimensionless", "-", "---"):
        return ""
    for spelling in (key, key.removesuffix("s")):
        if spelling in UNITS or spelling in _FACTORS:
            return UNITS.get(spelling, spelling)
    power = re.fullmatch(r"(?:10(?:\*\*|\^)|1e)\(?([+-]?\d+)\)?\s*\*?\s*(m|meters?|metres?)", key)
    if power:
        return {"-10": "Angstrom", "-9": "nm", "-6": "um"}.get(power[1].lstrip("0"), f"1e{power[1]} m")
    return text


@lru_cache(maxsize=256)
def parsed(text: str) -> Any:
    """Return a unit as astropy's object in any of its grammars; None if it is none."""
    from astropy import units

    if len(text) > LONGEST:
        return None
    plain = re.sub(r"(?<![A-Za-z])(?:A|AA|Ang|Angs?troms?)\b(?!\w)|Å", "Angstrom", text)
    plain = re.sub(r"\bergs\b", "erg", plain).replace("µ", "u")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for grammar in (None, "fits", "cds", "vounit", "generic"):
            for spelling in (plain, text):
                try:
                    return units.Unit(spelling, format=grammar)
                except (ValueError, TypeError, ArithmeticError, RecursionError):
                    continue
    return None


def of_errors(kind: ErrorKind, stated: str, flux: str) -> tuple[ErrorKind | None, float]:
    """Return what errors are by their unit, and the factor that brings them to the unit of the flux.

    Without two units that are known and differ it is ``kind`` and 1; None where no power of the flux's unit fits.
    """
    if not stated or stated == flux:
        return kind, 1.0
    theirs, own = parsed(stated), parsed(flux)
    if theirs is None or own is None or not own.bases:
        return kind, 1.0
    for candidate in (kind, "sigma", "variance", "ivar"):
        power = {"sigma": 1, "variance": 2, "ivar": -2}[candidate]
        try:
            factor = float(theirs.to(own**power))
            return candidate, 1.0 if abs(factor - 1.0) < 1e-9 else factor
        except (ValueError, TypeError, ArithmeticError):
            continue
    return None, 1.0
