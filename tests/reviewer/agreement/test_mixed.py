"""The mixed model: compared with statsmodels, and what it does where there is little to estimate from."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from reviewer.agreement.mixed import Ratings, fit
from reviewer.agreement.values import POPULATION_BOTH, POPULATION_SPECTRA, ScoresError, holm
from tests.support.scored import simulated_ratings

VARIANCES = {"spectrum": 0.6, "trace": 0.5, "scorer": 0.4, "taste": 0.3, "rest": 0.7}


def by_statsmodels(ratings: Ratings) -> tuple[dict[str, float], dict[str, float], float] | None:
    """Means by source, variances, and the standard error of the difference, by MixedLM (REML); None: not converged."""
    rows = pd.DataFrame(
        {
            "y": ratings.values,
            "spectrum": ratings.spectra,
            "trace": ratings.items,
            "scorer": ratings.scorers,
            "source": ratings.sources,
            "taste": [f"{a}{b}" for a, b in zip(ratings.scorers, ratings.sources, strict=True)],
            "all": 1,
        }
    )
    parts = {name: f"0 + C({name})" for name in ("spectrum", "trace", "scorer", "taste")}
    model = smf.mixedlm("y ~ 0 + source", rows, groups="all", vc_formula=parts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(reml=True, method=["bfgs"], gtol=1e-7)
    if not found.converged or np.abs(model.score(found.params_object)[0]).max() > 0.01:
        return None
    means = {name.removeprefix("source[").removesuffix("]"): value for name, value in found.fe_params.items()}
    variances = dict(zip(model.exog_vc.names, found.vcomp, strict=True)) | {"rest": found.scale}
    covariance = found.cov_params().iloc[:2, :2].to_numpy()
    return means, variances, float(np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
def test_estimates_are_those_of_statsmodels(missing: float) -> None:
    compared = 0
    for seed in range(8):
        ratings = simulated_ratings(seed, spectra=20, scorers=4, missing=missing, **VARIANCES)
        ours = fit(ratings)
        if min(ours.components.values()) < 0.01:
            continue  # statsmodels stops at 0, and near 0 its optimiser does not arrive
        if (theirs := by_statsmodels(ratings)) is None:
            continue
        means, variances, error = theirs
        found = ours.difference("A", "B")
        assert ours.mean("A").value == pytest.approx(means["A"], abs=1e-5)
        assert found.value == pytest.approx(means["A"] - means["B"], abs=1e-5)
        names = {"scorer by source": "taste"}
        for name, value in ours.components.items():
            assert value == pytest.approx(variances[names.get(name, name)], abs=1e-4), (seed, name)
        assert found.detail["standard_error"] == pytest.approx(error, rel=3e-2)
        compared += 1
    assert compared >= 3


def test_a_complete_table_has_the_mean_squares_of_the_analysis_of_variance() -> None:
    """Two sources, every cell: the variance of the difference is that of the two-way table of differences."""
    ratings = simulated_ratings(3, spectra=30, scorers=6, **VARIANCES)
    table = np.zeros((30, 6, 2))
    for value, i, j, s in zip(ratings.values, ratings.spectra, ratings.scorers, ratings.sources, strict=True):
        table[int(i), int(j), "AB".index(s)] = value
    apart = table[:, :, 0] - table[:, :, 1]
    rows, columns, mean = apart.mean(axis=1), apart.mean(axis=0), apart.mean()
    of_rows = 6 * ((rows - mean) ** 2).sum() / 29
    of_columns = 30 * ((columns - mean) ** 2).sum() / 5
    # What is left: of the differences and of the means of both, which the model takes to have the same variance.
    both = table.mean(axis=2)
    left = both - both.mean(axis=1)[:, None] - both.mean(axis=0) + both.mean()
    rest = (((apart - rows[:, None] - columns + mean) ** 2).sum() / (29 * 5) + 4 * (left**2).sum() / (29 * 5)) / 2
    assert of_rows > rest
    found = fit(ratings).difference("A", "B")
    assert found.value == pytest.approx(mean)
    assert found.detail["standard_error"] ** 2 == pytest.approx((of_rows + of_columns - rest) / (30 * 6), rel=1e-4)


def test_these_scorers_are_less_uncertain_than_scorers_like_these() -> None:
    ratings = simulated_ratings(5, spectra=40, scorers=5, **VARIANCES)
    anew, these = fit(ratings), fit(ratings, these_scorers=True)
    wide, narrow = anew.difference("A", "B"), these.difference("A", "B")
    assert wide.value == pytest.approx(narrow.value)
    assert (wide.detail["population"], narrow.detail["population"]) == (POPULATION_BOTH, POPULATION_SPECTRA)
    assert width(wide) > width(narrow)
    by_scorer = [these.difference_by(scorer, "A", "B").value for scorer in sorted(set(ratings.scorers))]
    assert np.mean([one for one in by_scorer if one is not None]) == pytest.approx(narrow.value)
    assert sum(these.severity(scorer).value or 0 for scorer in set(ratings.scorers)) == pytest.approx(0, abs=1e-9)


def test_equivalence_needs_the_whole_interval_within_the_margin() -> None:
    found = fit(simulated_ratings(7, spectra=60, scorers=6, **{**VARIANCES, "taste": 0.0}))
    assert found.equivalence("A", "B", 5.0).detail["equivalent"] is True
    assert found.equivalence("A", "B", 0.01).detail["equivalent"] is False


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (lambda r: [scorer in "01" for scorer in r.scorers], "found 2 scorers, expected 3 or more"),
        (lambda r: [int(spectrum) < 9 for spectrum in r.spectra], "fewer than 10 spectra"),
    ],
)
def test_too_little_has_a_value_and_no_interval(kept, why: str) -> None:
    found = fit((ratings := simulated_ratings(1, spectra=20, scorers=4, **VARIANCES)).only(kept(ratings)))
    apart = found.difference("A", "B")
    assert apart.value is not None
    assert (apart.low, apart.reason) == (None, why)


def test_a_scorer_without_a_source_has_no_place_among_these_scorers() -> None:
    ratings = simulated_ratings(1, spectra=20, scorers=4, **VARIANCES)
    partly = ratings.only([not (a == "0" and b == "A") for a, b in zip(ratings.scorers, ratings.sources, strict=True)])
    assert "no score of one of the sources" in fit(partly, these_scorers=True).mean("A").reason
    assert fit(partly).mean("A").low is not None


def test_constant_scores_and_no_scores() -> None:
    spectra, items, scorers = ([str(i // n % m) for i in range(40)] for n, m in ((1, 20), (1, 40), (20, 2)))
    same = Ratings(np.full(40, 4.0), tuple(spectra), tuple(items), tuple(scorers), ("A",) * 40)
    found = fit(same).mean("A")
    assert (found.value, found.reason) == (4.0, "every score is 4")
    with pytest.raises(ScoresError, match="found no score"):
        fit(Ratings(np.zeros(0), (), (), (), ()))
    with pytest.raises(ScoresError, match="not a finite number"):
        Ratings(np.array([np.nan]), ("a",), ("a",), ("a",), ("a",))
    with pytest.raises(ScoresError, match="they must be the same"):
        Ratings(np.zeros(2), ("a",), ("a",), ("a",), ("a",))


@pytest.mark.parametrize("spectra", [1, 12])
def test_as_many_means_as_scores_leave_nothing_for_an_interval(spectra: int) -> None:
    """Each scorer has one score of each source."""
    rows = [(f"s{i % spectra}", f"s{i % spectra}/{source}", f"j{i}", source) for i in range(12) for source in "AB"]
    found = fit(Ratings(np.arange(24) % 5, *map(tuple, zip(*rows, strict=True))), these_scorers=True)
    apart = found.difference("A", "B")
    assert (apart.low, apart.reason) == (None, "each mean is of one score")
    assert found.severity("j0").low is None
    assert not found.components


def test_sources_on_different_spectra_are_compared_too() -> None:
    ratings = simulated_ratings(9, spectra=60, scorers=5, **VARIANCES)
    split = ratings.only([(int(i) < 30) == (s == "A") for i, s in zip(ratings.spectra, ratings.sources, strict=True)])
    apart = fit(split)
    assert "trace" in apart.components
    assert "spectrum" not in apart.components
    assert width(apart.difference("A", "B")) > width(fit(ratings).difference("A", "B"))


def test_holm_adjusts_by_rank_and_never_below_a_smaller_one() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx((0.06, 0.03, 0.06))
    assert holm([]) == ()
    assert holm([0.6, 0.9]) == (1.0, 1.0)


def width(one: object) -> float:
    return one.high - one.low  # type: ignore[attr-defined]
