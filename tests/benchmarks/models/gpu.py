"""Ten minutes on one GPU: three steps of SFT with LoRA, then two rounds of GRPO with vLLM in the same process.

    python -m tests.benchmarks.models.gpu [--model Qwen/Qwen2.5-VL-3B-Instruct] [--output FOLDER]

It runs the program's own commands with its settings files for one GPU, on a few traces about simulated spectra; only
the numbers of steps and questions are smaller, and the learning rate of GRPO is large, so that weights which do not
reach vLLM would show. The last line says what was found. Exit status 0: all well; 1: a command failed or vLLM's
log-probabilities differ from the model's after the second round; 2: no GPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT
from training.nano.spectra import simulated
from training.nano.teacher import taught
from training.run import Run

MODEL = "Qwen/Qwen2.5-VL-3B-Instruct"
TRACES = 12
GAP = 0.05
"""Mean difference of the log-probability of a sampled token between vLLM and the model, at most: bfloat16 alone gives
about a hundredth."""


def write_traces(file: Path) -> Path:
    """Write traces with labels and spectra as JSON lines, which SFT and GRPO both read; return the file."""
    with file.open("w", encoding="utf-8") as opened:
        for number in range(TRACES):
            known = simulated("test", number)
            trace = taught(known, lambda image: image).trajectory
            opened.write(json.dumps(trace.to_json() | {"spectrum_data": known.spectrum.to_json()}) + "\n")
    return file


def commands(model: str, data: Path, folder: Path, engine: str = "colocate") -> dict[str, list[str]]:
    """Return the two commands by name.

    :param engine: ``vllm.mode``
    """
    program = [sys.executable, str(ROOT / "app.py")]
    sft = [f"model.name={model}", "max_steps=3", "accumulation=2", "workers=0"]
    grpo = [
        *(f"model.name={folder / 'sft'}", "rounds=2", "prompts=2", "rollouts=4", "mini_batch=2", "learning_rate=1e-3"),
        *("turn_tokens=256", "response_tokens=2048", f"vllm.mode={engine}"),
        *(["vllm.correction=token_truncate"] if engine != "none" else []),
    ]
    return {
        name: [
            *(*program, name, "--config", config, "--data", str(data), "--out", str(folder / name)),
            *(part for change in changes for part in ("--set", change)),
        ]
        for name, config, changes in (
            ("sft", "sft_qwen2_5_vl_7b_lora", sft),
            ("grpo", "grpo_qwen2_5_vl_3b_lora", grpo),
        )
    }


def check(model: str, folder: Path, engine: str = "colocate") -> tuple[bool, str]:
    """Run the commands in ``folder``; return whether all is well, and a sentence with what was found."""
    data = write_traces(folder / "traces.jsonl")
    times = []
    for name, command in commands(model, data, folder, engine).items():
        since = time.monotonic()
        print(" ".join(command), flush=True)
        if status := subprocess.run(command, check=False).returncode:
            return False, f"{name}: found exit status {status}, expected 0; its messages are above"
        times.append(f"{name} {time.monotonic() - since:.0f} s")
    steps = [line["step"] for line in Run(folder / "sft").logged() if "loss" in line]
    rounds = [line for line in Run(folder / "grpo").logged() if "reward" in line]
    done = f"{len(steps)} steps of SFT, {len(rounds)} rounds of GRPO ({', '.join(times)})"
    if len(steps) != 3 or len(rounds) != 2:
        return False, f"found {done}, expected 3 and 2"
    if engine == "none":
        return True, f"{done}, without vLLM"
    gap = rounds[-1].get("vllm_gap")
    if gap is None or gap > GAP:
        return False, f"{done}; vllm_gap after the second round: found {gap}, expected at most {GAP}"
    return True, f"{done}; vllm_gap after the second round: {gap:.4f}"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--output", type=Path, help="an empty folder (default: a temporary one)")
    arguments = parser.parse_args(argv)
    import torch

    if not torch.cuda.is_available():
        print("found no CUDA GPU, expected one with about 40 GB for the 3B model")
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.output or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        well, found = check(arguments.model, folder)
    print(f"{'well' if well else 'failed'}: {found}")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
