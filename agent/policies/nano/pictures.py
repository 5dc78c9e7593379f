"""From a picture to the patches that the vision tower reads: the same numbers as Qwen2-VL's image processor.

The resize gives the bytes of torchvision's antialiased bicubic resize of uint8 pictures, on which the model is
trained. Pillow's has more digits in its weights and differs by one step of 255 in part of the pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent.conversation import PolicyError
from agent.language import deferred
from agent.policies.nano.folder import Array, Pictures

MOST_ELONGATED = 200
"""Longest side divided by shortest, at most, as in Qwen2-VL."""
CUBIC = -0.5
"""The parameter a of the cubic convolution of Keys (1981), as torch has it with antialiasing."""
TOGETHER = 16
"""Rows of a resized picture that are computed in one multiplication."""


@dataclass(frozen=True)
class Grid:
    """Rows and columns of a picture's patches."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Patches:
    """A picture as patches (rows × columns, channels × side × side): the patches of one token are consecutive."""

    values: Array
    grid: Grid


class Preprocessor:
    """Resizes and normalises pictures as the model's folder says."""

    def __init__(self, settings: Pictures) -> None:
        self._settings = settings
        levels = np.arange(256).astype(np.float64) * settings.rescale_factor
        # The order and the number formats of transformers' processor without torch.
        mean = np.array(settings.image_mean, np.float32)
        std = np.array(settings.image_std, np.float32)
        self._normalised = ((levels.astype(np.float32)[:, None] - mean) / std).T

    def grid(self, image: Image.Image) -> Grid:
        """Return the patches that ``image`` becomes. :raises PolicyError: it is too elongated"""
        height, width = self._resized(image)
        return Grid(height // self._settings.patch_size, width // self._settings.patch_size)

    def tokens(self, grid: Grid) -> tuple[int, int]:
        """Return the rows and columns of a picture's tokens."""
        merge = self._settings.merge_size
        return grid.rows // merge, grid.columns // merge

    def patches(self, image: Image.Image) -> Patches:
        """Return the patches of a picture, whose transparency is ignored. :raises PolicyError: it is too elongated"""
        # The pictures are opaque: RGB loses nothing.
        pixels = resized(np.asarray(image.convert("RGB")), *self._resized(image))
        grid, merge, side = self.grid(image), self._settings.merge_size, self._settings.patch_size
        shape = (grid.rows // merge, merge, side, grid.columns // merge, merge, side, 3)
        ordered = pixels.reshape(shape).transpose(6, 0, 3, 1, 4, 2, 5)
        values = np.stack([table[channel] for table, channel in zip(self._normalised, ordered, strict=True)], axis=4)
        return Patches(values.reshape(grid.rows * grid.columns, -1), grid)

    def _resized(self, image: Image.Image) -> tuple[int, int]:
        settings = self._settings
        factor = settings.patch_size * settings.merge_size
        return smart_size(image.height, image.width, factor, settings.size.shortest_edge, settings.size.longest_edge)


def smart_size(height: int, width: int, factor: int, least: int, most: int) -> tuple[int, int]:
    """Return height and width as multiples of ``factor`` with ``least`` to ``most`` pixels and nearly the same ratio.

    The rule is Qwen2-VL's ``smart_resize``.

    :raises PolicyError: one side is more than 200 times the other
    """
    if max(height, width) > MOST_ELONGATED * min(height, width):
        raise PolicyError(
            deferred(
                "found a picture of {width} × {height} pixels, expected sides of at most 200 to 1",
                width=width,
                height=height,
            )
        )
    high, wide = round(height / factor) * factor, round(width / factor) * factor
    if high * wide > most:
        shrink = math.sqrt(height * width / most)
        high = max(factor, math.floor(height / shrink / factor) * factor)
        wide = max(factor, math.floor(width / shrink / factor) * factor)
    elif high * wide < least:
        grow = math.sqrt(least / (height * width))
        high, wide = math.ceil(height * grow / factor) * factor, math.ceil(width * grow / factor) * factor
    return high, wide


def resized(pixels: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """Return a picture (H, W, channels) in another size: torchvision's bytes (bicubic, antialiased, uint8)."""
    if width != pixels.shape[1]:
        pixels = _resized_rows(pixels.transpose(1, 0, 2), width).transpose(1, 0, 2)
    if height != pixels.shape[0]:
        pixels = _resized_rows(pixels, height)
    return pixels


def _resized_rows(pixels: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Return a picture (rows, columns, channels) with ``count`` rows."""
    rows, columns, channels = pixels.shape
    # Float64 holds each product and sum exactly: integer arithmetic at the speed of a matrix multiplication.
    flat = pixels.reshape(rows, columns * channels).astype(np.float64)
    plan = _plan(rows, count)
    resized = np.empty((count, columns * channels), np.uint8)
    for first, low, weights in plan.blocks:
        sums = weights @ flat[low : low + weights.shape[1]]
        sums += 0.5
        np.floor(sums, out=sums)
        np.clip(sums, 0, 255, out=sums)
        resized[first : first + len(weights)] = sums
    return resized.reshape(count, columns, channels)


@dataclass(frozen=True)
class _Plan:
    """Blocks of resized rows: the first one, the first of the rows that they need, and the weights (new, old)."""

    blocks: tuple[tuple[int, int, NDArray[np.float64]], ...]


@lru_cache(maxsize=64)
def _plan(old: int, new: int) -> _Plan:
    """Return the weights of each new row, in units that 2 to the power of their precision makes whole numbers.

    As in torch's ``UpSampleKernel.cpp``: weights in float64, then rounded to as many binary digits as let the largest
    fit in 16 bits. The sums are exact in float64, also after division by that power of two.
    """
    scale = old / new
    stretch = max(scale, 1.0)
    support = 2.0 * stretch
    most = 2 * math.ceil(support) + 1
    exact: list[tuple[int, NDArray[np.float64]]] = []
    for row in range(new):
        centre = scale * (row + 0.5)
        low = max(int(centre - support + 0.5), 0)
        size = min(min(int(centre + support + 0.5), old) - low, most)
        distances = np.arange(size, dtype=np.float64) + low - centre + 0.5
        weights = _cubic(distances * (1 / stretch))
        exact.append((low, weights / np.cumsum(weights)[-1]))
    largest = max(float(weights.max()) for _, weights in exact)
    precision = 0
    while precision < 22 and int(0.5 + largest * 2 ** (precision + 1)) < 2**15:
        precision += 1
    unit = 2.0**precision
    blocks = []
    for first in range(0, new, TOGETHER):
        block = exact[first : first + TOGETHER]
        low = min(start for start, _ in block)
        high = max(start + len(weights) for start, weights in block)
        matrix = np.zeros((len(block), high - low))
        for line, (start, weights) in zip(matrix, block, strict=True):
            scaled = weights * unit
            line[start - low : start - low + len(weights)] = np.trunc(scaled + np.copysign(0.5, scaled)) / unit
        blocks.append((first, low, matrix))
    return _Plan(tuple(blocks))


def _cubic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    x, a = np.abs(x), CUBIC
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))
