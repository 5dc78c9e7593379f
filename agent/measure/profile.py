"""A line against its continuum: equivalent width, and width at a given depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.language import deferred
from agent.measure.continuum import Continuum, adjacent_bands, local_continuum
from agent.measure.pixels import BoolArray, FloatArray, cells, shown, too_little_data
from agent.measure.values import Measured, Undefined, Window, measured
from agent.spectrum import Spectrum

SPEED_OF_LIGHT = 299_792.458  # km/s, exact by definition of the metre


@dataclass(frozen=True)
class Profile:
    """1 − F/C over a window: positive in absorption, negative in emission. All arrays (n,), only pixels with data.

    :param wavelength: Å
    :param depth: 1 − F/C
    :param sigma: the error of ``depth`` from the pixel's own noise
    :param width: Å of the window each pixel stands for; short gaps are shared between the neighbouring pixels
    :param continuum: that was divided by
    """

    wavelength: FloatArray
    depth: FloatArray
    sigma: FloatArray
    width: FloatArray
    continuum: Continuum


def line_profile(spectrum: Spectrum, window: Window, side_bands: Sequence[Window] | None = None) -> Profile | Undefined:
    """Return the profile of a line over ``window`` against the straight line through ``side_bands`` (None:
    ``adjacent_bands(window)``).

    Undefined where less than nine tenths of the window has data, a side band has not, or the continuum is not
    3σ above zero.
    """
    lacking = too_little_data(spectrum, window)
    if lacking is not None:
        return lacking
    continuum = local_continuum(spectrum, adjacent_bands(window) if side_bands is None else side_bands)
    if isinstance(continuum, Undefined):
        return continuum
    for edge in window:
        level = continuum.measured_at(edge)
        if level.value <= 3.0 * level.error or level.value <= 0.0:
            return Undefined(deferred("the continuum at {edge:.0f} Å is not above zero by 3σ", edge=edge))
    pixels = cells(spectrum, window)
    seen = pixels.seen
    wavelength = pixels.wavelength[seen]
    level_at = continuum.at(wavelength)
    return Profile(
        wavelength=wavelength,
        depth=1.0 - pixels.flux[seen] / level_at,
        sigma=1.0 / (np.sqrt(pixels.ivar[seen]) * level_at),
        width=widths_with_gaps_shared(pixels.wavelength, pixels.width, seen),
        continuum=continuum,
    )


def equivalent_width(
    spectrum: Spectrum, window: Window, side_bands: Sequence[Window] | None = None
) -> Measured | Undefined:
    """Return W = Σ (1 − F/C) Δλ in Å over ``window``; absorption > 0, emission < 0.

    Pixels at the edges count by the part inside; gaps of up to a tenth of the window are bridged by straight
    lines. The error holds the pixels' noise and the continuum's, with its covariance. Side bands and refusals
    as in ``line_profile``.
    """
    profile = line_profile(spectrum, window, side_bands)
    return profile if isinstance(profile, Undefined) else profile_width(profile)


def profile_width(profile: Profile) -> Measured | Undefined:
    """Return the equivalent width of a profile in Å, as ``equivalent_width``."""
    level_at = profile.continuum.at(profile.wavelength)
    # dW/dC = Σ Δλ F/C², for the level and, times its lever, for the tilt of the continuum.
    slope_of_width = profile.width * (1.0 - profile.depth) / level_at
    gradient = np.array([slope_of_width.sum(), (slope_of_width * (profile.wavelength - profile.continuum.pivot)).sum()])
    # hypot does not overflow where a pixel's error is huge.
    noise = np.hypot.reduce(profile.width * profile.sigma)
    error = np.hypot(noise, np.sqrt(gradient @ profile.continuum.covariance @ gradient))
    return measured(float((profile.width * profile.depth).sum()), float(error), "Å")


def width_below(
    spectrum: Spectrum, window: Window, side_bands: Sequence[Window] | None = None, below: float = 0.2
) -> Measured | Undefined:
    """Return the full width in Å of an absorption line where it is ``below`` (fraction of the continuum) deep.

    With Hδ and 0.2 this is the D0.2 of Sirko et al. 2004 (AJ 127, 899) that parts horizontal-branch from
    main-sequence A stars. Each edge is where a straight line through the pixels about the crossing meets the
    level; their errors are the line's.
    """
    profile = line_profile(spectrum, window, side_bands)
    if isinstance(profile, Undefined):
        return profile
    smooth = np.convolve(np.pad(profile.depth, 2, mode="edge"), np.full(5, 0.2), mode="valid")
    deepest = int(np.argmax(smooth))
    if smooth[deepest] <= below:
        return Undefined(
            deferred(
                "no pixel of {window} is {below:.0f} % below the continuum", window=shown(window), below=100 * below
            )
        )
    shallow = np.flatnonzero(smooth <= below)
    sides = shallow[shallow < deepest][-1:], shallow[shallow > deepest][:1]
    if not (sides[0].size and sides[1].size):
        return Undefined(deferred("the line is wider than {window}", window=shown(window)))
    edges = [_crossing(profile, int(side[0]), below) for side in sides]
    if edges[0] is None or edges[1] is None:
        return Undefined(deferred("the line's edges are lost in the noise"))
    error = float(np.hypot(edges[0].error, edges[1].error))
    return measured(edges[1].value - edges[0].value, error, "Å")


def _crossing(profile: Profile, at: int, level: float) -> Measured | None:
    """Return where the profile crosses ``level`` near pixel ``at``: a straight line through seven pixels."""
    near = slice(max(0, at - 3), at + 4)
    x, y, weight = profile.wavelength[near], profile.depth[near], 1.0 / profile.sigma[near] ** 2
    if x.size < 4:
        return None
    middle = float((weight * x).sum() / weight.sum())
    level_there = float((weight * y).sum() / weight.sum())
    spread = float((weight * (x - middle) ** 2).sum())
    tilt = float((weight * (x - middle) * y).sum() / spread)
    tilt_error = 1.0 / np.sqrt(spread)
    if abs(tilt) < 2.0 * tilt_error:
        return None
    offset = (level - level_there) / tilt
    if abs(offset) > x[-1] - x[0]:
        return None
    error = np.hypot(1.0 / np.sqrt(weight.sum()), offset * tilt_error) / abs(tilt)
    return Measured(middle + offset, float(error), "Å")


def widths_with_gaps_shared(wavelength: FloatArray, width: FloatArray, seen: BoolArray) -> FloatArray:
    """Return the widths (n seen), with each pixel without data shared by its neighbours, as a straight line across the
    gap would weigh.
    """
    known = np.flatnonzero(seen)
    shared = np.where(seen, width, 0.0)
    for pixel in np.flatnonzero(~seen):
        right = int(np.searchsorted(known, pixel))
        if right in (0, known.size):
            shared[known[min(right, known.size - 1)]] += width[pixel]
            continue
        before, after = known[right - 1], known[right]
        part = (wavelength[pixel] - wavelength[before]) / (wavelength[after] - wavelength[before])
        shared[before] += width[pixel] * (1.0 - part)
        shared[after] += width[pixel] * part
    return shared[known]
