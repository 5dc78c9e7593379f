"""Positions in a picture: ``Figure.tight_layout`` and ``bbox_inches="tight"`` of matplotlib 3.10.5 without a figure.

The last bit of a sum can decide on a column of pixels, so every sum uses the same numbers in the same order as
matplotlib: matrices by ``np.dot``, points by its own ``affine_transform``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from matplotlib._path import affine_transform
from numpy.typing import NDArray

from agent.plot.curve import DPI
from agent.plot.exact.lettering import Block, Box, Font, block, upright
from agent.plot.exact.ticks import Axis

Matrix = NDArray[np.float64]

TITLE = Font(14.0, bold=True)
NAME = Font(12.0, bold=True)
NUMBER = Font(10.0)
STATISTICS = Font(9.0)

MAJOR_TICK, MINOR_TICK = 3.5, 2.0
"""Lengths in points."""
_MAJOR_PAD, _MINOR_PAD = 3.5, 3.4
_NAME_PAD, _TITLE_PAD, _OFFSET_PAD = 4.0, 20.0, 3.0
_FIGURE_PAD = 1.08 * (10.0 / 72)
_CROP_PAD = 0.1

_START = (0.125, 0.11, 0.9, 0.88)
_MIN_HEIGHT = 190.0
"""In points. The flux axis gets the nine intervals at most that ``ticks`` gives it if 180 are free."""


class UnsupportedLayout(Exception):
    """The fast renderer cannot lay out this picture; the reference draws it."""


@dataclass(frozen=True)
class Placed:
    """A block of text and the point at which it is set, in pixels, y upwards."""

    block: Block
    x: float
    y: float

    @property
    def box(self) -> Box:
        return self.block.at(self.x, self.y)


@dataclass(frozen=True)
class Content:
    """The content to lay out. ``corner`` is the corner of the statistics box."""

    wavelength: Axis
    flux: Axis
    title: str
    statistics: str
    corner: tuple[str, str]


class Frame:
    """The axes at a position on a canvas, and the text around them."""

    def __init__(self, content: Content, position: Box, canvas: Matrix) -> None:
        self.content = content
        x0, y0, x1, y1 = position
        corners = affine_transform(np.array([[x0, y0], [x1, y0], [x0, y1], [x1, y1]]), canvas)
        (left, low), (right, high) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        self.box: Box = (left, low, right, high)
        self.axes = np.array([[right - left, 0.0, left], [0.0, high - low, low], [0.0, 0.0, 1.0]])
        self.data = np.dot(self.axes, _from_limits(content.wavelength.limits, content.flux.limits))
        self.x_axis = np.array([self.data[0], self.axes[1], [0.0, 0.0, 1.0]])
        """Data units across, axes units upwards."""
        self.y_axis = np.array([self.axes[0], self.data[1], [0.0, 0.0, 1.0]])

    @cached_property
    def wavelength_numbers(self) -> list[Placed]:
        axis = self.content.wavelength
        below = np.dot(_moved(0.0, -1 * _MAJOR_PAD / 72), self.x_axis)
        points = affine_transform(np.column_stack([axis.major, np.zeros(axis.major.size)]), below)
        blocks = [block(text, NUMBER, "center", "top") for text in axis.labels]
        return [Placed(b, x, y) for b, (x, y) in zip(blocks, points.tolist(), strict=True)]

    @cached_property
    def flux_numbers(self) -> list[Placed]:
        axis = self.content.flux
        left_of_axis = np.dot(_moved(-1 * _MAJOR_PAD / 72, 0.0), self.y_axis)
        points = affine_transform(np.column_stack([np.zeros(axis.major.size), axis.major]), left_of_axis)
        blocks = [block(text, NUMBER, "right", "center_baseline") for text in axis.labels]
        return [Placed(b, x, y) for b, (x, y) in zip(blocks, points.tolist(), strict=True)]

    @cached_property
    def wavelength_name(self) -> Placed:
        lows = [placed.box[1] for placed in self.wavelength_numbers]
        if self.content.wavelength.minor.size:
            # A minor tick has a label too: an empty one, which is a point.
            lows.append(np.dot(_moved(0.0, -1 * _MINOR_PAD / 72), self.x_axis).item(1, 2))
        low = min([*lows, self.bottom_spine[1]])
        x = affine_transform(np.array([[0.5, 0.0]]), self.axes).item(0, 0)
        return Placed(block("Wavelength (Å)", NAME, "center", "top"), x, low - _NAME_PAD * DPI / 72)

    @cached_property
    def flux_name(self) -> Placed:
        lefts = [placed.box[0] for placed in self.flux_numbers]
        if self.content.flux.minor.size:
            lefts.append(np.dot(_moved(-1 * _MINOR_PAD / 72, 0.0), self.y_axis).item(0, 2))
        left = min([*lefts, self.left_spine[0]])
        y = affine_transform(np.array([[0.0, 0.5]]), self.axes).item(0, 1)
        return Placed(upright("Flux", NAME), left - _NAME_PAD * DPI / 72, y)

    @cached_property
    def wavelength_offset(self) -> Placed | None:
        """The factor or constant of the tick numbers, at the lower right of the axis."""
        if not self.content.wavelength.offset:
            return None
        lows = [placed.box[1] for placed in self.wavelength_numbers]
        if self.content.wavelength.minor.size:
            lows.append(np.dot(_moved(0.0, -1 * _MINOR_PAD / 72), self.x_axis).item(1, 2))
        x = affine_transform(np.array([[1.0, 0.0]]), self.axes).item(0, 0)
        text = block(self.content.wavelength.offset, NUMBER, "right", "top")
        return Placed(text, x, min(lows) - _OFFSET_PAD * DPI / 72)

    @cached_property
    def flux_offset(self) -> Placed | None:
        """The same for the flux axis, at the upper left."""
        if not self.content.flux.offset:
            return None
        text = block(self.content.flux.offset, NUMBER, "left", "baseline")
        x = affine_transform(np.array([[0.0, 0.0]]), self.axes).item(0, 0)
        return Placed(text, x, self.box[3] + _OFFSET_PAD * DPI / 72)

    @cached_property
    def title(self) -> Placed:
        above = np.dot(_moved(0.0, _TITLE_PAD / 72), self.axes)
        x, y = affine_transform(np.array([[0.5, 1.0]]), above)[0].tolist()
        placed = Placed(block(self.content.title, TITLE, "center", "baseline"), x, y)
        if self.flux_offset is not None and self.flux_offset.box[3] >= placed.box[1]:
            raise UnsupportedLayout("the title gives way to the flux axis's exponent")
        return placed

    @cached_property
    def statistics(self) -> Placed:
        side, end = self.content.corner
        at = 0.02 if side == "left" else 0.98, 0.98 if end == "top" else 0.02
        x, y = affine_transform(np.array([at]), self.axes)[0].tolist()
        across, upwards = ("left" if side == "left" else "right"), ("top" if end == "top" else "bottom")
        return Placed(block(self.content.statistics, STATISTICS, across, upwards), x, y)

    @cached_property
    def left_spine(self) -> Box:
        """The left edge of the axes with its ticks, as drawn: the ends are computed from the data limits."""
        x0, y0, _, y1 = _extent([(0.0, y) for y in self.content.flux.limits], self.y_axis)
        return x0, y0, x0 + _longest_tick(self.content.flux), y1

    @cached_property
    def bottom_spine(self) -> Box:
        x0, y0, x1, _ = _extent([(x, 0.0) for x in self.content.wavelength.limits], self.x_axis)
        return x0, y0, x1, y0 + _longest_tick(self.content.wavelength)

    def extent(self, layout: bool) -> Box:
        """Return the bounding box. ``layout``: without the length of centred text and without the statistics box."""
        names = [_narrowed_across(self.wavelength_name.box), _narrowed_upwards(self.flux_name.box)]
        numbers = [placed.box for placed in (*self.wavelength_numbers, *self.flux_numbers)]
        offsets = [placed.box for placed in (self.wavelength_offset, self.flux_offset) if placed is not None]
        title = _narrowed_across(self.title.box) if layout else self.title.box
        patch = _extent([(0.0, 0.0), (1.0, 1.0)], self.axes)
        spines = [s for s in (self.left_spine, self.bottom_spine) if s[0] < s[2] and s[1] < s[3]]
        boxes = [*names, *numbers, *offsets, self.box, patch, *spines, title]
        if not layout:
            boxes.append(self.statistics.box)
        x0, y0, x1, y1 = zip(*boxes, strict=True)
        return min(x0), min(y0), max(x1), max(y1)


def position(content: Content, size: tuple[float, float]) -> Box:
    """Return the position of the axes in a figure of ``size`` inches, as fractions of it: ``Figure.tight_layout``.

    :raises UnsupportedLayout: the text leaves no space for axes
    """
    width, height = size
    canvas, to_parts = _canvas(size)
    start = _subplot(*_START)
    frame = Frame(content, start, canvas)
    x0, y0, x1, y1 = frame.extent(layout=True)
    (left, low), (right, high) = affine_transform(np.array([[x0, y0], [x1, y1]]), to_parts).tolist()
    margins = (
        max(start[0] - left, 0.0) + _FIGURE_PAD / width,
        max(start[1] - low, 0.0) + _FIGURE_PAD / height,
        max(right - start[2], 0.0) + _FIGURE_PAD / width,
        max(high - start[3], 0.0) + _FIGURE_PAD / height,
    )
    if margins[0] + margins[2] >= 1 or margins[1] + margins[3] >= 1:
        raise UnsupportedLayout("no room for axes")
    # The second pass, with the first one's answer as its rectangle, subtracts the margins from 1 again.
    right, top = (1 - (1 - (1 - (1 - (1 - margin)))) for margin in margins[2:])
    place = _subplot(margins[0], margins[1], right, top)
    if (place[3] - place[1]) * height * 72 < _MIN_HEIGHT:
        raise UnsupportedLayout("fewer flux ticks fit")
    return place


def cropped(content: Content, size: tuple[float, float], place: Box) -> tuple[Frame, float, float]:
    """Return the frame on the cropped canvas, and the canvas's width and height in pixels (not whole)."""
    canvas, _ = _canvas(size)
    x0, y0, x1, y1 = Frame(content, place, canvas).extent(layout=False)
    corners = affine_transform(np.array([[x0, y0], [x1, y0], [x0, y1], [x1, y1]]), _TO_INCHES)
    crop = np.array([corners.min(axis=0) - _CROP_PAD, corners.max(axis=0) + _CROP_PAD])
    left, low = affine_transform(crop, _TO_PIXELS)[0].tolist()
    figure = canvas.diagonal().tolist()
    outer = (-left, -low, -left + figure[0], -low + figure[1])
    shifted = np.array([[outer[2] - outer[0], 0.0, outer[0]], [0.0, outer[3] - outer[1], outer[1]], [0.0, 0.0, 1.0]])
    wide, high = affine_transform(np.array([crop[1] - crop[0]]), _TO_PIXELS)[0].tolist()
    return Frame(content, place, shifted), wide, high


