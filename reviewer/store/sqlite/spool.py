"""Things that wait on the disk, in the order they came, until the last of them was looked at.

A file of its own without a name, which the system takes away with the process, whatever ends it. It lies
beside the database and not where the system puts such files, which may be the memory.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from reviewer.store.errors import CannotWrite

One = TypeVar("One")


class Waiting(Generic[One]):
    """Any number of things in little memory: put in, then gone through once."""

    def __init__(self, folder: Path) -> None:
        """:raises CannotWrite: nothing can be written in that folder"""
        self._folder = folder
        self._number = 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        except OSError as error:
            raise self._refused(error) from error

    def put(self, one: One) -> None:
        """:raises CannotWrite: the disk is full"""
        try:
            pickle.dump(one, self._file, pickle.HIGHEST_PROTOCOL)
        except OSError as error:
            raise self._refused(error) from error
        self._number += 1

    def __len__(self) -> int:
        return self._number

    def __iter__(self) -> Iterator[One]:
        """:raises CannotWrite: the disk is full"""
        try:
            self._file.seek(0)
            for _ in range(self._number):
                yield pickle.load(self._file)
        except OSError as error:
            raise self._refused(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: object, where: TracebackType | None) -> None:
        try:
            self._file.close()
        except OSError as error:
            # What could not be written is not wanted any more; a disk that is full was told before.
            if kind is None:
                raise self._refused(error) from error

    def _refused(self, error: OSError) -> CannotWrite:
        return CannotWrite(f"{self._folder}: {error.strerror}. Nothing was saved.")
