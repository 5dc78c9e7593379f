"""Generation of turns by vLLM, through TRL's ``VLLMGeneration``, which also sends it the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agent.language import tr
from agent.vllm.pictures import picture_limit
from training.grpo.generators import RoundGenerator, forbidden_ids, stop_ids
from training.grpo.rollout import GeneratedTurn, Request
from training.grpo.settings import GrpoSettings
from training.render import IMAGE

_FORBIDDEN_BIAS = -100.0  # as a bias on the logits: the largest that vLLM's server accepts


def vllm_generator(trainer: Any) -> RoundGenerator:
    """Return the generator for the vLLM of ``trainer``: continuous where a process has one of its own."""
    vllm = trainer.vllm_generation
    if vllm.mode == "colocate" and vllm.tensor_parallel_size == 1:
        return ColocatedGenerator(trainer)
    return VllmGenerator(trainer)


def vllm_options(tokenizer: Any) -> dict[str, Any]:
    """Return sampling options for vLLM in addition to TRL's settings."""
    return {"logit_bias": dict.fromkeys(forbidden_ids(tokenizer), _FORBIDDEN_BIAS)}


def engine_options(settings: GrpoSettings) -> dict[str, Any]:
    """Return arguments for the constructor of a colocated vLLM that TRL has no setting for.

    Without the limits of pictures, vLLM reserves memory for a video, and for a picture larger than any of ours.
    """
    model = settings.model
    limit = picture_limit(model.name)
    pixels = {"min_pixels": model.min_pixels, "max_pixels": model.max_pixels or (limit and limit.pixels)}
    given = {name: value for name, value in pixels.items() if value is not None}
    return {
        "dtype": model.dtype,
        "limit_mm_per_prompt": {"image": 1 + settings.max_turns, "video": 0},
        **({"mm_processor_kwargs": given} if given else {}),
        **settings.vllm.options,
    }


@contextmanager
def constructed_with(options: Mapping[str, Any]) -> Iterator[None]:
    """Return a context in which TRL constructs its vLLM with ``options`` in addition to its own arguments."""
    from trl.generation import vllm_generation

    constructor = vllm_generation.LLM
    vllm_generation.LLM = lambda **arguments: constructor(**{**arguments, **options})
    try:
        yield
    finally:
        vllm_generation.LLM = constructor


def merge_kept(model: Any) -> float | None:
    """Return how much of a LoRA adapter is left once it is added to weights in their number format, as vLLM gets them:
    the projection of the changes of the weights on the changes that the adapter means, 1 if nothing is lost; None
    without an adapter.

    A change of less than half the step to the next number is lost as a whole (bfloat16: 6e-5 at a weight of 0.02).
    """
    import torch

    kept = meant = 0.0
    for layer in model.modules():
        for name in getattr(layer, "lora_A", ()) if hasattr(layer, "get_delta_weight") else ():
            weight = layer.get_base_layer().weight.detach()
            with torch.no_grad():
                change = layer.get_delta_weight(name).float()
                merged = (weight.float() + change).to(weight.dtype).float() - weight.float()
                kept += float((merged * change).sum())
                meant += float((change * change).sum())
    return kept / meant if meant else None


class _Synced:
    """What both generators have in common: the weights of each round, and a check of what vLLM has read."""

    def __init__(self, trainer: Any) -> None:
        self.kept: float | None = None
        self.ends = stop_ids(trainer)
        self._trainer = trainer
        self._vllm = trainer.vllm_generation
        self._image = trainer.processing_class.tokenizer.convert_tokens_to_ids(IMAGE)

    def _sync(self) -> None:
        """Send the weights if vLLM does not have those of this step; what it calculated with others is dropped."""
        trainer, vllm = self._trainer, self._vllm
        # TRL's own counter of the step whose weights vLLM has. A vLLM that sleeps has none.
        sleeping = vllm.mode == "colocate" and vllm.enable_sleep_mode and vllm._llm_weights_sleeping
        if trainer.state.global_step == trainer._last_loaded_step and not sleeping:
            return
        # A process with only a part of the weights cannot tell.
        whole = not (trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled)
        self.kept = merge_kept(trainer.model) if whole else None
        vllm.sync_weights()
        # TRL resets only the prefix cache. The features of pictures come from the old weights too.
        if vllm.mode == "colocate":
            vllm.llm.llm_engine.reset_encoder_cache()
        elif trainer.accelerator.is_main_process:
            client = vllm.vllm_client
            answer = client.session.post(f"{client.base_url}/reset_encoder_cache")
            if answer.status_code != 200:
                raise RuntimeError(
                    tr(
                        "{base_url}/reset_encoder_cache: found status {status_code}, expected 200; start the server "
                        "with vLLM 0.22 or later",
                        base_url=client.base_url,
                        status_code=answer.status_code,
                    )
                )
        trainer._last_loaded_step = trainer.state.global_step

    def _marked(self, request: Request) -> list[int]:
        """Return the prompt with one picture token per picture, which a colocated vLLM expands itself."""
        ids = request.so_far.ids
        before = (None, *ids)
        return [token for token, last in zip(ids, before, strict=False) if token != self._image or last != self._image]

    def _turn(
        self, request: Request, seen: Sequence[int], ids: Sequence[int], logprobs: Sequence[float | None]
    ) -> GeneratedTurn:
        """Return a turn. :raises RuntimeError: vLLM read other tokens than the trained model"""
        if list(seen) != list(request.so_far.ids):
            raise RuntimeError(
                tr(
                    "vLLM read {n_seen} tokens where the trained model reads {n_so_far}: its processor counts "
                    "picture tokens differently; start it from the same folder, or use `vllm.mode: none`",
                    n_seen=len(seen),
                    n_so_far=len(request.so_far),
                )
            )
        # A probability that vLLM could not give is left out of the correction and of the gap, as TRL does it.
        chosen = tuple(math.nan if value is None else value for value in logprobs[: request.limit])
        return GeneratedTurn(tuple(ids[: request.limit]), chosen)


