"""Coverage of the intervals of preferences, and how often a preference is claimed that is not there; Markdown.

    python -m tests.benchmarks.blind.preferences [--simulations 1000] [--seed 2026] [--processes 2]

Simulated sessions with two sources, and with three for Davidson's strengths. Pairs and scorers are new in each session:
the log odds of an answer are the lead of a source, plus a normal deviate of the pair, plus one of the scorer (taste for
one of the sources). 30 % of the answers are ties, by Davidson's model. The true share is that of all pairs and scorers,
by integration. Nominal are 5 % wrong claims and 95 % coverage; with 1000 sessions, chance alone gives 3.6 to 6.4 % and
93.6 to 96.4 % in 95 of 100 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from agent.statistics import FloatArray, Resampling
from reviewer.agreement.davidson import davidson
from reviewer.agreement.preference import Verdict, Votes, preference_rate
from tests.benchmarks.results import Results

TIES = 0.3
LEAD = 0.8
QUICK = Resampling(resamples=50)
"""Enough where the interval is not the bootstrap's, and for the p value that takes scorers as given."""
OUTCOMES: tuple[Verdict, ...] = ("a", "b", "equal")


@dataclass(frozen=True)
class Session:
    """What is simulated. ``each`` scorers answer each pair; ``missing`` is the share of answers that are not given."""

    scorers: int
    each: int
    pairs: int
    taste: float
    spread: float
    missing: float
    lead: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.blind.preferences", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000, help="sessions per row (1000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all sessions (2026)")
    parser.add_argument("--processes", type=int, default=2, help="processes (2)")
    chosen = parser.parse_args()
    results = Results()
    with ProcessPoolExecutor(chosen.processes) as pool:
        seeds = [(chosen.seed, number) for number in range(chosen.simulations)]
        shares(results, pool, seeds)
        strengths(results, pool, seeds)


def rows() -> Iterator[Session]:
    """All scorers answer all pairs, and 2 of 6 do."""
    for scorers, taste, spread, missing, pairs in product((3, 6), (0, 0.3, 0.6), (0.5, 1), (0, 0.15), (20, 50, 100)):
        yield Session(scorers, scorers, pairs, taste, spread, missing)
    for taste, pairs in product((0, 0.3, 0.6), (20, 50, 100)):
        yield Session(6, 2, pairs, taste, 0.5, 0)


HEAD = {
    "scorers": "{}",
    "per pair": "{}",
    "pairs": "{}",
    "taste SD": "{:g}",
    "pair SD": "{:g}",
    "missing, %": "{:.0f}",
}


def cells(row: Session) -> tuple[float, ...]:
    return row.scorers, row.each, row.pairs, row.taste, row.spread, 100 * row.missing


def shares(results: Results, pool: ProcessPoolExecutor, seeds: list[tuple[int, int]]) -> None:
    """Table of the share among decided answers."""
    results.text(f"Share preferred among decided answers; equal sources, and a lead of {LEAD:g} log odds.")
    table = results.table(
        HEAD
        | {
            "wrong claims, scorers as given, %": "{:.1f}",
            "wrong claims, %": "{:.1f}",
            "coverage, equal, %": "{:.1f}",
            "coverage, lead, %": "{:.1f}",
            "median width, equal": "{:.2f}",
            "lead found, %": "{:.1f}",
        }
    )
    found = []
    for row in rows():
        equal = np.array(list(pool.map(partial(share, row), seeds, chunksize=25)))
        lead = np.array(list(pool.map(partial(share, replace(row, lead=LEAD)), seeds, chunksize=25)))
        given, wrong, covered = 100 * equal[:, :3].mean(axis=0)
        _, power, covered_lead = 100 * lead[:, :3].mean(axis=0)
        table.row(*cells(row), given, wrong, covered, covered_lead, np.median(equal[:, 3]), power)
        found.append((row.scorers, wrong, covered, covered_lead))
    for scorers in (3, 6):
        _, wrong, *coverage = np.array([one for one in found if one[0] == scorers]).T
        both = np.concatenate(coverage)
        results.text(
            f"{scorers} scorers: wrong claims {wrong.mean():.1f} % on average "
            f"({wrong.min():.1f} to {wrong.max():.1f}), "
            f"above 6 % in {(wrong > 6).sum()} of {len(wrong)} rows; "
            f"coverage {both.mean():.1f} % on average ({both.min():.1f} to {both.max():.1f}), "
            f"below 93 % in {(both < 93).sum()} and above 97 % in {(both > 97).sum()} of {len(both)}."
        )


def strengths(results: Results, pool: ProcessPoolExecutor, seeds: list[tuple[int, int]]) -> None:
    """Table of Davidson's strengths of three equal sources, each pair of sources on its own spectra."""
    results.text("Davidson strengths of three equal sources; pairs are divided among the three comparisons.")
    table = results.table(HEAD | {"coverage, scorers as given, %": "{:.1f}", "coverage, %": "{:.1f}"})
    for scorers, taste, pairs in product((3, 6), (0, 0.3, 0.6), (30, 90)):
        row = Session(scorers, scorers, pairs, taste, 0.5, 0)
        found = np.array(list(pool.map(partial(strength, row), seeds, chunksize=25)))
        table.row(*cells(row), *(100 * found.mean(axis=0)))


# ---- one session


def share(row: Session, seed: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return whether a claim is made with the scorers taken as given, whether with the interval for new scorers,
    whether the interval contains the true share, and its width.
    """
    rng = np.random.default_rng([*seed, *(round(100 * one) for one in cells(row)), round(100 * row.lead)])
    nu, true = truth(row)
    lead = row.lead + row.spread * rng.standard_normal((row.pairs, 1)) + row.taste * rng.standard_normal(row.scorers)
    pair, scorer = np.nonzero(answered(rng, row))
    votes = Votes(
        tuple(f"p{i}" for i in pair),
        ("x",) * len(pair),
        ("y",) * len(pair),
        verdicts(rng, lead[pair, scorer], nu),
        tuple(f"S{i}" for i in scorer),
    )
    found = preference_rate(votes, "x", "y", QUICK).preferred
    given = preference_rate(replace(votes, scorers=()), "x", "y", QUICK).preferred
    assert found.low is not None
    assert found.high is not None
    return (
        given.detail["p_value"] < 0.05,
        not found.low <= 0.5 <= found.high,
        found.low <= true <= found.high,
        found.high - found.low,
    )


def strength(row: Session, seed: tuple[int, int]) -> tuple[float, float]:
    """Return the share of the three intervals that contain 0: with the scorers taken as given, and for new ones."""
    rng = np.random.default_rng([*seed, *(round(100 * one) for one in cells(row)), 3])
    nu, _ = truth(row)
    # A scorer's taste for each of the sources; the difference of two has the standard deviation ``taste``.
    taste = row.taste / np.sqrt(2) * rng.standard_normal((row.scorers, 3))
    pair, scorer = np.nonzero(answered(rng, row))
    a, b = np.array([0, 0, 1])[pair % 3], np.array([1, 2, 2])[pair % 3]
    lead = row.spread * rng.standard_normal(row.pairs)[pair] + taste[scorer, a] - taste[scorer, b]
    names = np.array(["x", "y", "z"])
    votes = Votes(
        tuple(f"p{i}" for i in pair),
        tuple(names[a].tolist()),
        tuple(names[b].tolist()),
        verdicts(rng, lead, nu),
        tuple(f"S{i}" for i in scorer),
    )
    shares = []
    for one in (davidson(replace(votes, scorers=()), resampling=Resampling(resamples=400)), davidson(votes)):
        ends = [(found.low, found.high) for found in one.sources.values()]
        shares.append(float(np.mean([low is not None and high is not None and low <= 0 <= high for low, high in ends])))
    return shares[0], shares[1]


def answered(rng: np.random.Generator, row: Session) -> NDArray[np.bool_]:
    """(n_pairs, n_scorers): who answered which pair."""
    order = rng.random((row.pairs, row.scorers)).argsort(axis=1).argsort(axis=1)
    return (order < row.each) & (rng.random(order.shape) >= row.missing)


def verdicts(rng: np.random.Generator, lead: FloatArray, nu: float) -> tuple[Verdict, ...]:
    win, loss = chances(lead, nu)
    at = rng.random(len(lead))
    return tuple(OUTCOMES[i] for i in np.where(at < win, 0, np.where(at < win + loss, 1, 2)))


def chances(lead: FloatArray, nu: float) -> tuple[FloatArray, FloatArray]:
    """Win and loss by Davidson's model."""
    up, down = np.exp(lead / 2), np.exp(-lead / 2)
    return up / (up + down + nu), down / (up + down + nu)


@cache
def truth(row: Session) -> tuple[float, float]:
    """Return the tie parameter that gives the share of ties, and the share of wins among decided answers of all pairs
    and scorers.
    """
    nodes, weights = hermegauss(80)
    lead, weights = row.lead + np.hypot(row.taste, row.spread) * nodes, weights / weights.sum()
    low, high = 0.0, 100.0
    for _ in range(60):
        nu = (low + high) / 2
        win, loss = (float(weights @ one) for one in chances(lead, nu))
        low, high = (nu, high) if 1 - win - loss < TIES else (low, nu)
    return nu, win / (win + loss)


if __name__ == "__main__":
    main()
