"""Fluxes per frequency become fluxes per wavelength, whatever the layout."""

from pathlib import Path

import numpy as np
import pytest

from agent.lines import air_to_vacuum
from agent.spectrum import SpectrumError, read
from agent.spectrum.readers.flux_units import F_LAMBDA, per_wavelength
from agent.spectrum.readers.pixels import exposure, spectrum

WAVELENGTH = np.linspace(4000.0, 9000.0, 300)
MJY = 1e-26 * 2.99792458e18 / 1e-17  # of F_λ in 1e-17 erg/s/cm²/Å times λ², in 1 mJy


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        *(("mJy", 1.0), ("mjy", 1.0), ("MILLIJANSKYS", 1.0), ("Jy", 1e3), ("uJy", 1e-3), ("µJy", 1e-3), ("nJy", 1e-6)),
        *(("milli-Janskys", 1.0), ("MJy", 1e9), ("Janskys", 1e3)),
        *(("erg/s/cm2/Hz", 1e26), ("ergs/s/cm^2/Hz", 1e26), ("erg s-1 cm-2 Hz-1", 1e26), ("W m-2 Hz-1", 1e29)),
        ("1e-29 erg/s/cm2/Hz", 1e-3),
    ],
)
def test_units_per_frequency_are_known_by_their_size(unit, factor):
    assert per_wavelength("x", unit) == pytest.approx(factor * MJY, rel=1e-9)


@pytest.mark.parametrize("unit", ["", "unknown", "relative", "1e-17 erg s-1 cm-2 Å-1", "erg /s /cm2 /angstroms", "adu"])
def test_other_units_are_left_alone(unit):
    assert per_wavelength("x", unit) is None


@pytest.mark.parametrize("unit", ["mag", "AB mag", "log(erg/s/cm2/A)", "parsec/Hz", "Jy " * 40, "Jy/Jy/Jy", "Hz"])
def test_magnitudes_and_unknown_units_of_frequency_are_refused(unit):
    with pytest.raises(SpectrumError, match="found a flux in"):
        per_wavelength("x", unit)


def test_flux_ivar_model_and_exposures_are_converted_together():
    flux = np.linspace(1.0, 3.0, 300)
    found = spectrum(
        "x",
        WAVELENGTH[::-1],
        flux[::-1],
        np.full(300, 25.0),
        model=flux[::-1] * 2,
        exposures=[exposure("B-1", WAVELENGTH[:50], flux[:50], np.full(50, 4.0)), None],
        medium="air",
        flux_unit="mJy",
        meta={"medium_assumed": True},
    )
    expected = flux * MJY / air_to_vacuum(WAVELENGTH) ** 2
    np.testing.assert_allclose(found.flux, expected)
    np.testing.assert_allclose(found.model, 2 * expected)
    # The signal-to-noise of a pixel does not depend on the unit.
    np.testing.assert_allclose(found.flux * np.sqrt(found.ivar), flux * 5.0)
    (first,) = found.exposures
    np.testing.assert_allclose(first.flux, expected[:50])
    np.testing.assert_allclose(first.flux * np.sqrt(first.ivar), flux[:50] * 2.0)
    assert found.flux_unit == F_LAMBDA
    assert dict(found.meta) == {"medium_assumed": True, "flux_unit_in_file": "mJy"}


def test_a_source_of_constant_f_nu_falls_as_the_square_of_the_wavelength(tmp_path: Path):
    rows = "\n".join(f"{w:.3f},2.0,0.1" for w in WAVELENGTH)
    path = tmp_path / "star.csv"
    path.write_text(f"wave_vac,flux [mJy],err\n{rows}\n")
    found = read(path)
    np.testing.assert_allclose(found.flux * found.wavelength**2, 2.0 * MJY, rtol=1e-6)
    assert found.snr_typical == pytest.approx(20.0)


def test_a_damaged_exposure_or_model_costs_only_itself():
    wrong = exposure("B-1", np.array([5000.0, 4000.0, 6000.0] * 5), np.ones(15), np.ones(15))
    found = spectrum("x", WAVELENGTH, np.ones(300), np.ones(300), model=np.full(300, np.nan), exposures=[wrong])
    assert (found.model, found.exposures) == (None, ())
