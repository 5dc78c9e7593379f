"""VOTables: the IVOA's Spectral Data Model (SSA), and tables with plainly named columns.

Columns are found by utype (``Spectrum.Data.SpectralAxis.Value``), then by UCD (``em.wl``, ``phot.flux.density``), then
by name; units are those of the fields (IVOA Spectral Data Model 1.1, table 1). Medium: vacuum for Gaia and where a
UCD, utype or description says so, air where it says so; otherwise air, with ``meta["medium_assumed"]``. Each table
with a spectrum, and each row of arrays, is a target. A list of spectra, as an SSA query returns it, is refused.
"""

from __future__ import annotations

import io
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import gaia, tables
from agent.spectrum.readers.columns import Roles, roles
from agent.spectrum.readers.tables import Table
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import SpectrumError

_STREAM = re.compile(rb"STREAM((?:[^>\"']|\"[^\"]*\"|'[^']*')*)")
"""An element STREAM with all its attributes; a quoted value may hold ">"."""
LARGEST_CELL = 10_000_000
_EXPECTED = deferred(
    "a VOTable with a spectral axis and a flux (IVOA Spectral Data Model), or columns wavelength and flux"
)
_UTYPES = {
    "wavelength": r"spectralaxis\.value$",
    "flux": r"fluxaxis\.value$",
    "errors": r"fluxaxis\.accuracy\.stat(error|err)(high|low)?$",
}
_UCDS = {
    "wavelength": r"(instr\.)?em\.(wl|freq|energy|wavenumber)(;.*)?$",
    "flux": r"(phot\.(flux|fluence)|spect\.continuum)(\.density)?(;.*)?$",
    "errors": r"stat\.(error|stdev);phot\.flux.*$",
}
_MEDIUM = ("ucd", "utype", "name", "description")
"""Of the axis, which may state the medium."""
_PARAMS = ("ra", "dec", "redshift", "z", "source_id", "sampling", "telescop", "medium")
_OWN = ("frame", "flux_unit", "errors", "simulated")
"""Written by ``agent.spectrum.table``."""


def recognises(start: bytes) -> bool:
    """Return whether a file that starts so is XML."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return text.startswith((b"<?xml", b"<VOTABLE", b"<!--")) or b"<VOTABLE" in text


def targets(name: str, raw: bytes) -> Targets:
    """Return the spectra of a VOTable. :raises SpectrumError: damaged, or no table with a spectrum"""
    parsed = [_table(table) for table in tables_of(name, raw)]
    if any(table.roles is not None or gaia.has_rows(table.columns) for table in parsed):
        return tables.targets(name, parsed)
    names = [column for table in parsed for column in table.columns]
    if any(
        "access" in column.lower() for column in [*names, *(text for table in parsed for _, text in table.statements)]
    ):
        raise SpectrumError(
            name,
            deferred("a list of spectra (the result of an SSA query)"),
            deferred("one of the files that it points to"),
        )
    actual = (
        deferred("a VOTable with columns {fields}", fields=", ".join(names[:6]))
        if names
        else deferred("a VOTable without a table")
    )
    raise SpectrumError(name, actual, _EXPECTED)


def tables_of(name: str, raw: bytes) -> list[Any]:
    """Return the tables with rows as the parser gives them; nothing outside of the file is opened.

    :raises SpectrumError: damaged, or with data in another file
    """
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


def _table(theirs: Any) -> Table:
    names = [str(field.name or field.ID) for field in theirs.fields]
    numbers = Counter(names)
    names = [field.ID if numbers[name] > 1 else name for name, field in zip(names, theirs.fields, strict=True)]
    fields = dict(zip(names, theirs.fields, strict=True))
    params = {str(param.name or param.ID).lower(): param.value for param in theirs.params}
    header = {key: params[key] for key in _PARAMS + _OWN if key in params}
    header = {key: value if key == "sampling" else _text(value) for key, value in header.items()}
    title = next((text for key in ("title", "targname", "target") if (text := _text(params.get(key)))), "")
    which = _named(fields) or roles(names)
    axis = [fields[which.wavelength]] if which else list(fields.values())
    texts = [f"{kind} {getattr(field, kind)}" for field in axis for kind in _MEDIUM if getattr(field, kind)]
    texts += [f"description {theirs.description}"] if theirs.description else []
    texts += [f"{param.name} = {param.value}" for param in theirs.params if "vac" in str(param.name).lower()]
    return Table(
        {name: theirs.array[field.ID] for name, field in fields.items()},
        "VOTable",
        {name: str(field.unit) for name, field in fields.items() if field.unit is not None},
        header | ({"object": title} if title else {}),
        [(text[:60], text) for text in texts],
        which=which,
        name=str(theirs.name or theirs.ID or ""),
    )


def _named(fields: Mapping[str, Any]) -> Roles | None:
    """Return the columns that utypes or UCDs name; None where they do not name both wavelength and flux."""
    chosen: dict[str, str] = {}
    for kind, patterns in (("utype", _UTYPES), ("ucd", _UCDS)):
        for role, pattern in patterns.items():
            texts = ((name, str(getattr(field, kind) or "").lower()) for name, field in fields.items())
            match = next((name for name, text in texts if re.search(pattern, text)), None)
            if match is not None:
                chosen.setdefault(role, match)
    if not {"wavelength", "flux"} <= set(chosen):
        return None
    return Roles(chosen["wavelength"], chosen["flux"], chosen.get("errors"))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return "" if value is None or np.ma.is_masked(value) else str(value).strip()
