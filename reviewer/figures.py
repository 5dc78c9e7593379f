"""A figure of a spectrum for people: the whole range with the numbered windows of a trace, and below it one window.

Not the picture that the model sees, whose pixels never change.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from agent.language import deferred
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.record import BoolArray, FloatArray, medium_text
from agent.spectrum.table import Window, flux_unit
from agent.text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FigureKind = Literal["png", "svg", "pdf"]
_WIDTH, _PANEL, _DPI = 7.1, 2.7, 200  # inches: two columns of a journal
_INK, _ERROR, _FLAGGED, _SHADE, _CHOSEN = "#1f2f6b", "#c9ccd6", "#b45309", "#e3ebfb", "#1a56db"
_SMALL, _TEXT, _TITLE = 6.5, 8.5, 10.0  # points
_PAD = 0.06  # of the range, above and below the data
_ROWS, _APART = 3, 0.022  # rows of numbers above the plot, and the part of the range between two in one row
_STYLE = {"pdf.fonttype": 42, "svg.hashsalt": "spec-o3"}  # fonts that journals take; the same file each time
_UNDATED = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}


def figure(
    spectrum: Spectrum,
    windows: Sequence[Window],
    kind: FigureKind,
    span: tuple[float, float] | None = None,
    title: str = "",
) -> bytes:
    """Return the figure.

    :param span: the window of the lower panel, in the spectrum's wavelengths (Å); None: no lower panel
    :param title: "": the name of the spectrum
    :raises SpectrumError: fewer than two pixels of the spectrum are in ``span``
    """
    from matplotlib.figure import Figure

    from agent.plot.reference import default_style

    inside = np.ones(len(spectrum), bool)
    if span is not None:
        inside = (spectrum.wavelength >= span[0]) & (spectrum.wavelength <= span[1])
        if np.count_nonzero(inside) < 2:
            actual = deferred("fewer than two pixels in {lo:.8g} to {hi:.8g} Å", lo=span[0], hi=span[1])
            raise SpectrumError(spectrum.name, actual, deferred("a window with data"))
    packed = io.BytesIO()
    with default_style(_STYLE):
        panels = 1 if span is None else 2
        drawn = Figure(figsize=(_WIDTH, 0.5 + panels * _PANEL), layout="constrained", facecolor="white")
        axes: list[Axes] = list(drawn.subplots(panels, 1, squeeze=False)[:, 0])
        outside = _curve(axes[0], spectrum, np.ones(len(spectrum), bool))
        rows = _numbered(axes[0], spectrum, windows, span)
        axes[0].set_title(
            drawable(title or one_line(spectrum.name, 90)),
            fontsize=_TITLE,
            pad=6 + rows * (_TEXT + 1),
            parse_math=False,
        )
        if span is not None:
            outside = max(outside, _curve(axes[1], spectrum, inside))
            axes[1].set_xlim(*span)
        axes[-1].set_xlabel(f"Wavelength (Å), {spectrum.frame} frame, {medium_text(spectrum)}", fontsize=_TEXT)
        drawn.supxlabel(_note(spectrum, outside), fontsize=_SMALL, x=0.01, ha="left", color="#555", parse_math=False)
        drawn.savefig(packed, format=kind, dpi=_DPI, metadata=_UNDATED[kind])
    return packed.getvalue()


def _curve(axes: Axes, spectrum: Spectrum, inside: BoolArray) -> int:
    """Draw flux, error band and flagged pixels; return how many pixels lie outside the flux range."""
    seen = spectrum.ivar > 0
    sigma = np.divide(1, np.sqrt(spectrum.ivar), out=np.full(seen.size, np.nan), where=seen)[inside]
    shown = seen[inside] if seen[inside].any() else np.ones(sigma.size, bool)
    wavelength, mask = spectrum.wavelength[inside], spectrum.mask[inside] & shown
    flux = np.where(shown, spectrum.flux[inside], np.nan)  # a gap where there are no data
    axes.fill_between(wavelength, flux - sigma, flux + sigma, color=_ERROR, linewidth=0, zorder=1.5)
    axes.plot(wavelength, flux, color=_INK, linewidth=0.6, zorder=2)
    axes.plot(wavelength[mask], flux[mask], ".", color=_FLAGGED, markersize=1.5, zorder=3)
    low, high = flux_range(flux[shown], sigma[shown], mask[shown])
    axes.set_ylim(low, high)
    axes.margins(x=0)
    axes.minorticks_on()
    axes.tick_params(which="both", direction="in", top=True, right=True, labelsize=_TEXT)
    axes.set_ylabel(_flux_title(spectrum.flux_unit), fontsize=_TEXT, parse_math=False)
    return int(np.count_nonzero((flux[shown] < low) | (flux[shown] > high)))


def flux_range(flux: FloatArray, sigma: FloatArray, mask: BoolArray) -> tuple[float, float]:
    """Return a flux range for the bulk of the data and its lines: no cosmic ray and no noisy end sets it."""
    base, sigma = np.median(flux), np.nan_to_num(sigma)
    kept = ~mask & ~((sigma > 4 * np.median(sigma)) & (np.abs(flux - base) < 8 * sigma))
    values = flux[kept] if kept.any() else flux
    middle = np.median(sliding_window_view(np.pad(values, 2, mode="edge"), 5), axis=1)
    # Of an unresolved line the highest pixel stands above the median of five.
    reach = np.maximum(5 * 1.4826 * np.median(np.abs(values - middle)), 0.65 * np.abs(middle - base))
    limited = np.clip(values, middle - reach, middle + reach)
    low, high = float(limited.min()), float(limited.max())
    pad = _PAD * (high - low) or 0.1 * abs(high) or 1.0
    return (0.0 if 0 <= low < 0.25 * high else low - pad), high + pad


def _numbered(axes: Axes, spectrum: Spectrum, windows: Sequence[Window], span: tuple[float, float] | None) -> int:
    """Shade the windows and write their numbers above the plot; return how many rows these take."""
    first, last = (float(value) for value in spectrum.wavelength[[0, -1]])
    ends = [-math.inf] * _ROWS
    used = 0
    for window in sorted(windows, key=lambda window: window.lo + window.hi):
        lo, hi = max(window.lo, first), min(window.hi, last)
        if lo >= hi:
            continue
        axes.axvspan(lo, hi, facecolor=_SHADE, edgecolor="none", zorder=0)
        at = (lo + hi) / 2
        row = next((k for k, end in enumerate(ends) if at - end > _APART * (last - first)), int(np.argmin(ends)))
        ends[row], used = at, max(used, row + 1)
        chosen = span is not None and math.isclose(window.lo, span[0]) and math.isclose(window.hi, span[1])
        style: dict[str, Any] = {"fontsize": _TEXT - 1, "ha": "center", "weight": "bold" if chosen else "normal"}
        style |= {"xytext": (0, 2 + row * (_TEXT + 1)), "textcoords": "offset points"}
        axes.annotate(str(window.step), (at, 1), xycoords=("data", "axes fraction"), color=_CHOSEN, **style)
    for edge in span or ():
        axes.axvline(edge, color=_CHOSEN, linewidth=0.8, zorder=1)
    axes.set_xlim(first, last)
    return used


def _flux_title(unit: str) -> str:
    known = flux_unit(unit)
    if known is not None:
        return f"Fλ ({known.to_string('unicode').removeprefix('1×')})"
    return drawable(f"Flux ({'unit unknown' if unit in ('', 'unknown') else one_line(unit, 40)})")


def _note(spectrum: Spectrum, outside: int) -> str:
    notes = (
        one_line(spectrum.survey, 50),
        f"S/N {spectrum.snr_typical:.3g}",
        "z unknown" if spectrum.redshift is None else f"z = {spectrum.redshift:.7g}",
        "grey: ±1σ" + (", estimated from the scatter" if spectrum.errors == "estimated" else ""),
        "orange dots: flagged by the survey" if spectrum.mask.any() else "",
        f"pixels outside the flux range: {outside}" if outside else "",
    )
    return drawable(" · ".join(filter(None, notes)))


def drawable(text: str) -> str:
    """Return the text with a question mark for each letter that matplotlib's font does not have."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters = get_font(findfont(FontProperties())).get_charmap()
    return "".join(letter if ord(letter) in letters else "?" for letter in text)
