"""Qwen2.5-VL in its published sizes with random weights: for timings, which do not depend on what the weights are.

The sizes are those of ``config.json`` and ``preprocessor_config.json`` of Qwen/Qwen2.5-VL-3B-Instruct and -7B-Instruct.
The tokenizer is not theirs: it is learned from our own prompts, and its ids are a small part of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.conversation import SYSTEM
from agent.tasks import load
from agent.tool import TOOL_BLOCK
from training.miniature.model import Size, model_for, processor_for

NAME = "random-weights"
"""Name of a model, and of its folder."""
CONTEXT = 32768
TEXT = {
    "max_position_embeddings": 128000,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]},
    "use_sliding_window": False,
}
VISION = {
    "depth": 32,
    "hidden_size": 1280,
    "intermediate_size": 3420,
    "num_heads": 16,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "window_size": 112,
    "fullatt_block_indexes": [7, 15, 23, 31],
    "tokens_per_second": 2,
}
PICTURE_TOKENS = (4, 16384)
"""Least and most tokens of a picture: ``min_pixels`` 3,136 and ``max_pixels`` 12,845,056 over 28 × 28."""


@dataclass(frozen=True)
class Scale:
    """One size of the model.

    :param text: sizes of the language layers; None: a model of a million parameters, for tests on a CPU
    :param tied: the embeddings are also the output layer
    """

    name: str
    text: Mapping[str, int] | None
    tied: bool = True


SCALES = {
    "3b": Scale(
        "Qwen2.5-VL-3B",
        {
            "vocab_size": 151936,
            "hidden_size": 2048,
            "intermediate_size": 11008,
            "num_hidden_layers": 36,
            "num_attention_heads": 16,
            "num_key_value_heads": 2,
            "max_window_layers": 70,
        },
    ),
    "7b": Scale(
        "Qwen2.5-VL-7B",
        {
            "vocab_size": 152064,
            "hidden_size": 3584,
            "intermediate_size": 18944,
            "num_hidden_layers": 28,
            "num_attention_heads": 28,
            "num_key_value_heads": 4,
            "max_window_layers": 28,
        },
        tied=False,
    ),
    "tiny": Scale("a Qwen2.5-VL of a million parameters", None),
}


def processor(scale: Scale) -> Any:
    """Return a processor with the published limits of pictures; tiny: with pictures of at most 24 tokens."""
    texts = [SYSTEM, TOOL_BLOCK, *(task.prompt for task in load().values())]
    small = Size(context=8192)
    return processor_for(texts, Size(picture=PICTURE_TOKENS, context=CONTEXT) if scale.text else small)


def config(scale: Scale, reads: Any) -> Any:
    """Return the configuration of the model, with the ids of special tokens in the processor's tokenizer."""
    from transformers import Qwen2_5_VLConfig

    found = model_for(reads.tokenizer, Size()).config
    if scale.text is None:
        return found
    names = ("bos_token_id", "eos_token_id", "pad_token_id")
    text = {**TEXT, **scale.text, **{name: getattr(found.get_text_config(), name) for name in names}}
    marks = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    return Qwen2_5_VLConfig(
        text_config=text,
        vision_config={**VISION, "out_hidden_size": scale.text["hidden_size"]},
        tie_word_embeddings=scale.tied,
        dtype="bfloat16",
        architectures=["Qwen2_5_VLForConditionalGeneration"],
        **{name: getattr(found, name) for name in marks},
    )


def write(scale: Scale, folder: Path, device: str | None = None) -> Path:
    """Write the folder of a model: configuration, tokenizer and processor; return it.

    :param device: also make random weights there and write them (3B: 7.5 GB, 7B: 16.6 GB); None: no weights, for
        vLLM's ``--load-format dummy``
    """
    reads = processor(scale)
    made = config(scale, reads)
    folder.mkdir(parents=True, exist_ok=True)
    if device is None:
        made.architectures = ["Qwen2_5_VLForConditionalGeneration"]
        made.save_pretrained(folder)
    else:
        import torch
        from transformers import AutoModelForImageTextToText

        with torch.device(device):
            model = AutoModelForImageTextToText.from_config(made, dtype=torch.bfloat16 if scale.text else torch.float32)
        model.save_pretrained(folder)
        del model
        if torch.cuda.is_available():
            # The memory is for what runs next in this process.
            torch.cuda.empty_cache()
    reads.save_pretrained(folder)
    return folder
