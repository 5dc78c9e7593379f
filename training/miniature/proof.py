"""The whole miniature proof: each seed in its own process, then the table and the curves.

Finished parts are not repeated, so an interrupted proof continues when the same command is run again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from agent.batch.journal import write_atomic
from agent.batch.report import table as markdown_table
from agent.processes import end_with_parent, spawn_pool
from training.bench.table import row as bench_row
from training.miniature.stages import MODELS, SCALES, WITHOUT, Scale, Seed
from training.run import Run
from training.settings import to_mapping

PROOF = "proof.json"
BETWEEN = 10.0
"""Seconds between two lines about how far a seed has come."""


class ProofError(ValueError):
    """A folder that cannot hold this proof: its content, and what to do."""


def prove(folder: Path, seeds: Sequence[int], scale: Scale) -> dict[str, Any]:
    """Run the missing parts; return the result of ``figures.write``.

    :raises ProofError: the folder holds something else, or a proof of another scale
    """

    _begin(folder, scale)
    if len(seeds) == 1:
        _do(folder, seeds[0], scale.name)
    else:
        _side_by_side(folder, seeds, scale)
    return write(folder, seeds, scale)


def seed_folder(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}"


def _begin(folder: Path, scale: Scale) -> None:
    there = folder / PROOF
    wanted = json.loads(json.dumps(to_mapping(scale)))
    if there.is_file():
        if json.loads(there.read_text("utf-8")) != wanted:
            raise ProofError(f"{folder} holds a proof with other settings: choose another --output")
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ProofError(f"{folder} holds something that is no proof: choose another --output")
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{PROOF}.new"
    unfinished.write_text(json.dumps(wanted, indent=2) + "\n", "utf-8")
    os.replace(unfinished, there)


def _side_by_side(folder: Path, seeds: Sequence[int], scale: Scale) -> None:
    at_once = min(len(seeds), os.cpu_count() or 1)
    # end_with_parent alone: Ctrl C must end these processes too, which work for hours.
    with spawn_pool(at_once, end_with_parent) as pool:
        for done in [pool.submit(_do, folder, seed, scale.name, at_once) for seed in seeds]:
            done.result()


def _do(folder: Path, seed: int, scale: str, at_once: int = 1) -> None:
    import torch

    from training.environment import quiet

    quiet()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // at_once))
    Seed(seed_folder(folder, seed), seed, SCALES[scale], _Lines(seed)).do()


class _Lines:
    """Reports the progress of a seed on stderr, not too often."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._next = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            print(f"{time.strftime('%H:%M:%S')} seed {self._seed}: {line}", file=sys.stderr, flush=True)
            self._next = now + BETWEEN


if TYPE_CHECKING:
    from matplotlib.axes import Axes

TABLE, RESULT, CURVES = "table.md", "result.json", "curves.svg"
ALPHA = 0.2
"""Penalty for wrong form, as in training."""
NAMES = {
    "base": "base",
    "sft": "SFT",
    "grpo": "SFT + GRPO",
    f"sft{WITHOUT}": "SFT, no tool",
    f"grpo{WITHOUT}": "SFT + GRPO, no tool",
}
COLOURS = {"": "#1f5fbf", WITHOUT: "#c8641e"}
LINES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Line:
    """The scores of one model of one seed: shares, F1 with its interval, reward, tool calls per question."""

    model: str
    seed: int
    n: int
    format_rate: float
    reward: float
    accuracy: float
    f1: float
    f1_lo: float | None
    f1_hi: float | None
    calls: float


