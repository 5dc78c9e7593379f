"""Arrays of spectra in files beside the database: ``annotations.db.spectra/ab/cdef….bin``, by the spectrum's SHA-256.

A file is written once, whole or not at all, and holds its own SHA-256, which every reading checks. Files are never
changed or deleted, so a copy of the folder needs only the files that it lacks.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import get_ident

from agent.language import deferred, tr
from reviewer.store.errors import CannotWrite, StoreError
from reviewer.store.sqlite.files import PART, sync

_MAGIC = b"SpO3spc1"
_LENGTHS = struct.Struct("<4I")
_FIRST = 2  # digits that name the subfolder: 256 of them


class SpectrumFileError(StoreError):
    """A spectrum's file that is missing or damaged: which one, what was found, and what to do."""


Parts = tuple[bytes, bytes, bytes, bytes]
"""Flux, inverse variance and mask as the database would store them, and the JSON text of model and exposures."""


class SpectrumFiles:
    """A folder of spectra."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._synced: set[Path] = set()

    def path(self, sha256: str) -> Path:
        return self.folder / sha256[:_FIRST] / f"{sha256[_FIRST:]}.bin"

    def exists(self, sha256: str) -> bool:
        return self.path(sha256).is_file()

    def write(self, sha256: str, parts: Parts) -> None:
        """Write the arrays of a spectrum, unless its file is there.

        :raises CannotWrite: the disk is full, or the folder cannot be written
        """
        target = self.path(sha256)
        if target.is_file():
            return
        content = _LENGTHS.pack(*map(len, parts)) + b"".join(parts)
        content = _MAGIC + _digest(sha256, content) + content
        try:
            self.make_folder(target.parent)
            write_whole(target, content)
        except OSError as error:
            raise CannotWrite(
                tr("{target}: {strerror}. Nothing was saved.", target=target, strerror=error.strerror)
            ) from error

    def read(self, sha256: str) -> Parts:
        """Return what was written. :raises SpectrumFileError: the file is missing or damaged"""
        path = self.path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise SpectrumFileError(
                tr("{path}: found no file with this spectrum. {what_to_do}", path=path, what_to_do=_WHAT_TO_DO)
            ) from None
        except OSError as error:
            raise SpectrumFileError(
                tr("{path}: {error}. {what_to_do}", path=path, error=error.strerror, what_to_do=tr(_WHAT_TO_DO))
            ) from error
        start = len(_MAGIC) + hashlib.sha256().digest_size
        content = data[start:]
        if data[: len(_MAGIC)] != _MAGIC or _digest(sha256, content) != data[len(_MAGIC) : start]:
            raise SpectrumFileError(
                tr(
                    "{path}: found {n_data} bytes whose SHA-256 is not the one in the file: it is damaged. Move "
                    "it away. {what_to_do}",
                    path=path,
                    n_data=len(data),
                    what_to_do=tr(_WHAT_TO_DO),
                )
            )
        at, parts = _LENGTHS.size, []
        for length in _LENGTHS.unpack_from(content):
            parts.append(content[at : at + length])
            at += length
        flux, ivar, mask, curves = parts
        return flux, ivar, mask, curves

    def names(self) -> Iterator[str]:
        """Yield the SHA-256 of every spectrum with a file, in order."""
        if self.folder.is_dir():
            for folder in sorted(path for path in self.folder.iterdir() if path.is_dir()):
                for name in sorted(os.listdir(folder)):
                    if name.endswith(".bin"):
                        yield folder.name + name.removesuffix(".bin")

    def make_folder(self, folder: Path) -> None:
        if folder in self._synced:
            return
        for made_folder in (self.folder, folder):
            made_folder.mkdir(mode=0o700, exist_ok=True)
            sync(made_folder.parent)
        self._synced.add(folder)


_WHAT_TO_DO = deferred(
    "Copy it from the folder of spectra next to a backup (docs/backups.md), or import the spectrum again: it is "
    "written to this file."
)


def _digest(sha256: str, content: bytes) -> bytes:
    """The hash in a file. It covers the name, so that a file under another one's name is found out."""
    return hashlib.sha256(bytes.fromhex(sha256) + content).digest()


def spectra_folder(database: Path) -> Path:
    """Return the folder of the files of a database."""
    return database.with_name(f"{database.name}.spectra")


def write_whole(target: Path, content: bytes) -> None:
    """Write a private file under its name only once all of it is on the disk."""
    # Two threads may write the same spectrum at once.
    part = target.with_name(f"{target.name}.{os.getpid()}.{get_ident()}{PART}")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    sync(target.parent)


def copy_new(
    source: Path, target: Path, names: Iterable[str], on_file: Callable[[], None] | None = None
) -> tuple[int, list[str]]:
    """Copy the files of spectra from one folder to another one that lacks them.

    On one disk a copy is a second name of the file, which takes no room: files are never changed.

    :param names: SHA-256 of the spectra
    :param on_file: called before each file
    :returns: how many were copied, and the spectra without a file in either folder, or with a damaged one on another
        disk
    :raises CannotWrite: the disk is full, or the folder cannot be written
    """
    source_files, target_files = SpectrumFiles(source), SpectrumFiles(target)
    copied, missing = 0, []
    linked: set[Path] = set()
    for name in names:
        if on_file is not None:
            on_file()
        if target_files.exists(name):
            continue
        if not source_files.exists(name):
            missing.append(name)
            continue
        try:
            target_files.make_folder(target_files.path(name).parent)
            try:
                os.link(source_files.path(name), target_files.path(name))
                linked.add(target_files.path(name).parent)
            except OSError:
                target_files.write(name, source_files.read(name))
        except SpectrumFileError:
            missing.append(name)
            continue
        except OSError as error:
            raise CannotWrite(
                tr(
                    "{path}: {strerror}. Files before it are copied.",
                    path=target_files.path(name),
                    strerror=error.strerror,
                )
            ) from error
        copied += 1
    for folder in linked:
        sync(folder)
    return copied, missing
