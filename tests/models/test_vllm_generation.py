"""Generation by vLLM: a stand-in for order, sharing and failures, and a real one on the CPU for the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from agent import plot
from agent.vllm.pictures import picture_limit
from tests.models.support.learned_traces import INSPECTED, inspected, shown
from training.grpo.rollout import Request
from training.grpo.settings import GrpoSettings, VllmSettings
from training.grpo.vllm import (
    ColocatedGenerator,
    VllmGenerator,
    constructed_with,
    engine_options,
    merge_kept,
    vllm_generator,
)
from training.model import load
from training.render import Rendered
from training.settings import Lora, ModelSettings

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds after which waiting for a process is given up


class Engine:
    """A stand-in for TRL's ``VLLMGeneration``; writes turns of the maximum length, ending with the end token."""

    def __init__(self, mode: str, image: int, end: int, tensor_parallel: int = 1) -> None:
        self.mode = mode
        self.temperature = self.top_p = self.repetition_penalty = 1.0
        self.top_k, self.min_p = 0, None
        self.generation_kwargs: dict[str, Any] = {}
        self.enable_sleep_mode = self._llm_weights_sleeping = False
        self.temperatures: list[float] = []
        self.llm = Llm()
        self.vllm_client = Client()
        self.tensor_parallel_size = tensor_parallel
        self.max_completion_length = 0
        self.synced = 0
        self.calls: list[int] = []
        self._image = image
        self._end = end

    def sync_weights(self) -> None:
        self.synced += 1
        self._llm_weights_sleeping = False

    def generate(self, prompts: list[list[int]], images: list[list[Any]], num_generations: int) -> Any:
        self.calls.append(len(prompts))
        self.temperatures.append(self.temperature)
        assert num_generations == 1
        read = [self._expanded(ids, len(pictures)) for ids, pictures in zip(prompts, images, strict=True)]
        ids = [[7] * (self.max_completion_length - 1) + [self._end] for _ in prompts]
        return read, ids, [[[-0.5] for _ in row] for row in ids], None

    def _expanded(self, ids: list[int], pictures: int) -> list[int]:
        """Expand marks as vLLM does: one mark becomes as many tokens as its picture has, here 5."""
        if self.mode == "server":
            return ids
        assert ids.count(self._image) == pictures
        return [token for mark in ids for token in ([mark] * 5 if mark == self._image else [mark])]


@dataclass
class Llm:
    """A stand-in for ``vllm.LLM`` and its engine: a turn of N tokens ends at the Nth step."""

    events: list[str] = field(default_factory=list)
    running: dict[str, tuple[dict[str, Any], Any, int]] = field(default_factory=dict)
    added: list[Any] = field(default_factory=list)

    @property
    def llm_engine(self) -> Llm:
        return self

    def reset_encoder_cache(self) -> None:
        self.events.append("reset")

    def wake_up(self, tags: list[str]) -> None:
        self.events.append(f"wake {tags[0]}")

    def sleep(self, level: int) -> None:
        self.events.append(f"sleep {level}")

    def add_request(self, name: str, prompt: dict[str, Any], sampling: Any) -> None:
        self.running[name] = (prompt, sampling, 0)
        self.added.append(sampling)

    def abort_request(self, names: list[str]) -> None:
        for name in names:
            del self.running[name]

    def step(self) -> list[Any]:
        found = []
        for name, (prompt, sampling, done) in list(self.running.items()):
            self.running[name] = (prompt, sampling, done + 1)
            if done + 1 == sampling.max_tokens:
                del self.running[name]
                ids = [7] * done + [1]
                written = SimpleNamespace(
                    token_ids=ids, logprobs=[{token: SimpleNamespace(logprob=-0.5)} for token in ids]
                )
                read = [token for mark in prompt["prompt_token_ids"] for token in ([2] * 5 if mark == 2 else [mark])]
                found.append(SimpleNamespace(request_id=name, finished=True, prompt_token_ids=read, outputs=[written]))
        return found


@dataclass
class Client:
    """A stand-in for TRL's client of a vLLM server."""

    base_url: str = "http://server"
    status: int = 200
    posted: list[str] = field(default_factory=list)

    @property
    def session(self) -> Client:
        return self

    def post(self, url: str) -> Any:
        self.posted.append(url)
        return SimpleNamespace(status_code=self.status)


class Ranks:
    """A stand-in for an accelerator of several processes, of which the others need ``others`` turns."""

    def __init__(self, others: Sequence[int]) -> None:
        self.num_processes = 1 + len(others)
        self.device = "cpu"
        self.is_main_process = True
        self.others = list(others)

    def gather(self, mine: Any) -> Any:
        import torch

        return torch.cat([mine, torch.tensor(self.others)])


