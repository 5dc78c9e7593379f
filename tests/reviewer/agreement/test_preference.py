"""Preferences, strengths, position, and what a judge owes to order and length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.statistics import Resampling, once
from reviewer.agreement.preference import (
    VERDICTS,
    Verdict,
    Votes,
    _resampled,
    _strengths_by_choix,
    _wins,
    bradley_terry,
    position_bias,
    preference_rate,
)
from reviewer.agreement.raters import flip_rate, in_both_orders, length_bias
from reviewer.agreement.values import ScoresError
from tests.support.scored import QUICK

# Agresti 2002, Categorical Data Analysis, table 10.10: games won by the row's team from the column's, 1987.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
GAMES = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)


def votes(*given_votes: tuple[str, str, Verdict], pairs: list[str] | None = None) -> Votes:
    """One pair for each vote, unless they are named."""
    names = tuple(pairs or (f"p{i:03}" for i in range(len(given_votes))))
    return Votes(names, *(tuple(v[i] for v in given_votes) for i in range(3)))  # type: ignore[arg-type]


def many(a: str, b: str, wins: int, losses: int = 0, equal: int = 0, bad: int = 0) -> Votes:
    outcomes: list[Verdict] = ["a"] * wins + ["b"] * losses + ["equal"] * equal + ["both bad"] * bad
    return votes(*((a, b, outcome) for outcome in outcomes))


any_votes = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from(VERDICTS)).filter(
        lambda vote: vote[0] != vote[1]
    ),
    max_size=14,
)


# ---- rates


def test_ties_are_apart_and_all_rates_add_up() -> None:
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


def test_two_sources_that_never_met() -> None:
    found = preference_rate(many("x", "y", 3), "x", "z")
    for one in (found.wins, found.losses, found.equal, found.both_bad, found.preferred):
        assert str(one) == "undefined: x and z were never compared"


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
    once_each = votes(*(("x", "y", one) for one in outcomes))
    names = [f"p{i:03}" for i in range(20) for _ in range(6)]
    six_each = votes(*(("x", "y", one) for one in outcomes for _ in range(6)), pairs=names)
    one, six = (preference_rate(made, "x", "y").preferred for made in (once_each, six_each))
    assert (one.value, one.low, one.high) == (six.value, six.low, six.high)
    assert (one.n, six.n) == (20, 120)


def test_votes_that_cannot_be_are_refused() -> None:
    with pytest.raises(ScoresError, match="'left' is no answer; they are a, b, equal, both bad"):
        votes(("x", "y", "left"))  # type: ignore[arg-type]
    with pytest.raises(ScoresError, match="'x' is on both sides"):
        votes(("x", "x", "a"))
    with pytest.raises(ScoresError, match="lengths"):
        Votes(("p",), ("x",), ("y",), ())


# ---- strengths


def test_strengths_of_the_american_league_of_1987() -> None:
    """Differences from Baltimore, as R's BradleyTerry2 documents them for these games."""
    wins = np.array(GAMES, dtype=float)
    for found in (
        _strengths_by_choix(wins, 1e-7),
        _resampled(wins[None], 1e-7, once(1))[0],
    ):
        lead = dict(zip(TEAMS, found - found[-1], strict=True))
        assert lead["Milwaukee"] == pytest.approx(1.5814, abs=5e-4)
        assert lead["Detroit"] == pytest.approx(1.4364, abs=5e-4)
        assert lead["Toronto"] == pytest.approx(1.2945, abs=5e-4)
        assert lead["New York"] == pytest.approx(1.2476, abs=5e-4)
        assert lead["Boston"] == pytest.approx(1.1077, abs=5e-4)
        assert lead["Cleveland"] == pytest.approx(0.6839, abs=5e-4)


@given(any_votes, st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 2**32 - 1))
def test_the_strengths_of_a_resample_are_choixs(
    given_votes: list[tuple[str, str, Verdict]], alpha: float, seed: int
) -> None:
    made = votes(*given_votes)
    if not given_votes:
        return
    per_pair = _wins(made, made.sources)
    picks = np.random.default_rng(seed).integers(len(per_pair), size=(2, len(per_pair)))
    for row, ours in zip(picks, _resampled(per_pair, alpha, picks), strict=True):
        theirs = _strengths_by_choix(per_pair[row].sum(axis=0), alpha)
        np.testing.assert_allclose(ours, theirs, atol=2e-4)


