"""One line among its neighbours: present or not, sign, velocity, width and equivalent width, with blends fitted
together (Hα with [N II], He II 4686 with the Bowen blend, He I 5876 with Na D, Ca II with Paschen lines).

The noise that counts is what the neighbourhood shows at the line's own width, not only what ivar says: a cool star's
pseudo-continuum has bumps everywhere. A curve that follows its bands can be given as the continuum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from agent.language import deferred
from agent.lines import Line, Medium, lines
from agent.measure.gaussian import FWHM_PER_SIGMA, instrument_fwhm
from agent.measure.pixels import BoolArray, FloatArray, cells
from agent.measure.profile import SPEED_OF_LIGHT
from agent.measure.values import Measured, Undefined, measured
from agent.spectrum import Spectrum

NARROWEST = 150.0  # km/s, FWHM
BROADEST = 7000.0
NARROW = 600.0  # km/s: FWHM up to which companions are fitted; wider ones are not separable from the line
MEDIUM = 2000.0
REACH = 3.0  # FWHM on either side of the line from which the continuum is taken
AT_LEAST = 12  # pixels on either side
COVERED = 0.8  # share of the pixels within one FWHM, and of the whole region, that must have data
SIGNIFICANT = 6.0  # σ of the amplitude, and times the scatter of the neighbourhood at the line's width
CLIP = 4.0  # robust σ beyond which a pixel away from the line is another line or a cosmic ray
WIDTH_REACH = 1.5  # FWHM on either side of the centre over which an equivalent width is summed
OWN_LINE = 500.0  # km/s on either side of the line where a given continuum is replaced by a straight line


@dataclass(frozen=True)
class LineMeasurement:
    """A line, with the continuum and the companions that were fitted with it.

    :param line: of the list
    :param amplitude: F − C at the centre in units of flux: positive in emission, negative in absorption
    :param depth: 1 − F/C at the centre; positive in absorption, negative in emission. Undefined without a continuum
    :param width: equivalent width in Å, of the data within 1.5 FWHM of the centre, companions subtracted
    :param velocity: of the centre relative to the line's rest wavelength, in km/s
    :param fwhm: km/s, as observed, the spectrograph's own width included
    :param instrument: FWHM of the spectrograph there in km/s; None if it is not known
    :param structure: scatter of the neighbourhood, averaged over the line's width, in units of flux
    :param companions: lines of the blend that were detected with it
    :param at_limit: the velocity ended at the limit of the search, so the peak is somewhere else
    :param along_bands: whether the continuum follows molecular bands; otherwise it is a straight line
    """

    line: Line
    amplitude: Measured
    depth: Measured | Undefined
    width: Measured | Undefined
    velocity: Measured
    fwhm: Measured
    instrument: float | None
    structure: float
    companions: tuple[Line, ...]
    at_limit: bool
    along_bands: bool = False
    _blend: tuple[_Companion, ...] = ()

    def companion_shapes(self, velocity: FloatArray) -> list[FloatArray]:
        """Return the profile of each detected companion (doublets as one) at velocities (n,) in km/s."""
        fwhm = min(self.fwhm.value, NARROW)
        return [c.shape(velocity, self.velocity.value, fwhm) for c in self._blend]

    @property
    def contrast(self) -> float:
        """The amplitude in units of the neighbourhood's scatter at the line's width."""
        return abs(self.amplitude.value) / self.structure if self.structure > 0 else np.inf

    @property
    def stands_out(self) -> bool:
        """Whether the line is above its error and above the scatter of the neighbourhood, both by ``SIGNIFICANT``."""
        return self.amplitude.significance >= SIGNIFICANT and self.contrast >= SIGNIFICANT

    @property
    def emission(self) -> bool:
        return self.amplitude.value > 0

    @property
    def resolved(self) -> bool:
        """Whether the line is clearly wider than the spectrograph's own profile; True if that is not known."""
        return self.instrument is None or self.fwhm.value > 1.2 * self.instrument


