"""Spectra as plain text: columns of numbers, CSV, ECSV, AAS machine-readable (MRT), CDS and IPAC tables.

Comments start with ``#``, ``*``, ``%`` or ``;`` (and ``SET`` in Figaro's ``.oke`` tables). Columns are named by the
first line that is no comment, which a line of units may follow, or by the last comment with a name for each column.
Without names the first is wavelength, the second flux, and the third its error if there are just three and it can be
an error. What this module does not take apart itself goes to ``astropy.table``.

Text rarely states its medium: a column, its unit or description, or a comment may, and SDSS, LAMOST and DESI are in
vacuum; else it is air, and ``meta["medium_assumed"]`` is true.
"""

from __future__ import annotations

import csv
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.noise import der_snr_noise
from agent.spectrum.readers import gaia, tables, units
from agent.spectrum.readers.columns import Roles, roles
from agent.spectrum.readers.pixels import Array
from agent.spectrum.readers.producers import BRACKETS
from agent.spectrum.readers.tables import Table
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import Spectrum, SpectrumError

MAX_TEXT = 64 * 2**20
MAX_ASTROPY = 16 * 2**20
"""Bytes that astropy is given; it takes some ten times as much memory."""
_COMMENT = re.compile(r"\s*([#*%;!]|SET\b)")
_KEY_VALUE = re.compile(r"^\W*([A-Za-z][\w /+-]{0,30}?)\s*[:=]\s*(\S.*)$")
_ECSV_COLUMN = re.compile(
    r"^#\s*-\s*\{\s*name:\s*([^,}]+?)\s*(?:,\s*unit:\s*([^,}]+?)\s*)?,\s*datatype:\s*\w+\s*([,}].*)$"
)
_SDSS_NAME = re.compile(r"^spec-\d{4,6}-\d{5}-\d{4}")
_SNID = re.compile(r"\s*\d+\s+\d+(\s+\d+\.\d*){2}\s+\d+\s+\S+\s+-?\d+\.\d*\s+\S+(\s+-?\d+){1,2}\s*")
"""Numbers of epochs and bins, wavelengths, knots, name, decline, type (Blondin & Tonry 2007, ApJ 666, 1024)."""
_DECIMAL_COMMAS = re.compile(r"(?=.*\d,\d)\s*-?\d+(,\d+)?(e[+-]?\d+)?((\s*;\s*|\s+)-?\d+(,\d+)?(e[+-]?\d+)?)+\s*", re.I)
_EXPECTED = deferred("lines of numbers: wavelength in Å, flux, and if known its error")
_FORMS = {
    "ascii.ecsv": "ECSV table",
    "ascii.mrt": "AAS machine-readable table (MRT)",
    "ascii.cds": "CDS table",
    "ascii.ipac": "IPAC table",
}
_MAGNITUDES = (3.0, 30.0)
"""AB magnitudes of standard stars, with room."""


@dataclass
class _Text:
    """A parsed text file: comments, names of columns if any, units by name, columns, and the lines of data."""

    comments: list[str]
    names: list[str]
    rows: list[str]
    delimiter: str | None
    units: dict[str, str] = field(default_factory=dict)
    columns: list[Any] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)

    def cell(self, name: str, row: int) -> str:
        cells = self.cells[row] if self.cells else self.rows[row].split(self.delimiter)
        return cells[self.names.index(name)].strip()


def read(name: str, raw: bytes) -> Spectrum:
    """Read the only spectrum of a text file. :raises SpectrumError: it has none or several"""
    return targets(name, raw).read(None)


def targets(name: str, raw: bytes) -> Targets:
    """Return the spectra of a text file. :raises SpectrumError: it is no table of numbers with a wavelength column"""
    text = _decoded(name, raw)
    form = _form(text)
    try:
        table = _by_astropy(name, text, form) if form else _table(name, _taken_apart(name, text))
    except SpectrumError:
        if not text.startswith("# %ECSV"):
            raise
        table = _by_astropy(name, text, "ascii.ecsv")
    return tables.targets(name, [table])


