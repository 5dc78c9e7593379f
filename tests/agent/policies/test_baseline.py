"""The baseline: a rule that measures features, writes the numbers down and answers by a scorecard."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.hints.evidence import Evidence
from agent.loop import run
from agent.measure import Measured, Undefined, measure_feature, rest
from agent.measure.values import power_of, redshift_text
from agent.policies.baseline import scorecard, sentences
from agent.policies.baseline.rule import MAX_WINDOWS, NAME, Baseline, plan_zooms
from agent.policies.baseline.scorecard import PLAIN, assess, presence, scorecards
from agent.simulate import CLASSES, KINDS, simulate, truth
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think

TASKS = load()
CV = simulate("cv", "LAMOST", 25, 2)


@pytest.fixture(scope="module")
def draft():
    return run(CV, TASKS["cv"], Baseline())


def test_the_trace_is_complete_well_formed_and_names_the_baseline(draft):
    assert draft.drafter.kind == "baseline"
    assert draft.drafter.name == NAME == "rule-based baseline"
    assert {"version", "scorecards_sha256", "renderer", "prompt_sha256"} <= set(draft.drafter.settings)
    assert draft.problems() == []
    assert draft.faults == ()
    assert 1 <= len(draft.zooms) <= MAX_WINDOWS
    assert all(zoom.ok and zoom.picture for zoom in draft.zooms)
    features = [f.in_medium("vacuum") for f in TASKS["cv"].features]
    for zoom in draft.zooms:
        low, high = zoom.window
        assert any(low - 1 <= f.span[0] and f.span[1] <= high + 1 for f in features), zoom.label
    assert draft.answer.score == pytest.approx(assess(CV, TASKS["cv"]).score, abs=1e-4)
    assert Trajectory.from_json(draft.to_json()) == draft


def test_the_numbers_in_the_text_are_the_measured_numbers(draft):
    feature = TASKS["cv"].feature("Hα emission")
    measured = measure_feature(rest(CV), feature)
    thoughts = " ".join(s.text for s in draft.steps if isinstance(s, Think))
    value = sentences.with_error(measured, "Å")
    where = "in 6517–6612 Å against its side bands"
    assert f"Hα emission: equivalent width {value} {where} (emission), expected below −8 Å: yes." in thoughts


def test_the_points_in_the_text_add_up_to_the_sum_in_the_text(draft):
    last = [s.text for s in draft.steps if isinstance(s, Think)][-1]
    weighing = last[last.index("For:") :].replace("−", "-")
    start, total = map(
        float, re.search(r"Start ([-+.\d]+), total ([-+.\d]+); YES needs more than 0: YES", weighing).groups()
    )
    points = [float(p) for p in re.findall(r"\(([-+][.\d]+)\)", weighing)]
    # Each number is rounded to a tenth.
    assert start + sum(points) == pytest.approx(total, abs=0.05 * (len(points) + 2))


def test_with_few_turns_the_baseline_answers_in_time():
    trajectory = run(CV, TASKS["cv"], Baseline(), max_turns=2)
    assert len(trajectory.zooms) == 1
    assert trajectory.answer.verdict == assess(CV, TASKS["cv"]).verdict
    assert run(CV, TASKS["cv"], Baseline(), max_turns=1).zooms == ()


def test_zooms_are_in_the_tools_frame_and_shared_by_overlapping_features():
    spectrum = simulate("hii", "SDSS", 30, 3, redshift=0.05)
    zoom = plan_zooms(assess(spectrum, TASKS["cv"]))[0]
    assert zoom.window[0] < 6564.6 < zoom.window[1]
    assert "rest frame for z = 0.05000)" in sentences.opening(spectrum, rest(spectrum))
    zooms = plan_zooms(assess(CV, TASKS["cv"]))
    assert len({zoom.window for zoom in zooms}) == len(zooms)
    assert any(len(zoom.findings) > 1 for zoom in zooms)


def test_without_measurable_features_the_answer_is_no_and_gives_the_reason():
    trajectory = run(simulate("sky", "SDSS", 1, 1), TASKS["cc"], Baseline())
    assert trajectory.answer.verdict == "NO"
    assert "These data do not allow an answer: no primary feature can be measured" in trajectory.answer.explanation
    assert trajectory.cannot_tell in trajectory.answer.explanation
    assert "only strong features can be judged" in trajectory.steps[0].text


def test_a_feature_outside_the_data_adds_nothing():
    whole = assess(CV, TASKS["cv"])
    kept = CV.wavelength > 6000
    red = replace(CV, **{a: getattr(CV, a)[kept] for a in ("wavelength", "flux", "ivar", "mask")})
    half = assess(red, TASKS["cv"])
    for complete, partial in zip(whole.findings, half.findings, strict=True):
        if isinstance(partial.measured, Undefined):
            assert partial.points == 0
        else:
            assert partial.points == pytest.approx(complete.points, abs=1e-9)


@given(st.floats(-50, 50), st.floats(0.01, 10))
def test_presence_is_a_probability_that_grows_into_the_bounds(value, error):
    feature = TASKS["cv"].feature("Hα emission")
    here, deeper = (presence(feature, Measured(v, error, "Å")) for v in (value, value - 1))
    assert 0 <= here <= 1
    assert deeper >= here


@given(st.floats(-1e5, 1e5), st.floats(1e-5, 1e4))
def test_a_number_is_off_by_no_more_than_its_error_or_its_last_digit(value, error):
    shown, its_error = sentences.with_error(Measured(value, error)).split(" ± ")
    decimals = len(shown.partition(".")[2])
    assert len(its_error.partition(".")[2]) == decimals
    assert float(shown.replace("−", "-")) == pytest.approx(value, abs=max(error, 0.51 * 10**-decimals))


@pytest.mark.parametrize(
    ("value", "error", "bounds", "text"),
    [
        (8.476, 0.058, (), "8.5 ± 0.1"),
        (8.776, 0.058, (8.8,), "8.78 ± 0.06"),
        (-0.012, 0.022, (0.25,), "−0.01 ± 0.02"),
        (1.027, 0.01, (0.94,), "1.03 ± 0.01"),
        (1105.0, 20.3, (), "1100 ± 20"),
        (1149.0, 20.3, (), "1150 ± 20"),
        (0.9238, 0.0004, (0.94,), "0.92 ± 0.01"),
        (-1396.2, 17.5, (), "−1400 ± 20"),
    ],
)
def test_a_number_has_two_figures_unless_a_third_decides(value, error, bounds, text):
    assert sentences.with_error(Measured(value, error), "", bounds) == text


def nothing(feature):
    """What is measured at high S/N where a feature is not: no line or band, half the width, twice what is filled in."""
    bound = feature.below if feature.above is None else feature.above
    value = {"equivalent_width": 0.0, "depth": 0.0, "ratio": 1.0, "slope": 0.0}.get(feature.quantity, 0.5 * bound)
    if feature.is_present(value):
        value = 2.0 * bound
    return Measured(value, 0.02 * abs(bound - value))


@pytest.mark.parametrize("task", TASKS.values(), ids=list(TASKS))
@pytest.mark.parametrize("is_member", [True, False])
def test_a_confuser_that_is_measured_absent_has_no_word_against_the_class(monkeypatch, task, is_member):
    def measured(_, feature):
        if feature.role == "confuser" or not is_member:
            return nothing(feature)
        bounds = [b for b in (feature.above, feature.below) if b is not None]
        return Measured(sum(bounds) / 2 if len(bounds) == 2 else bounds[0] + (2 if feature.above else -2), 0.01)

    monkeypatch.setattr(Evidence, "feature", measured)
    found = assess(featureless(), task)
    assert (found.verdict == "YES") is is_member
    weighing, explanation = sentences.weighing(found, task.title), sentences.explanation(found, task.title)
    against = [line for line in weighing.splitlines() if line.startswith("Against")]
    for finding in found.findings:
        if finding.feature.role == "confuser":
            assert finding.presence < 0.02, finding.feature.name
            assert finding.points == 0
            assert not any(f"{finding.feature.name} (" in line for line in against)
            assert finding.feature.name not in explanation.partition("against")[2]
            assert sentences._what(finding), f"{finding.feature.name}: its why begins with what the spectrum would be"
    if "against it" not in explanation:
        assert (" is unlikely" in explanation) is is_member


def test_scorecards_name_the_features_of_their_task_and_nothing_absent_speaks_for_a_class():
    # A renamed feature would silently fall back to the plain points of its role.
    for key, card in scorecards().items():
        assert set(card.points) == {f.name for f in TASKS[key].features}, key
    for key, card in scorecards().items():
        assert card.start <= -1.6, key
        for feature in TASKS[key].features:
            points = card.of(feature)
            assert points.absent <= 0, (key, feature.name)
            assert (points.present < 0) == (feature.role == "confuser"), (key, feature.name)


def featureless(slope=0.0):
    """A spectrum without any line, at S/N 100."""
    wavelength = np.arange(3700.0, 9300.0, 1.5)
    flux = (wavelength / 5500) ** slope
    noise = np.random.default_rng(0).normal(0, 0.01, wavelength.size)
    return Spectrum(wavelength, flux * (1 + noise), 1e4 / flux**2, medium="vacuum", name="flat")


@pytest.mark.parametrize("task", TASKS)
def test_a_spectrum_without_features_is_no_member_of_any_class(task):
    assert assess(featureless(), TASKS[task]).verdict == "NO"


def test_a_blue_spectrum_without_lines_is_a_white_dwarf_of_type_dc_at_most():
    answers = {task: assess(featureless(-2.5), TASKS[task]).verdict for task in TASKS}
    assert {task for task, verdict in answers.items() if verdict == "YES"} <= {"wd"}


def test_a_feature_counts_only_with_the_one_that_it_requires():
    giant = simulate("gm", "SDSS", 60, 5)
    found = {f.feature.name: f for f in assess(giant, TASKS["cv"]).findings}
    breadth, line = found["Hα breadth"], found["Hα emission"]
    assert breadth.counted == line.certainty
    assert breadth.counted < 0.1
    assert abs(breadth.points) < 0.3
    if breadth.presence is not None:
        assert "not counted without Hα emission" in sentences.judged(breadth, rest(giant), TASKS["cv"])


def test_without_a_primary_feature_the_sum_counts_as_0_at_most():
    found = assess(CV, TASKS["cv"])
    assert found.score == found.total > 0
    absent = tuple(replace(f, presence=0.4) if f.feature.role == "primary" else f for f in found.findings)
    without = replace(found, findings=absent)
    assert without.total > 0
    assert (without.score, without.verdict) == (0.0, "NO")
    weighing = sentences.weighing(without, "CV")
    assert "but no primary feature is present, so the total counts as 0; YES needs more than 0: NO." in weighing


def test_the_opening_says_what_the_data_do_not_allow():
    def opening(step, start=3700.0, stop=9300.0, **other):
        wavelength = np.arange(start, stop, step)
        flux = np.ones_like(wavelength)
        spectrum = Spectrum(wavelength, flux, 1e4 * flux, name="x", **other)
        return sentences.opening(spectrum, rest(spectrum))

    assert "sampled every 80 Å, so lines cannot be judged" in opening(80.0, medium="vacuum")
    assert "From end to end F_λ ∝ λ⁰·⁰: a flat continuum." in opening(2.0, medium="vacuum")
    assert "A span of 299 Å is too short for a colour." in opening(1.0, 6400.0, 6700.0, medium="vacuum")
    assert "The file gives F_ν in mJy" in opening(2.0, medium="vacuum", meta={"flux_unit_in_file": "mJy"})
    assert "(air (assumed), observed frame)" in opening(2.0, medium="air", meta={"medium_assumed": True})


def confuser_of_a_cv():
    """The sentence on a feature of the task file that would count against a CV and is not there."""
    finding = next(f for f in assess(CV, TASKS["cv"]).measured if f.feature.name == "[O III] 5007 emission")
    return sentences.judged(finding, rest(CV), shape=False)


@pytest.mark.parametrize(
    ("name", "denied"),
    [
        ("Hβ emission", "no Hβ emission"),
        ("Blue continuum", "no blue continuum"),
        ("He I 4471", "no He I 4471"),
        ("CaH 6385 weak (CaH1)", "CaH 6385 not weak (CaH1)"),
        ("He I 4471 very strong", "He I 4471 not very strong"),
        ("No lines (DC)", "lines (DC)"),
    ],
)
def test_an_absent_feature_is_denied_in_plain_english(name, denied):
    assert sentences.absent(name) == denied


def test_sentences_have_the_right_article_and_deny_what_is_absent():
    assert "whether this is an M-type Giant (gM)." in run(CV, TASKS["gm"], Baseline(), max_turns=1).steps[0].text
    assert "whether this is a B-type Star." in run(CV, TASKS["b"], Baseline(), max_turns=1).steps[0].text
    found = assess(CV, TASKS["cv"])
    one, two = (replace(f, presence=0.1, points=p) for f, p in zip(found.measured, (-2.0, 1.0), strict=False))
    text = sentences.explanation(replace(found, findings=(one, two)), "Cataclysmic Variable (CV)")
    assert re.search(r"^No Hα emission \(.*\) speaks against a Cataclysmic Variable\. By the scorecard", text)
    assert ", would count against it below −3 Å; it is not." in confuser_of_a_cv()


@pytest.mark.parametrize(("exponent", "text"), [(-1.34, "λ⁻¹·³"), (0.0, "λ⁰·⁰"), (-0.04, "λ⁰·⁰"), (12.0, "λ¹²·⁰")])
def test_a_power_has_unicode_superscripts(exponent, text):
    assert power_of("λ", exponent) == text


@pytest.mark.parametrize(("z", "text"), [(-6.3e-6, "−0.0000063"), (0.05, "0.05000"), (0.3688123, "0.3688123")])
def test_a_redshift_has_the_digits_of_the_page(z, text):
    assert redshift_text(z) == text


def without_data(spectrum, *windows):
    """The spectrum with ivar 0 in these windows, as in a survey's dead arm."""
    ivar = spectrum.ivar.copy()
    for lo, hi in windows:
        ivar[(spectrum.wavelength > lo) & (spectrum.wavelength < hi)] = 0.0
    return replace(spectrum, ivar=ivar)