@dataclass(frozen=True)
class Region:
    """Pixels around a line that have data, as arrays (n,): velocity from the rest wavelength in km/s, flux, 1/σ, the Å
    that each pixel covers, and the shape of the continuum, 1 at the line (all 1 for a straight one).
    """

    velocity: FloatArray
    flux: FloatArray
    weight: FloatArray
    width: FloatArray
    shape: FloatArray

    def within(self, velocity: float) -> Region:
        """Return the pixels within ``velocity`` (km/s) of the rest wavelength."""
        return self.select(np.abs(self.velocity) <= velocity)

    def select(self, kept: BoolArray) -> Region:
        """Return the pixels where a mask (n,) is True."""
        return Region(*(a[kept] for a in (self.velocity, self.flux, self.weight, self.width, self.shape)))


@np.errstate(all="ignore")
def measure_line(
    spectrum: Spectrum, line: Line, near: float = 0.0, continuum: FloatArray | None = None, broadest: float = BROADEST
) -> LineMeasurement | Undefined:
    """Measure the strongest component at a line: the width, between 150 and 7000 km/s, that stands out most.

    :param spectrum: at rest (``agent.measure.rest``), so that a velocity is the object's own
    :param near: velocity in km/s about which the line is searched for
    :param continuum: (n,) shape of the continuum at each pixel, NaN where it is unknown; None: a straight line
    :param broadest: km/s, the largest FWHM that is tried
    """
    centre = line.at(spectrum.medium) * (1.0 + near / SPEED_OF_LIGHT)
    whole = region_around(spectrum, centre, BROADEST * REACH, continuum)
    if whole is None:
        return Undefined(deferred("no data at {centre:.0f} Å", centre=centre))
    if not _within_range(whole):
        return Undefined(deferred("flux or ivar is beyond the range of numbers"))
    pixel = float(np.median(np.diff(whole.velocity))) if whole.velocity.size > 1 else np.inf
    instrument = instrument_fwhm(spectrum, centre)
    narrowest = max(NARROWEST, 2.0 * pixel, 0.8 * (instrument or 0.0))
    if narrowest > BROADEST / 2:
        return Undefined(deferred("one pixel per {pixel:.0f} km/s is too coarse for a line", pixel=pixel))
    companions = companions_of(line.name, spectrum.medium)
    # One start each for narrow, medium and broad: a coarse fit at a wrong width says little, so each is refined.
    starts: dict[int, tuple[float, float, float]] = {}
    for fwhm in np.geomspace(narrowest, max(broadest, narrowest), 11):
        region = whole.within(_reach(fwhm, pixel, companions))
        if not _covered(region, fwhm, pixel):
            continue
        kind = int(np.searchsorted((NARROW, MEDIUM), fwhm))
        for velocity in _velocities(float(fwhm)):
            fitted = _fit(region, velocity, fwhm, _separable(companions, fwhm))
            if fitted is not None and (kind not in starts or fitted.significance > starts[kind][0]):
                starts[kind] = fitted.significance, float(velocity), float(fwhm)
    if not starts:
        return Undefined(deferred("too little data around {centre:.0f} Å", centre=centre))
    refined = [_refined(line, companions, whole, near, start[1:], instrument, pixel) for start in starts.values()]
    measured = [fit for fit in refined if isinstance(fit, LineMeasurement)]
    return max(measured, key=lambda fit: min(fit.contrast, fit.amplitude.significance)) if measured else refined[0]


def _within_range(region: Region) -> bool:
    """Return whether the squares that a fit needs are finite and not all zero."""
    weighted = region.flux * region.weight
    total = float(np.dot(weighted, weighted))
    return bool(
        np.isfinite(total) and np.isfinite(region.weight).all() and float(np.dot(region.weight, region.weight)) > 0
    )


