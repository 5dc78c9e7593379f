"""Rows of a JSON file, one at a time: JSON lines, or a JSON list that is never completely in memory.

A row of JSON lines knows its place in the file, so that a large part of it (the spectrum) can be read again on demand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from agent.language import tr
from agent.trajectory.json_rows import elements
from training.data.records import DataError

_SPACE = "\ufeff \t\r\n"
_END = object()
# The published rows hold control characters.
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Row:
    """One row.

    ``number`` counts from 1: a line of JSON lines, an entry of a list. ``start`` is the line's byte position, None in
    a list.
    """

    path: Path
    number: int
    start: int | None
    values: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Name of the row in messages; the end of its path identifies the data set."""
        return f"{self.path.parent.name}/{self.path.name}:{self.number}"

    def wrong(self, message: object) -> DataError:
        return DataError(f"{self.path}: row {self.number}: {message}")


def rows(path: Path) -> Iterator[Row]:
    """Yield every row of a file. :raises DataError: it cannot be read, or a row is no JSON object"""
    try:
        with path.open(encoding="utf-8") as file:
            is_list = file.read(64).lstrip(_SPACE).startswith("[")
            file.seek(0)
            yield from _listed(path, file) if is_list else _lines(path)
    except UnicodeDecodeError as error:
        raise DataError(
            tr("{path}: found bytes that are no UTF-8 ({reason}), expected JSON", path=path, reason=error.reason)
        ) from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def read_again(path: Path, number: int, start: int) -> Mapping[str, Any]:
    """Read a line of JSON lines by its position. :raises DataError: the file has changed since"""
    try:
        with path.open("rb") as file:
            file.seek(start)
            return _object(path, number, _decoded(path, number, file.readline().decode("utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            tr("{path}: row {number}: can no longer be read ({error})", path=path, number=number, error=error)
        ) from error


def _lines(path: Path) -> Iterator[Row]:
    start = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            text = line.decode("utf-8").strip(_SPACE)
            if text:
                yield Row(path, number, start, _object(path, number, _decoded(path, number, text)))
            start += len(line)


def _decoded(path: Path, number: int, text: str) -> object:
    try:
        return _DECODER.decode(text.strip(_SPACE))
    except (ValueError, RecursionError) as error:
        raise DataError(
            tr(
                "{path}: row {number}: found no JSON ({error}), expected an object",
                path=path,
                number=number,
                error=error,
            )
        ) from error


def _object(path: Path, number: int, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(
            tr(
                "{path}: row {number}: found {name}, expected an object",
                path=path,
                number=number,
                name=type(value).__name__,
            )
        )
    return value


def _listed(path: Path, file: TextIO) -> Iterator[Row]:
    """Yield the entries of a JSON list; at most a chunk and one entry are in memory."""
    if file.read(1) != "\ufeff":
        file.seek(0)
    entries = elements(file, strict=False)
    number = 0
    while True:
        try:
            value = next(entries, _END)
        except UnicodeDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise DataError(
                tr(
                    "{path}: after row {number}: found no JSON ({error}), expected a list of rows",
                    path=path,
                    number=number,
                    error=error,
                )
            ) from error
        if value is _END:
            return
        number += 1
        yield Row(path, number, None, _object(path, number, value))
