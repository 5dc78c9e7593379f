"""Parquet: tables with named columns, and the rows of SpecVI-Bench.

A flat table is a spectrum; a table whose flux is a list has a spectrum per row. So has a table with a nested column of
wavelength and flux, as HATS catalogues have (a struct of lists, or a list of structs). Such rows may have columns with
the redshift, the position and an identifier. A SpecVI-Bench row has its arrays
in ``extra_info.tools_kwargs.spectral_visualization_tool.create_kwargs`` and its file name in ``extra_info.name``; they
are LAMOST spectra (vacuum, relative flux, no errors). A row written by ``spec-o3 bench build`` also has the whole
spectrum as JSON text in ``extra_info.spectrum`` and is read back exactly. Targets are row numbers from 0. Only the
needed columns are read, never the pictures.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from agent.language import deferred
from agent.spectrum.readers import parquet_child, sparcl, tables
from agent.spectrum.readers.columns import ABOUT, Roles, roles
from agent.spectrum.readers.pixels import spectrum
from agent.spectrum.readers.tables import Table
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import Spectrum, SpectrumError

SECONDS = 120.0
"""For one answer. A group of a few hundred MiB takes a second or two."""
_EXPECTED = deferred("a complete Parquet file")


class ParquetProcess:
    """One file, open in a separate process as long as this object is used. Safe in many threads."""

    def __init__(self, name: str, path: Path) -> None:
        """:raises SpectrumError: it is damaged"""
        import pyarrow as pa

        self.name = name
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-P", parquet_child.__file__, str(path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _end, self._process)
        reply, schema = self._reply()
        self.groups: tuple[int, ...] = tuple(reply["groups"])
        """The number of rows of each group."""
        self.schema = pa.ipc.read_schema(pa.py_buffer(schema))

    def table(self, group: int, columns: Sequence[str]) -> Any:
        """Return the columns of a group as an Arrow table. :raises SpectrumError: it is damaged, or too large"""
        import pyarrow as pa

        with self._lock:
            request = {"group": group, "columns": list(columns)}
            try:
                assert self._process.stdin is not None
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
            except OSError:
                raise self._crashed() from None
            _, content = self._reply()
        return pa.ipc.open_stream(pa.py_buffer(content)).read_all()

    def _reply(self) -> tuple[dict[str, Any], bytes]:
        """Return the reply of the process. :raises SpectrumError: there was none, or it was a refusal"""
        assert self._process.stdout is not None
        watch = threading.Timer(SECONDS, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
            reply = json.loads(line) if line.endswith(b"\n") else None
            content = self._process.stdout.read(reply["bytes"]) if reply and "bytes" in reply else b""
        finally:
            watch.cancel()
        if reply is not None and "error" in reply:
            actual = deferred("a damaged Parquet file ({reply})", reply=reply["error"])
            raise SpectrumError(self.name, actual, _EXPECTED)
        if reply is None or len(content) != reply["bytes"]:
            raise self._crashed()
        return reply, content

    def _crashed(self) -> SpectrumError:
        return SpectrumError(self.name, deferred("a Parquet file that makes its reader crash"), _EXPECTED)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # the process has ended; unwritten output does not matter


MAX_PIXELS = 10_000_000
MAX_ROWS = 1_000_000
MAX_HEADER = 2**16
"""Bytes of astropy's header in a Parquet file; yaml is slow."""
BENCH_COLUMNS = ("extra_info", "data_source", "reward_model")


