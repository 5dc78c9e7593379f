"""Spectra and pictures, each stored once under its hash, and the compression of arrays."""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agent.language import tr
from agent.spectrum import Spectrum
from agent.spectrum.names import spellings
from agent.spectrum.record import curves, unpack_curves
from agent.spectrum.sparkline import sparkline
from reviewer.store.errors import CannotWrite, Damaged, NotFound
from reviewer.store.spectrum_files import Parts, SpectrumFileError, SpectrumFiles, spectra_folder
from reviewer.store.sqlite.database import Database, Transaction, stamp

Width = Literal["<f4", "<f8"]


def pack(array: NDArray[np.float64]) -> tuple[Width, bytes]:
    """Compress a float64 array as float32 if no bit is lost, else as float64; return the width and the bytes.

    The bytes are shuffled before zlib (all first bytes of the numbers, then all second bytes ...): signs and
    exponents change slowly along a spectrum and compress well once they lie together.
    """
    with np.errstate(over="ignore", under="ignore"):
        short = array.astype("<f4")
    exact = np.array_equal(short.astype("<f8").view("<u8"), array.astype("<f8", copy=False).view("<u8"))
    width: Width = "<f4" if exact else "<f8"
    return width, pack_as(width, array)


def pack_as(width: Width, array: NDArray[np.float64]) -> bytes:
    """Compress an array at a given width."""
    numbers = array.astype(width, copy=False)
    shuffled = numbers.view("u1").reshape(numbers.size, numbers.itemsize).T
    return zlib.compress(shuffled.tobytes(), 6)


def unpack(width: Width, blob: bytes) -> NDArray[np.float64]:
    """Return the float64 array that ``pack`` was given."""
    return unpack_as(width, blob).astype(np.float64)


def unpack_as(width: Width, blob: bytes) -> NDArray[Any]:
    """Return the numbers at their stored width."""
    itemsize = np.dtype(width).itemsize
    rows = np.frombuffer(_bytes_in(blob), dtype="u1").reshape(itemsize, -1)
    return np.ascontiguousarray(rows.T).view(width).ravel()


def pack_mask(mask: NDArray[np.bool_]) -> bytes:
    """Compress a mask: one bit per pixel, zlib."""
    return zlib.compress(np.packbits(mask).tobytes(), 6)


def unpack_mask(blob: bytes, pixels: int) -> NDArray[np.bool_]:
    """Return the mask that ``pack_mask`` was given; ``pixels`` is its length."""
    return np.unpackbits(np.frombuffer(_bytes_in(blob), dtype="u1"), count=pixels).astype(bool)


def _bytes_in(blob: bytes) -> bytes:
    """Return the uncompressed bytes. :raises zlib.error: a damaged file can hold text in place of a blob"""
    if not isinstance(blob, bytes):
        raise zlib.error(f"found {type(blob).__name__}, expected compressed bytes")
    return zlib.decompress(blob)


_INSERT = """
INSERT INTO spectra (sha256, grid, name, survey, medium, frame, flux_unit, redshift, ra, dec, catalogue_class,
                     errors, details, flux_type, flux, ivar_type, ivar, mask, added_at)
VALUES (:sha256, :grid, :name, :survey, :medium, :frame, :flux_unit, :redshift, :ra, :dec, :catalogue_class,
        :errors, :details, :flux_type, :flux, :ivar_type, :ivar, :mask, :added_at)
"""
_SPARKLINES = """
SELECT s.sha256, p.path FROM spectra s LEFT JOIN sparklines p ON p.sha256 = s.sha256
WHERE s.sha256 IN (SELECT value FROM json_each(?))
"""
_KEEP_SPARKLINE = "INSERT INTO sparklines VALUES (:sha256, :sparkline) ON CONFLICT DO NOTHING"
_PLAIN_FIELDS = (
    "name",
    "survey",
    "medium",
    "frame",
    "flux_unit",
    "redshift",
    "ra",
    "dec",
    "catalogue_class",
    "errors",
)


FILES_FROM = "spectra_in_files_from"
"""Setting: once the database has so many spectra, the arrays of new ones are in files."""
DEFAULT_FILES_FROM = 20_000
_IN_FILES = "length(flux) = 0"
_AT_A_TIME = 100  # spectra per transaction of a move
_MOVE_PAUSE = 0.03  # seconds between two of them, for other writers
_THREADS = 8  # most of writing a file is waiting for the disk

_GET = """
SELECT s.*, g.wavelength_type, g.wavelength, g.pixels FROM spectra s JOIN grids g ON g.sha256 = s.grid
WHERE s.sha256 = ?
"""
_MOVE = "UPDATE spectra SET flux = x'', ivar = x'', mask = x'', details = :details WHERE sha256 = :sha256"


