"""``spec-o3 serve`` with a stand-in for vLLM: real processes, real signals, vLLM's own log lines."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import app
from agent import plot, tasks
from agent.loop import MAX_TURNS
from agent.policies.local.chat_template import DIALECT, TEMPLATES
from agent.policies.servers import read_servers
from agent.tool import TOOL_BLOCK
from agent.vllm import CONTEXT, Build, Service, command, conversation_tokens, environment, picture_tokens
from agent.vllm.flags import (
    LARGEST_OVERVIEW,
    LARGEST_ZOOM,
    PATCH,
    PROMPT,
    TURNS,
    Adapter,
    ServeError,
    engine_settings,
    find_build,
)
from agent.vllm.log import VllmLog
from agent.vllm.on_ray import application, check_ray, run_command
from agent.vllm.pictures import MAX_PIXELS, picture_limit
from agent.vllm.server import servers_toml, tree_memory, wait_until_ready
from tests.support.cli import free_port
from tests.support.fake_vllm.vllm.entrypoints.openai.api_server import DEATHS

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "support" / "fake_vllm"
MESSAGE_SOURCES = (*(ROOT / "agent" / "vllm").glob("*.py"), ROOT / "agent" / "cli" / "serve.py")


def obey_signals() -> None:
    """Restore the default handlers: a background job or nohup ignores some signals, and children inherit that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def fake_vllm(monkeypatch):
    """The stand-in on the path of the Python that ``serve`` starts."""
    monkeypatch.setenv("PYTHONPATH", str(FAKE))


def served(capsys, *arguments: str) -> tuple[int, str, str]:
    """Run ``spec-o3 serve`` in this process, where it starts nothing; return status, stdout and stderr."""
    try:
        status = app.main(["serve", "--model", "someone/spec-o3-3b", *arguments])
    except SystemExit as refused:
        status = refused.code
    printed = capsys.readouterr()
    return status, printed.out, printed.err


class Serve:
    """``spec-o3 serve`` in a separate process, with the stand-in on its path."""

    def __init__(self, folder: Path, behaviour: str, *arguments: str) -> None:
        self.start_file = folder / "start.json"
        self.log = folder / "vllm.log"
        self.port = free_port()
        variables = {**os.environ, "PYTHONPATH": str(FAKE), "FAKE_VLLM": behaviour}
        variables |= {"FAKE_VLLM_TOLD": str(self.start_file), "XDG_STATE_HOME": str(folder / "state")}
        variables.pop("CUDA_VISIBLE_DEVICES", None)
        given = ["--model", "someone/spec-o3-3b", "--port", str(self.port), "--log", str(self.log)]
        self.process = subprocess.Popen(
            [sys.executable, ROOT / "app.py", "serve", *given, *arguments],
            cwd=folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=obey_signals,
        )

    def until_ready(self) -> dict:
        """Return its JSON line, once the server has answered."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def start_record(self) -> dict:
        """Return what the stand-in was started with; wait until it has started."""
        return wait_for(lambda: json.loads(self.start_file.read_text() or "null") if self.start_file.exists() else None)

    def ended(self) -> tuple[int, str]:
        """Wait for the end; return the exit status and stderr."""
        _, stderr = self.process.communicate(timeout=60)
        return self.process.returncode, stderr


def wait_for(check: Callable[[], object]) -> object:
    for _ in range(600):
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError("the condition was still false after 30 s")


def runs(pid: int) -> bool:
    """Whether the process is alive; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Serve]]:
    started = []

    def start(behaviour: str = "well", *arguments: str) -> Serve:
        started.append(Serve(tmp_path, behaviour, *arguments))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
        if server.start_file.exists():
            record = json.loads(server.start_file.read_text())
            for pid in (record["pid"], record["worker"]):
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)
        server.process.communicate()


@pytest.mark.parametrize(
    ("number", "options"), [(signal.SIGINT, ()), (signal.SIGTERM, ("--replicas", "2")), (signal.SIGHUP, ())]
)
def test_the_server_is_reported_and_a_signal_ends_it_with_its_children(serve, tmp_path, number, options):
    server = serve("well", "--json", *options)
    ready = server.until_ready()
    (tmp_path / "servers.toml").write_text(ready["servers_toml"])
    (listed,) = read_servers(tmp_path / "servers.toml")
    assert (listed.url, listed.model) == (ready["url"], "someone/spec-o3-3b")
    assert ready["url"] == f"http://127.0.0.1:{server.port}/v1"
    assert ready["models"] == ["someone/spec-o3-3b"]
    assert (ready["weights_gib"], ready["cache_tokens"], ready["context"]) == (7.16, 340224, CONTEXT)
    assert ready["conversations"] == pytest.approx(340224 / CONTEXT)
    assert ready["main_memory_bytes"] > 1e6
    record = server.start_record()
    assert runs(record["pid"])
    assert runs(record["worker"])
    server.process.send_signal(number)
    assert server.ended()[0] == 0
    wait_for(lambda: not runs(record["pid"]) and not runs(record["worker"]))