def _from_limits(across: tuple[float, float], upwards: tuple[float, float]) -> Matrix:
    """Transform data units to axes units: ``BboxTransformFrom``."""
    (x0, x1), (y0, y1) = across, upwards
    sx, sy = 1.0 / (x1 - x0), 1.0 / (y1 - y0)
    return np.array([[sx, 0.0, -x0 * sx], [0.0, sy, -y0 * sy], [0.0, 0.0, 1.0]])


def _moved(x: float, y: float) -> Matrix:
    """Translate by inches: ``ScaledTranslation``."""
    matrix = np.identity(3)
    matrix[:2, 2] = affine_transform(np.array([[x, y]]), _TO_PIXELS)[0]
    return matrix


@lru_cache(maxsize=64)
def _canvas(size: tuple[float, float]) -> tuple[Matrix, Matrix]:
    """Transform fractions of the figure to pixels, and back."""
    wide, high = affine_transform(np.array([size]), _TO_PIXELS)[0].tolist()
    canvas = np.array([[wide, 0.0, 0.0], [0.0, high, 0.0], [0.0, 0.0, 1.0]])
    return canvas, np.linalg.inv(canvas)


def _subplot(left: float, bottom: float, right: float, top: float) -> Box:
    """Return the position that ``SubplotSpec.get_position`` gives for a grid of one."""
    return left + 0.0, top - (top - bottom), left + (right - left), top - 0.0


def _extent(points: list[tuple[float, float]], matrix: Matrix) -> Box:
    moved = affine_transform(np.array(points), matrix)
    return (*moved.min(axis=0).tolist(), *moved.max(axis=0).tolist())


def _longest_tick(axis: Axis) -> float:
    """Return the length of the longest tick in pixels."""
    points = MAJOR_TICK if axis.major.size else MINOR_TICK if axis.minor.size else 0.0
    return points / 72 * DPI


def _narrowed_across(box: Box) -> Box:
    middle = (box[0] + box[2]) / 2 - 0.5
    return middle, box[1], middle + 1.0, box[3]


def _narrowed_upwards(box: Box) -> Box:
    middle = (box[1] + box[3]) / 2 - 0.5
    return box[0], middle, box[2], middle + 1.0


_TO_PIXELS = np.array([[float(DPI), 0.0, 0.0], [0.0, float(DPI), 0.0], [0.0, 0.0, 1.0]])
_TO_INCHES = np.linalg.inv(_TO_PIXELS)
