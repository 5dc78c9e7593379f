"""The title in the pixels of a picture: find it, replace it, and check it.

The published pictures have their file's name as title, and that names the object and the source. A picture of which
there is no spectrum cannot be drawn again, so the pixels of its title are replaced. Uses ``agent.plot`` alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from agent import plot
from agent.tool import TITLE

Pixels = NDArray[np.uint8]
"""(rows, columns, 4): RGBA."""

# The geometry of the published renderer at 80 dots per inch: the title's baseline is 20 points above the axes, and the
# factor of the flux axis ("1e-17") is 3 to 13 points above them, at their left end.
_TOP = 42
"""Rows above the axes in a picture with the neutral title; one more or less by rounding."""
_FACTOR_ROWS = 15
_FACTOR_COLUMNS = 70
_MARGIN = 8
"""White columns left of everything that is drawn; right of it one less."""
_DARK, _WHITE = 100, 250
_EDGE_ROWS, _EDGE_COLUMNS = 180, 300
"""The edges of the axes are dark lines at least this long; the smallest axes are 230 rows by 375 columns."""


@dataclass(frozen=True)
class _Axes:
    """The rows and columns of the four edges of the axes."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True)
class _Title:
    """The ink of the neutral title, and where it stands: rows above the axes, columns right of their middle."""

    ink: Pixels
    rows_above: int
    columns_off: float


def replace_title(picture: Image.Image) -> Image.Image | None:
    """Return the picture with the neutral title in place of its own, whatever that was.

    The area above the axes becomes white, except for the factor of the flux axis. Margins that a long title had
    widened are cut to the size that they have without it.

    :returns: None if the axes cannot be found, so that it is not a picture of the published renderer
    """
    pixels = _pixels(picture)
    axes = _find_axes(pixels)
    if axes is None:
        return None
    pixels = pixels.copy()
    _title_area(pixels, axes)[:] = 255
    _factor_number(pixels, axes)[:] = 255
    pixels, axes = _cut_margins(pixels, axes)
    title = _neutral_title()
    rows, columns = title.ink.shape[:2]
    row = axes.top - title.rows_above
    column = round(axes.middle + title.columns_off)
    pixels[row : row + rows, column : column + columns] = title.ink
    return Image.fromarray(pixels)


def has_neutral_title(picture: Image.Image) -> bool:
    """Return whether nothing but the neutral title, or no title, stands above the axes; False without axes."""
    pixels = _pixels(picture)
    axes = _find_axes(pixels)
    if axes is None or _is_inked(_factor_number(pixels, axes)).any():
        return False
    area = _title_area(pixels, axes)
    box = _box(_is_inked(area))
    if box is None:
        return True
    rows, columns = box
    title = _neutral_title()
    centred = abs(columns.start - axes.middle - title.columns_off) <= 1.5
    return centred and np.array_equal(area[rows, columns], title.ink)


def _pixels(picture: Image.Image) -> Pixels:
    return np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA"))


def _find_axes(pixels: Pixels) -> _Axes | None:
    dark = pixels[..., :3].max(axis=2) < _DARK
    rows = _with_run(dark, _EDGE_COLUMNS)
    columns = _with_run(dark.T, _EDGE_ROWS)
    if rows.size < 2 or columns.size < 2:
        return None
    # Below the axes, the numbers of very dense ticks are dark too; the left edge ends where the axes do.
    top, left, right = int(rows[0]), int(columns[0]), int(columns[-1])
    below = np.flatnonzero(~dark[top:, left])
    axes = _Axes(top, top + int(below[0]) - 1 if below.size else top, left, right)
    edges = (dark[[axes.top, axes.bottom], left : right + 1], dark[top : axes.bottom + 1, [left, right]])
    joined = axes.bottom in rows and all(edge.all() for edge in edges)
    return axes if joined and axes.top >= _TOP - 2 else None


def _with_run(marked: NDArray[np.bool_], length: int) -> NDArray[np.intp]:
    """Return the rows in which at least ``length`` marked pixels stand side by side."""
    rows = np.flatnonzero(np.count_nonzero(marked, axis=1) >= length)
    columns = np.arange(marked.shape[1])
    last_unmarked = np.maximum.accumulate(np.where(marked[rows], -1, columns), axis=1)
    marked_rows: NDArray[np.intp] = rows[(columns - last_unmarked).max(axis=1, initial=0) >= length]
    return marked_rows


def _title_area(pixels: Pixels, axes: _Axes) -> Pixels:
    """Return the rows of the title, as a view."""
    return pixels[: axes.top - _FACTOR_ROWS]


def _factor_number(pixels: Pixels, axes: _Axes) -> Pixels:
    """Return what lies between title and axes, right of the factor of the flux axis, as a view.

    The row next to the axes has the blurred upper side of their edge.
    """
    return pixels[axes.top - _FACTOR_ROWS : axes.top - 1, axes.left + _FACTOR_COLUMNS :]


def _is_inked(pixels: Pixels) -> NDArray[np.bool_]:
    inked: NDArray[np.bool_] = pixels[..., :3].min(axis=2) < _WHITE
    return inked


def _box(inked: NDArray[np.bool_]) -> tuple[slice, slice] | None:
    """Return the rows and columns with ink; None without ink."""
    rows, columns = np.flatnonzero(inked.any(axis=1)), np.flatnonzero(inked.any(axis=0))
    if not rows.size:
        return None
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def _cut_margins(pixels: Pixels, axes: _Axes) -> tuple[Pixels, _Axes]:
    """Cut margins that are wider than those of a picture with the neutral title; return the axes' new place too."""
    box = _box(_is_inked(pixels))
    if box is None:
        return pixels, axes
    columns = box[1]
    above = max(0, axes.top - _TOP)
    left, right = max(0, columns.start - _MARGIN), min(pixels.shape[1], columns.stop + _MARGIN - 1)
    if above < 2:
        above = 0
    if left < 2:
        left = 0
    if right > pixels.shape[1] - 2:
        right = pixels.shape[1]
    moved = _Axes(axes.top - above, axes.bottom - above, axes.left - left, axes.right - left)
    return pixels[above:, left:right].copy(), moved


@cache
def _neutral_title() -> _Title:
    """Return the title as ``agent.plot`` draws it."""
    wavelength = np.linspace(4000.0, 9000.0, 200)
    pixels = _pixels(plot.draw(wavelength, np.linspace(1.0, 2.0, 200), None, TITLE))
    axes = _find_axes(pixels)
    box = None if axes is None else _box(_is_inked(_title_area(pixels, axes)))
    if axes is None or box is None:
        raise AssertionError("agent.plot draws a picture without axes or title")
    rows, columns = box
    return _Title(pixels[rows, columns].copy(), axes.top - rows.start, columns.start - axes.middle)
