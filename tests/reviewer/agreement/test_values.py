"""Scores and their distribution."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import reviewer.agreement
from agent.statistics import FloatArray, Picks, Resampling, once, resampled, times_sampled, wilson
from reviewer.agreement.distribution import distribution, mean, score_by_correctness, share
from reviewer.agreement.values import POPULATION_SPECTRA, Estimate, Scores, ScoresError, estimate
from tests.support.scored import NONE, QUICK, campaign, of_equal, table, tables


def spectra(n: int) -> list[str]:
    return [f"spectrum {i}" for i in range(n)]


def test_an_estimate_reads_as_value_interval_and_n() -> None:
    assert str(Estimate(0.714, 0.549, 0.826, 48, "x")) == "0.71 (0.55 to 0.83), n = 48"
    assert str(Estimate(-0.001, -0.5, 0.2, 9, "x")) == "0.00 (−0.50 to 0.20), n = 9"
    assert str(Estimate.undefined("every score is 5", 9, "x")) == "undefined: every score is 5"
    assert str(Estimate(1, None, None, 3, "x", "fewer than 5 items")) == (
        "1.00 (no interval: fewer than 5 items), n = 3"
    )
    assert str(Estimate(1, 0, 2, 3, "x", "A never lost")).endswith("n = 3; A never lost")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_nan_and_infinity_do_not_get_into_an_estimate(number: float) -> None:
    with pytest.raises(ValueError, match="a statistic without a value is None"):
        Estimate(number, None, None, 1, "x", "because")
    with pytest.raises(ValueError, match="a statistic without a value is None"):
        Estimate(0.5, number, 1.0, 1, "x")
    with pytest.raises(ValueError, match="a detail"):
        Estimate(0.5, 0.1, 1.0, 1, "x", detail={"deep": {"down": [1.0, number]}})


def test_a_missing_number_has_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason"):
        Estimate(None, None, None, 1, "x")
    with pytest.raises(ValueError, match="no reason"):
        Estimate(0.5, None, None, 1, "x")
    with pytest.raises(ValueError, match="two ends"):
        Estimate(0.5, 0.1, None, 1, "x", "because")
    with pytest.raises(ValueError, match="two ends"):
        Estimate(None, 0.1, 0.2, 1, "x", "because")


def test_an_estimate_of_numpys_numbers_is_plain_json() -> None:
    made = Estimate(np.float64(0.5), np.float32(0.25), 1, 7, "x", detail={"a": np.arange(2), "b": (np.int64(3),)})
    read = json.loads(json.dumps(made.to_json(), allow_nan=False))
    assert read["detail"] == {"a": [0, 1], "b": [3]}
    assert (read["value"], read["low"], read["n"], read["n_of"]) == (0.5, 0.25, 7, "items")
    assert read["text"] == str(made)
    nothing = json.loads(json.dumps(Estimate.undefined("no score", 0, "x").to_json(), allow_nan=False))
    assert (nothing["value"], nothing["reason"]) == (None, "no score")


def test_scores_come_from_rows_in_any_order() -> None:
    rows = [("b", "CD", 3.0), ("a", "AB", None), ("a", "CD", 5.0)]
    for made in (Scores.of(rows), Scores.of(reversed(rows))):
        assert (made.items, made.raters) == (("a", "b"), ("AB", "CD"))
        np.testing.assert_array_equal(made.values, [[NONE, 5], [NONE, 3]])
    assert Scores.of([]).values.shape == (0, 0)


def test_scores_are_not_changed_afterwards() -> None:
    given = np.array([[1.0, 2.0]])
    scores = Scores(("a",), ("AB", "CD"), given)
    given[0, 0] = 5
    assert scores.values[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 5


def test_invalid_scores_are_refused_with_the_fault() -> None:
    with pytest.raises(ScoresError, match=r"shape \(1, 2\) for 2 items and 1 scorers"):
        Scores(("a", "b"), ("AB",), np.zeros((1, 2)))
    with pytest.raises(ScoresError, match="'a' is there twice"):
        Scores(("a", "a"), ("AB",), np.zeros((2, 1)))
    with pytest.raises(ScoresError, match="infinite"):
        Scores(("a",), ("AB",), np.array([[math.inf]]))
    with pytest.raises(ScoresError, match="'AB' has two scores for 'a'"):
        Scores.of([("a", "AB", 1.0), ("a", "AB", 1.0)])
    with pytest.raises(ScoresError, match="no scorer 'XY'; there are S1, S2"):
        table([[1, 2]]).by("XY")


def test_the_mean_of_an_item_is_that_of_its_scorers() -> None:
    np.testing.assert_array_equal(table([[1, 2], [NONE, 4], [NONE, NONE]]).item_means(), [1.5, 4, NONE])


def test_a_selection_of_scorers_keeps_all_items() -> None:
    kept = table([[1, 2, 3], [4, 5, NONE]]).only(["S3", "S1"])
    np.testing.assert_array_equal(kept.values, [[3, 1], [NONE, 4]])
    assert table([[1, 2]]).only([]).values.shape == (1, 0)


def test_importing_the_statistics_imports_no_heavy_library() -> None:
    folder = Path(reviewer.agreement.__file__).parent
    names = sorted(f"reviewer.agreement.{path.stem}" for path in folder.glob("*.py") if path.stem[0] != "_")
    code = f"import sys, {', '.join(names)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert {*names, "numpy"} <= modules
    assert not {"scipy", "sklearn", "choix", "sqlite3", "gradio"} & modules


def means_of(values: FloatArray) -> FloatArray:
    return values.mean(axis=1)


def test_the_interval_is_scipys_percentile_bootstrap_up_to_chance() -> None:
    values = campaign(60, 1).values[:, 0]
    resampling = Resampling(resamples=20_000)
    found = estimate("x", values.mean(), lambda picks: means_of(values[picks]), (60,), resampling)
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert found.low == pytest.approx(reference.low, abs=0.01)
    assert found.high == pytest.approx(reference.high, abs=0.01)


def test_intervals_cover_the_true_value_about_as_often_as_stated() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(300):
        sample = rng.normal(2.0, 1.0, 40)
        found = mean(sample, np.ones(40), "x", Resampling(resamples=400), none="")
        covered += found.low <= 2.0 <= found.high
    # 300 times 0.93, what the percentile interval has at n = 40, with five standard errors to either side.
    assert 258 <= covered <= 300


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = np.random.default_rng(0).normal(size=30)
    one, two, other = (
        estimate("x", values.mean(), lambda picks: means_of(values[picks]), (30,), Resampling(seed=seed))
        for seed in (4, 4, 5)
    )
    assert one == two
    assert (one.low, one.high) != (other.low, other.high)


def test_groups_are_resampled_independently() -> None:
    sampled: list[Picks] = []

    def statistic(picks: Picks) -> FloatArray:
        sampled.append(picks)
        return picks[:, 0].astype(float)

    resampled(statistic, (3, 4), 500)
    picks = np.concatenate(sampled)
    assert picks.shape == (500, 7)
    assert set(np.unique(picks[:, :3])) == {0, 1, 2}
    assert set(np.unique(picks[:, 3:])) == {3, 4, 5, 6}


def test_large_tables_are_resampled_in_parts_that_add_up() -> None:
    parts: list[int] = []

    def statistic(picks: Picks) -> FloatArray:
        parts.append(len(picks))
        return np.zeros(len(picks))

    assert resampled(statistic, (10,), 9, width=2_000_000).shape == (9,)
    assert parts == [2, 2, 2, 2, 1]


def test_how_often_an_item_was_sampled_is_counted() -> None:
    picks = np.array([[0, 0, 2], [1, 2, 2]])
    np.testing.assert_array_equal(times_sampled(picks, 3), [[2, 0, 1], [0, 1, 2]])
    np.testing.assert_array_equal(times_sampled(once(4), 4), [[1, 1, 1, 1]])


def test_resamples_without_a_value_are_counted_and_too_many_leave_no_interval() -> None:
    def holes(share_of_holes: float) -> Estimate:
        def statistic(picks: Picks) -> FloatArray:
            found = np.arange(len(picks), dtype=float)
            found[: round(share_of_holes * len(picks))] = NONE
            return found

        return estimate("x", 1.0, statistic, (19,), Resampling(resamples=100))

    some, many = holes(0.05), holes(0.06)
    assert some.low is not None
    assert some.detail["resamples_without_value"] == 5
    assert many.low is None
    assert "6 of 100 resamples have no value" in many.reason
    assert holes(1.0).low is None


def test_few_items_and_equal_resamples_leave_no_interval() -> None:
    few = mean([1.0, 2.0, 3.0, 4.0], np.ones(4), "x", none="")
    assert (few.value, few.low, few.reason) == (2.5, None, "fewer than 10 items")
    alike = mean([5.0] * 20, np.ones(20), "x", none="")
    assert (alike.value, alike.low, alike.reason) == (5.0, None, "every resample gave the same value")


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_interval_is_that_of_newcombe_1998(hits: int, n: int, low: float, high: float) -> None:
    """Statistics in Medicine 17, 857, table I, method 3."""
    assert wilson(hits / n, n) == pytest.approx((low, high), abs=5e-5)


def test_a_share_of_all_or_none_has_wilsons_interval_and_names_it() -> None:
    every = share(np.full(20, 3.0), np.full(20, 3.0), "x", none="", n=60)
    assert (every.value, every.n) == (1.0, 60)
    assert every.low == pytest.approx(1 - 0.1611, abs=5e-5)  # 20 items, not 60 answers
    assert every.high == 1.0
    assert every.detail["interval"].startswith("Wilson")
    some = share([1] * 10 + [0] * 10, np.ones(20), "x", none="")
    assert some.detail["interval"] == "bootstrap by item"
    assert share([], [], "x", none="nothing").reason == "nothing"


def test_cannot_tell_is_counted_separately_from_scores() -> None:
    found = distribution(table([[5, 4], [5, NONE], [0, 5]]), cannot_tell=2)
    assert found.counts == (1, 0, 0, 0, 1, 3)
    assert found.cannot_tell == 2
    assert found.mean.value == pytest.approx(19 / 5)
    assert found.median.value == 5
    assert (found.mean.n, found.mean.n_of, found.mean.detail["items"]) == (5, "scores", 3)


@given(tables())
def test_mean_and_median_are_numpys(values: FloatArray) -> None:
    found = distribution(table(values), resampling=QUICK)
    given_scores = values[~np.isnan(values)]
    assert sum(found.counts) == len(given_scores)
    if len(given_scores):
        assert found.mean.value == pytest.approx(given_scores.mean())
        assert found.median.value == np.median(given_scores)
    else:
        assert str(found.mean) == str(found.median) == "undefined: nobody gave a score"


def test_a_score_off_the_scale_is_refused() -> None:
    with pytest.raises(ScoresError, match="7 is not on the scale"):
        distribution(table([[5, 7]]))


def test_the_area_under_the_curve_of_hanley_and_mcneil() -> None:
    """Radiology 143, 29 (1982), table I: 51 abnormal and 58 normal CT images, ratings 1 to 5: 0.893."""
    normal, abnormal = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)
    ratings = [r + 1 for counts in (normal, abnormal) for r, n in enumerate(counts) for _ in range(n)]
    found = score_by_correctness(table(np.array(ratings)[:, None]), [False] * 58 + [True] * 51, spectra(109))
    assert found.auc.value == pytest.approx(0.893, abs=5e-4)
    assert found.auc.detail["rank_biserial"] == pytest.approx(2 * 0.893 - 1, abs=1e-3)
    # Their standard error is 0.032; twice that is the error of 2 AUC - 1, here on Fisher's z scale.
    z = np.arctanh(2 * 0.893 - 1) + np.array([-1, 1]) * stats.t.ppf(0.975, 108) * 0.064 / (1 - (2 * 0.893 - 1) ** 2)
    assert [found.auc.low, found.auc.high] == pytest.approx((1 + np.tanh(z)) / 2, abs=0.005)


def test_means_by_correctness_are_of_the_items_means() -> None:
    found = score_by_correctness(
        table([[5, 3], [2, NONE], [0, 1], [NONE, NONE], [5, 5]]), [True, True, False, True, None], spectra(5)
    )
    assert (found.correct.value, found.correct.n) == (3.0, 2)
    assert (found.incorrect.value, found.incorrect.n) == (0.5, 1)
    assert found.difference.value == 2.5
    assert found.auc.value == 1
    assert found.auc.reason == "fewer than 20 spectra"
    assert found.correct.reason == found.difference.reason == "fewer than 10 spectra"


def test_the_interval_needs_spectra_of_both_kinds_of_verdict() -> None:
    values = np.random.default_rng(3).integers(0, 6, (40, 3))
    few, enough = (score_by_correctness(table(values), [False] * n + [True] * (40 - n), spectra(40)) for n in (9, 10))
    why = "fewer than 10 spectra with the rarer kind of verdict"
    assert (few.difference.low, few.difference.reason) == (few.auc.low, few.auc.reason) == (None, why)
    assert few.correct.low is not None
    assert (few.incorrect.low, few.incorrect.reason) == (None, "fewer than 10 spectra")
    for var in vars(enough).values():
        assert var.low < var.value < var.high
        assert var.detail["population"] == POPULATION_SPECTRA


def test_traces_of_one_spectrum_are_one_unit_of_correctness() -> None:
    """Every trace twice: the interval of the same number of spectra is the same, that of twice as many is narrower."""
    values = np.random.default_rng(4).integers(0, 6, (30, 3))
    correct = [True, False, False] * 10
    once_each = score_by_correctness(table(values), correct, spectra(30))
    twice = table(np.concatenate([values, values]))
    together = score_by_correctness(twice, correct * 2, spectra(30) * 2)
    apart = score_by_correctness(twice, correct * 2, spectra(60))
    for name in ("correct", "incorrect", "difference", "auc"):
        own, same, narrower = (getattr(one, name) for one in (once_each, together, apart))
        assert (own.low, own.high) == pytest.approx((same.low, same.high))
        assert narrower.high - narrower.low < 0.8 * (own.high - own.low)


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = np.random.default_rng(5).integers(0, 6, (25, 1)).astype(float)
    found = score_by_correctness(table(values), [True] * 25, spectra(25)).correct
    expected = stats.t.interval(0.95, 24, values.mean(), stats.sem(values[:, 0]))
    assert (found.low, found.high) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("correct", "reason"),
    [
        ([True] * 3, "no scored trace has an incorrect verdict"),
        ([False] * 3, "no scored trace has a correct verdict"),
        ([None] * 3, "no scored trace has a verdict whose truth is known"),
    ],
)
def test_with_one_kind_of_verdict_there_is_nothing_to_compare(correct: list[bool | None], reason: str) -> None:
    found = score_by_correctness(table([[1], [2], [3]]), correct, spectra(3))
    assert str(found.auc) == str(found.difference) == f"undefined: {reason}"


def test_equal_scores_show_no_difference() -> None:
    found = score_by_correctness(table([[5]] * 20), [True, False] * 10, spectra(20))
    assert (found.auc.value, found.auc.reason) == (0.5, "every item's mean score is 5")


@given(tables(), st.data())
def test_the_area_is_the_share_of_pairs_in_the_right_order(values: FloatArray, data: st.DataObject) -> None:
    scores = table(values)
    correct = data.draw(st.lists(st.sampled_from([True, False, None]), min_size=len(values), max_size=len(values)))
    found = score_by_correctness(scores, correct, spectra(len(values)))
    means = scores.item_means()
    right, wrong = ([m for m, c in zip(means, correct, strict=True) if c is kind and m == m] for kind in (True, False))
    if right and wrong:
        counted = np.mean([(r > w) + 0.5 * (r == w) for r in right for w in wrong])
        assert found.auc.value == pytest.approx(counted)
    else:
        assert found.auc.value is None
    opposite = [None if verdict is None else not verdict for verdict in correct]
    inverted = score_by_correctness(scores, opposite, spectra(len(values)))
    if found.auc.value is not None:
        assert inverted.auc.value == pytest.approx(1 - found.auc.value)
    assert of_equal(found.correct, inverted.incorrect)


def test_truths_must_be_as_many_as_items() -> None:
    with pytest.raises(ScoresError, match="correctness: found 1, expected 2, one per item"):
        score_by_correctness(table([[1], [2]]), [True], spectra(2))
    with pytest.raises(ScoresError, match="spectra: found 1, expected 2, one per item"):
        score_by_correctness(table([[1], [2]]), [True, None], spectra(1))
