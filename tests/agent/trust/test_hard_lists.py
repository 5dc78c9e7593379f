"""Short lists labelled to their end, and lists whose error rate is close to the limit: bounds must hold there too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from agent.statistics import FloatArray
from agent.trust.anytime import missed_logarithms
from agent.trust.certify import certify
from agent.trust.plans import Plan, Stratum
from agent.trust.sides import Labelled, Requirements


def plans(n: int) -> tuple[Plan, ...]:
    """Return the plans of a list of n cases that is labelled to its end; all have P(YES) of at least 0.5."""
    return tuple(Plan((Stratum(0.0, 0.5, 0, 0.0), Stratum(0.5, 1.0, n - before, 1.0)), 0.2) for before in range(n))


def test_wrong_labels_do_not_raise_the_limit_of_a_list_that_is_labelled_to_its_end() -> None:
    """With 10 % wrong labels in a list of 300, the share of measured errors is below the expected one half of the time.

    If that was taken as evidence, nearly half of the lists would get a wrong certificate.
    """
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        yes = rng.permutation(300) >= 16  # 5.3 % are NO, and the limit is 5 %
        measured = yes ^ (rng.random(300) < 0.1)
        labelled = Labelled(np.full(300, 0.99), measured, plans(300))
        wanted = Requirements(method="anytime", label_noise=0.1)
        wrong += certify(labelled, labelled.p, wanted)[0].threshold is not None
    # With a probability of 0.05, more than 6 of 40 happen once in 300 times.
    assert wrong <= 6


@pytest.mark.parametrize("errors_first", [1, 2])
def test_missed_objects_found_early_leave_each_factor_with_a_mean_of_at_most_one(errors_first: int) -> None:
    """After missed objects the next label of a list on the limit: the mean over the waiting cases is at most 1."""
    n, limit = 60, 0.2
    # 15 YES objects, 3 of which are called NO: exactly the limit.
    p = np.where(np.arange(n) < 3, 0.1, 0.9)
    yes = np.arange(n) < 15
    shown = tuple(
        Plan((Stratum(0.0, 0.5, int((p[i:] < 0.5).sum()), 0.5 * (i < 3)), Stratum(0.5, 1.0, n - max(i, 3), 1.0)), 1.0)
        for i in range(errors_first + 1)
    )
    factors = []
    for case in range(errors_first, n):
        order = [*range(errors_first), case]
        logs = missed_logarithms(p[order], yes[order], shown, np.array([0.5]), limit)
        assert np.isfinite(logs).all()
        factors.append(np.exp(logs[-1, 0] - logs[-2, 0]))
    assert (np.mean(factors, axis=0) <= 1 + 1e-12).all()


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
