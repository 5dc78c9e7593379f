"""LAMOST low-resolution spectra, in their three layouts.

- DR3 to DR8: primary image of five rows (flux, ivar, wavelength, andmask, ormask);
- DR1 and DR2 and the pilot survey: the same, but the third row is the flux divided by the continuum, and
  the wavelengths are 10**(COEFF0 + COEFF1 i) (lamost.org, "Fits Files" of the pilot data; EXTEN0 in the
  header says "Subcontinuum");
- from DR9: a binary table COADD of one row of vectors.

Wavelengths are vacuum and heliocentric, the flux is relative. A pixel is flagged where the and-mask is not
0, i.e. every exposure has a problem there. The medium-resolution survey (``med-*``) is refused: its two
arms of narrow windows do not suit a low-resolution inspection.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.pixels import Array, spectrum
from agent.spectrum.record import Scalar, Spectrum

UNKNOWN = -999.0  # at or below this, LAMOST means that it has no value


def recognises(fits: FitsFile) -> bool:
    return fits[0].header.text("TELESCOP") == "LAMOST"


def read(fits: FitsFile) -> Spectrum:
    """Read the spectrum of a LAMOST file. :raises SpectrumError: no low-resolution layout, or damaged"""
    primary = fits[0]
    is_image = len(primary.shape) == 2 and primary.is_image and primary.size
    arrays = _image(fits, primary) if is_image else _table(fits)
    return spectrum(fits.name, **arrays, **_fields(primary.header))


def _image(fits: FitsFile, hdu: Hdu) -> dict[str, Array]:
    if hdu.shape[0] != 5:
        raise fits.refusal(f"an image of {hdu.shape[0]} rows", "the five rows of a LAMOST spectrum")
    flux, ivar, third, andmask, _ = hdu.image()
    header = hdu.header
    if "Wavelength" not in header.text("EXTEN0"):
        start, step = header.number("COEFF0"), header.number("COEFF1")
        if start is None or step is None:
            raise fits.refusal("neither a wavelength row nor COEFF0 and COEFF1", "the wavelengths")
        third = 10.0 ** (start + step * np.arange(flux.size))
    return {"wavelength": third, "flux": flux, "ivar": ivar, "mask": andmask != 0}


def _table(fits: FitsFile) -> dict[str, Array]:
    names = [hdu.name for hdu in fits]
    if "COADD" not in names:
        medium = any(n.startswith("COADD_") or n[:2] in ("B-", "R-") for n in names)
        found = f"{'a medium-resolution file' if medium else 'a file'} with HDUs {', '.join(names[:4])}"
        raise fits.refusal(found, "a LAMOST low-resolution spectrum (five-row image or COADD table)")
    table = fits[names.index("COADD")]
    keys = {"wavelength": "WAVELENGTH", "flux": "FLUX", "ivar": "IVAR", "mask": "ANDMASK"}
    arrays = {key: table.column(column).reshape(-1) for key, column in keys.items()}
    arrays["mask"] = arrays["mask"] != 0
    return arrays


def _fields(header: Header) -> dict[str, Any]:
    planid = {key: header.text(key) for key in ("LMJD", "PLANID", "SPID", "FIBERID")}
    snr = {b: _known(header, f"SNR{b.upper()}", f"SN_{b.upper()}") for b in "ugriz"}
    meta: dict[str, Scalar] = {"data_release": header.text("DATA_V") or "before DR3"}
    for key in ("ZFLAG", "OBJTYPE", "FIBERTYP", "FIB_TYPE", "DATE-OBS", "MAGTYPE"):
        if header.text(key):
            meta[key.lower()] = header.text(key)
    return {
        "medium": "air" if header["VACUUM"] is False else "vacuum",
        "flux_unit": "relative",
        "survey": "LAMOST",
        "ids": {
            "obsid": header.text("OBSID"),
            "designation": header.text("DESIG").removeprefix("LAMOST").strip(),
            "lmjd-planid-spid-fiberid": "-".join(planid.values()),
        },
        "ra": header.number("RA"),
        "dec": header.number("DEC"),
        "redshift": _known(header, "Z"),
        "snr": {band: value for band, value in snr.items() if value is not None},
        "catalogue_class": " ".join(t for t in (header.text("CLASS"), header.text("SUBCLASS")) if t != "Non").strip(),
        "meta": meta,
    }


def _known(header: Header, *keys: str) -> float | None:
    values = (header.number(key) for key in keys)
    return next((v for v in values if v is not None and v > UNKNOWN), None)
