"""The options of ``spec-o3 bench``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent.cli.options import (
    LABELS,
    MAX_TURNS,
    ONLY_TASKS,
    SPECTRA,
    JsonOutput,
    Overwrite,
    TaskFiles,
    at_least_one,
    existing_folder,
    keys,
    not_negative,
    option,
    output_folder,
)
from agent.cli.policy_options import PolicyOptions
from agent.language import deferred
from training.cli.common import QUESTIONS

RUNS = Path("training/runs/bench")


@dataclass(kw_only=True)
class BenchOptions(PolicyOptions, Overwrite, TaskFiles, JsonOutput):
    data: list[Path] | None = option(QUESTIONS, metavar="PATH")
    task: list[list[str]] | None = option(ONLY_TASKS, metavar="KEY", read=keys)
    labels: Path | None = option(LABELS)
    spectra: Path | None = option(SPECTRA, metavar="DIR", read=existing_folder)
    against: list[Path] | None = option(
        "training data: refuse a test set that shares a spectrum with it", metavar="PATH"
    )
    leave_out_unreadable: bool = option(
        "score the rest if labelled spectra are missing or cannot be read; the report names them"
    )
    no_tool: bool = option("without the tool: one turn, no zooms")
    name: str | None = option("its name in the table (default: the model's name)", metavar="NAME")
    out: Path | None = option(
        deferred("folder of the run (default: {runs}/NAME)", runs=RUNS), metavar="DIR", read=output_folder
    )
    per_task: int | None = option("only N questions per task, labels in the same share", read=at_least_one)
    per_task_seed: int = option("seed that selects the N", default=0)
    concurrency: int | None = option(
        "questions at once (default 64 with a server; baseline: one per core)", read=at_least_one
    )
    samples: int = option(
        "answer each question N times and score the majority vote; needs --temperature above 0",
        default=1,
        read=at_least_one,
    )
    gpus: int | None = option("GPUs that the model runs on, for the GPU-seconds per sample", read=at_least_one)
    max_turns: int = option(MAX_TURNS, default=8, read=at_least_one)
    gallery: int = option("failures of each kind in gallery.html; 0: none", default=12, read=not_negative)
