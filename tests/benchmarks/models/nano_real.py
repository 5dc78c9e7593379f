"""Scores of a nano model on labelled real spectra (``real_spectra``), per task, forced to answer and when it is sure.

    python -m tests.benchmarks.models.nano_real --model FOLDER --real FOLDER --half choose

Settings are chosen on the half ``choose``; ``report`` is for the last figures alone. ``--bounds FILE`` reads or, with
``choose`` and ``--fit``, writes the log odds above which the answer is YES, by task. ``--simulated N`` judges so many
simulated validation questions instead. ``--abstain`` leaves the tasks that do not pass to a person, in the folder's
abstain.json; ``--card``, with ``report``, adds the figures to the folder's README.md.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agent.policies.nano.folder import ABSTAIN
from agent.simulate import CLASSES
from agent.tables import markdown_table
from tests.benchmarks.real_spectra import real_spectra
from tests.benchmarks.results import Block, Results, markdown
from training.data.records import Question
from training.model_card.card import README
from training.nano.package import CONFUSIONS
from training.nano.scoring import Counts, Judged, counts, judge
from training.nano.spectra import questions as simulated_questions
from training.nano.spectra import tasks

COVERAGE = 0.6
LEAST_F1 = 0.8
"""Of the answers to a task, on either half; with less the task is left to a person."""
SECTION = "## Real spectra"


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
        sure = surer(judged, task, bound)
        for mean, one in zip(means, (forced, shifted, sure), strict=True):
            mean += [] if one.f1 is None else [one.f1]
        yes = forced.hit + forced.missed
        row = [yes, forced.n - yes, forced.hit, forced.false, forced.missed, forced.f1, bound, shifted.f1, sure.f1]
        table.row(task, *("–" if cell is None else cell for cell in row))
    first, second, third = (float(np.mean(mean)) if mean else 0.0 for mean in means)
    table.row("mean", *[None] * 5, first, None, second, third)


def surer(judged: Sequence[Judged], task: str, bound: float = 0.0) -> Counts:
    """Count the answers to a task whose log odds are farthest from the bound."""
    distances = sorted(abs(one.log_odds - bound) for one in judged if one.question.task.key == task)
    return counts(judged, task, bound, distances[int((1 - COVERAGE) * len(distances))] if distances else 0.0)


def best_bounds(judged: Sequence[Judged]) -> dict[str, float]:
    """Return for each task the log odds with the best F1, the middle of the best range nearest to 0."""
    bounds = {}
    grid = np.arange(-4.0, 4.01, 0.25)
    for task in CLASSES:
        scores = np.array([counts(judged, task, float(bound)).f1 or 0.0 for bound in grid])
        best = grid[scores >= scores.max() - 0.005]
        bounds[task] = float(best[np.argmin(np.abs(best))])
    return bounds


def abstain(folder: Path, judged: Sequence[Judged]) -> dict[str, str]:
    """Write the tasks that do not pass to abstain.json, next to those that failed on simulated spectra; return all."""
    about = json.loads((folder / ABSTAIN).read_text("utf-8"))
    for task in CLASSES:
        f1 = counts(judged, task).f1 or 0.0
        if f1 < LEAST_F1:
            reason = f"for this class its F1 on real spectra is {f1:.2f}, below {LEAST_F1}"
            about["abstain"].setdefault(task, reason)
    (folder / ABSTAIN).write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", "utf-8")
    return dict(about["abstain"])


def add_to_card(folder: Path, judged: Sequence[Judged], blocks: Sequence[Block]) -> None:
    """Write the figures of the half ``report`` to the end of the folder's README.md, in place of older ones."""
    left = json.loads((folder / ABSTAIN).read_text("utf-8"))["abstain"]
    card = folder / README
    before = card.read_text("utf-8").split(f"\n{SECTION}\n")[0].rstrip("\n")
    wrong = Counter(
        (one.question.task.key, one.question.survey, str(one.verdict)) for one in judged if not one.right
    ).most_common(CONFUSIONS)
    confused = [[task, label, verdict, str(number)] for (task, label, verdict), number in wrong]
    sure = [
        [f"{low:g} to {high:g}" if high < 99 else f"above {low:g}", str(len(some)), f"{100 * right / len(some):.1f} %"]
        for low, high in ((0, 1), (1, 2), (2, 4), (4, 99))
        if (some := [one for one in judged if low <= abs(one.log_odds) < high])
        for right in (sum(one.right for one in some),)
    ]
    card.write_text(
        f"{before}\n\n{SECTION}\n\nLabelled real spectra of several archives (LAMOST, SDSS, DESI, MILES, STELIB and "
        "others), each with the questions that its label decides. Objects are in two halves: settings were chosen "
        f"on one, these figures are from the other. A task with an F1 below {LEAST_F1} on either half is left to a "
        "person. "
        "Few spectra are members of a class, so the figures are rough. Left to a person: "
        f"{', '.join(left) or 'no task'}.\n\n{markdown(blocks)}\n\nConfused classes:\n\n"
        f"{markdown_table(['task', 'label', 'answer', 'number'], confused)}\n\n"
        "How often the answer is right, by the distance of its log odds from 0:\n\n"
        f"{markdown_table(['distance', 'answers', 'right'], sure)}\n",
        "utf-8",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--real", type=Path)
    parser.add_argument("--half", choices=("choose", "report"), default="choose")
    parser.add_argument("--simulated", type=int)
    parser.add_argument("--bounds", type=Path)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--abstain", action="store_true")
    parser.add_argument("--card", action="store_true")
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
    report.text(f"{what.capitalize()}, {sum(one.verdict is None for one in judged)} without an answer.")
    add_table(report, judged, bounds)
    if arguments.abstain:
        for task, reason in abstain(arguments.model, judged).items():
            print(f"{task} is left to a person: {reason}")
    if arguments.card and arguments.half == "report":
        add_to_card(arguments.model, judged, report.blocks)
    if arguments.wrong:
        wrong = Counter(
            (one.question.task.key, one.question.survey, str(one.verdict)) for one in judged if not one.right
        )
        for (task, label, verdict), number in sorted(wrong.items()):
            print(f"{task}: {number} × {label}: {verdict}")


if __name__ == "__main__":
    main()
