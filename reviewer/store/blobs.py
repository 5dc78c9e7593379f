"""Arrays as bytes: exact, and as small as zlib makes them."""

from __future__ import annotations

import zlib
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Width = Literal["<f4", "<f8"]


def pack(array: NDArray[np.float64]) -> tuple[Width, bytes]:
    """A float64 array as float32 if that loses not one bit, else as float64; and which of the two.

    The bytes are shuffled before zlib (all first bytes of the numbers, then all second bytes ...): signs and
    exponents change slowly along a spectrum and compress well once they lie together.
    """
    with np.errstate(over="ignore", under="ignore"):
        short = array.astype("<f4")
    exact = np.array_equal(short.astype("<f8").view("<u8"), array.astype("<f8", copy=False).view("<u8"))
    width: Width = "<f4" if exact else "<f8"
    return width, pack_as(width, array)


def pack_as(width: Width, array: NDArray[np.float64]) -> bytes:
    """As ``pack``, at a width that is known already."""
    numbers = array.astype(width, copy=False)
    shuffled = numbers.view("u1").reshape(numbers.size, numbers.itemsize).T
    return zlib.compress(shuffled.tobytes(), 6)


def unpack(width: Width, blob: bytes) -> NDArray[np.float64]:
    """The float64 array that ``pack`` was given."""
    return unpack_as(width, blob).astype(np.float64)


def unpack_as(width: Width, blob: bytes) -> NDArray[Any]:
    """The numbers at the width they are stored with."""
    itemsize = np.dtype(width).itemsize
    rows = np.frombuffer(zlib.decompress(blob), dtype="u1").reshape(itemsize, -1)
    return np.ascontiguousarray(rows.T).view(width).ravel()


def pack_mask(mask: NDArray[np.bool_]) -> bytes:
    """A mask at one bit a pixel, zlib."""
    return zlib.compress(np.packbits(mask).tobytes(), 6)


def unpack_mask(blob: bytes, pixels: int) -> NDArray[np.bool_]:
    """The mask that ``pack_mask`` was given; ``pixels`` is its length."""
    return np.unpackbits(np.frombuffer(zlib.decompress(blob), dtype="u1"), count=pixels).astype(bool)
