"""Skill of annotators, P(YES) from votes, the bound of the label noise, suspected labels."""

from __future__ import annotations

import itertools
import json
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import beta

from reviewer.trust.annotators import (
    FEW_VOTES,
    PREVALENCE_PRIOR,
    SKILL_PRIOR,
    VotesError,
    annotators,
    em,
    label_noise,
    suspects,
    table_of,
)


class Ballot(NamedTuple):
    spectrum_sha256: str
    person: str
    verdict: str


SENSITIVITY, SPECIFICITY = (0.95, 0.85, 0.75, 0.9), (0.9, 0.97, 0.8, 0.95)


def simulated(
    spectra: int = 400, people: int = 4, share: float = 0.8, seed: int = 0
) -> tuple[list[Ballot], np.ndarray]:
    rng = np.random.default_rng(seed)
    true = rng.random(spectra) < 0.3
    ballots = []
    for i, j in itertools.product(range(spectra), range(people)):
        if rng.random() < share:
            yes = rng.random() < (SENSITIVITY[j] if true[i] else 1 - SPECIFICITY[j])
            ballots.append(Ballot(f"s{i:03d}", f"P{j}", "YES" if yes else "NO"))
    return ballots, true


def test_skills_prevalence_and_classes_are_recovered() -> None:
    ballots, true = simulated(1500)
    found = annotators(ballots)
    assert found.reason == ""
    for j, skill in enumerate(found.skills):
        assert skill.sensitivity.value == pytest.approx(SENSITIVITY[j], abs=0.05)
        assert skill.specificity.value == pytest.approx(SPECIFICITY[j], abs=0.03)
        assert skill.sensitivity.low < skill.sensitivity.value < skill.sensitivity.high
    assert found.prevalence.value == pytest.approx(true.mean(), abs=0.03)
    voted = sorted({ballot.spectrum_sha256 for ballot in ballots})
    p = np.array([found.p_yes[name] for name in voted])
    right = (p > 0.5) == true[[int(name[1:]) for name in voted]]
    assert right.mean() > 0.93


def test_mode_is_that_of_the_posterior_on_a_grid() -> None:
    """Three spectra by two people: the density of all five parameters, summed over all classes, on a grid."""
    votes = np.array([[1, 1], [0, 0], [1, 0]])
    table = table_of([
        Ballot(f"s{i}", f"P{j}", "YES" if votes[i, j] else "NO") for i in range(3) for j in range(2)
    ])  # fmt: skip
    model, p = em(table)

    def density(prevalence: float, first: float, second: float, third: float, fourth: float) -> float:
        skills = ((first, third), (second, fourth))
        whole = beta.pdf(prevalence, *PREVALENCE_PRIOR)
        for sensitivity, specificity in skills:
            whole *= beta.pdf(sensitivity, *SKILL_PRIOR) * beta.pdf(specificity, *SKILL_PRIOR)
        total = 0.0
        for classes in itertools.product((0, 1), repeat=3):
            one = 1.0
            for i, yes in enumerate(classes):
                one *= prevalence if yes else 1 - prevalence
                for j, (sensitivity, specificity) in enumerate(skills):
                    right = sensitivity if yes else specificity
                    one *= right if votes[i, j] == yes else 1 - right
            total += one
        return whole * total

    mode = np.array([model.prevalence, *model.sensitivity, *model.specificity])
    best = density(*mode)
    for parameter in range(5):
        for step in (-0.02, -0.005, 0.005, 0.02):
            other = mode.copy()
            other[parameter] += step
            assert density(*other) < best
    for i in range(3):
        weight = {}
        for yes in (0, 1):
            weight[yes] = mode[0] if yes else 1 - mode[0]
            for j in range(2):
                right = (model.sensitivity if yes else model.specificity)[j]
                weight[yes] *= right if votes[i, j] == yes else 1 - right
        assert p[i] == pytest.approx(weight[1] / (weight[0] + weight[1]), abs=1e-6)


def test_order_and_names_make_no_difference() -> None:
    ballots, _ = simulated(200)
    found = annotators(ballots)
    shuffled = [ballots[i] for i in np.random.default_rng(1).permutation(len(ballots))]
    assert annotators(shuffled).to_json() == found.to_json()
    renamed = [Ballot(b.spectrum_sha256, {"P0": "Z"}.get(b.person, b.person), b.verdict) for b in ballots]
    of = {skill.person: skill.sensitivity.value for skill in annotators(renamed).skills}
    assert of["Z"] == pytest.approx(found.skills[0].sensitivity.value, abs=0.01)


def test_yes_and_no_exchanged_exchange_sensitivity_and_specificity() -> None:
    ballots, _ = simulated(300)
    other = [Ballot(b.spectrum_sha256, b.person, "NO" if b.verdict == "YES" else "YES") for b in ballots]
    model, p = em(table_of(ballots))
    mirrored, q = em(table_of(other))
    assert np.allclose(model.sensitivity, mirrored.specificity, atol=1e-6)
    assert np.allclose(p, 1 - q, atol=1e-6)