def a_trainer(mode: str, others: Sequence[int] = (), tensor_parallel: int = 1) -> Any:
    names = {"<|im_end|>": 1, "<|image_pad|>": 2, "<|video_pad|>": 3}
    tokenizer = SimpleNamespace(convert_tokens_to_ids=names.get, get_vocab=lambda: names)
    engine = Engine(mode, image=2, end=1, tensor_parallel=tensor_parallel)
    return SimpleNamespace(
        vllm_generation=engine,
        processing_class=SimpleNamespace(tokenizer=tokenizer),
        eos_token_ids=[1],
        accelerator=Ranks(others),
        state=SimpleNamespace(global_step=0),
        model=SimpleNamespace(modules=tuple),
        is_deepspeed_enabled=False,
        is_fsdp_enabled=False,
        _last_loaded_step=-1,
    )


def vllm_writer(mode: str, others: Sequence[int] = (), tensor_parallel: int = 1) -> tuple[VllmGenerator, Engine, Any]:
    trainer = a_trainer(mode, others, tensor_parallel)
    return VllmGenerator(trainer), trainer.vllm_generation, trainer


def conversation_with(pictures: int = 1) -> Rendered:
    """A conversation with pictures of five tokens each."""
    ids = (9, *(token for _ in range(pictures) for token in (8, *[2] * 5, 8)))
    return Rendered(ids, (False,) * len(ids), tuple(inspected("cv").pictures[:pictures]))


@pytest.mark.parametrize("mode", ["colocate", "server"])
def test_vllm_reads_the_same_tokens_as_the_trained_model(mode: str) -> None:
    writer, engine, _ = vllm_writer(mode)
    assert writer.any_waiting(2)
    written = writer.write([Request(conversation_with(2), 6), Request(conversation_with(1), 3)])
    assert [len(turn.ids) for turn in written] == [6, 3]
    assert [turn.logprobs for turn in written] == [(-0.5,) * 6, (-0.5,) * 3]
    assert not writer.any_waiting(0)
    assert engine.calls == [2]


def test_a_vllm_that_counts_picture_tokens_differently_is_refused() -> None:
    writer, _, _ = vllm_writer("colocate")
    short = Rendered((9, 8, 2, 2, 8), (False,) * 5, conversation_with().images)
    writer.any_waiting(1)
    with pytest.raises(RuntimeError, match="vLLM read 8 tokens where the trained model reads 5"):
        writer.write([Request(short, 3)])


def test_weights_are_sent_to_vllm_once_per_update() -> None:
    writer, engine, trainer = vllm_writer("colocate")
    for step, synced in ((0, 1), (0, 1), (2, 2), (4, 3)):
        trainer.state.global_step = step
        with writer.round(step):
            pass
        assert engine.synced == synced


@pytest.mark.parametrize(("mode", "tensor_parallel"), [("server", 1), ("colocate", 2)])
def test_processes_that_share_a_vllm_call_it_together(mode: str, tensor_parallel: int) -> None:
    """They call it as often, and with as many requests, as the process that has the most."""
    writer, engine, trainer = vllm_writer(mode, others=[3], tensor_parallel=tensor_parallel)
    assert writer.any_waiting(1)
    assert len(writer.write([Request(conversation_with(), 4)])) == 1
    trainer.accelerator.others = [2]
    assert writer.any_waiting(0)
    assert writer.write([]) == []
    trainer.accelerator.others = [0]
    assert not writer.any_waiting(0)
    assert engine.calls == [3, 2]


def test_only_a_process_with_its_own_vllm_generates_continuously() -> None:
    kinds = [type(vllm_generator(a_trainer(*given))) for given in (("colocate",), ("colocate", (), 2), ("server",))]
    assert kinds == [ColocatedGenerator, VllmGenerator, VllmGenerator]


@pytest.mark.parametrize("mode", ["colocate", "server"])
def test_a_validation_is_greedy_and_the_next_round_samples(mode: str) -> None:
    writer, engine, _ = vllm_writer(mode)
    for greedy in (False, True, False):
        with writer.round(0, greedy=greedy):
            writer.any_waiting(1)
            writer.write([Request(conversation_with(), 4)])
    assert engine.temperatures == [1.0, 0.0, 1.0]


def test_an_error_in_a_validation_restores_the_temperature() -> None:
    writer, engine, _ = vllm_writer("server")
    with pytest.raises(RuntimeError), writer.round(0, greedy=True):
        raise RuntimeError
    assert engine.temperature == 1.0


def test_a_new_turn_begins_while_others_are_generated() -> None:
    pytest.importorskip("vllm")
    writer = ColocatedGenerator(a_trainer("colocate"))
    one = conversation_with()
    with writer.round(0):
        writer.submit([Request(one, 9, 0), Request(one, 2, 1)])
        assert [(row, len(turn.ids)) for row, turn in writer.collect()] == [(1, 2)]
        writer.submit([Request(one, 3, 1), Request(one, 3, 2)])
        ended = writer.collect()
        assert [row for row, _ in ended] == [1, 2]
        assert ended[0][1].logprobs == (-0.5,) * 3
        assert [(row, len(turn.ids)) for row, turn in writer.collect()] == [(0, 9)]
        assert writer.collect() == []


