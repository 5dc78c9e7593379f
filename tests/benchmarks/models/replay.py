"""The agent on simulated spectra, and the same requests without it, byte for byte as the agent sent them.

For benchmarks of a model server. The two clients take turns, and the server's caches are emptied before each: a server
that is started for development (``VLLM_SERVER_DEV_MODE``) has routes for that.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from agent import tasks
from agent.batch.run import inspect_many, jobs_for
from agent.batch.sources import Source
from agent.conversation import Usage
from agent.policies.openai.client import ChatApi
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from tests.benchmarks.results import ROOT

JSON = {"Content-Type": "application/json"}
CACHES = ("reset_prefix_cache", "reset_mm_cache", "reset_encoder_cache")
LOG_LINES = 40
"""Lines of vLLM's log that are printed after a failure."""

Conversations = list[list[bytes]]
"""The bodies of the requests of each conversation, in order."""
PolicyOf = Callable[[Endpoint], SpecO3]


@dataclass(frozen=True)
class Measured:
    """Requests, tokens and seconds of one client."""

    usage: Usage
    seconds: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.usage.requests / self.seconds


@dataclass(frozen=True)
class Pair:
    """The agent, and then the same requests without it."""

    agent: Measured
    bare: Measured

    @property
    def share(self) -> float:
        """The agent's rate, as a share of that without it."""
        return self.agent.rate / self.bare.rate


