"""The wavelength axis and the medium of a FITS image, from the ways its header may state them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from agent.readers.columns import to_angstrom
from agent.readers.fits_file import FitsFile
from agent.readers.fits_header import Header
from agent.spectrum import FloatArray, Medium

_NOT_WAVELENGTH = ("RA", "DEC", "GLON", "GLAT", "ELON", "ELAT", "FREQ", "VELO", "VRAD", "TIME", "STOKES")
_WAVELENGTH_UNIT = re.compile(r"ang|nm$|nanom|micro|um$|µm$|^a$|^m$", re.IGNORECASE)


def wavelengths(fits: FitsFile, header: Header, pixels: int, aperture: int = 0) -> FloatArray:
    """Å of the first axis (n,): linear or log-linear from CRVAL1, CDELT1 or CD1_1, CRPIX1, or IRAF's
    multispec.

    :param aperture: row of the image, for IRAF files that state an axis for each
    :raises SpectrumError: the header states no wavelength axis, or a non-linear one
    """
    if "system=multispec" in header.text("WAT0_001").replace(" ", ""):
        start, step, log = _multispec(fits, header, aperture)
        return _values(fits, start, step, log, pixels, "Angstrom")
    value, at = header.number("CRVAL1"), header.number("CRPIX1")
    delta = header.number("CDELT1") or header.number("CD1_1")
    kind = header.text("CTYPE1").upper()
    if value is None or not delta or kind.startswith(_NOT_WAVELENGTH):
        found = f"an image whose first axis is {kind or 'without CRVAL1 and CDELT1'}"
        raise fits.refusal(found, "a wavelength axis")
    start = value - delta * ((1.0 if at is None else at) - 1.0)
    log = header["DC-FLAG"] == 1 or header["LOGLAM"] is True or ("LOG" in kind and start < 10)
    return _values(fits, start, delta, log, pixels, _unit(header))


def medium(header: Header, default: Medium = "air") -> tuple[Medium, bool]:
    """The medium, and whether the header states it: VACUUM, AIRORVAC, or CTYPE1 WAVE (vacuum) or AWAV
    (air).

    (CTYPE: Greisen et al. 2006, A&A 446, 747.) Ground-based spectra that state nothing are usually in air:
    arc lines are tabled so, and IRAF leaves them so.
    """
    stated = header["VACUUM"]
    if isinstance(stated, bool):
        return ("vacuum" if stated else "air"), True
    words = f"{header.text('AIRORVAC')} {header.text('CTYPE1')}".upper()
    if "AIR" in words or "AWAV" in words:
        return "air", True
    if "VAC" in words or re.search(r"\bWAVE(-|$|\b)", words):
        return "vacuum", True
    return default, False


def degrees(header: Header, key: str) -> float | None:
    """RA or DEC in degrees; a sexagesimal RA is in hours. None if missing or no coordinate."""
    value = header[key]
    if isinstance(value, str):
        parts = value.replace(" ", ":").strip(":").split(":") if ":" not in value else value.split(":")
        try:
            numbers = [float(p) for p in parts]
        except ValueError:
            return None
        if len(numbers) == 3:
            size = abs(numbers[0]) + numbers[1] / 60 + numbers[2] / 3600
            angle = -size if parts[0].strip().startswith("-") else size
            return angle * 15.0 if key.startswith("RA") else angle
    return header.number(key)


def _values(fits: FitsFile, start: float, step: float, log: bool, pixels: int, unit: str) -> FloatArray:
    axis = np.asarray(start + step * np.arange(pixels), np.float64)
    if log:
        if np.abs(axis).max() > 20:
            raise fits.refusal(f"a log axis up to {np.abs(axis).max():.4g}", "log10 of wavelengths")
        axis = 10.0**axis
    return to_angstrom(fits.name, axis, unit)


def _unit(header: Header) -> str:
    """The axis' unit where a card states one of length; IRAF writes CUNIT1 = 'pixel' and means nothing by
    it."""
    stated = re.search(r"units=(\S+)", header.text("WAT1_001"))
    for unit in (stated[1] if stated else "", header.text("CUNIT1")):
        if _WAVELENGTH_UNIT.search(unit):
            return unit
    return ""


def _multispec(fits: FitsFile, header: Header, aperture: int) -> tuple[float, float, bool]:
    numbered: Sequence[str] = [f"WAT2_{n:03d}" for n in range(1, 1000)]
    text = "".join(str(header[key]).ljust(68) for key in numbered if key in header)
    found = re.search(rf'spec{aperture + 1}\s*=\s*"([^"]*)"', text)
    fields = found[1].split() if found else []
    try:
        kind, start, step = int(fields[2]), float(fields[3]), float(fields[4])
    except (IndexError, ValueError):
        raise fits.refusal(f"no axis of aperture {aperture + 1} in WAT2", "an IRAF multispec axis") from None
    if kind not in (0, 1):
        raise fits.refusal("a non-linear IRAF multispec axis", "a linear or log-linear one")
    return start, step, kind == 1
