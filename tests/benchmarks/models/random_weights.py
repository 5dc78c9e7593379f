"""Qwen2.5-VL in its published sizes with random weights, for timings, which do not depend on what the weights are; and
turns of fixed length with a scripted end, which such a model needs to go through an inspection.

The sizes are those of ``config.json`` and ``preprocessor_config.json`` of Qwen/Qwen2.5-VL-3B-Instruct and -7B-Instruct.
The tokenizer is learned from our own prompts; its ids are a small part of the vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.conversation import SYSTEM, Conversation, Piece
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.spec_o3 import SpecO3
from agent.tasks import load
from agent.tool import TOOL_BLOCK

WINDOWS = ((6400, 6700), (4760, 4980), (3900, 4400))
"""Windows of the zooms, in Å in air or vacuum; each is within a LAMOST spectrum."""
FORCED = 100
"""Bias on the logit of the one token that the model then writes."""
PICTURE_TOKENS = (4, 16384)
"""Least and most tokens of a picture: ``min_pixels`` 3,136 and ``max_pixels`` 12,845,056 over 28 × 28."""
TEXT = {
    "max_position_embeddings": 128000,
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": [16, 24, 24]},
    "use_sliding_window": False,
}
SIZES = {
    "3b": {
        "vocab_size": 151936,
        "hidden_size": 2048,
        "intermediate_size": 11008,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
        "num_key_value_heads": 2,
    },
    "7b": {
        "vocab_size": 152064,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
    },
}
VISION = {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "patch_size": 14}
VISION |= {"spatial_merge_size": 2, "temporal_patch_size": 2, "window_size": 112, "tokens_per_second": 2}


def write(size: str, folder: Path, with_weights: bool) -> Path:
    """Write the folder of a model and return it.

    :param size: key of ``SIZES``
    :param with_weights: make random weights on the GPU (3B: 7.5 GB); False: none, for vLLM's ``--load-format dummy``
    """
    import torch
    from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig

    from training.miniature.model import Size, model_for, processor_for

    texts = [SYSTEM, TOOL_BLOCK, *(task.prompt for task in load().values())]
    processor = processor_for(texts, Size(picture=PICTURE_TOKENS, context=32768))
    small = model_for(processor.tokenizer, Size()).config
    names = ("bos_token_id", "eos_token_id", "pad_token_id")
    marks = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    config = Qwen2_5_VLConfig(
        text_config={**TEXT, **SIZES[size], **{name: getattr(small.get_text_config(), name) for name in names}},
        vision_config={
            **VISION,
            "fullatt_block_indexes": [7, 15, 23, 31],
            "out_hidden_size": SIZES[size]["hidden_size"],
        },
        tie_word_embeddings=size == "3b",
        dtype="bfloat16",
        architectures=["Qwen2_5_VLForConditionalGeneration"],
        **{name: getattr(small, name) for name in marks},
    )
    folder.mkdir(parents=True)
    if with_weights:
        with torch.device("cuda"):
            AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16).save_pretrained(folder)
    else:
        config.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def repeatable_token(model: Path) -> int:
    """Return a token whose repetitions are the same ids again when their text is tokenized.

    :raises StopIteration: there is none
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model)
    return next(
        int(token)
        for text, token in sorted(tokenizer.get_vocab().items())
        if text.isascii()
        and text.isalpha()
        and tokenizer.encode(tokenizer.decode([token] * 50), add_special_tokens=False) == [token] * 50
    )


@dataclass(frozen=True)
class FixedLength(Sampling):
    """Sampling of exactly ``max_tokens`` tokens by vLLM, all of them ``token``, so that their text keeps its ids."""

    token: int = 0

    def settings(self) -> dict[str, Any]:
        forced = {"ignore_eos": True, "min_tokens": self.max_tokens, "logit_bias": {str(self.token): FORCED}}
        return super().settings() | forced


class Scripted(SpecO3):
    """The served policy with turns of fixed length, to which three tool calls and then an answer are added."""

    def __init__(self, endpoint: Endpoint, sampling: FixedLength) -> None:
        super().__init__(endpoint, sampling, stream=False)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        yield from super().turn(conversation)
        turn = len(conversation.exchanges)
        if turn >= len(WINDOWS):
            yield "<answer>\\boxed{NO} No feature of the class.</answer>"
            return
        arguments = {"label": f"window {turn + 1}", "wavelength_range": WINDOWS[turn]}
        call = json.dumps({"name": "spectral_visualization_tool", "arguments": arguments})
        yield f"\n<tool_call>\n{call}\n</tool_call>"