def test_during_the_start_important_lines_are_printed_and_the_log_is_complete(serve):
    server = serve("slow")
    printed = [server.process.stderr.readline()]
    while "the cache holds" not in printed[-1]:
        assert printed[-1], printed
        printed.append(server.process.stderr.readline())
    server.process.send_signal(signal.SIGTERM)
    status, rest = server.ended()
    stderr = "".join(printed) + rest
    assert status == 0
    assert "weights loaded: 7.16 GiB in 3.2 s" in stderr
    assert "memory for the cache: 11.68 GiB" in stderr
    assert "the cache holds 340,224 tokens" in stderr
    assert "Loading safetensors checkpoint shards: 100% Completed | 2/2" in stderr
    assert "Resolved architecture: Qwen2_5_VLForConditionalGeneration" in stderr
    assert not runs(server.start_record()["pid"])
    assert "[gpu_worker.py:760]" in server.log.read_text()


def test_a_server_that_does_not_end_is_killed_by_the_second_signal(serve):
    server = serve("stubborn", "--json")
    server.until_ready()
    record = server.start_record()
    server.process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert runs(record["pid"])
    server.process.send_signal(signal.SIGINT)
    assert server.ended()[0] == 0
    wait_for(lambda: not runs(record["pid"]) and not runs(record["worker"]))


@pytest.mark.skipif(sys.platform != "linux", reason="uses Linux's parent-death signal")
def test_the_server_ends_even_if_spec_o3_is_killed(serve):
    server = serve("well", "--json")
    server.until_ready()
    record = server.start_record()
    server.process.kill()
    wait_for(lambda: not runs(record["pid"]))


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("no memory", "the GPU ran out of memory"),
        ("memory taken", "--memory 0.9 needs 21.29 GiB"),
        ("cache too small", "--context 16272 is the most that fits"),
        ("no network", "Hugging Face cannot be reached"),
        ("gated", "the model is gated"),
        ("no such model", "no such model"),
        ("too long", "--context 8192 is the most"),
        ("bad config", "names no architecture that this vLLM knows"),
        ("bad weights", "damaged or cut short"),
        ("port", "the port is taken"),
        ("no gpu", "found no GPU that it can use"),
        ("something new", "vLLM's message: KeyError: 'nobody has seen this'"),
    ],
)
def test_the_log_says_why_a_server_died(behaviour, words):
    log = VllmLog()
    for line in DEATHS[behaviour].splitlines():
        log.read(line)
    assert words in log.why(1)


@pytest.mark.parametrize(
    ("behaviour", "words"), [("no memory", "the GPU ran out of memory"), ("killed", "when main memory runs out")]
)
def test_a_server_that_dies_before_it_answers_is_reported_in_a_sentence(serve, behaviour, words):
    server = serve(behaviour)
    status, stderr = server.ended()
    assert status == 2
    assert words in stderr
    assert str(server.log) in stderr
    assert "Traceback" not in stderr


def test_a_server_that_dies_later_exits_with_status_1(serve):
    status, stderr = serve("dies later").ended()
    assert status == 1
    assert "vLLM ended: the GPU ran out of memory" in stderr


