"""GPU seconds per spectrum and per GRPO round, for Qwen2.5-VL with random weights: nothing is downloaded. Markdown.

    python -m tests.benchmarks.models.gpu_figures [--scale 3b 7b] [--zooms 3 5] [--concurrency 64 256] [--rollouts 8 16]

Turns have a fixed length (``--turn-tokens``, assumed: no length is published) and scripted calls; pictures are real.
vLLM reuses the earlier turns. The same requests are then sent without the agent. Without a GPU nothing is measured, and
one sentence says so; ``--scale tiny`` goes through all steps on a CPU with a model of a million parameters.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from agent import tasks
from agent.batch.run import inspect_many, jobs_for
from agent.batch.sources import Source
from agent.conversation import Usage
from agent.policies.openai.endpoint import Endpoint
from agent.simulate import simulate
from tests.benchmarks.models.gpu import write_traces
from tests.benchmarks.models.published_sizes import SCALES, Scale, processor, write
from tests.benchmarks.models.scripted import FixedLength, Scripted, forced, repeatable_token
from tests.benchmarks.results import Results
from tests.support.cli import free_port

ROOT = Path(__file__).resolve().parents[3]
NAME = "random-weights"
TURN_TOKENS = 150
"""Tokens of a turn. Assumed: 600 for four turns."""
SURVEY = 10_000_000
"""Spectra, for the cost by arithmetic."""
NO_GPU = "Not run: found no CUDA GPU, expected one of 80 GB. --scale tiny goes through the same steps on a CPU."


@dataclass(frozen=True)
class Measured:
    """Tokens and seconds of one client."""

    usage: Usage
    seconds: float


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", nargs="+", choices=SCALES, default=["3b", "7b"])
    parser.add_argument("--zooms", nargs="+", type=int, default=[3, 5])
    parser.add_argument("--concurrency", nargs="+", type=int, default=[64, 256])
    parser.add_argument("--rollouts", nargs="*", type=int, default=[8, 16], help="per group; none: no GRPO round")
    parser.add_argument("--prompts", type=int, default=16, help="groups of a GRPO round (16)")
    parser.add_argument("--batches", type=int, default=4, help="spectra per conversation at once (4)")
    parser.add_argument("--turn-tokens", type=int, default=TURN_TOKENS)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="a Python with vLLM")
    chosen = parser.parse_args(argv)
    if not _has_gpu() and chosen.scale != ["tiny"]:
        Results().text(NO_GPU)
        return 0
    for name in chosen.scale:
        scale = SCALES[name]
        with tempfile.TemporaryDirectory() as folder:
            serving_figures(scale, Path(folder), chosen)
        for rollouts in chosen.rollouts:
            with tempfile.TemporaryDirectory() as folder:
                round_figures(scale, Path(folder), rollouts, chosen)
    return 0


def _has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def _device(scale: Scale) -> str:
    """Return what the model runs on."""
    if scale.text is None:
        return "a CPU, whose seconds say nothing about a GPU"
    import torch

    return f"one {torch.cuda.get_device_name()}"


def serving_figures(scale: Scale, folder: Path, chosen: argparse.Namespace) -> None:
    """Serve the model and measure each number of zooms and of conversations at once, with the agent and without."""
    results = Results()
    results.text(
        f"{scale.name}, random weights, on {_device(scale)}; {chosen.turn_tokens} tokens per turn (assumed). "
        f"The GPU hours are those of {SURVEY:,} spectra, by arithmetic."
    )
    numbers = {"spectra": "{}", "prompt tokens": "{:.0f}", "of them cached": "{:.0%}", "written": "{:.0f}"}
    costs = {"GPU s per spectrum": "{:.3f}", "without the agent": "{:.3f}", "share": "{:.0%}", "GPU hours": "{:.0f}"}
    table = results.table({"zooms": "{}", "at once": "{}", **numbers, **costs})
    model = write(scale, folder / NAME)
    most = max(chosen.concurrency) * chosen.batches
    sources = _spectra(folder / "spectra", most + 2)
    sampling = FixedLength(max_tokens=chosen.turn_tokens, token=repeatable_token(processor(scale).tokenizer))
    with _server(scale, model, max(chosen.concurrency), max(chosen.zooms), chosen.python) as url:
        _inspect(url, sources[most:], sampling, chosen.zooms[0], 2)
        for zooms in chosen.zooms:
            for concurrency in chosen.concurrency:
                used = sources[: concurrency * chosen.batches]
                _empty_caches(url)
                agent, recorded = _inspect(url, used, sampling, zooms, concurrency)
                _empty_caches(url)
                bare = asyncio.run(_replay(url, recorded, sampling, concurrency))
                usage, count = agent.usage, len(used)
                each = agent.seconds / count
                table.row(
                    *(zooms, concurrency, count, usage.prompt / count, usage.cached / usage.prompt),
                    *(usage.completion / count, each, bare.seconds / count, bare.seconds / agent.seconds),
                    each * SURVEY / 3600,
                )


def _spectra(folder: Path, number: int) -> list[Source]:
    folder.mkdir()
    sources = []
    for seed in range(number):
        spectrum = simulate("cv" if seed % 2 else "cc", "LAMOST", 20.0, seed)
        path = folder / f"{seed}.csv"
        columns = np.column_stack([spectrum.wavelength, spectrum.flux, spectrum.ivar])
        header = "# wavelengths: vacuum\nwavelength,flux,ivar"
        np.savetxt(path, columns, delimiter=",", header=header, comments="")
        sources.append(Source(path, path.name))
    return sources


Recorded = list[list[list[Any]]]
"""The requests of each conversation."""


def _inspect(
    url: str, sources: Sequence[Source], sampling: FixedLength, zooms: int, concurrency: int
) -> tuple[Measured, Recorded]:
    policy = Scripted(Endpoint(url), sampling, zooms)
    usage = Usage()
    start = time.perf_counter()
    for outcome in inspect_many(jobs_for(sources), tasks.load()["cv"], lambda _: policy, concurrency=concurrency):
        if outcome.has_failed:
            raise SystemExit(f"an inspection failed: {outcome.detail}")
        usage += outcome.usage
    seconds = time.perf_counter() - start
    recorded = list(policy.conversations.values())
    expected = [zooms + 1] * len(sources)
    if (found := [len(requests) for requests in recorded]) != expected:
        raise SystemExit(f"turns per conversation: found {sorted(set(found))}, expected {zooms + 1} in all")
    return Measured(usage, seconds), recorded


async def _replay(url: str, recorded: Recorded, sampling: FixedLength, concurrency: int) -> Measured:
    """Send the recorded requests without an agent; they are encoded before the clock starts."""
    settings = {"model": NAME, "stream": False, **sampling.settings()}
    waiting = iter([[json.dumps({**settings, "messages": one}) for one in requests] for requests in recorded])
    usage = Usage()

    async def send(client: httpx.AsyncClient) -> None:
        nonlocal usage
        for conversation in waiting:
            for body in conversation:
                answer = await client.post(f"{url}/chat/completions", content=body, headers=headers)
                answer.raise_for_status()
                counted = answer.json()["usage"]
                usage += Usage(1, counted["prompt_tokens"], counted["completion_tokens"])

    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=None)) as client:
        start = time.perf_counter()
        await asyncio.gather(*(send(client) for _ in range(concurrency)))
        return Measured(usage, time.perf_counter() - start)


def _empty_caches(url: str) -> None:
    """Empty the server's caches; it has these routes when it is started for development."""
    for cache in ("reset_prefix_cache", "reset_mm_cache", "reset_encoder_cache"):
        httpx.post(f"{url.removesuffix('/v1')}/{cache}", timeout=60).raise_for_status()


