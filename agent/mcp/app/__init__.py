"""The MCP App: an interactive spectrum inside clients that show one (extension io.modelcontextprotocol/ui).

``spectrum.html`` is the page, which the host of the client puts into a sandbox without network. The numbers that it
draws are in the ``_meta`` of a result: clients give ``structuredContent`` to the model as well, which reads text and
picture. Clients without apps are sent neither.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.spectrum import Spectrum
from agent.tool import frame_of, tool_wavelength

URI = "ui://spec-o3/spectrum.html"
META = "spec-o3/spectrum"
"""Key of the numbers in the ``_meta`` of a result."""
BINS = 700
"""Stretches of wavelength drawn, about one per pixel of the widest picture."""


@cache
def page() -> str:
    """Return the page, one HTML document."""
    return files(__name__).joinpath("spectrum.html").read_text("utf-8")


def numbers(spectrum: Spectrum, handle: str, window: tuple[float, float] | None) -> dict[str, Any]:
    """Return what the page draws, JSON values: all of the spectrum, and the window if there is one.

    :param window: Å, in the frame of the tool and the medium of the spectrum
    """
    wavelength = tool_wavelength(spectrum)
    frame, z = frame_of(spectrum)
    shown = {
        "handle": handle,
        "frame": frame,
        "z": z,
        "medium": spectrum.medium,
        "assumed": bool(spectrum.meta.get("medium_assumed")),
        "fluxUnit": spectrum.flux_unit,
        "all": at_screen(wavelength, spectrum.flux),
        "window": None,
        "inWindow": None,
    }
    if window is not None:
        inside = (wavelength >= window[0]) & (wavelength <= window[1])
        shown |= {"window": list(window), "inWindow": at_screen(wavelength[inside], spectrum.flux[inside])}
    return shown


def at_screen(wavelength: NDArray[np.float64], flux: NDArray[np.float64]) -> dict[str, list[float]]:
    """Return a curve that looks like this one at ``BINS`` pixels: of each bin the lowest and the highest pixel, so that
    no narrow line is lost. Of at most 2 ``BINS`` pixels all are returned.

    :param wavelength: Å (N,), increasing
    """
    kept = np.arange(len(wavelength))
    if len(kept) > 2 * BINS:
        bins = np.array_split(kept, BINS)
        kept = np.unique(
            [each[np.argmin(flux[each])] for each in bins] + [each[np.argmax(flux[each])] for each in bins]
        )
    return {
        "wavelength": [round(float(value), 3) for value in wavelength[kept]],
        "flux": [float(f"{value:.5g}") for value in flux[kept]],
    }
