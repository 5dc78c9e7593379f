"""Scores of the bench: compared with hand-computed numbers, definitions and invariants."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.support.bench import outcomes, under
from tests.support.training_data import write_predictions
from training.bench.compare import compare, mcnemar
from training.bench.outcomes import Outcome, OutcomesError, failed, judged, read_predictions
from training.bench.parts import groups
from training.bench.scores import Value, percent, resampled_counts, scores

RESAMPLES = 200


@st.composite
def some_outcomes(draw: st.DrawFn) -> list[Outcome]:
    """One or two tasks, spectra with several questions, and answers that are neither YES nor NO."""
    found = []
    for task in draw(st.sampled_from([("cv",), ("cv", "wd")])):
        truth = draw(st.text("+-", min_size=1, max_size=12))
        answers = draw(st.text("+-?", min_size=len(truth), max_size=len(truth)))
        rows = outcomes(truth, answers, task)
        spectra = draw(st.lists(st.integers(0, 5), min_size=len(truth), max_size=len(truth)))
        found += [
            replace(outcome, source=f"star-{spectrum}.fits") for outcome, spectrum in zip(rows, spectra, strict=True)
        ]
    return found


# TP 3, FN 1, FP 2, TN 3, and one true NO without a YES or NO answer.
TRUTH, ANSWERS = "++++------", "+++-++---?"


def test_scores_of_a_task_agree_with_a_calculation_by_hand() -> None:
    cv = scores(outcomes(TRUTH, ANSWERS), RESAMPLES).tasks[0]
    assert (cv.n, cv.positives, cv.tp, cv.fp, cv.fn, cv.tn, cv.without) == (10, 4, 3, 2, 1, 3, 1)
    assert cv.accuracy.value == pytest.approx(6 / 10)
    assert cv.precision.value == pytest.approx(3 / 5)
    assert cv.recall.value == pytest.approx(3 / 4)
    assert cv.f1.value == pytest.approx(2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4))


def test_macro_f1_is_the_mean_over_tasks_of_the_positive_classs_f1() -> None:
    # By hand: TP 2, FP 1, FN 0 in one, TP 1, FP 1, FN 3 in the other. scikit-learn's f1_score with
    # pos_label="YES" gives these; with average="macro", the mean over both classes, it gives something else.
    first = outcomes("++---", "++-+-", "cv")
    second = outcomes("++++----", "+---+---", "wd")
    found = scores([*first, *second], RESAMPLES)
    assert [task.f1.value for task in found.tasks] == pytest.approx([0.8, 1 / 3])
    assert found.f1.value == pytest.approx((0.8 + 1 / 3) / 2)
    assert found.f1_of == ("cv", "wd")
    # Each task has the same weight, whatever its size.
    assert found.accuracy.value == pytest.approx((4 / 5 + 4 / 8) / 2)


def test_the_published_means_are_means_of_the_published_tasks() -> None:
    from training.bench.published import published

    main = [published_row for published_row in published() if published_row.accuracy]
    assert len(main) == 11
    for published_row in main:
        for figures in (published_row.f1, published_row.accuracy):
            tasks = [figures[key] for key in published_row.tasks]
            assert figures["mean"] == pytest.approx(np.mean(tasks), abs=0.11), published_row.name


def test_answers_without_a_verdict_and_failed_policies_are_wrong() -> None:
    found = scores(outcomes("+-", "??"), RESAMPLES).tasks[0]
    assert (found.accuracy.value, found.recall.value, found.f1.value) == (0.0, 0.0, 0.0)
    assert (found.fp, found.fn, found.without) == (0, 1, 2)
    found = scores([failed(QUESTION), *outcomes("+", "+")], RESAMPLES)
    assert found.tasks[0].without == 1
    assert found.format_rate.value == 1.0


def test_an_undefined_score_gives_the_reason() -> None:
    none_called = scores(outcomes("+-+", "---"), RESAMPLES).tasks[0]
    assert none_called.precision == Value(None, words="not defined: nothing was called positive")
    assert none_called.f1.value == 0.0
    no_positives = scores(outcomes("---", "--+"), RESAMPLES).tasks[0]
    assert no_positives.recall == Value(None, words="not defined: no positives")
    nothing = scores(outcomes("---", "---"), RESAMPLES)
    assert nothing.tasks[0].f1.words == "not defined: no positives, and nothing was called positive"
    assert nothing.f1 == Value(None, words="not defined in any task")
    assert percent(nothing.f1) == "not defined in any task"


def test_tasks_without_an_f1_and_no_outcomes() -> None:
    found = scores([*outcomes("++--", "+---", "cv"), *outcomes("--", "--", "wd")], RESAMPLES)
    assert found.f1_of == ("cv",)
    assert found.f1.value == found.task("cv").f1.value
    with pytest.raises(ValueError, match="outcomes: found none"):
        scores([])
    assert groups(outcomes("+-", "+-", survey="LAMOST", snr=12.0)) == []


def test_one_spectrum_has_a_score_and_no_interval() -> None:
    found = scores(outcomes("+", "+"), RESAMPLES)
    assert found.f1 == Value(1.0, words="no interval: one spectrum")
    twice = [replace(outcome, source="the-same.fits") for outcome in outcomes("++", "+-")]
    assert scores(twice, RESAMPLES).f1.words == "no interval: one spectrum"


def test_a_score_that_many_resamples_lack_has_no_interval() -> None:
    # One positive of four, never missed: a resample without it has no F1 (division by zero).
    found = scores(outcomes("+---", "+---"), 2000).tasks[0].f1
    assert found.value == 1.0
    assert found.lo is None
    share = int(found.words.removeprefix("no interval: not defined in ").removesuffix("% of the resamples"))
    assert share == pytest.approx(100 * (3 / 4) ** 4, abs=3)


def test_intervals_agree_with_the_binomial_distribution_and_resample_spectra() -> None:
    # Accuracy of 400 spectra at 0.8: the standard error is sqrt(0.8 * 0.2 / 400) = 0.02.
    rows = outcomes("+" * 400, "+" * 320 + "-" * 80)
    accuracy = scores(rows).accuracy
    assert accuracy.lo == pytest.approx(0.8 - 1.96 * 0.02, abs=0.005)
    assert accuracy.hi == pytest.approx(0.8 + 1.96 * 0.02, abs=0.005)
    rows = outcomes("+" * 400, "+" * 320 + "-" * 80)
    # Four questions per spectrum with the same answer: a quarter of the spectra, twice the width.
    grouped = [replace(outcome, source=f"star-{number // 4}") for number, outcome in enumerate(rows)]
    alone, together = scores(rows).accuracy, scores(grouped).accuracy
    assert (together.hi - together.lo) / (alone.hi - alone.lo) == pytest.approx(2.0, rel=0.1)


def test_resamples_have_as_many_spectra_and_the_right_mean_in_any_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
    sums = resampled_counts(counts, "cv", 5000, seed=3)
    assert sums.shape == (5000, 2)
    assert sums.mean(axis=0) == pytest.approx(counts.sum(axis=0), rel=0.03)
    assert set(sums[:, 1]) == {0.0, 1.0, 2.0, 3.0}
    monkeypatch.setattr("agent.statistics._ELEMENTS_AT_ONCE", 7)
    sums = resampled_counts(np.ones((3, 1)), "cv", 10)
    assert (sums == 3).all()


@given(some_outcomes(), st.randoms())
def test_order_and_other_tasks_do_not_change_a_score(rows: list[Outcome], random) -> None:
    found = scores(rows, RESAMPLES)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert scores(shuffled, RESAMPLES) == found
    cv = [outcome for outcome in rows if outcome.task == "cv"]
    assert scores(cv, RESAMPLES).task("cv") == found.task("cv")


@given(some_outcomes())
def test_every_score_is_a_share_within_its_interval_or_gives_the_reason(rows: list[Outcome]) -> None:
    found = scores(rows, RESAMPLES)
    values = [found.f1, found.accuracy, found.format_rate, found.answer_rate, found.yes_rate]
    for task in found.tasks:
        values += [task.f1, task.accuracy, task.precision, task.recall]
        assert task.tp + task.fn == task.positives
        assert task.n == sum(outcome.task == task.task for outcome in rows)
    for value in values:
        if value.value is None:
            assert value.words
            continue
        assert 0 <= value.value <= 1
        assert (value.lo is None) == bool(value.words)
        if value.lo is not None:
            assert 0 <= value.lo <= value.hi <= 1
        assert not math.isnan(value.value)


def test_parts_are_surveys_and_bins_of_signal_to_noise() -> None:
    lamost = outcomes("+-+-", "+-+-", survey="LAMOST", snr=12.0)
    desi = under("desi", outcomes("+-", "-+", survey="DESI", snr=3.0))
    unknown = under("other", outcomes("-", "-", survey="DESI"))
    found = {(group.by, group.name): group.scores for group in groups([*lamost, *desi, *unknown])}
    assert list(found) == [
        ("survey", "DESI"),
        ("survey", "LAMOST"),
        ("S/N", "below 5"),
        ("S/N", "10 to 20"),
        ("S/N", "not known"),
        ("task, survey", "cv, DESI"),
        ("task, survey", "cv, LAMOST"),
    ]
    assert found["survey", "LAMOST"].f1.value == 1.0
    assert found["survey", "DESI"].f1.value == 0.0
    assert found["S/N", "below 5"].n == 2
    assert found["S/N", "not known"].f1.value is None


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemars_test_agrees_with_scipys_binomial_test(better: int, worse: int) -> None:
    expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert mcnemar(better, worse) == pytest.approx(expected)


def test_two_systems_are_compared_on_their_common_questions() -> None:
    first = outcomes("++++----", "++++----")
    second = outcomes("++++----", "++--+---")[:7]
    found = compare(first, second)
    assert (found.n, found.only_first, found.only_second) == (7, 1, 0)
    assert (found.better, found.worse) == (3, 0)
    assert found.f1.value == pytest.approx(1.0 - 4 / 7)
    assert found.f1.lo > 0
    assert found.p == pytest.approx(0.25)


def test_a_system_is_no_better_than_itself() -> None:
    rows = [*outcomes(TRUTH, ANSWERS), *outcomes(TRUTH, ANSWERS, "wd")]
    found = compare(rows, list(reversed(rows)))
    assert (found.f1.value, found.f1.lo, found.f1.hi) == (0.0, 0.0, 0.0)
    assert found.p == 1.0


@given(some_outcomes(), st.data())
def test_in_reverse_order_the_difference_changes_its_sign(rows: list[Outcome], data: st.DataObject) -> None:
    answers = data.draw(st.lists(st.sampled_from(["YES", "NO"]), min_size=len(rows), max_size=len(rows)))
    others = [replace(outcome, predicted=word) for outcome, word in zip(rows, answers, strict=True)]
    forward, backward = compare(rows, others, RESAMPLES), compare(others, rows, RESAMPLES)
    if forward.f1.value is not None:
        assert backward.f1.value == pytest.approx(-forward.f1.value)
    if forward.f1.lo is not None:
        assert (backward.f1.lo, backward.f1.hi) == pytest.approx((-forward.f1.hi, -forward.f1.lo))
    assert (forward.better, forward.worse) == (backward.worse, backward.better)


def test_systems_that_disagree_about_the_truth_are_not_compared() -> None:
    with pytest.raises(ValueError, match=r"cv, star-0001.fits: found the label YES in one and NO in the other"):
        compare(outcomes("++", "++"), outcomes("+-", "++"))
    with pytest.raises(ValueError, match="no question in common"):
        compare(outcomes("+", "+"), outcomes("+", "+", "wd"))


QUESTION = {
    "key": "k",
    "source": "star.fits",
    "task": "cv",
    "label": "NO",
    "survey": "",
    "snr": None,
    "simulated": False,
}


def outcome_of(*turns: str) -> Outcome:
    """The outcome of these turns, built as the inspection loop builds it."""
    from agent.trajectory import Drafter, Trajectory
    from agent.trajectory.steps import Answer, Think
    from agent.trajectory.tags import parse

    last = parse(turns[-1])
    steps = (Think("s1", last.thought),)
    if last.answer is not None:
        steps += (Answer("s2", last.answer.verdict, last.answer.explanation),)
    trajectory = Trajectory("cv", "?", "star", None, steps, Drafter("model", "m"))
    return judged(QUESTION, turns, trajectory, "answered")


def test_the_scored_answer_is_the_one_the_published_reward_reads() -> None:
    # Without a box the reward searches for YES first; the loop takes neither word where both occur.
    odd = outcome_of("<think>a</think><answer>no, not yes</answer>")
    assert (odd.predicted, odd.answered, odd.format_ok) == ("YES", None, False)
    good = outcome_of(r"<think>a</think><answer>\boxed{NO} quiet</answer>")
    assert (good.predicted, good.answered, good.format_ok) == ("NO", "NO", True)
    silent = outcome_of("<think>I cannot tell</think>")
    assert (silent.predicted, silent.answered, silent.format_ok) == (None, None, False)


def test_the_form_is_checked_over_all_turns_together() -> None:
    first = "I look.\n<tool_call>\n{}\n</tool_call>"
    assert outcome_of(first, r"<think>a</think><answer>\boxed{NO}</answer>").format_ok is True
    assert outcome_of(r"<think>a<answer>\boxed{NO}</answer>").format_ok is False


def test_the_answer_that_the_loop_reads_can_be_scored_instead() -> None:
    rows = [replace(outcome, answered=None) for outcome in outcomes("++--", "++--")]
    found = scores(rows, RESAMPLES)
    assert (found.f1.value, found.f1_by_loop.value) == (1.0, 0.0)
    assert found.answer_rate.value == 0.0


def test_predictions_are_read_back_as_they_were_written(tmp_path) -> None:
    rows = [replace(outcome, probability=0.9) for outcome in outcomes("+-", "-?")]
    path = tmp_path / "cnn.jsonl"
    write_predictions(path, rows)
    path.write_text(path.read_text() + path.read_text().replace('{"key"', '{"more": 1, "key"'))
    assert read_predictions(path) == [*rows, *rows]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "MAYBE"}, "label: found 'MAYBE', expected YES or NO"),
        ({"predicted": "yes"}, "predicted: found 'yes', expected YES, NO or null"),
        ({"source": None}, "source: found None, expected text"),
        ({"snr": "high"}, "snr: found 'high', expected a number or null"),
    ],
)
def test_a_bad_prediction_is_named_by_file_line_and_field(tmp_path, change: dict, message: str) -> None:
    import json

    good = outcomes("+", "+")[0].to_json()
    path = tmp_path / "cnn.jsonl"
    path.write_text("\n".join([json.dumps(good), json.dumps(good | change), ""]))
    with pytest.raises(OutcomesError) as problem:
        read_predictions(path)
    assert str(problem.value) == f"{path}: line 2: {message}"


def test_predictions_that_lack_the_prediction_are_refused(tmp_path) -> None:
    path = tmp_path / "cnn.jsonl"
    path.write_text('{"key": "k", "source": "s", "task": "cv", "label": "YES"}\n')
    with pytest.raises(OutcomesError, match="line 1: predicted: found nothing, expected YES, NO or null"):
        read_predictions(path)