@contextmanager
def _server(scale: Scale, model: Path, sequences: int, zooms: int, python: Path) -> Iterator[str]:
    command = [sys.executable, ROOT / "app.py", "serve", "--model", model, "--name", NAME, "--python", python, "--json"]
    command += ["--port", free_port(), "--sequences", sequences, "--images", zooms + 1]
    command += ["--log", model.parent / "vllm.log", "--context", 8192]
    command += ["--", "--load-format", "dummy", "--enable-prompt-tokens-details"]
    variables = {"HF_HUB_OFFLINE": "1", "VLLM_SERVER_DEV_MODE": "1"}
    variables |= {} if scale.text else {"VLLM_CPU_KVCACHE_SPACE": "1"}
    line = list(map(str, command))
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=os.environ | variables) as serve:
        assert serve.stdout is not None
        try:
            if not (facts := serve.stdout.readline()):
                raise SystemExit("the server did not start; its messages are above")
            yield json.loads(facts)["url"]
        finally:
            serve.terminate()


def round_figures(scale: Scale, folder: Path, rollouts: int, chosen: argparse.Namespace) -> None:
    """Run two rounds of GRPO with the settings for one GPU, and report the second."""
    from training.cli.sft import config_file
    from training.data import questions
    from training.grpo.learning import arguments_of, trainer_of
    from training.grpo.settings import GrpoSettings, rounds
    from training.model import load
    from training.run import Run
    from training.settings import read

    device = "cuda" if scale.text else "cpu"
    model = write(scale, folder / NAME, device)
    data = write_traces(folder / "traces.jsonl")
    zooms = min(chosen.zooms)
    turn = chosen.turn_tokens
    prompts = chosen.prompts if scale.text else 2
    changes = [f"model.name={model}", f"output={folder / 'run'}", f"prompts={prompts}", f"rollouts={rollouts}"]
    changes += [f"mini_batch={prompts // 2}", "rounds=2", f"turn_tokens={turn}", "traces=0", "save_rounds=100"]
    if not scale.text:
        changes += ["vllm.mode=none", "model.dtype=float32", "response_tokens=2000"]
    settings = read(config_file("grpo_qwen2_5_vl_3b_lora"), GrpoSettings, changes)
    found = questions([str(data)])
    loaded = load(settings.model)
    run = Run(Path(settings.output))
    run.begin("grpo", settings, "new")
    arguments = arguments_of(settings, rounds(settings, len(found)))
    trainer: Any = trainer_of(settings, loaded, found, run, arguments)
    trainer.add_callback(run.callback())
    trainer.writer = forced(trainer.writer, loaded.processor.tokenizer, turn, zooms)
    trainer.train()
    last = [line for line in run.logged() if "reward" in line][-1]
    trajectories = prompts * rollouts
    stages = [last[f"seconds_{stage}"] for stage in ("writing", "drawing", "learning")]
    results = Results()
    results.text(
        f"{scale.name}, random weights: one GRPO round with LoRA on {_device(scale)}, {prompts} groups of {rollouts} "
        f"trajectories with {zooms} zooms, {turn} tokens per turn (assumed)."
    )
    columns = {"trajectories": "{}", "generate s": "{:.1f}", "draw s": "{:.1f}", "learn s": "{:.1f}"}
    table = results.table({**columns, "GPU s per trajectory": "{:.2f}", "turns": "{:.1f}", "tokens": "{:.0f}"})
    table.row(trajectories, *stages, sum(stages) / trajectories, last["turns"], last["tokens"])


if __name__ == "__main__":
    sys.exit(main())
