"""``spec-o3 serve --engine ray`` with a real Ray Serve and two real vLLM replicas on the CPU."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent.conversation import Usage
from agent.loop import inspect
from agent.policies.roster import Roster
from agent.policies.servers import read_servers
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load
from tests.conftest import ROOT
from tests.models.conftest import CACHE, _require
from tests.models.support.learned_traces import INSPECTED, inspected, shown, turn_texts
from tests.models.support.real_server import CONTEXT, TRAINED
from tests.support.cli import free_port

TASKS = load()
STOPPING = 120.0
"""Seconds in which Ray Serve and its processes end."""


@pytest.fixture(scope="module")
def roster(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Roster]:
    """The roster with the server that the command printed."""
    _require("vllm", "ray", "mmh3")
    folder = tmp_path_factory.mktemp("ray")
    log = CACHE / f"vllm-ray-{os.getpid()}.log"
    line = [sys.executable, ROOT / "app.py", "serve", "--engine", "ray", "--replicas", "2", "--json", "--log", log]
    line += ["--port", free_port(), "--model", tiny_model, "--name", TRAINED, "--context", CONTEXT]
    line += ["--", "--enable-prompt-tokens-details"]
    variables = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    variables |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "SPEC_O3_TEST": folder.name}
    with subprocess.Popen(list(map(str, line)), env=variables, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        try:
            printed = serve.stdout.readline()
            assert printed, f"Ray Serve did not start; its log is {log}"
            facts = json.loads(printed)
            (folder / "servers.toml").write_text(facts["servers_toml"])
            assert facts["replicas"] == 2
            yield Roster(read_servers(folder / "servers.toml"))
        finally:
            serve.send_signal(signal.SIGTERM)
        assert serve.wait(STOPPING) == 0
    until = time.monotonic() + 60
    while (left := marked(f"SPEC_O3_TEST={folder.name}")) and time.monotonic() < until:
        time.sleep(0.2)
    assert not left, "processes of Ray are left behind"


def marked(variable: str) -> list[str]:
    """The command lines of the running processes with that environment variable."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if variable.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def policy(roster: Roster) -> SpecO3:
    found = roster.policy(TRAINED, stream=False)
    assert isinstance(found, SpecO3)
    return found


def test_the_learned_traces_are_repeated_and_the_turns_of_a_conversation_meet_one_cache(roster):
    assert roster.health(TRAINED).ok
    for key in INSPECTED:
        found = list(inspect(shown(key), TASKS[key], policy(roster)))
        assert turn_texts(found) == inspected(key).turns

    def used(seed: int) -> Usage:
        *_, end = inspect(simulate("cv", "LAMOST", 20.0, seed=seed), TASKS["cv"], policy(roster))
        assert end.reason == "answered"
        return end.usage

    with ThreadPoolExecutor(4) as pool:
        usage = sum(pool.map(used, range(400, 412)), Usage())
    assert usage.requests == 60
    # With the turns at random replicas, 0.6 of the prompts' tokens are cached, with all of them at one, 0.74.
    assert usage.cached / usage.prompt > 0.7
