"""The figures of one GPU, as far as a CPU can run them: every step with a tiny model, and the published sizes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from PIL import Image

from agent.conversation import SYSTEM
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.tool import overview
from tests.benchmarks.models import gpu_figures, gpu_round
from tests.benchmarks.models.client import ZOOMS, CannedServer
from tests.benchmarks.models.gpu_serving import picture_cache
from tests.benchmarks.models.published_sizes import SCALES, config, processor, write
from tests.benchmarks.models.replay import compared, serving, spectra
from tests.benchmarks.models.scripted import (
    ForcedContinuous,
    ForcedLockStep,
    end_of_turn,
    forced,
    longest_end,
    repeatable_token,
)
from tests.benchmarks.results import VARIABLE
from training.environment import missing
from training.grpo.rollout import GeneratedTurn, Request
from training.grpo.settings import batches, rounds
from training.render import END, Rendered, Renderer

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason="no accelerate in this Python: run make test-models"),
    pytest.mark.usefixtures("imported"),
]

PUBLISHED = {"3b": 3_754_622_976, "7b": 8_292_166_656}
"""Parameters of Qwen2.5-VL-3B-Instruct and -7B-Instruct, as the index of their weights gives them."""


# The command


def rows(printed: str) -> list[dict[str, str]]:
    """The rows of the printed tables, by heading."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in printed.splitlines() if "|" in line]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def test_without_a_gpu_it_says_so_in_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpu_figures.main([]) == 0
    assert capsys.readouterr().out.strip() == gpu_figures.NO_GPU


def test_without_torch_it_names_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.environment.find_spec", lambda name: None if name == "torch" else name)
    assert gpu_figures.main([]) == 0
    assert capsys.readouterr().out.strip() == "Not run: training needs torch: pip install 'spec-o3[train]'"


