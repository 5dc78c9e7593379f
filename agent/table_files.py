"""Tables as CSV, Parquet, VOTable and FITS files, with a description, a UCD and a unit for each column.

A missing value is None: empty in CSV, null in Parquet, masked in VOTable and FITS. FITS holds ASCII alone. astropy and
pyarrow are loaded with the first table that needs them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.tables import CsvTable

if TYPE_CHECKING:
    from astropy.io.fits import BinTableHDU
    from astropy.io.votable.tree import VOTableFile
    from astropy.table import Table

SUFFIXES = (".csv", ".parquet", ".vot", ".xml", ".fits")
_ROWS = 50_000
"""Rows of a Parquet table that are written at once."""
_MISSING_INTEGER = -1


@dataclass(frozen=True)
class Column:
    """A column; ``kind`` is str, int or float."""

    name: str
    kind: type
    description: str
    ucd: str = ""
    unit: str = ""


@dataclass(frozen=True)
class TableData:
    """A table to be written.

    :param value: returns the value of a row in a column, by its name
    """

    name: str
    description: str
    columns: Sequence[Column]
    rows: Sequence[Any]
    value: Callable[[Any, str], Any] = getattr


def write(data: TableData, path: Path, suffix: str) -> None:
    """Write a table in the format of a suffix, one of ``SUFFIXES``. :raises OSError: nothing can be written there"""
    if suffix == ".csv":
        _csv(data, path)
    elif suffix == ".parquet":
        _parquet(data, path)
    elif suffix == ".fits":
        from astropy.io.fits import HDUList, PrimaryHDU

        HDUList([PrimaryHDU(), fits_table(data)]).writeto(path, output_verify="exception")
    else:
        write_votable(votable(data), path)


def _csv(data: TableData, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = CsvTable(file, [column.name for column in data.columns])
        for row in data.rows:
            table.row(_printed(data.value(row, column.name)) for column in data.columns)


def _parquet(data: TableData, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64()}

    def field(column: Column) -> Any:
        about = {"description": column.description, "ucd": column.ucd, "unit": column.unit}
        return pa.field(column.name, kinds[column.kind], metadata={name: text for name, text in about.items() if text})

    schema = pa.schema(map(field, data.columns), metadata={"description": data.description})
    with pq.ParquetWriter(path, schema) as table:
        given = iter(data.rows)
        while rows := list(islice(given, _ROWS)):
            values = {column.name: [_printed(data.value(row, column.name)) for row in rows] for column in data.columns}
            table.write_table(pa.table(values, schema=schema))


def votable(data: TableData) -> VOTableFile:
    """Return a VOTable whose table has the name as its ID."""
    from astropy.io.votable import from_table

    table = table_of(data, printable)
    for column in data.columns:
        table[column.name].description = column.description
        table[column.name].meta["ucd"] = column.ucd
        if column.unit == "Angstrom":
            table[column.name].unit = "0.1nm"  # the name is deprecated in VOUnits
    file = from_table(table, table_id=data.name)
    file.get_first_table().description = data.description
    return file


def write_votable(file: VOTableFile, path: Path) -> None:
    """Write a VOTable by astropy's writer in Python: that in C (8.0.2) writes a byte behind its buffer where the text
    of a row fills it, and the process ends later, anywhere.
    """
    file.to_xml(str(path), _debug_python_based_parser=True)


def fits_table(data: TableData) -> BinTableHDU:
    """Return a binary table; UCDs and descriptions are in the keywords TUCDn and TCOMMn."""
    from astropy.io.fits.convenience import table_to_hdu

    hdu = table_to_hdu(table_of(data, ascii_text))
    hdu.name = data.name.upper()
    for number, column in enumerate(data.columns, start=1):
        hdu.header[f"TUCD{number}"] = column.ucd
        hdu.header[f"TCOMM{number}"] = ascii_text(column.description)
    hdu.header["COMMENT"] = ascii_text(data.description)
    return hdu


def table_of(data: TableData, text: Callable[[str], str]) -> Table:
    """Make an astropy table of the rows, with units; missing values are masked, missing text is empty.

    :param text: converts each text to what the format can hold
    """
    import numpy as np
    from astropy.table import MaskedColumn, Table

    table = Table()
    for column in data.columns:
        values = [data.value(row, column.name) for row in data.rows]
        if column.kind is str:
            table[column.name] = np.array([text(value or "") for value in values], dtype=str)
            continue
        missing = [value is None for value in values]
        fill = _MISSING_INTEGER if column.kind is int else float("nan")
        filled: Any = np.array([fill if value is None else value for value in values], dtype=column.kind)
        masked = partial(MaskedColumn, fill_value=fill, mask=missing, unit=column.unit or None)
        table[column.name] = masked(filled) if any(missing) else masked(filled, mask=False)
    return table


def _printed(value: str | float | None) -> str | float | None:
    return printable(value) if isinstance(value, str) else value


def printable(text: str) -> str:
    """Replace characters that neither XML nor a terminal can show."""
    return "".join(" " if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in text)


def ascii_text(text: str) -> str:
    """Convert text to ASCII for FITS: Hα is Halpha, Å is A; other characters become a question mark."""
    plain = "".join(_plain(letter) for letter in unicodedata.normalize("NFKD", printable(text)))
    return plain.encode("ascii", "replace").decode()


_PLAIN = {"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "±": "+-", "×": "x"}


def _plain(letter: str) -> str:
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        word = name.rpartition(" LETTER ")[2].lower()
        return word.capitalize() if "CAPITAL" in name else word
    return "" if unicodedata.combining(letter) else _PLAIN.get(letter, letter)
