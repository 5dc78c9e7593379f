"""What to inspect: files, folders and lists from the command line, each spectrum with a stable name."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.names import COMPRESSED, LostDigitsError, id_key, same_file
from agent.spectrum.readers import opened
from agent.spectrum.readers.files import in_same_folder
from agent.spectrum.readers.pixels import NoDataError
from agent.spectrum.readers.surveys import plate, redrock
from agent.spectrum.readers.targets import Selection, Targets
from agent.spectrum.record import Medium, with_medium

SUFFIXES = (".fits", ".fit", ".fts", ".parquet", ".csv", ".ecsv", ".dat", ".ascii", ".asc", ".txt", ".spec")
"""Files taken from a folder unopened, also compressed. Any other file of a folder is opened, and taken if it holds a
spectrum; a file given by name is always taken."""

SET_BY_OPTION = "option"
"""What ``meta["medium_set_by"]`` has for a medium that was given for a whole run."""

NO_PART = ("_metadata", "_common_metadata", "data_thumbnail.parquet", "partition_info.csv")
"""Files of a HATS catalogue or Parquet folder that describe it, or repeat some of its rows."""

_LISTS = (".csv", ".txt", ".tsv")
_COLUMNS = ("file", "path")
_ROWS = 200_000
"""Rows of a catalogue that are read at once."""


class SourceError(Refusal, ValueError):
    """A source is missing, or a list cannot be read: which, what was found, what was expected."""


@dataclass(frozen=True)
class Source:
    """A spectrum, or a file that may hold several.

    :param file: its path relative to the folder of the results, with ``/``
    :param target: which spectrum of the file; "" for the only one, or for all that it holds; a selection
        (``Selection.parse``) for some of them
    """

    path: Path
    file: str
    target: str = ""

    @property
    def key(self) -> str:
        """Name of the spectrum in the results. It is relative to their folder, so that a run can resume from any
        working directory, and results and spectra can be moved together."""
        return key_of(self.file, self.target)


def key_of(file: str, target: str) -> str:
    """Return the name of a spectrum: its file, and its target if it has one."""
    return f"{file}#{target}" if target else file


OnSkip = Callable[[Path, str], None]
"""``on_skip(path, reason)``: a file of a folder is not a source."""


def sources_from(
    given: Iterable[str], results: Path, stdin: TextIO | None = None, on_skip: OnSkip = lambda path, reason: None
) -> Iterator[Source]:
    """Yield the sources given on the command line, each once, in order; folders sorted by name. Of a folder, files with
    the suffix of a spectrum are not opened; others are, and are taken if they hold one.

    A Parquet file with a column ``file`` or ``path`` (and optionally ``target``) is a catalogue: its rows name
    spectra. A list is ``@FILE``, ``-`` for standard input, or a ``.csv`` or ``.txt`` file with a column ``file`` or
    ``path`` in its first line. Otherwise a list has one path per line and ``#`` comments; with it, it is CSV (or
    tabs, semicolons) and may have a column ``target``. A relative path is searched in the list's folder first, then
    in the current one.

    :param results: the folder that files are named from
    :param stdin: where ``-`` reads its list
    :param on_skip: called for each file of a folder that is no source; hidden files and folders are left out silently
    :raises SourceError: there is no such file or folder, or a list cannot be read
    """
    seen: set[tuple[Path, str]] = set()
    base = results.resolve()
    for path, target in chain.from_iterable(_named(name, stdin, on_skip) for name in given):
        absolute = Path(os.path.abspath(path))
        if (absolute, target) not in seen:
            seen.add((absolute, target))
            yield Source(absolute, _relative(absolute, base), target)


def spectra_in(source: Source, is_known: Callable[[str], bool] = lambda _: False) -> Iterator[Source]:
    """Yield one source per spectrum of a file, or per spectrum that the selection in ``source.target`` accepts; sky
    fibres are left out. Spectra are not read, except to select by class where the file has no table of redshifts.

    A file that cannot be opened or selected from is one source: reading it gives the reason.

    :param is_known: whether a name is already known as that of a spectrum; such a file is not opened
    """
    if is_one_spectrum(source.target) or is_known(source.key):
        yield source
        return
    for name in SpectrumFile(source.path).names(source.target):
        yield replace(source, target=name)


def is_one_spectrum(target: str) -> bool:
    """Whether a target names a spectrum, so that its file need not be opened to know how many are meant."""
    return bool(target) and Selection.parse(target) is None


def _named(given: str, stdin: TextIO | None, on_skip: OnSkip) -> Iterator[tuple[Path, str]]:
    if given == "-":
        if stdin is None:
            raise SourceError(tr("-: found no standard input, expected a list"))
        for name, target in listed(stdin, tr("standard input")):
            yield _listed_path(name, Path(), tr("standard input")), target
        return
    path = Path(given.removeprefix("@"))
    if given.startswith("@") or is_list(path):
        try:
            with path.open(encoding="utf-8-sig", newline="") as lines:
                for name, target in listed(lines, str(path)):
                    yield _listed_path(name, path.parent, str(path)), target
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise SourceError(
                tr("{path}: found no text ({error}), expected a list of files", path=path, error=error)
            ) from error
    elif path.is_dir():
        for file in spectra_below(path, on_skip):
            yield from _referenced(file, path)
    elif path.exists():
        yield from _referenced(path, path.parent)
    elif "://" in given:
        raise SourceError(tr("{given}: found an address, expected a path; addresses need --engine ray", given=given))
    else:
        raise SourceError(tr("{given}: found no such file or folder", given=given))


def _referenced(path: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file, or the spectra that it names if it is a Parquet catalogue.

    :param folder: where relative paths are searched first
    """
    columns = catalogue_columns(path) if path.suffix.lower() == ".parquet" and path.is_file() else None
    if columns is None:
        yield path, ""
        return
    for name, target in catalogued(path, columns):
        yield _listed_path(name, folder, str(path)), target


