"""Scores of a nano model on labelled real spectra (``real_spectra``), per task, forced to answer and when it is sure.

    python -m tests.benchmarks.nano_real --model FOLDER --real FOLDER --half choose

Settings are chosen on the half ``choose``; ``report`` is for the last figures alone. ``--bounds FILE`` reads or, with
``choose`` and ``--fit``, writes the log odds above which the answer is YES, by task. ``--simulated N`` judges so many
simulated validation questions instead.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.simulate import CLASSES
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Results
from training.data.records import Question
from training.nano.scoring import Judged, best_bounds, counts, judge
from training.nano.spectra import questions as simulated_questions
from training.nano.spectra import tasks

COVERAGE = 0.6


def real_questions(folder: Path, half: str) -> list[Question]:
    """Return every question of a half whose answer is known."""
    found = []
    for one in real_spectra(folder, CLASSES):
        if one.half != half or one.tier == "unlabelled":
            continue
        for task, label in one.answers.items():
            found.append(
                Question(
                    key=f"{one.path} {task}",
                    source=one.path,
                    task=tasks()[task],
                    label=label,
                    survey=one.label,
                    snr=None,
                    simulated=False,
                    spectrum=lambda spectrum=one.spectrum: spectrum,
                )
            )
    return found


def add_table(report: Results, judged: Sequence[Judged], bounds: dict[str, float]) -> None:
    """One row per task: F1 of all answers, with the bound, and of the surer 60 %."""
    plain = dict.fromkeys(("YES", "NO", "right YES", "wrong YES", "missed"), "{}")
    table = report.table(
        {"task": "", **plain, "F1": "{:.3f}", "bound": "{:+.2f}", "F1 at bound": "{:.3f}", "F1 of 60 %": "{:.3f}"}
    )
    means: list[list[float]] = [[], [], []]
    for task in CLASSES:
        bound = bounds.get(task, 0.0)
        forced, shifted = counts(judged, task), counts(judged, task, bound)
        distances = sorted(abs(one.log_odds - bound) for one in judged if one.question.task.key == task)
        sure = counts(judged, task, bound, distances[int((1 - COVERAGE) * len(distances))] if distances else 0.0)
        for mean, one in zip(means, (forced, shifted, sure), strict=True):
            mean += [] if one.f1 is None else [one.f1]
        yes = forced.hit + forced.missed
        row = [yes, forced.n - yes, forced.hit, forced.false, forced.missed, forced.f1, bound, shifted.f1, sure.f1]
        table.row(task, *("–" if cell is None else cell for cell in row))
    first, second, third = (float(np.mean(mean)) if mean else 0.0 for mean in means)
    table.row("mean", *[None] * 5, first, None, second, third)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="choose")
    parser.add_argument("--simulated", type=int)
    parser.add_argument("--bounds", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="also each wrong answer")
    arguments = parser.parse_args()
    if arguments.simulated:
        given = simulated_questions("validation", arguments.simulated)
    else:
        given = real_questions(arguments.real, arguments.half)
    judged = judge(arguments.model, given)
    if arguments.bounds and arguments.fit and arguments.half == "choose":
        arguments.bounds.write_text(json.dumps(best_bounds(judged), indent=2) + "\n", "utf-8")
    bounds = json.loads(arguments.bounds.read_text("utf-8")) if arguments.bounds else {}
    report = Results()
    what = f"{len(given)} simulated" if arguments.simulated else f"{len(given)} questions of the half {arguments.half}"
    report.text(f"{arguments.model}: {what}, {sum(one.verdict is None for one in judged)} without an answer.")
    add_table(report, judged, bounds)
    if arguments.wrong:
        wrong = Counter(
            (one.question.task.key, one.question.survey, str(one.verdict)) for one in judged if not one.right
        )
        for (task, label, verdict), number in sorted(wrong.items()):
            print(f"{task}: {number} × {label}: {verdict}")


if __name__ == "__main__":
    main()
