"""A running vLLM as tests see it: its API, its counters, and the routes beside them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3

TRAINED, ENDLESS = "tiny", "endless"
"""What the models are called: the trained one, and it with the adapter that makes it go on and on."""
RUNNING = "vllm:num_requests_running"
WRITTEN = "vllm:generation_tokens_total"
CONTEXT = 4096
PATIENCE = 60.0
"""Seconds after which what is waited for is taken never to come."""


@dataclass(frozen=True)
class VllmServer:
    """``facts`` is what ``spec-o3 serve --json`` said of it."""

    facts: dict[str, Any]

    @property
    def url(self) -> str:
        """Of the API, with its ``/v1``."""
        return str(self.facts["url"])

    def policy(self, model: str = TRAINED, sampling: Sampling | None = None) -> SpecO3:
        return SpecO3(Endpoint(self.url, model), sampling)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer of a route beside the API, such as ``/tokenize``."""
        answer = httpx.post(self.url.removesuffix("/v1") + path, json=body, timeout=PATIENCE)
        answer.raise_for_status()
        return dict(answer.json())

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels, as the server counts it now."""
        lines = httpx.get(self.url.removesuffix("/v1") + "/metrics", timeout=PATIENCE).text.splitlines()
        found = [float(line.rpartition(" ")[2]) for line in lines if line.startswith(name + "{")]
        assert found, f"the server has no metric {name}"
        return sum(found)

    def idle(self) -> bool:
        """Whether it writes nothing. While it writes on a busy CPU, its counters may take seconds to come."""
        return self.metric(RUNNING) == 0


def until(true: Callable[[], bool]) -> bool:
    """Wait for it, but not for ever; whether it came."""
    give_up = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.02)
    return True
