"""How densely a spectrum is sampled, where the tasks look for lines."""

from __future__ import annotations

import numpy as np

from agent.spectrum import Spectrum

OPTICAL = (3700.0, 9000.0)
"""Å; libraries sample the infrared far more coarsely."""
COARSE = 15.0
"""Å between pixels above which lines cannot be judged: a line of 30 Å, the narrowest of a white dwarf, has two pixels.
"""


def typical_step(spectrum: Spectrum) -> float | None:
    """Return the median step between pixels in Å between 3700 and 9000 Å; None with fewer than two pixels there."""
    steps = np.diff(spectrum.wavelength[(spectrum.wavelength >= OPTICAL[0]) & (spectrum.wavelength <= OPTICAL[1])])
    return float(np.median(steps)) if steps.size else None
