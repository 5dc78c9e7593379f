"""Tables with named columns, whatever wrote them: which spectra they hold, and what is stated around the columns.

Text, VOTable, Parquet, JSON and SPARCL records share this path. A table whose flux is an array in each row has a
spectrum per row. A table with a column that tells spectra apart has a spectrum per value: the value stays the same for
a run of rows, and the wavelengths start again in the next run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import gaia
from agent.spectrum.readers.columns import ABOUT, Roles, Statement, about, medium_fields, pixels, roles, unused
from agent.spectrum.readers.pixels import MIN_PIXELS, finite_number, spectrum
from agent.spectrum.readers.producers import Producer, plain, producer
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import FloatArray, Spectrum, SpectrumError

MAX_SPECTRA = 10_000
IN_VACUUM = ("SDSS", "LAMOST", "DESI")
"""Surveys whose wavelengths are in vacuum."""
_PARTS = re.compile(r"(spectral_?)?ord(er)?s?(_?num(ber)?)?|ech(elle)?.*|chip|ccd|arm|detector|segment")
"""Columns that tell parts of the same spectrum apart."""
_STATED = (("frame", "rest"), ("errors", "estimated"))
"""Values of ``agent.spectrum.table`` that are not the default of a spectrum."""


@dataclass(frozen=True)
class Table:
    """A table of a file, or what a spectrum of it has of each column.

    :param columns: by name: numbers (n,), masked where there are none; arrays (rows, n) or a sequence of them; text
    :param read_as: what the file is, for ``Spectrum.meta``
    :param units: of columns, as the file states them
    :param header: what the file states of itself, keys in lower case
    :param statements: texts that may state the medium
    :param text: returns the text of a cell, by name and row, where a number may have lost digits of it
    :param further: what is not used besides further columns of numbers
    :param which: if it is not to be found by name
    :param by: the producer, if it is not to be recognised by columns and ``header``
    :param name: of this table among others of the file
    """

    columns: Mapping[str, Any]
    read_as: str
    units: Mapping[str, str] = field(default_factory=dict)
    header: Mapping[str, Any] = field(default_factory=dict)
    statements: Sequence[Statement] = ()
    text: Callable[[str, int], str] | None = None
    further: Sequence[str] = ()
    which: Roles | None = None
    by: Producer | None = None
    name: str = ""

    def card(self, key: str) -> str:
        return str(self.header.get(key.lower(), ""))

    @property
    def producer(self) -> Producer | None:
        return self.by or producer([self.card], self.columns)

    @property
    def roles(self) -> Roles | None:
        return self.which or roles(list(self.columns), self.producer)


def targets(name: str, tables: Sequence[Table]) -> Targets:
    """Return the spectra of the tables. :raises SpectrumError: there are none, or too many"""
    for table in tables:
        if gaia.has_rows(table.columns):
            columns = {plain(key): value for key, value in table.columns.items()}
            ids, read_id = columns["source_id"], table.text
            if read_id is not None:
                ids = [read_id("source_id", row) for row in range(len(ids))]
            sampling = gaia.sampling(name, table.header.get("sampling"))
            return gaia.rows(name, ids, columns["flux"], columns["flux_error"], sampling)
    usable = [(table, which) for table in tables if (which := table.roles) is not None]
    if not usable:
        names = [str(column)[:40] for table in tables for column in table.columns]
        raise SpectrumError(name, f"columns {', '.join(names[:6])}", deferred("columns named wavelength and flux"))
    labels = [table.name for table, _ in usable]
    if len(set(labels)) != len(labels) or "" in labels:
        labels = [str(number) for number in range(1, len(usable) + 1)]
    each = [
        ("-".join([label] * (len(usable) > 1) + [part] * bool(part)), of_spectrum)
        for label, (table, which) in zip(labels, usable, strict=True)
        for part, of_spectrum in _parts(replace(table, which=which), which)
    ]
    if len(each) > MAX_SPECTRA:
        actual = deferred("{n} spectra", n=len(each))
        raise SpectrumError(name, actual, deferred("at most {max_spectra}", max_spectra=MAX_SPECTRA))
    if len(each) == 1:
        return Targets.single(name, partial(read, name, each[0][1]))
    several = Targets(name)
    for label, of_spectrum in each:
        several.add(label, partial(read, f"{name}#{label}", of_spectrum))
    return several


def _parts(table: Table, which: Roles) -> Iterator[tuple[str, Table]]:
    """Yield the label and the columns of each spectrum of a table."""
    flux, columns = table.columns[which.flux], table.columns
    if len(flux) and np.ndim(flux[0]) == 1:
        for row in range(len(flux)):
            cells = {key: column[row] for key, column in columns.items()}
            yield str(row) if len(flux) > 1 else "", replace(table, columns=cells, text=_from(table.text, row))
        return
    key, starts = _runs(table, which)
    kept = [name for name in columns if name != key or name.lower() in ABOUT]
    for start, stop in zip(starts, [*starts[1:], None], strict=True):
        part = {name: columns[name][start:stop] for name in kept} if key else columns
        label = "" if not key else table.text(key, start) if table.text else str(columns[key][start])
        yield label.replace("/", "_"), replace(table, columns=part, text=_from(table.text, start))


def _from(text: Callable[[str, int], str] | None, start: int) -> Callable[[str, int], str] | None:
    return None if text is None else lambda name, row: text(name, row + start)


def _runs(table: Table, which: Roles) -> tuple[str, list[int]]:
    """Return the column that tells spectra apart and the rows where each starts; "" and the first row without it."""
    try:
        steps = np.diff(_filled(table.columns[which.wavelength]))
    except (TypeError, ValueError, OverflowError):
        return "", [0]  # refused when it is read
    steps = steps if (steps > 0).sum() >= (steps < 0).sum() else -steps
    for name, column in table.columns.items() if (steps < 0).any() else ():
        values = _array(column)
        if name in which.columns or values.ndim != 1 or _PARTS.fullmatch(plain(name)):
            continue
        ends = np.flatnonzero(values[1:] != values[:-1])
        starts = [0, *(ends + 1).tolist()]
        if (
            ends.size
            and np.diff([*starts, values.size]).min() >= MIN_PIXELS
            and len(set(values[starts].tolist())) == len(starts)
            and (steps[ends] < 0).all()
            and not (np.delete(steps, ends) < 0).any()
        ):
            return name, starts
    return "", [0]


def read(name: str, table: Table, **known: Any) -> Spectrum:
    """Return the spectrum of a table that holds no other.

    :param known: fields of ``Spectrum`` that do not follow from the table; ``meta`` is added to what does
    :raises SpectrumError: it has none, or its units are not known
    """
    which = table.roles
    assert which is not None
    values = {key: _filled(table.columns[key]) for key in which.columns}
    is_gaia, by = gaia.is_sampled(values[which.wavelength]), table.producer
    if is_gaia or by is gaia.XP:
        by = gaia.XP if is_gaia else None  # its columns alone could be those of any table about a source
    stated = dict(table.units)
    if table.card("flux_unit"):
        stated[which.flux] = table.card("flux_unit")
    arrays, meta = pixels(name, which, values, stated, by, table.card)
    of_axis = arrays.pop("medium")
    single = {key: value for key in table.columns if (value := _single(table, key)) is not None}
    fields, used = about(dict(table.header) | single)
    fields |= _facts(table, fields)
    survey = (table.card("orig") or table.card("survey")).upper()
    source = Producer(survey, medium="vacuum") if survey in IN_VACUUM else by
    fields["survey"] = survey or (by.survey if by else "")
    if by is not None and by.frame is not None:
        fields.setdefault("frame", by.frame)
    if is_gaia:
        of_gaia = gaia.fields(name, fields["ids"].get("source_id", ""))
        arrays["flux_unit"], fields["ids"] = of_gaia["flux_unit"], of_gaia["ids"]
    if of_axis is not None:
        fields["medium"] = of_axis
    else:
        words = [
            (f"column {which.wavelength}", which.wavelength),
            *((k, table.card(k)) for k in ("medium", "wavelengths")),
        ]
        of_medium = medium_fields([*words, *table.statements], source, arrays["wavelength"])
        if of_medium["meta"].get("medium_from") == "medium" and "assumed" in table.card("medium"):
            of_medium["meta"] = {"medium_assumed": True}
        fields["medium"] = of_medium["medium"]
        meta |= of_medium["meta"]
    rest = [key for key in table.columns if key not in which.columns and key not in used]
    left = [f"column {key}" for key in rest if _is_numbers(table.columns[key], arrays["flux"].shape)]
    meta |= unused([*left, *table.further], meta.get("not_used"))
    printed = arrays["wavelength"]
    arrays["wavelength"] = evenly_spaced(printed)
    if arrays["wavelength"] is not printed:
        meta["wavelengths_unrounded"] = True
    if table.card("simulated").lower() == "true":
        meta["simulated"] = True
    meta = {"read_as": table.read_as, **meta, **known.pop("meta", {})}
    return spectrum(name, **{**arrays, **fields, **known, "meta": meta})


def _facts(table: Table, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return further fields of ``Spectrum`` that the header states."""
    snr = finite_number(table.header.get("s/n", table.header.get("snr", "")))
    facts: dict[str, Any] = {"catalogue_class": table.card("type"), "snr": {} if snr is None else {"median": snr}}
    if table.card("obid"):
        facts["ids"] = {**fields["ids"], "obid": table.card("obid")}
    return facts | {key: value for key, value in _STATED if table.card(key) == value}


