"""LAMOST spectra: the three layouts of the low-resolution survey, and that of the medium-resolution survey.

- DR3 to DR8: primary image of five rows (flux, ivar, wavelength, andmask, ormask);
- DR1 and DR2 and the pilot survey: the same, but the third row is the flux divided by the continuum, and
  the wavelengths are 10**(COEFF0 + COEFF1 i) (lamost.org, "Fits Files" of the pilot data; EXTEN0 in the
  header says "Subcontinuum");
- from DR9: a binary table COADD of one row of vectors;
- medium resolution (``med-*``): tables COADD_B and COADD_R, then a table per exposure (B-*, R-*), with LOGLAM or
  WAVELENGTH. The arms (4950 to 5350 and 6300 to 6800 Å) are one spectrum with a gap, the exposures are kept.

Wavelengths are vacuum and heliocentric, the flux is relative. A pixel is flagged where the and-mask is not
0, i.e. every exposure has a problem there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.pixels import Array, exposure, spectrum
from agent.spectrum.readers.wavelengths import velocity_frame
from agent.spectrum.record import MAX_EXPOSURES, Exposure, Scalar, Spectrum

UNKNOWN = -999.0  # at or below this, LAMOST means that it has no value


def recognises(fits: FitsFile) -> bool:
    return fits[0].header.text("TELESCOP") == "LAMOST"


def read(fits: FitsFile) -> Spectrum:
    """Read the spectrum of a LAMOST file. :raises SpectrumError: none of these layouts, or damaged"""
    primary = fits[0]
    if fits.get("COADD_B", "COADD_R") is not None:
        return _read_medium(fits)
    is_image = len(primary.shape) == 2 and primary.is_image and primary.size
    arrays = _image(fits, primary) if is_image else _table(fits)
    return spectrum(fits.name, **arrays, **_fields(primary.header, "five rows" if is_image else "table COADD"))


def _image(fits: FitsFile, hdu: Hdu) -> dict[str, Array]:
    if hdu.shape[0] != 5:
        raise fits.refusal(
            deferred("an image of {shape} rows", shape=hdu.shape[0]), deferred("the five rows of a LAMOST spectrum")
        )
    flux, ivar, third, andmask, _ = hdu.image()
    header = hdu.header
    if "Wavelength" not in header.text("EXTEN0"):
        start, step = header.number("COEFF0"), header.number("COEFF1")
        if start is None or step is None:
            raise fits.refusal(deferred("neither a wavelength row nor COEFF0 and COEFF1"), deferred("the wavelengths"))
        third = 10.0 ** (start + step * np.arange(flux.size))
    return {"wavelength": third, "flux": flux, "ivar": ivar, "mask": andmask != 0}


def _table(fits: FitsFile) -> dict[str, Array]:
    names = [hdu.name for hdu in fits]
    if "COADD" not in names:
        medium = any(n[:2] in ("B-", "R-") for n in names)
        actual = deferred("a file with HDUs {names}", names=", ".join(names[:4]))
        if medium:
            actual = deferred("a medium-resolution file with HDUs {names}", names=", ".join(names[:4]))
        raise fits.refusal(
            actual, deferred("a LAMOST spectrum (five-row image, or tables COADD or COADD_B and COADD_R)")
        )
    return _pixels(fits[names.index("COADD")])


def _pixels(table: Hdu) -> dict[str, Array]:
    """Return wavelength, flux, ivar and mask of a table of one row of vectors or of one pixel per row."""
    log = "WAVELENGTH" not in table.columns
    wavelength = table.column("LOGLAM" if log else "WAVELENGTH").reshape(-1).astype(np.float64)
    mask = next((key for key in ("ANDMASK", "PIXMASK") if key in table.columns), None)
    flux = table.column("FLUX").reshape(-1)
    return {
        "wavelength": 10.0**wavelength if log else wavelength,
        "flux": flux,
        "ivar": table.column("IVAR").reshape(-1),
        "mask": np.zeros(flux.shape, bool) if mask is None else table.column(mask).reshape(-1) != 0,
    }


def _read_medium(fits: FitsFile) -> Spectrum:
    arms = [hdu for hdu in fits if hdu.name in ("COADD_B", "COADD_R") and hdu.shape[0] > 0]
    if not arms:
        raise fits.refusal(deferred("empty tables COADD_B and COADD_R"), deferred("a spectrum of at least one arm"))
    parts = sorted((_pixels(arm) for arm in arms), key=lambda part: float(part["wavelength"][0]))
    arrays = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    fields = _fields(fits[0].header, "tables COADD_B and COADD_R") | {"survey": "LAMOST MRS"}
    fields["snr"] = {arm.name[-1]: value for arm in arms if (value := _known(arm.header, "SNR")) is not None}
    fields["meta"]["arms"] = " and ".join(
        f"{part['wavelength'][0]:.0f}–{part['wavelength'][-1]:.0f} Å" for part in parts
    )
    return spectrum(fits.name, **arrays, exposures=_exposures(fits), **fields)


def _exposures(fits: FitsFile) -> Iterator[Exposure | None]:
    """Yield the exposures of a medium-resolution file, an arm each, named by arm and local modified Julian minute."""
    for hdu in islice(fits, 1, 1 + MAX_EXPOSURES):
        has_pixels = {"FLUX", "IVAR"} <= set(hdu.columns) and {"WAVELENGTH", "LOGLAM"} & set(hdu.columns)
        if hdu.name[:2] in ("B-", "R-") and hdu.shape[0] > 0 and has_pixels:
            part = _pixels(hdu)
            yield exposure(hdu.name, part["wavelength"], part["flux"], part["ivar"])


def _fields(header: Header, layout: str) -> dict[str, Any]:
    planid = {key: header.text(key) for key in ("LMJD", "PLANID", "SPID", "FIBERID")}
    snr = {b: _known(header, f"SNR{b.upper()}", f"SN_{b.upper()}") for b in "ugriz"}
    meta: dict[str, Scalar] = {"data_release": header.text("DATA_V") or "before DR3"}
    for key in ("ZFLAG", "OBJTYPE", "FIBERTYP", "FIB_TYPE", "DATE-OBS", "MAGTYPE"):
        if header.text(key):
            meta[key.lower()] = header.text(key)
    meta |= {
        "read_as": f"LAMOST, {layout}",
        "errors_from": "inverse variance (ivar)",
        "mask_from": "and-mask (not 0 = bad)",
    }
    meta |= {"medium_from": "VACUUM = F" if header["VACUUM"] is False else "LAMOST data model"}
    meta |= velocity_frame(header)
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
