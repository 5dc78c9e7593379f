"""A running vLLM server for tests: started and stopped, its API, its metrics and its other routes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from tests.conftest import ROOT
from tests.support.cli import free_port

TRAINED, ENDLESS = "tiny", "endless"
"""Names of the models: the trained one, and the same with the adapter that never ends a turn."""
RUNNING = "vllm:num_requests_running"
WRITTEN = "vllm:generation_tokens_total"
CONTEXT = 4096
PATIENCE = 60.0
"""Seconds after which waiting is given up."""


@dataclass(frozen=True)
class VllmServer:
    """The server; ``facts`` is the output of ``spec-o3 serve --json``."""

    facts: dict[str, Any]

    @property
    def url(self) -> str:
        """The address of the API, including ``/v1``."""
        return str(self.facts["url"])

    def policy(self, model: str = TRAINED, sampling: Sampling | None = None) -> SpecO3:
        return SpecO3(Endpoint(self.url, model), sampling)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of a route outside the API, e.g. ``/tokenize``."""
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
        """Whether it generates nothing. While it generates on a busy CPU, the metrics may take seconds to arrive."""
        return self.metric(RUNNING) == 0


def wait_until(condition: Callable[[], bool]) -> bool:
    """Wait until the condition holds, at most PATIENCE seconds; return whether it held."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@contextmanager
def served(model: Path, log: Path, *options: str) -> Iterator[VllmServer]:
    """Start a real vLLM by ``spec-o3 serve`` with ``model`` as ``TRAINED``; stop it at the end."""
    line = [sys.executable, ROOT / "app.py", "serve", "--json", "--log", log, "--port", free_port()]
    line += [
        "--model",
        model,
        "--name",
        TRAINED,
        "--context",
        CONTEXT,
        *options,
        "--",
        "--enable-prompt-tokens-details",
    ]
    # A small cache, so that it starts on a laptop; no network access.
    variables = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    with subprocess.Popen(list(map(str, line)), env=variables, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            facts = serve.stdout.readline()
            assert facts, f"vLLM did not start; its log is {log}"
            yield VllmServer(json.loads(facts))
        finally:
            serve.send_signal(signal.SIGTERM)
        assert serve.wait(PATIENCE) == 0
    assert not Path(f"/proc/{json.loads(facts)['pid']}").exists(), "spec-o3 serve left its server behind"
