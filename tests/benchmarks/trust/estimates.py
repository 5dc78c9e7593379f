"""Coverage of prevalence, YES among the unflagged and recall on simulated lists; Markdown.

    python -m tests.benchmarks.trust.estimates [--repeats 200]

An interval misses if it leaves out the truth of the list after any of the ``STOPS``. Plans of the ordered queue depend
on the labels before. P(YES) is right, or too high or too low by 2 in log odds.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from agent.trust.bounds import upper_bound
from agent.trust.certify import Labelled, Wanted
from agent.trust.estimates import Estimates, Share, estimates
from agent.trust.plans import Plan, choose
from agent.trust.triage import plan
from tests.benchmarks.results import Results

CASES, LABELS, FLAGGED = 300, 60, 0.5
STOPS = (20, LABELS)
WANTED = Wanted(method="anytime")
SETTINGS = ((0.2, 0.0), (0.1, 2.0), (0.1, -2.0))
"""Prevalence, and what is added to the log odds of P(YES)."""
DELTA = 0.1


def a_list(seed: int, prevalence: float, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return P(YES) and labels of a list."""
    rng = np.random.default_rng(seed)
    yes = rng.random(CASES) < prevalence
    log_odds = rng.normal(np.where(yes, 2.0, -2.0), 2.0) + np.log(prevalence / (1 - prevalence)) + shift
    return 1 / (1 + np.exp(-log_odds)), yes


def campaign(p: np.ndarray, yes: np.ndarray, seed: int, ordered: bool) -> Labelled:
    """Return the labels in their order: uniform, or chosen by plans that depend on the labels before."""
    rng = np.random.default_rng([seed, 1])
    if not ordered:
        uniform = rng.permutation(len(p))[:LABELS]
        return Labelled(p[uniform], yes[uniform])
    waiting, order = list(range(len(p))), list[int]()
    shown: list[Plan] = []
    for number in range(LABELS):
        if number % 20 == 0:
            made = plan(p[waiting], Labelled(p[order], yes[order], tuple(shown)), WANTED)
        else:
            made = counted(made, p[waiting])
        index, _, _ = choose(made, p[waiting], rng)
        order.append(waiting.pop(index))
        shown.append(made)
    return Labelled(p[order], yes[order], tuple(shown))


def counted(made: Plan, waiting_p: np.ndarray) -> Plan:
    """Return the plan with the cases that still wait."""
    counts = np.bincount(made.stratum_of(waiting_p), minlength=len(made.strata))
    total = sum(s.probability for s, n in zip(made.strata, counts, strict=True) if n)
    strata = tuple(
        replace(s, waiting=int(n), probability=s.probability / total if n and total else 0.0)
        for s, n in zip(made.strata, counts, strict=True)
    )
    return replace(made, strata=strata)


def first(labelled: Labelled, n: int) -> Labelled:
    """Return the first n labels."""
    return Labelled(labelled.p[:n], labelled.yes[:n], labelled.shown[:n])


def truth(p: np.ndarray, yes: np.ndarray) -> tuple[float, float, float]:
    """Return prevalence, share of YES among the unflagged, and recall of a list."""
    flagged = p >= FLAGGED
    return float(yes.mean()), float(yes[~flagged].mean()), float(yes[flagged].sum() / yes.sum())


def shares(found: Estimates) -> tuple[Share, Share, Share]:
    return found.prevalence, found.unflagged, found.recall


def missed(prevalence: float, shift: float, ordered: bool, repeats: int, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Return of each share the repeats in which an interval leaves out the truth, and the mean width at the end."""
    count, width = np.zeros(3, dtype=int), np.zeros(3)
    for seed in range(repeats):
        p, yes = a_list(seed, prevalence, shift)
        labelled, wanted = campaign(p, yes, seed, ordered), truth(p, yes)
        outside = np.zeros(3, dtype=bool)
        for stop in STOPS:
            found = shares(estimates(first(labelled, stop), p, FLAGGED, delta))
            outside |= [not one.low - 1e-9 <= true <= one.high + 1e-9 for one, true in zip(found, wanted, strict=True)]
        count += outside
        width += [one.high - one.low for one in found]
    return count, width / repeats


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.trust.estimates", description=__doc__)
    parser.add_argument("--repeats", type=int, default=200, help="lists per row (200)")
    repeats = parser.parse_args().repeats
    names = ("prevalence", "unflagged", "recall")
    columns = {"prevalence": "{:g}", "log odds too high by": "{:g}", "queue": ""}
    columns |= {f"{one}: missed, %": "{:.1f}" for one in names} | {"upper end of the largest, %": "{:.1f}"}
    table = Results().table(columns | {f"{one}: mean width": "{:.2f}" for one in names})
    for prevalence, shift in SETTINGS:
        for ordered in (False, True):
            count, width = missed(prevalence, shift, ordered, repeats, DELTA)
            cells = [*(100 * count / repeats), 100 * upper_bound(int(count.max()), repeats, 0.05), *width]
            table.row(prevalence, shift, "ordered" if ordered else "uniform", *map(float, cells))


if __name__ == "__main__":
    main()
