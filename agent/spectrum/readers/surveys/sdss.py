"""SDSS spectra: ``spec-*`` tables from SDSS I to V, and the ``spSpec`` images before them.

A ``spec-*`` file has a table of flux, loglam, ivar, and_mask, ... and one row of the catalogue (SPECOBJ or
SPALL); column names are in either case. A ``spSpec`` file has an image (flux, flux minus continuum, error,
mask) and a log-linear axis.

Wavelengths are vacuum, flux is in 1e-17 erg s⁻¹ cm⁻² Å⁻¹.

The and-mask removes no pixel. Bits 0 to 15 describe the whole fibre, and flag half or all of the
pixels of many good spectra (BADFLAT: 4,593 of 4,606 in one BOSS spectrum); the pipeline has already given
ivar 0 to what it could not measure. ``mask`` is set from the bits that describe one pixel and question its
value: FULLREJECT 18, NOSKY 22, BRIGHTSKY 23, NODATA 24, BADSKYCHI 27 and REDMONSTER 28 (SDSS bitmask
SPPIXMASK, sdss.org/dr17/algorithms/bitmasks).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.flux_units import F_LAMBDA
from agent.spectrum.readers.pixels import Array, exposure, ivar_from_sigma, spectrum, usable_redshift
from agent.spectrum.readers.wavelengths import velocity_frame
from agent.spectrum.record import MAX_EXPOSURES, Exposure, Scalar, Spectrum

DOUBTED = sum(1 << bit for bit in (18, 22, 23, 24, 27, 28))
BITS = "bits 18, 22, 23, 24, 27, 28 = bad"
_UNKNOWN_TEXT = ("", "NONE", "N/A", "NAN")


def recognises(fits: FitsFile) -> bool:
    """Return whether it is an SDSS spectrum, or a library of SDSS spectra, which ``read`` refuses."""
    primary = fits[0]
    if "COEFF0" in primary.header and len(primary.shape) == 2:
        return True
    return _coadd(fits) is not None


def read(fits: FitsFile) -> Spectrum:
    """Read the spectrum of an SDSS file. :raises SpectrumError: an eigenspectrum library, or damaged"""
    coadd = None if fits[0].shape else _coadd(fits)
    return _read_image(fits) if coadd is None else _read_table(fits, coadd)


def _coadd(fits: FitsFile) -> Hdu | None:
    return next((hdu for hdu in fits.first(2)[1:] if {"FLUX", "LOGLAM", "IVAR"} <= set(hdu.columns)), None)


def _read_table(fits: FitsFile, coadd: Hdu) -> Spectrum:
    masks = [c for c in ("AND_MASK", "MASK") if c in coadd.columns]
    arrays: dict[str, Any] = {
        "wavelength": 10.0 ** coadd.column("LOGLAM").astype(np.float64),
        "flux": coadd.column("FLUX"),
        "ivar": coadd.column("IVAR"),
        "mask": coadd.column(masks[0]).astype(np.int64) & DOUBTED != 0 if masks else None,
        "model": coadd.column("MODEL") if "MODEL" in coadd.columns else None,
    }
    catalogue = _CatalogueRow(next((hdu for hdu in fits.first(3)[2:] if hdu.is_table and hdu.shape[0] == 1), None))
    header = fits[0].header
    read_from = {"axis_from": "column LOGLAM", "errors_from": "column IVAR (ivar)"}
    if masks:
        read_from["mask_from"] = f"column {masks[0]} ({BITS})"
    run2d = catalogue.text("RUN2D") or header.text("RUN2D")
    return spectrum(
        fits.name,
        **arrays,
        exposures=_exposures(fits),
        medium="air" if header["VACUUM"] is False else "vacuum",
        flux_unit=F_LAMBDA,
        survey="SDSS-V" if catalogue.text("SDSS_ID") else survey_of_version(run2d),
        ids=_ids(header, catalogue),
        # The position of the fibre, not of the photometric match: SPALL has RA = 0 where nothing matched.
        ra=catalogue.number("PLUG_RA", "FIBER_RA", "RACAT", "RA"),
        dec=catalogue.number("PLUG_DEC", "FIBER_DEC", "DECCAT", "DEC"),
        redshift=usable_redshift(catalogue.number("Z")),
        snr=catalogue.snr(),
        catalogue_class=" ".join(t for t in (catalogue.text("CLASS"), catalogue.text("SUBCLASS")) if t),
        meta={"read_as": "SDSS spec", **read_from, **_meta(catalogue), **vacuum(header), **velocity_frame(header)},
    )


def _exposures(fits: FitsFile) -> Iterator[Exposure | None]:
    """Yield the exposures of a full ``spec-*`` file: one HDU each from the fifth on, one arm and exposure."""
    for hdu in islice(fits, 4, 4 + MAX_EXPOSURES):
        if not {"FLUX", "LOGLAM", "IVAR"} <= set(hdu.columns) or not hdu.shape[0]:
            continue
        wavelength = 10.0 ** hdu.column("LOGLAM").reshape(-1).astype(np.float64)
        yield exposure(hdu.name, wavelength, hdu.column("FLUX").reshape(-1), hdu.column("IVAR").reshape(-1))


def _read_image(fits: FitsFile) -> Spectrum:
    primary = fits[0]
    header = primary.header
    if "EIGEN0" in header or primary.shape[0] not in (4, 5):
        kind = (
            deferred("a library of eigenspectra")
            if "EIGEN0" in header
            else deferred("an image of {shape} rows", shape=primary.shape[0])
        )
        raise fits.refusal(kind, deferred("one spectrum (flux, flux minus continuum, error, mask)"))
    start, step = header.number("COEFF0"), header.number("COEFF1")
    if start is None or step is None:
        raise fits.refusal(deferred("no usable COEFF0 and COEFF1"), deferred("a log-linear axis"))
    flux, _, sigma, mask = primary.image()[:4]
    # The galaxy and QSO composites among the DR2 templates have no plate, and are made in the rest frame.
    observed = "PLATEID" in header
    plate = "-".join(header.text(k) for k in ("PLATEID", "MJD", "FIBERID")) if observed else ""
    return spectrum(
        fits.name,
        10.0 ** (start + step * np.arange(flux.size)),
        flux,
        ivar_from_sigma(sigma) if (sigma > 0).any() else None,
        mask.astype(np.int64) & DOUBTED != 0,
        medium="air" if header["VACUUM"] is False else "vacuum",
        frame="observed" if observed else "rest",
        flux_unit=F_LAMBDA,
        survey="SDSS",
        ids={"plate-mjd-fiber": plate} if plate else {},
        ra=header.number("RAOBJ"),
        dec=header.number("DECOBJ"),
        redshift=usable_redshift(header.number("Z")) if observed else None,
        snr={b: v for b in "gri" if (v := header.number(f"SN_{b.upper()}")) is not None and v > 0},
        catalogue_class=header.text("SPEC_TYPE"),
        meta={
            "read_as": "SDSS spSpec",
            "axis_from": "COEFF0, COEFF1",
            "errors_from": "row 3 (sigma)",
            "mask_from": f"row 4 ({BITS})",
            "object": header.text("OBJECT") or header.text("NAME"),
            **vacuum(header),
            **(velocity_frame(header) if observed else {}),
        },
    )


class _CatalogueRow:
    """The row of SPECOBJ or SPALL, if the file has it; sentinels and missing columns read as None or ""."""

    def __init__(self, hdu: Hdu | None) -> None:
        self._hdu = hdu

    def _cell(self, name: str) -> Array | None:
        if self._hdu is None or name not in self._hdu.columns:
            return None
        return self._hdu.column(name)[0:1].reshape(-1)

    def number(self, *names: str) -> float | None:
        for name in names:
            cell = self._cell(name)
            if cell is not None and cell.dtype.kind in "iuf" and np.isfinite(cell[0]) and cell[0] > -999:
                return float(cell[0])
        return None

    def text(self, name: str) -> str:
        cell = self._cell(name)
        if cell is None:
            return ""
        text = cell[0].decode("latin-1").strip("\0 ") if cell.dtype.kind == "S" else str(cell[0])
        return "" if text.upper() in _UNKNOWN_TEXT else text

    def snr(self) -> dict[str, float]:
        bands = self._cell("SN_MEDIAN")
        snrs = (
            dict(zip("ugriz", (float(v) for v in bands), strict=False)) if bands is not None and bands.size == 5 else {}
        )
        overall = self.number("SN_MEDIAN_ALL")
        if overall is not None:
            snrs["median"] = overall
        return {band: value for band, value in snrs.items() if np.isfinite(value) and value > -999}


def vacuum(header: Header) -> dict[str, Scalar]:
    """Return the entry of ``meta`` that says what states the medium: the card VACUUM, or SDSS, which has no other."""
    return {"medium_from": "VACUUM = F" if header["VACUUM"] is False else "SDSS data model"}


def survey_of_version(run2d: str) -> str:
    """Return "SDSS" (SDSS I and II), "SDSS BOSS" (BOSS and eBOSS) or "SDSS-V", from the version of the pipeline, RUN2D:
    26, 103 and 104 for the first, v5 for the second, v6 for SDSS-V.
    """
    version = run2d.strip().lower()
    return "SDSS-V" if version.startswith("v6") else "SDSS BOSS" if version.startswith("v") else "SDSS"


def _ids(header: Header, catalogue: _CatalogueRow) -> dict[str, str]:
    ids = {key.lower(): catalogue.text(key) for key in ("SPECOBJID", "THING_ID", "SDSS_ID", "CATALOGID", "BESTOBJID")}
    plate = [
        catalogue.text(k) or header.text(alt)
        for k, alt in (("PLATE", "PLATEID"), ("MJD", "MJD"), ("FIBERID", "FIBERID"))
    ]
    if all(plate):
        ids["plate-mjd-fiber"] = "-".join(plate)
    return {key: value for key, value in ids.items() if value and re.sub(r"[0\-]", "", value)}


def _meta(catalogue: _CatalogueRow) -> dict[str, Scalar]:
    meta: dict[str, Scalar] = {}
    for key in ("OBJTYPE", "SOURCETYPE", "TARGETTYPE", "RUN2D", "SURVEY", "INSTRUMENT"):
        if catalogue.text(key):
            meta[key.lower()] = catalogue.text(key)
    zwarning = catalogue.number("ZWARNING")
    if zwarning is not None:
        meta["zwarning"] = int(zwarning)
    return meta
