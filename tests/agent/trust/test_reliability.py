"""Calibration of P(YES): values by hand, and how often the interval holds the true error."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from agent.statistics import wilson
from agent.trust.reliability import reliability


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
