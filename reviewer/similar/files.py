"""Tables of rows in files that can be deleted at any time: each row has a key, and the latest row of a key counts.

A table is a few files of plain numpy arrays (npy, no pickles), which are memory-mapped. A file is written under
another name first, and its name has the number of its rows and the CRC-32 of its bytes, so a damaged one is noticed.
"""

from __future__ import annotations

import io
import logging
import os
import re
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

log = logging.getLogger("spec_o3.similar")

ROWS = 4096
"""Rows of a file; only the last one has fewer, and is written again when rows are added."""
_NAME = re.compile(r"(?P<number>\d{5})-(?P<rows>\d{1,6})-(?P<crc>[0-9a-f]{8})\.npy$")

Keys = NDArray[np.int64]


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, so that it is complete or absent."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        _remove(part)  # a full disk stays no fuller than it was
        raise


@dataclass(frozen=True)
class _Loaded:
    """The files of a table and their rows. It is replaced as a whole, because other threads read it meanwhile.

    :param keys: of all rows, sorted (n,); ``order``: the places of these rows, counted over the parts (n,)
    """

    files: tuple[Path, ...]
    parts: tuple[NDArray[Any], ...]
    keys: Keys
    order: NDArray[np.intp]

    @classmethod
    def of(cls, files: Sequence[Path], parts: Sequence[NDArray[Any]]) -> _Loaded:
        keys = np.concatenate([np.zeros(0, np.int64), *(np.asarray(part["key"]) for part in parts)])
        # Stable: of equal keys the latest row comes last.
        order = np.argsort(keys, kind="stable")
        return cls(tuple(files), tuple(parts), keys[order], order)

    def places(self, keys: Keys) -> NDArray[np.intp]:
        """Return the place of the latest row of each key, −1 without one."""
        if self.keys.size == 0:
            return np.full(keys.shape[0], -1, dtype=np.intp)
        at = np.searchsorted(self.keys, keys, side="right") - 1
        is_known = (at >= 0) & (self.keys[np.maximum(at, 0)] == keys)
        return np.where(is_known, self.order[np.maximum(at, 0)], -1)


class Table:
    """Rows of one structured type, in the files ``NAME-*`` of a folder. One process writes; any number may read.

    :param dtype: its first field is ``key`` (int64)
    """

    def __init__(self, folder: Path, name: str, dtype: np.dtype[Any]) -> None:
        self._folder = folder
        self.name = name
        self.dtype = dtype
        self._now = _Loaded.of((), ())
        self._waiting: list[NDArray[Any]] = []

    @property
    def contents(self) -> object:
        """What the files have; another object after each change."""
        return self._now

    def __len__(self) -> int:
        """Number of rows in the files, replaced ones included."""
        return int(self._now.keys.size)

    def load(self, writing: bool) -> None:
        """Read the files again; rows that wait to be written are dropped.

        :param writing: remove damaged files, and files that were replaced
        """
        pieces: dict[int, tuple[Path, NDArray[Any]]] = {}
        useless = []
        # The name has the CRC of the content, so a file that is loaded need not be read again.
        loaded = dict(zip(self._now.files, self._now.parts, strict=True))
        for path, number in self._named():
            rows = loaded[path] if path in loaded else _read(path, self.dtype)
            if rows is None:
                log.warning("similar items: %s is damaged; its rows are computed again", path.name)
                useless.append(path)
            elif number in pieces and pieces[number][1].shape[0] >= rows.shape[0]:
                useless.append(path)
            else:
                if number in pieces:
                    useless.append(pieces[number][0])
                pieces[number] = path, rows
        if writing:
            for path in useless:
                _remove(path)
        ordered = [pieces[number] for number in sorted(pieces)]
        self._waiting = []
        self._now = _Loaded.of([path for path, _ in ordered], [rows for _, rows in ordered])

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows; ``flush`` writes them."""
        self._waiting.append(np.asarray(rows, dtype=self.dtype).reshape(-1))

    def flush(self) -> None:
        """Write the rows that were added. :raises OSError: the disk is full, or the folder cannot be written"""
        if not self._waiting:
            return
        rows = np.concatenate(self._waiting)
        self._waiting = []
        files, parts = list(self._now.files), list(self._now.parts)
        if parts and parts[-1].shape[0] < ROWS:
            rows = np.concatenate([parts.pop(), rows])
            files.pop()
        self._replace(files, parts, rows)

    def known(self, keys: Keys) -> NDArray[np.bool_]:
        """Return which keys have a row in the files (n,)."""
        return self._now.places(keys) >= 0

    def rows(self, keys: Keys) -> NDArray[Any]:
        """Return the latest row of each key (n,); a row of zeros for an unknown one."""
        whole = np.zeros(keys.shape[0], dtype=self.dtype)
        now = self._now
        places = now.places(keys)
        start = 0
        for part in now.parts:
            here = np.flatnonzero((places >= start) & (places < start + part.shape[0]))
            whole[here] = part[places[here] - start]
            start += part.shape[0]
        return whole

    def compact(self, keys: Keys) -> None:
        """Keep only the latest rows of these keys, if the others are more than half.

        :raises OSError: the disk is full, or the folder cannot be written
        """
        keys = keys[self.known(keys)]
        if len(self) > max(2 * keys.shape[0], ROWS):
            self._replace([], [], self.rows(keys))

    def clear(self) -> None:
        """Remove every row."""
        self._now, self._waiting = _Loaded.of((), ()), []
        for path, _ in self._named():
            _remove(path)

    def _named(self) -> list[tuple[Path, int]]:
        """Return the table's files and their numbers."""
        if not self._folder.is_dir():
            return []
        named = []
        for path in sorted(self._folder.glob(f"{self.name}-*.npy")):
            match = _NAME.fullmatch(path.name.removeprefix(f"{self.name}-"))
            if match:
                named.append((path, int(match["number"])))
        return named

    def _replace(self, files: list[Path], parts: list[NDArray[Any]], rows: NDArray[Any]) -> None:
        """Write rows after those of some files, and remove all other files. :raises OSError: nothing was removed"""
        for start in range(0, rows.shape[0], ROWS):
            files.append(self._write(len(files), rows[start : start + ROWS]))
            parts.append(np.load(files[-1], mmap_mode="r", allow_pickle=False))
        before, self._now = self._now, _Loaded.of(files, parts)
        for path in set(before.files) - set(files):
            _remove(path)

    def _write(self, number: int, rows: NDArray[Any]) -> Path:
        buffer = io.BytesIO()
        np.save(buffer, rows, allow_pickle=False)
        data = buffer.getvalue()
        path = self._folder / f"{self.name}-{number:05d}-{rows.shape[0]}-{zlib.crc32(data):08x}.npy"
        write_atomically(path, data)
        return path


def _read(path: Path, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return the rows of a file; None if it is damaged or of another kind."""
    match = _NAME.search(path.name)
    try:
        if match is None or zlib.crc32(path.read_bytes()) != int(match["crc"], 16):
            return None
        rows: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return rows if rows.dtype == dtype and rows.shape == (int(match["rows"]),) else None


def _remove(path: Path) -> None:
    with suppress(OSError):  # another process removed it, or still reads it on a system that refuses then
        path.unlink()
