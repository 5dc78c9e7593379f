"""The baseline's rule: a scorecard per class, with points for each feature of its task file.

The answer is YES if the sum, with the class's ``start``, is above 0 and one primary feature is present: what a spectrum
lacks is no evidence for a class. Points are natural-log odds, stored in
``scorecards.toml`` and, of what catalogues tell, ``sky_scorecards.toml``, which name the commands that fitted them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from weakref import WeakKeyDictionary

from agent.hints.evidence import at_rest, evidence
from agent.language import deferred
from agent.measure import COARSE, Measured, Undefined, rest, signal_to_noise
from agent.measure.values import number
from agent.sky.context import for_agent
from agent.sky.facts import SKY_QUANTITIES, facts_of
from agent.sky.records import Sky
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.tasks.values import Quantity, SkyFeature, SkyQuantity
from agent.trajectory.steps import Verdict

FILE = Path(__file__).with_name("scorecards.toml")
SKY_FILE = FILE.with_name("sky_scorecards.toml")


AnyFeature = TypeVar("AnyFeature", Feature, SkyFeature)


@dataclass(frozen=True)
class Points:
    """The points that a feature adds to the sum if it is certainly present, and if it is certainly absent.

    Nothing that is absent speaks for the class: a confuser that is absent adds 0. A primary or secondary feature that
    is present never counts against the class, nor a confuser for it.
    """

    present: float
    absent: float


PLAIN: Mapping[str, Points] = MappingProxyType(
    {"primary": Points(2.0, -2.0), "secondary": Points(1.0, -0.5), "confuser": Points(-2.0, 0.0)}
)
"""Points by role for a task that has no scorecard."""

DECIDES = 1.0
"""Log odds from which an answer is none of chance: the margin of ``agent.consensus.Limits``."""
MIN_SNR = 3.0
"""Median S/N per pixel below which the absence of a feature is no reason for NO."""

_TOLERANCE = {"equivalent_width": 0.3, "fwhm": 60.0, "depth": 0.015, "ratio": 0.015, "slope": 0.2, "roughness": 0.003}
_RELATIVE_TOLERANCE = 0.1
_WIDEST_TOLERANCE = 0.4
"""The widest tolerance, as a fraction of the distance from no feature at all to its bound: what is measured to be
nothing must not be within reach of the bound.
"""
_NOTHING = {"ratio": 1.0}
"""What is measured where there is no feature, if it is not 0."""
_SKY_TOLERANCE: Mapping[str, float] = {
    **dict.fromkeys(SKY_QUANTITIES, 0.5),
    **dict.fromkeys(("bp_rp", "g_w1", "ruwe"), 0.1),
    **dict.fromkeys(("j_k", "w1_w2"), 0.05),
    "variability": 0.01,
    "tangential_velocity": 10.0,
}
"""The same of a quantity from catalogues: dust, binaries, variability between the epochs. An error of 0 is unknown."""


@dataclass(frozen=True)
class Scorecard:
    """The points of one task. ``start`` is the sum before anything is measured."""

    start: float
    points: Mapping[str, Points]

    def of(self, feature: Feature | SkyFeature) -> Points:
        """Return the points of a feature; those of its role if the card does not list it."""
        plain = PLAIN[feature.role]
        if feature.quantity == "absolute_magnitude_limit":  # a limit that excludes nothing says nothing
            plain = replace(plain, absent=0.0)
        return self.points.get(feature.name, plain)


@dataclass(frozen=True)
class Weighed:
    """One feature as measured. ``presence`` (0 to 1) is None, and ``points`` 0, if nothing could be measured.

    ``counted`` (0 to 1) is the probability that the feature that this one requires is present, and that it counts at
    all; 1 if it requires none.
    """

    feature: Feature | SkyFeature
    measured: Measured | Undefined
    presence: float | None
    points: float
    counted: float = 1.0

    @property
    def certainty(self) -> float:
        """Probability that the feature is present and counts; 0 if it could not be measured."""
        return (self.presence or 0.0) * self.counted


@dataclass(frozen=True)
class Finding(Weighed):
    """A feature of the spectrum."""

    feature: Feature


@dataclass(frozen=True)
class SkyFinding(Weighed):
    """What catalogues tell."""

    feature: SkyFeature


@dataclass(frozen=True)
class Assessment:
    """Every feature of a task, measured in one spectrum and, with records, in catalogues, and the sum of points."""

    findings: tuple[Finding, ...]
    start: float
    sky: tuple[SkyFinding, ...] = ()

    @property
    def weighed(self) -> tuple[Weighed, ...]:
        return (*self.findings, *self.sky)

    @property
    def total(self) -> float:
        """The start and the points of all features."""
        return self.start + sum(f.points for f in self.weighed)

    @property
    def shown(self) -> bool:
        """Whether a primary feature is probably present, without which the answer cannot be YES."""
        return any(f.feature.role == "primary" and f.certainty > 0.5 for f in self.weighed)

    @property
    def score(self) -> float:
        """The log odds of YES: the total, at most 0 where no primary feature is present."""
        return self.total if self.shown else min(self.total, 0.0)

    @property
    def verdict(self) -> Verdict:
        """YES if the score is above 0."""
        return "YES" if self.score > 0 else "NO"

    @property
    def measured(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.presence is not None)


_assessed: WeakKeyDictionary[Spectrum, tuple[Task, Assessment]] = WeakKeyDictionary()
"""The last assessment of each spectrum that is in use: every turn of an inspection asks for the same one."""


def assess(spectrum: Spectrum, task: Task, sky: Sky | None = None) -> Assessment:
    """Measure every feature of ``task`` in ``spectrum`` (rest frame by its own redshift) and add up the
    points.

    :param sky: records of the object; None: what catalogues tell is left out
    """
    before = _assessed.get(spectrum)
    if before is None or before[0] is not task:
        before = _assessed[spectrum] = task, _measured(spectrum, task)
    return before[1] if sky is None else replace(before[1], sky=_of_sky(sky, spectrum, task))


def _measured(spectrum: Spectrum, task: Task) -> Assessment:
    card = scorecards().get(task.key, Scorecard(0.0, {}))
    data = evidence(at_rest(spectrum, spectrum.redshift or 0.0))
    measured = {f.name: data.feature(f) for f in task.features}
    findings = [
        Finding(feature.in_medium(spectrum.medium), measured[feature.name], here, points, counted)
        for feature, here, points, counted in _weighed(task.features, measured, card)
    ]
    return Assessment(tuple(findings), card.start)


def _of_sky(sky: Sky, spectrum: Spectrum, task: Task) -> tuple[SkyFinding, ...]:
    quantities = facts_of(for_agent(sky), spectrum).quantities
    measured = {f.name: quantities[f.quantity] for f in task.sky}
    card = scorecards(SKY_FILE).get(task.key, Scorecard(0.0, {}))
    return tuple(
        SkyFinding(feature, measured[feature.name], here, points, counted)
        for feature, here, points, counted in _weighed(task.sky, measured, card)
    )


def _weighed(
    features: Sequence[AnyFeature], measured: Mapping[str, Measured | Undefined], card: Scorecard
) -> Iterator[tuple[AnyFeature, float | None, float, float]]:
    """Yield each feature with its presence, its points, and how far it counts."""
    present = {f.name: _presence_or_none(f, measured[f.name]) for f in features}
    required_by = {f.name: f.requires for f in features}
    for feature in features:
        counted, required = 1.0, feature.requires
        while required is not None:
            counted *= present[required] or 0.0
            required = required_by[required]
        points, here = 0.0, present[feature.name]
        if here is not None:
            worth = card.of(feature)
            share = share_present(feature, here)
            points = counted * (worth.present * share + worth.absent * (1 - share))
        yield feature, here, points, counted


def cannot_tell(assessment: Assessment, spectrum: Spectrum) -> str:
    """Return why the data allow no answer, as a clause; "" if they do.

    A primary feature that is present is an answer. NO is none if no primary feature can be measured and no confuser is
    present, if the sampling is too coarse for lines that decide, or if the S/N is below ``MIN_SNR``: then it would only
    mean that nothing can be seen. What catalogues tell needs no S/N: a NO is one if that alone counts ``DECIDES``
    against the class.
    """
    if assessment.verdict == "YES" or not assessment.findings or sum(f.points for f in assessment.sky) <= -DECIDES:
        return ""
    primary = [f for f in assessment.findings if f.feature.role == "primary"] or list(assessment.findings)
    missing = [f for f in primary if f.presence is None]
    confused = any(f.certainty > 0.5 and f.feature.role == "confuser" for f in assessment.findings)
    if len(missing) == len(primary) and not confused:
        return deferred("no primary feature can be measured: {missing}", missing=unmeasured(missing))
    if missing and rest(spectrum).sampling > COARSE:
        return deferred("the sampling hides what decides: {missing}", missing=unmeasured(missing))
    snr = signal_to_noise(spectrum, (float(spectrum.wavelength[0]), float(spectrum.wavelength[-1])))
    if isinstance(snr, float) and snr < MIN_SNR:
        return deferred(
            "the S/N is {snr} per pixel; a NO needs {min_snr:g} or more", snr=number(snr, 1), min_snr=MIN_SNR
        )
    return ""


def unmeasured(findings: Sequence[Weighed]) -> str:
    """List the features that could not be measured, those with one reason together: "Hα, Hβ (no data); ..."."""
    names: dict[str, list[str]] = {}
    for finding in findings:
        if isinstance(finding.measured, Undefined):
            names.setdefault(finding.measured.reason, []).append(finding.feature.name)
    return "; ".join(f"{', '.join(some)} ({reason})" for reason, some in names.items())


def _presence_or_none(feature: Feature | SkyFeature, measured: Measured | Undefined) -> float | None:
    return None if isinstance(measured, Undefined) else presence(feature, measured)


def presence(feature: Feature | SkyFeature, measured: Measured) -> float:
    """Return the probability that the true value lies between the feature's bounds.

    Gaussian with the measured error, widened by a tolerance for what errors from ivar do not include (resolution,
    flux calibration, choice of continuum). A feature adds its points for present times this probability and its
    points for absent times the rest; a feature outside the data adds nothing.
    """
    probability = 1.0
    for bound, side in ((feature.above, 1), (feature.below, -1)):
        if bound is not None:
            sigma = math.hypot(measured.error, tolerance(feature.quantity, bound))
            probability *= 0.5 * (1 + math.erf(side * (measured.value - bound) / (sigma * math.sqrt(2))))
    return probability


def share_present(feature: Feature | SkyFeature, presence: float) -> float:
    """Return the share of the points for *present* that a feature gets; the rest is that of its points for *absent*.

    A confuser counts from even odds on: one that is probably absent does not speak against the class at all.
    """
    return max(0.0, 2 * presence - 1) if feature.role == "confuser" else presence


def tolerance(quantity: Quantity | SkyQuantity, bound: float) -> float:
    """Return by how much a value may be off its bound for reasons that its error does not include, in its unit."""
    if quantity in _SKY_TOLERANCE:
        return _SKY_TOLERANCE[quantity]
    distance = abs(bound - _NOTHING.get(quantity, 0.0))
    widest = _WIDEST_TOLERANCE * distance or _TOLERANCE[quantity]
    return min(_TOLERANCE[quantity] + _RELATIVE_TOLERANCE * distance, widest)


@cache
def scorecards(file: Path = FILE) -> Mapping[str, Scorecard]:
    """Return the scorecards that come with the program, by task."""
    with file.open("rb") as opened:
        read = tomllib.load(opened)
    return MappingProxyType({key: _scorecard(table) for key, table in read.items()})


def _scorecard(table: Mapping[str, object]) -> Scorecard:
    points, start = table.get("points", table), table.get("start", 0.0)
    assert isinstance(points, Mapping)
    assert isinstance(start, float)
    return Scorecard(start, {name: Points(*pair) for name, pair in points.items()})
