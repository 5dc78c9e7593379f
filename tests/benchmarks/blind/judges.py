"""Coverage of the intervals of a judge's numbers; Markdown.

    python -m tests.benchmarks.blind.judges [--simulations 2000] [--seed 2026]

Simulated sessions of six scorers and one judge, who stay the same while the spectra are new; two traces per spectrum,
scores as in ``coverage``. With 2000 sessions, chance alone gives 94.0 to 96.0 % in 95 of 100 cells.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from reviewer.agreement.values import Estimate, Scores
from reviewer.blind.power import CENTRE, DEFAULT
from reviewer.blind.report.judge_agreement import by_spectrum, human_ceiling, rank_correlation, weighted_mean
from tests.benchmarks.results import Results

SCORERS = 6
REFERENCE = 100_000
"""Spectra from which the true values are taken."""
NUMBERS = ("ceiling", "judge's correlation with the people", "judge less people")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.blind.judges", description=__doc__)
    parser.add_argument("--simulations", type=int, default=2000, help="sessions per row (2000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all sessions (2026)")
    chosen = parser.parse_args()
    table = Results().table({"spectra": "{}", "with interval": "{}"} | {f"{name}, %": "{:.1f}" for name in NUMBERS})
    for spectra in (20, 50, 100):
        rng = np.random.default_rng([chosen.seed, spectra])
        severity = rng.normal(0, DEFAULT.scorer, SCORERS + 1)
        true = true_values(session(rng, REFERENCE, severity))
        covered = []
        for _ in range(chosen.simulations):
            ends = [(one.low, one.high) for one in numbers(session(rng, spectra, severity))]
            known = [(low, high) for low, high in ends if low is not None and high is not None]
            if len(known) == len(NUMBERS):
                covered.append([low <= one <= high for (low, high), one in zip(known, true, strict=True)])
        table.row(spectra, len(covered), *(100 * np.mean(covered, axis=0)))


def session(rng: np.random.Generator, spectra: int, severity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the scores, (2 * spectra, scorers + 1); the judge's are in the last column."""
    level = rng.normal(0, DEFAULT.spectrum, spectra).repeat(2) + rng.normal(0, DEFAULT.trace, 2 * spectra)
    rest = rng.normal(0, DEFAULT.rest, (2 * spectra, len(severity)))
    return np.clip(np.rint(CENTRE + level[:, None] + severity + rest), 0, 5)


def numbers(values: NDArray[np.float64]) -> tuple[Estimate, Estimate, Estimate]:
    people, judge = values[:, :-1], values[:, -1]
    spectra = [str(row // 2) for row in range(len(values))]
    scores = Scores(tuple(map(str, range(len(values)))), tuple(map(str, range(SCORERS))), people)
    mean = people.mean(axis=1)
    return (
        human_ceiling(scores, spectra),
        rank_correlation(judge, mean, spectra),
        by_spectrum("Judge less people.", weighted_mean(judge - mean), spectra),
    )


def true_values(values: NDArray[np.float64]) -> tuple[float, float, float]:
    people, judge = values[:, :-1], values[:, -1]
    alone = [spearmanr(people[:, one], np.delete(people, one, axis=1).mean(axis=1)).statistic for one in range(SCORERS)]
    mean = people.mean(axis=1)
    return float(np.mean(alone)), float(spearmanr(judge, mean).statistic), float((judge - mean).mean())


if __name__ == "__main__":
    main()
