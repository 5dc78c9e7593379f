"""The picture the model sees: pixel for pixel what the published tool draws.

The Spec-o3 checkpoints (arXiv 2601.06498) were trained on these pictures, so every choice below is
the published renderer's (``recipe/spec_o3/utils.py`` of github.com/Maxwell-Jia/spec-o3, commit
dd6eb91) and none is a matter of taste: figure sizes, tick spacings, the statistics box, and that
every finite pixel is drawn whatever its ivar or mask. What may differ is how the pixels are reached:
here a ``Figure`` of its own per call, no pyplot, and a style that no matplotlibrc can reach.

The line of a picture must stay the same across machines, hence the exact pin of matplotlib: 3.11
renders other pixels.
"""

from __future__ import annotations

import hashlib
import io
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import AutoMinorLocator, MultipleLocator
from numpy.typing import ArrayLike, NDArray
from PIL import Image

RENDERER = "published-mpl3.10.5/1"
"""Names these pixels. It changes if, and only if, a picture of the same spectrum changes."""

DPI = 80

# Figure size in inches by the extent of the data drawn, in Å: the first row whose limit is not reached.
_ZOOM_SIZES = ((50.0, (6.0, 4.0)), (200.0, (7.0, 4.5)), (1000.0, (8.0, 5.0)), (math.inf, (9.0, 5.5)))
_FULL_SIZES = ((200.0, (6.0, 4.0)), (1000.0, (7.0, 4.5)), (3000.0, (8.0, 5.0)), (math.inf, (10.0, 6.0)))

# Major and minor tick spacing in Å by the extent of the data drawn: the first row whose limit is reached.
_TICKS = (
    (5000.0, 1000.0, 200.0),
    (1000.0, 200.0, 50.0),
    (500.0, 100.0, 20.0),
    (300.0, 100.0, 25.0),
    (150.0, 50.0, 25.0),
    (100.0, 25.0, 5.0),
    (50.0, 10.0, 2.0),
    (20.0, 5.0, 1.0),
    (5.0, 2.0, 0.5),
    (-math.inf, 1.0, 0.2),
)

# matplotlib's parameters are one table for the whole process, and `rc_context` swaps them for all
# threads at once; the lock keeps two pictures from restoring each other's table.
_style_lock = threading.Lock()
_STYLE = {
    k: v for k, v in matplotlib.rcParamsDefault.items() if k not in matplotlib.style.core.STYLE_BLACKLIST
}


class PlotError(ValueError):
    """Nothing can be drawn; the text is the published tool's, since the model reads it."""


@dataclass(frozen=True)
class _Curve:
    """The pixels drawn: finite, sorted by wavelength, inside the window."""

    wavelength: NDArray[np.float64]
    flux: NDArray[np.float64]

    @property
    def extent(self) -> float:
        return float(self.wavelength[-1] - self.wavelength[0])


class _QuietLocator(MultipleLocator):
    """Places over a thousand ticks without a warning for each draw: a picture of one pixel has that many."""

    def raise_if_exceeds(self, locs: Sequence[float]) -> Sequence[float]:
        return locs


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
    return Image.open(io.BytesIO(png(wavelength, flux, window, title)))


def png(
    wavelength: ArrayLike,
    flux: ArrayLike,
    window: tuple[float, float] | None = None,
    title: str = "Spectrum",
) -> bytes:
    """The same picture as PNG bytes. :raises PlotError: as ``draw``."""
    curve = _pixels_to_draw(np.asarray(wavelength, float), np.asarray(flux, float), window)
    buffer = io.BytesIO()
    with _style_lock, matplotlib.rc_context(_STYLE):
        figure = _figure(curve, zoomed=window is not None, title=title)
        figure.savefig(buffer, format="png", dpi=DPI, bbox_inches="tight")
    return buffer.getvalue()


def pixels_sha256(picture: Image.Image) -> str:
    """SHA-256 of the RGBA bytes, hex: the picture's identity, whatever file it was stored in."""
    return hashlib.sha256(picture.convert("RGBA").tobytes()).hexdigest()


