"""The data of a picture, and what follows from them: its size, its tick spacing and the text in its box.

Every number here is the published renderer's (``recipe/spec_o3/utils.py`` of github.com/Maxwell-Jia/spec-o3, commit
dd6eb91).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agent.errors import Refusal

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


class PlotError(Refusal, ValueError):
    """Nothing can be drawn; the message is the published tool's, since the model reads it."""


@dataclass(frozen=True)
class Curve:
    """The pixels drawn: finite, sorted by wavelength, inside the window if ``zoomed``; at least one."""

    wavelength: NDArray[np.float64]
    flux: NDArray[np.float64]
    zoomed: bool

    @property
    def extent(self) -> float:
        """Distance in Å from the first pixel to the last."""
        return float(self.wavelength[-1] - self.wavelength[0])

    @cached_property
    def flux_range(self) -> tuple[float, float]:
        return float(self.flux.min()), float(self.flux.max())

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the figure in inches, before it is cropped."""
        if self.zoomed:
            width, height = next(size for limit, size in _ZOOM_SIZES if self.extent < limit)
        else:
            width, height = next(size for limit, size in _FULL_SIZES if self.extent <= limit)
        if self.wavelength.size > 10_000:
            width *= 1.05
        elif self.wavelength.size < 50:
            width *= 0.95
        return width, height

    @property
    def tick_spacing(self) -> tuple[float, float]:
        """Major and minor spacing, in Å."""
        return next((major, minor) for limit, major, minor in _TICKS if self.extent >= limit)

    @property
    def statistics(self) -> str:
        """The three lines of the box."""
        lo, hi = self.flux_range
        return (
            f"Data points: {self.wavelength.size}\n"
            f"λ range: {self.wavelength[0]:.1f} - {self.wavelength[-1]:.1f} Å\n"
            f"Flux range: {lo:.2e} - {hi:.2e}"
        )

    @property
    def emptiest_corner(self) -> tuple[str, str]:
        """The quadrant about the middle of the data with fewest points; a point on the middle counts in both."""
        lo, hi = self.flux_range
        middle_wavelength = (self.wavelength[0] + self.wavelength[-1]) / 2
        middle_flux = (lo + hi) / 2
        left, right = self.wavelength <= middle_wavelength, self.wavelength >= middle_wavelength
        top, bottom = self.flux >= middle_flux, self.flux <= middle_flux
        corners = {
            ("left", "top"): left & top,
            ("right", "top"): right & top,
            ("left", "bottom"): left & bottom,
            ("right", "bottom"): right & bottom,
        }
        return min(corners, key=lambda corner: int(np.count_nonzero(corners[corner])))


def pixels_to_draw(
    wavelength: NDArray[np.float64], flux: NDArray[np.float64], window: tuple[float, float] | None
) -> Curve:
    """:raises PlotError: lengths differ, nothing finite to draw, or no pixel lies in the window"""
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
    return Curve(wavelength, flux, window is not None)
