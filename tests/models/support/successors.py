"""Tiny real Qwen3-VL and Qwen3.5 models: ``python -m tests.models.support.successors FOLDER ARCHITECTURE``.

Classes, processor and chat template are the published ones (the templates as TRL ships them); width, depth, vocabulary
and pictures are small. Each has memorised one trace of ``learned_traces``.
"""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.models.support.learned_traces import INSPECTED, inspected
from tests.models.support.tiny import learn_traces
from training.miniature.model import SPECIAL, Size, processor_for

if TYPE_CHECKING:
    from transformers import PreTrainedModel, Qwen3VLProcessor

ARCHITECTURES = {"qwen3_vl": "qwen3_vl.jinja", "qwen3_5": "qwen3_5_think.jinja"}
"""By ``model_type``, the file of TRL with the published chat template; Qwen3.5: that of 4B and larger."""
PATCH = 16
UNIT = 2 * PATCH
"""Side in pixels of the square that becomes one token: patches of 16, merged two by two."""
PICTURE = (8, 24)
"""Least and most tokens of a picture."""
WIDTH, HEAD = 128, 32
LEARNED = "cv"
STEPS, RATE = 100, 4e-3


def make(architecture: str, folder: Path) -> None:
    """Write model, tokenizer, processor, published chat template and generation settings to ``folder``."""
    import torch

    torch.manual_seed(0)
    processor = processor_of(architecture)
    model = model_of(architecture, processor)
    learn_traces(model, processor, [LEARNED], STEPS, RATE)
    model.save_pretrained(folder)
    published = files("trl").joinpath("chat_templates", ARCHITECTURES[architecture]).read_text(encoding="utf-8")
    processor.chat_template = processor.tokenizer.chat_template = published
    processor.save_pretrained(folder)


def processor_of(architecture: str) -> Qwen3VLProcessor:
    """Return the processor, with the vocabulary of the traces and the chat template of the dialect."""
    from transformers import Qwen2VLImageProcessorPil, Qwen3VLProcessor, Qwen3VLVideoProcessor

    size = Size(context=8192)
    small = processor_for([text for key in INSPECTED for text in inspected(key).texts], size)
    if architecture == "qwen3_5":
        small.tokenizer.add_tokens(["<think>", "</think>"])
    least, most = PICTURE
    pixels = {"shortest_edge": least * UNIT**2, "longest_edge": most * UNIT**2}
    mean = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    return Qwen3VLProcessor(
        image_processor=Qwen2VLImageProcessorPil(size=pixels, patch_size=PATCH, merge_size=2, **mean),
        video_processor=Qwen3VLVideoProcessor(size=pixels, patch_size=PATCH, merge_size=2),
        tokenizer=small.tokenizer,
        chat_template=small.chat_template,
    )


def model_of(architecture: str, processor: Any) -> PreTrainedModel:
    """Return the architecture with random weights from torch's own generator."""
    from transformers import AutoConfig, AutoModelForImageTextToText, GenerationConfig

    tokenizer = processor.tokenizer
    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    ends = {"eos_token_id": ids["<|im_end|>"], "pad_token_id": ids["<|endoftext|>"]}
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": WIDTH,
        "intermediate_size": 352,
        "num_attention_heads": WIDTH // HEAD,
        "num_key_value_heads": 2,
        "head_dim": HEAD,
        "max_position_embeddings": tokenizer.model_max_length,
        "tie_word_embeddings": True,
        **ends,
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "patch_size": PATCH,
        "spatial_merge_size": 2,
        "out_hidden_size": WIDTH,
        "num_position_embeddings": 64,
    }
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_interleaved": True}
    if architecture == "qwen3_vl":
        text |= {"num_hidden_layers": 3, "rope_parameters": {**rope, "mrope_section": [6, 5, 5]}}
        # Features of the first vision layer are added in the language model, as DeepStack does.
        vision |= {"deepstack_visual_indexes": [0]}
    else:
        # The heads of linear attention have the published width: vLLM's kernel for the CPU takes no smaller ones.
        linear = {"key_head_dim": 128, "value_head_dim": 128, "num_key_heads": 1, "num_value_heads": 2}
        text |= {f"linear_{name}": value for name, value in linear.items()} | {
            "num_hidden_layers": 4,
            # Three layers of linear attention to one of full attention, as published.
            "layer_types": ["linear_attention"] * 3 + ["full_attention"],
            "head_dim": 2 * HEAD,
            "rope_parameters": {**rope, "mrope_section": [3, 3, 2], "partial_rotary_factor": 0.25},
        }
    config = AutoConfig.for_model(
        architecture,
        text_config=text,
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )
    model = AutoModelForImageTextToText.from_config(config)
    # As in Qwen3-VL: sampling is the default of the checkpoint.
    end = [ids["<|im_end|>"], ids["<|endoftext|>"]]
    model.generation_config = GenerationConfig(
        do_sample=True, temperature=0.7, top_p=0.8, top_k=20, eos_token_id=end, pad_token_id=ends["pad_token_id"]
    )
    return model


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make a tiny Qwen3-VL or Qwen3.5 for tests")
    parser.add_argument("folder", type=Path)
    parser.add_argument("architecture", choices=ARCHITECTURES)
    arguments = parser.parse_args()
    make(arguments.architecture, arguments.folder)
