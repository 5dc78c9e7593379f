"""Rank templates by χ² against a spectrum, each with its own continuum and radial velocity.

The model of a spectrum is P(λ) T(λ / (1 + v/c)): a template times a low polynomial, which takes out flux calibration
and reddening. P is linear in its coefficients, so it is solved for at each velocity of the grid; sums over pixels for
all templates and velocities are matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from agent.lines import sky_bands
from agent.measure.pixels import rest
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum
from agent.templates import grid
from agent.templates.library import EXTRAGALACTIC, Library

FloatArray = NDArray[np.float64]

ORDER = 4
"""Of the polynomial: five coefficients over the overlap."""
FLOOR = 0.01
"""Error of every pixel, as a fraction of its flux, in addition to its noise: two stars of one type differ by more than
the noise of a good spectrum, and without it a few bright pixels would decide."""
OPTICAL = (3650.0, 9250.0)
"""Å, vacuum, observed: what is compared. Beyond it few templates have data, and most spectra bad calibration."""
TRIMMED = 50
"""Pixels left out at each end of a spectrum (43 Å at 3700 Å, 104 Å at 9000 Å), where surveys' fluxes are worst."""
FARTHEST = 1000.0
"""km/s; the velocity grid reaches this far to both sides."""
LEAST_OVERLAP = 0.6
"""Part of the spectrum's pixels that a template must cover to be ranked."""
DISTURBED = 0.1
"""Weight of pixels in telluric bands, on single strong sky lines, and redward of ``COMMON``."""
COMMON = 7400.0
"""Å, vacuum, at rest: the end of the MILES templates. Redward of it calibration and sky are worst, which at full weight
counts only against the templates that reach there. A spectrum that is mostly redward keeps its weight."""
_NARROW = 30.0  # Å; wider "sky lines" are OH systems that fill the red, where a survey's ivar has what they cost
SYSTEMATIC = 4.0
"""km/s, added in quadrature to every velocity error: a shift by part of a pixel pulls the minimum towards whole pixels
by up to 0.06 of one (measured on shifted templates)."""
UPSIDE_DOWN = 0.02
"""Part of the model's flux that may come from a negative P; above it the template fits only upside down."""
STELLAR = 0.005
"""Largest |z| that is taken for a star's: 1 500 km/s, more than any star of the Galaxy has."""
_SHIFTS = int(np.ceil(FARTHEST / grid.PIXEL_VELOCITY))


@dataclass(frozen=True)
class Match:
    """One template against a spectrum.

    :param place: of the template in the library
    :param z: at which it matches: the redshift tried combined with the velocity found
    :param velocity: c z in km/s; ``error`` is None where χ² has no minimum within ``FARTHEST``: then z is the one tried
    :param reduced_chi2: with ``FLOOR`` in the errors; comparable between templates, not an absolute test
    :param overlap: part of the spectrum's pixels that the template covers
    :param coefficients: (ORDER + 1,) Chebyshev coefficients of P over ``domain`` (log10 of the observed vacuum Å)
    """

    place: int
    z: float
    velocity: float
    error: float | None
    reduced_chi2: float
    overlap: float
    coefficients: FloatArray
    domain: tuple[float, float]

    def multiplier(self, wavelength: FloatArray) -> FloatArray:
        """Return P (n,) at rest vacuum wavelengths (n,) of the template: template times P is the model, in the flux
        unit of the spectrum. Beyond the spectrum's ends P keeps its last value.
        """
        lo, hi = self.domain
        x = np.clip(2.0 * (np.log10(wavelength * (1.0 + self.z)) - lo) / (hi - lo) - 1.0, -1.0, 1.0)
        return np.asarray(chebyshev.chebval(x, self.coefficients), dtype=np.float64)


@dataclass(frozen=True)
class _Data:
    """A spectrum on the grid at one redshift: flux, weight (1/σ², down-weighted), and relative weight (0 to 1)."""

    first: int
    flux: FloatArray
    weight: FloatArray
    relative: FloatArray
    scale: float


