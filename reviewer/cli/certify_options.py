"""The options of ``spec-o3 certify``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent.cli.options import (
    LABELS,
    PROCESSES,
    TASK,
    JsonOutput,
    TaskFiles,
    argument,
    at_least_one,
    number_where,
    option,
    output_file,
    share,
)
from agent.language import deferred
from agent.trajectory import Verdict
from reviewer.cli.common import BATCH, Database, Person

REQUIRED: Mapping[str, tuple[Verdict, ...]] = {"both": ("YES", "NO"), "yes": ("YES",), "no": ("NO",)}
"""Verdicts that need a trace that passed its trial, by the value of --require-trial."""


noise = number_where(lambda number: 0 <= number < 0.5, deferred("a number of 0 or more and below 0.5"))


@dataclass(kw_only=True)
class BoundOptions:
    """What is to be certified."""

    TITLE = deferred("what is to be certified")

    error_yes: float = option("largest error of YES", default=0.05, read=share)
    error_no: float = option("largest error of NO", default=0.05, read=share)
    delta: float = option("chance that a bound is wrong", default=0.05, read=share)
    joint: bool = option("delta holds for both sides together, not for each")
    method: Literal["fixed", "anytime"] | None = option(
        "fixed counts once; anytime may be repeated after each label (default fixed; anytime for an ordered queue)"
    )
    no_risk: Literal["omission", "missed"] = option(
        "error of NO: share of YES among those called NO, or share of the YES that are called NO", default="omission"
    )
    require_trial: str | None = option(
        "give a verdict only where each trace passed its evidence trial: for yes, no, or both (default both); needs "
        "the trials of the labelled traces",
        metavar="SIDE",
        choices=lambda: tuple(REQUIRED),
        bare="both",
    )


@dataclass(kw_only=True)
class MethodOptions:
    """How it is certified."""

    TITLE = deferred("how")

    score: Literal["auto", "raw", "fitted"] = option(
        "P(YES) as the policy gives it, or fitted on half of the labels; auto: fitted from 200 labels on",
        default="auto",
    )
    label_noise: float = option(
        "a lower bound of the share of wrong labels; 0: labels are taken as they are, which is valid too",
        default=0.0,
        read=noise,
    )
    trials: Path | None = option(
        "trials of these traces by spec-o3 trial, counted in the certificate and for --require-trial (those of the "
        "database always)"
    )
    processes: int | None = option(PROCESSES, read=at_least_one)


@dataclass(kw_only=True)
class CertifyOptions(BoundOptions, MethodOptions, Person, Database, TaskFiles, JsonOutput):
    results: Path | None = argument("results file of spec-o3 inspect", metavar="RESULTS")
    labels: Path | None = option(LABELS)
    task: str | None = option(TASK, metavar="KEY")
    policy: str | None = option("whose items of the database are certified (default: the only policy)", metavar="NAME")
    batch: str | None = option(BATCH, metavar="NAME")
    simulated: bool = option("also take simulated spectra, which are left out else")
    out: Path | None = option("write the certificate, as JSON", read=output_file)
    retest: Path | None = option("test this certificate on what was decided since")
