"""Spectra as FITS images with their wavelengths in the header: MILES, STELIB, IRAF and similar.

The last axis is wavelength. An image of several rows is accepted only with IRAF's APNUM cards: then each aperture is a
target, and the band that BANDID calls "sigma" is its error. Any other image is refused.

MILES and STELIB are air and rest frame (Sánchez-Blázquez et al. 2006, MNRAS 371, 703; Le Borgne et al. 2003, A&A 402,
433). Their files do not state it, so they are recognised by name or header.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import positions
from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.pixels import Array, ivar_from_sigma, spectrum
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import medium, velocity_frame, wavelengths
from agent.spectrum.record import Scalar, Spectrum

_LIBRARIES = ("RRTYPE", "EIGEN0")  # cards of redrock's and SDSS's basis vectors
_ERRORS = {
    "ERR": "sigma",
    "ERROR": "sigma",
    "SIGMA": "sigma",
    "UNCERT": "sigma",
    "IVAR": "ivar",
    "VARIANCE": "variance",
}


def recognises(fits: FitsFile) -> bool:
    return fits[0].is_image and fits[0].size > 0


def targets(fits: FitsFile) -> Targets:
    """Return the spectra of an image: one, or one per aperture. :raises SpectrumError: it is no spectrum"""
    primary = fits[0]
    header = primary.header
    library = next((card for card in _LIBRARIES if card in header), None)
    if library:
        raise fits.refusal(
            deferred("a library of basis vectors ({library})", library=library), deferred("one spectrum")
        )
    apertures = _apertures(fits, primary)
    if len(apertures) == 1:
        return Targets.single(fits.name, partial(_read, fits, fits.name, 0))
    listed = Targets(fits.name)
    for row, aperture in enumerate(apertures):
        listed.add(aperture, partial(_read, fits, f"{fits.name}#{aperture}", row))
    return listed


def _apertures(fits: FitsFile, primary: Hdu) -> list[str]:
    shape = primary.shape
    rows = shape[-2] if len(shape) > 1 else 1
    says_so = "APNUM1" in primary.header or "multispec" in primary.header.text("WAT0_001")
    if len(shape) > 3 or (rows > 1 and not says_so) or (len(shape) == 3 and shape[0] > 1 and not says_so):
        raise fits.refusal(
            deferred("an image of {names} pixels", names=" x ".join(map(str, reversed(shape)))), "a 1-D spectrum"
        )
    names = [primary.header.text(f"APNUM{n}").split(" ")[0] or str(n) for n in range(1, rows + 1)]
    return names if len(set(names)) == rows else [str(n) for n in range(1, rows + 1)]


def _read(fits: FitsFile, name: str, aperture: int) -> Spectrum:
    primary = fits[0]
    header = primary.header
    pixels = primary.shape[-1]
    bands = primary.image().reshape(-1, primary.shape[-2] if len(primary.shape) > 1 else 1, pixels)
    fields = _fields(fits.name, header)
    if len(primary.shape) > 1 and fields["snr"]:
        fields["snr"] = {}
    return spectrum(
        name,
        wavelengths(fits, header, pixels, aperture),
        bands[0, aperture],
        _ivar(fits, bands, aperture),
        **fields,
    )


def _ivar(fits: FitsFile, bands: Array, aperture: int) -> Array | None:
    for band in range(1, bands.shape[0]):
        if fits[0].header.text(f"BANDID{band + 1}").lower().startswith("sigma"):
            return ivar_from_sigma(bands[band, aperture])
    for hdu in fits:
        kind = _ERRORS.get(hdu.name)
        if kind and hdu is not fits[0] and hdu.shape == fits[0].shape:
            values: Array = hdu.image().reshape(-1, bands.shape[-1])[aperture].astype(np.float64)
            if kind == "ivar":
                return values
            return ivar_from_sigma(np.sqrt(np.maximum(values, 0)) if kind == "variance" else values)
    return None


def _fields(file_name: str, header: Header) -> dict[str, Any]:
    stated, is_stated = medium(header)
    meta: dict[str, Scalar] = {} if is_stated else {"medium_assumed": True}
    for key in ("OBJECT", "DATE-OBS", "TELESCOP", "INSTRUME", "EXPTIME"):
        value = header[key]
        if value not in (None, ""):
            meta[key.lower()] = value
    meta |= velocity_frame(header)
    fields: dict[str, Any] = {
        "medium": stated,
        "flux_unit": header.text("BUNIT") or "unknown",
        "catalogue_class": header.text("SPECTYPE"),
        "snr": {},
    }
    library = _library(file_name, header)
    # In STELIB, stars observed from Siding Spring have decimal coordinates in radians, the others sexagesimal ones.
    fields["ra"], fields["dec"] = positions.of_header(header, radians=library == "STELIB")
    if library:
        meta.pop("medium_assumed", None)
        fields |= {"survey": library, "medium": "air", "frame": "rest"}
        if library == "MILES":
            fields["flux_unit"] = "relative"
    if header.text("STARIDEN") or header.text("OBJECT"):
        fields["ids"] = {"object": header.text("STARIDEN") or header.text("OBJECT")}
    return fields | {"meta": meta}


def _library(file_name: str, header: Header) -> str:
    if "STARIDEN" in header and "ISEXTINC" in header:
        return "STELIB"
    by_name = file_name.upper().startswith("MILES")
    return "MILES" if by_name and "CRVAL1" in header and "DC-FLAG" not in header else ""
