"""``spec-o3 nano``: train the nano model from random weights on simulated spectra, on a CPU."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.cli.command import DONE, CannotRun, output_folder, print_result
from agent.errors import Refusal
from agent.language import tr

RUNS = Path("training/runs/nano")
BETWEEN = 10.0
"""Seconds between two lines about progress."""


def add(parser: ArgumentParser) -> None:
    from training.nano.stages import SCALES

    parser.add_argument(
        "--output",
        type=output_folder,
        default=RUNS,
        metavar="DIR",
        help=tr("the folder; training there is continued ({runs})", runs=RUNS),
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=tr("of the random weights and the order (0)"))
    parser.add_argument(
        "--scale", choices=SCALES, default="full", help=tr("full: hours on two cores; quick: learns nothing")
    )
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    from training.environment import missing, quiet
    from training.nano.stages import SCALES, train

    if problem := missing():
        raise CannotRun(problem)

    quiet()
    try:
        result = train(arguments.output, arguments.seed, SCALES[arguments.scale], _Lines())
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
