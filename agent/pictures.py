"""A picture as a server is sent it: PNG bytes and a data URL, made once for each picture."""

from __future__ import annotations

import base64
import weakref

from PIL import Image

from agent.plot.png_file import png_bytes

# By id: an image cannot be hashed. An id is an image's own for as long as it lives, and no longer than that
# is it kept here.
_encoded: dict[int, bytes] = {}


def png_of(image: Image.Image) -> bytes:
    """The image as PNG bytes: the same each time, as the turns of a conversation send their images again."""
    key = id(image)
    encoded = _encoded.get(key)
    if encoded is None:
        encoded = _encoded[key] = png_bytes(image)
        weakref.finalize(image, _encoded.pop, key, None)
    return encoded


def data_url(image: Image.Image) -> str:
    """``data:image/png;base64,...``, as chat APIs take a picture."""
    return "data:image/png;base64," + base64.b64encode(png_of(image)).decode("ascii")
