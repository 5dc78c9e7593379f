"""A nano model on labelled real spectra: F1 per task, and what becomes of its evidence on trial.

    python -m tests.benchmarks.models.nano --model FOLDER --real FOLDER --arm measure [--half choose|report]

``--real`` has a MANIFEST.csv (tests/benchmarks/real_spectra.py). Settings are chosen on the half ``choose``; ``report``
is for the final figures alone. Spectra that are templates which the model learned from are left out. ``--trials N``
takes up to N objects per task and answer; ``--keep FILE`` resumes, and ``--rule`` measures the rule-based baseline.
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from agent.conversation import Policy, PolicyError
from agent.json_lines import append_line
from agent.loop import run
from agent.policies import Sampling
from agent.policies.baseline.rule import Baseline
from agent.policies.nano.policy import Nano
from agent.processes import ordered_map
from agent.simulate import CLASSES
from agent.spectrum import Spectrum
from agent.tasks import load
from agent.trajectory.steps import Verdict
from agent.trial.report import Trial, summarise
from agent.trial.run import trial
from tests.benchmarks.real_spectra import Half, real_spectra
from tests.benchmarks.results import Results, command_line
from training.nano.spectra import templates

SAMPLING = Sampling(max_tokens=64)


@dataclass(frozen=True)
class Case:
    """A spectrum and a task; ``tried``: its trace is put on trial."""

    spectrum: Spectrum
    path: str
    task: str
    label: Verdict
    tried: bool


def cases(folder: Path, half: Half, trials: int) -> Iterator[Case]:
    """Yield every spectrum of a half with each task whose answer is known, those of the trials first."""
    learned = {template.about.file for template in templates()}
    known: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for real in real_spectra(folder, CLASSES):
        if real.half == half and real.tier != "unlabelled" and real.path not in learned:
            for task, answer in real.answers.items():
                known[task, answer].append(real)
    rows = []
    for (task, answer), spectra in sorted(known.items()):
        objects: set[str] = set()
        for at in np.random.default_rng(0).permutation(len(spectra)):
            real = spectra[at]
            fits = real.tier == "trusted" and real.spectrum.sampling < 15
            tried = fits and real.object not in objects and len(objects) < trials
            objects |= {real.object} if tried else set()
            rows.append(Case(real.spectrum, real.path, task, "YES" if answer == "YES" else "NO", tried))
    yield from sorted(rows, key=lambda case: not case.tried)


def judged(case: Case, policy: Policy) -> dict[str, Any]:
    """Return the answer to a case, and its trial."""
    warnings.simplefilter("ignore")
    task = load()[case.task]
    row = {"path": case.path, "sha256": case.spectrum.sha256, "task": case.task, "label": case.label}
    try:
        trajectory = run(case.spectrum, task, policy)
    except PolicyError as error:
        return row | {"error": str(error)}
    answer = trajectory.answer
    row |= {"verdict": answer and answer.verdict, "score": answer and answer.score}
    if case.tried:
        row["trial"] = trial(trajectory, None, case.spectrum, task, policy).to_json()
    return row


def add_tables(report: Results, rows: Sequence[dict[str, Any]]) -> None:
    """F1 per task with any YES, and the shares of the trials."""
    counts = ("YES", "NO", "right YES", "wrong YES", "no answer")
    table = report.table({"task": "", **dict.fromkeys(counts, "{}"), "F1": "{:.3f}"})
    scores: list[float | None] = []
    for task in CLASSES:
        mine = [row for row in rows if row["task"] == task]
        yes = [row for row in mine if row["label"] == "YES"]
        hit = sum(row["verdict"] == "YES" for row in yes)
        false = sum(row["verdict"] == "YES" for row in mine) - hit
        scores.append(2 * hit / (hit + false + len(yes)) if yes else None)
        silent = sum(row["verdict"] is None for row in mine)
        table.row(task, len(yes), len(mine) - len(yes), hit, false, silent, scores[-1])
    table.row("mean", *[None] * 5, float(np.mean([score for score in scores if score is not None])))
    trials = [Trial.from_json(row["trial"]) for row in rows if row.get("trial")]
    table = report.table(
        {"task": "", "traces": "{}", "tested": "{}"}
        | dict.fromkeys(("passed", "necessity", "still claims", "sufficiency", "placebo"), "")
    )
    for summary in summarise(trials):
        shares = (summary.passed, summary.necessity, summary.still_claims, summary.sufficiency, summary.placebo)
        cells = [
            f"{share.k}/{share.n}" + (f" = {share.value:.3f}" if share.value is not None else "") for share in shares
        ]
        table.row(summary.task or "all", summary.traces, summary.tested, *cells)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--rule", action="store_true")
    parser.add_argument("--real", type=Path, required=True)
    parser.add_argument("--half", choices=("choose", "report"), default="choose")
    parser.add_argument("--arm", choices=("picture", "measure"), default="measure")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    policy: Policy = Baseline() if chosen.rule else Nano(chosen.model, SAMPLING, chosen.arm == "measure")
    kept = (
        [json.loads(line) for line in chosen.keep.read_text("utf-8").splitlines()]
        if chosen.keep and chosen.keep.is_file()
        else []
    )
    known = {(row["path"], row["sha256"], row["task"]) for row in kept}
    left = [
        c for c in cases(chosen.real, chosen.half, chosen.trials) if (c.path, c.spectrum.sha256, c.task) not in known
    ]
    for row in ordered_map(partial(judged, policy=policy), left, 2):
        kept.append(row)
        append_line(chosen.keep, json.dumps(row, ensure_ascii=False) + "\n")
    report = Results()
    report.text(f"{len(kept)} questions of the half {chosen.half}, arm {chosen.arm}.")
    add_tables(report, kept)


if __name__ == "__main__":
    main()
