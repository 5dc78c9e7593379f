"""``spec-o3 nano``: train the nano model from random weights on simulated spectra, on a CPU."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from agent.cli.command import DONE, CannotRun, print_result
from agent.cli.options import SEED, JsonOutput, Overwrite, not_negative, option, output_folder
from agent.errors import Refusal
from agent.language import tr
from training.cli.common import Scale, start_over

RUNS = Path("training/runs/nano")
BETWEEN = 10.0
"""Seconds between two lines about progress."""


@dataclass(kw_only=True)
class Options(Scale, Overwrite, JsonOutput):
    out: Path = option("folder to write", default=RUNS, metavar="DIR", read=output_folder)
    seed: int = option(SEED, default=0, read=not_negative)


def run(arguments: Options) -> int:

    from training.environment import missing, quiet
    from training.nano.stages import SCALES, SETTINGS, train

    if problem := missing():
        raise CannotRun(problem)

    quiet()
    try:
        if arguments.overwrite:
            start_over(arguments.out, SETTINGS)
        result = train(arguments.out, arguments.seed, SCALES[arguments.scale], _Lines())
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    print_result(
        arguments,
        result,
        tr("{folder}: mean F1 {f1:.3f} on simulated spectra", folder=result["folder"], f1=result["mean_f1"]),
    )
    return DONE


class _Lines:
    """Reports progress on stderr, not too often."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now >= self._next:
            print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)
            self._next = now + BETWEEN
