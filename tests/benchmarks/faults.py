"""Faults of the data: how many inserted ones are found, and which real spectra have one.

    python -m tests.benchmarks.faults FOLDER

Faults are inserted at several strengths into simulated spectra. Real spectra are those of the half "report"; library
stars and templates are taken as observed, and none should have a fault.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from agent.lines import survey
from agent.measure.faults import faults, step
from agent.measure.pixels import FloatArray
from agent.measure.values import Undefined
from agent.simulate import simulate
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum
from agent.spectrum.record import Exposure
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Results, command_line

KINDS = ("a", "fgk", "sd", "wd")
FLAWLESS = replace(SURVEYS["LAMOST"], joins=(), calibration=0.0)
CLEAN = ("CALSPEC", "MILES", "STELIB", "PyHammer")


def with_a_peak(spectrum: Spectrum, size: float, seed: int = 0) -> Spectrum:
    """The mean of four exposures of different levels, the second with a peak at 6000 Å of ``size`` times the flux."""
    rng = np.random.default_rng(seed)
    seen, error = spectrum.ivar > 0, 2.0 / np.sqrt(np.where(spectrum.ivar > 0, spectrum.ivar, 1.0))
    fluxes = [spectrum.flux + rng.normal(0.0, error) for _ in range(4)]
    fluxes[1] += size * spectrum.flux * np.exp(-0.5 * ((spectrum.wavelength - 6000.0) / 3.0) ** 2)
    ivar = np.where(seen, error**-2, 0.0)
    levels = rng.uniform(0.3, 3.0, 4)
    exposures = tuple(
        Exposure(f"B{n}", spectrum.wavelength, flux * level, ivar / level**2)
        for n, (flux, level) in enumerate(zip(fluxes, levels, strict=True))
    )
    return replace(spectrum, flux=np.mean(fluxes, axis=0), ivar=4 * ivar / 2, exposures=exposures)


Insert = Callable[[Spectrum, float], FloatArray | Spectrum]
INSERTED: Mapping[str, tuple[Insert, str, tuple[float, ...]]] = {
    "step": (
        lambda s, size: s.flux * np.where(s.wavelength > 5850.0, 1.0 + size, 1.0),
        "LAMOST",
        (0.0, 0.08, 0.12, 0.2),
    ),
    # A period of 50 Å at 8000 Å, growing from 7000 Å on.
    "fringes": (
        lambda s, size: s.flux + s.flux * size * _ramp(s, 7000.0) * np.cos(2.56e6 * np.pi / s.wavelength),
        "SDSS",
        (0.0, 0.02, 0.04, 0.08),
    ),
    "end": (lambda s, size: s.flux * np.where(s.wavelength > 9040.0, 1.0 - size, 1.0), "LAMOST", (0.0, 0.5, 0.9, 1.0)),
    # Light of half the wavelength.
    "order": (
        lambda s, size: s.flux + size * _ramp(s, 6400.0) * np.interp(s.wavelength / 2, s.wavelength, s.flux),
        "",
        (0.0, 0.05, 0.1, 0.2),
    ),
    "exposure": (with_a_peak, "SDSS", (0.0, 0.5, 1.0, 2.0)),
}
"""By kind: what inserts the fault into a spectrum with a strength, the survey that it needs, strengths."""


def _ramp(spectrum: Spectrum, begin: float) -> FloatArray:
    return np.clip((spectrum.wavelength - begin) / 1000.0, 0.0, 1.0)


def add_simulated(report: Results, seeds: int) -> None:
    """Add how often each inserted fault is found; at strength 0 nothing was inserted."""
    table = report.table({"inserted fault": "", "strength": "{:.2f}", "found": "{}", "another": "{}", "of": "{}"})
    for kind, (insert, key, strengths) in INSERTED.items():
        for strength in strengths:
            counts: Counter[str] = Counter()
            for number in range(seeds):
                clean = simulate(KINDS[number % len(KINDS)], "LAMOST", 30.0, number, instrument=FLAWLESS)
                spoilt = insert(replace(clean, survey=key), strength)
                spectrum = spoilt if isinstance(spoilt, Spectrum) else replace(clean, survey=key, flux=spoilt)
                counts.update({fault.kind for fault in faults(spectrum)})
            table.row(kind, strength, counts[kind], counts.total() - counts[kind], seeds)


def add_real(report: Results, folder: Path, half: str = "report") -> list[str]:
    """Add the faults of real spectra by source, and return a line for each fault of a library star or template."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    wrong = []
    joins = [join for key in ("lamost", "sdss boss", "desi") if (known := survey(key)) for join in known.arm_joins]
    for real in real_spectra(folder):
        if real.half != half:
            continue
        clean = real.spectrum.survey in CLEAN or "template" in real.source
        spectrum = replace(real.spectrum, frame="observed") if clean else real.spectrum
        found = faults(spectrum)
        counts[real.source].update(["spectra", *(fault.kind for fault in found)])
        # No library star has been through two arms.
        steps = [step(spectrum, join) for join in joins] if clean else []
        counts[real.source]["join"] += sum(not isinstance(one, Undefined) for one in steps)
        wrong += [f"{fault.kind}: {fault.text} in {real.path}" for fault in found if clean]
    table = report.table(
        {"real spectra": "", "of": "{}", **dict.fromkeys(INSERTED, "{}"), "step at a foreign join": "{}"}
    )
    for source, counted in sorted(counts.items()):
        table.row(source, counted["spectra"], *(counted[kind] for kind in INSERTED), counted["join"])
    return wrong


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("folder", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--half", choices=["choose", "report"], default="report")
    parser.add_argument("--seeds", type=int, default=40, help="simulated spectra of each strength")
    options = parser.parse_args()
    report = Results()
    add_simulated(report, options.seeds)
    print(*add_real(report, options.folder, options.half), sep="\n")


if __name__ == "__main__":
    main()
