"""Thresholds of both sides: exact tests, their order, weights of the queue, wrong labels, refusals, MAPIE."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from agent.statistics import FloatArray
from agent.trust.bounds import labels_needed, upper_bound
from agent.trust.certify import FEWEST, candidates, certify, first_anytime
from agent.trust.plans import Plan, Stratum, choose
from agent.trust.sides import Labelled, Requirements, Side, called
from agent.trust.triage import plan


def spectra(
    n: int, seed: int, prevalence: float = 0.3, distance: float = 4.0
) -> tuple[FloatArray, np.ndarray[Any, Any]]:
    """Calibrated P(YES) and labels."""
    rng = np.random.default_rng(seed)
    yes = rng.random(n) < prevalence
    x = rng.normal(np.where(yes, distance / 2, -distance / 2))
    return 1 / (1 + np.exp(-(np.log(prevalence / (1 - prevalence)) + distance * x))), yes


def fixed(certain: int, wrong: int) -> Side:
    """The side YES for so many labels at P(YES) 0.99, of which so many are NO, in a list of 500 such cases."""
    labelled = Labelled(np.full(certain, 0.99), np.arange(certain) >= wrong)
    return certify(labelled, np.repeat([0.01, 0.99], 500), Requirements())[0]


@pytest.mark.parametrize(("errors", "enough"), [(0, 59), (1, 93), (2, 124)])
def test_59_labels_without_error_93_with_one(errors: int, enough: int) -> None:
    assert fixed(enough, errors).threshold == 0.5
    assert fixed(enough, errors).upper == upper_bound(errors, enough, 0.05) <= 0.05
    refused = fixed(enough - 1, errors)
    assert (refused.threshold, refused.n, refused.errors, refused.missing) == (None, enough - 1, errors, 1)
    assert f"expected at least {enough} labels" in refused.refusal
    assert "Label 1 more of cases with P(YES) of at least 0.5" in refused.refusal


def test_a_refused_side_says_why() -> None:
    side = fixed(100, 10)
    assert (side.threshold, side.missing) == (None, None)
    assert "(10 %), expected less than 5 %. More labels do not help" in side.refusal
    side = certify(Labelled(np.full(30, 0.99), np.ones(30, dtype=bool)), np.repeat([0.01, 0.99], 40), Requirements())[0]
    assert side.missing == 29
    assert "The list has only 10 cases with such a P(YES) and no label" in side.refusal
    yes, no = certify(Labelled(np.full(60, 0.1), np.zeros(60, dtype=bool)), np.full(200, 0.1), Requirements())
    assert yes.refusal == "No case of the list has P(YES) of at least 0.5, so no case can be called YES."
    assert no.threshold is not None


def test_joint_needs_the_labels_of_half_of_delta() -> None:
    labelled = Labelled(np.full(65, 0.99), np.ones(65, dtype=bool))
    pool = np.repeat([0.01, 0.99], 500)
    assert certify(labelled, pool, Requirements())[0].threshold is not None
    assert certify(labelled, pool, Requirements(joint=True))[0].missing == labels_needed(0.05, 0.025) - 65


def test_candidates_are_between_the_cases_of_the_list() -> None:
    pool, _ = spectra(5000, 1)
    for verdict, half in (("YES", pool >= 0.5), ("NO", pool < 0.5)):
        found = candidates(pool, verdict)  # type: ignore[arg-type]
        sizes = [int(called(verdict, pool, threshold).sum()) for threshold in found]  # type: ignore[arg-type]
        assert sizes == sorted(sizes)
        assert (sizes[0], sizes[-1]) == (FEWEST, half.sum())
        assert not np.isin(found, pool).any()
        assert max(b / a for a, b in pairwise(sizes)) < 1.25


def test_candidates_of_a_fraction_of_samples() -> None:
    pool = np.repeat([0.08, 0.25, 0.42, 0.58, 0.75, 0.92], 100)
    np.testing.assert_allclose(candidates(pool, "YES"), [0.835, 0.665, 0.5])
    np.testing.assert_allclose(candidates(pool, "NO"), [0.165, 0.335, 0.46])


def test_labels_do_not_choose_the_first_threshold() -> None:
    """With labels that are all wrong the refusal is about the threshold that is tested with right ones."""
    pool, yes = spectra(4000, 2)
    right, wrong = (
        certify(Labelled(pool[:800], labels), pool, Requirements(0.004, 0.004)) for labels in (yes[:800], ~yes[:800])
    )
    assert [side.n for side in right] == [side.n for side in wrong]


def realised(side: Side, pool: FloatArray, yes: np.ndarray[Any, Any]) -> float:
    """True error rate of a side's threshold in the list; 0 without one."""
    if side.threshold is None:
        return 0.0
    inside = called(side.verdict, pool, side.threshold)
    return float((yes[inside] != (side.verdict == "YES")).mean())


