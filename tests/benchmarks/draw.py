"""CPU time per picture on one core: the published order of operations, matplotlib's figure, and ours.

    python -m tests.benchmarks.draw

All ways draw the same pictures (checked first) and take turns in one process. A zoom moves by a few Å per turn, so
that no two pictures have the same texts. Then the CPU time of each stage of ours, and the floor.
"""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import AutoMinorLocator, MultipleLocator
from numpy.typing import NDArray
from PIL import Image

from agent import plot
from agent.plot import reference
from agent.plot.curve import pixels_to_draw
from agent.plot.exact import render
from agent.simulate import simulate
from agent.spectrum import Spectrum
from tests.benchmarks.results import Results

Window = tuple[float, float] | None
TURNS = 15
STEP = 3.0
STAGES = (
    ("which pixels", plot, "pixels_to_draw"),
    ("ticks and words", render, "_content"),
    ("layout", render, "position"),
    ("crop", render, "cropped"),
    ("grid, ticks, words drawn", render, "_draw_axes"),
    ("the line", render, "_draw_line"),
    ("spines", render, "_draw_spines"),
    ("statistics box", render, "_draw_statistics"),
    ("SHA-256 of the pixels", plot, "pixels_sha256"),
    ("PNG", plot, "png_bytes"),
)
FLOOR = ("the line", "SHA-256 of the pixels", "PNG")


@dataclass(frozen=True)
class Case:
    name: str
    spectrum: Spectrum
    window: Window

    def at(self, turn: int) -> tuple[NDArray[np.float64], NDArray[np.float64], Window]:
        moved = None if self.window is None else (self.window[0] + STEP * turn, self.window[1] + STEP * turn)
        return self.spectrum.wavelength, self.spectrum.flux, moved


def published(wavelength: NDArray[np.float64], flux: NDArray[np.float64], window: Window) -> bytes:
    """The operations of the published ``plot_spectrum`` in its order: layout, crop, save, open again."""
    curve = pixels_to_draw(wavelength, flux, window)
    figure, axes = plt.subplots(figsize=curve.size, dpi=plot.DPI)
    axes.plot(curve.wavelength, curve.flux, "-", color="blue", linewidth=1.0, alpha=0.8)
    axes.set_xlabel("Wavelength (Å)", fontsize=12, fontweight="bold")
    axes.set_ylabel("Flux", fontsize=12, fontweight="bold")
    axes.set_title("Spectrum", fontsize=14, fontweight="bold", pad=20)
    axes.grid(True, which="major", alpha=0.3, linestyle="-", linewidth=0.5)
    axes.grid(True, which="minor", alpha=0.1, linestyle="-", linewidth=0.3)
    for locate, spacing in zip(
        (axes.xaxis.set_major_locator, axes.xaxis.set_minor_locator), curve.tick_spacing, strict=True
    ):
        locate(MultipleLocator(spacing))
    axes.yaxis.set_minor_locator(AutoMinorLocator())
    axes.tick_params(axis="both", which="both", direction="in")
    axes.tick_params(axis="both", which="major", labelsize=10)
    plt.tight_layout()
    side, end = curve.emptiest_corner
    axes.text(
        0.02 if side == "left" else 0.98,
        0.98 if end == "top" else 0.02,
        curve.statistics,
        transform=axes.transAxes,
        fontsize=9,
        horizontalalignment=side,
        verticalalignment=end,
        bbox={"boxstyle": "round", "facecolor": "white", "alpha": 0.8},
    )
    buffer = io.BytesIO()
    plt.savefig(buffer, format="png", dpi=plot.DPI, bbox_inches="tight")
    plt.close(figure)
    Image.open(buffer).load()
    return buffer.getvalue()


def by_figure(wavelength: NDArray[np.float64], flux: NDArray[np.float64], window: Window) -> Image.Image:
    """Our reference, which also goes through a PNG; it draws what the fast path does not support."""
    return reference.picture(pixels_to_draw(wavelength, flux, window), "Spectrum")


