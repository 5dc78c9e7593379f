"""Krippendorff's alpha against published examples, its invariances, and the tables that have none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statistics import FloatArray
from reviewer.agreement.reliability import Level, krippendorff_alpha
from reviewer.agreement.values import Estimate
from tests.support.scored import KRIPPENDORFF, NONE, QUICK, campaign, of_equal, table, tables

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_four_observers(level: Level, alpha: float) -> None:
    """Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C; 12 units."""
    found = krippendorff_alpha(table(KRIPPENDORFF), level)
    assert found.value == pytest.approx(alpha, abs=5e-4)
    assert found.n == 11
    assert found.detail["items_left_out"] == 1
    assert found.detail["pairable_scores"] == 40


def test_alpha_of_krippendorffs_two_observers_of_ten_binary_units() -> None:
    """The same, section A: 0.095."""
    meg, owen = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha(table(np.array([meg, owen]).T), "nominal").value == pytest.approx(0.095, abs=5e-4)


def test_alpha_of_krippendorffs_two_observers_of_twelve_nominal_units() -> None:
    """The same, section B: 0.692."""
    coded = np.array([["abcde".index(one) for one in row] for row in ("aabbdcccedda", "babbbcccedDd".lower())])
    assert krippendorff_alpha(table(coded.T), "nominal").value == pytest.approx(0.692, abs=5e-4)


def test_alpha_of_three_coders_with_more_gaps_than_values() -> None:
    """The worked example of Wikipedia's article "Krippendorff's alpha": nominal 0.691, interval 0.811."""
    rows = ["*****341211 33*3".replace(" ", ""), "1*213343*******", "**21344*211 33*4".replace(" ", "")]
    values = np.array([[NONE if one == "*" else float(one) for one in row] for row in rows]).T
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
def test_without_anything_to_agree_about_alpha_is_words(values: FloatArray, reason: str, level: Level) -> None:
    assert str(krippendorff_alpha(table(values), level)) == f"undefined: {reason}"


def test_full_agreement_is_one_and_has_no_interval() -> None:
    found = krippendorff_alpha(table([[0, 0], [3, 3], [5, 5], [4, 4], [1, 1], [2, 2]]))
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
    assert found.low is not None
    assert found.high is not None
    everybody = krippendorff_alpha(full).value
    assert everybody is not None
    assert found.low < everybody < found.high


@given(tables(), st.sampled_from(LEVELS), st.integers(0, 2**32 - 1))
def test_alpha_does_not_depend_on_the_order_of_items_or_scorers(values: FloatArray, level: Level, seed: int) -> None:
    before = krippendorff_alpha(table(values), level, QUICK)
    rng = np.random.default_rng(seed)
    shuffled = values[rng.permutation(values.shape[0])][:, rng.permutation(values.shape[1])]
    assert of_equal(before, krippendorff_alpha(table(shuffled), level, QUICK))


@given(tables())
def test_ordinal_alpha_knows_only_the_order_of_scores(values: FloatArray) -> None:
    before = krippendorff_alpha(table(values), "ordinal", QUICK)
    assert of_equal(before, krippendorff_alpha(table(values**3 + 2 * values - 7), "ordinal", QUICK))


@given(tables())
def test_nominal_alpha_knows_only_whether_scores_are_the_same(values: FloatArray) -> None:
    renamed = np.where(np.isnan(values), NONE, np.array([3, 0, 5, 1, 2, 4])[np.nan_to_num(values).astype(int)])
    before = krippendorff_alpha(table(values), "nominal", QUICK)
    assert of_equal(before, krippendorff_alpha(table(renamed), "nominal", QUICK))


@given(tables(), st.sampled_from(LEVELS))
def test_alpha_is_a_number_up_to_one_or_words(values: FloatArray, level: Level) -> None:
    found: Estimate = krippendorff_alpha(table(values), level, QUICK)
    assert (found.value is None and found.reason) or (found.value is not None and found.value <= 1)
    assert "nan" not in str(found).lower()


@given(tables())
def test_with_two_values_all_levels_agree(values: FloatArray) -> None:
    two = np.where(np.isnan(values), NONE, (values > 3).astype(float))
    nominal, ordinal, interval = (krippendorff_alpha(table(two), level, QUICK) for level in LEVELS)
    assert of_equal(nominal, ordinal)
    assert of_equal(nominal, interval)
