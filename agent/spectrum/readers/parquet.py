"""Parquet: tables with named columns, and the rows of SpecVI-Bench.

A flat table is one spectrum; a table whose flux is a list has one spectrum per row. So has one with a nested column of
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
from agent.spectrum.readers import parquet_child, sparcl
from agent.spectrum.readers.pixels import finite_number, spectrum, usable_redshift
from agent.spectrum.readers.targets import Targets
from agent.spectrum.readers.wavelengths import Roles, arrays, medium_of_name, roles
from agent.spectrum.record import Medium, Scalar, Spectrum, SpectrumError

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
BENCH_COLUMNS = ("extra_info", "data_source", "reward_model")


def targets(name: str, path: Path) -> Targets:
    """Return the spectra of a Parquet file. :raises SpectrumError: no columns with one, or damaged"""
    import pyarrow as pa

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
        column, inside = nested
        needed = [column, *_about(names)]
        return _by_row(name, groups, lambda row: _nested_row(f"{name}#{row}", column, inside, groups.row(row, needed)))
    needed = list(which.columns)
    if len(schema.get_all_field_indices(which.flux)) != 1:
        raise SpectrumError(name, deferred("several columns {flux}", flux=which.flux), deferred("one of each name"))
    kind = schema.field(which.flux).type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        needed += _about(names)
        return _by_row(name, groups, lambda row: _named(f"{name}#{row}", which, groups.row(row, needed)))
    return Targets.single(name, lambda: _named(name, which, groups.everything(needed)))


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
    """Return one target per row, named by its number: the identifiers would have to be read for all rows first."""
    if groups.rows == 1:
        return Targets.single(name, lambda: sparcl.record(name, groups.row(0, columns)))
    return _by_row(name, groups, lambda row: sparcl.record(f"{name}#{row}", groups.row(row, columns)))


REDSHIFTS = ("redshift", "z")
POSITIONS = {"ra": ("ra", "raj2000", "ra_icrs"), "dec": ("dec", "dej2000", "de_icrs")}
IDENTIFIERS = ("object_id", "objectid", "source_id", "targetid", "specid", "obsid", "id")


def _about(names: Sequence[str]) -> list[str]:
    """Return the columns that say something about a whole spectrum."""
    known = {*REDSHIFTS, *IDENTIFIERS, *(name for forms in POSITIONS.values() for name in forms)}
    return [name for name in names if name.lower() in known]


def _nested(schema: Any) -> tuple[str, Roles] | None:
    """Return the column that holds wavelength and flux of each row, and the names inside it; None: there is none."""
    import pyarrow as pa

    for field in schema:
        kind = field.type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            kind = kind.value_type
        if pa.types.is_struct(kind) and (columns := roles([inside.name for inside in kind])) is not None:
            return field.name, columns
    return None


def _nested_row(name: str, column: str, which: Roles, row: Mapping[str, Any]) -> Spectrum:
    inside = row[column]
    if isinstance(inside, list):
        inside = {key: [pixel and pixel[key] for pixel in inside] for key in which.columns}
    if not isinstance(inside, Mapping):
        raise SpectrumError(
            name, deferred("nothing in the column {column}", column=column), deferred("wavelength and flux")
        )
    return _named(name, which, {**row, **inside})


def _named(name: str, which: Roles, values: Mapping[str, Any]) -> Spectrum:
    stated: Medium | None = medium_of_name(which.wavelength)
    meta: dict[str, Scalar] = {} if stated else {"medium_assumed": True}
    others = {key.lower(): value for key, value in values.items() if key not in which.columns}

    def first(names: Sequence[str]) -> float | None:
        return next((finite_number(others[name]) for name in names if others.get(name) is not None), None)

    return spectrum(
        name,
        **arrays(name, which, values),
        medium=stated or "air",
        redshift=usable_redshift(first(REDSHIFTS)),
        ids={key: str(others[key]) for key in IDENTIFIERS if others.get(key) not in (None, "")},
        ra=first(POSITIONS["ra"]),
        dec=first(POSITIONS["dec"]),
        meta=meta,
    )


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
