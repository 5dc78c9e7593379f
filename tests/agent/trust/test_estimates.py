"""Prevalence, YES among the unflagged and recall: coverage at any time, with and without the ordered queue."""

from __future__ import annotations

import numpy as np
import pytest

from agent.trust.certify import Labelled
from agent.trust.estimates import estimates
from tests.benchmarks.trust.estimates import FLAGGED, SETTINGS, STOPS, a_list, campaign, first, missed, shares, truth


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("prevalence", "shift"), SETTINGS)
def test_the_intervals_hold_the_truth_after_all_labels_together(prevalence: float, shift: float, ordered: bool) -> None:
    count, _ = missed(prevalence, shift, ordered, repeats=20, delta=0.2)
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
    for one, true in zip(shares(everything), truth(p, yes), strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((true, true, true))


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
