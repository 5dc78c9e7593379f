"""Edits of a spectrum: remove, flip, shift or inject one line or band, and a placebo of equal energy elsewhere.

Pure functions from a spectrum to an ``Edited`` one. Only flux (and ivar, where photons are added) changes; the noise
of replaced pixels comes from ivar and is seeded. Windows are Å at rest in the medium of the spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agent.hints.evidence import evidence
from agent.language import deferred
from agent.lines import Band, bands
from agent.measure import Continuum, LineMeasurement, Undefined, Window, local_continuum
from agent.spectrum import Spectrum
from agent.trial.subjects import SPEED_OF_LIGHT, Subject
from agent.trial.typical import Typical

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

FWHM_PER_SIGMA = 2.3548
ELSEWHERE = 600.0
"""km/s from which a line counts as another line, whatever its width (``agent.hints.evidence``)."""
DEEPEST = 0.92  # share of the continuum that an injected absorption line takes away, at most
FLOOR = 0.05  # of the continuum: what a flipped emission line leaves, at least


@dataclass(frozen=True)
class Edited:
    """An edited spectrum.

    :param window: the stretch in which the flux was changed, Å at rest in the spectrum's medium
    :param energy: Σ (flux change)² ivar, with the ivar before the edit
    """

    spectrum: Spectrum
    window: Window
    energy: float


@dataclass(frozen=True)
class NotEdited:
    """An edit that cannot be made, and why: one clause."""

    reason: str


def remove(spectrum: Spectrum, at_rest: Spectrum, subject: Subject, rng: np.random.Generator) -> Edited | NotEdited:
    """Replace the subject by the continuum through its side bands, with noise from ivar."""
    ground = _ground(at_rest, subject)
    if isinstance(ground, NotEdited):
        return ground
    inside, continuum = ground
    flux = at_rest.flux.copy()
    flux[inside] = (continuum + _noise(at_rest.ivar, rng))[inside]
    return _edited(spectrum, at_rest, flux, "removed", subject.name)


def flip(spectrum: Spectrum, at_rest: Spectrum, subject: Subject, rng: np.random.Generator) -> Edited | NotEdited:
    """Mirror a line about its continuum: emission becomes absorption, absorption emission.

    Absorption is mirrored linearly, 2C − F. Emission is mirrored in the logarithm, C²/F, so that no flux is below zero
    where the line is higher than its continuum; noise is added so that the scatter stays that of ivar.
    """
    if subject.line is None:
        return NotEdited(deferred("only lines are flipped"))
    ground = _ground(at_rest, subject)
    if isinstance(ground, NotEdited):
        return ground
    inside, continuum = ground
    above = at_rest.flux > continuum
    ratio = np.divide(continuum, at_rest.flux, out=np.ones_like(continuum), where=above & (at_rest.flux > 0))
    mirrored = np.where(above, continuum * np.maximum(ratio, FLOOR), 2.0 * continuum - at_rest.flux)
    lost = np.sqrt(np.clip(1.0 - ratio**4, 0.0, 1.0))
    flux = at_rest.flux.copy()
    flux[inside] = (mirrored + lost * _noise(at_rest.ivar, rng))[inside]
    return _edited(spectrum, at_rest, flux, "flipped", subject.name)


def shift(spectrum: Spectrum, at_rest: Spectrum, subject: Subject, rng: np.random.Generator) -> Edited | NotEdited:
    """Move a line along the spectrum to where it is another line, and leave the continuum in its place.

    The distance is 3σ of the line's Gaussian, at least ``ELSEWHERE``, beyond the edge of the stretch in which the line
    is identified (``Subject.span``): towards longer wavelengths, or shorter ones if there is no data. The noise of the
    line moves with it, so the scatter where it lands is up to √2 times that of ivar.
    """
    if subject.line is None:
        return NotEdited(deferred("only lines are shifted"))
    ground = _ground(at_rest, subject)
    if isinstance(ground, NotEdited):
        return ground
    inside, continuum = ground
    wavelength = at_rest.wavelength
    lo, hi = float(wavelength[inside][0]), float(wavelength[inside][-1])
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    sigma = max(_fwhm(at_rest, subject) / FWHM_PER_SIGMA * 3.0, ELSEWHERE) * middle / SPEED_OF_LIGHT
    change = np.where(inside, at_rest.flux - continuum, 0.0)
    for direction in (1.0, -1.0):
        distance = direction * (half + sigma)
        landing = (wavelength >= lo + distance) & (wavelength <= hi + distance)
        if landing.any() and (at_rest.ivar[landing] > 0).mean() > 0.8:
            break
    else:
        return NotEdited(deferred("there is no data where the line would be moved to"))
    # Pixels without data may hold anything, e.g. a cosmic ray: they are bridged, not moved.
    seen = at_rest.ivar > 0
    moved = np.interp(wavelength - distance, wavelength[seen], change[seen], left=0.0, right=0.0)
    flux = at_rest.flux.copy()
    flux[inside] = (continuum + _noise(at_rest.ivar, rng))[inside]
    flux = np.where(landing & (flux + moved > 0), flux + moved, flux)
    return _edited(spectrum, at_rest, flux, deferred("shifted by {distance:+.0f} Å", distance=distance), subject.name)


def inject(
    spectrum: Spectrum, at_rest: Spectrum, subject: Subject, typical: Typical, rng: np.random.Generator
) -> Edited | NotEdited:
    """Add the subject with its typical strength and width, with the photon noise of what is added.

    A line of the opposite sense is removed first. Emission adds flux, and noise with the variance of the added photons;
    absorption and bands multiply the flux.
    """
    ground = _ground(at_rest, subject)
    if isinstance(ground, NotEdited):
        return ground
    inside, continuum = ground
    flux, ivar = at_rest.flux.copy(), at_rest.ivar.copy()
    if subject.sense == "band":
        flux = flux * _band_profile(at_rest, subject, flux, typical.strength)
        return _edited(spectrum, at_rest, flux, "injected", subject.name)
    flux[inside] = (continuum + _noise(at_rest.ivar, rng))[inside]
    wavelength = at_rest.wavelength
    centre = sum(subject.span) / 2 if subject.line is None else subject.line.at(at_rest.medium)
    fwhm = typical.fwhm * centre / SPEED_OF_LIGHT
    height = abs(typical.strength) / (1.0645 * fwhm)
    if subject.sense == "absorption" and height > DEEPEST:
        fwhm, height = fwhm * height / DEEPEST, DEEPEST
    bell = height * np.exp(-0.5 * ((wavelength - centre) / fwhm * FWHM_PER_SIGMA) ** 2)
    bell[bell < 1e-4] = 0.0
    level = np.where(inside, continuum, np.maximum(flux, 0.0))
    if subject.sense == "absorption":
        return _edited(spectrum, at_rest, flux - level * bell, "injected", subject.name)
    flux = flux + level * bell + _noise(ivar, rng) * np.sqrt(bell)
    return _edited(spectrum, at_rest, flux, "injected", subject.name, ivar / (1.0 + bell))


def placebo(
    spectrum: Spectrum,
    at_rest: Spectrum,
    real: Edited,
    window: Window,
    avoid: Sequence[Window],
    rng: np.random.Generator,
) -> Edited | NotEdited:
    """Change a stretch that shows nothing of the task, by the energy of another edit.

    The change has the shape of a Gaussian line, of the width of the other edit or, where there is no room, down to an
    eighth of it. The stretch is the nearest to ``window`` that is neither in it nor in ``avoid``; one inside the window
    is taken only if there is no other.

    :param real: the edit whose energy the placebo has
    :param window: the window of the tool call
    :param avoid: stretches where the change would be seen by what the task measures
    """
    wavelength = at_rest.wavelength
    usable = at_rest.ivar > 0
    for lo, hi in avoid:
        usable &= (wavelength < lo) | (wavelength > hi)
    outside = usable & ((wavelength < window[0]) | (wavelength > window[1]))
    for allowed in (outside, usable):
        for share in (1.0, 0.5, 0.25, 0.125):
            width = (real.window[1] - real.window[0]) * share
            place = _nearest(wavelength, allowed, width, sum(window) / 2)
            if place is None:
                continue
            middle = (place[0] + place[1]) / 2
            bell = np.exp(-0.5 * ((wavelength - middle) / (width / 6.0)) ** 2)
            bell[(wavelength < place[0]) | (wavelength > place[1])] = 0.0
            norm = float((bell**2 * at_rest.ivar).sum())
            if norm <= 0:
                continue
            change = bell * np.sqrt(real.energy / norm)
            # Half of them in absorption, where the flux allows it.
            has_flux_left = (at_rest.flux - change)[bell > 0].min() > 0
            sign = -1.0 if has_flux_left and rng.random() < 0.5 else 1.0
            return _edited(spectrum, at_rest, at_rest.flux + sign * change, "placebo", "")
    return NotEdited(deferred("no stretch without a feature of the task is wide enough"))


def _ground(at_rest: Spectrum, subject: Subject) -> tuple[BoolArray, FloatArray] | NotEdited:
    """Return which pixels hold the subject (n,), and the continuum below it at every pixel (n,)."""
    lo, hi = _extent(at_rest, subject)
    wavelength = at_rest.wavelength
    inside = (wavelength >= lo) & (wavelength <= hi)
    if inside.sum() < 3 or (at_rest.ivar[inside] > 0).mean() < 0.5:
        return NotEdited(deferred("too little data in {lo:.0f}–{hi:.0f} Å", lo=lo, hi=hi))
    below = _pseudo_continuum(at_rest, subject, (lo, hi)) if subject.sense == "band" else None
    continuum: Continuum | Undefined
    if below is not None:
        return inside, below
    continuum = local_continuum(at_rest, subject.side_bands)
    if isinstance(continuum, Undefined):
        return NotEdited(deferred("the continuum below it cannot be measured: {reason}", reason=continuum.reason))
    level = continuum.at(wavelength)
    if (level[inside] <= 0).any():
        return NotEdited(deferred("the continuum is not above zero"))
    return inside, level


def _extent(at_rest: Spectrum, subject: Subject) -> Window:
    """Return the stretch to edit: the span, and for a line what the line covers beyond it, up to the side bands."""
    lo, hi = subject.span
    if subject.sense == "band":
        band = _band_of(subject, at_rest)
        if band is not None:
            ends = band.window(at_rest.medium)
            lo, hi = min(lo, ends[0]), max(hi, ends[1])
        return lo, hi
    before = max((w[1] for w in subject.side_bands if w[1] <= lo), default=lo)
    after = min((w[0] for w in subject.side_bands if w[0] >= hi), default=hi)
    return before, after


def _band_of(subject: Subject, at_rest: Spectrum) -> Band | None:
    """Return the band of the list that a feature of the task measures; None if the list has none."""
    if subject.feature is None:
        return next((b for b in bands() if b.name == subject.name), None)
    heads = subject.feature.wavelengths
    return next((b for b in bands() if any(abs(b.at(at_rest.medium) - head) < 1.5 for head in heads)), None)


def _pseudo_continuum(at_rest: Spectrum, subject: Subject, extent: Window) -> FloatArray | None:
    """Return a straight line from the side bands before a band to the flux at its other end; None without data.

    A feature of the task is measured against the mean of its side bands, so the line has that level within its span.
    """
    wavelength, flux, seen = at_rest.wavelength, at_rest.flux, at_rest.ivar > 0
    points = []
    for lo, hi in subject.side_bands:
        here = seen & (wavelength >= lo) & (wavelength <= hi)
        if not here.any():
            return None
        points.append(((lo + hi) / 2, float(flux[here].mean())))
    level = float(np.mean([value for _, value in points]))
    if level <= 0:
        return None
    lo, hi = subject.span
    knots = {lo: level, hi: level}
    for end, beyond in ((extent[0], -15.0), (extent[1], 15.0)):
        a, b = sorted((end, end + beyond))
        here = seen & (wavelength >= a) & (wavelength <= b)
        if here.any() and not lo <= end <= hi:
            knots[end] = float(flux[here].mean())
    at = sorted(knots)
    return np.interp(wavelength, at, [knots[knot] for knot in at])


def _band_profile(at_rest: Spectrum, subject: Subject, flux: FloatArray, ratio: float) -> FloatArray:
    """Return the factor (n,) that brings the mean of the span to ``ratio`` times that of the side bands.

    It is constant within the span and fades to 1 towards the ends of the band, or within 10 Å without one.
    """
    wavelength = at_rest.wavelength
    seen = at_rest.ivar > 0
    means = [
        float(flux[here].mean()) if (here := seen & (wavelength >= a) & (wavelength <= b)).any() else np.nan
        for a, b in (subject.span, *subject.side_bands)
    ]
    now = means[0] / float(np.mean(means[1:]))
    factor = float(np.clip(ratio / now, 0.02, 1.0)) if now > 0 else 1.0
    lo, hi = subject.span
    start, end = _extent(at_rest, subject)
    start, end = min(start, lo - 5.0), max(end, hi + 10.0)
    for a, b in subject.side_bands:
        start = max(start, b) if b <= lo else start
        end = min(end, a) if a >= hi else end
    return np.interp(wavelength, (start, lo, hi, end), (1.0, factor, factor, 1.0))


def _fwhm(at_rest: Spectrum, subject: Subject) -> float:
    """Return the FWHM of the subject's line in km/s; a typical 500 if it cannot be measured."""
    if subject.line is None:
        return 500.0
    measured = evidence(at_rest).measured(subject.line)
    return measured.fwhm.value if isinstance(measured, LineMeasurement) else 500.0


