"""Hints for a zoom: what the data themselves show about its window.

Facts and never a verdict: coverage, signal-to-noise ratio, the lines in the window at this redshift with their
measured widths and depths, and features of the sky, the atmosphere or the instrument."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent.lines import Band, Line, SkyBand, bands, convert, lines, sky_bands
from agent.lines.names import named, species_named
from agent.measure import (
    LineFit,
    Measured,
    TwoMaxima,
    Undefined,
    Window,
    coverage,
    equivalent_width,
    fit_line,
    flagged,
    flux_ratio,
    rest,
    signal_to_noise,
    two_maxima,
)
from agent.measure.values import number, plus_minus
from agent.spectrum import Spectrum
from agent.tasks import Feature, Task
from agent.trajectory import Zoom

MOST = 6
LOW_SNR = 5.0  # per pixel; below it a single pixel's dip is noise as likely as not
WIDE_WINDOW = 600.0  # Å; a wider window always crosses some sky, so only what lies on its line is reported
# %. Across C2 heads that they do not have, M giants of MILES and STELIB fall by up to 20, mostly by less than
# 10; real heads fall by 16 to 80.
CLEAR_FALL = 15.0


@dataclass(frozen=True)
class Hint:
    """One hint: ``level`` "look" asks for attention, ``kind`` names the check, ``text`` is what is shown."""

    level: Literal["ok", "look"]
    kind: str
    text: str


@dataclass(frozen=True)
class _View:
    """The spectrum and the window at rest, in the spectrum's own medium.

    ``to_axis`` converts these wavelengths to the axis of the zoom, ``to_observed`` to the observed frame, where the
    sky lines are; None if that is unknown (a library star brought to rest).
    """

    spectrum: Spectrum
    window: Window
    to_axis: float
    to_observed: float | None
    zoom: Zoom

    def on_axis(self, wavelength: float) -> float:
        """Convert a rest wavelength of the view to the axis of the zoom's picture."""
        return convert(wavelength * self.to_axis, self.spectrum.medium, self.zoom.medium)

    def contains(self, entry: Line | Band) -> bool:
        return self.window[0] <= entry.at(self.spectrum.medium) <= self.window[1]


def hints(spectrum: Spectrum, zoom: Zoom, task: Task | None = None) -> tuple[Hint, ...]:
    """Return at most ``MOST`` hints about one zoom, the most useful first.

    :param task: whose features are preferred and whose spans and side bands are measured with, where they lie
        in the window
    """
    window = zoom.window
    if window is None or window[0] >= window[1]:
        return (Hint("look", "window", "the window is not two increasing numbers"),)
    view = _view(spectrum, zoom, window)
    covered = coverage(view.spectrum, view.window)
    if covered == 0.0:
        lo, hi = (view.on_axis(w) for w in (view.spectrum.wavelength[0], view.spectrum.wavelength[-1]))
        return (Hint("look", "coverage", f"no data in the window; the spectrum covers {lo:.0f}–{hi:.0f} Å"),)
    principal, others = _entries(view, task)
    outside = _outside(view)
    found = [
        *outside,
        _in_window(view, principal, others),
        # If the label names something outside the window, measuring another line would only distract.
        *(_measurement(view, principal, task) if principal and not outside else ()),
        *_incomplete(view, covered),
        *_disturbed(view, principal),
    ]
    return tuple(found[:MOST])


def _view(spectrum: Spectrum, zoom: Zoom, window: Window) -> _View:
    lo, hi = (convert(w, zoom.medium, spectrum.medium) for w in window)
    if spectrum.frame == "rest":
        observed = None if spectrum.redshift is None else 1.0 + spectrum.redshift
        return _View(spectrum, (lo, hi), 1.0, observed, zoom)
    z = zoom.z if zoom.frame == "rest" else (spectrum.redshift or 0.0)
    to_axis = 1.0 if zoom.frame == "rest" else 1.0 + z
    return _View(rest(spectrum, z), (lo / to_axis, hi / to_axis), to_axis, 1.0 + z, zoom)


