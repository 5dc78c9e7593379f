"""Supervised fine-tuning (the cold start): settings, data, trainer, and the printed loss mask.

The loss of a step is the mean over all assistant tokens of its whole batch, over all processes and
accumulated forward passes: batch size and accumulation change memory use only.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from pydantic import model_validator
from pydantic.dataclasses import dataclass as settings_dataclass

from agent.language import tr
from agent.settings_file import Flag, Mismatch, Whole
from training.data import DataError, Dropped, examples, questions, tasks_with, without_damaged
from training.data.card import DataCard, card
from training.data.records import Example
from training.data.splits import refuse_leaks, sample, shared_sources, split, without
from training.environment import is_first_process, launch_problem
from training.model import Loaded, ModelError, Resumable, load, out_of_memory, save_learned
from training.model_card.card import renew
from training.render import IMAGE, Rendered, Renderer, for_learning
from training.run import CardFiles, Run, Start
from training.settings import (
    CLOSED,
    AtLeast1,
    AtLeast1OrNull,
    Fraction,
    ModelSettings,
    Positive,
    Real,
    Texts,
    check_merge,
)
from training.trl_options import Options, Tracker, configured, refuse


@settings_dataclass(frozen=True, config=CLOSED)
class SftSettings:
    """A cold start. Published: ``cold_start/examples/spec_o3/qwen2_5_sft_full.yaml`` of
    github.com/Maxwell-Jia/spec-o3, run with LLaMA-Factory.

    :param data: exports, our JSON lines, or the published set; input of ``training.data.examples``
    :param spectra: a folder with the spectra that rows of ours only name, to draw their pictures from
    :param task_files: a folder with task files of one's own
    :param test: test data; examples of its spectra are refused, or dropped with ``drop_leaks``
    :param skip_damaged: examples with damaged text (``training.data.damage``) are dropped; they are counted in any case
    :param output: the folder of the run
    :param with_tool: train with the tool; without it the thoughts and the answer are one turn
    :param trajectories: learn from so many, selected by ``seed`` with each task and label in the same share; None:
        from all
    :param max_length: tokens; a longer example is dropped, never cut
    :param batch_size: examples per GPU and forward pass; ``accumulation`` of these make one step
    :param beta2: AdamW's second decay rate; the default is that of transformers
    :param schedule: of the learning rate, as transformers names it
    :param warmup: share of all steps in which the rate rises
    :param max_steps: stop after so many, None: after ``epochs``
    :param save_steps: steps between checkpoints, of which the last ``keep_checkpoints`` are kept
    :param held_out: share of spectra held out; their loss is measured at each checkpoint.
        Published: none
    :param keep_best: the finished model has the weights of the checkpoint with the lowest loss on held-out data, not
        the last ones
    :param deepspeed: a DeepSpeed file, where the launcher's own settings do not name one
    :param merge: merge the LoRA adapter into the weights at the end
    :param workers: processes per GPU that load pictures in advance
    :param report_to: trackers that receive the lines of the log
    :param trl: further options of TRL's ``SFTConfig``
    """

    model: ModelSettings
    output: str
    data: Texts = ()
    spectra: str | None = None
    task_files: str | None = None
    test: Texts = ()
    drop_leaks: Flag = False
    skip_damaged: Flag = False
    seed: Whole = 42
    with_tool: Flag = True
    trajectories: AtLeast1OrNull = None
    max_length: AtLeast1 = 32768
    epochs: Positive = 5.0
    max_steps: AtLeast1OrNull = None
    batch_size: AtLeast1 = 4
    accumulation: AtLeast1 = 1
    learning_rate: Positive = 2e-5
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = "cosine"
    warmup: Fraction = 0.05
    weight_decay: Real = 0.0
    max_grad_norm: Real = 1.0
    beta2: Real = 0.999
    save_steps: AtLeast1 = 6
    keep_checkpoints: AtLeast1 = 2
    held_out: Fraction = 0.0
    keep_best: Flag = False
    gradient_checkpointing: Flag = True
    deepspeed: str | None = None
    merge: Flag = False
    workers: Whole = 0
    report_to: tuple[Tracker, ...] = ()
    trl: Options = field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        refuse("sft", self.trl)
        if self.keep_best and not self.held_out:
            raise Mismatch(tr("true with `held_out: 0`"), tr("a share of held-out spectra above 0"), "keep_best")
        return check_merge(self)


Item = TypeVar("Item")
Progress = Callable[[Sequence[Item]], Iterable[Item]]
"""Yields the same items and shows a progress bar."""


@dataclass(frozen=True)
class Prepared:
    """Training examples, held-out examples, and the data card of both and of what was left out."""

    examples: tuple[Example, ...]
    held_out: tuple[Example, ...]
    card: DataCard


def prepare(settings: SftSettings, renderer: Renderer | None, progress: Progress[Example] = iter) -> Prepared:
    """Read and check all data: every picture is opened, so that a missing one is found before training.

    :param renderer: counts tokens; None: they are not counted, and no example is too long
    :raises DataError: nothing to learn from, fewer than ``trajectories``, data that cannot be used, or sources of the
        test data in it
    """
    if not settings.data:
        raise DataError(tr("data: found nothing, expected an export, JSON lines or train_sharegpt.json (--data)"))
    dropped: list[Dropped] = []
    spectra = Path(settings.spectra).expanduser() if settings.spectra else None
    tasks = tasks_with(settings.task_files)
    read_examples: Sequence[Example] = examples(settings.data, tasks, spectra=spectra, dropped=dropped)
    if settings.skip_damaged:
        read_examples = without_damaged(read_examples, dropped)
    if settings.test:
        read_examples = _without_test(read_examples, settings, spectra, dropped, tasks)
    kept: list[Example] = []
    lengths: dict[str, int] = {}
    for example in progress(read_examples):
        if renderer is None:
            example.pictures()
        length = 0 if renderer is None else len(rendered(example, renderer, settings.with_tool))
        if length <= settings.max_length:
            kept.append(example)
            lengths[example.key] = length
        else:
            dropped.append(Dropped(example.key, f"longer than {settings.max_length} tokens"))
    if not kept:
        raise DataError(
            tr(
                "found no example of {max_length} tokens or fewer among {n_found}",
                max_length=settings.max_length,
                n_found=len(read_examples),
            )
        )
    parts = split(kept, {"learned": 1 - settings.held_out, "held out": settings.held_out}, settings.seed)
    learned, held_out = parts["learned"], parts["held out"]
    if not learned:
        sources = len({example.source for example in kept})
        raise DataError(
            tr(
                "held_out: {held_out} of {sources} spectra leaves none to learn from",
                held_out=settings.held_out,
                sources=sources,
            )
        )
    if settings.trajectories is not None:
        selected = sample(learned, settings.trajectories, settings.seed)
        keys = {example.key for example in selected}
        reason = f"not among the {settings.trajectories} trajectories selected with seed {settings.seed}"
        dropped += [Dropped(example.key, reason) for example in learned if example.key not in keys]
        learned = selected
    every = [*learned, *held_out]
    if renderer is None:
        data_card = card(every, dropped=dropped)
    else:
        data_card = card(every, lambda example: lengths[example.key], settings.max_length, dropped)
    return Prepared(tuple(learned), tuple(held_out), data_card)


def rendered(example: Example, renderer: Renderer, with_tool: bool) -> Rendered:
    """Render an example. :raises DataError: a picture is missing, or there are more than zooms"""
    try:
        return renderer.example(example.trajectory, example.pictures(), with_tool)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{example.key}: {error}") from error


def _without_test(
    usable: Sequence[Example],
    settings: SftSettings,
    spectra: Path | None,
    dropped: list[Dropped],
    tasks: Mapping[str, Task] | None,
) -> Sequence[Example]:
    test = questions(settings.test, tasks, part="test", spectra=spectra)
    if not settings.drop_leaks:
        refuse_leaks(usable, test)
        return usable
    kept, leaked = without(usable, shared_sources(usable, test))
    dropped += [Dropped(example.key, "its spectrum is in the test data") for example in leaked]
    return kept


__all__ = ["SftSettings"]


if TYPE_CHECKING:
    from torch import Tensor
    from trl import SFTConfig, SFTTrainer

    from agent.tasks import Task

OnStep = Callable[[int, int, Mapping[str, Any]], None]
"""``on_step(step, total, metrics)``, called after each step."""


class Collator:
    """Makes a batch from the numbers of the examples; pictures are read when their batch is made."""

    def __init__(
        self, examples: Sequence[Example], processor: Any, with_tool: bool, held_out: Sequence[Example] = ()
    ) -> None:
        # Not joined into a list: a sequence may make each example when it is needed.
        self._parts = (examples, held_out)
        self._renderer = Renderer(processor)
        self._with_tool = with_tool

    def __call__(self, rows: Sequence[Mapping[str, int]]) -> dict[str, Tensor]:
        first, second = self._parts
        places = [row["place"] for row in rows]
        examples = [first[place] if place < len(first) else second[place - len(first)] for place in places]
        read = [rendered(example, self._renderer, self._with_tool) for example in examples]
        return for_learning(read, self._renderer.processor)


def train(
    settings: SftSettings,
    examples: Sequence[Example],
    held_out: Sequence[Example] = (),
    card: CardFiles | None = None,
    start: Start = "new",
    on_step: OnStep | None = None,
) -> Run:
    """Train on ``examples`` and return the finished run. With several processes all of them call it.

    :param examples: none longer than ``max_length``
    :raises ModelError: the model cannot be loaded, or does not fit
    :raises RunError: the folder holds a run, unless ``start`` says what to do with it
    """
    import torch
    from transformers import set_seed

    if problem := launch_problem():
        raise ModelError(problem)
    run = Run(Path(settings.output))
    # Before the model: under DeepSpeed these say how its weights are spread as they are read.
    arguments = arguments_of(settings, bool(held_out))
    with arguments.main_process_first(local=False, desc="run"):
        if is_first_process():
            run.begin("sft", settings, start)
            if card is not None:
                run.save_card(card.plain, card.markdown)
    checkpoint = run.checkpoint()
    # A new LoRA adapter begins with random numbers; the trainer sets the seed only after it is loaded.
    set_seed(settings.seed)
    loaded = load(settings.model)
    trainer = trainer_of(settings, loaded, examples, held_out, arguments)
    trainer.add_callback(run.callback())
    if on_step is not None and is_first_process():
        trainer.add_callback(_step_callback(on_step))
    if checkpoint is not None:
        # TRL starts counting at 0 again.
        trainer._total_train_tokens = next(
            (line["num_tokens"] for line in reversed(run.logged()) if "num_tokens" in line), 0
        )
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except torch.OutOfMemoryError as error:
        raise ModelError(out_of_memory("a step")) from error
    save_learned(trainer, loaded, run.model, settings.merge)
    if is_first_process():
        renew(run.folder)
    return run


def arguments_of(settings: SftSettings, evaluates: bool) -> SFTConfig:
    """Return the settings as TRL's arguments. :raises SettingsError: as ``training.trl_options.configured``"""
    import torch

    dtype = settings.model.dtype
    gpu = torch.cuda.is_available()
    ours = {
        "output_dir": settings.output,
        "seed": settings.seed,
        "num_train_epochs": settings.epochs,
        "max_steps": -1 if settings.max_steps is None else settings.max_steps,
        "per_device_train_batch_size": settings.batch_size,
        "per_device_eval_batch_size": settings.batch_size,
        "gradient_accumulation_steps": settings.accumulation,
        "learning_rate": settings.learning_rate,
        "lr_scheduler_type": settings.schedule,
        "warmup_steps": settings.warmup,
        "weight_decay": settings.weight_decay,
        "max_grad_norm": settings.max_grad_norm,
        "adam_beta2": settings.beta2,
        "bf16": dtype == "bfloat16",
        "fp16": dtype == "float16",
        "use_cpu": not (gpu or torch.backends.mps.is_available()),
        "gradient_checkpointing": settings.gradient_checkpointing,
        "deepspeed": settings.deepspeed,
        # Every example has a picture, so every trained parameter is used.
        "ddp_find_unused_parameters": False,
        "save_strategy": "steps",
        "save_steps": settings.save_steps,
        "save_total_limit": settings.keep_checkpoints,
        "eval_strategy": "steps" if evaluates else "no",
        "eval_steps": settings.save_steps,
        "load_best_model_at_end": settings.keep_best,
        "metric_for_best_model": "eval_loss" if settings.keep_best else None,
        "greater_is_better": False if settings.keep_best else None,
        "prediction_loss_only": True,
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "disable_tqdm": True,
        "remove_unused_columns": False,
        "dataset_kwargs": {"skip_prepare_dataset": True},
        "dataloader_num_workers": settings.workers,
        "dataloader_pin_memory": gpu,
        "max_length": None,
    }
    return configured("sft", ours, settings.trl, settings.report_to)


