"""Spectra and pictures, each stored once under its hash, and the compression of arrays."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agent.spectrum import Spectrum
from agent.spectrum.record import curves, unpack_curves
from reviewer.store.errors import NotFound
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
    rows = np.frombuffer(zlib.decompress(blob), dtype="u1").reshape(itemsize, -1)
    return np.ascontiguousarray(rows.T).view(width).ravel()


def pack_mask(mask: NDArray[np.bool_]) -> bytes:
    """Compress a mask: one bit per pixel, zlib."""
    return zlib.compress(np.packbits(mask).tobytes(), 6)


def unpack_mask(blob: bytes, pixels: int) -> NDArray[np.bool_]:
    """Return the mask that ``pack_mask`` was given; ``pixels`` is its length."""
    return np.unpackbits(np.frombuffer(zlib.decompress(blob), dtype="u1"), count=pixels).astype(bool)


_INSERT = """
INSERT INTO spectra (sha256, grid, name, survey, medium, frame, flux_unit, redshift, ra, dec, catalogue_class,
                     errors, details, flux_type, flux, ivar_type, ivar, mask, added_at)
VALUES (:sha256, :grid, :name, :survey, :medium, :frame, :flux_unit, :redshift, :ra, :dec, :catalogue_class,
        :errors, :details, :flux_type, :flux, :ivar_type, :ivar, :mask, :added_at)
"""
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


class Spectra:
    """Spectra with every bit kept, so that the same picture can be drawn; pictures where that is impossible."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, spectrum: Spectrum) -> str:
        """Store a spectrum, unless it is there, and return its SHA-256."""
        if not self.exists(spectrum.sha256):
            row = encode(spectrum) | {"added_at": stamp(self._database.now())}
            with self._database.write() as db:
                insert_spectrum(db, row)
        return spectrum.sha256

    def exists(self, sha256: str) -> bool:
        with self._database.read() as db:
            return spectrum_exists(db, sha256)

    def get(self, sha256: str) -> Spectrum:
        """Return a stored spectrum. :raises NotFound: there is none with this SHA-256"""
        with self._database.read() as db:
            row = db.execute(
                "SELECT s.*, g.wavelength_type, g.wavelength, g.pixels "
                "FROM spectra s JOIN grids g ON g.sha256 = s.grid WHERE s.sha256 = ?",
                (sha256,),
            ).fetchone()
        if row is None:
            raise NotFound(f"No spectrum {sha256:.12}… is stored here.")
        return _decode(row)

    def add_picture(self, sha256: str, png: bytes) -> None:
        """Store a picture that cannot be drawn from a spectrum, under the SHA-256 of its RGBA bytes."""
        with self._database.write() as db:
            insert_picture(db, sha256, png)

    def picture(self, sha256: str) -> bytes | None:
        """Return PNG bytes; None if none is stored, because it can be drawn from the spectrum."""
        with self._database.read() as db:
            row = db.execute("SELECT png FROM pictures WHERE sha256 = ?", (sha256,)).fetchone()
        return None if row is None else bytes(row[0])


def spectrum_exists(db: Transaction, sha256: str) -> bool:
    return db.execute("SELECT 1 FROM spectra WHERE sha256 = ?", (sha256,)).fetchone() is not None


def insert_picture(db: Transaction, sha256: str, png: bytes) -> None:
    db.execute("INSERT INTO pictures VALUES (?, ?) ON CONFLICT DO NOTHING", (sha256, png))


def insert_spectrum(db: Transaction, row: dict[str, Any]) -> None:
    """Insert a row made by ``encode``, unless the spectrum is there."""
    if spectrum_exists(db, row["sha256"]):
        return
    db.execute("INSERT INTO grids VALUES (:grid, :pixels, :wavelength_type, :wavelength) ON CONFLICT DO NOTHING", row)
    db.execute(_INSERT, row)


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
    }


def _decode(row: sqlite3.Row) -> Spectrum:
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