@pytest.mark.parametrize("spoilt", [0.0, 0.05])
def test_fixed_method_keeps_its_promise(spoilt: float) -> None:
    """With 5 % of all labels flipped at random, every error rate is at the limit or above: the hardest case."""
    bad, certified = np.zeros(2), np.zeros(2)
    for seed in range(200):
        pool, yes = spectra(20_000, seed, distance=3.5 if spoilt == 0 else 8.0)
        yes = yes ^ (np.random.default_rng([seed, 1]).random(len(yes)) < spoilt)
        for number, side in enumerate(certify(Labelled(pool[:400], yes[:400]), pool, Requirements())):
            bad[number] += realised(side, pool[400:], yes[400:]) > 0.05 + 0.002 * (spoilt > 0)
            certified[number] += side.threshold is not None
    assert (bad / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)).all()
    if spoilt == 0:
        assert (certified > 100).all()


def test_mapie_agrees_and_is_never_more_lenient() -> None:
    from mapie.risk_control import BinaryClassificationController

    both = more_lenient = 0
    for seed in range(40):
        pool, yes = spectra(3000, seed)
        p, labels = pool[:500], yes[:500]
        ours = certify(Labelled(p, labels), pool, Requirements())[0]
        thresholds = candidates(pool, "YES")
        first = int(np.argmax([(p >= threshold).sum() >= 59 for threshold in thresholds]))
        controller = BinaryClassificationController(
            lambda found: np.column_stack((1 - found[:, 0], found[:, 0])),
            "precision",
            0.95,
            0.95,
            list_predict_params=thresholds[first:],
            fwer_method="fixed_sequence",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            controller.calibrate(p[:, None], labels.astype(int))
        theirs = controller.valid_predict_params
        if len(theirs) and ours.threshold is not None:
            both += 1
            more_lenient += ours.threshold < min(theirs) - 1e-12
            # The most lenient of theirs (Hoeffding-Bentkus p-values) is not more lenient than ours.
            assert ours.threshold <= min(theirs) + 1e-12
        assert not len(theirs) or ours.threshold is not None
    assert both >= 3
    assert more_lenient >= 1


# ---- "missed"


def test_missed_counts_yes_objects() -> None:
    pool, yes = spectra(6000, 3, distance=5)
    labelled = Labelled(pool[:1000], yes[:1000])
    _, no = certify(labelled, pool, Requirements(no_risk="missed"))
    assert no.threshold is not None
    assert no.n == yes[:1000].sum()
    assert (pool[yes] <= no.threshold).mean() <= 0.05
    few = certify(Labelled(pool[:100], yes[:100]), pool, Requirements(no_risk="missed"))[1]
    assert few.missing == 59 - yes[:100].sum()
    assert "more of YES objects" in few.refusal


@pytest.mark.parametrize("share", [0.2, 1.0])
def test_missed_at_any_time_keeps_its_promise(share: float) -> None:
    """The first threshold misses just more than 5 % of the YES objects, in an ordered queue and in a uniform one."""
    wanted = Requirements(method="anytime", no_risk="missed")
    pool = np.concatenate((np.full(1500, 0.01), np.full(300, 0.97)))
    yes = np.concatenate((np.arange(1500) < 16, np.ones(300, dtype=bool)))
    wrong = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, int(10 * share)])
        labels, shown = [], []
        left = {False: [1500, 16], True: [300, 300]}
        for _ in range(250):
            strata = (Stratum(0.0, 0.5, left[False][0], 0.2), Stratum(0.5, 1.0, left[True][0], 0.8))
            shown.append(Plan(strata, share))
            above = bool(rng.random() < shown[-1].chances[1] * left[True][0])
            labels.append((above, bool(rng.random() < left[above][1] / left[above][0])))
            left[above][0] -= 1
            left[above][1] -= labels[-1][1]
        p = np.where([above for above, _ in labels], 0.97, 0.01)
        found = certify(Labelled(p, np.array([label for _, label in labels]), tuple(shown)), pool, wanted)[1]
        wrong += found.threshold is not None
    assert yes[pool < 0.5].sum() / yes.sum() > 0.05
    assert wrong / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


# ---- at any time, with the ordered queue


