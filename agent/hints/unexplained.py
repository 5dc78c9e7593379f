"""Strong emission that no known line explains at the redshift of the file, and the redshift that would explain it.

A peak stands out from the running continuum by its own noise and by the scatter of its surroundings. A redshift is
suggested only where the lines of the list leave most peaks unexplained at the present one, explain nearly all of them
at the new one, and are as strong as the atoms demand: [O III] 5007 and 4959, or two Balmer lines, and a third line; or
two broad lines of a quasar whose template fits. No template of a star may fit better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from agent.lines import Line, convert, lines, sky_bands
from agent.measure import COARSE, running_continuum
from agent.measure.pixels import BoolArray
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum
from agent.templates import EXTRAGALACTIC, bundled, rank

FloatArray = NDArray[np.float64]

STRONG = 10.0  # σ, the flux of the whole peak
HEIGHT = 0.15  # of the continuum
PIXELS = 3  # a cosmic ray is narrower
WIDEST = 8000.0  # km/s; wider is the continuum
NEAR = 700.0  # km/s from a known line that explains a peak; more for a broad peak
MOST_PEAKS = 20
MOST_WEIGHT = 30.0  # σ; a stronger peak counts as this much, so that one line does not decide
LARGEST_Z = 5.0
SMALLEST_Z = 0.003  # below it a shift is a velocity, which the lines themselves show
EXPLAINED = 0.75  # of the peaks' weight, which a suggested redshift explains at least
FEWER = 0.15  # of the peaks' weight, which the present redshift explains less
DEEP_SKY = {"sky line": 30.0, "telluric": 150.0, "arm join": np.inf}
"""Å; in wider systems of OH lines and water bands a line is measured: the noise of the file has what they cost."""
DETECTED = 5.0  # σ of a line that counts for a suggested redshift
CONTINUUM_ERROR = 0.02  # of the continuum, in the flux of a line
BROAD = 500.0  # km/s, FWHM of a quasar's lines, which absorption may cut into parts
OFFSET = 2500.0  # km/s between two broad lines of a quasar: C IV is often shifted to the blue
FITS = 5.0  # χ² per degree of freedom, below which the template of a star counts against a galaxy

ANCHORS = ("[O III] 5007", "Hα", "[O II] 3729", "Hβ", "[N II] 6583")
"""Lines that can be the strongest of a galaxy or H II region."""
QUASAR = {
    "Lyα": 1216.25,
    "C IV 1549": 1546.15,
    "C III] 1909": 1905.97,
    "Mg II 2796": 2800.26,
    "Hβ": 4862.68,
    "Hα": 6564.61,
}
"""Å, vacuum: where the peaks of a quasar's broad lines are on average (Vanden Berk et al. 2001 AJ 122, 549)."""
QUASAR_FAINT = (1240.14, 1398.33, 1637.84, 1664.74, 3728.48, 4341.68, 4960.30, 5008.24)
"""Å, vacuum, of that paper: N V, Si IV, He II, O III], [O II], Hγ, [O III]."""
OXYGEN = 2.98
"""Flux of [O III] 5007 over that of 4959 (Storey & Zeippen 2000 MNRAS 312, 813)."""
STRENGTHS = {
    "[O II]": (3727.1, 3729.9),
    "Hγ": (4341.7, 4341.7),
    "Hβ": (4862.7, 4862.7),
    "4959": (4960.3, 4960.3),
    "5007": (5008.2, 5008.2),
    "Hα": (6549.9, 6585.3),
    "[S II]": (6718.3, 6732.7),
}
"""Å, vacuum, at rest: the first and last line of what is measured together, Hα with [N II]."""


@dataclass(frozen=True)
class Peak:
    """An emission peak.

    :param wavelength: mean of the part above half its height, Å, in the medium and frame of the spectrum
    :param significance: of its flux above the continuum, in σ
    :param width: of the stretch above 3σ, km/s
    :param fwhm: km/s, not corrected for the instrument
    """

    wavelength: float
    significance: float
    width: float
    fwhm: float


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


