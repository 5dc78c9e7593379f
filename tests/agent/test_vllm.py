"""``spec-o3 serve`` with a stand-in for vLLM: real processes, real signals, vLLM's own lines."""

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

from agent import plot, tasks
from agent.loop import MAX_TURNS
from agent.tool import TOOL_BLOCK
from agent.vllm import CONTEXT, Build, Service, command, conversation_tokens, environment, picture_tokens
from agent.vllm.flags import LARGEST_OVERVIEW, LARGEST_ZOOM, PROMPT, TURNS, Adapter, ServeError, find_build
from agent.vllm.log import VllmLog
from agent.vllm.server import tree_memory

ROOT = Path(__file__).resolve().parents[2]
FAKE = ROOT / "tests" / "support" / "fake_vllm"
SAID = (*(ROOT / "agent" / "vllm").glob("*.py"), ROOT / "agent" / "cli" / "serve.py")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def obey_signals() -> None:
    """What runs in the background, or under nohup, ignores some of them, and so would every child."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Serve:
    """``spec-o3 serve`` in a process of its own, with the stand-in on its path."""

    def __init__(self, folder: Path, behaviour: str, *arguments: str) -> None:
        self.told_file = folder / "told.json"
        self.log = folder / "vllm.log"
        self.port = free_port()
        variables = {**os.environ, "PYTHONPATH": str(FAKE), "FAKE_VLLM": behaviour}
        variables |= {"FAKE_VLLM_TOLD": str(self.told_file), "XDG_STATE_HOME": str(folder / "state")}
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
        """What it said, as JSON, once the server answered."""
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        return json.loads(line)

    def told(self) -> dict:
        """What the stand-in was started with; waits until it has been."""
        return wait_for(lambda: json.loads(self.told_file.read_text() or "null") if self.told_file.exists() else None)

    def ended(self) -> tuple[int, str]:
        """Exit status, and what was said on stderr."""
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


def wait_for(look: Callable[[], object]) -> object:
    for _ in range(600):
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("nothing came of waiting")


def runs(pid: int) -> bool:
    """Whether the process lives; one that nobody has waited for yet does not."""
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
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        if one.told_file.exists():
            told = json.loads(one.told_file.read_text())
            for pid in (told["pid"], told["worker"]):
                if runs(pid):
                    os.kill(pid, signal.SIGKILL)
        one.process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_is_served_is_told_and_a_signal_ends_the_server_and_its_children(serve, number):
    one = serve("well", "--json")
    ready = one.until_ready()
    assert ready["url"] == f"http://127.0.0.1:{one.port}/v1"
    assert ready["models"] == ["someone/spec-o3-3b"]
    assert (ready["weights_gib"], ready["cache_tokens"], ready["context"]) == (7.16, 340224, CONTEXT)
    assert ready["conversations"] == pytest.approx(340224 / CONTEXT)
    assert ready["main_memory_bytes"] > 1e6
    told = one.told()
    assert runs(told["pid"])
    assert runs(told["worker"])
    one.process.send_signal(number)
    assert one.ended()[0] == 0
    wait_for(lambda: not runs(told["pid"]) and not runs(told["worker"]))


def test_while_it_starts_the_lines_worth_reading_are_passed_on_and_the_log_is_kept_whole(serve):
    one = serve("slow")
    wait_for(lambda: one.log.exists() and "Maximum concurrency" in one.log.read_text())
    time.sleep(0.5)
    one.process.send_signal(signal.SIGTERM)
    status, said = one.ended()
    assert status == 0
    assert "weights loaded: 7.16 GiB in 3.2 s" in said
    assert "memory for the cache: 11.68 GiB" in said
    assert "the cache holds 340,224 tokens" in said
    assert "Loading safetensors checkpoint shards: 100% Completed | 2/2" in said
    assert "Resolved architecture: Qwen2_5_VLForConditionalGeneration" in said
    assert not runs(one.told()["pid"])
    assert "[gpu_worker.py:760]" in one.log.read_text()


def test_a_server_that_will_not_end_is_killed_when_asked_twice(serve):
    one = serve("stubborn", "--json")
    one.until_ready()
    told = one.told()
    one.process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert runs(told["pid"])
    one.process.send_signal(signal.SIGINT)
    assert one.ended()[0] == 0
    wait_for(lambda: not runs(told["pid"]) and not runs(told["worker"]))


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to tell the child")
def test_the_server_ends_even_if_spec_o3_is_killed(serve):
    one = serve("well", "--json")
    one.until_ready()
    told = one.told()
    one.process.kill()
    wait_for(lambda: not runs(told["pid"]))


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
        ("killed", "when main memory runs out"),
        ("something new", "vLLM's message: KeyError: 'nobody has seen this'"),
    ],
)
def test_a_server_that_dies_before_it_answers_is_told_in_a_sentence(serve, behaviour, words):
    one = serve(behaviour)
    status, said = one.ended()
    assert status == 2
    assert words in said
    assert str(one.log) in said
    assert "Traceback" not in said


def test_a_server_that_dies_later_is_bad_news(serve):
    status, said = serve("dies later").ended()
    assert status == 1
    assert "vLLM ended: the GPU ran out of memory" in said


def test_a_port_in_use_is_told_before_anything_is_started(serve, tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        one = serve("well", "--port", str(port))
        status, said = one.ended()
    assert status == 2
    assert f"port {port} on 127.0.0.1: another program listens there; choose another with --port" in said
    assert not one.log.exists()


def test_the_command_can_be_seen_without_being_run(serve):
    one = serve("well", "--dry-run", "--json", "--name", "mine", "--", "--max-num-batched-tokens", "4096")
    told = one.until_ready()
    assert one.ended()[0] == 0
    line = told["command"]
    assert line[1:3] == ["-m", "vllm.entrypoints.openai.api_server"]
    assert line[-2:] == ["--max-num-batched-tokens", "4096"]
    options = dict(zip(line[3::2], line[4::2], strict=False))
    assert options["--served-model-name"] == "mine"
    assert json.loads(options["--limit-mm-per-prompt"]) == {"image": 10, "video": 0}
    assert options["--generation-config"] == "vllm"
    assert options["--max-model-len"] == str(CONTEXT)
    assert "--enable-prefix-caching" in line
    assert "--enforce-eager" not in line
    assert not one.told_file.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--context", "12"], "found '12', expected a whole number, 1024 or more"),
        (["--memory", "90"], "found '90', expected a fraction above 0, at most 1"),
        (["--adapter", "folder"], "found 'folder', expected NAME=FOLDER"),
        (["--adapter", "a=nowhere"], "found no adapter in nowhere"),
        (["--model", "./nowhere"], "found no folder ./nowhere"),
        (["--python", "nowhere"], "nowhere: found no Python that runs"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_is_started(serve, arguments, words):
    status, said = serve("well", *arguments).ended()
    assert status == 2
    assert words in said
    assert "Traceback" not in said


def test_a_python_without_vllm_is_told_how_to_get_it(tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    python.chmod(0o755)
    with pytest.raises(ServeError, match=r"found no vLLM in it; pip install 'spec-o3\[serve\]'"):
        find_build(python)


GPU = Build(Path("python"), "0.32.0", cpu=False)
CPU = Build(Path("python"), "0.32.0", cpu=True)


def test_without_a_gpu_numbers_are_float32_nothing_is_compiled_and_the_cache_has_a_size():
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


def test_adapters_are_served_under_their_own_names_with_room_for_the_largest_rank(tmp_path):
    for name, rank in (("a", 8), ("b", 24)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "adapter_config.json").write_text(json.dumps({"r": rank}))
    line = command(Service("m", adapters=tuple(Adapter(n, tmp_path / n) for n in "ab")), GPU)
    assert line[line.index("--max-lora-rank") + 1] == "32"
    assert line[line.index("--lora-modules") + 1 :] == [f"a={tmp_path}/a", f"b={tmp_path}/b"]


def test_a_folders_model_is_called_by_the_folder_and_given_no_more_context_than_it_was_made_for(tmp_path):
    folder = tmp_path / "first-round"
    folder.mkdir()
    (folder / "config.json").write_text('{"text_config": {"max_position_embeddings": 8192}}')
    service = Service(str(folder))
    assert (service.served_name, service.context_length) == ("first-round", 8192)
    assert Service(str(folder), context=16384).context_length == 16384
    (folder / "config.json").write_text("{")
    assert Service(str(folder)).context_length == CONTEXT


def test_pictures_pixels_and_copies_are_passed_on_only_if_asked_for():
    plain = command(Service("m"), GPU)
    assert not {"--mm-processor-kwargs", "--data-parallel-size", "--max-num-seqs"} & set(plain)
    asked = command(Service("m", pixels=200704, data_parallel=4, sequences=32, images=4), GPU)
    assert json.loads(asked[asked.index("--mm-processor-kwargs") + 1]) == {"max_pixels": 200704}
    assert asked[asked.index("--data-parallel-size") + 1] == "4"
    assert asked[asked.index("--max-num-seqs") + 1] == "32"
    assert json.loads(asked[asked.index("--limit-mm-per-prompt") + 1])["image"] == 4


def test_a_server_that_listens_everywhere_is_asked_at_home():
    assert Service("m", host="0.0.0.0").url == "http://127.0.0.1:8000"
    assert Service("m", host="::").url == "http://[::1]:8000"
    assert Service("m", host="gpu.example.org", port=9).url == "http://gpu.example.org:9"


def test_what_the_guide_says_of_failures_is_what_is_said():
    guide = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
    rows = guide.partition("| it says |")[2].splitlines()[2:]
    said = "".join(path.read_text(encoding="utf-8") for path in SAID)
    # As the program has them: sentences are broken over lines, and numbers filled in.
    said = re.sub(r'"\s*\+?\s*f?"', "", said)
    assert len(rows) > 15
    for row in rows:
        for words in row.split("|")[1].split("…"):
            assert words.strip() in said, row


def test_the_caches_of_all_copies_are_added_up():
    log = VllmLog()
    for engine in range(2):
        log.read(f"(EngineCore_DP{engine} pid={engine}) INFO [x.py:1] GPU KV cache size: 100,000 tokens")
    assert log.tokens == 200_000


def test_no_picture_takes_more_tokens_than_the_context_was_reckoned_with():
    rng = np.random.default_rng(3)
    for pixels in (3909, 12000):
        wavelength = np.linspace(3600.0, 10000.0, pixels)
        flux = rng.normal(-2.5e-17, 1e-17, pixels)
        overview = plot.draw(wavelength, flux)
        assert picture_tokens(*overview.size) <= picture_tokens(*LARGEST_OVERVIEW)
        for window in ((6500.0, 6530.0), (6500.0, 6650.0), (6400.0, 7300.0), (3600.0, 10000.0)):
            zoom = plot.draw(wavelength, flux, window)
            assert picture_tokens(*zoom.size) <= picture_tokens(*LARGEST_ZOOM)


def test_guide_tool_block_and_overview_fit_the_prompt_that_was_reckoned_with():
    longest = max(len(task.prompt) for task in tasks.load().values()) + len(TOOL_BLOCK)
    # Two characters a token is less than any tokenizer makes of this text.
    assert longest / 2 + picture_tokens(*LARGEST_OVERVIEW) <= PROMPT + 512
    assert longest / 2.5 + picture_tokens(*LARGEST_OVERVIEW) <= PROMPT


def test_the_default_context_holds_the_longest_conversation_with_our_default_settings():
    assert TURNS == MAX_TURNS
    assert conversation_tokens() <= CONTEXT < conversation_tokens() + 8192


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_tree_of_processes_is_that_of_all_of_them():
    hold = "import sys; x = b'x' * 50_000_000; print('held', flush=True); sys.stdin.read()"
    outer = f"import subprocess, sys; {hold.split(';')[1]}; subprocess.run([sys.executable, '-c', {hold!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", outer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as tree:
        assert tree.stdout.readline() == "held\n"
        assert 100e6 < tree_memory(tree.pid) < 300e6
        tree.stdin.close()
    assert tree_memory(2**30) is None
