"""Precision, recall and F1 per task of the measuring baseline.

    python -m tests.benchmarks.baseline                        simulated spectra
    python -m tests.benchmarks.baseline --real FOLDER          and the labelled ones of FOLDER (MANIFEST.csv)
    python -m tests.benchmarks.baseline --real FOLDER --wrong  and each wrong answer

Simulated: every kind equally often on every survey's grid, S/N 5 to 50 per pixel, seeds from ``HELD_OUT`` on
(``fit_baseline.py`` uses seeds below it). Real: ``real_labels.toml`` has the known answers and the reasons;
ambiguous ones are left out. The verdict is that of the scorecard, which the policy also gives in the loop.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agent.policies.baseline.scorecard import assess
from agent.simulate import KINDS, simulate, truth
from agent.simulate.instrument import SURVEYS
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory.steps import Verdict
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Results

HELD_OUT = 100_000


@dataclass(frozen=True)
class Case:
    """A spectrum and the answers known for it, by task."""

    spectrum: Spectrum
    answers: Mapping[str, Verdict]
    tier: str


def simulated(seeds: Sequence[int], tasks: Sequence[str]) -> Iterator[Case]:
    """One spectrum of each kind on each survey's grid for each seed."""
    for seed in seeds:
        for kind in KINDS:
            for number, survey in enumerate(SURVEYS):
                rng = np.random.default_rng([seed, number])
                snr = float(np.exp(rng.uniform(np.log(5), np.log(50))))
                answers = {task: truth(kind, task) for task in tasks}
                yield Case(simulate(kind, survey, snr, seed), answers, "simulated")


def real(folder: Path, tasks: Sequence[str], counts: Counter[str]) -> Iterator[Case]:
    """The spectra of a collection whose class ``real_labels.toml`` lists; ``counts`` gets the numbers of files."""
    for found in real_spectra(folder, tasks, counts):
        if found.tier != "unlabelled":
            yield Case(found.spectrum, found.answers, found.tier)


@dataclass(frozen=True)
class Outcome:
    """A given answer and the right one."""

    task: str
    given: Verdict
    right: Verdict
    tier: str
    who: str
    score: float


def outcomes(cases: Iterator[Case], tasks: Mapping[str, Task]) -> Iterator[Outcome]:
    """The baseline's answer to each question with a known answer."""
    for case in cases:
        for key, right in case.answers.items():
            found = assess(case.spectrum, tasks[key])
            who = f"{case.spectrum.survey} {case.spectrum.name} {case.spectrum.meta.get('state', '')}"
            yield Outcome(key, found.verdict, right, case.tier, who.strip(), found.score)


def add_table(report: Results, results: Sequence[Outcome], tasks: Mapping[str, Task]) -> None:
    """One row per task and their mean F1. A value without a denominator is a dash."""
    counts = dict.fromkeys(("YES", "NO", "right YES", "wrong YES", "missed"), "{}")
    table = report.table({"task": "", **counts, **dict.fromkeys(("precision", "recall", "F1"), "{:.3f}")})
    scores = []
    for key in tasks:
        pairs = Counter((o.given, o.right) for o in results if o.task == key)
        hit, false, missed = pairs["YES", "YES"], pairs["YES", "NO"], pairs["NO", "YES"]
        f1 = _ratio(2 * hit, 2 * hit + false + missed)
        if f1 is not None:
            scores.append(f1)
        shown = [_ratio(hit, hit + false), _ratio(hit, hit + missed), f1]
        numbers = [hit + missed, false + pairs["NO", "NO"], hit, false, missed]
        table.row(key, *numbers, *("–" if x is None else x for x in shown))
    table.row("mean", *[None] * 7, float(np.mean(scores)) if scores else "–")


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="held-out seeds (60 spectra each)")
    parser.add_argument("--real", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--wrong", action="store_true", help="list wrong answers")
    options = parser.parse_args()
    tasks = load()
    held_out = range(HELD_OUT, HELD_OUT + options.seeds)
    sets = {"Simulated, held out": list(outcomes(simulated(held_out, list(tasks)), tasks))}
    counts: Counter[str] = Counter()
    if options.real:
        found = list(outcomes(real(options.real, list(tasks), counts), tasks))
        sets["Real, trusted labels"] = [o for o in found if o.tier == "trusted"]
        sets["Real, pipeline labels included"] = found
    report = Results()
    for title, results in sets.items():
        spectra = len({o.who for o in results})
        report.text(f"### {title}: {spectra} spectra")
        add_table(report, results, tasks)
    if counts:
        report.text("\n".join(f"- {what}: {number}" for what, number in counts.items()))
    if options.wrong:
        for o in sorted({o for results in sets.values() for o in results}, key=lambda o: (o.task, o.right, o.who)):
            if o.given != o.right:
                print(f"{o.task}: said {o.given}, is {o.right}, sum {o.score:+.1f}: {o.who} ({o.tier})")


if __name__ == "__main__":
    main()
