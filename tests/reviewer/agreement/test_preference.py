"""Pairwise preferences and agreement of pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from agent.statistics import FloatArray, Resampling, once
from reviewer.agreement.pairs import _kappas, pair_agreement, raw_agreement, spearman, weighted_kappa
from reviewer.agreement.preference import Verdict, Votes, position_bias, preference_rate
from reviewer.agreement.raters import flip_rate, in_both_orders, length_bias
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, Scores, ScoresError
from tests.support.preferences import any_votes, many, panel, votes
from tests.support.scored import NONE, QUICK, campaign, table, tables


def test_ties_are_counted_separately_and_all_rates_add_up() -> None:
    found = preference_rate(many("x", "y", 12, 5, 2, 1), "x", "y")
    rates = [found.wins.value, found.losses.value, found.equal.value, found.both_bad.value]
    assert rates == pytest.approx([0.6, 0.25, 0.1, 0.05])
    assert found.preferred.value == pytest.approx(12 / 17)
    assert (found.preferred.n, found.wins.n, found.wins.detail["pairs"]) == (17, 20, 20)


@given(any_votes)
def test_the_other_way_round_wins_are_losses(given_votes: list[tuple[str, str, Verdict]]) -> None:
    made = votes(*given_votes)
    one, other = preference_rate(made, "x", "y", QUICK), preference_rate(made, "y", "x", QUICK)
    assert (one.wins.value, one.equal.value, one.both_bad.value) == (
        other.losses.value,
        other.equal.value,
        other.both_bad.value,
    )
    if one.preferred.value is not None and other.preferred.value is not None:
        assert one.preferred.value == pytest.approx(1 - other.preferred.value)


def test_a_vote_that_names_the_sources_the_other_way_round_counts_the_same() -> None:
    found = preference_rate(votes(("x", "y", "a"), ("y", "x", "b"), ("y", "x", "a"), ("x", "z", "a")), "x", "y")
    assert (found.preferred.detail["wins"], found.preferred.detail["losses"], found.wins.n) == (2, 1, 3)


def test_two_sources_that_were_never_compared() -> None:
    found = preference_rate(many("x", "y", 3), "x", "z")
    for rate in (found.wins, found.losses, found.equal, found.both_bad, found.preferred):
        assert str(rate) == "undefined: x and z were never compared"


def test_ties_only_leave_nothing_preferred() -> None:
    found = preference_rate(many("x", "y", 0, 0, 4, 3), "x", "y")
    assert str(found.preferred) == "undefined: every answer was a tie"
    assert found.equal.value == pytest.approx(4 / 7)


def test_all_wins_have_wilsons_interval_and_not_a_point() -> None:
    found = preference_rate(many("x", "y", 10), "x", "y").preferred
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.722, abs=5e-4)


def test_six_answers_to_each_pair_are_not_six_times_as_many_pairs() -> None:
    outcomes: list[Verdict] = ["a"] * 13 + ["b"] * 7
    once_each = votes(*(("x", "y", outcome) for outcome in outcomes))
    names = [f"p{i:03}" for i in range(20) for _ in range(6)]
    six_each = votes(*(("x", "y", outcome) for outcome in outcomes for _ in range(6)), pairs=names)
    one, six = (preference_rate(made, "x", "y").preferred for made in (once_each, six_each))
    assert (one.value, one.low, one.high) == (six.value, six.low, six.high)
    assert (one.n, six.n) == (20, 120)


def test_invalid_votes_are_refused() -> None:
    with pytest.raises(ScoresError, match="'left' is no answer; they are a, b, equal, both bad"):
        votes(("x", "y", "left"))  # type: ignore[arg-type]
    with pytest.raises(ScoresError, match="'x' is on both sides"):
        votes(("x", "x", "a"))
    with pytest.raises(ScoresError, match="lengths"):
        Votes(("p",), ("x",), ("y",), ())
    with pytest.raises(ScoresError, match=r"lengths .*'scorers': 1"):
        Votes(("p", "q"), ("x", "x"), ("y", "y"), ("a", "b"), ("S1",))
    with pytest.raises(ScoresError, match="2 pairs and 1 answers"):
        position_bias(["p", "q"], ["left"])
    with pytest.raises(ScoresError, match="2 lengths for 1 answers"):
        length_bias(["p"], ["a"], [1, 2], [2, 3])
    with pytest.raises(ScoresError, match="1 verdicts in one order, 0 in the other"):
        flip_rate(["a"], [])


def test_an_interval_for_new_scorers_is_wider_where_scorers_differ() -> None:
    """Three scorers with 30, 20 and 10 wins of 40."""
    made = panel([[i < 30, i % 2 == 0, i >= 30] for i in range(40)])
    new = preference_rate(made, "x", "y").preferred
    same = preference_rate(replace(made, scorers=()), "x", "y").preferred
    assert (new.value, new.n) == (same.value, same.n) == (0.5, 120)
    assert (new.detail["population"], same.detail["population"]) == (POPULATION_BOTH, POPULATION_SPECTRA)
    # By hand: deviations 10, 0, -10, so a variance of 3/2 * 200 = 300 by scorers; 120/4 = 30 is the Fisher information.
    assert new.detail["standard_error_log_odds"] == pytest.approx(300**0.5 / 30)
    assert new.detail["degrees_of_freedom"] == pytest.approx(2)
    # As many independent answers as have this error: 30^2 / 300 * 4 = 12. Wilson's half width at 1/2.
    assert new.detail["independent_answers"] == pytest.approx(12)
    half = 0.5 / (1 + 12 / 4.302653**2) ** 0.5
    assert (new.low, new.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert new.low < 0.2 < same.low


def test_scorers_who_answer_alike_count_as_pairs_do() -> None:
    """Six equal answers to each of 40 pairs: the variance is that of 40 answers, with 39 degrees of freedom."""
    found = preference_rate(panel([[i % 4 != 0] * 6 for i in range(40)]), "x", "y").preferred
    assert found.value == 0.75
    assert found.detail["standard_error_log_odds"] == pytest.approx((40 / 39 / (40 * 0.75 * 0.25)) ** 0.5)
    assert found.detail["degrees_of_freedom"] == pytest.approx(39)


def test_the_p_value_and_the_interval_agree() -> None:
    rng = np.random.default_rng(3)
    for seed in range(60):
        taste = rng.normal(0.5, 0.5, 4)
        made = panel(rng.random((12, 4)) < 1 / (1 + np.exp(-taste)))
        found = preference_rate(made, "x", "y", Resampling(seed=seed)).preferred
        assert (found.detail["p_value"] < 0.05) == (not found.low <= 0.5 <= found.high)


def test_a_preference_by_two_scorers_is_of_these_scorers() -> None:
    found = preference_rate(panel([[i % 3 > 0, i % 5 > 0] for i in range(30)]), "x", "y").preferred
    assert found.detail["population"] == POPULATION_SPECTRA
    assert found.detail["interval"] == "bootstrap by item"
    assert 0 < found.detail["p_value"] < 0.05


def test_scorers_with_ties_only_do_not_count_as_scorers() -> None:
    made = panel([[i % 3 > 0, i % 5 > 0, i % 2 > 0] for i in range(30)])
    tied = replace(
        made, verdicts=tuple("equal" if s == "S3" else v for s, v in zip(made.scorers, made.verdicts, strict=True))
    )
    assert preference_rate(made, "x", "y").preferred.detail["population"] == POPULATION_BOTH
    assert preference_rate(tied, "x", "y").preferred.detail["population"] == POPULATION_SPECTRA


def test_where_everybody_chose_the_same_the_interval_is_wilsons_and_p_that_of_a_sign_test() -> None:
    found = preference_rate(panel([[True] * 3] * 10), "x", "y").preferred
    assert found.low == pytest.approx(0.722, abs=5e-4)
    assert found.detail["population"] == POPULATION_SPECTRA
    assert found.detail["p_value"] == pytest.approx(2 / 2**10)


@given(any_votes)
def test_the_p_value_does_not_depend_on_which_source_is_first(given_votes: list[tuple[str, str, Verdict]]) -> None:
    names = tuple(f"S{i % 3}" for i in range(len(given_votes)))
    made = replace(votes(*given_votes, pairs=[f"p{i // 2}" for i in range(len(given_votes))]), scorers=names)
    one, other = (preference_rate(made, *both, QUICK).preferred for both in (("x", "y"), ("y", "x")))
    assert one.detail.get("p_value") == pytest.approx(other.detail.get("p_value"))
    assert one.value is None or 0 <= one.detail["p_value"] <= 1


def test_position_bias_is_among_decided_answers_with_an_exact_test() -> None:
    sides = ["left"] * 15 + ["right"] * 5 + ["equal"] * 3 + ["both bad"]
    found = position_bias([f"p{i}" for i in range(24)], sides)  # type: ignore[arg-type]
    assert (found.value, found.n) == (0.75, 20)
    # 2 * (1 + 20 + 190 + 1140 + 4845 + 15504) / 2^20
    assert found.detail["p_value"] == pytest.approx(0.0414, abs=5e-5)


@pytest.mark.parametrize("sides", [[], ["equal"], ["both bad", "equal"]])
def test_without_a_decided_answer_there_is_no_position_bias(sides: list[str]) -> None:
    found = position_bias([str(i) for i in range(len(sides))], sides)  # type: ignore[arg-type]
    assert str(found) == "undefined: no answer chose a side"


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("a", "a", "a"),
        ("b", "b", "b"),
        ("a", "b", "equal"),
        ("a", "equal", "equal"),
        ("both bad", "both bad", "both bad"),
        ("both bad", "equal", "equal"),
        ("both bad", "b", "equal"),
    ],
)
def test_the_verdict_of_both_orders(first: Verdict, second: Verdict, together: Verdict) -> None:
    assert in_both_orders(first, second) == in_both_orders(second, first) == together


def test_flips_and_wavers_are_counted_separately() -> None:
    found = flip_rate(["a", "a", "b", "a", "equal", "b"], ["a", "b", "a", "equal", "b", "b"])
    assert found.value == pytest.approx(2 / 6)
    assert found.detail["flipped"] == 2
    assert found.detail["wavered"] == 2
    assert str(flip_rate([], [])) == "undefined: no pair was answered in both orders"


def test_length_bias_is_the_share_of_longer_winners() -> None:
    found = length_bias(list("pqrstu"), ["a", "b", "a", "equal", "a", "b"], [9, 9, 2, 9, 4, 1], [1, 1, 5, 1, 4, 8])
    # Won: the longer by 8, the shorter by 8, the shorter by 3, a tie, equal lengths, the longer by 7.
    assert (found.value, found.n) == (0.5, 4)
    assert found.detail["mean_excess"] == pytest.approx((8 - 8 - 3 + 7) / 4)


@pytest.mark.parametrize(("verdict", "length"), [("equal", 9), ("a", 3)])
def test_without_a_choice_between_lengths_there_is_no_length_bias(verdict: Verdict, length: int) -> None:
    found = length_bias(["p"], [verdict], [length], [3])
    assert str(found) == "undefined: no answer chose between texts of different length"


def test_kappa_and_raw_agreement_of_fifty_grant_proposals() -> None:
    """Wikipedia, "Cohen's kappa": 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: 0.40 at 0.70 agreement."""
    rows = [[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15
    assert weighted_kappa(table(rows), "S1", "S2").value == pytest.approx(0.40)
    raw = raw_agreement(table(rows), "S1", "S2")
    assert (raw.value, raw.n, raw.detail["within_1"]) == (0.70, 50, 1.0)


def test_the_rank_correlation_of_iq_and_hours_of_television() -> None:
    """Wikipedia, "Spearman's rank correlation coefficient": -29/165."""
    iq = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110]
    television = [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]
    found = spearman(iq, television)
    assert found.value == pytest.approx(-29 / 165)
    assert found.n == 10


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12), st.integers(0, 2**32 - 1))
def test_the_kappa_of_a_resample_equals_that_of_scikit_learn(rows: list[tuple[int, int]], seed: int) -> None:
    x, y = np.array(rows, dtype=float).T
    picks = np.random.default_rng(seed).integers(len(rows), size=(3, len(rows)))
    for picked in (*picks, once(len(rows))[0]):
        resampled = x[picked].astype(int), y[picked].astype(int)
        computed = _kappas(x, y)(picked[None])[0]
        if np.ptp(np.concatenate(resampled)) == 0:
            assert np.isnan(computed)
        else:
            reference = cohen_kappa_score(*resampled, labels=list(range(6)), weights="quadratic")
            assert computed == pytest.approx(reference, abs=1e-12)


@given(tables(least_raters=2))
def test_every_agreement_is_a_number_in_its_bounds_or_has_a_reason(values: FloatArray) -> None:
    for pair in pair_agreement(table(values), resampling=QUICK):
        for found, least in ((pair.kappa, -1), (pair.raw, 0), (pair.spearman, -1)):
            assert (found.value is None and found.reason) or (
                found.value is not None and least - 1e-9 <= found.value <= 1 + 1e-9
            )


def test_the_interval_of_a_rank_correlation_depends_only_on_the_order() -> None:
    x, y = campaign(40, 2).values.T
    assert spearman(x, y) == spearman(x**5, y)


def test_two_scorers_without_common_items_are_listed_with_a_reason() -> None:
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
def test_pairs_without_variety(values, kappa, raw, correlation) -> None:
    (pair,) = pair_agreement(table(values))
    if kappa is None:
        assert pair.kappa.value is not None
    else:
        assert str(pair.kappa) == f"undefined: {kappa}"
    assert pair.raw.value == raw
    assert str(pair.spearman) == f"undefined: {correlation}"


def test_kappa_and_rank_correlation_have_an_interval_from_twenty_spectra_on() -> None:
    scores = campaign(20, 2)
    x, y = scores.values.T
    for enough, few in (
        (weighted_kappa(scores, "S1", "S2"), weighted_kappa(table(scores.values[:19]), "S1", "S2")),
        (spearman(x, y), spearman(x[:19], y[:19])),
    ):
        assert enough.low is not None
        assert (few.low, few.reason) == (None, "fewer than 20 spectra")
    together = spearman(x, y, [str(i // 2) for i in range(20)])
    assert (together.low, together.reason) == (None, "fewer than 20 spectra")


def test_kappa_against_a_constant_scorer_is_zero_with_a_reason() -> None:
    found = weighted_kappa(table([[5, score] for score in (5, 4, 5, 3, 5, 2, 5)]), "S1", "S2")
    assert found.value == 0
    assert found.reason == "S1 gave one score every time, so kappa is 0 whatever else"


def test_one_scorer_makes_no_pair() -> None:
    assert pair_agreement(table([[1], [2]])) == ()


def test_scores_off_the_scale_are_refused() -> None:
    with pytest.raises(ScoresError, match=r"scores: 6 is not on the scale 0, 1, 2, 3, 4, 5"):
        weighted_kappa(table([[6, 5], [1, 1]]), "S1", "S2")
    with pytest.raises(ScoresError, match=r"2\.5 is not on the scale"):
        weighted_kappa(table([[2.5, 5], [1, 1]]), "S1", "S2")
    with pytest.raises(ScoresError, match="3 values and 2"):
        spearman([1, 2, 3], [1, 2])


def test_intervals_are_by_item_so_twice_as_many_scorers_do_not_halve_them() -> None:
    """Two scorers copied: no new item, hence no narrower interval of the mean scores' correlation."""
    one = campaign(50, 4)
    twice = Scores(one.items, tuple(f"T{i}" for i in range(8)), np.hstack([one.values, one.values]))
    names = twice.raters
    narrow = spearman(
        twice.only(n for n in names if int(n[1]) % 4 < 2).item_means(),
        twice.only(n for n in names if int(n[1]) % 4 >= 2).item_means(),
    )
    wide = spearman(one.only(["S1", "S2"]).item_means(), one.only(["S3", "S4"]).item_means())
    assert narrow == wide