def _entries(view: _View, task: Task | None) -> tuple[Line | Band | None, list[Line | Band]]:
    """Return the line or band to measure in the window, and the other notable ones: named in the label, of the task, or
    major.
    """
    known: tuple[Line | Band, ...] = (*lines(), *bands())
    inside = [entry for entry in known if view.contains(entry)]
    by_label = [entry for entry in named(view.zoom.label) if entry in inside]
    if not by_label:
        species = species_named(view.zoom.label)
        by_label = sorted((e for e in inside if e.species in species), key=lambda e: not e.major)
    of_task = [e for f in (task.features if task else ()) for e in _entries_of(f) if e in inside]
    middle = sum(view.window) / 2
    # With a known task, a band that the task does not use is not informative.
    notable = (e for e in inside if e.major and (task is None or isinstance(e, Line)))
    major = sorted(notable, key=lambda e: abs(e.at(view.spectrum.medium) - middle))
    ordered = list(dict.fromkeys([*by_label, *of_task, *major]))
    return (ordered[0], ordered[1:]) if ordered else (None, [])


@cache
def _entries_of(feature: Feature) -> tuple[Line | Band, ...]:
    """Return the lines, or bands, at the wavelengths of a feature; the principal wavelength first."""
    known: tuple[Line | Band, ...] = lines() if feature.kind == "line" else bands()
    return tuple(entry for w in feature.wavelengths for entry in known if abs(w - entry.at(feature.medium)) < 1.5)


def _outside(view: _View) -> list[Hint]:
    """Return a hint if the label names a line or band outside the window. Names of groups ("Balmer") do not count."""
    labelled = named(view.zoom.label)
    if any(view.contains(entry) for entry in labelled):
        return []
    return [
        Hint("look", "label", f"{e.name} is at {view.on_axis(e.at(view.spectrum.medium)):.1f} Å, outside")
        for e in labelled[:1]
    ]


def _in_window(view: _View, principal: Line | Band | None, others: list[Line | Band]) -> Hint:
    snr = signal_to_noise(view.spectrum, view.window)
    if isinstance(snr, Undefined):
        return Hint("look", "snr", snr.reason)
    estimated = " (noise estimated from scatter)" if view.spectrum.errors == "estimated" else ""
    text = f"S/N {number(snr, 0 if abs(snr) >= 10 else 1)}{estimated}"
    level: Literal["ok", "look"] = "ok" if snr >= LOW_SNR else "look"
    if principal is None:
        return Hint(level, "line", f"no major line or band here, {text}")
    where = view.on_axis(principal.at(view.spectrum.medium))
    more = f" with {', '.join(e.name for e in others[:3])}" if others else ""
    return Hint(level, "line", f"{principal.name} {where:.1f} Å in window{more}, {text}")


def _measurement(view: _View, entry: Line | Band, task: Task | None) -> list[Hint]:
    if isinstance(entry, Band):
        return [_head(view, entry)]
    span, sides = _where_to_measure(view, entry, task)
    width = equivalent_width(view.spectrum, span, sides)
    if isinstance(width, Undefined):
        return [Hint("look", "width", f"{entry.name} not measured: {width.reason}")]
    fit = fit_line(view.spectrum, span, sides)
    text = f"EW {plus_minus(width)} (absorption > 0)"
    shape = 0.0 if isinstance(fit, Undefined) else fit.depth.significance
    if max(shape, width.significance) < 3.0:
        return [Hint("look", "width", f"no feature above 3σ at {entry.name}: {text}")]
    if isinstance(fit, Undefined):
        return [Hint("look", "width", f"{text} at {entry.name}, but no line shape fits")]
    return [_width(fit, text), *_two(view, span, sides, fit)]


def _width(fit: LineFit, equivalent: str) -> Hint:
    narrow = fit.instrument is not None and fit.fwhm.value < 1.2 * fit.instrument
    note = ", not resolved" if narrow else ""
    return Hint("ok", "width", f"FWHM {plus_minus(fit.fwhm)}{note} · {equivalent}")


