"""Spectra as FITS tables with named columns: CALSPEC, PyHammer's templates and others.

The first table with a wavelength and a flux column is used; a table of vectors has one spectrum per row. CALSPEC is
vacuum, fluxes in erg s⁻¹ cm⁻² Å⁻¹ (stsci.edu, "CALSPEC"); PyHammer's templates are means of SDSS spectra in the rest
frame, vacuum (Kesseli et al. 2017, ApJS 230, 16). Other tables are in the medium that their header states, otherwise
air, and ``meta`` records the assumption.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import positions, sparcl
from agent.spectrum.readers.fits import FitsFile, Hdu, Header
from agent.spectrum.readers.pixels import spectrum
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import Roles, arrays, medium, roles
from agent.spectrum.record import Medium, Spectrum

_PYHAMMER = {"LOGLAM", "FLUX", "PROPERR"}
_UNITS = {"FLAM": "erg s-1 cm-2 Å-1"}


def recognises(fits: FitsFile) -> bool:
    return _chosen_table(fits) is not None


def targets(fits: FitsFile) -> Targets:
    """Return one spectrum, or one per row of vectors."""
    chosen = _chosen_table(fits)
    if chosen is None:
        raise fits.refusal(deferred("no table with wavelength and flux columns"), deferred("a table with a spectrum"))
    table, which = chosen
    if sparcl.is_record(table.columns):
        return _sparcl(fits, table)
    rows = table.shape[0] if table.column(which.flux).ndim == 2 else 1
    if rows == 1:
        return Targets.single(fits.name, partial(_read, fits, table, which, None))
    several = Targets(fits.name)
    for row in range(rows):
        several.add(str(row), partial(_read, fits, table, which, row))
    return several


def _sparcl(fits: FitsFile, table: Hdu) -> Targets:
    """Return one target per record, or the only one: a table of one record may have one pixel per row."""
    columns = [c for c in table.columns.values() if c.name.lower() in (*sparcl.ARRAYS, *sparcl.FIELDS)]
    vectors = table.column("FLUX").ndim == 2

    def read(name: str, number: int) -> Spectrum:
        values = {c.name.lower(): table.column(c.name) for c in columns}
        arrays = {key: value[number] if vectors else value for key, value in values.items() if key in sparcl.ARRAYS}
        return sparcl.record(name, {key: value[number] for key, value in values.items() if value.ndim == 1} | arrays)

    if not vectors or table.shape[0] == 1:
        return Targets.single(fits.name, partial(read, fits.name, 0))
    rows = Targets(fits.name)
    for number in range(table.shape[0]):
        rows.add(str(number), partial(read, f"{fits.name}#{number}", number))
    return rows


def _chosen_table(fits: FitsFile) -> tuple[Hdu, Roles] | None:
    for hdu in fits:
        which = roles([c.name for c in hdu.columns.values()]) if hdu.is_table else None
        if which is not None:
            return hdu, which
    return None


def _read(fits: FitsFile, table: Hdu, which: Roles, row: int | None) -> Spectrum:
    values = {name: _cells(table, name, row) for name in which.columns}
    unit = table.columns[which.wavelength.upper()].unit
    name = fits.name if row is None else f"{fits.name}#{row}"
    return spectrum(name, **arrays(name, which, values, unit), **_fields(fits, table, which))


def _cells(table: Hdu, name: str, row: int | None) -> np.ndarray[Any, np.dtype[Any]]:
    column = table.column(name)
    if row is None:
        return column.reshape(-1)
    return column[row].reshape(-1) if column.ndim == 2 else column


def _fields(fits: FitsFile, table: Hdu, which: Roles) -> dict[str, Any]:
    primary = fits[0].header
    unit = table.columns[which.flux.upper()].unit
    fields: dict[str, Any] = {"flux_unit": _UNITS.get(unit.upper(), unit) or "unknown"}
    fields["ra"], fields["dec"] = positions.of_header(primary)
    object_name = primary.text("TARGETID") or primary.text("OBJECT")
    if object_name:
        fields["ids"] = {"object": object_name}
    if primary.text("MAPKEY").lower() == "calspec" or primary.text("DBTABLE") == "CRSPECTRUM":
        return fields | {"survey": "CALSPEC", "medium": "vacuum"}
    if set(table.columns) >= _PYHAMMER:
        return fields | {"survey": "PyHammer", "medium": "vacuum", "frame": "rest", "flux_unit": "relative"}
    of_headers = (medium(header) for header in (table.header, primary))
    in_headers = next((header_value for header_value, is_stated in of_headers if is_stated), None)
    stated = _medium_of_column(primary, table, which.wavelength) or in_headers
    if stated is not None:
        return fields | {"medium": stated}
    return fields | {"medium": "air", "meta": {"medium_assumed": True}}


def _medium_of_column(primary: Header, table: Hdu, name: str) -> Medium | None:
    """Return the medium that an ESO phase 3 table states by the UCD of its wavelengths: obs.vac, or obs.atmos for air.

    (ESO Science Data Products Standard, "Binary table format for 1D spectra".) A table of ESPRESSO may state neither:
    its WAVE is vacuum and WAVE_AIR is air (ESPRESSO pipeline manual).
    """
    column = name.upper()
    number = list(table.columns).index(column) + 1
    words = f"{table.header.text(f'TUCD{number}')} {name} {table.columns[column].unit}".lower()
    if "vac" in words:
        return "vacuum"
    if "atmos" in words or "air" in words:
        return "air"
    is_espresso = primary.text("INSTRUME").upper() == "ESPRESSO" or f"{column}_AIR" in table.columns
    return "vacuum" if is_espresso else None
