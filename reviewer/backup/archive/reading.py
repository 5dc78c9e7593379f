"""A database from a plain archive: every row as it was, or a sentence that says where it is not."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reviewer.backup.archive.manifest import NAME, PICTURES, Manifest, TableFile, file_of, read_manifest
from reviewer.backup.archive.values import PICTURE_NAME, from_plain
from reviewer.backup.backups import BadArchive
from reviewer.store import CannotWrite, Head, NewerSchema, StoreError
from reviewer.store.sqlite.rows import Filling, at_rest, filling
from reviewer.store.sqlite.schema import MIGRATIONS

LONGEST_LINE = 256 * 2**20
"""Bytes. The longest rows are spectra: one of a million pixels takes some 40 MB."""
LARGEST_PICTURE = 256 * 2**20


def build(folder: Path, target: Path, progress: Callable[[int, int], None] | None = None) -> Head | None:
    """Make the database at ``target``, of the schema that the archive has; the head of its log.

    A target whose building failed is to be thrown away.

    :param progress: called with the number of rows read, and of all
    :raises BadArchive: a file, a line or a picture is missing, too many, changed or of another kind
    :raises NewerSchema: a newer release wrote it
    """
    told = read_manifest(folder)
    if told.schema > MIGRATIONS[-1].number:
        raise NewerSchema(
            f"{folder}: its schema is number {told.schema}, this release knows {MIGRATIONS[-1].number}. "
            "Update spec-o3, then restore it."
        )
    _refuse_other_files(folder, told)
    # Before anything is written, so that nobody else may read it while it grows.
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with filling(target, told.schema) as new:
            _refuse_other_tables(folder, told, new)
            _fill(folder, told, new, progress)
    except (BadArchive, CannotWrite):
        raise
    except StoreError as error:
        raise BadArchive(f"{folder}: {error}") from error
    with at_rest(target) as moment:
        head = moment.head
    if head != told.head:
        raise BadArchive(f"{folder}: its log ends at {head}, its manifest says {told.head}")
    return head


def _fill(folder: Path, told: Manifest, new: Filling, progress: Callable[[int, int], None] | None) -> None:
    total, done = sum(table.rows for table in told.tables.values()), 0
    pictures = _Pictures(folder / PICTURES)
    for name, wanted in told.tables.items():
        table, path, number = new.tables[name], folder / file_of(name), 0
        for number, line in enumerate(_lines(path, wanted), start=1):
            try:
                new.insert(table, from_plain(table, _parsed(line), pictures.take))
            except (BadArchive, StoreError) as error:
                raise BadArchive(f"{path}: line {number}: {error}") from error
            if progress is not None:
                progress(done + number, total)
        if number != wanted.rows:
            raise BadArchive(f"{path}: found {number} lines, its manifest says {wanted.rows}")
        done += number
    pictures.refuse_others()


def _lines(path: Path, wanted: TableFile) -> Iterator[bytes]:
    """The lines of a file whose size and SHA-256 are known; that they are right is known after the last."""
    found = _regular(path).st_size
    if found != wanted.bytes:
        raise BadArchive(f"{path}: found {found} bytes, its manifest says {wanted.bytes}")
    whole = hashlib.sha256()
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                raise BadArchive(f"{path}: found a line of more than {LONGEST_LINE} bytes")
            whole.update(line)
            yield line
    if whole.hexdigest() != wanted.sha256:
        raise BadArchive(f"{path}: its SHA-256 is not the one in its manifest: it was changed")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadArchive(f"it is no JSON ({error})") from error
    if not isinstance(found, dict):
        raise BadArchive(f"found {found!r:.60}, wanted an object")
    return found


class _Pictures:
    """The folder of pictures, from which rows take theirs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken = 0

    def take(self, key: str, sha256: str) -> bytes:
        """:raises BadArchive: there is no such picture, or not the one that the row means"""
        if not PICTURE_NAME.fullmatch(key):
            raise BadArchive(f"found the picture {key!r:.80}, wanted 64 hexadecimal digits")
        path = self._folder / f"{key}.png"
        if _regular(path).st_size > LARGEST_PICTURE:
            raise BadArchive(f"{path}: it has more than {LARGEST_PICTURE} bytes")
        png = path.read_bytes()
        if hashlib.sha256(png).hexdigest() != sha256:
            raise BadArchive(f"{path}: its SHA-256 is not the one in its row: it was changed")
        self._taken += 1
        return png

    def refuse_others(self) -> None:
        """Each row has another key, so there are as many files as were taken, or some that no row names."""
        found = sum(1 for _ in os.scandir(self._folder))
        if found != self._taken:
            raise BadArchive(f"{self._folder}: found {found} files, wanted the {self._taken} that rows name")


def _refuse_other_files(folder: Path, told: Manifest) -> None:
    wanted = {NAME, PICTURES, *map(file_of, told.tables)}
    found = {entry.name for entry in os.scandir(folder)}
    for name in sorted(wanted - found):
        raise BadArchive(f"{folder}: found no {name:.80}, which belongs to it")
    for name in sorted(found - wanted):
        raise BadArchive(f"{folder}: found {name!r:.80}, which its manifest does not name")
    if (folder / PICTURES).is_symlink() or not (folder / PICTURES).is_dir():
        raise BadArchive(f"{folder / PICTURES}: wanted a folder")


def _refuse_other_tables(folder: Path, told: Manifest, new: Filling) -> None:
    for name in sorted(told.tables.keys() ^ new.tables.keys()):
        which = "which no database of its schema has" if name in told.tables else "which is missing"
        raise BadArchive(f"{folder / NAME}: the table {name!r:.60}, {which}")


def _regular(path: Path) -> os.stat_result:
    """:raises BadArchive: it is a link, which could lead anywhere, or no file at all"""
    try:
        found = path.lstat()
    except OSError as error:
        raise BadArchive(f"{path}: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise BadArchive(f"{path}: wanted a plain file")
    return found
