"""Skill of annotators, prevalence, bound of the label noise, and label errors, on simulated votes; Markdown.

python -m tests.benchmarks.trust.annotators [--simulations 100] [--seed 2026]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reviewer.trust.annotators import annotators, label_noise, suspects
from tests.benchmarks.results import Results

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Ballot:
    """A vote, with the names that the database uses."""

    spectrum_sha256: str
    person: str
    verdict: str


@dataclass(frozen=True)
class Team:
    """People whose sensitivity and specificity are uniform within these ranges, new in each simulation.

    :param hard: standard deviation of the difficulty of a spectrum, in logits, common to all people (0: votes are
        independent given the class, as the model assumes)
    """

    people: int
    spectra: int
    prevalence: float
    share: float
    skill: tuple[float, float] = (0.75, 0.98)
    hard: float = 0.0

    def votes(self, rng: np.random.Generator) -> tuple[list[Ballot], BoolArray, FloatArray]:
        """Return the votes, the true classes, and the true skills, (people, 2): sensitivity and specificity."""
        true = rng.random(self.spectra) < self.prevalence
        skill = rng.uniform(*self.skill, (self.people, 2))
        logit = np.log(skill / (1 - skill))
        right = np.where(true, logit[:, :1], logit[:, 1:]) + self.hard * rng.normal(size=self.spectra)
        correct = rng.random(right.shape) < 1 / (1 + np.exp(-right))
        voted = rng.random(right.shape) < self.share
        ballots = [
            Ballot(f"{i:05d}", f"{j}", "YES" if correct[j, i] == true[i] else "NO")
            for j, i in zip(*np.nonzero(voted), strict=True)
        ]
        if self.hard:  # the mean over difficulties is the true skill
            many = 1 / (1 + np.exp(-(logit[..., None] + self.hard * np.random.default_rng(0).normal(size=100_000))))
            skill = many.mean(axis=-1)
        return ballots, true, skill


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.annotators", description=__doc__)
    parser.add_argument("--simulations", type=int, default=100, help="simulations per row (100)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all simulations (2026)")
    chosen = parser.parse_args()
    results = Results()
    _skills(results, chosen.simulations, chosen.seed)
    _noise(results, 10 * chosen.simulations, chosen.seed)
    _suspects(results, chosen.simulations, chosen.seed)


def _skills(results: Results, simulations: int, seed: int) -> None:
    results.text(
        "Skills (sensitivity and specificity of every person together) and prevalence of simulated teams. The goal is "
        "that 95 % intervals hold the true value in 95 % of the cases. *Hard spectra*: some spectra are more difficult "
        "for everybody (standard deviation of 1 logit), which the model does not know. Bias: mean of estimate less "
        "true value."
    )
    table = results.table(
        {
            "people": "{}",
            "spectra": "{}",
            "YES, %": "{:.0f}",
            "votes per spectrum": "{:.1f}",
            "hard spectra": "",
            "skills with a number, %": "{:.1f}",
            "skill in interval, %": "{:.1f}",
            "bias of skills": "{:+.3f}",
            "prevalence in interval, %": "{:.1f}",
            "bias of prevalence": "{:+.4f}",
        }
    )
    teams = (
        Team(3, 100, 0.3, 1.0),
        Team(3, 300, 0.3, 1.0),
        Team(5, 300, 0.1, 0.6),
        Team(5, 300, 0.3, 0.6),
        Team(5, 1000, 0.05, 0.6),
        Team(8, 1000, 0.3, 0.3),
        Team(5, 300, 0.3, 0.6, hard=1.0),
        Team(5, 1000, 0.3, 0.6, hard=1.0),
    )
    for number, team in enumerate(teams):
        rng = np.random.default_rng([seed, 0, number])
        inside, bias, given, of_prevalence, prevalence_bias = [], [], [], [], []
        for simulation in range(simulations):
            ballots, _, skill = team.votes(rng)
            found = annotators(ballots, seed=simulation)
            for one in found.skills:
                for end, true in zip((one.sensitivity, one.specificity), skill[int(one.person)], strict=True):
                    given.append(end.value is not None)
                    if end.value is not None and end.low is not None and end.high is not None:
                        inside.append(end.low <= true <= end.high)
                        bias.append(end.value - true)
            share = found.prevalence
            if share.value is not None and share.low is not None and share.high is not None:
                of_prevalence.append(share.low <= team.prevalence <= share.high)
                prevalence_bias.append(share.value - team.prevalence)
        table.row(
            team.people,
            team.spectra,
            100 * team.prevalence,
            team.people * team.share,
            "yes" if team.hard else "no",
            100 * float(np.mean(given)),
            100 * float(np.mean(inside)),
            float(np.mean(bias)),
            100 * float(np.mean(of_prevalence)),
            float(np.mean(prevalence_bias)),
        )


def _noise(results: Results, simulations: int, seed: int) -> None:
    results.text(
        "Lower bound of the error rate of one vote at 95 %: how often it is below the true rate (goal at least 95 %), "
        "and its mean. The second person makes the stated multiple of the first one's errors; 200 spectra with two "
        "votes."
    )
    table = results.table(
        {
            "errors, %": "{:.1f}",
            "second to first": "{}",
            "errors together": "",
            "bound below, %": "{:.1f}",
            "mean bound, %": "{:.1f}",
        }
    )
    for number, (rate, ratio, together) in enumerate(
        ((0.05, 1, False), (0.05, 9, False), (0.05, 1, True), (0.1, 1, False), (0.1, 9, False), (0.1, 1, True))
    ):
        rng = np.random.default_rng([seed, 1, number])
        bounds = []
        for simulation in range(simulations):
            wrong = rng.random((2, 200)) < 2 * rate * np.array([[1], [ratio]]) / (1 + ratio)
            if together:  # half of the errors are made by both
                both = rng.random(200) < rate / 2
                wrong = both | (rng.random((2, 200)) < (rate - rate / 2) / (1 - rate / 2))
            ballots = [Ballot(f"{i:03d}", f"{j}", "NO" if wrong[j, i] else "YES") for j in range(2) for i in range(200)]
            bounds.append(label_noise(ballots, seed=simulation).value or 0.0)
        true = float(np.mean(np.array(bounds) <= rate))
        table.row(100 * rate, ratio, "yes" if together else "no", 100 * true, 100 * float(np.mean(bounds)))


def _suspects(results: Results, simulations: int, seed: int) -> None:
    results.text(
        "Label errors found among 500 labelled spectra, 30 % YES: a share of the labels is flipped at random, P(YES) "
        "is the cross-validated probability of a logistic regression of two measurements on these labels. Precision "
        "and recall of all suspects, and precision of as many of the first suspects as there are errors."
    )
    table = results.table(
        {
            "measurements separate the classes (AUC)": "{:.3f}",
            "wrong labels, %": "{:.0f}",
            "suspects": "{:.1f}",
            "precision, %": "{:.1f}",
            "recall, %": "{:.1f}",
            "precision of the first, %": "{:.1f}",
        }
    )
    for number, (distance, share) in enumerate(
        ((1.5, 0.05), (1.5, 0.1), (2.5, 0.05), (2.5, 0.1), (3.5, 0.05), (3.5, 0.1))
    ):
        rng = np.random.default_rng([seed, 2, number])
        rows = np.array([_one(rng, distance, share) for _ in range(simulations)])
        table.row(rows[:, 0].mean(), 100 * share, rows[:, 1].mean(), *(100 * np.nanmean(rows[:, 2:], axis=0)))


def _one(rng: np.random.Generator, distance: float, share: float) -> tuple[float, ...]:
    """Return AUC, number of suspects, precision, recall, precision of the first of one simulation."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    true = rng.random(500) < 0.3
    wrong = rng.random(500) < share
    labels = true ^ wrong
    x = rng.normal(size=(500, 2)) + distance / np.sqrt(2) * true[:, None]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    p = cross_val_predict(LogisticRegression(), x, labels, cv=folds, method="predict_proba")[:, 1]
    found = [int(one.spectrum) for one in suspects(p.tolist(), labels.tolist(), [str(i) for i in range(500)])]
    first = found[: int(wrong.sum())]
    return (
        float(roc_auc_score(true, x.sum(axis=1))),
        len(found),
        float(wrong[found].mean()) if found else np.nan,
        float(wrong[found].sum() / wrong.sum()) if wrong.any() else np.nan,
        float(wrong[first].mean()) if first else np.nan,
    )


if __name__ == "__main__":
    main()