def write(folder: Path, seeds: Sequence[int], scale: Scale) -> dict[str, Any]:
    """Write table, curves and result to the proof's folder; return the result as plain values.

    :raises OutcomesError: a bench is not there
    :raises JournalError: a file cannot be written
    """
    lines = [_line(folder, model, seed) for model in MODELS for seed in seeds]
    text = table(lines)
    result = {
        "scale": scale.name,
        "simulated": True,
        "seeds": list(seeds),
        "questions": scale.bench,
        "rows": [asdict(line) for line in lines],
        "table": text,
        "curves": str(folder / CURVES),
    }
    write_atomic(folder / TABLE, text)
    write_atomic(folder / RESULT, json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    draw_curves(folder, seeds)
    return result


def table(lines: Sequence[Line]) -> str:
    """Return one row per model and seed, and the mean of several seeds."""
    headings = ["model", "seed", "format", "reward", "accuracy", "F1", "calls"]
    rows = []
    for model in dict.fromkeys(line.model for line in lines):
        own = [line for line in lines if line.model == model]
        rows += [[NAMES[model], str(line.seed), *_cells([line]), _interval(line), _calls([line])] for line in own]
        if len(own) > 1:
            f1 = f"{100 * fmean(line.f1 for line in own):.1f}"
            rows.append([f"**{NAMES[model]}**", "mean", *_cells(own), f1, _calls(own)])
    n = lines[0].n
    return (
        f"{markdown_table(headings, rows)}\n\n"
        f"{n} questions about simulated spectra, half of them positive: a system that always answers YES has an F1 of "
        "66.7. Format, accuracy and F1 in percent, F1 as the mean over tasks with its 95 % bootstrap "
        f"interval by spectrum; reward is the published one with alpha = {ALPHA}; calls are of the tool, a "
        "question.\n"
    )


def draw_curves(folder: Path, seeds: Sequence[int]) -> None:
    """Draw the loss of the supervised stages, and reward, format rate and calls of GRPO, one line per seed."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.5), layout="constrained")
    (pictures, sft, reward), (form, calls, accuracy) = figure.subplots(2, 3)
    for number, seed in enumerate(seeds):
        style = LINES[number % len(LINES)]

        def line(axes: Axes, stage: str, key: str, end: str, seed: int = seed, style: str = style) -> None:
            logged = Run(folder / f"seed-{seed}" / f"{stage}{end}").logged()
            found = [(line["step"], line[key]) for line in logged if line.get(key) is not None]
            label = f"{'no tool' if end else 'tool'}, seed {seed}"
            axes.plot(*zip(*found, strict=True), style, color=COLOURS[end], label=label, linewidth=1)

        line(pictures, "zooms", "loss", "")
        for end in ("", WITHOUT):
            line(sft, "sft", "loss", end)
            for axes, key in (
                (reward, "reward"),
                (form, "format_rate"),
                (accuracy, "accuracy"),
                (calls, "calls"),
            ):
                line(axes, "grpo", key, end)
    _titled(pictures, "Naming what zooms show: loss", "step", log=True)
    _titled(sft, "SFT: loss", "step", log=True)
    _titled(reward, "GRPO: reward", "update")
    _titled(form, "GRPO: format rate", "update")
    _titled(calls, "GRPO: calls a trajectory", "update")
    _titled(accuracy, "GRPO: accuracy", "update")
    sft.legend(fontsize=8)
    figure.suptitle("The proof in miniature: simulated spectra, random weights")
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "spec-o3"}):
        figure.savefig(folder / CURVES, metadata={"Date": None})


def _titled(axes: Axes, title: str, across: str, log: bool = False) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(across)
    axes.grid(alpha=0.3)
    if log:
        axes.set_yscale("log")


def _line(folder: Path, model: str, seed: int) -> Line:
    found = bench_row(folder / f"seed-{seed}" / "bench" / model)
    scores, outcomes = found.scores, found.outcomes
    reward = fmean(outcome.is_right - ALPHA * (outcome.format_ok is not True) for outcome in outcomes)
    f1 = scores.f1
    return Line(
        model=model,
        seed=seed,
        n=scores.n,
        format_rate=scores.format_rate.value or 0.0,
        reward=reward,
        accuracy=scores.accuracy.value or 0.0,
        f1=f1.value or 0.0,
        f1_lo=f1.lo,
        f1_hi=f1.hi,
        calls=scores.calls or 0.0,
    )


def _cells(lines: Sequence[Line]) -> list[str]:
    def mean(of: Callable[[Line], float]) -> float:
        return fmean(of(line) for line in lines)

    return [
        f"{100 * mean(lambda one: one.format_rate):.1f}",
        f"{mean(lambda one: one.reward):.3f}",
        f"{100 * mean(lambda one: one.accuracy):.1f}",
    ]


def _interval(line: Line) -> str:
    if line.f1_lo is None or line.f1_hi is None:
        return f"{100 * line.f1:.1f}"
    return f"{100 * line.f1:.1f} [{100 * line.f1_lo:.1f}, {100 * line.f1_hi:.1f}]"


def _calls(lines: Sequence[Line]) -> str:
    return f"{fmean(line.calls for line in lines):.2f}"
