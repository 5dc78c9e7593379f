"""The cold start itself: TRL's trainer over our rendering.

The loss of a step is the mean over all tokens spoken in its whole batch, over every process and however many
forward passes it was accumulated: the batch size is a matter of memory only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.data.records import Example
from training.environment import is_first_process, launch_problem
from training.model import Loaded, ModelError, Resumable, load, out_of_memory, save_learned
from training.render import Renderer, for_learning
from training.run import Card, Run, Start
from training.sft.settings import SftSettings, rendered

if TYPE_CHECKING:
    from torch import Tensor
    from trl import SFTConfig, SFTTrainer

Told = Callable[[int, int, Mapping[str, Any]], None]
"""Told of each step: its number, how many there will be, and its numbers."""


class Collator:
    """Rows of a data set that holds nothing but the examples' places, as a batch: pictures are fetched when
    their batch is made.
    """

    def __init__(self, examples: Sequence[Example], processor: Any, with_tool: bool) -> None:
        self._examples = examples
        self._renderer = Renderer(processor)
        self._with_tool = with_tool

    def __call__(self, rows: Sequence[Mapping[str, int]]) -> dict[str, Tensor]:
        examples = [self._examples[row["place"]] for row in rows]
        read = [rendered(one, self._renderer, self._with_tool) for one in examples]
        return for_learning(read, self._renderer.processor)


def train(
    settings: SftSettings,
    examples: Sequence[Example],
    held_out: Sequence[Example] = (),
    card: Card | None = None,
    start: Start = "new",
    told: Told | None = None,
) -> Run:
    """Learn from ``examples``; the finished run. With several processes all of them call it.

    :param examples: none longer than ``max_length``
    :raises ModelError: the model cannot be loaded, or does not fit
    :raises RunError: the folder holds a run, unless ``start`` says what is to become of it
    """
    import torch

    if problem := launch_problem():
        raise ModelError(problem)
    run = Run(Path(settings.output))
    # Before the model: under DeepSpeed these say how its weights are spread as they are read.
    arguments = arguments_of(settings, bool(held_out))
    with arguments.main_process_first(local=False, desc="run"):
        if is_first_process():
            run.begin("sft", settings, start)
            if card is not None:
                run.keep_card(card.plain, card.markdown)
    checkpoint = run.checkpoint()
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, examples, held_out, arguments)
    trainer.add_callback(run.callback())
    if told is not None and is_first_process():
        trainer.add_callback(_telling(told))
    if checkpoint is not None:
        # TRL counts from nought again.
        trainer._total_train_tokens = next(
            (line["num_tokens"] for line in reversed(run.logged()) if "num_tokens" in line), 0
        )
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(out_of_memory("a step")) from error
    save_learned(trainer, loaded, run.model, settings.merge)
    return run


def arguments_of(settings: SftSettings, evaluates: bool) -> SFTConfig:
    """The settings in TRL's words."""
    import torch
    from trl import SFTConfig

    dtype = settings.model.dtype
    gpu = torch.cuda.is_available()
    return SFTConfig(
        output_dir=settings.output,
        seed=settings.seed,
        num_train_epochs=settings.epochs,
        max_steps=-1 if settings.max_steps is None else settings.max_steps,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.accumulation,
        learning_rate=settings.learning_rate,
        lr_scheduler_type=settings.schedule,
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
        adam_beta2=settings.beta2,
        bf16=dtype == "bfloat16",
        fp16=dtype == "float16",
        use_cpu=not (gpu or torch.backends.mps.is_available()),
        gradient_checkpointing=settings.gradient_checkpointing,
        deepspeed=settings.deepspeed,
        # Every example has a picture, and what learns is used by every picture and word.
        ddp_find_unused_parameters=False,
        save_strategy="steps",
        save_steps=settings.save_steps,
        save_total_limit=settings.keep_checkpoints,
        eval_strategy="steps" if evaluates else "no",
        eval_steps=settings.save_steps,
        prediction_loss_only=True,
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataset_kwargs={"skip_prepare_dataset": True},
        dataloader_num_workers=settings.workers,
        dataloader_pin_memory=gpu,
        max_length=None,
    )


def trainer_of(
    settings: SftSettings,
    loaded: Loaded,
    examples: Sequence[Example],
    held_out: Sequence[Example],
    arguments: SFTConfig,
) -> SFTTrainer:
    """TRL's trainer over ``examples``."""
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import SFTTrainer

    def places(first: int, count: int) -> Dataset:
        return Dataset.from_dict({"place": list(range(first, first + count))})

    class Sft(Resumable, SFTTrainer):  # type: ignore[misc]
        def create_model_card(self, *args: Any, **options: Any) -> None:
            """Left out: what a run is stands in its own files."""

    trainer = Sft(
        model=loaded.model,
        args=arguments,
        processing_class=loaded.processor,
        data_collator=Collator([*examples, *held_out], loaded.processor, settings.with_tool),
        train_dataset=places(0, len(examples)),
        eval_dataset=places(len(examples), len(held_out)) if held_out else None,
    )
    # Qwen2.5-VL says that it takes no number of tokens of a whole batch, and transformers then counts none:
    # each forward pass would weigh the same, however little is said in it. TRL divides by that number itself.
    trainer.model_accepts_loss_kwargs = True
    trainer.remove_callback(PrinterCallback)
    return trainer


def steps(settings: SftSettings, examples: int) -> dict[str, int]:
    """How many steps it would take as it is started now, and how many examples a step has."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    batches = math.ceil(examples / (settings.batch_size * processes))
    total = math.ceil(settings.epochs * math.ceil(batches / settings.accumulation))
    a_step = settings.batch_size * settings.accumulation * processes
    return {"steps": settings.max_steps or total, "examples_a_step": a_step}


def _telling(told: Told) -> Any:
    from transformers import TrainerCallback

    class Telling(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                told(state.global_step, state.max_steps, logs)

    return Telling()
