"""Every wavelength against a second source, and the conversion between air and vacuum against a second
implementation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.lines import (
    Band,
    Line,
    air_to_vacuum,
    bands,
    indices,
    lines,
    sky_bands,
    survey,
    vacuum_to_air,
)
from agent.lines.names import named, species_named
from agent.spectrum import read

LINES = {line.name: line for line in lines()}
BANDS = {band.name: band for band in bands()}

# (air, vacuum) in Å. Air: CRC Handbook and Moore's multiplet tables as quoted in textbooks. Vacuum: the SDSS
# line table (spectro.astro.princeton.edu, speclinelist), Morton 2003 ApJS 149, 205 for Ca II, Na I, Mg I, Mg
# II.
SECOND_SOURCE = {
    "Hα": (6562.80, 6564.61),
    "Hβ": (4861.33, 4862.68),
    "Hγ": (4340.46, 4341.68),
    "Hδ": (4101.73, 4102.89),
    "He I 4471": (4471.48, 4472.73),
    "He I 5876": (5875.62, 5877.25),
    "He II 4686": (4685.68, 4687.02),
    "Ca II K": (3933.66, 3934.78),
    "Ca II H": (3968.47, 3969.59),
    "Mg b1": (5183.60, 5185.05),
    "Na D2": (5889.95, 5891.58),
    "Na D1": (5895.92, 5897.56),
    "Ca II 8542": (8542.09, 8544.44),
    "Ca II 8498": (8498.02, 8500.36),
    "Ca II 8662": (8662.14, 8664.52),
    "[O II] 3726": (3726.03, 3727.09),
    "[O II] 3729": (3728.81, 3729.88),
    "[O III] 4959": (4958.91, 4960.30),
    "[O III] 5007": (5006.84, 5008.24),
    "[O III] 4363": (4363.21, 4364.44),
    "[Ne III] 3869": (3868.76, 3869.85),
    "[O I] 6300": (6300.30, 6302.05),
    "[N II] 6548": (6548.05, 6549.86),
    "[N II] 6583": (6583.45, 6585.27),
    "[S II] 6716": (6716.44, 6718.29),
    "[S II] 6731": (6730.81, 6732.67),
    "Mg II 2796": (2795.53, 2796.35),
    "Mg II 2803": (2802.70, 2803.53),
}


@pytest.mark.parametrize("name", SECOND_SOURCE)
def test_a_line_agrees_with_a_second_source_in_air_and_in_vacuum(name: str) -> None:
    air, vacuum = SECOND_SOURCE[name]
    assert LINES[name].at("air") == pytest.approx(air, abs=0.06)
    assert LINES[name].at("vacuum") == pytest.approx(vacuum, abs=0.06)


def test_every_major_line_has_a_second_source() -> None:
    assert {line.name for line in lines() if line.major} <= set(SECOND_SOURCE)


def quantum_number(line: Line) -> tuple[int, int] | None:
    series = {"Hα": (2, 3), "Hβ": (2, 4), "Hγ": (2, 5), "Hδ": (2, 6), "Hε": (2, 7), "Paε": (3, 8)}
    if line.name in series:
        return series[line.name]
    found = re.fullmatch(r"(H|Pa)(\d+)", line.name)
    return (2 if found[1] == "H" else 3, int(found[2])) if found else None


def test_hydrogen_follows_the_rydberg_formula() -> None:
    """1/λ = R_H (1/m² − 1/n²), R_H = 109 677.58 cm⁻¹; fine structure shifts the lines by less than 0.12 Å."""
    hydrogen = {line: quantum_number(line) for line in lines() if quantum_number(line)}
    assert len(hydrogen) == 18
    for line, (m, n) in ((k, v) for k, v in hydrogen.items() if v):
        assert line.at("vacuum") == pytest.approx(1e8 / (109677.58 * (m**-2 - n**-2)), abs=0.12), line.name


@pytest.mark.parametrize("line", lines(), ids=lambda line: line.name)
def test_the_number_in_a_name_is_the_wavelength_in_the_medium_names_quote(line: Line) -> None:
    """Air above 2000 Å, but vacuum where the entry says vacuum: a value converted twice would be off by 0.8 Å
    or more."""
    number = re.search(r"\d{4}", line.name)
    if number is None:
        return
    quoted = line.at(line.medium)
    assert abs(quoted - int(number[0])) <= 1.0
    if line.medium == "vacuum":
        assert line.at("vacuum") == line.wavelength


def test_magnesium_2800_is_not_converted_twice() -> None:
    """A viewer in wide use flags the vacuum values as air and shifts them by 0.82 Å (88 km/s)."""
    assert LINES["Mg II 2796"].medium == "vacuum"
    assert LINES["Mg II 2796"].at("vacuum") == 2796.352


def test_conversion_agrees_with_specutils() -> None:
    utilities = pytest.importorskip("specutils.utils.wcs_utils")
    units = pytest.importorskip("astropy.units")
    air = np.linspace(2500.0, 11000.0, 500)
    for method, tolerance in (("Ciddor1996", 1e-4), ("Morton2000", 1e-3)):
        theirs = utilities.air_to_vac(air * units.AA, method=method).value
        assert np.abs(air_to_vacuum(air) - theirs).max() < tolerance
        theirs = utilities.vac_to_air(air * units.AA, method=method).value
        assert np.abs(vacuum_to_air(air) - theirs).max() < tolerance


@given(st.floats(2001.0, 25000.0))
def test_to_air_and_back_changes_nothing(wavelength: float) -> None:
    assert air_to_vacuum(vacuum_to_air(wavelength)) == pytest.approx(wavelength, abs=1e-6)
    both = np.array([wavelength, wavelength + 1.0])
    assert vacuum_to_air(both)[0] == vacuum_to_air(wavelength)


@given(st.floats(100.0, 1999.9))
def test_below_2000_angstrom_air_is_vacuum(wavelength: float) -> None:
    assert vacuum_to_air(wavelength) == wavelength == air_to_vacuum(wavelength)


@pytest.mark.parametrize("entry", [*lines(), *bands()], ids=lambda entry: entry.name)
def test_every_entry_names_its_source_and_species_and_has_a_name_of_its_own(entry: Line | Band) -> None:
    assert len(entry.source) > 10
    assert entry.species
    names = [name for e in (*lines(), *bands()) for name in (e.name, *e.aliases)]
    assert all(names.count(name) == 1 for name in (entry.name, *entry.aliases))


def test_a_band_starts_at_its_head_and_fades_to_its_shaded_side() -> None:
    for band in bands():
        lo, hi = band.extent
        assert lo - 1 <= band.head <= hi + 1, band.name
        if band.name != "CaH 6750-7050":
            sharp = lo if band.shading == "red" else hi
            assert abs(band.head - sharp) < 35, band.name


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("miles/CARBON_STAR", ("C2 4737", "C2 5165", "C2 5636")),
        ("miles/M_GIANT", ("TiO 4955", "TiO 5167", "TiO 5448", "TiO 6159", "TiO 7054")),
        ("miles/S_STAR", ("ZrO 5551", "ZrO 6474")),
    ],
)
def test_heads_are_where_real_stars_have_them(shared: Path, folder: str, names: tuple[str, ...]) -> None:
    """The steepest fall of the flux, from the sharp side into the band, lies within 8 Å of the head in most
    stars of the class."""
    paths = sorted((shared / "spectra" / folder).iterdir())
    for name in names:
        band = BANDS[name]
        near = []
        for path in paths:
            star = read(path)
            assert (star.medium, star.frame) == ("air", "rest")
            about = abs(star.wavelength - band.head) < 40
            wavelength, flux = star.wavelength[about], star.flux[about]
            ahead = np.convolve(flux, np.r_[np.full(8, 1.0), np.full(8, -1.0)] / 8, mode="valid")
            fall = -ahead if band.shading == "red" else ahead
            near.append(abs(wavelength[7 + int(np.argmax(fall))] - band.head) < 8)
        assert np.mean(near) > 0.6, (name, near)


def test_sky_never_moves_and_arm_joins_belong_to_their_survey() -> None:
    everywhere = {band.name for band in sky_bands()}
    assert {b.name for b in sky_bands("LAMOST DR10")} - everywhere == {"LAMOST arm join"}
    assert {b.name for b in sky_bands("sdss")} - everywhere == {"SDSS arm join"}
    assert len({b.name for b in sky_bands("DESI")} - everywhere) == 2
    assert {b.name for b in sky_bands("MILES")} == everywhere
    a_band = next(b for b in sky_bands() if b.name.startswith("O₂ A"))
    assert a_band.window("air") == (7590.0, 7720.0)
    assert a_band.window("vacuum")[0] == pytest.approx(7592.09, abs=0.02)
    assert survey("nothing known") is None


@pytest.mark.parametrize(
    ("name", "vacuum"),
    [
        ("TiO5", ((7127.9646, 7136.9670), (7043.9419, 7047.9430))),
        ("CaH2", ((6815.8576, 6847.8664), (7043.9419, 7047.9430))),
        ("CaH3", ((6961.9198, 6991.9279), (7043.9419, 7047.9430))),
        ("VO7434", ((7432.0465, 7472.0573), (7552.0789, 7572.0843))),
        ("VO7912", ((7902.1734, 7982.1950), (8102.2274, 8152.2409))),
        ("TiO8440", ((8442.3193, 8472.3274), (8402.3085, 8422.3139))),
    ],
)
def test_indices_agree_with_the_vacuum_windows_of_pyhammer(
    name: str, vacuum: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    """Second source: Kesseli et al. 2017 (ApJS 230, 16), whose program lists the same indices in vacuum."""
    band, continuum = indices()[name].at("vacuum")
    assert band == pytest.approx(vacuum[0], abs=0.03)
    assert continuum[0] == pytest.approx(vacuum[1], abs=0.03)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Zoom on the Hα region", ["Hα"]),
        ("H-alpha and Hbeta", ["Hβ", "Hα"]),
        ("He II λ4686 emission", ["He II 4686"]),
        ("HeII4686/Bowen blend", ["Bowen blend", "He II 4686"]),
        ("[OIII]5007", ["[O III] 5007"]),
        ("Ca II K line", ["Ca II K"]),
        ("C₂ 5165 Swan band", ["C2 5165"]),
        ("TiO 7054 bandhead", ["TiO 7054"]),
        ("HD 187216, overview", []),
        ("shade", []),
    ],
)
def test_names_are_found_as_people_write_them(text: str, wanted: list[str]) -> None:
    assert [entry.name for entry in named(text)] == wanted


def test_groups_stand_for_their_species() -> None:
    assert species_named("Balmer series") == {"H I"}
    assert species_named("C2 Swan bands") == {"C2"}
    assert species_named("TiO saw-tooth and VO") == {"TiO", "VO"}
    assert species_named("the full spectrum") == frozenset()
