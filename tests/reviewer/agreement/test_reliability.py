"""Reliability of scores: alpha, ICC, raters and rounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statistics import FloatArray
from reviewer.agreement.raters import calibration, self_consistency
from reviewer.agreement.reliability import (
    Level,
    gold_agreement,
    icc_a1,
    icc_ak,
    krippendorff_alpha,
    round_agreement,
)
from reviewer.agreement.values import Estimate, Scores, ScoresError
from tests.support.scored import KRIPPENDORFF, NONE, QUICK, SHROUT_FLEISS, campaign, table, tables

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_four_observers(level: Level, alpha: float) -> None:
    """Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C; 12 units."""
    found = krippendorff_alpha(table(KRIPPENDORFF), level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11
    assert found.detail["items_left_out"] == 1
    assert found.detail["pairable_scores"] == 40


def test_alpha_of_three_coders_with_more_gaps_than_values() -> None:
    """The worked example of Wikipedia's article "Krippendorff's alpha": nominal 0.691, interval 0.811."""
    rows = ["*****341211 33*3".replace(" ", ""), "1*213343*******", "**21344*211 33*4".replace(" ", "")]
    values = np.array([[NONE if value == "*" else float(value) for value in row] for row in rows]).T
    assert krippendorff_alpha(table(values), "nominal").value == pytest.approx(0.691, abs=5e-4)
    assert krippendorff_alpha(table(values), "interval").value == pytest.approx(0.811, abs=5e-4)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[5, 5], [5, 5], [5, NONE]], "every score is 5"),
        ([[5, 5, 5]] * 30, "every score is 5"),
        ([[5, 5], [5, 5], [2, NONE]], "every score is 5"),
        ([[1], [2], [3]], "there is one scorer only"),
        ([[1, NONE], [2, NONE]], "there is one scorer only"),
        ([[1, 2]], "only one item was scored by two scorers"),
        ([[1, NONE], [NONE, 2], [3, NONE]], "no item was scored by two scorers"),
        ([[NONE, NONE], [NONE, NONE]], "nobody gave a score"),
        (np.zeros((0, 3)), "nobody gave a score"),
        (np.zeros((3, 0)), "nobody gave a score"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_without_comparable_scores_is_undefined_with_a_reason(values, reason, level) -> None:
    assert str(krippendorff_alpha(table(values), level)) == f"undefined: {reason}"


def test_full_agreement_is_one_and_has_no_interval() -> None:
    found = krippendorff_alpha(table(2 * [[0, 0], [3, 3], [5, 5], [4, 4], [1, 1], [2, 2]]))
    assert found.value == 1.0
    assert found.reason == "every resample gave the same value"


def test_one_dissenting_score_leaves_no_interval_because_most_resamples_lack_it() -> None:
    found = krippendorff_alpha(table([[5, 5]] * 29 + [[5, 4]]))
    assert found.value == pytest.approx(0.0, abs=0.02)
    assert found.low is None
    assert "resamples have no value" in found.reason


def test_a_session_in_which_each_item_has_two_of_six_scorers_has_an_alpha() -> None:
    full = campaign(100, 6)
    sparse = full.values.copy()
    for i, row in enumerate(sparse):
        row[[j for j in range(6) if j not in (i % 6, (i // 6 + i + 1) % 6)]] = NONE
    found = krippendorff_alpha(table(sparse))
    all_scorers = krippendorff_alpha(full).value
    assert found.low < all_scorers < found.high


@given(tables(), st.sampled_from(LEVELS))
def test_alpha_is_a_number_up_to_one_or_has_a_reason(values: FloatArray, level: Level) -> None:
    found: Estimate = krippendorff_alpha(table(values), level, QUICK)
    assert (found.value is None and found.reason) or (found.value is not None and found.value <= 1)
    assert "nan" not in str(found).lower()


Icc = Callable[[Scores], Estimate]


def test_icc_of_shrout_and_fleiss() -> None:
    """Psychological Bulletin 86, 420 (1979), tables 3 and 4: ICC(2,1) = 0.29, ICC(2,4) = 0.62."""
    single, averaged = icc_a1(table(SHROUT_FLEISS)), icc_ak(table(SHROUT_FLEISS))
    assert single.value == pytest.approx(0.29, abs=5e-3)
    assert averaged.value == pytest.approx(0.62, abs=5e-3)
    squares = single.detail["mean_squares"]
    assert squares["items"] == pytest.approx(11.24, abs=5e-3)
    assert squares["raters"] == pytest.approx(32.49, abs=5e-3)
    assert squares["rest"] == pytest.approx(1.02, abs=5e-3)


def test_the_f_interval_is_the_one_that_r_gives_for_shrout_and_fleiss() -> None:
    """R's psych::ICC documents 0.019 to 0.76 for ICC2 and 0.071 to 0.93 for ICC2k of these data."""
    single, averaged = icc_a1(table(SHROUT_FLEISS)), icc_ak(table(SHROUT_FLEISS))
    assert (single.low, single.high) == (pytest.approx(0.019, abs=5e-4), pytest.approx(0.761, abs=5e-4))
    assert (averaged.low, averaged.high) == (pytest.approx(0.071, abs=5e-4), pytest.approx(0.927, abs=5e-4))


@pytest.mark.parametrize("icc", [icc_a1, icc_ak])
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[5, 5], [5, 5], [5, 5]], "every score is 5"),
        ([[1], [2], [3]], "there is one scorer only"),
        ([[1, NONE], [2, NONE], [3, NONE]], "there is one scorer only"),
        ([[1, 2, 3]], "only one item was scored; expected two"),
        ([[1, NONE], [NONE, 2]], "no item was scored by two scorers"),
        ([[NONE, NONE]], "nobody gave a score"),
        (np.zeros((0, 3)), "nobody gave a score"),
        (np.zeros((3, 0)), "nobody gave a score"),
    ],
)
def test_icc_without_two_items_that_differ_is_undefined(icc: Icc, values: FloatArray, reason: str) -> None:
    assert str(icc(table(values))) == f"undefined: {reason}"


def test_icc_is_undefined_where_neither_items_nor_scorers_differ_on_average() -> None:
    crossed = table([[0, 1], [1, 0]])
    assert icc_a1(crossed).reason == "the items' means do not differ"
    assert icc_ak(crossed).reason == "the items' means do not differ"


def test_far_below_zero_there_is_a_value_but_no_f_interval() -> None:
    found = icc_a1(table([[0, 1], [0, 1], [1, 0]]))
    # No mean square of items, 1/6 of scorers, 2/3 left: (0 - 2/3) / (0 + 2/3 + 2/3 * (1/6 - 2/3)).
    assert found.value == pytest.approx(-2)
    assert found.low is None


def test_gaps_leave_no_item_out() -> None:
    values = campaign(60, 5, seed=1).values.copy()
    whole = icc_a1(table(values))
    values[np.random.default_rng(4).random(values.shape) < 0.3] = NONE
    found = icc_a1(table(values))
    assert found.n == 60
    assert whole.value is not None
    assert found.value == pytest.approx(whole.value, abs=0.08)
    assert found.high - found.low > whole.high - whole.low


def test_a_scorer_without_scores_leaves_no_item_out() -> None:
    absent = np.hstack([SHROUT_FLEISS, np.full((6, 1), NONE)])
    found = icc_a1(table(absent))
    assert (found.n, found.detail["scorers"]) == (6, 4)
    assert found.value == icc_a1(table(SHROUT_FLEISS)).value


def test_a_scorer_who_is_more_severe_lowers_absolute_agreement() -> None:
    same = np.repeat(np.arange(8.0)[:, None], 2, axis=1)
    shifted = icc_a1(table(same + np.array([0.0, 2.0]))).value
    # Items 0 to 7: mean squares 12 of items, 16 of scorers, none left: 12 / (12 + 2/8 * 16).
    assert shifted == pytest.approx(12 / (12 + 2 / 8 * 16))


@given(tables(least_items=2, least_raters=1))
def test_identical_columns_are_one_or_undefined_when_constant(values: FloatArray) -> None:
    column = np.nan_to_num(values[:, 0])
    same = table(np.repeat(column[:, None], 3, axis=1))
    for found in (icc_a1(same), icc_ak(same)):
        if np.ptp(column) == 0:
            assert found.reason == f"every score is {column[0]:g}"
        else:
            assert found.value == pytest.approx(1.0)
            assert found.low is None


@given(tables())
def test_icc_is_a_number_up_to_one_or_has_a_reason(values: FloatArray) -> None:
    for found in (icc_a1(table(values)), icc_ak(table(values))):
        assert (found.value is None and found.reason) or (found.value is not None and found.value <= 1 + 1e-9)


def test_consistency_counts_items_scored_both_times() -> None:
    found = self_consistency([5, 4, 3, 0, NONE, 2], [5, 3, 5, 1, 4, NONE])
    assert found.difference.value == pytest.approx((0 + 1 + 2 + 1) / 4)
    assert (found.exact.value, found.within_1.value) == (0.25, 0.75)
    assert {estimate.n for estimate in (found.difference, found.exact, found.within_1, found.kappa)} == {4}


def test_a_scorer_who_repeats_exactly_is_fully_consistent() -> None:
    found = self_consistency([1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0])
    assert (found.difference.value, found.exact.value, found.kappa.value) == (0, 1, 1)
    assert found.exact.low == pytest.approx(0.61, abs=5e-3)  # Wilson's for 6 of 6
    assert found.difference.low is None


def test_a_constant_scorer_is_consistent_but_kappa_is_undefined() -> None:
    found = self_consistency([5, 5, 5], [5, 5, 5])
    assert found.exact.value == 1
    assert str(found.kappa) == "undefined: both gave 5 every time"


@pytest.mark.parametrize(("first", "again"), [([], []), ([1, NONE], [NONE, 2]), ([NONE], [NONE])])
def test_consistency_without_repeats_is_undefined(first: list[float], again: list[float]) -> None:
    found = self_consistency(first, again)
    for estimate in (found.difference, found.exact, found.within_1):
        assert str(estimate) == "undefined: no item was scored twice"
    assert found.kappa.value is None


def test_calibration_has_bias_and_share_within_the_tolerance() -> None:
    found = calibration([5, 4, 1, NONE], [4, 4, 4, 4])
    assert found.bias.value == pytest.approx((1 + 0 - 3) / 3)
    assert found.within.value == pytest.approx(2 / 3)
    assert (found.bias.n, found.bias.n_of) == (3, "gold items")


def test_each_gold_item_may_have_its_own_tolerance() -> None:
    assert calibration([5, 5], [4, 4], [0, 1]).within.value == 0.5
    assert calibration([4.4], [4.0], 0.4).within.value == 1


def test_calibration_without_gold_is_undefined() -> None:
    for given_scores, expected in (([], []), ([NONE], [3])):
        found = calibration(given_scores, expected)
        assert str(found.bias) == str(found.within) == "undefined: no gold item was scored"


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ScoresError, match=r"first has shape \(2,\), again \(1,\)"):
        self_consistency([1, 2], [1])
    with pytest.raises(ScoresError, match=r"given has shape \(1,\), expected \(2,\)"):
        calibration([1], [1, 2])