def test_after_an_error_no_turn_stays_in_the_engine() -> None:
    pytest.importorskip("vllm")
    trainer = a_trainer("colocate")
    writer, llm = ColocatedGenerator(trainer), trainer.vllm_generation.llm
    short = Rendered((9, 8, 2, 2, 8), (False,) * 5, conversation_with().images)

    def failing() -> None:
        with writer.round(0):
            writer.submit([Request(conversation_with(), 9, 0), Request(short, 2, 1)])
            writer.collect()

    with pytest.raises(RuntimeError, match="vLLM read 8 tokens where the trained model reads 5"):
        failing()
    assert llm.running == {}
    with writer.round(0):
        writer.submit([Request(conversation_with(), 2, 0)])
        assert [row for row, _ in writer.collect()] == [0]


def test_a_colocated_validation_is_greedy() -> None:
    pytest.importorskip("vllm")
    trainer = a_trainer("colocate")
    trainer.vllm_generation.generation_kwargs = {"logit_bias": {2: -100.0}}
    writer = ColocatedGenerator(trainer)
    for greedy in (True, False):
        with writer.round(0, greedy=greedy):
            writer.submit([Request(conversation_with(), 4)])
            writer.collect()
    added = trainer.vllm_generation.llm.added
    assert [sampling.temperature for sampling in added] == [0.0, 1.0]
    assert [sampling.logit_bias for sampling in added] == [{2: -100.0}] * 2


def test_a_vllm_that_sleeps_gets_the_weights_again_and_sleeps_after_the_round() -> None:
    trainer = a_trainer("colocate")
    vllm = trainer.vllm_generation
    vllm.enable_sleep_mode = vllm._llm_weights_sleeping = True
    writer = ColocatedGenerator(trainer)
    for _ in range(2):
        with writer.round(0):
            pass
    assert vllm.synced == 2
    assert vllm.llm.events == ["reset", "wake kv_cache", "sleep 2"] * 2


def test_a_server_drops_the_features_of_pictures_with_the_old_weights() -> None:
    writer, engine, trainer = vllm_writer("server")
    for step in (0, 0, 1):
        trainer.state.global_step = step
        with writer.round(0):
            pass
    assert engine.vllm_client.posted == ["http://server/reset_encoder_cache"] * 2
    engine.vllm_client.status = 404
    trainer.state.global_step = 2
    with pytest.raises(RuntimeError, match="reset_encoder_cache: found status 404, expected 200"), writer.round(0):
        pass


def test_what_is_left_of_an_adapter_in_bfloat16_is_measured(random_model: Path) -> None:
    """Weights of about 0.02 are 6e-5 to 1.2e-4 apart there; in float32 nothing is lost."""
    import torch

    for dtype, change, least, most in (
        ("bfloat16", 1e-6, 0.0, 0.5),
        ("bfloat16", 1e-2, 0.999, 1.001),
        ("float32", 1e-6, 0.999, 1.001),
    ):
        loaded = load(ModelSettings(str(random_model), method="lora", lora=Lora(rank=1, alpha=1), dtype=dtype))
        assert merge_kept(loaded.model) is None, "a new adapter changes nothing"
        for name, weight in loaded.model.named_parameters():
            weight.data = torch.full_like(weight, change if "lora_B" in name else 1.0) if "lora_" in name else weight
        kept = merge_kept(loaded.model)
        assert kept is not None
        assert least <= kept <= most