def test_a_port_in_use_is_reported_before_anything_is_started(fake_vllm, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        status, _, stderr = served(capsys, "--port", str(port))
    assert status == 2
    assert f"port {port} on 127.0.0.1: another program listens there; choose another with --port" in stderr


def test_dry_run_prints_the_command_without_running_it(fake_vllm, capsys):
    given = (
        "--dry-run",
        "--json",
        "--name",
        "mine",
        "--tool-calls",
        "mistral",
        "--replicas",
        "2",
        "--data-parallel",
        "3",
    )
    status, out, _ = served(capsys, *given, "--", "--max-num-batched-tokens", "4096")
    assert status == 0
    line = json.loads(out)["command"]
    assert line[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    assert line[-2:] == ["--max-num-batched-tokens", "4096"]
    options = dict(zip(line[3::2], line[4::2], strict=False))
    assert options["--served-model-name"] == "mine"
    assert json.loads(options["--limit-mm-per-prompt"]) == {"image": 10, "video": 0}
    assert options["--generation-config"] == "vllm"
    assert options["--max-model-len"] == str(CONTEXT)
    assert "--enable-prefix-caching" in line
    assert "--enforce-eager" not in line
    assert "--enable-auto-tool-choice" in line
    assert line[line.index("--tool-call-parser") + 1] == "mistral"
    # Both options for copies multiply.
    assert line[line.index("--data-parallel-size") + 1] == "6"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context", "12"], "found '12', expected a whole number, 1024 or more"),
        (["--memory", "90"], "found '90', expected a fraction above 0, at most 1"),
        (["--adapter", "folder"], "found 'folder', expected NAME=FOLDER"),
        (["--adapter", "a=nowhere"], "found no adapter in nowhere"),
        (["--model", "./nowhere"], "found no folder ./nowhere"),
        (["--python", "nowhere"], "nowhere: found no Python that runs"),
        (["--address", "auto"], "--address has no effect without --engine ray"),
    ],
)
def test_bad_arguments_are_reported_before_anything_is_started(fake_vllm, capsys, arguments, words):
    status, _, stderr = served(capsys, *arguments)
    assert status == 2
    assert words in stderr


