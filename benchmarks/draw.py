"""How long one picture takes, on one core: the published windows on a LAMOST grid, encoding included.

python -m benchmarks.draw
"""

from __future__ import annotations

import statistics
import time

from agent import plot
from agent.simulate import simulate

CASES = (
    ("zoom, 100 Å", (6500, 6600)),
    ("zoom, 300 Å", (6400, 6700)),
    ("zoom, 1200 Å", (4600, 5800)),
    ("full", None),
)
REPEATS = 15


def main() -> None:
    spectrum = simulate("cv", "LAMOST", 20.0, 1)
    print("| picture | median ms | fastest | slowest |\n|---|---:|---:|---:|")
    for name, window in CASES:
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            plot.png(spectrum.wavelength, spectrum.flux, window)
            times.append(1000 * (time.perf_counter() - start))
        print(f"| {name} | {statistics.median(times):.0f} | {min(times):.0f} | {max(times):.0f} |")


if __name__ == "__main__":
    main()
