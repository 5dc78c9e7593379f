"""Certificates of the baseline on samples of a population that is made of labelled real spectra; Markdown.

    python -m tests.benchmarks.trust.real_population --real FOLDER [--samples 400] [--seed 0]

The two halves of a small collection are not independent (``tests.benchmarks.trust.real``). Here the objects of a task
are an infinite population, of which the true error rate at each threshold is known: that over all objects. The labelled
spectra are sampled from it with replacement, and so are as many others, independently. Each sample is certified once
with the raw score and the fixed method; the list is the population. A certificate is wrong if the true error rate at
its threshold is above the limit, which must happen with a probability of at most delta.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.tasks import load
from agent.trajectory.steps import Verdict
from agent.trust.bounds import upper_bound
from agent.trust.certify import Labelled, Side, Wanted, called, candidates, certify
from agent.trust.triage import VERDICTS
from tests.benchmarks.results import Results, Table
from tests.benchmarks.trust.real import LIMITS, Cases, cases_of, one_per_object

DELTA = 0.05
SIZES = (0.5, 5.0)
"""Labelled spectra, as multiples of the number of objects."""


@dataclass
class Count:
    """The samples of one side at one limit.

    :param wrong: certificates with a true error rate above the limit
    :param above: certificates with an error rate on the other half above the limit
    :param errors: errors and ``calls`` on the other halves, all certificates together
    """

    certified: int = 0
    wrong: int = 0
    above: int = 0
    errors: int = 0
    calls: int = 0

    def add(self, cases: Cases, side: Side, other: np.ndarray) -> None:
        """Add the side of one sample.

        :param other: numbers of the objects of the other half
        """
        if side.threshold is None:
            return
        there = called(side.verdict, cases.p, side.threshold)
        wrong = there & (cases.yes != (side.verdict == "YES"))
        calls, errors = int(there[other].sum()), int(wrong[other].sum())
        self.certified += 1
        self.wrong += int(wrong.sum() > side.limit * there.sum())
        self.above += int(errors > side.limit * calls)
        self.errors += errors
        self.calls += calls


def counts_of(cases: Cases, limit: float, labels: int, samples: int, seed: int) -> tuple[Count, Count]:
    """Certify samples of so many labels and check them; YES, then NO."""
    found = Count(), Count()
    wanted = Wanted(yes=limit, no=limit, delta=DELTA)
    rng = np.random.default_rng([seed, labels, round(1000 * limit)])
    for _ in range(samples):
        half, other = rng.integers(len(cases.p), size=(2, labels))
        for count, side in zip(found, certify(Labelled(cases.p[half], cases.yes[half]), cases.p, wanted), strict=True):
            count.add(cases, side, other)
    return found


def true_rates(cases: Cases, verdict: Verdict) -> list[float]:
    """Return the true error rate at each candidate threshold of a side."""
    wrong = cases.yes != (verdict == "YES")
    return [float(wrong[called(verdict, cases.p, one)].mean()) for one in candidates(cases.p, verdict)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True, metavar="FOLDER", help="spectra with a MANIFEST.csv")
    parser.add_argument("--samples", type=int, default=400, help="samples per row (400)")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    tasks = load()
    spectra = one_per_object(chosen.real, list(tasks))
    results = Results()
    table = results.table(
        {
            "task": "",
            "side": "",
            "limit": "",
            "true error rates at the thresholds, %": "",
            "labels": "{}",
            "certified": "{}",
            "wrong": "{}",
            "wrong, % of all samples": "{:.2f}",
            "95 % interval, %": "",
            "error rate on the other half above the limit": "{}",
            "errors on the other half, %": "{:.1f}",
        }
    )
    for key in tasks:
        rows(table, key, cases_of(spectra, tasks[key]), chosen.samples, chosen.seed + zlib.crc32(key.encode()))


def rows(table: Table, key: str, cases: Cases, samples: int, seed: int) -> None:
    """Add the rows of a task that have a certificate, up to the first limit at which all samples have one."""
    for size in SIZES:
        labels = round(size * len(cases.p))
        of = [(limit, counts_of(cases, limit, labels, samples, seed)) for limit in LIMITS]
        for number, verdict in enumerate(VERDICTS):
            rates = true_rates(cases, verdict)
            for limit, counts in of:
                one = counts[number]
                if not one.certified:
                    continue
                low = 100 * (1 - upper_bound(samples - one.wrong, samples, 0.025))
                high = 100 * upper_bound(one.wrong, samples, 0.025)
                table.row(
                    key,
                    verdict,
                    f"{100 * limit:g} %",
                    f"{100 * min(rates):.1f} to {100 * max(rates):.1f}",
                    labels,
                    one.certified,
                    one.wrong,
                    100 * one.wrong / samples,
                    f"{low:.2f} to {high:.2f}",
                    one.above,
                    100 * one.errors / one.calls if one.calls else None,
                )
                if one.certified == samples:
                    break


if __name__ == "__main__":
    main()
