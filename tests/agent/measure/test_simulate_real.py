"""Simulated classes against real spectra of the same class, by the project's own indices.

The two samples differ in their mixture of subtypes, so medians agree only within the tolerance of each index.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from agent.lines import indices
from agent.measure import Measured, band_index, measure_feature, rest
from agent.simulate import simulate
from agent.spectrum import Spectrum
from agent.tasks import load
from tests.benchmarks.real_spectra import RealSpectrum, real_spectra

SEEDS, SNR = range(40), 60.0


@dataclass(frozen=True)
class Compared:
    """A class: the simulated kind and state, the real labels, and its indices with the tolerance of the median.

    :param wanted: of ``simulate``'s state; "" = any
    """

    title: str
    kind: str
    wanted: str
    labels: tuple[str, ...]
    tolerances: tuple[tuple[str, float], ...]


A_STARS = ("A0", "A1", "A1V", "A2IV", "A3", "A5V", "A7V", "A7III", "A0V", "A5")
COMPARED = (
    Compared(
        "A star",
        "a",
        "dwarf",
        tuple(f"STAR_{name}" for name in A_STARS),
        (("a: Hγ", 3.0), ("a: Hβ breadth", 300.0), ("a: Ca II K", 0.5), ("a: High Balmer lines (H10)", 0.12)),
    ),
    Compared(
        "B star",
        "b",
        "dwarf",
        ("B_STAR",),
        (("b: Hγ", 2.0), ("b: Hβ breadth", 300.0), ("b: He I 4471", 0.35), ("a: Ca II K", 0.4)),
    ),
    Compared(
        "Hot subdwarf",
        "sd",
        "",
        ("HOT_SUBDWARF", "SUBDWARF_sdB", "SUBDWARF_sdO"),
        (("b: Hγ", 3.0), ("b: Hβ breadth", 400.0)),
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
    ),
    Compared(
        "M dwarf",
        "dm",
        "",
        ("M_DWARF", "dMe_FLARE_STAR", "STAR_M7V", "STAR_dM0", "STAR_dM1", "STAR_dM2", "STAR_dM4"),
        (("TiO5", 0.15), ("CaH1", 0.08), ("CaH2", 0.15), ("CaH3", 0.1), ("CaOH", 0.2), ("Na8190", 0.08)),
    ),
    Compared(
        "S star",
        "ss",
        "",
        ("S_STAR", "MS_OR_WEAK_S_STAR"),
        (("TiO5", 0.15), ("ZrO-6474", 0.1), ("ZrO-6345", 0.08), ("ZrO-5551", 0.1), ("ss: Ba II 6497", 0.4)),
    ),
    Compared(
        "Carbon star",
        "cc",
        "",
        ("CARBON_STAR", "COMPOSITE_C_RICH_AGB"),
        (("C2-4737", 0.2), ("C2-5165", 0.15), ("C2-5636", 0.15), ("cc: CN 6926", 0.2), ("cc: CN 7872", 0.2)),
    ),
    Compared(
        "DA white dwarf",
        "wd",
        "DA",
        ("WD_DA",),
        (("wd: Hβ breadth", 1100.0), ("wd: Hγ breadth", 1100.0), ("wd: High Balmer lines (H10)", 0.05)),
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


@pytest.fixture(scope="module")
def collection(shared: Path) -> list[RealSpectrum]:
    return list(real_spectra(shared / "spectra"))


@pytest.mark.parametrize("compared", COMPARED, ids=lambda c: c.title)
def test_medians_of_simulated_and_real_indices_agree(compared: Compared, collection: list[RealSpectrum]) -> None:
    """Within the tolerance of the index, and the ranges overlap."""
    real, made = real_of(compared, collection), simulated_of(compared)
    assert len(real) >= 4
    for name, tolerance in compared.tolerances:
        value = value_of(name)
        real_low, real_middle, real_high = spread([value(s) for s in real])
        low, middle, high = spread([value(s) for s in made])
        assert abs(middle - real_middle) < tolerance, name
        assert low < real_high + tolerance / 2, name
        assert high > real_low - tolerance / 2, name


def test_every_real_da_has_a_simulated_counterpart(collection: list[RealSpectrum]) -> None:
    """Width and strength of Hβ together: a simulated DA within 25 % in both."""
    compared = next(c for c in COMPARED if c.title == "DA white dwarf")
    strength, width = value_of("wd: Hβ absorption"), value_of("wd: Hβ breadth")
    made = np.array([(strength(s), width(s)) for s in simulated_of(compared)])
    for real in real_of(compared, collection):
        there = np.array([strength(real), width(real)])
        off = np.abs(made / there - 1).max(axis=1)
        assert np.nanmin(off) < 0.25, (real.name, there)
