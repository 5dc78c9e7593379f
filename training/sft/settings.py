"""What ``spec-o3 sft`` is told; the defaults are the published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from training.data import DataError, Dropped, examples, questions
from training.data.card import Card, card
from training.data.records import Example
from training.data.splits import refuse_leaks, shared_sources, split, without
from training.render import Rendered, Renderer
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


Item = TypeVar("Item")
Watched = Callable[[Sequence[Item]], Iterable[Item]]
"""Gives the same items, and shows how far it is."""


@dataclass(frozen=True)
class Prepared:
    """Examples to learn from, those whose loss is only measured, and the card of both and of what was left
    out.
    """

    examples: tuple[Example, ...]
    held_out: tuple[Example, ...]
    card: Card


def prepare(settings: SftSettings, renderer: Renderer, watched: Watched[Example] = iter) -> Prepared:
    """Read and check all of it: every picture is opened, so that none is found missing at night.

    :raises DataError: nothing to learn from, data that cannot be used, or sources of the test data in it
    """
    if not settings.data:
        raise DataError("data: found nothing, wanted an export, JSON lines or train_sharegpt.json (--data)")
    dropped: list[Dropped] = []
    spectra = Path(settings.spectra).expanduser() if settings.spectra else None
    found: Sequence[Example] = examples(settings.data, spectra=spectra, dropped=dropped)
    if settings.test:
        found = _without_test(found, settings, spectra, dropped)
    kept, lengths = [], []
    for one in watched(found):
        length = len(rendered(one, renderer, settings.with_tool))
        if length <= settings.max_length:
            kept.append(one)
            lengths.append(length)
        else:
            dropped.append(Dropped(one.key, f"longer than {settings.max_length} tokens"))
    if not kept:
        raise DataError(f"found no example of {settings.max_length} tokens or fewer among {len(found)}")
    measured = iter(lengths)
    made = card(kept, lambda _: next(measured), settings.max_length, dropped)
    parts = split(kept, {"learned": 1 - settings.held_out, "held out": settings.held_out}, settings.seed)
    if not parts["learned"]:
        raise DataError(f"held_out: {settings.held_out} of {made.sources} spectra leaves none to learn from")
    return Prepared(tuple(parts["learned"]), tuple(parts["held out"]), made)


def rendered(example: Example, renderer: Renderer, with_tool: bool) -> Rendered:
    """:raises DataError: a picture is missing, or there are more than zooms"""
    try:
        return renderer.example(example.trajectory, example.pictures(), with_tool)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{example.key}: {error}") from error


def _without_test(
    found: Sequence[Example], settings: SftSettings, spectra: Path | None, dropped: list[Dropped]
) -> Sequence[Example]:
    test = questions(settings.test, part="test", spectra=spectra)
    if not settings.drop_leaks:
        refuse_leaks(found, test)
        return found
    kept, leaked = without(found, shared_sources(found, test))
    dropped += [Dropped(one.key, "its spectrum is in the test data") for one in leaked]
    return kept
