"""Faults of the data that resemble features of an object. They tell nothing of its class.

Bounds were chosen on one half of a collection of real spectra and on look-alikes: bands, breaks, broad lines
(tests/benchmarks/faults.py, docs/hints.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from agent.language import deferred, joined
from agent.lines import SkyBand, from_space, lines, sky_bands, survey
from agent.measure.molecules import molecule
from agent.measure.pixels import COARSE, BoolArray, FloatArray, rest
from agent.measure.values import Measured, Undefined, Window
from agent.spectrum import Spectrum

SIGMA = 5.0  # least significance of every fault
STELLAR = 0.01  # |z|: beyond it a break or a broad line can lie at the join
STEP = 0.06  # of the flux
ABOVE_USUAL = 1.5  # times the 95th percentile of the steps elsewhere
CROWDED = 0.1  # of the flux: where steps elsewhere are as large, one at the join means nothing
SHARP = 0.55  # of a step shows between straight lines through 40 Å: broad lines are less steep
FAR = (100.0, 350.0)  # Å from a step
LASTING = (0.4, 1.6)  # of a step between straight lines through what is FAR: the flux returns after a line
RED = 7500.0  # Å: below, CCDs are opaque and have no fringes
PERIODS = (20.0, 120.0)  # Å at 8000 Å: a CCD of 10 to 40 µm
RIPPLE = 0.02  # of the flux, amplitude
EXPLAINED = 0.25  # of the variance in the red, by one sine
STEADY = 0.3  # of the amplitude, in each third of the red
END = 0.02  # of the wavelength: an end of the range
LEAST = 5  # pixels of an end
FALLEN, RISEN = 0.2, 2.0  # flux over that of the neighbouring continuum; bands and breaks halve it
BALMER_JUMP = 4200.0  # Å: an end below it may rise
EXCESS = 0.35  # of the continuum
FIRST_LIGHT = 3100.0  # Å: the atmosphere is opaque below, so second-order light begins at twice this
PEAK = 0.1  # of the continuum

_TOO_LITTLE = deferred("too little data")
_NOTHING = deferred("nothing stands out")
_AMBIGUOUS = deferred("bands or broad lines look the same")


@dataclass(frozen=True)
class Fault:
    """A fault: "step", "fringes", "end", "order" or "exposure".

    :param window: what it disturbs, Å, observed, in the medium of the spectrum
    :param size: as a fraction of the flux: height of a step or peak, amplitude of a ripple, flux lost or added
    """

    kind: str
    window: Window
    size: Measured
    text: str


@lru_cache(maxsize=64)
def faults(spectrum: Spectrum) -> tuple[Fault, ...]:
    """Return the faults of a spectrum; none at rest, where observed wavelengths are unknown."""
    if spectrum.frame == "rest" or spectrum.sampling > COARSE or np.count_nonzero(spectrum.ivar > 0) < 200:
        return ()
    known = survey(spectrum.survey)
    checks = (
        *(step(spectrum, join) for join in (known.arm_joins if known else ())),
        *(fringes(spectrum), end(spectrum, red=False), end(spectrum, red=True), second_order(spectrum)),
        *in_one_exposure(spectrum),
    )
    return tuple(check for check in checks if isinstance(check, Fault))


def step(spectrum: Spectrum, join: SkyBand) -> Fault | Undefined:
    """Return the largest step inside an arm join: the difference of straight lines through 100 Å on both sides, larger
    than such differences elsewhere. Lines and O₂ bands are left out.
    """
    lo, hi = join.window(spectrum.medium)
    if abs(spectrum.redshift or 0.0) > STELLAR or _has_bands(spectrum):
        return Undefined(_AMBIGUOUS)
    at, flux, error = _bins(spectrum, 10.0, ~_on_features(spectrum))
    if at.size < 60:
        return Undefined(_TOO_LITTLE)
    flux = _running_median(flux, 5)
    where, sizes, errors = _steps(at, flux, error, 14)
    inside = (where >= lo) & (where <= hi)
    around = (np.abs(where - (lo + hi) / 2) < 700.0) & ((where < lo - 100.0) | (where > hi + 100.0))
    if inside.sum() < 3 or around.sum() < 15:
        return Undefined(_TOO_LITTLE)
    best = int(np.flatnonzero(inside)[np.argmax(np.abs(sizes[inside]))])
    elsewhere = np.abs(sizes[around])
    size = Measured(float(sizes[best]), float(max(errors[best], 1.4826 * np.median(elsewhere))))
    usual = float(np.percentile(elsewhere, 95))
    if abs(size.value) < max(STEP, ABOVE_USUAL * usual) or usual > CROWDED or size.significance < SIGMA:
        return Undefined(_NOTHING)
    places, short, _ = _steps(at, flux, error, 4)
    steepest = (short[np.abs(places - where[best]) <= 20.0] * np.sign(size.value)).max(initial=0.0)
    distance = at - where[best]
    sides = ((distance * sign > FAR[0]) & (distance * sign < FAR[1]) for sign in (-1, 1))
    before, after = (np.polyfit(distance[side], flux[side], 1)[1] if side.sum() > 9 else 0.0 for side in sides)
    lasting = (after - before) / float(np.median(flux[np.abs(distance) < FAR[1]])) / size.value
    if steepest < SHARP * abs(size.value) or not LASTING[0] < lasting < LASTING[1]:
        return Undefined(_AMBIGUOUS)
    text = deferred(
        "step of {size:.0f} % at {at:.0f} Å, where two arms join", size=100 * abs(size.value), at=where[best]
    )
    return Fault("step", (float(where[best]) - 100.0, float(where[best]) + 100.0), size, text)


def _steps(at: FloatArray, flux: FloatArray, error: FloatArray, side: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places (n,) between bins, relative steps there, and errors of these."""
    value = np.linalg.pinv(np.vander(np.arange(side) + 0.5, 2))[1]  # of a straight line, half a bin before its first
    kernel = np.concatenate([-value[::-1], value])
    x, y, e = (sliding_window_view(values, 2 * side) for values in (at, flux, error))
    near = (x[:, -1] - x[:, 0] < 20.0 * side + 150.0) & (x[:, side] - x[:, side - 1] < 45.0)
    near &= np.median(y, axis=1) > 0
    x, y, e, level = x[near], y[near], e[near], np.median(y[near], axis=1)
    return (x[:, side - 1] + x[:, side]) / 2, y @ kernel / level, np.sqrt(e**2 @ kernel**2) / level