def _velocities(fwhm: float) -> FloatArray:
    """Return the velocities to try for a line of that width: to 300 km/s, or 0.35 FWHM, in steps of a third of it."""
    reach = min(400.0, max(300.0, 0.35 * fwhm))
    count = int(np.ceil(reach / max(75.0, fwhm / 3)))
    return np.linspace(-reach, reach, 2 * count + 1)


def region_around(
    spectrum: Spectrum, centre: float, velocity: float, continuum: FloatArray | None = None
) -> Region | None:
    """Return the pixels within ``velocity`` (km/s) of a wavelength (Å); None if there are too few.

    :param continuum: (n,) as in ``measure_line``; the region ends where it is unknown or not positive
    """
    reach = min(0.5, velocity / SPEED_OF_LIGHT)
    near = cells(spectrum, (centre * (1 - reach), centre * (1 + reach)))
    seen = near.seen
    if seen.sum() < 2 * AT_LEAST:
        return None
    wavelength = near.wavelength[seen]
    velocities = (wavelength / centre - 1.0) * SPEED_OF_LIGHT
    region = Region(velocities, near.flux[seen], np.sqrt(near.ivar[seen]), near.width[seen], np.ones_like(velocities))
    shape = None if continuum is None else _shape(velocities, np.interp(wavelength, spectrum.wavelength, continuum))
    return region if shape is None else replace(region, shape=shape).select(np.isfinite(shape))


def flattened(spectrum: Spectrum, line: Line, continuum: FloatArray) -> Spectrum:
    """Return a spectrum at rest divided by a continuum (n,) with which ``measure_line`` measures a line, 1 at the line;
    without data where the continuum is unknown. The spectrum itself where it is unknown at the line.
    """
    velocity = (spectrum.wavelength / line.at(spectrum.medium) - 1.0) * SPEED_OF_LIGHT
    shape = _shape(velocity, continuum)
    if shape is None:
        return spectrum
    known = np.isfinite(shape)
    safe = np.where(known, shape, 1.0)
    return replace(spectrum, flux=spectrum.flux / safe, ivar=np.where(known, spectrum.ivar * safe**2, 0.0))


def _shape(velocity: FloatArray, continuum: FloatArray) -> FloatArray | None:
    """Return a continuum (n,) relative to its value at the line, where a straight line replaces the lines that the
    curve has itself; NaN beyond the stretch around the line where it is positive, None where there is none.
    """
    known = np.isfinite(continuum) & (continuum > 0)
    own = np.abs(velocity) <= OWN_LINE
    edges = [known & (np.abs(velocity - side * 1.3 * OWN_LINE) <= 0.3 * OWN_LINE) for side in (-1.0, 1.0)]
    if not (edges[0].any() and edges[1].any() and known[own].all()):
        return None
    at, level = ([float(values[edge].mean()) for edge in edges] for values in (velocity, continuum))
    curve = np.where(own, np.interp(velocity, at, level), continuum)
    holes = velocity[~known]
    lo, hi = max(holes[holes < 0], default=-np.inf), min(holes[holes > 0], default=np.inf)
    inside = (velocity > lo) & (velocity < hi)
    return np.where(inside, curve / float(np.interp(0.0, at, level)), np.nan)


def _reach(fwhm: float, pixel: float, companions: Sequence[_Companion]) -> float:
    """Return how far from the line to fit, in km/s: so far that the companions and some continuum beyond are inside."""
    farthest = max((abs(o) for c in _separable(companions, fwhm) for o, _ in c.parts), default=-np.inf)
    return float(max(REACH * fwhm, AT_LEAST * pixel, farthest + 2.0 * fwhm))


def _covered(region: Region, fwhm: float, pixel: float) -> bool:
    reach = max(REACH * fwhm, AT_LEAST * pixel)
    region = region.within(reach)
    inner = np.abs(region.velocity) <= max(fwhm, 2 * pixel)
    return bool(
        inner.sum() >= COVERED * 2 * max(fwhm, 2 * pixel) / pixel
        and region.velocity.size >= COVERED * 2 * reach / pixel
        and (region.velocity < -fwhm).sum() >= 4
        and (region.velocity > fwhm).sum() >= 4
    )


