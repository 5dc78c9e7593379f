"""Spectra as FITS images: with the axis in the header (MILES, STELIB, IRAF, MUSE), an HDU (linetools) or a row.

- The flux is the primary image, or the HDU named FLUX, DATA, SCI or similar; errors, masks and wavelengths are HDUs
  with such names (``producers``) and its shape. A second HDU without a name is its errors if they agree with the
  scatter.
- Several rows with IRAF's APNUM cards are apertures, a target each; the band that BANDID calls "sigma" is the error.
- Two to four rows that begin with increasing wavelengths are wavelength, flux and error (pyspeckit, SpeXtool); several
  such images are orders, a target each.
- Any other image is refused.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.noise import ivar_from_scatter
from agent.spectrum.readers import columns, positions, units
from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.pixels import Array, ivar_from_sigma, spectrum
from agent.spectrum.readers.producers import ERRORS, IMAGES, ErrorKind, Mask, Producer, plain, producer
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import axis, statements, velocity_frame
from agent.spectrum.record import FloatArray, Medium, Scalar, Spectrum

_LIBRARIES = ("RRTYPE", "EIGEN0")  # cards of redrock's and SDSS's basis vectors
_ROWS = (2, 3, 4)
_AGREES = 2.0
"""Factor within which errors agree with the scatter of the flux."""


def recognises(fits: FitsFile) -> bool:
    return _flux(fits) is not None


def _flux(fits: FitsFile) -> Hdu | None:
    """Return the image with the flux: the primary, else the first 1-D image with such a name, else the first."""
    if fits[0].is_image and fits[0].size > 0:
        return fits[0]
    lines = [hdu for hdu in fits if hdu.is_image and hdu.size and sum(length > 1 for length in hdu.shape) == 1]
    named = [hdu for hdu in lines if re.fullmatch(IMAGES["flux"], plain(hdu.name))]
    return next(iter(named or [hdu for hdu in lines if not _role(hdu)]), None)


def _role(hdu: Hdu) -> str:
    """Return what an HDU holds by its name, "" if the name is not known."""
    names = [(role, pattern) for role, pattern in IMAGES.items() if role != "flux"] + [*ERRORS.items()]
    return next((role for role, pattern in names if re.fullmatch(pattern, plain(hdu.name))), "")


def targets(fits: FitsFile) -> Targets:
    """Return the spectra of an image: of each aperture or order. :raises SpectrumError: it is no spectrum"""
    flux = _flux(fits)
    if flux is None:
        raise fits.refusal(deferred("no image"), "a 1-D spectrum")
    library = next((card for card in _LIBRARIES if card in flux.header), None)
    if library:
        raise fits.refusal(
            deferred("a library of basis vectors ({library})", library=library), deferred("one spectrum")
        )
    if (orders := _orders(flux)) is not None:
        names = [str(number) for number in range(1, len(orders) + 1)]
        return _listed(fits, names, lambda name, row: _read_rows(fits, flux, orders[row], name))
    return _listed(fits, _apertures(fits, flux), lambda name, row: _read(fits, flux, name, row))


def _listed(fits: FitsFile, names: list[str], read: Any) -> Targets:
    if len(names) == 1:
        return Targets.single(fits.name, partial(read, fits.name, 0))
    listed = Targets(fits.name)
    for row, name in enumerate(names):
        listed.add(name, partial(read, f"{fits.name}#{name}", row))
    return listed


def _is_iraf(header: Header) -> bool:
    return "APNUM1" in header or "multispec" in header.text("WAT0_001")


def _apertures(fits: FitsFile, flux: Hdu) -> list[str]:
    shape = flux.shape
    rows = shape[-2] if len(shape) > 1 else 1
    says_so = _is_iraf(flux.header)
    if len(shape) > 3 or (rows > 1 and not says_so) or (len(shape) == 3 and shape[0] > 1 and not says_so):
        raise fits.refusal(
            deferred("an image of {names} pixels", names=" x ".join(map(str, reversed(shape)))), "a 1-D spectrum"
        )
    names = [flux.header.text(f"APNUM{n}").split(" ")[0] or str(n) for n in range(1, rows + 1)]
    return names if len(set(names)) == rows else [str(n) for n in range(1, rows + 1)]


@dataclass
class _Account:
    """What was read of a file, for ``Spectrum.meta``."""

    meta: dict[str, Scalar] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    not_used: list[str] = field(default_factory=list)


def _read(fits: FitsFile, flux: Hdu, name: str, aperture: int) -> Spectrum:
    header, shape = flux.header, flux.shape
    bands = flux.image().reshape(-1, shape[-2] if len(shape) > 1 else 1, shape[-1])
    by = producer((header.text, fits[0].header.text), hdus=(hdu.name for hdu in fits), file=fits.name)
    account = _Account({"read_as": f"image, {flux.title}", "flux_from": flux.title}, {flux.number})
    wavelength, medium = _wavelength(fits, flux, aperture, account)
    ivar = _ivar(fits, flux, bands, aperture, account)
    mask = _mask(fits, flux, aperture, by, account)
    return spectrum(
        name,
        wavelength,
        bands[0, aperture],
        ivar,
        mask,
        **_fields(fits, flux, by, wavelength, medium, account),
    )


def _row(hdu: Hdu, pixels: int, aperture: int) -> FloatArray:
    rows = hdu.image().reshape(-1, pixels)
    return np.asarray(rows[aperture if len(rows) > aperture else 0], np.float64)


def _others(fits: FitsFile, flux: Hdu) -> list[Hdu]:
    """Return the images that may belong to the flux: of its shape, or of the length of its rows."""
    shapes = (flux.shape, flux.shape[-1:])
    return [hdu for hdu in fits if hdu is not flux and hdu.is_image and hdu.size and hdu.shape in shapes]


def _wavelength(fits: FitsFile, flux: Hdu, aperture: int, account: _Account) -> tuple[FloatArray, Medium | None]:
    pixels = flux.shape[-1]
    for hdu in _others(fits, flux):
        role = _role(hdu)
        if role in ("wavelength", "log10"):
            account.used.add(hdu.number)
            unit = hdu.header.text("BUNIT") or hdu.header.text("CUNIT1") or _linetools(flux.header, "wave")
            account.meta["axis_from"] = hdu.title + (f" ({unit})" if unit else "")
            return units.to_angstrom(fits.name, _row(hdu, pixels, aperture), unit, role)
    header = flux.header if "CRVAL1" in flux.header or "WAT0_001" in flux.header else fits[0].header
    of_header = axis(fits, header, pixels, aperture)
    account.meta["axis_from"] = of_header.source
    account.not_used += of_header.not_used
    return of_header.wavelength, of_header.medium


def _linetools(header: Header, key: str) -> str:
    """Return a unit of linetools' card UNITS: ``{"wave": "Angstrom", "flux": "..."}``."""
    try:
        stated = json.loads(header.text("UNITS"))[key]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
    return stated if isinstance(stated, str) and not stated.startswith("dimensionless") else ""


