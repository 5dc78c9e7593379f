"""The parts of TRL that training overrides or reads: pinned to one minor release, and listed here.

A new TRL release that changes one of them fails here, with its name, before it can change a training run.
"""

from __future__ import annotations

import inspect
import warnings
from importlib.metadata import version
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("trl")

OVERRIDDEN = {
    "_generate_and_score_completions": ("self", "inputs"),
    "_generate": ("self", "prompts"),
    "_prepare_inputs": ("self", "generation_batch"),
    "_get_per_token_logps_and_entropies": ("self", "model"),
    "_compute_loss": ("self", "model", "inputs"),
    "log": ("self", "logs", "start_time"),
    "create_model_card": ("self",),
}
"""Methods of ``GRPOTrainer`` that ``training.grpo.learning`` replaces, with their first parameters."""
READ_FROM_GRPO = (
    *("self._metrics", "self._last_loaded_step", "self.vllm_generation", "self.eos_token_ids", "self.tools"),
    *("self.current_gradient_accumulation_steps", "tool_mask", "completion_mask", "old_per_token_logps"),
    *("clip_ratio/low_mean", "clip_ratio/high_mean", "sampling_per_token_logps", "step_time"),
    *("self._buffered_inputs", "self.loss_type", "per_token_loss.size(0) * self.max_completion_length"),
)
READ_FROM_SFT = ("self._total_train_tokens", '"num_tokens"')
READ_FROM_VLLM = (
    *("self.mode = ", "self.tensor_parallel_size = ", "self.max_completion_length = ", "self.temperature = "),
    *("self.top_p = ", "self.top_k = ", "self.min_p = ", "self.repetition_penalty = ", "self.generation_kwargs = "),
    *("self.enable_sleep_mode = ", "self._llm_weights_sleeping = ", "self.llm = LLM(", "self.vllm_client = "),
)


@pytest.fixture(scope="module")
def trl() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import trl

        assert trl.GRPOTrainer
        assert trl.SFTTrainer
    return trl


def parameters(function: Any) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def test_the_installed_release_is_the_pinned_one() -> None:
    assert version("trl").split(".")[:2] == ["1", "16"]


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_each_overridden_method_has_the_known_parameters(trl: ModuleType, name: str) -> None:
    known = OVERRIDDEN[name]
    assert parameters(getattr(trl.GRPOTrainer, name))[: len(known)] == known


def test_generation_returns_the_known_values_in_order(trl: ModuleType) -> None:
    returned = "prompt_ids, completion_ids, tool_mask, completions, logprobs, extra_fields, images, tool_images"
    assert f"return {returned}\n" in inspect.getsource(trl.GRPOTrainer._generate)


@pytest.mark.parametrize("text", READ_FROM_GRPO)
def test_each_attribute_read_from_the_grpo_trainer_is_there(trl: ModuleType, text: str) -> None:
    assert text in inspect.getsource(inspect.getmodule(trl.GRPOTrainer))


@pytest.mark.parametrize("text", READ_FROM_SFT)
def test_each_attribute_read_from_the_sft_trainer_is_there(trl: ModuleType, text: str) -> None:
    assert text in inspect.getsource(inspect.getmodule(trl.SFTTrainer))


@pytest.mark.parametrize("text", READ_FROM_VLLM)
def test_each_attribute_of_its_vllm_is_there(trl: ModuleType, text: str) -> None:
    from trl.generation.vllm_generation import VLLMGeneration

    assert text in inspect.getsource(VLLMGeneration)
    assert parameters(VLLMGeneration.sync_weights) == ("self",)
    assert {"prompts", "images", "num_generations"} <= set(parameters(VLLMGeneration.generate))


def test_vllm_has_the_methods_that_continuous_generation_calls(trl: ModuleType) -> None:
    pytest.importorskip("vllm")
    from vllm import LLM
    from vllm.v1.engine.llm_engine import LLMEngine

    assert parameters(LLMEngine.add_request)[:4] == ("self", "request_id", "prompt", "params")
    assert parameters(LLMEngine.abort_request)[:2] == ("self", "request_ids")
    assert parameters(LLMEngine.step) == parameters(LLMEngine.reset_encoder_cache) == ("self",)
    assert "tags" in parameters(LLM.wake_up)
    assert "level" in parameters(LLM.sleep)


def test_generation_outside_the_trainer_accepts_the_options_used_here(trl: ModuleType) -> None:
    from trl.models import unwrap_model_for_generation

    expected = {"generation_kwargs", "gradient_checkpointing_kwargs"}
    assert expected <= set(parameters(unwrap_model_for_generation))


def test_resuming_replaces_a_method_that_transformers_has(trl: ModuleType) -> None:
    for trainer in (trl.GRPOTrainer, trl.SFTTrainer):
        assert parameters(trainer._load_from_checkpoint)[:3] == ("self", "resume_from_checkpoint", "model")


def test_the_loss_of_a_batch_is_counted_by_the_flag_that_sft_sets() -> None:
    from transformers import Trainer

    assert "self.model_accepts_loss_kwargs" in inspect.getsource(Trainer)