@dataclass(frozen=True)
class _Companion:
    """A line of the blend, or two with a fixed ratio of strengths; offsets from the line in km/s."""

    line: Line
    parts: tuple[tuple[float, float], ...]

    def shape(self, velocity: FloatArray, centre: float, fwhm: float) -> FloatArray:
        """Return the profile at ``velocity`` (n,), with a peak of 1 for the stronger part."""
        return sum(
            (strength * bell(velocity, centre + offset, fwhm) for offset, strength in self.parts),
            np.zeros_like(velocity),
        )

    @property
    def forbidden(self) -> bool:
        """Whether it can only be in emission."""
        return self.line.name.startswith("[")


@lru_cache(maxsize=512)
def companions_of(name: str, medium: Medium) -> tuple[_Companion, ...]:
    """Return the lines blended with a line; of a doublet with a fixed ratio the stronger one stands for both. A line
    that the list lacks has none.
    """
    known = {line.name: line for line in lines()}
    if name not in known:
        return ()
    line = known[name]

    def offset(other: str) -> float:
        return (known[other].at(medium) / line.at(medium) - 1.0) * SPEED_OF_LIGHT

    companions = []
    for other in line.blend:
        if _DOUBLETS.get(other, ("", 0.0))[0] in line.blend:
            continue  # comes with the stronger line of its doublet
        parts = [(offset(other), 1.0)]
        parts += [(offset(weak), r) for weak, (s, r) in _DOUBLETS.items() if s == other and weak in line.blend]
        companions.append(_Companion(known[other], tuple(parts)))
    return tuple(companions)


_DOUBLETS = {"[N II] 6548": ("[N II] 6583", 1 / 3.05)}
"""Weaker line of a doublet from one upper level: the stronger line, and their ratio (Storey & Zeippen 2000 MNRAS 312,
813)."""


def _separable(companions: Sequence[_Companion], fwhm: float) -> tuple[_Companion, ...]:
    """Return the companions to fit: outside the line's own core, and forbidden lines only with a narrow line."""
    return tuple(
        c
        for c in companions
        if min(abs(o) for o, _ in c.parts) > 0.8 * min(fwhm, NARROW) and not (c.forbidden and fwhm > NARROW)
    )


@dataclass(frozen=True)
class _Fit:
    """Amplitudes in units of flux; the first is the line's, the last two are level and tilt of the continuum."""

    amplitudes: FloatArray
    covariance: FloatArray
    residual: FloatArray
    kept: BoolArray
    reduced: float
    structure: float

    @property
    def significance(self) -> float:
        return abs(float(self.amplitudes[0])) / max(self.error, self.structure, 1e-300)

    @property
    def error(self) -> float:
        return float(np.sqrt(self.covariance[0, 0]))


def bell(velocity: FloatArray, centre: float, fwhm: float) -> FloatArray:
    """Return a Gaussian of height 1 at ``velocity`` (n,); centre and FWHM in the same unit."""
    bell: FloatArray = np.exp(-0.5 * ((velocity - centre) * FWHM_PER_SIGMA / fwhm) ** 2)
    return bell


def _design(region: Region, centre: float, fwhm: float, companions: Sequence[_Companion]) -> FloatArray:
    """Return the columns of the linear fit (n, 3 + companions): line, companions, level and tilt of the continuum."""
    others = [c.shape(region.velocity, centre, min(fwhm, NARROW)) for c in companions]
    return with_continuum(region, [bell(region.velocity, centre, fwhm), *others])


def with_continuum(region: Region, columns: Sequence[FloatArray]) -> FloatArray:
    """Return the columns (n,) of a linear fit, with level and tilt of the continuum added, as one array (n, m + 2)."""
    return np.stack([*columns, region.shape, region.shape * region.velocity / BROADEST], axis=1)