def _ivar(fits: FitsFile, flux: Hdu, bands: Array, aperture: int, account: _Account) -> Array | None:
    ivar: Array | None = None
    for band in range(1, bands.shape[0]):
        label = flux.header.text(f"BANDID{band + 1}")
        if ivar is None and label.lower().startswith("sigma"):
            ivar = ivar_from_sigma(bands[band, aperture])
            account.meta["errors_from"] = f"band {band + 1} (sigma)"
        else:
            account.not_used.append(f"band {band + 1} {label:.30}".rstrip())
    if ivar is not None:
        return ivar
    others = _others(fits, flux)
    for hdu in others:
        kind = _role(hdu)
        if kind in ERRORS:
            account.used.add(hdu.number)
            account.meta["errors_from"] = f"{hdu.title} ({kind})"
            return columns.ivar_from_errors(_row(hdu, bands.shape[-1], aperture), kind)  # type: ignore[arg-type]
    if len(others) >= 1 and not others[0].name and others[0].shape == flux.shape:
        values = _row(others[0], bands.shape[-1], aperture)
        by_scatter = _kind_by_scatter(np.asarray(bands[0, aperture], np.float64), values)
        if by_scatter is not None:
            account.used.add(others[0].number)
            account.meta["errors_from"] = f"{others[0].title} ({by_scatter}, by the scatter of the flux)"
            return columns.ivar_from_errors(values, by_scatter)
    return None


def _kind_by_scatter(flux: FloatArray, values: FloatArray) -> ErrorKind | None:
    """Return what errors (n,) of unknown kind are: the kind that agrees best with the scatter of the flux (n,), within
    a factor of two; None if none does, or if they are not errors.
    """
    usable = np.isfinite(flux) & np.isfinite(values) & (values > 0)
    if usable.sum() < 0.5 * usable.size or (values[np.isfinite(values)] < 0).any():
        return None
    flux, values = flux[usable], values[usable]
    scatter = ivar_from_scatter(flux)
    seen = scatter > 0
    if not seen.any():
        return None
    kinds: tuple[ErrorKind, ...] = ("sigma", "variance", "ivar")
    ratios = {k: np.abs(np.log(columns.ivar_from_errors(values, k)[seen] / scatter[seen])) / 2 for k in kinds}
    kind = min(kinds, key=lambda k: float(np.median(ratios[k])))
    return kind if np.median(ratios[kind]) < np.log(_AGREES) else None


