"""Planes that separate a class from its look-alikes, with the templates as points and a spectrum among them.

Every axis is measured in the same way on templates and spectrum, at rest: an index of the literature, or a feature of a
task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from agent.hints.evidence import evidence
from agent.language import deferred, joined
from agent.lines import indices
from agent.measure import Measured, Undefined, band_index, measure_feature, rest
from agent.measure.bands import fit_feature
from agent.measure.values import measured
from agent.spectrum import Spectrum
from agent.tasks import Feature, load
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
    """

    title: str
    x: Axis
    y: Axis
    kinds: tuple[str, ...] = ()


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


def planes(task: str) -> tuple[Plane, ...]:
    """Return the planes of a task by its key; none for a task without any."""
    return _planes().get(task, ())


def points(plane: Plane, library: Library) -> list[Point]:
    """Measure every template of a star in the plane; those where an axis is not measurable are left out."""
    found = []
    for template in library.templates:
        kind = template.about.kind
        if kind in EXTRAGALACTIC or (plane.kinds and kind not in plane.kinds):
            continue
        spectrum = template.spectrum()
        x = plane.x.measure(spectrum)
        y = plane.y.measure(spectrum) if isinstance(x, Measured) else x
        if isinstance(x, Measured) and isinstance(y, Measured):
            found.append(Point(x.value, y.value, kind, template.about.name))
    return found


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


def _sum(first: str, second: str) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        one, other = (band_index(spectrum, indices()[name]) for name in (first, second))
        if isinstance(one, Undefined):
            return one
        if isinstance(other, Undefined):
            return other
        return measured(one.value + other.value, (one.error**2 + other.error**2) ** 0.5)

    return Axis(f"{first} + {second}", "", measure)


def _ratio(name: str, feature: Feature) -> Axis:
    return Axis(deferred("{name} (flux ratio)", name=name), "", lambda spectrum: measure_feature(spectrum, feature))


def _width(name: str, feature: Feature) -> Axis:
    return Axis(_width_of(name), "Å", lambda spectrum: measure_feature(spectrum, feature))


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
        found = evidence(spectrum).named(name)
        if found.found is None or found.state != "emission":
            return Undefined(found.reason or deferred("{name} is in absorption", name=name))
        return found.found.width if unit == "Å" else found.found.fwhm

    return Axis(_width_of(name) if unit == "Å" else f"{name} FWHM", unit, measure)


@cache
def _planes() -> dict[str, tuple[Plane, ...]]:
    """Return the planes by the key of the task."""
    tasks = load()
    a, cc, cv, o, ss, wd = (tasks[key].feature for key in ("a", "cc", "cv", "o", "ss", "wd"))
    balmer = Plane(
        deferred("White dwarf, hot subdwarf and A or B star by Hβ"),
        _width("Hβ", wd("Hβ absorption")),
        _fwhm("Hβ", wd("Hβ breadth")),
        ("O", "B", "A", "F", "WD", "hot subdwarf"),
    )
    helium, hot = _width("He I 4471", o("He I 4471")), ("O", "B", "A", "WD", "hot subdwarf", "WR")
    o_and_b = (
        Plane(deferred("O and B star by He II 4542 and He I 4471"), helium, _width("He II 4542", o("He II 4542")), hot),
        Plane(deferred("O and B star by He II 4686 and He I 4471"), helium, _width("He II 4686", o("He II 4686")), hot),
    )
    c2 = _ratio("C₂ 5165", cc("C2 5165"))
    return {
        "gm": (
            Plane(deferred("M giant and M dwarf by TiO and CaH"), _sum("CaH2", "CaH3"), _index("TiO5")),
            Plane(deferred("M giant and M dwarf by TiO and CaH 6385"), _index("CaH1"), _index("TiO5")),
        ),
        "wd": (balmer,),
        "a": (
            balmer,
            Plane(
                deferred("A star between B and F by Ca II K and Hδ"),
                _width("Ca II K", a("Ca II K")),
                _width("Hδ", a("Hδ")),
                ("B", "A", "F", "G", "WD", "hot subdwarf"),
            ),
        ),
        "b": (balmer, *o_and_b),
        "o": o_and_b,
        "cc": (
            Plane(deferred("Carbon star, M star and K giant by C₂ and CN"), c2, _ratio("CN 6926", cc("CN 6926"))),
            Plane(deferred("Carbon star, M star and K giant by C₂ and CN 7872"), c2, _ratio("CN 7872", cc("CN 7872"))),
        ),
        "ss": (
            Plane(deferred("S star and M giant by ZrO and TiO"), _index("TiO5"), _ratio("ZrO 6474", ss("ZrO 6474"))),
        ),
        "cv": (
            Plane(
                deferred("Stars with Hα in emission, by its strength and breadth"),
                _emission("Hα", "Å", cv("Hα breadth")),
                _emission("Hα", "km/s", cv("Hα breadth")),
                ("CV", "O", "B", "K", "M dwarf", "M giant", "WR"),
            ),
            Plane(
                deferred("Hot stars and accretion discs by He II 4686 and Hβ"),
                _width("Hβ", cv("Hβ emission")),
                _width("He II 4686", cv("He II 4686 emission")),
                ("CV", "O", "B", "A", "WD", "hot subdwarf", "WR"),
            ),
        ),
    }
