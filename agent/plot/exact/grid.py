"""Grid lines and tick marks; most are copied, because stroking each takes longer than drawing the spectrum.

Grid lines are set on whole pixels, so all of a kind are the same column (or row), except where one meets the edge of
the axes or a tick mark of the other axis.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.backends._backend_agg import RendererAgg  # type: ignore[attr-defined]  # compiled, no stub
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from agent.plot.curve import DPI
from agent.plot.exact.layout import MAJOR_TICK, MINOR_TICK, Frame

BLACK = (0.0, 0.0, 0.0, 1.0)


def style(
    width: float, colour: tuple[float, ...], cap: str, join: str, snap: bool | None = None
) -> GraphicsContextBase:
    """Return the graphics context. ``width`` in points, ``colour`` RGBA from 0 to 1; ``snap`` None: by the shape of the
    path.
    """
    context = GraphicsContextBase()
    context.set_linewidth(width)
    context.set_foreground(colour, isRGBA=True)
    context.set_capstyle(cap)
    context.set_joinstyle(join)
    context.set_snap(snap)
    return context


def clipped(context: GraphicsContextBase, frame: Frame) -> GraphicsContextBase:
    """Return the same context, clipped at the edge of the axes."""
    (wide, _, left), (_, high, low), _ = frame.axes.tolist()
    context.set_clip_rectangle(Bbox([[left, low], [wide + left, high + low]]))
    return context


def open_path(vertices: NDArray[np.float64], codes: NDArray[np.uint8] | None = None) -> Path:
    """Return a path (N, 2) with all its vertices."""
    path = Path(vertices, codes)
    path.should_simplify = False
    return path


_GREY = (0.6901960784313725, 0.6901960784313725, 0.6901960784313725)
_LEAST_DISTANCE = 3.0
"""In pixels. Closer lines could share one: the thinner ones lie on two columns each."""
_EDGE = 3
_MARKS = math.ceil(MAJOR_TICK * DPI / 72) + _EDGE

_UP = open_path(np.array([[-0.0, 0.0], [-0.0, 1.0]]))
_RIGHT = open_path(np.array([[0.0, 0.0], [1.0, 0.0]]))


def draw_ticks(agg: RendererAgg, picture: NDArray[np.uint8], frame: Frame, along: int) -> None:
    """Draw grid and marks of the wavelength axis (``along`` 0), which must come first, or of the flux axis.

    ``picture`` (rows, columns, 4) is ``agg``'s canvas, on which nothing else stands inside the axes.
    """
    axis = frame.content.flux if along else frame.content.wavelength
    matrix, mark = (frame.y_axis, _RIGHT) if along else (frame.x_axis, _UP)
    for places, thick, alpha, width, points in (
        (axis.major, 0.5, 0.3, 0.8, MAJOR_TICK),
        (axis.minor, 0.3, 0.1, 0.6, MINOR_TICK),
    ):
        grid = clipped(style(thick, (*_GREY, alpha), "projecting", "round"), frame)
        marks = style(width, BLACK, "butt", "round", snap=True)
        length = np.diag([points * DPI / 72, points * DPI / 72, 1.0])
        for apart, times in _apart(places, frame, along, picture.shape[0]):
            starts = np.zeros((apart.size, 2))
            starts[:, along] = apart
            at = open_path(starts)
            if times == 1:
                _draw_lines(agg, picture, frame, along, apart, grid)
                agg.draw_markers(marks, mark, length, at, matrix, BLACK)
                continue
            line, strip = _lines(apart, along), _strip(picture, apart, frame, along)
            for _ in range(times):
                before = strip.copy()
                agg.draw_path(grid, line, matrix, None)
                agg.draw_markers(marks, mark, length, at, matrix, BLACK)
                if np.array_equal(strip, before):
                    # The same strokes on the same pixels change nothing any more.
                    break


def _draw_lines(
    agg: RendererAgg,
    picture: NDArray[np.uint8],
    frame: Frame,
    along: int,
    places: NDArray[np.float64],
    context: GraphicsContextBase,
) -> None:
    matrix = frame.y_axis if along else frame.x_axis
    lane = _lanes(places, frame, along, picture.shape[0])
    lo, hi = _clear(frame, along, picture.shape[0])
    alike = (lo <= lane) & (lane < hi)
    copied = alike.copy()
    copied[np.argmax(alike)] = False
    agg.draw_path(context, _lines(places[~copied], along), matrix, None)
    if copied.any():
        # A pixel as one number: numpy moves those eight times as fast as four bytes.
        colours = picture.view(np.uint32)[..., 0]
        first = lane[np.argmax(alike)]
        for to, source in ((lane[copied], first), (lane[copied] - 1, first - 1)):
            if along:
                colours[to] = colours[source]
            else:
                colours[:, to] = colours[:, source, None]


def _lanes(places: NDArray[np.float64], frame: Frame, along: int, rows: int) -> NDArray[np.intp]:
    """Return the column, or row from above, on which Agg sets each line; a thin line lies half on the one before."""
    if along:
        upwards, low = frame.y_axis.item(1, 1), frame.y_axis.item(1, 2)
        at = places * -upwards + (rows - low)
    else:
        at = places * frame.x_axis.item(0, 0) + frame.x_axis.item(0, 2)
    lanes: NDArray[np.intp] = np.floor(at + 0.5).astype(np.intp)
    return lanes


def _clear(frame: Frame, along: int, rows: int) -> tuple[float, float]:
    """Return the lanes between which a line meets neither an edge nor the marks of the wavelength axis."""
    left, low, right, high = frame.box
    return (rows - high + _EDGE, rows - low - _MARKS) if along else (left + _EDGE, right - _EDGE)


def _apart(places: NDArray[np.float64], frame: Frame, along: int, rows: int) -> list[tuple[NDArray[np.float64], int]]:
    """Return the ticks in groups that share no row or column of pixels, and how many times each is drawn: nearly always
    one group of all, once. Where ticks are closer, those of one lane have the same pixels, and one stands for them.
    """
    if not places.size:
        return []
    scale = (frame.y_axis if along else frame.x_axis).item(along, along)
    if places.size == 1 or np.diff(places).min() * scale >= _LEAST_DISTANCE:
        return [(places, 1)]
    starts = np.flatnonzero(np.diff(_lanes(places, frame, along, rows), prepend=-_EDGE))
    times = np.diff(starts, append=places.size)
    return [(places[start : start + 1], count) for start, count in zip(starts.tolist(), times.tolist(), strict=True)]


def _strip(picture: NDArray[np.uint8], place: NDArray[np.float64], frame: Frame, along: int) -> NDArray[np.uint8]:
    """Return the pixels that the line of a tick and its mark can change, as a view."""
    lane = _lanes(place, frame, along, picture.shape[0]).item()
    near = slice(max(lane - _EDGE, 0), lane + _EDGE)
    return picture[near] if along else picture[:, near]


def _lines(places: NDArray[np.float64], along: int) -> Path:
    ends = np.zeros((places.size, 2, 2))
    ends[:, :, along] = places[:, None]
    ends[:, 1, 1 - along] = 1.0
    return open_path(ends.reshape(-1, 2), np.tile(np.array([Path.MOVETO, Path.LINETO], np.uint8), places.size))
