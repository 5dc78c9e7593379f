"""All lines of a task's class measured in one spectrum, at the file's redshift and at zero.

Lines are those of the task's features and the major ones of the line list. A line is measured and judged as in the
hints (agent/hints/evidence.py); each number has its error or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agent.hints.evidence import CALIBRATION, evidence
from agent.hints.view import entries_of
from agent.language import deferred
from agent.lines import Line, convert, lines, sky_bands
from agent.measure.pixels import coverage, rest, shown
from agent.measure.profile import SPEED_OF_LIGHT
from agent.measure.values import Measured, Undefined, number, plus_minus
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task

HALF_WIDTH = 0.005
"""Half width, as a fraction of the wavelength (1 500 km/s), of the window of a line that no feature describes."""
CHANCE = 0.01
"""Velocities disagree where their χ² has a probability below this."""


@dataclass(frozen=True)
class LineAt:
    """One line at one redshift, measured in the rest frame and medium of the spectrum.

    :param centroid: Å, of the fitted Gaussian, at rest
    :param velocity: km/s against the redshift used
    :param fwhm: km/s, as seen, the spectrograph's own width included
    :param ew: Å at rest, absorption > 0, lines of the blend subtracted; also where nothing stands out
    :param sky: the sky line, telluric band or arm join that covers the line's centre, "" without one
    :param reason: why there are no numbers, or why they are not certain; "" for a line beyond doubt
    :param certain: False where the peak may be another line
    """

    centroid: Measured | None = None
    velocity: Measured | None = None
    fwhm: Measured | None = None
    ew: Measured | None = None
    sky: str = ""
    reason: str = ""
    certain: bool = True


@dataclass(frozen=True)
class LineRow:
    """One line of the table.

    :param rest: rest wavelength in Å in the spectrum's medium
    :param of_task: the line is one of the task's features
    """

    name: str
    species: str
    rest: float
    of_task: bool
    at_z: LineAt
    at_zero: LineAt


@dataclass(frozen=True)
class CommonVelocity:
    """The mean velocity of the detected lines in km/s against the redshift used, and whether the lines agree on it.

    :param chi2: of the velocities about their mean, ``lines`` − 1 degrees of freedom; 0 for one line
    """

    mean: Measured
    lines: int
    chi2: float
    agree: bool
    text: str


@dataclass(frozen=True)
class LineTable:
    """The table. ``z`` is the file's redshift, None if it has none: then ``at_z`` of each row says so."""

    z: float | None
    rows: tuple[LineRow, ...]
    velocity: CommonVelocity | None
    velocity_at_zero: CommonVelocity | None


def line_table(spectrum: Spectrum, task: Task | None) -> LineTable:
    """Measure every line of ``task`` and every major line in range, in order of wavelength."""
    z = spectrum.redshift
    at_zero = rest(spectrum, 0.0)
    # A library star is at rest already: its redshift is not applied again.
    same = spectrum.frame == "rest" or z == 0.0
    at_z = None if z is None and not same else at_zero if same else rest(spectrum, z)
    unknown = LineAt(reason=deferred("the file has no redshift"))
    rows = []
    chosen = _chosen(spectrum, task, at_zero, at_z)
    for line, of_task in chosen:
        others = [other for other, _ in chosen if other is not line]
        zero = _measure(spectrum, at_zero, line, others, 0.0)
        at_redshift = unknown if at_z is None else zero if same else _measure(spectrum, at_z, line, others, z or 0.0)
        rows.append(LineRow(line.name, line.species, line.at(spectrum.medium), of_task, at_redshift, zero))
    return LineTable(
        z,
        tuple(rows),
        None if at_z is None else _common(task, [(row, row.at_z) for row in rows]),
        _common(task, [(row, row.at_zero) for row in rows]),
    )


def _chosen(spectrum: Spectrum, task: Task | None, at_zero: Spectrum, at_z: Spectrum | None) -> list[tuple[Line, bool]]:
    """Return the lines of the task (also those outside the data) and the major lines inside, by wavelength."""
    own = {line for feature in _features(task) for line in entries_of(feature)}

    def covered(line: Line) -> bool:
        at = line.at(spectrum.medium)
        window = at * (1 - HALF_WIDTH), at * (1 + HALF_WIDTH)
        return any(coverage(s, window) > 0.5 for s in (at_zero, at_z) if s is not None)

    chosen = [line for line in lines() if line in own or (line.major and covered(line))]
    # A line that cannot be told from a major one has a row too, so that its numbers do not go to the other.
    names = {line.name for line in chosen} | {name for line in chosen for name in line.alike if line.major}
    return [(line, line in own) for line in lines() if line.name in names]


