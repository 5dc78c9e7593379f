"""Simulated classes against real spectra of the same class, by the project's own indices."""

from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.real_spectra import RealSpectrum, real_spectra
from tests.benchmarks.simulated_and_real import COMPARED, Compared, real_of, simulated_of, spread, value_of


@pytest.fixture(scope="module")
def collection(shared: Path) -> list[RealSpectrum]:
    return list(real_spectra(shared / "spectra"))


@pytest.mark.parametrize("compared", COMPARED, ids=lambda c: c.title)
def test_medians_of_simulated_and_real_indices_agree(compared: Compared, collection: list[RealSpectrum]) -> None:
    """Within the tolerance that ``simulated_and_real`` states, and the ranges overlap."""
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