@dataclass(frozen=True)
class Comparison:
    """Several pairs in the order of their shares, and the requests of the last that was measured."""

    pairs: tuple[Pair, ...]
    requests: Conversations

    @property
    def middle(self) -> Pair:
        """The pair with the median share."""
        return self.pairs[len(self.pairs) // 2]

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest share."""
        return self.pairs[0].share, self.pairs[-1].share


def compared(url: str, sources: Sequence[Source], policy_of: PolicyOf, concurrency: int, repeats: int) -> Comparison:
    """Measure the agent and the same requests without it, in turns.

    :param repeats: how often; an odd number has a middle
    :raises SystemExit: what ``inspected`` and ``sent_again`` raise, or the server read other tokens without the agent
    """
    pairs = []
    for _ in range(repeats):
        empty_caches(url)
        agent, requests = inspected(url, sources, policy_of, concurrency)
        empty_caches(url)
        bare = sent_again(url, requests, concurrency)
        if bare.usage.prompt != agent.usage.prompt:
            raise SystemExit(
                f"tokens of the same requests without the agent: found {bare.usage.prompt}, expected "
                f"{agent.usage.prompt} as with it"
            )
        pairs.append(Pair(agent, bare))
    return Comparison(tuple(sorted(pairs, key=lambda pair: pair.share)), requests)


def inspected(
    url: str, sources: Sequence[Source], policy_of: PolicyOf, concurrency: int
) -> tuple[Measured, Conversations]:
    """Inspect each spectrum once with ``agent.batch``. The server is checked before the clock starts.

    :raises SystemExit: the server does not answer, an inspection failed, or a request was sent more than once
    """
    endpoint = Endpoint(url)
    if not (health := endpoint.check()).ok:
        raise SystemExit(health.sentence)
    policy = policy_of(endpoint)
    usage = Usage()
    with recording() as sent:
        start = time.perf_counter()
        for outcome in inspect_many(jobs_for(sources), tasks.load()["cv"], lambda _: policy, concurrency=concurrency):
            if outcome.has_failed:
                raise SystemExit(f"an inspection failed: {outcome.detail}")
            usage += outcome.usage
        seconds = time.perf_counter() - start
    if (found := sum(map(len, sent.values()))) != usage.requests:
        raise SystemExit(
            f"requests: found {found}, expected {usage.requests}, one per turn: the server refused some. Its cache of "
            "pictures may be too small for so many conversations (--mm-processor-cache-gb)"
        )
    # As the client encodes them; here after the clock was stopped.
    return Measured(usage, seconds), [[json.dumps(body).encode() for body in bodies] for bodies in sent.values()]


@contextmanager
def recording() -> Iterator[dict[str, list[Mapping[str, Any]]]]:
    """Within the block, record the bodies of what the client sends, by conversation."""
    sent: dict[str, list[Mapping[str, Any]]] = {}
    send = ChatApi.events

    def events(self: ChatApi, body: Mapping[str, Any], *rest: Any) -> AsyncGenerator[str, None]:
        sent.setdefault(_conversation(body), []).append(body)
        return send(self, body, *rest)

    ChatApi.events = events  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        ChatApi.events = send  # type: ignore[method-assign]


def _conversation(body: Mapping[str, Any]) -> str:
    """Return the UUID of the overview: it is the first picture, and each spectrum has its own."""
    parts = (part for message in body["messages"] for part in message["content"] if part["type"] == "image_url")
    first = next(parts)
    return str(first.get("uuid") or first["image_url"]["url"].uuid)


def sent_again(url: str, conversations: Conversations, concurrency: int) -> Measured:
    """Send the recorded requests without an agent, each when the one before it was answered.

    :raises SystemExit: the server refused one
    """
    try:
        return asyncio.run(_send(f"{url}/chat/completions", conversations, concurrency))
    except httpx.HTTPStatusError as error:
        answer = error.response
        raise SystemExit(
            f"a request that is sent again: found status {answer.status_code}, expected 200: {answer.text[:500]}"
        ) from error


async def _send(address: str, conversations: Conversations, concurrency: int) -> Measured:
    waiting = iter(conversations)
    usage = Usage()

    async def send(client: httpx.AsyncClient) -> None:
        nonlocal usage
        for conversation in waiting:
            for body in conversation:
                answer = await client.post(address, content=body, headers=JSON)
                answer.raise_for_status()
                counted = answer.json()["usage"]
                usage += Usage(1, counted["prompt_tokens"], 0, counted["completion_tokens"])

    async with AsyncExitStack() as clients:
        # Each with one connection: a client of many examines all of them in each request.
        opened = [
            await clients.enter_async_context(httpx.AsyncClient(timeout=600, verify=False, trust_env=False))
            for _ in range(concurrency)
        ]
        start = time.perf_counter()
        await asyncio.gather(*map(send, opened))
        return Measured(usage, time.perf_counter() - start)


def spectra(folder: Path, number: int) -> list[Source]:
    """Write so many different simulated spectra as CSV files to a new folder."""
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


def cores() -> tuple[int, set[int]] | None:
    """Return the core of the clients and those of the server; None: there is only one."""
    known = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    return (known[0], set(known[1:])) if len(known) > 1 else None


def pinned(cores: set[int]) -> list[str]:
    """Return the beginning of a command that runs on these cores only."""
    return ["taskset", "--cpu-list", ",".join(map(str, sorted(cores)))]


def empty_caches(url: str) -> None:
    """Empty the server's caches: of prefixes, of pictures as they are sent, and of their features."""
    for cache in CACHES:
        httpx.post(f"{url.removesuffix('/v1')}/{cache}", timeout=60).raise_for_status()


@contextmanager
def serving(
    options: Sequence[object], log: Path, variables: Mapping[str, str], prefix: Sequence[str] = ()
) -> Iterator[str]:
    """Run ``spec-o3 serve`` for development within the block; yield the address of its API.

    If it does not start, or the block fails, the end of vLLM's log is printed.

    :param options: of ``spec-o3 serve``
    :param log: where vLLM's log is written
    :param variables: further environment variables
    :param prefix: a command that starts the command, such as ``taskset``
    """
    command = [*prefix, sys.executable, ROOT / "app.py", "serve", "--json", "--log", log, *options]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_SERVER_DEV_MODE": "1", **variables}
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True, env=environment) as serve:
        assert serve.stdout is not None
        try:
            if not (facts := serve.stdout.readline()):
                raise SystemExit("the server did not start; its messages are above")
            yield str(json.loads(facts)["url"])
        except (Exception, SystemExit):
            if log.is_file():
                lines = log.read_text("utf-8", errors="replace").splitlines()[-LOG_LINES:]
                print("\n".join(["the end of vLLM's log:", *lines]), file=sys.stderr, flush=True)
            raise
        finally:
            serve.terminate()
