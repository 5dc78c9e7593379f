"""``spec-o3 serve --replicas`` and ``--engine ray`` with a stand-in for vLLM: real processes and real kills."""

from __future__ import annotations

import json
import os
import signal
import socket
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
from agent.vllm.replicas import RESTARTS, environments, servers_toml, services
from agent.vllm.server import Gpu
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
    """``spec-o3 serve --replicas`` in a process of its own. ``record(port)`` is what a server was started with."""

    def __init__(self, folder: Path, behaviour: str, *arguments: str) -> None:
        self.records = folder / "records"
        self.records.mkdir()
        self.port = free_port(2)
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

    def record(self, number: int) -> dict:
        file = self.records / f"{self.port + number}.json"
        return dict(wait_for(lambda: json.loads(file.read_text() or "null") if file.exists() else None))

    def kill(self, number: int) -> None:
        """Kill a server and wait until it is replaced, or given up."""
        pid = self.record(number)["pid"]
        said = self.errors.read_text().count("vLLM ended")
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: self.errors.read_text().count("vLLM ended") > said)

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


def test_each_server_has_its_port_and_gpu_and_one_that_is_killed_is_started_again(serve, tmp_path):
    server = serve("well", "--replicas", "2", "--json")
    ready = json.loads(server.process.stdout.readline())
    assert ready["urls"] == [f"http://127.0.0.1:{server.port + number}/v1" for number in (0, 1)]
    (tmp_path / "servers.toml").write_text(ready["servers_toml"])
    (listed,) = read_servers(tmp_path / "servers.toml")
    assert (listed.urls, listed.model) == (tuple(ready["urls"]), "someone/spec-o3-3b")
    first, second = (server.record(number) for number in (0, 1))
    assert (first["gpus"], second["gpus"]) == ("0", "1")
    server.kill(0)
    again = wait_for(lambda: (found := server.record(0))["pid"] != first["pid"] and found)
    wait_for(lambda: f"port {server.port}: answers again" in server.errors.read_text())
    assert server.record(1)["pid"] == second["pid"]
    assert not runs(first["worker"])
    server.process.send_signal(signal.SIGTERM)
    status, stderr = server.ended()
    assert status == 0
    assert f"port {server.port}: vLLM ended: " in stderr
    assert "It is started again, for time 1 of 3 in 10 min" in stderr
    for record in (again, second):
        wait_for(lambda one=record: not runs(one["pid"]) and not runs(one["worker"]))
    # The log of the process that was killed is kept.
    assert (tmp_path / f"vllm-{server.port}.before.log").exists()


def test_a_server_that_ends_too_often_is_given_up_and_the_command_ends_with_the_last(serve):
    server = serve("well", "--replicas", "2", "--json")
    assert server.process.stdout.readline()
    for number in (0, 1):
        for _ in range(RESTARTS + 1):
            pid = server.record(number)["pid"]
            server.kill(number)
            text = server.errors.read_text()
            if f"port {server.port + number}: vLLM ended" in text and "not started again" in text.splitlines()[-1]:
                break
            wait_for(lambda n=number, before=pid: server.record(n)["pid"] != before)
        if number == 0:
            assert server.process.poll() is None
            assert runs(server.record(1)["pid"])
    status, stderr = server.ended()
    assert status == 1
    assert stderr.count("It ended 4 times within 10 minutes and is not started again") == 2


def test_a_server_that_ends_before_it_ever_answered_ends_all(serve):
    status, stderr = serve("no memory", "--replicas", "2").ended()
    assert status == 2
    assert "ended before it answered: the GPU ran out of memory" in stderr
    assert "Traceback" not in stderr


def test_a_stop_during_the_start_ends_all(serve):
    server = serve("slow", "--replicas", "2")
    records = [server.record(number) for number in (0, 1)]
    server.process.send_signal(signal.SIGTERM)
    assert server.ended()[0] == 0
    wait_for(lambda: not any(runs(record["pid"]) for record in records))


