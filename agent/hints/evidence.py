"""What the data say about a line or a molecule: a verdict with the measurement behind it.

The bounds below were chosen on one half of a collection of labelled real spectra (tests/benchmarks/hints.py);
docs/hints.md has precision and recall on the other half. A hint and a claim use the same verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np

from agent.language import deferred, joined
from agent.lines import Line, lines
from agent.measure import COARSE, Measured, Undefined, has_bands, measure_feature, rest, signal_to_noise
from agent.measure.blends import LineMeasurement, flattened, measure_line, region_around
from agent.measure.molecules import MoleculeEvidence, is_cool, molecule
from agent.measure.peaks import TwoMaxima, two_maxima
from agent.measure.pixels import FloatArray
from agent.measure.profile import SPEED_OF_LIGHT
from agent.spectrum import Spectrum
from agent.tasks import Feature
from agent.templates.continuum import pseudo_continuum

LOW_SNR = 5.0  # per pixel; below it a single pixel's dip is noise as likely as not
OFF_CENTRE = 300.0  # km/s from the line's rest wavelength; a broad line may be off by 0.15 FWHM, up to 600 km/s
SHALLOW_EMISSION = 0.05  # of the continuum: below it flux calibration makes such bumps
SHALLOW_FORBIDDEN = 0.1  # wind lines of hot stars lie where forbidden lines do (C II 6578, 6583 on [N II] 6583)
SHALLOW_ABSORPTION = 0.03
BROAD = 2500.0  # km/s; the stretch between two absorption lines resembles broad, shallow emission
SHALLOW_BROAD = (0.5, 0.1)  # least height in emission and depth in absorption of a line that broad
TOO_BROAD = 8000.0
IN_A_COOL_STAR = (0.3, 1.0)  # least height of emission, of hydrogen and Ca II, and of other lines
BROAD_IN_A_COOL_STAR = 3.0  # least height of emission of more than 1000 km/s
CALIBRATION = 10.0
"""km/s, added in quadrature to each velocity before velocities are compared: the typical error of a survey's
wavelength scale and of line positions in blends."""
ONE_STAR = 100.0  # km/s between absorption lines of a star, besides a tenth of the FWHM and 2σ
BROADEST_IN_A_COOL_STAR = 600.0  # km/s, FWHM of hydrogen in absorption
LIMIT = 0.1  # of the continuum: a line of 3σ below this depth is called absent

State = Literal["emission", "absorption", "none", "undecided", "undefined"]

_OF_DISCS = ("H I", "He I", "He II")  # species whose lines have two maxima in a disc
_STRONG = ("Hα", "Hβ", "[O III] 5007", "[O III] 4959")  # lines whose common velocity tells that z is wrong
_OF_COOL_STARS = (
    *("Ba II", "Ca I", "Ca II", "Fe I", "Fe II", "K I", "Li I", "Mg I", "Na I", "Si II", "Sr II", "Tc I"),
    "interstellar",
)
"""Species whose lines the template of a cool star has itself; the others stand on the curve that follows its bands."""
_CHROMOSPHERIC = ("H I", "Ca II")  # species that cool stars have in emission
HOT = ("He I", "He II", "Mg II", "N III", "C III", "C III / N III", "C IV", "Si IV", "N IV", "N V")
SAME_LINE = 1.5  # Å between a feature of a task and the line of the list that it is
_SAME_VELOCITY = 150.0  # km/s within which two lines of an ion confirm each other, where z is unknown
_PLACING = (
    *("Hα", "Hβ", "Hγ", "Hδ", "He I 4471", "He I 5876", "He I 6678", "He II 4686", "He II 5412"),
    *("[O III] 4959", "[O III] 5007", "[S II] 6716", "[S II] 6731"),
    *("Ca II K", "Ca II H", "Ca II 8498", "Ca II 8542", "Mg b1", "Mg b2"),
)
_NEARER = 30.0  # km/s by which a peak has to be nearer to a line than to one that is alike
_LEADING = {
    "emission": {
        "H I": ("Hα", "Hβ", "Hγ"),
        "He I": ("He I 5876", "He I 6678", "He I 7065"),
        "He II": ("He II 4686",),
        "[O III]": ("[O III] 5007", "[O III] 4959"),
    },
    "absorption": {"H I": ("Hγ", "Hδ"), "He II": ("He II 4686",), "Na I": ("Na D2", "Na D1")},
}
"""The strongest lines of an ion: where they are covered and not there, a weaker line of the ion is another feature. In
absorption winds and chromospheres fill Hα and Hβ, so that Hγ and Hδ lead."""
_OF_THE_STAR = (
    *("Hα", "Hβ", "Mg b1", "Mg b2"),
    *("Ca II K", "Ca II H", "Na D1", "Na D2", "DIB 4428", "DIB 5780", "DIB 5797", "DIB 6284"),
)
"""Lines that give the velocity of a star, and interstellar ones, which do not have it."""
_FILLED = ("Hα", "Hβ")  # lines that may be in absorption without those that lead
_STRONG_EMISSION = 2.0  # height in units of the continuum
_CA_H_OF_K = (0.35, 0.75)  # EW of K over that of the blend at H: below, it is Hε; above, it is Ca II H


@dataclass(frozen=True)
class LineEvidence:
    """Whether a line is there: ``state`` "none" needs an upper limit; ``reason`` says why it is not decided.

    ``off_centre``: there is a line, but its velocity is not one that is expected. ``alike``: lines of other atoms that
    cannot be told from it.
    """

    line: Line
    state: State
    reason: str
    measurement: LineMeasurement | Undefined
    off_centre: bool = False
    alike: tuple[str, ...] = ()

    @property
    def detection(self) -> LineMeasurement | None:
        """The measurement, if the line is in emission or absorption beyond doubt."""
        if isinstance(self.measurement, Undefined) or self.state not in ("emission", "absorption"):
            return None
        return self.measurement


class Evidence:
    """Lazy measurements of one spectrum at rest; each line and molecule is measured once."""

    def __init__(self, at_rest: Spectrum) -> None:
        self.spectrum = at_rest
        self._measured: dict[str, LineMeasurement | Undefined] = {}
        self._features: dict[Feature, Measured | Undefined] = {}
        self._lines: dict[str, LineEvidence] = {}
        self._molecules: dict[str, MoleculeEvidence | None] = {}
        self._maxima: dict[str, TwoMaxima | Undefined | None] = {}

    @cached_property
    def cool(self) -> bool:
        """Whether molecular bands or Mg b show a cool star."""
        return is_cool(self.spectrum)

    @cached_property
    def banded(self) -> bool:
        """Whether molecules shape the continuum."""
        return has_bands(self.spectrum)

    @cached_property
    def between_absorption(self) -> bool:
        """Whether Hβ or Hγ is a broad absorption line: the continuum between two such lines resembles
        emission.
        """
        measurements = (self.measured(line) for line in lines() if line.name in ("Hβ", "Hγ"))
        return any(
            isinstance(m, LineMeasurement) and m.stands_out and not m.emission and m.fwhm.value > BROAD
            for m in measurements
        )

    @cached_property
    def offset(self) -> float:
        """Velocity in km/s that the strong narrow emission lines have in common, if it is not near 0; otherwise 0.

        The redshift is unknown or slightly wrong then, and a line elsewhere is another line.
        """
        peaks = (_peak(self.spectrum, line) for line in lines() if line.name in _STRONG)
        velocities = sorted(v for v in peaks if v is not None)
        middle = velocities[len(velocities) // 2] if len(velocities) > 1 else 0.0
        agreeing = sum(abs(v - middle) < OFF_CENTRE / 2 for v in velocities)
        return middle if agreeing > 1 and abs(middle) > OFF_CENTRE else 0.0

    def measured(self, line: Line) -> LineMeasurement | Undefined:
        """Return the measurement of a line, without a verdict."""
        if line.name not in self._measured:
            continuum = None if line.species in _OF_COOL_STARS else self.pseudo_continuum
            self._measured[line.name] = measure_line(self.spectrum, line, self.offset, continuum)
        return self._measured[line.name]

    @cached_property
    def pseudo_continuum(self) -> FloatArray | None:
        """The curve (n,) that follows the bands of a star with molecules; None for another one."""
        return pseudo_continuum(self.spectrum) if self.banded else None

    def follows_bands(self, feature: Feature) -> bool:
        """Whether a feature of a task is measured against the curve that follows the bands: a line, in such a star,
        that cool stars do not have by themselves.
        """
        return self._line_on_bands(feature) is not None

    def _line_on_bands(self, feature: Feature) -> Line | None:
        if feature.kind != "line" or feature.quantity not in ("equivalent_width", "fwhm"):
            return None
        near = [line for line in lines() if abs(line.at(feature.medium) - feature.wavelengths[0]) < SAME_LINE]
        line = near[0] if near and near[0].species not in _OF_COOL_STARS else None
        return None if line is None or self.pseudo_continuum is None else line

    def feature(self, feature: Feature) -> Measured | Undefined:
        """Measure a feature of a task: as ``measure_feature``, and a line on the same continuum as ``measured``."""
        if feature not in self._features:
            self._features[feature] = self._measured_feature(feature)
        return self._features[feature]

    def _measured_feature(self, feature: Feature) -> Measured | Undefined:
        line, curve = self._line_on_bands(feature), self.pseudo_continuum
        if line is None or curve is None:
            return measure_feature(self.spectrum, feature)
        if line.species != "H I" and self.line(line).detection is None:
            return Undefined(deferred("among molecular bands {name} is not certain", name=line.name))
        return measure_feature(flattened(self.spectrum, line, curve), feature)

    @cached_property
    def in_strong_emission(self) -> bool:
        """Whether Hα, Hβ or [O III] stands far above the continuum: what lies between two such lines resembles broad
        absorption.
        """
        measurements = (self.measured(line) for line in lines() if line.name in _STRONG)
        return any(
            isinstance(m, LineMeasurement)
            and m.stands_out
            and isinstance(m.depth, Measured)
            and -m.depth.value > _STRONG_EMISSION
            for m in measurements
        )

    @cached_property
    def velocity(self) -> float | None:
        """The velocity in km/s that two of Hα, Hβ and Mg b have in common in absorption; None without two."""
        detected = [self.named(name).detection for name in ("Hα", "Hβ", "Mg b1", "Mg b2")]
        at = [d.velocity.value for d in detected if d is not None and not d.emission]
        return at[0] if len(at) > 1 and abs(at[0] - at[1]) < ONE_STAR else None

    @cached_property
    def placed(self) -> bool:
        """Whether the lines are where the redshift puts them: bands of a molecule, or two lines of an ion, or of
        hydrogen and neutral helium, at one velocity. Where no redshift is known, a single line can be another one that
        is shifted there.
        """
        if self.banded:
            return True
        velocities: dict[str, list[float]] = {}
        for name in _PLACING:
            detected = self.named(name).detection
            if detected is None:
                continue
            if any(companion.name.startswith("[") for companion in detected.companions):
                return True  # fitted at the same velocity
            # Hydrogen and neutral helium are both strong wherever one is: a disc, a hot star, a nebula.
            ion = "H I" if detected.line.species == "He I" else detected.line.species
            here = detected.velocity.value
            if any(abs(here - other) < _SAME_VELOCITY for other in velocities.get(ion, ())):
                return True
            velocities.setdefault(ion, []).append(here)
        return False

    def line(self, line: Line) -> LineEvidence:
        """Return the verdict on a line."""
        if line.name not in self._lines:
            self._lines[line.name] = self._judged(line)
        return self._lines[line.name]

    def named(self, name: str) -> LineEvidence:
        """Return the evidence on the line of that name in the list."""
        return self.line(next(line for line in lines() if line.name == name))

    def molecule(self, species: str) -> MoleculeEvidence | None:
        """Return what the indices say about a molecule; None for a molecule without a rule."""
        if species not in self._molecules:
            self._molecules[species] = molecule(self.spectrum, species)
        return self._molecules[species]

    def two_maxima(self, line: Line) -> TwoMaxima | Undefined | None:
        """Return the two maxima of a line that is in emission beyond doubt; None where it has one or is not there."""
        if line.name not in self._maxima:
            measured = self.line(line).detection
            in_a_disc = measured is not None and measured.emission and line.species in _OF_DISCS
            self._maxima[line.name] = (
                two_maxima(self.spectrum, line, measured, self.pseudo_continuum) if in_a_disc else None
            )
        return self._maxima[line.name]

    def _lonely(self, measured: LineMeasurement) -> str:
        """Return that the strongest lines of the ion are not there, which a weaker one needs; "" if it is not so."""
        line, sign = measured.line, "emission" if measured.emission else "absorption"
        leading = _LEADING[sign].get(line.species, ())
        if not leading or line.name in leading or (sign == "absorption" and line.name in _FILLED):
            return ""
        states = [self.named(name).state for name in leading]
        if sign in states or all(state == "undefined" for state in states):
            return ""
        names = ", ".join(leading)
        if measured.emission:
            return deferred("{names}, which would be stronger, cannot be seen in emission", names=names)
        return deferred("{names}, which would be stronger, cannot be seen in absorption", names=names)

    @cached_property
    def coarse(self) -> str:
        """Why no line can be judged in a spectrum that is sampled too coarsely; "" if it is not."""
        step = self.spectrum.sampling
        return deferred("sampled every {step:.0f} Å: lines cannot be judged", step=step) if step > COARSE else ""

    def _judged(self, line: Line) -> LineEvidence:
        if self.coarse:
            return LineEvidence(line, "undefined", self.coarse, Undefined(self.coarse))
        measured = self.measured(line)
        if isinstance(measured, Undefined):
            return LineEvidence(line, "undefined", measured.reason, measured)
        if not measured.stands_out:
            limit = _limit(measured)
            if limit is not None and limit < LIMIT:
                return LineEvidence(
                    line,
                    "none",
                    deferred("nothing deeper than {limit:.0f} % of the continuum", limit=100 * limit),
                    measured,
                )
            return LineEvidence(line, "undecided", deferred("not above the scatter of its neighbourhood"), measured)
        centre_doubt = "" if measured.at_limit else _off_centre(measured, self)
        doubt = centre_doubt or _doubt(measured, self)
        alike: tuple[str, ...] = ()
        if not doubt:
            doubt = self._lonely(measured)
        if not doubt:
            doubt, alike = _of_another_atom(measured, self)
        if not doubt and not measured.emission:
            centre = line.at(self.spectrum.medium)
            snr = signal_to_noise(self.spectrum, (centre * 0.99, centre * 1.01))
            doubt = (
                deferred("S/N below {least:g} per pixel", least=LOW_SNR)
                if isinstance(snr, Undefined) or abs(snr) < LOW_SNR
                else ""
            )
        if doubt:
            return LineEvidence(line, "undecided", doubt, measured, off_centre=bool(centre_doubt))
        return LineEvidence(line, "emission" if measured.emission else "absorption", "", measured, alike=alike)


@lru_cache(maxsize=64)
def evidence(at_rest: Spectrum) -> Evidence:
    """Return the evidence on a spectrum at rest, from a small cache."""
    return Evidence(at_rest)


@lru_cache(maxsize=64)
def at_rest(spectrum: Spectrum, z: float) -> Spectrum:
    """Return the spectrum at rest, the same object each time, so that its evidence is measured once."""
    return rest(spectrum, z)


def _peak(spectrum: Spectrum, line: Line) -> float | None:
    """Return the velocity in km/s of a strong emission peak within 1500 km/s of a line: the centroid of the flux above
    half its height, which for two maxima is their middle. None if nothing is 15 times above the scatter.
    """
    region = region_around(spectrum, line.at(spectrum.medium), 1500.0)
    if region is None:
        return None
    above = region.flux - np.median(region.flux)
    scatter = 1.4826 * float(np.median(np.abs(above)))
    high = above > above.max() / 2
    if scatter <= 0 or above.max() < 15 * scatter:
        return None
    return float((region.velocity[high] * above[high]).sum() / above[high].sum())


def _limit(measured: LineMeasurement) -> float | None:
    """Return |depth| + 3σ, in emission or absorption, as a fraction of the continuum; None without a continuum."""
    if isinstance(measured.depth, Undefined) or measured.depth.value == 0:
        return None
    per_flux = abs(measured.depth.value / measured.amplitude.value)
    noise = max(measured.amplitude.error, measured.structure) * per_flux
    return abs(measured.depth.value) + 3.0 * noise


def _off_centre(measured: LineMeasurement, data: Evidence) -> str:
    """Return how far the centre is from the line where that, or the distance to other lines' velocity, is too much;
    "" where it is not.
    """
    width, line = measured.fwhm.value, measured.line
    allowed = min(600.0, max(OFF_CENTRE, 0.15 * width))
    if width > TOO_BROAD or abs(measured.velocity.value - data.offset) - 2 * measured.velocity.error <= allowed:
        return ""
    values = {"velocity": measured.velocity.value, "name": line.name}
    if measured.emission:
        text = deferred("the nearest peak is at {velocity:+.0f} km/s, too far away to be {name}", **values)
    else:
        text = deferred("the nearest dip is at {velocity:+.0f} km/s, too far away to be {name}", **values)
    if data.offset:
        text = joined((text, deferred("other lines are at {offset:+.0f} km/s", offset=data.offset)), ", ")
    return text


def _of_another_atom(measured: LineMeasurement, data: Evidence) -> tuple[str, tuple[str, ...]]:
    """Return why the feature is a line of another atom ("" if it is not), and the lines that it cannot be told from."""
    line = measured.line
    if line.name in ("Ca II H", "Hε"):
        photosphere = data.cool and not measured.emission and line.species == "Ca II"
        return ("", ()) if photosphere else _calcium_or_hydrogen(measured, data)
    known = {other.name: other for other in lines()}
    inseparable = []
    for name in line.alike:
        if name not in known:
            inseparable += [] if measured.emission else [name]
            continue
        other = known[name]
        if other.kind == ("absorption" if measured.emission else "emission"):
            continue
        medium = data.spectrum.medium
        away = (other.at(medium) / line.at(medium) - 1.0) * SPEED_OF_LIGHT
        own, others = (abs(measured.velocity.value - data.offset - at) for at in (0.0, away))
        margin = _NEARER + 2.0 * measured.velocity.error
        if others + margin < own:
            return deferred("it is nearer to {other}", other=name), ()
        if own + margin > others:
            inseparable.append(name)
    return "", tuple(inseparable)


def _calcium_or_hydrogen(measured: LineMeasurement, data: Evidence) -> tuple[str, tuple[str, ...]]:
    """Tell Ca II H from Hε, 120 km/s apart, by Ca II K, which is up to twice as strong as H."""
    other = "Hε" if measured.line.name == "Ca II H" else "Ca II H"
    k_line = data.named("Ca II K").detection
    here = measured.width
    if k_line is None or k_line.emission is not measured.emission:
        share = 0.0
    elif isinstance(k_line.width, Undefined) or isinstance(here, Undefined) or here.value == 0.0:
        return "", (other,)
    else:
        share = k_line.width.value / here.value
    if share < _CA_H_OF_K[0]:
        return (deferred("without Ca II K as strong, it is {name}", name=other), ()) if other == "Hε" else ("", ())
    if share > _CA_H_OF_K[1]:
        return (deferred("Ca II K is as strong, so it is {name}", name=other), ()) if other == "Ca II H" else ("", ())
    return "", (other,)


def _doubt(measured: LineMeasurement, data: Evidence) -> str:
    """Return why a significant feature is still not the line beyond doubt; empty if it is."""
    line, width = measured.line, measured.fwhm.value
    depth = None if isinstance(measured.depth, Undefined) else abs(measured.depth.value)
    if measured.at_limit:
        return deferred(
            "the nearest peak is farther than {far:.0f} km/s from {name}",
            far=abs(measured.velocity.value),
            name=line.name,
        )
    if width > TOO_BROAD:
        return deferred("broader than {most:.0f} km/s: more likely the continuum between two lines", most=TOO_BROAD)
    return (
        _doubt_in_emission(measured, depth, data) if measured.emission else _doubt_in_absorption(measured, depth, data)
    )


def _doubt_in_emission(measured: LineMeasurement, depth: float | None, data: Evidence) -> str:
    line, width = measured.line, measured.fwhm.value
    if line.kind == "absorption":
        return deferred("{name} is not expected in emission: another line, or the sky", name=line.name)
    if depth is None:
        return ""
    least = SHALLOW_FORBIDDEN if line.name.startswith("[") else SHALLOW_EMISSION
    if depth < least:
        return deferred(
            "a rise of {depth:.0f} % of the continuum: flux calibration leaves such bumps", depth=100 * depth
        )
    if width > BROAD and depth < SHALLOW_BROAD[0]:
        return deferred("broad and shallow: more likely the continuum between two absorption lines")
    if width > BROAD and data.between_absorption:
        return deferred("the hydrogen lines are broad absorption: it can be the continuum between them")
    if data.between_absorption and depth < IN_A_COOL_STAR[0] and line.name not in _STRONG:
        return deferred("the hydrogen lines are broad absorption: it can be the continuum between them")
    if data.cool:
        least = IN_A_COOL_STAR[0 if line.species in _CHROMOSPHERIC else 1]
        broad = width > 1000 and depth < (IN_A_COOL_STAR[1] if measured.along_bands else BROAD_IN_A_COOL_STAR)
        if depth < least or broad:
            return deferred("in a cool star it can be the flux between two bands")
    return ""


def _doubt_in_absorption(measured: LineMeasurement, depth: float | None, data: Evidence) -> str:
    line, width = measured.line, measured.fwhm.value
    if line.kind == "emission":
        return deferred("{name} does not occur in absorption", name=line.name)
    if depth is None:
        return deferred("there is no continuum")
    if depth < SHALLOW_ABSORPTION:
        return deferred("a dip of {depth:.0f} % of the continuum: flux calibration leaves such dips", depth=100 * depth)
    if depth > 1.05:
        return deferred("deeper than the continuum")
    if width > BROAD and depth < SHALLOW_BROAD[1]:
        return deferred("broad and shallow: more likely a wave of the continuum")
    if line.name not in _OF_THE_STAR and data.velocity is not None:
        away = abs(measured.velocity.value - data.velocity)
        if away - 2 * measured.velocity.error > ONE_STAR + 0.1 * width:
            return deferred(
                "it is {away:.0f} km/s from the star's own velocity: more likely a line of another atom", away=away
            )
    if width > 1000 and data.in_strong_emission:
        return deferred("among strong emission lines it can be the continuum between two of them")
    if data.banded and line.species == "H I" and width > BROADEST_IN_A_COOL_STAR:
        return deferred("in a cool star hydrogen lines are narrower: more likely a blend of metal lines or a band")
    if data.banded and line.species == "H I" and line.name not in _FILLED:
        return deferred("in a star with molecular bands it is a blend of metal lines, not {species}", species="H I")
    if data.cool and line.species in HOT:
        return deferred("in a cool star it is a blend of metal lines or a band, not {species}", species=line.species)
    return ""
