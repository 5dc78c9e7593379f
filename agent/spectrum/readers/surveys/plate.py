"""SDSS and BOSS plates: ``spPlate-*`` files, with the ``spZbest-*`` file of the same plate in the same folder.

A ``spPlate`` file has an image of one row per fibre (1e-17 erg s⁻¹ cm⁻² Å⁻¹), then ivar, and-mask, or-mask, dispersion,
and the plug map; the axis is log-linear and vacuum (COEFF0, COEFF1). ``spZbest`` has CLASS, SUBCLASS, Z and ZWARNING
per fibre, and in its third HDU the best-fitting model on the same axis (data.sdss.org/datamodel, "spPlate", "spZbest").

Targets are named by fibre number; sky fibres are read by name, ``read_all`` leaves them out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from agent.language import deferred
from agent.spectrum.readers.files import in_same_folder, uncompressed
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.flux_units import F_LAMBDA
from agent.spectrum.readers.pixels import Array, finite_number, spectrum, usable_redshift
from agent.spectrum.readers.surveys.sdss import BITS, DOUBTED, survey_of_version, vacuum
from agent.spectrum.readers.targets import CatalogueEntry, Targets
from agent.spectrum.readers.wavelengths import velocity_frame
from agent.spectrum.record import Scalar, Spectrum

_FIT = {"CLASS", "ZWARNING", "FIBERID"}


def recognises(fits: FitsFile) -> bool:
    """Return whether it is a plate, or the table of redshifts of a plate, which ``targets`` refuses."""
    primary = fits[0]
    if len(primary.shape) == 2 and "COEFF0" in primary.header:
        return _plug_map(fits) is not None
    return not primary.shape and any(set(hdu.columns) >= _FIT and "Z" in hdu.columns for hdu in fits.first(2)[1:])


def targets(fits: FitsFile) -> Targets:
    """Return the spectra of a plate, one per fibre. :raises SpectrumError: a spZbest file, or HDUs that do not fit"""
    plug_map = _plug_map(fits)
    if plug_map is None:
        expected = spectra_of(fits.name) or deferred("its spPlate file")
        expected = deferred("{wanted}: keep both in one folder and read the spPlate", wanted=expected)
        raise fits.refusal(deferred("a table of redshifts without spectra (spZbest)"), expected)
    for number, hdu in enumerate(fits.first(3)):
        if hdu.shape != fits[0].shape:
            raise fits.refusal(
                deferred("HDU {number} of shape {shape}", number=number, shape=hdu.shape),
                deferred("an image of shape {shape}", shape=fits[0].shape),
            )
    fit = _Fit(fits)
    fibres = Targets(fits.name)
    fibres.catalogue = fit.entries
    kinds = _texts(plug_map, "OBJTYPE")
    for row, fibre in enumerate(plug_map.column("FIBERID").tolist()):
        loader = partial(_read, fits, plug_map, fit, row, str(fibre))
        fibres.add(str(fibre), loader, skip=kinds[row] == "SKY")
    return fibres


def spectra_of(table: str) -> str:
    """Return the name of the plate that a spZbest file belongs to, "" for another file."""
    match = re.match(r"^spZbest(-.*?\.fits)", table)
    return f"spPlate{match[1]}" if match else ""


def redshifts_of(plate: str) -> str:
    """Return the name of the spZbest file of a plate, uncompressed."""
    match = re.match(r"^spPlate(-.*?\.fits)", plate)
    return f"spZbest{match[1]}" if match else "spZbest-PLATE-MJD.fits"


@dataclass(frozen=True)
class _Row:
    """The best fit of one fibre."""

    redshift: float | None
    kind: str
    zwarn: int
    model: Array | None


class _Fit:
    """The spZbest file of a plate, read at the first use."""

    def __init__(self, fits: FitsFile) -> None:
        self._fits = fits

    @cached_property
    def of(self) -> dict[str, _Row]:
        path = self._fits.path
        where = None if path is None else in_same_folder(path, redshifts_of(path.name))
        if where is None:
            return {}
        with uncompressed(where, where.name) as (stream, size):
            other = FitsFile(stream, where.name, size)
            table = other[1]
            if not set(table.columns) >= _FIT | {"Z"} or table.shape[0] == 0:
                raise other.refusal(
                    f"columns {', '.join(list(table.columns)[:6])}", deferred("CLASS, Z, ZWARNING and FIBERID")
                )
            image = other.first(3)[2:]
            models = image[0].image() if image and image[0].shape == (table.shape[0], self._fits[0].shape[1]) else None
            kinds = zip(_texts(table, "CLASS"), _texts(table, "SUBCLASS"), strict=True)
            rows = zip(table.column("Z").tolist(), kinds, table.column("ZWARNING").tolist(), strict=True)
            fits = [
                _Row(
                    usable_redshift(z),
                    " ".join(word for word in kind if word),
                    int(zwarn),
                    None if models is None else models[number],
                )
                for number, (z, kind, zwarn) in enumerate(rows)
            ]
            return dict(zip(map(str, table.column("FIBERID").tolist()), fits, strict=True))

    def entries(self) -> dict[str, CatalogueEntry]:
        """:raises SpectrumError: there is no spZbest file, naming it"""
        if not self.of:
            name = redshifts_of(self._fits.name)
            raise self._fits.refusal(
                deferred("no redshifts"),
                deferred("{wanted} in the same folder, to select by class or ZWARN", wanted=name),
            )
        return {fibre: CatalogueEntry(row.kind, row.zwarn) for fibre, row in self.of.items()}


def _read(fits: FitsFile, plug_map: Hdu, fit: _Fit, row: int, fibre: str) -> Spectrum:
    header = fits[0].header
    start, step = header.number("COEFF0"), header.number("COEFF1")
    if start is None or step is None:
        raise fits.refusal(deferred("no usable COEFF0 and COEFF1"), deferred("a log-linear axis"))
    flux, ivar, mask = (fits[number].image(row) for number in range(3))
    best = fit.of.get(fibre)
    meta: dict[str, Scalar] = {"read_as": "SDSS spPlate", "axis_from": "COEFF0, COEFF1", **vacuum(header)}
    meta |= {"errors_from": "HDU 1 (ivar)", "mask_from": f"HDU 2 ({BITS})"}
    meta |= {"objtype": plug_map.cell("OBJTYPE", row) or ""}
    if best is not None:
        meta["zwarn"] = best.zwarn
    meta |= velocity_frame(header)
    wavelength = 10.0 ** np.asarray(start + step * np.arange(flux.size), np.float64)
    plate = "-".join((header.text("PLATEID"), header.text("MJD"), fibre))
    return spectrum(
        f"{fits.name}#{fibre}",
        wavelength,
        flux,
        ivar,
        mask.astype(np.int64) & DOUBTED != 0,
        model=None if best is None else best.model,
        medium="air" if header["VACUUM"] is False else "vacuum",
        flux_unit=F_LAMBDA,
        survey=survey_of_version(header.text("RUN2D")),
        ids={"plate-mjd-fiber": plate},
        ra=finite_number(plug_map.cell("RA", row)),
        dec=finite_number(plug_map.cell("DEC", row)),
        redshift=None if best is None else best.redshift,
        catalogue_class="" if best is None else best.kind,
        meta=meta,
    )


def _plug_map(fits: FitsFile) -> Hdu | None:
    rows = fits[0].shape[:1]
    return next((h for h in fits if h.is_table and "FIBERID" in h.columns and h.shape[:1] == rows), None)


def _texts(table: Hdu, name: str) -> list[str]:
    if name not in table.columns or table.columns[name].code != "A":
        return [""] * table.shape[0]
    return [value.decode("latin-1").strip("\0 ") for value in table.column(name).tolist()]
