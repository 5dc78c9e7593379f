"""The model that is trained: loading, choosing the trained parts, and saving for live vetting.

Trained weights are held in float32 even where computation is in bfloat16 (unless DeepSpeed does that itself): at the
published rate of 2e-5 most updates are smaller than the step between two neighbouring bfloat16 numbers.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.errors import Refusal
from agent.language import tr
from agent.policies.local.chat_template import form_in, use_dialect
from agent.policies.local.model import Weights, source
from agent.trajectory.forms import FORMS
from training.older_transformers import make_readable
from training.settings import ModelSettings, Part

MODEL = "model"
"""The folder in a run's folder that holds what it learned."""

_VISION = "visual"
_PROJECTORS = ("merger", "deepstack_merger_list")
"""What maps the features of the vision tower to the language model; the second, only in Qwen3-VL, of earlier layers."""
_LINEAR_ATTENTION = {
    "in_proj_qkv": ("q_proj", "k_proj", "v_proj"),
    "in_proj_z": ("q_proj", "k_proj", "v_proj"),
    "out_proj": ("o_proj",),
}
"""Projections of a layer of linear attention (Qwen3.5), and the projections of full attention that they stand for."""


class ModelError(Refusal, ValueError):
    """A model that cannot be loaded or saved: which, why, and what to do about it."""


@dataclass
class Loaded:
    """A model, ready to learn, with its processor.

    :param base: what an adapter is of; of full weights, what they were loaded from
    """

    model: Any
    processor: Any
    settings: ModelSettings
    base: str

    @property
    def is_adapter(self) -> bool:
        return hasattr(self.model, "peft_config")


def load(settings: ModelSettings) -> Loaded:
    """Load the model and select the parts to train.

    A start adapter is merged into the weights under ``full``, and learns on under ``lora``. The folder of a
    run may be given as ``name``; if it holds an adapter, that is the start adapter and its base the model.

    :raises ModelError: what is missing, incomplete or of another model, and what to do
    """
    settings = _resolved(settings)
    reads = processor(settings)
    with _in_one_line(settings.name):
        model = _weights(settings)
    if settings.adapter:
        with _in_one_line(f"{settings.adapter} on {settings.name}"):
            model = _with_adapter(model, settings)
    model = _learning(model, settings)
    # The cache for the next token is of no use in training and incompatible with checkpointing.
    model.config.use_cache = False
    return Loaded(model, reads, settings, settings.name)


def processor(settings: ModelSettings) -> Any:
    """Load the processor, without the weights; it also gives the number of tokens of a picture.

    :raises ModelError: as ``load``
    """
    from transformers import AutoProcessor

    settings = _resolved(settings)
    with _in_one_line(settings.name):
        processor_read = AutoProcessor.from_pretrained(source(settings.name))
    size = dict(processor_read.image_processor.size)
    if settings.min_pixels is not None:
        size["shortest_edge"] = settings.min_pixels
    if settings.max_pixels is not None:
        size["longest_edge"] = settings.max_pixels
    processor_read.image_processor.size = type(processor_read.image_processor.size)(**size)
    # What is saved must be served as it was trained: the processor keeps the template that writes the dialect.
    use_dialect(processor_read, FORMS.get(settings.dialect or "") or form_in(settings.adapter))
    return processor_read


