"""What ``spec-o3 sft`` is told; the defaults are the published ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from training.settings import ModelSettings, SettingsError


@dataclass(frozen=True)
class SftSettings:
    """A cold start. Published: ``cold_start/examples/spec_o3/qwen2_5_sft_full.yaml`` of
    github.com/Maxwell-Jia/spec-o3, run with LLaMA-Factory.

    :param data: exports, our JSON lines, or the published set; what ``training.data.examples`` reads
    :param spectra: a folder with the spectra that rows of ours only name, to draw their pictures from
    :param test: test data; whose sources are among the examples is refused, or dropped with ``drop_leaks``
    :param output: the folder of the run
    :param with_tool: whether the model learns to look closer; without, its thoughts and answer are one turn
    :param max_length: tokens; a longer example is dropped, never cut
    :param batch_size: examples a GPU and forward pass; ``accumulation`` of these make one step
    :param beta2: how long AdamW remembers the size of gradients; the default is transformers'
    :param schedule: of the learning rate, as transformers names it
    :param warmup: share of all steps in which the rate rises
    :param max_steps: stop after so many, None: after ``epochs``
    :param save_steps: a checkpoint every so many steps, of which the last ``keep_checkpoints`` are kept
    :param held_out: share of sources that are not learned from; their loss is measured at each checkpoint.
        Published: none
    :param deepspeed: a DeepSpeed file, where the launcher's own settings do not name one
    :param merge: what LoRA learned is worked into the weights at the end, and saved whole
    :param workers: processes a GPU that read pictures ahead
    """

    model: ModelSettings
    output: str
    data: tuple[str, ...] = ()
    spectra: str | None = None
    test: tuple[str, ...] = ()
    drop_leaks: bool = False
    seed: int = 42
    with_tool: bool = True
    max_length: int = 32768
    epochs: float = 5.0
    max_steps: int | None = None
    batch_size: int = 4
    accumulation: int = 1
    learning_rate: float = 2e-5
    schedule: Literal["cosine", "linear", "constant", "constant_with_warmup"] = "cosine"
    warmup: float = 0.05
    weight_decay: float = 0.0
    max_grad_norm: float = 1.0
    beta2: float = 0.999
    save_steps: int = 6
    keep_checkpoints: int = 2
    held_out: float = 0.0
    gradient_checkpointing: bool = True
    deepspeed: str | None = None
    merge: bool = False
    workers: int = 0

    def __post_init__(self) -> None:
        for name in ("max_length", "batch_size", "accumulation", "save_steps", "keep_checkpoints"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted 1 or more")
        if self.max_steps is not None and self.max_steps < 1:
            raise SettingsError(f"max_steps: found {self.max_steps}, wanted 1 or more, or nothing")
        for name in ("epochs", "learning_rate"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted more than 0")
        for name in ("warmup", "held_out"):
            if not 0 <= getattr(self, name) < 1:
                raise SettingsError(f"{name}: found {getattr(self, name)}, wanted a share from 0 to below 1")
        if self.merge and self.model.method != "lora":
            raise SettingsError("merge: there is nothing to merge with `method: full`; wanted `method: lora`")