def spectra_below(folder: Path, on_skip: OnSkip) -> Iterator[Path]:
    """Yield the files below a folder that hold spectra; hidden ones are left out."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith("."):
                continue
            path = Path(where, name)
            reason = _reason_to_skip(path)
            if reason:
                on_skip(path, reason)
            else:
                yield path


def _reason_to_skip(path: Path) -> str:
    """Return why a file of a folder is no source, "" if it is one."""
    plain = path.name.lower()
    for ending in COMPRESSED:
        plain = plain.removesuffix(ending)
    if path.name in NO_PART:
        return deferred("a file about a catalogue, without rows of its own")
    if is_list(path):
        return deferred("a list or a table of labels, with a column file or path")
    owner = redrock.spectra_of(path.name) or plate.spectra_of(path.name)
    # redrock's table belongs to a coadd or to the file of single exposures.
    spectra = in_same_folder(path, owner, owner.replace("coadd", "spectra", 1)) if owner else None
    if spectra is not None:
        return deferred("the redshifts of {name}, read with it", name=spectra.name)
    if plain.endswith(SUFFIXES):
        return ""
    if plain.endswith(".jsonl"):
        return deferred("JSON lines: results or trajectories")
    try:
        with opened(path) as targets:
            if targets.names == ("",):
                targets.read(None)
    except NoDataError:
        return ""
    except SpectrumError as error:
        return deferred("found {found}, expected {expected}", found=error.actual, expected=error.expected)
    return ""


def is_list(path: Path) -> bool:
    """Whether a text file begins with columns of which one names files."""
    if path.suffix.lower() not in _LISTS:
        return False
    try:
        with path.open(encoding="utf-8-sig") as lines:
            return bool(_column(_split(lines.readline(1000))))
    except (OSError, UnicodeDecodeError):
        return False


def _column(names: list[str]) -> str:
    """Return the column that names the file, "" if there is none."""
    return next((name for name in _COLUMNS if name in names), "")


def _separator(line: str) -> str:
    return max("\t;,", key=line.count)


def _split(line: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in line.strip().split(_separator(line))]


def listed(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the paths of a list as they are written, each with its target ("" if none is given).

    :raises SourceError: a row has no path
    """
    rows = iter(lines)
    first = next(rows, "").removeprefix("\ufeff")
    columns = _split(first)
    column = _column(columns)
    if not column:
        for line in chain([first], rows):
            text = line.strip()
            if text and not text.startswith("#"):
                yield text, ""
        return
    file_at = columns.index(column)
    target_at = columns.index("target") if "target" in columns else None
    for number, row in enumerate(csv.reader(rows, delimiter=_separator(first)), start=2):
        if not row:
            continue
        file = row[file_at].strip() if file_at < len(row) else ""
        if not file:
            raise SourceError(
                tr(
                    "{name}: line {number}: {column}: found nothing, expected the path of a file",
                    name=name,
                    number=number,
                    column=column,
                )
            )
        target = row[target_at] if target_at is not None and target_at < len(row) else ""
        yield file, _identifier(target, name, number)


def _identifier(target: str, name: str, number: int) -> str:
    """Return a target of row ``number`` of a list or catalogue. :raises SourceError: its digits are lost"""
    try:
        return id_key(target)
    except LostDigitsError as error:
        raise SourceError(
            tr("{source}: row {number}: target: {error}", source=name, number=number, error=error)
        ) from error


