"""GPU seconds per spectrum and per GRPO round, for Qwen2.5-VL with random weights: nothing is downloaded. Markdown.

    python -m tests.benchmarks.models.gpu_figures [--scale 3b 7b] [--zooms 3 5] [--concurrency 64 256] [--rollouts 8 16]

In every turn the model writes a fixed number of tokens (``--turn-tokens``, assumed: no length is published); the call
or the answer after them is scripted, and pictures are real. vLLM reuses the earlier turns. The same requests, byte for
byte, are sent without the agent; the two take turns (``--repeats``). Each model that is served and each GRPO round is
a process of its own. Without a GPU nothing is measured, and one sentence says so; ``--scale tiny`` goes through all
steps on a CPU with a model of a million parameters.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.benchmarks.models import gpu_round, gpu_serving
from tests.benchmarks.models.gpu_round import Round
from tests.benchmarks.models.gpu_serving import SURVEY, Serving
from tests.benchmarks.models.published_sizes import SCALES
from tests.benchmarks.results import Results
from training.environment import missing

ROOT = Path(__file__).resolve().parents[3]
TURN_TOKENS = 150
"""Tokens of a turn. Assumed: 600 for four turns."""
NO_GPU = "Not run: found no CUDA GPU, expected one of 80 GB. --scale tiny goes through the same steps on a CPU."
VISIBLE = "CUDA_VISIBLE_DEVICES"
# In a process of its own, so that this one takes no memory of the GPU.
_NAME = "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.models.gpu_figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--scale", nargs="+", choices=SCALES, default=["3b", "7b"])
    found.add_argument("--zooms", nargs="+", type=int, default=[3, 5])
    found.add_argument("--concurrency", nargs="+", type=int, default=[64, 256])
    found.add_argument("--repeats", type=int, default=3, help="runs with the agent and without it, in turns (3)")
    found.add_argument("--rollouts", nargs="*", type=int, default=[8, 16], help="per group; none: no GRPO round")
    found.add_argument("--prompts", type=even_number, default=16, help="groups of a GRPO round, an even number (16)")
    found.add_argument("--batches", type=int, default=4, help="spectra per conversation at once (4)")
    found.add_argument("--turn-tokens", type=int, default=TURN_TOKENS)
    found.add_argument("--python", type=Path, default=Path(sys.executable), help="a Python with vLLM")
    return found


def even_number(text: str) -> int:
    """Return an even number. :raises argparse.ArgumentTypeError: it is none"""
    number = int(text)
    if number < 2 or number % 2:
        raise argparse.ArgumentTypeError(
            f"found {text}, expected an even number, 2 or more: a round is learned from in two updates"
        )
    return number


def main(argv: Sequence[str] | None = None) -> int:
    chosen = parser().parse_args(argv)
    results = Results()
    if problem := missing():
        results.text(f"Not run: {problem}")
        return 0
    gpu = _gpu() if any(SCALES[name].text for name in chosen.scale) else ""
    for name in chosen.scale:
        if SCALES[name].text is None:
            _measure(results, name, "a CPU, whose seconds say nothing about a GPU", {VISIBLE: ""}, chosen)
        elif gpu:
            _measure(results, name, f"one {gpu}", _one_gpu(), chosen)
    if not gpu and any(SCALES[name].text for name in chosen.scale):
        results.text(NO_GPU)
    return 0


def _one_gpu() -> dict[str, str]:
    """Return the environment variable with which a process sees the first GPU alone."""
    return {VISIBLE: os.environ.get(VISIBLE, "0").partition(",")[0]}


def _gpu() -> str:
    """Return the name of the first GPU; empty if there is none."""
    line = [sys.executable, "-c", _NAME]
    return subprocess.run(
        line, stdout=subprocess.PIPE, text=True, env=os.environ | _one_gpu(), check=True
    ).stdout.strip()


def _measure(
    results: Results, name: str, device: str, variables: Mapping[str, str], chosen: argparse.Namespace
) -> None:
    """Measure one model: behind vLLM, then GRPO rounds.

    :param device: what it runs on, in words
    :param variables: environment variables of the processes
    """
    title, turn = SCALES[name].name, chosen.turn_tokens
    results.text(
        f"{title}, random weights, on {device}; {turn} tokens per turn (assumed). The GPU hours are those of "
        f"{SURVEY:,} spectra, by arithmetic. The agent's share is that of the rate of the same requests without it, "
        f"in {chosen.repeats} runs; the other figures are of the run with the median share."
    )
    table = results.table(gpu_serving.COLUMNS)
    serving = Serving(name, chosen.zooms, chosen.concurrency, chosen.batches, turn, chosen.repeats, str(chosen.python))
    for cells in _rows(gpu_serving, serving, variables):
        table.row(*cells)
    if not chosen.rollouts:
        return
    results.text(
        f"{title}, random weights: the second of two GRPO rounds with LoRA on {device}, {chosen.prompts} groups, "
        f"{min(chosen.zooms)} zooms, {turn} tokens per turn (assumed). Written: what the model wrote itself, per "
        "trajectory; tokens: everything after the question. Learning includes sending the weights to vLLM, and waking "
        "it."
    )
    table = results.table(gpu_round.COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        for wanted in grpo_rounds(name, chosen, folder):
            for cells in _rows(gpu_round, wanted, variables):
                table.row(*cells)


def grpo_rounds(name: str, chosen: argparse.Namespace, folder: str) -> list[Round]:
    """Return the GRPO rounds that the command line asks for; they share the model in ``folder``."""
    zooms = min(chosen.zooms)
    return [Round(name, chosen.prompts, one, zooms, chosen.turn_tokens, folder) for one in chosen.rollouts]


def _rows(part: ModuleType, wanted: Serving | Round, variables: Mapping[str, str]) -> Iterator[list[Any]]:
    """Run a part of the benchmark as a process of its own, and yield the rows that it prints.

    :raises SystemExit: it failed
    """
    line = [sys.executable, "-m", part.__name__, json.dumps(asdict(wanted))]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | variables) as process:
        assert process.stdout is not None
        for row in process.stdout:
            yield json.loads(row)
    if process.returncode:
        raise SystemExit(f"{part.__name__}: found exit status {process.returncode}, expected 0; its messages are above")


if __name__ == "__main__":
    sys.exit(main())