def test_a_port_in_use_is_reported_before_anything_is_started(tmp_path):
    first = free_port(2)
    with socket.socket() as other:
        other.bind(("127.0.0.1", first + 1))
        other.listen()
        server = Serve(tmp_path, "well", "--replicas", "2", "--port", str(first))
        status, stderr = server.ended()
    server.process.communicate()
    assert status == 2
    assert f"port {first + 1} on 127.0.0.1: another program listens there" in stderr
    assert not list(server.records.iterdir())


def test_the_text_for_a_person_has_the_lines_for_servers_toml(serve):
    server = serve("well", "--replicas", "2")
    lines = []
    while not (lines and lines[-1].startswith("One that ends")):
        lines.append(server.process.stdout.readline())
        assert lines[-1]
    text = "".join(lines)
    assert "at 2 addresses" in text
    assert f'urls = ["http://127.0.0.1:{server.port}/v1", "http://127.0.0.1:{server.port + 1}/v1"]' in text
    server.process.send_signal(signal.SIGTERM)
    assert server.ended()[0] == 0


def test_dry_run_prints_the_command_of_each_server(serve):
    server = serve("well", "--replicas", "2", "--dry-run", "--json")
    found = json.loads(server.process.stdout.readline())["replicas"]
    assert server.ended()[0] == 0
    assert [one["environment"]["CUDA_VISIBLE_DEVICES"] for one in found] == ["0", "1"]
    ports = [one["command"][one["command"].index("--port") + 1] for one in found]
    assert ports == [str(server.port), str(server.port + 1)]


def shares(service: Service, number: int, given: dict[str, str] | None = None) -> list[str]:
    return [one["CUDA_VISIBLE_DEVICES"] for one in environments(service, GPU, number, given or {})]


def test_the_gpus_are_shared_out_and_too_few_are_reported(monkeypatch):
    four = tuple(Gpu(index, "H100", 81559, 0, "580", "9.0") for index in range(4))
    monkeypatch.setattr("agent.vllm.replicas.gpus", lambda: four)
    assert shares(Service("m"), 4) == ["0", "1", "2", "3"]
    assert shares(Service("m", data_parallel=2), 2) == ["0,1", "2,3"]
    assert shares(Service("m", extra=("--tensor-parallel-size", "2")), 2) == ["0,1", "2,3"]
    assert shares(Service("m", extra=("--tensor-parallel-size=2",)), 2) == ["0,1", "2,3"]
    assert shares(Service("m"), 2, {"CUDA_VISIBLE_DEVICES": "5, 7,GPU-1"}) == ["5", "7"]
    with pytest.raises(ServeError, match="--replicas 5 needs 5 GPUs, 1 per server: found 4; use fewer replicas"):
        shares(Service("m"), 5)
    with pytest.raises(ServeError, match="needs 4 GPUs, 2 per server: found 3 in CUDA_VISIBLE_DEVICES"):
        shares(Service("m", data_parallel=2), 2, {"CUDA_VISIBLE_DEVICES": "1,2,3"})
    assert "CUDA_VISIBLE_DEVICES" not in environments(Service("m"), CPU, 2, {})[0]


def test_the_ports_follow_each_other_and_must_exist():
    assert [one.port for one in services(Service("m", port=9000), 3)] == [9000, 9001, 9002]
    with pytest.raises(ServeError, match="the last port would be 65537, expected 65535 or less"):
        services(Service("m", port=65534), 4)


@pytest.mark.parametrize(("name", "key"), [("a/Spec-O3_7B", "spec-o3_7b"), ("openai", "openai-server"), ("µ", "model")])
def test_the_key_for_servers_toml_is_valid(tmp_path, name, key):
    file = tmp_path / "servers.toml"
    file.write_text(servers_toml(name, ["http://a:1/v1"], "m"))
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