def resolved(settings: ModelSettings) -> ModelSettings:
    """Replace a run's folder by the weights in it: a model, or a base and its adapter.

    :raises ModelError: an adapter that does not name its base, or one on an adapter
    """
    folder = Path(source(settings.name))
    if not (folder / "config.json").is_file() and (folder / MODEL).is_dir():
        folder = folder / MODEL
    if not (folder / "adapter_config.json").is_file():
        return replace(settings, name=str(folder)) if folder.is_dir() else settings
    if settings.adapter:
        raise ModelError(
            tr(
                "{name} is an adapter, and takes no other on it ({adapter})",
                name=settings.name,
                adapter=settings.adapter,
            )
        )
    try:
        base = json.loads((folder / "adapter_config.json").read_text("utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            tr("{folder}: found no base_model_name_or_path", folder=folder / "adapter_config.json")
        ) from error
    return replace(settings, name=str(base), adapter=str(folder))


def trainable(model: Any) -> tuple[int, int]:
    """Return how many numbers are trained, and how many there are; also under ZeRO-3, where a process has only a
    share.
    """
    counted = [(getattr(p, "ds_numel", p.numel()), p.requires_grad) for p in model.parameters()]
    return sum(n for n, learns in counted if learns), sum(n for n, _ in counted)


def part_of(parameter: str) -> Part | None:
    """Return the part that a parameter belongs to, by its name; None: the language model."""
    names = parameter.split(".")
    if _VISION not in names:
        return None
    inside = names[names.index(_VISION) + 1 :]
    return "projector" if any(name in _PROJECTORS for name in inside) else "vision"


def save(loaded: Loaded, folder: Path, state: dict[str, Any] | None = None, merge: bool = False) -> None:
    """Write the files that live vetting, vLLM and the bench load: weights in ``dtype``, processor with chat template
    and limits, generation settings; for an adapter the adapter itself, with the name of its base. transformers 4.57
    opens them too.

    The folder appears when it is complete, and replaces an older one.

    :param state: all weights by name, if they are spread over several processes
    :param merge: write an adapter merged into full weights, which cannot be trained further as an adapter
    """
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    model = loaded.model
    if loaded.is_adapter and merge:
        model = model.merge_and_unload()
    if loaded.is_adapter and not merge:
        for config in model.peft_config.values():
            config.base_model_name_or_path = loaded.base
        model.save_pretrained(unfinished, state_dict=state)
    else:
        weights = model.state_dict() if state is None else state
        dtype = _dtype(loaded.settings)
        held = {name: weight.to(dtype) if weight.is_floating_point() else weight for name, weight in weights.items()}
        learned, model.config.dtype = model.config.dtype, dtype
        model.config.use_cache = True
        model.save_pretrained(unfinished, state_dict=held)
        model.config.dtype, model.config.use_cache = learned, False
    loaded.processor.save_pretrained(unfinished)
    make_readable(unfinished)
    # PEFT's form of a model card, with nothing filled in.
    (unfinished / "README.md").unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)


def out_of_memory(what: str) -> str:
    """Return the message for a full GPU: what happened and what to do."""
    return tr(
        "the GPU has too little memory for {what}: make the batch smaller and accumulate more, "
        "switch gradient_checkpointing on, choose `method: lora`, or spread the model over more "
        "GPUs with DeepSpeed",
        what=what,
    )


def saved_state(trainer: Any) -> dict[str, Any] | None:
    """Return all weights by name where they are spread over processes, else None; every process calls it.

    :param trainer: a trainer of transformers or TRL
    """
    spread = trainer.is_deepspeed_enabled or trainer.is_fsdp_enabled
    return trainer.accelerator.get_state_dict(trainer.model_wrapped) if spread else None


def save_learned(trainer: Any, loaded: Loaded, folder: Path, merge: bool = False) -> None:
    """Call ``save`` at the end of training; every process calls it, the first one writes."""
    state = saved_state(trainer)
    if trainer.is_world_process_zero():
        save(loaded, folder, state, merge)
    trainer.accelerator.wait_for_everyone()


def _dtype(settings: ModelSettings) -> Any:
    import torch

    return getattr(torch, settings.dtype)


def _resolved(settings: ModelSettings) -> ModelSettings:
    settings = resolved(settings)
    if problem := Weights(settings.name, settings.adapter).problem():
        raise ModelError(problem)
    return settings


def _weights(settings: ModelSettings) -> Any:
    from transformers import AutoModelForImageTextToText

    model, loading = AutoModelForImageTextToText.from_pretrained(
        source(settings.name),
        dtype=_dtype(settings),
        attn_implementation=settings.attention,
        output_loading_info=True,
    )
    # transformers initialises missing weights at random and mentions it only in its log.
    wrong = sorted(map(str, [*loading["missing_keys"], *loading["mismatched_keys"]]))
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise ModelError(
            tr(
                "{name}: weights are missing or of another shape: {wrong}{more}",
                name=settings.name,
                wrong=wrong[0],
                more=more,
            )
        )
    return model


def _with_adapter(model: Any, settings: ModelSettings) -> Any:
    from peft import PeftModel

    with warnings.catch_warnings():
        # PEFT only warns if some weights of an adapter are missing, and leaves those untrained.
        warnings.filterwarnings("error", message="Found missing adapter keys")
        lora = settings.method == "lora"
        model = PeftModel.from_pretrained(
            model, source(str(settings.adapter)), is_trainable=lora, autocast_adapter_dtype=not _deepspeed()
        )
    return model if lora else model.merge_and_unload()