def _mask(fits: FitsFile, flux: Hdu, aperture: int, by: Producer | None, account: _Account) -> Array | None:
    for hdu in _others(fits, flux):
        if _role(hdu) == "mask":
            account.used.add(hdu.number)
            rule = (by and by.mask) or Mask()
            values = _row(hdu, flux.shape[-1], aperture)
            flagged, text = columns.masked(values, rule, hdu.header.text, by is not None and by.mask is not None)
            if flagged is None:
                account.not_used.append(f"{hdu.title} ({text})")
            else:
                account.meta["mask_from"] = f"{hdu.title} ({text})"
            return flagged
    return None


def _orders(flux: Hdu) -> list[FloatArray] | None:
    """Return images of rows (rows, n), the first of which is the axis; None if the image is not of this form."""
    shape = flux.shape
    if len(shape) not in (2, 3) or shape[-2] not in _ROWS or _is_iraf(flux.header) or shape[-1] < max(_ROWS):
        return None
    orders = flux.image().astype(np.float64).reshape(-1, *shape[-2:])
    for rows in orders:
        wavelength = rows[0][np.isfinite(rows[0]) & (rows[0] > 0)]
        steps = np.diff(wavelength)
        if not steps.size or not ((steps > 0).all() or (steps < 0).all()) or "EIGEN0" in flux.header:
            return None
    return list(orders)


def _read_rows(fits: FitsFile, flux: Hdu, rows: FloatArray, name: str) -> Spectrum:
    header = flux.header
    by = producer((header.text,), file=fits.name)
    unit = header.text("CUNIT1") or header.text("XUNITS")
    account = _Account({"read_as": f"image of {len(rows)} rows, {flux.title}", "flux_from": "row 2"}, {flux.number})
    account.meta["axis_from"] = f"row 1 ({unit})" if unit else "row 1"
    wavelength, medium = units.to_angstrom(fits.name, rows[0], unit)
    ivar = None
    if len(rows) > 2 and (rows[2][np.isfinite(rows[2])] >= 0).all() and np.nansum(rows[2]) > 0:
        ivar = ivar_from_sigma(rows[2])
        account.meta["errors_from"] = "row 3 (sigma)"
    account.not_used += [f"row {n}" for n in range(3, len(rows) + 1) if n > 3 or ivar is None]
    return spectrum(name, wavelength, rows[1], ivar, **_fields(fits, flux, by, wavelength, medium, account))


def _fields(
    fits: FitsFile, flux: Hdu, by: Producer | None, wavelength: FloatArray, medium: Medium | None, account: _Account
) -> dict[str, Any]:
    header, primary = flux.header, fits[0].header
    meta = dict(account.meta)
    for key in ("OBJECT", "DATE-OBS", "TELESCOP", "INSTRUME", "EXPTIME"):
        value = header[key] if header[key] not in (None, "") else primary[key]
        if value not in (None, ""):
            meta[key.lower()] = value
    stated = [(str(meta["axis_from"]), medium)] if medium else []
    of_medium = columns.medium_fields([*stated, *statements(header), *statements(primary)], by, wavelength)
    unread = [hdu.title for hdu in fits if hdu.size and hdu.number not in account.used]
    meta |= velocity_frame(header) | columns.unused([*account.not_used, *unread]) | of_medium["meta"]
    unit = header.text("BUNIT") or header.text("YUNITS") or _linetools(header, "flux")
    if by is not None and "flux" in by.units:
        unit = by.units["flux"]
    is_rest = header.text("CTYPE1").upper() == "WAVEREST" or header.text("SPECSYS").upper() == "REST"
    fields: dict[str, Any] = {
        "medium": of_medium["medium"],
        "frame": (by and by.frame) or ("rest" if is_rest else "observed"),
        "survey": by.survey if by else "",
        "flux_unit": unit or "unknown",
        "catalogue_class": header.text("SPECTYPE"),
        "meta": meta,
    }
    # In STELIB, stars observed from Siding Spring have decimal coordinates in radians, the others sexagesimal ones.
    radians = fields["survey"] == "STELIB"
    fields["ra"], fields["dec"] = positions.of_header(header, radians=radians)
    if fields["ra"] is None:
        fields["ra"], fields["dec"] = positions.of_header(primary)
    label = header.text("STARIDEN") or header.text("OBJECT") or primary.text("OBJECT")
    if label:
        fields["ids"] = {"object": label}
    return fields