def trainer_of(
    settings: SftSettings,
    loaded: Loaded,
    examples: Sequence[Example],
    held_out: Sequence[Example],
    arguments: SFTConfig,
) -> SFTTrainer:
    """Return TRL's trainer for ``examples``."""
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import SFTTrainer

    def places(first: int, count: int) -> Dataset:
        return Dataset.from_dict({"place": list(range(first, first + count))})

    class Sft(Resumable, SFTTrainer):  # type: ignore[misc]
        def create_model_card(self, *args: Any, **options: Any) -> None:
            """Omitted: a run describes itself in its own files."""

    trainer = Sft(
        model=loaded.model,
        args=arguments,
        processing_class=loaded.processor,
        data_collator=Collator(examples, loaded.processor, settings.with_tool, held_out),
        train_dataset=places(0, len(examples)),
        eval_dataset=places(len(examples), len(held_out)) if held_out else None,
    )
    # Qwen2.5-VL declares that it takes no number of tokens of a whole batch, and transformers then counts none:
    # each forward pass would have the same weight, whatever its number of tokens. TRL divides by that number itself.
    trainer.model_accepts_loss_kwargs = True
    trainer.remove_callback(PrinterCallback)
    return trainer


def steps(settings: SftSettings, examples: int) -> dict[str, int]:
    """Return the number of steps with the present number of processes, and the examples per step."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    batches = math.ceil(examples / (settings.batch_size * processes))
    total = math.ceil(settings.epochs * math.ceil(batches / settings.accumulation))
    a_step = settings.batch_size * settings.accumulation * processes
    return {"steps": settings.max_steps or total, "examples_a_step": a_step}


def _step_callback(on_step: OnStep) -> Any:
    from transformers import TrainerCallback

    class StepCallback(TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if logs and "loss" in logs:
                on_step(state.global_step, state.max_steps, logs)

    return StepCallback()


Kind = Literal["prompt", "spoken", "tool", "image"]

_COLOURS: dict[Kind, str] = {"prompt": "2", "spoken": "1;32", "tool": "33", "image": "36"}
_BRACKETS: dict[Kind, tuple[str, str]] = {
    "prompt": ("", ""),
    "spoken": ("⟦", "⟧"),
    "tool": ("", ""),
    "image": ("", ""),
}


@dataclass(frozen=True)
class TokenCounts:
    """Numbers of tokens: of the assistant, the prompt, the tool results and the pictures."""

    spoken: int
    prompt: int
    tool: int
    image: int

    def __str__(self) -> str:
        every = self.spoken + self.prompt + self.tool + self.image
        return tr(
            "{every} tokens: {spoken} spoken (the loss is taken on these and no others), {prompt} of "
            "the prompt, {tool} of the tool's answers, {image} of pictures",
            every=every,
            spoken=self.spoken,
            prompt=self.prompt,
            tool=self.tool,
            image=self.image,
        )


def token_counts(rendered: Rendered, tokenizer: Any) -> TokenCounts:
    kinds = _token_kinds(rendered, tokenizer)
    return TokenCounts(*(kinds.count(kind) for kind in ("spoken", "prompt", "tool", "image")))


def mask_text(rendered: Rendered, tokenizer: Any, colours: bool) -> str:
    """Return the text token by token; the tokens of a picture as one, with their number."""
    return "".join(_marked(kind, text, colours) for kind, text in _runs(rendered, tokenizer))


def _token_kinds(rendered: Rendered, tokenizer: Any) -> list[Kind]:
    image = tokenizer.convert_tokens_to_ids(IMAGE)
    kinds: list[Kind] = []
    unspoken: Kind = "prompt"
    for token, spoken in zip(rendered.ids, rendered.spoken, strict=True):
        if spoken:
            unspoken = "tool"
        kinds.append("spoken" if spoken else "image" if token == image else unspoken)
    return kinds


def _runs(rendered: Rendered, tokenizer: Any) -> Iterator[tuple[Kind, str]]:
    pairs = zip(_token_kinds(rendered, tokenizer), rendered.ids, strict=True)
    for kind, run in groupby(pairs, key=lambda pair: pair[0]):
        ids = [token for _, token in run]
        yield kind, f"{IMAGE}×{len(ids)}" if kind == "image" else tokenizer.decode(ids)


def _marked(kind: Kind, text: str, colours: bool) -> str:
    if colours:
        # Line by line: a pager resets the colour at the end of a line.
        return "\n".join(f"\x1b[{_COLOURS[kind]}m{line}\x1b[0m" if line else "" for line in text.split("\n"))
    before, after = _BRACKETS[kind]
    return before + text + after
