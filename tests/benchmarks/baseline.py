"""Right and wrong answers and F1 per task of the measuring baseline, forced to answer and with asking a person.

    python -m tests.benchmarks.baseline                        simulated spectra
    python -m tests.benchmarks.baseline --real FOLDER          and the labelled ones of FOLDER (MANIFEST.csv), per half
    python -m tests.benchmarks.baseline --real FOLDER --wrong  and each wrong answer
    python -m tests.benchmarks.baseline --real FOLDER --write docs/baseline.md  and puts the figures into this file

Simulated: every kind equally often on every survey's grid, S/N 5 to 50 per pixel, seeds from ``HELD_OUT`` on
(``fit_baseline.py`` uses seeds below it). Real: ``real_labels.toml`` has the known answers and the reasons;
ambiguous ones are left out. The verdict is that of the scorecard, which the policy also gives in the loop; whether it
is left to a person is decided by ``agent.consensus`` with its default limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from agent.consensus import consensus
from agent.policies.baseline.rule import Baseline
from agent.policies.baseline.scorecard import assess
from agent.simulate import KINDS, simulate, truth
from agent.simulate.instrument import SURVEYS
from agent.sky.records import Sky
from agent.spectrum import Spectrum
from agent.tasks import Task, load
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Verdict
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Results, command_line, markdown

HELD_OUT = 100_000


@dataclass(frozen=True)
class Case:
    """A spectrum and the answers known for it, by task; ``group`` is "simulated" or the half and tier of a real one."""

    spectrum: Spectrum
    answers: Mapping[str, Verdict]
    group: tuple[str, ...]
    about: str = ""


def simulated(
    seeds: Sequence[int], tasks: Sequence[str], kinds: Sequence[str] = KINDS, snr: tuple[float, float] = (5.0, 50.0)
) -> Iterator[Case]:
    """One spectrum of each kind on each survey's grid for each seed; S/N per pixel between two values."""
    for seed in seeds:
        for kind in kinds:
            for number, survey in enumerate(SURVEYS):
                rng = np.random.default_rng([seed, number])
                level = float(np.exp(rng.uniform(*np.log(snr))))
                answers = {task: truth(kind, task) for task in tasks}
                yield Case(simulate(kind, survey, level, seed), answers, ("simulated",))


def real(folder: Path, tasks: Sequence[str], counts: Counter[str]) -> Iterator[Case]:
    """The spectra of a collection whose class ``real_labels.toml`` lists; ``counts`` gets the numbers of files."""
    for found in real_spectra(folder, tasks, counts):
        if found.tier != "unlabelled":
            yield Case(found.spectrum, found.answers, (found.half, found.tier), found.label)


@dataclass(frozen=True)
class Outcome:
    """A given answer and the right one; ``left``: whether it is left to a person instead."""

    task: str
    given: Verdict
    right: Verdict
    group: tuple[str, ...]
    who: str
    score: float
    left: bool
    is_blank: bool = False

    @property
    def is_right(self) -> bool:
        return self.given == self.right


def outcomes(
    cases: Iterator[Case], tasks: Mapping[str, Task], sky_of: Callable[[Spectrum], Sky] | None = None
) -> Iterator[Outcome]:
    """The baseline's answer to each question with a known answer, with catalogues if ``sky_of`` gives their records."""
    for case in cases:
        spectrum = case.spectrum
        sky = None if sky_of is None else sky_of(spectrum)
        who = f"{spectrum.survey} {spectrum.name} {case.about or spectrum.meta.get('state', '')}".strip()
        for key, right in case.answers.items():
            found = assess(spectrum, tasks[key], sky)
            answer = Answer("s1", found.verdict, "", found.score)
            trace = Trajectory(key, "", spectrum.name, spectrum.sha256, (answer,), Baseline().drafter)
            left = consensus([trace], spectrum, tasks[key]).needs_person
            is_blank = case.about.startswith("odd_sky_fibre") or spectrum.meta.get("kind") == "sky"
            yield Outcome(key, found.verdict, right, case.group, who, found.score, left, is_blank)


