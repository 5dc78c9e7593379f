"""Counts, means, medians and differences of sources; scores against the correctness of the verdict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agent.statistics import FloatArray
from reviewer.agreement.correctness import score_by_correctness
from reviewer.agreement.distribution import difference, distribution
from reviewer.agreement.values import ScoresError
from tests.support.scored import NONE, QUICK, campaign, of_equal, table, tables


def test_counts_are_of_scores_and_cannot_tell_is_apart() -> None:
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


def test_all_alike_has_a_mean_without_an_interval() -> None:
    found = distribution(table([[5, 5]] * 10))
    assert str(found.mean) == "5.00 (no interval: every resample gave the same value), n = 20"
    assert found.median.low is None


def test_one_item_has_no_interval_however_many_scored_it() -> None:
    found = distribution(table([[1, 2, 3, 4, 5, 5]]))
    assert str(found.mean) == "3.33 (no interval: fewer than 5 items), n = 6"


def test_a_score_off_the_scale_is_refused() -> None:
    with pytest.raises(ScoresError, match="7 is not on the scale"):
        distribution(table([[5, 7]]))


def test_the_difference_of_two_sources_has_welchs_interval_up_to_the_bootstraps_own_error() -> None:
    better, worse = campaign(150, 1, seed=1), campaign(90, 1, seed=2)
    worse = table(np.maximum(worse.values - 1, 0))
    found = difference(better, worse)
    welch = stats.ttest_ind(better.values[:, 0], worse.values[:, 0], equal_var=False).confidence_interval()
    assert found.value == pytest.approx(better.values.mean() - worse.values.mean())
    assert found.low == pytest.approx(welch.low, abs=0.03)
    assert found.high == pytest.approx(welch.high, abs=0.03)
    assert found.n == 240


def test_on_the_same_spectra_the_paired_difference_is_narrower() -> None:
    a = campaign(60, 3)
    b = table(np.clip(a.values - (np.arange(60) % 2)[:, None], 0, 5))
    paired, unpaired = difference(a, b, paired=True), difference(a, b)
    assert paired.value == pytest.approx(unpaired.value)
    assert paired.low is not None
    assert paired.high is not None
    assert unpaired.low is not None
    assert unpaired.high is not None
    assert paired.high - paired.low < 0.7 * (unpaired.high - unpaired.low)


def test_two_items_of_one_source_give_no_interval_however_many_the_other_has() -> None:
    found = difference(campaign(50, 3), campaign(2, 3, seed=2))
    assert found.reason == "fewer than 5 items of the source that has fewer"


def test_pairs_are_found_by_the_items_names() -> None:
    a = table([[5], [4], [3]])
    b = table([[1], [NONE], [1], [0]])
    found = difference(a, b, paired=True)
    assert found.value == pytest.approx((4 + 2) / 2)
    assert (found.n, found.n_of) == (2, "spectra")


def test_a_source_without_scores_has_no_difference() -> None:
    some, none = table([[5], [4]]), table([[NONE]])
    assert difference(some, none).reason == "no item of the second source has a score"
    assert difference(none, some).reason == "no item of the first source has a score"
    assert difference(none, none).reason == "no item of either source has a score"
    assert difference(some, none, paired=True).reason == "no spectrum has scores of both sources"


@given(tables(), tables())
def test_differences_are_opposite_when_turned(a: FloatArray, b: FloatArray) -> None:
    for paired in (False, True):
        one, other = (difference(table(x), table(y), paired, QUICK) for x, y in ((a, b), (b, a)))
        assert (one.value is None) == (other.value is None)
        if one.value is not None and other.value is not None:
            assert one.value == pytest.approx(-other.value)


# ---- against correctness


def test_the_area_under_the_curve_of_hanley_and_mcneil() -> None:
    """Radiology 143, 29 (1982), table I: 51 abnormal and 58 normal CT images, ratings 1 to 5: 0.893."""
    normal, abnormal = (33, 6, 6, 11, 2), (3, 2, 2, 11, 33)
    ratings = [r + 1 for counts in (normal, abnormal) for r, n in enumerate(counts) for _ in range(n)]
    found = score_by_correctness(table(np.array(ratings)[:, None]), [False] * 58 + [True] * 51)
    assert found.auc.value == pytest.approx(0.893, abs=5e-4)
    assert found.auc.detail["rank_biserial"] == pytest.approx(2 * 0.893 - 1, abs=1e-3)
    # Their standard error is 0.032.
    assert found.auc.low == pytest.approx(0.893 - 1.96 * 0.032, abs=0.015)
    assert found.auc.high == pytest.approx(0.893 + 1.96 * 0.032, abs=0.015)


def test_means_by_correctness_are_of_the_items_means() -> None:
    found = score_by_correctness(
        table([[5, 3], [2, NONE], [0, 1], [NONE, NONE], [5, 5]]), [True, True, False, True, None]
    )
    assert (found.correct.value, found.correct.n) == (3.0, 2)
    assert (found.incorrect.value, found.incorrect.n) == (0.5, 1)
    assert found.difference.value == 2.5
    assert found.auc.value == 1
    assert found.auc.reason == "fewer than 5 items of the rarer kind of verdict"


@pytest.mark.parametrize(
    ("correct", "reason"),
    [
        ([True] * 3, "no scored trace has an incorrect verdict"),
        ([False] * 3, "no scored trace has a correct verdict"),
        ([None] * 3, "no scored trace has a verdict whose truth is known"),
    ],
)
def test_with_one_kind_of_verdict_there_is_nothing_to_compare(correct: list[bool | None], reason: str) -> None:
    found = score_by_correctness(table([[1], [2], [3]]), correct)
    assert str(found.auc) == str(found.difference) == f"undefined: {reason}"


def test_equal_scores_throughout_are_no_finding() -> None:
    found = score_by_correctness(table([[5]] * 20), [True, False] * 10)
    assert (found.auc.value, found.auc.reason) == (0.5, "every item's mean score is 5")


@given(tables(), st.data())
def test_the_area_is_the_share_of_pairs_in_the_right_order(values: FloatArray, data: st.DataObject) -> None:
    scores = table(values)
    correct = data.draw(st.lists(st.sampled_from([True, False, None]), min_size=len(values), max_size=len(values)))
    found = score_by_correctness(scores, correct, QUICK)
    means = scores.item_means()
    right, wrong = ([m for m, c in zip(means, correct, strict=True) if c is kind and m == m] for kind in (True, False))
    if right and wrong:
        counted = np.mean([(r > w) + 0.5 * (r == w) for r in right for w in wrong])
        assert found.auc.value == pytest.approx(counted)
    else:
        assert found.auc.value is None
    turned = score_by_correctness(scores, [None if one is None else not one for one in correct], QUICK)
    if found.auc.value is not None:
        assert turned.auc.value == pytest.approx(1 - found.auc.value)
    assert of_equal(found.correct, turned.incorrect)


def test_truths_must_be_as_many_as_items() -> None:
    with pytest.raises(ScoresError, match="correctness of 1 verdicts for 2 items"):
        score_by_correctness(table([[1], [2]]), [True])
