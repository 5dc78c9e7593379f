"""What is to be inspected: files, folders and lists on the command line, to one name a spectrum.

A spectrum is known by its file, as a path relative to the folder of the results, and its target in that file.
So a run that goes on finds again what it has done, from wherever it is started, and results and spectra can
be moved together.

A list is ``@FILE``, ``-`` for standard input, or a ``.csv`` or ``.txt`` file whose first line names a
column ``file`` or ``path``. A list without such a line has a path on each line, ``#`` before a comment; with
it, it is read as CSV (tabs and semicolons separate too) and may have a column ``target``. A path that is not
absolute is looked for beside the list first, then in the current folder.
"""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TextIO

from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.readers import opened
from agent.text import OneLine

SUFFIXES = (".fits", ".fit", ".fts", ".parquet", ".csv", ".ecsv", ".dat", ".ascii", ".asc", ".txt", ".spec")
"""What is taken from a folder, also with ``.gz`` after it; a file that is named is read whatever its name."""

_LISTS = (".csv", ".txt", ".tsv")
_COLUMNS = ("file", "path")


class SourceError(OneLine, ValueError):
    """Something to inspect that is not there, or a list that cannot be read: which, what was found, what was
    wanted."""


@dataclass(frozen=True)
class Source:
    """A spectrum, or a file that may hold several.

    :param file: its path relative to the folder of the results, with ``/``
    :param target: which spectrum of the file; "" for the only one, or for all that it holds
    """

    path: Path
    file: str
    target: str = ""

    @property
    def key(self) -> str:
        """The name by which the spectrum is known in the results."""
        return key_of(self.file, self.target)


def key_of(file: str, target: str) -> str:
    """The name of a spectrum: its file, and its target if it has one."""
    return f"{file}#{target}" if target else file


def sources_from(given: Iterable[str], results: Path, stdin: TextIO | None = None) -> Iterator[Source]:
    """What the command line names, each once, in its order; folders by name. No spectrum file is opened.

    :param results: the folder that files are named from
    :param stdin: where ``-`` reads its list
    :raises SourceError: there is no such file or folder, or a list cannot be read
    """
    seen: set[tuple[Path, str]] = set()
    base = results.resolve()
    for path, target in chain.from_iterable(_named(one, stdin) for one in given):
        absolute = Path(os.path.abspath(path))
        if (absolute, target) not in seen:
            seen.add((absolute, target))
            yield Source(absolute, _relative(absolute, base), target)


def spectra_in(source: Source, is_known: Callable[[str], bool] = lambda _: False) -> Iterator[Source]:
    """One source for each spectrum of a file, found without reading any; sky fibres are left out.

    What cannot be opened is one source: whoever reads it gets the reason.

    :param is_known: whether a name has been met as that of a spectrum; such a file is not opened
    """
    if source.target or is_known(source.key):
        yield source
        return
    try:
        with opened(source.path) as targets:
            names = targets.names
    except SpectrumError:
        names = ("",)
    for name in names:
        yield replace(source, target=name)


def _named(given: str, stdin: TextIO | None) -> Iterator[tuple[Path, str]]:
    if given == "-":
        if stdin is None:
            raise SourceError("-: found no standard input, wanted a list")
        yield from _listed(stdin, "standard input", Path())
        return
    path = Path(given.removeprefix("@"))
    if given.startswith("@") or (path.suffix.lower() in _LISTS and _has_columns(path)):
        try:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                yield from _listed(lines, str(path), path.parent)
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"{path}: found no text ({error}), wanted a list of files") from error
    elif path.is_dir():
        yield from ((file, "") for file in _inside(path))
    elif path.exists():
        yield path, ""
    else:
        raise SourceError(f"{given}: found no such file or folder")


def _inside(folder: Path) -> Iterator[Path]:
    """The files below a folder that look like spectra, by name; hidden ones are left alone, and so are lists
    and tables of labels, which lie beside the spectra that they name."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().removesuffix(".gz").endswith(SUFFIXES):
                continue
            path = Path(where, name)
            if not (path.suffix.lower() in _LISTS and _has_columns(path)):
                yield path


def _has_columns(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig") as lines:
            return bool(_column(_split(lines.readline(1000))))
    except (OSError, UnicodeDecodeError):
        return False


def _column(names: list[str]) -> str:
    """Which of a list's columns names the file; "" if there is none."""
    return next((name for name in _COLUMNS if name in names), "")


def _separator(line: str) -> str:
    return max("\t;,", key=line.count)


def _split(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.strip().split(_separator(line))]


def _listed(lines: Iterable[str], name: str, folder: Path) -> Iterator[tuple[Path, str]]:
    rows = iter(lines)
    first = next(rows, "")
    columns = _split(first)
    column = _column(columns)
    if not column:
        for line in chain([first], rows):
            text = line.strip()
            if text and not text.startswith("#"):
                yield _beside(text, folder, name), ""
        return
    for number, row in enumerate(csv.DictReader(rows, columns, delimiter=_separator(first)), start=2):
        file = (row[column] or "").strip()
        if not file:
            raise SourceError(f"{name}: line {number}: {column}: found nothing, wanted the path of a file")
        yield _beside(file, folder, name), (row.get("target") or "").strip()


def _beside(name: str, folder: Path, source: str) -> Path:
    """:raises SourceError: no file can have that name"""
    beside = folder / name
    try:
        os.stat(beside)
    except (FileNotFoundError, NotADirectoryError):
        return Path(name)
    except (OSError, ValueError) as error:
        raise SourceError(f"{source}: found {name!r:.80}, wanted the path of a file ({error})") from None
    return beside


def _relative(absolute: Path, base: Path) -> str:
    # ``base`` has no links in it; the file's own folder is to be compared like with like.
    real = absolute.parent.resolve() / absolute.name
    try:
        return Path(os.path.relpath(real, base)).as_posix()
    except ValueError:  # on another drive
        return real.as_posix()


class SpectrumFile:
    """A survey file that stays open from one spectrum to the next; threads read it one after the other. It is
    closed once nobody holds it any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._session: Generator[Spectrum | SpectrumError | None, str, None] | None = None

    def read(self, target: str) -> Spectrum | SpectrumError:
        """The spectrum of that name, "" for the only one; or why it cannot be read."""
        with self._lock:
            try:
                if self._session is None:
                    self._session = _session(self.path)
                    next(self._session)
                found = self._session.send(target)
            except SpectrumError as error:  # one that closed the file
                self._session = None
                return error
            assert found is not None
            return found


class Reading:
    """One spectrum, read when it is first asked for."""

    def __init__(self, file: SpectrumFile, target: str) -> None:
        self._lock = threading.Lock()
        self._file: SpectrumFile | None = file
        self._target = target
        self._found: Spectrum | SpectrumError | None = None

    def spectrum(self) -> Spectrum | SpectrumError:
        """The spectrum, or why there is none; to every thread the same."""
        with self._lock:
            if self._found is None and self._file is not None:
                self._found = self._file.read(self._target)
                self._file = None
            assert self._found is not None
            return self._found


def _session(path: Path) -> Generator[Spectrum | SpectrumError | None, str, None]:
    """Answers each name sent with its spectrum. A target that is damaged leaves the file open for the others;
    whatever else goes wrong is told, by ``opened``, as a ``SpectrumError``."""
    with opened(path) as targets:
        answer: Spectrum | SpectrumError | None = None
        while True:
            target = yield answer
            try:
                answer = targets.read(target or None)
            except SpectrumError as error:
                answer = error
