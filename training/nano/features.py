"""What a picture shows of a spectrum, in fixed words: measured without noise, stated only if the noise lets it be seen.

A line is measured by its equivalent width and the width of its profile, a band by the ratio of two mean fluxes. The
values come from the clean spectrum, their errors from the noise of the real one. Rest frame, vacuum Å.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from agent.simulate.profiles import C_KM_S, FloatArray
from agent.spectrum import Spectrum
from agent.tool import tool_wavelength

Span = tuple[float, float]

OUTSIDE, LOST = "not in the data", "lost in the noise"
LINE_STATES = (
    *("very broad emission", "broad emission", "narrow emission", "weak emission"),
    *("very broad absorption", "broad absorption", "absorption", "weak absorption"),
    *("no line", LOST, OUTSIDE),
)
BAND_STATES = ("deep band", "clear band", "weak band", "no band", LOST, OUTSIDE)
_SURE = 4.0
"""Errors that a line must be strong to be called one."""
_VERY_BROAD, _BROAD = 2800.0, 600.0
"""FWHM in km/s of emission: of a quasar or a Wolf-Rayet star, and of a disc."""
_ABSORPTION_BROAD = (1900.0, 900.0)
_SHIFT = 14.0
"""Å between a line's wavelength and its highest or deepest pixel, at most."""
_WEAK = 3.0
"""Emission of so many times the least equivalent width is not weak."""


@dataclass(frozen=True)
class Line:
    """A line. Half widths in Å of what belongs to it and, with its sides, to its continuum.

    :param least: equivalent width in Å of the faintest line that matters
    :param strong: absorption of this equivalent width is not weak
    """

    centre: float
    half: float
    side: float
    least: float
    strong: float

    states = LINE_STATES


@dataclass(frozen=True)
class Band:
    """A molecular band: the flux in ``span`` over that in ``side``. Below ``clear`` it is there."""

    span: Span
    side: Span
    clear: float

    states = BAND_STATES


FEATURES: Mapping[str, Line | Band] = MappingProxyType(
    {
        "Hα": Line(6564.6, 60, 100, 1.0, 3.0),
        "Narrow Hα": Line(6564.6, 12, 24, 0.8, 3.0),
        "He I 6678": Line(6680.0, 25, 45, 1.0, 1.5),
        "Hβ": Line(4862.7, 65, 110, 1.0, 4.0),
        "He II 4686": Line(4687.0, 26, 50, 0.6, 1.6),
        "[O III] 5007": Line(5008.2, 16, 32, 1.5, 9.0),
        "Hγ": Line(4341.7, 55, 85, 1.5, 7.0),
        "Hδ": Line(4102.9, 55, 85, 1.5, 7.0),
        "Ca II K": Line(3934.8, 14, 26, 0.6, 3.0),
        "G band": Line(4304.5, 14, 26, 1.2, 3.5),
        "He I 4471": Line(4472.7, 14, 26, 0.35, 1.0),
        "He I 4026": Line(4027.3, 14, 26, 0.35, 1.0),
        "He II 4542": Line(4542.9, 14, 26, 0.3, 0.8),
        "He II 5412": Line(5413.0, 18, 36, 0.35, 1.0),
        "He I 5876": Line(5877.2, 14, 24, 0.4, 1.2),
        "Na D": Line(5894.5, 9, 22, 0.8, 3.0),
        "Mg b": Line(5177.0, 20, 45, 1.2, 3.0),
        "Na I 8190": Line(8191.5, 14, 28, 0.8, 2.0),
        "Ca II 8542": Line(8544.4, 15, 32, 0.8, 2.0),
        "C2 4737": Band((4650, 4730), (4750, 4850), 0.75),
        "C2 5165": Band((5080, 5160), (5180, 5240), 0.75),
        "C2 5636": Band((5565, 5630), (5645, 5700), 0.85),
        "TiO 5167": Band((5172, 5220), (5125, 5160), 0.80),
        "TiO 6159": Band((6162, 6210), (6115, 6150), 0.88),
        "CaH 6385": Band((6380, 6391), (6345, 6356), 0.92),
        "CaH 6975": Band((6960, 6990), (7035, 7046), 0.84),
        "TiO 7054": Band((7120, 7136), (7035, 7046), 0.75),
        "ZrO 6474": Band((6476, 6492), (6455, 6471), 0.84),
        "ZrO 6345": Band((6347, 6362), (6322, 6341), 0.92),
        "ZrO 5551": Band((5554, 5576), (5528, 5547), 0.90),
    }
)

CONTINUA = ("blue", "flat", "red")
_STAND_OUT = {False: "", True: " with strong emission lines"}


def statements() -> list[str]:
    """Return every statement that there can be."""
    parts = [f"{name}: {state}." for name, feature in FEATURES.items() for state in feature.states]
    return parts + [_overview(colour, lines) for colour in CONTINUA for lines in _STAND_OUT]


def statement(name: str, clean: Spectrum) -> str:
    """Return what a picture of the feature shows.

    :param clean: the flux without noise, with the inverse variance of the noise
    """
    feature = FEATURES[name]
    wavelength = tool_wavelength(clean)
    if isinstance(feature, Line):
        return f"{name}: {_line(feature, wavelength, clean)}."
    return f"{name}: {_band(feature, wavelength, clean)}."