class _Excess:
    """Flux above the running continuum (n,), its noise, and which pixels the sky or the atmosphere spoils."""

    def __init__(self, spectrum: Spectrum) -> None:
        seen = spectrum.ivar > 0
        self.continuum = running_continuum(spectrum)
        self.flux = np.where(seen, spectrum.flux - self.continuum, 0.0)
        noise = np.where(seen, 1.0 / np.sqrt(np.where(seen, spectrum.ivar, 1.0)), np.inf)
        scatter = 1.4826 * float(np.median(np.abs(self.flux[seen]))) / max(float(np.median(noise[seen])), 1e-300)
        self.noise = noise * max(1.0, scatter)
        self.seen = seen
        self.sky, self.deep_sky = _on_sky(spectrum)
        self.vacuum: FloatArray = np.asarray(convert(spectrum.wavelength, spectrum.medium, "vacuum"))
        self.step = np.gradient(spectrum.wavelength)

    def near(self, lo: float, half: float, hi: float = 0.0) -> tuple[float, float] | None:
        """Return flux and error within ``half`` km/s of a line, or of a blend from ``lo`` to ``hi`` (Å, vacuum,
        observed); None where the data do not show it.
        """
        beyond = half / SPEED_OF_LIGHT
        inside = (self.vacuum >= lo * (1.0 - beyond)) & (self.vacuum <= max(lo, hi) * (1.0 + beyond))
        good = inside & self.seen & ~self.deep_sky
        if good.sum() < PIXELS or good.sum() < 0.7 * inside.sum():
            return None
        flux = float((self.flux * self.step)[good].sum())
        below = CONTINUUM_ERROR * float(np.abs(self.continuum * self.step)[good].sum())
        return flux, float(np.hypot(np.sqrt(((self.noise * self.step)[good] ** 2).sum()), below))


def _peaks(spectrum: Spectrum, excess: _Excess) -> list[Peak]:
    """Return the emission peaks that are not on a sky line or telluric band, the strongest first."""
    wavelength, above, noise = spectrum.wavelength, excess.flux, excess.noise
    high = excess.seen & (above > 3.0 * noise) & (above > 0.05 * np.abs(excess.continuum))
    edges = np.flatnonzero(np.diff(np.concatenate(([0], high.view("i1"), [0]))))
    peaks = []
    for start, stop in edges.reshape(-1, 2):
        inside = slice(int(start), int(stop))
        top = int(start) + int(np.argmax(above[inside]))
        level = abs(float(np.median(excess.continuum[inside])))
        if stop - start < PIXELS or excess.sky[top] or above[top] < HEIGHT * level:
            continue
        low = np.flatnonzero(above[inside] <= above[top] / 2) + start
        first, last = max((*low[low < top] + 1, start)), min((*low[low > top], stop))
        half = slice(int(first), int(last))
        clear = ~excess.sky[inside]
        significance = float(above[inside][clear].sum() / np.sqrt((noise[inside][clear] ** 2).sum()))
        centre = float((wavelength[half] * above[half]).sum() / above[half].sum())
        width = float(wavelength[stop - 1] - wavelength[start]) / centre * SPEED_OF_LIGHT
        if significance >= STRONG and width < WIDEST:
            fwhm = float(excess.step[half].sum()) / centre * SPEED_OF_LIGHT
            peaks.append(Peak(centre, significance, width, fwhm))
    return sorted(peaks, key=lambda peak: -peak.significance)[:MOST_PEAKS]


def _on_sky(spectrum: Spectrum) -> tuple[BoolArray, BoolArray]:
    """Return which pixels (n,) are on a sky line or telluric band, and on a deep one: no wide system of OH or H₂O."""
    observed = spectrum.wavelength
    if spectrum.frame == "rest" and spectrum.redshift is not None:
        observed = observed * (1.0 + spectrum.redshift)
    hidden: BoolArray = np.zeros(observed.shape, dtype=bool)
    deep = hidden.copy()
    for band in sky_bands(spectrum.survey):
        lo, hi = band.window(spectrum.medium)
        inside = (observed >= lo) & (observed <= hi)
        hidden |= inside
        if band.hi - band.lo < DEEP_SKY[band.kind]:
            deep |= inside
    return hidden, deep