def fringes(spectrum: Spectrum) -> Fault | Undefined:
    """Return a ripple in the red that is periodic in wavelength, or in wavenumber as interference in a CCD is."""
    at, flux, error = _bins(spectrum, 5.0, spectrum.wavelength > RED, least=1)
    if at.size < 100 or ((smooth := _running_median(flux, 41)) <= 3.0 * error).mean() > 0.1:
        return Undefined(_TOO_LITTLE)
    level = np.maximum(smooth, error)
    ripple, noise = flux / level - 1.0, error / level
    spread = 4.0 * 1.4826 * float(np.median(np.abs(ripple)))
    ripple = np.clip(ripple, -spread, spread)
    weight = 1.0 / np.maximum(noise, np.median(noise)) ** 2
    third = np.arange(at.size) * 3 // at.size == np.arange(3)[:, None]
    best = (0.0, 0.0)
    for axis in (at, -(8000.0**2) / at):
        grid, count = np.linspace(axis[0], axis[-1], at.size), 8 * at.size
        w, r = np.interp(grid, axis, weight), np.interp(grid, axis, ripple)
        frequency = np.fft.rfftfreq(count, grid[1] - grid[0])
        whole = 2.0 * np.fft.rfft(w * r, count) / w.sum()
        parts = 2.0 * np.fft.rfft(third * w * r, count) / (third * w).sum(axis=1)[:, None]
        # Fringes keep their phase from end to end; lines, bands and residuals of the sky do not.
        steady = ((parts * whole.conj()).real > STEADY * np.abs(whole) ** 2).all(axis=0)
        steady &= (frequency > 1.0 / PERIODS[1]) & (frequency < 1.0 / PERIODS[0])
        strength = np.where(steady, np.abs(whole), 0.0)
        best = max(best, (float(strength.max()), 1.0 / float(frequency[strength.argmax()] or 1.0)))
    variance = float((weight * ripple**2).sum() / weight.sum())
    size = Measured(best[0], float(np.sqrt(2.0 * variance / at.size)))
    if size.value < RIPPLE or size.value**2 < 2.0 * EXPLAINED * variance or size.significance < SIGMA:
        return Undefined(_NOTHING)
    text = deferred("fringes: ripple of {size:.0f} %, period {period:.0f} Å", size=100 * best[0], period=best[1])
    return Fault("fringes", (float(at[0]), float(at[-1])), size, text)


