"""Qwen3-VL and Qwen3.5 through the dialect of Spec-o3: rendering, both policies, SFT and GRPO, with tiny real models.

This is one module, so that only one test worker makes the models and starts their servers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import cycle, pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent.conversation import Conversation, Piece, Usage
from agent.loop import Ended, Text, inspect
from agent.policies.local.chat_template import DIALECT, use_dialect
from agent.policies.local.policy import Local
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.simulate import simulate
from agent.tasks import load as load_tasks
from agent.trajectory.tags import turn_text
from tests.models.support.learned_set import asked, written
from tests.models.support.learned_traces import inspected, shown
from tests.models.support.real_server import VllmServer, served
from tests.models.support.rollouts import (
    DRAFTER,
    Generator,
    alone,
    generation,
    largest_gap,
    log_probabilities,
    question,
    rolled,
    runs,
    settings_for,
)
from tests.models.support.successors import ARCHITECTURES, LEARNED, PICTURE, UNIT
from training.data import examples, questions
from training.grpo.learning import arguments_of, trainer_of
from training.grpo.learning import train as train_grpo
from training.grpo.rollout import Limits, run_rollouts
from training.model import load, part_of, processor, save
from training.render import UNSPOKEN, Renderer
from training.reward import Reward, score
from training.run import Run
from training.settings import Lora, ModelSettings
from training.sft import Collator, SftSettings
from training.sft import train as train_sft

pytestmark = pytest.mark.usefixtures("imported")

TRACE = inspected(LEARNED)


@pytest.fixture(scope="module", params=ARCHITECTURES)
def architecture(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def model(architecture: str, successors: dict[str, Path]) -> Path:
    return successors[architecture]


@pytest.fixture(scope="module")
def settings(model: Path) -> ModelSettings:
    return ModelSettings(str(model), dtype="float32")


def test_a_template_that_writes_the_dialect_is_kept(architecture: str, model: Path, settings: ModelSettings) -> None:
    published = (model / "chat_template.jinja").read_text(encoding="utf-8")
    used = processor(settings).chat_template
    assert used == {"qwen3_vl": published, "qwen3_5": DIALECT}[architecture]


def test_a_model_of_another_family_keeps_its_template() -> None:
    other = SimpleNamespace(tokenizer=SimpleNamespace(get_vocab=lambda: {"<image>": 0}), chat_template="its own")
    assert not use_dialect(other)
    assert other.chat_template == "its own"


def test_token_ids_are_those_of_the_processor(settings: ModelSettings) -> None:
    reads = processor(settings)
    rendered = Renderer(reads).example(TRACE.trajectory, TRACE.pictures)
    text = reads.apply_chat_template(TRACE.messages)
    whole = list(reads(text=[text], images=[picture.convert("RGB") for picture in TRACE.pictures])["input_ids"][0])
    assert list(rendered.ids) == whole[: len(rendered)]
    assert whole[len(rendered) :] == reads.tokenizer.encode("\n")


def test_a_picture_takes_one_token_per_square_of_32_pixels(settings: ModelSettings) -> None:
    """Within the limits, which are pixels and not tokens: the same ``max_pixels`` is fewer tokens than at 28 pixels."""
    picture = TRACE.pictures[1]
    wide = Renderer(processor(replace(settings, max_pixels=1024 * UNIT**2)))
    assert wide.image_tokens(picture) == round(picture.width / UNIT) * round(picture.height / UNIT)
    assert PICTURE[1] - 8 <= Renderer(processor(settings)).image_tokens(picture) <= PICTURE[1]


def test_the_local_policy_repeats_the_learned_trace(model: Path) -> None:
    found = list(inspect(shown(LEARNED), load_tasks()[LEARNED], Local(str(model))))
    end = found[-1]
    assert isinstance(end, Ended)
    assert (end.reason, end.trajectory.faults) == ("answered", ())
    assert [turn_text(turn) for turn in end.trajectory.turns()] == TRACE.turns
    assert any(isinstance(event, Text) for event in found)


def test_turns_of_a_round_have_the_probabilities_of_the_model_without_a_cache(settings: ModelSettings) -> None:
    """As for Qwen2.5-VL; here for the features of Qwen3-VL's earlier vision layers and the states of Qwen3.5."""
    loaded = load(settings)
    mixed = [question("cv", 1), question("dme", 2), question("wd", 3, "wd"), question("cv", 1)]
    found = rolled(loaded, mixed, Generator(generation(loaded, logprobs=True), sampled=True))
    assert any(len(one.turns) > 1 for one in found)
    gap, compared = largest_gap(loaded, found)
    assert gap < 2e-4
    assert compared > 100


