"""Two real vLLM servers with one model: their prefix caches, and one that is killed while inspections run."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.conversation import Usage
from agent.loop import Ended, inspect
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.replicas import Replicas
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from tests.conftest import ROOT
from tests.models.conftest import CACHE, _require
from tests.models.support.learned_traces import INSPECTED, inspected, shown, turn_texts
from tests.models.support.real_server import CONTEXT, PATIENCE, TRAINED, VllmServer
from tests.support.cli import free_port

TASKS = load()
RESTART = 300.0
"""Seconds that a server may take to start again on busy cores."""


@dataclass(frozen=True)
class Servers:
    """What ``spec-o3 serve --replicas 2 --json`` printed."""

    facts: dict[str, Any]

    @property
    def urls(self) -> list[str]:
        return list(self.facts["urls"])

    def server(self, number: int) -> VllmServer:
        return VllmServer(self.facts["replicas"][number])


@pytest.fixture(scope="module")
def servers(tiny_model: Path) -> Iterator[Servers]:
    """Two servers, started and stopped by ``spec-o3 serve``."""
    _require("vllm")
    log = CACHE / f"vllm-replicas-{os.getpid()}.log"
    line = [sys.executable, ROOT / "app.py", "serve", "--json", "--log", log, "--port", free_port(2)]
    line += ["--model", tiny_model, "--name", TRAINED, "--replicas", "2", "--context", CONTEXT]
    # Without the binding, both would compute on the same core.
    line += ["--", "--enable-prompt-tokens-details"]
    variables = os.environ | {
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    }
    with subprocess.Popen(list(map(str, line)), env=variables, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            printed = serve.stdout.readline()
            assert printed, f"the servers did not start; their logs begin with {log.with_suffix('')}"
            yield Servers(json.loads(printed))
        finally:
            serve.send_signal(signal.SIGTERM)
        assert serve.wait(PATIENCE) == 0


def usage(endpoint: Endpoint | Replicas, seeds: range) -> Usage:
    """Inspect spectra that are new to the servers, four at once; return the tokens of all of them."""

    def one(seed: int) -> Usage:
        *_, end = inspect(simulate("cv", "LAMOST", 20.0, seed=seed), TASKS["cv"], SpecO3(endpoint, stream=False))
        assert isinstance(end, Ended)
        return end.usage

    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(one, seeds), Usage())


def test_the_prefix_caches_hold_as_with_one_server(servers):
    single = usage(Endpoint(servers.urls[0], TRAINED), range(100, 112))
    written = [servers.server(number).metric("vllm:request_success_total") for number in (0, 1)]
    both = usage(Replicas(servers.urls, TRAINED), range(200, 212))
    shares = [servers.server(number).metric("vllm:request_success_total") - written[number] for number in (0, 1)]
    assert sum(shares) == both.requests == single.requests
    assert min(shares) > 0
    # The second server reads the system turn once more than one server would.
    assert both.cached / both.prompt > 0.97 * single.cached / single.prompt > 0.5


def test_one_is_killed_the_inspections_go_on_and_it_returns(servers):
    endpoint = Replicas(servers.urls, TRAINED)
    pid = int(servers.facts["replicas"][0]["pid"])

    def turns(key: str) -> list[str]:
        return turn_texts(list(inspect(shown(key), TASKS[key], SpecO3(endpoint, stream=False))))

    keys = list(INSPECTED) * 6
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(turns, key) for key in keys]
        while sum(future.done() for future in running) < 3:
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
        assert "at 1 of 2 addresses" in endpoint.check().sentence
        found = [future.result() for future in running]
    assert found == [inspected(key).turns for key in keys]
    deadline = time.monotonic() + RESTART
    while "at 2 of 2 addresses" not in endpoint.check().sentence and time.monotonic() < deadline:
        time.sleep(1.0)
    assert "at 2 of 2 addresses" in endpoint.check().sentence
    assert usage(endpoint, range(300, 312)).requests == 60
    assert servers.server(0).metric("vllm:request_success_total") > 0
