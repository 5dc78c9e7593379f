"""The cumulative-link mixed model: compared with statsmodels and with R's ordinal::clmm."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.miscmodels.ordinal_model import OrderedModel

from reviewer.agreement.mixed import Ratings
from reviewer.agreement.ordinal import fit_ordinal
from tests.support.scored import simulated_ratings

SPREAD = {"spectrum": 0.6, "trace": 0.5, "scorer": 0.4, "taste": 0.3, "rest": 0.7}


def test_without_random_effects_it_is_the_ordered_model_of_statsmodels() -> None:
    rng = np.random.default_rng(3)
    source = rng.integers(0, 2, 300)
    values = np.clip(np.rint(2.5 + 0.5 * source + rng.normal(0, 1.1, 300)), 0, 5)
    names = tuple(map(str, range(300)))
    found = fit_ordinal(Ratings(values, names, names, ("S1",) * 300, tuple("AB"[one] for one in source)))
    theirs = OrderedModel(values, source[:, None].astype(float), distr="logit").fit(
        method="bfgs", disp=False, gtol=1e-8
    )
    assert found.deviations == {}
    apart = found.difference("B", "A")
    assert apart.value == pytest.approx(theirs.params[0], abs=1e-4)
    assert apart.detail["standard_error"] == pytest.approx(theirs.bse[0], rel=1e-3)
    assert apart.reason == "the linear mixed model gives no degrees of freedom"
    thresholds = np.cumsum([theirs.params[1], *np.exp(theirs.params[2:])])
    assert found.thresholds == pytest.approx(thresholds, abs=1e-3)


def test_estimates_are_those_of_clmm() -> None:
    """R 4, ordinal 2022.11: clmm(y ~ source + (1|spectrum) + (1|trace) + (1|scorer) + (1|scorer:source))."""
    effect, error, deviations = 1.4743384, 0.5095779, (1.404582, 1.086157, 0.3490196, 0.6183752)
    ratings = simulated_ratings(0, spectra=40, scorers=5, missing=0.1, difference=0.3, **SPREAD)
    found = fit_ordinal(ratings)
    apart = found.difference("A", "B")
    assert apart.value == pytest.approx(effect, abs=2e-3)
    # R's is from the Hessian of all parameters; here the variances are taken as known.
    assert apart.detail["standard_error"] == pytest.approx(error, rel=0.02)
    names = ("spectrum", "trace", "scorer", "scorer by source")
    assert [found.deviations[name] for name in names] == pytest.approx(deviations, rel=5e-3)
    assert apart.low < effect


def test_scores_at_one_end_only_have_no_odds() -> None:
    ratings = simulated_ratings(1, spectra=20, scorers=3, **SPREAD)
    values = np.where([source == "A" for source in ratings.sources], 5.0, np.minimum(ratings.values, 4))
    found = fit_ordinal(Ratings(values, ratings.spectra, ratings.items, ratings.scorers, ratings.sources))
    apart = found.difference("A", "B")
    assert apart.value is None
    assert "one source are all at one end" in apart.reason or "did not converge" in apart.reason


def test_equal_scores_or_one_source_have_no_odds() -> None:
    ratings = simulated_ratings(1, spectra=12, scorers=3, **SPREAD)
    same = Ratings(np.full(len(ratings.values), 4.0), ratings.spectra, ratings.items, ratings.scorers, ratings.sources)
    assert fit_ordinal(same).difference("A", "B").reason == "every score is 4"
    assert fit_ordinal(ratings.of("A")).why_not == "there is one source only"
