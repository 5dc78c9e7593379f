"""``spec-o3 miniature``: both stages of training, from random weights, on simulated spectra, on a CPU."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from agent.cli.command import DONE, CannotRun, output_folder, print_result
from agent.errors import Refusal
from agent.language import tr

RUNS = Path("training/runs/miniature")


def add(parser: ArgumentParser) -> None:
    from training.miniature.stages import SCALES

    parser.add_argument(
        "--output",
        type=output_folder,
        default=RUNS,
        metavar="DIR",
        help=tr("the proof's folder; a proof there is continued ({runs})", runs=RUNS),
    )
    parser.add_argument(
        "--seeds",
        type=_seeds,
        default=(0, 1, 2),
        metavar="N,N",
        help=tr("one process each; one per core at a time (0,1,2)"),
    )
    parser.add_argument(
        "--scale", choices=SCALES, default="full", help=tr("full: hours on two cores; quick: learns nothing")
    )
    parser.add_argument("--json", action="store_true", help=tr("print the result as one JSON object"))


def run(arguments: Namespace) -> int:
    from training.environment import missing
    from training.miniature.proof import prove
    from training.miniature.stages import SCALES

    if problem := missing():
        raise CannotRun(problem)
    try:
        result = prove(arguments.output, arguments.seeds, SCALES[arguments.scale])
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    print_result(arguments, result, f"{result['table']}\ncurves: {result['curves']}")
    return DONE


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(one) for one in text.split(","))
    except ValueError:
        seeds = ()
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise ArgumentTypeError(tr("found {text!r}, expected different whole numbers, 0 or more, as in 0,1", text=text))
    return seeds
