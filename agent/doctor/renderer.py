"""Whether pictures come out as those that the published models were trained on, pixel for pixel."""

from __future__ import annotations

from agent.doctor.finding import Finding, pip
from agent.doctor.packages import version

MATPLOTLIB = "3.10.5"
OVERVIEW = "6fc95d8a562d9a325f754c93e5dbe77acd88011368b17da5f3cd885b01bc5b28"
ZOOM = "94c5f3d1e064fda5be10b4a2c99dff79f3d41830655b4eea1e4c3a0ce2958f68"
"""SHA-256 of the RGBA bytes of two pictures of the spectrum below, by a renderer that passes the tests
against published pictures."""


def matplotlib_release() -> Finding:
    found = version("matplotlib")
    well = found == MATPLOTLIB
    remedy = "" if well else pip(f"matplotlib=={MATPLOTLIB}")
    return Finding("matplotlib", well, found or "not installed", remedy)


def pixels() -> Finding:
    """Draw a fixed made-up spectrum, whole and a window of it. Another build of FreeType or matplotlib gives
    other pixels though the version is right.
    """
    try:
        import numpy as np

        from agent import plot
    except Exception as error:
        return Finding(
            "drawing", False, f"the renderer cannot be loaded: {error}", pip(f"matplotlib=={MATPLOTLIB}")
        )
    pixel = np.arange(3600)
    wavelength = 3700.0 + 1.5 * pixel
    flux = (pixel * 7919 % 1000) / 10.0 + np.abs(pixel - 1800) / 20.0
    drawn = [plot.pixels_sha256(plot.draw(wavelength, flux, window)) for window in (None, (6500.0, 6650.0))]
    if drawn == [OVERVIEW, ZOOM]:
        return Finding("drawing", True, "a test spectrum comes out as published, pixel for pixel")
    found = "a test spectrum comes out with other pixels than those that the models were trained on"
    remedy = pip(f"--force-reinstall --no-deps --only-binary :all: matplotlib=={MATPLOTLIB}")
    return Finding("drawing", False, found, remedy)
