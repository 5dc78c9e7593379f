"""Renderings side by side as the tensors that a model reads.

For learning the padding is on the right; for writing it is on the left, so that the next token of every row
comes at the same place. Pixels are those of the processor's own image processor, all rows' pictures one after
the other, as Qwen2.5-VL wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from training.rendering import IMAGE, Rendered

if TYPE_CHECKING:
    from torch import Tensor

UNSPOKEN = -100
"""The label of a token that no loss is taken on, as torch and transformers have it."""


def for_learning(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    """Rows padded on the right, with labels: ``labels`` is the id where the assistant spoke, else -100.

    :param processor: a ``Qwen2_5_VLProcessor``
    :returns: ``input_ids``, ``attention_mask``, ``labels`` (rows, longest); what ``pixels`` gives; and
        ``mm_token_type_ids`` (rows, longest), 1 at picture tokens, where the processor knows of them
    """
    import torch

    batch = _padded(rendered, processor, left=False)
    spoken = torch.zeros_like(batch["input_ids"], dtype=torch.bool)
    for row, one in enumerate(rendered):
        spoken[row, : len(one)] = torch.tensor(one.spoken)
    batch["labels"] = batch["input_ids"].masked_fill(~spoken, UNSPOKEN)
    return batch


def for_writing(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    """Rows padded on the left, ready for ``generate``; the same but for ``labels``."""
    return _padded(rendered, processor, left=True)


def pixels(rendered: Sequence[Rendered], processor: Any) -> dict[str, Tensor]:
    """``pixel_values`` (patches of all pictures, values) and ``image_grid_thw`` (pictures, 3); empty without
    pictures. The patches of a picture are the product of its row of ``image_grid_thw``.
    """
    images = [image for one in rendered for image in one.images]
    return dict(processor.image_processor(images=images, return_tensors="pt")) if images else {}


def _padded(rendered: Sequence[Rendered], processor: Any, left: bool) -> dict[str, Tensor]:
    import torch

    tokenizer = processor.tokenizer
    longest = max(map(len, rendered))
    ids = torch.full((len(rendered), longest), tokenizer.pad_token_id, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, one in enumerate(rendered):
        place = slice(longest - len(one), longest) if left else slice(0, len(one))
        ids[row, place] = torch.tensor(one.ids)
        mask[row, place] = 1
    batch = {"input_ids": ids, "attention_mask": mask, **pixels(rendered, processor)}
    if "mm_token_type_ids" in processor.model_input_names:
        # Without it transformers 5 places the tokens of a picture, and all that follow, as words.
        batch["mm_token_type_ids"] = (ids == tokenizer.convert_tokens_to_ids(IMAGE)).int()
    return batch
