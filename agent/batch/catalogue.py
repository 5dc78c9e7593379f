"""Sources by the million: files, folders, lists, and Parquet or HATS catalogues, here or behind an address (fsspec),
as names in chunks. Nothing is opened but the lists and catalogues themselves.

A HATS catalogue (Caplar et al. 2025, arXiv 2501.02103) is a folder of Parquet files, one per HEALPix cell. Files whose
rows name spectra are read here; files with arrays of flux are spectrum files like others.
"""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from agent.batch.sources import (
    NO_PART,
    SUFFIXES,
    OnSkip,
    SourceError,
    catalogue_columns,
    catalogued,
    is_list,
    listed,
    spectra_below,
)
from agent.language import tr
from agent.spectrum.names import COMPRESSED, same_file

CHUNK = 200_000
"""Spectra per chunk."""
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True)
class Chunk:
    """Some sources: ``files`` as results name them (an address, or a path relative to their folder), and the target of
    each, as ``agent.batch.sources.Source`` has them.
    """

    files: list[str]
    targets: list[str]


def is_url(given: str) -> bool:
    """Whether a source is an address, for example ``s3://bucket/spectra``."""
    return bool(_URL.match(given))


def chunks_from(
    given: Iterable[str],
    base: Path,
    selection: str = "",
    stdin: TextIO | None = None,
    on_skip: OnSkip = lambda path, reason: None,
) -> Iterator[Chunk]:
    """Yield the sources given on the command line; the same one may come twice.

    :param base: the folder that files are named from
    :param selection: target of those that name none (``agent.spectrum.readers.targets.Selection``)
    :param stdin: where ``-`` reads its list
    :param on_skip: called for each file of a folder that is no source
    :raises SourceError: a source is missing, or a list or catalogue cannot be read
    """
    names = _Names(base)
    pairs = (pair for name in given for pair in _pairs(name, names, stdin, on_skip))
    while chunk := list(islice(pairs, CHUNK)):
        yield Chunk([file for file, _ in chunk], [target or selection for _, target in chunk])


def _pairs(given: str, names: _Names, stdin: TextIO | None, on_skip: OnSkip) -> Iterator[tuple[str, str]]:
    """Yield file and target of each source of one argument."""
    if given == "-":
        if stdin is None:
            raise SourceError(tr("-: found no standard input, expected a list"))
        yield from names.all(Path(), listed(stdin, tr("standard input")))
        return
    where = given.removeprefix("@")
    if is_url(where):
        yield from _at_address(where, given.startswith("@"))
        return
    path = Path(where)
    if given.startswith("@") or is_list(path):
        try:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                yield from names.all(path.parent, listed(lines, str(path)))
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(
                tr("{path}: found no text ({error}), expected a list of files", path=path, error=error)
            ) from error
    elif path.suffix.lower() == ".parquet" and path.is_file() and (columns := catalogue_columns(path)):
        yield from names.all(path.parent, catalogued(path, columns))
    elif path.is_dir():
        for file in spectra_below(path, on_skip):
            if file.suffix.lower() == ".parquet" and (columns := catalogue_columns(file)):
                yield from names.all(path, catalogued(file, columns))
            else:
                yield names.of(Path(), str(file.absolute())), ""
    elif path.exists():
        yield names.of(Path(), str(path.absolute())), ""
    else:
        raise SourceError(tr("{given}: found no such file or folder", given=given))


_TRIES = 10
"""Files that are searched, of those of a list that name one folder, until one is found."""


