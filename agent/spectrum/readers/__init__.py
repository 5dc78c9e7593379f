"""Read survey files as ``Spectrum``: this module selects the reader, one module per family of layouts does the reading.

The contents decide (first bytes, then header), not the name. Any failure in a reader becomes a ``SpectrumError`` that
names the file.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from agent.spectrum.readers import desi, fits_image, fits_table, lamost, marz, other, own, parquet, sdss, text
from agent.spectrum.readers.fits import FitsFile
from agent.spectrum.readers.pixels import Targets
from agent.spectrum.record import Spectrum, SpectrumError

CHUNK = 2**20
SPOOL_BYTES = 64 * 2**20
MAX_UNPACKED = 4 * 2**30

_FORMATS = "a FITS, Parquet or text spectrum"
_REFUSED = {
    b"\x89HDF": "an HDF5 container",
    b"PK\x03\x04": "a ZIP archive",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF": "a PDF document",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}

_Reader = tuple[Callable[[FitsFile], bool], Callable[[FitsFile], Targets]]


def _one(read_one: Callable[[FitsFile], Spectrum]) -> Callable[[FitsFile], Targets]:
    return lambda fits: Targets.single(fits.name, lambda: read_one(fits))


# Readers of layouts that identify themselves come first.
_FITS_READERS: tuple[_Reader, ...] = (
    (own.recognises, _one(own.read)),
    (lamost.recognises, _one(lamost.read)),
    (sdss.recognises, _one(sdss.read)),
    (desi.recognises, desi.targets),
    (marz.recognises, marz.targets),
    (fits_table.recognises, fits_table.targets),
    (fits_image.recognises, fits_image.targets),
)


def read(path: str | os.PathLike[str], target: str | None = None) -> Spectrum:
    """See ``agent.spectrum.read``."""
    with opened(path) as targets:
        return targets.read(target)


def read_all(path: str | os.PathLike[str]) -> Iterator[Spectrum]:
    """See ``agent.spectrum.read_all``. The file stays open until the iterator ends."""
    with opened(path) as targets:
        yield from targets.read_all()


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Targets]:
    """Open the file at ``path`` and give its spectra, none of them read yet.

    Any failure inside the block becomes a ``SpectrumError`` that names the file.
    """
    where = Path(path)
    name = where.name or str(path)
    try:
        with _stream(where, name) as (stream, size):
            yield _targets(where, name, stream, size)
    except SpectrumError:
        raise
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SpectrumError(name, f"damaged gzip data ({error})", "a complete gzip file") from None
    except FileNotFoundError:
        raise SpectrumError(name, f"no file at {path}", "a spectrum file") from None
    except OSError as error:
        raise SpectrumError(
            name, f"a file that cannot be read ({error.strerror or error})", "a readable file"
        ) from None
    except MemoryError:
        raise SpectrumError(name, "more data than fits into memory", "a spectrum") from None
    except Exception as error:
        # An unforeseen error of a reader: callers rely on one kind of exception.
        found = f"something its reader did not expect ({type(error).__name__}: {error})"
        raise SpectrumError(name, found[:300], _FORMATS) from error


@contextmanager
def _stream(where: Path, name: str) -> Iterator[tuple[BinaryIO, int]]:
    """Return the file's bytes, uncompressed if needed, and their number."""
    if where.is_dir():
        raise SpectrumError(name, "a directory", "a spectrum file")
    size = where.stat().st_size
    if size == 0:
        raise SpectrumError(name, "an empty file", _FORMATS)
    with open(where, "rb") as plain:
        packed = plain.read(2) == b"\x1f\x8b"
        plain.seek(0)
        if not packed:
            yield plain, size
            return
        with _unpacked(plain, name, size) as whole:
            yield whole, whole.seek(0, os.SEEK_END)


@contextmanager
def _unpacked(plain: BinaryIO, name: str, size: int) -> Iterator[BinaryIO]:
    """Uncompress a gzip file once, in memory or, if large, on disk, because readers seek in it.

    A gzip of zeros expands to a thousand times its size, a survey file to a few times (LAMOST: two).
    """
    limit = min(MAX_UNPACKED, SPOOL_BYTES + 100 * size)
    with gzip.GzipFile(fileobj=plain) as packed, tempfile.SpooledTemporaryFile(SPOOL_BYTES) as whole:
        while chunk := packed.read(CHUNK):
            whole.write(chunk)
            if whole.tell() > limit:
                raise SpectrumError(
                    name, f"a gzip file of {size} bytes that unpacks to more than {limit}", "a spectrum"
                )
        yield cast(BinaryIO, whole)


def _targets(where: Path, name: str, stream: BinaryIO, size: int) -> Targets:
    stream.seek(0)
    start = stream.read(80)
    stream.seek(0)
    if start.startswith(b"SIMPLE  ="):
        return _fits_targets(where, FitsFile(stream, name, size))
    if start.startswith(b"PAR1"):
        return parquet.targets(name, where)
    for magic, kind in _REFUSED.items():
        if start.startswith(magic):
            raise SpectrumError(name, kind, _FORMATS)
    if start.lstrip()[:1] in (b"{", b"["):
        raise SpectrumError(name, "a JSON container", _FORMATS)
    if not start:
        raise SpectrumError(name, "an empty gzip file", _FORMATS)
    if size > text.MAX_TEXT:
        raise SpectrumError(name, f"{size} bytes of no known format", f"a spectrum; as text at most {text.MAX_TEXT}")
    raw = stream.read()
    return Targets.single(name, lambda: text.read(name, raw))


def _fits_targets(where: Path, fits: FitsFile) -> Targets:
    for recognises, targets in _FITS_READERS:
        if recognises(fits):
            return targets(fits)
    names = [hdu.name or "unnamed" for hdu in fits]
    columns = [c.name for hdu in fits for c in hdu.columns.values()][:6]
    found = f"FITS HDUs {', '.join(names[:5])}" + (f" with columns {', '.join(columns)}" if columns else "")
    reason = fits.refusal(found, "a spectrum in a layout known here, or to specutils if installed")
    if not fits.is_whole:
        # astropy, which specutils uses, searches for a header after the last HDU, for minutes.
        raise reason
    return Targets.single(fits.name, lambda: other.read(fits.name, where, reason))
