"""Tests that suspend a certificate: fair bets, valid p-values, alarms, the latest labels, a state that continues."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import fisher_exact, kstest

from agent.trust.martingale import HALF_SPENT, RESERVE, Bets, Ranks, error_factors, label_factors, score_factors
from agent.trust.recent import STEP, WINDOW, Recent, number_of_test, share
from agent.trust.shift import SHARES, ShiftError, ShiftMonitor

YES, NO = (0.9, 0.05), (0.1, 0.05)


def cases(rng: np.random.Generator, n: int, error: float = 0.02) -> tuple[np.ndarray, np.ndarray]:
    """P(YES) beyond both thresholds, and labels of which a share is wrong."""
    high = rng.random(n) < 0.5
    p = np.where(high, 0.9 + 0.1 * rng.random(n), 0.1 * rng.random(n))
    return p, high ^ (rng.random(n) < error)


def monitor(seed: int = 0, **settings) -> ShiftMonitor:
    p, yes = cases(np.random.default_rng(seed), 400)
    return ShiftMonitor(p, YES, NO, calibration_yes=yes, **settings)


@pytest.mark.parametrize("factors", [score_factors, label_factors])
def test_bets_on_uniform_p_values_are_fair(factors) -> None:
    edges = [0.025, 0.05, 0.1, 0.2, 0.5, 0.9]
    for bet in range(factors(np.array(0.5)).size):
        whole, _ = quad(lambda u, bet=bet: math.exp(factors(np.array(u))[bet]), 0, 1, points=edges, limit=200)
        assert whole == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("limit", [0.001, 0.05, 0.3])
def test_bets_against_a_limit_lose_below_it_and_are_fair_at_it(limit: float) -> None:
    wrong, right = np.exp(error_factors(True, limit)), np.exp(error_factors(False, limit))
    assert np.allclose(limit * wrong + (1 - limit) * right, 1)
    assert (limit / 2 * wrong + (1 - limit / 2) * right < 1).all()


def test_capital_stays_one_when_no_bet_wins_or_loses() -> None:
    bets = Bets((4,))
    for _ in range(1000):
        bets.add(np.zeros(4))
    assert float(bets.log_value) == pytest.approx(0, abs=1e-9)
    assert bets.reserve == pytest.approx(RESERVE / (1 + 1000 / HALF_SPENT))


def test_capital_of_many_sequences_is_that_of_each_alone() -> None:
    u = np.random.default_rng(1).random((5, 80))
    together, alone = Bets((5, 16)), [Bets((16,)) for _ in range(5)]
    for case in range(80):
        together.add(score_factors(u[:, case]))
        for row, bets in enumerate(alone):
            bets.add(score_factors(u[row, case]))
    assert np.allclose(together.log_value, [float(bets.log_value) for bets in alone])


def test_p_values_are_those_of_the_definition_ties_included() -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 6, 60) / 6
    ranks = Ranks(values[:20].tolist())
    for n in range(20, 60):
        lower, equal = (values[:n] < values[n]).sum(), (values[:n] == values[n]).sum()
        assert ranks.add(values[n], 0.3) == pytest.approx((lower + 0.3 * (equal + 1)) / (n + 1))
    assert ranks.values == sorted(values.tolist())


def test_p_values_of_exchangeable_ties_are_uniform_and_uncorrelated() -> None:
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(4000):
        values = rng.integers(0, 3, 12).tolist()
        ranks = Ranks(values[:10])
        pairs.append([ranks.add(value, rng.random()) for value in values[10:]])
    first, second = np.array(pairs).T
    assert kstest(first, "uniform").pvalue > 1e-3
    assert kstest(second, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


def test_more_errors_raise_an_alarm_that_says_since_when_and_by_what() -> None:
    rng = np.random.default_rng(4)
    watch = monitor()
    for number, (p, yes) in enumerate(zip(*cases(rng, 100, error=0.0), strict=True)):
        watch.add_label(p, yes, f"2026-01-{number:03d}")
    assert watch.alarm is None
    for number, (p, yes) in enumerate(zip(*cases(rng, 300, error=0.3), strict=True)):
        watch.add_label(p, yes, f"2026-02-{number:03d}")
    alarm = watch.alarm
    assert alarm is not None
    assert alarm.by == "labels"
    assert 100 < alarm.count < 160
    assert 85 <= alarm.since <= alarm.count
    assert alarm.at is not None
    assert alarm.at.startswith("2026-02")
    assert alarm.e_value >= alarm.needed == pytest.approx(1 / (0.05 * SHARES["labels"]))
    assert alarm.text.startswith(f"The labels of the {alarm.count} newly decided cases fit P(YES) less well")


@pytest.mark.parametrize(("called", "p"), [("YES", 0.95), ("NO", 0.05)])
def test_errors_of_one_side_without_calibration_labels(called: str, p: float) -> None:
    watch = ShiftMonitor([0.05, 0.95] * 50, YES, NO)
    for case in range(200):
        watch.add_label(p, (called == "YES") ^ (case % 4 == 0))
    assert watch.alarm is not None
    assert watch.alarm.by == f"errors of {called}"
    assert f"cases called {called} are wrong, more than the certified 5 %" in watch.alarm.text
    assert watch.evidence()["errors of NO" if called == "YES" else "errors of YES"][0] == 0


def test_shares_of_the_tests_that_are_made_add_up_to_delta() -> None:
    for watch in (monitor(delta=0.02), ShiftMonitor([0.5], YES, None, 0.02), ShiftMonitor([], None, NO, 0.02)):
        assert sum(1 / needed for _, _, needed in watch.evidence().values()) == pytest.approx(0.02)


def test_cases_between_the_thresholds_are_no_errors_of_a_side() -> None:
    watch = monitor()
    watch.add_label(0.5, True)
    assert {by: n for by, (n, _, _) in watch.evidence().items()} == {
        "scores": 0,
        "labels": 1,
        "recent labels": 1,
        "errors of YES": 0,
        "errors of NO": 0,
    }


def test_other_scores_raise_an_alarm_and_the_same_scores_do_not() -> None:
    rng = np.random.default_rng(5)
    watch = monitor()
    for p in cases(rng, 2000)[0]:
        watch.add_score(p)
    assert watch.alarm is None
    for case in range(400):
        watch.add_score(0.5 if case % 3 == 0 else cases(rng, 1)[0][0], f"day {case}")
    assert watch.alarm is not None
    assert watch.alarm.by == "scores"
    assert 1950 <= watch.alarm.since <= watch.alarm.count < 2250


def test_the_first_alarm_stays() -> None:
    watch = monitor()
    for _ in range(100):
        watch.add_label(0.95, False)
    first = watch.alarm
    for _ in range(300):
        watch.add_score(0.5)
    assert first is not None
    assert watch.alarm == first


@pytest.mark.parametrize("cut", [0, 1, 37, 119])
def test_saved_state_continues_the_same_test(cut: int) -> None:
    rng = np.random.default_rng(6)
    p, yes = cases(rng, 120, error=0.25)
    whole, part = monitor(), monitor()
    for case in range(120):
        if case == cut:
            part = ShiftMonitor.from_json(json.loads(json.dumps(part.to_json())))
        for watch in (whole, part):
            watch.add_label(p[case], yes[case], f"t{case}")
            watch.add_score(p[case])
    assert whole.evidence() == part.evidence()
    assert whole.alarm == part.alarm is not None
    assert whole.to_json() == part.to_json()
    assert ShiftMonitor.from_json(json.loads(json.dumps(part.to_json()))).alarm == part.alarm


def test_times_do_not_grow_with_the_cases() -> None:
    watch = monitor()
    for case, p in enumerate(cases(np.random.default_rng(7), 500)[0]):
        watch.add_score(p, f"t{case}")
    assert 0 < len(watch.to_json()["tests"]["scores"]["times"]) <= 17


def with_one_bet_less() -> dict:
    state = monitor().to_json()
    bets = state["tests"]["scores"]["bets"]
    return {
        **state,
        "tests": {
            **state["tests"],
            "scores": {
                **state["tests"]["scores"],
                "bets": {name: value[1:] if isinstance(value, list) else value for name, value in bets.items()},
            },
        },
    }


def test_a_state_saved_before_recent_labels_were_tested_continues_with_the_other_tests() -> None:
    state = json.loads(json.dumps(monitor().to_json()))
    del state["tests"]["recent labels"]
    watch = ShiftMonitor.from_json(state)
    assert "recent labels" not in watch.evidence()
    assert {by: needed for by, (_, _, needed) in watch.evidence().items()} == {
        by: needed for by, (_, _, needed) in monitor().evidence().items() if by != "recent labels"
    }
    assert ShiftMonitor.from_json(watch.to_json()).evidence() == watch.evidence()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShiftMonitor([1.2], YES, NO), "a calibration score is 1.2"),
        (lambda: ShiftMonitor([math.nan], YES, NO), "expected a probability"),
        (lambda: ShiftMonitor([0.5], YES, NO, 1.0), "delta is 1.0"),
        (lambda: ShiftMonitor([0.5], (0.9, 0.0), NO), "the limit of YES is 0.0"),
        (lambda: ShiftMonitor([0.5], YES, NO, calibration_yes=[True, False]), "2 labels for 1"),
        (lambda: ShiftMonitor([], None, None), "no calibration score and no certified side"),
        (lambda: monitor().add_score(-0.1), "a score is -0.1"),
        (lambda: ShiftMonitor.from_json({"format": "other"}), "'other' found"),
        (lambda: ShiftMonitor.from_json({**monitor().to_json(), "tests": {}}), r"tests \[\] found"),
        (lambda: ShiftMonitor.from_json({"format": "spec-o3 shift monitor 1"}), "damaged"),
        (lambda: ShiftMonitor.from_json(with_one_bet_less()), "15 bets found, 16 expected"),
    ],
)
def test_values_out_of_range_and_other_files_are_refused(make, message: str) -> None:
    with pytest.raises(ShiftError, match=message):
        make()


def test_p_values_are_those_of_mapie() -> None:
    martingales = pytest.importorskip("mapie.exchangeability_testing.martingales")
    test = martingales.OnlineMartingaleTest(warn=False)

    class Fixed:
        def uniform(self) -> float:
            return 0.7

    test.rng = Fixed()
    values = np.random.default_rng(8).integers(0, 20, 200) / 20
    ranks = Ranks(values[:50].tolist())
    for n in range(50, 200):
        assert ranks.add(values[n], 0.7) == pytest.approx(test.compute_p_value(-values[n], -values[:n]))


@pytest.mark.parametrize(("error", "exchangeable"), [(0.02, True), (0.3, False)])
def test_conclusion_about_labels_is_that_of_mapie(error: float, exchangeable: bool) -> None:
    martingales = pytest.importorskip("mapie.exchangeability_testing.martingales")
    rng = np.random.default_rng(9)
    old, new = cases(rng, 400), cases(rng, 400, error)
    watch = ShiftMonitor(old[0], None, None, calibration_yes=old[1])
    mapie = martingales.OnlineMartingaleTest(test_level=0.05, warn=False, random_state=0)
    for p, yes in zip(*new, strict=True):
        watch.add_label(p, bool(yes))
    history = np.abs(old[1] - old[0])
    for p, yes in zip(*new, strict=True):
        distance = abs(yes - p)
        u = mapie.compute_p_value(distance, history)
        mapie.pvalue_history.append(u)
        mapie.update_simple_jumper_martingale(u)
        history = np.append(history, distance)
    assert mapie.is_exchangeable is exchangeable
    assert (watch.alarm is None) is exchangeable


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
