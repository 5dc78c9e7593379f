"""The picture drawn straight on matplotlib's Agg canvas, with no figure and no artist in between.

What reaches the canvas is what the reference sends there, in its order, except that strokes which touch no
common pixel go in one call: all grid lines of a kind, all tick marks of a kind. No ``rcParams`` is read that
could change a pixel, and nothing is shared between threads but finished words.
"""

from __future__ import annotations

import math
import re

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends._backend_agg import RendererAgg  # type: ignore[attr-defined]  # compiled, no stub
from matplotlib.patches import BoxStyle
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from agent.plot.curve import Curve
from agent.plot.layout import (
    MAJOR_TICK,
    MINOR_TICK,
    STATISTICS,
    Content,
    Frame,
    Matrix,
    NotPromised,
    Placed,
    cropped,
    position,
)
from agent.plot.reference import DPI
from agent.plot.ticks import Axis, flux_axis, wavelength_axis

_PLAIN_TITLE = re.compile(r"[ -#%-\[\]-~]*[!-#%-\[\]-~][ -#%-\[\]-~]*")
"""Printable ASCII that is not blank and has neither ``$`` (formulas) nor a backslash."""

_LARGEST, _SMALLEST = 1e100, 1e-100
_LEAST_SPAN = 1e-9
_LEAST_TICK_DISTANCE = 2.0
_SIMPLIFIED_FROM = 128
_SIMPLIFY_THRESHOLD = 0.111111111111

_BLACK, _GREY = (0.0, 0.0, 0.0, 1.0), (0.6901960784313725, 0.6901960784313725, 0.6901960784313725)
_FRAME_ALPHA = 0.8


def pixels(curve: Curve, title: str) -> NDArray[np.uint8]:
    """The RGBA picture (rows, columns, 4).

    :raises NotPromised: it may differ from the reference
    """
    if not _PLAIN_TITLE.fullmatch(title):
        raise NotPromised("a title with formulas, several lines or rare characters")
    content = _content(curve, title)
    frame, wide, high = cropped(content, curve.size, position(content, curve.size))
    agg = RendererAgg(int(wide), int(high), float(DPI))
    picture = np.asarray(agg)
    picture.fill(255)
    _draw_axes(agg, frame, high)
    try:
        _draw_line(agg, frame, curve)
    except OverflowError as failure:
        raise NotPromised("the line is too long for Agg") from failure
    _draw_spines(agg, frame)
    _draw_statistics(agg, frame, high)
    _draw_text(agg, frame.title, high)
    return picture


def _content(curve: Curve, title: str) -> Content:
    ends = (float(curve.wavelength[0]), float(curve.wavelength[-1])), curve.flux_range
    for lo, hi in ends:
        largest = max(abs(lo), abs(hi))
        if not (largest == 0 or _SMALLEST < largest < _LARGEST):
            raise NotPromised("numbers near the ends of what a float holds")
        if 0 < hi - lo < _LEAST_SPAN * largest:
            raise NotPromised("a range within rounding")
    wavelength, flux = wavelength_axis(*ends[0], curve.tick_spacing), flux_axis(*ends[1])
    return Content(wavelength, flux, title, curve.statistics, curve.emptiest_corner)


def _draw_axes(agg: RendererAgg, frame: Frame, high: float) -> None:
    """Grid, ticks and words of the wavelength axis, then of the flux axis."""
    content = frame.content
    _draw_ticks(agg, frame, content.wavelength, 0)
    for placed in (*frame.wavelength_numbers, frame.wavelength_name, frame.wavelength_offset):
        _draw_text(agg, placed, high)
    _draw_ticks(agg, frame, content.flux, 1)
    for placed in (*frame.flux_numbers, frame.flux_name, frame.flux_offset):
        _draw_text(agg, placed, high)


def _draw_ticks(agg: RendererAgg, frame: Frame, axis: Axis, along: int) -> None:
    matrix, mark = (frame.x_axis, _UP) if along == 0 else (frame.y_axis, _RIGHT)
    for places, grid, width, points in (
        (axis.major, _grid_style(frame, 0.5, 0.3), 0.8, MAJOR_TICK),
        (axis.minor, _grid_style(frame, 0.3, 0.1), 0.6, MINOR_TICK),
    ):
        style = _style(width, _BLACK, "butt", "round", snap=True)
        length = np.diag([points * DPI / 72, points * DPI / 72, 1.0])
        for apart in _apart(places, matrix.item(along, along)):
            agg.draw_path(grid, _grid(apart, along), matrix, None)
            starts = np.zeros((apart.size, 2))
            starts[:, along] = apart
            agg.draw_markers(style, mark, length, _open_path(starts), matrix, _BLACK)


