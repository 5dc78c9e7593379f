"""From the arrays of a file to the arrays of a ``Spectrum``: the rules every reader shares.

- Descending wavelengths are turned round. Repeated or unsorted ones are refused, by ``Spectrum``: which of
  two pixels of one wavelength is meant cannot be known.
- A pixel whose flux is NaN or infinite gets ivar 0 and the straight line between its neighbours as flux.
  Drawn, that looks as if the pixel were left out, which is what the published tool does with it.
- An ivar that is NaN, infinite or negative is 0: no data.
- Where a file states no errors, five or more exact zeros in a row, or any at the ends, are no data (STELIB,
  Pickles and many text files mark them so). The array keeps its extent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.spectrum.record import BoolArray, FloatArray, Spectrum, SpectrumError, ivar_from_scatter

# Fewer are a photometric table or a fragment; the coarsest standards (Oke 1974) have 60.
MIN_PIXELS = 10
ZERO_RUN = 5

Array = NDArray[Any]


class NoDataError(SpectrumError):
    """A spectrum without a single pixel that holds data (a dead fibre, padding)."""


def spectrum(
    name: str,
    wavelength: Array,
    flux: Array,
    ivar: Array | None = None,
    mask: Array | None = None,
    **fields: Any,
) -> Spectrum:
    """A ``Spectrum`` from one file's arrays (n,), by the rules above; ``fields`` go to it unchanged.

    :param wavelength: Å
    :param ivar: 1/flux²; None where the file states no errors
    :raises NoDataError: no pixel holds data
    :raises SpectrumError: the arrays are no spectrum
    """
    wavelength, flux = np.asarray(wavelength, np.float64), np.asarray(flux, np.float64)
    parts = [a for a in (wavelength, flux, ivar, mask) if a is not None]
    if any(a.ndim != 1 or a.shape != flux.shape for a in parts):
        raise SpectrumError(name, f"arrays of shapes {[a.shape for a in parts]}", "1-D arrays of one length")
    if flux.size < MIN_PIXELS:
        raise SpectrumError(name, f"{flux.size} pixels", f"a spectrum of at least {MIN_PIXELS} pixels")
    if not np.isfinite(wavelength).all():
        raise SpectrumError(name, "wavelengths with NaN or infinity among them", "a wavelength for each pixel")
    seen = np.isfinite(flux)
    if ivar is not None:
        ivar = np.asarray(ivar, np.float64)
        ivar = np.where(seen & np.isfinite(ivar) & (ivar > 0), ivar, 0.0)
    else:
        seen = seen & ~zero_stretches(flux)
    if not seen.any() or (ivar is not None and not ivar.any()):
        raise NoDataError(name, "no pixel with data (all NaN, all 0, or ivar 0 everywhere)", "a spectrum with data")
    if wavelength[0] > wavelength[-1]:
        back = slice(None, None, -1)
        wavelength, flux, seen = wavelength[back], flux[back], seen[back]
        ivar, mask = (None if a is None else a[back] for a in (ivar, mask))
    flux = _bridged(wavelength, flux)
    if ivar is None:
        ivar = np.where(seen, _noise(flux, seen), 0.0)
        fields["errors"] = "estimated"
    if mask is not None:
        fields["mask"] = mask.astype(bool)
    return Spectrum(wavelength, flux, ivar, name=name, **fields)


def ivar_from_sigma(sigma: Array) -> FloatArray:
    """1/σ²; 0 where σ is 0, negative or no number."""
    sigma = np.asarray(sigma, np.float64)
    with np.errstate(all="ignore"):
        ivar: FloatArray = np.where(sigma > 0, 1.0 / sigma**2, 0.0)
    return ivar


def zero_stretches(flux: FloatArray) -> BoolArray:
    """True where ``flux`` (n,) is exactly 0 at an end of the array, or for ``ZERO_RUN`` pixels or more in a
    row."""
    zero = np.concatenate(([False], flux == 0, [False]))
    edges = np.flatnonzero(zero[1:] != zero[:-1])
    found: BoolArray = np.zeros(flux.size, dtype=bool)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        found[start:stop] = stop - start >= ZERO_RUN or start == 0 or stop == flux.size
    return found


def _bridged(wavelength: FloatArray, flux: FloatArray) -> FloatArray:
    good = np.isfinite(flux)
    if good.all():
        return flux
    return np.interp(wavelength, wavelength[good], flux[good])


def _noise(flux: FloatArray, seen: BoolArray) -> FloatArray:
    ivar: FloatArray = np.zeros(flux.shape)
    ivar[seen] = ivar_from_scatter(flux[seen])
    return ivar
