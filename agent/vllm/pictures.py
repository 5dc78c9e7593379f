"""The limit of the size of a picture, for which vLLM reserves memory when it starts. It computes with the largest that
the model's processor takes: one of 16,384 tokens for the published checkpoints, where ours have 510 at most.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_PIXELS = 640 * 28 * 28
"""A quarter more than the largest picture needs (``flags.LARGEST_OVERVIEW``), so that the processor resizes none of
ours as it would not without the limit."""
_PROCESSOR = "Qwen2VLImageProcessor"
"""Of Qwen2-VL and its successors; others may not take ``max_pixels``."""


@dataclass(frozen=True)
class PictureLimit:
    """Most pixels of a picture, ours and the model's own.

    :param side: of the square in pixels that becomes one token
    """

    pixels: int
    own_pixels: int
    side: int

    @property
    def tokens(self) -> int:
        return self.pixels // self.side**2

    @property
    def own_tokens(self) -> int:
        return self.own_pixels // self.side**2


def picture_limit(model: str) -> PictureLimit | None:
    """Return the limit for a model; None if its own is no larger, it has another kind of processor, or it is a name on
    Hugging Face that is not in the cache of this machine yet.
    """
    processor = next(filter(None, map(_image_processor, _folders(model))), {})
    size = processor.get("size")
    own = processor.get("max_pixels") or (size.get("longest_edge") if isinstance(size, dict) else None)
    match own, processor.get("patch_size"), processor.get("merge_size"):
        case int(own_pixels), int(patch), int(merge) if own_pixels > MAX_PIXELS and patch > 0 and merge > 0:
            return PictureLimit(MAX_PIXELS, own_pixels, patch * merge)
    return None


def _folders(model: str) -> Iterator[Path]:
    """Yield the folder of a model, or the snapshots of a name in Hugging Face's cache."""
    if Path(model).is_dir():
        yield Path(model)
        return
    cache = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface") / "hub"
    cache = Path(os.environ.get("HF_HUB_CACHE") or cache)
    yield from sorted(cache.glob(f"models--{model.replace('/', '--')}/snapshots/*"))


def _image_processor(folder: Path) -> dict[str, Any]:
    """Return the settings of a processor of the known kind; empty if there is none that can be read."""
    # The first is in published checkpoints, the second in what training saves.
    for name, part in (("preprocessor_config.json", None), ("processor_config.json", "image_processor")):
        try:
            settings = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        settings = settings.get(part) if part and isinstance(settings, dict) else settings
        if isinstance(settings, dict):
            return settings if str(settings.get("image_processor_type")).startswith(_PROCESSOR) else {}
    return {}