def main() -> None:
    matplotlib.use("agg")
    quiet, noisy, desi = (
        simulate("cv", survey, snr, 1) for survey, snr in (("LAMOST", 20.0), ("LAMOST", 2.0), ("DESI", 5.0))
    )
    cases = (
        Case("zoom, 100 Å", quiet, (6500.0, 6600.0)),
        Case("zoom, 300 Å", quiet, (6400.0, 6700.0)),
        Case("zoom, 1200 Å", quiet, (4600.0, 5800.0)),
        Case("full LAMOST, S/N 20", quiet, None),
        Case("full LAMOST, S/N 2", noisy, None),
        Case("full DESI, S/N 5", desi, None),
    )
    for case in cases:
        _check_equal(case)
    results = Results()
    _compare(cases, results)
    _stages(cases, results)


def _check_equal(case: Case) -> None:
    files = [Image.open(io.BytesIO(way(*case.at(0)))) for way in (published, plot.png)]
    pictures = [*files, by_figure(*case.at(0)), plot.draw(*case.at(0))]
    if len({plot.pixels_sha256(picture) for picture in pictures}) != 1:
        raise SystemExit(f"{case.name}: the ways differ in their pixels, so their times say nothing")


def _compare(cases: tuple[Case, ...], results: Results) -> None:
    ways: tuple[Callable[..., object], ...] = (published, by_figure, plot.png, plot.draw)
    results.text("CPU ms per picture, median (fastest to slowest); PNG included except in the last column.")
    spread = "{0:.1f} ({1:.1f} to {2:.1f})"
    formats = {"picture": "", "published order": spread, "matplotlib's figure": spread, "`png`": spread}
    table = results.table({**formats, "times faster": "**{:.0f}**", "`draw` alone": spread})
    for case in cases:
        times: list[list[float]] = [[] for _ in ways]
        for turn in range(TURNS):
            for way, taken in zip(ways, times, strict=True):
                arguments = case.at(turn)
                start = time.process_time()
                way(*arguments)
                taken.append(1000 * (time.process_time() - start))
        faster = statistics.median(times[0]) / statistics.median(times[2])
        shown = [(statistics.median(t), min(t), max(t)) for t in times]
        table.row(case.name, *shown[:3], faster, shown[3])


def _stages(cases: tuple[Case, ...], results: Results) -> None:
    names = [*(name for name, _, _ in STAGES), "the rest"]
    columns = {case.name: _stage_times(case) for case in cases}
    results.text("Where it goes, CPU ms, median:")
    table = results.table({"stage": "", **dict.fromkeys(columns, "{:.2f}")})
    for name in names:
        table.row(name, *(times[name] for times in columns.values()))
    floors = [sum(times[name] for name in FLOOR) for times in columns.values()]
    totals = [sum(times.values()) for times in columns.values()]
    table.row("**all**", *totals)
    table.row("**floor**", *floors)
    results.text(
        "The floor is what remains if all else cost nothing: Agg stroking the line, hashing the pixels, "
        "compressing them. Every implementation needs this work."
    )


def _stage_times(case: Case) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name, _, _ in STAGES}
    rest: list[float] = []
    with _timed(taken):
        for turn in range(TURNS):
            before = sum(map(sum, taken.values()))
            start = time.process_time()
            picture = plot.draw(*case.at(turn))
            plot.pixels_sha256(picture)
            plot.png_bytes(picture)
            whole = 1000 * (time.process_time() - start)
            rest.append(whole - (sum(map(sum, taken.values())) - before))
    return {**{name: statistics.median(t) for name, t in taken.items()}, "the rest": statistics.median(rest)}


@contextmanager
def _timed(taken: dict[str, list[float]]) -> Iterator[None]:
    """Record the time of each stage while the context is open."""
    plain = [getattr(module, function) for _, module, function in STAGES]
    for (name, module, function), original in zip(STAGES, plain, strict=True):
        setattr(module, function, _recording(original, taken[name]))
    try:
        yield
    finally:
        for (_, module, function), original in zip(STAGES, plain, strict=True):
            setattr(module, function, original)


def _recording(function: Callable[..., object], taken: list[float]) -> Callable[..., object]:
    def timed(*arguments: object) -> object:
        start = time.process_time()
        try:
            return function(*arguments)
        finally:
            taken.append(1000 * (time.process_time() - start))

    return timed


if __name__ == "__main__":
    main()
