"""Files that no reader here recognises, through specutils if it is installed.

Only layouts that specutils identifies by a specific survey are accepted: its generic readers would make a spectrum of
a catalogue. The result is checked like any other.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from agent.spectrum.readers.pixels import spectrum
from agent.spectrum.record import Spectrum, SpectrumError

_GENERIC = ("tabular-fits", "wcs1d-fits", "ascii", "ecsv", "ipac", "generic", "iraf")


def read(name: str, path: Path, reason: SpectrumError) -> Spectrum:
    """Read the file with specutils. :raises SpectrumError: ``reason``, if it cannot"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from astropy import units
            from specutils import Spectrum as TheirSpectrum
            from specutils.io.registers import identify_spectrum_format

            identified: Any = identify_spectrum_format(str(path), TheirSpectrum)
            layouts = [identified] if isinstance(identified, str) else list(identified)
            layouts = [f for f in layouts if not f.lower().startswith(_GENERIC)]
            if len(layouts) != 1:
                raise reason
            theirs = TheirSpectrum.read(str(path), format=layouts[0])
            wavelength = theirs.spectral_axis.to_value(units.AA, units.spectral())
            flux, unit = theirs.flux.value, str(theirs.flux.unit)
            ivar = _ivar(theirs.uncertainty)
        except SpectrumError:
            raise
        except Exception:
            # Not installed, not importable here, or unable to read the file: the same result for the user.
            raise reason from None
    if np.ndim(flux) != 1:
        raise reason
    meta = {"read_by": f"specutils {layouts[0]}", "medium_assumed": True}
    return spectrum(name, wavelength, flux, ivar, medium="vacuum", flux_unit=unit or "unknown", meta=meta)


def _ivar(uncertainty: Any) -> Any:
    if uncertainty is None:
        return None
    from astropy.nddata import InverseVariance

    return uncertainty.represent_as(InverseVariance).array
