"""The rules by which every reader builds a ``Spectrum`` from the arrays of a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agent.language import deferred
from agent.lines.air_vacuum import convert
from agent.spectrum.noise import ivar_from_scatter
from agent.spectrum.readers.flux_units import F_LAMBDA, converted, per_wavelength
from agent.spectrum.record import BoolArray, Exposure, FloatArray, Scalar, Spectrum, SpectrumError

# Fewer are a photometric table or a fragment; the coarsest standards (Oke 1974) have 60.
MIN_PIXELS = 10
ZERO_RUN = 5
MAX_ORDERS = 200
SHORTEST, LONGEST = 100.0, 1e7
"""Å; 1e7 Å is 1 mm."""
LARGEST = 1e30

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

    - Descending wavelengths are reversed; pixels whose wavelength is 0, negative or no number are left out; pixels of
      the same wavelength are averaged; where two orders overlap each is cut in the middle. ``meta`` counts them. Other
      unsorted wavelengths are refused, by ``Spectrum``.
    - A pixel whose flux is NaN or infinite gets ivar 0, and as flux the straight line between its neighbours. A
      picture then looks as if the pixel were left out, as in the published tool.
    - An ivar that is NaN, infinite or negative is 0: no data.
    - Where a file states no errors, five or more exact zeros in a row, or any at the ends, are no data (STELIB,
      Pickles and many text files mark missing data so). The array keeps its extent.
    - A flux density per frequency (``flux_unit`` in Jy or per Hz) becomes a density per wavelength, with ivar, model
      and exposures; ``meta["flux_unit_in_file"]`` keeps the unit of the file.

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
    arrays: Arrays = {"ivar": ivar, "mask": mask, "model": _usable(model, flux.shape)}
    wavelength, flux, arrays, counts = _on_one_axis(name, wavelength, flux, arrays)
    ivar, mask, model = (arrays[key] for key in ("ivar", "mask", "model"))
    fields["meta"] = {**fields.get("meta", {}), **counts}
    flux = _plausible(name, wavelength, flux, ivar)
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
    flux = _bridged(wavelength, flux)
    fields["model"] = None if model is None else _bridged(wavelength, model)
    fields["exposures"] = tuple(exposure for exposure in exposures if exposure is not None)
    if ivar is None:
        ivar = np.where(seen, _noise(flux, seen), 0.0)
        fields["errors"] = "estimated"
    if mask is not None:
        fields["mask"] = mask.astype(bool)
    return _in_f_lambda(Spectrum(wavelength, flux, ivar, name=name, **fields))


def _usable(model: Array | None, shape: tuple[int, ...]) -> Array | None:
    if model is None:
        return None
    model = np.asarray(model, np.float64)
    return model if model.shape == shape and np.nan_to_num(model, posinf=0.0, neginf=0.0).any() else None


Arrays = dict[str, Array | None]


def _on_one_axis(
    name: str, wavelength: FloatArray, flux: FloatArray, arrays: Arrays
) -> tuple[FloatArray, FloatArray, Arrays, dict[str, Scalar]]:
    """Return ascending wavelengths, the arrays on them, and how many pixels were left out or averaged, and why."""
    counts: dict[str, Scalar] = {}
    with np.errstate(invalid="ignore"):
        known = np.isfinite(wavelength) & (wavelength > 0)
    if not known.all():
        counts["pixels_without_wavelength"] = int((~known).sum())
        if known.sum() < MIN_PIXELS:
            actual = deferred("wavelengths in {n} of {size} pixels", n=int(known.sum()), size=known.size)
            raise SpectrumError(name, actual, deferred("at least {min_pixels}", min_pixels=MIN_PIXELS))
        wavelength, flux, arrays = wavelength[known], flux[known], _at(arrays, known)
    steps = np.diff(wavelength)
    if (steps < 0).sum() > (steps > 0).sum():
        back = slice(None, None, -1)
        wavelength, flux, arrays, steps = wavelength[back], flux[back], _at(arrays, back), -steps[back]
    if (steps == 0).any():
        size = wavelength.size
        wavelength, flux, arrays = _averaged(wavelength, flux, arrays)
        counts["pixels_repeated"] = size - wavelength.size
        steps = np.diff(wavelength)
    if (steps < 0).any():
        kept = _cut_in_overlaps(wavelength, steps)
        if kept is not None:
            counts |= {"pixels_of_overlaps": wavelength.size - kept.size} if kept.size < wavelength.size else {}
            wavelength, flux, arrays = wavelength[kept], flux[kept], _at(arrays, kept)
    return wavelength, flux, arrays, counts


def _at(arrays: Arrays, index: Any) -> Arrays:
    return {key: None if array is None else array[index] for key, array in arrays.items()}


def _averaged(wavelength: FloatArray, flux: FloatArray, arrays: Arrays) -> tuple[FloatArray, FloatArray, Arrays]:
    """Return a pixel for each run of pixels of the same wavelength: the mean of their flux, weighted by ivar if known,
    the mean of their ivar, as they may not be independent, and a flag if all are flagged.
    """
    starts = np.flatnonzero(np.concatenate(([True], np.diff(wavelength) != 0)))
    numbers = np.diff(np.append(starts, wavelength.size))

    def mean(values: Array, weight: Array) -> Array:
        usable = np.where(np.isfinite(values) & np.isfinite(weight) & (weight > 0), weight, 0.0)
        total = np.add.reduceat(usable, starts)
        result: Array = np.add.reduceat(np.where(usable > 0, values, 0.0) * usable, starts) / total
        return result

    ones = np.ones(wavelength.size)
    averaged: Arrays = dict.fromkeys(arrays)
    with np.errstate(all="ignore"):
        for key, array in arrays.items():
            if array is not None and key == "mask":
                averaged[key] = np.add.reduceat(array.astype(bool).astype(int), starts) == numbers
            elif array is not None:
                averaged[key] = mean(array, ones)
        weight = arrays["ivar"]
        return wavelength[starts], mean(flux, ones if weight is None else weight), averaged


def _cut_in_overlaps(wavelength: FloatArray, steps: FloatArray) -> Array | None:
    """Return the indices of pixels of orders, each cut in the middle of its overlap with the next; None if the parts of
    the axis are no orders: many, or of a few pixels, or overlapping by half of the shorter or more.
    """
    edges = [0, *(np.flatnonzero(steps < 0) + 1).tolist(), wavelength.size]
    if len(edges) > MAX_ORDERS:
        return None
    parts = sorted(
        (np.arange(start, stop) for start, stop in itertools.pairwise(edges)),
        key=lambda part: float(wavelength[part[0]]),
    )
    if min(part.size for part in parts) < MIN_PIXELS:
        return None
    for number in range(len(parts) - 1):
        left, right = parts[number : number + 2]
        start, end = wavelength[right[0]], wavelength[left[-1]]
        if end < start:
            continue
        smaller = min(end - wavelength[left[0]], wavelength[right[-1]] - start)
        if 2 * (end - start) > smaller:
            return None
        middle = 0.5 * (start + end)
        parts[number] = left[wavelength[left] < middle]
        parts[number + 1] = right[wavelength[right] >= middle]
    return np.concatenate(parts)


def _plausible(name: str, wavelength: FloatArray, flux: FloatArray, ivar: Array | None) -> FloatArray:
    """Return the flux, NaN where it is absurd and has no weight.

    :raises SpectrumError: wavelengths that no spectrum here can have, or a flux that none has
    """
    beyond = float(np.mean((wavelength < SHORTEST) | (wavelength > LONGEST)))
    # Models of dusty stars end at 1 cm, with few pixels.
    if beyond > 0.05 or wavelength[0] < SHORTEST / 10 or wavelength[-1] > LONGEST * 10:
        actual = deferred("wavelengths from {low:.6g} to {high:.6g} Å", low=wavelength[0], high=wavelength[-1])
        raise SpectrumError(name, actual, deferred("wavelengths between 100 Å and 1 mm"))
    with np.errstate(invalid="ignore"):
        absurd = np.isfinite(flux) & (np.abs(flux) > LARGEST)
    if absurd.any() and (ivar is None or (np.asarray(ivar)[absurd] > 0).any()):
        actual = deferred("a flux of {flux:.3g}", flux=flux[absurd][0])
        raise SpectrumError(name, actual, deferred("at most 1e30: the data may be damaged, or their type be another"))
    return np.where(absurd, np.nan, flux) if absurd.any() else flux


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
    if good.all() or not good.any():
        return np.nan_to_num(flux)
    return np.interp(wavelength, wavelength[good], flux[good])


def _noise(flux: FloatArray, seen: BoolArray) -> FloatArray:
    ivar: FloatArray = np.zeros(flux.shape)
    ivar[seen] = ivar_from_scatter(flux[seen])
    return ivar