def end(spectrum: Spectrum, red: bool) -> Fault | Undefined:
    """Return an end of the range where the flux leaves the straight line through its neighbourhood by a factor."""
    order = slice(None, None, -1 if red else 1)
    seen = (spectrum.ivar > 0)[order]
    wavelength, flux = spectrum.wavelength[order][seen], spectrum.flux[order][seen]
    distance = np.abs(wavelength / wavelength[0] - 1.0)
    outer, inner = distance < END, np.flatnonzero((distance >= END) & (distance < 4 * END))
    if outer.sum() < 2 * LEAST or inner.size < 20:
        return Undefined(_TOO_LITTLE)
    x, y = (np.array([np.median(part) for part in np.array_split(a[inner], 8)]) for a in (distance, flux))
    expected = np.polynomial.Polynomial.fit(x, y, 1)(distance[outer])
    scatter = 1.4826 / 2**0.5 * float(np.median(np.abs(np.diff(flux[inner]))))
    if (expected <= 3.0 * scatter).any() or np.std(y) > 0.3 * np.mean(y):
        return Undefined(_TOO_LITTLE)
    ratio = _running_median(flux[outer] / expected, 5)
    bound = FALLEN / 2 if _has_bands(spectrum) else FALLEN
    count = int(np.cumprod(ratio < bound).sum())
    at = wavelength[0] / (1.0 + (spectrum.redshift or 0.0))
    if (red or wavelength[0] > BALMER_JUMP) and all(abs(x.at(spectrum.medium) / at - 1.0) > END for x in lines()):
        count = max(count, int(np.cumprod(ratio > RISEN).sum()))
    size = Measured(float(ratio[:count].mean()) - 1.0, scatter / float(expected.mean()) / count**0.5) if count else None
    if size is None or count < LEAST or count == ratio.size or size.significance < SIGMA:
        return Undefined(_NOTHING)
    # What leads to it is not to be trusted either.
    stretch = int(np.cumprod(np.abs(ratio - 1.0) > 0.2).sum())
    lo, hi = sorted((float(wavelength[0]), float(wavelength[stretch - 1])))
    words = {"lo": lo, "hi": hi, "share": 100 * max(0.0, 1.0 + size.value)}
    text = deferred(
        "{lo:.0f}–{hi:.0f} Å, the end of the range, has {share:.0f} % of the flux next to it: do not trust it", **words
    )
    return Fault("end", (lo, hi), size, text)


def second_order(spectrum: Spectrum) -> Fault | Undefined:
    """Return flux above the power law of a blue continuum that sets in at twice the atmosphere's cut-off or later.

    Surveys with two arms and space telescopes have no such light.
    """
    at, flux, error = _bins(spectrum, 20.0, ~_on_features(spectrum))
    blue, red = (at > BALMER_JUMP) & (at < 2 * FIRST_LIGHT), at > 2 * FIRST_LIGHT
    if survey(spectrum.survey) or from_space(spectrum.survey) or blue.sum() < 60 or red.sum() < 30:
        return Undefined(_TOO_LITTLE)
    if (flux <= 3.0 * error).any() or _has_bands(spectrum):
        return Undefined(_AMBIGUOUS)
    x, y = np.log(at), np.log(flux)
    slope, level = np.polyfit(x[blue], y[blue], 1)
    above = np.expm1(y - slope * x - level)
    onset, last = float(np.median(above[red][:15])), above[red][-10:]
    size = Measured(float(np.median(last)), float(np.hypot(np.std(above[blue]), np.std(last))))
    if slope > -1.0 or size.value < max(EXCESS, 3 * onset) or size.significance < SIGMA:
        return Undefined(_NOTHING)
    begin = float(at[red][np.argmax(above[red] > size.value / 4)])
    words = {"at": begin, "size": 100 * size.value}
    beyond = deferred("flux beyond {at:.0f} Å rises to {size:.0f} % above the blue continuum", **words)
    text = joined((beyond, deferred("second order, or a cool companion")))
    return Fault("order", (begin, float(at[-1])), size, text)


