"""The bench of the Live tab: a person's spectra, from uploaded files and from items of the library.

Files stay in a temporary folder until their last spectrum is removed or the server stops. Only the rows are in
memory; a spectrum is read again when it is used.
"""

from __future__ import annotations

import math
import re
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from agent.errors import Refusal
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError, read
from agent.spectrum.readers import opened
from agent.spectrum.readers.pixels import NoDataError
from agent.spectrum.sparkline import sparkline
from reviewer.pictures import Cache, Gallery
from reviewer.reading import FILES
from reviewer.store import Item, NotFound

LARGEST_FILE = 2 * 2**30
LARGEST_FOLDER = 8 * 2**30
"""Bytes of all files per person."""
MOST_TARGETS = 500
"""Spectra taken from one file."""
MOST_ROWS = 1_000
MOST_KEPT_READ = 16
"""Spectra of one file that stay in memory when it is added, so that the first ones are not read again."""
MOST_PROBLEMS = 5
"""Unreadable spectra of one file that are reported one by one."""
_CHUNK = 2**20


class BenchFull(Refusal):
    """The bench is full, or an upload is too large for it."""

    kind = "bench_full"
    status = 409


@dataclass(frozen=True)
class UploadedFile:
    """The position of a spectrum in an uploaded file; ``target`` is "" if the file has only one."""

    path: Path
    target: str


@dataclass(frozen=True)
class Row:
    """A spectrum on the bench. ``snr`` is per pixel, ``spectrum`` its SHA-256; it comes from the library item
    ``item`` or from ``file``. ``sparkline`` is drawn when it is added, while the spectrum is in memory."""

    id: str
    name: str
    survey: str
    snr: float | None
    spectrum: str
    simulated: bool
    sparkline: str
    item: int | None = None
    file: UploadedFile | None = None


class Bench:
    """The bench of one person; thread-safe."""

    def __init__(self, gallery: Gallery, cache: Cache[UploadedFile, Spectrum]) -> None:
        self._gallery = gallery
        self._read_before = cache
        self._lock = threading.Lock()
        self._rows: dict[str, Row] = {}
        self._sizes: dict[Path, int] = {}  # bytes written so far, by folder
        self._folder = tempfile.TemporaryDirectory(prefix="spec-o3-live-", ignore_cleanup_errors=True)

    def rows(self) -> list[Row]:
        """Return the rows in the order in which they were added."""
        with self._lock:
            return list(self._rows.values())

    def row(self, row_id: str) -> Row:
        """Return a row. :raises NotFound: no such spectrum is on the bench"""
        row = self._rows.get(row_id)
        if row is None:
            raise NotFound(tr("This spectrum is not on your bench any more; add it again."))
        return row

    def spectrum(self, row: Row) -> Spectrum:
        """The spectrum of a row.

        :raises SpectrumError: its file cannot be read any more
        """
        file = row.file
        if file is None:
            return self._gallery.spectrum(row.spectrum)
        return self._read_before.get(file, lambda: _read_again(file))

    def with_hash(self, sha256: str) -> Spectrum | None:
        """Return the spectrum with this hash, None if it is not on the bench."""
        row = self._of_hash(sha256)
        return None if row is None else self.spectrum(row)

    def sparkline(self, sha256: str) -> str | None:
        """Return the sparkline of the spectrum with this hash, None if it is not on the bench."""
        row = self._of_hash(sha256)
        return None if row is None else row.sparkline

    def add_item(self, item: Item) -> Row:
        """Add the spectrum of a library item; one that is already there keeps its place.

        :raises SpectrumError: the item came without its spectrum
        :raises BenchFull: the bench is full
        """
        sha256 = item.row.spectrum_sha256
        if sha256 is None:
            raise SpectrumError(item.row.name, tr("an item that came without its spectrum"), tr("one that has it"))
        known = self._of_hash(sha256)
        if known is not None and known.item == item.id:
            return known
        row = replace(_row_of(self._gallery.spectrum(sha256), None), item=item.id)
        if known is None:
            return self._put(row)
        row = self._put(replace(row, id=known.id))
        if known.file is not None:
            self._sweep(known.file.path.parent)
        return row

    def add_file(self, filename: str, content: BinaryIO) -> tuple[list[Row], list[str]]:
        """Add every spectrum of a file.

        :param filename: as sent by the browser; used as a name only
        :returns: the rows, including those that were already there, and messages about problems
        """
        name = name_of(filename)
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        path = folder / name
        rows: list[Row] = []
        problems: list[str] = []
        try:
            self._copy(content, path)
            with FILES:
                self._take(path, rows, problems)
        except SpectrumError as error:
            problems.append(str(error))
        except BenchFull as full:
            problems.append(f"{name}: {full}")
        except OSError as error:
            problems.append(
                tr("{name}: the file could not be saved ({value}).", name=name, value=error.strerror or error)
            )
        self._sweep(folder)
        return rows, problems

    def remove(self, row_id: str) -> None:
        """Remove a spectrum, and its file if it was the last one of it. :raises NotFound: it is not there"""
        row = self.row(row_id)
        with self._lock:
            self._rows.pop(row_id, None)
        if row.file is not None:
            self._sweep(row.file.path.parent)

    def clear(self) -> None:
        """Remove all spectra and their files."""
        for row in self.rows():
            with suppress(NotFound):  # removed by another request
                self.remove(row.id)

    def close(self) -> None:
        """Delete the files."""
        self._folder.cleanup()

    def _copy(self, content: BinaryIO, path: Path) -> None:
        with path.open("wb") as copy:
            while chunk := content.read(_CHUNK):
                # Counted before it is written: several uploads of one person may run at once.
                with self._lock:
                    size = self._sizes[path.parent] = self._sizes.get(path.parent, 0) + len(chunk)
                    too_large = size > LARGEST_FILE or sum(self._sizes.values()) > LARGEST_FOLDER
                if too_large:
                    most, all_files = LARGEST_FILE / 2**30, LARGEST_FOLDER / 2**30
                    expected = tr(
                        "at most {most:.0f} GiB per file and {all_files:.0f} GiB on a bench",
                        most=most,
                        all_files=all_files,
                    )
                    raise SpectrumError(path.name, tr("a file that is too large"), expected)
                copy.write(chunk)

    def _take(self, path: Path, rows: list[Row], problems: list[str]) -> None:
        """Add the spectra of a file: rows go into ``rows``, messages about unreadable ones into ``problems``."""
        bad: list[str] = []
        empty = 0
        full: BenchFull | None = None
        with opened(path) as targets:
            names = targets.names
            for target in names[:MOST_TARGETS]:
                try:
                    spectrum = targets.read(target or None)
                except NoDataError:
                    if len(names) == 1:
                        raise
                    empty += 1
                except SpectrumError as error:
                    bad.append(str(error))
                else:
                    file = UploadedFile(path, target)
                    try:
                        rows.append(self._put(_row_of(spectrum, file)))
                    except BenchFull as error:
                        # Raised below: an error inside the reader's context counts as a damaged file.
                        full = error
                        break
                    if rows[-1].file == file and len(rows) <= MOST_KEPT_READ:
                        self._read_before.put(file, spectrum)
        if full is not None:
            raise full
        problems += [*bad[:MOST_PROBLEMS], *_left_out(path.name, len(names), empty, len(bad))]

    def _put(self, row: Row) -> Row:
        """Add a row and return it, or return the row that already has this spectrum."""
        with self._lock:
            known = next((r for r in self._rows.values() if r.spectrum == row.spectrum), None)
            if known is not None and known.id != row.id:
                return known
            if known is None and len(self._rows) >= MOST_ROWS:
                raise BenchFull(
                    tr("Your bench is full: found {most_rows} spectra, the maximum. Remove some.", most_rows=MOST_ROWS)
                )
            self._rows[row.id] = row
            return row

    def _of_hash(self, sha256: str) -> Row | None:
        return next((row for row in self.rows() if row.spectrum == sha256), None)

    def _sweep(self, folder: Path) -> None:
        """Delete a file's folder once no row uses it."""
        if all(row.file is None or row.file.path.parent != folder for row in self.rows()):
            shutil.rmtree(folder, ignore_errors=True)
            with self._lock:
                self._sizes.pop(folder, None)


