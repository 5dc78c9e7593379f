"""Lists whose error rate is close to the limit, or does not rise with the threshold: bounds must hold there too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from agent.statistics import FloatArray
from agent.trust.certify import Labelled, Requirements, certify

LIMIT = DELTA = 0.05

RATES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "just above the limit everywhere": lambda u: np.full(len(u), 0.0501),
    "too high among the most certain, right on average": lambda u: np.where(u < 0.3, 0.12, 0.021),
    "up and down around the limit": lambda u: 0.05 + 0.02 * np.sign(np.sin(12 * np.pi * u)),
    "too high at both ends": lambda u: np.where(u < 0.3, 0.1, np.where(u < 0.6, 0.01, 0.09)),
    "through the limit": lambda u: 0.13 * u,
}
"""Error rate of YES of a case at the quantile u of P(YES), 0 for the most certain."""


@pytest.mark.parametrize("rate", RATES.values(), ids=RATES.keys())
@pytest.mark.parametrize(
    ("method", "labels", "repeats", "allowed"),
    # More than "allowed" wrong certificates happen once in 600 times or less if their probability is δ.
    [("fixed", 250, 100, 12), ("anytime", 120, 40, 7)],
)
def test_wrong_certificates_are_at_most_delta(rate, method, labels, repeats, allowed):
    """P(YES) is close to 1 for most cases, so it predicts few errors, and labels decide which threshold passes."""
    wrong = 0
    rng = np.random.default_rng(7)
    for _ in range(repeats):
        u = rng.random(500)
        p, errors = 1 - 0.5 * u**4, rate(u)
        yes = rng.random(len(u)) >= errors
        side = certify(Labelled(p[:labels], yes[:labels]), p, Requirements(LIMIT, LIMIT, DELTA, method=method))[0]
        if side.threshold is not None:
            inside = p >= side.threshold
            wrong += bool(errors[inside].mean() > LIMIT)
    assert wrong <= allowed
