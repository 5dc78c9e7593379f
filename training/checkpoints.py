"""Going on from a checkpoint with the weights that are in it.

transformers 5 writes Qwen2.5-VL's weights under the names that its first releases had, and its trainer, when
it resumes, looks for them under today's: it finds none, says so in a warning, and goes on with the weights
that the run began with.
"""

from __future__ import annotations

from typing import Any

from training.model import ModelError


class Resumable:
    """Goes before a trainer of transformers or TRL among the classes that a trainer is made of."""

    model: Any
    is_fsdp_enabled: bool

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        # An adapter's names are its own, and FSDP's and DeepSpeed's files have the names of today.
        if self.is_fsdp_enabled or hasattr(self.model, "peft_config"):
            super()._load_from_checkpoint(resume_from_checkpoint, model)  # type: ignore[misc]
        else:
            put_back(self.model if model is None else model, resume_from_checkpoint)


def put_back(model: Any, checkpoint: str) -> None:
    """Give ``model`` all weights of ``checkpoint``, each held as the model holds it.

    :raises ModelError: one is missing there, or of another shape
    """
    import torch

    saved, found = type(model).from_pretrained(checkpoint, dtype=torch.float32, output_loading_info=True)
    wrong = sorted(map(str, [*found["missing_keys"], *found["mismatched_keys"]]))
    if wrong:
        raise ModelError(f"{checkpoint}: weights are missing or of another shape: {wrong[0]}")
    model.load_state_dict(saved.state_dict())
