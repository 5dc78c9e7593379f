"""Severity, self-consistency and calibration of one scorer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from agent.statistics import FloatArray
from reviewer.agreement.raters import calibration, self_consistency, severity
from reviewer.agreement.values import ScoresError
from tests.support.scored import NONE, QUICK, campaign, table, tables


def test_severity_is_against_the_others_on_the_same_items() -> None:
    # S1 has two items in common with anybody: 1 - (3 + 5)/2 and 2 - 4.
    scores = table([[1, 3, 5], [2, 4, NONE], [5, NONE, NONE], [NONE, 0, 0]])
    found = severity(scores, "S1")
    assert found.value == pytest.approx((-3 - 2) / 2)
    assert found.n == 2
    assert found.detail == {"own_mean": 1.5, "others_mean": 4.0}


def test_a_shift_of_one_scorer_is_found_and_the_interval_holds_it() -> None:
    values = campaign(200, 5, seed=3).values
    values = values + np.array([0, 0, -1.0, 0, 0]) - (values.mean(axis=0) - values.mean())
    found = severity(table(values), "S3")
    assert found.value == pytest.approx(-1)
    assert found.low is not None
    assert found.high is not None
    assert found.low < -1 < found.high < 0


@given(tables(least_raters=2))
def test_the_severities_of_two_are_opposite(values: FloatArray) -> None:
    two = table(values[:, :2])
    one, other = severity(two, "S1", QUICK), severity(two, "S2", QUICK)
    if one.value is None or other.value is None:
        assert one.value is other.value
        assert one.reason
    else:
        assert one.value == pytest.approx(-other.value)


@pytest.mark.parametrize(
    "values", [[[1], [2]], [[1, NONE], [NONE, 2]], [[NONE, 2], [NONE, 3]], [[NONE, NONE]], np.zeros((0, 2))]
)
def test_with_nobody_to_compare_severity_is_words(values: FloatArray) -> None:
    found = severity(table(values), "S1")
    assert str(found) == "undefined: nobody else scored an item that this scorer scored"


def test_a_constant_scorer_among_constant_ones_has_severity_without_an_interval() -> None:
    assert str(severity(table([[5, 5]] * 8), "S1")) == ("0.00 (no interval: every resample gave the same value), n = 8")


def test_consistency_counts_items_scored_both_times() -> None:
    found = self_consistency([5, 4, 3, 0, NONE, 2], [5, 3, 5, 1, 4, NONE])
    assert found.difference.value == pytest.approx((0 + 1 + 2 + 1) / 4)
    assert (found.exact.value, found.within_1.value) == (0.25, 0.75)
    assert {one.n for one in (found.difference, found.exact, found.within_1, found.kappa)} == {4}


def test_somebody_who_repeats_exactly() -> None:
    found = self_consistency([1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0])
    assert (found.difference.value, found.exact.value, found.kappa.value) == (0, 1, 1)
    assert found.exact.low == pytest.approx(0.61, abs=5e-3)  # Wilson's for 6 of 6
    assert found.difference.low is None


def test_somebody_who_always_gives_the_same_is_consistent_but_kappa_says_nothing() -> None:
    found = self_consistency([5, 5, 5], [5, 5, 5])
    assert found.exact.value == 1
    assert str(found.kappa) == "undefined: both gave 5 every time"


@pytest.mark.parametrize(("first", "again"), [([], []), ([1, NONE], [NONE, 2]), ([NONE], [NONE])])
def test_without_repeats_consistency_is_words(first: list[float], again: list[float]) -> None:
    found = self_consistency(first, again)
    for one in (found.difference, found.exact, found.within_1):
        assert str(one) == "undefined: no item was scored twice"
    assert found.kappa.value is None


def test_calibration_has_bias_and_share_within_the_tolerance() -> None:
    found = calibration([5, 4, 1, NONE], [4, 4, 4, 4])
    assert found.bias.value == pytest.approx((1 + 0 - 3) / 3)
    assert found.within.value == pytest.approx(2 / 3)
    assert (found.bias.n, found.bias.n_of) == (3, "gold items")


def test_each_gold_item_may_have_its_own_tolerance() -> None:
    assert calibration([5, 5], [4, 4], [0, 1]).within.value == 0.5
    assert calibration([4.4], [4.0], 0.4).within.value == 1


def test_without_gold_calibration_is_words() -> None:
    for given_scores, expected in (([], []), ([NONE], [3])):
        found = calibration(given_scores, expected)
        assert str(found.bias) == str(found.within) == "undefined: no gold item was scored"


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ScoresError, match=r"first has shape \(2,\), again \(1,\)"):
        self_consistency([1, 2], [1])
    with pytest.raises(ScoresError, match=r"given has shape \(1,\), expected \(2,\)"):
        calibration([1], [1, 2])