def test_vllm_gets_limits_of_pictures_and_options() -> None:
    pytest.importorskip("vllm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from trl.generation import vllm_generation

    model = ModelSettings("base", dtype="float32", max_pixels=1000)
    vllm = VllmSettings("colocate", options={"enforce_eager": True, "dtype": "float16"})
    options = engine_options(GrpoSettings(model, "run", max_turns=5, vllm=vllm))
    assert options == {
        "dtype": "float16",
        "limit_mm_per_prompt": {"image": 6, "video": 0},
        "mm_processor_kwargs": {"max_pixels": 1000},
        "enforce_eager": True,
    }
    before = vllm_generation.LLM
    vllm_generation.LLM = lambda **arguments: arguments
    try:
        with constructed_with(options):
            assert vllm_generation.LLM(model="base", dtype="auto") == {"model": "base", **options}
        assert vllm_generation.LLM(model="base") == {"model": "base"}
    finally:
        vllm_generation.LLM = before


@pytest.fixture(scope="module")
def colocated(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Three rounds of a real vLLM inside a trainer, whose weights change before the second and the third."""
    if find_spec("vllm") is None:
        pytest.skip("no vllm in this Python: run make test-models")
    folder = tmp_path_factory.mktemp("colocated")
    lines = [
        json.dumps(replace(inspected(key).trajectory, label="YES").to_json() | {"spectrum_data": shown(key).to_json()})
        for key in INSPECTED
    ]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    line = [sys.executable, "-m", "tests.models.support.colocated", tiny_model, folder / "questions.jsonl"]
    done = subprocess.run(
        [*map(str, line), str(folder / "run")],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_a_real_vllm_takes_new_weights_and_drops_what_it_calculated_with_the_old(colocated: dict[str, Any]) -> None:
    """The second round has other language weights, the third another vision tower, and the same pictures."""
    rounds = colocated["rounds"]
    assert all(one["tokens"] > 300 for one in rounds)
    assert max(one["gap"] for one in rounds) < 5e-4
    assert len({round(one["mean"], 3) for one in rounds}) == 3, "each change of weights changed probabilities"
    for one in rounds:
        assert one["greedy"] == one["own"]


def test_a_real_vllm_takes_the_pictures_of_a_conversation_and_no_video(colocated: dict[str, Any]) -> None:
    assert colocated["generator"] == "ColocatedGenerator"
    assert colocated["limits"] == {"image": 9, "video": 0}


def test_a_trajectory_goes_to_its_next_turn_while_others_still_write(colocated: dict[str, Any]) -> None:
    """In lock-step, the second turn of any comes after the first turn of all."""
    order, turns = colocated["rounds"][0]["order"], colocated["rounds"][0]["turns"]
    begun = order[: sum(turns)]
    second = next(place for place, row in enumerate(begun) if row in begun[:place])
    assert len(set(begun[:second])) < len(turns)


PUBLISHED = {"shortest_edge": 3136, "longest_edge": 12845056}
"""``min_pixels`` and ``max_pixels`` of Qwen2.5-VL."""


@pytest.fixture
def published_limits(tiny_model: Path, tmp_path: Path) -> Path:
    """The tiny model with the published limits of pictures."""
    folder = shutil.copytree(tiny_model, tmp_path / "model")
    file = folder / "processor_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    settings["image_processor"]["size"] = PUBLISHED
    file.write_text(json.dumps(settings), encoding="utf-8")
    return folder


@pytest.mark.filterwarnings("ignore")  # of torch, when vLLM is imported
def test_vllm_computes_with_the_limit_and_reads_our_pictures_as_without_it(published_limits: Path) -> None:
    pytest.importorskip("vllm")
    model = str(published_limits)
    limit = picture_limit(model)
    assert limit is not None
    kwargs = engine_options(GrpoSettings(ModelSettings(model), "run"))["mm_processor_kwargs"]
    assert kwargs == {"max_pixels": limit.pixels}
    images = pictures()
    most, read = processed(model, None, images)
    most_limited, read_limited = processed(model, kwargs, images)
    assert (most, most_limited) == (limit.own_tokens, limit.tokens) == (16384, 640)
    assert read["prompt_token_ids"] == read_limited["prompt_token_ids"]
    for before, after in zip(read["mm_kwargs"]["image"], read_limited["mm_kwargs"]["image"], strict=True):
        assert before["pixel_values"].data.equal(after["pixel_values"].data)


def pictures() -> list[Any]:
    """Draw the largest overview and zooms of all sizes."""
    wavelength = np.linspace(3600.0, 10000.0, 12000)
    flux = np.random.default_rng(3).normal(-2.5e-17, 1e-17, wavelength.size)
    windows = (None, (6500.0, 6530.0), (6500.0, 6650.0), (6400.0, 7300.0), (3600.0, 10000.0))
    return [plot.draw(wavelength, flux, window) for window in windows]


def processed(model: str, kwargs: dict[str, int] | None, images: list[Any]) -> tuple[int, Any]:
    """Return the most tokens of a picture, and a prompt with pictures as vLLM's engine gets it."""
    from vllm.config import ModelConfig
    from vllm.multimodal import MULTIMODAL_REGISTRY
    from vllm.multimodal.processing.context import TimingContext
    from vllm.multimodal.processing.inputs import ProcessorInputs

    limits = {"image": len(images), "video": 0}
    config = ModelConfig(model=model, max_model_len=4096, mm_processor_kwargs=kwargs, limit_mm_per_prompt=limits)
    processor = MULTIMODAL_REGISTRY.create_processor(config)
    most = processor.info.get_mm_max_tokens_per_item(config.max_model_len, {"image": 1})["image"]
    mark = processor.info.get_tokenizer().convert_tokens_to_ids("<|image_pad|>")
    items = processor.info.parse_mm_data({"image": images})
    return most, processor.apply(ProcessorInputs([mark] * len(images), items), TimingContext())