def test_where_no_primary_feature_can_be_measured_the_draft_is_marked_cannot_tell():
    star = simulate("gm", "SDSS", 60, 5)
    assert run(star, TASKS["cv"], Baseline()).cannot_tell == ""
    blind = run(without_data(star, (3000, 10000)), TASKS["cv"], Baseline())
    assert blind.cannot_tell.startswith("no primary feature can be measured: Hα emission")
    assert "These data do not allow an answer; NO is a default." in blind.steps[-2].text
    assert blind.problems() == []


def test_a_no_at_low_signal_to_noise_is_marked_cannot_tell_but_a_yes_is_not():
    flat = featureless()
    noise = np.random.default_rng(1).normal(0, 1.0, len(flat))
    faint = replace(flat, flux=1.0 + noise, ivar=np.ones(len(flat)))
    assert run(faint, TASKS["wd"], Baseline()).cannot_tell == "the S/N is 1.0 per pixel; a NO needs 3 or more"
    assert run(flat, TASKS["wd"], Baseline()).cannot_tell == ""
    bright = run(CV, TASKS["cv"], Baseline())
    assert (bright.answer.verdict, bright.cannot_tell) == ("YES", "")


def test_coarsely_sampled_lines_do_not_count():
    step = 80.0
    wavelength = np.arange(3200.0, 9000.0, step)
    flux = np.where(abs(wavelength - 6563) < step, 3.0, 1.0)
    coarse = Spectrum(wavelength, flux, np.full(wavelength.size, 1e4), medium="vacuum", name="oke")
    found = {f.feature.name: f.measured for f in assess(coarse, TASKS["cv"]).findings}
    assert found["Hα emission"] == Undefined("sampled every 80 Å, coarser than 15 Å")
    marked = run(coarse, TASKS["cv"], Baseline())
    assert "sampled every 80 Å" in marked.cannot_tell


