"""VOTables of one spectrum each: the IVOA's Spectral Data Model (SSA), and tables with plainly named columns.

Columns are found by utype (``Spectrum.Data.SpectralAxis.Value``), then by UCD (``em.wl``, ``phot.flux.density``), then
by name; units are those of the fields (IVOA Spectral Data Model 1.1, table 1). Medium: vacuum for Gaia and where a
UCD, utype or description says so, air where one says so; otherwise air, with ``meta["medium_assumed"]``. A list of
spectra, as an SSA query returns it, is refused.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import gaia
from agent.spectrum.readers.pixels import Array, ivar_from_sigma, spectrum
from agent.spectrum.readers.wavelengths import roles, to_angstrom
from agent.spectrum.record import Scalar, Spectrum, SpectrumError

_STREAM = re.compile(rb"STREAM((?:[^>\"']|\"[^\"]*\"|'[^']*')*)")
"""An element STREAM with all its attributes; a quoted value may hold ">"."""
LARGEST_CELL = 10_000_000
_EXPECTED = deferred(
    "a VOTable with a spectral axis and a flux (IVOA Spectral Data Model), or columns wavelength and flux"
)
_UTYPES = {
    "wavelength": r"spectralaxis\.value$",
    "flux": r"fluxaxis\.value$",
    "sigma": r"fluxaxis\.accuracy\.stat(error|err)(high|low)?$",
}
_UCDS = {
    "wavelength": r"(instr\.)?em\.wl(;.*)?$",
    "flux": r"(phot\.(flux|fluence)|spect\.continuum)(\.density)?(;.*)?$",
    "sigma": r"stat\.(error|stdev);phot\.flux.*$",
}


def recognises(start: bytes) -> bool:
    """Return whether a file that starts so is XML."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith((b"<?xml", b"<VOTABLE", b"<!--")) or b"<VOTABLE" in text


def read(name: str, raw: bytes) -> Spectrum:
    """Read the spectrum of a VOTable. :raises SpectrumError: damaged, or no table with a spectrum"""
    tables = _tables(name, raw)
    for table in tables:
        chosen = _columns(table)
        if chosen is not None:
            return _spectrum(name, table, chosen)
    fields = [field.name or field.ID for table in tables for field in table.fields]
    if any("access" in f"{field.utype} {field.name}".lower() for table in tables for field in table.fields):
        raise SpectrumError(
            name,
            deferred("a list of spectra (the result of an SSA query)"),
            deferred("one of the files that it points to"),
        )
    actual = (
        deferred("a VOTable with columns {fields}", fields=", ".join(map(str, fields[:6])))
        if fields
        else deferred("a VOTable without a table")
    )
    raise SpectrumError(name, actual, _EXPECTED)


def _tables(name: str, raw: bytes) -> list[Any]:
    if re.search(rb"<!(ENTITY|DOCTYPE)", raw):
        raise SpectrumError(name, deferred("XML with definitions of its own (DOCTYPE or ENTITY)"), _EXPECTED)
    if any(b"href" in attributes for attributes in _STREAM.findall(raw)):
        # The parser would fetch it, from the network or from this machine.
        raise SpectrumError(
            name, deferred("a VOTable whose data are in another file"), deferred("a VOTable that holds its data")
        )
    for size in re.findall(rb"\barraysize\s*=\s*[\"'](\d+)", raw):
        if int(size) > LARGEST_CELL:
            raise SpectrumError(
                name,
                deferred("cells of {size} numbers", size=size.decode()[:20]),
                deferred("at most {largest_cell}", largest_cell=LARGEST_CELL),
            )
    # The number of rows is a promise that the parser would allocate memory for; without it the rows are counted.
    raw = re.sub(rb"\bnrows\s*=\s*(\"[^\"]*\"|'[^']*')", b"", raw)
    from astropy.io import votable

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            document = votable.parse(io.BytesIO(raw), verify="ignore")
            return [table for table in document.iter_tables() if len(table.array)]
        except Exception as error:
            # The parser raises many kinds, from expat's to numpy's, over a damaged file.
            reason = " ".join(str(error).split())
            raise SpectrumError(
                name, deferred("a damaged VOTable ({reason:.120})", reason=reason), deferred("a complete VOTable")
            ) from None


def _columns(table: Any) -> dict[str, Any] | None:
    columns: dict[str, Any] = {}
    for kind, patterns in (("utype", _UTYPES), ("ucd", _UCDS)):
        for role, pattern in patterns.items():
            text = [(field, str(getattr(field, kind) or "").lower()) for field in table.fields]
            match = next((field for field, value in text if re.search(pattern, value)), None)
            if match is not None:
                columns.setdefault(role, match)
    if {"wavelength", "flux"} <= set(columns):
        return columns
    names = {str(field.name or field.ID): field for field in table.fields}
    named = roles(list(names))
    if named is None or named.log:
        return None
    columns = {"wavelength": names[named.wavelength], "flux": names[named.flux]}
    return columns | ({"sigma": names[named.sigma]} if named.sigma else {})


def _spectrum(name: str, table: Any, chosen: dict[str, Any]) -> Spectrum:
    values = {role: _values(name, table, field) for role, field in chosen.items()}
    units = {role: str(field.unit or "") for role, field in chosen.items()}
    words = _words(table, chosen["wavelength"])
    is_stated = bool(re.search(r"\bvac|\bair\b|atmos", words))
    meta: dict[str, Scalar] = {} if is_stated else {"medium_assumed": True}
    params = {str(param.name or param.ID).lower(): param.value for param in table.params}
    title = _text(params.get("title")) or _text(params.get("targname")) or _text(params.get("target"))
    fields: dict[str, Any] = {
        "medium": "vacuum" if re.search(r"\bvac", words) else "air",
        "flux_unit": units["flux"] or "unknown",
        "ids": {"object": title} if title else {},
        "meta": meta,
    }
    if "sigma" in values and gaia.is_sampled(values["wavelength"]):
        fields |= gaia.fields(name, _text(params.get("source_id")))
        units["wavelength"] = units["wavelength"] or "nm"
    sigma = values.get("sigma")
    return spectrum(
        name,
        to_angstrom(name, values["wavelength"], units["wavelength"]),
        values["flux"],
        ivar_from_sigma(sigma) if sigma is not None and (sigma > 0).any() else None,
        **fields,
    )


def _values(name: str, table: Any, field: Any) -> Array:
    """Return a column (n,): of all rows, or of the one row whose cells are arrays."""
    column = table.array[field.ID]
    cells = column[0] if len(column) == 1 else column
    try:
        return np.ma.filled(np.ma.asarray(cells, dtype=np.float64), np.nan).reshape(-1)
    except (TypeError, ValueError):
        raise SpectrumError(name, deferred("a column {name} that is not numbers", name=field.name), "numbers") from None


def _words(table: Any, field: Any) -> str:
    """Return everything that may state the medium, in lower case, with the separators of UCDs as spaces."""
    parts = [field.ucd, field.utype, field.name, field.description, table.description]
    parts += [f"{param.name} {param.value}" for param in table.params if "vac" in str(param.name).lower()]
    return re.sub(r"[.;_:]", " ", " ".join(str(part) for part in parts if part)).lower()


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return "" if value is None or np.ma.is_masked(value) else str(value).strip()
