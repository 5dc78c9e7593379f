"""Generation of turns by the trained model itself, and what every generator has in common.

All sample from the model's own probabilities: no repetition penalty and no other setting of the checkpoint except
the end tokens. Picture tokens are never generated: a conversation would have more pictures than pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from agent.language import tr
from training.grpo.cached import CachedGeneration
from training.grpo.rollout import ContinuousGenerator, GeneratedTurn, Generator, Request
from training.grpo.settings import derived_seed
from training.render import END, IMAGE

if TYPE_CHECKING:
    from torch import Tensor

VIDEO = "<|video_pad|>"


class InRounds(Protocol):
    """It is notified of each round before it generates for it."""

    def round(self, number: int, greedy: bool = False) -> Any:
        """Return a context in which the turns of one round are generated, with the present weights.

        :param greedy: take the most probable token instead of sampling
        """
        ...


class LockStepRounds(InRounds, Generator, Protocol):
    """A lock-step generator for rounds."""


class ContinuousRounds(InRounds, ContinuousGenerator, Protocol):
    """A continuous generator for rounds."""


RoundGenerator = LockStepRounds | ContinuousRounds


def stop_ids(trainer: Any) -> frozenset[int]:
    """Return the ids that end a turn: ``<|im_end|>``, and what else the model's generation settings name."""
    return frozenset((trainer.processing_class.tokenizer.convert_tokens_to_ids(END), *trainer.eos_token_ids))


def forbidden_ids(tokenizer: Any) -> list[int]:
    """Return the ids of picture tokens."""
    known = tokenizer.get_vocab()
    return [known[token] for token in (IMAGE, VIDEO) if token in known]


class TransformersGenerator:
    """Generation by the trained model itself. Under DeepSpeed each process gathers all weights for the duration of a
    round, and then generates on its own; under FSDP it cannot (``training.environment.generation_problem``).

    :param trainer: TRL's ``GRPOTrainer``
    :param at_once: conversations per batch
    """

    def __init__(self, trainer: Any, at_once: int, temperature: float, top_p: float, seed: int) -> None:
        self.ends = stop_ids(trainer)
        self._trainer = trainer
        self._at_once = at_once
        self._temperature = temperature
        self._top_p = top_p
        self._seed = seed
        self._greedy = False
        self._random: Any = None
        self._generation: CachedGeneration | None = None

    @contextmanager
    def round(self, number: int, greedy: bool = False) -> Iterator[None]:
        import torch
        from trl.models import unwrap_model_for_generation

        trainer = self._trainer
        device = trainer.accelerator.device
        self._greedy = greedy
        place = (number, trainer.accelerator.process_index)
        self._random = torch.Generator(device).manual_seed(derived_seed(self._seed, *place))
        with (
            unwrap_model_for_generation(
                trainer.model_wrapped,
                trainer.accelerator,
                gradient_checkpointing_kwargs=trainer.args.gradient_checkpointing_kwargs,
            ) as model,
            trainer.accelerator.autocast(),
        ):
            processor = trainer.processing_class
            forbidden = forbidden_ids(processor.tokenizer)
            self._generation = CachedGeneration(model, processor, self.ends, forbidden, self._at_once)
            yield
        self._generation = None

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        if self._generation is None:
            raise ValueError(tr("turns are generated within a round"))
        return self._generation.write(requests, self._chosen)

    def _chosen(self, logits: Tensor) -> Tensor:
        """Select one token per row: the most probable one, or one sampled at the temperature, within ``top_p``."""
        import torch

        if self._greedy:
            return logits.argmax(dim=-1)
        probabilities = (logits / self._temperature).softmax(dim=-1)
        if self._top_p < 1:
            ordered, order = probabilities.sort(dim=-1, descending=True)
            before = ordered.cumsum(dim=-1) - ordered
            probabilities = torch.zeros_like(probabilities).scatter(-1, order, ordered * (before < self._top_p))
        return torch.multinomial(probabilities, 1, generator=self._random)[:, 0]


OnChoice = Callable[[Sequence[Request], "Tensor", list[int]], None]
"""Gets the conversations, the logits of their next tokens, and the tokens chosen."""


class GreedyGenerator:
    """The most probable turns of a model that does not learn, in batches.

    :param model: on its device, in evaluation
    :param at_once: conversations per batch
    """

    def __init__(self, model: Any, processor: Any, at_once: int, on_choice: OnChoice | None = None) -> None:
        tokenizer = processor.tokenizer
        self.ends = frozenset(tokenizer.convert_tokens_to_ids([END, "<|endoftext|>"]))
        self._generation = CachedGeneration(model, processor, self.ends, forbidden_ids(tokenizer), at_once)
        self._on_choice = on_choice

    def any_waiting(self, waiting: int) -> bool:
        return waiting > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        def choose(logits: Tensor) -> Tensor:
            chosen = logits.argmax(dim=-1)
            if self._on_choice is not None:
                self._on_choice(requests, logits, chosen.tolist())
            return chosen

        return self._generation.write(requests, choose)
