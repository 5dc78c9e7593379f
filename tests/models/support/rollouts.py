"""Rollouts of a small model in tests: questions, settings, generation with a cache, and what the same model gives
without a cache or a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from agent.simulate import simulate
from agent.tasks import load as load_tasks
from agent.trajectory import Drafter
from training.data.records import Question
from training.grpo.cached import CachedGeneration
from training.grpo.generators import forbidden_ids
from training.grpo.rollout import GeneratedTurn, Limits, Request, Rollout, run_rollouts
from training.grpo.settings import GrpoSettings
from training.model import Loaded
from training.render import Rendered, Renderer, for_learning
from training.settings import ModelSettings

DRAFTER = Drafter("model", "test")


def settings_for(model: Path, data: Path, output: Path) -> GrpoSettings:
    """Return the settings of two rounds of two updates each."""
    return GrpoSettings(
        ModelSettings(str(model), dtype="float32"),
        str(output),
        (str(data),),
        prompts=2,
        rollouts=4,
        mini_batch=1,
        per_device=2,
        rounds=2,
        turn_tokens=200,
        response_tokens=1500,
        learning_rate=1e-4,
        writing_batch=8,
        loss="dapo",
        save_rounds=1,
        traces=3,
        gradient_checkpointing=False,
    )


def question(kind: str, seed: int, task: str = "cv") -> Question:
    """Return a question of the class ``task`` about a simulated spectrum; its label is YES."""
    spectrum = simulate(kind, "LAMOST", 20.0, seed)
    return Question(
        key=f"{kind} {seed}",
        source=spectrum.name,
        task=load_tasks()[task],
        label="YES",
        survey=spectrum.survey,
        snr=20.0,
        simulated=True,
        spectrum=lambda: spectrum,
    )


@dataclass
class Generator:
    """A generator over ``CachedGeneration``, greedy or sampled, that counts what the model reads."""

    generation: CachedGeneration
    sampled: bool = False

    def __post_init__(self) -> None:
        import torch

        self.ends = self.generation.ends
        self._random = torch.Generator().manual_seed(3)

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        return self.generation.write(requests, self._chosen)

    def _chosen(self, logits: Any) -> Any:
        import torch

        if not self.sampled:
            return logits.argmax(dim=-1)
        # Rows then end at different lengths.
        return torch.multinomial((logits / 0.7).softmax(dim=-1), 1, generator=self._random)[:, 0]


def generation(loaded: Loaded, at_once: int = 16, logprobs: bool = False) -> CachedGeneration:
    tokenizer = loaded.processor.tokenizer
    ends = frozenset(tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"]))
    return CachedGeneration(
        loaded.model.eval(), loaded.processor, ends, forbidden_ids(tokenizer), at_once, logprobs=logprobs
    )


def rolled(loaded: Loaded, questions: Sequence[Question], writer: Generator) -> tuple[Rollout, ...]:
    limits = Limits(turns=5, turn=60, response=1500)
    return run_rollouts(questions, Renderer(loaded.processor), writer, limits, DRAFTER).rollouts


def alone(model: Any, processor: Any, so_far: Rendered) -> Any:
    """Return the logits (tokens, vocabulary) of one conversation, read whole, without a cache and without padding."""
    import torch

    batch = for_learning([so_far], processor)
    batch.pop("labels")
    with torch.no_grad():
        return model.eval()(**batch).logits[0]


def log_probabilities(model: Any, processor: Any, rollout: Rollout, forbidden: Sequence[int] = ()) -> Any:
    """Return the log-probability of each token of the completion, by one forward pass of the conversation alone.

    :param forbidden: ids that were not sampled from
    """
    import torch

    logits = alone(model, processor, rollout.prompt + rollout.completion)
    logits[:, list(forbidden)] = float("-inf")
    ids = torch.tensor(rollout.completion.ids)
    return logits[len(rollout.prompt) - 1 : -1].log_softmax(-1).gather(1, ids[:, None])[:, 0]


def largest_gap(loaded: Loaded, rollouts: Sequence[Rollout]) -> tuple[float, int]:
    """Compare the log-probability of each sampled token, as its generator gave it, with that of a forward pass.

    :return: the largest difference, and the number of tokens
    """
    import torch

    forbidden = forbidden_ids(loaded.processor.tokenizer)
    gaps = []
    for rollout in rollouts:
        assert rollout.logprobs is not None
        spoken = torch.tensor(rollout.completion.spoken)
        expected = log_probabilities(loaded.model, loaded.processor, rollout, forbidden)
        gaps.append((torch.tensor(rollout.logprobs) - expected)[spoken].abs())
    joined = torch.cat(gaps)
    return float(joined.max()), len(joined)


def runs(ids: Iterable[int], spoken: Iterable[bool]) -> list[list[int]]:
    """Return the runs of consecutive ids that are spoken."""
    pairs = zip(ids, spoken, strict=True)
    return [[token for token, _ in run] for mine, run in groupby(pairs, itemgetter(1)) if mine]
