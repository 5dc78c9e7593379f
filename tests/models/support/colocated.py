"""A real vLLM inside a trainer on the CPU: ``python -m tests.models.support.colocated MODEL DATA OUTPUT [ROUNDS]``.

It prints what a test compares, as one JSON object on the last line. It is a process of its own, because vLLM and TRL
set up torch.distributed and its environment variables for the whole process.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from agent.trajectory import Drafter
from tests.models.support.rollouts import log_probabilities
from training.data import questions
from training.grpo.generators import TransformersGenerator
from training.grpo.learning import arguments_of, trainer_of
from training.grpo.rollout import Limits, Rollout, run_rollouts
from training.grpo.settings import GrpoSettings, VllmSettings
from training.model import load
from training.render import Renderer
from training.run import Run
from training.settings import ModelSettings

CHANGED = ("", "language_model", "visual")
"""The part of the model whose weights change before each round."""


def main(model: str, data: str, output: str, rounds: str = "3") -> None:
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
    import torch
    from vllm.model_executor.layers import utils

    torch.set_num_threads(1)
    # vLLM's CPU build packs the weights of linear layers, and then takes no new ones. On a GPU they stay as they are.
    utils.dispatch_cpu_unquantized_gemm = _keep_weights
    settings = GrpoSettings(
        ModelSettings(model, dtype="float32"),
        output,
        (data,),
        prompts=2,
        rollouts=2,
        mini_batch=1,
        rounds=1,
        turn_tokens=120,
        response_tokens=1500,
        vllm=VllmSettings("colocate", options={"enforce_eager": True}),
        gradient_checkpointing=False,
    )
    given = [question for question in questions([data]) for _ in range(2)]
    trainer = trainer_of(settings, load(settings.model), given, Run(Path(output)), arguments_of(settings, 1))
    trainer.model_wrapped = trainer.model
    own = TransformersGenerator(trainer, 16, 1.0, 1.0, 0)
    limits = Limits(settings.max_turns, settings.turn_tokens, settings.response_tokens)
    renderer = Renderer(trainer.processing_class)

    def rolled(writer: Any, step: int, greedy: bool) -> tuple[Rollout, ...]:
        with writer.round(step, greedy=greedy):
            chosen = given[::2] if greedy else given
            return run_rollouts(chosen, renderer, writer, limits, Drafter("model", "test")).rollouts

    facts: dict[str, Any] = {
        "generator": type(trainer.writer).__name__,
        "limits": trainer.vllm_generation.llm.llm_engine.vllm_config.model_config.multimodal_config.limit_per_prompt,
        "rounds": [],
    }
    facts["limits"] = {name: getattr(value, "count", value) for name, value in facts["limits"].items()}
    order: list[int] = []
    collect = trainer.writer.collect

    def watched() -> Any:
        found = collect()
        order.extend(row for row, _ in found)
        return found

    trainer.writer.collect = watched
    for step, part in enumerate(CHANGED[: int(rounds)]):
        torch.manual_seed(step)
        for name, value in trainer.model.named_parameters():
            if part and part in name:
                value.data += 0.1 * value.data.std() * torch.randn_like(value) if value.dim() > 1 else 0.0
        trainer.state.global_step = step
        order.clear()
        found = rolled(trainer.writer, step, greedy=False)
        before = [log_probabilities(trainer.model, trainer.processing_class, one).tolist() for one in found]
        spoken = [
            (rollout.logprobs[at], values[at])
            for rollout, values in zip(found, before, strict=True)
            for at, mine in enumerate(rollout.completion.spoken)
            if mine
        ]
        first = rolled(trainer.writer, step, greedy=True)
        facts["rounds"].append(
            {
                "tokens": len(spoken),
                "gap": max(abs(a - b) for a, b in spoken),
                "mean": sum(b for _, b in spoken) / len(spoken),
                "turns": [len(rollout.turns) for rollout in found],
                "order": list(order),
                "greedy": [rollout.completion.ids for rollout in first],
                "own": [rollout.completion.ids for rollout in rolled(own, step, greedy=True)],
            }
        )
    print(json.dumps(facts))


def _keep_weights(layer: Any, remove_weight: bool) -> None:
    from torch.nn.functional import linear

    layer.cpu_linear = linear


if __name__ == "__main__":
    main(*sys.argv[1:])