def targets(name: str, path: Path) -> Targets:
    """Return the spectra of a Parquet file. :raises SpectrumError: no columns with a spectrum, or damaged"""
    file = ParquetProcess(name, path)
    with _naming_damage(name):
        schema, names = file.schema, file.schema.names
    groups = _Groups(name, file)
    if "extra_info" in names:
        needed = [c for c in BENCH_COLUMNS if c in names]
        return _by_row(name, groups, lambda row: bench_spectrum(name, row, groups.row(row, needed)))
    if sparcl.is_record(names):
        return _sparcl(name, groups, [c for c in names if c.lower() in (*sparcl.ARRAYS, *sparcl.FIELDS)])
    which = roles(names)
    if which is None:
        nested = _nested(schema)
        if nested is None:
            raise SpectrumError(name, f"columns {', '.join(names[:6])}", deferred("columns named wavelength and flux"))
        column, inside, further = nested
        needed = [column, *_about(names)]
        further = [*further, *_further(schema, needed)]
        return _by_row(
            name, groups, lambda row: _nested_row(f"{name}#{row}", column, inside, groups.row(row, needed), further)
        )
    needed = [*which.columns, *_about(names)]
    if len(schema.get_all_field_indices(which.flux)) != 1:
        raise SpectrumError(name, deferred("several columns {flux}", flux=which.flux), deferred("one of each name"))
    further, units = _further(schema, needed), _units(schema)

    def table(columns: Mapping[str, Any]) -> Table:
        return Table(columns, "Parquet table", units, which=which, further=further)

    if _is_list(schema.field(which.flux).type):
        return _by_row(name, groups, lambda row: tables.read(f"{name}#{row}", table(groups.row(row, needed))))
    if len(needed) > len(which.columns):
        return tables.targets(name, [table(groups.everything(needed))])
    return Targets.single(name, lambda: tables.read(name, table(groups.everything(needed))))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _further(schema: Any, used: Sequence[str]) -> list[str]:
    """Return the columns of numbers, or of lists of them, that are not used."""
    import pyarrow as pa

    kinds = {field.name: field.type.value_type if _is_list(field.type) else field.type for field in schema}
    numbers = (name for name, kind in kinds.items() if pa.types.is_integer(kind) or pa.types.is_floating(kind))
    return [f"column {name}" for name in numbers if name not in used]


def _units(schema: Any) -> dict[str, str]:
    """Return the units that columns state, or the header that astropy writes."""
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode("utf-8", "replace") for field in schema}
    header = (schema.metadata or {}).get(b"table_meta_yaml", b"")
    if 0 < len(header) <= MAX_HEADER:
        from astropy.table.meta import get_header_from_yaml

        try:
            columns = get_header_from_yaml(header.decode("utf-8").split("\n"))["datatype"]
            units |= {column["name"]: column["unit"] for column in columns if column.get("unit")}
        except Exception:
            return units  # yaml raises many kinds over a damaged header, and it is not needed
    return {name: unit for name, unit in units.items() if unit}


class _Groups:
    """The row groups of one file; the last one read is cached."""

    def __init__(self, name: str, file: ParquetProcess) -> None:
        self.name = name
        self._file = file
        self.rows = sum(file.groups)
        self._kept: tuple[int, Any] = (-1, None)

    def row(self, row: int, columns: list[str]) -> Mapping[str, Any]:
        for group, rows in enumerate(self._file.groups):
            if row < rows:
                if self._kept[0] != group:
                    self._kept = (group, self._file.table(group, columns))
                with _naming_damage(self.name):
                    return self._kept[1].slice(row, 1).to_pylist()[0]  # type: ignore[no-any-return]
            row -= rows
        raise SpectrumError(self.name, f"{self.rows} rows", f"row {row}")

    def everything(self, columns: list[str]) -> Mapping[str, Any]:
        if self.rows > MAX_PIXELS:
            raise SpectrumError(
                self.name,
                deferred("a table of {rows} rows", rows=self.rows),
                deferred("at most {max_pixels} pixels", max_pixels=MAX_PIXELS),
            )
        parts = [self._file.table(group, columns) for group in range(len(self._file.groups))]
        if not parts:
            raise SpectrumError(self.name, deferred("a table without rows"), "a spectrum")
        with _naming_damage(self.name):
            return {c: np.concatenate([p[c].to_numpy(zero_copy_only=False) for p in parts]) for c in columns}


