"""Coverage of the intervals of a blind session's report, false claims, and power; Markdown.

    python -m tests.benchmarks.blind.coverage [--simulations 1000] [--seed 2026] [--processes 2] [--power]

Simulated sessions: 3 or 6 scorers, 20 to 100 spectra with a trace of two sources each, with and without 15 % "cannot
tell". Scores are whole numbers from 0 to 5 (standard deviations before rounding: spectra 0.6, traces 0.5, severity of
scorers 0.4, rest 0.7; taste of a scorer for a source as in the table). Numbers for scorers like these have new scorers
in each session; numbers for these scorers are compared with the true value for the session's own scorers, from
integration or from 4,000 spectra. Without a true difference, a claim is an interval that excludes 0. With 1000 sessions
chance alone gives 93.6 to 96.4 % in 95 of 100 rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import erf, sqrt

import numpy as np

from agent.statistics import FloatArray, Resampling
from reviewer.agreement.mixed import Ratings, fit
from reviewer.agreement.pairs import spearman, weighted_kappa
from reviewer.agreement.reliability import icc_a1, krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind.power import CENTRE, DEFAULT, Panel, Spread, panel, power, simulated
from tests.benchmarks.results import Results

REFERENCE = 4000
"""Spectra for the true values that have no formula."""
PER_PANEL = 25
"""Sessions with the same scorers, for which the reference is made once."""
JUDGE = 0.8
"""Standard deviation of a simulated judge's error, in points of the scale."""
QUICK = Resampling(resamples=2)
"""For values whose intervals are not used."""
COLUMNS = {
    "difference": "difference",
    "mean": "mean",
    "icc": "ICC",
    "difference, these": "difference, these scorers",
    "severity": "severity",
    "alpha": "alpha",
    "kappa": "kappa",
    "spearman": "Spearman of a judge",
}


@dataclass(frozen=True)
class Session:
    """What is simulated."""

    scorers: int
    spectra: int
    missing: float
    taste: float
    difference: float = 0.0

    @property
    def spread(self) -> Spread:
        return replace(DEFAULT, taste=self.taste)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.blind.coverage", description=__doc__)
    parser.add_argument("--simulations", type=int, default=1000, help="sessions per row (1000)")
    parser.add_argument("--seed", type=int, default=2026, help="seed of all sessions (2026)")
    parser.add_argument("--processes", type=int, default=2, help="processes (2)")
    parser.add_argument("--scorers", type=int, help="coverage: only rows with so many scorers")
    parser.add_argument("--spectra", type=int, help="coverage: only rows with so many spectra")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--power", action="store_true", help="only the table of power")
    only.add_argument("--coverage", action="store_true", help="only the table of coverage")
    chosen = parser.parse_args()
    results = Results()
    with ProcessPoolExecutor(chosen.processes) as pool:
        if not chosen.power:
            rows = [
                one
                for one in sessions()
                if chosen.scorers in (None, one.scorers) and chosen.spectra in (None, one.spectra)
            ]
            coverage(results, pool, rows, chosen.simulations, chosen.seed)
        if not chosen.coverage:
            table_of_power(results, pool, chosen.simulations, chosen.seed)


def sessions() -> Iterator[Session]:
    """All rows of the table of coverage."""
    for scorers, spectra, missing, taste in product((3, 6), (20, 50, 100), (0.0, 0.15), (0.1, 0.3)):
        yield Session(scorers, spectra, missing, taste)
    for scorers in (3, 6):
        yield Session(scorers, 50, 0.0, 0.1, 0.5)


