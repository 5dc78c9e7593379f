"""Plans of the queue: probabilities, weights, value of information."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.trust.certify import candidates, certify
from agent.trust.plans import Plan, Stratum, choose, weights
from agent.trust.sides import Labelled, Requirements, called
from agent.trust.triage import VERDICTS, plan

WANTED = Requirements(method="anytime")
NOTHING = Labelled(np.zeros(0), np.zeros(0, dtype=bool))
PLAN = Plan((Stratum(0.0, 0.3, 60, 0.2), Stratum(0.3, 0.7, 30, 0.0), Stratum(0.7, 1.0, 10, 0.8)), 0.2)


def pool(n: int = 2000, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    logit = np.where(rng.random(n) < 0.2, 4.0, -4.0) + rng.normal(0, 2, n)
    return 1 / (1 + np.exp(-logit))


def test_a_plan_has_the_probability_of_each_case_and_a_json_form() -> None:
    assert PLAN.probability(0.1) == pytest.approx(0.2 / 100 + 0.8 * 0.2 / 60)
    assert PLAN.probability(0.3) == pytest.approx(0.2 / 100)
    assert PLAN.probability(1.0) == pytest.approx(0.2 / 100 + 0.8 * 0.8 / 10)
    assert (PLAN.waiting * PLAN.chances).sum() == pytest.approx(1)
    assert Plan.from_json(PLAN.to_json()) == PLAN
    with pytest.raises(ValueError, match="found 1 waiting cases, expected those of the plan, 100"):
        choose(PLAN, np.array([0.5]), np.random.default_rng(0))
    with pytest.raises(ValueError, match="found a random share of 0"):
        plan(pool(), NOTHING, WANTED, 0.0)


def test_cases_are_chosen_with_their_probability() -> None:
    rng = np.random.default_rng(2)
    waiting = np.concatenate((np.linspace(0, 0.29, 60), np.linspace(0.3, 0.69, 30), np.linspace(0.7, 1, 10)))
    chosen = [choose(PLAN, waiting, rng) for _ in range(20_000)]
    times = np.bincount([index for index, _, _ in chosen], minlength=100)
    expected = 20_000 * np.array([PLAN.probability(p) for p in waiting])
    assert ((times - expected) ** 2 / expected).sum() < 150  # chi-squared of 99: 150 is passed once in 1,000
    assert sum(arm == "random" for _, arm, _ in chosen) == pytest.approx(4000, abs=250)
    assert all(chance == PLAN.probability(waiting[index]) for index, _, chance in chosen[:100])


@pytest.mark.parametrize(("verdict", "threshold"), [("YES", 0.3), ("YES", 0.7), ("NO", 0.3), ("NO", 0.7)])
def test_weights_make_a_region_uniform(verdict: str, threshold: float) -> None:
    p = np.array([0.1, 0.5, 0.9])
    inside = called(verdict, p, threshold) if verdict == "YES" else p < threshold  # type: ignore[arg-type]
    found = weights([PLAN] * 3, verdict, [threshold], p)  # type: ignore[arg-type]
    chance = PLAN.waiting * PLAN.chances * inside
    assert (chance * found.weight[:, 0]).sum() / chance.sum() == pytest.approx(1)
    np.testing.assert_allclose(
        (chance * found.weight[:, 0] / chance.sum())[inside],
        (PLAN.waiting * inside / (PLAN.waiting * inside).sum())[inside],
    )
    assert found.largest[0, 0] == pytest.approx(found.weight[inside, 0].max())
    assert found.waiting[0, 0] == (PLAN.waiting * inside).sum()


def test_thresholds_inside_or_on_the_edge_of_a_stratum() -> None:
    assert np.isnan(weights([PLAN], "YES", [0.8], np.array([0.9])).waiting[0, 0])
    labelled = Labelled(np.full(100, 0.9), np.ones(100, dtype=bool), (PLAN,) * 100)
    yes, _ = certify(labelled, pool(), WANTED)
    assert yes.threshold == 0.7
    found = weights([PLAN] * 2, "NO", [0.3], np.array([0.3, 0.1]))
    np.testing.assert_array_equal(found.waiting[:, 0], [np.nan, 60])
    labelled = Labelled(np.array([0.3] + [0.1] * 150), np.zeros(151, dtype=bool), (PLAN,) * 151)
    _, no = certify(labelled, np.concatenate((np.full(300, 0.1), labelled.p)), WANTED)
    assert no.threshold == 0.3


def test_without_values_the_choice_is_uniform_and_its_probability_says_so() -> None:
    plan_without = replace(PLAN, strata=tuple(replace(one, probability=0.0) for one in PLAN.strata))
    waiting = np.concatenate((np.full(60, 0.1), np.full(30, 0.5), np.full(10, 0.9)))
    _, arm, probability = choose(plan_without, waiting, np.random.default_rng(0))
    assert (arm, probability) == ("random", pytest.approx(1 / 100))
    assert (plan_without.waiting * plan_without.chances).sum() == pytest.approx(1)


def test_plan_serves_both_sides_and_keeps_the_random_share() -> None:
    p = pool()
    found = plan(p, NOTHING, WANTED)
    by_verdict = {
        verdict: found.edges[:-1] >= 0.5 if verdict == "YES" else found.edges[1:] <= 0.5 for verdict in VERDICTS
    }
    shares = {
        verdict: sum(s.probability for s, on in zip(found.strata, by_verdict[verdict], strict=True) if on)
        for verdict in VERDICTS
    }
    assert all(share > 0.3 for share in shares.values())
    assert min(found.chances[found.waiting > 0]) >= 0.2 / len(p) * (1 - 1e-9)
    assert sum(s.waiting for s in found.strata) == len(p)


def test_a_certified_side_gets_less() -> None:
    p = pool()
    first = plan(p, NOTHING, WANTED)
    strict = p > 0.99
    labelled = Labelled(p[strict][:150], np.ones(150, dtype=bool), (first,) * 150)
    waiting = np.concatenate((p[strict][150:], p[~strict]))
    after = plan(waiting, labelled, WANTED)
    assert certify(labelled, p, WANTED)[0].threshold is not None
    share = [sum(s.probability for s in one.strata if s.lo >= 0.5) for one in (first, after)]
    assert share[1] < 0.9 * share[0]
    np.testing.assert_array_equal(after.edges, first.edges)


def test_uncertain_cases_when_nothing_is_left_to_certify() -> None:
    p = np.concatenate((np.full(400, 0.01), np.full(50, 0.45), np.full(50, 0.55), np.full(400, 0.99)))
    first = plan(p, NOTHING, WANTED)
    label = Labelled(np.tile([0.01, 0.99, 0.45, 0.55], 90), np.tile([False, True, True, False], 90), (first,) * 360)
    after = plan(p, label, WANTED)
    chance = [after.probability(one) for one in (0.01, 0.45, 0.55, 0.99)]
    assert min(chance[1:3]) > 3 * max(chance[0], chance[3])


def test_thresholds_and_borders_are_the_same() -> None:
    p = pool()
    edges = plan(p, NOTHING, WANTED).edges
    for verdict in VERDICTS:
        assert set(candidates(p, verdict)) <= set(edges)
    assert replace(WANTED, joint=True).side_delta == 0.025