def test_what_is_saved_gives_the_same_logits(settings: ModelSettings, tmp_path: Path) -> None:
    """The layout of the published Qwen2.5-VL, in which models are saved, keeps the rotary frequencies of these."""
    loaded = load(settings)
    save(loaded, tmp_path / "model")
    again = load(replace(settings, name=str(tmp_path / "model")))
    text, same = (one.model.config.get_text_config() for one in (loaded, again))
    assert same.rope_parameters == text.rope_parameters
    rendered = Renderer(loaded.processor).example(TRACE.trajectory, TRACE.pictures)
    logits, same_logits = (alone(one.model, one.processor, rendered) for one in (loaded, again))
    assert float((logits - same_logits).abs().max()) == 0


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("set")).parent


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_step_of_sft(settings: ModelSettings, data: Path, tmp_path: Path, method: Any) -> None:
    learned = examples([data])
    one = replace(settings, method=method, lora=Lora(rank=4, alpha=8))
    chosen = SftSettings(one, str(tmp_path / "run"), (str(data),), batch_size=2, max_steps=1, learning_rate=1e-3)
    run = train_sft(chosen, learned)
    (line,) = [line for line in run.logged() if "loss" in line]
    assert math.isfinite(line["loss"])
    assert 0 < line["grad_norm"] < math.inf
    # What was learned opens in live vetting, and writes.
    policy = Local(str(run.model)) if method == "full" else Local(settings.name, str(run.model))
    *_, end = inspect(shown(LEARNED), load_tasks()[LEARNED], policy, max_turns=1)
    assert isinstance(end, Ended)
    assert end.usage.completion > 0


def test_labels_are_the_assistants_tokens(settings: ModelSettings, data: Path) -> None:
    learned = examples([data])
    reads = processor(settings)
    batch = Collator(learned, reads, with_tool=True)([{"place": place} for place in range(len(learned))])
    for row, example in enumerate(learned):
        labels = batch["labels"][row]
        texts = [turn_text(turn) + "<|im_end|>" for turn in example.trajectory.turns()]
        expected = [reads.tokenizer.encode(text, add_special_tokens=False) for text in texts]
        assert runs(labels.tolist(), (labels != UNSPOKEN).tolist()) == expected


def test_the_frozen_parts_are_the_vision_tower_and_all_its_projectors(
    architecture: str, settings: ModelSettings
) -> None:
    parameters = dict(load(settings).model.named_parameters())
    frozen = {name for name, parameter in parameters.items() if not parameter.requires_grad}
    assert frozen == {name for name in parameters if ".visual." in name}
    projector = {name for name in parameters if part_of(name) == "projector"}
    assert projector == {name for name in parameters if "merger" in name}
    assert any("deepstack_merger_list" in name for name in projector) == (architecture == "qwen3_vl")
    vision = load(replace(settings, frozen=("vision",))).model.named_parameters()
    assert {name for name, parameter in vision if "merger" in name and not parameter.requires_grad} == set()


def test_lora_adapts_every_projection_of_the_language_layers(architecture: str, settings: ModelSettings) -> None:
    model = load(replace(settings, method="lora", lora=Lora(rank=4, alpha=8))).model
    adapted = {name.partition(".lora_")[0] for name, _ in model.named_parameters() if ".lora_" in name}
    assert not any(".visual." in name for name in adapted)
    full = 4 if architecture == "qwen3_vl" else 3
    layers = {"qwen3_vl": 3 * (4 + 3), "qwen3_5": 4 * 3 + 1 * 4 + 3 * full}[architecture]
    assert len(adapted) == layers
    assert any(name.endswith("linear_attn.in_proj_qkv") for name in adapted) == (architecture == "qwen3_5")