def _apart(places: NDArray[np.float64], scale: float) -> list[NDArray[np.float64]]:
    """The ticks in groups that share no row or column of pixels: nearly always one group of all."""
    if places.size < 2:
        return [places] if places.size else []
    return (
        [places] if (places[1] - places[0]) * scale >= _LEAST_TICK_DISTANCE else np.split(places, places.size)
    )


def _grid(places: NDArray[np.float64], along: int) -> Path:
    ends = np.zeros((places.size, 2, 2))
    ends[:, :, along] = places[:, None]
    ends[:, 1, 1 - along] = 1.0
    return _open_path(
        ends.reshape(-1, 2), np.tile(np.array([Path.MOVETO, Path.LINETO], np.uint8), places.size)
    )


def _draw_line(agg: RendererAgg, frame: Frame, curve: Curve) -> None:
    path = _open_path(np.column_stack([curve.wavelength, curve.flux]))
    path.should_simplify = curve.wavelength.size >= _SIMPLIFIED_FROM
    path.simplify_threshold = _SIMPLIFY_THRESHOLD
    style = _style(1.0, (0.0, 0.0, 1.0, 0.8), "projecting", "round")
    agg.draw_path(_clipped(style, frame), path, frame.data, None)


def _draw_spines(agg: RendererAgg, frame: Frame) -> None:
    style = _style(0.8, _BLACK, "projecting", "miter")
    (x0, x1), (y0, y1) = frame.content.wavelength.limits, frame.content.flux.limits
    for x in (0.0, 1.0):
        agg.draw_path(style, _open_path(np.array([[x, y0], [x, y1]])), frame.y_axis, None)
    for y in (0.0, 1.0):
        agg.draw_path(style, _open_path(np.array([[x0, y], [x1, y]])), frame.x_axis, None)


def _draw_statistics(agg: RendererAgg, frame: Frame, high: float) -> None:
    placed = frame.statistics
    left, low, width, height = placed.block.frame
    outline = BoxStyle.Round(pad=0.3)(0.0, 0.0, width, height, STATISTICS.size * DPI / 72)
    style = _style(1.0, (0.0, 0.0, 0.0, _FRAME_ALPHA), "butt", "miter")
    style.set_alpha(_FRAME_ALPHA)
    agg.draw_path(
        style, outline, _translation(placed.x + left, placed.y + low), (1.0, 1.0, 1.0, _FRAME_ALPHA)
    )
    _draw_text(agg, placed, high)


def _draw_text(agg: RendererAgg, placed: Placed | None, high: float) -> None:
    if placed is None:
        return
    angle = placed.block.angle
    style = _style(1.0, _BLACK, "butt", "round")
    for line in placed.block.lines:
        x, y = line.x + placed.x, high - (line.y + placed.y)
        drop = (
            line.word.descent * math.sin(math.radians(angle)),
            line.word.descent * math.cos(math.radians(angle)),
        )
        column = round(x + line.word.ink_left + drop[0])
        row = round(y + line.word.ink_up + drop[1])
        agg.draw_text_image(line.word.ink, column, row + 1, angle, style)


def _grid_style(frame: Frame, width: float, alpha: float) -> GraphicsContextBase:
    return _clipped(_style(width, (*_GREY, alpha), "projecting", "round"), frame)


def _clipped(style: GraphicsContextBase, frame: Frame) -> GraphicsContextBase:
    (wide, _, left), (_, high, low), _ = frame.axes.tolist()
    style.set_clip_rectangle(Bbox([[left, low], [wide + left, high + low]]))
    return style


def _style(
    width: float, colour: tuple[float, ...], cap: str, join: str, snap: bool | None = None
) -> GraphicsContextBase:
    style = GraphicsContextBase()
    style.set_linewidth(width)
    style.set_foreground(colour, isRGBA=True)
    style.set_capstyle(cap)
    style.set_joinstyle(join)
    style.set_snap(snap)
    return style


def _open_path(vertices: NDArray[np.float64], codes: NDArray[np.uint8] | None = None) -> Path:
    path = Path(vertices, codes)
    path.should_simplify = False
    return path


def _translation(x: float, y: float) -> Matrix:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


_UP = _open_path(np.array([[-0.0, 0.0], [-0.0, 1.0]]))
_RIGHT = _open_path(np.array([[0.0, 0.0], [1.0, 0.0]]))
