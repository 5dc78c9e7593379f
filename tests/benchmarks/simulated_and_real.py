"""Simulated spectra of a class against real ones, by the project's own indices and by picture.

    python -m tests.benchmarks.simulated_and_real FOLDER                          the indices
    python -m tests.benchmarks.simulated_and_real FOLDER --picture docs/images/simulated-and-real.png

FOLDER is a labelled collection (``real_spectra``). Real and simulated samples differ in their mixture of subtypes, so
medians agree only roughly; the tolerance is stated with each index.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from agent.lines import indices
from agent.measure import Measured, band_index, measure_feature, rest
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from tests.benchmarks.real_spectra import RealSpectrum, real_spectra
from tests.benchmarks.results import Results

SEEDS, SNR = range(40), 60.0
DRAWN = (4000.0, 7400.0)


@dataclass(frozen=True)
class Compared:
    """A class: the simulated kind and state, the real labels, and its indices with the tolerance of the median.

    :param wanted: of ``simulate``'s state; "" = any
    :param drawn: the real spectrum of the picture, by a part of its path
    """

    title: str
    kind: str
    wanted: str
    labels: tuple[str, ...]
    tolerances: tuple[tuple[str, float], ...]
    drawn: str


A_STARS = ("A0", "A1", "A1V", "A2IV", "A3", "A5V", "A7V", "A7III", "A0V", "A5")
COMPARED = (
    Compared(
        "A star",
        "a",
        "dwarf",
        tuple(f"STAR_{name}" for name in A_STARS),
        (("a: Hγ", 3.0), ("a: Hβ breadth", 300.0), ("a: Ca II K", 0.5), ("a: High Balmer lines (H10)", 0.12)),
        "a0v.dat",
    ),
    Compared(
        "B star",
        "b",
        "dwarf",
        ("B_STAR",),
        (("b: Hγ", 2.0), ("b: Hβ breadth", 300.0), ("b: He I 4471", 0.35), ("a: Ca II K", 0.4)),
        "HD147394",
    ),
    Compared(
        "Hot subdwarf",
        "sd",
        "",
        ("HOT_SUBDWARF", "SUBDWARF_sdB", "SUBDWARF_sdO"),
        (("b: Hγ", 3.0), ("b: Hβ breadth", 400.0)),
        "m0608V",
    ),
    Compared(
        "M giant",
        "gm",
        "",
        ("M_GIANT", "STAR_M0III", "STAR_M2III", "STAR_M4III", "STAR_M5III", "STAR_M8III"),
        (
            ("gm: TiO 6159", 0.15),
            ("TiO5", 0.2),
            ("CaH1", 0.05),
            ("CaH3", 0.08),
            ("ZrO-6474", 0.08),
            ("cc: Ba II 6497", 0.4),
        ),
        "m4iii.dat",
    ),
    Compared(
        "M dwarf",
        "dm",
        "",
        ("M_DWARF", "dMe_FLARE_STAR", "STAR_M7V", "STAR_dM0", "STAR_dM1", "STAR_dM2", "STAR_dM4"),
        (("TiO5", 0.15), ("CaH1", 0.08), ("CaH2", 0.15), ("CaH3", 0.1), ("CaOH", 0.2), ("Na8190", 0.08)),
        "m0183V",
    ),
    Compared(
        "S star",
        "ss",
        "",
        ("S_STAR", "MS_OR_WEAK_S_STAR"),
        (
            ("TiO5", 0.15),
            ("ZrO-6474", 0.1),
            ("ZrO-6345", 0.08),
            ("ZrO-5551", 0.1),
            ("ss: Ba II 6497", 0.4),
        ),
        "m0781V",
    ),
    Compared(
        "Carbon star",
        "cc",
        "",
        ("CARBON_STAR", "COMPOSITE_C_RICH_AGB"),
        (("C2-4737", 0.2), ("C2-5165", 0.15), ("C2-5636", 0.15), ("cc: CN 6926", 0.2), ("cc: CN 7872", 0.2)),
        "spDR2-017",
    ),
    Compared(
        "DA white dwarf",
        "wd",
        "DA",
        ("WD_DA",),
        (("wd: Hβ breadth", 1100.0), ("wd: Hγ breadth", 1100.0), ("wd: High Balmer lines (H10)", 0.05)),
        "grw_70d5824",
    ),
)

Value = Callable[[Spectrum], float]


def value_of(name: str) -> Value:
    """The measurement of an index of the literature, or of a feature ("task: feature"); NaN where undefined."""
    task, _, feature_name = name.partition(": ")
    feature = load()[task].feature(feature_name) if feature_name else None

    def value(at_rest: Spectrum) -> float:
        found = measure_feature(at_rest, feature) if feature else band_index(at_rest, indices()[name])
        return found.value if isinstance(found, Measured) else float("nan")

    return value


def simulated_of(compared: Compared) -> list[Spectrum]:
    """Simulated spectra of the class, at rest."""
    made = [simulate(compared.kind, "LAMOST", SNR, seed) for seed in SEEDS]
    return [rest(s) for s in made if str(s.meta["state"]).startswith(compared.wanted)]


def real_of(compared: Compared, collection: Sequence[RealSpectrum]) -> list[Spectrum]:
    """Real spectra of the class, at rest."""
    return [rest(r.spectrum) for r in collection if r.label in compared.labels]


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """16th, 50th and 84th percentile of the defined values; NaN if there are none."""
    defined = [v for v in values if np.isfinite(v)]
    if not defined:
        return (float("nan"),) * 3
    low, middle, high = np.percentile(defined, (16, 50, 84))
    return float(low), float(middle), float(high)


def closest(compared: Compared, real: Spectrum) -> Spectrum:
    """The simulated spectrum of the class whose indices are closest to those of a real one, in units of the tolerance;
    on SDSS's grid, nearly without noise.
    """

    wanted = [
        (value, value(real), tolerance) for value, tolerance in ((value_of(n), t) for n, t in compared.tolerances)
    ]

    def distance(made: Spectrum) -> float:
        return float(np.nanmean([((value(made) - right) / tolerance) ** 2 for value, right, tolerance in wanted]))

    made = [rest(simulate(compared.kind, "SDSS", 300.0, seed)) for seed in SEEDS]
    return min((s for s in made if str(s.meta["state"]).startswith(compared.wanted)), key=distance)


def picture(path: Path, collection: Sequence[RealSpectrum]) -> None:
    """One panel per class: a real spectrum above, the closest simulated one below, each divided by its mean."""
    figure = Figure(figsize=(12, 9), dpi=90, layout="constrained")
    for axes, compared in zip(figure.subplots(4, 2).flat, COMPARED, strict=True):
        real = next(rest(r.spectrum, medium="vacuum") for r in collection if compared.drawn in r.path)
        made = closest(compared, real)
        for spectrum, offset, ink in ((real, 0.0, "#33475b"), (made, -1.0, "#0b6e99")):
            inside = (spectrum.wavelength > DRAWN[0]) & (spectrum.wavelength < DRAWN[1]) & (spectrum.ivar > 0)
            flux = spectrum.flux[inside]
            axes.plot(spectrum.wavelength[inside], flux / flux.mean() + offset, color=ink, linewidth=0.6)
        state = "" if made.meta["state"] in ("dwarf", "giant", "DA", "S") else f", {made.meta['state']}"
        axes.set_title(f"{compared.title}: real (above), simulated{state} (below)", fontsize=8, loc="left", pad=3)
        axes.tick_params(labelsize=6.5, length=2)
        axes.set_yticks([])
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    figure.supxlabel("wavelength in vacuum, at rest (Å)", fontsize=8)
    figure.savefig(path, metadata={"Software": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--picture", type=Path, help="draw this file")
    options = parser.parse_args()
    collection = list(real_spectra(options.folder))
    if options.picture:
        picture(options.picture, collection)
    report = Results()
    table = report.table(
        {"class": "", "index": "", **dict.fromkeys(("real 16 %", "real", "real 84 %"), "{:.2f}")}
        | dict.fromkeys(("simulated 16 %", "simulated", "simulated 84 %"), "{:.2f}")
    )
    for compared in COMPARED:
        real, made = real_of(compared, collection), simulated_of(compared)
        for name, _ in compared.tolerances:
            value = value_of(name)
            table.row(
                f"{compared.title} ({len(real)}, {len(made)})",
                name,
                *spread([value(s) for s in real]),
                *spread([value(s) for s in made]),
            )


if __name__ == "__main__":
    main()
