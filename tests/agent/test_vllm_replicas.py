"""``spec-o3 serve --replicas`` and ``--engine ray`` with a stand-in for vLLM in real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.policies.servers import read_servers
from agent.vllm import Build, Service, command
from agent.vllm.flags import Adapter, ServeError
from agent.vllm.on_ray import application, check_ray, run_command
from agent.vllm.server import servers_toml
from tests.support.cli import free_port

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "support" / "fake_vllm"
GPU = Build(Path("python"), "0.32.0", cpu=False)
CPU = Build(Path("python"), "0.32.0", cpu=True)


def runs(pid: int) -> bool:
    """Whether the process is alive; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(check: Callable[[], object], seconds: float = 30.0) -> object:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError(f"the condition was still false after {seconds:g} s")


class Serve:
    """``spec-o3 serve --replicas`` in a process of its own. ``record`` is what the server was started with."""

    def __init__(self, folder: Path, behaviour: str, *arguments: str) -> None:
        self.records = folder / "records"
        self.records.mkdir()
        self.port = free_port()
        self.errors = folder / "stderr"
        variables = {**os.environ, "PYTHONPATH": str(FAKE), "FAKE_VLLM": behaviour, "FAKE_VLLM_TOLD": str(self.records)}
        variables.pop("CUDA_VISIBLE_DEVICES", None)
        given = ["--model", "someone/spec-o3-3b", "--port", str(self.port), "--log", str(folder / "vllm.log")]
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "app.py", "serve", *given, *arguments],
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=self.errors.open("w"),
            text=True,
        )

    def record(self) -> dict:
        file = self.records / f"{self.port}.json"
        return dict(wait_for(lambda: json.loads(file.read_text() or "null") if file.exists() else None))

    def ended(self) -> tuple[int, str]:
        self.process.wait(60)
        return self.process.returncode, self.errors.read_text()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Serve]]:
    started: list[Serve] = []

    def start(behaviour: str = "well", *arguments: str) -> Serve:
        started.append(Serve(tmp_path, behaviour, *arguments))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()
        for file in server.records.iterdir():
            record = json.loads(file.read_text())
            for pid in (record["pid"], record["worker"]):
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("option", ["--replicas", "--data-parallel"])
def test_copies_on_this_machine_are_one_server_with_one_address(serve, tmp_path, option):
    server = serve("well", option, "2", "--json")
    ready = json.loads(server.process.stdout.readline())
    assert ready["url"] == f"http://127.0.0.1:{server.port}/v1"
    (tmp_path / "servers.toml").write_text(ready["servers_toml"])
    (listed,) = read_servers(tmp_path / "servers.toml")
    assert (listed.url, listed.model) == (ready["url"], "someone/spec-o3-3b")
    record = server.record()
    server.process.send_signal(signal.SIGTERM)
    assert server.ended()[0] == 0
    wait_for(lambda: not runs(record["pid"]) and not runs(record["worker"]))


def test_copies_are_vllms_data_parallelism_and_both_options_multiply(serve):
    server = serve("well", "--replicas", "2", "--data-parallel", "3", "--dry-run", "--json")
    line = json.loads(server.process.stdout.readline())["command"]
    assert server.ended()[0] == 0
    assert line[line.index("--data-parallel-size") + 1] == "6"
    assert line[line.index("--port") + 1] == str(server.port)


@pytest.mark.parametrize(("name", "key"), [("a/Spec-O3_7B", "spec-o3_7b"), ("openai", "openai-server"), ("µ", "model")])
def test_the_key_for_servers_toml_is_valid(tmp_path, name, key):
    file = tmp_path / "servers.toml"
    file.write_text(servers_toml(name, "http://a:1/v1", "m"))
    assert read_servers(file)[0].key == key


def settings_of(service: Service, build: Build) -> dict:
    (config,) = application(service, build, 2)["applications"][0]["args"]["llm_configs"]
    return config


@pytest.mark.parametrize("build", [GPU, CPU])
def test_ray_serves_with_the_settings_of_the_command(build):
    service = Service("someone/m", sequences=32, pixels=200704, tool_calls="hermes", extra=("--no-x", "--y", "4"))
    config = settings_of(service, build)
    settings = dict(config["engine_kwargs"])
    line = command(service, build)[3:]
    options = {word for word in line if word.startswith("--")}
    elsewhere = {"--model", "--served-model-name", "--host", "--port", "--no-x"}
    assert {f"--{name.replace('_', '-')}" for name in settings} - {"--x"} == options - elsewhere
    for option in options - elsewhere:
        value = settings[option[2:].replace("-", "_")]
        following = line[line.index(option) + 1] if line.index(option) + 1 < len(line) else "--"
        written = json.dumps(value) if isinstance(value, dict) else str(value)
        assert value is True if following.startswith("--") else following == written
    assert settings["x"] is False
    assert config["model_loading_config"] == {"model_id": "someone/m", "model_source": "someone/m"}
    assert config["deployment_config"]["num_replicas"] == 2
    assert config["deployment_config"]["max_ongoing_requests"] == 64
    assert ("placement_group_config" in config) is build.cpu


def test_ray_refuses_what_it_does_not_offer(tmp_path, monkeypatch):
    with pytest.raises(ServeError, match="--adapter has no effect with --engine ray"):
        application(Service("m", adapters=(Adapter("a", tmp_path),)), GPU, 1)
    with pytest.raises(ServeError, match="--data-parallel has no effect with --engine ray"):
        application(Service("m", data_parallel=2), GPU, 1)
    with pytest.raises(ServeError, match="found 'word', expected an option of vLLM"):
        application(Service("m", extra=("word",)), GPU, 1)
    monkeypatch.setenv("VLLM_API_KEY", "the key")
    with pytest.raises(ServeError, match="found VLLM_API_KEY set, but Ray Serve checks no key") as refused:
        application(Service("m"), GPU, 1)
    assert "the key" not in str(refused.value)


def test_without_ray_serve_the_install_command_is_shown(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    with pytest.raises(ServeError, match=r"--engine ray: found no Ray in .*; pip install 'ray\[serve\]>=2.60,<3'"):
        check_ray(Build(python, "0.32.0", cpu=False))


def test_the_command_prints_the_application_and_names_the_cluster(serve):
    server = serve("well", "--engine", "ray", "--replicas", "4", "--dry-run")
    found = json.loads(server.process.stdout.read())
    assert server.ended()[0] == 0
    assert found["http_options"] == {"host": "127.0.0.1", "port": server.port}
    assert found["applications"][0]["import_path"] == "ray.serve.llm:build_openai_app"
    begin = ["-m", "ray.serve.scripts", "run", "--address"]
    assert run_command(GPU, Path("a.yaml"), "auto")[1:] == [*begin, "auto", "a.yaml"]
    # Not the cluster that is running here by chance.
    assert run_command(GPU, Path("a.yaml"), None)[1:] == [*begin, "local", "a.yaml"]


def test_an_address_is_for_ray_only(serve):
    status, stderr = serve("well", "--address", "auto").ended()
    assert status == 2
    assert "--address has no effect without --engine ray" in stderr
