"""Picture files that come with trajectories: read carefully, named by the hash of their pixels."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from agent.language import tr
from agent.plot import pixels_sha256, png_bytes
from agent.plot.decoding import PictureError, decoded
from agent.processes import cores

__all__ = ["MAX_BYTES", "PictureError", "PictureFiles", "Pictures"]

MAX_BYTES = 20 * 2**20
_HASHES = 10_000  # pictures whose hashes are kept
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class _Seen:
    """The hashes of a picture file: SHA-256 of its pixels, in hex, and of its bytes."""

    pixels: str
    file: bytes


class PictureFiles:
    """The pictures of one folder. Each is decoded once; afterwards only hashes of the last ones are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._seen: dict[str, _Seen] = {}

    def sha256(self, path: object) -> str:
        """SHA-256 of the picture's RGBA bytes. :raises PictureError: there is no such picture here"""
        if not isinstance(path, str):
            raise PictureError(tr("found {path!r:.60}, expected the path of a picture", path=path))
        seen = self._seen.get(path)
        if seen is None:
            data = self._read(path)
            seen = _Seen(pixels_sha256(decoded(path, data)), hashlib.sha256(data).digest())
            if len(self._seen) >= _HASHES:
                self._seen.clear()
            self._seen[path] = seen
        return seen.pixels

    def sha256_of_each(self, paths: Sequence[object]) -> list[str]:
        """Return the hashes of several pictures, read on all cores. :raises PictureError: for the first bad one"""
        if all(path in self._seen for path in paths if isinstance(path, str)):
            return [self.sha256(path) for path in paths]
        # Threads are enough: Pillow and hashlib release Python's lock.
        with ThreadPoolExecutor(cores()) as threads:
            return list(threads.map(self.sha256, paths))

    def png(self, path: str) -> bytes:
        """Return the picture as a PNG file without metadata.

        :raises PictureError: as above; or it is another file than its hash was taken of
        """
        self.sha256(path)
        data = self._read(path)
        if hashlib.sha256(data).digest() != self._seen[path].file:
            raise PictureError(
                tr(
                    "{path}: found other bytes than before, expected a file that does not change during the import",
                    path=path,
                )
            )
        return _bare(data) or png_bytes(decoded(path, data))

    def _read(self, path: str) -> bytes:
        try:
            where = (self._folder / path).resolve()
            is_file = where.is_file()
        except (OSError, ValueError):
            # Impossible file names: a NUL, a lone surrogate, 4,000 letters.
            raise PictureError(tr("found {path!r:.80}, expected the path of a picture", path=path)) from None
        if not where.is_relative_to(self._folder):
            raise PictureError(tr("found {path!r:.80}, expected a path inside the file's folder", path=path))
        if not is_file:
            raise PictureError(tr("found no file {path!r:.80} next to the rows, expected a picture", path=path))
        if where.stat().st_size > MAX_BYTES:
            raise PictureError(
                tr(
                    "{path}: found {st_size} bytes, expected {max_bytes} at most",
                    path=path,
                    st_size=where.stat().st_size,
                    max_bytes=MAX_BYTES,
                )
            )
        try:
            return where.read_bytes()
        except OSError as error:
            raise PictureError(
                tr("{path}: found no picture ({error}), expected PNG, JPEG or WebP", path=path, error=error)
            ) from error


class Pictures(Mapping[str, bytes]):
    """PNG bytes by the SHA-256 of the RGBA bytes; a file is read at each access and not kept."""

    def __init__(self, files: PictureFiles, paths: Mapping[str, str]) -> None:
        self._files = files
        self._paths = paths

    def __getitem__(self, sha256: str) -> bytes:
        return self._files.png(self._paths[sha256])

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _bare(png: bytes) -> bytes | None:
    """Return the same compressed pixels without metadata; None where removing chunks is not enough: not a PNG of 8-bit
    RGB or RGBA, or one with transparent colours (``tRNS``).

    :param png: a file that can be decoded
    """
    if png[:8] != _SIGNATURE or png[12:16] != b"IHDR" or png[24] != 8 or png[25] not in (2, 6):
        return None
    kept, at = [_SIGNATURE], 8
    while at + 12 <= len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kind, chunk = png[at + 4 : at + 8], png[at : at + 12 + length]
        if kind == b"tRNS" or len(chunk) != 12 + length:
            return None
        if kind in (b"IHDR", b"IDAT", b"IEND"):
            kept.append(chunk)
        if kind == b"IEND":
            return b"".join(kept)
        at += 12 + length
    return None
