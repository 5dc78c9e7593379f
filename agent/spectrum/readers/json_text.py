"""Spectra as JSON: the Open Astronomy Catalogs, SPARCL records, our own form, and plain objects that state units.

- Open Astronomy Catalogs, which also hold WISeREP's spectra (github.com/astrocatalogs/schema):
  ``{NAME: {"spectra": [{"u_wavelengths", "u_fluxes", "data"}]}}``, numbers as text. One target per spectrum.
- SPARCL: a record, or a list of records, with ``wavelength`` (``readers.sparcl``).
- Other objects: arrays under the names that table columns have (``readers.columns``), with the units under keys
  such as ``wavelengthUnits`` and ``fluxUnits``. Without units they are refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.lines import from_space
from agent.spectrum.readers import positions, sparcl, tables
from agent.spectrum.readers.columns import Roles, roles
from agent.spectrum.readers.pixels import finite_number, usable_redshift
from agent.spectrum.readers.tables import Table
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import SCHEMA, Spectrum, SpectrumError

MAX_SPECTRA = 10_000
_CATALOG_META = ("time", "u_time", "telescope", "instrument", "filename")
_META = ("telescope", "instrument", "HJD", "MJD", "site")
_EXPECTED = deferred('arrays "wavelength" and "flux" with units, an Open Astronomy Catalog entry, or SPARCL records')
_EXPECTED_UNITS = deferred('both units in the file, e.g. "wavelengthUnits": "Angstrom", "fluxUnits": "erg/s/cm2/A"')


def targets(name: str, raw: bytes) -> Targets:
    """Return the spectra of a JSON text. :raises SpectrumError: it is no JSON, or holds no spectrum with units"""
    try:
        content = json.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        reason = deferred("nested too deeply") if isinstance(error, RecursionError) else str(error)
        raise SpectrumError(
            name, deferred("damaged JSON ({reason:.120})", reason=reason), deferred("a complete JSON text")
        ) from None
    if isinstance(content, Mapping) and content.get("schema") == SCHEMA:
        return Targets.single(name, partial(Spectrum.from_json, {**content, "name": content.get("name") or name}))
    records = sparcl.records(content)
    if records is not None:
        return _of_records(name, records)
    entries = _catalog_entries(content)
    if entries:
        return _of_catalog(name, entries)
    if isinstance(content, Mapping):
        columns = _columns(content)
        if columns is not None:
            return Targets.single(name, partial(_plain, name, content, columns))
        keys = ", ".join(str(key) for key in list(content)[:6])
        raise SpectrumError(
            name, deferred("a JSON object with {keys}", keys=keys or deferred("nothing in it")), _EXPECTED
        )
    raise SpectrumError(name, deferred("a JSON {kind}", kind=type(content).__name__), _EXPECTED)


def _of_records(name: str, records: list[Mapping[str, Any]]) -> Targets:
    if len(records) > MAX_SPECTRA:
        raise SpectrumError(name, f"{len(records)} records", deferred("at most {max_spectra}", max_spectra=MAX_SPECTRA))
    if len(records) == 1:
        return Targets.single(name, partial(sparcl.record, name, records[0]))
    targets = Targets(name)
    for number, record in enumerate(records):
        target = sparcl.target(record, number)
        targets.add(target, partial(sparcl.record, f"{name}#{target}", record))
    return targets


# ---- Open Astronomy Catalogs


def _catalog_entries(content: Any) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return each spectrum with data, with the object that it belongs to."""
    if not isinstance(content, Mapping):
        return []
    objects = [content, *content.values()] if len(content) <= MAX_SPECTRA else []
    entries = []
    for catalog_object in objects:
        spectra = catalog_object.get("spectra") if isinstance(catalog_object, Mapping) else None
        if isinstance(spectra, list):
            entries += [(catalog_object, entry) for entry in spectra if isinstance(entry, Mapping) and "data" in entry]
    return entries


