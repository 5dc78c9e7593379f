"""What Agg is told with each stroke. Nothing here follows anybody's matplotlibrc."""

from __future__ import annotations

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase
from matplotlib.path import Path
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from agent.plot.layout import Frame

BLACK = (0.0, 0.0, 0.0, 1.0)


def style(
    width: float, colour: tuple[float, ...], cap: str, join: str, snap: bool | None = None
) -> GraphicsContextBase:
    """``width`` in points, ``colour`` RGBA from 0 to 1; ``snap`` None leaves it to the shape of the path."""
    context = GraphicsContextBase()
    context.set_linewidth(width)
    context.set_foreground(colour, isRGBA=True)
    context.set_capstyle(cap)
    context.set_joinstyle(join)
    context.set_snap(snap)
    return context


def clipped(context: GraphicsContextBase, frame: Frame) -> GraphicsContextBase:
    """The same, cut off at the edge of the axes."""
    (wide, _, left), (_, high, low), _ = frame.axes.tolist()
    context.set_clip_rectangle(Bbox([[left, low], [wide + left, high + low]]))
    return context


def open_path(vertices: NDArray[np.float64], codes: NDArray[np.uint8] | None = None) -> Path:
    """A path (N, 2) of which no vertex is left out."""
    path = Path(vertices, codes)
    path.should_simplify = False
    return path