def in_one_exposure(spectrum: Spectrum) -> Iterator[Fault]:
    """Yield at most three peaks and dips of the spectrum that are in one of its exposures only."""
    if len(spectrum.exposures) < 2:
        return
    flux, ivar = (
        np.array([np.interp(spectrum.wavelength, e.wavelength, getattr(e, name), 0.0, 0.0) for e in spectrum.exposures])
        for name in ("flux", "ivar")
    )
    continuum = _running_median(spectrum.flux, 61)
    noise = 1.0 / np.sqrt(np.where(spectrum.ivar > 0, spectrum.ivar, np.inf))
    for own, weight in zip(flux, ivar, strict=True):
        # Exposures differ in throughput, and need not be calibrated.
        level = _running_median(own, 61)
        scale = np.divide(continuum, level, out=np.zeros_like(level), where=(level > 0) & (continuum > 0))
        own *= scale
        weight *= np.divide(1.0, scale**2, out=np.zeros_like(scale), where=scale > 0)
    peaks = []
    for number, (own, weight) in enumerate(zip(flux, ivar, strict=True)):
        left = ivar.sum(axis=0) - weight
        both = (weight > 0) & (left > 0) & (spectrum.ivar > 0)
        others = ((flux * ivar).sum(axis=0) - own * weight) / np.where(both, left, 1.0)
        more, here = own - others, spectrum.flux - others
        error = np.sqrt(1.0 / np.where(both, weight, 1.0) + 1.0 / np.where(both, left, 1.0))
        # The others show none, and the spectrum has it: its pipeline did not take it out.
        alone = both & (np.abs(others - continuum) < np.abs(more) / 2) & (here * more > 0)
        alone &= (np.abs(more) > SIGMA * error) & (np.abs(here) > np.maximum(3.0 * noise, PEAK * np.abs(continuum)))
        runs = np.flatnonzero(np.diff(np.concatenate(([0], alone.view("i1"), [0])))).reshape(-1, 2)
        for start, stop in runs[np.diff(runs)[:, 0] > 1]:
            top = int(start + np.argmax(np.abs(here[start:stop])))
            peaks.append((float(abs(more[top]) / error[top]), float(here[top]), top, number, start, stop))
    for significance, height, top, number, start, stop in sorted(peaks, reverse=True)[:3]:
        size = height / max(abs(float(continuum[top])), 1e-300)
        at, count = spectrum.wavelength, int((ivar[:, top] > 0).sum()) - 1
        words = {"at": at[top], "name": spectrum.exposures[number].name, "number": number + 1, "count": count}
        if height > 0:
            text = deferred(
                "peak at {at:.0f} Å in exposure {number} ({name}) only; {count} others do not show it", **words
            )
        else:
            text = deferred(
                "dip at {at:.0f} Å in exposure {number} ({name}) only; {count} others do not show it", **words
            )
        window = float(at[start]) - 5.0, float(at[stop - 1]) + 5.0
        yield Fault("exposure", window, Measured(size, abs(size) / significance), text)


def _has_bands(spectrum: Spectrum) -> bool:
    """Return whether molecular bands may be there."""
    at_rest = rest(spectrum)
    evidence = [entry for name in ("TiO", "C2", "CN", "ZrO") if (entry := molecule(at_rest, name))]
    low = (value.value < 0.9 for _, value in evidence[0].indices if isinstance(value, Measured))
    return any(entry.state == "present" for entry in evidence) or any(low)


def _on_features(spectrum: Spectrum) -> BoolArray:
    """Return the pixels (n,) on major lines, sky lines and O₂ bands."""
    wavelength, z = spectrum.wavelength, spectrum.redshift or 0.0
    hidden: BoolArray = np.abs(wavelength - 5893.0) < 16.0
    for line in lines():
        reach = 0.0045 if line.species == "H I" else 0.0025
        if line.major:
            hidden |= np.abs(wavelength / (line.at(spectrum.medium) * (1.0 + z)) - 1.0) < reach
    for band in sky_bands():
        if band.name.startswith("O₂") or (band.is_sky_line and band.hi - band.lo < 20.0):
            lo, hi = band.window(spectrum.medium)
            hidden |= (wavelength > lo) & (wavelength < hi)
    return hidden


def _running_median(values: FloatArray, width: int) -> FloatArray:
    median: FloatArray = np.median(sliding_window_view(np.pad(values, width // 2, mode="edge"), width), axis=1)
    return median


def _bins(
    spectrum: Spectrum, width: float, kept: BoolArray, least: int = 3
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the middles (n,) in Å of bins in the optical with data, their median fluxes, and the errors of these."""
    kept = kept & (spectrum.ivar > 0) & (spectrum.wavelength > 3000.0) & (spectrum.wavelength < 10500.0)
    number = (spectrum.wavelength[kept] // width).astype(int)
    flux, ivar = spectrum.flux[kept], spectrum.ivar[kept]
    names, first, counts = np.unique(number, return_index=True, return_counts=True)
    ordered = flux[np.lexsort((flux, number))]
    median = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2 if names.size else flux
    total = np.add.reduceat(ivar, first) if names.size else ivar
    full = counts >= least
    return (names[full] + 0.5) * width, median[full], 1.2533 / np.sqrt(total[full])
