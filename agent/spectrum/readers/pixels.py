"""The rules by which every reader builds a ``Spectrum`` from the arrays of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.lines.air_vacuum import convert
from agent.spectrum.noise import ivar_from_scatter
from agent.spectrum.readers.flux_units import F_LAMBDA, converted, per_wavelength
from agent.spectrum.record import BoolArray, Exposure, FloatArray, Spectrum, SpectrumError

# Fewer are a photometric table or a fragment; the coarsest standards (Oke 1974) have 60.
MIN_PIXELS = 10
ZERO_RUN = 5

Array = NDArray[Any]


class NoDataError(SpectrumError):
    """A spectrum without a single pixel with data (a dead fibre, padding)."""


def spectrum(
    name: str,
    wavelength: Array,
    flux: Array,
    ivar: Array | None = None,
    mask: Array | None = None,
    model: Array | None = None,
    exposures: Iterable[Exposure | None] = (),
    **fields: Any,
) -> Spectrum:
    """Build a ``Spectrum`` from one file's arrays (n,); ``fields`` are passed to it unchanged.

    - Descending wavelengths are reversed. Repeated or unsorted ones are refused, by ``Spectrum``.
    - A pixel whose flux is NaN or infinite gets ivar 0, and as flux the straight line between its neighbours. A
      picture then looks as if the pixel were left out, as in the published tool.
    - An ivar that is NaN, infinite or negative is 0: no data.
    - Where a file states no errors, five or more exact zeros in a row, or any at the ends, are no data (STELIB,
      Pickles and many text files mark missing data so). The array keeps its extent.
    - A flux density per frequency (``flux_unit`` in Jy or per Hz) becomes one per wavelength, with ivar, model and
      exposures; ``meta["flux_unit_in_file"]`` keeps the unit of the file.

    :param wavelength: Å
    :param ivar: 1/flux²; None where the file states no errors
    :param model: pipeline model; left out if it holds no numbers or only zeros
    :param exposures: as ``exposure`` gives them; None is left out
    :raises NoDataError: no pixel holds data
    :raises SpectrumError: the arrays are no spectrum
    """
    wavelength, flux = np.asarray(wavelength, np.float64), np.asarray(flux, np.float64)
    parts = [a for a in (wavelength, flux, ivar, mask) if a is not None]
    if any(a.ndim != 1 or a.shape != flux.shape for a in parts):
        raise SpectrumError(
            name,
            deferred("arrays of shapes {value}", value=[a.shape for a in parts]),
            deferred("1-D arrays of one length"),
        )
    if flux.size < MIN_PIXELS:
        raise SpectrumError(
            name, f"{flux.size} pixels", deferred("a spectrum of at least {min_pixels} pixels", min_pixels=MIN_PIXELS)
        )
    if not np.isfinite(wavelength).all():
        raise SpectrumError(
            name, deferred("wavelengths with NaN or infinity among them"), deferred("a wavelength for each pixel")
        )
    seen = np.isfinite(flux)
    if ivar is not None:
        ivar = np.asarray(ivar, np.float64)
        ivar = np.where(seen & np.isfinite(ivar) & (ivar > 0), ivar, 0.0)
    else:
        seen = seen & ~zero_stretches(flux)
    if not seen.any() or (ivar is not None and not ivar.any()):
        raise NoDataError(
            name,
            deferred("no pixel with data (all NaN, all 0, or ivar 0 everywhere)"),
            deferred("a spectrum with data"),
        )
    if model is not None:
        model = np.asarray(model, np.float64)
        model = model if model.shape == flux.shape and np.nan_to_num(model, posinf=0.0, neginf=0.0).any() else None
    if wavelength[0] > wavelength[-1]:
        back = slice(None, None, -1)
        wavelength, flux, seen = wavelength[back], flux[back], seen[back]
        ivar, mask, model = (None if a is None else a[back] for a in (ivar, mask, model))
    flux = _bridged(wavelength, flux)
    fields["model"] = None if model is None else _bridged(wavelength, model)
    fields["exposures"] = tuple(exposure for exposure in exposures if exposure is not None)
    if ivar is None:
        ivar = np.where(seen, _noise(flux, seen), 0.0)
        fields["errors"] = "estimated"
    if mask is not None:
        fields["mask"] = mask.astype(bool)
    return _in_f_lambda(Spectrum(wavelength, flux, ivar, name=name, **fields))


def exposure(name: str, wavelength: Array, flux: Array, ivar: Array) -> Exposure | None:
    """Return one exposure (n,) with the rules of ``spectrum`` for pixels without a number; None if it has no data.

    A damaged exposure is left out too: the spectrum itself can still be inspected.
    """
    try:
        part = spectrum(name, wavelength, flux, ivar)
    except SpectrumError:
        return None
    return Exposure(name, part.wavelength, part.flux, part.ivar)


def _in_f_lambda(original: Spectrum) -> Spectrum:
    """Return the spectrum as a flux density per wavelength. :raises SpectrumError: as ``per_wavelength``"""
    factor = per_wavelength(original.name, original.flux_unit)
    if factor is None:
        return original

    def flux(wavelength: FloatArray, values: FloatArray) -> FloatArray:
        return converted(convert(wavelength, original.medium, "vacuum"), values, factor)

    def ivar(wavelength: FloatArray, values: FloatArray) -> FloatArray:
        unit = flux(wavelength, np.ones(wavelength.shape))
        with np.errstate(all="ignore"):
            result = values / unit**2
        return np.where(np.isfinite(result), result, 0.0)

    return replace(
        original,
        flux=flux(original.wavelength, original.flux),
        ivar=ivar(original.wavelength, original.ivar),
        model=None if original.model is None else flux(original.wavelength, original.model),
        exposures=tuple(
            Exposure(
                exposure.name,
                exposure.wavelength,
                flux(exposure.wavelength, exposure.flux),
                ivar(exposure.wavelength, exposure.ivar),
            )
            for exposure in original.exposures
        ),
        flux_unit=F_LAMBDA,
        meta={**original.meta, "flux_unit_in_file": original.flux_unit},
    )


def usable_redshift(z: float | None) -> float | None:
    """Return ``z``; None outside −0.9 to 20, where the numbers lie that stand for an unknown redshift."""
    return z if z is not None and -0.9 < z < 20 else None


def finite_number(value: Any) -> float | None:
    """Return a number, or the number that a text holds; None for anything else, NaN and infinity."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def ivar_from_sigma(sigma: Array) -> FloatArray:
    """Return 1/σ²; 0 where σ is 0, negative or no number."""
    sigma = np.asarray(sigma, np.float64)
    with np.errstate(all="ignore"):
        ivar: FloatArray = np.where(sigma > 0, 1.0 / sigma**2, 0.0)
    return ivar


def zero_stretches(flux: FloatArray) -> BoolArray:
    """Return a mask: True where ``flux`` (n,) is exactly 0 at an end of the array, or for ``ZERO_RUN`` pixels or more
    in a row.
    """
    zero = np.concatenate(([False], flux == 0, [False]))
    edges = np.flatnonzero(zero[1:] != zero[:-1])
    is_zero: BoolArray = np.zeros(flux.size, dtype=bool)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        is_zero[start:stop] = stop - start >= ZERO_RUN or start == 0 or stop == flux.size
    return is_zero


def _bridged(wavelength: FloatArray, flux: FloatArray) -> FloatArray:
    good = np.isfinite(flux)
    if good.all():
        return flux
    return np.interp(wavelength, wavelength[good], flux[good])


def _noise(flux: FloatArray, seen: BoolArray) -> FloatArray:
    ivar: FloatArray = np.zeros(flux.shape)
    ivar[seen] = ivar_from_scatter(flux[seen])
    return ivar