class Spectra:
    """Spectra with every bit kept, so that the same picture can be drawn; pictures where that is impossible.

    The arrays of a spectrum are in its row, or, where the row has an empty flux, in a file.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.files = SpectrumFiles(spectra_folder(database.path))

    def add(self, spectrum: Spectrum) -> str:
        """Store a spectrum, unless it is there, and return its SHA-256."""
        rows = self.prepare([spectrum])
        if rows:
            with self._database.write() as db:
                insert_spectrum(db, rows[0])
        return spectrum.sha256

    def prepare(self, spectra: Iterable[Spectrum]) -> list[dict[str, Any]]:
        """Return the rows of those spectra that are not stored, for ``insert_spectrum``. Files are written here.

        Compression and files are slow: call it before the write transaction. A spectrum whose file is gone is written
        to it again.

        :raises CannotWrite: a file cannot be written
        """
        new: list[Spectrum] = []
        gone: list[Spectrum] = []
        with self._database.read() as db:
            for spectrum in spectra:
                known = db.execute(f"SELECT {_IN_FILES} FROM spectra WHERE sha256 = ?", (spectrum.sha256,)).fetchone()
                if known is None:
                    new.append(spectrum)
                elif known[0] and not self.files.exists(spectrum.sha256):
                    gone.append(spectrum)
            to_files = bool(new) and _last_row(db) >= _files_from(db)
        at = stamp(self._database.now())
        rows = [{**encode(spectrum), "added_at": at} for spectrum in new]
        self._write_files([encode(spectrum) for spectrum in gone])
        return self._write_files(rows) if to_files else rows

    def _write_files(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Write the arrays of rows to files; return the rows without them."""
        split = [_split(row) for row in rows]
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(lambda thread: self.files.write(thread[0]["sha256"], thread[1]), split))
        return [row for row, _ in split]

    def whole(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row with its arrays, which may be in a file.

        :raises SpectrumFileError: the file is missing or damaged
        """
        filled = dict(row)
        if len(filled["flux"]) == 0:
            flux, ivar, mask, curves_text = self.files.read(filled["sha256"])
            details = json.loads(filled["details"]) | json.loads(curves_text)
            text = json.dumps(details, ensure_ascii=False)
            filled |= {"flux": flux, "ivar": ivar, "mask": mask, "details": text}
        return filled

    def move_to_files(self, progress: Callable[[int], None] | None = None) -> int:
        """Move the arrays in the database to files, in short transactions; return how many spectra were moved.

        Another call continues one that was interrupted.

        :param progress: called with the number of spectra moved
        :raises CannotWrite: the disk is full, or a file cannot be written
        """
        moved = last = 0
        while True:
            with self._database.read() as db:
                batch = db.execute(
                    f"SELECT rowid AS number, * FROM spectra WHERE rowid > ? AND NOT {_IN_FILES} "
                    "ORDER BY rowid LIMIT ?",
                    (last, _AT_A_TIME),
                ).fetchall()
            if not batch:
                return moved
            last = batch[-1]["number"]
            rows = self._write_files([dict(row) for row in batch])
            with self._database.write() as db:
                db.conn.executemany(_MOVE, [{key: row[key] for key in ("details", "sha256")} for row in rows])
            moved += len(rows)
            if progress is not None:
                progress(moved)
            time.sleep(_MOVE_PAUSE)

    def in_files(self) -> list[str]:
        """Return the SHA-256 of the spectra whose arrays are in files."""
        with self._database.read() as db:
            return [sha256 for (sha256,) in db.execute(f"SELECT sha256 FROM spectra WHERE {_IN_FILES} ORDER BY sha256")]

    def count(self) -> int:
        """Return the number of stored spectra."""
        with self._database.read() as db:
            return int(db.execute("SELECT count(*) FROM spectra").fetchone()[0])

    def exists(self, sha256: str) -> bool:
        with self._database.read() as db:
            return spectrum_exists(db, sha256)

    def named(self, name: str) -> list[str]:
        """Return the SHA-256 of the spectra of items under this name, however it is spelled."""
        named = "name IN (SELECT value FROM json_each(?)) AND spectrum IS NOT NULL"
        sql = f"SELECT DISTINCT spectrum FROM items WHERE {named}"
        with self._database.read() as db:
            return [sha256 for (sha256,) in db.execute(sql, (json.dumps(spellings(name)),))]

    def get(self, sha256: str) -> Spectrum:
        """Return a stored spectrum.

        :raises NotFound: there is none with this SHA-256
        :raises SpectrumFileError: its file is missing or damaged
        """
        with self._database.read() as db:
            row = db.execute(_GET, (sha256,)).fetchone()
        if row is None:
            raise NotFound(tr("No spectrum {sha256:.12}… is stored here.", sha256=sha256))
        with self._database.decoding():
            return _decode(self.whole(row))

    def position(self, sha256: str) -> tuple[float, float] | None:
        """Return right ascension and declination (degrees, ICRS); None if it is not stored or has none."""
        with self._database.read() as db:
            row = db.execute("SELECT ra, dec FROM spectra WHERE sha256 = ?", (sha256,)).fetchone()
        return None if row is None or None in tuple(row) else (float(row["ra"]), float(row["dec"]))

    def sparklines(self, hashes: Sequence[str]) -> dict[str, str]:
        """Return the sparklines of those spectra that are stored and readable. Missing ones are drawn and kept."""
        with self._database.read() as db:
            paths: dict[str, str | None] = dict(db.execute(_SPARKLINES, (json.dumps(hashes),)).fetchall())
        new = []
        for sha256 in [sha256 for sha256, path in paths.items() if path is None]:
            with suppress(SpectrumFileError, Damaged):  # the page that opens this spectrum reports it
                paths[sha256] = sparkline(self.get(sha256))
                new.append({"sha256": sha256, "sparkline": paths[sha256]})
        if new:
            # They are drawn again where the disk is full, or another program has locked the file.
            with suppress(CannotWrite), self._database.write() as db:
                db.conn.executemany(_KEEP_SPARKLINE, new)
        return {sha256: path for sha256, path in paths.items() if path is not None}

    def picture(self, sha256: str) -> bytes | None:
        """Return PNG bytes; None if none is stored, because it can be drawn from the spectrum."""
        with self._database.read() as db:
            row = db.execute("SELECT png FROM pictures WHERE sha256 = ?", (sha256,)).fetchone()
        return None if row is None else bytes(row[0])


def spectrum_exists(db: Transaction, sha256: str) -> bool:
    return db.execute("SELECT 1 FROM spectra WHERE sha256 = ?", (sha256,)).fetchone() is not None


def insert_picture(db: Transaction, sha256: str, png: bytes) -> None:
    """Store a picture that cannot be drawn from a spectrum, under the SHA-256 of its RGBA bytes."""
    db.execute("INSERT INTO pictures VALUES (?, ?) ON CONFLICT DO NOTHING", (sha256, png))


def insert_spectrum(db: Transaction, row: dict[str, Any]) -> None:
    """Insert a row made by ``encode``, unless the spectrum is there."""
    if spectrum_exists(db, row["sha256"]):
        return
    db.execute("INSERT INTO grids VALUES (:grid, :pixels, :wavelength_type, :wavelength) ON CONFLICT DO NOTHING", row)
    db.execute(_INSERT, row)
    db.execute(_KEEP_SPARKLINE, row)


def encode(spectrum: Spectrum) -> dict[str, Any]:
    """Return the row of a spectrum and its grid. Compression is slow: call it before the write transaction."""
    wavelength_type, wavelength = pack(spectrum.wavelength)
    flux_type, flux = pack(spectrum.flux)
    ivar_type, ivar = pack(spectrum.ivar)
    details = {key: dict(getattr(spectrum, key)) for key in ("ids", "snr", "meta")} | curves(spectrum)
    return {
        **{key: getattr(spectrum, key) for key in _PLAIN_FIELDS},
        "sha256": spectrum.sha256,
        "grid": _grid_hash(spectrum.wavelength),
        "pixels": spectrum.wavelength.size,
        "wavelength_type": wavelength_type,
        "wavelength": wavelength,
        "details": json.dumps(details, ensure_ascii=False),
        "flux_type": flux_type,
        "flux": flux,
        "ivar_type": ivar_type,
        "ivar": ivar,
        "mask": pack_mask(spectrum.mask),
        "sparkline": sparkline(spectrum),
    }


def _split(row: Mapping[str, Any]) -> tuple[dict[str, Any], Parts]:
    """Return a row without its arrays, and the arrays as the parts of a file."""
    details = json.loads(row["details"])
    kept = {key: details.pop(key) for key in ("ids", "snr", "meta") if key in details}
    parts = (
        bytes(row["flux"]),
        bytes(row["ivar"]),
        bytes(row["mask"]),
        json.dumps(details, ensure_ascii=False).encode(),
    )
    empty = {"flux": b"", "ivar": b"", "mask": b"", "details": json.dumps(kept, ensure_ascii=False)}
    return {**row, **empty}, parts


def _last_row(db: Transaction) -> int:
    # Spectra are never deleted, so it is their number, without reading them all.
    return int(db.execute("SELECT coalesce(max(rowid), 0) FROM spectra").fetchone()[0])


def _files_from(db: Transaction) -> int:
    row = db.execute("SELECT value FROM settings WHERE name = ? ORDER BY id DESC LIMIT 1", (FILES_FROM,)).fetchone()
    return DEFAULT_FILES_FROM if row is None else int(json.loads(row[0]))


def _decode(row: Mapping[str, Any]) -> Spectrum:
    details = json.loads(row["details"])
    return Spectrum(
        wavelength=unpack(row["wavelength_type"], row["wavelength"]),
        flux=unpack(row["flux_type"], row["flux"]),
        ivar=unpack(row["ivar_type"], row["ivar"]),
        mask=unpack_mask(row["mask"], row["pixels"]),
        **{key: row[key] for key in _PLAIN_FIELDS},
        **details | unpack_curves(row["name"], details),
    )


def _grid_hash(wavelength: NDArray[np.float64]) -> str:
    return hashlib.sha256(wavelength.astype("<f8", copy=False).tobytes()).hexdigest()