def catalogue_columns(path: Path | str, filesystem: Any = None) -> tuple[str, str | None] | None:
    """Return the columns with file and target of a Parquet catalogue; None if it has no column with files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(str(path), filesystem=filesystem)
    except (pa.ArrowException, OSError):
        return None  # reading it as a spectrum gives the reason
    columns = {
        field.name.lower(): field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type) or field.name.lower() == "target"
    }
    file = next((columns[name] for name in _COLUMNS if name in columns), None)
    return None if file is None else (file, columns.get("target"))


def catalogued(path: Path | str, columns: tuple[str, str | None], filesystem: Any = None) -> Iterator[tuple[str, str]]:
    """Yield the paths of a Parquet catalogue as they are written, each with its target ("" if none is given).

    :param columns: as ``catalogue_columns`` finds them
    :param filesystem: fsspec's, for a path that is not on this machine
    :raises SourceError: a row has no path, or the file is damaged
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file, target = columns
    columns_read = [file] if target is None else [file, target]
    try:
        with pq.ParquetFile(str(path), filesystem=filesystem) as catalogue:
            for number, batch in enumerate(catalogue.iter_batches(_ROWS, columns=columns_read)):
                files = batch.column(file).to_pylist()
                targets = [None] * len(files) if target is None else batch.column(target).to_pylist()
                for row, (path_of, of) in enumerate(zip(files, targets, strict=True)):
                    place = number * _ROWS + row
                    if not path_of:
                        raise SourceError(
                            tr(
                                "{path}: row {place}: {file}: found nothing, expected the path of a file",
                                path=path,
                                place=place,
                                file=file,
                            )
                        )
                    yield path_of, "" if of is None else _identifier(str(of), str(path), place)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(
            tr("{path}: found a damaged Parquet file ({error}), expected a catalogue", path=path, error=error)
        ) from error


def _listed_path(name: str, folder: Path, source: str) -> Path:
    """Return the file in the list's folder if it exists, otherwise the one in the current folder. Names that mean the
    same file (``agent.spectrum.names``) are equal.

    :raises SourceError: no file can have that name
    """
    in_folder = folder / name
    try:
        os.stat(in_folder)
    except (FileNotFoundError, NotADirectoryError):
        return same_file(in_folder) or same_file(Path(name)) or Path(name)
    except (OSError, ValueError) as error:
        raise SourceError(
            tr(
                "{source}: found {name!r:.80}, expected the path of a file ({error})",
                source=source,
                name=name,
                error=error,
            )
        ) from None
    return in_folder


def _relative(absolute: Path, base: Path) -> str:
    # ``base`` has no symbolic links, so those of the file's folder must be resolved before comparing.
    real = absolute.parent.resolve() / absolute.name
    try:
        return Path(os.path.relpath(real, base)).as_posix()
    except ValueError:  # on another drive
        return real.as_posix()


class SpectrumFile:
    """A survey file that stays open between spectra; threads read it in turn. It closes with its last reference."""

    def __init__(self, path: Path, medium: Medium | None = None) -> None:
        """:param medium: of spectra whose file does not state it; None: as the reader assumes it"""
        self.path = path
        self._medium = medium
        self._lock = threading.Lock()
        self._session: Generator[_Answer | None, _Question, None] | None = None

    def read(self, target: str) -> Spectrum | SpectrumError:
        """Return the spectrum of that name ("" for the only one), or why it cannot be read."""
        spectrum = self._answer(lambda targets: targets.read(target or None))
        if self._medium is not None and isinstance(spectrum, Spectrum):
            return with_medium(spectrum, self._medium, SET_BY_OPTION)
        assert not isinstance(spectrum, tuple)
        return spectrum

    def names(self, target: str) -> tuple[str, ...]:
        """Return the targets of the spectra that ``target`` means: all of the file for "", those that a selection
        accepts, or the one of that name. If the file cannot be opened or selected from, it is ``target``: reading that
        gives the reason.
        """

        def found_in(targets: Targets) -> tuple[str, ...]:
            selection = Selection.parse(target) if target else Selection()
            return (target,) if selection is None or target in targets.names else targets.selected(selection)

        names = self._answer(found_in)
        return names if isinstance(names, tuple) else (target,)

    def unread(self) -> tuple[str, ...]:
        """Return the parts of the file that were not read so far, by name; () where that is not known."""
        names = self._answer(lambda targets: tuple(targets.unread()))
        return names if isinstance(names, tuple) else ()

    def _answer(self, question: _Question) -> _Answer:
        with self._lock:
            try:
                if self._session is None:
                    self._session = _session(self.path)
                    next(self._session)
                answer = self._session.send(question)
            except SpectrumError as error:  # one that closed the file
                self._session = None
                return error
            assert answer is not None
            return answer


class Reading:
    """One spectrum, read on first use."""

    def __init__(self, file: SpectrumFile, target: str) -> None:
        self._lock = threading.Lock()
        self._file: SpectrumFile | None = file
        self._target = target
        self._reading: Spectrum | SpectrumError | None = None

    def spectrum(self) -> Spectrum | SpectrumError:
        """Return the spectrum, or why there is none; the same for every thread."""
        with self._lock:
            if self._reading is None and self._file is not None:
                self._reading = self._file.read(self._target)
                self._file = None
            assert self._reading is not None
            return self._reading


_Answer = Spectrum | SpectrumError | tuple[str, ...]
_Question = Callable[[Targets], Spectrum | tuple[str, ...]]


def _session(path: Path) -> Generator[_Answer | None, _Question, None]:
    """Answer each question that is sent. A damaged target leaves the file open for the others; any other error is
    raised as a ``SpectrumError``."""
    with opened(path) as targets:
        answer: _Answer | None = None
        while True:
            question = yield answer
            try:
                answer = question(targets)
            except SpectrumError as error:
                answer = error
