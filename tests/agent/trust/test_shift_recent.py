"""Comparison of the latest labels with all earlier ones: level, exact p-values, state, the alarm."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import fisher_exact

from agent.trust.recent import STEP, WINDOW, Recent, number_of_test, share
from agent.trust.shift import ShiftMonitor


def test_tests_are_made_after_fixed_numbers_of_labels_with_shares_that_add_up_to_one() -> None:
    total = sum(share(number) for number in range(20_000))
    assert 0.999 < total < 1
    assert all(share(number) > share(number + 1) > 0 for number in range(100))
    made = [count for count in range(WINDOW + 3 * STEP) if number_of_test(count) is not None]
    assert made == [WINDOW, WINDOW + STEP, WINDOW + 2 * STEP]


def test_p_values_are_those_of_fisher() -> None:
    rng = np.random.default_rng(1)
    labels = rng.random(WINDOW + 2 * STEP) < 0.15
    recent = Recent(300, 24, 0.01)
    for error in labels:
        recent.add(bool(error))
    window, before = labels[-WINDOW:], labels[:-WINDOW]
    errors = int(window.sum())
    earlier = 24 + int(before.sum())
    table = [[errors, WINDOW - errors], [earlier, 300 + len(before) - earlier]]
    assert recent.p_value == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    assert (recent.n_before, recent.errors_before) == (300 + len(before), earlier)


def test_rejections_without_a_change_are_at_most_the_level() -> None:
    """A large level, so that a wrong share or p-value would show in 400 runs."""
    rng = np.random.default_rng(2)
    level, runs, rejected = 0.4, 400, 0
    for _ in range(runs):
        rate = rng.uniform(0.05, 0.4)
        recent = Recent(100, int(rng.binomial(100, rate)), level)
        for error in rng.random(400) < rate:
            recent.add(bool(error))
        rejected += recent.capital >= 1 / level
    assert 0.1 * runs < rejected < level * runs  # the first five tests have 0.64 of the level


def test_a_moderate_change_is_found_and_dated() -> None:
    rng = np.random.default_rng(3)
    old = rng.random(1000) < 0.5
    p = np.where(old, 0.95, 0.05)
    watch = ShiftMonitor(p, None, None, calibration_yes=old ^ (rng.random(1000) < 0.1))
    for case in range(500):
        yes = bool(rng.random() < 0.5)
        wrong = case % 20 < (1 if case < 300 else 4)  # 5 %, then 20 %
        watch.add_label(0.95 if yes else 0.05, yes ^ wrong, f"day {case + 1}")
        if watch.alarm is not None:
            break
    alarm = watch.alarm
    assert alarm is not None
    assert alarm.by == "recent labels"
    assert 300 < alarm.count <= 500
    assert alarm.count % STEP == 0
    assert 290 <= alarm.since <= 345
    assert alarm.since_at == f"day {alarm.since}"
    assert f"of the last {WINDOW} newly decided cases have the label that P(YES) calls less probable" in alarm.text
    assert "p-value" in alarm.text
    assert alarm.e_value >= alarm.needed


@pytest.mark.parametrize("cut", [0, 120, 200, 260])
def test_saved_state_continues(cut: int) -> None:
    errors = np.random.default_rng(4).random(420) < 0.2
    whole, part = Recent(100, 5, 0.02), Recent(100, 5, 0.02)
    for case, error in enumerate(errors):
        if case == cut:
            part = Recent.from_json(json.loads(json.dumps(part.to_json())), 0.02)
        whole.add(bool(error))
        part.add(bool(error))
    assert whole.to_json() == part.to_json()
    assert (whole.since, whole.log_value) == (part.since, part.log_value)


def test_a_window_of_another_length_is_refused() -> None:
    state = {**Recent(10, 1, 0.02).to_json(), "count": 7}
    with pytest.raises(ValueError, match="0 labels in the window, 7 expected"):
        Recent.from_json(state, 0.02)
