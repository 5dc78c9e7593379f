"""AAOmega images as 2dfdr writes them and Marz reads them: one row per object, with HDUs for the rest.

VARIANCE has σ², WAVELENGTH (optional) the wavelengths, otherwise the header states a linear axis; FIBRES names the
objects, with coordinates in radians. Wavelengths are in air unless the card VACUUM is true (Marz, Hinton et al. 2016,
Astron. Comput. 15, 61). Fibres whose TYPE is not P (program object) are sky or fiducials: read by name, left out by
``read_all``.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.columns import medium_fields
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.pixels import ivar_from_sigma, spectrum
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import axis, statements
from agent.spectrum.record import FloatArray, Scalar, Spectrum


def recognises(fits: FitsFile) -> bool:
    if not fits[0].is_image or fits[0].size == 0:
        return False
    names = {hdu.name for hdu in fits}
    return "VARIANCE" in names and bool(names & {"FIBRES", "WAVELENGTH", "SKY"})


def targets(fits: FitsFile) -> Targets:
    """Return the objects of a Marz file. :raises SpectrumError: an image of more than two axes"""
    shape = fits[0].shape
    if len(shape) > 2:
        raise fits.refusal(deferred("an image of {n_shape} axes", n_shape=len(shape)), deferred("one row per object"))
    if len(shape) == 1 or shape[0] == 1:
        return Targets.single(fits.name, partial(_read, fits, fits.name, 0))
    targets_listed = Targets(fits.name)
    fibres = fits.get("FIBRES")
    for row in range(shape[0]):
        object_name = _text(fibres, "NAME", row) or str(row + 1)
        kind = _text(fibres, "TYPE", row)
        loader = partial(_read, fits, f"{fits.name}#{object_name}", row)
        targets_listed.add(object_name, loader, skip=kind not in ("", "P"))
    return targets_listed


def _read(fits: FitsFile, name: str, row: int) -> Spectrum:
    primary, variance = fits[0], fits.get("VARIANCE")
    header, pixels = primary.header, primary.shape[-1]
    if variance is None or variance.shape != primary.shape:
        raise fits.refusal(
            deferred("VARIANCE of another shape than the spectra"), deferred("a variance for each pixel")
        )
    index = () if len(primary.shape) == 1 else (row,)
    sigma = np.sqrt(np.maximum(variance.image(*index), 0.0))
    fibres = fits.get("FIBRES")
    wavelength = _wavelengths(fits, pixels, index)
    of_medium = medium_fields(statements(header), None, wavelength)
    meta: dict[str, Scalar] = {"field": header.text("OBJECT")} if header.text("OBJECT") else {}
    meta |= {"axis_from": "HDU WAVELENGTH" if fits.get("WAVELENGTH") else "CRVAL1, CDELT1"} | of_medium["meta"]
    meta |= {"read_as": "Marz", "errors_from": "HDU VARIANCE (variance)"}
    comment = _text(fibres, "COMMENT", row)
    if comment:
        meta["comment"] = comment
    return spectrum(
        name,
        wavelength,
        primary.image(*index),
        ivar_from_sigma(sigma),
        medium=of_medium["medium"],
        flux_unit=header.text("BUNIT") or "relative",
        survey=header.text("INSTRUME") or "Marz",
        ids={"object": _text(fibres, "NAME", row)} if _text(fibres, "NAME", row) else {},
        ra=_degrees(fibres, "RA", row),
        dec=_degrees(fibres, "DEC", row),
        meta=meta,
    )


def _wavelengths(fits: FitsFile, pixels: int, index: tuple[int, ...]) -> FloatArray:
    hdu = fits.get("WAVELENGTH")
    if hdu is None:
        return axis(fits, fits[0].header, pixels).wavelength
    values = hdu.image() if len(hdu.shape) == 1 else hdu.image(*index)
    numbers: FloatArray = values.reshape(-1).astype(np.float64)
    # Marz writes log10 of the wavelength here when LOGSCALE is set.
    return 10.0**numbers if np.isfinite(numbers).all() and numbers.size and numbers.max() < 10 else numbers


def _text(fibres: Hdu | None, column: str, row: int) -> str:
    value = None if fibres is None else fibres.cell(column, row)
    return "" if value is None else str(value)


def _degrees(fibres: Hdu | None, column: str, row: int) -> float | None:
    value = None if fibres is None else fibres.cell(column, row)
    return math.degrees(value) if isinstance(value, int | float) and abs(value) <= 2 * math.pi else None