def _features(task: Task | None) -> list[Feature]:
    return [f for f in (task.features if task else ()) if f.kind == "line" and f.quantity != "slope"]


def _measure(spectrum: Spectrum, view: Spectrum, line: Line, others: Sequence[Line], z: float) -> LineAt:
    """Measure one line in ``view``, the spectrum brought to rest at ``z``; a peak nearer to one of ``others`` is not
    this line's.
    """
    sky = _sky_on(spectrum, line, z)
    centre = line.at(view.medium)
    if not view.wavelength[0] < centre < view.wavelength[-1]:
        covered = shown((view.wavelength[0], view.wavelength[-1]))
        return LineAt(sky=sky, reason=deferred("outside the data ({covered} at this redshift)", covered=covered))
    line_evidence = evidence(view).line(line)
    measured = line_evidence.measurement
    if isinstance(measured, Undefined):
        return LineAt(sky=sky, reason=measured.reason)
    width = measured.width if isinstance(measured.width, Measured) else None
    if not measured.stands_out:
        return LineAt(ew=width, sky=sky, reason=line_evidence.reason)
    if line_evidence.detection is None and not line_evidence.off_centre:
        return LineAt(sky=sky, reason=line_evidence.reason)
    scale = centre / SPEED_OF_LIGHT
    centroid = Measured(centre + measured.velocity.value * scale, measured.velocity.error * scale, "Å")
    if line_evidence.detection is None:
        distance = abs(centroid.value - centre)
        nearer = next((o.name for o in others if abs(centroid.value - o.at(view.medium)) < distance), None)
        if nearer is not None:
            return LineAt(
                sky=sky,
                reason=deferred("the peak at {at:.0f} Å is nearer to {nearer}", at=centroid.value, nearer=nearer),
            )
    return LineAt(
        centroid,
        measured.velocity,
        measured.fwhm,
        width,
        sky,
        line_evidence.reason,
        line_evidence.detection is not None,
    )


def _sky_on(spectrum: Spectrum, line: Line, z: float) -> str:
    """Return the first sky line, telluric band or arm join within 0.1 % (300 km/s) of the line's centre; "" for none.

    In a spectrum stored at rest the observed wavelength is known only where the redshift is.
    """
    if spectrum.frame == "rest":
        if spectrum.redshift is None:
            return ""
        z = spectrum.redshift
    observed = convert(line.at("vacuum") * (1.0 + z), "vacuum", spectrum.medium)
    for band in sky_bands(spectrum.survey):
        lo, hi = band.window(spectrum.medium)
        if lo < observed * 1.001 and hi > observed * 0.999:
            return deferred("{band} observed", band=band.shown())
    return ""


def _common(task: Task | None, measured: Sequence[tuple[LineRow, LineAt]]) -> CommonVelocity | None:
    """Return the weighted mean velocity of the fitted lines that are free of sky: those of the task's ions, or all if
    they are fewer than two.
    """
    ions = {line.species for f in _features(task) if f.role != "confuser" for line in entries_of(f)}
    fitted = [(row, m.velocity) for row, m in measured if m.velocity is not None and not m.sky]
    velocities = [velocity for row, velocity in fitted if row.species in ions]
    if len(velocities) < 2:
        velocities = [velocity for _, velocity in fitted]
    if not velocities:
        return None
    value = np.array([v.value for v in velocities])
    weight = 1.0 / (np.array([v.error for v in velocities]) ** 2 + CALIBRATION**2)
    mean = Measured(float((weight * value).sum() / weight.sum()), float(1.0 / np.sqrt(weight.sum())), "km/s")
    chi2 = float((weight * (value - mean.value) ** 2).sum())
    count = len(velocities)
    agree = count > 1 and _probability(chi2, count - 1) >= CHANCE
    if count == 1:
        text = deferred("one line only, at {mean}: two are needed to confirm a velocity", mean=plus_minus(mean))
    else:
        values = {"count": count, "mean": plus_minus(mean), "chi2": number(chi2, 1), "freedom": count - 1}
        if agree:
            text = deferred("{count} lines agree: mean {mean}, χ² {chi2} for {freedom}", **values)
        else:
            text = deferred("{count} lines do not agree: mean {mean}, χ² {chi2} for {freedom}", **values)
    return CommonVelocity(mean, count, chi2, agree, text)


def _probability(chi2: float, freedom: int) -> float:
    """Return the probability that chance alone gives a χ² at least this large."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, chi2))
