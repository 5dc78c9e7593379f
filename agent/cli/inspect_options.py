"""The options of ``spec-o3 inspect``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.cli.options import (
    MAX_TURNS,
    TASK,
    JsonOutput,
    Overwrite,
    TaskFiles,
    amount,
    argument,
    at_least_one,
    option,
    output_file,
    positive,
)
from agent.cli.policy_options import CommandOfStages
from agent.cli.selection import Selection
from agent.language import deferred

ADDRESS = deferred("with --engine ray: the Ray cluster, for example auto or HOST:6379 (default: Ray is started here)")


@dataclass(kw_only=True)
class EngineOptions:
    """Where the inspections run."""

    engine: Literal["local", "ray"] = option(
        "where to run: local, on this machine, or ray, with Ray on this machine or a cluster", default="local"
    )
    address: str | None = option(ADDRESS, metavar="ADDRESS")
    workers: int | None = option("with --engine ray: workers (default: one per core)", read=at_least_one)


@dataclass(kw_only=True)
class InspectOptions(CommandOfStages, EngineOptions, Selection, Overwrite, TaskFiles, JsonOutput):
    paths: list[str] = argument(
        "survey files, folders, lists (@FILE, or CSV with a column file), Parquet or HATS catalogues, or - for a "
        "list on stdin",
        metavar="PATH",
    )
    task: str = option(TASK, metavar="KEY")
    out: Path = option("results file, as JSON lines; with --engine ray a folder", metavar="PATH")
    table: Path | None = option("table of candidates: .csv, .parquet, .vot, .xml or .fits", read=output_file)
    max_turns: int = option(MAX_TURNS, default=8, read=at_least_one)
    limit: int | None = option("only the first N, in the order given", read=at_least_one)
    majority: float | None = option("leave to a person if a smaller fraction of the samples agrees (default 2/3)")
    min_snr: float | None = option("leave to a person below this S/N per pixel (default 3)", read=amount)
    person_seconds: float | None = option(
        "compare with the seconds that a person takes per spectrum (the Progress tab has the medians)",
        read=positive,
    )
    margin: float | None = option(
        "leave to a person if the log odds that the policy gives are within X of 0 (default 1)"
    )
    resume: bool | None = option("resume existing results, or refuse to", hidden=True)
    no_resume: bool = option("refuse to resume", hidden=True)