class _Names:
    """Names of files as results have them. The first file of a folder that is found decides for all of its files."""

    def __init__(self, base: Path) -> None:
        self._base = base.resolve()
        self._prefixes: dict[str, dict[str, str]] = {}
        self._missing: Counter[tuple[str, str]] = Counter()

    def of(self, next_to: Path, name: str) -> str:
        """Return the name of a file.

        :param next_to: where a relative path is searched first
        """
        return next(self.all(next_to, [(name, "")]))[0]

    def all(self, next_to: Path, names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
        """Yield the names of many files, each with its target."""
        prefixes = self._prefixes.setdefault(str(next_to), {})
        for name, target in names:
            if "://" in name and is_url(name):
                yield name, target
                continue
            folder, slash, last = name.replace(os.sep, "/").rpartition("/")
            folder = folder or slash
            prefix = prefixes.get(folder)
            if prefix is None:
                where, is_found = _folder(next_to, folder, last)
                name = self._folder_name(where)
                prefix = f"{name}/" if name else ""
                self._missing[str(next_to), folder] += not is_found
                if is_found or self._missing[str(next_to), folder] >= _TRIES:
                    prefixes[folder] = prefix
            yield prefix + last, target

    def _folder_name(self, folder: Path) -> str:
        real = folder.absolute().resolve()
        try:
            relative = Path(os.path.relpath(real, self._base)).as_posix()
        except ValueError:  # on another drive
            return real.as_posix()
        return "" if relative == "." else relative


def _folder(next_to: Path, folder: str, example: str) -> tuple[Path, bool]:
    """Return the folder of a listed file, and whether the file is there."""
    here = next_to / folder
    try:
        if Path(folder).is_absolute() or (here / example).exists():
            return here, True
        return (Path(folder), True) if Path(folder, example).exists() else (here, False)
    except (OSError, ValueError) as error:
        raise SourceError(
            tr("found {folder!r:.80}, expected the path of a file ({error})", folder=folder, error=error)
        ) from None


def _at_address(address: str, as_list: bool) -> Iterator[tuple[str, str]]:
    """Yield the sources at an address: a folder, a list, a catalogue or a file."""
    files, path = _file_system(address)
    try:
        if files.isdir(path):
            for file in sorted(files.find(path)):
                yield from _file_at(files, file, as_list=False, from_folder=True)
        elif files.exists(path):
            yield from _file_at(files, path, as_list, from_folder=False)
        else:
            raise SourceError(tr("{address}: found no such file or folder", address=address))
    except OSError as error:
        raise SourceError(f"{address}: {error}") from error


def _file_at(files: Any, path: str, as_list: bool, from_folder: bool) -> Iterator[tuple[str, str]]:
    name = path.rpartition("/")[2]
    address = files.unstrip_protocol(path)
    folder = address.rpartition("/")[0]

    def named(file: str) -> str:
        return file if is_url(file) else f"{folder}/{file}"

    plain = name.lower()
    for ending in COMPRESSED:
        plain = plain.removesuffix(ending)
    if name in NO_PART or name.startswith(".") or (from_folder and not plain.endswith(SUFFIXES)):
        return
    if as_list:
        with files.open(path, "r", encoding="utf-8-sig") as lines:
            yield from ((named(file), target) for file, target in listed(lines, address))
    elif plain.endswith(".parquet") and (columns := catalogue_columns(path, files)):
        yield from ((named(file), target) for file, target in catalogued(path, columns, files))
    else:
        yield address, ""


def _file_system(address: str) -> tuple[Any, str]:
    """Return fsspec's file system of an address, and the path in it."""
    try:
        import fsspec

        files, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise SourceError(
            tr("{address}: {error}; install the package that reads such addresses", address=address, error=error)
        ) from error
    except (ValueError, OSError) as error:
        raise SourceError(f"{address}: {error}") from error
    return files, path


@contextmanager
def local_file(name: str, base: Path) -> Generator[Path, None, None]:
    """Give a file of a chunk as a path on this machine; one behind an address is copied for the time of the block.

    :raises SourceError: it cannot be copied
    """
    if not is_url(name):
        yield same_file(base / name) or base / name
        return
    files, path = _file_system(name)
    with TemporaryDirectory(prefix="spec-o3-") as folder:
        copy = Path(folder, path.rpartition("/")[2] or "spectrum")
        try:
            files.get_file(path, str(copy))
        except Exception as error:  # what a store of objects raises is not known here
            raise SourceError(f"{name}: {type(error).__name__}: {error}") from error
        yield copy
