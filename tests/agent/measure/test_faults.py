"""Faults of the data: found where they were inserted, and not in clean spectra or in features that resemble them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.lines import survey
from agent.measure import Undefined
from agent.measure.faults import faults, in_one_exposure, second_order, step
from agent.simulate import KINDS, simulate
from agent.spectrum import Spectrum, read
from tests.benchmarks.faults import FLAWLESS, INSERTED, with_a_peak

LAMOST = survey("LAMOST").arm_joins[0]  # type: ignore[union-attr]  # it is a known survey


def clean(kind: str = "sd", seed: int = 2, snr: float = 60.0, key: str = "LAMOST") -> Spectrum:
    return replace(simulate(kind, "LAMOST", snr, seed, instrument=FLAWLESS), survey=key)


@pytest.mark.parametrize(
    ("kind", "strength", "text"),
    [
        ("step", 0.15, r"step of 1\d % at 58\d\d Å"),
        ("fringes", 0.08, r"fringes: ripple of \d %, period (49|50|51) Å"),
        ("end", 0.95, r"90\d\d–90\d\d Å, the end of the range, has \d % of the flux next to it"),
        ("order", 0.1, r"flux beyond 6\d\d\d Å rises to \d+ % above the blue continuum"),
        ("exposure", 4.0, r"peak at (6000|5999) Å in exposure 2 \(B1\) only; 3 others do not show it"),
    ],
)
def test_an_inserted_fault_is_found_and_nothing_else(kind: str, strength: float, text: str) -> None:
    insert, key, _ = INSERTED[kind]
    spectrum = clean(key=key)
    assert faults(replace(spectrum, exposures=())) == ()
    spoilt = insert(spectrum, strength)
    (fault,) = faults(spoilt if isinstance(spoilt, Spectrum) else replace(spectrum, flux=spoilt))
    assert fault.kind == kind
    assert fault.size.significance > 5
    assert re.match(text, fault.text)


@pytest.mark.parametrize("kind", KINDS)
def test_bands_breaks_and_broad_lines_are_no_faults(kind: str) -> None:
    for seed in range(4):
        for key in ("LAMOST", "SDSS"):
            assert faults(clean(kind, seed, 40.0, key)) == ()
        assert isinstance(second_order(clean(kind, seed, 40.0, "")), Undefined)


def test_what_cannot_be_told_has_its_reason() -> None:
    assert step(clean("gm"), LAMOST) == Undefined("bands or broad lines look the same")
    assert step(replace(clean(), redshift=0.3), LAMOST) == Undefined("bands or broad lines look the same")
    nothing = replace(clean(), ivar=np.where(np.abs(clean().wavelength - 5850.0) < 400.0, 0.0, clean().ivar))
    assert step(nothing, LAMOST) == Undefined("too little data")
    for key in ("LAMOST", "HST/STIS"):
        spectrum = replace(clean(key=key), flux=INSERTED["order"][0](clean(), 0.2))
        assert isinstance(second_order(spectrum), Undefined)


def test_a_peak_that_the_pipeline_took_out_or_that_all_exposures_show_is_no_fault() -> None:
    spectrum = clean()
    (peak,) = in_one_exposure(with_a_peak(spectrum, 4.0))
    assert peak.window[0] < 6000.0 < peak.window[1]
    assert peak.size.value == pytest.approx(1.0, abs=0.2)
    rejected = replace(with_a_peak(spectrum, 4.0), flux=with_a_peak(spectrum, 0.0).flux)
    assert list(in_one_exposure(rejected)) == []
    line = spectrum.flux * (1 + 4 * np.exp(-0.5 * ((spectrum.wavelength - 6000.0) / 3.0) ** 2))
    assert list(in_one_exposure(with_a_peak(replace(spectrum, flux=line), 0.0))) == []
    assert [fault.text[:3] for fault in in_one_exposure(with_a_peak(spectrum, -4.0))] == ["dip"]


def test_faults_of_real_spectra(shared: Path) -> None:
    folder = shared / "spectra"
    found = faults(read(folder / "lamost/UNKNOWN/spec-58575-HD103621N361936B01_sp03-216.fits"))
    assert [(fault.kind, round(fault.window[0], -2), round(fault.window[1], -2)) for fault in found] == [
        ("step", 5800.0, 6000.0),
        ("end", 9100.0, 9100.0),
    ]
    assert all(faults(read(path)) == () for path in sorted((folder / "calspec_hst").rglob("*.fits*")))
