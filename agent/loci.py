"""Planes that separate a class from its look-alikes, with the templates as points and a spectrum among them.

Every axis is measured in the same way on templates and spectrum, at rest; the windows are those of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.hints.evidence import evidence
from agent.lines import Medium, convert, indices
from agent.measure import Measured, Undefined, Window, band_index, equivalent_width, fit_line, flux_ratio, rest
from agent.measure.values import measured
from agent.spectrum import Spectrum
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
    return _PLANES.get(task, ())


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
            reasons.append(f"{axis.name}: {value.reason}")
    return Place(values[0], values[1], "; ".join(reasons))


# ---- axes; windows in air unless they come from ``agent.lines.indices``


def _to(spectrum: Spectrum, windows: Sequence[Window], medium: Medium = "air") -> list[Window]:
    """Convert windows to the medium of the spectrum."""
    wanted = spectrum.medium
    return [(convert(lo, medium, wanted), convert(hi, medium, wanted)) for lo, hi in windows]


def _index(name: str) -> Axis:
    return Axis(f"{name} index", "", lambda spectrum: band_index(spectrum, indices()[name]))


def _sum(first: str, second: str) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        values = [band_index(spectrum, indices()[name]) for name in (first, second)]
        one, other = values
        if isinstance(one, Undefined):
            return one
        if isinstance(other, Undefined):
            return other
        return measured(one.value + other.value, (one.error**2 + other.error**2) ** 0.5)

    return Axis(f"{first} + {second}", "", measure)


def _ratio(name: str, band: Window, continuum: Window) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        there, side = _to(spectrum, (band, continuum))
        return flux_ratio(spectrum, there, [side])

    return Axis(f"{name} (flux ratio)", "", measure)


def _width(name: str, span: Window, sides: tuple[Window, Window]) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        there, *bands = _to(spectrum, (span, *sides))
        return equivalent_width(spectrum, there, bands)

    return Axis(f"{name} equivalent width (absorption > 0)", "Å", measure)


def _fwhm(name: str, span: Window, sides: tuple[Window, Window], emission: bool) -> Axis:
    def measure(spectrum: Spectrum) -> Measured | Undefined:
        there, *bands = _to(spectrum, (span, *sides))
        fit = fit_line(spectrum, there, bands)
        if isinstance(fit, Undefined):
            return fit
        if (fit.depth.value < 0) != emission:
            return Undefined(f"the line is in {'absorption' if emission else 'emission'}")
        if abs(fit.depth.value) < SHALLOW:
            return Undefined(f"the line differs from the continuum by less than {100 * SHALLOW:.0f} %")
        return fit.fwhm

    return Axis(f"{name} FWHM", "km/s", measure)


def _emission(name: str, unit: str, span: Window, sides: tuple[Window, Window]) -> Axis:
    """Equivalent width (Å) or FWHM (km/s) of an emission line that is there beyond doubt, as the hints judge it: in a
    cool star the flux between two bands is not emission.
    """
    coarse = _fwhm(name, span, sides, emission=True)

    def measure(spectrum: Spectrum) -> Measured | Undefined:
        first = coarse.measure(spectrum)  # much faster, and enough to leave most templates out
        if isinstance(first, Undefined):
            return first
        found = evidence(spectrum).named(name)
        if found.found is None or found.state != "emission":
            return Undefined(found.reason or f"{name} is in {found.state}")
        return found.found.width if unit == "Å" else found.found.fwhm

    label = "equivalent width (absorption > 0)" if unit == "Å" else "FWHM"
    return Axis(f"{name} {label}", unit, measure)


_H_BETA: tuple[Window, tuple[Window, Window]] = ((4761.0, 4961.0), ((4715.0, 4755.0), (4965.0, 5005.0)))
_H_ALPHA: tuple[Window, tuple[Window, Window]] = ((6515.0, 6610.0), ((6420.0, 6505.0), (6615.0, 6660.0)))

_BALMER = Plane(
    "White dwarf, hot subdwarf and A or B star by Hβ",
    _width("Hβ", *_H_BETA),
    _fwhm("Hβ", *_H_BETA, emission=False),
    ("O", "B", "A", "F", "WD", "hot subdwarf"),
)
_HE_I_4471 = _width("He I 4471", (4461.0, 4478.0), ((4440.0, 4459.0), (4495.0, 4528.0)))
_HE_II_4542 = _width("He II 4542", (4531.0, 4550.0), ((4505.0, 4528.0), (4582.0, 4600.0)))
_HE_II_4686 = _width("He II 4686", (4674.0, 4698.0), ((4655.0, 4671.0), (4722.0, 4750.0)))
_HOT = ("O", "B", "A", "WD", "hot subdwarf", "WR")
_O_AND_B = (
    Plane("O and B star by He II 4542 and He I 4471", _HE_I_4471, _HE_II_4542, _HOT),
    Plane("O and B star by He II 4686 and He I 4471", _HE_I_4471, _HE_II_4686, _HOT),
)
_C2 = _ratio("C₂ 5165", (5028.0, 5165.0), (5210.0, 5380.0))

_PLANES: dict[str, tuple[Plane, ...]] = {
    "gm": (
        Plane("M giant and M dwarf by TiO and CaH", _sum("CaH2", "CaH3"), _index("TiO5")),
        Plane("M giant and M dwarf by TiO and CaH 6385", _index("CaH1"), _index("TiO5")),
    ),
    "wd": (_BALMER,),
    "a": (
        _BALMER,
        Plane(
            "A star between B and F by Ca II K and Hδ",
            _width("Ca II K", (3926.0, 3942.0), ((3908.0, 3922.0), (3945.0, 3955.0))),
            _width("Hδ", (4062.0, 4142.0), ((4030.0, 4058.0), (4146.0, 4170.0))),
            ("B", "A", "F", "G", "WD", "hot subdwarf"),
        ),
    ),
    "b": (_BALMER, *_O_AND_B),
    "o": _O_AND_B,
    "cc": (
        Plane(
            "Carbon star, M star and K giant by C₂ and CN", _C2, _ratio("CN 6926", (6935.0, 7035.0), (6820.0, 6860.0))
        ),
        Plane(
            "Carbon star, M star and K giant by C₂ and CN 7872",
            _C2,
            _ratio("CN 7872", (7880.0, 8050.0), (7740.0, 7850.0)),
        ),
    ),
    "ss": (
        Plane(
            "S star and M giant by ZrO and TiO",
            _index("TiO5"),
            _ratio("ZrO 6474", (6475.0, 6490.0), (6455.0, 6471.0)),
        ),
    ),
    "cv": (
        Plane(
            "Stars with Hα in emission, by its strength and breadth",
            _emission("Hα", "Å", *_H_ALPHA),
            _emission("Hα", "km/s", *_H_ALPHA),
            ("CV", "O", "B", "K", "M dwarf", "M giant", "WR"),
        ),
        Plane(
            "Hot stars and accretion discs by He II 4686 and Hβ",
            _width("Hβ", (4820.0, 4903.0), ((4760.0, 4815.0), (4945.0, 4985.0))),
            _width("He II 4686", (4662.0, 4708.0), ((4560.0, 4612.0), (4745.0, 4800.0))),
            ("CV", "O", "B", "A", "WD", "hot subdwarf", "WR"),
        ),
    ),
}