@lru_cache(maxsize=64)
def unexplained(spectrum: Spectrum) -> Unexplained | None:
    """Return the strongest emission peak that no line of the list explains; None if there is none.

    Cool stars have none: the flux between two bands resembles emission. The caller decides on them.
    """
    if (spectrum.ivar > 0).sum() < 50 or spectrum.sampling > COARSE:
        return None
    excess = _Excess(spectrum)
    z = 0.0 if spectrum.frame == "rest" else spectrum.redshift or 0.0
    peaks = _peaks(spectrum, excess)
    vacuum = np.array([convert(peak.wavelength, spectrum.medium, "vacuum") for peak in peaks])
    velocity = np.abs(vacuum[:, None] / (_places() * (1.0 + z)) - 1.0) * SPEED_OF_LIGHT
    unknown = [peak for peak, v in zip(peaks, velocity, strict=True) if v.min() > max(NEAR, 0.3 * peak.width)]
    if not unknown:
        return None
    if spectrum.frame == "rest":
        return Unexplained(unknown[0], unknown[0].wavelength * (1.0 + (spectrum.redshift or 0.0)), None)
    z, names = _redshift(spectrum, peaks, vacuum, excess, z)
    peak = next((peak for peak in unknown if names.get(peak)), unknown[0])
    others = tuple(sorted(other.wavelength for other, name in names.items() if name and other is not peak))
    suggestion = Suggestion(names[peak], z, others) if names.get(peak) and others else None
    return Unexplained(peak, peak.wavelength, suggestion)


@cache
def _places(nebular: bool = False) -> FloatArray:
    """Return the wavelengths (n,) of the lines that occur in emission, Å, vacuum, at rest.

    :param nebular: only hydrogen, helium, Mg II and forbidden lines, as galaxies have them
    """
    return np.array(
        [line.at("vacuum") for line in lines() if line.kind != "absorption" and (not nebular or _is_nebular(line))]
    )


def _is_nebular(line: Line) -> bool:
    return line.name.startswith("[") or line.species in ("H I", "He I", "He II", "Mg II")


def _explained(vacuum: FloatArray, peaks: Sequence[Peak], places: FloatArray, slack: float) -> float:
    """Return the part of the peaks' weight that lines at ``places`` explain with one velocity within ``slack`` km/s.

    A real system of lines has one velocity; lines that are near peaks by chance do not.
    """
    weight = np.array([min(peak.significance, MOST_WEIGHT) for peak in peaks])
    allowed = np.array([150.0 + 0.2 * min(peak.fwhm, 1500.0) for peak in peaks])
    velocity = (vacuum[:, None] / places - 1.0) * SPEED_OF_LIGHT
    shifts = np.arange(-slack, slack + 1.0, 100.0)
    explained = (np.abs(velocity - shifts[:, None, None]) < allowed[:, None]).any(axis=2)
    return float((explained @ weight).max() / weight.sum())


def _redshift(
    spectrum: Spectrum, peaks: Sequence[Peak], vacuum: FloatArray, excess: _Excess, z_now: float
) -> tuple[float, dict[Peak, str]]:
    """Return the one redshift that explains the peaks by lines of the right strengths, and the line on each peak (""
    for none); without such a redshift no peaks.
    """
    if len(peaks) < 2:
        return z_now, {}
    now = _explained(vacuum, peaks, _places() * (1.0 + z_now), 400.0)
    nebular = {line.name: line.at("vacuum") for line in lines() if _is_nebular(line)}
    systems = (
        (_galaxies(vacuum, peaks, excess, now), nebular, NEAR),
        (_quasars(vacuum, peaks, excess, now), QUASAR, OFFSET),
    )
    for redshifts, places, apart in systems:
        possible = [z for z in redshifts if z < LARGEST_Z and abs(z - z_now) > SMALLEST_Z * (1.0 + z) < z]
        z = float(np.median(possible)) if possible else 0.0
        if possible and np.ptp(possible) < SMALLEST_Z * (1.0 + z) and _templates_agree(spectrum, z, places is QUASAR):
            return z, {peak: _nearest(at / (1.0 + z), places, apart) for peak, at in zip(peaks, vacuum, strict=True)}
    return z_now, {}


def _nearest(at: float, places: Mapping[str, float], apart: float) -> str:
    name = min(places, key=lambda line: abs(places[line] - at))
    return name if abs(at / places[name] - 1.0) * SPEED_OF_LIGHT < apart else ""


def _galaxies(vacuum: FloatArray, peaks: Sequence[Peak], excess: _Excess, now: float) -> Iterator[float]:
    """Yield redshifts at which lines of galaxies explain the peaks, and have the strengths that atoms demand."""
    at_rest = {line.name: line.at("vacuum") for line in lines()}
    for at, peak in list(zip(vacuum, peaks, strict=True))[:3]:
        for name in ANCHORS:
            z = float(at / at_rest[name]) - 1.0
            part = _explained(vacuum, peaks, _places(nebular=True) * (1.0 + z), 200.0)
            if part >= max(EXPLAINED, now + FEWER) and _possible(excess, z, min(max(peak.fwhm, 250.0), 1000.0)):
                yield z


