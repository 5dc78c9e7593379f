"""The bytes of a spectrum file, uncompressed if it is a gzip or bzip2 file."""

from __future__ import annotations

import bz2
import gzip
import os
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from agent.language import deferred
from agent.spectrum.names import COMPRESSED
from agent.spectrum.record import SpectrumError

CHUNK = 2**20
SPOOL_BYTES = 64 * 2**20
MAX_UNPACKED = 4 * 2**30

FORMATS = deferred("a FITS, Parquet, VOTable, JSON or text spectrum")


def in_same_folder(path: Path, *names: str) -> Path | None:
    """Return the first of these files in the folder of ``path``, compressed or not; None if there is none."""
    packed = (path.with_name(name + ending) for name in names for ending in ("", *COMPRESSED))
    return next((candidate for candidate in packed if candidate.is_file()), None)


@contextmanager
def uncompressed(where: Path, name: str) -> Iterator[tuple[BinaryIO, int]]:
    """Give the file's bytes, uncompressed if needed, and their number.

    :raises SpectrumError: a directory, an empty file, damaged compressed data, or no file that can be read
    """
    kind = "gzip"
    try:
        if where.is_dir():
            raise SpectrumError(name, "a directory", deferred("a spectrum file"))
        size = where.stat().st_size
        if size == 0:
            raise SpectrumError(name, deferred("an empty file"), FORMATS)
        with open(where, "rb") as plain:
            start = plain.read(3)
            plain.seek(0)
            if start[:2] == b"\x1f\x8b":
                with (
                    gzip.GzipFile(fileobj=plain) as gzipped,
                    _unpacked(cast(BinaryIO, gzipped), name, size, kind) as it,
                ):
                    yield it
            elif start == b"BZh":
                kind = "bzip2"
                with bz2.BZ2File(plain) as bzipped, _unpacked(cast(BinaryIO, bzipped), name, size, kind) as it:
                    yield it
            else:
                yield plain, size
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise SpectrumError(
            name,
            deferred("damaged {kind} data ({error})", kind=kind, error=error),
            deferred("a complete {kind} file", kind=kind),
        ) from None
    except FileNotFoundError:
        raise SpectrumError(name, deferred("no file at {where}", where=where), deferred("a spectrum file")) from None
    except OSError as error:
        if kind == "bzip2" and error.errno is None:  # what bz2 raises for invalid data
            raise SpectrumError(
                name, deferred("damaged bzip2 data ({error})", error=error), deferred("a complete bzip2 file")
            ) from None
        actual = deferred("a file that cannot be read ({value})", value=error.strerror or error)
        raise SpectrumError(name, actual, deferred("a readable file")) from None


@contextmanager
def _unpacked(packed: IO[bytes], name: str, size: int, kind: str) -> Iterator[tuple[BinaryIO, int]]:
    """Uncompress a file once, in memory or, if large, on disk, because readers seek in it.

    A gzip of zeros expands to a thousand times its size, a bzip2 of zeros to forty thousand times, a survey file to a
    few times (LAMOST: two).
    """
    limit = min(MAX_UNPACKED, SPOOL_BYTES + 100 * size)
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as whole:
        while chunk := packed.read(CHUNK):
            whole.write(chunk)
            if whole.tell() > limit:
                actual = deferred(
                    "a {kind} file of {size} bytes that unpacks to more than {limit}", kind=kind, size=size, limit=limit
                )
                raise SpectrumError(name, actual, deferred("a spectrum"))
        if whole.tell() == 0:
            raise SpectrumError(name, deferred("an empty {kind} file", kind=kind), FORMATS)
        yield cast(BinaryIO, whole), whole.seek(0, os.SEEK_END)
