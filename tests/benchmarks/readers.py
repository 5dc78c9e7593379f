"""Number of survey files of a folder that are read correctly, and the reading times.

    python -m tests.benchmarks.readers FOLDER

FOLDER has spectra and a MANIFEST.csv with the columns path, layout, wave_min, wave_max (Å; 0: no spectrum). A file
counts as read if its wavelength range is that of the manifest (to 0.02 Å or 3e-5), otherwise as wrong; manifests
have errors too. Times are medians per layout, each the best of three reads, file cache warm.
"""

from __future__ import annotations

import csv
import statistics
import time
from collections import defaultdict
from pathlib import Path

from agent.spectrum import SeveralSpectra, Spectrum, SpectrumError, read, read_all
from tests.benchmarks.results import Results, command_line


def first_spectrum(path: Path) -> Spectrum:
    """The spectrum of a file, or the first of several."""
    try:
        return read(path)
    except SeveralSpectra:
        return next(read_all(path))


def outcome(path: Path, wave_min: float, wave_max: float) -> str:
    try:
        wavelength = first_spectrum(path).wavelength
    except SpectrumError:
        return "refused"
    ends = zip(wavelength[[0, -1]], (wave_min, wave_max), strict=True)
    return "read" if all(abs(a - b) < max(0.02, 3e-5 * b) for a, b in ends) else "wrong"


def best_of_three(path: Path, wave_min: float, wave_max: float) -> tuple[str, float]:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = outcome(path, wave_min, wave_max)
        times.append(1000 * (time.perf_counter() - start))
    return result, min(times)


def main(folder: Path) -> None:
    results: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with open(folder / "MANIFEST.csv", newline="", encoding="utf-8") as manifest:
        for row in csv.DictReader(manifest):
            ends = float(row["wave_min"]), float(row["wave_max"])
            key = f"{row['path'].split('/')[0]}: {row['layout']}".replace("|", "/")
            results[key].append(best_of_three(folder / row["path"], *ends))
    formats = {"layout": "", "read": "{}", "refused": "{}", "wrong": "{}", "median ms": "{:.1f}"}
    table = Results().table(formats)
    for layout, files in [*sorted(results.items()), ("**all**", [f for fs in results.values() for f in fs])]:
        counts = [sum(r == kind for r, _ in files) for kind in ("read", "refused", "wrong")]
        table.row(layout, *counts, statistics.median(t for _, t in files))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
