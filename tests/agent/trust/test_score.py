"""P(YES): models and calibration against scikit-learn, choice by cross-validated log loss, JSON form."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

import agent.trust.score as module
from agent.statistics import wilson
from agent.trust.features import Features
from agent.trust.reliability import reliability
from agent.trust.score import RAW, Fit, ScoreError, ScoreModel, fit, log_loss, logistic


def sample(n: int, slope: float, seed: int = 0, **more) -> tuple[list[Features], list[bool], list[str]]:
    """Cases whose log odds of YES are ``slope`` times those that the policy gives."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 2, n)
    labels = rng.random(n) < 1 / (1 + np.exp(-slope * odds))
    return [Features(answer=float(x), **more) for x in odds], labels.tolist(), [f"s{at}" for at in range(n)]


def test_raw_is_the_logistic_function_and_log_loss_limits_certainty() -> None:
    assert RAW.p_yes(Features(vote=5.0, answer=1.0)) == pytest.approx(1 / (1 + math.exp(-1)))
    assert RAW.p_yes(Features(vote=-1.0)) == pytest.approx(1 / (1 + math.exp(1)))
    assert RAW.p_yes(Features()) == 0.5
    assert log_loss(np.array([0.0, 1.0]), np.array([True, True])) == pytest.approx(-math.log(1e-6) / 2, rel=1e-3)


@given(st.floats(-1e6, 1e6))
def test_the_logistic_function_has_no_overflow(x: float) -> None:
    assert 0 <= logistic(x) <= 1
    assert logistic(x) + logistic(-x) == pytest.approx(1)


@pytest.mark.parametrize(("n", "yes", "fitted"), [(30, 9, False), (30, 10, True), (14, 10, False)])
def test_too_few_labels_are_not_fitted_and_it_says_so(n: int, yes: int, fitted: bool) -> None:
    features, _, groups = sample(n, 1.0)
    found = fit(features, [at < yes for at in range(n)], groups)
    assert (found.model.kind != "raw") == fitted
    if not fitted:
        assert found.why == f"not fitted: {yes} spectra are YES and {n - yes} are NO; a fit needs 10 of each"
        assert found.cross_fitted == pytest.approx([RAW.p_yes(feature) for feature in features])


def test_cases_of_one_spectrum_do_not_count_as_many() -> None:
    features, _, _ = sample(60, 1.0)
    found = fit(features, [at < 30 for at in range(60)], ["a" if at < 30 else f"b{at}" for at in range(60)])
    assert found.model is RAW


def test_overconfident_log_odds_are_scaled_down() -> None:
    features, labels, groups = sample(2000, 0.3)
    found = fit(features, labels, groups)
    assert found.model.kind in ("scaled", "logistic")
    p = found.model.p_yes(Features(answer=4.0))
    assert p == pytest.approx(logistic(1.2), abs=0.05)
    assert found.log_loss[found.model.kind] < found.log_loss["raw"] - 0.02
    assert found.log_loss[found.model.kind] == pytest.approx(sklearn_log_loss(labels, found.cross_fitted))


def test_a_step_is_fitted_by_an_isotonic_model() -> None:
    rng = np.random.default_rng(1)
    odds = rng.normal(0, 3, 1500)
    labels = rng.random(1500) < np.where(odds > 3, 0.95, np.where(odds > -3, 0.5, 0.05))
    found = fit([Features(answer=float(x)) for x in odds], labels.tolist(), [str(x) for x in odds])
    assert found.model.kind == "isotonic"
    assert found.model.p_yes(Features(answer=0.0)) == pytest.approx(0.5, abs=0.1)


def test_other_features_count_where_they_tell_more() -> None:
    rng = np.random.default_rng(2)
    labels = rng.random(600) < 0.5
    features = [
        Features(vote=float(rng.normal()), agreeing=int(rng.poisson(4 if yes else 1)), contradicting=1)
        for yes in labels
    ]
    found = fit(features, labels.tolist(), [str(at) for at in range(600)])
    assert (found.model.kind, found.model.uses_claims) == ("logistic", True)
    # The number of claims that contradict never differs, so it has no weight.
    assert {term.name for term in found.model.terms} == {"vote", "agreeing"}


def test_a_missing_value_has_its_own_weight() -> None:
    rng = np.random.default_rng(3)
    labels = rng.random(800) < 0.5
    # The S/N is missing mostly for NO, and says nothing else.
    features = [Features(vote=0.0, log_snr=None if rng.random() < (0.1 if yes else 0.9) else 1.0) for yes in labels]
    found = fit(features, labels.tolist(), [str(at) for at in range(800)])
    assert found.model.kind == "logistic"
    assert found.model.p_yes(Features(vote=0.0)) < 0.2
    assert found.model.p_yes(Features(vote=0.0, log_snr=1.0)) > 0.8


