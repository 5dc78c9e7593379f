"""Decode picture files of strangers: of three formats, and of limited size."""

from __future__ import annotations

import io

from PIL import Image, UnidentifiedImageError

from agent.errors import Refusal
from agent.language import tr

MAX_PIXELS = 4000 * 4000  # the tool draws 840 x 472 at most


class PictureError(Refusal):
    """A picture that cannot be used: which file, what was found, what was expected."""


def decoded(path: str, data: bytes) -> Image.Image:
    """Return the RGBA picture in the bytes of a file. :raises PictureError: there is none, or it is too large

    :param path: names the file in messages
    """
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as picture:
            if picture.width * picture.height > MAX_PIXELS:
                raise PictureError(
                    tr(
                        "{path}: found {size} pixels, expected {max_pixels} at most",
                        path=path,
                        size=picture.size,
                        max_pixels=MAX_PIXELS,
                    )
                )
            return picture.convert("RGBA")
    except (
        UnidentifiedImageError,
        OSError,
        SyntaxError,
        ValueError,
        Image.DecompressionBombError,
    ) as error:
        raise PictureError(
            tr("{path}: found no picture ({error}), expected PNG, JPEG or WebP", path=path, error=error)
        ) from error
