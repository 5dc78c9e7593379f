"""The picture by matplotlib's own figure: slow but general; for what the fast renderer cannot draw, and for tests."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import AutoMinorLocator, MultipleLocator
from PIL import Image

from agent.plot.curve import DPI, Curve

# matplotlib's parameters are one table for the whole process, and `rc_context` swaps them for all
# threads at once; the lock keeps two pictures from restoring each other's table.
_style_lock = threading.Lock()
_STYLE = {k: v for k, v in matplotlib.rcParamsDefault.items() if k not in matplotlib.style.core.STYLE_BLACKLIST}


class _QuietLocator(MultipleLocator):
    """Locator that places over a thousand ticks without a warning: a picture of one pixel has that many."""

    def raise_if_exceeds(self, locs: Sequence[float]) -> Sequence[float]:
        return locs


@contextmanager
def default_style(more: Mapping[str, Any] = MappingProxyType({})) -> Iterator[None]:
    """Matplotlib's own parameters, and ``more``, whatever this machine sets. One thread at a time draws with them."""
    with _style_lock, matplotlib.rc_context({**_STYLE, **more}):
        yield


def picture(curve: Curve, title: str) -> Image.Image:
    """Return the RGBA picture."""
    buffer = io.BytesIO()
    with default_style():
        _figure(curve, title).savefig(buffer, format="png", dpi=DPI, bbox_inches="tight")
    return Image.open(buffer)


def _figure(curve: Curve, title: str) -> Figure:
    figure = Figure(figsize=curve.size, dpi=DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(curve.wavelength, curve.flux, "-", color="blue", linewidth=1.0, alpha=0.8)
    axes.set_xlabel("Wavelength (Å)", fontsize=12, fontweight="bold")
    axes.set_ylabel("Flux", fontsize=12, fontweight="bold")
    axes.set_title(title, fontsize=14, fontweight="bold", pad=20)
    _ticks_and_grid(axes, curve)
    # The statistics box comes after the layout: it must not move the axes.
    figure.tight_layout()
    _statistics_box(axes, curve)
    return figure


def _ticks_and_grid(axes: Axes, curve: Curve) -> None:
    major, minor = curve.tick_spacing
    axes.xaxis.set_major_locator(_QuietLocator(major))
    axes.xaxis.set_minor_locator(_QuietLocator(minor))
    axes.yaxis.set_minor_locator(AutoMinorLocator())
    axes.grid(True, which="major", alpha=0.3, linestyle="-", linewidth=0.5)
    axes.grid(True, which="minor", alpha=0.1, linestyle="-", linewidth=0.3)
    axes.tick_params(axis="both", which="both", direction="in")
    axes.tick_params(axis="both", which="major", labelsize=10)


def _statistics_box(axes: Axes, curve: Curve) -> None:
    side, end = curve.emptiest_corner
    axes.text(
        0.02 if side == "left" else 0.98,
        0.98 if end == "top" else 0.02,
        curve.statistics,
        transform=axes.transAxes,
        fontsize=9,
        horizontalalignment=side,
        verticalalignment=end,
        bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.8},
    )