def rank(spectrum: Spectrum, library: Library, without: Sequence[int] = ()) -> list[Match]:
    """Return the templates that fit, best first: at the file's redshift (0 without one), stars also at 0 if that
    redshift is no star's. Each template occurs once.

    :param without: places of templates to leave out
    """
    z = 0.0 if spectrum.frame == "rest" or spectrum.redshift is None else spectrum.redshift
    stars = np.array([t.about.kind not in EXTRAGALACTIC for t in library.templates], dtype=bool)
    allowed = np.ones(stars.size, dtype=bool)
    allowed[list(without)] = False
    matches = _at(spectrum, library, np.flatnonzero(allowed), z)
    if abs(z) > STELLAR:
        matches += _at(spectrum, library, np.flatnonzero(allowed & stars), 0.0)
    best: dict[int, Match] = {}
    for match in sorted(matches, key=lambda m: m.reduced_chi2):
        best.setdefault(match.place, match)
    return list(best.values())


def _at(spectrum: Spectrum, library: Library, places: NDArray[np.intp], z: float) -> list[Match]:
    """Match the templates at ``places`` near one redshift."""
    data = _prepared(spectrum, z)
    if data is None or places.size == 0:
        return []
    size = data.flux.size
    lo, hi = data.first - _SHIFTS, data.first + size + _SHIFTS
    part = np.full((places.size, hi - lo), np.nan)
    inside = slice(max(lo, 0), min(hi, grid.PIXELS))
    part[:, inside.start - lo : inside.stop - lo] = library.matrix[places, inside]
    seen = np.isfinite(part)
    used = (data.relative > 0).astype(np.float64)
    covers = seen[:, _SHIFTS:-_SHIFTS] @ used >= LEAST_OVERLAP * used.sum()
    places, part, seen = places[covers], part[covers], seen[covers]
    if places.size == 0:
        return []
    flux = np.where(seen, part, 0.0)
    x = np.linspace(-1.0, 1.0, size)
    powers = chebyshev.chebvander(x, 2 * ORDER)
    right = _sums(flux, (data.weight * data.flux)[:, None] * powers[:, : ORDER + 1])
    moments = _sums(flux**2, data.weight[:, None] * powers)
    totals = _sums(seen.astype(np.float64), np.stack([data.weight * data.flux**2, data.relative, used], axis=1))
    # T_j T_k = (T_{j+k} + T_{|j−k|}) / 2
    index = np.arange(ORDER + 1)
    left = (moments[..., index[:, None] + index] + moments[..., np.abs(index[:, None] - index)]) / 2
    left += 1e-10 * np.trace(left, axis1=-2, axis2=-1)[..., None, None] * np.eye(ORDER + 1) + 1e-300 * np.eye(ORDER + 1)
    solved = np.linalg.solve(left, right[..., None])[..., 0]
    chi2 = totals[..., 0] - (solved * right).sum(axis=-1)
    freedom = np.maximum(totals[..., 1] - (ORDER + 2), 1.0)
    reduced = np.maximum(chi2, 0.0) / freedom
    edge = (data.first * grid.STEP + grid.FIRST, (data.first + size - 1) * grid.STEP + grid.FIRST)
    shift_of_z = np.log10(1.0 + z)
    matches = []
    for row, place in enumerate(places):
        at, offset, error = _minimum(reduced[row], freedom[row])
        coefficients = solved[row, at] * data.scale
        continuum = chebyshev.chebval(x, coefficients)
        model = flux[row, 2 * _SHIFTS - at : 2 * _SHIFTS - at + size] * continuum
        if np.abs(model[continuum < 0.0]).sum() > UPSIDE_DOWN * np.abs(model).sum():
            continue
        total = (1.0 + z) * 10.0 ** (grid.STEP * (at - _SHIFTS + offset)) - 1.0
        matches.append(
            Match(
                place=int(place),
                z=total,
                velocity=SPEED_OF_LIGHT * total,
                error=error,
                reduced_chi2=float(reduced[row, at]),
                overlap=float(totals[row, at, 2] / used.sum()),
                coefficients=coefficients,
                domain=(edge[0] + shift_of_z, edge[1] + shift_of_z),
            )
        )
    return matches


