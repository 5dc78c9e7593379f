"""The figures of a catalogue: of each object with the windows that decided, and gallery pages; PDF and PNG.

They are drawn by ``reviewer.figures`` and matplotlib in worker processes; the same data give the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.measure.values import redshift_text
from agent.processes import cores, ordered_map
from agent.spectrum import Spectrum
from agent.spectrum.record import ARRAYS
from agent.spectrum.table import Window
from agent.text import one_line
from reviewer.catalogue.objects import Rows
from reviewer.figures import FigureKind, drawable, figure, flux_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS: tuple[FigureKind, ...] = ("pdf", "png")
FIGURES, GALLERY = "figures", "gallery"
PER_PAGE = 5
_WIDTH, _PANEL, _FOOT = 7.1, 1.78, 0.4  # inches: five panels fill the page of a journal
_DPI = 200
_INK, _SHADE, _NUMBER = "#1f2f6b", "#e3ebfb", "#1a56db"
_OPTICAL, _FEWEST = (3000.0, 11_000.0), 50
"""Å that are drawn of spectra that reach farther, as standards from the ultraviolet to 30 µm do; least pixels there."""
_BINS = 900
"""Points of a curve on a gallery page; more are averaged."""
WORTH_PROCESSES = 4


@dataclass(frozen=True)
class Plotted:
    """An object as it is drawn. ``title`` is the line above it."""

    number: int
    title: str
    spectrum: Spectrum
    windows: tuple[Window, ...]

    @property
    def file(self) -> str:
        return f"{FIGURES}/{self.number:06d}"


def draw(rows: Rows, folder: Path, on_picture: Callable[[int, int], None] | None = None) -> None:
    """Draw all figures into ``folder``.

    :param on_picture: called with the number of figures and pages drawn, and of all
    """
    (folder / FIGURES).mkdir()
    (folder / GALLERY).mkdir()
    n = len(rows.objects)
    total = n + -(-n // PER_PAGE)
    processes = cores() if n >= WORTH_PROCESSES else 1
    done = 0
    for work, jobs in ((_figure, _plotted(rows)), (_page, _pages(rows))):
        for _ in ordered_map(partial(work, folder), jobs, processes):
            done += 1
            if on_picture is not None:
                on_picture(done, total)


def _plotted(rows: Rows) -> Iterator[Plotted]:
    for entry, row in zip(rows.objects, rows.rows, strict=True):
        spectrum = rows.facts.spectrum(entry.best)
        z = "z unknown" if row["z"] is None else f"z = {redshift_text(row['z'])}"
        survey = one_line(spectrum.survey or "survey unknown", 30)
        title = f"{entry.number}  {entry.name}  ({survey}, {z}, S/N {row['SNR'] or 0:.1f})"
        windows = entry.windows(spectrum)
        yield Plotted(entry.number, title, _optical(spectrum, windows), windows)


def _optical(spectrum: Spectrum, windows: Sequence[Window]) -> Spectrum:
    """Return the part of a spectrum in ``_OPTICAL``; all of it if a window is outside, or few pixels are inside."""
    inside = (spectrum.wavelength >= _OPTICAL[0]) & (spectrum.wavelength <= _OPTICAL[1])
    is_outside = any(window.lo < _OPTICAL[0] or window.hi > _OPTICAL[1] for window in windows)
    if is_outside or np.count_nonzero(inside) < _FEWEST or inside.all():
        return spectrum
    snr = {"median": spectrum.snr_typical, **spectrum.snr}  # of all pixels
    return replace(spectrum, snr=snr, **{name: getattr(spectrum, name)[inside] for name in ARRAYS})


def _pages(rows: Rows) -> Iterator[tuple[int, tuple[Plotted, ...]]]:
    page: list[Plotted] = []
    for plotted in _plotted(rows):
        page.append(plotted)
        if len(page) == PER_PAGE or plotted.number == len(rows.objects):
            yield (plotted.number - 1) // PER_PAGE + 1, tuple(page)
            page = []


def _figure(folder: Path, plotted: Plotted) -> None:
    for kind in _KINDS:
        drawn = figure(plotted.spectrum, plotted.windows, kind, title=plotted.title)
        (folder / f"{plotted.file}.{kind}").write_bytes(drawn)


def _page(folder: Path, page: tuple[int, tuple[Plotted, ...]]) -> None:
    """Draw a page of the gallery: a panel per object."""
    from matplotlib.figure import Figure

    from agent.plot.reference import default_style

    number, objects = page
    with default_style({"pdf.fonttype": 42}):
        size = _WIDTH, _FOOT + _PANEL * len(objects)
        drawn = Figure(figsize=size, layout="constrained", facecolor="white")
        panels: list[Axes] = list(drawn.subplots(len(objects), 1, squeeze=False)[:, 0])
        for axes, plotted in zip(panels, objects, strict=True):
            _panel(axes, plotted)
        drawn.supylabel("Flux over its median", fontsize=8)
        panels[-1].set_xlabel("Wavelength (Å) as the file has it: medium and frame are named in each panel", fontsize=8)
        for kind, metadata in (("pdf", {"CreationDate": None}), ("png", {})):
            packed = io.BytesIO()
            drawn.savefig(packed, format=kind, dpi=_DPI, metadata=metadata)
            (folder / GALLERY / f"page-{number:04d}.{kind}").write_bytes(packed.getvalue())


def _panel(axes: Axes, plotted: Plotted) -> None:
    spectrum = plotted.spectrum
    seen = spectrum.ivar > 0
    shown = seen if seen.any() else np.ones(len(spectrum), bool)
    sigma = np.divide(1, np.sqrt(spectrum.ivar), out=np.zeros(len(spectrum)), where=seen)
    low, high = flux_range(spectrum.flux[shown], sigma[shown], spectrum.mask[shown])
    scale = float(np.median(np.abs(spectrum.flux[shown]))) or 1.0
    wavelength, flux = binned(spectrum.wavelength, np.where(shown, spectrum.flux, np.nan), _BINS)
    for window in plotted.windows:
        axes.axvspan(window.lo, window.hi, facecolor=_SHADE, edgecolor="none", zorder=0)
    axes.plot(wavelength, flux / scale, color=_INK, linewidth=0.6, zorder=2)
    axes.set_xlim(float(spectrum.wavelength[0]), float(spectrum.wavelength[-1]))
    axes.set_ylim(low / scale, high / scale)
    axes.minorticks_on()
    axes.tick_params(which="both", direction="in", top=True, right=True, labelsize=7)
    axes.set_title(drawable(plotted.title), fontsize=8, loc="left", pad=3, parse_math=False)
    medium: Any = f"{spectrum.frame}, {spectrum.medium}" + (" (assumed)" if spectrum.meta.get("medium_assumed") else "")
    axes.text(0.995, 0.95, medium, transform=axes.transAxes, ha="right", va="top", fontsize=6.5, color="#555")


def binned(
    wavelength: np.ndarray[Any, np.dtype[np.float64]], flux: np.ndarray[Any, np.dtype[np.float64]], most: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return means over groups of neighbouring pixels, (n,) -> (``most`` or fewer,); NaN where a group has no data."""
    size = -(-len(wavelength) // most)
    if size == 1:
        return wavelength, flux
    padding = (0, -len(wavelength) % size)
    groups = [np.pad(values, padding, constant_values=np.nan).reshape(-1, size) for values in (wavelength, flux)]
    known = ~np.isnan(groups[1])
    number = known.sum(axis=1)
    total = np.where(known, groups[1], 0.0).sum(axis=1)
    means = np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)
    return np.nanmean(groups[0], axis=1), means
