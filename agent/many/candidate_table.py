"""Candidates as a file that other programs read: CSV, VOTable or a FITS table, with units, UCDs (IVOA's
UCD1+) and a description of each column."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agent.consensus import DEFINITION
from agent.csv_cells import CsvTable
from agent.many.candidates import Candidate
from agent.sentence import OneLine

SUFFIXES = (".csv", ".vot", ".xml", ".fits")
_MISSING_INTEGER = -1


class TableError(OneLine):
    """A table that cannot be written: which file, and why."""


@dataclass(frozen=True)
class Column:
    """A column: its name is a field of ``Candidate``; ``kind`` is str, int or float."""

    name: str
    kind: type
    description: str
    ucd: str = ""
    unit: str = ""


COLUMNS = (
    Column("rank", int, "Place among those with a verdict, the surest YES first", "stat.rank"),
    Column("verdict", str, "YES or NO, or ASK where a person is to look", "meta.code.class"),
    Column("reasons", str, "Why a person is to look", "meta.note"),
    Column("file", str, "Spectrum file, relative to the folder of the results", "meta.ref;meta.file"),
    Column("target", str, "Which spectrum of the file, where it holds several", "meta.id.part"),
    Column("name", str, "Name of the spectrum", "meta.id;meta.main"),
    Column("survey", str, "Survey", "meta.id;instr"),
    Column("ra", float, "Right ascension as the file gives it", "pos.eq.ra;meta.main", "deg"),
    Column("dec", float, "Declination as the file gives it", "pos.eq.dec;meta.main", "deg"),
    Column("redshift", float, "Redshift as the file gives it", "src.redshift"),
    Column("snr", float, "Signal-to-noise ratio per pixel, the median over the spectrum", "stat.snr"),
    Column("task", str, "Class in question", "meta.code"),
    Column("n", int, "Samples", "meta.number"),
    Column("yes", int, "Samples that answered YES", "meta.number"),
    Column("no", int, "Samples that answered NO", "meta.number"),
    Column("none", int, "Samples without a YES or NO", "meta.number"),
    Column("yes_fraction", float, "Fraction of YES among the samples that answered", "stat.confidenceLevel"),
    Column("lo", float, "Lower end of its 68 % Wilson interval", "stat.confidenceLevel;stat.min"),
    Column("hi", float, "Upper end of its 68 % Wilson interval", "stat.confidenceLevel;stat.max"),
    Column("looks", float, "Windows looked at, mean of the samples", "meta.number;stat.mean"),
    Column("faults", int, "Faults of form in all samples together", "meta.number"),
    Column("explanation", str, "Explanation of the first sample that answered as most did", "meta.note"),
)


def write(rows: Sequence[Candidate], path: Path) -> None:
    """Write the table in one step; the name's ending says which kind.

    :raises TableError: another ending than those of ``SUFFIXES``, or it cannot be written
    """
    writers: dict[str, Callable[[Sequence[Candidate], Path], None]] = {
        ".csv": _csv,
        ".vot": _votable,
        ".xml": _votable,
        ".fits": _fits,
    }
    check(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        writers[path.suffix.lower()](rows, part)
        part.replace(path)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def check(path: Path) -> None:
    """:raises TableError: a table of that name could not be written"""
    if path.suffix.lower() not in SUFFIXES:
        raise TableError(f"{path}: found a name that ends in {path.suffix!r}, wanted {', '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise TableError(f"{path.parent}: found no such folder")


def _csv(rows: Sequence[Candidate], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = CsvTable(file, [column.name for column in COLUMNS])
        for row in rows:
            table.row(_shown(getattr(row, column.name)) for column in COLUMNS)


def _shown(value: str | float | None) -> str | float | None:
    return _printable(value) if isinstance(value, str) else value


def _votable(rows: Sequence[Candidate], path: Path) -> None:
    from astropy.io.votable import from_table

    table = _table(rows, _printable)
    for column in COLUMNS:
        table[column.name].description = column.description
        table[column.name].meta["ucd"] = column.ucd
    votable = from_table(table, table_id="candidates")
    votable.get_first_table().description = DEFINITION
    votable.to_xml(str(path))


def _fits(rows: Sequence[Candidate], path: Path) -> None:
    from astropy.io.fits import HDUList, PrimaryHDU
    from astropy.io.fits.convenience import table_to_hdu

    hdu = table_to_hdu(_table(rows, _ascii))
    hdu.name = "CANDIDATES"
    for number, column in enumerate(COLUMNS, start=1):
        hdu.header[f"TUCD{number}"] = column.ucd
        hdu.header[f"TCOMM{number}"] = column.description
    hdu.header["COMMENT"] = DEFINITION
    HDUList([PrimaryHDU(), hdu]).writeto(path, output_verify="exception")


def _table(rows: Sequence[Candidate], text: Callable[[str], str]) -> Any:
    """An astropy table of the rows, with units; what is missing is masked."""
    import numpy as np
    from astropy.table import MaskedColumn, Table

    table = Table()
    for column in COLUMNS:
        values = [getattr(row, column.name) for row in rows]
        if column.kind is str:
            table[column.name] = np.array([text(value) for value in values], dtype=str)
            continue
        missing = [value is None for value in values]
        fill = _MISSING_INTEGER if column.kind is int else float("nan")
        filled: Any = np.array([fill if value is None else value for value in values], dtype=column.kind)
        masked = partial(MaskedColumn, fill_value=fill, mask=missing, unit=column.unit or None)
        table[column.name] = masked(filled) if any(missing) else masked(filled, mask=False)
    return table


def _printable(text: str) -> str:
    """Text without what neither XML nor a terminal can show."""
    return "".join(" " if unicodedata.category(letter) in ("Cc", "Cs", "Cn") else letter for letter in text)


def _ascii(text: str) -> str:
    """Text as FITS can hold it: Hα is Halpha, Å is A; what has no such form becomes a question mark."""
    plain = "".join(_plain(letter) for letter in unicodedata.normalize("NFKD", _printable(text)))
    return plain.encode("ascii", "replace").decode()


_PLAIN = {"–": "-", "—": "-", "−": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "±": "+-", "×": "x"}


def _plain(letter: str) -> str:
    name = unicodedata.name(letter, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        word = name.rpartition(" LETTER ")[2].lower()
        return word.capitalize() if "CAPITAL" in name else word
    return "" if unicodedata.combining(letter) else _PLAIN.get(letter, letter)
