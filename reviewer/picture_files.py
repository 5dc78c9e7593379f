"""Picture files that come with trajectories: read carefully, named by the hash of their pixels."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from agent.plot import pixels_sha256

MAX_BYTES = 20 * 2**20
MAX_PIXELS = 4000 * 4000  # the tool draws 840 x 472 at most


class PictureError(Exception):
    """A picture that cannot be used: which file, what was found, what was wanted."""


class PictureFiles:
    """The pictures of one folder. Each is read once; afterwards only its name is kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._hashes: dict[str, str] = {}

    def sha256(self, path: object) -> str:
        """SHA-256 of the picture's RGBA bytes. :raises PictureError: there is no such picture here"""
        if not isinstance(path, str):
            raise PictureError(f"found {path!r:.60}, wanted the path of a picture")
        if path not in self._hashes:
            self._hashes[path] = pixels_sha256(self._open(path))
        return self._hashes[path]

    def png(self, path: str) -> bytes:
        """The picture as PNG, written anew with nothing but its pixels. :raises PictureError: as above"""
        buffer = io.BytesIO()
        self._open(path).save(buffer, format="PNG")
        return buffer.getvalue()

    def _open(self, path: str) -> Image.Image:
        where = (self._folder / path).resolve()
        if not where.is_relative_to(self._folder):
            raise PictureError(f"found {path!r:.80}, wanted a path inside the file's folder")
        if not where.is_file():
            raise PictureError(f"found no file {path!r:.80} beside the rows, wanted a picture")
        if where.stat().st_size > MAX_BYTES:
            raise PictureError(f"{path}: found {where.stat().st_size} bytes, wanted {MAX_BYTES} at most")
        try:
            with Image.open(where, formats=("PNG", "JPEG", "WEBP")) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    raise PictureError(f"{path}: found {picture.size} pixels, wanted {MAX_PIXELS} at most")
                return picture.convert("RGBA")
        except (
            UnidentifiedImageError,
            OSError,
            SyntaxError,
            ValueError,
            Image.DecompressionBombError,
        ) as error:
            raise PictureError(f"{path}: found no picture ({error}), wanted PNG, JPEG or WebP") from error
