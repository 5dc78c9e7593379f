"""What is measured in a spectrum, in words, for judges that see no pictures: the whole spectrum, and each zoom window.

The measurements are those of ``agent.measure`` and ``agent.hints``. No text names the object, its survey or its class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from agent.hints.evidence import LineEvidence, at_rest, evidence
from agent.hints.view import entries_of
from agent.lines import Line, convert, convert_window, lines
from agent.lines.names import named
from agent.measure import (
    Measured,
    Undefined,
    Window,
    coverage,
    measure_feature,
    running_continuum,
    signal_to_noise,
    slope,
)
from agent.measure.profile import SPEED_OF_LIGHT
from agent.measure.values import MINUS, THIN, number, plus_minus
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.trajectory import Trajectory, Zoom
from agent.trajectory.steps import Medium

MOST_LINES = 8
"""Lines of one window that are described; further ones are only named."""
SLOPE_WINDOWS = 6


@dataclass(frozen=True)
class MeasuredValues:
    """Measured values in words.

    :param windows: by the id of the zoom step on the sheet; a zoom without a window has none
    """

    whole: str
    windows: Mapping[str, str]


def measured_values(spectrum: Spectrum, trajectory: Trajectory, task: Task | None) -> MeasuredValues:
    """Measure the whole spectrum, and the windows of a trajectory.

    :param task: its lines and bands are measured where they lie in a window, in addition to all major lines
    """
    spectrum = replace(spectrum, redshift=trajectory.redshift)
    level = _Level(spectrum)
    windows = {
        f"s{place}": _plain(" ".join(_window(spectrum, level, step, step.window, task)))
        for place, step in enumerate(trajectory.steps, start=1)
        if isinstance(step, Zoom) and step.window is not None and step.window[0] < step.window[1]
    }
    return MeasuredValues(_plain(" ".join(_whole(spectrum))), windows)


class _Level:
    """The continuum of a spectrum in units of the median of its flux, as a fluxed file's unit would name its survey."""

    def __init__(self, spectrum: Spectrum) -> None:
        self._wavelength = spectrum.wavelength
        seen = spectrum.ivar > 0
        median = float(np.median(spectrum.flux[seen])) if seen.any() else 0.0
        self._relative = running_continuum(spectrum) / median if median > 0 else None

    def at(self, wavelength: float) -> float | None:
        """Return it at a wavelength of the stored spectrum; None without a positive median flux."""
        return None if self._relative is None else float(np.interp(wavelength, self._wavelength, self._relative))


def _whole(spectrum: Spectrum) -> Iterator[str]:
    lo, hi = float(spectrum.wavelength[0]), float(spectrum.wavelength[-1])
    frame = "as observed" if spectrum.frame == "observed" else "in the rest frame"
    yield f"Whole spectrum: {lo:.0f} to {hi:.0f} Å {frame}, in {spectrum.medium}."
    noise = signal_to_noise(spectrum, (lo, hi))
    yield f"Median S/N per pixel: {_undefined(noise) if isinstance(noise, Undefined) else number(noise, 1)}."
    edges = np.linspace(lo, hi, SLOPE_WINDOWS + 1)
    tilt = slope(spectrum, [(float(a), float(b)) for a, b in pairwise(edges)])
    yield (
        "Slope d ln F / d ln λ over the whole range (negative is blue): "
        f"{_undefined(tilt) if isinstance(tilt, Undefined) else plus_minus(tilt)}."
    )


def _window(spectrum: Spectrum, level: _Level, zoom: Zoom, window: Window, task: Task | None) -> Iterator[str]:
    """Yield the sentences about one window."""
    z = 0.0 if spectrum.frame == "rest" else zoom.z if zoom.frame == "rest" else (spectrum.redshift or 0.0)
    view = at_rest(spectrum, z)
    stretch = 1.0 if zoom.frame == "rest" or spectrum.frame == "rest" else 1.0 + z
    lo, hi = (edge / stretch for edge in convert_window(window, zoom.medium, view.medium))
    covered = coverage(view, (lo, hi))
    if covered == 0.0:
        yield "No data in this window."
        return
    if covered < 1.0:
        yield f"{100 * covered:.0f} % of the window has data."
    ends = [level.at(float(edge) * (1.0 + z)) for edge in (lo, hi)]
    if ends[0] is not None and ends[1] is not None:
        yield f"Continuum from {ends[0]:.2f} to {ends[1]:.2f} of the median flux of the spectrum."
    noise = signal_to_noise(view, (lo, hi))
    yield f"S/N per pixel: {_undefined(noise) if isinstance(noise, Undefined) else number(noise, 1)}."
    yield from _lines(view, (lo, hi), zoom, stretch, task)
    yield from _bands(view, (lo, hi), task)