def add_table(report: Results, results: Sequence[Outcome], tasks: Mapping[str, Task]) -> None:
    """One row per task and their mean F1, of all answers and of those that are not left to a person.

    A value without a denominator is a dash.
    """
    counts = dict.fromkeys(("YES", "NO", "right YES", "wrong YES", "missed"), "{}")
    answered = dict.fromkeys(("to a person", "YES to a person", "wrong YES answered", "missed answered"), "{}")
    columns = {"task": "", **counts, "F1": "{:.3f}", **answered, "F1 answered": "{:.3f}"}
    table = report.table(columns)
    forced_f1, answered_f1 = [], []
    for key in tasks:
        of_task = [o for o in results if o.task == key]
        kept = [o for o in of_task if not o.left]
        hit, false, missed, f1 = _counts(of_task)
        _, false_kept, missed_kept, f1_kept = _counts(kept)
        forced_f1 += [] if f1 is None else [f1]
        answered_f1 += [] if f1_kept is None else [f1_kept]
        left = [o for o in of_task if o.left]
        yes_left = sum(o.right == "YES" for o in left)
        row = [hit + missed, len(of_task) - hit - missed, hit, false, missed, f1]
        row += [len(left), yes_left, false_kept, missed_kept, f1_kept]
        table.row(key, *("–" if x is None else x for x in row))
    share = f"{100 * sum(o.left for o in results) / max(1, len(results)):.1f} %"
    table.row("mean", *[None] * 5, _mean(forced_f1), share, *[None] * 3, _mean(answered_f1))
    objects = [o for o in results if not o.is_blank]
    if len(objects) < len(results):
        objects_left = 100 * sum(o.left for o in objects) / max(1, len(objects))
        report.text(f"Without the fibres on blank sky, {objects_left:.1f} % of the questions are left to a person.")


def _counts(results: Sequence[Outcome]) -> tuple[int, int, int, float | None]:
    """Right YES, wrong YES, missed, and F1 of the positive class."""
    pairs = Counter((o.given, o.right) for o in results)
    hit, false, missed = pairs["YES", "YES"], pairs["YES", "NO"], pairs["NO", "YES"]
    whole = 2 * hit + false + missed
    return hit, false, missed, 2 * hit / whole if whole else None


def _mean(values: Sequence[float]) -> float | str:
    return float(np.mean(values)) if values else "–"


MARGINS = (0.0, 0.5, 1.0, 2.0, np.inf)


def add_accuracy(report: Results, sets: Mapping[str, Sequence[Outcome]]) -> None:
    """Fraction of right answers by the size of the score."""
    bins = [f"{lo:g} to {hi:g}" if np.isfinite(hi) else f"{lo:g} or more" for lo, hi in pairwise(MARGINS)]
    table = report.table({"spectra": "", **dict.fromkeys(bins, "")})
    for title, results in sets.items():
        cells = []
        for lo, hi in pairwise(MARGINS):
            inside = [o.is_right for o in results if lo <= abs(o.score) < hi]
            cells.append(f"{sum(inside)} of {len(inside)} ({np.mean(inside):.3f})" if inside else "–")
        table.row(title, *cells)


BEGIN, END = "<!-- figures: written by tests.benchmarks.baseline -->", "<!-- end of figures -->"


def put(path: Path, figures: str, first: str = BEGIN, last: str = END) -> None:
    """Replace the text between two marks of a file. :raises ValueError: it has no such marks"""
    before, begin, rest = path.read_text(encoding="utf-8").partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise ValueError(f"{path}: found no marks of figures, expected {first} and {last}")
    path.write_text(f"{before}{first}\n\n{figures.strip()}\n\n{last}{after}", encoding="utf-8")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="held-out seeds (60 spectra each)")
    parser.add_argument("--real", type=Path, help="folder of labelled spectra with MANIFEST.csv")
    parser.add_argument("--wrong", action="store_true", help="list wrong answers")
    parser.add_argument("--write", type=Path, help="file whose text between the marks of figures is replaced")
    options = parser.parse_args()
    tasks = load()
    held_out = range(HELD_OUT, HELD_OUT + options.seeds)
    sets = {"Simulated, held out": list(outcomes(simulated(held_out, list(tasks)), tasks))}
    counts: Counter[str] = Counter()
    if options.real:
        found = list(outcomes(real(options.real, list(tasks), counts), tasks))
        trusted = [o for o in found if o.group[1] == "trusted"]
        for half in ("report", "choose"):
            sets[f'Real, half "{half}", trusted labels'] = [o for o in trusted if o.group[0] == half]
    report = Results()
    for title, results in sets.items():
        spectra = len({o.who for o in results})
        report.text(f"### {title}: {spectra} spectra")
        add_table(report, results, tasks)
    report.text("### Right answers by the size of the sum")
    add_accuracy(report, sets)
    if counts:
        report.text("\n".join(f"- {what}: {number}" for what, number in counts.items()))
    if options.write:
        put(options.write, markdown(report.blocks))
    if options.wrong:
        for o in sorted({o for results in sets.values() for o in results}, key=lambda o: (o.task, o.right, o.who)):
            if not o.is_right:
                sum_text = f"sum {o.score:+.1f}{', left to a person' if o.left else ''}"
                print(f"{o.task}: answered {o.given}, is {o.right}, {sum_text}: {o.who}; {', '.join(o.group)}")


if __name__ == "__main__":
    main()
