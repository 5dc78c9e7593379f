"""Hints on a zoom."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import tasks
from agent.hints import MOST, Hint, hints, thought_on
from agent.hints import promises as promises_module
from agent.hints.line_table import line_table
from agent.hints.promises import Promise, promise_of
from agent.hints.unexplained import Suggestion, unexplained
from agent.lines import air_to_vacuum, bands, lines, sky_bands
from agent.spectrum import Spectrum, read
from agent.spectrum.readers.producers import producer
from agent.trajectory import Drafter, Think, Trajectory, Zoom

TASKS = tasks.load()
GRID = np.arange(3800.0, 9000.0, 1.5)
HALPHA = air_to_vacuum(6562.79)


def star(z: float | None = None, snr: float = 30.0, height: float = 1.5, **kwargs: Any) -> Spectrum:
    """A flat continuum with Hα in emission (σ 12 Å) at redshift z, in vacuum, observed."""
    centre = HALPHA * (1 + (z or 0.0))
    flux = 100 * (1 + height * np.exp(-0.5 * ((GRID - centre) / 12.0) ** 2))
    flux = flux + 100 / snr * np.random.default_rng(5).standard_normal(GRID.size)
    return Spectrum(GRID, flux, np.full(GRID.shape, (snr / 100) ** 2), redshift=z, **kwargs)


def zoom(lo: object, hi: object, label: str = "", frame: str = "observed", z: float = 0.0) -> Zoom:
    return Zoom("s1", {"wavelength_range": [lo, hi], "label": label}, frame=frame, z=z)  # type: ignore[arg-type]


def hint_of(found: tuple[Hint, ...], kind: str) -> Hint:
    return next(h for h in found if h.kind == kind)


def kinds(found: tuple[Hint, ...]) -> list[str]:
    return [h.kind for h in found]


def test_a_kind_of_hint_is_kept_from_95_percent_of_right_hints_on() -> None:
    assert [Promise(right, wrong, 0).kept for right, wrong in ((19, 1), (18, 1), (1, 1), (0, 0))] == [
        True,
        False,
        False,
        False,
    ]


def test_the_line_of_a_hint_has_its_place_medium_and_noise() -> None:
    found = hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"])
    assert found[0].level == "plain"
    assert found[0].text.startswith("Hα 6564.6 Å in window")
    assert re.search(r"S/N (29|30|31)$", found[0].text)
    found = hints(star(meta={"medium_assumed": True}), zoom(6400, 6700, "Hα"))
    assert found[0].text.startswith("Hα 6564.6 Å (vacuum assumed) in window")
    hint = hint_of(hints(star(snr=2.0), zoom(5000, 5050)), "line")
    assert hint.level == "look"
    assert "S/N 2." in hint.text
    spectrum = Spectrum(GRID, star().flux)
    assert "noise estimated from scatter" in hint_of(hints(spectrum, zoom(6400, 6700)), "line").text


def test_a_coarse_sampling_is_stated_and_no_line_is_measured() -> None:
    grid = np.arange(3800.0, 9000.0, 80.0)
    coarse = Spectrum(grid, np.where(abs(grid - HALPHA) < 80, 3.0, 1.0), np.full(grid.size, 1e4))
    found = hints(coarse, zoom(6000, 7000, "Hα"), TASKS["cv"], "Hα is in emission.")
    assert (found[0].level, found[0].text) == ("look", "sampled every 80 Å: lines cannot be judged")
    assert not {"emission", "absorption", "width", "none"} & set(kinds(found))
    assert hint_of(found, "claim").text.startswith("“Hα emission” cannot be told from these data: sampled every 80 Å")


def test_width_equivalent_width_and_velocity_are_the_simulated_ones() -> None:
    """σ 12 Å is an FWHM of 1 290 km/s; with a peak of 1.5 times the continuum the line has EW −45.1 Å."""
    found = hints(star(z=0.0, snr=200), zoom(6400, 6700, "Hα"), TASKS["cv"])
    assert hint_of(found, "width").text.startswith("FWHM 1\u202f29")
    text = hint_of(found, "emission").text
    assert text.startswith("Hα in emission, EW −45.")
    assert re.search(r"at −?\d(\.\d+)? ± \d(\.\d+)? km/s$", text)


def test_without_a_task_the_line_is_measured_too() -> None:
    hint = hint_of(hints(star(z=0.0, height=-0.5), zoom(6400, 6700, "H-alpha")), "absorption")
    assert (hint.level, hint.subject) == ("ok", "Hα")
    assert hint.why.startswith("Right in ")


def test_a_line_named_in_the_label_but_outside_the_window_is_reported_with_its_wavelength() -> None:
    found = hints(star(), zoom(4800, 4900, "Hα double peak"), TASKS["cv"])
    assert found[0] == Hint("look", "label", "Hα is at 6564.6 Å, outside")
    assert "emission" not in kinds(found)


def test_a_redshifted_line_is_searched_at_its_observed_wavelength() -> None:
    moved = star(z=0.02)
    assert hints(moved, zoom(6500, 6600, "Hα"))[0].text == "Hα is at 6695.9 Å, outside"
    assert hint_of(hints(moved, zoom(6600, 6800, "Hα")), "line").text.startswith("Hα 6695.9 Å")
    at_rest = hints(moved, zoom(6500, 6620, "Hα", frame="rest", z=0.02), TASKS["cv"])
    assert hint_of(at_rest, "line").text.startswith("Hα 6564.6 Å")
    assert hint_of(at_rest, "width").text.startswith("FWHM 1\u202f2")


def test_a_line_that_is_not_there_is_reported_with_its_limit() -> None:
    hint = hint_of(hints(star(height=0.0, snr=100), zoom(6400, 6700, "Hα"), TASKS["cv"]), "none")
    assert hint.level == "plain"
    assert re.fullmatch(r"no Hα: nothing deeper than \d % of the continuum", hint.text)


def test_an_unknown_redshift_is_stated_and_a_known_one_is_not() -> None:
    """Once for a trace, on its first zoom."""
    first = hints(star(), zoom(6400, 6700, "Hα"), others=())
    hint = hint_of(first, "redshift")
    assert (hint.level, hint.text) == ("look", "the file has no redshift: lines are searched at z = 0")
    assert "redshift" not in kinds(hints(star(), zoom(6400, 6700, "Hα")))
    assert "redshift" not in kinds(hints(star(z=0.0), zoom(6400, 6700, "Hα"), TASKS["cv"], others=()))


def test_at_a_galaxys_redshift_a_stellar_task_is_measured_at_zero_too() -> None:
    """The line is at z = 0, the file says 0.35: at 0.35 there is nothing at Hα, at 0 there is."""
    spectrum = Spectrum(GRID, star().flux, star().ivar, redshift=0.35)
    found = hints(spectrum, zoom(6300, 6600, "Hα", frame="rest", z=0.35), TASKS["cv"])
    assert hint_of(found, "redshift").text.startswith("if it is a star (z = 0), Hα: in emission, EW −45.")
    assert "emission" not in kinds(found)
    first = hints(spectrum, zoom(6300, 6600, "Hα", frame="rest", z=0.35), TASKS["cv"], others=())
    assert hint_of(first, "redshift").text == "the file's redshift 0.3500 is too large for a star, whose z is near 0"


def test_a_carbon_stars_calcium_hydride_label_is_not_the_h_line_of_calcium() -> None:
    found = hints(star(), zoom(6750, 7050, "CaH bands"), TASKS["gm"])
    assert not any("Ca II H" in hint.text for hint in found)


def test_the_coverage_of_the_window_is_reported() -> None:
    assert hints(star(), zoom(9500, 9600, "x")) == (
        Hint("look", "coverage", "no data in the window; the spectrum covers 3800–8999 Å"),
    )
    assert hint_of(hints(star(), zoom(8900, 9100)), "coverage").text == "50 % of the window has no data"
    ivar = np.where((GRID >= 6500) & (GRID < 6530), 0.0, 0.09)
    spectrum = Spectrum(GRID, np.full(GRID.shape, 100.0), ivar, mask=(GRID > 6600) & (GRID < 6651))
    found = hints(spectrum, zoom(6400, 6700))
    assert hint_of(found, "coverage").text == "10 % of the window has no data"
    assert hint_of(found, "mask").text == "the survey flags 19 % of the pixels here"


@pytest.mark.parametrize(
    ("window", "survey", "kind", "text"),
    [
        ((6800, 6900), "", "telluric", "overlaps O₂ B telluric band 6860–6960 Å"),
        ((5550, 5600), "", "sky line", "overlaps [O I] 5577 sky line 5570–5585 Å"),
        ((5700, 5800), "LAMOST", "arm join", "overlaps LAMOST arm join 5700–6000 Å"),
    ],
)
def test_sky_lines_telluric_bands_and_arm_joins_in_the_window_are_reported(window, survey, kind, text):
    spectrum = star(survey=survey)
    noisy = replace(spectrum, ivar=spectrum.ivar / np.where(np.abs(GRID - 5578.0) < 4.0, 4.0, 1.0))
    assert hint_of(hints(noisy, zoom(*window)), kind) == Hint("look", kind, text)
    # A sky line is reported where the errors rise, telluric bands and arm joins everywhere; none in space.
    assert (kind in kinds(hints(spectrum, zoom(*window)))) is (kind != "sky line")


@pytest.mark.parametrize(
    "survey", ["CALSPEC", "HST/STIS", "hst cos", "JWST", "Gaia XP", "GALEX", "IUE", "Euclid", "SPHEREx"]
)
def test_a_space_telescope_sees_no_sky(survey: str) -> None:
    found = hints(star(survey=survey), zoom(6800, 6900, "O₂ B"))
    assert not {"telluric", "sky line", "arm join"} & set(kinds(found))
    assert all(row.at_zero.sky == "" for row in line_table(star(survey=survey), TASKS["gm"]).rows)
    assert any(row.at_zero.sky for row in line_table(star(survey="Isaac Newton"), TASKS["gm"]).rows)


def test_the_reader_names_the_space_telescope() -> None:
    for telescope in ("IUE", "SPHEREx", "GALEX", "HST", "JWST"):
        maker = producer([lambda card, value=telescope: value if card == "TELESCOP" else ""])
        assert maker is not None
        assert sky_bands(maker.survey) == (), telescope
    assert sky_bands("Hubble-like") == sky_bands("")


def test_a_fault_of_the_data_is_reported_on_the_window_that_it_disturbs() -> None:
    spectrum = star(survey="LAMOST", snr=80.0)
    spoilt = replace(spectrum, flux=spectrum.flux * np.where(GRID > 5850, 1.2, 1.0))
    assert hint_of(hints(spoilt, zoom(5750, 5900)), "step").text.startswith("step of ")
    assert "step" not in kinds(hints(spoilt, zoom(6400, 6700)))
    assert "step" not in kinds(hints(spectrum, zoom(5750, 5900)))


def test_the_sky_does_not_shift_with_the_object_and_is_not_in_library_stars() -> None:
    # At z = 0.05 the O₂ B band lies at 6533–6629 Å on the rest axis.
    moved = star(z=0.05)
    text = hint_of(hints(moved, zoom(6520, 6600, frame="rest", z=0.05)), "telluric").text
    assert text == "overlaps O₂ B telluric band 6860–6960 Å observed"
    elsewhere = hints(moved, zoom(6870, 6950, frame="rest", z=0.05))
    assert not any("O₂ B" in hint.text for hint in elsewhere)
    spectrum = Spectrum(GRID, np.full(GRID.shape, 1.0), np.full(GRID.shape, 100.0), frame="rest", medium="air")
    assert "telluric" not in kinds(hints(spectrum, zoom(6800, 6900)))


def test_two_maxima_are_reported_with_their_separation_but_not_nitrogen_beside_halpha() -> None:
    peaks = sum(np.exp(-0.5 * ((GRID - HALPHA - d) / 6.0) ** 2) for d in (-12.0, 12.0))
    spectrum = Spectrum(GRID, 100 * (1 + peaks), np.full(GRID.shape, 0.1), redshift=0.0)
    hint = hint_of(hints(spectrum, zoom(6400, 6700, "Hα"), TASKS["cv"]), "two maxima")
    assert hint.text.startswith("two maxima 1\u202f0")
    assert "two maxima" not in kinds(hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"]))
    nebula = sum(h * np.exp(-0.5 * ((GRID - w) / 2.5) ** 2) for w, h in ((6549.86, 1), (HALPHA, 3), (6585.27, 3)))
    spectrum = Spectrum(GRID, 100 * (1 + nebula), np.full(GRID.shape, 0.1), redshift=0.0)
    found = hints(spectrum, zoom(6400, 6700, "Hα"), TASKS["cv"])
    assert "two maxima" not in kinds(found)
    assert hint_of(found, "emission").text.endswith("fitted with [N II] 6548, [N II] 6583")
    assert hint_of(found, "width").text.startswith("FWHM 2")


def test_two_balmer_lines_at_one_velocity_and_at_two() -> None:
    def with_hbeta_at(velocity: float) -> Spectrum:
        hbeta = air_to_vacuum(4861.333) * (1 + velocity / 299_792.458)
        flux = star(snr=100).flux + 80 * np.exp(-0.5 * ((GRID - hbeta) / 9.0) ** 2)
        return Spectrum(GRID, flux, star(snr=100).ivar, redshift=0.0)

    same = hint_of(hints(with_hbeta_at(20), zoom(6400, 6700, "Hα"), TASKS["cv"]), "velocity")
    assert same.text.endswith("one velocity")
    assert same.level != "look"
    between = hint_of(hints(with_hbeta_at(-130), zoom(6400, 6700, "Hα"), TASKS["cv"]), "apart")
    assert (between.level, between.text.endswith("km/s apart")) == ("plain", True)
    moved = hint_of(hints(with_hbeta_at(-295), zoom(6400, 6700, "Hα"), TASKS["cv"]), "apart")
    assert "not one velocity" in moved.text
    assert moved.level == "look"


def test_the_text_on_a_zoom_is_compared_with_the_data() -> None:
    thought = "Hα is in strong emission. There is no double-peaked Hα. TiO bands are absent."
    found = hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"], thought)
    texts = [hint.text for hint in found if hint.kind in ("claim", "contradiction")]
    assert texts[0].startswith("“Hα emission” agrees: in emission, EW −4")
    wrong = hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"], "Hα shows absorption.")
    hint = hint_of(wrong, "contradiction")
    assert hint.level == "look"
    assert hint.text.startswith("“Hα absorption” contradicts the data: in emission, EW −4")


def test_the_thought_on_a_zoom_is_the_text_up_to_the_next_one() -> None:
    steps = (
        Think("s0", "before"),
        zoom(1, 2),
        Think("s2", "one"),
        Think("s3", "two"),
        Zoom("s4", {}),
        Think("s5", "x"),
    )
    trajectory = Trajectory("cv", "?", "a.fits", None, steps, Drafter("person", "A"))
    assert thought_on(trajectory, zoom(1, 2)) == "one\ntwo"


@pytest.mark.parametrize("requested", ["6500-6600", [6600, 6500], [6500, float("inf")]])
def test_an_invalid_window_is_reported(requested: object) -> None:
    found = hints(star(), Zoom("s1", {"wavelength_range": requested}))
    assert found == (Hint("look", "window", "the window is not two increasing numbers"),)


def test_bands_are_judged_by_the_indices_of_the_molecule(shared: Path) -> None:
    carbon = read(next((shared / "spectra/miles/CARBON_STAR").iterdir()))
    found = hints(carbon, Zoom("s1", {"wavelength_range": [4950, 5400], "label": "C2 5165"}, medium="air"), TASKS["cc"])
    hint = hint_of(found, "band")
    assert (hint.level, hint.subject, "across the head of C2 5165" in hint.text) == ("ok", "C2", True)
    assert any(h.kind == "index" and h.text.startswith("C2 5165: ratio 0.") for h in found)
    giant = read(next((shared / "spectra/miles/M_GIANT").iterdir()))
    found = hints(giant, Zoom("s1", {"wavelength_range": [5550, 5750], "label": "C2 5636"}, medium="air"))
    assert "band" not in kinds(found)


@pytest.mark.parametrize("name", ["STELIB_v3.2_HD148783", "STELIB_v3.2_HD018191", "STELIB_v3.2_HD005820"])
def test_the_flux_between_two_bands_of_a_giant_is_not_emission(shared: Path, name: str) -> None:
    giant = read(shared / f"spectra/stelib/M_GIANT/{name}.fits")
    for window, label in (((6400, 6700), "Hα emission"), ((4760, 4980), "Hβ emission")):
        found = hints(
            giant, Zoom("s1", {"wavelength_range": window, "label": label}, frame="rest", medium="air"), TASKS["cv"]
        )
        assert not {"emission", "two maxima"} & set(kinds(found))


@given(
    lo=st.floats(3000, 9500),
    width=st.floats(0.01, 5000),
    label=st.sampled_from(["", "Hα", "Swan", "He II 4686", "TiO and VO", "?"]),
    key=st.sampled_from([None, *TASKS]),
)
@settings(max_examples=80, deadline=None)
def test_any_window_gets_few_short_hints_and_no_verdict(lo: float, width: float, label: str, key: str | None) -> None:
    found = hints(star(z=0.001, survey="LAMOST"), zoom(lo, lo + width, label), TASKS[key] if key else None)
    assert 1 <= len(found) <= MOST
    for hint in found:
        assert len(hint.text) < 200
        assert "nan" not in hint.text
        assert not re.search(r"(?<![A-Za-z0-9])-\d", hint.text)
        assert not any(word in hint.text for word in ("YES", "NO ", "correct", "wrong"))


def galaxy(z: float, stated: float | None, heights: dict[str, float], sigma: float = 3.0) -> Spectrum:
    """Emission lines of these heights above a continuum of 10, with σ in Å, in a file that gives z as ``stated``."""
    flux = np.full(GRID.shape, 10.0)
    for line in lines():
        centre = line.at("vacuum") * (1 + z)
        flux += heights.get(line.name, 0.0) * np.exp(-0.5 * ((GRID - centre) / sigma) ** 2)
    flux += 0.3 * np.random.default_rng(4).standard_normal(GRID.size)
    return Spectrum(GRID, flux, np.full(GRID.shape, 1 / 0.09), redshift=stated, name="galaxy")


BALMER = {"Hα": 29.0, "Hβ": 10.0, "Hγ": 4.7, "Hδ": 2.6}
OXYGEN = {"[O III] 5007": 60.0, "[O III] 4959": 20.0, "[O II] 3729": 15.0}
GALAXY_LINES = BALMER | OXYGEN
NEBULA = GALAXY_LINES | {"[N I] 5198": 2.0, "[N I] 5200": 2.0, "He II 4686": 6.0, "[Ar IV] 4740": 3.0, "He I 5876": 5.0}
NOVA = {
    "Hα": 40.0,
    "Hβ": 9.0,
    "Fe II 5169": 6.0,
    "Fe II 5018": 6.0,
    "Fe II 4924": 4.0,
    "Fe II 5317": 4.0,
    "O I 8446": 9.0,
}
LATE_NOVA = {
    "[O III] 5007": 90.0,
    "[O III] 4959": 30.0,
    "[N II] 5755": 30.0,
    "[Fe VII] 6087": 8.0,
    "Hα": 50.0,
    "He II 4686": 7.0,
}


def test_unexplained_emission_names_the_redshift_that_explains_it_and_other_peaks() -> None:
    found = hints(galaxy(0.3688, 0.0, GALAXY_LINES), zoom(6400, 7000, "Hα"), TASKS["cv"], "Nothing at Hα.")
    hint = hint_of(found, "unexplained")
    assert hint.level == "look"
    assert re.fullmatch(
        r"\d+σ emission at \d{4} Å \(observed\) is no known line at z = 0; \[O III\] 4959 at z = 0\.368\d "
        r"would also explain (\d{4}, ){2,}\d{4} Å",
        hint.text,
    )


@pytest.mark.parametrize("stated", [None, 0.0, 0.19, 0.3])
@pytest.mark.parametrize(
    "heights", [GALAXY_LINES, BALMER | {"[N II] 6583": 9.0, "[S II] 6716": 4.0, "[S II] 6731": 3.0}]
)
def test_a_galaxy_without_its_redshift_or_with_a_wrong_one_gets_the_right_one(
    stated: float | None, heights: dict[str, float]
) -> None:
    suggestion = suggested(galaxy(0.08, stated, heights))
    assert suggestion is not None
    assert suggestion.z == pytest.approx(0.08, abs=0.0005)


def test_a_quasar_gets_its_redshift_from_two_broad_lines_whose_template_fits() -> None:
    z, grid = 2.3, GRID / 3.3
    flux = 10.0 * (grid / 1500.0) ** -1.5 * np.where(grid < 1216.0, 0.7, 1.0)
    for at, height in ((1216.2, 22.0), (1240.0, 5.0), (1398.3, 2.0), (1546.2, 9.0), (1906.0, 3.5)):
        flux += height * np.exp(-0.5 * ((grid - at) / (0.006 * at)) ** 2)
    flux += 0.3 * np.random.default_rng(4).standard_normal(GRID.size)
    quasar = Spectrum(GRID, flux, np.full(GRID.shape, 1 / 0.09))
    suggestion = suggested(quasar)
    assert suggestion is not None
    assert suggestion.z == pytest.approx(z, abs=0.002 * (1 + z))


@pytest.mark.parametrize(("heights", "sigma"), [(NEBULA, 3.0), (NOVA, 12.0), (LATE_NOVA, 12.0)])
@pytest.mark.parametrize("z", [-0.001, 0.0, 0.001])
def test_nebulae_and_novae_with_peaks_that_no_list_has_get_no_redshift(
    heights: dict[str, float], sigma: float, z: float
) -> None:
    nebula = galaxy(z, None, heights, sigma)
    unlisted = sum(8.0 * np.exp(-0.5 * ((GRID - at) / sigma) ** 2) for at in (4800.0, 5626.0, 7050.0))
    spectrum = replace(nebula, flux=nebula.flux + unlisted)
    assert unexplained(spectrum) is not None
    assert suggested(spectrum) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"[O III] 4959": 50.0},
        {"[O III] 4959": 0.0},
        {"Hβ": 40.0, "Hα": 20.0},
        {"Hγ": 30.0},
        {name: 0.0 for name in GALAXY_LINES if name != "Hβ"},
        {name: 0.0 for name in GALAXY_LINES if name not in ("Hβ", "[O II] 3729")},
    ],
)
def test_lines_of_wrong_strengths_or_too_few_suggest_no_redshift(wrong: dict[str, float]) -> None:
    assert suggested(galaxy(0.08, None, GALAXY_LINES)) is not None
    assert suggested(galaxy(0.08, None, GALAXY_LINES | wrong)) is None


@pytest.mark.parametrize(
    ("file", "z"),
    [
        ("alfa_pn/PLANETARY_NEBULA/IC351_R.bdf.ascii", None),
        ("ctio_novae/NOVA_ERUPTION_OR_NEBULAR/V705CASC_Williams_Optical_Spectra.csv", None),
        ("marz_tests/GALAXY_emission/emlLogVacuumHelioCMB.fits", 0.1123),
    ],
)
def test_real_nebulae_and_novae_get_no_redshift_and_a_galaxy_without_one_gets_it(
    shared: Path, file: str, z: float | None
) -> None:
    suggestion = suggested(read(shared / "spectra" / file))
    assert (suggestion and round(suggestion.z, 4)) == z


def suggested(spectrum: Spectrum) -> Suggestion | None:
    strongest = unexplained(spectrum)
    return None if strongest is None else strongest.suggestion


def test_emission_that_a_line_explains_or_the_thought_mentions_is_not_reported() -> None:
    right = galaxy(0.3688, 0.3688, GALAXY_LINES)
    assert "unexplained" not in kinds(hints(right, zoom(4700, 5100, "Hβ", "rest", 0.3688), TASKS["cv"], others=()))
    wrong = galaxy(0.3688, 0.0, GALAXY_LINES)
    strongest = unexplained(wrong)
    assert strongest is not None
    thought = f"A narrow peak at {strongest.observed:.0f} Å is not Hα."
    assert "unexplained" not in kinds(hints(wrong, zoom(6400, 7000, "Hα"), TASKS["cv"], thought))


def test_unexplained_emission_is_reported_on_the_first_zoom_and_needs_two_peaks_for_a_redshift() -> None:
    wrong = galaxy(0.3688, 0.0, GALAXY_LINES)
    away = zoom(4200, 4300, "Hγ")
    assert "unexplained" not in kinds(hints(wrong, away, TASKS["cv"]))
    assert "unexplained" in kinds(hints(wrong, away, TASKS["cv"], others=()))
    one = galaxy(0.05, 0.0, {"Hβ": 20.0})
    text = hint_of(hints(one, zoom(5000, 5200), TASKS["cv"]), "unexplained").text
    assert text.endswith("Å (observed) is no known line at z = 0")


def test_a_band_that_the_guide_names_is_not_called_no_major_line() -> None:
    band = next(b for b in bands() if b.name == "TiO 5448")
    assert "5448" in TASKS["gm"].guide
    head = band.at("vacuum")
    found = hints(star(), zoom(head - 60, head + 60), TASKS["gm"])
    assert "no major line" not in hint_of(found, "line").text
    assert band.name in hint_of(found, "line").text


def test_a_line_that_was_wrong_more_than_once_is_judged_by_its_own_share(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {
        "absorption": Promise(95, 3, 0),
        "absorption: Hδ": Promise(8, 2, 0),
        "absorption: Hβ": Promise(9, 1, 0),
        "absorption: cool": Promise(20, 0, 0),
    }
    monkeypatch.setattr(promises_module, "promises", lambda: counted)
    assert promise_of("absorption", "Hδ", "cool") == counted["absorption: Hδ"]
    assert promise_of("absorption", "Hβ", "cool") == counted["absorption"]
    assert promise_of("absorption", "Hα") == counted["absorption"]
    assert promise_of("band", "TiO") is None
