"""Weighted kappa, raw agreement and Spearman: published examples, known identities, pairs that never met."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from agent.statistics import FloatArray, Resampling, once
from reviewer.agreement.pairs import _kappas, pair_agreement, raw_agreement, spearman, weighted_kappa
from reviewer.agreement.values import Scores, ScoresError
from tests.support.scored import NONE, QUICK, campaign, of_equal, table, tables


def test_kappa_and_raw_agreement_of_fifty_grant_proposals() -> None:
    """Wikipedia, "Cohen's kappa": 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.40 at 0.70 agreement."""
    rows = [[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15
    assert weighted_kappa(table(rows), "S1", "S2").value == pytest.approx(0.40)
    raw = raw_agreement(table(rows), "S1", "S2")
    assert (raw.value, raw.n, raw.detail["within_1"]) == (0.70, 50, 1.0)


def test_quadratic_kappa_is_lins_concordance() -> None:
    """With 1/n variances they are the same number: Fleiss & Cohen 1973, Educ. Psychol. Meas. 33, 613."""
    scores = campaign(80, 2)
    x, y = scores.values.T
    lin = 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert weighted_kappa(scores, "S1", "S2").value == pytest.approx(lin)


def test_the_rank_correlation_of_iq_and_hours_of_television() -> None:
    """Wikipedia, "Spearman's rank correlation coefficient": -29/165."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    television = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    found = spearman(iq, television)
    assert found.value == pytest.approx(-29 / 165)
    assert found.n == 10


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12),
    st.integers(0, 2**32 - 1),
)
def test_the_kappa_of_a_resample_is_scikit_learns(rows: list[tuple[int, int]], seed: int) -> None:
    x, y = np.array(rows, dtype=float).T
    picks = np.random.default_rng(seed).integers(len(rows), size=(3, len(rows)))
    for picked in (*picks, once(len(rows))[0]):
        drawn = x[picked].astype(int), y[picked].astype(int)
        ours = _kappas(x, y)(picked[None])[0]
        if np.ptp(np.concatenate(drawn)) == 0:
            assert np.isnan(ours)
        else:
            theirs = cohen_kappa_score(*drawn, labels=list(range(6)), weights="quadratic")
            assert ours == pytest.approx(theirs, abs=1e-12)


@given(tables(least_raters=2))
def test_agreement_of_a_pair_does_not_depend_on_who_is_first(values: FloatArray) -> None:
    scores = table(values)
    assert of_equal(
        weighted_kappa(scores, "S1", "S2", resampling=QUICK),
        weighted_kappa(scores, "S2", "S1", resampling=QUICK),
    )
    assert of_equal(raw_agreement(scores, "S1", "S2", QUICK), raw_agreement(scores, "S2", "S1", QUICK))
    x, y = values[:, 0], values[:, 1]
    assert of_equal(spearman(x, y, QUICK), spearman(y, x, QUICK))


@given(tables(least_raters=2))
def test_every_pair_is_a_number_in_its_bounds_or_words(values: FloatArray) -> None:
    for pair in pair_agreement(table(values), resampling=QUICK):
        for found, least in ((pair.kappa, -1), (pair.raw, 0), (pair.spearman, -1)):
            assert (found.value is None and found.reason) or (
                found.value is not None and least - 1e-9 <= found.value <= 1 + 1e-9
            )


@given(tables(least_raters=2))
def test_rank_correlation_knows_only_the_order(values: FloatArray) -> None:
    x, y = values[:, 0], values[:, 1]
    assert of_equal(spearman(x, y, QUICK), spearman(x**3 - 40, y, QUICK))


def test_the_interval_of_a_rank_correlation_knows_only_the_order_too() -> None:
    x, y = campaign(40, 2).values.T
    assert spearman(x, y) == spearman(x**5, y)


