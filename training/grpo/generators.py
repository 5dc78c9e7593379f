"""Generators of turns: the trained model itself through transformers, or a vLLM that receives its weights.

Both sample from the model's own probabilities: no repetition penalty and no other setting of the checkpoint except
the end tokens. Picture tokens are never generated: a conversation would have more pictures than pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from training.grpo.cached import CachedGeneration
from training.grpo.rollout import GeneratedTurn, Generator, Request
from training.grpo.settings import derived_seed
from training.render import END, IMAGE

if TYPE_CHECKING:
    from torch import Tensor

VIDEO = "<|video_pad|>"
_FORBIDDEN_BIAS = -100.0  # as a bias on the logits: the largest that vLLM's server accepts


class RoundGenerator(Generator, Protocol):
    """A generator that is notified of each round before it generates for it."""

    def round(self, number: int, greedy: bool = False) -> Any:
        """Return a context in which the turns of one round are generated, with the present weights.

        :param greedy: take the most probable token instead of sampling
        """
        ...


def stop_ids(trainer: Any) -> frozenset[int]:
    """Return the ids that end a turn: ``<|im_end|>``, and what else the model's generation settings name."""
    return frozenset((trainer.processing_class.tokenizer.convert_tokens_to_ids(END), *trainer.eos_token_ids))


def forbidden_ids(tokenizer: Any) -> list[int]:
    """Return the ids of picture tokens."""
    known = tokenizer.get_vocab()
    return [known[token] for token in (IMAGE, VIDEO) if token in known]


class TransformersGenerator:
    """Generation by the trained model itself. Under DeepSpeed and FSDP each process gathers all weights for the
    duration of a round, and then generates on its own.

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
            trainer._dist.summon_full_params(trainer.model_wrapped, recurse=False),
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
            raise ValueError("turns are generated within a round")
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


class VllmGenerator:
    """Generation by vLLM, through TRL's ``VLLMGeneration``, which also sends it the weights.

    Where processes share a vLLM (a server, or one colocated over several GPUs) all of them must call it
    together with equally many requests: a process with fewer repeats its last request, and drops the result.

    :param trainer: TRL's ``GRPOTrainer`` with ``use_vllm``
    """

    def __init__(self, trainer: Any) -> None:
        self.ends = stop_ids(trainer)
        self._trainer = trainer
        self._vllm = trainer.vllm_generation
        tokenizer = trainer.processing_class.tokenizer
        self._image = tokenizer.convert_tokens_to_ids(IMAGE)
        self._server = self._vllm.mode == "server"
        shared = self._server or self._vllm.tensor_parallel_size > 1
        self._together = shared and trainer.accelerator.num_processes > 1
        self._most = 0
        self._last: Request | None = None

    @contextmanager
    def round(self, number: int, greedy: bool = False) -> Iterator[None]:
        trainer = self._trainer
        self._greedy = greedy
        # TRL's own counter of the step whose weights vLLM has.
        if trainer.state.global_step != trainer._last_loaded_step:
            self._vllm.sync_weights()
            trainer._last_loaded_step = trainer.state.global_step
        yield

    def any_waiting(self, waiting: int) -> bool:
        self._most = self._most_of(waiting) if self._together else waiting
        return self._most > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        requested = self._filled(requests)
        # vLLM takes one limit for all requests; longer turns are cut below.
        self._vllm.max_completion_length = max(request.limit for request in requested)
        prompt_ids, ids, logprobs, _ = self._vllm.generate(
            prompts=[self._prompt(request) for request in requested],
            images=[list(request.so_far.images) for request in requested],
            num_generations=1,
        )
        written = []
        for one, seen, row, token_logprobs in zip(requested, prompt_ids, ids, logprobs, strict=True):
            if list(seen) != list(one.so_far.ids):
                raise RuntimeError(
                    f"vLLM read {len(seen)} tokens where the trained model reads {len(one.so_far)}: "
                    "its processor counts picture tokens differently; start it from the same folder, or use "
                    "`vllm.mode: none`"
                )
            chosen = tuple(0.0 if p[0] is None else p[0] for p in token_logprobs[: one.limit])
            written.append(GeneratedTurn(tuple(row[: one.limit]), chosen))
        return written[: len(requests)]

    def _prompt(self, request: Request) -> list[int]:
        """Return the prompt: a colocated vLLM expands one picture token itself; a server expects all of them."""
        ids = request.so_far.ids
        if self._server:
            return list(ids)
        before = (None, *ids)
        return [token for token, last in zip(ids, before, strict=False) if token != self._image or last != self._image]

    def _filled(self, requests: Sequence[Request]) -> list[Request]:
        if requests:
            self._last = requests[-1]
        if not self._together:
            return list(requests)
        if self._last is None:
            raise ValueError("a process without a trajectory cannot share a vLLM with others")
        return [*requests, *[self._last] * (self._most - len(requests))]

    def _most_of(self, waiting: int) -> int:
        import torch

        accelerator = self._trainer.accelerator
        return int(accelerator.gather(torch.tensor([waiting], device=accelerator.device)).max())


def vllm_options(tokenizer: Any) -> dict[str, Any]:
    """Return sampling options for vLLM in addition to TRL's settings."""
    return {"logit_bias": dict.fromkeys(forbidden_ids(tokenizer), _FORBIDDEN_BIAS)}
