"""Columns of a catalogue's table as sources: names, types, units, sentinel values and identifiers are checked.

Services and local files share it. What does not fit the map is ``NoAnswer``, so that it never looks like "no source".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.sky.maps import QUANTITIES, CatalogueMap, Column
from agent.sky.records import SkyError, Source

FloatArray = NDArray[np.float64]


class NoAnswer(SkyError):
    """A catalogue did not answer. The sentence is the detail of a record, and so is in English."""


@dataclass(frozen=True)
class Rows:
    """Rows of a catalogue in the program's names and units; NaN where a value is missing."""

    ids: tuple[str, ...]
    ra: FloatArray
    dec: FloatArray
    values: Mapping[str, FloatArray]
    texts: Mapping[str, Sequence[str]]

    @property
    def speed(self) -> FloatArray:
        """Proper motions in arcsec/yr; 0 where there is none."""
        motions = [self.values[name] for name in ("pm_ra", "pm_dec") if name in self.values]
        return np.nan_to_num(np.hypot(*motions)) / 1000 if len(motions) == 2 else np.zeros(len(self.ids))

    def source(self, row: int) -> Source:
        """Return a row as a source, of which the separation is not known yet."""
        values = {name: float(of[row]) for name, of in self.values.items() if np.isfinite(of[row])}
        texts = {name: of[row] for name, of in self.texts.items() if of[row]}
        return Source(self.ids[row], float(self.ra[row]) % 360, float(self.dec[row]), 0.0, values, texts)


def rows_of(catalogue: CatalogueMap, columns: Mapping[str, Any], units: Mapping[str, Any]) -> Rows:
    """Return the rows of a table.

    :param columns: arrays of one length by the table's names; only mapped ones are read
    :param units: what the table states about its columns
    :raises NoAnswer: a column is missing, or has another type, unit or epoch than the map says
    """
    names = {name.lower(): name for name in columns}
    if missing := [name for name in catalogue.columns_read if name.lower() not in names]:
        raise NoAnswer(f"found no column {', '.join(missing)}; expected those of {catalogue.title}")

    def of(name: str) -> tuple[str, Any, Any]:
        return name, columns[names[name.lower()]], units.get(names[name.lower()])

    ra, dec = (_numbers(*of(name), "deg", Column(column=name)) for name in (catalogue.ra, catalogue.dec))
    if (np.abs(ra) > 360).any() or (np.abs(dec) > 90).any():
        raise NoAnswer(f"columns {catalogue.ra} and {catalogue.dec}: found values that are no degrees of a sky")
    values = {
        name: _numbers(*of(column.column), QUANTITIES[name], column) for name, column in catalogue.columns.items()
    }
    if catalogue.role == "astrometry" and "epoch" in values:
        others = values["epoch"][np.abs(values["epoch"] - catalogue.epoch) > 0.01]
        if len(others):
            raise NoAnswer(f"found positions of {others[0]:g}, expected {catalogue.epoch:g}: is it another release?")
    return Rows(
        _identifiers(*of(catalogue.id)[:2]),
        ra,
        dec,
        values,
        {name: _texts(of(column)[1]) for name, column in catalogue.texts.items()},
    )


def _numbers(name: str, values: Any, unit: Any, expected: str, column: Column) -> FloatArray:
    array = np.ma.asarray(values)
    if array.dtype.kind == "O" and all(value is None for value in array.tolist()):
        return np.full(len(array), np.nan)
    if array.dtype.kind not in "iuf":
        raise NoAnswer(f"column {name}: found {array.dtype.name}, expected numbers")
    if not column.offset:
        _check_unit(name, unit, expected, column.factor)
    numbers: FloatArray = np.ma.filled(array.astype(np.float64), np.nan)
    numbers[np.isin(numbers, column.missing) | ~np.isfinite(numbers)] = np.nan
    return numbers * column.factor + column.offset


def _check_unit(name: str, stated: Any, expected: str, factor: float) -> None:
    """:raises NoAnswer: a unit is stated and known, and is not the one that the map converts from"""
    from astropy import units

    if not stated:
        return
    try:
        unit = units.Unit(stated)
    except (ValueError, TypeError):
        return  # written in a way of the service's own
    try:
        is_expected = np.isclose(getattr(unit, "function_unit", unit).to(units.Unit(expected)), factor)  # mag(AB): mag
    except units.UnitConversionError:
        is_expected = False
    if not is_expected:
        raise NoAnswer(f"column {name}: found the unit {stated}, expected {factor:g} times {expected or 'no unit'}")


def _identifiers(name: str, values: Any) -> tuple[str, ...]:
    array = np.ma.asarray(values)
    if array.dtype.kind == "f":
        raise NoAnswer(f"column {name}: found floating-point numbers, which lose digits of an identifier")
    identifiers = tuple(_texts(array))
    if "" in identifiers:
        raise NoAnswer(f"column {name}: found a row without an identifier")
    return identifiers


def _texts(values: Any) -> list[str]:
    return ["" if value is None else _text(value) for value in np.ma.asarray(values).tolist()]


def _text(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return "" if isinstance(value, float) and value != value else text.strip()