def _single(table: Table, key: str) -> Any:
    """Return the value of a column that says something of a whole spectrum; None if it is no such column."""
    if key.lower() not in ABOUT:
        return None
    values = _array(table.columns[key])
    if values.ndim == 0:
        return None if np.ma.is_masked(values) else table.text(key, 0) if table.text else table.columns[key]
    if values.ndim != 1 or not values.size or np.ma.is_masked(values) or (values != values[0]).any():
        return None
    return table.text(key, 0) if table.text else values[0]


def _filled(values: Any) -> Any:
    """Return numbers with NaN where they are masked; anything else as it is."""
    if not isinstance(values, np.ma.MaskedArray) or values.dtype.kind not in "biuf":
        return values
    return np.ma.filled(values.astype(np.float64), np.nan)


def _array(values: Any) -> Any:
    """Return a column as an array, masked where there is nothing; empty if its cells are arrays of several lengths."""
    try:
        return np.ma.asarray(values)
    except ValueError:
        return np.ma.empty((0, 0))


def _is_numbers(values: Any, shape: tuple[int, ...]) -> bool:
    """Return whether a column holds numbers for all pixels."""
    array = _array(values)
    has_numbers = array.dtype.kind in "biuf" or any(isinstance(value, float) for value in array.flat[:50])
    return array.ndim > 0 and array.shape[:1] == shape[:1] and has_numbers


def evenly_spaced(wavelength: FloatArray) -> FloatArray:
    """Return an evenly spaced axis (n,) whose printed values repeat because of rounding, made even again.

    X-shooter spectra sampled every 0.2 Å are published with five digits: 9999.8, 10000, 10000, 10000, 10001. The
    spacing is that of the first hundred pixels, and every printed value has to lie within half of its last digit of
    the even axis; otherwise the axis is returned unchanged.
    """
    steps = np.diff(wavelength) if wavelength.ndim == 1 else np.empty(0)
    if steps.size < 100 or not (steps == 0).any() or (steps < 0).any():
        return wavelength
    step = float(np.median(steps[:100]))
    even: FloatArray = wavelength[0] + step * np.arange(wavelength.size)
    last_digit = float(steps.max())
    fits = step > 0 and np.abs(even - wavelength).max() <= 0.5 * last_digit + 1e-6 * last_digit
    return even if fits else wavelength
