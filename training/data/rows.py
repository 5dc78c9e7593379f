"""Rows of a JSON file, one at a time: JSON lines, or a JSON list that is never in memory as a whole.

A row of JSON lines knows where it stands in its file, so that a large part of it (the spectrum) can be read
again when it is asked for, and need not be kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from training.data.records import DataError

CHUNK = 2**20
_SPACE = "\ufeff \t\r\n"
# The published rows hold control characters.
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class Row:
    """One row. ``number`` counts from 1: a line of JSON lines, an entry of a list. ``start`` is the line's
    place in the file in bytes, None in a list."""

    path: Path
    number: int
    start: int | None
    values: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Names the row wherever it is spoken of: the end of its path says which set it is of."""
        return f"{self.path.parent.name}/{self.path.name}:{self.number}"

    def wrong(self, message: object) -> DataError:
        return DataError(f"{self.path}: row {self.number}: {message}")


def rows(path: Path) -> Iterator[Row]:
    """Every row of a file. :raises DataError: it cannot be read, or a row is no JSON object"""
    try:
        with path.open(encoding="utf-8") as file:
            is_list = file.read(64).lstrip(_SPACE).startswith("[")
            file.seek(0)
            yield from _listed(path, file) if is_list else _lines(path)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: found bytes that are no UTF-8 ({error.reason}), wanted JSON") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error


def read_again(path: Path, number: int, start: int) -> Mapping[str, Any]:
    """A line of JSON lines by its place. :raises DataError: the file has changed since"""
    try:
        with path.open("rb") as file:
            file.seek(start)
            return _object(path, number, _decoded(path, number, file.readline().decode("utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: row {number}: cannot be read any more ({error})") from error


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
        raise DataError(f"{path}: row {number}: found no JSON ({error}), wanted an object") from error


def _object(path: Path, number: int, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{path}: row {number}: found {type(value).__name__}, wanted an object")
    return value


def _listed(path: Path, file: TextIO) -> Iterator[Row]:
    """The entries of a JSON list, of which a chunk or one entry is in memory, whichever is longer."""
    entries = _Entries(path, file)
    entries.skip("[")
    number = 0
    while entries.peek() != "]":
        if number:
            entries.skip(",", number)
        number += 1
        yield Row(path, number, None, _object(path, number, entries.next(number)))


class _Entries:
    """What of a JSON list has been read and not yet been taken."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path = path
        self._file = file
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no space, "" at the end of the file."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def skip(self, mark: str, number: int = 0) -> None:
        if (found := self.peek()) != mark:
            raise self._broken(number, f"{found!r}" if found else "the end of the file", f"{mark!r}")
        self._at += 1

    def next(self, number: int) -> object:
        self.peek()
        while True:
            try:
                value, self._at = _DECODER.raw_decode(self._text, self._at)
                return value
            except (ValueError, RecursionError) as error:
                # Cut off by the end of what has been read, or broken: only the rest of the file can tell.
                if isinstance(error, RecursionError) or not self._more():
                    raise self._broken(number - 1, f"no JSON ({error})", "an object") from error

    def _more(self) -> bool:
        # As much again as is waiting, so that a long entry is not tried too often.
        read = self._file.read(max(CHUNK, len(self._text) - self._at))
        self._text = self._text[self._at :] + read
        self._at = 0
        return bool(read)

    def _broken(self, after: int, found: str, wanted: str) -> DataError:
        return DataError(f"{self._path}: after row {after}: found {found}, wanted {wanted}: a list of rows")