def test_two_people_get_no_numbers() -> None:
    found = annotators(simulated(400, people=2)[0])
    assert "would rest on the prior" in found.reason
    assert all(end.value is None for skill in found.skills for end in (skill.sensitivity, skill.specificity))
    assert str(found.prevalence).startswith("undefined: no person has 20 votes on spectra")
    assert found.p_yes == {}
    assert json.loads(json.dumps(found.to_json()))["reason"] == found.reason


def test_two_people_and_known_labels_get_numbers() -> None:
    ballots, true = simulated(400, people=2)
    known = {f"s{i:03d}": bool(true[i]) for i in range(150)}
    found = annotators(ballots, known)
    assert found.skills[0].sensitivity.value == pytest.approx(SENSITIVITY[0], abs=0.12)
    assert all(found.p_yes[name] == float(label) for name, label in known.items())


def test_a_person_with_few_votes_gets_a_reason_and_no_number() -> None:
    ballots, _ = simulated(200, people=3, share=1.0)
    ballots += [Ballot(f"s{i:03d}", "new", "YES") for i in range(FEW_VOTES - 1)]
    found = {skill.person: skill for skill in annotators(ballots).skills}
    assert str(found["new"].sensitivity) == (
        "undefined: 19 votes that can be compared with those of two others; 20 needed"
    )
    assert found["P0"].sensitivity.value is not None
    assert (found["new"].votes, found["new"].compared) == (19, 19)


def test_without_yes_spectra_there_is_no_sensitivity() -> None:
    ballots = [Ballot(f"s{i:03d}", f"P{j}", "NO") for i in range(100) for j in range(3)]
    found = annotators(ballots)
    assert all("of the 100 spectra are YES; 5 needed" in str(skill.sensitivity) for skill in found.skills)
    assert all(skill.specificity.value > 0.95 for skill in found.skills)
    assert found.prevalence.low < 0.01 < found.prevalence.high


def test_no_votes() -> None:
    found = annotators([])
    assert (found.skills, found.reason, dict(found.p_yes)) == ((), "no votes", {})
    assert dict(annotators([], {"a": True}).p_yes) == {"a": 1.0}


def test_the_last_vote_of_a_person_on_a_spectrum_counts() -> None:
    table = table_of([Ballot("a", "P", "YES"), Ballot("a", "P", "NO")])
    assert table.votes.tolist() == [[0]]


def test_other_verdicts_are_refused() -> None:
    with pytest.raises(VotesError, match="'MAYBE'; expected YES or NO"):
        annotators([Ballot("a", "P", "MAYBE")])


def test_label_noise_is_half_the_lower_bound_of_the_disagreement() -> None:
    ballots = [
        Ballot(f"s{i:03d}", person, "NO" if person == "B" and i < 20 else "YES") for i in range(100) for person in "AB"
    ]
    found = label_noise(ballots)
    # P(X >= 20 | n = 100, D) = 0.05 has the solution D = 0.1367 (one-sided Clopper & Pearson)
    assert found.value == pytest.approx(0.1367 / 2, abs=1e-4)
    assert (found.n, found.detail["disagree"]) == (100, 20)
    assert label_noise([b for b in ballots if b.spectrum_sha256 >= "s020"]).value == 0
    assert label_noise([b for b in ballots if b.person == "A"]).value is None


def test_label_noise_stays_below_the_mean_error_when_one_person_makes_all_errors() -> None:
    rng = np.random.default_rng(2)
    above = 0
    for _ in range(300):
        wrong = rng.random(150) < 0.2
        ballots = [Ballot(f"s{i:03d}", p, "NO" if p == "B" and wrong[i] else "YES") for i in range(150) for p in "AB"]
        above += label_noise(ballots).value > 0.1
    assert above <= 26  # 99.9 % quantile of a binomial with 300 trials of 5 %


def test_suspects_are_those_above_the_typical_probability_of_the_other_label() -> None:
    p = [0.9, 0.8, 0.95, 0.05, 0.55, 0.1, 0.2, 0.97, 0.6]
    labels = [True, True, True, True, True, False, False, False, False]
    found = suspects(p, labels, [f"s{i}" for i in range(9)])
    # typical P(YES) of YES: 0.65; typical P(NO) of NO: (0.9 + 0.8 + 0.03 + 0.4) / 4 = 0.5325
    assert [(one.spectrum, one.label) for one in found] == [("s7", False), ("s3", True)]
    assert found[1].reason == (
        "Label YES, but P(NO) is 0.95 by the other labelled spectra; spectra labelled NO have 0.53 on average."
    )


def test_cases_of_one_spectrum_are_one_suspect() -> None:
    found = suspects([0.9, 0.9, 0.1, 0.2, 0.3], [True, True, True, True, False], ["a", "b", "c", "c", "d"])
    assert [(one.spectrum, round(one.p_yes, 3)) for one in found] == [("c", 0.15)]


def test_suspects_need_both_labels() -> None:
    assert suspects([0.1, 0.9], [True, True], ["a", "b"]) == ()
    assert suspects([], [], []) == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [True, False], ["a", "b"]), "1 P"),
        (([1.5], [True], ["a"]), "is 1.5"),
        (([float("nan")], [True], ["a"]), "is nan"),
        (([0.5, 0.5], [True, False], ["a", "a"]), "both labels"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments, message: str) -> None:
    with pytest.raises(VotesError, match=message):
        suspects(*arguments)
