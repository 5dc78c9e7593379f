"""GRPO training: TRL's trainer, with our inspections in place of its generation and no other change.

The default loss is TRL's ``dapo``: the sum over all assistant tokens of an update, divided by the round's mean number
per update. verl's published token-mean averaged over micro-batches. TRL's ``delta`` is verl's dual clip.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent import tool
from agent.policies.local.model import source
from training.data import DataCard as DataCard
from training.data import DataError, Dropped, card, questions, refuse_leaks, without
from training.data.records import Question
from training.environment import is_first_process, launch_problem
from training.grpo.generators import RoundGenerator, TransformersGenerator, VllmGenerator, vllm_options
from training.grpo.round import RoundRunner
from training.grpo.settings import GrpoSettings, batches, rounds, schedule
from training.model import Loaded, ModelError, Resumable, load, out_of_memory, processor, resolved, save_learned
from training.render import Renderer
from training.run import CardFiles, Run, Start
from training.settings import SettingsError

if TYPE_CHECKING:
    from torch import Tensor


def trainer_class(runner: RoundRunner) -> Any:
    """Return the trainer's class; set its ``writer`` before training."""
    from trl import GRPOTrainer

    class Inspecting(Resumable, GRPOTrainer):  # type: ignore[misc]
        """TRL's trainer with ``runner`` as its generation."""

        writer: RoundGenerator

        def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
            self._round_inputs = inputs
            output: dict[str, Any] = super()._generate_and_score_completions(inputs)
            if "pixel_values" not in output:
                raise RuntimeError("TRL dropped the round's pictures: it counts their tokens otherwise")
            # The pixels of a round are gigabytes: keep them in main memory until they are needed.
            output["pixel_values"] = output["pixel_values"].cpu()
            self._divergence = [0.0, 0.0]
            return output

        def _generate(self, prompts: list[Any]) -> tuple[Any, ...]:
            found = runner.run(self._round_inputs, self.writer, self.is_world_process_zero())
            return (
                found.prompt_ids,
                found.completion_ids,
                found.spoken,
                found.completions,
                found.logprobs,
                {"scored": found.rewards},
                found.images,
                found.images,
            )

        def _get_per_token_logps_and_entropies(self, *args: Any, **options: Any) -> Any:
            found = super()._get_per_token_logps_and_entropies(*args, **options)
            self._latest = found[0].detach()
            return found

        def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> Tensor:
            inputs = {**inputs, "pixel_values": inputs["pixel_values"].to(self.accelerator.device)}
            loss: Tensor = super()._compute_loss(model, inputs)
            mask = inputs["completion_mask"] * inputs["tool_mask"]
            old = inputs.get("old_per_token_logps")
            self._divergence[0] += 0.0 if old is None else _divergence(old, self._latest, mask)
            self._divergence[1] += int(mask.sum())
            return loss

        def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
            if "loss" in logs:
                logs = _log_line(self, runner, logs)
            # Our numbers are in ``logs`` already.
            self._metrics["train"].clear()
            super().log(logs, start_time)

        def create_model_card(self, *args: Any, **options: Any) -> None:
            """Omitted: a run describes itself in its own files."""

    return Inspecting


def _divergence(old: Tensor, new: Tensor, mask: Tensor) -> float:
    """Return the sum over the assistant tokens of an estimate of KL(old || new) that is never negative: r - 1 - log r,
    with r = new / old (Schulman, http://joschu.net/blog/kl-approx.html).
    """
    gap = (new - old) * mask
    return float((gap.exp() - 1 - gap).sum())


def _log_line(trainer: Any, runner: RoundRunner, logs: Mapping[str, float]) -> dict[str, Any]:
    """Return the round's line of the log: the inspections, and TRL's numbers of the update."""
    import torch

    metrics = trainer._metrics["train"]

    def mean(name: str) -> float | None:
        values = metrics.get(name)
        return sum(values) / len(values) if values else None

    divergence = torch.tensor(trainer._divergence, dtype=torch.float64, device="cpu")
    total = trainer.accelerator.reduce(divergence.to(trainer.accelerator.device), reduction="sum")
    named = {
        "clip_low": "clip_ratio/low_mean",
        "clip_high": "clip_ratio/high_mean",
        "entropy": "entropy",
        "kl_start": "kl",
        "vllm_gap": "sampling/sampling_logp_difference/mean",
    }
    seconds = sum(metrics["step_time"])
    rolled = runner.seconds_writing + runner.seconds_drawing
    return {
        "round": runner.round,
        **runner.numbers,
        **{name: logs[name] for name in ("loss", "grad_norm", "learning_rate") if name in logs},
        **{name: value for name, key in named.items() if (value := mean(key)) is not None},
        "kl_old": float(total[0] / max(float(total[1]), 1.0)),
        "seconds_writing": round(runner.seconds_writing, 3),
        "seconds_drawing": round(runner.seconds_drawing, 3),
        "seconds_learning": round(seconds - rolled, 3),
    }


