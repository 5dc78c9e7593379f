"""Task files, features that require others, and the measurements made for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent import measure, tasks
from agent.lines import bands, lines
from agent.measure import Measured, Undefined
from agent.measure.roughness import roughness
from agent.spectrum import Spectrum, read
from agent.tasks import Task, TaskError, load
from agent.tasks.files import FOLDER

TASKS = tasks.load()
FEATURES = [(task, feature) for task in TASKS.values() for feature in task.features]


def test_the_published_classes_are_loaded_with_the_published_words_in_their_questions() -> None:
    assert {"cv", "cc", "ss", "gm", "wd", "o", "b", "a"} <= set(TASKS)
    words = {"cv": "Cataclysmic", "cc": "Carbon Star", "ss": "S-type Star", "gm": "M-type Giant", "wd": "White Dwarf"}
    for key, published in words.items():
        assert published in TASKS[key].prompt.splitlines()[0]


def test_guides_keep_the_published_question_and_their_order() -> None:
    expected = "Analyze the provided spectrum to determine if it is a **Carbon Star (C-type)**."
    question, blank, guide = TASKS["cc"].prompt.split("\n", 2)
    assert (question, blank) == (expected, "")
    assert guide.startswith("- **Key Visual Indicators of Carbon Star:**\n  - **(Primary):** Strong C₂ Swan bands")
    sections = [s.section for s in TASKS["cv"].statements]
    assert [s[:7] for s in dict.fromkeys(sections)] == ["State 1", "State 2", "State 3", "Check b"]
    assert tasks.find(TASKS, "carbon") is TASKS["cc"]
    assert tasks.find(TASKS, " CV ") is TASKS["cv"]
    assert tasks.find(TASKS, "galaxy") is None


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_a_guide_has_primary_and_secondary_statements_and_confusers(task: Task) -> None:
    assert task.title in task.question
    for weight in ("**(Primary):**", "**(Secondary):**", "**(Confusers):**"):
        assert weight in task.guide
    assert all(line.startswith(("- **", "  - **", "    Why: ")) for line in task.guide.splitlines())
    assert len(task.features) >= 6
    assert task.features[0].role == "primary"


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_a_guide_gives_the_reason_below_each_sign_and_criteria_leave_the_reasons_out(task: Task) -> None:
    for statement in task.statements:
        assert statement.why
        assert f":** {statement.text}\n    Why: {statement.why}" in task.guide
    criteria = [line for line in task.guide.splitlines() if not line.startswith("    Why: ")]
    assert task.criteria.splitlines() == criteria
    assert task.prompt == f"{task.question}\n\n{task.guide}"
    assert task.prompt_without_reasons == f"{task.question}\n\n{task.criteria}"
    trained = task.with_prompt("As trained.", "trained")
    assert trained.prompt == trained.prompt_without_reasons == "As trained."


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
def test_every_reference_is_used_and_reads_author_year_source(task: Task) -> None:
    parts = (*task.statements, *task.features, *task.confusers, *task.sky)
    assert {key for part in parts for key in part.references} == set(task.references)
    assert all(any(c.isdigit() for c in text) and len(text) > 15 for text in task.references.values())


def test_the_windows_of_a_feature_are_consistent() -> None:
    for task, feature in FEATURES:
        lo, hi = feature.window
        assert 3600 <= lo < hi <= 9300, (task.key, feature.name)
        assert lo <= feature.span[0] < feature.span[1] <= hi, (task.key, feature.name)
        assert all(lo - 1 <= w <= hi + 1 for w in feature.wavelengths), (task.key, feature.name)
        assert all(3600 <= a < b <= 9300 for a, b in feature.side_bands), (task.key, feature.name)


def test_the_wavelengths_of_a_feature_are_in_the_line_lists() -> None:
    """Two independently written files must agree on every wavelength in the medium that the task states."""
    known = {medium: [entry.at(medium) for entry in (*lines(), *bands())] for medium in ("air", "vacuum")}
    for task, feature in FEATURES:
        for wavelength in feature.wavelengths:
            assert min(abs(wavelength - k) for k in known[feature.medium]) < 0.3, (task.key, feature.name)
        assert feature.wavelengths or feature.kind == "slope", (task.key, feature.name)


def test_a_feature_is_converted_as_a_whole_to_the_other_medium() -> None:
    feature = TASKS["cv"].feature("Hα emission")
    there = feature.in_medium("vacuum")
    assert there.medium == "vacuum"
    assert there.wavelengths[0] == pytest.approx(6564.60, abs=0.02)
    assert there.window[0] - feature.window[0] == pytest.approx(1.77, abs=0.01)
    assert there.side_bands[1][1] - feature.side_bands[1][1] == pytest.approx(1.84, abs=0.01)
    assert there.in_medium("vacuum") == there


GOOD = (tasks.FOLDER / "b.toml").read_text(encoding="utf-8").replace('key = "b"', 'key = "mine"')


def test_a_user_adds_a_class_by_adding_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(GOOD, encoding="utf-8")
    assert set(tasks.load(tmp_path)) == {*TASKS, "mine"}


def test_the_example_in_the_documentation_is_a_working_task(tmp_path: Path) -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    (tmp_path / "be.toml").write_text(example, encoding="utf-8")
    assert tasks.load(tmp_path)["be"].features[0].name == "Hα emission"


@pytest.mark.parametrize(
    ("old", "new", "field", "found"),
    [
        ('key = "mine"', 'key = "My class"', "key", "'My class'"),
        ('title = "B-type Star"', 'title = "Star"', "question", "Analyze"),
        ("[4420.0, 4530.0]", "[4530.0, 4420.0]", "feature 1 (He I 4471), window", "[4530.0, 4420.0]"),
        ("[4420.0, 4530.0]", '"4420-4530"', "feature 1 (He I 4471), window", "'4420-4530'"),
        ("span = [4466.0, 4476.0]", "span = [4460.0, 4476.0]", "feature 1 (He I 4471), side_bands", "overlaps"),
        ('medium = "air"', 'medium = "Air"', "feature 1 (He I 4471), medium", "'Air'"),
        ("above = 0.15", 'above = "a lot"', "feature 1 (He I 4471), above", "'a lot'"),
        ("above = 0.15", "", "feature 1 (He I 4471), above, below", "neither"),
        ("above = 0.15", "abvoe = 0.15", "feature 1 (He I 4471), abvoe", "unknown field"),
        ('references = ["WF90", "GC09"]', 'references = ["XX"]', "guide 1 (Primary), references", "'XX'"),
        ('references = ["WF90", "GC09"]', "references = []", "guide 1 (Primary), references", "none"),
        ("[[feature]]", "[[feature", "file", "broken TOML"),
        ('name = "He I 4026"', 'name = "He I 4471"', "feature.name", "twice"),
    ],
)
def test_a_broken_file_is_reported_with_field_found_and_expected(tmp_path, old, new, field, found):
    assert old in GOOD
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TaskError) as caught:
        tasks.load(tmp_path)
    assert caught.value.file == str(path)
    assert caught.value.field == field
    assert found in caught.value.actual
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
    assert problems[0].actual == "'carbon', already used by cc.toml"


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
def test_features_are_seen_in_real_stars_of_the_class(shared, file, key, present, absent):
    """In most of the labelled stars of the folder; the bounds were tuned on the same stars."""
    stars = [measure.rest(read(path)) for path in sorted((shared / "spectra" / file).iterdir())]
    for name in (*present, *absent):
        feature = TASKS[key].feature(name)
        found = [measure.measure_feature(star, feature) for star in stars]
        values = [m.value for m in found if isinstance(m, Measured)]
        share = sum(feature.is_present(v) for v in values) / max(1, len(values))
        assert (share > 0.7) == (name in present), (name, values)


GIANTS = (FOLDER / "gm.toml").read_text(encoding="utf-8").replace('key = "gm"', 'key = "mine"')
LINE = 'requires = "TiO 7054 (TiO5)"'


def spectrum(lines: float, snr: float) -> Spectrum:
    wavelength = np.arange(3800.0, 7000.0, 1.5)
    flux = (wavelength / 5000) ** -2 * (1 - lines * np.sin(wavelength / 15))
    noise = np.random.default_rng(3).normal(0, 1 / snr, wavelength.size)
    return Spectrum(wavelength, flux * (1 + noise), (snr / flux) ** 2, name="x")


def test_the_root_of_a_feature_is_what_it_depends_on_in_the_end() -> None:
    task = load()["wd"]
    assert task.root(task.feature("He I 5876 broad (DB)")).name == "Blue continuum"
    assert task.root(task.feature("Blue continuum")).name == "Blue continuum"


@pytest.mark.parametrize(
    ("new", "found", "expected"),
    [
        ('requires = "TiO"', "'TiO'", "the name of another feature"),
        ('requires = "CaH 6385 weak (CaH1)"', "CaH 6385 weak (CaH1) → CaH 6385 weak (CaH1)", "no circle of features"),
    ],
)
def test_a_feature_may_require_only_another_feature_of_the_file(tmp_path, new, found, expected):
    assert LINE in GIANTS
    (tmp_path / "mine.toml").write_text(_without_aliases(GIANTS).replace(LINE, new, 1), encoding="utf-8")
    with pytest.raises(TaskError) as refused:
        load(tmp_path)
    assert refused.value.field == "feature 2 (CaH 6385 weak (CaH1)), requires"
    assert refused.value.actual == found
    assert expected in refused.value.expected


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('requires = "Colour of an M star"', 'requires = "TiO 7054 (TiO5)"', "sky 2 (Luminosity of a giant), requires"),
        ('name = "Luminosity of a giant"', 'name = "CaH 6385 weak (CaH1)"', "sky.name"),
        ('quantity = "absolute_magnitude"', 'quantity = "teff"', "sky 2 (Luminosity of a giant), quantity"),
        ("below = 4.0, ", "", "sky 2 (Luminosity of a giant), above, below"),
        ('references = ["GC18", "PM13"]', 'references = ["X"]', "sky 2 (Luminosity of a giant), references"),
    ],
)
def test_an_entry_of_what_catalogues_tell_is_checked_like_a_feature(tmp_path, old, new, field):
    assert old in GIANTS
    (tmp_path / "mine.toml").write_text(_without_aliases(GIANTS).replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TaskError) as refused:
        load(tmp_path)
    assert refused.value.field == field


def test_what_catalogues_tell_is_no_part_of_the_prompt() -> None:
    for task in TASKS.values():
        assert task.sky
        assert task.prompt == replace(task, sky=()).prompt


def _without_aliases(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("aliases"))


def test_roughness_is_the_rms_of_what_a_smooth_curve_leaves() -> None:
    smooth, lined = roughness(spectrum(0.0, 200), (4000, 6800)), roughness(spectrum(0.1, 200), (4000, 6800))
    assert isinstance(smooth, Measured)
    assert isinstance(lined, Measured)
    assert smooth.value < 0.003
    # A sine of amplitude 0.1 and period 94 Å, averaged over bins of 20 Å: 0.1/√2 times sinc(20/94).
    assert lined.value == pytest.approx(0.1 / np.sqrt(2) * np.sinc(20 / 94.2), rel=0.05)


def test_roughness_is_undefined_where_noise_could_hide_lines() -> None:
    found = roughness(spectrum(0.0, 4), (4000, 6800))
    assert isinstance(found, Undefined)
    assert "the noise hides lines" in found.reason


def test_the_sampling_is_that_of_the_optical_range() -> None:
    wavelength = np.concatenate([np.arange(3500.0, 9000.0, 4.0), np.arange(9000.0, 200000.0, 100.0)])
    assert Spectrum(wavelength, np.ones_like(wavelength)).sampling == 4.0
    infrared = np.arange(10000.0, 20000.0, 5.0)
    assert Spectrum(infrared, np.ones_like(infrared)).sampling == 5.0