def _two(view: _View, span: Window, sides: tuple[Window, ...], fit: LineFit) -> list[Hint]:
    if fit.depth.value >= 0:
        return []
    found = two_maxima(view.spectrum, span, sides)
    if not isinstance(found, TwoMaxima):
        return []
    text = f"two maxima {plus_minus(found.separation)} apart, the dip {found.significance:.0f}σ deep"
    return [Hint("ok", "two maxima", text)]


def _where_to_measure(view: _View, line: Line, task: Task | None) -> tuple[Window, tuple[Window, ...]]:
    """Return the task's own span and side bands for this line, otherwise 1 500 km/s and the adjacent stretches."""
    medium = view.spectrum.medium
    for feature in task.features if task else ():
        if feature.kind == "line" and feature.quantity != "slope" and line in _entries_of(feature):
            there = feature.in_medium(medium)
            return there.span, there.side_bands
    centre = line.at(medium)
    half = centre * 0.005
    return (centre - half, centre + half), (
        (centre - 2.5 * half, centre - 1.1 * half),
        (centre + 1.1 * half, centre + 2.5 * half),
    )


def _head(view: _View, band: Band) -> Hint:
    """Measure how much the flux falls across a band's head, from the sharp side into the band."""
    head, toward = band.at(view.spectrum.medium), 1.0 if band.shading == "red" else -1.0
    before = sorted((head - toward * 3.0, head - toward * 15.0))
    after = sorted((head + toward * 3.0, head + toward * 15.0))
    ratio = flux_ratio(view.spectrum, (after[0], after[1]), [(before[0], before[1])])
    if isinstance(ratio, Undefined):
        return Hint("look", "band", f"{band.name} not measured: {ratio.reason}")
    fall = Measured(100 * (1 - ratio.value), 100 * ratio.error)
    text = f"{plus_minus(fall)} % across the head of {band.name}"
    if fall.value < 3.0 * fall.error:
        return Hint("look", "band", f"no fall of the flux above 3σ: {text}")
    if fall.value < CLEAR_FALL:
        return Hint("look", "band", f"flux falls by only {text}")
    return Hint("ok", "band", f"flux falls by {text}")


def _incomplete(view: _View, covered: float) -> list[Hint]:
    found = []
    if covered < 0.995:
        found.append(Hint("look", "coverage", f"{100 * (1 - covered):.0f} % of the window has no data"))
    share = flagged(view.spectrum, view.window)
    if share > 0.02:
        found.append(Hint("look", "mask", f"the survey flags {100 * share:.0f} % of the pixels here"))
    return found


def _disturbed(view: _View, principal: Line | Band | None) -> list[Hint]:
    """Return hints on sky lines, telluric bands and arm joins across the window, those on the line itself first, at
    most two.
    """
    spectrum = view.spectrum
    if view.to_observed is None:
        return []
    if principal is None:
        focus = view.window
    elif isinstance(principal, Band):
        focus = principal.window(spectrum.medium)
    else:
        centre = principal.at(spectrum.medium)
        focus = (centre * 0.998, centre * 1.002)
    crossing = [b for b in sky_bands(spectrum.survey) if _overlap(view, b, view.window)]
    on_line = [b for b in crossing if _overlap(view, b, focus)]
    if view.window[1] - view.window[0] > WIDE_WINDOW:
        crossing = on_line
    ordered = dict.fromkeys([*on_line, *sorted(crossing, key=lambda b: b.name.startswith("OH "))])
    return [
        Hint("look", band.kind, f"overlaps {band.name} {band.lo:.0f}–{band.hi:.0f} Å{_frame_note(view)}")
        for band in list(ordered)[:2]
    ]


def _overlap(view: _View, band: SkyBand, window: Window) -> bool:
    lo, hi = band.window(view.spectrum.medium)
    stretch = view.to_observed or 1.0
    return lo < window[1] * stretch and hi > window[0] * stretch


def _frame_note(view: _View) -> str:
    """Return a note if the numbers could be read on the wrong axis."""
    return " observed" if view.to_axis != view.to_observed and abs((view.to_observed or 1.0) - 1.0) > 3e-4 else ""
