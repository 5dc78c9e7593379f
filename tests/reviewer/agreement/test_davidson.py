"""Strengths of sources by Davidson's model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from agent.statistics import FloatArray, Resampling, once
from reviewer.agreement.davidson import ALPHA, TIE_ALPHA, _counts, _fitted, davidson
from reviewer.agreement.preference import Verdict, Votes
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA
from tests.support.preferences import any_votes, many, of_four_sources, panel, votes
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


def games(wins: tuple[tuple[int, ...], ...]) -> Votes:
    played: list[tuple[str, str, Verdict]] = [
        (TEAMS[i], TEAMS[j], "a") for i, row in enumerate(wins) for j, won in enumerate(row) for _ in range(won)
    ]
    return votes(*played)


def lead(made: Votes) -> float:
    found = davidson(made, resampling=QUICK).sources
    first, second = found["x"].value, found["y"].value
    return first - second


def test_strengths_of_the_american_league_of_1987() -> None:
    """Differences from Baltimore, as R's BradleyTerry2 documents them for these games."""
    made = games(GAMES)
    found = _fitted(_counts(made, TEAMS), 1e-7, once(len(made.pairs)))[0, :-1]
    against_last = dict(zip(TEAMS, found - found[-1], strict=True))
    published = dict(zip(TEAMS, (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0), strict=True))
    assert against_last == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("ties", [0, 100, 400, 1600])
def test_the_lead_is_the_log_odds_of_decided_answers_at_any_share_of_ties(ties: int) -> None:
    assert lead(many("x", "y", 300, 100, ties)) == pytest.approx(np.log(3), abs=3e-3)
    assert lead(many("x", "y", 300, 100, 0, ties)) == pytest.approx(lead(many("x", "y", 300, 100, ties)))


@given(any_votes, st.sampled_from([0.01, 0.1, 1.0]), st.integers(0, 2**32 - 1))
def test_every_resample_has_the_maximum_that_scipy_finds(given_votes, alpha, seed) -> None:
    made = votes(*given_votes)
    if not given_votes:
        return
    per_pair = _counts(made, made.sources)
    picks = np.random.default_rng(seed).integers(len(per_pair), size=(2, len(per_pair)))
    for row, computed in zip(picks, _fitted(per_pair, alpha, picks), strict=True):
        reference = by_scipy(per_pair[row].sum(axis=0), alpha)
        np.testing.assert_allclose(computed, reference, atol=1e-3)


def by_scipy(counts: FloatArray, alpha: float) -> FloatArray:
    """The maximum of Davidson's likelihood as he writes it, with the priors; without ties, log nu stays 0."""
    wins, ties = counts

    def loss(values: FloatArray) -> float:
        worth, nu = np.exp(values[:-1]), np.exp(values[-1]) if ties.any() else 0.0
        middle = np.sqrt(worth[:, None] * worth)
        total = worth[:, None] + worth + nu * middle
        likelihood = (wins * np.log(worth[:, None] / total)).sum()
        if ties.any():
            likelihood += (ties * np.log(nu * middle / total)).sum() / 2
        return float(alpha * (values[:-1] ** 2).sum() + TIE_ALPHA * values[-1] ** 2 - likelihood)

    return np.asarray(minimize(loss, np.zeros(len(wins) + 1), method="BFGS", options={"gtol": 1e-7}).x)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(3000, 1, 3000), (0, 0, 5000), (2000, 0, 1), (1, 0, 5000)])
def test_extreme_counts_converge(wins: int, losses: int, ties: int) -> None:
    made = votes(
        *[("x", "y", "a")] * wins,
        *[("x", "y", "b")] * losses,
        *[("x", "y", "equal")] * ties,
        pairs=["p"] * (wins + losses + ties),
    )
    per_pair = _counts(made, made.sources)
    x, y, log_nu = _fitted(per_pair, ALPHA, once(1))[0]
    up, down, nu = np.exp((x - y) / 2), np.exp((y - x) / 2), np.exp(log_nu)
    expected = (wins + losses + ties) * np.array([up, down, nu]) / (up + down + nu)
    # At the maximum the counts are those expected, but for the pull of the priors.
    assert (wins - losses) - (expected[0] - expected[1]) == pytest.approx(4 * ALPHA * x, abs=1e-6)
    assert ties - expected[2] == pytest.approx(2 * TIE_ALPHA * log_nu, abs=1e-6)


def test_each_of_four_sources_has_an_interval() -> None:
    found = davidson(of_four_sources()).sources
    assert len(found) == 4
    assert all(one.low is not None for one in found.values())


def test_strengths_are_sorted_have_intervals_and_sum_to_zero() -> None:
    found = davidson(games(GAMES))
    assert next(iter(found.sources)) == "Milwaukee"
    assert list(found.sources)[-1] == "Baltimore"
    assert found.caution == ""
    values = [strength.value for strength in found.sources.values()]
    assert sum(value for value in values if value is not None) == pytest.approx(0, abs=1e-6)
    baltimore = found.sources["Baltimore"]
    assert (baltimore.n, baltimore.detail["wins"], baltimore.detail["ties"]) == (78, 18, 0)
    assert baltimore.low < (baltimore.value or 0) < baltimore.high < 0


def test_a_strength_tells_wins_ties_and_its_chance() -> None:
    found = davidson(many("x", "y", 30, 10, 5, 15)).sources["x"]
    assert (found.n, found.detail["wins"], found.detail["ties"]) == (60, 30, 20)
    assert found.value is not None
    assert found.detail["chance_against_strength_0"] == pytest.approx(1 / (1 + np.exp(-found.value)))
    # 20 of 60 ties: nu / (up + down + nu) = 1/3.
    expected = (np.exp(found.value) + np.exp(-found.value)) / 2
    assert found.detail["tie_parameter"] == pytest.approx(expected, rel=0.01)


