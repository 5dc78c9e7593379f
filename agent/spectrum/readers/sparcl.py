"""SPARCL results: records of spectra from SDSS, BOSS and DESI, as NOIRLab's client returns them.

A record has ``wavelength`` (Å, vacuum, observed frame), ``flux`` and ``ivar`` (1e-17 erg s⁻¹ cm⁻² Å⁻¹), ``mask``,
``model``, and catalogue fields: ``sparcl_id``, ``specid``, ``data_release``, ``redshift``, ``redshift_warning``,
``spectype``, ``subtype``, ``ra``, ``dec`` (astrosparcl.datalab.noirlab.edu, "Fields"). Users keep them as JSON, Parquet
or FITS tables, one record per row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import tables
from agent.spectrum.readers.flux_units import F_LAMBDA
from agent.spectrum.readers.pixels import Array, finite_number
from agent.spectrum.readers.producers import Mask, Producer
from agent.spectrum.readers.tables import Table
from agent.spectrum.record import Scalar, Spectrum, SpectrumError

REQUIRED = frozenset({"wavelength", "flux", "ivar"})
MARKS = frozenset({"sparcl_id", "specid", "data_release"})
"""Any of these tells a record from another table with a wavelength."""
ARRAYS = ("wavelength", "flux", "ivar", "mask", "model")
FIELDS: tuple[str, ...] = (
    "sparcl_id",
    "specid",
    "targetid",
    "data_release",
    "redshift",
    "redshift_warning",
    "redshift_err",
)
FIELDS += ("spectype", "subtype", "ra", "dec", "survey", "instrument", "telescope", "site", "dateobs_center")
_SPARCL = Producer(
    "SPARCL", medium="vacuum", errors="ivar", mask=Mask(), units={"wavelength": "Angstrom", "flux": F_LAMBDA}
)
_IDS = ("sparcl_id", "specid", "targetid")


def is_record(names: Any) -> bool:
    """Return whether columns or keys of these names are those of a record."""
    fields = {str(name).lower() for name in names}
    return fields >= REQUIRED and bool(fields & MARKS)


def records(content: Any) -> list[Mapping[str, Any]] | None:
    """Return the records of a JSON content: one, a list, or a list under ``records``; None if it holds none."""
    if isinstance(content, Mapping) and isinstance(content.get("records"), list):
        content = content["records"]
    several = content if isinstance(content, list) else [content]
    records_listed = [record for record in several if isinstance(record, Mapping) and is_record(record)]
    return records_listed or None


def target(row: Mapping[str, Any], number: int) -> str:
    """Return the name of a record in its file: its SPARCL identifier, otherwise its number from 0."""
    return _text(row, "sparcl_id") or str(number)


def record(name: str, row: Mapping[str, Any]) -> Spectrum:
    """Return the spectrum of a record. :raises SpectrumError: its arrays are no numbers, or no spectrum"""
    row = {str(key).lower(): value for key, value in row.items() if value is not None}
    columns = {key: _array(name, key, row[key]) if key in row else np.empty(0) for key in REQUIRED}
    columns |= {key: _array(name, key, row[key]) for key in ARRAYS if key in row}
    others = {key: value for key, value in row.items() if key not in columns}
    release = _text(row, "data_release")
    zwarn = finite_number(row.get("redshift_warning"))
    meta: dict[str, Scalar] = {key: _text(row, key) for key in ("data_release", "instrument") if _text(row, key)}
    if zwarn is not None:
        meta["zwarn"] = int(zwarn)
    kind = (_text(row, "spectype"), _text(row, "subtype"))
    return tables.read(
        name,
        Table(columns | others, "SPARCL record", by=_SPARCL),
        survey=survey(release),
        ids={key: _text(row, key) for key in _IDS if _text(row, key) not in ("", "0")},
        catalogue_class=" ".join(part for part in kind if part),
        meta=meta,
    )


def survey(release: str) -> str:
    """Return the survey of a data release: "DESI-DR1", "BOSS-DR16", "SDSS-DR17"."""
    word = re.split(r"[-_ ]", release.upper())[0]
    return {"BOSS": "SDSS BOSS", "EBOSS": "SDSS BOSS", "SDSS": "SDSS", "DESI": "DESI"}.get(word, word)


def _array(name: str, key: str, value: Any) -> Array:
    try:
        return np.asarray(value, np.float64).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise SpectrumError(
            name, deferred("{key} that is not numbers", key=key), deferred("an array of numbers")
        ) from None


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return "" if value is None or isinstance(value, list | Mapping) else str(value).strip("\0 ")
