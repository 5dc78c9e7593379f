"""Contact sheet of the simulator: every kind once, and a cataclysmic variable of each survey.

python -m tests.benchmarks.simulated_sheet docs/images/simulated.png
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agent.simulate import KINDS, LOOK_ALIKES, simulate
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum

SEED, SNR = 4, 30.0
CLASSES = {
    "cv": "cataclysmic variable", "cc": "carbon star", "ss": "S star", "gm": "M giant", "wd": "white dwarf",
    "o": "O star", "b": "B star", "a": "A star",
}  # fmt: skip
STATES = ("cv", "cc", "wd", "o")
COLUMNS = 4
INK, CLASS_INK = "#33475b", "#0b6e99"


def panels() -> list[tuple[str, Spectrum, tuple[float, float] | None]]:
    """Title, spectrum, window; in the last row a cataclysmic variable of each survey, and Hα of the last."""
    found: list[tuple[str, Spectrum, tuple[float, float] | None]] = []
    for kind in KINDS:
        spectrum = simulate(kind, "LAMOST", SNR, SEED)
        state = str(spectrum.meta["state"])
        name = CLASSES.get(kind) or LOOK_ALIKES[kind]
        found.append((f"{kind}: {name}" + (f", {state}" if kind in STATES else ""), spectrum, None))
    for survey in SURVEYS:
        found.append((f"cv on {survey}'s grid", simulate("cv", survey, SNR, 11), None))
    found.append(("the same, DESI, Hα", found[-1][1], (6490.0, 6640.0)))
    return found


def sheet(path: Path) -> None:
    shown = panels()
    rows = -(-len(shown) // COLUMNS)
    figure = Figure(figsize=(13, 1.75 * rows), dpi=100, layout="constrained")
    for axes, (title, spectrum, window) in zip(figure.subplots(rows, COLUMNS).flat, shown, strict=True):
        inside = spectrum.ivar > 0
        if window is not None:
            inside &= (spectrum.wavelength > window[0]) & (spectrum.wavelength < window[1])
        flux = spectrum.flux[inside]
        ink = CLASS_INK if spectrum.meta["kind"] in CLASSES else INK
        axes.plot(spectrum.wavelength[inside], flux, color=ink, linewidth=0.5 if window is None else 1.0)
        low, high = np.percentile(flux, (0.3, 99.7))
        axes.set_ylim(low - 0.08 * (high - low), high + 0.25 * (high - low))
        axes.set_title(title, fontsize=8, loc="left", pad=3)
        axes.tick_params(labelsize=6.5, length=2)
        axes.set_yticks([])
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    figure.supxlabel("wavelength in vacuum, observed (Å)", fontsize=8)
    figure.savefig(path, metadata={"Software": None})


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    sheet(parser.parse_args(argv).path)


if __name__ == "__main__":
    main()