@pytest.mark.parametrize("prompts", ["3", "0"])
def test_the_groups_of_a_round_are_an_even_number(prompts: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        gpu_figures.parser().parse_args(["--prompts", prompts])
    assert f"argument --prompts: found {prompts}, expected an even number" in capsys.readouterr().err


def test_a_part_that_fails_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    unusable = ["--scale", "tiny", "--zooms", "3", "--concurrency", "1", "--batches", "1", "--python", "/no/python"]
    with pytest.raises(SystemExit, match=r"gpu_serving: found exit status 1, expected 0; its messages are above"):
        gpu_figures.main(unusable)


@pytest.mark.skipif(find_spec("vllm") is None, reason="no vllm in this Python: run make test-models")
def test_every_step_runs_on_a_cpu_with_a_tiny_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All tables are also in the file from which the measurements are written."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "results.json"))
    options = ["--zooms", "3", "--concurrency", "4", "--batches", "2", "--turn-tokens", "100", "--repeats", "1"]
    options += ["--rollouts", "2", "--prompts", "2"]
    assert gpu_figures.main(["--scale", "tiny", *options, "--python", sys.executable]) == 0
    serving_part, learning = capsys.readouterr().out.split("the second of two GRPO rounds")
    (served,) = rows(serving_part)
    assert (served["zooms"], served["at once"], served["spectra"]) == ("3", "4", "8")
    assert served["written"] == "400"
    assert float(served["of them cached"].rstrip("%")) > 50
    assert float(served["without the agent"]) > 0
    (learned,) = rows(learning)
    assert (learned["per group"], learned["trajectories"], learned["turns"]) == ("2", "4", "4.0")
    assert 0 < float(learned["written"]) <= 400
    assert float(learned["generate s"]) > 0
    assert float(learned["learn and sync s"]) > 0
    kept = json.loads((tmp_path / "results.json").read_text("utf-8"))
    assert [len(block["rows"]) for block in kept if "rows" in block] == [1, 1]
    assert [" on a CPU" in block["text"] for block in kept if "text" in block] == [True, True]


# The models


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_sizes_are_the_published_ones(name: str) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    reads = processor(SCALES[name])
    with torch.device("meta"):
        model = AutoModelForImageTextToText.from_config(config(SCALES[name], reads))
    assert sum(parameter.numel() for parameter in model.parameters()) == PUBLISHED[name]
    limits = reads.image_processor.size
    assert (limits["shortest_edge"], limits["longest_edge"]) == (3136, 12845056)


def test_a_written_folder_has_all_that_is_served_but_the_weights(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoProcessor

    folder = write(SCALES["7b"], tmp_path / "model")
    assert not list(folder.glob("*.safetensors"))
    assert AutoConfig.from_pretrained(folder).get_text_config().hidden_size == 3584
    picture = Image.new("RGB", (640, 430))
    assert Renderer(AutoProcessor.from_pretrained(folder)).image_tokens(picture) == 23 * 15


def test_the_cache_has_room_for_the_pictures_of_all_conversations() -> None:
    assert [picture_cache(*one) for one in ((4, 3), (64, 5), (256, 3), (256, 5))] == [4, 8, 22, 32]


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_default_rounds_have_valid_settings(name: str, tmp_path: Path) -> None:
    renderer = Renderer(processor(SCALES[name]))
    found = gpu_figures.grpo_rounds(name, gpu_figures.parser().parse_args([]), str(tmp_path))
    assert [one.rollouts for one in found] == [8, 16]
    for wanted in found:
        settings = gpu_round.settings_of(wanted, tmp_path / "model")
        asked = gpu_round.questions(wanted.prompts)
        assert rounds(settings, len(asked)) == 2
        assert batches(settings, 1).updates == 2
        assert settings.vllm.mode == "colocate"
        for one in asked[:2]:
            opening = renderer.opening(SYSTEM, one.task.prompt, overview(one.spectrum()))
            assert len(opening) <= settings.prompt_tokens


# Turns of fixed length


def test_repetitions_of_the_forced_token_keep_their_ids() -> None:
    tokenizer = processor(SCALES["3b"]).tokenizer
    ids = [repeatable_token(tokenizer)] * 700
    assert tokenizer.encode(tokenizer.decode(ids), add_special_tokens=False) == ids


class Continuous:
    """A continuous generator that writes turns as long as their limit; those of row 1 end early."""

    ends = frozenset([0])

    def __init__(self) -> None:
        self.open: list[Request] = []
        self.limits: list[int] = []

    def round(self, number: int, greedy: bool = False) -> Any:
        self.open.clear()
        return nullcontext()

    def submit(self, requests: Sequence[Request]) -> None:
        self.open += requests
        self.limits += [one.limit for one in requests]

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        if not self.open:
            return []
        one = self.open.pop()
        ids = (7, 0) if one.row == 1 else (7,) * one.limit
        return [(one.row, GeneratedTurn(ids, (-0.5,) * len(ids)))]


class LockStep:
    """A lock-step generator that writes turns as long as their limit."""

    ends = frozenset([0])

    def round(self, number: int, greedy: bool = False) -> Any:
        return nullcontext()

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        return [GeneratedTurn((7,) * one.limit) for one in requests]


def test_a_continuous_generator_writes_whole_turns_before_their_scripted_ends() -> None:
    tokenizer = processor(SCALES["tiny"]).tokenizer
    inner = Continuous()
    writer = forced(inner, tokenizer, 20, 1)
    assert isinstance(writer, ForcedContinuous)
    limit = 20 + longest_end(tokenizer, 1)
    ends = {
        row: [tokenizer.encode(end_of_turn(turn, 1, verdict) + END, add_special_tokens=False) for turn in (0, 1)]
        for row, verdict in ((0, "NO"), (1, "YES"))
    }
    for number in (0, 1):
        with writer.round(number):
            for turn in (0, 1):
                writer.submit([Request(Rendered(), limit, row) for row in (0, 1)])
                found = dict(writer.collect() + writer.collect())
                assert {row: list(one.ids) for row, one in found.items()} == {
                    row: [7] * 20 + ends[row][turn] for row in (0, 1)
                }
                assert all(len(one.ids) <= limit for one in found.values())
                assert found[1].logprobs == (-0.5, *[0.0] * (19 + len(ends[1][turn])))
        # Twice 20 tokens in row 0, and twice one in row 1, which were filled up.
        assert writer.written == 42
    assert set(inner.limits) == {20}


def test_an_aborted_round_leaves_no_turn_open() -> None:
    writer = forced(Continuous(), processor(SCALES["tiny"]).tokenizer, 20, 1)
    assert isinstance(writer, ForcedContinuous)
    with writer.round(0):
        writer.submit([Request(Rendered(), 200, 0)])
    with writer.round(1):
        assert writer.collect() == []
        assert writer._open == {}


def test_a_lock_step_generator_writes_whole_turns_before_their_scripted_ends() -> None:
    tokenizer = processor(SCALES["tiny"]).tokenizer
    writer = forced(LockStep(), tokenizer, 20, 1)
    assert isinstance(writer, ForcedLockStep)
    with writer.round(0):
        (turn,) = writer.write([Request(Rendered(), 20 + longest_end(tokenizer, 1), 0)])
    assert turn.ids[:20] == (7,) * 20
    assert tokenizer.decode(list(turn.ids[20:])) == end_of_turn(0, 1) + END


# The same requests without the agent


class Recording(CannedServer):
    """The canned server; it keeps the bodies of the turns, and can empty its caches."""

    pictures: ClassVar[set[str]] = set()
    counts: ClassVar[Counter[str]] = Counter()
    received: ClassVar[list[bytes]] = []

    def _answer(self, path: str, body: bytes) -> tuple[int, Any]:
        if path.startswith("/reset_"):
            self.pictures.clear()
            return 200, {}
        if path == "/v1/chat/completions":
            self.received.append(body)
        return super()._answer(path, body)


class Forgetful(Recording):
    """The same with a cache that is too small: it has no picture in the next request."""

    received: ClassVar[list[bytes]] = []

    def _turn(self, body: Any) -> tuple[int, Any]:
        self.pictures.clear()
        return super()._turn(body)


@contextmanager
def running(protocol: type[Recording]) -> Iterator[str]:
    """Run the server in a thread; yield its address."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0))
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        loop.close()


def policy(endpoint: Endpoint) -> SpecO3:
    return SpecO3(endpoint, stream=False)


def test_the_same_requests_are_sent_without_the_agent_byte_for_byte(tmp_path: Path) -> None:
    with running(Recording) as url:
        found = compared(url, spectra(tmp_path / "spectra", 3), policy, 2, repeats=2)
    turns = 3 * (ZOOMS + 1)
    received = Recording.received
    assert len(received) == 4 * turns
    for first in (0, 2 * turns):
        agent, bare = received[first : first + turns], received[first + turns : first + 2 * turns]
        assert Counter(agent) == Counter(bare)
        # Later turns name the pictures that the server has.
        assert sum(b'"image_url": null' in body for body in agent) == 3 * ZOOMS
    assert [pair.bare.usage.requests for pair in found.pairs] == [turns] * 2
    assert found.range[0] <= found.middle.share <= found.range[1]


def test_a_refused_request_ends_the_measurement(tmp_path: Path) -> None:
    sources = spectra(tmp_path / "spectra", 1)
    with running(Forgetful) as url, pytest.raises(SystemExit, match=r"requests: found \d+, expected 6, one per turn"):
        compared(url, sources, policy, 1, repeats=1)


def test_the_end_of_the_log_of_a_server_that_did_not_start_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # In the place of the command: it writes a log and ends.
    script = "import pathlib, sys; pathlib.Path(sys.argv[sys.argv.index('--log') + 1]).write_text('one\\nno memory\\n')"
    server = serving([], tmp_path / "vllm.log", {}, [sys.executable, "-c", script])
    with pytest.raises(SystemExit, match="the server did not start"), server:
        pass
    assert capsys.readouterr().err == "the end of vLLM's log:\none\nno memory\n"
