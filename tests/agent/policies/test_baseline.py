"""The baseline: a rule that measures features, writes the numbers down and answers by a scorecard."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loop import run
from agent.measure import Measured, Undefined, measure_feature, rest
from agent.policies.baseline import rule
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


def test_the_drafter_is_named_baseline(draft):
    assert draft.drafter.kind == "baseline"
    assert draft.drafter.name == NAME == "baseline, no model"
    assert {"version", "scorecards_sha256", "renderer", "prompt_sha256"} <= set(draft.drafter.settings)


def test_the_trace_is_complete_and_well_formed(draft):
    assert draft.problems() == []
    assert draft.faults == ()
    assert 1 <= len(draft.zooms) <= MAX_WINDOWS
    assert all(zoom.ok and zoom.picture for zoom in draft.zooms)


def test_every_window_holds_a_feature_of_the_task_file(draft):
    features = [f.in_medium("vacuum") for f in TASKS["cv"].features]
    for zoom in draft.zooms:
        low, high = zoom.window
        assert any(low - 1 <= f.span[0] and f.span[1] <= high + 1 for f in features), zoom.label


def test_the_numbers_in_the_text_are_the_measured_numbers(draft):
    feature = TASKS["cv"].feature("Hα emission")
    measured = measure_feature(rest(CV), feature)
    thoughts = " ".join(s.text for s in draft.steps if isinstance(s, Think))
    assert f"Hα emission: equivalent width {rule.with_error(measured, 'Å')} (emission), bound: below −8 Å: " in thoughts


def test_the_points_in_the_text_add_up_to_the_sum_in_the_text(draft):
    last = [s.text for s in draft.steps if isinstance(s, Think)][-1]
    weighing = last[last.index("For:") :].replace("−", "-")
    start, total = map(float, re.search(r"start of ([-+.\d]+) the points add up to ([-+.\d]+)", weighing).groups())
    points = [float(p) for p in re.findall(r"\(([-+][.\d]+)\)", weighing)]
    # Each number is rounded to a tenth.
    assert start + sum(points) == pytest.approx(total, abs=0.05 * (len(points) + 2))


def test_with_few_turns_the_baseline_answers_in_time():
    trajectory = run(CV, TASKS["cv"], Baseline(), max_turns=2)
    assert len(trajectory.zooms) == 1
    assert trajectory.answer.verdict == assess(CV, TASKS["cv"]).verdict
    assert run(CV, TASKS["cv"], Baseline(), max_turns=1).zooms == ()


def test_windows_are_in_the_frame_and_medium_of_the_tool():
    spectrum = simulate("hii", "SDSS", 30, 3, redshift=0.05)
    zoom = plan_zooms(assess(spectrum, TASKS["cv"]))[0]
    assert zoom.window[0] < 6564.6 < zoom.window[1]
    assert "rest frame for z = 0.05000" in rule.opening(spectrum, rest(spectrum))


def test_overlapping_features_share_a_zoom():
    zooms = plan_zooms(assess(CV, TASKS["cv"]))
    assert len({zoom.window for zoom in zooms}) == len(zooms)
    assert any(len(zoom.findings) > 1 for zoom in zooms)


def test_without_measurable_features_the_answer_is_no_and_gives_the_reason():
    trajectory = run(simulate("sky", "SDSS", 1, 1), TASKS["cc"], Baseline())
    assert trajectory.answer.verdict == "NO"
    assert "Nothing that was asked for can be measured" in trajectory.answer.explanation
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
def test_a_number_is_written_with_its_error_to_the_same_decimals(value, error):
    shown, its_error = rule.with_error(Measured(value, error)).split(" ± ")
    assert len(shown.partition(".")[2]) == len(its_error.partition(".")[2])
    decimals = len(shown.partition(".")[2])
    assert float(shown.replace("−", "-")) == pytest.approx(value, abs=0.51 * 10**-decimals)


def test_a_scorecard_names_exactly_the_features_of_its_task():
    """A renamed feature would silently fall back to the plain points of its role."""
    for key, card in scorecards().items():
        assert set(card.points) == {f.name for f in TASKS[key].features}, key


def test_nothing_that_is_absent_speaks_for_a_class():
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
        assert "not counted without Hα emission" in rule.judged(breadth, rest(giant))


def test_without_a_primary_feature_the_sum_counts_as_0_at_most():
    found = assess(CV, TASKS["cv"])
    assert found.score == found.total > 0
    absent = tuple(replace(f, presence=0.4) if f.feature.role == "primary" else f for f in found.findings)
    without = replace(found, findings=absent)
    assert without.total > 0
    assert (without.score, without.verdict) == (0.0, "NO")
    assert "no primary feature is present, so the sum counts as 0 and the answer is NO" in rule.weighing(without)


def test_the_score_travels_with_the_answer(draft):
    assert draft.answer.score == pytest.approx(assess(CV, TASKS["cv"]).score, abs=1e-4)
    assert Trajectory.from_json(draft.to_json()) == draft


def test_the_opening_says_what_the_data_do_not_allow():
    def opening(step, start=3700.0, stop=9300.0, **other):
        wavelength = np.arange(start, stop, step)
        flux = np.ones_like(wavelength)
        spectrum = Spectrum(wavelength, flux, 1e4 * flux, name="x", **other)
        return rule.opening(spectrum, rest(spectrum))

    assert "sampled every 80 Å, so lines cannot be judged" in opening(80.0, medium="vacuum")
    assert "F_λ goes as λ" in opening(2.0, medium="vacuum")
    assert "F_λ" not in opening(1.0, 6400.0, 6700.0, medium="vacuum")
    assert "(air (assumed), observed frame)" in opening(2.0, medium="air", meta={"medium_assumed": True})


def test_a_task_without_a_scorecard_gets_plain_points():
    own = replace(TASKS["cv"], key="mine")
    found = assess(CV, own)
    assert found.start == 0
    for finding in found.measured:
        worth = PLAIN[finding.feature.role]
        expected = worth.present * finding.presence + worth.absent * (1 - finding.presence)
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
