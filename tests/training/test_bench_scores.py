"""Scores of the bench: held to numbers worked out by hand, to definitions, and to what must always be so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.bench import outcomes, under
from training.bench.outcomes import Outcome, OutcomesError, failed, judged, read_predictions, write_predictions
from training.bench.scores import Value, compare, groups, mcnemar, percent, resampled_counts, scores

DRAWS = 200


@st.composite
def some_outcomes(draw: st.DrawFn) -> list[Outcome]:
    """One or two tasks, spectra asked about more than once, answers that are neither YES nor NO."""
    found = []
    for task in draw(st.sampled_from([("cv",), ("cv", "wd")])):
        truth = draw(st.text("+-", min_size=1, max_size=12))
        said = draw(st.text("+-?", min_size=len(truth), max_size=len(truth)))
        rows = outcomes(truth, said, task)
        of = draw(st.lists(st.integers(0, 5), min_size=len(truth), max_size=len(truth)))
        found += [replace(one, source=f"star-{which}.fits") for one, which in zip(rows, of, strict=True)]
    return found


# TP 3, FN 1, FP 2, TN 3, and one NO to which neither was said.
TRUTH, SAID = "++++------", "+++-++---?"


def test_scores_of_a_task_are_those_worked_out_by_hand() -> None:
    cv = scores(outcomes(TRUTH, SAID), DRAWS).tasks[0]
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
    found = scores([*first, *second], DRAWS)
    assert [task.f1.value for task in found.tasks] == pytest.approx([0.8, 1 / 3])
    assert found.f1.value == pytest.approx((0.8 + 1 / 3) / 2)
    assert found.f1_of == ("cv", "wd")
    # Tasks of other sizes count the same.
    assert found.accuracy.value == pytest.approx((4 / 5 + 4 / 8) / 2)


def test_the_published_means_are_means_of_the_published_tasks() -> None:
    from training.bench.table import published

    main = [one for one in published() if one.accuracy]
    assert len(main) == 11
    for one in main:
        for figures in (one.f1, one.accuracy):
            tasks = [figures[key] for key in one.tasks]
            assert figures["mean"] == pytest.approx(np.mean(tasks), abs=0.11), one.name


def test_no_yes_or_no_is_wrong_and_no_false_alarm() -> None:
    found = scores(outcomes("+-", "??"), DRAWS).tasks[0]
    assert (found.accuracy.value, found.recall.value, found.f1.value) == (0.0, 0.0, 0.0)
    assert (found.fp, found.fn, found.without) == (0, 1, 2)


def test_what_is_not_defined_says_so_in_words() -> None:
    none_called = scores(outcomes("+-+", "---"), DRAWS).tasks[0]
    assert none_called.precision == Value(None, words="not defined: nothing was called positive")
    assert none_called.f1.value == 0.0
    no_positives = scores(outcomes("---", "--+"), DRAWS).tasks[0]
    assert no_positives.recall == Value(None, words="not defined: no positives")
    nothing = scores(outcomes("---", "---"), DRAWS)
    assert nothing.tasks[0].f1.words == "not defined: no positives, and nothing was called positive"
    assert nothing.f1 == Value(None, words="not defined in any task")
    assert percent(nothing.f1) == "not defined in any task"


def test_a_task_without_an_f1_is_not_in_the_mean_and_the_others_say_which_are() -> None:
    found = scores([*outcomes("++--", "+---", "cv"), *outcomes("--", "--", "wd")], DRAWS)
    assert found.f1_of == ("cv",)
    assert found.f1.value == found.task("cv").f1.value


def test_one_spectrum_has_a_score_and_no_interval() -> None:
    found = scores(outcomes("+", "+"), DRAWS)
    assert found.f1 == Value(1.0, words="no interval: one spectrum")
    twice = [replace(one, source="the-same.fits") for one in outcomes("++", "+-")]
    assert scores(twice, DRAWS).f1.words == "no interval: one spectrum"


def test_a_score_that_most_draws_do_not_have_is_given_without_interval() -> None:
    # One positive of four, missed by nobody: a draw without it has nothing to divide by.
    found = scores(outcomes("+---", "+---"), 2000).tasks[0].f1
    assert found.value == 1.0
    assert found.lo is None
    share = int(found.words.removeprefix("no interval: not defined in ").removesuffix("% of the resamples"))
    assert share == pytest.approx(100 * (3 / 4) ** 4, abs=3)


def test_nobody_can_score_nothing() -> None:
    with pytest.raises(ValueError, match="outcomes: found none"):
        scores([])


def test_intervals_are_those_of_the_binomial_where_the_score_is_a_share() -> None:
    # Accuracy of 400 spectra at 0.8: the standard error is sqrt(0.8 * 0.2 / 400) = 0.02.
    rows = outcomes("+" * 400, "+" * 320 + "-" * 80)
    accuracy = scores(rows).accuracy
    assert accuracy.lo == pytest.approx(0.8 - 1.96 * 0.02, abs=0.005)
    assert accuracy.hi == pytest.approx(0.8 + 1.96 * 0.02, abs=0.005)


def test_spectra_are_drawn_not_rows() -> None:
    rows = outcomes("+" * 400, "+" * 320 + "-" * 80)
    # Each spectrum asked about four times, with one answer: a quarter of the spectra, twice the width.
    clumped = [replace(one, source=f"star-{number // 4}") for number, one in enumerate(rows)]
    alone, together = scores(rows).accuracy, scores(clumped).accuracy
    assert (together.hi - together.lo) / (alone.hi - alone.lo) == pytest.approx(2.0, rel=0.1)


def test_draws_have_as_many_spectra_and_the_right_mean() -> None:
    counts = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
    sums = resampled_counts(counts, "cv", 5000, seed=3)
    assert sums.shape == (5000, 2)
    assert sums.mean(axis=0) == pytest.approx(counts.sum(axis=0), rel=0.03)
    assert set(sums[:, 1]) == {0.0, 1.0, 2.0, 3.0}


def test_draws_in_pieces_are_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.statistics._ELEMENTS_AT_ONCE", 7)
    sums = resampled_counts(np.ones((3, 1)), "cv", 10)
    assert (sums == 3).all()


@given(some_outcomes(), st.randoms())
def test_neither_order_nor_company_changes_a_score(rows: list[Outcome], random) -> None:
    found = scores(rows, DRAWS)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert scores(shuffled, DRAWS) == found
    cv = [one for one in rows if one.task == "cv"]
    assert scores(cv, DRAWS).task("cv") == found.task("cv")


@given(some_outcomes())
def test_every_score_is_a_share_within_its_interval_or_says_why_not(rows: list[Outcome]) -> None:
    found = scores(rows, DRAWS)
    values = [found.f1, found.accuracy, found.format_rate, found.answer_rate, found.yes_rate]
    for task in found.tasks:
        values += [task.f1, task.accuracy, task.precision, task.recall]
        assert task.tp + task.fn == task.positives
        assert task.n == sum(one.task == task.task for one in rows)
    for value in values:
        if value.value is None:
            assert value.words
            continue
        assert 0 <= value.value <= 1
        assert (value.lo is None) == bool(value.words)
        if value.lo is not None:
            assert 0 <= value.lo <= value.hi <= 1
        assert not math.isnan(value.value)


@given(some_outcomes())
def test_f1_is_the_harmonic_mean_of_precision_and_recall(rows: list[Outcome]) -> None:
    for task in scores(rows, DRAWS).tasks:
        p, r = task.precision.value, task.recall.value
        if p and r:
            assert task.f1.value == pytest.approx(2 / (1 / p + 1 / r))


def test_parts_are_surveys_and_bins_of_signal_to_noise() -> None:
    lamost = outcomes("+-+-", "+-+-", survey="LAMOST", snr=12.0)
    desi = under("desi", outcomes("+-", "-+", survey="DESI", snr=3.0))
    unknown = under("other", outcomes("-", "-", survey="DESI"))
    found = {(one.by, one.name): one.scores for one in groups([*lamost, *desi, *unknown])}
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


def test_a_single_part_is_the_whole_and_is_not_given() -> None:
    assert groups(outcomes("+-", "+-", survey="LAMOST", snr=12.0)) == []


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    # By hand: 2 * (1 + 10) / 2**10; 2 / 2**5; nothing to tell them apart by.
    [(9, 1, 22 / 1024), (0, 5, 1 / 16), (0, 0, 1.0), (3, 3, 1.0), (1, 0, 1.0)],
)
def test_mcnemars_test_is_exact(better: int, worse: int, p: float) -> None:
    assert mcnemar(better, worse) == pytest.approx(p)
    assert mcnemar(worse, better) == mcnemar(better, worse)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemars_test_is_scipys_binomial_test(better: int, worse: int) -> None:
    from scipy.stats import binomtest

    if better + worse:
        assert mcnemar(better, worse) == pytest.approx(binomtest(better, better + worse).pvalue)


def test_two_systems_are_compared_on_what_both_were_asked() -> None:
    first = outcomes("++++----", "++++----")
    second = outcomes("++++----", "++--+---")[:7]
    found = compare(first, second)
    assert (found.n, found.only_first, found.only_second) == (7, 1, 0)
    assert (found.better, found.worse) == (3, 0)
    assert found.f1.value == pytest.approx(1.0 - 4 / 7)
    assert found.f1.lo > 0
    assert found.p == pytest.approx(0.25)


def test_a_system_is_no_better_than_itself() -> None:
    rows = [*outcomes(TRUTH, SAID), *outcomes(TRUTH, SAID, "wd")]
    found = compare(rows, list(reversed(rows)))
    assert (found.f1.value, found.f1.lo, found.f1.hi) == (0.0, 0.0, 0.0)
    assert found.p == 1.0


@given(some_outcomes(), st.data())
def test_the_other_way_round_the_difference_changes_its_sign(rows: list[Outcome], data: st.DataObject) -> None:
    said = data.draw(st.lists(st.sampled_from(["YES", "NO"]), min_size=len(rows), max_size=len(rows)))
    others = [replace(one, predicted=word) for one, word in zip(rows, said, strict=True)]
    there, back = compare(rows, others, DRAWS), compare(others, rows, DRAWS)
    if there.f1.value is not None:
        assert back.f1.value == pytest.approx(-there.f1.value)
    if there.f1.lo is not None:
        assert (back.f1.lo, back.f1.hi) == pytest.approx((-there.f1.hi, -there.f1.lo))
    assert (there.better, there.worse) == (back.worse, back.better)


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


def of_said(*said: str) -> Outcome:
    """The outcome of turns as the loop would have taken them."""
    from agent.trajectory import Drafter, Trajectory
    from agent.trajectory.steps import Answer, Think
    from agent.trajectory.tags import parse

    last = parse(said[-1])
    steps = (Think("s1", last.thought),)
    if last.answer is not None:
        steps += (Answer("s2", last.answer.verdict, last.answer.explanation),)
    trajectory = Trajectory("cv", "?", "star", None, steps, Drafter("model", "m"))
    return judged(QUESTION, said, trajectory, "answered")


def test_what_is_scored_is_the_published_rewards_reading() -> None:
    # Without a box the reward looks for YES first; the loop takes neither word where both are there.
    odd = of_said("<think>a</think><answer>no, not yes</answer>")
    assert (odd.predicted, odd.answered, odd.format_ok) == ("YES", None, False)
    good = of_said(r"<think>a</think><answer>\boxed{NO} quiet</answer>")
    assert (good.predicted, good.answered, good.format_ok) == ("NO", "NO", True)
    silent = of_said("<think>I cannot tell</think>")
    assert (silent.predicted, silent.answered, silent.format_ok) == (None, None, False)


def test_the_form_is_that_of_all_turns_together() -> None:
    first = "I look.\n<tool_call>\n{}\n</tool_call>"
    assert of_said(first, r"<think>a</think><answer>\boxed{NO}</answer>").format_ok is True
    assert of_said(r"<think>a<answer>\boxed{NO}</answer>").format_ok is False


def test_the_loops_reading_can_be_scored_instead() -> None:
    rows = [replace(one, answered=None) for one in outcomes("++--", "++--")]
    found = scores(rows, DRAWS)
    assert (found.f1.value, found.f1_by_loop.value) == (1.0, 0.0)
    assert found.answer_rate.value == 0.0


def test_a_policy_that_failed_is_wrong_and_not_in_bad_form() -> None:
    found = scores([failed(QUESTION), *outcomes("+", "+")], DRAWS)
    assert found.tasks[0].without == 1
    assert found.format_rate.value == 1.0


def test_predictions_are_read_back_as_they_were_written(tmp_path) -> None:
    rows = [replace(one, probability=0.9) for one in outcomes("+-", "-?")]
    path = tmp_path / "cnn.jsonl"
    write_predictions(path, rows)
    path.write_text(path.read_text() + path.read_text().replace('{"key"', '{"more": 1, "key"'))
    assert read_predictions(path) == [*rows, *rows]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label": "MAYBE"}, "label: found 'MAYBE', expected YES or NO"),
        ({"predicted": "yes"}, "predicted: found 'yes', expected YES, NO or null"),
        ({"source": None}, "source: found None, expected text"),
        ({"snr": "high"}, "snr: found 'high', expected a number or null"),
    ],
)
def test_a_bad_prediction_is_named_by_file_line_and_field(tmp_path, change: dict, told: str) -> None:
    import json

    good = outcomes("+", "+")[0].to_json()
    path = tmp_path / "cnn.jsonl"
    path.write_text("\n".join([json.dumps(good), json.dumps(good | change), ""]))
    with pytest.raises(OutcomesError) as problem:
        read_predictions(path)
    assert str(problem.value) == f"{path}: line 2: {told}"


def test_predictions_that_lack_the_prediction_are_refused(tmp_path) -> None:
    path = tmp_path / "cnn.jsonl"
    path.write_text('{"key": "k", "source": "s", "task": "cv", "label": "YES"}\n')
    with pytest.raises(OutcomesError, match="line 1: predicted: found nothing, expected YES, NO or null"):
        read_predictions(path)