def _possible(excess: _Excess, z: float, fwhm: float) -> bool:
    """Return whether the fluxes of the strong lines are possible at this redshift, with three of them detected.

    [O III] 5007 is 2.98 times 4959, Hα at least 2 Hβ (recombination gives 2.9, dust more), Hβ above Hγ; the brightest
    is Hα, [O III] 5007 or [O II], or Hβ where the data have neither of the former.
    """
    stretch = 1.0 + z
    all_lines = {name: excess.near(lo * stretch, 1.2 * fwhm, hi * stretch) for name, (lo, hi) in STRENGTHS.items()}
    measured = {name: line for name, line in all_lines.items() if line is not None}

    def most(name: str) -> float:
        return measured[name][0] + 3.0 * measured[name][1] if name in measured else np.inf

    def least(name: str) -> float:
        return measured[name][0] - 3.0 * measured[name][1] if name in measured else -np.inf

    detected = [name for name, (flux, error) in measured.items() if flux > DETECTED * error]
    if len(detected) < 3 or not ({"4959", "5007"} <= set(detected) or len({"Hα", "Hβ", "Hγ"} & set(detected)) > 1):
        return False
    brightest = max(detected, key=lambda name: measured[name][0])
    return (
        brightest in ("Hα", "5007", "[O II]", *(() if {"Hα", "5007"} & set(detected) else ("Hβ",)))
        and OXYGEN * least("4959") < 1.3 * most("5007")
        and 0.7 * least("5007") < OXYGEN * most("4959")
        and 1.7 * least("Hβ") < most("Hα")
        and 1.4 * least("Hγ") < most("Hβ")
    )


def _quasars(vacuum: FloatArray, peaks: Sequence[Peak], excess: _Excess, now: float) -> Iterator[float]:
    """Yield redshifts at which two broad lines of quasars are on peaks, and such lines explain those redward of Lyα."""
    places = np.array([*QUASAR.values(), *QUASAR_FAINT])
    weight = np.array([min(peak.significance, MOST_WEIGHT) for peak in peaks])
    broad = sorted(at for at, peak in zip(vacuum, peaks, strict=True) if peak.fwhm > BROAD)
    for (first, second), (bluer, redder) in product(combinations(broad, 2), combinations(QUASAR, 2)):
        z = float(second / QUASAR[redder]) - 1.0  # the forest of absorption shifts Lyα
        blue, red = (excess.near(QUASAR[name] * (1.0 + z), OFFSET) for name in (bluer, redder))
        if abs(first / QUASAR[bluer] / (1.0 + z) - 1.0) * SPEED_OF_LIGHT > OFFSET or blue is None or red is None:
            continue
        if bluer in ("Lyα", "C IV 1549") and blue[0] < red[0]:
            continue  # Lyα is brighter than C IV, which is brighter than C III]
        near = (np.abs(vacuum[:, None] / (places * (1.0 + z)) - 1.0) * SPEED_OF_LIGHT < OFFSET).any(axis=1)
        seen = vacuum > QUASAR["Lyα"] * (1.0 + z)
        if (near & seen) @ weight >= max(EXPLAINED, now + FEWER) * (seen @ weight):
            yield z


def _templates_agree(spectrum: Spectrum, z: float, quasar: bool) -> bool:
    """Return whether no star fits, or a template of a galaxy or quasar at the new redshift fits better; for a quasar
    it must, as its lines have no fixed ratios. One template of each class of stars is enough, and fast.
    """
    library = bundled()
    of_class = {template.about.kind: place for place, template in enumerate(library.templates)}
    left_out = [
        place
        for place, template in enumerate(library.templates)
        if template.about.kind not in EXTRAGALACTIC and of_class[template.about.kind] != place
    ]
    best: dict[bool, float] = {}
    for match in rank(replace(spectrum, redshift=z), library, left_out):
        best.setdefault(library.templates[match.place].about.kind in EXTRAGALACTIC, match.reduced_chi2)
    if len(best) < 2:
        return not quasar
    return best[True] < best[False] or (not quasar and best[False] > FITS)
