"""Spectra as plain text: ASCII columns, CSV, ECSV.

Comments start with ``#``, ``*``, ``%`` or ``;`` (and ``SET`` in Figaro's ``.oke`` tables). Columns are
named by the first line that is no comment, or by the last comment with a name for each column; without
names the first is wavelength, the second flux, and the third its error if there are just three and none is
negative. Further columns without a name are left alone, and ``meta`` counts them.

Text rarely states its medium. It is vacuum where the header or the file name says SDSS, LAMOST or DESI, or
a column says vacuum; else air, and ``meta["medium_assumed"]`` is true. The flux unit is "unknown" unless
the header states it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import gaia
from agent.spectrum.readers.pixels import Array, finite_number, spectrum, usable_redshift
from agent.spectrum.readers.wavelengths import Roles, arrays, in_brackets, roles
from agent.spectrum.record import FloatArray, Medium, Scalar, Spectrum, SpectrumError

MAX_TEXT = 64 * 2**20
_COMMENT = re.compile(r"\s*([#*%;!]|SET\b)")
_KEY_VALUE = re.compile(r"^\W*([A-Za-z][\w /+-]{0,30}?)\s*[:=]\s*(\S.*)$")
_ECSV_COLUMN = re.compile(r"^#\s*-\s*\{\s*name:\s*([^,}]+)(?:,\s*unit:\s*([^,}]+))?")
_SDSS_NAME = re.compile(r"^spec-\d{4,6}-\d{5}-\d{4}")
_STATED = (("frame", "rest"), ("errors", "estimated"))
"""Values of ``agent.spectrum.table`` that are not the default of a spectrum."""
_EXPECTED = deferred("lines of numbers: wavelength in Å, flux, and if known its error")


@dataclass
class _Text:
    """A parsed text file: comments, the names of the columns if any, units by name, the numbers."""

    comments: list[str]
    names: list[str]
    units: dict[str, str] = field(default_factory=dict)
    table: Array = field(default_factory=lambda: np.empty((0, 0)))


def read(name: str, raw: bytes) -> Spectrum:
    """Read the spectrum of a text file. :raises SpectrumError: it is no table of numbers with a wavelength column"""
    text = _taken_apart(name, _decoded(name, raw))
    columns = text.table.shape[1]
    which = _named_roles(text, columns)
    if which is not None:
        values = {n: text.table[:, text.names.index(n)] for n in text.names}
        unit = text.units.get(which.wavelength, "") or ("nm" if _is_gaia(text) else "")
    elif text.names:
        raise SpectrumError(name, f"columns {', '.join(text.names[:6])}", deferred("columns named wavelength and flux"))
    else:
        which = Roles("wavelength", "flux", sigma="third" if _third_is_error(text.table) else None)
        values = dict(zip(("wavelength", "flux", "third"), text.table.T, strict=False))
        unit = ""
    pixels = arrays(name, which, values, unit)
    fields = _fields(name, text, which)
    printed = pixels["wavelength"]
    pixels["wavelength"] = evenly_spaced(printed)
    if pixels["wavelength"] is not printed:
        fields["meta"]["wavelengths_unrounded"] = True
    return spectrum(name, **pixels, **fields)


def _decoded(name: str, raw: bytes) -> str:
    # In the whole file: a text with millions of NUL bytes would become strings of several times its size.
    if b"\0" in raw:
        raise SpectrumError(
            name, deferred("a binary file of no known kind"), deferred("a FITS, Parquet or text spectrum")
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _taken_apart(name: str, text: str) -> _Text:
    numbered = {number: line for number, line in enumerate(text.splitlines(), start=1) if line.strip()}
    comments = [line for line in numbered.values() if _COMMENT.match(line)]
    numbered = {number: line for number, line in numbered.items() if not _COMMENT.match(line)}
    rows = list(numbered.values())
    if not rows:
        raise SpectrumError(name, deferred("no line of data"), _EXPECTED)
    delimiter = next((d for d in (",", ";", "|") if d in rows[0]), None)
    names = [c.strip().strip('"') for c in rows[0].split(delimiter)] if _is_header(rows[0], delimiter) else []
    rows = rows[1:] if names else rows
    parsed = _Text(comments, names)
    parsed.table = _numbers(name, rows, delimiter, list(numbered)[-len(rows) :])
    if names and len(names) != parsed.table.shape[1]:
        raise SpectrumError(
            name,
            deferred("{n_names} column names over {shape} columns", n_names=len(names), shape=parsed.table.shape[1]),
            _EXPECTED,
        )
    for line in comments:
        ecsv = _ECSV_COLUMN.match(line)
        if ecsv:
            parsed.units[ecsv[1].strip().strip("'\"")] = (ecsv[2] or "").strip()
    return parsed


def _is_header(line: str, delimiter: str | None) -> bool:
    cells = [cell.strip().strip('"').lower() for cell in line.split(delimiter)]
    return any(cell[:1].isalpha() and cell not in ("nan", "inf", "infinity") for cell in cells)


def _numbers(name: str, rows: list[str], delimiter: str | None, line_numbers: Sequence[int]) -> Array:
    if not rows:
        raise SpectrumError(name, deferred("column names without a line of data"), _EXPECTED)
    table = _loaded(rows, delimiter)
    if table is None and delimiter is None:
        table = _loaded([row.replace("D", "E") for row in rows], None)
        if table is None:
            table = _loaded(_cut_at_column_ends(rows), None)
    elif table is None:
        table = _loaded([_with_nan_for_nothing(row, delimiter or "") for row in rows], delimiter)
    if table is None:
        raise SpectrumError(name, _first_fault(rows, delimiter, line_numbers), _EXPECTED)
    if table.shape[1] < 2:
        raise SpectrumError(name, deferred("one column of numbers"), _EXPECTED)
    return table


def _loaded(rows: list[str], delimiter: str | None) -> Array | None:
    try:
        return np.loadtxt(rows, delimiter=delimiter, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None


def _first_fault(rows: list[str], delimiter: str | None, line_numbers: Sequence[int]) -> str:
    """Describe the first cell that is no number, or else the first line with another number of columns."""
    cells = [row.split(delimiter) for row in rows]
    for number, row in zip(line_numbers, cells, strict=True):
        for column, cell in enumerate(row, start=1):
            if not _is_number(cell.strip()):
                return deferred(
                    "{cell!r:.40} in line {number}, column {column}, which is no number",
                    cell=cell.strip(),
                    number=number,
                    column=column,
                )
    for number, row in zip(line_numbers, cells, strict=True):
        if len(row) != len(cells[0]):
            return deferred(
                "{n_row} columns in line {number} after {n_cells} in line {first}",
                n_row=len(row),
                number=number,
                n_cells=len(cells[0]),
                first=line_numbers[0],
            )
    return deferred("numbers from line {first} on that cannot be read", first=line_numbers[0])


def _is_number(cell: str) -> bool:
    if cell in _NOTHING:
        return True
    try:
        float(cell.replace("D", "E"))
    except ValueError:
        return False
    return True


_NOTHING = ("", '""', "--", "null")


def _with_nan_for_nothing(row: str, delimiter: str) -> str:
    cells = (cell.strip() for cell in row.split(delimiter))
    return delimiter.join("nan" if cell in _NOTHING else cell for cell in cells)


def _cut_at_column_ends(rows: list[str]) -> list[str]:
    """Split fixed-width columns without separators (Fortran, as in Pickles' library), at the column ends of the row
    with the most columns.
    """
    ends = max(([m.end() for m in re.finditer(r"\S+", row)] for row in rows), key=len)
    starts = [0, *ends[:-1]]
    return [" ".join(row[start:end] for start, end in zip(starts, ends, strict=True)) + row[ends[-1] :] for row in rows]


def evenly_spaced(wavelength: FloatArray) -> FloatArray:
    """Return an evenly spaced axis (n,) whose printed values repeat because of rounding, made even again.

    X-shooter spectra sampled every 0.2 Å are published with five digits: 9999.8, 10000, 10000, 10000, 10001. The
    spacing is that of the first hundred pixels, and every printed value has to lie within half of its last digit of
    the even axis; otherwise the axis is returned unchanged.
    """
    steps = np.diff(wavelength)
    if steps.size < 100 or (steps > 0).all() or (steps < 0).any():
        return wavelength
    step = float(np.median(steps[:100]))
    even: FloatArray = wavelength[0] + step * np.arange(wavelength.size)
    last_digit = float(steps.max())
    fits = step > 0 and np.abs(even - wavelength).max() <= 0.5 * last_digit + 1e-6 * last_digit
    return even if fits else wavelength


def _named_roles(text: _Text, columns: int) -> Roles | None:
    if text.names:
        return roles(text.names)
    for line in reversed(text.comments):
        names = re.split(r"[\s,;|]+", re.sub(r"^\W+", "", line).strip())
        which = roles(names) if len(names) == columns and len(set(names)) == columns else None
        if which is not None:
            text.names = names
            return which
    return None


def _third_is_error(table: Array) -> bool:
    return bool(table.shape[1] == 3 and (table[:, 2] >= 0).all() and (table[:, 2] > 0).any())


def _fields(name: str, text: _Text, which: Roles) -> dict[str, Any]:
    header = _key_values(text.comments)
    unit = header.get("flux_unit", "") or text.units.get(which.flux, "") or in_brackets(which.flux)
    fields: dict[str, Any] = {"flux_unit": unit or header.get("set .z.units", "unknown").strip("\"'") or "unknown"}
    for key in ("ra", "dec"):
        fields[key] = finite_number(header.get(key, ""))
    fields["redshift"] = usable_redshift(finite_number(header.get("z", header.get("redshift", ""))))
    fields["catalogue_class"] = header.get("type", "")
    snr = finite_number(header.get("s/n", header.get("snr", "")))
    fields["snr"] = {} if snr is None else {"median": snr}
    if header.get("obid"):
        fields["ids"] = {"obid": header["obid"]}
    fields["survey"], fields["medium"], stated = _origin(name, text, header, which)
    meta: dict[str, Scalar] = {} if stated else {"medium_assumed": True}
    if not text.names and text.table.shape[1] > 3:
        meta["columns_unused"] = text.table.shape[1] - 2
    if header.get("simulated") == "true":
        meta["simulated"] = True
    fields["meta"] = meta
    fields |= {key: value for key, value in _STATED if header.get(key) == value}
    return fields | (gaia.fields(name) if _is_gaia(text) else {})


def _is_gaia(text: _Text) -> bool:
    return tuple(map(str.lower, text.names)) == gaia.COLUMNS and gaia.is_sampled(text.table[:, 0])


def _origin(name: str, text: _Text, header: dict[str, str], which: Roles) -> tuple[str, Medium, bool]:
    """Return survey, medium, and whether the medium is stated rather than assumed."""
    survey = header.get("orig", header.get("survey", "")).upper()
    if not survey and (_SDSS_NAME.match(name) or {"BestFit", "SkyFlux"} <= set(text.names)):
        survey = "SDSS"
    column = which.wavelength.lower()
    stated = f"{column} {header.get('medium', '')} {header.get('wavelengths', '')}".lower()
    if "vac" in stated or "air" in stated:
        return survey, ("vacuum" if "vac" in stated else "air"), "assumed" not in stated
    return (survey, "vacuum", True) if survey in ("SDSS", "LAMOST", "DESI") else (survey, "air", False)


def _key_values(comments: list[str]) -> dict[str, str]:
    """Return values such as ``# RA : 193.8``, keys in lower case; the first of a name counts."""
    values: dict[str, str] = {}
    is_ecsv = bool(comments) and "%ECSV" in comments[0]
    for line in comments[:200]:
        match = _KEY_VALUE.match(line.lstrip("#*%;! "))
        if match:
            value = match[2].strip()
            # The meta of ECSV is YAML: - {medium: air}
            values.setdefault(match[1].strip().lower(), value.removesuffix("}").strip("'\"") if is_ecsv else value)
        elif line.lstrip().startswith("SET ") and "=" in line:
            key, value = line.split("=", 1)
            values.setdefault(key.strip().lower(), value.strip())
    return values
