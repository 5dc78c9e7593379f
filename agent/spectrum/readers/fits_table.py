"""Spectra as FITS tables with named columns: CALSPEC, PyHammer's templates, JWST, HST, PypeIt, Euclid and others.

A table of vectors has a spectrum per row; a file of several tables with a spectrum has a target per table, unless
its producer makes a spectrum of them together (``producers``). A small table beside a large one (photometry), and
tables named for something else than a spectrum, are not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import columns, gaia, positions, sparcl
from agent.spectrum.readers.columns import Roles, Statement, roles
from agent.spectrum.readers.fits import FitsFile, Hdu
from agent.spectrum.readers.pixels import spectrum
from agent.spectrum.readers.producers import Producer, plain, producer
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import statements, velocity_frame
from agent.spectrum.record import Spectrum

_UNITS = {"FLAM": "erg s-1 cm-2 Å-1", "FNU": "erg s-1 cm-2 Hz-1"}
_FEW = 100
"""Rows below which a table is photometry, if another table has five times as many."""
_NO_SPECTRUM = re.compile(r"PHOT|MODEL|TEMPL|CONTIN|RESPONSE|SENS|SKY|BACKGR|BKG|TELLUR|THROUGHPUT|CATALOG|LINES")
_NAMES = ("TARGETID", "SOURC_ID", "OBJECT", "TARGNAME", "TARGPROP")


@dataclass(frozen=True)
class _Table:
    """A table with a spectrum, which columns hold it, and who wrote it."""

    hdu: Hdu
    which: Roles
    by: Producer | None

    @property
    def cells(self) -> int:
        return self.hdu.shape[0] * self.hdu.columns[self.which.flux.upper()].repeat


def recognises(fits: FitsFile) -> bool:
    return bool(_tables(fits)) or _of_gaia(fits) is not None


def targets(fits: FitsFile) -> Targets:
    """Return a spectrum per table, and per row of a table of vectors."""
    sources = _of_gaia(fits)
    if sources is not None:
        ids, flux, errors = (sources.column(key) for key in ("SOURCE_ID", "FLUX", "FLUX_ERROR"))
        wavelengths = gaia.sampling(fits.name, sources.header.text("SAMPLING") or None)
        return gaia.rows(fits.name, ids.tolist(), flux, errors, wavelengths)
    tables = _tables(fits)
    if not tables:
        raise fits.refusal(deferred("no table with wavelength and flux columns"), deferred("a table with a spectrum"))
    if sparcl.is_record(tables[0].hdu.columns):
        return _sparcl(fits, tables[0].hdu)
    largest = max(table.cells for table in tables)
    named = [t for t in tables if not _NO_SPECTRUM.search(t.hdu.name)] or tables
    used = [t for t in named if t.cells >= _FEW or 5 * t.cells > largest]
    joined = [t for t in used if t.by and t.by.join and re.fullmatch(t.by.join, plain(t.hdu.name))]
    if joined:
        return Targets.single(fits.name, partial(_read, fits, fits.name, joined, None))
    read_in = {table.hdu.number for table in used}
    several = Targets(fits.name)
    for table, label in zip(used, _labels(used), strict=True):
        flux = table.hdu.column(table.which.flux)
        rows = range(table.hdu.shape[0]) if flux.ndim == 2 or flux.dtype == object else range(1)
        if len(used) == len(rows) == 1:
            row = None if flux.ndim == 1 and flux.dtype != object else 0
            return Targets.single(fits.name, partial(_read, fits, fits.name, [table], row))
        for row in rows:
            target = "-".join(part for part in (label, str(row) if len(rows) > 1 else "") if part)
            vector = row if flux.ndim == 2 or flux.dtype == object else None
            several.add(target, partial(_read, fits, f"{fits.name}#{target}", [table], vector, read_in))
    return several


def _of_gaia(fits: FitsFile) -> Hdu | None:
    """Return the table of GaiaXPy, with a source in each row; None if there is none."""
    return next((hdu for hdu in fits if hdu.shape[:1] and gaia.has_rows(list(hdu.columns))), None)


def _labels(tables: Sequence[_Table]) -> list[str]:
    """Return a name for each of several tables: that of its HDU, with its version or a number where it repeats."""
    if len(tables) == 1:
        return [""]
    names = [re.sub(r"[\s/#]+", "-", table.hdu.header.text("EXTNAME")) or "table" for table in tables]
    if len(set(names)) == len(names):
        return names
    versions = [f"{name}-{t.hdu.header.text('EXTVER')}" for name, t in zip(names, tables, strict=True)]
    return versions if len(set(versions)) == len(names) else [f"{n}-{i}" for i, n in enumerate(names, start=1)]


def _sparcl(fits: FitsFile, table: Hdu) -> Targets:
    """Return one target per record, or the only one: a table of one record may have one pixel per row."""
    used = [c for c in table.columns.values() if c.name.lower() in (*sparcl.ARRAYS, *sparcl.FIELDS)]
    vectors = table.column("FLUX").ndim == 2

    def read(name: str, number: int) -> Spectrum:
        values = {c.name.lower(): table.column(c.name) for c in used}
        arrays = {key: value[number] if vectors else value for key, value in values.items() if key in sparcl.ARRAYS}
        return sparcl.record(name, {key: value[number] for key, value in values.items() if value.ndim == 1} | arrays)

    if not vectors or table.shape[0] == 1:
        return Targets.single(fits.name, partial(read, fits.name, 0))
    rows = Targets(fits.name)
    for number in range(table.shape[0]):
        rows.add(str(number), partial(read, f"{fits.name}#{number}", number))
    return rows


def _tables(fits: FitsFile) -> list[_Table]:
    """Return the tables with a spectrum; they are looked for once in a file."""
    if "tables" not in fits.known:
        fits.known["tables"] = list(_with_spectrum(fits))
    tables: list[_Table] = fits.known["tables"]
    return tables


def _with_spectrum(fits: FitsFile) -> Iterator[_Table]:
    for hdu in fits:
        if not hdu.is_table or not hdu.columns or not hdu.shape[0]:
            continue
        names = [column.name for column in hdu.columns.values()]
        by = _producer(fits, hdu, names)
        which = roles(names, by)
        if which is not None:
            yield _Table(hdu, which, by)


def _producer(fits: FitsFile, hdu: Hdu, names: Sequence[str]) -> Producer | None:
    headers = (hdu.header.text, fits[0].header.text)
    return producer(headers, names, (other.name for other in fits), fits.name)


def _read(
    fits: FitsFile, name: str, tables: Sequence[_Table], row: int | None, targets: Sequence[int] | set[int] = ()
) -> Spectrum:
    """Read a spectrum: of a row, or of whole tables joined.

    :param targets: numbers of the HDUs that are targets of their own
    """
    parts = [_pixels(fits, name, table, row) for table in tables]
    pixels, meta = parts[0]
    if len(parts) > 1:
        arrays = ("wavelength", "flux", "ivar", "mask", "model")
        joined = {key: [part[key] for part, _ in parts] for key in arrays}
        pixels |= {
            key: None if any(v is None for v in values) else np.concatenate(values) for key, values in joined.items()
        }
    used = {table.hdu.number for table in tables} | set(targets)
    others = [hdu.title for hdu in fits if hdu.size and hdu.number not in used]
    unread = [f"column {name}" for name in _columns_left(tables[0])]
    title = " and ".join(table.hdu.title.removeprefix("HDU ") for table in tables)
    meta = {"read_as": f"table, HDU {title}", **meta, **columns.unused([*unread, *others], meta.get("not_used"))}
    stated_medium = pixels.pop("medium")
    return spectrum(name, **pixels | _fields(fits, tables[0], pixels, stated_medium, meta))


def _columns_left(table: _Table) -> list[str]:
    """Return the columns of numbers for each pixel that are not used."""
    pixels = table.hdu.columns[table.which.flux.upper()].repeat
    others = (c for c in table.hdu.columns.values() if c.name not in table.which.columns)
    return [c.name for c in others if c.code not in "A" and c.repeat == pixels]


def _pixels(fits: FitsFile, name: str, table: _Table, row: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    def card(key: str) -> str:
        return table.hdu.header.text(key) or fits[0].header.text(key)

    values = {column: _cells(table.hdu, column, row) for column in table.which.columns}
    if row is not None and "DELTAW" in table.hdu.columns and table.hdu.column(table.which.wavelength).ndim == 1:
        # IUE's low dispersion: the first wavelength and the step (NEWSIPS manual, "MXLO").
        start, step = (float(table.hdu.column(key)[row]) for key in (table.which.wavelength, "DELTAW"))
        values[table.which.wavelength] = start + step * np.arange(values[table.which.flux].size)
    stated = {column.name: column.unit for column in table.hdu.columns.values()}
    return columns.pixels(name, table.which, values, stated, table.by, card)


def _cells(table: Hdu, name: str, row: int | None) -> np.ndarray[Any, np.dtype[Any]]:
    column = table.column(name)
    if row is None:
        return column.reshape(-1)
    return np.asarray(column[row]).reshape(-1) if column.ndim == 2 or column.dtype == object else column


def _fields(
    fits: FitsFile, table: _Table, pixels: Mapping[str, Any], of_unit: str | None, meta: dict[str, Any]
) -> dict[str, Any]:
    primary, header, by = fits[0].header, table.hdu.header, table.by
    scale = header.number("FSCALE") or 1.0
    unit = _UNITS.get(pixels["flux_unit"].upper(), pixels["flux_unit"])
    fields: dict[str, Any] = {"flux_unit": unit if scale == 1.0 else f"{scale:g} {unit}"}
    known = (place for h in (primary, header) if None not in (place := positions.of_header(h)))
    fields["ra"], fields["dec"] = next(known, (None, None))
    label = next((text for h in (primary, header) for key in _NAMES if (text := h.text(key))), "")
    if label:
        fields["ids"] = {"object": label}
    if by is not None:
        fields |= {"survey": by.survey} | ({"frame": by.frame} if by.frame else {})
    if gaia.is_sampled(pixels["wavelength"] / 10.0):
        fields |= gaia.fields(fits.name, header.text("SOURCEID"))
        fields["meta"] = {**meta, "medium_from": "Gaia XP"}
        return fields
    stated: list[Statement] = [(meta["axis_from"], of_unit)] if of_unit else []
    stated += [*_of_column(table), *statements(header), *statements(primary)]
    of_medium = columns.medium_fields(stated, by, pixels["wavelength"])
    return (
        fields
        | of_medium
        | {"meta": {**meta, **velocity_frame(header), **velocity_frame(primary), **of_medium["meta"]}}
    )


def _of_column(table: _Table) -> list[Statement]:
    """Return what is said of the wavelengths: in their name, unit and UCD, which is obs.vac, or obs.atmos for air, in
    ESO's phase 3 (ESO Science Data Products Standard, "Binary table format for 1D spectra").
    """
    column = table.which.wavelength
    number = list(table.hdu.columns).index(column.upper()) + 1
    cards = (f"TUCD{number}", f"TUNIT{number}", f"TCOMM{number}")
    stated = [(f"{card} = {text:.40}", text) for card in cards if (text := table.hdu.header.text(card))]
    return [(f"column {column}", column), *stated]
