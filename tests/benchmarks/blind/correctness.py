"""Coverage of the intervals of score against correctness; Markdown.

    python -m tests.benchmarks.blind.correctness [--simulations 1000] [--seed 2026]

Simulated sessions of two sources and six scorers, who stay the same while the spectra are new. Verdicts are wrong more
often for difficult spectra, so that both verdicts of a spectrum go together; scores are as in ``coverage``, with
``effect`` points between traces with correct and with incorrect verdicts. With 1000 sessions, chance alone gives 93.6
to 96.4 % in 95 of 100 cells.
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from reviewer.agreement.distribution import ByCorrectness, score_by_correctness
from reviewer.agreement.values import Scores
from reviewer.blind.power import CENTRE, DEFAULT
from tests.benchmarks.results import Results

SCORERS = 6
TOGETHER = 0.7
"""Correlation of a trace's difficulty with that of its spectrum."""
REFERENCE = 4000
"""Spectra from which the true values are taken."""
NUMBERS = ("correct", "incorrect", "difference", "auc")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.blind.correctness", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000, help="sessions per row (1000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all sessions (2026)")
    chosen = parser.parse_args()
    head = {
        "spectra": "{}",
        "wrong verdicts, %": "{:.0f}",
        "effect": "{:g}",
        "missing, %": "{:.0f}",
        "with interval": "{}",
    }
    table = Results().table(head | {f"{name}, %": "{:.1f}" for name in NUMBERS})
    for spectra, wrong, effect, missing in product((20, 50, 100), (0.1, 0.3), (0, 0.8), (0, 0.15)):
        rng = np.random.default_rng([chosen.seed, spectra, *(round(100 * one) for one in (wrong, effect, missing))])
        severity = rng.normal(0, DEFAULT.scorer, SCORERS)
        values, correct = session(rng, REFERENCE, severity, wrong, effect, missing)
        true = true_values(values, correct)
        covered = []
        for _ in range(chosen.simulations):
            values, correct = session(rng, spectra, severity, wrong, effect, missing)
            found = vars(numbers(values, correct))
            if all(found[name].low is not None for name in NUMBERS):
                covered.append([found[name].low <= true[name] <= found[name].high for name in NUMBERS])
        if len(covered) >= chosen.simulations / 5:
            table.row(spectra, 100 * wrong, effect, 100 * missing, len(covered), *(100 * np.mean(covered, axis=0)))


def session(
    rng: np.random.Generator, spectra: int, severity: NDArray[np.float64], wrong: float, effect: float, missing: float
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the scores, (2 * spectra, scorers), two rows per spectrum, and which traces are correct."""
    n = 2 * spectra
    difficult = TOGETHER * rng.standard_normal(spectra).repeat(2) + (1 - TOGETHER**2) ** 0.5 * rng.standard_normal(n)
    correct = difficult < NormalDist().inv_cdf(1 - wrong)
    level = CENTRE + effect * (correct - 0.5)
    level = level + rng.normal(0, DEFAULT.spectrum, spectra).repeat(2) + rng.normal(0, DEFAULT.trace, n)
    values = np.clip(np.rint(level[:, None] + severity + rng.normal(0, DEFAULT.rest, (n, len(severity)))), 0, 5)
    return np.where(rng.random(values.shape) < missing, np.nan, values), correct


def numbers(values: NDArray[np.float64], correct: NDArray[np.bool_]) -> ByCorrectness:
    items = tuple(f"{i // 2}/{i % 2}" for i in range(len(values)))
    scores = Scores(items, tuple(map(str, range(values.shape[1]))), values)
    return score_by_correctness(scores, correct.tolist(), [item.partition("/")[0] for item in items])


def true_values(values: NDArray[np.float64], correct: NDArray[np.bool_]) -> dict[str, float]:
    means = np.nanmean(values, axis=1)
    right, wrong = np.sort(means[correct]), np.sort(means[~correct])
    below = (np.searchsorted(wrong, right, "left") + np.searchsorted(wrong, right, "right")) / 2
    return {
        "correct": right.mean(),
        "incorrect": wrong.mean(),
        "difference": right.mean() - wrong.mean(),
        "auc": below.mean() / len(wrong),
    }


if __name__ == "__main__":
    main()
