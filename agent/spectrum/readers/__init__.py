"""Read survey files as ``Spectrum``: this module selects the reader, one module per family of layouts does the reading.

The contents decide (first bytes, then header), not the name. Any failure in a reader becomes a ``SpectrumError`` that
names the file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from agent.language import deferred
from agent.spectrum.readers import fits_image, fits_table, json_text, other, own, parquet, text, votable
from agent.spectrum.readers.files import FORMATS, uncompressed
from agent.spectrum.readers.fits import FitsFile
from agent.spectrum.readers.producers import refused
from agent.spectrum.readers.surveys import desi, lamost, marz, mwm, plate, sdss
from agent.spectrum.readers.targets import Targets
from agent.spectrum.record import Spectrum, SpectrumError

_REFUSED = {
    b"\x89HDF": deferred("an HDF5 container"),
    b"PK\x03\x04": deferred("a ZIP archive"),
    b"\x89PNG": deferred("a PNG picture"),
    b"\xff\xd8\xff": deferred("a JPEG picture"),
    b"%PDF": deferred("a PDF document"),
    b"\xfd7zXZ": deferred("an xz file"),
}

_Reader = tuple[Callable[[FitsFile], bool], Callable[[FitsFile], Targets]]


def _one(read_one: Callable[[FitsFile], Spectrum]) -> Callable[[FitsFile], Targets]:
    return lambda fits: Targets.single(fits.name, lambda: read_one(fits))


# Readers of layouts that identify themselves come first.
_FITS_READERS: tuple[_Reader, ...] = (
    (own.recognises, _one(own.read)),
    (lamost.recognises, _one(lamost.read)),
    (mwm.recognises, mwm.targets),
    (plate.recognises, plate.targets),
    (sdss.recognises, _one(sdss.read)),
    (desi.recognises, desi.targets),
    (other.recognises, other.targets),
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
        with uncompressed(where, name) as (stream, size):
            yield _targets(where, name, stream, size)
    except SpectrumError:
        raise
    except MemoryError:
        raise SpectrumError(name, deferred("more data than fits into memory"), deferred("a spectrum")) from None
    except Exception as error:
        # An unforeseen error of a reader: callers rely on one kind of exception.
        actual = deferred(
            "something its reader did not expect ({name}: {error})", name=type(error).__name__, error=error
        )
        raise SpectrumError(name, actual, FORMATS) from error


def _targets(where: Path, name: str, stream: BinaryIO, size: int) -> Targets:
    stream.seek(0)
    start = stream.read(80)
    stream.seek(0)
    if start.startswith(b"SIMPLE  ="):
        return _fits_targets(where, FitsFile(stream, name, size, where))
    if start.startswith(b"PAR1"):
        return parquet.targets(name, where)
    for magic, kind in _REFUSED.items():
        if start.startswith(magic):
            raise SpectrumError(name, kind, FORMATS)
    if size > text.MAX_TEXT:
        raise SpectrumError(
            name,
            deferred("{size} bytes of no known format", size=size),
            deferred("a spectrum; as text at most {max_text}", max_text=text.MAX_TEXT),
        )
    raw = stream.read()
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return json_text.targets(name, raw)
    if votable.recognises(raw[:2000]):
        return votable.targets(name, raw)
    return text.targets(name, raw)


def _fits_targets(where: Path, fits: FitsFile) -> Targets:
    if (what := refused(fits[0].header.text)) is not None:
        raise fits.refusal(what, deferred("one spectrum, or a file of spectra"))
    for recognises, targets in _FITS_READERS:
        if recognises(fits):
            listed = targets(fits)
            listed.unread = fits.unread
            return listed
    names = [hdu.name or "unnamed" for hdu in fits]
    columns = [c.name for hdu in fits for c in hdu.columns.values()][:6]
    actual = deferred("FITS HDUs {names}", names=", ".join(names[:5]))
    if columns:
        actual = deferred("{found} with columns {columns}", found=actual, columns=", ".join(columns))
    reason = fits.refusal(actual, deferred("a spectrum in a layout known here, or to specutils if installed"))
    if not fits.is_whole:
        # astropy, which specutils uses, searches for a header after the last HDU, for minutes.
        raise reason
    return Targets.single(fits.name, lambda: other.read(fits.name, where, reason))
