"""Strong emission that no known line explains at the redshift of the file, and the redshift that would explain it.

A peak stands out from the running continuum by its own noise and by the scatter of its surroundings. A redshift is
suggested where it puts two or more strong lines of galaxies, quasars and nebulae on peaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from agent.lines import Line, convert, lines, sky_bands
from agent.measure import COARSE, running_continuum
from agent.measure.pixels import BoolArray
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum

STRONG = 10.0  # σ, the flux of the whole peak
HEIGHT = 0.15  # of the continuum
PIXELS = 3  # a cosmic ray is narrower
WIDEST = 8000.0  # km/s; wider is the continuum
NEAR = 700.0  # km/s from a known line that explains a peak; more for a broad peak
AGREE = 500.0  # km/s between a peak and a line at the suggested redshift
MOST_PEAKS = 20
LARGEST_Z = 5.0
SMALLEST_Z = 0.003  # below it a shift is a velocity, which the lines themselves show

STRONG_LINES = (
    *("Lyα", "C IV 1549", "C III] 1909", "Mg II 2796", "[O II] 3729", "[Ne III] 3869", "Hδ", "Hγ", "Hβ"),
    *("[O III] 4959", "[O III] 5007", "Hα", "[S II] 6716"),
)
"""Lines that are strong in galaxies, quasars and nebulae, one for each blend."""


@dataclass(frozen=True)
class Peak:
    """An emission peak.

    :param wavelength: centroid, Å, in the medium and frame of the spectrum
    :param significance: of its flux above the continuum, in σ
    :param width: of the stretch above 3σ, km/s
    """

    wavelength: float
    significance: float
    width: float


@dataclass(frozen=True)
class Suggestion:
    """A redshift that puts ``line`` on the strongest unexplained peak, and other lines on ``others`` (observed Å)."""

    line: str
    z: float
    others: tuple[float, ...]


@dataclass(frozen=True)
class Unexplained:
    """The strongest peak that no line explains at the redshift of the file; ``observed`` is its observed wavelength."""

    peak: Peak
    observed: float
    suggestion: Suggestion | None


def emission_peaks(spectrum: Spectrum) -> list[Peak]:
    """Return the emission peaks of a spectrum that are not on a sky line or telluric band, the strongest first."""
    wavelength, seen = spectrum.wavelength, spectrum.ivar > 0
    if seen.sum() < 50 or spectrum.sampling > COARSE:
        return []
    continuum = running_continuum(spectrum)
    above = np.where(seen, spectrum.flux - continuum, 0.0)
    with np.errstate(divide="ignore"):
        noise = np.where(seen, 1.0 / np.sqrt(np.where(seen, spectrum.ivar, 1.0)), np.inf)
    scatter = 1.4826 * float(np.median(np.abs(above[seen]))) / max(float(np.median(noise[seen])), 1e-300)
    noise = noise * max(1.0, scatter)
    usable = seen & ~_on_sky(spectrum)
    high = usable & (above > 3.0 * noise) & (above > 0.05 * np.abs(continuum))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], high.view("i1"), [0]))))
    peaks = []
    for start, stop in edges.reshape(-1, 2):
        inside = slice(int(start), int(stop))
        if stop - start < PIXELS or above[inside].max() < HEIGHT * abs(float(np.median(continuum[inside]))):
            continue
        significance = float(above[inside].sum() / np.sqrt((noise[inside] ** 2).sum()))
        centre = float((wavelength[inside] * above[inside]).sum() / above[inside].sum())
        width = float(wavelength[stop - 1] - wavelength[start]) / centre * SPEED_OF_LIGHT
        if significance >= STRONG and width < WIDEST:
            peaks.append(Peak(centre, significance, width))
    return sorted(peaks, key=lambda peak: -peak.significance)[:MOST_PEAKS]


def _on_sky(spectrum: Spectrum) -> BoolArray:
    observed = spectrum.wavelength
    if spectrum.frame == "rest" and spectrum.redshift is not None:
        observed = observed * (1.0 + spectrum.redshift)
    hidden: BoolArray = np.zeros(observed.shape, dtype=bool)
    for band in sky_bands(spectrum.survey):
        lo, hi = band.window(spectrum.medium)
        hidden |= (observed >= lo) & (observed <= hi)
    return hidden


@lru_cache(maxsize=64)
def unexplained(spectrum: Spectrum) -> Unexplained | None:
    """Return the strongest emission peak that no line of the list explains; None if there is none.

    Cool stars have none: the flux between two bands resembles emission. The caller decides on them.
    """
    z = 0.0 if spectrum.frame == "rest" else spectrum.redshift or 0.0
    peaks = emission_peaks(spectrum)
    known = [line.at("vacuum") for line in lines() if line.kind != "absorption"]
    for peak in peaks:
        vacuum = convert(peak.wavelength, spectrum.medium, "vacuum")
        allowed = max(NEAR, 0.3 * peak.width)
        if any(abs(vacuum / (at * (1.0 + z)) - 1.0) * SPEED_OF_LIGHT < allowed for at in known):
            continue
        stretch = 1.0 + (spectrum.redshift or 0.0) if spectrum.frame == "rest" else 1.0
        return Unexplained(peak, peak.wavelength * stretch, _suggestion(spectrum, peak, peaks, z))
    return None


def _suggestion(spectrum: Spectrum, peak: Peak, peaks: list[Peak], z_now: float) -> Suggestion | None:
    """Return the redshift that puts most peaks on strong lines, this one among them; None if no other peak agrees."""
    if spectrum.frame == "rest":
        return None
    at = convert(peak.wavelength, spectrum.medium, "vacuum")
    vacuum = [(convert(other.wavelength, spectrum.medium, "vacuum"), other) for other in peaks]
    strong = [line for line in lines() if line.name in STRONG_LINES]
    best: tuple[float, Suggestion] | None = None
    ranked: list[float] = []
    for line in strong:
        z = at / line.at("vacuum") - 1.0
        if not SMALLEST_Z < z < LARGEST_Z or abs(z - z_now) < SMALLEST_Z:
            continue
        matched = _matched(vacuum, strong, z)
        others = tuple(sorted(other.wavelength for other in matched if other is not peak))
        weight = sum(other.significance for other in matched if other is not peak)
        missing = _missing(spectrum, strong, matched, vacuum, z)
        score = len(others) - 0.5 * missing + min(weight, 1000.0) / 1e4
        ranked.append(score)
        if len(others) >= 1 and (best is None or score > best[0]):
            best = score, Suggestion(line.name, z, others)
    if best is None:
        return None
    # Two redshifts that explain as much: none is suggested.
    ordered = sorted(ranked, reverse=True)
    clear = all(first - other > 0.4 for first, other in list(pairwise(ordered))[:1])
    return best[1] if clear and best[0] > 0.5 and len(best[1].others) >= 2 else None


def _matched(vacuum: list[tuple[float, Peak]], strong: list[Line], z: float) -> list[Peak]:
    """Return the peaks on a strong line at this redshift, one peak per line and one line per peak."""
    matched: dict[int, Peak] = {}
    for line in strong:
        expected = line.at("vacuum") * (1.0 + z)
        near = [(abs(w / expected - 1.0) * SPEED_OF_LIGHT, n) for n, (w, _) in enumerate(vacuum)]
        close = [
            (distance, n) for distance, n in near if n not in matched and distance < AGREE + 0.2 * vacuum[n][1].width
        ]
        if close:
            n = min(close)[1]
            matched[n] = vacuum[n][1]
    return list(matched.values())


def _missing(
    spectrum: Spectrum, strong: list[Line], matched: list[Peak], vacuum: list[tuple[float, Peak]], z: float
) -> int:
    """Return how many of the lines that are strongest of all lie in the data without a peak."""
    lo, hi = (float(convert(w, spectrum.medium, "vacuum")) for w in (spectrum.wavelength[0], spectrum.wavelength[-1]))
    places = [w for w, peak in vacuum if peak in matched]
    count = 0
    for line in strong:
        expected = line.at("vacuum") * (1.0 + z)
        if line.name not in ("Hα", "[O III] 5007", "Lyα", "C IV 1549") or not lo * 1.01 < expected < hi * 0.99:
            continue
        count += not any(abs(w / expected - 1.0) * SPEED_OF_LIGHT < 3 * AGREE for w in places)
    return count