def solve(design: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least-squares solution (m,) for a design (n, m) of few columns, and its covariance for unit errors."""
    normal = design.T @ design
    # Columns that vanish in the data get a large error instead of an infinite one.
    ridge = 1e-12 * max(float(np.trace(normal)), 1e-300)
    inverse = np.asarray(np.linalg.inv(normal + np.eye(len(normal)) * ridge), dtype=np.float64)
    return inverse @ (design.T @ y), inverse


def _fit(region: Region, velocity: float, fwhm: float, companions: Sequence[_Companion]) -> _Fit | None:
    """Fit the amplitudes of a line and its companions, all shifted by ``velocity``, and a straight continuum."""
    v = region.velocity
    design = _design(region, velocity, fwhm, companions)
    away = np.abs(v - velocity) > fwhm
    for offset, _ in (part for companion in companions for part in companion.parts):
        away &= np.abs(v - velocity - offset) > min(fwhm, NARROW)
    kept: BoolArray = np.ones(v.shape, dtype=bool)
    for _ in range(3):
        amplitudes, inverse = solve(design[kept] * region.weight[kept, None], region.flux[kept] * region.weight[kept])
        residual = region.flux - design @ amplitudes
        outside = away & kept
        if outside.sum() < 6:
            return None
        spread = 1.4826 * float(np.median(np.abs(residual[outside])))
        if spread == 0.0:
            break
        new = ~(away & (np.abs(residual) > CLIP * spread))
        if (new == kept).all() or (new & away).sum() < 6:
            break
        kept = new
    if not np.isfinite(amplitudes).all():
        return None
    freedom = max(1, int(kept.sum()) - design.shape[1])
    reduced = float(((residual[kept] * region.weight[kept]) ** 2).sum()) / freedom
    return _Fit(
        amplitudes, inverse * max(1.0, reduced), residual, kept, reduced, _structure(v, residual, away & kept, fwhm)
    )


def _structure(velocity: FloatArray, residual: FloatArray, away: BoolArray, fwhm: float) -> float:
    """Return the scatter of the residual's means over stretches of one FWHM away from the line, in units of flux.

    A Gaussian's amplitude comes from about one FWHM of pixels, so this is about the amplitude that the neighbourhood
    itself produces.
    """
    v, r = velocity[away], residual[away]
    bins = np.floor(v / fwhm).astype(int)
    means = [float(r[bins == b].mean()) for b in np.unique(bins) if (bins == b).sum() > 1]
    if len(means) < 3:
        return float(np.std(r))
    return float(np.sqrt(np.mean(np.square(means))))


def _best_fit(
    region: Region, velocity: float, fwhm: float, companions: Sequence[_Companion]
) -> tuple[_Fit | None, tuple[_Companion, ...]]:
    """Fit with the companions that the data support: none of the other sign than a forbidden line can have, none below
    5σ.
    """
    kept = _separable(companions, fwhm)
    while True:
        fit = _fit(region, velocity, fwhm, kept)
        if fit is None or not kept:
            return fit, kept
        error = np.sqrt(np.diag(fit.covariance))
        good = tuple(
            c
            for c, a, e in zip(kept, fit.amplitudes[1:-2], error[1:-2], strict=True)
            if abs(a) > 5.0 * e and (a > 0 if c.forbidden else a * fit.amplitudes[0] > 0)
        )
        if good == kept:
            return fit, kept
        kept = good


def _refined(
    line: Line,
    companions: Sequence[_Companion],
    whole: Region,
    near: float,
    start: tuple[float, float],
    instrument: float | None,
    pixel: float,
) -> LineMeasurement | Undefined:
    """Refine velocity and width by least squares, the amplitudes being linear in each step.

    :param start: velocity and FWHM in km/s
    """
    from scipy.optimize import least_squares

    velocity, fwhm = start
    region = whole.within(_reach(fwhm, pixel, companions))
    coarse, companions = _best_fit(region, velocity, fwhm, companions)
    if coarse is None:
        return Undefined(deferred("no fit at {name}", name=line.name))
    kept = region.select(coarse.kept)
    y, weight = kept.flux, kept.weight

    def residual_of(values: FloatArray) -> FloatArray:
        design = _design(kept, float(values[0]), float(np.exp(values[1])), companions)
        residual: FloatArray = (y - design @ solve(design * weight[:, None], y * weight)[0]) * weight
        return residual

    bound = max(400.0, 0.35 * fwhm)
    low = (-bound - 1.0, np.log(max(pixel, 0.3 * fwhm)))
    high = (bound + 1.0, np.log(2.0 * fwhm))
    first = np.array([velocity, np.log(fwhm)])
    solved = least_squares(residual_of, first, bounds=(low, high), max_nfev=25, xtol=1e-5, ftol=1e-6)
    velocity, fwhm = float(solved.x[0]), float(np.exp(solved.x[1]))
    final, companions = _best_fit(region, velocity, fwhm, companions)
    if final is None:
        return Undefined(deferred("no fit at {name}", name=line.name))
    level = Measured(
        float(final.amplitudes[-2] + final.amplitudes[-1] * velocity / BROADEST),
        float(np.sqrt(final.covariance[-2, -2])),
    )
    no_continuum = Undefined(deferred("the continuum at {name} is not above zero by 3σ", name=line.name))
    has_continuum = level.value > 3.0 * level.error
    shape = np.linalg.pinv(solved.jac.T @ solved.jac) * max(1.0, final.reduced)
    error_v, error_w = (float(np.sqrt(max(0.0, shape[i, i]))) for i in (0, 1))
    return LineMeasurement(
        line=line,
        amplitude=Measured(float(final.amplitudes[0]), final.error),
        depth=Measured(float(-final.amplitudes[0]) / level.value, final.error / level.value)
        if has_continuum
        else no_continuum,
        width=_equivalent_width(region, final, velocity, fwhm, companions) if has_continuum else no_continuum,
        velocity=Measured(near + velocity, error_v, "km/s"),
        fwhm=Measured(fwhm, error_w * fwhm, "km/s"),
        instrument=instrument,
        structure=final.structure,
        companions=tuple(known for c in companions for known in _lines_of(c)),
        at_limit=abs(velocity) > bound,
        along_bands=bool((whole.shape != 1.0).any()),
        _blend=companions,
    )


def _lines_of(companion: _Companion) -> tuple[Line, ...]:
    names = {weak for weak, (strong, _) in _DOUBLETS.items() if strong == companion.line.name}
    return (*(line for line in lines() if line.name in names and len(companion.parts) > 1), companion.line)


def _equivalent_width(
    region: Region, fit: _Fit, velocity: float, fwhm: float, companions: Sequence[_Companion]
) -> Measured | Undefined:
    """Return Σ (1 − F/C) Δλ within 1.5 FWHM of the centre, companions subtracted; the error has the pixels' noise and
    that of the continuum's level.
    """
    v = region.velocity
    design = _design(region, velocity, fwhm, companions)
    level = design[:, -2:] @ fit.amplitudes[-2:]
    inside = np.abs(v - velocity) <= WIDTH_REACH * fwhm
    if (level[inside] <= 0).any():
        return Undefined(deferred("the continuum falls to zero within the line"))
    others = design[:, 1:-2] @ fit.amplitudes[1:-2]
    share = region.width[inside] / level[inside]
    value = float((share * (level - region.flux + others)[inside]).sum())
    noise = float(((share / region.weight[inside]) ** 2).sum()) * max(1.0, fit.reduced)
    from_level = float(share.sum()) * float(np.sqrt(fit.covariance[-2, -2]))
    return measured(value, float(np.hypot(np.sqrt(noise), from_level)), "Å")