def coverage(results: Results, pool: ProcessPoolExecutor, rows: Sequence[Session], simulations: int, seed: int) -> None:
    results.text(f"Coverage of 95 % intervals in {simulations} sessions per row, and false claims, in %.")
    head = {"scorers": "{}", "spectra": "{}", "missing, %": "{:.0f}", "taste": "{:g}", "true difference": "{:g}"}
    table = results.table({**head, **dict.fromkeys(COLUMNS.values(), "{:.1f}"), "false claims": "{:.1f}"})
    for session in rows:
        blocks = [(seed, number) for number in range(-(-simulations // PER_PANEL))]
        counts: dict[str, list[int]] = {name: [0, 0] for name in (*COLUMNS, "claims")}
        for found in pool.map(partial(one_panel, session), blocks):
            for name, (hits, of) in found.items():
                counts[name][0] += hits
                counts[name][1] += of
        shares = [100 * counts[name][0] / counts[name][1] if counts[name][1] else None for name in (*COLUMNS, "claims")]
        if session.difference:
            shares[-1] = None
        own = (session.scorers, session.spectra, 100 * session.missing, session.taste, session.difference)
        table.row(*own, *shares)


def one_panel(session: Session, seed: tuple[int, int]) -> dict[str, tuple[int, int]]:
    """Return for each number how many of its intervals held the true value, of how many intervals."""
    rng = np.random.default_rng([*seed, session.scorers, session.spectra, round(100 * session.missing)])
    levels = (session.difference, 0.0)
    counts: dict[str, list[int]] = {name: [0, 0] for name in (*COLUMNS, "claims")}
    own = panel(rng, session.scorers, 2, session.spread)
    true = true_for(own, session, rng)
    for _ in range(PER_PANEL):
        theirs = simulated(rng, session.spectra, own, session.scorers, levels, session.missing, session.spread)
        found = dict(for_these(theirs, rng))
        anew = panel(rng, session.scorers, 2, session.spread)
        ratings = simulated(rng, session.spectra, anew, session.scorers, levels, session.missing, session.spread)
        model = fit(ratings)
        found["difference"], found["mean"] = model.difference("A", "B"), model.mean("A")
        found["icc"] = icc_a1(*as_scores(ratings.of("A")))
        for name, one in found.items():
            if one.low is not None and one.high is not None:
                counts[name][0] += one.low <= true[name] <= one.high
                counts[name][1] += 1
        apart = found["difference"]
        if apart.low is not None and apart.high is not None:
            counts["claims"][0] += not apart.low <= 0 <= apart.high
            counts["claims"][1] += 1
    return {name: (hits, of) for name, (hits, of) in counts.items()}


def for_these(ratings: Ratings, rng: np.random.Generator) -> Iterator[tuple[str, Estimate]]:
    """Yield the numbers that hold for the scorers of the session."""
    model = fit(ratings, these_scorers=True)
    yield "difference, these", model.difference("A", "B")
    yield "severity", model.severity("0")
    scores, spectra = as_scores(ratings)
    yield "alpha", krippendorff_alpha(scores, clusters=spectra)
    yield "kappa", weighted_kappa(scores, "0", "1", clusters=spectra)
    yield "spearman", of_judge(scores, spectra, rng)


def of_judge(scores: Scores, spectra: Sequence[str], rng: np.random.Generator) -> Estimate:
    """Return the rank correlation of a simulated judge with the scorers' means."""
    means = scores.item_means()
    judge = np.clip(np.rint(np.nan_to_num(means, nan=CENTRE) + rng.normal(0, JUDGE, len(means))), 0, 5)
    return spearman(means, judge, spectra)


def as_scores(ratings: Ratings) -> tuple[Scores, list[str]]:
    """Return the table of traces by scorers, and the spectrum of each trace."""
    scores = Scores.of(zip(ratings.items, ratings.scorers, ratings.values, strict=True))
    return scores, [item.partition("/")[0] for item in scores.items]


def true_for(own: Panel, session: Session, rng: np.random.Generator) -> Mapping[str, float]:
    """Return the true values: of new scorers, and of these."""
    spread, levels = session.spread, (session.difference, 0.0)
    within = sqrt(spread.spectrum**2 + spread.trace**2 + spread.rest**2)
    whole = sqrt(within**2 + spread.scorer**2 + spread.taste**2)
    cells = np.array(
        [[expected(CENTRE + level + b + t, within) for t, level in zip(tastes, levels, strict=True)]
         for b, tastes in zip(own.severity, own.taste, strict=True)]
    )  # fmt: skip
    large = simulated(rng, REFERENCE, own, session.scorers, levels, session.missing, spread)
    scores, _ = as_scores(large)
    one_cluster = [""] * len(scores.items)  # without an interval, which would take long
    return {
        "difference": expected(CENTRE + session.difference, whole) - expected(CENTRE, whole),
        "mean": expected(CENTRE + session.difference, whole),
        "icc": true_icc(spread, session.difference),
        "difference, these": float((cells[:, 0] - cells[:, 1]).mean()),
        "severity": float(cells[0].mean() - cells.mean()),
        "alpha": value_of(krippendorff_alpha(scores, "ordinal", QUICK)),
        "kappa": value_of(weighted_kappa(scores, "0", "1", clusters=one_cluster)),
        "spearman": value_of(of_judge(scores, one_cluster, rng)),
    }


def expected(mean: float, deviation: float) -> float:
    """Return the mean of a normal deviate that is rounded to the whole numbers from 0 to 5."""
    above = [0.5 * (1 - erf((k + 0.5 - mean) / (deviation * sqrt(2)))) for k in range(5)]
    return sum(above)


@cache
def true_icc(spread: Spread, difference: float) -> float:
    """Return ICC(A,1) of one source's scores: 200 scorers, the reference's spectra, mean squares."""
    rng = np.random.default_rng(7)
    who = panel(rng, 200, 1, replace(spread, scorer=sqrt(spread.scorer**2 + spread.taste**2), taste=0.0))
    ratings = simulated(rng, REFERENCE, who, 200, (difference,), 0.0, spread)
    table: FloatArray = ratings.values.reshape(REFERENCE, 200)
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    rest = ((table - rows[:, None] - columns + table.mean()) ** 2).sum() / ((REFERENCE - 1) * 199)
    items = rows.var(ddof=1) - rest / 200
    return float(items / (items + columns.var(ddof=1) - rest / REFERENCE + rest))


def value_of(one: Estimate) -> float:
    assert one.value is not None
    return one.value


def table_of_power(results: Results, pool: ProcessPoolExecutor, simulations: int, seed: int) -> None:
    results.text(f"Power: how often a true difference is shown, in %, {simulations} sessions per row.")
    head = {"scorers": "{}", "per spectrum": "{}", "spectra": "{}", "taste": "{:g}"}
    differences = (0.2, 0.3, 0.5)
    table = results.table({**head, **{f"difference {one:g}": "{:.0f}" for one in differences}})
    for (scorers, each), spectra, taste in product(((3, 3), (6, 2), (6, 3), (6, 6)), (20, 50, 100), (0.1, 0.3)):
        spread = replace(DEFAULT, taste=taste)
        calls = [pool.submit(power, spectra, scorers, each, one, 2, simulations, seed, spread) for one in differences]
        table.row(scorers, each, spectra, taste, *(100 * call.result().power for call in calls))


if __name__ == "__main__":
    main()
