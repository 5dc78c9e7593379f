"""Prevalence, YES among the unflagged and recall: coverage at any time, with and without the ordered queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.trust.estimates import Estimates, Share, estimates
from agent.trust.plans import Plan, choose
from agent.trust.sides import Labelled, Requirements
from agent.trust.triage import plan

CASES, LABELS, FLAGGED = 300, 60, 0.5
STOPS = (20, LABELS)
WANTED = Requirements(method="anytime")
SETTINGS = ((0.2, 0.0), (0.1, 2.0), (0.1, -2.0))
"""Prevalence, and what is added to the log odds of P(YES)."""


def a_list(seed: int, prevalence: float, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return P(YES) and labels of a list."""
    rng = np.random.default_rng(seed)
    yes = rng.random(CASES) < prevalence
    log_odds = rng.normal(np.where(yes, 2.0, -2.0), 2.0) + np.log(prevalence / (1 - prevalence)) + shift
    return 1 / (1 + np.exp(-log_odds)), yes


def campaign(p: np.ndarray, yes: np.ndarray, seed: int, ordered: bool) -> Labelled:
    """Return the labels in their order: uniform, or chosen by plans that depend on the labels before."""
    rng = np.random.default_rng([seed, 1])
    if not ordered:
        uniform = rng.permutation(len(p))[:LABELS]
        return Labelled(p[uniform], yes[uniform])
    waiting, order = list(range(len(p))), list[int]()
    shown: list[Plan] = []
    for number in range(LABELS):
        if number % 20 == 0:
            made = plan(p[waiting], Labelled(p[order], yes[order], tuple(shown)), WANTED)
        else:
            made = counted(made, p[waiting])
        index, _, _ = choose(made, p[waiting], rng)
        order.append(waiting.pop(index))
        shown.append(made)
    return Labelled(p[order], yes[order], tuple(shown))


def counted(made: Plan, waiting_p: np.ndarray) -> Plan:
    """Return the plan with the cases that still wait."""
    counts = np.bincount(made.stratum_of(waiting_p), minlength=len(made.strata))
    total = sum(s.probability for s, n in zip(made.strata, counts, strict=True) if n)
    strata = tuple(
        replace(s, waiting=int(n), probability=s.probability / total if n and total else 0.0)
        for s, n in zip(made.strata, counts, strict=True)
    )
    return replace(made, strata=strata)


def first(labelled: Labelled, n: int) -> Labelled:
    """Return the first n labels."""
    return Labelled(labelled.p[:n], labelled.yes[:n], labelled.shown[:n])


def truth(p: np.ndarray, yes: np.ndarray) -> tuple[float, float, float]:
    """Return prevalence, share of YES among the unflagged, and recall of a list."""
    flagged = p >= FLAGGED
    return float(yes.mean()), float(yes[~flagged].mean()), float(yes[flagged].sum() / yes.sum())


def shares(found: Estimates) -> tuple[Share, Share, Share]:
    return found.prevalence, found.unflagged, found.recall


def missed(prevalence: float, shift: float, ordered: bool, repeats: int, delta: float) -> np.ndarray:
    """Return for each share the number of repeats in which an interval leaves out the truth after any of the stops."""
    count = np.zeros(3, dtype=int)
    for seed in range(repeats):
        p, yes = a_list(seed, prevalence, shift)
        labelled, true = campaign(p, yes, seed, ordered), truth(p, yes)
        outside = np.zeros(3, dtype=bool)
        for stop in STOPS:
            intervals = shares(estimates(first(labelled, stop), p, FLAGGED, delta))
            outside |= [
                not share.low - 1e-9 <= value <= share.high + 1e-9 for share, value in zip(intervals, true, strict=True)
            ]
        count += outside
    return count


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("prevalence", "shift"), SETTINGS)
def test_the_intervals_hold_the_truth_after_all_labels_together(prevalence: float, shift: float, ordered: bool) -> None:
    count = missed(prevalence, shift, ordered, repeats=20, delta=0.2)
    # With a true probability of 0.2, more than 9 of 20 happen once in 400 times.
    assert (count <= 9).all(), count


@pytest.mark.parametrize("ordered", [False, True])
def test_the_estimate_is_right_on_average_although_p_yes_is_wrong(ordered: bool) -> None:
    errors, by_p_yes = [], []
    for seed in range(30):
        p, yes = a_list(seed, 0.15, 1.5)
        found = estimates(campaign(p, yes, seed, ordered), p, FLAGGED)
        assert found.prevalence.value is not None
        errors.append(found.prevalence.value - yes.mean())
        by_p_yes.append(p.mean() - yes.mean())
    assert np.mean(by_p_yes) > 0.05
    assert abs(np.mean(errors)) < 0.03


def test_intervals_become_shorter_and_keep_what_is_known() -> None:
    p, yes = a_list(3, 0.2)
    labelled = campaign(p, yes, 3, ordered=False)
    found = [estimates(first(labelled, stop), p, FLAGGED).prevalence for stop in STOPS]
    widths = [one.high - one.low for one in found]
    assert widths[1] < widths[0] < 1
    everything = estimates(Labelled(p, yes), p, FLAGGED)
    for share, true in zip(shares(everything), truth(p, yes), strict=True):
        assert (share.value, share.low, share.high) == pytest.approx((true, true, true))


def test_without_a_label_nothing_is_known() -> None:
    found = estimates(Labelled(np.zeros(0), np.zeros(0, dtype=bool)), np.array([0.1, 0.9]), FLAGGED)
    assert (found.prevalence.value, found.prevalence.low, found.prevalence.high) == (None, 0.0, 1.0)
    assert (found.recall.value, found.recall.low, found.recall.high) == (None, 0.0, 1.0)


@pytest.mark.parametrize(("p", "recall"), [(0.9, 1.0), (0.1, 0.0)])
def test_recall_is_known_where_all_or_none_of_the_cases_are_called_yes(p: float, recall: float) -> None:
    pool = np.full(30, p)
    found = estimates(Labelled(pool[:10], np.arange(10) < 6), pool, FLAGGED).recall
    assert found.value == recall
    assert found.low <= recall <= found.high