def overview(clean: Spectrum) -> str:
    """Return what the overview shows: the slope of the continuum, and whether emission lines stand out of it."""
    wavelength, flux = tool_wavelength(clean), clean.flux
    edges = np.linspace(wavelength[0], wavelength[-1], 25)
    parts = [flux[(wavelength >= lo) & (wavelength <= hi)] for lo, hi in pairwise(edges)]
    levels = np.array([np.median(part) if part.size else np.nan for part in parts])
    first, last = np.nanmedian(levels[1:9]), np.nanmedian(levels[-9:-1])
    ratio = first / last if first > 0 and last > 0 else 1.0
    colour = "blue" if ratio > 1.35 else "red" if ratio < 0.74 else "flat"
    peaks = np.array([part.max() if part.size else np.nan for part in parts])
    error = 5 / np.sqrt(max(float(np.median(clean.ivar)), 1e-300))
    tops = np.array([np.percentile(part, 80) if part.size else np.nan for part in parts])
    lines = bool(np.nanmax(peaks - 1.5 * np.maximum(tops, levels)) > error) if flux.any() else False
    return _overview(colour, lines)


def _overview(colour: str, lines: bool) -> str:
    return f"The continuum is {colour}{_STAND_OUT[lines]}."


def _line(line: Line, wavelength: FloatArray, clean: Spectrum) -> str:
    near = np.abs(wavelength - line.centre)
    core, sides = near <= line.half, (near > line.half) & (near <= line.side)
    left, right = sides & (wavelength < line.centre), sides & (wavelength > line.centre)
    if core.sum() < 3 or not (left.any() and right.any()):
        return OUTSIDE
    points = [(float(wavelength[side].mean()), float(np.mean(clean.flux[side]))) for side in (left, right)]
    x, flux = wavelength[core], clean.flux[core]
    continuum = np.interp(x, [at for at, _ in points], [level for _, level in points])
    if not (continuum > 0).all():
        return LOST
    sigma = 1 / np.sqrt(np.maximum(clean.ivar[core], 1e-30 + 0.04 * np.median(clean.ivar[core])))
    step = np.gradient(x)
    depth = 1 - flux / continuum
    width = float((depth * step).sum())
    # Only the pixels where the line is count for its error: a narrow line is seen in a wide window.
    strongest = float(depth[np.argmax(np.abs(depth))])
    is_deep = depth / strongest > 0.3 if strongest else np.ones_like(depth, bool)
    signal = float((depth * step)[is_deep].sum())
    error = float(np.sqrt(((sigma / continuum * step)[is_deep] ** 2).sum()))
    if abs(float(x[np.argmax(np.abs(depth))]) - line.centre) > _SHIFT:
        return _nothing(line, sigma / continuum, step)
    if signal < 0 and width < 0:
        if signal > -line.least or -signal < _SURE * error:
            return _nothing(line, sigma / continuum, step)
        if -width < _WEAK * line.least:
            return "weak emission"
        breadth = _breadth(x, -depth, line.centre)
        return _word(breadth, (_VERY_BROAD, _BROAD), ("very broad emission", "broad emission", "narrow emission"))
    if width < line.least or signal < _SURE * error:
        return _nothing(line, sigma / continuum, step)
    if width < line.strong:
        return "weak absorption"
    words = ("very broad absorption", "broad absorption", "absorption")
    return _word(_breadth(x, depth, line.centre), _ABSORPTION_BROAD, words)


def _nothing(line: Line, relative: FloatArray, step: FloatArray) -> str:
    """Return that there is no line, if one of the least strength would have been seen; taken as 8 Å wide."""
    pixels = max(1.0, 8.0 / float(np.median(step)))
    error = float(np.median(relative * step)) * np.sqrt(pixels)
    return "no line" if _SURE * error < 2 * line.least else LOST


def _breadth(wavelength: FloatArray, height: FloatArray, centre: float) -> float:
    """Return the FWHM in km/s of the part around the highest pixel."""
    top = int(np.argmax(height))
    high = height >= 0.5 * height[top]
    low_end, high_end = top, top
    # A disc's two peaks are one line: dips of a few pixels are passed over.
    gap = max(1, int(12 / float(np.median(np.diff(wavelength)))))
    while low_end > 0 and high[max(0, low_end - gap) : low_end].any():
        low_end -= 1
    while high_end < high.size - 1 and high[high_end + 1 : high_end + 1 + gap].any():
        high_end += 1
    return float(wavelength[high_end] - wavelength[low_end]) / centre * C_KM_S


def _word(value: float, bounds: tuple[float, float], words: tuple[str, str, str]) -> str:
    return words[0] if value > bounds[0] else words[1] if value > bounds[1] else words[2]


def _band(band: Band, wavelength: FloatArray, clean: Spectrum) -> str:
    here = [(wavelength >= lo) & (wavelength <= hi) for lo, hi in (band.span, band.side)]
    if not all(part.any() for part in here) or wavelength[0] > min(band.span[0], band.side[0]):
        return OUTSIDE
    if wavelength[-1] < max(band.span[1], band.side[1]):
        return OUTSIDE
    low, high = (float(clean.flux[part].mean()) for part in here)
    if high <= 0:
        return LOST
    error = float(np.hypot(*(1 / np.sqrt(max(float(clean.ivar[part].sum()), 1e-300)) for part in here))) / high
    ratio = low / high
    if error > 0.12:
        return LOST
    if ratio < band.clear - 0.22:
        return "deep band"
    if ratio < band.clear:
        return "clear band"
    return "weak band" if ratio < 1 - 0.4 * (1 - band.clear) else "no band"
