"""The picture that the model sees, pixel for pixel as the published tool draws it (``recipe/spec_o3/utils.py`` of
github.com/Maxwell-Jia/spec-o3, commit dd6eb91): the checkpoints were trained on these pictures. ``exact`` draws
almost all, ``reference`` (matplotlib's own figure) the rest. matplotlib is pinned: 3.11 renders other pixels.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import weakref
import zlib

import numpy as np
from isal import isal_zlib
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from agent.plot.curve import DPI, PlotError, pixels_to_draw

__all__ = ["DPI", "RENDERER", "PlotError", "draw", "pixels_sha256", "png", "png_bytes"]

RENDERER = "published-mpl3.10.5/1"
"""Names these pixels. It changes if, and only if, a picture of the same spectrum changes."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2
"""Each byte less the one above it (PNG specification, 9.2): in a plot most rows repeat the one above."""
_one_at_a_time = threading.Lock()
"""Held while a picture is drawn or encoded. Two threads that draw at once take more time than one after the other: each
call of NumPy hands the interpreter from one core to another."""


def draw(
    wavelength: ArrayLike,
    flux: ArrayLike,
    window: tuple[float, float] | None = None,
    title: str = "Spectrum",
) -> Image.Image:
    """Draw a spectrum, or a window of it, as the published tool does.

    ``wavelength`` in Å (air or vacuum, rest or observed: the picture does not say, the caller knows)
    and ``flux`` are 1-D of one length, in any order, NaN allowed; ``window`` is (from, to) in Å, ends
    included. Returns an RGBA picture.

    :raises PlotError: lengths differ, nothing finite to draw, or no pixel lies in the window.
    """
    # matplotlib takes half a second to import: not needed by programs that draw nothing.
    from agent.plot.exact import render
    from agent.plot.exact.layout import UnsupportedLayout

    with _one_at_a_time:
        curve = pixels_to_draw(np.asarray(wavelength, float), np.asarray(flux, float), window)
        try:
            return _image(render.pixels(curve, title))
        except UnsupportedLayout:
            # Figures and axes take as long to import as everything else in this package.
            from agent.plot import reference

            return reference.picture(curve, title)


def png(
    wavelength: ArrayLike,
    flux: ArrayLike,
    window: tuple[float, float] | None = None,
    title: str = "Spectrum",
) -> bytes:
    """Return the same picture as PNG bytes. :raises PlotError: as ``draw``"""
    return png_bytes(draw(wavelength, flux, window, title))


# By id: an image cannot be hashed. An id is unique only while its image exists.
_pixels: dict[int, NDArray[np.uint8]] = {}


def _image(pixels: NDArray[np.uint8]) -> Image.Image:
    """Return the picture, which shares its memory with ``pixels``."""
    picture = Image.fromarray(pixels)
    _pixels[id(picture)] = pixels
    weakref.finalize(picture, _pixels.pop, id(picture), None)
    return picture


def _rgba(picture: Image.Image) -> NDArray[np.uint8]:
    """Return the RGBA pixels, of our own pictures without a copy."""
    pixels = _pixels.get(id(picture))
    # Pillow copies a picture that shares its memory before it draws on it.
    if pixels is not None and picture.readonly:
        return pixels
    return np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA"))


def pixels_sha256(picture: Image.Image) -> str:
    """Return the SHA-256 of the RGBA bytes, hex: identifies the picture in any file format."""
    with _one_at_a_time:
        return hashlib.sha256(_rgba(picture).data).hexdigest()


def png_bytes(picture: Image.Image) -> bytes:
    """Encode the picture as an RGBA PNG without text chunks: a sixteenth of the time of Pillow, 5 % more bytes.

    Pillow tries five filters on each row, which takes longer than compressing; here every row gets the same.
    """
    with _one_at_a_time:
        pixels = _rgba(picture)
        height, width, _ = pixels.shape
        rows = pixels.reshape(height, 4 * width)
        filtered = np.empty((height, 1 + 4 * width), np.uint8)
        filtered[:, 0] = _UP
        filtered[0, 1:] = rows[0]
        np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
        # ISA-L takes a sixth of zlib's time for the same number of bytes.
        compressed = isal_zlib.compress(filtered.data, 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return _SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", compressed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
