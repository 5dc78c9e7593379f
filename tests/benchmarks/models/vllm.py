"""Throughput of a vLLM server with the agent and with two other clients; Markdown.

    python -m tests.benchmarks.models.vllm [--model FOLDER] [--python PYTHON] [--spectra N] [--concurrency N]

``PYTHON`` has vLLM; model and ``PYTHON`` are by default those of ``make test-models``. Clients: ``agent.batch`` on
simulated spectra; the same requests without the agent, byte for byte as the agent sent them; vLLM's own benchmark with
as many requests of the same mean token counts. The first two take turns (``--rounds``). The server's caches are emptied
before each. With two cores or more the clients run on the first and the server on the others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from agent import tasks
from agent.batch.run import inspect_many, jobs_for
from agent.batch.sources import Source
from agent.conversation import Conversation, Piece, Usage
from agent.policies import Sampling
from agent.policies.openai.client import ChatApi
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.trajectory.messages import data_url
from tests.benchmarks.results import Results

ROOT = Path(__file__).resolve().parents[3]
SAMPLING = Sampling(max_tokens=300)
JSON = {"Content-Type": "application/json"}
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


class Recorded(SpecO3):
    """The served policy; records the bodies of every conversation's requests, as they are sent."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, SAMPLING, stream=False)
        self.conversations: dict[str, list[bytes]] = {}

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        # Requests are sent by another thread: the overview's picture tells the conversations apart.
        self.conversations.setdefault(data_url(conversation.overview).uuid, [])
        yield from super().turn(conversation)


@contextmanager
def _recording(policy: Recorded) -> Iterator[None]:
    """Within the block, record what the client sends."""
    send = ChatApi.events

    def events(api: ChatApi, body: Mapping[str, Any]) -> AsyncGenerator[str, None]:
        first = next(part for message in body["messages"] for part in message["content"] if "image_url" in part)
        policy.conversations[first["uuid"]].append(json.dumps(body).encode())
        return send(api, body)

    ChatApi.events = events  # type: ignore[method-assign]
    try:
        yield
    finally:
        ChatApi.events = send  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.models.vllm", description=__doc__)
    parser.add_argument("--model", type=Path, default=next(ROOT.glob(".cache/tiny-*"), None))
    parser.add_argument("--python", type=Path, default=ROOT / ".venv-models" / "bin" / "python")
    parser.add_argument("--spectra", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.model is None or not chosen.python.exists():
        Results().text("Not run: it needs vLLM and a model; `make test-models` makes both.")
        return
    with _serving(chosen.model, chosen.python) as url, tempfile.TemporaryDirectory() as folder:
        sources = _spectra(Path(folder), chosen.spectra)
        _agent(url, sources[:2], 2)
        pairs = []
        for _ in range(chosen.rounds):
            _empty_caches(url)
            agent, recorded = _agent(url, sources, chosen.concurrency)
            _empty_caches(url)
            pairs.append((agent, asyncio.run(_bare(url, recorded, chosen.concurrency))))
        shares = sorted(agent.rate / bare.rate for agent, bare in pairs)
        agent, bare = sorted(pairs, key=lambda pair: pair[0].rate / pair[1].rate)[len(pairs) // 2]
        numbers = {"requests": "{}", "prompt tokens": "{:.0f}", "written": "{:.0f}", "seconds": "{:.1f}"}
        table = Results().table({"asked by": "", **numbers, "requests/s": "{:.2f}", "agent's share": "{:.0%}"})
        table.row(*_row(agent, agent))
        table.row(*_row(bare, agent))
        _empty_caches(url)
        table.row(*_row(_vllm_benchmark(url, chosen, bare, recorded), agent))
        pinned = "on a core of their own" if _CORES is not None else "on the same cores as the server"
        text = "Clients {}. Share of the same requests in {} runs: median {:.0%}, from {:.0%} to {:.0%}."
        table.results.text(text.format(pinned, len(shares), statistics.median(shares), shares[0], shares[-1]))


def _cores() -> tuple[int, set[int]] | None:
    """Return the core of the clients and those of the server; None: there is only one."""
    known = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return (known[0], set(known[1:])) if len(known) > 1 else None


_CORES = _cores()


def _row(result: Result, agent: Result) -> tuple[str | int | float, ...]:
    per_request = (result.prompt / result.requests, result.completion / result.requests)
    return result.client, result.requests, *per_request, result.seconds, result.rate, agent.rate / result.rate


def _spectra(folder: Path, number: int) -> list[Source]:
    sources = []
    for seed in range(number):
        spectrum = simulate("cv" if seed % 2 else "cc", "LAMOST", 20.0, seed)
        path = folder / f"{seed}.csv"
        columns = np.column_stack([spectrum.wavelength, spectrum.flux, spectrum.ivar])
        header = "# wavelengths: vacuum\nwavelength,flux,ivar"
        np.savetxt(path, columns, delimiter=",", header=header, comments="")
        sources.append(Source(path, path.name))
    return sources


def _agent(url: str, sources: Sequence[Source], concurrency: int) -> tuple[Result, list[list[bytes]]]:
    endpoint = Endpoint(url)
    endpoint.check()
    policy = Recorded(endpoint)
    usage = Usage()
    start = time.perf_counter()
    with _recording(policy):
        for outcome in inspect_many(jobs_for(sources), tasks.load()["cv"], lambda _: policy, concurrency=concurrency):
            if outcome.has_failed:
                raise SystemExit(f"an inspection failed: {outcome.detail}")
            usage += outcome.usage
    seconds = time.perf_counter() - start
    recorded = list(policy.conversations.values())
    assert usage.requests == sum(map(len, recorded)), "a request was sent twice"
    return Result("the agent", usage.requests, usage.prompt, usage.completion, seconds), recorded


async def _bare(url: str, recorded: Sequence[Sequence[bytes]], concurrency: int) -> Result:
    """The recorded requests, without an agent."""
    waiting = iter(recorded)
    usage = [0, 0]

    async def send(client: httpx.AsyncClient) -> None:
        for conversation in waiting:
            for request in conversation:
                answer = await client.post(f"{url}/chat/completions", content=request, headers=JSON)
                answer.raise_for_status()
                counted = answer.json()["usage"]
                usage[0] += counted["prompt_tokens"]
                usage[1] += counted["completion_tokens"]

    async with httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=None)) as client:
        start = time.perf_counter()
        await asyncio.gather(*(send(client) for _ in range(concurrency)))
        seconds = time.perf_counter() - start
    return Result("the same requests, no agent", sum(map(len, recorded)), *usage, seconds)