if TYPE_CHECKING:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

OnStep = Callable[[int, int, Mapping[str, Any]], None]
"""``on_step(round, rounds, metrics)``, called after each round."""


def processes() -> int:
    """Return the number of processes that a launcher started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def train(
    settings: GrpoSettings,
    questions: Sequence[Question],
    card: CardFiles | None = None,
    start: Start = "new",
    on_step: OnStep | None = None,
) -> Run:
    """Train by inspecting ``questions`` and return the finished run. With several processes all of them call it.

    :raises SettingsError: a round cannot be divided so, or does not fit the model's context
    :raises ModelError: the model cannot be loaded, or does not fit
    :raises RunError: the folder holds a run, unless ``start`` says what to do with it
    """
    import torch

    if problem := launch_problem():
        raise ModelError(problem)
    total = rounds(settings, len(questions))
    _check_context(settings)
    run = Run(Path(settings.output))
    # Before the model: under DeepSpeed these say how its weights are spread as they are read.
    arguments = arguments_of(settings, total)
    with arguments.main_process_first(local=False, desc="run"):
        if is_first_process():
            run.begin("grpo", settings, start)
            if card is not None:
                run.save_card(card.plain, card.markdown)
    checkpoint = run.checkpoint()
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, questions, run, arguments)
    trainer.add_callback(run.callback())
    if on_step is not None and is_first_process():
        trainer.add_callback(_step_callback(on_step, total))
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(out_of_memory("a step")) from error
    save_learned(trainer, loaded, run.model, settings.merge)
    return run


def arguments_of(settings: GrpoSettings, total: int) -> GRPOConfig:
    """Return the settings as TRL's arguments, for ``total`` rounds."""
    import torch
    from trl import GRPOConfig

    share = batches(settings, processes())
    dtype = settings.model.dtype
    return GRPOConfig(
        output_dir=settings.output,
        seed=settings.seed,
        max_steps=total * share.updates,
        per_device_train_batch_size=share.per_device,
        gradient_accumulation_steps=share.accumulated,
        steps_per_generation=share.round,
        num_generations=settings.rollouts,
        # The rows are already in the order of the rounds.
        shuffle_dataset=False,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        epsilon=settings.clip_low,
        epsilon_high=settings.clip_high,
        delta=settings.dual_clip,
        beta=settings.kl,
        loss_type=settings.loss,
        scale_rewards=settings.scale,
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_completion_length=settings.turn_tokens or settings.response_tokens,
        # Sampling and training must give the same probabilities under the same weights.
        disable_dropout=True,
        bf16=dtype == "bfloat16",
        fp16=dtype == "float16",
        use_cpu=not (torch.cuda.is_available() or torch.backends.mps.is_available()),
        gradient_checkpointing=settings.gradient_checkpointing,
        deepspeed=settings.deepspeed,
        # Every trajectory has a picture, so every trained parameter is used.
        ddp_find_unused_parameters=False,
        save_strategy="steps",
        # A round cannot be resumed in the middle: its rollouts are not kept.
        save_steps=settings.save_rounds * share.updates,
        save_total_limit=settings.keep_checkpoints,
        logging_steps=share.updates,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        log_completions=False,
        log_multimodal=False,
        **_vllm_arguments(settings),
    )


def _vllm_arguments(settings: GrpoSettings) -> dict[str, Any]:
    vllm = settings.vllm
    if vllm.mode == "none":
        return {}
    return {
        "use_vllm": True,
        "vllm_mode": vllm.mode,
        "vllm_gpu_memory_utilization": vllm.memory,
        "vllm_tensor_parallel_size": vllm.tensor_parallel,
        "vllm_max_model_length": settings.prompt_tokens + settings.response_tokens,
        "vllm_server_host": vllm.host,
        "vllm_server_port": vllm.port,
        "vllm_group_port": vllm.group_port,
        "vllm_server_timeout": vllm.timeout,
        "vllm_importance_sampling_correction": vllm.correction != "none",
        **({} if vllm.correction == "none" else {"vllm_importance_sampling_mode": vllm.correction}),
    }