# Wikipedia, "Fleiss' kappa": fourteen raters put each of ten subjects into one of five categories.
FLEISS = (
    *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
    *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
)


def decisions(rows: list[tuple[str, str, str]]) -> tuple[list[str], list[str], list[str]]:
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


def test_raw_agreement_of_fleisss_fourteen_raters() -> None:
    """Mean P of 0.378 and kappa 0.210; alpha is that less a correction for the 140 decisions."""
    rows = []
    for item, counts in enumerate(FLEISS):
        verbs = [f"category {k}" for k, n in enumerate(counts) for _ in range(n)]
        rows += [(f"i{item}", f"S{rater:02}", verb) for rater, verb in enumerate(verbs)]
    found = round_agreement(*decisions(rows))
    assert found.raw.value == pytest.approx(0.378, abs=5e-4)
    assert found.alpha.value == pytest.approx(1 - (1 - 0.20993) * 139 / 140, abs=5e-5)
    assert found.raw.detail["decisions"]["category 2"] == 39


def test_raw_agreement_averages_over_items_that_two_decided_on() -> None:
    rows = [("a", "AB", "keep"), ("a", "CD", "keep"), ("a", "EF", "discard"), ("b", "AB", "keep"), ("b", "CD", "keep")]
    found = round_agreement(*decisions([*rows, ("c", "AB", "discard")]))
    assert found.raw.value == pytest.approx((1 / 3 + 1) / 2)
    assert found.raw.n == found.alpha.n == 2


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "nobody decided anything"),
        ([("a", "AB", "keep"), ("b", "AB", "keep")], "there is one reviewer only"),
        ([("a", "AB", "keep"), ("b", "CD", "keep")], "no item was decided on by two reviewers"),
    ],
)
def test_agreement_without_common_items_is_undefined(rows: list[tuple[str, str, str]], reason: str) -> None:
    found = round_agreement(*decisions(rows))
    assert str(found.raw) == str(found.alpha) == f"undefined: {reason}"


