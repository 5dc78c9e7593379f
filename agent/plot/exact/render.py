"""Draw the picture directly on matplotlib's Agg canvas, without a figure or artists.

The canvas receives the same calls as from the reference, in the same order, but strokes that share no pixel go in one
call. No ``rcParams`` is read that could change a pixel; threads share only finished words and their ink.
"""

from __future__ import annotations

import math
import re

import numpy as np
from matplotlib.backends._backend_agg import RendererAgg  # type: ignore[attr-defined]  # compiled, no stub
from matplotlib.patches import BoxStyle
from numpy.typing import NDArray

from agent.plot.curve import DPI, Curve
from agent.plot.exact.grid import BLACK, clipped, draw_ticks, open_path, style
from agent.plot.exact.layout import STATISTICS, Content, Frame, Matrix, Placed, UnsupportedLayout, cropped, position
from agent.plot.exact.ticks import flux_axis, wavelength_axis

_PLAIN_TITLE = re.compile(r"[ -#%-\[\]-~]*[!-#%-\[\]-~][ -#%-\[\]-~]*")
"""Printable ASCII that is not blank and has neither ``$`` (formulas) nor a backslash."""

_LARGEST, _SMALLEST = 1e100, 1e-100
_LEAST_SPAN = 1e-9
_SIMPLIFIED_FROM = 128
_SIMPLIFY_THRESHOLD = 0.111111111111

_FRAME_ALPHA = 0.8
_INK = style(1.0, BLACK, "butt", "round")
"""Of all words; only read."""


def pixels(curve: Curve, title: str) -> NDArray[np.uint8]:
    """Return the RGBA picture (rows, columns, 4).

    :raises UnsupportedLayout: it may differ from the reference
    """
    if not _PLAIN_TITLE.fullmatch(title):
        raise UnsupportedLayout("a title with formulas, several lines or rare characters")
    content = _content(curve, title)
    frame, wide, high = cropped(content, curve.size, position(content, curve.size))
    agg = RendererAgg(int(wide), int(high), float(DPI))
    picture = np.asarray(agg)
    picture.fill(255)
    _draw_axes(agg, picture, frame, high)
    try:
        _draw_line(agg, frame, curve)
    except OverflowError as failure:
        raise UnsupportedLayout("the line is too long for Agg") from failure
    _draw_spines(agg, frame)
    _draw_statistics(agg, frame, high)
    _draw_text(agg, frame.title, high)
    return picture


def _content(curve: Curve, title: str) -> Content:
    ends = (float(curve.wavelength[0]), float(curve.wavelength[-1])), curve.flux_range
    for lo, hi in ends:
        largest = max(abs(lo), abs(hi))
        if not (largest == 0 or _SMALLEST < largest < _LARGEST):
            raise UnsupportedLayout("numbers near the ends of what a float holds")
        if 0 < hi - lo < _LEAST_SPAN * largest:
            raise UnsupportedLayout("a range within rounding")
    wavelength, flux = wavelength_axis(*ends[0], curve.tick_spacing), flux_axis(*ends[1])
    return Content(wavelength, flux, title, curve.statistics, curve.emptiest_corner)


def _draw_axes(agg: RendererAgg, picture: NDArray[np.uint8], frame: Frame, high: float) -> None:
    """Draw grid, ticks and text of the wavelength axis, then of the flux axis."""
    draw_ticks(agg, picture, frame, along=0)
    for placed in (*frame.wavelength_numbers, frame.wavelength_name, frame.wavelength_offset):
        _draw_text(agg, placed, high)
    draw_ticks(agg, picture, frame, along=1)
    for placed in (*frame.flux_numbers, frame.flux_name, frame.flux_offset):
        _draw_text(agg, placed, high)


def _draw_line(agg: RendererAgg, frame: Frame, curve: Curve) -> None:
    path = open_path(np.column_stack([curve.wavelength, curve.flux]))
    path.should_simplify = curve.wavelength.size >= _SIMPLIFIED_FROM
    path.simplify_threshold = _SIMPLIFY_THRESHOLD
    blue = style(1.0, (0.0, 0.0, 1.0, 0.8), "projecting", "round")
    agg.draw_path(clipped(blue, frame), path, frame.data, None)


def _draw_spines(agg: RendererAgg, frame: Frame) -> None:
    edge = style(0.8, BLACK, "projecting", "miter")
    (x0, x1), (y0, y1) = frame.content.wavelength.limits, frame.content.flux.limits
    for x in (0.0, 1.0):
        agg.draw_path(edge, open_path(np.array([[x, y0], [x, y1]])), frame.y_axis, None)
    for y in (0.0, 1.0):
        agg.draw_path(edge, open_path(np.array([[x0, y], [x1, y]])), frame.x_axis, None)


def _draw_statistics(agg: RendererAgg, frame: Frame, high: float) -> None:
    placed = frame.statistics
    left, low, width, height = placed.block.frame
    outline = BoxStyle.Round(pad=0.3)(0.0, 0.0, width, height, STATISTICS.size * DPI / 72)
    edge = style(1.0, (0.0, 0.0, 0.0, _FRAME_ALPHA), "butt", "miter")
    edge.set_alpha(_FRAME_ALPHA)
    agg.draw_path(edge, outline, _translation(placed.x + left, placed.y + low), (1.0, 1.0, 1.0, _FRAME_ALPHA))
    _draw_text(agg, placed, high)


def _draw_text(agg: RendererAgg, placed: Placed | None, high: float) -> None:
    if placed is None:
        return
    angle = placed.block.angle
    for line in placed.block.lines:
        x, y = line.x + placed.x, high - (line.y + placed.y)
        drop = (
            line.word.descent * math.sin(math.radians(angle)),
            line.word.descent * math.cos(math.radians(angle)),
        )
        column = round(x + line.word.ink_left + drop[0])
        row = round(y + line.word.ink_up + drop[1])
        agg.draw_text_image(line.word.ink, column, row + 1, angle, _INK)


def _translation(x: float, y: float) -> Matrix:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