def _nearest(wavelength: FloatArray, allowed: BoolArray, width: float, middle: float) -> Window | None:
    """Return the stretch of that width nearest to ``middle`` whose pixels are all allowed; None if there is none."""
    blocked = np.concatenate(([0], np.cumsum(~allowed)))
    starts = np.flatnonzero(wavelength + width <= wavelength[-1])
    ends = np.searchsorted(wavelength, wavelength[starts] + width, side="right")
    free = (blocked[ends] == blocked[starts]) & (ends - starts >= 5)
    # A gap in the data is not a stretch.
    step = float(np.median(np.diff(wavelength)))
    free &= (ends - starts) >= 0.5 * width / step
    if not free.any():
        return None
    begin = wavelength[starts[free]]
    best = float(begin[np.argmin(np.abs(begin + width / 2 - middle))])
    return best, best + width


def _noise(ivar: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return Gaussian noise (n,) with the variance of each pixel; 0 where there is no data."""
    sigma = np.divide(1.0, np.sqrt(ivar), out=np.zeros_like(ivar), where=ivar > 0)
    noise: FloatArray = rng.standard_normal(ivar.shape) * sigma
    return noise


def _edited(
    spectrum: Spectrum, at_rest: Spectrum, flux: FloatArray, what: str, subject: str, ivar: FloatArray | None = None
) -> Edited | NotEdited:
    change = flux - at_rest.flux
    changed = np.flatnonzero(change)
    if not np.isfinite(flux).all() or changed.size == 0:
        return NotEdited(deferred("the edit would change nothing that can be measured"))
    with np.errstate(over="ignore"):
        energy = float((change**2 * at_rest.ivar).sum())
    if not np.isfinite(energy) or energy <= 0:
        return NotEdited(deferred("the edit would change nothing that can be measured"))
    window = (float(at_rest.wavelength[changed[0]]), float(at_rest.wavelength[changed[-1]]))
    edited = replace(
        spectrum,
        flux=flux,
        ivar=spectrum.ivar if ivar is None else ivar,
        model=None,
        exposures=(),
        meta={**spectrum.meta, "edited": f"{subject} {what}".strip()},
    )
    return Edited(edited, window, energy)