def test_unanimous_decisions_have_full_raw_agreement_and_no_alpha() -> None:
    rows = [(item, person, "pass") for item in "abcdef" for person in ("AB", "CD")]
    found = round_agreement(*decisions([*rows, ("g", "AB", "return")]))
    assert found.raw.value == 1
    assert found.raw.low == pytest.approx(0.61, abs=5e-3)
    assert str(found.alpha) == "undefined: every decision is pass"


def test_one_item_has_no_alpha() -> None:
    found = round_agreement(*decisions([("a", "AB", "pass"), ("a", "CD", "return")]))
    assert found.raw.value == 0
    assert str(found.alpha) == "undefined: only one item was decided on by two reviewers"


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["AB", "CD", "EF"])), st.sampled_from(["keep", "discard"])
    )
)
def test_agreement_does_not_depend_on_the_order_of_decisions(given_verbs: dict[tuple[str, str], str]) -> None:
    rows = [(item, person, verb) for (item, person), verb in given_verbs.items()]
    found, reversed_order = round_agreement(*decisions(rows)), round_agreement(*decisions(rows[::-1]))
    assert found == reversed_order
    for estimate in (found.raw, found.alpha):
        assert estimate.value is not None or "score" not in estimate.reason


def test_invalid_decisions_are_refused() -> None:
    with pytest.raises(ScoresError, match="1 items, 1 people, 0 decisions"):
        round_agreement(["a"], ["AB"], [])
    with pytest.raises(ScoresError, match="'AB' has two scores for 'a'"):
        round_agreement(["a", "a"], ["AB", "AB"], ["keep", "keep"])


def test_agreement_of_a_reviewer_with_gold() -> None:
    found = gold_agreement(["a", "b", "c"], ["keep", "keep", "discard"], ["keep", "discard", "discard"])
    assert (found.value, found.n) == (pytest.approx(2 / 3), 3)
    assert str(gold_agreement([], [], [])) == "undefined: no gold item was decided on"
    with pytest.raises(ScoresError, match="0 decisions, 1 expected"):
        gold_agreement(["a"], [], ["keep"])