@contextmanager
def _naming_damage(name: str) -> Iterator[None]:
    """Within the block, turn the errors of pyarrow over a damaged file (also names that are not UTF-8) into
    ``SpectrumError``.
    """
    import pyarrow as pa

    try:
        yield
    except SpectrumError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        raise SpectrumError(
            name, deferred("a damaged Parquet file ({error})", error=error), deferred("a complete Parquet file")
        ) from None


def _by_row(name: str, groups: _Groups, read_row: Callable[[int], Spectrum]) -> Targets:
    if not 0 < groups.rows <= MAX_ROWS:
        raise SpectrumError(
            name,
            deferred("a table of {rows} rows", rows=groups.rows),
            deferred("1 to {max_rows} spectra", max_rows=MAX_ROWS),
        )
    rows = Targets(name)
    for row in range(groups.rows):
        rows.add(str(row), partial(read_row, row))
    return rows


def _sparcl(name: str, groups: _Groups, columns: list[str]) -> Targets:
    """Return a target per row, named by its number: the identifiers would have to be read for all rows first."""
    if groups.rows == 1:
        return Targets.single(name, lambda: sparcl.record(name, groups.row(0, columns)))
    return _by_row(name, groups, lambda row: sparcl.record(f"{name}#{row}", groups.row(row, columns)))


def _about(names: Sequence[str]) -> list[str]:
    """Return the columns that say something about a whole spectrum."""
    return [name for name in names if name.lower() in ABOUT]


def _nested(schema: Any) -> tuple[str, Roles, list[str]] | None:
    """Return the column that holds wavelength and flux of each row, the names inside it, and what else is inside; None:
    there is none.
    """
    import pyarrow as pa

    for field in schema:
        kind = field.type.value_type if _is_list(field.type) else field.type
        if pa.types.is_struct(kind) and (columns := roles([inside.name for inside in kind])) is not None:
            return field.name, columns, _further(list(kind), columns.columns)
    return None


def _nested_row(name: str, column: str, which: Roles, row: Mapping[str, Any], further: Sequence[str]) -> Spectrum:
    inside = row[column]
    if isinstance(inside, list):
        inside = {key: [pixel and pixel[key] for pixel in inside] for key in which.columns}
    if not isinstance(inside, Mapping):
        raise SpectrumError(
            name, deferred("nothing in the column {column}", column=column), deferred("wavelength and flux")
        )
    others = {key: value for key, value in row.items() if key != column}
    return tables.read(name, Table({**others, **inside}, "Parquet table", which=which, further=further))


def bench_spectrum(name: str, number: int, row: Mapping[str, Any]) -> Spectrum:
    """Return the spectrum of a row of SpecVI-Bench, read with at least its ``extra_info``.

    :raises SpectrumError: the row holds none
    """
    info = row["extra_info"]
    if isinstance(info, Mapping) and (whole := info.get("spectrum")):
        return _whole(name, number, whole)
    try:
        given = info["tools_kwargs"]["spectral_visualization_tool"]["create_kwargs"]
        wavelength, flux, redshift = given["wavelength"], given["flux"], given.get("redshift")
    except (KeyError, TypeError, AttributeError):
        raise SpectrumError(
            name,
            deferred("row {number} without create_kwargs", number=number),
            deferred("wavelength and flux of the tool"),
        ) from None
    label = (row.get("reward_model") or {}).get("ground_truth")
    return spectrum(
        str(info.get("name") or f"{name}#{number}"),
        np.asarray(wavelength, np.float64),
        np.asarray(flux, np.float64),
        medium="vacuum",
        flux_unit="relative",
        survey="LAMOST",
        redshift=None if redshift is None else float(redshift),
        ids={"index": str(info["index"])} if info.get("index") is not None else {},
        meta={"data_source": row.get("data_source"), "ground_truth": label, "row": number},
    )


def _whole(name: str, number: int, text: Any) -> Spectrum:
    try:
        form = json.loads(text)
    except (TypeError, ValueError):
        form = None
    if not isinstance(form, dict):
        raise SpectrumError(
            name,
            deferred("row {number} with a damaged extra_info.spectrum", number=number),
            deferred("JSON of a spectrum"),
        )
    return Spectrum.from_json(form)
