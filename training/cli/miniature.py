"""``spec-o3 miniature``: both stages of training, from random weights, on simulated spectra, on a CPU."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path

from agent.cli.command import DONE, CannotRun, print_result
from agent.cli.options import JsonOutput, Overwrite, option, output_folder
from agent.errors import Refusal
from agent.language import tr
from training.cli.common import Scale, start_over

RUNS = Path("training/runs/miniature")


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(seed) for seed in text.split(","))
    except ValueError:
        seeds = ()
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise ArgumentTypeError(tr("found {text!r}, expected different whole numbers, 0 or more, as in 0,1", text=text))
    return seeds


@dataclass(kw_only=True)
class Options(Scale, Overwrite, JsonOutput):
    out: Path = option("folder to write", default=RUNS, metavar="DIR", read=output_folder)
    seeds: tuple[int, ...] | None = option(
        "one process each; one per core at a time (default 0,1,2)", metavar="N,N", read=_seeds
    )


def run(arguments: Options) -> int:

    from training.environment import missing
    from training.miniature.proof import PROOF, prove
    from training.miniature.stages import SCALES

    if problem := missing():
        raise CannotRun(problem)
    try:
        if arguments.overwrite:
            start_over(arguments.out, PROOF)
        result = prove(arguments.out, arguments.seeds or (0, 1, 2), SCALES[arguments.scale])
    except (Refusal, OSError) as error:
        raise CannotRun(str(error)) from error
    print_result(arguments, result, f"{result['table']}\ncurves: {result['curves']}")
    return DONE