def _decoded(name: str, raw: bytes) -> str:
    # In the whole file: a text with millions of NUL bytes would become strings of several times its size.
    if b"\0" in raw:
        start = raw[:200]
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or any(start[::2]) != any(start[1::2]):
            raise SpectrumError(name, deferred("a text in UTF-16"), deferred("a text in UTF-8"))
        raise SpectrumError(
            name, deferred("a binary file of no known kind"), deferred("a FITS, Parquet or text spectrum")
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _form(text: str) -> str:
    """Return astropy's name of the form of a text that this module does not take apart; "" for any other."""
    start = text[:10_000].lstrip()
    if re.search("^Byte-by-byte Description", start, re.MULTILINE):
        return "ascii.mrt" if start.startswith("Title:") else "ascii.cds"
    is_ipac = re.match(r"\\(?!begin|document)", start) or (start.startswith("|") and not text.rstrip().endswith("|"))
    return "ascii.ipac" if is_ipac else ""


def _by_astropy(name: str, text: str, form: str) -> Table:
    """:raises SpectrumError: it is damaged, or too large"""
    if len(text) > MAX_ASTROPY:
        actual = deferred("{form} of {size} characters", form=_FORMS[form], size=len(text))
        raise SpectrumError(name, actual, deferred("at most {most}", most=MAX_ASTROPY))
    from astropy.table import Table as TheirTable

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs: Any = TheirTable.read(text.splitlines(), format=form)
        except Exception as error:
            # Its parsers raise many kinds over a damaged table, from yaml's to numpy's.
            reason = " ".join(str(error).split())
            actual = deferred("{form} that cannot be read: {reason:.120}", form=_FORMS[form], reason=reason)
            raise SpectrumError(name, actual, deferred("a complete table")) from None
    meta = dict(theirs.meta)
    comments = [str(line) for line in meta.pop("comments", [])]
    meta |= {key: entry.get("value") for key, entry in dict(meta.pop("keywords", {})).items()}  # of IPAC
    columns = {key: theirs[key] for key in theirs.colnames}
    return Table(
        columns,
        _FORMS[form],
        {key: str(column.unit) for key, column in columns.items() if getattr(column, "unit", None) is not None},
        _key_values(comments) | {str(key).lower(): value for key, value in meta.items()},
        [
            *((f"description of {key}", str(column.info.description or "")) for key, column in columns.items()),
            *_of_comments(comments),
        ],
    )


# ---- by this module


def _taken_apart(name: str, text: str) -> _Text:
    comments, numbered = [], {}
    for number, line in enumerate(text.splitlines(), start=1):
        if _COMMENT.match(line):
            comments.append(line)
        elif line.strip():
            numbered[number] = line
    if any(not re.search(r"\w", row) for row in itertools.islice(numbered.values(), 3)):
        numbered = {number: row for number, row in numbered.items() if re.search(r"\w", row)}  # lines drawn by hyphens
    rows = list(numbered.values())
    if not rows:
        raise SpectrumError(name, deferred("no line of data"), _EXPECTED)
    if rows[0].startswith("|"):
        rows = [row.strip().strip("|") for row in rows]
    if _SNID.fullmatch(rows[0]):
        actual = deferred("a template of SNID: epochs of a supernova without their continuum")
        raise SpectrumError(name, actual, deferred("a spectrum with its flux"))
    delimiter, first = _delimiter(rows), rows[0]
    names = _unique(_split(first, delimiter)) if _is_header(first, delimiter) else []
    rows = rows[1:] if names else rows
    stated: list[str] = []
    if names and rows and _is_header(rows[0], delimiter):
        stated = [cell.strip("[]()") for cell in _split(rows[0], delimiter)]
        is_rdb = all(re.fullmatch(r"\d*[NS]", cell) for cell in stated)  # types of columns
        if is_rdb or (len(stated) == len(names) and all(map(_is_unit, stated))):
            rows, stated = rows[1:], [] if is_rdb else stated
        else:
            stated = []
    parsed = _Text(comments, names, rows, delimiter)
    parsed.columns = _numbers(name, parsed, list(numbered)[-len(rows) :])
    width = len(parsed.columns)
    if names and len(names) != width:
        parsed.names = _names_in(first, width)
        if not parsed.names:
            actual = deferred("{n_names} column names over {shape} columns", n_names=len(names), shape=width)
            raise SpectrumError(name, actual, _EXPECTED)
    parsed.units = {key: unit for key, unit in zip(parsed.names, stated, strict=False) if unit}
    if comments and comments[0].startswith("# %ECSV"):
        parsed.units = _ecsv_units(name, parsed)
    if parsed.names and not parsed.names[0] and not _counts(parsed.columns[0]):
        parsed.names[0] = "1"
    return parsed


def _ecsv_units(name: str, text: _Text) -> dict[str, str]:
    """:raises SpectrumError: the header has what only astropy takes apart"""
    lines = list(itertools.takewhile(lambda line: not line.startswith("# meta:"), text.comments))
    matches = [match for line in lines if (match := _ECSV_COLUMN.match(line))]
    is_known = len(matches) == sum(bool(re.match(r"#\s*(-\s*)?\{?\s*name:", line)) for line in lines)
    if gaia.has_rows(text.names):
        is_known = not any("sampling" in line for line in text.comments)  # GaiaXPy's types are not those of ECSV
    if not is_known:
        raise SpectrumError(name, deferred("an ECSV header that astropy does not read"), _EXPECTED)
    return {match[1].strip("'\""): (match[2] or "").strip("'\"") for match in matches}


def _unique(names: list[str]) -> list[str]:
    """Return the names, with a number after each that another before it has."""
    before: Counter[str] = Counter()
    unique = []
    for name in names:
        before[name] += 1
        unique.append(f"{name} ({before[name]})" if before[name] > 1 else name)
    return unique


def _counts(column: Any) -> bool:
    """Return whether a column numbers the rows, as pandas writes it, without a name."""
    return np.ndim(column) == 1 and np.array_equal(column, column[0] + np.arange(len(column)))


def _delimiter(rows: list[str]) -> str | None:
    """Return what separates the cells: a tab only where names with spaces in them need it."""
    first = rows[0]
    below = rows[1] if len(rows) > 1 else ""
    if 0 < first.count("\t") == below.count("\t") and _is_header(first, "\t") and not re.search("[,;|]", below):
        return "\t"
    return next((d for d in (",", ";", "|") if d in first), None)


def _split(line: str, delimiter: str | None) -> list[str]:
    cells = re.findall(r'"[^"]*"|[^\s"]+', line) if delimiter is None and '"' in line else line.split(delimiter)
    return [cell.strip().strip('"') for cell in cells]


def _is_header(line: str, delimiter: str | None) -> bool:
    cells = (cell.lower() for cell in _split(line, delimiter))
    return any(cell.lstrip("([")[:1].isalpha() and cell not in ("nan", "inf", "infinity") for cell in cells)


def _is_unit(cell: str) -> bool:
    word = units.known(cell)
    return word != cell or word.lower() in ("nm", "counts", "adu", "relative") or units.parsed(word) is not None


def _numbers(name: str, text: _Text, line_numbers: Sequence[int]) -> list[Any]:
    """Return the columns: numbers, or for names also texts, or arrays where the cells are arrays."""
    rows, delimiter = text.rows, text.delimiter
    if not rows:
        raise SpectrumError(name, deferred("column names without a line of data"), _EXPECTED)
    table = _loaded(rows, delimiter)
    if table is None and delimiter is None:
        table = _loaded([row.replace("D", "E") for row in rows], None)
        if table is None and not text.names:
            table = _loaded(_cut_at_column_ends(rows), None)
    columns = list(table.T) if table is not None else _converted(name, text, line_numbers)
    if len(columns) < 2:
        raise SpectrumError(name, deferred("one column of numbers"), _EXPECTED)
    return columns


def _loaded(rows: list[str], delimiter: str | None) -> Array | None:
    try:
        return np.loadtxt(rows, delimiter=delimiter, comments=None, ndmin=2, dtype=np.float64)
    except ValueError:
        return None


_WORDS = {**dict.fromkeys(("", "--", "null", "n/a", "none", "masked"), "nan"), "true": "1", "false": "0"}


def _converted(name: str, text: _Text, line_numbers: Sequence[int]) -> list[Any]:
    """Return columns of which some cells are no numbers. A column is text or arrays if its first cell is.

    :raises SpectrumError: naming the first other cell that is no number, or line with another number of cells
    """
    rows, delimiter = text.rows, text.delimiter
    if any(_DECIMAL_COMMAS.fullmatch(row) for row in rows[:2]):
        raise SpectrumError(name, deferred("numbers with decimal commas"), deferred("decimal points, as in 4000.5"))
    if delimiter is None:
        cells = [_split(row, None) for row in rows]
    else:
        try:
            cells = list(csv.reader(rows, delimiter=delimiter, skipinitialspace=True))
        except csv.Error as error:
            raise SpectrumError(name, deferred("cells that cannot be read ({error})", error=error), _EXPECTED) from None
    text.cells = cells
    has_roles = roles(text.names) is not None or gaia.has_rows(text.names)
    kinds = [_kind(cell) if has_roles else "number" for cell in cells[0]]
    for number, row in zip(line_numbers, cells, strict=False):
        for column, (cell, kind) in enumerate(zip(row, kinds, strict=False), start=1):
            if kind == "number" and _number(cell) is None:
                actual = deferred(
                    "{cell!r:.40} in line {number}, column {column}, which is no number",
                    cell=cell.strip(),
                    number=number,
                    column=column,
                )
                raise SpectrumError(name, actual, _EXPECTED)
    for number, row in zip(line_numbers, cells, strict=False):
        if len(row) != len(cells[0]):
            actual = deferred(
                "{n_row} columns in line {number} after {n_cells} in line {first}",
                n_row=len(row),
                number=number,
                n_cells=len(cells[0]),
                first=line_numbers[0],
            )
            raise SpectrumError(name, actual, _EXPECTED)
    make: dict[str, Callable[[Any], Any]] = {
        "number": lambda column: np.array([_number(cell) for cell in column]),
        "text": np.array,
        "array": _arrays,
    }
    try:
        return [make[kind](column) for kind, column in zip(kinds, zip(*cells, strict=True), strict=True)]
    except ValueError:
        raise SpectrumError(name, deferred("arrays in cells that are not numbers"), _EXPECTED) from None


def _kind(cell: str) -> str:
    if re.fullmatch(r"\s*[\[(].*[\])]\s*", cell, re.DOTALL):
        return "array"
    return "text" if _number(cell) is None and cell.strip()[:1].isalpha() else "number"


def _number(cell: str) -> float | None:
    word = cell.strip()
    try:
        return float(_WORDS.get(word.lower(), word).replace("D", "E"))
    except ValueError:
        return None


def _arrays(column: Sequence[str]) -> list[Array]:
    # numpy 2 writes a list as [np.float64(1.5), ...].
    plain = (re.sub(r"np\.float\d+\(|[\[\]()]", "", cell).strip() for cell in column)
    return [np.array(re.split(r"[,\s]+", cell), np.float64) for cell in plain]


def _cut_at_column_ends(rows: list[str]) -> list[str]:
    """Split fixed-width columns without separators (Fortran, as in Pickles' library), at the column ends of the row
    with the most columns.
    """
    ends = max(([m.end() for m in re.finditer(r"\S+", row)] for row in rows), key=len)
    starts = [0, *ends[:-1]]
    return [" ".join(row[start:end] for start, end in zip(starts, ends, strict=True)) + row[ends[-1] :] for row in rows]


# ---- what the columns are


def _names_in(line: str, columns: int) -> list[str]:
    """Return the names of columns in a line, with their units in brackets; [] if there are not so many."""
    line = re.sub(r"^[^\w\[(]+", "", line).strip()
    # "Flam W/m^2/A": a unit without brackets.
    bracketed = re.sub(r"(?<=[\w)])\s+(?=[A-Za-z])([^\s,;|()\[\]]*[/^*][^\s,;|()\[\]]*)", r" [\1]", line)
    for names in (
        re.split(r"[\s,;|]+", line),
        re.findall(rf"[^\s,;|()\[\]]+(?:\s*{BRACKETS})?", bracketed),
        re.split(r"\s*\t\s*|\s{2,}", bracketed),
    ):
        if len(names) == columns and len(set(names)) == columns:
            return list(names)
    return []


def _table(name: str, text: _Text) -> Table:
    header = _key_values(text.comments)
    if "set .z.units" in header:
        header.setdefault("flux_unit", header["set .z.units"].strip("\"'"))
    read_as = "ECSV table" if text.comments and "%ECSV" in text.comments[0] else "text table"
    width = len(text.columns)
    if not text.names:
        for at, line in reversed(list(enumerate(text.comments))):
            names = _names_in(line, width)
            if names and roles(names) is not None:
                text.names = names
                below = text.comments[at + 1].lstrip("#*%;! ").split() if at + 1 < len(text.comments) else []
                if len(below) == width and all(map(_is_unit, below)):
                    text.units = dict(zip(names, below, strict=True))
                break
    if not header.get("orig") and (_SDSS_NAME.match(name) or {"BestFit", "SkyFlux"} <= set(text.names)):
        header.setdefault("survey", "SDSS")
    statements = _of_comments(text.comments)
    if text.names:
        columns = {key: column for key, column in zip(text.names, text.columns, strict=True) if key}
        which = roles(list(columns))
        for key in which.columns if which else ():
            if isinstance(columns[key], np.ndarray) and columns[key].dtype.kind == "U":
                raise SpectrumError(name, deferred("a column {column} that is not numbers", column=key), "numbers")
        return Table(columns, read_as, text.units, header, statements, text.cell)
    third, further = _third(name, text.columns)
    if width > 3:
        further = [f"columns 3 to {width}"]
    unnamed = {str(number): column for number, column in enumerate(text.columns[: 3 if third else 2], start=1)}
    return Table(unnamed, read_as, {}, header, statements, further=further, which=Roles("1", "2", third))


def _third(name: str, columns: Sequence[Array]) -> tuple[str | None, list[str]]:
    """Return "3" if the third of three columns is the error of the flux, otherwise None and what is not used.

    :raises SpectrumError: the three are wavelength, AB magnitude and width of the bins, as in the tables ``m*.dat`` of
        ESO's standard stars (Oke 1990, AJ 99, 1621; Hamuy et al. 1992, PASP 104, 533)
    """
    if len(columns) != 3:
        return None, []
    wavelength, flux, third = columns
    steps = np.abs(np.diff(wavelength))
    with np.errstate(all="ignore"):
        noise = der_snr_noise(flux[np.isfinite(flux)])
        is_width = steps.size > 0 and bool(np.mean(np.abs(third[1:] - steps) <= 0.02 * steps) > 0.5)
        is_constant = third.size > 0 and bool((third == third[0]).all())
        is_far = is_constant and not noise / 5 <= third[0] <= 5 * noise
        low, high = _MAGNITUDES
        if (is_width or (is_far and third[0] >= 2)) and (flux > low).all() and (flux < high).all() and noise < 0.1:
            actual = deferred("wavelength, magnitude and width of bins, as in ESO's tables m*.dat of standard stars")
            raise SpectrumError(name, actual, deferred("a linear flux, e.g. the table f*.dat of the star"))
        if is_width:
            return None, ["column 3 (width of bins)"]
        if is_far:
            return None, [f"column 3 (constant, {third[0]:g})"]
        is_error = bool((third > 0).any()) and not (third < 0).any()
    return ("3", []) if is_error else (None, ["column 3"])


def _of_comments(comments: Sequence[str]) -> list[tuple[str, str]]:
    """Return the comments that say that wavelengths are in air, or in vacuum."""
    saying = []
    for line in comments[:200]:
        text = line.strip("#*%;! \t")
        media = {word[:3].lower() for word in re.findall(r"\b(?:vac(?:uum)?|air)\b", text, re.IGNORECASE)}
        if len(media) == 1 and re.search("wave|lambda|λ", text, re.IGNORECASE) and len(text) < 200:
            saying.append((f'"{text[:60]}"', media.pop()))
    return saying


def _key_values(comments: Sequence[str]) -> dict[str, Any]:
    """Return values such as ``# RA : 193.8``, keys in lower case; the first of a name counts."""
    values: dict[str, Any] = {}
    is_ecsv = bool(comments) and "%ECSV" in comments[0]
    for line in comments[:200]:
        match = _KEY_VALUE.match(line.lstrip("#*%;! "))
        if match:
            # FITS cards in comments: TELESCOP= 'HST     ' / telescope
            value = re.sub(r"^'([^']*)'\s*(/.*)?$", r"\1", match[2]).strip()
            # The meta of ECSV is YAML: - {medium: air}
            values.setdefault(match[1].strip().lower(), value.removesuffix("}").strip("'\"") if is_ecsv else value)
        elif line.lstrip().startswith("SET ") and "=" in line:
            key, value = line.split("=", 1)
            values.setdefault(key.strip().lower(), value.strip())
    return values