def _lines(view: Spectrum, window: Window, zoom: Zoom, stretch: float, task: Task | None) -> Iterator[str]:
    data = evidence(view)
    if data.coarse:
        yield f"No line can be measured: {data.coarse}."
        return
    evidences = [data.line(line) for line in _chosen(view, window, zoom, task)]
    clear = sorted((measured for measured in evidences if measured.detection), key=_significance, reverse=True)
    for measured in clear[:MOST_LINES]:
        yield _line(measured, zoom.medium, stretch)
    if more := [measured.line.name for measured in clear[MOST_LINES:]]:
        yield f"Weaker lines that are present: {', '.join(more)}."
    absent = [f"{measured.line.name} ({measured.reason})" for measured in evidences if measured.state == "none"]
    if absent:
        yield f"Not present: {'; '.join(absent)}."
    uncertain = [
        f"{measured.line.name} ({measured.reason})"
        for measured in evidences
        if measured.state in ("undecided", "undefined")
    ]
    if uncertain:
        yield f"Not certain: {'; '.join(uncertain[:MOST_LINES])}."
    if not evidences:
        yield "No line of the line list lies in this window."


def _chosen(view: Spectrum, window: Window, zoom: Zoom, task: Task | None) -> list[Line]:
    """Return the lines in a window: those that the task or the label names first, then the major ones."""
    own = [entry for feature in _features(task, "line") for entry in entries_of(feature)]
    listed = [*own, *named(zoom.label), *(line for line in lines() if line.major)]
    inside = (
        spectral_line
        for spectral_line in listed
        if isinstance(spectral_line, Line) and window[0] <= spectral_line.at(view.medium) <= window[1]
    )
    return list(dict.fromkeys(inside))


def _line(line_evidence: LineEvidence, medium: Medium, stretch: float) -> str:
    """Describe a line that stands out; the centre is on the axis of the window."""
    measured = line_evidence.detection
    assert measured is not None
    at_centre = convert(measured.line.at("vacuum") * stretch, "vacuum", medium)
    scale = at_centre / SPEED_OF_LIGHT
    centre = Measured(at_centre + measured.velocity.value * scale, measured.velocity.error * scale, "Å")
    width = "not defined" if isinstance(measured.width, Undefined) else plus_minus(measured.width)
    resolved = "" if measured.resolved else ", not resolved"
    return (
        f"{measured.line.name}: {line_evidence.state}, equivalent width {width}, centre {plus_minus(centre)}, "
        f"FWHM {plus_minus(measured.fwhm)}{resolved}."
    )


def _bands(view: Spectrum, window: Window, task: Task | None) -> Iterator[str]:
    """Yield the task's bands whose middle lies in the window, each with the quantity that the task measures."""
    for feature in _features(task, ""):
        lo, hi = feature.in_medium(view.medium).span
        if feature.kind == "line" or feature.quantity == "slope" or not window[0] <= (lo + hi) / 2 <= window[1]:
            continue
        value = measure_feature(view, feature)
        quantity = feature.quantity.replace("_", " ")
        yield f"{feature.name}: {quantity} {_undefined(value) if isinstance(value, Undefined) else plus_minus(value)}."


def _features(task: Task | None, kind: str) -> list[Feature]:
    return [feature for feature in (task.features if task else ()) if kind in ("", feature.kind)]


def _significance(line_evidence: LineEvidence) -> float:
    return 0.0 if line_evidence.detection is None else line_evidence.detection.amplitude.significance


def _undefined(value: Undefined) -> str:
    return f"undefined ({value.reason})"


def _plain(text: str) -> str:
    """Return a text with its numbers in plain characters: no space in thousands, a hyphen as minus."""
    return text.replace(THIN, "").replace(MINUS, "-")