@pytest.fixture(scope="module")
def asked_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asked(tmp_path_factory.mktemp("questions") / "questions.jsonl")


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_round_of_grpo(
    settings: ModelSettings, asked_file: Path, tmp_path: Path, method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rewards of the two trajectories differ, so that there is something to learn."""
    rewards = cycle([0.0, 1.0])

    def scored(response: str, label: str, alpha: float) -> Reward:
        return replace(score(response, label, alpha), score=next(rewards))

    monkeypatch.setattr("training.grpo.round.score", scored)
    chosen = replace(
        settings_for(Path(settings.name), asked_file, tmp_path / "run"),
        model=replace(settings, method=method, lora=Lora(rank=4, alpha=8)),
        prompts=1,
        rollouts=2,
        rounds=1,
        max_turns=2,
        turn_tokens=80,
        response_tokens=600,
        learning_rate=1e-3,
        temperature=1.5,
    )
    run = train_grpo(chosen, questions([asked_file]))
    (line,) = [line for line in run.logged() if "reward" in line]
    assert line["reward"] == 0.5
    assert math.isfinite(line["loss"])
    assert 0 < line["grad_norm"] < math.inf
    assert line["spoken"] > 0


def test_the_trainers_probabilities_equal_those_without_a_batch(
    settings: ModelSettings, asked_file: Path, tmp_path: Path
) -> None:
    """Each forward pass of the trainer has two questions of different length, so the shorter one is padded."""
    import torch

    chosen = replace(
        settings_for(Path(settings.name), asked_file, tmp_path / "run"),
        rollouts=2,
        max_turns=2,
        turn_tokens=80,
        response_tokens=600,
    )
    loaded, given = load(settings), questions([asked_file])
    trainer: Any = trainer_of(chosen, loaded, given, Run(tmp_path / "run"), arguments_of(chosen, 2))
    trainer.model_wrapped = trainer.model
    trainer.model.train()
    rows = [{**trainer.train_dataset[0], "question": place} for place in (0, 2, 0, 2)]
    output = trainer._generate_and_score_completions([dict(row) for row in rows])
    with trainer.writer.round(0):
        limits = Limits(chosen.max_turns, chosen.turn_tokens, chosen.response_tokens)
        asked_again = [given[row["question"]] for row in rows]
        found = run_rollouts(asked_again, Renderer(loaded.processor), trainer.writer, limits, DRAFTER).rollouts
    assert len({len(one.prompt) for one in found}) == 2
    for row, rollout in enumerate(found):
        completion = output["completion_ids"][row][output["completion_mask"][row].bool()]
        assert completion.tolist() == list(rollout.completion.ids)
        alone_values = log_probabilities(trainer.model, loaded.processor, rollout)
        spoken = torch.tensor(rollout.completion.spoken)
        recorded = output["old_per_token_logps"][row, : len(spoken)]
        assert torch.allclose(recorded[spoken], alone_values[spoken], atol=2e-4)


# Behind vLLM: the model as training saves it, with the chat template of the dialect


@pytest.fixture(scope="module")
def server(
    architecture: str, settings: ModelSettings, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VllmServer]:
    """One server per architecture, in the number format that the command chooses. The saved processor allows larger
    pictures, which ``--pixels`` takes back.
    """
    if find_spec("vllm") is None:
        pytest.skip("no vllm in this Python: run make test-models")
    folder = tmp_path_factory.mktemp(architecture)
    save(load(replace(settings, max_pixels=1024 * UNIT**2)), folder / "model")
    with served(folder / "model", folder / "vllm.log", "--pixels", str(PICTURE[1] * UNIT**2)) as running:
        yield running


class Counted(SpecO3):
    """The served policy; it keeps the tokens of each turn."""

    def __init__(self, server: VllmServer) -> None:
        super().__init__(Endpoint(server.url), stream=False)
        self.usages: list[Usage] = []

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        for piece in super().turn(conversation):
            self.usages += [piece] if isinstance(piece, Usage) else []
            yield piece


def test_the_served_model_repeats_the_learned_trace_and_reads_the_same_tokens(
    server: VllmServer, settings: ModelSettings
) -> None:
    policy = Counted(server)
    *_, end = inspect(shown(LEARNED), load_tasks()[LEARNED], policy)
    assert isinstance(end, Ended)
    assert (end.reason, end.trajectory.faults) == ("answered", ())
    assert [turn_text(turn) for turn in end.trajectory.turns()] == TRACE.turns
    rendered = Renderer(processor(settings)).example(TRACE.trajectory, TRACE.pictures)
    assert policy.usages[-1].prompt + policy.usages[-1].completion == len(rendered)


def test_later_turns_are_read_from_the_cache(architecture: str, server: VllmServer) -> None:
    """In whole blocks of tokens. Of models with linear attention vLLM keeps the state behind some blocks only. Which
    is its own choice and depends on the machine, so a turn may find a shorter beginning, or none.
    """
    block = 128
    policy = Counted(server)
    *_, end = inspect(simulate("cv", "LAMOST", 20.0, seed=4), load_tasks()[LEARNED], policy)
    assert isinstance(end, Ended)
    assert end.reason == "answered"
    assert len(policy.usages) == 5
    for before, turn in pairwise(policy.usages):
        whole = (before.prompt + before.completion) // block * block
        assert turn.cached % block == 0
        assert turn.cached == whole if architecture == "qwen3_vl" else turn.cached <= whole
    assert max(turn.cached for turn in policy.usages) >= 768