class Benches:
    """The benches of all people, each created on first use."""

    def __init__(self, gallery: Gallery, spectra: int = 64) -> None:
        """Keep up to ``spectra`` spectra in memory."""
        self._gallery = gallery
        self._read_before: Cache[UploadedFile, Spectrum] = Cache(spectra)
        self._lock = threading.Lock()
        self._benches: dict[str, Bench] = {}

    def of(self, owner: str) -> Bench:
        with self._lock:
            if owner not in self._benches:
                self._benches[owner] = Bench(self._gallery, self._read_before)
            return self._benches[owner]

    def close(self) -> None:
        """Delete all files."""
        with self._lock:
            for bench in self._benches.values():
                bench.close()
            self._benches.clear()


def name_of(filename: str) -> str:
    """Return a browser's file name as a safe name in our folder: no path, not hidden, not too long."""
    last = re.split(r"[/\\]", filename.encode("utf-8", "replace").decode())[-1]
    plain = re.sub(r"[\x00-\x1f\x7f]", "", last).strip().lstrip(".")
    while len(plain.encode()) > 200:
        plain = plain[1:]
    return plain or "spectrum"


def _left_out(name: str, count: int, empty: int, bad: int) -> Iterator[str]:
    """Messages about the spectra of a file that are not on the bench."""
    if not count:
        yield tr("{name}: found sky fibres only, expected an object.", name=name)
    if empty:
        yield tr("{name}: {empty} of its spectra hold no data and were left out.", name=name, empty=empty)
    if bad > MOST_PROBLEMS:
        yield tr("{name}: {bad} more of its spectra cannot be read.", name=name, bad=bad - MOST_PROBLEMS)
    if count > MOST_TARGETS:
        beyond = count - MOST_TARGETS
        yield tr(
            "{name}: found {count} spectra; the first {most_targets} were added, {beyond} were not.",
            name=name,
            count=count,
            most_targets=MOST_TARGETS,
            beyond=beyond,
        )


def _read_again(file: UploadedFile) -> Spectrum:
    with FILES:
        return read(file.path, file.target or None)


def _row_of(spectrum: Spectrum, file: UploadedFile | None) -> Row:
    return Row(
        id=secrets.token_urlsafe(9),
        name=spectrum.name,
        survey=spectrum.survey,
        snr=spectrum.snr_typical if math.isfinite(spectrum.snr_typical) else None,
        spectrum=spectrum.sha256,
        simulated=bool(spectrum.meta.get("simulated", False)),
        sparkline=sparkline(spectrum),
        file=file,
    )