def test_for_a_python_without_vllm_the_install_command_is_shown(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    with pytest.raises(ServeError, match=r"found no vLLM in it; pip install 'spec-o3\[serve\]'"):
        find_build(python)
    with pytest.raises(ServeError, match=r"--engine ray: found no Ray in .*; pip install 'ray\[serve\]>=2.60,<3'"):
        check_ray(Build(python, "0.32.0", cpu=False))


GPU = Build(Path("python"), "0.32.0", cpu=False)
CPU = Build(Path("python"), "0.32.0", cpu=True)


def test_without_a_gpu_the_dtype_is_float32_nothing_is_compiled_and_the_cache_has_a_size():
    line = command(Service("m"), CPU)
    assert line[line.index("--dtype") + 1] == "float32"
    assert line[line.index("--max-num-seqs") + 1] == "8"
    assert "--enforce-eager" in line
    assert environment(CPU, {})["VLLM_CPU_KVCACHE_SPACE"] == "4"
    assert environment(CPU, {"VLLM_CPU_KVCACHE_SPACE": "1"})["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert environment(GPU, {}) == {"PYTHONUNBUFFERED": "1", "VLLM_LOGGING_LEVEL": "INFO"}
    assert environment(GPU, {"VLLM_LOGGING_LEVEL": "ERROR"})["VLLM_LOGGING_LEVEL"] == "INFO"
    assert environment(GPU, {"VLLM_LOGGING_LEVEL": "DEBUG"})["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert command(Service("m", dtype="bfloat16"), CPU)[line.index("--dtype") + 1] == "bfloat16"


def test_adapters_are_served_under_their_own_names_with_the_largest_rank_as_limit(tmp_path):
    for name, rank in (("a", 8), ("b", 24)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "adapter_config.json").write_text(json.dumps({"r": rank}))
    line = command(Service("m", adapters=tuple(Adapter(n, tmp_path / n) for n in "ab")), GPU)
    assert line[line.index("--max-lora-rank") + 1] == "32"
    assert line[line.index("--lora-modules") + 1 :] == [f"a={tmp_path}/a", f"b={tmp_path}/b"]


def test_a_model_in_a_folder_has_the_folders_name_and_at_most_its_own_context(tmp_path):
    folder = tmp_path / "first-round"
    folder.mkdir()
    (folder / "config.json").write_text('{"text_config": {"max_position_embeddings": 8192}}')
    service = Service(str(folder))
    assert (service.served_name, service.context_length) == ("first-round", 8192)
    assert Service(str(folder), context=16384).context_length == 16384
    (folder / "config.json").write_text("{")
    assert Service(str(folder)).context_length == CONTEXT


def test_a_model_with_linear_attention_gets_its_number_format_and_the_template_of_the_dialect(tmp_path):
    config = {"model_type": "qwen3_5", "text_config": {"layer_types": ["linear_attention", "full_attention"]}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "chat_template.jinja").write_text("as published")
    service = Service(str(tmp_path))
    line = command(service, CPU)
    assert line[line.index("--dtype") + 1] == "bfloat16"
    assert line[line.index("--chat-template") + 1] == DIALECT
    assert command(Service(str(tmp_path), dtype="float16"), CPU)[line.index("--dtype") + 1] == "float16"
    assert command(service, GPU)[line.index("--dtype") + 1] == "auto"
    assert "--chat-template" not in command(Service(str(tmp_path), tool_calls="hermes"), GPU)
    (tmp_path / "chat_template.jinja").write_text(DIALECT)
    assert "--chat-template" not in command(service, GPU)
    (tmp_path / "chat_template.jinja").write_text(TEMPLATES["qwen3.5"])
    assert "--chat-template" not in command(service, GPU), "trained in its own form"
    (tmp_path / "config.json").write_text('{"model_type": "qwen3_vl"}')
    assert "--chat-template" not in command(service, GPU)


def test_an_adapter_is_served_with_the_template_it_was_trained_with(tmp_path):
    for name, template in (("base", "as published"), ("adapter", TEMPLATES["qwen3.5"])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "chat_template.jinja").write_text(template)
    (tmp_path / "adapter" / "adapter_config.json").write_text('{"r": 4}')
    service = Service(str(tmp_path / "base"), adapters=(Adapter("a", tmp_path / "adapter"),))
    line = command(service, GPU)
    assert line[line.index("--chat-template") + 1] == TEMPLATES["qwen3.5"]


def test_options_for_pictures_pixels_and_copies_are_passed_on_only_if_given():
    plain = command(Service("m"), GPU)
    assert not {"--mm-processor-kwargs", "--data-parallel-size", "--max-num-seqs"} & set(plain)
    given = command(Service("m", pixels=200704, data_parallel=4, sequences=32, images=4), GPU)
    assert json.loads(given[given.index("--mm-processor-kwargs") + 1]) == {"max_pixels": 200704}
    assert given[given.index("--data-parallel-size") + 1] == "4"
    assert given[given.index("--max-num-seqs") + 1] == "32"
    assert json.loads(given[given.index("--limit-mm-per-prompt") + 1])["image"] == 4


PUBLISHED = {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14, "merge_size": 2}
"""As in ``preprocessor_config.json`` of Qwen2.5-VL, with ``max_pixels`` 12,845,056."""


@pytest.mark.parametrize(
    ("file", "settings", "tokens"),
    [
        ("preprocessor_config.json", {**PUBLISHED, "max_pixels": 12845056}, (640, 16384)),
        ("preprocessor_config.json", {**PUBLISHED, "max_pixels": 200704}, None),
        ("preprocessor_config.json", {**PUBLISHED, "max_pixels": "many"}, None),
        ("preprocessor_config.json", {"image_processor_type": "PixtralImageProcessor", "patch_size": 14}, None),
        ("preprocessor_config.json", [], None),
        (
            "processor_config.json",
            {"image_processor": {**PUBLISHED, "patch_size": 16, "size": {"longest_edge": 16777216}}},
            (490, 16384),
        ),
    ],
)
def test_vllm_reserves_memory_for_pictures_of_ours(tmp_path, monkeypatch, file, settings, tokens):
    folder = tmp_path / "hub" / "models--someone--model" / "snapshots" / "1a2b"
    folder.mkdir(parents=True)
    (folder / file).write_text(json.dumps(settings))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for model in (str(folder), "someone/model"):
        limit = picture_limit(model)
        assert (limit and (limit.tokens, limit.own_tokens)) == tokens
        kwargs = engine_settings(Service(model), GPU).get("mm_processor_kwargs")
        assert kwargs == (tokens and {"max_pixels": MAX_PIXELS})
        assert engine_settings(Service(model, pixels=4096), GPU)["mm_processor_kwargs"] == {"max_pixels": 4096}
    assert picture_limit("someone/other") is None
    assert picture_tokens(*LARGEST_OVERVIEW) * PATCH**2 < MAX_PIXELS


def test_native_tool_calls_are_off_unless_they_are_switched_on():
    assert not {"--enable-auto-tool-choice", "--tool-call-parser"} & set(command(Service("m"), GPU))
    given = command(Service("m", tool_calls="hermes", extra=("--tool-call-parser", "glm45")), GPU)
    assert "--enable-auto-tool-choice" in given
    assert given[given.index("--tool-call-parser") + 1] == "hermes"
    assert given[-1] == "glm45"


def test_a_server_that_listens_everywhere_is_called_on_localhost():
    assert Service("m", host="0.0.0.0").url == "http://127.0.0.1:8000"
    assert Service("m", host="::").url == "http://[::1]:8000"
    assert Service("m", host="gpu.example.org", port=9).url == "http://gpu.example.org:9"


def test_the_failures_in_the_guide_quote_the_messages_of_the_program():
    guide = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
    rows = guide.partition("| it says |")[2].splitlines()[2:]
    sources = "".join(path.read_text(encoding="utf-8") for path in MESSAGE_SOURCES)
    # In the source, messages are split over lines, and numbers are filled in at run time.
    sources = re.sub(r'"\s*\+?\s*f?"', "", sources)
    assert len(rows) > 15
    for row in rows:
        for words in row.split("|")[1].split("…"):
            assert words.strip() in sources, row


class LastMoment:
    """A server that writes a figure after the last look at its log, just before it answers."""

    status, pid, log = None, os.getpid(), Path("vllm.log")

    def __init__(self) -> None:
        self.written: list[str] = []

    def lines(self) -> list[str]:
        written, self.written = self.written, []
        return written

    def answers(self, url: str = "") -> bool:
        self.written.append("INFO [kv_cache_utils.py:2327] GPU KV cache size: 340,224 tokens")
        return True


def test_what_a_server_writes_just_before_it_answers_is_read():
    server, log, printed = LastMoment(), VllmLog(), []
    assert wait_until_ready(server, Service("m"), log, printed.append, lambda: False, server.answers)
    assert (log.tokens, printed) == (340_224, ["the cache holds 340,224 tokens"])


def test_the_cache_sizes_of_all_copies_are_added_up():
    log = VllmLog()
    for engine in range(2):
        log.read(f"(EngineCore_DP{engine} pid={engine}) INFO [x.py:1] GPU KV cache size: 100,000 tokens")
    assert log.tokens == 200_000


def test_no_picture_takes_more_tokens_than_the_context_was_computed_with():
    rng = np.random.default_rng(3)
    for pixels in (3909, 12000):
        wavelength = np.linspace(3600.0, 10000.0, pixels)
        flux = rng.normal(-2.5e-17, 1e-17, pixels)
        overview = plot.draw(wavelength, flux)
        assert picture_tokens(*overview.size) <= picture_tokens(*LARGEST_OVERVIEW)
        for window in ((6500.0, 6530.0), (6500.0, 6650.0), (6400.0, 7300.0), (3600.0, 10000.0)):
            zoom = plot.draw(wavelength, flux, window)
            assert picture_tokens(*zoom.size) <= picture_tokens(*LARGEST_ZOOM)


def test_the_context_holds_the_longest_conversation():
    longest = max(len(task.prompt) for task in tasks.load().values()) + len(TOOL_BLOCK)
    # Every tokenizer needs more than two characters per token for this text.
    assert longest / 2 + picture_tokens(*LARGEST_OVERVIEW) <= PROMPT
    assert TURNS == MAX_TURNS
    assert conversation_tokens() <= CONTEXT < conversation_tokens() + 8192


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_process_tree_is_the_sum_of_all_processes():
    hold = "import sys; x = b'x' * 50_000_000; print('held', flush=True); sys.stdin.read()"
    outer = f"import subprocess, sys; {hold.split(';')[1]}; subprocess.run([sys.executable, '-c', {hold!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tree:
        assert tree.stdout.readline() == "held\n"
        assert 100e6 < tree_memory(tree.pid) < 300e6
        tree.stdin.close()
    assert tree_memory(2**30) is None


def test_a_server_that_ends_right_after_its_first_answer_has_answered():
    server = LastMoment()

    def answers_and_ends() -> bool:
        server.status = 1
        return True

    assert wait_until_ready(server, Service("m"), VllmLog(), lambda _: None, lambda: False, answers_and_ends)


# Copies, and Ray Serve


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


def test_the_command_prints_the_application_and_names_the_cluster(fake_vllm, capsys):
    status, out, _ = served(capsys, "--port", "8123", "--engine", "ray", "--replicas", "4", "--dry-run")
    printed = json.loads(out)
    assert status == 0
    assert printed["http_options"] == {"host": "127.0.0.1", "port": 8123}
    assert printed["applications"][0]["import_path"] == "ray.serve.llm:build_openai_app"
    begin = ["-m", "ray.serve.scripts", "run", "--address"]
    assert run_command(GPU, Path("a.yaml"), "auto")[1:] == [*begin, "auto", "a.yaml"]
    # Not the cluster that is running here by chance.
    assert run_command(GPU, Path("a.yaml"), None)[1:] == [*begin, "local", "a.yaml"]