def trainer_of(
    settings: GrpoSettings,
    loaded: Loaded,
    questions: Sequence[Question],
    run: Run,
    arguments: GRPOConfig,
) -> GRPOTrainer:
    """Return TRL's trainer with our inspections of ``questions`` as its generation."""
    from transformers import PrinterCallback

    if settings.vllm.mode != "none":
        arguments.generation_kwargs = vllm_options(loaded.processor.tokenizer)
    runner = RoundRunner(settings, questions, Renderer(loaded.processor), run)
    trainer = trainer_class(runner)(
        model=loaded.model,
        reward_funcs=[reward_function],
        args=arguments,
        processing_class=loaded.processor,
        train_dataset=_rows(settings, len(questions)),
    )
    # TRL handles pictures in tool results only if it has tools. Ours are called by the loop; they are set after
    # construction, because TRL would otherwise require a chat template that renders calls.
    trainer.tools = [tool.call]
    trainer.writer = _writer(settings, trainer)
    trainer.remove_callback(PrinterCallback)
    return trainer


def reward_function(prompts: Any, completions: Any, completion_ids: Any, scored: list[float], **_: Any) -> list[float]:
    """Return the rewards in TRL's form; ``training.reward.score`` calculated them when the round was run."""
    return scored


def _writer(settings: GrpoSettings, trainer: Any) -> RoundGenerator:
    if settings.vllm.mode != "none":
        return VllmGenerator(trainer)
    return TransformersGenerator(trainer, settings.writing_batch, settings.temperature, settings.top_p, settings.seed)


def _rows(settings: GrpoSettings, questions: int) -> Dataset:
    """Return the run as one long epoch, so that a resumed run finds its place by counting.

    ``prompt`` is a placeholder required by TRL: the conversation begins in ``training.render``.
    """
    from datasets import Dataset

    order = schedule(settings, questions)
    return Dataset.from_dict(
        {
            "prompt": [[{"role": "user", "content": str(place)}] for one in order for place in one],
            "question": [place for one in order for place in one],
            "round": [number for number, one in enumerate(order) for _ in one],
        }
    )


def _check_context(settings: GrpoSettings) -> None:
    """:raises SettingsError: question and response do not fit the model's context"""
    from transformers import AutoConfig

    # Reports why a model cannot be loaded.
    processor(settings.model)
    name = resolved(settings.model).name
    context = int(AutoConfig.from_pretrained(source(name)).get_text_config().max_position_embeddings)
    wanted = settings.prompt_tokens + settings.response_tokens
    if wanted > context:
        raise SettingsError(
            f"prompt_tokens + response_tokens: found {wanted}, expected at most the {context} tokens of "
            f"{settings.model.name}"
        )


def _step_callback(on_step: OnStep, total: int) -> Any:
    from transformers import TrainerCallback

    class StepCallback(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "round" in logs:
                on_step(logs["round"], total, logs)

    return StepCallback()


@dataclass(frozen=True)
class Prepared:
    """The questions, and the data card that counts them and what was left out."""

    questions: tuple[Question, ...]
    card: DataCard


def prepare(settings: GrpoSettings) -> Prepared:
    """Read the questions; no picture is drawn yet.

    :raises DataError: no question, data that cannot be used, or sources of the test data in it
    """
    if not settings.data:
        raise DataError("data: found nothing, expected SpecVI Parquet, JSON lines or spectra (--data)")
    dropped: list[Dropped] = []
    labels = None if settings.labels is None else Path(settings.labels)
    spectra = None if settings.spectra_folder is None else Path(settings.spectra_folder)
    wanted = settings.tasks or ()
    found = questions(
        settings.data,
        labels=labels,
        task=wanted[0] if len(wanted) == 1 else None,
        part="train",
        spectra=spectra,
        dropped=dropped,
    )
    if wanted:
        found = [question for question in found if question.task.key in wanted]
        missing = [key for key in wanted if all(question.task.key != key for question in found)]
        if missing:
            raise DataError(f"tasks: found no question of {', '.join(missing)} in {', '.join(settings.data)}")
    if settings.test:
        test = questions(settings.test, labels=labels, part="test", spectra=spectra)
        if settings.drop_leaks:
            found, leaks = without(found, {question.source for question in test})
            dropped += [Dropped(one.key, "its spectrum is in the test data") for one in leaks]
        refuse_leaks(found, test)
    return Prepared(tuple(found), card(found, dropped=dropped))
