"""The quiet dots beside a zoom card, on spectra of which everything is known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import tasks
from agent.hints import MOST, Hint, hints
from agent.lines import air_to_vacuum
from agent.spectrum import Spectrum, read
from agent.trajectory import Zoom

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


def said(found: tuple[Hint, ...], kind: str) -> Hint:
    return next(h for h in found if h.kind == kind)


def kinds(found: tuple[Hint, ...]) -> list[str]:
    return [h.kind for h in found]


def test_a_line_in_the_window_is_named_with_its_place_on_the_axis_and_the_signal_to_noise() -> None:
    found = hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"])
    assert found[0].level == "ok"
    assert found[0].text.startswith("Hα 6564.6 Å in window")
    assert re.search(r"S/N (29|30|31)$", found[0].text)


def test_width_and_equivalent_width_are_what_was_put_in() -> None:
    """σ 12 Å is an FWHM of 1 290 km/s; 1.5 of the continuum high it has 45.1 Å of emission."""
    text = said(hints(star(snr=200), zoom(6400, 6700, "Hα"), TASKS["cv"]), "width").text
    assert text.startswith("FWHM 1\u202f29")
    assert "EW −45." in text
    assert text.endswith("(absorption > 0)")


def test_without_a_task_the_line_is_measured_all_the_same() -> None:
    assert said(hints(star(height=-0.5), zoom(6400, 6700, "H-alpha")), "width").level == "ok"


def test_a_line_that_the_label_names_and_the_window_leaves_out_is_told_with_its_wavelength() -> None:
    found = hints(star(), zoom(4800, 4900, "Hα double peak"), TASKS["cv"])
    assert found[0] == Hint("look", "label", "Hα is at 6564.6 Å, outside")
    assert "width" not in kinds(found)


def test_a_redshifted_line_is_looked_for_where_it_is() -> None:
    moved = star(z=0.02)
    assert hints(moved, zoom(6500, 6600, "Hα"))[0].text == "Hα is at 6695.9 Å, outside"
    assert said(hints(moved, zoom(6600, 6800, "Hα")), "line").text.startswith("Hα 6695.9 Å")
    at_rest = hints(moved, zoom(6500, 6620, "Hα", frame="rest", z=0.02), TASKS["cv"])
    assert said(at_rest, "line").text.startswith("Hα 6564.6 Å")
    assert said(at_rest, "width").text.startswith("FWHM 1\u202f2")


def test_nothing_above_three_sigma_is_said_with_the_number() -> None:
    hint = said(hints(star(height=0.0), zoom(6400, 6700, "Hα"), TASKS["cv"]), "width")
    assert hint.level == "look"
    assert hint.text.startswith("no feature above 3σ at Hα: EW ")


def test_a_window_outside_the_data_says_what_the_spectrum_covers() -> None:
    assert hints(star(), zoom(9500, 9600, "x")) == (
        Hint("look", "coverage", "no data in the window; the spectrum covers 3800–8999 Å"),
    )


def test_a_partly_covered_window_tells_the_share() -> None:
    assert said(hints(star(), zoom(8900, 9100)), "coverage").text == "50 % of the window has no data"


def test_pixels_without_data_and_flagged_pixels_are_told_apart() -> None:
    ivar = np.where((GRID >= 6500) & (GRID < 6530), 0.0, 0.09)
    spectrum = Spectrum(GRID, np.full(GRID.shape, 100.0), ivar, mask=(GRID > 6600) & (GRID < 6651))
    found = hints(spectrum, zoom(6400, 6700))
    assert said(found, "coverage").text == "10 % of the window has no data"
    assert said(found, "mask").text == "the survey flags 19 % of the pixels here"


@pytest.mark.parametrize(
    ("window", "survey", "kind", "text"),
    [
        ((6800, 6900), "", "telluric", "overlaps O₂ B telluric band 6860–6960 Å"),
        ((5550, 5600), "", "sky line", "overlaps [O I] 5577 sky line 5570–5585 Å"),
        ((5700, 5800), "LAMOST", "arm join", "overlaps LAMOST arm join 5700–6000 Å"),
    ],
)
def test_sky_atmosphere_and_arm_joins_across_the_window_are_told(
    window: tuple[float, float], survey: str, kind: str, text: str
) -> None:
    assert said(hints(star(survey=survey), zoom(*window)), kind) == Hint("look", kind, text)


def test_the_sky_does_not_move_with_the_object() -> None:
    """At z = 0.05 the O₂ B band lies at 6533–6629 Å on the rest axis."""
    moved = star(z=0.05)
    text = said(hints(moved, zoom(6520, 6600, frame="rest", z=0.05)), "telluric").text
    assert text == "overlaps O₂ B telluric band 6860–6960 Å observed"
    elsewhere = hints(moved, zoom(6870, 6950, frame="rest", z=0.05))
    assert not any("O₂ B" in hint.text for hint in elsewhere)


def test_a_library_star_at_rest_has_no_sky_to_be_told_about() -> None:
    spectrum = Spectrum(GRID, np.full(GRID.shape, 1.0), np.full(GRID.shape, 100.0), frame="rest", medium="air")
    assert "telluric" not in kinds(hints(spectrum, zoom(6800, 6900)))


def test_two_maxima_are_told_with_their_separation() -> None:
    peaks = sum(np.exp(-0.5 * ((GRID - HALPHA - d) / 6.0) ** 2) for d in (-12.0, 12.0))
    spectrum = Spectrum(GRID, 100 * (1 + peaks), np.full(GRID.shape, 0.1))
    hint = said(hints(spectrum, zoom(6400, 6700, "Hα"), TASKS["cv"]), "two maxima")
    assert "km/s apart" in hint.text
    assert "two maxima" not in kinds(hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"]))


def test_low_signal_to_noise_asks_for_a_look() -> None:
    hint = said(hints(star(snr=2.0), zoom(5000, 5050)), "line")
    assert hint.level == "look"
    assert "S/N 2." in hint.text


def test_estimated_noise_is_called_estimated() -> None:
    spectrum = Spectrum(GRID, star().flux)
    assert "noise estimated from scatter" in said(hints(spectrum, zoom(6400, 6700)), "line").text


@pytest.mark.parametrize("asked", [[6500], "6500-6600", None, [6600, 6500], ["a", "b"], [6500, float("inf")]])
def test_a_window_that_is_none_is_said_to_be_none(asked: object) -> None:
    found = hints(star(), Zoom("s1", {"wavelength_range": asked}))
    assert found == (Hint("look", "window", "the window is not two increasing numbers"),)


def test_the_head_of_a_band_is_measured_by_the_fall_of_the_flux(shared: Path) -> None:
    carbon = read(next((shared / "spectra/miles/CARBON_STAR").iterdir()))
    found = hints(carbon, Zoom("s1", {"wavelength_range": [5050, 5300], "label": "Swan"}, medium="air"), TASKS["cc"])
    hint = said(found, "band")
    assert (hint.level, "across the head of C2 5165" in hint.text) == ("ok", True)
    giant = read(next((shared / "spectra/miles/M_GIANT").iterdir()))
    found = hints(giant, Zoom("s1", {"wavelength_range": [5550, 5750], "label": "C2 5636"}, medium="air"))
    assert said(found, "band").level == "look"


@given(
    lo=st.floats(3000, 9500),
    width=st.floats(0.01, 5000),
    label=st.sampled_from(["", "Hα", "Swan", "He II 4686", "TiO and VO", "?"]),
    key=st.sampled_from([None, *TASKS]),
)
@settings(max_examples=80, deadline=None)
def test_any_window_gets_few_short_hints_and_never_a_verdict(
    lo: float, width: float, label: str, key: str | None
) -> None:
    found = hints(star(z=0.001, survey="LAMOST"), zoom(lo, lo + width, label), TASKS[key] if key else None)
    assert 1 <= len(found) <= MOST
    for hint in found:
        assert len(hint.text) < 110
        assert "nan" not in hint.text
        assert "-" not in hint.text.replace("CaH 6750-7050", "").replace("Merrill-Sanford", "")
        assert not any(word in hint.text for word in ("YES", "NO ", "correct", "wrong"))