def _of_catalog(name: str, entries: list[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Targets:
    if len(entries) > MAX_SPECTRA:
        raise SpectrumError(name, f"{len(entries)} spectra", deferred("at most {max_spectra}", max_spectra=MAX_SPECTRA))
    if len(entries) == 1:
        return Targets.single(name, partial(_catalog, name, *entries[0]))
    labels = [_text(entry.get("filename")).replace("/", "_") for _, entry in entries]
    if len(set(labels)) != len(labels) or "" in labels:
        labels = [str(number) for number in range(1, len(entries) + 1)]
    targets = Targets(name)
    for label, (thing, entry) in zip(labels, entries, strict=True):
        targets.add(label, partial(_catalog, f"{name}#{label}", thing, entry))
    return targets


def _catalog(name: str, thing: Mapping[str, Any], entry: Mapping[str, Any]) -> Spectrum:
    units = {key: _text(entry.get(f"u_{key}")) for key in ("wavelengths", "fluxes", "errors")}
    if not units["wavelengths"] or not units["fluxes"]:
        raise SpectrumError(name, deferred("a spectrum without u_wavelengths or u_fluxes"), _EXPECTED_UNITS)
    try:
        data = np.asarray(entry["data"], np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SpectrumError(
            name, deferred("data that are not rows of numbers"), deferred("rows of wavelength, flux, error")
        ) from None
    if data.ndim != 2 or data.shape[1] < 2:
        raise SpectrumError(
            name,
            deferred("data of shape {shape}", shape=data.shape),
            deferred("rows of wavelength, flux and, if known, error"),
        )
    has_errors = data.shape[1] > 2 and bool(units["errors"])
    names = ("wavelengths", "fluxes", "errors") if has_errors else ("wavelengths", "fluxes")
    telescope = _text(entry.get("telescope"))
    is_survey = telescope.upper() in tables.IN_VACUUM
    vacuum = entry.get("vacuumwavelengths")
    table = Table(
        dict(zip(names, data.T, strict=False)),
        "Open Astronomy Catalog",
        units | ({"fluxes": "relative"} if units["fluxes"].lower() == "uncalibrated" else {}),
        {"survey": telescope if is_survey else ""},
        [] if vacuum is None or is_survey else [("vacuumwavelengths", "vacuum" if _is_true(vacuum) else "air")],
        which=Roles(*names),
        further=[f"column {number}" for number in range(len(names) + 1, data.shape[1] + 1)],
    )
    z = finite_number(entry["redshift"] if "redshift" in entry else _first(thing, "redshift"))
    return tables.read(
        name,
        table,
        frame="rest" if _is_true(entry.get("deredshifted")) else "observed",
        survey=_text(entry.get("survey")) or (telescope if is_survey or from_space(telescope) else ""),
        ids={"object": _text(thing.get("name"))} if _text(thing.get("name")) else {},
        ra=_angle(thing, "ra"),
        dec=_angle(thing, "dec"),
        redshift=usable_redshift(z),
        catalogue_class=next((t for k in ("claimedtype", "spectraltype") if (t := _first(thing, k))), ""),
        meta={key: _text(entry[key]) for key in _CATALOG_META if key in entry},
    )


def _is_true(value: Any) -> bool:
    return str(value).lower() == "true"


def _first(thing: Mapping[str, Any], key: str) -> str:
    """Return the value of the first quantity of that name as text, "" if there is none."""
    values = thing.get(key)
    first = values[0] if isinstance(values, list) and values else None
    return _text(first.get("value")) if isinstance(first, Mapping) else ""


def _angle(thing: Mapping[str, Any], key: str) -> float | None:
    return positions.degrees(_first(thing, key), hours=key == "ra")


# ---- plain objects


def _columns(content: Mapping[str, Any]) -> Roles | None:
    return roles([key for key, value in content.items() if isinstance(value, list)])


def _plain(name: str, content: Mapping[str, Any], which: Roles) -> Spectrum:
    stated = {re.sub(r"[^a-z]", "", key.lower()): value for key, value in content.items() if isinstance(value, str)}
    wavelength_unit, flux_unit = _unit(stated, "w"), _unit(stated, "f")
    if not wavelength_unit or not flux_unit:
        missing = " or ".join(what for what, unit in (("wavelength", wavelength_unit), ("flux", flux_unit)) if not unit)
        raise SpectrumError(name, deferred("JSON arrays without a unit of {missing}", missing=missing), _EXPECTED_UNITS)
    header = {key.lower(): value for key, value in content.items() if isinstance(value, str | int | float)}
    vacuum, label = content.get("vacuum"), _text(content.get("objectName")) or _text(content.get("object"))
    # Spectra from Marsh's molly, as JSON, have hour angle and sidereal time, and like them RA in decimal hours.
    hours, ra = "hourangle" in content, finite_number(content.get("ra"))
    table = Table(
        {key: value for key, value in content.items() if isinstance(value, list)},
        "JSON",
        {which.wavelength: wavelength_unit, which.flux: flux_unit},
        {
            key: value
            for key, value in header.items()
            if key not in ("flux_unit", "errors", "type", "snr", "obid", "id")
        },
        [("vacuum", "vacuum" if vacuum else "air")] if isinstance(vacuum, bool) else [],
        which=which,
    )
    return tables.read(
        name,
        table,
        survey=_text(content.get("survey")),
        ids={"object": label} if label else {},
        ra=ra * 15.0 if hours and ra is not None else ra,
        meta={key.lower(): content[key] for key in _META if isinstance(content.get(key), str | int | float)},
    )


_UNIT_KEYS = {
    "w": r"(wave(length)?s?|lambda|x|spectralaxis)_?units?|u(nits?)?_?wave(length)?s?",
    "f": r"(flux(es)?|y)_?units?|u(nits?)?_?flux(es)?",
}


def _unit(stated: Mapping[str, str], axis: str) -> str:
    return next((value.strip() for key, value in stated.items() if re.fullmatch(_UNIT_KEYS[axis], key)), "")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
