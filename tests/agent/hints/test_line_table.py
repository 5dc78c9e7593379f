"""The line table and the measurement between two continuum points, on lines of known place, width and strength."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.hints.line_table import LineTable, line_table
from agent.lines import convert, lines
from agent.measure.two_points import between_points, in_frame
from agent.spectrum import Spectrum
from agent.tasks import load

C = 299_792.458
CV = load()["cv"]


def emission(names: dict[str, float], z: float | None, fwhm: float = 1000.0, snr: float = 100.0) -> Spectrum:
    """Emission lines, 1.5 times the continuum high and ``fwhm`` km/s broad, each at its own velocity, over a flat
    continuum in vacuum and the observed frame.
    """
    wavelength = 10 ** np.arange(np.log10(3700.0), np.log10(9100.0), 1e-4)
    flux = np.ones_like(wavelength)
    for line in lines():
        if line.name in names:
            centre = line.at("vacuum") * (1 + names[line.name] / C) * (1 + (z or 0.0))
            flux += 1.5 * np.exp(-0.5 * ((wavelength - centre) / (centre * fwhm / C / 2.3548)) ** 2)
    noise = np.random.default_rng(1).normal(0.0, 1.0 / snr, wavelength.size)
    return Spectrum(wavelength, flux + noise, np.full(wavelength.size, snr**2), redshift=z, survey="SDSS")


def row_of(table: LineTable, name: str):
    return next(row for row in table.rows if row.name == name)


BALMER = {"Hα": 80.0, "Hβ": 80.0, "Hγ": 80.0, "He II 4686": 80.0}


def test_a_line_has_its_centroid_velocity_width_and_strength() -> None:
    table = line_table(emission(BALMER, 0.0), CV)
    row = row_of(table, "Hβ")
    found = row.at_z
    assert row.rest == pytest.approx(4862.69, abs=0.01)
    assert found.velocity.value == pytest.approx(80.0, abs=4 * found.velocity.error)
    assert found.velocity.error < 10
    assert found.centroid.value == pytest.approx(row.rest * (1 + 80.0 / C), abs=0.1)
    assert found.fwhm.value == pytest.approx(1000.0, abs=4 * found.fwhm.error)
    # A Gaussian's area: 1.0645 times height and FWHM.
    assert found.ew.value == pytest.approx(-1.0645 * 1.5 * 4862.68 * 1000.0 / C, rel=0.05)
    assert found.reason == ""


def test_lines_of_one_velocity_agree_and_those_of_two_do_not() -> None:
    same = line_table(emission(BALMER, 0.0), CV).velocity
    assert same.agree
    assert same.lines >= 4
    assert same.mean.value == pytest.approx(80.0, abs=10)
    apart = line_table(emission(BALMER | {"Hβ": -500.0}, 0.0), CV).velocity
    assert not apart.agree
    assert "do not agree" in apart.text


def test_a_line_at_a_galaxy_redshift_is_found_there_and_not_at_zero() -> None:
    table = line_table(emission(BALMER, 0.05), CV)
    assert row_of(table, "Hα").at_z.velocity.value == pytest.approx(80.0, abs=20)
    assert row_of(table, "Hα").at_zero.velocity is None
    assert row_of(table, "Hα").at_zero.reason


def test_without_a_redshift_only_zero_is_measured() -> None:
    table = line_table(emission(BALMER, None), CV)
    assert table.z is None
    assert table.velocity is None
    assert {row.at_z.reason for row in table.rows} == {"the file has no redshift"}
    assert table.velocity_at_zero.mean.value == pytest.approx(80.0, abs=10)


def test_a_line_that_is_not_there_or_another_gets_no_velocity() -> None:
    found = row_of(line_table(emission(BALMER, 0.0), CV), "[N II] 6583").at_z
    assert found.velocity is None
    assert "from [N II] 6583" in found.reason
    found = row_of(line_table(emission({}, 0.0), CV), "Hα").at_z
    assert found.velocity is None
    assert found.reason
    assert abs(found.ew.value) < 5 * found.ew.error


def test_a_line_on_the_sky_says_so_in_the_observed_frame() -> None:
    assert row_of(line_table(emission(BALMER, 0.0), CV), "Hα").at_z.sky == ""
    # At z = 0.16 Hα is in the A band of O2.
    moved = row_of(line_table(emission(BALMER, 0.16), CV), "Hα")
    assert "observed" in moved.at_z.sky
    assert moved.at_zero.sky == ""


def test_a_line_outside_the_data_says_so() -> None:
    spectrum = emission(BALMER, 0.0)
    blue = spectrum.wavelength < 6000
    cut = replace(spectrum, **{name: getattr(spectrum, name)[blue] for name in ("wavelength", "flux", "ivar", "mask")})
    found = row_of(line_table(cut, CV), "Hα").at_z
    assert "outside the data" in found.reason
    assert found.ew is None


def test_air_and_vacuum_give_the_same_velocity() -> None:
    vacuum = emission(BALMER, 0.0)
    air = replace(vacuum, wavelength=convert(vacuum.wavelength, "vacuum", "air"), medium="air")
    one, other = (row_of(line_table(s, CV), "Hβ") for s in (vacuum, air))
    assert other.rest == pytest.approx(4861.33, abs=0.01)
    assert one.at_z.velocity.value == pytest.approx(other.at_z.velocity.value, abs=1.0)


def test_between_two_points_the_area_is_that_of_the_line() -> None:
    spectrum = emission({"Hα": 0.0}, 0.02)
    window = (6500.0, 6630.0)
    found = between_points(in_frame(spectrum, "rest", "vacuum", 0.02), window)
    expected = -1.0645 * 1.5 * 6564.6 * 1000.0 / C
    assert found.ew.value == pytest.approx(expected, abs=5 * found.ew.error)
    # The fluxes stay as observed; only their wavelengths are divided by 1 + z.
    assert found.flux.value == pytest.approx(-expected, abs=5 * found.flux.error)
    assert found.fit.centre.value == pytest.approx(6564.6, abs=0.5)
    assert found.continuum[0][1] == pytest.approx(1.0, abs=0.02)
    assert found.reason == ""


def test_a_gap_in_the_line_is_bridged_for_the_flux_as_for_the_equivalent_width() -> None:
    """On a continuum of 1 the flux is minus the equivalent width."""
    spectrum = emission({"Hα": 0.0}, 0.0)
    gap = (spectrum.wavelength > 6562) & (spectrum.wavelength < 6568)
    found = between_points(replace(spectrum, ivar=np.where(gap, 0.0, spectrum.ivar)), (6500.0, 6630.0))
    assert found.flux.value == pytest.approx(-found.ew.value, rel=0.02)


def test_frames_of_windows_measure_the_same_line() -> None:
    spectrum = emission({"Hα": 0.0}, 0.02)
    at_rest = between_points(in_frame(spectrum, "rest", "air", 0.02), (6500.0, 6630.0))
    observed = between_points(in_frame(spectrum, "observed", "vacuum", 0.02), (6632.0, 6764.0))
    assert observed.ew.value == pytest.approx(at_rest.ew.value * 1.02, rel=0.02)
    assert at_rest.fit.centre.value == pytest.approx(6562.8, abs=0.5)
    star = replace(emission({"Hα": 0.0}, None), frame="rest", redshift=0.01)
    found = between_points(in_frame(star, "observed", "vacuum", 0.01), (6560.0, 6700.0))
    assert found.fit.centre.value == pytest.approx(6564.6 * 1.01, abs=0.5)


@pytest.mark.parametrize("window", [(6500.0, 6510.0), (9500.0, 9600.0)])
def test_too_narrow_or_without_data_says_why(window: tuple[float, float]) -> None:
    found = between_points(emission({}, 0.0), window)
    assert found.ew is None
    assert "pixels in" in found.reason