def _learning(model: Any, settings: ModelSettings) -> Any:
    """Mark the parameters that are trained, and hold them in float32."""
    import torch

    if settings.method == "lora":
        return model if hasattr(model, "peft_config") else _with_new_lora(model, settings)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(part_of(name) not in settings.frozen)
        if parameter.requires_grad and not _deepspeed():
            parameter.data = parameter.data.to(torch.float32)
    return model


def _with_new_lora(model: Any, settings: ModelSettings) -> Any:
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=settings.lora.rank,
        lora_alpha=settings.lora.alpha,
        lora_dropout=settings.lora.dropout,
        target_modules=_targets(model, settings),
        # The vision layers have a gate_proj too; vLLM cannot adapt them, and in the paper they are frozen.
        exclude_modules=rf".*\b{_VISION}\b.*",
        task_type="CAUSAL_LM",
    )
    # ZeRO-3 gathers weights into buffers of one type, so an adapter in float32 is no use to it.
    try:
        return get_peft_model(model, config, autocast_adapter_dtype=not _deepspeed())
    except ValueError as error:
        raise ModelError(tr("model.lora.targets: {error}", error=_one_line(error))) from error


def _targets(model: Any, settings: ModelSettings) -> list[str]:
    """Return the names of the layers that LoRA adapts: those of the settings, and in a model with layers of linear
    attention the projections that stand for them there.
    """
    targets = settings.lora.targets
    present = {name.rpartition(".")[2] for name, _ in model.named_modules() if _VISION not in name.split(".")}
    also = [
        name for name, like in _LINEAR_ATTENTION.items() if name in present and all(part in targets for part in like)
    ]
    return [*targets, *(name for name in also if name not in targets)]


def _deepspeed() -> bool:
    from transformers.integrations.deepspeed import deepspeed_config

    return deepspeed_config() is not None


@contextmanager
def _in_one_line(name: str) -> Iterator[None]:
    """Within the block, turn any error of the libraries (a file missing, incomplete or of another kind) into
    ``ModelError``.
    """
    import torch

    try:
        yield
    except ModelError:
        raise
    except torch.OutOfMemoryError as error:
        raise ModelError(out_of_memory(name)) from error
    except Exception as error:
        raise ModelError(tr("{name} cannot be loaded: {error}", name=name, error=_reason(error))) from error


def _reason(error: BaseException) -> str:
    from huggingface_hub.errors import LocalEntryNotFoundError, OfflineModeIsEnabled

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LocalEntryNotFoundError | OfflineModeIsEnabled):
            return tr("it is not on this machine and the Hub cannot be reached; give a folder that has it")
        cause = cause.__cause__ or cause.__context__
    return _one_line(error)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


class Resumable:
    """Mixin for trainers of transformers or TRL; put it before the trainer among the base classes."""

    model: Any
    state: Any
    is_deepspeed_enabled: bool
    is_fsdp_enabled: bool

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        # Adapters have their own names, and files of FSDP and DeepSpeed already have the current names.
        if self.is_fsdp_enabled or hasattr(self.model, "peft_config"):
            super()._load_from_checkpoint(resume_from_checkpoint, model)  # type: ignore[misc]
        else:
            load_checkpoint_weights(self.model if model is None else model, resume_from_checkpoint)

    def _load_best_model(self) -> None:
        if self.is_deepspeed_enabled or self.is_fsdp_enabled or hasattr(self.model, "peft_config"):
            super()._load_best_model()  # type: ignore[misc]
        else:
            load_checkpoint_weights(self.model, self.state.best_model_checkpoint)


def load_checkpoint_weights(model: Any, checkpoint: str) -> None:
    """Load all weights of ``checkpoint`` into ``model``, each in the type that the model has.

    :raises ModelError: one is missing there, or of another shape
    """
    import torch

    saved, loading = type(model).from_pretrained(checkpoint, dtype=torch.float32, output_loading_info=True)
    wrong = sorted(map(str, [*loading["missing_keys"], *loading["mismatched_keys"]]))
    if wrong:
        raise ModelError(
            tr("{checkpoint}: weights are missing or of another shape: {wrong}", checkpoint=checkpoint, wrong=wrong[0])
        )
    model.load_state_dict(saved.state_dict())
