"""Layouts that are read with specutils (extra ``surveys``): 6dFGS, 2dFGRS, GAMA, and what no reader here recognises.

Of the last, only layouts that specutils identifies by a specific survey are accepted: its generic readers would make a
spectrum of a catalogue. The result is checked like any other. Ground-based surveys of galaxies are in air, the layouts
of SDSS and of space telescopes in vacuum; both are assumed, as specutils does not keep the medium.
"""

from __future__ import annotations

import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Header
from agent.spectrum.readers.pixels import spectrum, usable_redshift
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import Medium, Scalar, Spectrum, SpectrumError

INSTALL = deferred("specutils to be installed (pip install 'spec-o3[surveys]')")
_GENERIC = ("tabular-fits", "wcs1d-fits", "ascii", "ecsv", "ipac", "generic", "iraf")
_IN_AIR = ("6dfgs", "2dfgrs", "gama", "ozdes", "wigglez", "2slaq", "galah", "aaomega", "data central", "sami")
_FROM_SPACE = ("hst", "jwst")
_SIXDF = ("OBSRA", "OBSDEC", "Z", "Z_HELIO", "QUALITY")
_FITTED = 3  # smallest QUALITY of a redshift that 6dFGS and 2dFGRS call reliable


def survey(fits: FitsFile) -> str:
    """Return the survey of a file that specutils reads better than the readers here, "" for any other."""
    header = fits[0].header
    if all(card in header for card in _SIXDF):
        return "6dFGS"
    if header.text("IMAGE") in ("SKYCHART", "SPECTRUM"):
        return "2dFGRS"
    return "GAMA" if "GAMANAME" in header else ""


def recognises(fits: FitsFile) -> bool:
    return bool(survey(fits))


def targets(fits: FitsFile) -> Targets:
    """Return the spectra of a file of one of these surveys. :raises SpectrumError: specutils is missing, or damage"""
    name = survey(fits)
    if fits.path is None or not fits.is_whole:
        raise fits.refusal(
            deferred("a {name} file with data after its last HDU", name=name), deferred("a complete FITS file")
        )
    try:
        import specutils  # noqa: F401
    except ImportError:
        raise fits.refusal(deferred("a {name} file", name=name), INSTALL) from None
    reason = fits.refusal(
        deferred("a {name} file that specutils cannot read", name=name), deferred("a complete file of the survey")
    )
    spectra = _read_with_specutils(fits.path, reason, several=True)
    if len(spectra) == 1:
        return Targets.single(fits.name, partial(_spectrum, fits.name, *spectra[0], reason))
    targets = Targets(fits.name)
    for number, arrays in enumerate(spectra, start=1):
        targets.add(str(number), partial(_spectrum, f"{fits.name}#{number}", *arrays, reason))
    return targets


def read(name: str, path: Path, reason: SpectrumError) -> Spectrum:
    """Read a file of one spectrum with specutils. :raises SpectrumError: ``reason``, if it cannot"""
    ((theirs, layout),) = _read_with_specutils(path, reason, several=False)
    return _spectrum(name, theirs, layout, reason)


def _read_with_specutils(path: Path, reason: SpectrumError, several: bool) -> list[tuple[Any, str]]:
    """Return each spectrum as specutils' object, with the name of its layout."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from specutils import Spectrum as TheirSpectrum
            from specutils import SpectrumList
            from specutils.io.registers import identify_spectrum_format

            for kind in (TheirSpectrum, SpectrumList) if several else (TheirSpectrum,):
                identified: Any = identify_spectrum_format(str(path), kind)
                layouts = [identified] if isinstance(identified, str) else list(identified)
                layouts = [layout for layout in layouts if not layout.lower().startswith(_GENERIC)]
                if len(layouts) == 1:
                    read_in = kind.read(str(path), format=layouts[0])
                    return [(spectrum, layouts[0]) for spectrum in (read_in if kind is SpectrumList else [read_in])]
        except Exception:
            # Not installed, not importable here, or unable to read the file: the same result for the user.
            raise reason from None
    raise reason


def _spectrum(name: str, theirs: Any, layout: str, reason: SpectrumError) -> Spectrum:
    from astropy import units

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wavelength = theirs.spectral_axis.to_value(units.AA, units.spectral())
            flux, unit = theirs.flux.value, str(theirs.flux.unit)
            ivar = _ivar(theirs.uncertainty)
        except Exception:
            raise reason from None
    if np.ndim(flux) != 1:
        raise reason
    medium: Medium = "air" if layout.lower().startswith(_IN_AIR) else "vacuum"
    meta: dict[str, Scalar] = {"read_as": f"{layout}, by specutils"}
    meta |= {"medium_from": layout} if layout.lower().startswith(_FROM_SPACE) else {"medium_assumed": True}
    return spectrum(
        name,
        wavelength,
        flux,
        ivar,
        medium=medium,
        flux_unit=unit or "unknown",
        survey=re.split("[- ]", layout)[0] if medium == "air" or layout.lower().startswith(_FROM_SPACE) else "",
        redshift=_redshift(theirs.meta.get("header")),
        meta=meta,
    )


def _redshift(header: Any) -> float | None:
    """Return the heliocentric redshift of a header of 6dFGS or 2dFGRS, if its QUALITY is good."""
    if header is None or "Z_HELIO" not in header:
        return None
    raw = Header(header.tostring().encode("latin-1", "replace"))
    quality = raw.number("QUALITY")
    return usable_redshift(raw.number("Z_HELIO")) if quality is not None and quality >= _FITTED else None


def _ivar(uncertainty: Any) -> Any:
    if uncertainty is None:
        return None
    from astropy.nddata import InverseVariance

    return uncertainty.represent_as(InverseVariance).array
