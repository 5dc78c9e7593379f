"""Exact bounds against their definitions and scipy; processes keep δ under the hypothesis, with and without weights."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy.stats import binomtest

from agent.trust.anytime import labels_to_go, upper_limit
from agent.trust.bounds import (
    ALTERNATIVES,
    RiskProcess,
    binomial_p_value,
    labels_needed,
    log_factors,
    mixed,
    upper_bound,
)


@pytest.mark.parametrize(("errors", "n", "limit"), [(0, 59, 0.05), (3, 40, 0.1), (7, 7, 0.3)])
def test_p_value_is_the_sum_of_its_terms(errors: int, n: int, limit: float) -> None:
    terms = [comb(n, k) * limit**k * (1 - limit) ** (n - k) for k in range(errors + 1)]
    assert binomial_p_value(errors, n, limit) == pytest.approx(sum(terms))


def test_known_values_and_refusals_of_the_bounds() -> None:
    assert binomial_p_value(0, 0, 0.05) == 1
    assert upper_bound(0, 0, 0.05) == 1
    assert [labels_needed(0.05, 0.05, errors) for errors in range(4)] == [59, 93, 124, 153]
    with pytest.raises(ValueError, match="found limit 0 and delta"):
        labels_needed(0, 0.05)
    with pytest.raises(ValueError, match="found a weight of 3, expected 0 to the largest weight, 2"):
        RiskProcess(0.05, 2).add(False, 3)


@pytest.mark.parametrize(("errors", "n"), [(0, 59), (1, 93), (5, 50), (50, 50)])
def test_the_upper_bound_is_that_of_scipy(errors: int, n: int) -> None:
    exact = binomtest(errors, n).proportion_ci(0.9, "exact")  # two-sided 90 %: its upper end is one-sided 95 %
    assert upper_bound(errors, n, 0.05) == pytest.approx(exact.high)


@pytest.mark.parametrize(("limit", "delta", "errors"), [(0.01, 0.05, 0), (0.2, 0.01, 3), (0.5, 0.4, 0)])
def test_labels_needed_is_the_smallest_number(limit: float, delta: float, errors: int) -> None:
    n = labels_needed(limit, delta, errors)
    assert upper_bound(errors, n, delta) <= limit < upper_bound(errors, n - 1, delta)


def test_a_process_needs_72_labels_without_an_error() -> None:
    process = RiskProcess(0.05)
    for _ in range(71):
        process.add(False)
    assert process.highest < 20
    process.add(False)
    assert process.highest == process.value >= 20
    process.add(True)
    assert process.value < 20 <= process.highest


def test_a_process_is_a_likelihood_ratio_without_weights() -> None:
    process, errors = RiskProcess(0.1), (False, True, False, False)
    for error in errors:
        process.add(error)
    ratios = [np.prod([a / 0.1 if error else (1 - a) / 0.9 for error in errors]) for a in 0.1 * ALTERNATIVES]
    assert process.value == pytest.approx(np.mean(ratios))


def paths(errors: np.ndarray, weights: np.ndarray, limit: float, largest: float) -> np.ndarray:
    """Highest value of each path, (paths,)."""
    return np.exp(mixed(np.cumsum(log_factors(errors, weights, limit, largest), axis=1)).max(axis=1))


@pytest.mark.parametrize("limit", [0.02, 0.05, 0.2])
def test_a_process_exceeds_1_over_delta_with_probability_delta_at_most(limit: float) -> None:
    rng = np.random.default_rng(3)
    errors = rng.random((4000, 1000)) < limit
    crossed = (paths(errors, np.ones(errors.shape), limit, 1.0) >= 20).mean()
    assert 0.01 < crossed < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)


def test_a_weighted_process_keeps_delta() -> None:
    """Half of the region has 10 % errors and is chosen with probability 0.2, the other half none."""
    rng = np.random.default_rng(4)
    risky = rng.random((4000, 600)) < 0.2
    errors = risky & (rng.random(risky.shape) < 0.1)
    weights = np.where(risky, 0.5 / 0.2, 0.5 / 0.8)
    assert (paths(errors, weights, 0.05, 2.5) >= 20).mean() < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    unweighted = (paths(errors, np.ones(errors.shape), 0.05, 1.0) >= 20).mean()
    assert unweighted > 0.5  # without weights the bound would be wrong


def test_a_weighted_process_has_power() -> None:
    rng = np.random.default_rng(5)
    risky = rng.random((500, 600)) < 0.2
    errors = risky & (rng.random(risky.shape) < 0.01)
    assert (paths(errors, np.where(risky, 2.5, 0.625), 0.05, 2.5) >= 20).mean() > 0.95


def test_labels_to_go_brings_the_process_to_the_bound() -> None:
    start = np.zeros(len(ALTERNATIVES))
    assert np.ceil(labels_to_go(start, 0.05, 0.05)) == 72
    after = start + log_factors(True, 1.0, 0.05, 1.0)
    more = int(np.ceil(labels_to_go(after, 0.05, 0.05)))
    step = log_factors(False, 1.0, 0.05, 1.0)
    assert mixed(after + more * step) >= np.log(20) > mixed(after + (more - 1) * step)
    assert labels_to_go(start, 0.05, 0.05, error_rate=0.2) == np.inf


def test_the_upper_limit_that_is_valid_at_any_time() -> None:
    def highest(limit: float) -> float:
        return float(mixed(72 * log_factors(False, 1.0, limit, 1.0)))

    assert upper_limit(highest, 0.05) == pytest.approx(0.05, abs=0.0005)
    assert upper_limit(highest, 0.05) > upper_bound(0, 72, 0.05)