def _vllm_benchmark(url: str, chosen: argparse.Namespace, like: Result, recorded: Sequence[Sequence[bytes]]) -> Result:
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
    most = processor["size"]["longest_edge"] // side**2
    return min(most, round(PICTURE[0] / side) * round(PICTURE[1] / side))


def _empty_caches(url: str) -> None:
    """Empty the server's caches; it has these routes when it is started for development."""
    for cache in ("reset_prefix_cache", "reset_mm_cache"):
        httpx.post(f"{url.removesuffix('/v1')}/{cache}", timeout=60).raise_for_status()


@contextmanager
def _serving(model: Path, python: Path) -> Iterator[str]:
    command = [sys.executable, ROOT / "app.py", "serve", "--model", model, "--name", "tiny", "--python", python]
    command += ["--port", "8765", "--context", "4096", "--json"]
    variables = {"VLLM_CPU_KVCACHE_SPACE": "2", "HF_HUB_OFFLINE": "1", "VLLM_SERVER_DEV_MODE": "1"}
    if _CORES is not None:
        command = ["taskset", "--cpu-list", ",".join(map(str, sorted(_CORES[1]))), *command]
        os.sched_setaffinity(0, {_CORES[0]})
    with subprocess.Popen(
        list(map(str, command)), stdout=subprocess.PIPE, text=True, env=os.environ | variables
    ) as serve:
        assert serve.stdout is not None
        line = serve.stdout.readline()
        if not line:
            raise SystemExit("the server did not start")
        try:
            yield json.loads(line)["url"]
        finally:
            serve.terminate()


if __name__ == "__main__":
    main()
