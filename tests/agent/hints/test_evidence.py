"""What the data say about a line: measured above molecular bands, and called by the name of its own atom."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent import tasks
from agent.hints.evidence import Evidence
from agent.hints.line_table import line_table
from agent.lines import lines
from agent.measure import LineMeasurement, Measured, rest
from agent.spectrum import Spectrum, read
from agent.templates import Template, bundled

GRID = np.arange(3700.0, 9200.0, 1.4)
AT = {line.name: line.at("vacuum") for line in lines()}
BANDED = [t for t in bundled().templates if t.about.kind in ("M dwarf", "M giant", "S")]


def spectrum_of(flux: np.ndarray, snr: float = 80.0, redshift: float | None = 0.0, seed: int = 3) -> Spectrum:
    sigma = float(np.median(flux)) / snr
    noisy = flux + sigma * np.random.default_rng(seed).standard_normal(flux.size)
    return Spectrum(GRID, noisy, np.full(GRID.size, sigma**-2), redshift=redshift)


def line(name: str, height: float, velocity: float = 0.0, fwhm: float = 250.0) -> np.ndarray:
    """A Gaussian at a line of the list, in units of the continuum; FWHM and velocity in km/s."""
    v = (GRID / AT[name] - 1) * 299_792.458
    return np.asarray(height * np.exp(-0.5 * ((v - velocity) * 2.3548 / fwhm) ** 2))


def flat(*parts: np.ndarray) -> Evidence:
    return Evidence(rest(spectrum_of(1.0 + sum(parts, np.zeros(GRID.size)))))


def flux_of(template: Template) -> tuple[np.ndarray, float]:
    """The flux of a template on the grid, and its median about Hα."""
    seen = np.isfinite(template.flux)
    flux = np.interp(GRID, template.wavelength[seen], template.flux[seen])
    return flux, float(np.median(flux[(GRID > 6400) & (GRID < 6700)]))


def of_template(template: Template, *parts: np.ndarray) -> Evidence:
    """The star of a template, reddened, with narrow lines in units of its flux at 6500 Å."""
    flux, scale = flux_of(template)
    spectrum = spectrum_of((flux + scale * sum(parts, np.zeros(GRID.size))) * (GRID / 6500) ** 0.5)
    covered = (template.coverage[0] < GRID) & (template.coverage[1] > GRID)
    return Evidence(rest(replace(spectrum, ivar=np.where(covered, spectrum.ivar, 0.0))))


@pytest.mark.parametrize("template", BANDED, ids=lambda template: template.about.id)
def test_a_narrow_line_on_any_hump_between_bands_has_its_own_velocity_and_width(template: Template) -> None:
    if template.coverage[1] < 7300 or template.coverage[0] > 6000:
        pytest.skip("the template does not cover Hα and the bands about it")
    data = of_template(template, line("Hα", 3.0, velocity=-40.0))
    assert data.named("Hα").state == "emission"
    measured = data.named("Hα").detection
    assert isinstance(measured, LineMeasurement)
    assert abs(measured.velocity.value + 40) < 40
    assert measured.fwhm.value < 500
    assert isinstance(measured.width, Measured)
    assert -27 < measured.width.value < -12  # 3.0 · 1.064 · 5.47 Å is 17.5 Å, and up to 9 Å of the template's own


@pytest.mark.parametrize("template", BANDED, ids=lambda template: template.about.id)
def test_a_hump_between_bands_is_no_line(template: Template) -> None:
    data = of_template(template)
    for name in ("Hα", "Hβ", "He I 5876", "He I 6678", "[O III] 5007"):
        measured = data.named(name).detection
        assert measured is None or measured.fwhm.value < 500, name


def test_flare_stars_of_a_survey(shared: Path) -> None:
    for path in sorted((shared / "spectra/wiserep_xshooter").rglob("*.txt")):
        halpha, hbeta = (Evidence(rest(read(path))).named(name).detection for name in ("Hα", "Hβ"))
        assert halpha is not None, path
        assert hbeta is not None, path
        assert abs(halpha.velocity.value - hbeta.velocity.value) < 60, path
        assert isinstance(halpha.width, Measured)
        assert -20 < halpha.width.value < -0.5, path


@pytest.mark.parametrize(
    ("name", "there", "alone"),
    [
        ("He II 4542", "He II 4686", 0.5),
        ("He II 5412", "He II 4686", 0.5),
        ("He I 4471", "He I 5876", 0.5),
        ("H9", "Hβ", 0.5),
        ("H10", "Hγ", -0.4),
        ("H8", "Hδ", -0.4),
        ("He II 5412", "He II 4686", -0.4),
        ("Na I 8183", "Na D2", -0.4),
    ],
)
def test_a_weaker_line_of_an_ion_needs_a_stronger_one(name: str, there: str, alone: float) -> None:
    sign = "emission" if alone > 0 else "absorption"
    assert flat(line(name, alone)).named(name).state == "undecided"
    assert flat(line(name, alone), line(there, 1.2 * alone)).named(name).state == sign


def test_the_dip_of_one_atom_is_not_called_by_the_name_of_another() -> None:
    assert flat(line("Hγ", -0.4), line("Hδ", -0.4), line("Hε", -0.4)).named("Ca II H").state == "undecided"
    assert flat(line("Ca II K", -0.5), line("Ca II H", -0.5)).named("Ca II H").state == "absorption"
    both = flat(line("Hδ", -0.4), line("Ca II K", -0.2), line("Hε", -0.3), line("Ca II H", -0.15)).named("Ca II H")
    assert (both.state, both.alike) == ("absorption", ("Hε",))
    helium = flat(line("He I 5876", 0.6), line("He I 6678", 0.4), line("He I 5016", 0.5, fwhm=150))
    assert helium.named("He I 5016").state == "emission"
    assert helium.named("Fe II 5018").state == "undecided"


def test_barium_of_a_cool_star_cannot_be_told_from_the_metals_beside_it() -> None:
    giant = next(t for t in bundled().templates if t.about.kind == "M giant")
    barium = of_template(giant, line("Ba II 6497", -0.4, velocity=-50)).named("Ba II 6497")
    assert barium.state == "absorption"
    assert barium.alike == ("Ca I 6494", "Fe I 6495")


def test_where_z_is_unknown_two_lines_of_an_ion_confirm_it() -> None:
    def data(*parts: np.ndarray) -> Evidence:
        return Evidence(rest(replace(spectrum_of(1.0 + sum(parts, np.zeros(GRID.size))), redshift=None)))

    assert not data(line("Hα", 2.0)).placed
    assert not data(line("Hα", 2.0), line("Hβ", 1.0, velocity=-280)).placed
    assert data(line("Hα", 2.0), line("Hβ", 1.0)).placed
    assert data(line("Hα", 2.0), line("[N II] 6583", 2.0), line("[N II] 6548", 0.66)).placed


def test_emission_lines_of_a_nova_are_no_bands_of_titanium_oxide(shared: Path) -> None:
    novae = sorted((shared / "spectra/ctio_novae").rglob("V2264*.csv"))
    for path in novae:
        molecule = Evidence(rest(read(path))).molecule("TiO")
        assert molecule is None or molecule.state != "present", path
    lines_of_novae = flat(line("Hα", 30, fwhm=2000), line("He I 7065", 3, fwhm=2000), line("[O I] 6300", 4, fwhm=3000))
    for species in ("TiO", "CaH", "VO"):
        molecule = lines_of_novae.molecule(species)
        assert molecule is not None
        assert molecule.state != "present"


@pytest.mark.parametrize("name", ["mean M3 dwarf", "mean M6 dwarf"])
def test_a_disc_line_beside_the_bands_of_a_companion_keeps_its_width(name: str) -> None:
    """A disc as bright as the star at 6500 Å dilutes the bands; its Hα is 1500 km/s wide, EW −34.9 Å."""
    template = next(t for t in bundled().templates if t.about.name == name)
    star, scale = flux_of(template)
    disc = scale * (GRID / 6500) ** -2
    data = Evidence(rest(spectrum_of(star + disc + 2 * scale * line("Hα", 1.0, fwhm=1500))))
    measured = data.named("Hα").detection
    assert measured is not None
    assert measured.along_bands
    assert 1200 < measured.fwhm.value < 1700
    assert isinstance(measured.width, Measured)
    assert -40 < measured.width.value < -28


@pytest.mark.parametrize("name", ["mean M3 dwarf", "mean M6 dwarf"])
def test_hint_table_and_baseline_have_one_width_of_a_flare_stars_line(name: str) -> None:
    template = next(t for t in bundled().templates if t.about.name == name)
    data = of_template(template, line("Hα", 2.0), line("Hβ", 1.0))
    cv = tasks.load()["cv"]
    table = {row.name: row.at_zero for row in line_table(data.spectrum, cv).rows}
    for line_name in ("Hα", "Hβ"):
        measured = data.named(line_name).detection
        assert measured is not None
        in_table, by_baseline = table[line_name].ew, data.feature(cv.feature(f"{line_name} emission"))
        assert in_table == measured.width
        assert isinstance(measured.width, Measured)
        assert isinstance(by_baseline, Measured)
        assert abs(by_baseline.value - measured.width.value) < 3 * by_baseline.error + 0.25 * abs(measured.width.value)
    nitrogen = data.feature(cv.feature("N III 4640 emission"))
    assert not isinstance(nitrogen, Measured), "bands are no emission of a hot star"