def _sums(templates: FloatArray, columns: FloatArray) -> FloatArray:
    """Return Σ_k columns[k, c] templates[t, k − s] for every template, shift and column: (templates, shifts, c)."""
    size, width = columns.shape
    shifts = 2 * _SHIFTS + 1
    moved = np.zeros((size + 2 * _SHIFTS, shifts, width))
    for number in range(shifts):
        start = 2 * _SHIFTS - number
        moved[start : start + size, number] = columns
    return np.asarray(
        (templates @ moved.reshape(size + 2 * _SHIFTS, shifts * width)).reshape(-1, shifts, width), dtype=np.float64
    )


def _minimum(reduced: FloatArray, freedom: FloatArray) -> tuple[int, float, float | None]:
    """Return the shift of the lowest minimum inside the grid, the place of the minimum of a parabola through it and its
    neighbours in pixels from there, and the error in km/s: where χ² rises by 1, scaled up by √χ²/ν, and ``SYSTEMATIC``.

    Without a minimum inside: no shift, and None for the error.
    """
    inner = reduced[1:-1]
    lowest = np.flatnonzero((inner <= reduced[:-2]) & (inner < reduced[2:])) + 1
    if lowest.size == 0:
        return _SHIFTS, 0.0, None
    at = int(lowest[np.argmin(reduced[lowest])])
    below, here, above = (float(reduced[at + step]) for step in (-1, 0, 1))
    curvature = below + above - 2.0 * here
    error = np.sqrt(2.0 / (curvature * float(freedom[at])) * max(1.0, here)) * grid.PIXEL_VELOCITY
    return at, 0.5 * (below - above) / curvature, float(np.hypot(error, SYSTEMATIC))


def _prepared(spectrum: Spectrum, z: float) -> _Data | None:
    """Return the spectrum on the grid at rest for ``z``; None without data."""
    first, flux, ivar = grid.rebin(rest(spectrum, z, "vacuum"))
    # A spectrum at rest without a redshift is taken for a star's: its velocity moves telluric bands by a few Å only.
    moved = z if spectrum.frame == "observed" else spectrum.redshift or 0.0
    observed = grid.wavelengths(first, first + flux.size) * (1.0 + moved)
    ivar = np.where((observed >= OPTICAL[0]) & (observed <= OPTICAL[1]), ivar, 0.0)
    seen = np.flatnonzero(ivar > 0)
    if seen.size < 2 * TRIMMED + 10 * (ORDER + 1):
        return None
    start, stop = int(seen[0]) + TRIMMED, int(seen[-1]) + 1 - TRIMMED
    first, flux, ivar = first + start, flux[start:stop], ivar[start:stop]
    if not (ivar > 0).any():
        return None
    scale = float(np.median(np.abs(flux[ivar > 0]))) or 1.0
    flux, ivar = flux / scale, (np.sqrt(ivar) * scale) ** 2
    relative = np.where(ivar > 0, 1.0, 0.0)
    at_rest = grid.wavelengths(first, first + flux.size)
    observed = at_rest * (1.0 + moved)  # sky and atmosphere do not move with the object
    for band in sky_bands(spectrum.survey):
        if band.kind != "telluric" and band.hi - band.lo > _NARROW:
            continue
        lo, hi = band.window("vacuum")
        relative[(observed >= lo) & (observed <= hi) & (relative > 0)] = DISTURBED
    red = at_rest > COMMON
    if (relative[red] > 0).sum() < (relative[~red] > 0).sum():
        relative[red] *= DISTURBED
    with np.errstate(divide="ignore"):
        variance = np.where(ivar > 0, 1.0 / ivar, np.inf) + (FLOOR * flux) ** 2
    return _Data(first, flux, relative / variance, relative, scale)