def audit(
    pool: FloatArray, yes: np.ndarray[Any, Any], wanted: Requirements, n: int, share: float, rng: np.random.Generator
) -> Labelled:
    """Label n cases of the list in the order of the queue."""
    waiting = np.arange(len(pool))
    p: list[float] = []
    labels: list[bool] = []
    shown: list[Plan] = []
    for _ in range(n):
        one = plan(pool[waiting], Labelled(np.array(p), np.array(labels, dtype=bool), tuple(shown)), wanted, share)
        index = choose(one, pool[waiting], rng)[0]
        p.append(float(pool[waiting[index]]))
        labels.append(bool(yes[waiting[index]]))
        shown.append(one)
        waiting = np.delete(waiting, index)
    return Labelled(np.array(p), np.array(labels), tuple(shown))


def test_fixed_method_refuses_the_ordered_queue() -> None:
    pool, yes = spectra(1000, 4)
    labelled = audit(pool, yes, Requirements(), 3, 0.2, np.random.default_rng(0))
    for side in certify(labelled, pool, Requirements()):
        assert "Use the method that is valid at any time (anytime)" in side.refusal
        assert side.threshold is None


def test_ordered_queue_certifies_both_sides_soon() -> None:
    pool, yes = spectra(3000, 5, prevalence=0.05, distance=5)
    wanted = Requirements(method="anytime")
    labelled = audit(pool, yes, wanted, 230, 0.2, np.random.default_rng(1))
    sides = certify(labelled, pool, wanted)
    assert all(side.threshold is not None for side in sides)
    assert all(realised(side, pool, yes) <= 0.05 for side in sides)
    assert all(side.upper is not None and side.upper <= 0.05 for side in sides)
    # A uniform sample of as many cases holds too few cases called YES.
    assert certify(Labelled(pool[:230], yes[:230]), pool, wanted)[0].threshold is None


def test_certified_stays_certified() -> None:
    labels = np.concatenate((np.ones(72, dtype=bool), np.zeros(20, dtype=bool)))
    pool = np.repeat([0.01, 0.99], 5000)
    wanted = Requirements(method="anytime")
    for n in (72, 80, 92):
        assert certify(Labelled(np.full(n, 0.99), labels[:n]), pool, wanted)[0].threshold == 0.5
    refused = certify(Labelled(np.full(71, 0.99), labels[:71]), pool, wanted)[0]
    assert (refused.threshold, refused.missing) == (None, 1)


def test_a_short_list_needs_fewer_labels() -> None:
    """Cases leave a short list: 100 cases without an error are certified before 72 of them have a label."""
    pool = np.concatenate((np.full(400, 0.01), np.full(100, 0.99)))
    yes = pool > 0.5
    wanted = Requirements(method="anytime")
    labelled = audit(pool, yes, wanted, 160, 0.2, np.random.default_rng(2))
    numbers = [int((labelled.p[:n] > 0.5).sum()) for n in range(1, 161)]
    first = next(
        n
        for n in range(1, 161)
        if certify(Labelled(labelled.p[:n], labelled.yes[:n], labelled.shown[:n]), pool, wanted)[0].threshold
    )
    assert 40 < numbers[first - 1] < 72


def test_first_threshold_of_the_anytime_method_is_clear() -> None:
    pool, _ = spectra(5000, 6)
    for verdict in ("YES", "NO"):
        thresholds = candidates(pool, verdict)  # type: ignore[arg-type]
        first = first_anytime(pool, thresholds, Requirements(), verdict)  # type: ignore[arg-type]
        wrong = [np.mean((1 - pool if verdict == "YES" else pool)[called(verdict, pool, t)]) for t in thresholds]  # type: ignore[arg-type]
        assert wrong[first] <= 0.0125
        assert first + 1 == len(wrong) or wrong[first + 1] > 0.0125


# ---- wrong labels


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_a_lower_bound_of_wrong_labels_helps(method: str) -> None:
    rng = np.random.default_rng(7)
    pool = np.repeat([0.01, 0.99], 1_000)
    labels = rng.random(1500) >= 0.08
    taken = certify(Labelled(np.full(1500, 0.99), labels), pool, Requirements(method=method))[0]  # type: ignore[arg-type]
    assert taken.threshold is None
    known = certify(Labelled(np.full(1500, 0.99), labels), pool, Requirements(method=method, label_noise=0.08))[0]  # type: ignore[arg-type]
    assert known.threshold is not None
    assert known.upper is not None
    assert known.upper <= 0.05


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_a_lower_bound_of_wrong_labels_keeps_the_promise(method: str) -> None:
    """The true error rate is the limit, 8 % of the labels are wrong, and 8 % is given: 12.2 % are measured."""
    rng = np.random.default_rng(8)
    pool = np.repeat([0.01, 0.99], 1_000)
    wanted = Requirements(method=method, label_noise=0.08)  # type: ignore[arg-type]
    wrong = 0
    for _ in range(300):
        labels = rng.random(300) >= 0.08 + 0.05 * (1 - 0.16)
        wrong += certify(Labelled(np.full(300, 0.99), labels), pool, wanted)[0].threshold is not None
    assert wrong / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


