"""Throughput of a vLLM server with the agent and with two other clients; Markdown.

    python -m tests.benchmarks.models.vllm [--model FOLDER] [--python PYTHON] [--spectra N] [--concurrency N]

``PYTHON`` has vLLM; model and ``PYTHON`` are by default those of ``make test-models``. Clients: ``agent.batch`` on
simulated spectra; the same requests without the agent, byte for byte as the agent sent them; vLLM's own benchmark with
as many requests of the same mean token counts. The first two take turns (``--rounds``). The server's caches are emptied
before each. With two cores or more the clients run on the first and the server on the others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from tests.benchmarks.models.replay import (
    Conversations,
    Measured,
    compared,
    cores,
    empty_caches,
    inspected,
    pinned,
    serving,
    spectra,
)
from tests.benchmarks.results import ROOT, Results, command_line
from tests.support.cli import free_port

SAMPLING = Sampling(max_tokens=300)
PICTURE = (430, 640)
"""Rows and columns of a usual zoom picture, for vLLM's own benchmark."""

# `vllm bench serve`; its command line is not usable where vLLM was installed from the CPU wheel.
VLLM_BENCHMARK = """
from argparse import ArgumentParser
from vllm.benchmarks.serve import add_cli_args, main
parser = ArgumentParser()
add_cli_args(parser)
main(parser.parse_args())
"""


@dataclass(frozen=True)
class Result:
    """Requests, tokens and seconds of one client."""

    client: str
    requests: int
    prompt: int
    completion: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds

    @classmethod
    def of(cls, client: str, measured: Measured) -> Result:
        usage = measured.usage
        return cls(client, usage.requests, usage.prompt, usage.completion, measured.seconds)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--model", type=Path, default=next(ROOT.glob(".cache/tiny-*"), None))
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-models" / "bin" / "python")
    parser.add_argument("--spectra", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.model is None or not chosen.python.exists():
        Results().text("Not run: it needs vLLM and a model; `make test-models` makes both.")
        return
    with tempfile.TemporaryDirectory() as folder, _serving(chosen.model, chosen.python, Path(folder)) as url:
        sources = spectra(Path(folder) / "spectra", chosen.spectra)
        at_once = chosen.concurrency
        inspected(url, sources[:at_once], _policy, at_once)
        found = compared(url, sources, _policy, at_once, chosen.rounds)
        agent = Result.of("the agent", found.middle.agent)
        bare = Result.of("the same requests, no agent", found.middle.bare)
        numbers = {"requests": "{}", "prompt tokens": "{:.0f}", "written": "{:.0f}", "seconds": "{:.1f}"}
        table = Results().table({"asked by": "", **numbers, "requests/s": "{:.2f}", "agent's share": "{:.0%}"})
        table.row(*_row(agent, agent))
        table.row(*_row(bare, agent))
        empty_caches(url)
        table.row(*_row(_vllm_benchmark(url, chosen, bare, found.requests), agent))
        pinned = "on a core of their own" if _CORES is not None else "on the same cores as the server"
        text = "Clients {}. Share of the same requests in {} runs: median {:.0%}, from {:.0%} to {:.0%}."
        table.results.text(text.format(pinned, len(found.pairs), found.middle.share, *found.range))


def _policy(endpoint: Endpoint) -> SpecO3:
    return SpecO3(endpoint, SAMPLING, stream=False)


_CORES = cores()


def _row(result: Result, agent: Result) -> tuple[str | int | float, ...]:
    per_request = (result.prompt / result.requests, result.completion / result.requests)
    return result.client, result.requests, *per_request, result.seconds, result.rate, agent.rate / result.rate


def _vllm_benchmark(url: str, chosen: argparse.Namespace, like: Result, recorded: Conversations) -> Result:
    """vLLM's own benchmark, with as many requests of the same mean token counts."""
    pictures = [
        sum(part["type"] == "image_url" for message in json.loads(request)["messages"] for part in message["content"])
        for conversation in recorded
        for request in conversation
    ]
    each = round(sum(pictures) / len(pictures))
    text = like.prompt // like.requests - each * _picture_tokens(chosen.model)
    with tempfile.TemporaryDirectory() as folder:
        command = [chosen.python, "-c", VLLM_BENCHMARK]
        command += ["--backend", "openai-chat", "--endpoint", "/v1/chat/completions"]
        command += ["--base-url", url.removesuffix("/v1"), "--model", "tiny", "--tokenizer", chosen.model]
        command += ["--dataset-name", "random-mm", "--num-prompts", like.requests]
        command += ["--max-concurrency", chosen.concurrency, "--random-input-len", text]
        command += ["--random-output-len", like.completion // like.requests, "--ignore-eos"]
        command += ["--random-mm-base-items-per-request", each]
        command += ["--random-mm-limit-mm-per-prompt", json.dumps({"image": 10, "video": 0})]
        command += ["--random-mm-bucket-config", f"{{({PICTURE[0]}, {PICTURE[1]}, 1): 1.0}}"]
        command += ["--save-result", "--result-dir", folder, "--result-filename", "own.json"]
        environment = os.environ | {"HF_HUB_OFFLINE": "1"}
        line = list(map(str, command))
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"vLLM's own benchmark failed:\n{done.stderr[-3000:]}")
        found = json.loads((Path(folder) / "own.json").read_text())
    return Result(
        "vLLM's own benchmark",
        found["completed"],
        found["total_input_tokens"],
        found["total_output_tokens"],
        found["duration"],
    )


def _picture_tokens(model: Path) -> int:
    """Tokens of a usual picture, at most what the processor of this model allows."""
    own = model / "preprocessor_config.json"  # in published checkpoints and in what training saves
    whole = model / "processor_config.json"
    processor = json.loads(own.read_text()) if own.is_file() else json.loads(whole.read_text())["image_processor"]
    side = processor["patch_size"] * processor["merge_size"]
    most: int = processor["size"]["longest_edge"] // side**2
    return min(most, round(PICTURE[0] / side) * round(PICTURE[1] / side))


@contextmanager
def _serving(model: Path, python: Path, folder: Path) -> Iterator[str]:
    options = ["--model", model, "--name", "tiny", "--python", python, "--port", free_port(), "--context", "4096"]
    prefix: list[str] = []
    if _CORES is not None:
        client, server = _CORES
        prefix = pinned(server)
        os.sched_setaffinity(0, {client})
    with serving(options, folder / "vllm.log", {"VLLM_CPU_KVCACHE_SPACE": "2"}, prefix) as url:
        yield url


if __name__ == "__main__":
    main()
