"""Sky positions as files state them, turned into degrees, ICRS."""

from __future__ import annotations

import math
import re

from agent.spectrum.readers.fits import Header

Position = tuple[float | None, float | None]


def degrees(text: str, hours: bool = False) -> float | None:
    """Return an angle in degrees from ``12:34:56.7``, ``12 34 56.7`` or a decimal number; None if it is none.

    :param hours: the text is in hours where it is sexagesimal, as right ascensions are
    """
    parts = re.split(r"[:\s]+", text.strip().strip(":"))
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return None
    if not all(map(math.isfinite, numbers)) or len(numbers) not in (1, 3):
        return None
    if len(numbers) == 1:
        return numbers[0]
    size = abs(numbers[0]) + numbers[1] / 60 + numbers[2] / 3600
    angle = -size if parts[0].startswith("-") else size
    return angle * 15.0 if hours else angle


def of_header(header: Header, radians: bool = False) -> Position:
    """Return RA and DEC of a FITS header; (None, None) without two usable cards.

    :param radians: cards with a number instead of a sexagesimal text are in radians (STELIB)
    """
    angles = []
    for key in ("RA", "DEC"):
        value = header[key]
        if isinstance(value, str):
            angles.append(degrees(value, hours=key == "RA"))
        else:
            number = header.number(key)
            angles.append(math.degrees(number) if radians and number is not None else number)
    ra, dec = angles
    if ra is None or dec is None or not (0 <= ra < 360 and -90 <= dec <= 90):
        return None, None
    if re.fullmatch(r"B?1950(\.0*)?", header.text("EQUINOX").upper()):
        return _from_b1950(ra, dec)
    return ra, dec


def _from_b1950(ra: float, dec: float) -> Position:
    """Precess from FK4, equinox B1950, to ICRS; a star's proper motion is not known here."""
    from astropy.coordinates import SkyCoord

    in_icrs = SkyCoord(ra, dec, unit="deg", frame="fk4", equinox="B1950").icrs
    return float(in_icrs.ra.deg), float(in_icrs.dec.deg)
