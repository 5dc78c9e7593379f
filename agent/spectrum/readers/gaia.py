"""Sampled mean BP/RP spectra of Gaia DR3 (``XP_SAMPLED``), as DataLink gives them: one CSV or VOTable per source.

343 samples from 336 to 1020 nm, every 2 nm, vacuum; flux in W m⁻² nm⁻¹ (Gaia DR3 documentation, section 20.6.2,
"xp_sampled_mean_spectrum"; Montegriffo et al. 2023, A&A 674, A3). The CSV states no unit: the names of its columns and
its samples identify it.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from agent.spectrum.readers.pixels import Array

COLUMNS = ("wavelength", "flux", "flux_error")
SAMPLES = np.arange(336.0, 1021.0, 2.0)  # nm
_SOURCE = re.compile(r"Gaia\W*DR3\W*(\d{5,20})", re.IGNORECASE)


def is_sampled(wavelength: Array) -> bool:
    """Return whether a wavelength column (n,) has the values of a sampled spectrum, in nm."""
    return np.array_equal(wavelength, SAMPLES)


def fields(name: str, source: str = "") -> dict[str, Any]:
    """Return the fields of ``Spectrum`` that are known of every sampled spectrum.

    :param name: of the file, where DataLink writes the identifier of the source
    :param source: the identifier, if the file states it
    """
    match = _SOURCE.search(name)
    source = source or (match[1] if match else "")
    return {
        "survey": "Gaia XP",
        "medium": "vacuum",
        "flux_unit": "W m-2 nm-1",
        "ids": {"gaia_dr3": source} if source else {},
        "meta": {},
    }
