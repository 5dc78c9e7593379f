"""The window of a zoom as the hints see it: at rest, in the spectrum's own medium, with its lines and bands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from agent.hints.evidence import Evidence, at_rest, evidence
from agent.lines import Band, Line, bands, convert, convert_window, lines
from agent.lines.names import named, species_named
from agent.measure import Window
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.trajectory import Zoom


@dataclass(frozen=True)
class View:
    """The spectrum and the window at rest, in the spectrum's own medium.

    ``to_axis`` converts these wavelengths to the axis of the zoom, ``to_observed`` to the observed frame, where the
    sky lines are; None if that is unknown (a library star brought to rest). ``z_known``: the file has a redshift.
    """

    spectrum: Spectrum
    window: Window
    to_axis: float
    to_observed: float | None
    zoom: Zoom
    z_known: bool = True

    def on_axis(self, wavelength: float) -> float:
        """Convert a rest wavelength of the view to the axis of the zoom's picture."""
        return convert(wavelength * self.to_axis, self.spectrum.medium, self.zoom.medium)

    def contains(self, entry: Line | Band) -> bool:
        return self.window[0] <= entry.at(self.spectrum.medium) <= self.window[1]

    @property
    def data(self) -> Evidence:
        return evidence(self.spectrum)

    @property
    def placed(self) -> bool:
        """Whether a line in the window is at its own wavelength: z is known, or other lines confirm it."""
        return self.z_known or self.data.placed


def view_of(spectrum: Spectrum, zoom: Zoom, window: Window) -> View:
    """Return the view of a window that lies on the axis of the zoom."""
    lo, hi = convert_window(window, zoom.medium, spectrum.medium)
    if spectrum.frame == "rest":
        observed = None if spectrum.redshift is None else 1.0 + spectrum.redshift
        return View(spectrum, (lo, hi), 1.0, observed, zoom)
    z = zoom.z if zoom.frame == "rest" else (spectrum.redshift or 0.0)
    to_axis = 1.0 if zoom.frame == "rest" else 1.0 + z
    known = spectrum.redshift is not None
    return View(at_rest(spectrum, z), (lo / to_axis, hi / to_axis), to_axis, 1.0 + z, zoom, known)


def entries_in(view: View, task: Task | None) -> tuple[Line | Band | None, list[Line | Band]]:
    """Return the line or band to measure in the window, and the other notable ones: named in the label, of the task, or
    major.
    """
    known: tuple[Line | Band, ...] = (*lines(), *bands())
    inside = [entry for entry in known if view.contains(entry)]
    by_label = [entry for entry in named(view.zoom.label) if entry in inside]
    if not by_label:
        species = species_named(view.zoom.label)
        by_label = sorted((e for e in inside if e.species in species), key=lambda e: not e.major)
    of_task = [e for f in features_by_label(task, view.zoom.label) for e in entries_of(f) if e in inside]
    middle = sum(view.window) / 2
    # With a known task, a band that the task does not use is not informative.
    notable = (e for e in inside if e.major and (task is None or isinstance(e, Line)))
    major = sorted(notable, key=lambda e: abs(e.at(view.spectrum.medium) - middle))
    of_guide = [e for e in (_named_in(task.guide) if task else ()) if e in inside]
    ordered = list(dict.fromkeys([*by_label, *of_task, *of_guide, *major]))
    return (ordered[0], ordered[1:]) if ordered else (None, [])


@cache
def _named_in(guide: str) -> tuple[Line | Band, ...]:
    """Return the lines and bands that a guide names, also in a list ("TiO bands at 4955, 5167, 5448 Å"); they need not
    be among the task's measured features.
    """
    numbers, species = set(re.findall(r"\b\d{4,5}\b", guide)), species_named(guide)
    known: tuple[Line | Band, ...] = (*lines(), *bands())
    listed = (e for e in known if e.species in species and e.name.rpartition(" ")[2] in numbers)
    return tuple(dict.fromkeys([*named(guide), *listed]))


def features_by_label(task: Task | None, label: str) -> list[Feature]:
    """Return the task's features, those whose name is in the label first."""
    features = list(task.features) if task else []
    return sorted(features, key=lambda f: f.name.lower() not in label.lower())


@cache
def entries_of(feature: Feature) -> tuple[Line | Band, ...]:
    """Return the lines, or bands, within 1.5 Å of the wavelengths of a feature; the principal wavelength first."""
    known: tuple[Line | Band, ...] = lines() if feature.kind == "line" else bands()
    return tuple(entry for w in feature.wavelengths for entry in known if abs(w - entry.at(feature.medium)) < 1.5)
