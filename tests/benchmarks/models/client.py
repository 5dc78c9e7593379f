"""What the client costs besides the model: CPU time per spectrum and bytes of pictures; Markdown.

    python -m tests.benchmarks.models.client [--spectra N] [--concurrency N ...]

A server process answers each turn: three zooms, then an answer. It keeps the pictures of a request under
their UUIDs, and refuses a request that names one it does not have, as vLLM does. The CPU time is that of the client
process alone: reading, drawing, encoding, requests, parsing and the journal's lines. "in the process": the same
inspections by a policy without a server, so without encoding and requests. "at the pace of a GPU": the server takes as
long as vLLM did with a 7B on one H200. With two cores or more the client runs on the first and the server on the
others.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, cast

import httpx

from agent import tasks
from agent.batch.journal import Journal
from agent.batch.run import inspect_many, jobs_for
from agent.batch.sources import Source
from agent.conversation import Conversation, Piece, Policy
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate.files import for_task, orders, write
from agent.trajectory import Drafter
from tests.benchmarks.models.replay import compared, cores, pinned
from tests.benchmarks.results import ROOT, Results, command_line

CENTRES = (6563, 4861, 4686)
ZOOMS = len(CENTRES)
GOAL = 40
"""CPU milliseconds per spectrum."""
SAMPLES = (1, 4)
"""Samples per spectrum of which the bytes of pictures are counted; the samples begin together."""
SLOW, SLOW_SECONDS = "/slow", 0.02
"""Beginning of the paths that are answered after so many seconds: samples of a spectrum are under way together."""
CHAT = "/v1/chat/completions"
PACED, READING_SECONDS, WRITING_SECONDS = "/paced", 0.041, 1.5
"""Beginning of the paths that are answered as fast as by a GPU: requests are read one after another, then written at
the same time. vLLM's process for the API took 21 s of CPU for 512 requests, and 150 tokens took 10 ms each; together
0.2 s per spectrum with 64 at once, where 0.209 were measured (docs/gpu.md)."""
PADDING = "The line is compared with the continuum on both sides and with the other lines of the series. " * 8
"""Makes a turn as long as a model's, about 200 tokens."""


class CannedServer(asyncio.Protocol):
    """One connection of the server. Pictures and counts are those of the process."""

    pictures: ClassVar[set[str]] = set()
    counts: ClassVar[Counter[str]] = Counter()
    read_until: ClassVar[float] = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not inherit from asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        self._received = bytearray()

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = self._received[:end].decode("latin-1").lower()
            length = int(next((line[15:] for line in head.split("\r\n") if line.startswith("content-length:")), 0))
            if len(self._received) < end + 4 + length:
                return
            body = bytes(self._received[end + 4 : end + 4 + length])
            del self._received[: end + 4 + length]
            path = head.split(" ")[1]
            status, answer = self._answer(path.removeprefix(SLOW).removeprefix(PACED), body)
            content = json.dumps(answer).encode()
            kind = f"content-type: application/json\r\ncontent-length: {len(content)}"
            whole = f"HTTP/1.1 {status} .\r\n{kind}\r\n\r\n".encode() + content
            asyncio.get_running_loop().call_later(self._pause(path), self._transport.write, whole)

    def _pause(self, path: str) -> float:
        if path != f"{PACED}{CHAT}":
            return SLOW_SECONDS if path.startswith(SLOW) else 0.0
        now = asyncio.get_running_loop().time()
        CannedServer.read_until = max(now, self.read_until) + READING_SECONDS
        return self.read_until - now + WRITING_SECONDS

    def _answer(self, path: str, body: bytes) -> tuple[int, Any]:
        match path:
            case _ if path == CHAT:
                self.counts["requests"] += 1
                self.counts["bytes"] += len(body)
                return self._turn(json.loads(body))
            case "/v1/models":
                return 200, {"data": [{"id": "canned", "owned_by": "vllm", "max_model_len": 32768}]}
            case "/version":
                return 200, {"version": "0.32.0"}
            case "/counts":
                return 200, self.counts
            case _ if path.startswith("/reset_"):
                self.pictures.clear()
                return 200, {}
        return 404, {"detail": "Not Found"}

    def _turn(self, body: Mapping[str, Any]) -> tuple[int, Any]:
        parts = [part for message in body["messages"] for part in message["content"] if part["type"] == "image_url"]
        for number, part in enumerate(parts):
            if part.get("image_url"):
                url = part["image_url"]["url"]
                self.counts["picture bytes"] += len(url)
                name = part.get("uuid") or url
                if name not in self.pictures:
                    self.counts["new picture bytes"] += len(url)
                    self.pictures.add(name)
            elif part["uuid"] not in self.pictures:
                self.counts["refused"] += 1
                message = f"Cache miss for image at index {number} but data is not provided."
                return 400, {"error": {"message": message, "type": "BadRequestError", "code": 400}}
        done = sum(message["role"] == "assistant" for message in body["messages"])
        text = turn(done)
        usage = {"prompt_tokens": 3000, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 2500}}
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, {"id": "c", "object": "chat.completion", "model": "canned", "choices": [choice], "usage": usage}


