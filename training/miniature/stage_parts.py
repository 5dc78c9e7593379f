"""Parts of trainings that run stage by stage in a folder and resume: ``training.miniature`` and ``training.nano``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from training.run import Start
from training.settings import ModelSettings

if TYPE_CHECKING:
    from training.grpo.settings import GrpoSettings
    from training.miniature.model import Size

BETA2 = 0.95
"""How long AdamW remembers the size of gradients: twenty steps, not the usual thousand. In trials from random
weights seeing was learned with it; what else differed between the trials was not separated."""

OnMessage = Callable[[str], None]
"""Receives one line of progress."""


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Make a folder unless it exists, and return it; it exists once it is complete."""
    if not folder.is_dir():
        unfinished = folder.with_name(f"{folder.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make(unfinished)
        unfinished.rename(folder)
    return folder


def save_random(folder: Path, texts: Sequence[str], phrases: Sequence[str], size: Size, seed: int) -> None:
    """Write a tokenizer and random weights.

    :param texts: that the tokenizer learns from
    :param phrases: that are one token each
    """
    import torch

    from training.miniature.model import model_for, processor_for

    processor = processor_for(texts, size, phrases)
    torch.manual_seed(seed)
    model_for(processor.tokenizer, size).save_pretrained(folder)
    processor.save_pretrained(folder)


def start_of(folder: Path) -> Start:
    """Return how the run in a folder starts: resumed if it had begun."""
    return "resume" if (folder / "settings.yaml").is_file() else "new"


def steps(name: str, report: OnMessage) -> Callable[[int, int, Mapping[str, Any]], None]:
    """Return a callback of a run that reports each step of the stage ``name``."""

    def on_step(step: int, total: int, metrics: Mapping[str, Any]) -> None:
        key = "reward" if "reward" in metrics else "loss"
        report(f"{name}: step {step} of {total}, {key} {float(metrics[key]):.4f}")

    return on_step


@dataclass(frozen=True)
class Rounds:
    """The GRPO stage: numbers of spectra for training and validation, and fields as in ``GrpoSettings``."""

    spectra: int
    rounds: int
    prompts: int
    rollouts: int
    mini_batch: int
    rate: float
    validation: int
    validate_rounds: int


def grpo_settings(
    model: ModelSettings, folder: Path, seed: int, stage: Rounds, context: int, **more: Any
) -> GrpoSettings:
    """Return the settings of a GRPO stage of a small model.

    :param context: half of it is for the prompt, half for the answer
    :param more: further fields of ``GrpoSettings``
    """
    from training.grpo.settings import GrpoSettings

    return GrpoSettings(
        model=model,
        output=str(folder),
        seed=seed,
        prompts=stage.prompts,
        rollouts=stage.rollouts,
        mini_batch=stage.mini_batch,
        rounds=stage.rounds,
        learning_rate=stage.rate,
        validate_rounds=stage.validate_rounds,
        mask_unfinished=True,
        prompt_tokens=context // 2,
        response_tokens=context // 2,
        writing_batch=stage.prompts * stage.rollouts,
        gradient_checkpointing=False,
        keep_checkpoints=1,
        traces=2,
        **more,
    )