def test_the_mark_and_the_assumed_medium_travel_with_the_trajectory():
    meta = {"medium_assumed": True}
    blind = run(replace(without_data(CV, (3000, 10000)), medium="air", meta=meta), TASKS["cv"], Baseline())
    assert blind.medium_assumed
    assert Trajectory.from_json(blind.to_json()) == blind
    row = blind.to_sharegpt(["0.png"] * len(blind.pictures))
    back = Trajectory.from_sharegpt(row)
    assert (back.cannot_tell, back.medium_assumed) == (blind.cannot_tell, True)
    assert (row["medium"], row["medium_assumed"]) == ("air", True)
    # The hash of a draft without them is that of releases before they existed.
    assert not {"cannot_tell", "medium_assumed"} & set(run(CV, TASKS["cv"], Baseline(), max_turns=1).to_json())


def test_a_task_without_a_scorecard_gets_plain_points():
    own = replace(TASKS["cv"], key="mine")
    found = assess(CV, own)
    assert found.start == 0
    for finding in found.measured:
        worth = PLAIN[finding.feature.role]
        share = scorecard.share_present(finding.feature, finding.presence)
        expected = worth.present * share + worth.absent * (1 - share)
        assert finding.points == pytest.approx(finding.counted * expected)
    assert found.verdict == "YES"


def test_on_simulations_the_baseline_is_mostly_right():
    """Seeds that neither the fit nor the benchmark uses; S/N 50."""
    answers = []
    for seed in range(900_000, 900_002):
        for kind in KINDS:
            spectrum = simulate(kind, "SDSS", 50, seed)
            answers += [(truth(kind, t), assess(spectrum, TASKS[t]).verdict) for t in CLASSES]
    found = [given == "YES" for right, given in answers if right == "YES"]
    refused = [given == "NO" for right, given in answers if right == "NO"]
    assert np.mean(found) > 0.6
    assert np.mean(refused) > 0.9