def turn(number: int) -> str:
    """Return the text of a turn: a zoom, or the answer after all of them."""
    if number >= ZOOMS:
        return rf"<think>{PADDING}</think><answer>\boxed{{YES}} Balmer emission.</answer>"
    centre = CENTRES[number]
    call = {
        "name": "spectral_visualization_tool",
        "arguments": {"label": "line", "wavelength_range": [centre - 60 - number, centre + 70]},
    }
    return f"<think>{PADDING}</think>\n<tool_call>\n{json.dumps(call)}\n</tool_call>"


def serve() -> None:
    """Run the server until it is ended; print its address."""
    import uvloop

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(CannedServer, "127.0.0.1", 0, backlog=1024)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
        await server.serve_forever()

    uvloop.run(run())


@contextmanager
def canned_server() -> Iterator[str]:
    """Run the server as a process; yield its address."""
    command = [sys.executable, "-m", "tests.benchmarks.models.client", "--serve"]
    if (known := cores()) is not None:
        client, server = known
        command = [*pinned(server), *command]
        os.sched_setaffinity(0, {client})
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


class InProcess:
    """The same turns without a server."""

    drafter = Drafter("model", "canned")

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield turn(len(conversation.exchanges))


def cpu_of(policy: Policy, sources: Sequence[Source], concurrency: int, samples: int = 1) -> float:
    """Inspect the sources, with the journal; return the CPU milliseconds of this process per spectrum."""
    task = tasks.load()["cv"]
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder, "results.jsonl"), {}) as journal:
        start = _cpu()
        for outcome in inspect_many(jobs_for(sources, samples), task, lambda _: policy, concurrency=concurrency):
            if outcome.reason != "answered":
                raise SystemExit(f"{outcome.job.key}: found {outcome.reason} ({outcome.detail}), expected an answer")
            journal.add(outcome)
        return 1000 * (_cpu() - start) / len(sources)


def served(url: str) -> SpecO3:
    """Return a policy of a new client that knows nothing about the server's pictures."""
    endpoint = Endpoint(url)
    endpoint.check()
    return _policy(endpoint)


def _policy(endpoint: Endpoint) -> SpecO3:
    return SpecO3(endpoint, Sampling(max_tokens=300), stream=False)


def _cpu() -> float:
    """CPU seconds of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _counts(url: str) -> dict[str, int]:
    found: dict[str, int] = httpx.get(f"{url.removesuffix('/v1')}/counts").json()
    return found


def spectra(folder: Path, number: int, seed: int = 0) -> list[Source]:
    """Write simulated survey files and return them."""
    made = orders(for_task("cv", number, (1, 1)), ("LAMOST", "SDSS"), (5.0, 40.0), seed)
    return [Source(path, path.name) for path in write(folder, made, ("cv",))]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--spectra", type=int, default=256)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--paced-rounds", type=int, default=1)
    parser.add_argument("--serve", action="store_true", help="only answer, as the benchmark's server process")
    chosen = parser.parse_args()
    if chosen.serve:
        serve()
        return
    results = Results()
    numbers = {"in the process": "{:.1f}", "with a server": "{:.1f}"}
    with canned_server() as url, tempfile.TemporaryDirectory() as folder:
        sources = spectra(Path(folder), chosen.spectra)
        cpu_of(served(url), spectra(Path(folder, "first"), 4, seed=99), 4)
        table = results.table({"conversations at once": "{}", **numbers})
        for concurrency in (1, *chosen.concurrency):
            runs = [
                (cpu_of(InProcess(), sources, concurrency), cpu_of(served(url), sources, concurrency))
                for _ in range(chosen.rounds)
            ]
            table.row(concurrency, *(statistics.median(column) for column in zip(*runs, strict=True)))
        results.text(
            f"CPU milliseconds per spectrum of {ZOOMS} tool calls, median of {chosen.rounds} runs of {len(sources)} "
            f"spectra; the goal is {GOAL}."
        )
        table = results.table(
            {"samples per spectrum": "{}", "bytes of pictures, of the distinct": "{:.2f}", "kB per request": "{:.0f}"}
            | {"refused": "{}"}
        )
        for samples in SAMPLES:
            # Pictures that neither the server nor this client knows.
            new = spectra(Path(folder, f"{samples} samples"), chosen.spectra // samples, seed=samples)
            before = Counter(_counts(url))
            cpu_of(served(url.removesuffix("/v1") + f"{SLOW}/v1"), new, chosen.concurrency[0], samples)
            found = Counter(_counts(url)) - before
            distinct = found["picture bytes"] / found["new picture bytes"]
            table.row(samples, distinct, found["bytes"] / found["requests"] / 1000, found["refused"])
        columns = {
            "at the pace of a GPU, at once": "{}",
            "spectra/s": "{:.2f}",
            "the same requests, no agent": "{:.2f}",
        }
        table = results.table({**columns, "agent's share": "{:.1%}", "from": "{:.1%}", "to": "{:.1%}"})
        for concurrency in chosen.concurrency if chosen.paced_rounds else ():
            paced = url.removesuffix("/v1") + f"{PACED}/v1"
            pairs = compared(paced, sources, _policy, concurrency, chosen.paced_rounds)
            rates = (len(sources) / client.seconds for client in (pairs.middle.agent, pairs.middle.bare))
            table.row(concurrency, *rates, pairs.middle.share, *pairs.range)


if __name__ == "__main__":
    main()
