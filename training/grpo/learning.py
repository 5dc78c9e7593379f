"""GRPO training: settings as TRL's arguments, the data, and the run. TRL's ``delta`` is verl's dual clip."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agent import tool
from agent.language import tr
from agent.policies.local.model import source
from training.data import DataCard as DataCard
from training.data import DataError, Dropped, card, questions, refuse_leaks, tasks_with, without, without_damaged
from training.data.records import Question
from training.data.splits import label_of, task_of
from training.environment import generation_problem, is_first_process, launch_problem
from training.grpo.generators import RoundGenerator, TransformersGenerator
from training.grpo.round import RoundRunner
from training.grpo.settings import GrpoSettings, batches, rounds, schedule
from training.grpo.trainer import trainer_class
from training.grpo.validation import Validation
from training.grpo.vllm import constructed_with, engine_options, vllm_generator, vllm_options
from training.model import Loaded, ModelError, load, out_of_memory, processor, resolved, save_learned
from training.model_card.card import renew
from training.render import Renderer
from training.run import CardFiles, Run, Start
from training.settings import SettingsError
from training.trl_options import configured

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
    validation: Sequence[Question] = (),
) -> Run:
    """Train by inspecting ``questions`` and return the finished run. With several processes all of them call it.

    :param validation: questions that are never learned from; the weights that did best on them are the result
    :raises SettingsError: a round cannot be divided so, does not fit the model's context, or cannot be generated as
        the processes were launched
    :raises ModelError: the model cannot be loaded, or does not fit
    :raises RunError: the folder holds a run, unless ``start`` says what to do with it
    """
    import torch
    from transformers import set_seed

    if problem := launch_problem():
        raise ModelError(problem)
    if problem := generation_problem(settings.vllm.mode, settings.trl):
        raise SettingsError(problem)
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
    # A new LoRA adapter begins with random numbers; the trainer sets the seed only after it is loaded.
    set_seed(settings.seed)
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, questions, run, arguments)
    trainer.add_callback(run.callback())
    validated = None
    if validation:
        validated = Validation(settings, validation, trainer.runner, run, batches(settings, processes()).updates)
        trainer.add_callback(validated.callback(trainer, loaded))
    if on_step is not None and is_first_process():
        trainer.add_callback(_step_callback(on_step, total))
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(out_of_memory("a step")) from error
    if validated is None:
        save_learned(trainer, loaded, run.model, settings.merge)
    elif is_first_process():
        validated.finish(run.model, settings.merge)
    if is_first_process():
        renew(run.folder)
    return run


def arguments_of(settings: GrpoSettings, total: int) -> GRPOConfig:
    """Return the settings as TRL's arguments, for ``total`` rounds."""
    import torch

    share = batches(settings, processes())
    dtype = settings.model.dtype
    ours = dict(
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
        lr_scheduler_type="constant_with_warmup" if settings.schedule == "constant" else settings.schedule,
        warmup_steps=settings.warmup * share.updates,
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
        # Only `dr_grpo` reads it, as the longest trajectory; a turn has its own limit in each request.
        max_completion_length=settings.response_tokens,
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
        disable_tqdm=True,
        log_completions=False,
        log_multimodal=False,
        **_vllm_arguments(settings),
    )
    return configured("grpo", ours, settings.trl, settings.report_to)


