"""ICC(A,1) and ICC(A,k) against Shrout & Fleiss, and the tables that have none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from agent.statistics import FloatArray
from reviewer.agreement.reliability import icc_a1, icc_ak
from reviewer.agreement.values import Estimate, Scores
from tests.support.scored import NONE, QUICK, SHROUT_FLEISS, campaign, of_equal, table, tables

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
    assert icc_a1(table(SHROUT_FLEISS)).detail["f_interval"] == pytest.approx([0.019, 0.761], abs=5e-4)
    assert icc_ak(table(SHROUT_FLEISS)).detail["f_interval"] == pytest.approx([0.071, 0.927], abs=5e-4)


@pytest.mark.parametrize("icc", [icc_a1, icc_ak])
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[5, 5], [5, 5], [5, 5]], "every score is 5"),
        ([[1], [2], [3]], "there is one scorer only"),
        ([[1, NONE], [2, NONE], [3, NONE]], "there is one scorer only"),
        ([[1, 2, 3]], "only one item was scored by all 3 scorers; two are wanted"),
        ([[1, 2, NONE], [NONE, 2, 3], [1, NONE, 4]], "no item was scored by all 3 scorers; two are wanted"),
        ([[1, NONE], [NONE, 2]], "no item was scored by two scorers"),
        ([[NONE, NONE]], "nobody gave a score"),
        (np.zeros((0, 3)), "nobody gave a score"),
        (np.zeros((3, 0)), "nobody gave a score"),
    ],
)
def test_without_two_complete_items_that_differ_icc_is_words(icc: Icc, values: FloatArray, reason: str) -> None:
    assert str(icc(table(values))) == f"undefined: {reason}"


def test_icc_is_undefined_where_neither_items_nor_scorers_differ_on_average() -> None:
    crossed = table([[0, 1], [1, 0]])
    assert icc_a1(crossed).reason == "the items' means do not differ"
    assert icc_ak(crossed).reason == "the items' means do not differ"


def test_far_below_zero_there_is_a_value_but_no_f_interval() -> None:
    found = icc_a1(table([[0, 1], [0, 1], [1, 0]]))
    # No mean square of items, 1/6 of scorers, 2/3 left: (0 - 2/3) / (0 + 2/3 + 2/3 * (1/6 - 2/3)).
    assert found.value == pytest.approx(-2)
    assert found.detail["f_interval"] is None


def test_items_that_somebody_did_not_score_are_left_out_and_counted() -> None:
    gaps = np.vstack([SHROUT_FLEISS, [[1, NONE, 2, 3]], [[NONE] * 4]])
    found = icc_a1(table(gaps))
    assert found.value == icc_a1(table(SHROUT_FLEISS)).value
    assert (found.n, found.detail["items_left_out"]) == (6, 1)


def test_somebody_who_scored_nothing_leaves_out_nothing() -> None:
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
    for found in (icc_a1(same, QUICK), icc_ak(same, QUICK)):
        if np.ptp(column) == 0:
            assert found.reason == f"every score is {column[0]:g}"
        else:
            assert found.value == pytest.approx(1.0)
            assert found.detail["f_interval"] is None


@given(tables())
def test_icc_is_a_number_up_to_one_or_words(values: FloatArray) -> None:
    for found in (icc_a1(table(values), QUICK), icc_ak(table(values), QUICK)):
        assert (found.value is None and found.reason) or (found.value is not None and found.value <= 1 + 1e-9)


@given(tables())
def test_icc_does_not_depend_on_order_or_on_the_zero_of_the_scale(values: FloatArray) -> None:
    for icc in (icc_a1, icc_ak):
        before = icc(table(values), QUICK)
        assert of_equal(before, icc(table(values[::-1, ::-1]), QUICK))
        assert of_equal(before, icc(table(values + 1000), QUICK))


def test_the_two_kinds_are_related_by_spearman_and_browns_formula() -> None:
    scores = campaign(40, 5)
    single, averaged = icc_a1(scores).value, icc_ak(scores).value
    assert single is not None
    assert averaged == pytest.approx(5 * single / (1 + 4 * single))