def test_strongest_first_with_intervals_and_a_sum_of_nothing() -> None:
    games = [(TEAMS[i], TEAMS[j], "a") for i, row in enumerate(GAMES) for j, won in enumerate(row) for _ in range(won)]
    found = bradley_terry(votes(*games))  # type: ignore[arg-type]
    assert next(iter(found.sources)) == "Milwaukee"
    assert list(found.sources)[-1] == "Baltimore"
    assert found.caution == ""
    values = [one.value for one in found.sources.values()]
    assert sum(value for value in values if value is not None) == pytest.approx(0, abs=1e-6)
    baltimore = found.sources["Baltimore"]
    assert (baltimore.n, baltimore.detail["wins"]) == (78, 18)
    assert baltimore.low is not None
    assert baltimore.high is not None
    assert baltimore.low < (baltimore.value or 0) < baltimore.high < 0


def test_a_tie_of_either_kind_is_half_a_win_for_each() -> None:
    tied = bradley_terry(many("x", "y", 4, 2, 1, 1)).sources
    halved = bradley_terry(many("x", "y", 5, 3)).sources
    assert tied["x"].value == pytest.approx(halved["x"].value)
    assert tied["x"].detail["wins"] == 5


def test_ten_of_ten_is_finite_and_says_what_keeps_it_so() -> None:
    found = bradley_terry(many("x", "y", 10))
    assert found.sources["x"].value == pytest.approx(1.68, abs=5e-3)
    assert found.caution == (
        "x never lost to another; y never won against another: only the regularisation (0.1) keeps the strengths finite"
    )
    assert found.sources["x"].reason == found.caution


def test_groups_that_never_met_have_no_strengths() -> None:
    found = bradley_terry(votes(*[("x", "y", "a"), ("y", "x", "a"), ("v", "w", "a"), ("w", "v", "equal")] * 3))
    assert found.caution == "never compared, directly or through others: v, w | x, y"
    for one in found.sources.values():
        assert str(one) == f"undefined: {found.caution}"


def test_few_pairs_have_strengths_without_an_interval() -> None:
    found = bradley_terry(many("x", "y", 2, 1)).sources["x"]
    assert found.value is not None
    assert found.reason == "fewer than 5 pairs"


def test_nothing_compared_has_no_strengths() -> None:
    found = bradley_terry(votes())
    assert (dict(found.sources), found.caution) == ({}, "nothing was compared")


def test_regularisation_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        bradley_terry(many("x", "y", 3), alpha=0)


@given(any_votes)
def test_strengths_are_numbers_or_words(given_votes: list[tuple[str, str, Verdict]]) -> None:
    for one in bradley_terry(votes(*given_votes), resampling=QUICK).sources.values():
        assert one.value is not None or one.reason


# ---- position, order, length


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


def test_sides_are_as_many_as_pairs() -> None:
    with pytest.raises(ScoresError, match="2 pairs and 1 answers"):
        position_bias(["p", "q"], ["left"])


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
def test_what_two_orders_say_together(first: Verdict, second: Verdict, together: Verdict) -> None:
    assert in_both_orders(first, second) == in_both_orders(second, first) == together


def test_a_flip_is_not_a_waver() -> None:
    found = flip_rate(["a", "a", "b", "a", "equal", "b"], ["a", "b", "a", "equal", "b", "b"])
    assert found.value == pytest.approx(2 / 6)
    assert found.detail["flipped"] == 2
    assert found.detail["wavered"] == 2


def test_no_pairs_no_flips() -> None:
    assert str(flip_rate([], [])) == "undefined: no pair was answered in both orders"
    with pytest.raises(ScoresError, match="1 verdicts in one order, 0 in the other"):
        flip_rate(["a"], [])


def test_length_bias_is_the_share_of_longer_winners() -> None:
    found = length_bias(list("pqrstu"), ["a", "b", "a", "equal", "a", "b"], [9, 9, 2, 9, 4, 1], [1, 1, 5, 1, 4, 8])
    # Won: the longer by 8, the shorter by 8, the shorter by 3, a tie, equal lengths, the longer by 7.
    assert (found.value, found.n) == (0.5, 4)
    assert found.detail["mean_excess"] == pytest.approx((8 - 8 - 3 + 7) / 4)


@pytest.mark.parametrize(("verdict", "length"), [("equal", 9), ("a", 3)])
def test_without_a_choice_between_lengths_there_is_no_length_bias(verdict: Verdict, length: int) -> None:
    found = length_bias(["p"], [verdict], [length], [3])
    assert str(found) == "undefined: no answer chose between texts of different length"


def test_lengths_are_as_many_as_answers() -> None:
    with pytest.raises(ScoresError, match="2 lengths for 1 answers"):
        length_bias(["p"], ["a"], [1, 2], [2, 3])


def test_the_seed_is_the_resamplings() -> None:
    made = many("x", "y", 30, 20, 7)
    same, other = (
        bradley_terry(made, resampling=Resampling(seed=0)),
        bradley_terry(made, resampling=Resampling(seed=9)),
    )
    assert bradley_terry(made) == same
    assert same.sources["x"].low != other.sources["x"].low