def _pixels_to_draw(
    wavelength: NDArray[np.float64], flux: NDArray[np.float64], window: tuple[float, float] | None
) -> _Curve:
    if wavelength.ndim != 1 or wavelength.shape != flux.shape:
        raise PlotError("wavelength and flux must have same length")
    if not wavelength.size:
        raise PlotError("Input data cannot be empty")
    finite = np.isfinite(wavelength) & np.isfinite(flux)
    wavelength, flux = wavelength[finite], flux[finite]
    if not wavelength.size:
        raise PlotError("No valid data after filtering")
    order = np.argsort(wavelength)
    wavelength, flux = wavelength[order], flux[order]
    if window is not None:
        lo, hi = window
        if not lo < hi:
            raise PlotError("wavelength_range minimum must be less than maximum")
        inside = (wavelength >= lo) & (wavelength <= hi)
        wavelength, flux = wavelength[inside], flux[inside]
        if not wavelength.size:
            raise PlotError(f"No data points in specified wavelength range ({lo}, {hi})")
    return _Curve(wavelength, flux)


def _figure(curve: _Curve, zoomed: bool, title: str) -> Figure:
    figure = Figure(figsize=_size(curve, zoomed), dpi=DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot(curve.wavelength, curve.flux, "-", color="blue", linewidth=1.0, alpha=0.8)
    axes.set_xlabel("Wavelength (Å)", fontsize=12, fontweight="bold")
    axes.set_ylabel("Flux", fontsize=12, fontweight="bold")
    axes.set_title(title, fontsize=14, fontweight="bold", pad=20)
    _ticks_and_grid(axes, curve.extent)
    # The statistics box comes after the layout: it must not move the axes.
    figure.tight_layout()
    _statistics_box(axes, curve)
    return figure


def _size(curve: _Curve, zoomed: bool) -> tuple[float, float]:
    if zoomed:
        width, height = next(size for limit, size in _ZOOM_SIZES if curve.extent < limit)
    else:
        width, height = next(size for limit, size in _FULL_SIZES if curve.extent <= limit)
    if curve.wavelength.size > 10_000:
        width *= 1.05
    elif curve.wavelength.size < 50:
        width *= 0.95
    return width, height


def _ticks_and_grid(axes: Axes, extent: float) -> None:
    major, minor = next((major, minor) for limit, major, minor in _TICKS if extent >= limit)
    axes.xaxis.set_major_locator(_QuietLocator(major))
    axes.xaxis.set_minor_locator(_QuietLocator(minor))
    axes.yaxis.set_minor_locator(AutoMinorLocator())
    axes.grid(True, which="major", alpha=0.3, linestyle="-", linewidth=0.5)
    axes.grid(True, which="minor", alpha=0.1, linestyle="-", linewidth=0.3)
    axes.tick_params(axis="both", which="both", direction="in")
    axes.tick_params(axis="both", which="major", labelsize=10)


def _statistics_box(axes: Axes, curve: _Curve) -> None:
    wavelength, flux = curve.wavelength, curve.flux
    text = (
        f"Data points: {wavelength.size}\n"
        f"λ range: {wavelength.min():.1f} - {wavelength.max():.1f} Å\n"
        f"Flux range: {flux.min():.2e} - {flux.max():.2e}"
    )
    side, end = _emptiest_corner(curve)
    axes.text(
        0.02 if side == "left" else 0.98,
        0.98 if end == "top" else 0.02,
        text,
        transform=axes.transAxes,
        fontsize=9,
        horizontalalignment=side,
        verticalalignment=end,
        bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.8},
    )


def _emptiest_corner(curve: _Curve) -> tuple[str, str]:
    """The quadrant about the middle of the data with fewest points; a point on the middle is in both."""
    wavelength, flux = curve.wavelength, curve.flux
    middle_wavelength = (wavelength.min() + wavelength.max()) / 2
    middle_flux = (flux.min() + flux.max()) / 2
    left, right = wavelength <= middle_wavelength, wavelength >= middle_wavelength
    top, bottom = flux >= middle_flux, flux <= middle_flux
    corners = {
        ("left", "top"): left & top,
        ("right", "top"): right & top,
        ("left", "bottom"): left & bottom,
        ("right", "bottom"): right & bottom,
    }
    return min(corners, key=lambda corner: int(np.count_nonzero(corners[corner])))