def _vllm_arguments(settings: GrpoSettings) -> dict[str, Any]:
    vllm = settings.vllm
    if vllm.mode == "none":
        return {}
    return {
        "use_vllm": True,
        "vllm_mode": vllm.mode,
        "vllm_gpu_memory_utilization": vllm.memory,
        "vllm_tensor_parallel_size": vllm.tensor_parallel,
        "vllm_enable_sleep_mode": vllm.sleep,
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
    colocated = settings.vllm.mode == "colocate"
    with constructed_with(engine_options(settings)) if colocated else nullcontext():
        trainer = trainer_class(runner)(
            model=loaded.model,
            reward_funcs=[reward_function],
            args=arguments,
            processing_class=loaded.processor,
            train_dataset=_rows(settings, questions),
        )
    # TRL handles pictures in tool results only if it has tools. Ours are called by the loop; they are set after
    # construction, because TRL would otherwise require a chat template that renders calls.
    trainer.tools = [tool.call]
    trainer.runner, trainer.writer = runner, _writer(settings, trainer)
    trainer.remove_callback(PrinterCallback)
    return trainer


def reward_function(prompts: Any, completions: Any, completion_ids: Any, scored: list[float], **_: Any) -> list[float]:
    """Return the rewards in TRL's form; ``training.reward.score`` calculated them when the round was run."""
    return scored


def _writer(settings: GrpoSettings, trainer: Any) -> RoundGenerator:
    if settings.vllm.mode != "none":
        return vllm_generator(trainer)
    return TransformersGenerator(trainer, settings.writing_batch, settings.temperature, settings.top_p, settings.seed)


def _rows(settings: GrpoSettings, questions: Sequence[Question]) -> Dataset:
    """Return the run as one long epoch, so that a resumed run finds its place by counting.

    ``prompt`` is a placeholder required by TRL: the conversation begins in ``training.render``.
    """
    from datasets import Dataset

    order = schedule(settings, [(task_of(question), label_of(question)) for question in questions])
    return Dataset.from_dict(
        {
            "prompt": [[{"role": "user", "content": str(place)}] for round_places in order for place in round_places],
            "question": [place for round_places in order for place in round_places],
            "round": [number for number, round_places in enumerate(order) for _ in round_places],
        }
    )


def _check_context(settings: GrpoSettings) -> None:
    """:raises SettingsError: question and response do not fit the model's context"""
    from transformers import AutoConfig

    # Reports why a model cannot be loaded.
    processor(settings.model)
    name = resolved(settings.model).name
    context = int(AutoConfig.from_pretrained(source(name)).get_text_config().max_position_embeddings)
    needed = settings.prompt_tokens + settings.response_tokens
    if needed > context:
        raise SettingsError(
            tr(
                "prompt_tokens + response_tokens: found {wanted}, expected at most the {context} tokens of {name}",
                wanted=needed,
                context=context,
                name=settings.model.name,
            )
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
    """The questions, those of the validation, and the data card that counts the former and what was left out."""

    questions: tuple[Question, ...]
    validation: tuple[Question, ...]
    card: DataCard


def prepare(settings: GrpoSettings) -> Prepared:
    """Read the questions; no picture is drawn yet.

    :raises DataError: no question, data that cannot be used, or sources of the test or validation data in it
    """
    if not settings.data:
        raise DataError(tr("data: found nothing, expected SpecVI Parquet, JSON lines or spectra (--data)"))
    dropped: list[Dropped] = []
    usable = _questions(settings, settings.data, "train", dropped)
    if settings.skip_damaged:
        usable = without_damaged(usable, dropped)
    validation = _questions(settings, settings.validation, "train", [])
    for others in (_questions(settings, settings.test, "test", []), validation):
        if settings.drop_leaks:
            usable, leaks = without(usable, {question.source for question in others})
            dropped += [Dropped(leak.key, "its spectrum is in the test or validation data") for leak in leaks]
        refuse_leaks(usable, others)
    if settings.validation_questions is not None:
        order = np.random.default_rng(settings.seed).permutation(len(validation))
        validation = [validation[place] for place in sorted(order[: settings.validation_questions])]
    return Prepared(tuple(usable), tuple(validation), card(usable, dropped=dropped))


def _questions(
    settings: GrpoSettings, data: Sequence[str], part: Literal["train", "test"], dropped: list[Dropped]
) -> list[Question]:
    """Return the questions of some data, of the tasks that are used."""
    if not data:
        return []
    keys = settings.tasks or ()
    labels = None if settings.labels is None else Path(settings.labels)
    spectra = None if settings.spectra_folder is None else Path(settings.spectra_folder)
    task = keys[0] if len(keys) == 1 else None
    known = tasks_with(settings.task_files)
    listed = questions(data, known, labels, task=task, part=part, spectra=spectra, dropped=dropped)
    if not keys or part == "test":
        return list(listed)
    missing = [key for key in keys if all(question.task.key != key for question in listed)]
    if missing:
        raise DataError(
            tr("tasks: found no question of {names} in {names2}", names=", ".join(missing), names2=", ".join(data))
        )
    return [question for question in listed if question.task.key in keys]