def test_few_pairs_have_strengths_without_an_interval() -> None:
    found = davidson(many("x", "y", 2, 1)).sources["x"]
    assert found.value is not None
    assert found.reason == "fewer than 10 pairs"


def test_nothing_compared_has_no_strengths() -> None:
    found = davidson(votes())
    assert (dict(found.sources), found.caution) == ({}, "nothing was compared")


def test_regularisation_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        davidson(many("x", "y", 3), alpha=0)


@given(any_votes)
def test_every_strength_is_a_number_or_has_a_reason(given_votes: list[tuple[str, str, Verdict]]) -> None:
    for strength in davidson(votes(*given_votes), resampling=QUICK).sources.values():
        assert strength.value is not None or strength.reason


def test_the_resampling_sets_the_seed() -> None:
    made = many("x", "y", 30, 20, 7)
    same, other = (davidson(made, resampling=Resampling(seed=seed)) for seed in (0, 9))
    assert davidson(made) == same
    assert same.sources["x"].low != other.sources["x"].low


def test_an_interval_for_new_scorers_is_wider_where_scorers_differ() -> None:
    made = panel([[i < 30, i % 2 == 0, i >= 30] for i in range(40)])
    new = davidson(made).sources["x"]
    same = davidson(replace(made, scorers=())).sources["x"]
    assert (new.detail["population"], same.detail["population"]) == (POPULATION_BOTH, POPULATION_SPECTRA)
    assert new.value == same.value
    # Half the standard error of the log odds (tests of preferences), a little less by the prior.
    assert new.detail["standard_error"] == pytest.approx(300**0.5 / 30 / 2, rel=0.01)
    assert new.detail["degrees_of_freedom"] == pytest.approx(2)
    assert new.low < 2 * same.low < 0


def test_the_standard_error_is_that_of_the_bootstrap_where_scorers_answer_alike() -> None:
    """With equal answers of all scorers, pairs alone vary; three sources and ties."""
    rng = np.random.default_rng(5)
    rows = [
        (*[("x", "y"), ("x", "z"), ("y", "z")][i % 3], str(rng.choice(["a", "b", "equal"], p=[0.5, 0.2, 0.3])))
        for i in range(120)
    ]
    made = votes(*[row for row in rows for _ in range(4)], pairs=[f"p{i}" for i in range(120) for _ in range(4)])  # type: ignore[arg-type]
    new = davidson(replace(made, scorers=("S1", "S2", "S3", "S4") * 120)).sources
    same = davidson(made).sources
    for source in "xyz":
        low, high = same[source].low, same[source].high
        assert new[source].detail["population"] == POPULATION_BOTH
        assert new[source].detail["standard_error"] == pytest.approx((high - low) / 3.92, rel=0.08)


def test_ten_wins_of_ten_have_a_finite_strength_and_a_caution() -> None:
    found = davidson(many("x", "y", 10))
    assert found.sources["x"].value == pytest.approx(1.68, abs=5e-3)
    assert found.caution == (
        "x never lost to another; y never won against another: only the regularisation (0.1) keeps the strengths finite"
    )
    assert found.sources["x"].reason == found.caution


def test_wins_and_ties_without_a_loss_are_one_sided_too() -> None:
    assert davidson(many("x", "y", 10, 0, 5)).caution.startswith("x never lost to another; y never won")
    assert davidson(many("x", "y", 10, 1, 5)).caution == ""
    assert davidson(many("x", "y", 0, 0, 5)).caution == ""


def test_a_one_sided_strength_is_of_these_scorers() -> None:
    found = davidson(panel([[True] * 3] * 10))
    assert found.caution
    assert found.sources["x"].detail["population"] == POPULATION_SPECTRA


@given(any_votes)
def test_a_caution_is_given_where_the_likelihood_grows_without_end(given_votes: list[tuple[str, str, Verdict]]) -> None:
    """There is a direction in which no answer becomes less likely and strengths differ: by linear programming."""
    made = votes(*given_votes)
    found = davidson(made, resampling=QUICK)
    if not found.sources or found.caution.startswith("never compared"):
        return
    wins, ties = _counts(made, made.sources).sum(axis=0)
    if not wins.any():  # ties alone: strengths do not differ
        assert found.caution == ""
        return
    n = len(made.sources)
    rows = []
    for i, j in np.argwhere(wins):
        rows.append(direction(n, j, i, 0))
        if ties.any():  # (i - j) / 2 >= log nu
            rows.append(direction(n, j, i, 2))
    for i, j in np.argwhere(ties):
        rows.append(direction(n, i, j, -2))
    fixed = [(-1.0, 1.0)] * n + [(-1.0, 1.0) if ties.any() else (0.0, 0.0)]
    spread = max(
        -linprog(-direction(n, i, j, 0), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=fixed).fun
        for i in range(n)
        for j in range(n)
        if i != j
    )
    assert bool(found.caution) == (spread > 1e-9)


def direction(n: int, plus: int, minus: int, of_nu: float) -> FloatArray:
    row = np.zeros(n + 1)
    row[plus], row[minus], row[-1] = 1, -1, of_nu
    return row


def test_groups_that_were_never_compared_have_no_strengths() -> None:
    found = davidson(votes(*[("x", "y", "a"), ("y", "x", "a"), ("v", "w", "a"), ("w", "v", "equal")] * 3))
    assert found.caution == "never compared, directly or through others: v, w | x, y"
    for strength in found.sources.values():
        assert str(strength) == f"undefined: {found.caution}"