class ColocatedGenerator(_Synced):
    """Continuous generation by a vLLM inside this process: a conversation whose turn has ended gets its tool call and
    its next turn while the others still write.

    :param trainer: TRL's ``GRPOTrainer`` with ``use_vllm``
    """

    def __init__(self, trainer: Any) -> None:
        super().__init__(trainer)
        self._llm = self._vllm.llm
        self._open: dict[str, Request] = {}
        self._number = 0
        self._greedy = False

    @contextmanager
    def round(self, number: int, greedy: bool = False) -> Iterator[None]:
        self._greedy = greedy
        self._sync()
        if self._vllm.enable_sleep_mode:
            self._llm.wake_up(tags=["kv_cache"])
        try:
            yield
        finally:
            # Turns are open here only after an error.
            self._llm.llm_engine.abort_request(list(self._open))
            self._open.clear()
            if self._vllm.enable_sleep_mode:
                self._llm.sleep(level=2)
                self._vllm._llm_weights_sleeping = True

    def submit(self, requests: Sequence[Request]) -> None:
        for request in requests:
            name = f"turn-{self._number}"
            self._number += 1
            prompt = {
                "prompt_token_ids": self._marked(request),
                "multi_modal_data": {"image": list(request.so_far.images)},
            }
            self._llm.llm_engine.add_request(name, prompt, self._sampling(request.limit))
            self._open[name] = request

    def collect(self) -> list[tuple[int, GeneratedTurn]]:
        turns: list[tuple[int, GeneratedTurn]] = []
        while self._open and not turns:
            for output in self._llm.llm_engine.step():
                if output.finished:
                    request = self._open.pop(output.request_id)
                    (written,) = output.outputs
                    chosen = [
                        place[token].logprob for place, token in zip(written.logprobs, written.token_ids, strict=True)
                    ]
                    turn = self._turn(request, output.prompt_token_ids, written.token_ids, chosen)
                    turns.append((request.row, turn))
        return turns

    def _sampling(self, limit: int) -> Any:
        """Return vLLM's parameters of one turn, as TRL's ``generate`` makes them."""
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        vllm = self._vllm
        options = {
            "repetition_penalty": vllm.repetition_penalty,
            "temperature": vllm.temperature,
            "top_p": vllm.top_p,
            "top_k": vllm.top_k,
            "min_p": vllm.min_p or 0.0,
            "logprobs": 0,
            **vllm.generation_kwargs,
        }
        if self._greedy:
            options["temperature"] = 0.0
        return SamplingParams(**options, n=1, max_tokens=limit, output_kind=RequestOutputKind.FINAL_ONLY)


class VllmGenerator(_Synced):
    """Lock-step generation by a vLLM that processes share: a server, or one colocated over several GPUs.

    All processes must call it together with equally many requests: a process with fewer repeats its last request, and
    drops the result.

    :param trainer: TRL's ``GRPOTrainer`` with ``use_vllm``
    """

    def __init__(self, trainer: Any) -> None:
        super().__init__(trainer)
        self._server = self._vllm.mode == "server"
        self._together = trainer.accelerator.num_processes > 1
        self._most = 0
        self._last: Request | None = None

    @contextmanager
    def round(self, number: int, greedy: bool = False) -> Iterator[None]:
        self._sync()
        temperature = self._vllm.temperature
        if greedy:
            self._vllm.temperature = 0.0
        try:
            yield
        finally:
            self._vllm.temperature = temperature

    def any_waiting(self, waiting: int) -> bool:
        self._most = self._most_of(waiting) if self._together else waiting
        return self._most > 0

    def write(self, requests: Sequence[Request]) -> list[GeneratedTurn]:
        requested = self._filled(requests)
        # vLLM takes one limit for all requests; longer turns are cut below.
        self._vllm.max_completion_length = max(request.limit for request in requested)
        prompt_ids, ids, logprobs, _ = self._vllm.generate(
            # A server expects all picture tokens.
            prompts=[list(sent.so_far.ids) if self._server else self._marked(sent) for sent in requested],
            images=[list(request.so_far.images) for request in requested],
            num_generations=1,
        )
        rows = zip(requested, prompt_ids, ids, logprobs, strict=True)
        written = [self._turn(sent, seen, row, [place[0] for place in given]) for sent, seen, row, given in rows]
        return written[: len(requests)]

    def _filled(self, requests: Sequence[Request]) -> list[Request]:
        if requests:
            self._last = requests[-1]
        if not self._together:
            return list(requests)
        if self._last is None:
            raise ValueError(tr("a process without a trajectory cannot share a vLLM with others"))
        return [*requests, *[self._last] * (self._most - len(requests))]

    def _most_of(self, waiting: int) -> int:
        import torch

        accelerator = self._trainer.accelerator
        return int(accelerator.gather(torch.tensor([waiting], device=accelerator.device)).max())
