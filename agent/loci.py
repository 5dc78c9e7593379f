"""Planes that separate a class from its look-alikes, with the templates as points and a spectrum among them. Which
planes a task has is in its file.

Every axis is measured in the same way on templates and spectrum, at rest: an index of the literature, or a feature of a
task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agent.hints.evidence import evidence
from agent.language import deferred, joined
from agent.lines import indices
from agent.measure import Measured, Undefined, band_index, measure_feature, rest
from agent.measure.bands import fit_feature
from agent.measure.values import measured
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.tasks.values import PlaneAxis
from agent.templates import EXTRAGALACTIC, Library
from agent.templates.rank import STELLAR

SHALLOW = 0.03
"""A line that differs less from its continuum has no useful width: what is fitted is the continuum's own shape."""

Quantity = Callable[[Spectrum], Measured | Undefined]


@dataclass(frozen=True)
class Axis:
    """One axis: its name, its unit ("" = a ratio) and what is measured in a spectrum at rest."""

    name: str
    unit: str
    measure: Quantity


@dataclass(frozen=True)
class Plane:
    """Two axes. ``title`` says which classes they separate.

    :param kinds: classes of templates that are shown; empty: all stars. A line's window in a star too cool for the line
        measures something else
    :param owner: key of the task whose file has it
    """

    title: str
    x: Axis
    y: Axis
    kinds: tuple[str, ...] = ()
    owner: str = ""

    @property
    def key(self) -> str:
        """A name that no other plane has."""
        return f"{self.owner}: {self.title}"


@dataclass(frozen=True)
class Point:
    """A template in a plane."""

    x: float
    y: float
    kind: str
    name: str


@dataclass(frozen=True)
class Place:
    """A spectrum in a plane; ``reason`` says why an axis is None."""

    x: Measured | None
    y: Measured | None
    reason: str = ""


def planes(task: Task, tasks: Mapping[str, Task]) -> tuple[Plane, ...]:
    """Return the planes of a task, which may be none: first those of the tasks that it names, then its own."""
    return tuple(
        Plane(deferred(plane.title), _axis(plane.x, owner), _axis(plane.y, owner), plane.kinds, owner.key)
        for owner in (*(tasks[key] for key in task.planes_of), task)
        for plane in owner.planes
    )


def points(plane: Plane, library: Library) -> list[Point]:
    """Measure every template of a star in the plane; those where an axis is not measurable are left out."""
    plotted = []
    for template in library.templates:
        kind = template.about.kind
        if kind in EXTRAGALACTIC or (plane.kinds and kind not in plane.kinds):
            continue
        spectrum = template.spectrum()
        x = plane.x.measure(spectrum)
        y = plane.y.measure(spectrum) if isinstance(x, Measured) else x
        if isinstance(x, Measured) and isinstance(y, Measured):
            plotted.append(Point(x.value, y.value, kind, template.about.name))
    return plotted


def place(plane: Plane, spectrum: Spectrum) -> Place:
    """Measure a spectrum in the plane: at its redshift if that can be a star's, otherwise at 0."""
    z = spectrum.redshift or 0.0
    at_rest = rest(spectrum, z if abs(z) <= STELLAR else 0.0)
    values: list[Measured | None] = []
    reasons = []
    for axis in (plane.x, plane.y):
        value = axis.measure(at_rest)
        values.append(value if isinstance(value, Measured) else None)
        if isinstance(value, Undefined):
            reasons.append(deferred("{name}: {reason}", name=axis.name, reason=value.reason))
    return Place(values[0], values[1], joined(reasons))


# ---- axes


def _index(name: str) -> Axis:
    return Axis(deferred("{name} index", name=name), "", lambda spectrum: band_index(spectrum, indices()[name]))


def _sum(names: Sequence[str]) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        values = []
        for name in names:
            value = band_index(spectrum, indices()[name])
            if isinstance(value, Undefined):
                return value
            values.append(value)
        return measured(sum(value.value for value in values), sum(value.error**2 for value in values) ** 0.5)

    return Axis(" + ".join(names), "", measure)


def _ratio(name: str, feature: Feature) -> Axis:
    return Axis(deferred("{name} (flux ratio)", name=name), "", lambda spectrum: measure_feature(spectrum, feature))


def _width(name: str, feature: Feature) -> Axis:
    return Axis(_width_of(name), "Å", lambda spectrum: evidence(spectrum).feature(feature))


def _width_of(name: str) -> str:
    return deferred("{name} equivalent width (absorption > 0)", name=name)


def _fwhm(name: str, feature: Feature) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        fit = fit_feature(spectrum, feature)
        if isinstance(fit, Undefined):
            return fit
        if abs(fit.depth.value) < SHALLOW:
            return Undefined(
                deferred("the line differs from the continuum by less than {least:.0f} %", least=100 * SHALLOW)
            )
        return fit.fwhm

    return Axis(f"{name} FWHM", "km/s", measure)


def _emission(name: str, unit: str, breadth: Feature) -> Axis:
    """Equivalent width (Å) or FWHM (km/s) of an emission line that is there beyond doubt, as the hints judge it: in a
    cool star the flux between two bands is not emission.
    """
    coarse = _fwhm(name, breadth)

    def measure(spectrum: Spectrum) -> Measured | Undefined:
        first = coarse.measure(spectrum)  # much faster, and enough to leave most templates out
        if isinstance(first, Undefined):
            return first
        line_evidence = evidence(spectrum).named(name)
        if line_evidence.detection is None or line_evidence.state != "emission":
            return Undefined(line_evidence.reason or deferred("{name} is in absorption", name=name))
        return line_evidence.detection.width if unit == "Å" else line_evidence.detection.fwhm

    return Axis(_width_of(name) if unit == "Å" else f"{name} FWHM", unit, measure)


def _axis(axis: PlaneAxis, task: Task) -> Axis:
    if axis.index:
        return _index(axis.index[0]) if len(axis.index) == 1 else _sum(axis.index)
    feature = task.feature(axis.feature)
    match axis.quantity:
        case "width":
            return _width(axis.name, feature)
        case "fwhm":
            return _fwhm(axis.name, feature)
        case "ratio":
            return _ratio(axis.name, feature)
        case "emission_width":
            return _emission(axis.name, "Å", feature)
        case "emission_fwhm":
            return _emission(axis.name, "km/s", feature)