# ---- inputs


def test_inputs_are_checked() -> None:
    with pytest.raises(ValueError, match="found 2 P\\(YES\\), 1 labels"):
        Labelled(np.array([0.1, 0.2]), np.array([True]))
    with pytest.raises(ValueError, match="outside 0 to 1"):
        Labelled(np.array([1.2]), np.array([True]))
    with pytest.raises(ValueError, match="found yes = 0, expected"):
        Requirements(yes=0)
    with pytest.raises(ValueError, match=r"found label_noise = 0\.5"):
        Requirements(label_noise=0.5)


# ---- several labels of one object


def of_objects(
    per_object: int, objects: int, wrong: int = 0, counted: bool = True, **requirements: Any
) -> tuple[Side, Side]:
    """The sides for so many YES objects at P(YES) 0.99, of which the last label of so many is NO."""
    number = np.repeat(np.arange(objects), per_object)
    yes = ~((np.arange(len(number)) % per_object == per_object - 1) & (number < wrong))
    labelled = Labelled(np.full(len(number), 0.99), yes, objects=number if counted else None)
    return certify(labelled, np.repeat([0.01, 0.99], 500), Requirements(**requirements))


@pytest.mark.parametrize("method", ["fixed", "anytime"])
def test_an_object_counts_once_and_is_wrong_if_one_of_its_labels_is(method: Any) -> None:
    once, _ = of_objects(1, 200, wrong=3, method=method)
    repeated, _ = of_objects(4, 200, wrong=3, method=method)
    assert (repeated.n, repeated.errors, repeated.upper) == (once.n, once.errors, once.upper) == (200, 3, once.upper)
    apart, _ = of_objects(4, 200, wrong=3, counted=False, method=method)
    assert apart.upper < repeated.upper


@pytest.mark.parametrize("wanted", [{}, {"method": "anytime"}, {"no_risk": "missed"}, {"label_noise": 0.02}])
def test_no_bound_is_smaller_with_repeated_objects(wanted: dict[str, Any]) -> None:
    pool, yes = spectra(2000, 4)
    rng = np.random.default_rng(5)
    objects = rng.integers(0, 150, 400)
    shared = yes[objects]
    wrong = rng.random(400) < 0.2 * (objects % 15 == 0)
    for labels in (shared, shared ^ wrong):
        both = [
            certify(Labelled(pool[objects], labels, objects=of), pool, Requirements(yes=0.2, no=0.2, **wanted))
            for of in (objects, None)
        ]
        for once, apart in zip(*both, strict=True):
            assert once.n <= apart.n
            if once.threshold is not None and once.threshold == apart.threshold:
                assert once.upper >= apart.upper
            assert once.threshold is None or apart.threshold is not None


def test_16_labels_of_5_objects_are_5() -> None:
    of = np.repeat(np.arange(5), (8, 4, 2, 1, 1))
    pool = np.repeat([0.01, 0.99], 500)
    apart = Labelled(np.full(16, 0.99), np.ones(16, dtype=bool))
    assert certify(apart, pool, Requirements(yes=0.2))[0].upper == upper_bound(0, 16, 0.05) < 0.2
    side, _ = certify(Labelled(apart.p, apart.yes, objects=of), pool, Requirements(yes=0.2))
    assert (side.threshold, side.n, side.missing, side.upper) == (None, 5, 9, upper_bound(0, 5, 0.05))
    assert side.refusal.endswith(
        "16 labels of 5 objects: those of one object, by position and name, count as one "
        "label, which is wrong if any of them is."
    )


def test_labels_of_few_objects_certify_too_little_as_often_as_stated() -> None:
    """Half of the objects have ten spectra with the same label: single labels would certify too often."""
    rng, runs = np.random.default_rng(6), 400
    certified = {True: 0, False: 0}
    for _ in range(runs):
        sizes = np.where(rng.random(60) < 0.5, 10, 1)
        yes = np.repeat(rng.random(60) >= 0.05, sizes)
        objects = np.repeat(np.arange(60), sizes)
        for counted in certified:
            labelled = Labelled(np.full(len(yes), 0.99), yes, objects=objects if counted else None)
            side = certify(labelled, np.full(500, 0.99), Requirements())[0]
            certified[counted] += side.threshold is not None
    assert certified[True] <= 0.05 * runs + 3 * np.sqrt(0.05 * 0.95 * runs) < certified[False]