def test_the_applied_model_is_that_of_scikit_learn() -> None:
    features, labels, _ = sample(300, 0.8, coverage=1.0)
    x = np.array([feature.answer for feature in features])
    made = module._fitted("scaled", features, np.array(labels))
    z = ((x - x.mean()) / x.std())[:, None]
    expected = LogisticRegression(C=1.0).fit(z, labels).predict_proba(z)[:, 1]
    assert [made.p_yes(feature) for feature in features] == pytest.approx(expected, abs=1e-4)
    made = module._fitted("isotonic", features, np.array(labels))
    other = IsotonicRegression(y_min=1 / 302, y_max=301 / 302, out_of_bounds="clip").fit(x, labels)
    wider = np.linspace(-20, 20, 400)
    assert [made.p_yes(Features(answer=value)) for value in wider] == pytest.approx(other.predict(wider))


def test_no_case_is_scored_by_a_model_that_saw_its_spectrum() -> None:
    # Five cases per spectrum, labels without any relation to the features: within folds that split a spectrum,
    # a model could learn the label of a spectrum from its feature value.
    rng = np.random.default_rng(4)
    spectra = [f"s{at // 5}" for at in range(400)]
    labels = [bool(value) for value in np.repeat(rng.random(80) < 0.5, 5)]
    features = [Features(answer=float(value)) for value in np.repeat(rng.normal(0, 1, 80), 5)]
    for train, test in module._folds(np.array(labels), spectra, seed=0):
        assert not {spectra[at] for at in train} & {spectra[at] for at in test}
    found = fit(features, labels, spectra)
    assert min(loss for kind, loss in found.log_loss.items() if kind != "raw") > 0.65


def test_the_same_seed_gives_the_same_model() -> None:
    given = sample(200, 0.5)
    assert fit(*given, seed=1).model.sha256 == fit(*given, seed=1).model.sha256
    assert isinstance(fit(*given), Fit)


@pytest.mark.parametrize("kind", ["scaled", "logistic", "isotonic"])
def test_the_json_form_is_plain_and_read_back(kind) -> None:
    features, labels, _ = sample(200, 0.8)
    made = module._fitted(kind, features, np.array(labels))
    back = ScoreModel.from_json(json.loads(json.dumps(made.to_json())))
    assert back == made
    assert back.sha256 == made.sha256 != RAW.sha256
    assert [back.p_yes(feature) for feature in features] == [made.p_yes(feature) for feature in features]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"schema": "x"}, r"score\.schema: found 'x'"),
        ({"kind": "forest"}, r"score\.kind: found 'forest', expected one of raw, scaled, logistic, isotonic"),
        ({"kind": "isotonic"}, r"score\.knots: found none"),
        ({"knots": [[1, 0.5], [0, 0.7]]}, r"score\.knots: found log odds that decrease"),
        ({"knots": [[1, 1.5]]}, r"score\.knots: found P\(YES\) 1\.5"),
        ({"terms": [["mass", 0, 1, 1, 0]]}, r"score\.terms: found"),
        ({"terms": [["vote", 0, 0, 1, 0]]}, "found a scale of 0 for vote"),
        ({"intercept": None}, r"score\.intercept: found None"),
    ],
)
def test_a_wrong_field_is_refused_with_its_name(changed: dict, words: str) -> None:
    with pytest.raises(ScoreError, match=words):
        ScoreModel.from_json(RAW.to_json() | changed)


def test_values_by_hand() -> None:
    p, labels = [0.12, 0.18, 0.95, 0.95], [True, False, True, True]
    found = reliability(p, labels, ["a", "b", "c", "d"])
    assert found.ece == pytest.approx(0.5 * abs(0.5 - 0.15) + 0.5 * abs(1 - 0.95))
    assert found.brier == pytest.approx(brier_score_loss(labels, p))
    assert [one.n for one in found.bins] == [0, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert found.bins[1].interval == wilson(0.5, 2)
    assert found.bins[0].interval is None
    # Four spectra are too few for an interval.
    assert (found.spectra, found.interval) == (4, None)
    json.dumps(found.to_json(), allow_nan=False)


def test_no_case_is_an_error() -> None:
    with pytest.raises(ValueError, match="found no case"):
        reliability([], [], [])


@pytest.mark.parametrize("slope", [1.0, 0.5])
def test_the_interval_holds_the_true_error_in_most_samples(slope: float) -> None:
    def probabilities(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        odds = rng.normal(0, 2, n)
        return 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-slope * odds))

    p, truth = probabilities(np.random.default_rng(0), 500_000)
    bins = np.minimum((p * 10).astype(int), 9)
    true = sum(abs((truth - p)[bins == at].sum()) for at in range(10)) / len(p)
    held = higher = 0
    for seed in range(100):
        rng = np.random.default_rng([1, seed])
        p, truth = probabilities(rng, 200)
        found = reliability(p, (rng.random(200) < truth).tolist(), [str(at) for at in range(200)], 200, seed)
        held += found.interval[0] <= true <= found.interval[1]
        higher += found.ece > found.high_by_chance
    assert held >= 82
    assert higher <= 12 if slope == 1.0 else higher >= 50


def test_cases_of_one_spectrum_are_resampled_together() -> None:
    rng = np.random.default_rng(5)
    p = np.repeat(rng.uniform(0.2, 0.8, 40), 10)
    labels = np.repeat(rng.random(40) < 0.5, 10).tolist()
    together = reliability(p, labels, [str(at // 10) for at in range(400)])
    apart = reliability(p, labels, [str(at) for at in range(400)])
    assert together.ece == apart.ece
    assert together.by_chance > 2 * apart.by_chance