def test_two_who_never_met_are_in_the_list_in_words() -> None:
    scores = table([[1, 2, NONE], [3, 3, NONE], [NONE, 4, 5], [NONE, 2, 1], [NONE, 3, 3]])
    pairs = pair_agreement(scores)
    assert [(pair.a, pair.b) for pair in pairs] == [("S1", "S2"), ("S1", "S3"), ("S2", "S3")]
    for found in (pairs[1].kappa, pairs[1].raw, pairs[1].spearman):
        assert str(found) == "undefined: no item has a value on both sides"
        assert found.n == 0
    assert pairs[2].kappa.n == 3


@pytest.mark.parametrize(
    ("values", "kappa", "raw", "correlation"),
    [
        ([[5, 5]] * 9, "both gave 5 every time", 1.0, "the first of the two is 5 every time"),
        ([[5, 5]], "1 item has a value on both sides", 1.0, "1 item has a value on both sides"),
        ([[5, 4]], "1 item has a value on both sides", 0.0, "1 item has a value on both sides"),
        ([[1, 2], [2, 3]], None, 0.0, "2 items have a value on both sides"),
        ([[1, 5], [2, 5], [3, 5]], None, 0.0, "the second of the two is 5 every time"),
        ([[NONE, NONE]] * 3, "no item has a value on both sides", None, "no item has a value on both sides"),
    ],
)
def test_pairs_without_variety(
    values: list[list[float]], kappa: str | None, raw: float | None, correlation: str
) -> None:
    (pair,) = pair_agreement(table(values))
    if kappa is None:
        assert pair.kappa.value is not None
    else:
        assert str(pair.kappa) == f"undefined: {kappa}"
    assert pair.raw.value == raw
    assert str(pair.spearman) == f"undefined: {correlation}"


def test_kappa_against_somebody_who_always_gives_the_same_is_zero_and_says_why() -> None:
    found = weighted_kappa(table([[5, score] for score in (5, 4, 5, 3, 5, 2, 5)]), "S1", "S2")
    assert found.value == 0
    assert found.reason == "S1 gave one score every time, so kappa is 0 whatever else"


def test_alone_there_is_no_pair() -> None:
    assert pair_agreement(table([[1], [2]])) == ()


def test_scores_off_the_scale_are_refused() -> None:
    with pytest.raises(ScoresError, match=r"scores: 6 is not on the scale 0, 1, 2, 3, 4, 5"):
        weighted_kappa(table([[6, 5], [1, 1]]), "S1", "S2")
    with pytest.raises(ScoresError, match=r"2\.5 is not on the scale"):
        weighted_kappa(table([[2.5, 5], [1, 1]]), "S1", "S2")
    with pytest.raises(ScoresError, match="3 values beside 2"):
        spearman([1, 2, 3], [1, 2])


@given(tables(least_items=5, least_raters=2))
def test_means_of_two_groups_are_correlated_over_items_that_both_scored(values: FloatArray) -> None:
    scores = table(values)
    assume(values.shape[1] >= 3)
    experts, judge = scores.only(["S1", "S2"]).item_means(), scores.by("S3")
    both = ~(np.isnan(experts) | np.isnan(judge))
    assert spearman(experts, judge, QUICK).n == both.sum()


def test_intervals_are_resampled_by_item_so_twice_as_many_scorers_do_not_halve_them() -> None:
    """Two scorers copied: no new item, hence no narrower interval of the mean scores' correlation."""
    one = campaign(50, 4)
    twice = Scores(one.items, tuple(f"T{i}" for i in range(8)), np.hstack([one.values, one.values]))
    names = twice.raters
    narrow = spearman(
        twice.only(n for n in names if int(n[1]) % 4 < 2).item_means(),
        twice.only(n for n in names if int(n[1]) % 4 >= 2).item_means(),
        Resampling(seed=1),
    )
    wide = spearman(one.only(["S1", "S2"]).item_means(), one.only(["S3", "S4"]).item_means(), Resampling(seed=1))
    assert narrow == wide
