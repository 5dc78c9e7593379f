"""Task files, and the hints about a zoom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import measure, tasks
from agent.hints import MOST, Hint, hints
from agent.lines import air_to_vacuum, bands, lines
from agent.measure import Measured
from agent.spectrum import Spectrum, read
from agent.tasks import Feature, Task, TaskError
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


def hint_of(found: tuple[Hint, ...], kind: str) -> Hint:
    return next(h for h in found if h.kind == kind)


def kinds(found: tuple[Hint, ...]) -> list[str]:
    return [h.kind for h in found]


def test_a_line_in_the_window_is_named_with_its_place_on_the_axis_and_the_signal_to_noise() -> None:
    found = hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"])
    assert found[0].level == "ok"
    assert found[0].text.startswith("Hα 6564.6 Å in window")
    assert re.search(r"S/N (29|30|31)$", found[0].text)


def test_width_and_equivalent_width_are_the_simulated_ones() -> None:
    """σ 12 Å is an FWHM of 1 290 km/s; with a peak of 1.5 times the continuum the line has EW −45.1 Å."""
    text = hint_of(hints(star(snr=200), zoom(6400, 6700, "Hα"), TASKS["cv"]), "width").text
    assert text.startswith("FWHM 1\u202f29")
    assert "EW −45." in text
    assert text.endswith("(absorption > 0)")


def test_without_a_task_the_line_is_measured_too() -> None:
    assert hint_of(hints(star(height=-0.5), zoom(6400, 6700, "H-alpha")), "width").level == "ok"


def test_a_line_named_in_the_label_but_outside_the_window_is_reported_with_its_wavelength() -> None:
    found = hints(star(), zoom(4800, 4900, "Hα double peak"), TASKS["cv"])
    assert found[0] == Hint("look", "label", "Hα is at 6564.6 Å, outside")
    assert "width" not in kinds(found)


def test_a_redshifted_line_is_searched_at_its_observed_wavelength() -> None:
    moved = star(z=0.02)
    assert hints(moved, zoom(6500, 6600, "Hα"))[0].text == "Hα is at 6695.9 Å, outside"
    assert hint_of(hints(moved, zoom(6600, 6800, "Hα")), "line").text.startswith("Hα 6695.9 Å")
    at_rest = hints(moved, zoom(6500, 6620, "Hα", frame="rest", z=0.02), TASKS["cv"])
    assert hint_of(at_rest, "line").text.startswith("Hα 6564.6 Å")
    assert hint_of(at_rest, "width").text.startswith("FWHM 1\u202f2")


def test_a_feature_below_three_sigma_is_reported_with_its_value() -> None:
    hint = hint_of(hints(star(height=0.0), zoom(6400, 6700, "Hα"), TASKS["cv"]), "width")
    assert hint.level == "look"
    assert hint.text.startswith("no feature above 3σ at Hα: EW ")


def test_for_a_window_outside_the_data_the_covered_range_is_reported() -> None:
    assert hints(star(), zoom(9500, 9600, "x")) == (
        Hint("look", "coverage", "no data in the window; the spectrum covers 3800–8999 Å"),
    )


def test_a_partly_covered_window_is_reported_with_the_share() -> None:
    assert hint_of(hints(star(), zoom(8900, 9100)), "coverage").text == "50 % of the window has no data"


def test_pixels_without_data_and_flagged_pixels_are_reported_separately() -> None:
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
def test_sky_lines_telluric_bands_and_arm_joins_in_the_window_are_reported(
    window: tuple[float, float], survey: str, kind: str, text: str
) -> None:
    assert hint_of(hints(star(survey=survey), zoom(*window)), kind) == Hint("look", kind, text)


def test_the_sky_does_not_shift_with_the_object() -> None:
    """At z = 0.05 the O₂ B band lies at 6533–6629 Å on the rest axis."""
    moved = star(z=0.05)
    text = hint_of(hints(moved, zoom(6520, 6600, frame="rest", z=0.05)), "telluric").text
    assert text == "overlaps O₂ B telluric band 6860–6960 Å observed"
    elsewhere = hints(moved, zoom(6870, 6950, frame="rest", z=0.05))
    assert not any("O₂ B" in hint.text for hint in elsewhere)


def test_a_library_star_at_rest_gets_no_sky_hint() -> None:
    spectrum = Spectrum(GRID, np.full(GRID.shape, 1.0), np.full(GRID.shape, 100.0), frame="rest", medium="air")
    assert "telluric" not in kinds(hints(spectrum, zoom(6800, 6900)))


def test_two_maxima_are_reported_with_their_separation() -> None:
    peaks = sum(np.exp(-0.5 * ((GRID - HALPHA - d) / 6.0) ** 2) for d in (-12.0, 12.0))
    spectrum = Spectrum(GRID, 100 * (1 + peaks), np.full(GRID.shape, 0.1))
    hint = hint_of(hints(spectrum, zoom(6400, 6700, "Hα"), TASKS["cv"]), "two maxima")
    assert "km/s apart" in hint.text
    assert "two maxima" not in kinds(hints(star(), zoom(6400, 6700, "Hα"), TASKS["cv"]))


def test_low_signal_to_noise_is_a_hint_to_check() -> None:
    hint = hint_of(hints(star(snr=2.0), zoom(5000, 5050)), "line")
    assert hint.level == "look"
    assert "S/N 2." in hint.text


def test_estimated_noise_is_called_estimated() -> None:
    spectrum = Spectrum(GRID, star().flux)
    assert "noise estimated from scatter" in hint_of(hints(spectrum, zoom(6400, 6700)), "line").text


@pytest.mark.parametrize("requested", [[6500], "6500-6600", None, [6600, 6500], ["a", "b"], [6500, float("inf")]])
def test_an_invalid_window_is_reported(requested: object) -> None:
    found = hints(star(), Zoom("s1", {"wavelength_range": requested}))
    assert found == (Hint("look", "window", "the window is not two increasing numbers"),)


def test_the_head_of_a_band_is_measured_by_the_fall_of_the_flux(shared: Path) -> None:
    carbon = read(next((shared / "spectra/miles/CARBON_STAR").iterdir()))
    found = hints(carbon, Zoom("s1", {"wavelength_range": [5050, 5300], "label": "Swan"}, medium="air"), TASKS["cc"])
    hint = hint_of(found, "band")
    assert (hint.level, "across the head of C2 5165" in hint.text) == ("ok", True)
    giant = read(next((shared / "spectra/miles/M_GIANT").iterdir()))
    found = hints(giant, Zoom("s1", {"wavelength_range": [5550, 5750], "label": "C2 5636"}, medium="air"))
    assert hint_of(found, "band").level == "look"


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
        assert len(hint.text) < 110
        assert "nan" not in hint.text
        assert "-" not in hint.text.replace("CaH 6750-7050", "").replace("Merrill-Sanford", "")
        assert not any(word in hint.text for word in ("YES", "NO ", "correct", "wrong"))


FEATURES = [pytest.param(t, f, id=f"{t.key}-{f.name}") for t in TASKS.values() for f in t.features]


def test_the_eight_classes_are_loaded() -> None:
    assert set(TASKS) == {"cv", "cc", "ss", "gm", "wd", "o", "b", "a"}


@pytest.mark.parametrize(
    ("key", "published"),
    [
        ("cv", "Cataclysmic"),
        ("cc", "Carbon Star"),
        ("ss", "S-type Star"),
        ("gm", "M-type Giant"),
        ("wd", "White Dwarf"),
    ],
)
def test_the_question_contains_the_published_words(key: str, published: str) -> None:
    assert published in TASKS[key].prompt.splitlines()[0]


def test_the_carbon_question_is_exactly_the_published_one() -> None:
    expected = "Analyze the provided spectrum to determine if it is a **Carbon Star (C-type)**."
    question, blank, guide = TASKS["cc"].prompt.split("\n", 2)
    assert (question, blank) == (expected, "")
    assert guide.startswith("- **Key Visual Indicators of Carbon Star:**\n  - **(Primary):** Strong C₂ Swan bands")


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_a_guide_has_primary_and_secondary_statements_and_confusers(task: Task) -> None:
    assert task.title in task.question
    for weight in ("**(Primary):**", "**(Secondary):**", "**(Confusers):**"):
        assert weight in task.guide
    assert all(line.startswith(("- **", "  - **")) for line in task.guide.splitlines())
    assert len(task.features) >= 6
    assert task.features[0].role == "primary"


def test_the_cv_guide_is_ordered_by_accretion_state() -> None:
    sections = [s.section for s in TASKS["cv"].statements]
    assert [s[:7] for s in dict.fromkeys(sections)] == ["State 1", "State 2", "State 3", "Check b"]


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_every_reference_is_used_and_reads_author_year_source(task: Task) -> None:
    parts = (*task.statements, *task.features, *task.confusers)
    assert {key for part in parts for key in part.references} == set(task.references)
    assert all(any(c.isdigit() for c in text) and len(text) > 15 for text in task.references.values())


@pytest.mark.parametrize(("task", "feature"), FEATURES)
def test_the_windows_of_a_feature_are_consistent(task: Task, feature: Feature) -> None:
    lo, hi = feature.window
    assert 3600 <= lo < hi <= 9300
    assert lo <= feature.span[0] < feature.span[1] <= hi
    assert all(lo - 1 <= w <= hi + 1 for w in feature.wavelengths)
    assert all(3600 <= a < b <= 9300 for a, b in feature.side_bands)


@pytest.mark.parametrize(("task", "feature"), FEATURES)
def test_the_wavelengths_of_a_feature_are_in_the_line_lists(task: Task, feature: Feature) -> None:
    """Two independently written files must agree on every wavelength in the medium that the task states."""
    known = [entry.at(feature.medium) for entry in (*lines(), *bands())]
    for wavelength in feature.wavelengths:
        assert min(abs(wavelength - k) for k in known) < 0.3
    if feature.kind != "slope":
        assert feature.wavelengths


def test_a_feature_is_converted_as_a_whole_to_the_other_medium() -> None:
    feature = TASKS["cv"].feature("Hα emission")
    there = feature.in_medium("vacuum")
    assert there.medium == "vacuum"
    assert there.wavelengths[0] == pytest.approx(6564.60, abs=0.02)
    assert there.window[0] - feature.window[0] == pytest.approx(1.77, abs=0.01)
    assert there.side_bands[1][1] - feature.side_bands[1][1] == pytest.approx(1.84, abs=0.01)
    assert there.in_medium("vacuum") == there


def test_aliases_find_a_task_in_upper_or_lower_case() -> None:
    assert tasks.find(TASKS, "carbon") is TASKS["cc"]
    assert tasks.find(TASKS, " CV ") is TASKS["cv"]
    assert tasks.find(TASKS, "galaxy") is None


GOOD = (tasks.FOLDER / "b.toml").read_text(encoding="utf-8").replace('key = "b"', 'key = "mine"')


def test_a_user_adds_a_class_by_adding_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD, encoding="utf-8")
    assert set(tasks.load(tmp_path)) == {*TASKS, "mine"}


def test_the_example_in_the_documentation_is_a_working_task(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    (tmp_path / "be.toml").write_text(example, encoding="utf-8")
    assert tasks.load(tmp_path)["be"].features[0].name == "Hα emission"


@pytest.mark.parametrize(
    ("old", "new", "field", "found"),
    [
        ('key = "mine"', 'key = "My class"', "key", "'My class'"),
        ('key = "mine"', "", "key", "nothing"),
        ('title = "B-type Star"', 'title = "Star"', "question", "Analyze"),
        ("[4420.0, 4530.0]", "[4530.0, 4420.0]", "feature 1 (He I 4471), window", "[4530.0, 4420.0]"),
        ("[4420.0, 4530.0]", '"4420-4530"', "feature 1 (He I 4471), window", "'4420-4530'"),
        ("span = [4461.0, 4478.0]", "span = [4450.0, 4478.0]", "feature 1 (He I 4471), side_bands", "overlaps"),
        ('medium = "air"', 'medium = "Air"', "feature 1 (He I 4471), medium", "'Air'"),
        ("above = 0.3", 'above = "a lot"', "feature 1 (He I 4471), above", "'a lot'"),
        ("above = 0.3", "", "feature 1 (He I 4471), above, below", "neither"),
        ('"equivalent_width"', '"width"', "feature 1 (He I 4471), quantity", "'width'"),
        ("above = 0.3", "abvoe = 0.3", "feature 1 (He I 4471), abvoe", "unknown field"),
        ('references = ["WF90", "GC09"]', 'references = ["XX"]', "guide 1 (Primary), references", "'XX'"),
        ('references = ["WF90", "GC09"]', "references = []", "guide 1 (Primary), references", "none"),
        ("[[feature]]", "[[feature", "file", "broken TOML"),
        ('name = "He I 4026"', 'name = "He I 4471"', "feature.name", "twice"),
    ],
)
def test_a_broken_file_is_reported_with_field_found_and_expected(
    tmp_path: Path, old: str, new: str, field: str, found: str
) -> None:
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TaskError) as caught:
        tasks.load(tmp_path)
    assert caught.value.file == str(path)
    assert caught.value.field == field
    assert found in caught.value.found
    assert caught.value.expected
    assert str(caught.value).startswith(f"{path}: {field}: found ")


def test_a_broken_file_does_not_affect_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("key = 3", encoding="utf-8")
    (tmp_path / "latin.toml").write_bytes(b'key = "\xe9"')
    (tmp_path / "mine.toml").write_text(GOOD, encoding="utf-8")
    found, problems = tasks.load_all([tmp_path, tmp_path / "none"])
    assert set(found) == {*TASKS, "mine"}
    assert [Path(p.file).name for p in problems] == ["bad.toml", "latin.toml", "none"]


def test_a_users_file_never_replaces_a_built_in_task(tmp_path: Path) -> None:
    (tmp_path / "again.toml").write_text(GOOD.replace('key = "mine"', 'key = "carbon"'), encoding="utf-8")
    found, problems = tasks.load_all([tmp_path])
    assert set(found) == set(TASKS)
    assert problems[0].found == "'carbon', already used by cc.toml"


@pytest.mark.parametrize(
    ("file", "key", "present", "absent"),
    [
        ("miles/CARBON_STAR", "cc", ("C2 4737", "C2 5165", "C2 5636"), ("TiO 6159",)),
        ("miles/S_STAR", "ss", ("ZrO 6474", "ZrO 6345", "ZrO 5551"), ("C2 4737",)),
        ("miles/M_DWARF", "gm", ("TiO 7054 (TiO5)", "CaH 6385"), ("CaH 6385 weak (CaH1)",)),
        ("stelib/M_GIANT", "gm", ("TiO 7054 (TiO5)", "CaH 6385 weak (CaH1)"), ("CaH 6385",)),
        ("lamost/STAR_A1", "a", ("Hγ", "Hδ", "High Balmer lines (H10)"), ("Hβ breadth", "He I 4471")),
        ("miles/B_STAR", "b", ("Blue continuum",), ("Ca II K strong", "Hβ breadth")),
    ],
)
def test_features_are_seen_in_real_stars_of_the_class(
    shared: Path, file: str, key: str, present: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    """In most of the labelled stars of the folder; the bounds were tuned on the same stars."""
    stars = [measure.rest(read(path)) for path in sorted((shared / "spectra" / file).iterdir())]
    for name in (*present, *absent):
        feature = TASKS[key].feature(name)
        found = [measure.measure_feature(star, feature) for star in stars]
        values = [m.value for m in found if isinstance(m, Measured)]
        share = sum(feature.is_present(v) for v in values) / max(1, len(values))
        assert (share > 0.7) == (name in present), (name, values)
